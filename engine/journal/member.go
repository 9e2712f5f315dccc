package journal

import (
	"fmt"
	"strings"

	"loglab/engine/kafka"
)

// CoordinatorFound says that a client learned which broker coordinates its group.
type CoordinatorFound struct {
	Group       string       `json:"group"`
	Coordinator kafka.NodeID `json:"coordinator"`
}

// Kind gives the kind's name.
func (CoordinatorFound) Kind() string { return "CoordinatorFound" }

// Text gives group and broker.
func (b CoordinatorFound) Text() string { return fmt.Sprintf("%s %s", b.Group, b.Coordinator) }

// Sentence gives group and broker.
func (b CoordinatorFound) Sentence() string {
	return fmt.Sprintf("The coordinator of group %s is %s: it leads the group's partition of __consumer_offsets.", b.Group, b.Coordinator)
}

// CoordinatorLost says that a client does not believe any more that a broker coordinates its group.
type CoordinatorLost struct {
	Group       string       `json:"group"`
	Coordinator kafka.NodeID `json:"coordinator"` // empty: none was known
	Why         string       `json:"why"`
}

// Kind gives the kind's name.
func (CoordinatorLost) Kind() string { return "CoordinatorLost" }

// Text gives group, broker and reason.
func (b CoordinatorLost) Text() string {
	return fmt.Sprintf("%s %s: %s", b.Group, b.Coordinator, b.Why)
}

// Sentence gives group, broker and reason.
func (b CoordinatorLost) Sentence() string {
	if b.Coordinator == "" {
		return fmt.Sprintf("No coordinator of group %s is known: %s. The client asks for it again.", b.Group, b.Why)
	}
	return fmt.Sprintf("%s does not count as the coordinator of group %s any more: %s. The client asks for it again.", b.Coordinator, b.Group, b.Why)
}

// JoinSent says that a client asks to join its group, and why.
type JoinSent struct {
	Group      string                 `json:"group"`
	Why        string                 `json:"why"`
	Member     kafka.MemberID         `json:"member_id"` // empty: it has none yet
	Generation kafka.GenerationID     `json:"generation"`
	Assignors  []string               `json:"assignors"`
	Owned      []kafka.TopicPartition `json:"owned"` // that it keeps while it joins
}

// Kind gives the kind's name.
func (JoinSent) Kind() string { return "JoinSent" }

// Text gives the group and the reason.
func (b JoinSent) Text() string {
	return fmt.Sprintf("%s generation=%d [%s] owned=[%s]: %s", b.Group, b.Generation, strings.Join(b.Assignors, " "), partitionList(b.Owned, " "), b.Why)
}

// Sentence gives the group, the reason and what the member keeps.
func (b JoinSent) Sentence() string {
	keeps := "It owns no partition while it joins."
	if len(b.Owned) > 0 {
		keeps = fmt.Sprintf("It goes on reading %s meanwhile.", partitionList(b.Owned, ", "))
	}
	return fmt.Sprintf("Sends JoinGroup for group %s: %s. %s", b.Group, b.Why, keeps)
}

// MemberShare is what an assignment gives one member.
type MemberShare struct {
	Member     kafka.MemberID         `json:"member_id"`
	Partitions []kafka.TopicPartition `json:"partitions"` // sorted; empty: it is idle
}

// AssignmentComputed says what a group's leader has worked out for all members.
type AssignmentComputed struct {
	Group      string                 `json:"group"`
	Generation kafka.GenerationID     `json:"generation"`
	Assignor   string                 `json:"assignor"`
	Shares     []MemberShare          `json:"shares"`   // sorted by member
	Withheld   []kafka.TopicPartition `json:"withheld"` // that nobody gets in this round
}

// Kind gives the kind's name.
func (AssignmentComputed) Kind() string { return "AssignmentComputed" }

