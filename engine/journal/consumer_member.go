package journal

import (
	"fmt"
	"strings"

	"loglab/engine/kafka"
)

// JoinHeartbeatSent says that a client asks to join its group by the consumer protocol, and why.
type JoinHeartbeatSent struct {
	Group            string                `json:"group"`
	Why              string                `json:"why"`
	Member           kafka.MemberID        `json:"member_id"`
	Instance         kafka.GroupInstanceID `json:"instance_id"` // empty: a dynamic member
	Topics           []string              `json:"topics"`      // sorted; empty: by Pattern
	Pattern          string                `json:"pattern"`     // empty: by Topics
	Assignor         string                `json:"server_assignor"`
	RebalanceTimeout kafka.Millis          `json:"rebalance_timeout_ms"`
}

// Kind gives the kind's name.
func (JoinHeartbeatSent) Kind() string { return "JoinHeartbeatSent" }

// Text gives the group, the member and the reason.
func (b JoinHeartbeatSent) Text() string {
	text := fmt.Sprintf("%s %s epoch=0", b.Group, b.Member)
	if b.Instance != "" {
		text += fmt.Sprintf(" instance=%s", b.Instance)
	}
	if b.Pattern != "" {
		text += fmt.Sprintf(" pattern=%s", b.Pattern)
	} else {
		text += fmt.Sprintf(" topics=[%s]", strings.Join(b.Topics, " "))
	}
	if b.Assignor != "" {
		text += fmt.Sprintf(" assignor=%s", b.Assignor)
	}
	return text + ": " + b.Why
}

// Sentence gives the rule and what the request says.
func (b JoinHeartbeatSent) Sentence() string {
	reads := strings.Join(b.Topics, ", ")
	if b.Pattern != "" {
		reads = "every topic that matches " + b.Pattern
	}
	divides := "the coordinator's first assignor"
	if b.Assignor != "" {
		divides = fmt.Sprintf("the assignor %s (group.remote.assignor)", b.Assignor)
	}
	return fmt.Sprintf("Joins group %s by a ConsumerGroupHeartbeat with epoch 0: %s. It names itself %s, subscribes to %s, wants %s, and will give up a partition within max.poll.interval.ms = %s ms.",
		b.Group, b.Why, b.Member, reads, divides, kafka.Thousands(b.RebalanceTimeout))
}

// MemberEpochMoved says that the coordinator's answer has given a member another epoch.
type MemberEpochMoved struct {
	Group    string            `json:"group"`
	Member   kafka.MemberID    `json:"member_id"`
	From     kafka.MemberEpoch `json:"from"` // 0: it was joining
	To       kafka.MemberEpoch `json:"to"`
	Interval kafka.Millis      `json:"heartbeat_interval_ms"`
}

// Kind gives the kind's name.
func (MemberEpochMoved) Kind() string { return "MemberEpochMoved" }

// Text gives both epochs.
func (b MemberEpochMoved) Text() string {
	return fmt.Sprintf("%s %s epoch=%d→%d interval=%dms", b.Group, b.Member, b.From, b.To, b.Interval)
}

// Sentence gives the epoch and what it is for.
func (b MemberEpochMoved) Sentence() string {
	what := fmt.Sprintf("Moves from member epoch %d to %d of group %s", b.From, b.To, b.Group)
	if b.From == 0 {
		what = fmt.Sprintf("Is a member of group %s now, in member epoch %d", b.Group, b.To)
	}
	return fmt.Sprintf("%s: the coordinator's answer says so. Its commits carry this epoch, and it sends a heartbeat every %s ms (group.consumer.heartbeat.interval.ms of the broker).", what, kafka.Thousands(b.Interval))
}

// TargetLearned says what the coordinator told a member to own.
type TargetLearned struct {
	Group      string                 `json:"group"`
	Epoch      kafka.MemberEpoch      `json:"member_epoch"`
	Partitions []kafka.TopicPartition `json:"partitions"` // sorted, of topics that the client knows
	Unknown    int                    `json:"unknown"`    // topics whose ids the client's metadata does not have
	Revoked    []kafka.TopicPartition `json:"revoked"`    // that it owns and is to give up
	Added      []kafka.TopicPartition `json:"added"`      // that it does not own yet
}

// Kind gives the kind's name.
func (TargetLearned) Kind() string { return "TargetLearned" }

// Text gives the lists.
func (b TargetLearned) Text() string {
	text := fmt.Sprintf("%s epoch=%d [%s] revoked=[%s] added=[%s]", b.Group, b.Epoch, partitionList(b.Partitions, " "), partitionList(b.Revoked, " "), partitionList(b.Added, " "))
	if b.Unknown > 0 {
		text += fmt.Sprintf(" unknown=%d", b.Unknown)
	}
	return text
}

