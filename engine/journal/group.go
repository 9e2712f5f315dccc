package journal

import (
	"fmt"
	"strings"

	"loglab/engine/kafka"
)

// MemberIDGiven says that a group coordinator gave a consumer an id to join with and keeps a place for it.
type MemberIDGiven struct {
	Group          string         `json:"group"`
	Member         kafka.MemberID `json:"member"`
	From           kafka.NodeID   `json:"from"`
	SessionTimeout kafka.Millis   `json:"session_timeout_ms"`
}

// Kind gives the kind's name.
func (MemberIDGiven) Kind() string { return "MemberIDGiven" }

// Text gives the id and how long it is kept.
func (b MemberIDGiven) Text() string {
	return fmt.Sprintf("%s %s to %s session=%dms", b.Group, b.Member, b.From, b.SessionTimeout)
}

// Sentence says what the consumer must do with it.
func (b MemberIDGiven) Sentence() string {
	return fmt.Sprintf("%s joins group %s without a member id and is answered with MEMBER_ID_REQUIRED: it is to join again as %s. "+
		"Until it does, for session.timeout.ms = %s ms at most, a join phase of the group is held open for it.",
		b.From, b.Group, b.Member, kafka.Thousands(b.SessionTimeout))
}

// MemberJoined says that a member's JoinGroup was taken: it waits for the end of the join phase.
type MemberJoined struct {
	Group      string                `json:"group"`
	Member     kafka.MemberID        `json:"member"`
	Instance   kafka.GroupInstanceID `json:"instance_id"` // empty: a dynamic member
	From       kafka.NodeID          `json:"from"`
	Protocols  []string              `json:"protocols"` // assignors that it supports, the one it prefers first
	New        bool                  `json:"new"`       // it was no member before
	State      string                `json:"state"`     // of the group
	Generation kafka.GenerationID    `json:"generation"`
	Members    int                   `json:"members"` // of the group now
	Joined     int                   `json:"joined"`  // of them wait for the end of the join phase
	Pending    int                   `json:"pending"` // ids given out that have not joined
}

// Kind gives the kind's name.
func (MemberJoined) Kind() string { return "MemberJoined" }

// Text gives the member and how many have joined.
func (b MemberJoined) Text() string {
	text := fmt.Sprintf("%s %s from=%s", b.Group, b.Member, b.From)
	if b.Instance != "" {
		text += fmt.Sprintf(" instance=%s", b.Instance)
	}
	return text + fmt.Sprintf(" protocols=%s new=%t %s generation=%d joined=%d/%d pending=%d",
		strings.Join(b.Protocols, ","), b.New, b.State, b.Generation, b.Joined, b.Members, b.Pending)
}

// Sentence says for what it waits.
func (b MemberJoined) Sentence() string {
	what := "joined again in"
	if b.New {
		what = "is a new member of"
	}
	s := fmt.Sprintf("%s (%s) %s group %s, which is in state %s, generation %d. Its JoinGroup is answered when the join phase ends: %d of %s joined",
		b.Member, b.From, what, b.Group, b.State, b.Generation, b.Joined, kafka.Count(b.Members, "member"))
	if b.Pending > 0 {
		s += fmt.Sprintf("; %s given out that nobody has joined with yet", kafka.Count(b.Pending, "id"))
	}
	return s + "."
}

// RebalanceStarted says that a group began a join phase: every member is to join again.
type RebalanceStarted struct {
	Group      string             `json:"group"`
	From       string             `json:"from_state"`
	Generation kafka.GenerationID `json:"generation"` // the old one: it moves when the join phase ends
	Why        string             `json:"why"`        // the rule
	Ends       kafka.Millis       `json:"ends_in_ms"` // the join phase at the latest
	Setting    string             `json:"setting"`    // that gives Ends
	Refused    int                `json:"refused"`    // SyncGroup requests that waited and are answered with REBALANCE_IN_PROGRESS
}

// Kind gives the kind's name.
func (RebalanceStarted) Kind() string { return "RebalanceStarted" }

// Text gives state, generation, the rule and the limit.
func (b RebalanceStarted) Text() string {
	return fmt.Sprintf("%s %s→PreparingRebalance generation=%d %s=%d syncs=%d: %s", b.Group, b.From, b.Generation, b.Setting, b.Ends, b.Refused, b.Why)
}