// Text gives the shares.
func (b AssignmentComputed) Text() string {
	text := fmt.Sprintf("%s generation=%d %s", b.Group, b.Generation, b.Assignor)
	for _, s := range b.Shares {
		text += fmt.Sprintf(" %s=[%s]", s.Member, partitionList(s.Partitions, " "))
	}
	if len(b.Withheld) > 0 {
		text += fmt.Sprintf(" withheld=[%s]", partitionList(b.Withheld, " "))
	}
	return text
}

// Sentence gives the shares and what is withheld.
func (b AssignmentComputed) Sentence() string {
	var shares []string
	for _, s := range b.Shares {
		if len(s.Partitions) == 0 {
			shares = append(shares, fmt.Sprintf("%s gets none", s.Member))
		} else {
			shares = append(shares, fmt.Sprintf("%s gets %s", s.Member, partitionList(s.Partitions, ", ")))
		}
	}
	text := fmt.Sprintf("As the leader of group %s in generation %d it works out the assignment by the %s assignor: %s.", b.Group, b.Generation, b.Assignor, strings.Join(shares, "; "))
	if len(b.Withheld) > 0 {
		text += fmt.Sprintf(" Nobody gets %s in this round: whoever owns it must give it up first.", partitionList(b.Withheld, ", "))
	}
	return text
}

// PartitionsTaken says which partitions a member owns from now on.
type PartitionsTaken struct {
	Group      string                 `json:"group"`
	Generation kafka.GenerationID     `json:"generation"`
	Assignor   string                 `json:"assignor"`
	Partitions []kafka.TopicPartition `json:"partitions"`             // sorted; empty: the member is idle
	Added      []kafka.TopicPartition `json:"added"`                  // of these, those that it did not own just before
	Epoch      kafka.MemberEpoch      `json:"member_epoch,omitempty"` // of the consumer protocol, instead of a generation; 0: the classic one
}

// Kind gives the kind's name.
func (PartitionsTaken) Kind() string { return "PartitionsTaken" }

// Text gives the list.
func (b PartitionsTaken) Text() string {
	if b.Epoch != 0 {
		return fmt.Sprintf("%s epoch=%d [%s] added=[%s]", b.Group, b.Epoch, partitionList(b.Partitions, " "), partitionList(b.Added, " "))
	}
	return fmt.Sprintf("%s generation=%d %s [%s] added=[%s]", b.Group, b.Generation, b.Assignor, partitionList(b.Partitions, " "), partitionList(b.Added, " "))
}

// Sentence gives the list and what is new in it.
func (b PartitionsTaken) Sentence() string {
	in, by := positionName(b.Generation, b.Epoch, " "), fmt.Sprintf("the %s assignor", b.Assignor)
	if b.Epoch != 0 {
		by = "the coordinator's assignor"
	}
	switch {
	case len(b.Partitions) == 0:
		return fmt.Sprintf("Owns no partition of group %s in %s: %s gave it none.", b.Group, in, by)
	case len(b.Added) == len(b.Partitions):
		return fmt.Sprintf("Owns %s in %s of group %s, by %s.", partitionList(b.Partitions, ", "), in, b.Group, by)
	case len(b.Added) == 0:
		return fmt.Sprintf("Keeps %s in %s of group %s.", partitionList(b.Partitions, ", "), in, b.Group)
	}
	return fmt.Sprintf("Owns %s in %s of group %s; %s new.", partitionList(b.Partitions, ", "), in, b.Group, newOnes(b.Added))
}

func newOnes(added []kafka.TopicPartition) string {
	if len(added) == 1 {
		return added[0].String() + " is"
	}
	return partitionList(added, ", ") + " are"
}

// PartitionsRevoked says that a member gave partitions up in an orderly way.
type PartitionsRevoked struct {
	Group       string                 `json:"group"`
	Partitions  []kafka.TopicPartition `json:"partitions"`
	Cooperative bool                   `json:"cooperative"`
	Unprocessed int                    `json:"unprocessed"`            // records of them that poll had returned and that are dropped
	Epoch       kafka.MemberEpoch      `json:"member_epoch,omitempty"` // of the consumer protocol, instead of a generation; 0: the classic one
}