// Sentence gives what the member has to do.
func (b TargetLearned) Sentence() string {
	owns := "nothing"
	if len(b.Partitions) > 0 {
		owns = partitionList(b.Partitions, ", ")
	}
	text := fmt.Sprintf("The coordinator of group %s tells it to own %s.", b.Group, owns)
	switch {
	case len(b.Revoked) > 0 && len(b.Added) > 0:
		text += fmt.Sprintf(" It gives up %s and then takes %s.", partitionList(b.Revoked, ", "), partitionList(b.Added, ", "))
	case len(b.Revoked) > 0:
		text += fmt.Sprintf(" It gives up %s; what it keeps it reads on.", partitionList(b.Revoked, ", "))
	case len(b.Added) > 0:
		text += fmt.Sprintf(" It takes %s; nobody owns that any more.", partitionList(b.Added, ", "))
	}
	if b.Unknown > 0 {
		text += fmt.Sprintf(" The ids of %s more are not in its metadata yet: it asks for them.", kafka.Count(b.Unknown, "topic"))
	}
	return text
}

// ReconciliationHeld says that a member cannot come to what it is told to own yet.
type ReconciliationHeld struct {
	Group string `json:"group"`
	Why   string `json:"why"`
}

// Kind gives the kind's name.
func (ReconciliationHeld) Kind() string { return "ReconciliationHeld" }

// Text gives the reason.
func (b ReconciliationHeld) Text() string { return fmt.Sprintf("%s: %s", b.Group, b.Why) }

// Sentence gives the reason and who waits.
func (b ReconciliationHeld) Sentence() string {
	return fmt.Sprintf("Does not come to its new partitions of group %s yet: %s. It sends heartbeats meanwhile; whoever is to get what it gives up waits.", b.Group, b.Why)
}

// AssignmentAcknowledged says that a member's heartbeat tells the coordinator what it owns now.
type AssignmentAcknowledged struct {
	Group string                 `json:"group"`
	Epoch kafka.MemberEpoch      `json:"member_epoch"`
	Owned []kafka.TopicPartition `json:"owned"` // sorted
}

// Kind gives the kind's name.
func (AssignmentAcknowledged) Kind() string { return "AssignmentAcknowledged" }

// Text gives the list.
func (b AssignmentAcknowledged) Text() string {
	return fmt.Sprintf("%s epoch=%d [%s]", b.Group, b.Epoch, partitionList(b.Owned, " "))
}

// Sentence gives the list and what follows.
func (b AssignmentAcknowledged) Sentence() string {
	owns := "no partition"
	if len(b.Owned) > 0 {
		owns = partitionList(b.Owned, ", ")
	}
	return fmt.Sprintf("Sends a heartbeat at once that lists what it owns of group %s now: %s. What it leaves out the coordinator may give to others.", b.Group, owns)
}

// LeaveHeartbeatSent says that a client leaves its group by the consumer protocol.
type LeaveHeartbeatSent struct {
	Group      string                 `json:"group"`
	Member     kafka.MemberID         `json:"member_id"`
	Epoch      kafka.MemberEpoch      `json:"member_epoch"` // -1: for good; -2: a static member, for a time
	Partitions []kafka.TopicPartition `json:"partitions"`   // that it gives up
}

// Kind gives the kind's name.
func (LeaveHeartbeatSent) Kind() string { return "LeaveHeartbeatSent" }

// Text gives the epoch.
func (b LeaveHeartbeatSent) Text() string {
	return fmt.Sprintf("%s %s epoch=%d [%s]", b.Group, b.Member, b.Epoch, partitionList(b.Partitions, " "))
}

// Sentence gives the epoch and what follows.
func (b LeaveHeartbeatSent) Sentence() string {
	gives := ""
	if len(b.Partitions) > 0 {
		gives = fmt.Sprintf(" and gives up %s", partitionList(b.Partitions, ", "))
	}
	return fmt.Sprintf("Leaves group %s by a ConsumerGroupHeartbeat with epoch %d%s: %s.", b.Group, b.Epoch, gives, leaves(b.Epoch))
}

// leaves says what a leaving epoch means.
func leaves(epoch kafka.MemberEpoch) string {
	if epoch == -2 {
		return "a static member says that it will be back, and its partitions wait for its group.instance.id until its session ends"
	}
	return "its partitions go to others at once"
}

// positionName names a member's generation, or its epoch in a group of the consumer protocol.
func positionName(generation kafka.GenerationID, epoch kafka.MemberEpoch, equals string) string {
	if epoch != 0 {
		return fmt.Sprintf("epoch%s%d", equals, epoch)
	}
	return fmt.Sprintf("generation%s%d", equals, generation)
}