// Sentence gives the rule and when the join phase ends.
func (b RebalanceStarted) Sentence() string {
	s := fmt.Sprintf("Group %s starts a rebalance from state %s: %s. ", b.Group, b.From, b.Why)
	if b.From == "Empty" {
		s += fmt.Sprintf("As it was empty, it waits %s = %s ms for more members, even when everybody has joined.", b.Setting, kafka.Thousands(b.Ends))
	} else {
		s += fmt.Sprintf("The join phase ends when every member has joined again and no id is pending, at the latest after the longest %s of a member, %s ms.",
			b.Setting, kafka.Thousands(b.Ends))
	}
	if b.Refused > 0 {
		s += fmt.Sprintf(" %s that waited %s answered with REBALANCE_IN_PROGRESS.", kafka.Count(b.Refused, "SyncGroup request"), were(b.Refused))
	}
	return s + fmt.Sprintf(" The generation stays %d until the join phase ends.", b.Generation)
}

// InitialDelayExtended says that the first join phase of a group goes on, as members came in the last window.
type InitialDelayExtended struct {
	Group     string       `json:"group"`
	Window    kafka.Millis `json:"window_ms"`    // the next one
	Remaining kafka.Millis `json:"remaining_ms"` // of the rebalance timeout for windows after the next one
	Delay     kafka.Millis `json:"group_initial_rebalance_delay_ms"`
}

// Kind gives the kind's name.
func (InitialDelayExtended) Kind() string { return "InitialDelayExtended" }

// Text gives the next window.
func (b InitialDelayExtended) Text() string {
	return fmt.Sprintf("%s window=%dms remaining=%dms", b.Group, b.Window, b.Remaining)
}

// Sentence gives the rule.
func (b InitialDelayExtended) Sentence() string {
	return fmt.Sprintf("Group %s waits %s ms more: members came within the last window, and of the rebalance timeout there is time left (group.initial.rebalance.delay.ms = %s; %s ms remain after this window).",
		b.Group, kafka.Thousands(b.Window), kafka.Thousands(b.Delay), kafka.Thousands(b.Remaining))
}

// JoinPhaseEnded says that a group has a new generation: every member that joined is told, the leader with the
// members' subscriptions.
type JoinPhaseEnded struct {
	Group      string             `json:"group"`
	Generation kafka.GenerationID `json:"generation"`
	Protocol   string             `json:"protocol"` // the assignor
	Leader     kafka.MemberID     `json:"leader"`
	Members    []kafka.MemberID   `json:"members"`
	Votes      string             `json:"votes"` // why that assignor
	Why        string             `json:"why"`   // what ended it
	SyncWithin kafka.Millis       `json:"sync_within_ms"`
}

// Kind gives the kind's name.
func (JoinPhaseEnded) Kind() string { return "JoinPhaseEnded" }

// Text gives generation, assignor, leader and members.
func (b JoinPhaseEnded) Text() string {
	return fmt.Sprintf("%s PreparingRebalance→CompletingRebalance generation=%d protocol=%s leader=%s members=%s: %s",
		b.Group, b.Generation, b.Protocol, b.Leader, named(b.Members, ","), b.Why)
}

// Sentence gives what ended it, the vote and what comes next.
func (b JoinPhaseEnded) Sentence() string {
	return fmt.Sprintf("The join phase of group %s ended: %s. Generation %d begins with %s. %s leads it and divides the partitions with %s (%s). Members must send SyncGroup within %s ms, the longest rebalance timeout, or are removed.",
		b.Group, b.Why, b.Generation, kafka.Count(len(b.Members), "member"), b.Leader, b.Protocol, b.Votes, kafka.Thousands(b.SyncWithin))
}

// JoinPhaseProlonged says that a join phase had to go on, as none of the members that are left has joined again.
type JoinPhaseProlonged struct {
	Group   string       `json:"group"`
	Members int          `json:"members"`
	Wait    kafka.Millis `json:"wait_ms"`
}

// Kind gives the kind's name.
func (JoinPhaseProlonged) Kind() string { return "JoinPhaseProlonged" }

// Text gives the wait.
func (b JoinPhaseProlonged) Text() string {
	return fmt.Sprintf("%s members=%d wait=%dms", b.Group, b.Members, b.Wait)
}

// Sentence gives the rule.
func (b JoinPhaseProlonged) Sentence() string {
	return fmt.Sprintf("The join phase of group %s goes on for %s ms: none of its %s has joined again. They are static, so they stay until their session timeout.",
		b.Group, kafka.Thousands(b.Wait), kafka.Count(b.Members, "member"))
}