// Kind gives the kind's name.
func (PartitionsRevoked) Kind() string { return "PartitionsRevoked" }

// Text gives the list.
func (b PartitionsRevoked) Text() string {
	if b.Epoch != 0 {
		return fmt.Sprintf("%s [%s] epoch=%d", b.Group, partitionList(b.Partitions, " "), b.Epoch)
	}
	return fmt.Sprintf("%s [%s] %s", b.Group, partitionList(b.Partitions, " "), protocolName(b.Cooperative))
}

// Sentence gives the list and the rule.
func (b PartitionsRevoked) Sentence() string {
	rule := "an eager member gives up everything before it joins"
	switch {
	case b.Epoch != 0:
		rule = "the coordinator has told it not to own that any more, and the next heartbeat says that it does not"
	case b.Cooperative:
		rule = "a cooperative member gives up only what others get, and then joins once more"
	}
	text := fmt.Sprintf("Gives up %s of group %s: %s.", partitionList(b.Partitions, ", "), b.Group, rule)
	if b.Unprocessed > 0 {
		text += fmt.Sprintf(" %s that poll had returned and nobody had begun with are dropped.", kafka.Count(b.Unprocessed, "record"))
	}
	return text
}

func protocolName(cooperative bool) string {
	if cooperative {
		return "COOPERATIVE"
	}
	return "EAGER"
}

// PartitionsLost says that a member learned that partitions are not its own any more.
type PartitionsLost struct {
	Group      string                 `json:"group"`
	Partitions []kafka.TopicPartition `json:"partitions"`
}

// Kind gives the kind's name.
func (PartitionsLost) Kind() string { return "PartitionsLost" }

// Text gives the list.
func (b PartitionsLost) Text() string {
	return fmt.Sprintf("%s [%s]", b.Group, partitionList(b.Partitions, " "))
}

// Sentence gives the list.
func (b PartitionsLost) Sentence() string {
	return fmt.Sprintf("Lost %s of group %s: it is not a member any more, others may own them already. Nothing can be committed for them.", partitionList(b.Partitions, ", "), b.Group)
}

// MembershipLost says that a member was told that it is none any more.
type MembershipLost struct {
	Group      string             `json:"group"`
	API        string             `json:"api"`
	Error      string             `json:"error"`
	Member     kafka.MemberID     `json:"member_id"`
	Generation kafka.GenerationID `json:"generation"`             // in which it believed to be
	Epoch      kafka.MemberEpoch  `json:"member_epoch,omitempty"` // of the consumer protocol, instead of a generation; 0: the classic one
}

// Kind gives the kind's name.
func (MembershipLost) Kind() string { return "MembershipLost" }

// Text gives request and error.
func (b MembershipLost) Text() string {
	return fmt.Sprintf("%s %s %s %s %s", b.Group, b.Member, positionName(b.Generation, b.Epoch, "="), b.API, b.Error)
}

// Sentence gives request and error.
func (b MembershipLost) Sentence() string {
	then := "It joins again when its application polls."
	if b.Epoch != 0 {
		then = "It drops what it owned without a commit, and joins again with epoch 0."
	}
	return fmt.Sprintf("%s of group %s was answered with %s: in %s it is a member no more. %s", b.API, b.Group, b.Error, positionName(b.Generation, b.Epoch, " "), then)
}

// PollIntervalExceeded says that an application has not polled for too long.
type PollIntervalExceeded struct {
	Group    string            `json:"group"`
	Interval kafka.Millis      `json:"max_poll_interval_ms"`
	Static   bool              `json:"static"`                 // the member has a group.instance.id
	Epoch    kafka.MemberEpoch `json:"member_epoch,omitempty"` // of the consumer protocol: with which the client leaves, -1 or -2; 0: the classic one
}

// Kind gives the kind's name.
func (PollIntervalExceeded) Kind() string { return "PollIntervalExceeded" }

// Text gives the interval.
func (b PollIntervalExceeded) Text() string {
	if b.Epoch != 0 {
		return fmt.Sprintf("%s %dms epoch=%d", b.Group, b.Interval, b.Epoch)
	}
	return fmt.Sprintf("%s %dms", b.Group, b.Interval)
}

// Sentence gives the interval and what the client does.
func (b PollIntervalExceeded) Sentence() string {
	does := "the client leaves the group by itself, while the application goes on working"
	switch {
	case b.Epoch != 0:
		does = fmt.Sprintf("the client leaves the group by a heartbeat with epoch %d, while the application goes on working; %s", b.Epoch, leaves(b.Epoch))
	case b.Static:
		does = "a static member sends no more heartbeats, and the coordinator removes it after its session"
	}
	return fmt.Sprintf("The application has not polled for max.poll.interval.ms = %s ms: %s.", kafka.Thousands(b.Interval), does)
}

// ConsumerClosed says that a consumer ended in an orderly way.
type ConsumerClosed struct {
	Group string            `json:"group"`
	Stays string            `json:"stays"`                  // why it has not sent LeaveGroup; empty: it has
	Epoch kafka.MemberEpoch `json:"member_epoch,omitempty"` // of the consumer protocol: with which it has left, -1 or -2; 0: the classic one, or it has not
}

// Kind gives the kind's name.
func (ConsumerClosed) Kind() string { return "ConsumerClosed" }

// Text gives the group.
func (b ConsumerClosed) Text() string {
	switch {
	case b.Stays != "":
		return b.Group + " no LeaveGroup: " + b.Stays
	case b.Epoch != 0:
		return fmt.Sprintf("%s epoch=%d", b.Group, b.Epoch)
	}
	return b.Group
}

// Sentence says how.
func (b ConsumerClosed) Sentence() string {
	if b.Stays != "" {
		return fmt.Sprintf("The consumer is closed. It sends no LeaveGroup to group %s: %s.", b.Group, b.Stays)
	}
	if b.Epoch == -2 {
		return fmt.Sprintf("The consumer is closed. Group %s keeps its place until its session ends, for it has a group.instance.id.", b.Group)
	}
	return fmt.Sprintf("The consumer is closed and has left group %s.", b.Group)
}

// ConsumerFailed says that poll threw an error that the application does not catch.
type ConsumerFailed struct {
	Group string `json:"group"`
	API   string `json:"api"`
	Error string `json:"error"`
}

// Kind gives the kind's name.
func (ConsumerFailed) Kind() string { return "ConsumerFailed" }

// Text gives the error.
func (b ConsumerFailed) Text() string { return fmt.Sprintf("%s %s %s", b.Group, b.API, b.Error) }

// Sentence gives the error.
func (b ConsumerFailed) Sentence() string {
	return fmt.Sprintf("%s of group %s failed with %s, which no retry mends: poll throws it, and the application ends.", b.API, b.Group, b.Error)
}

// PositionCommitted says that a consumer begins to read a partition where its group had committed.
type PositionCommitted struct {
	Group          string               `json:"group"`
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Offset         kafka.Offset         `json:"offset"` // -1: nothing is committed, auto.offset.reset decides
	Policy         string               `json:"auto_offset_reset"`
}

// Kind gives the kind's name.
func (PositionCommitted) Kind() string { return "PositionCommitted" }

// Text gives the offset.
func (b PositionCommitted) Text() string {
	return fmt.Sprintf("%s %s committed=%d", b.Group, b.TopicPartition, b.Offset)
}

// Sentence gives the offset.
func (b PositionCommitted) Sentence() string {
	if b.Offset < 0 {
		return fmt.Sprintf("Group %s has committed nothing for %s: auto.offset.reset = %s decides where to begin.", b.Group, b.TopicPartition, b.Policy)
	}
	return fmt.Sprintf("Reading of %s begins at offset %d, which group %s has committed.", b.TopicPartition, b.Offset, b.Group)
}

func partitionList(list []kafka.TopicPartition, separator string) string {
	names := make([]string, len(list))
	for i, tp := range list {
		names[i] = tp.String()
	}
	return strings.Join(names, separator)
}