// SyncGroupParked says that a member's SyncGroup waits for the assignment.
type SyncGroupParked struct {
	Group      string             `json:"group"`
	Member     kafka.MemberID     `json:"member"`
	Generation kafka.GenerationID `json:"generation"`
	Leader     bool               `json:"leader"`  // it brings the assignment, which is written first
	Missing    []kafka.MemberID   `json:"missing"` // members that the leader's assignment leaves out
}

// Kind gives the kind's name.
func (SyncGroupParked) Kind() string { return "SyncGroupParked" }

// Text gives the member.
func (b SyncGroupParked) Text() string {
	text := fmt.Sprintf("%s %s generation=%d leader=%t", b.Group, b.Member, b.Generation, b.Leader)
	if len(b.Missing) > 0 {
		text += " missing=" + named(b.Missing, ",")
	}
	return text
}

// Sentence says what it waits for.
func (b SyncGroupParked) Sentence() string {
	if !b.Leader {
		return fmt.Sprintf("The SyncGroup of %s waits: the leader of group %s has not brought the assignment of generation %d yet, or it is not written.", b.Member, b.Group, b.Generation)
	}
	s := fmt.Sprintf("%s, leader of group %s, brought the assignment of generation %d. It holds once its record is written to __consumer_offsets.", b.Member, b.Group, b.Generation)
	if len(b.Missing) > 0 {
		s += fmt.Sprintf(" It leaves out %s: their assignment is empty.", named(b.Missing, ", "))
	}
	return s
}

// GroupStable says that the assignment of a generation is written and given to every member that waits.
type GroupStable struct {
	Group      string             `json:"group"`
	Generation kafka.GenerationID `json:"generation"`
	Members    int                `json:"members"`
	Told       int                `json:"told"` // members whose SyncGroup waited
}

// Kind gives the kind's name.
func (GroupStable) Kind() string { return "GroupStable" }

// Text gives the generation.
func (b GroupStable) Text() string {
	return fmt.Sprintf("%s CompletingRebalance→Stable generation=%d told=%d/%d", b.Group, b.Generation, b.Told, b.Members)
}

// Sentence says who knows of it.
func (b GroupStable) Sentence() string {
	return fmt.Sprintf("Group %s is stable in generation %d: the assignment is written, and %d of %s waited for it and %s told. Session timeouts run anew.",
		b.Group, b.Generation, b.Told, kafka.Count(b.Members, "member"), were(b.Told))
}

// GroupEmpty says that a group has no member any more.
type GroupEmpty struct {
	Group      string             `json:"group"`
	Generation kafka.GenerationID `json:"generation"`
	Retention  kafka.Millis       `json:"offsets_retention_ms"`
}

// Kind gives the kind's name.
func (GroupEmpty) Kind() string { return "GroupEmpty" }

// Text gives the generation.
func (b GroupEmpty) Text() string {
	return fmt.Sprintf("%s PreparingRebalance→Empty generation=%d", b.Group, b.Generation)
}

// Sentence says what becomes of its offsets.
func (b GroupEmpty) Sentence() string {
	return fmt.Sprintf("Group %s has no members now; that is generation %d, and it is recorded. Its committed offsets expire %s ms from now (offsets.retention.minutes).",
		b.Group, b.Generation, kafka.Thousands(b.Retention))
}

// MemberRemoved says that a member, or an id that was pending, is in the group no longer.
type MemberRemoved struct {
	Group   string                `json:"group"`
	Member  kafka.MemberID        `json:"member"`
	Static  kafka.GroupInstanceID `json:"instance_id"`
	Pending bool                  `json:"pending"` // an id that never joined
	Why     string                `json:"why"`     // the rule and setting
	Members int                   `json:"members"` // left
	Host    kafka.NodeID          `json:"host"`    // where it ran
}

// Kind gives the kind's name.
func (MemberRemoved) Kind() string { return "MemberRemoved" }

// Text gives the member and the rule.
func (b MemberRemoved) Text() string {
	text := fmt.Sprintf("%s %s", b.Group, b.Member)
	if b.Static != "" {
		text += fmt.Sprintf(" instance=%s", b.Static)
	}
	if b.Pending {
		text += " pending"
	}
	return text + fmt.Sprintf(" left=%d: %s", b.Members, b.Why)
}

// Sentence gives the rule.
func (b MemberRemoved) Sentence() string {
	what := "Member"
	if b.Pending {
		what = "The pending member id"
	} else if b.Static != "" {
		what = "Static member"
	}
	return fmt.Sprintf("%s %s was removed from group %s: %s. The group has %s.", what, memberName(b.Member, b.Host), b.Group, b.Why, kafka.Count(b.Members, "member"))
}
