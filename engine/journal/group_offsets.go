package journal

import (
	"fmt"

	"loglab/engine/kafka"
)

// StaticMemberReplaced says that a static member came back and got another member id in the place of its old one.
type StaticMemberReplaced struct {
	Group      string                `json:"group"`
	Instance   kafka.GroupInstanceID `json:"instance_id"`
	Old        kafka.MemberID        `json:"old_member"`
	Member     kafka.MemberID        `json:"member"`
	State      string                `json:"state"` // of the group
	Generation kafka.GenerationID    `json:"generation"`
	Protocol   string                `json:"protocol"`
	Rebalance  string                `json:"rebalance"` // why a rebalance follows; empty: none does
}

// Kind gives the kind's name.
func (StaticMemberReplaced) Kind() string { return "StaticMemberReplaced" }

// Text gives both ids.
func (b StaticMemberReplaced) Text() string {
	text := fmt.Sprintf("%s instance=%s %s→%s %s generation=%d", b.Group, b.Instance, b.Old, b.Member, b.State, b.Generation)
	if b.Rebalance != "" {
		text += ": " + b.Rebalance
	}
	return text
}

// Sentence gives the rule.
func (b StaticMemberReplaced) Sentence() string {
	s := fmt.Sprintf("The static member with group.instance.id = %s came back to group %s within its session: it has the member id %s now, and the old one, %s, is fenced. ",
		b.Instance, b.Group, b.Member, b.Old)
	switch {
	case b.Rebalance != "":
		return s + "A rebalance follows: " + b.Rebalance + "."
	case b.State == "Stable":
		return s + fmt.Sprintf("Assignment and generation %d stay as they are: the assignor would still be %s.", b.Generation, b.Protocol)
	}
	return s + "It waits with the others for the end of the join phase."
}

// GroupRequestRefused says that a group coordinator answered a request with an error.
type GroupRequestRefused struct {
	API    string         `json:"api"`
	Group  string         `json:"group"`
	Member kafka.MemberID `json:"member"` // empty: none
	From   kafka.NodeID   `json:"from"`
	Error  string         `json:"error"`
	Why    string         `json:"why"`
}

// Kind gives the kind's name.
func (GroupRequestRefused) Kind() string { return "GroupRequestRefused" }

// Text gives request and code.
func (b GroupRequestRefused) Text() string {
	text := fmt.Sprintf("%s %s from=%s", b.Group, b.API, b.From)
	if b.Member != "" {
		text += " member=" + string(b.Member)
	}
	return text + fmt.Sprintf(" %s: %s", b.Error, b.Why)
}

// Sentence gives the code and the rule.
func (b GroupRequestRefused) Sentence() string {
	who := string(b.From)
	if b.Member != "" {
		who = fmt.Sprintf("%s (%s)", b.Member, b.From)
	}
	return fmt.Sprintf("The %s request of %s for group %s was answered with %s: %s.", b.API, who, b.Group, b.Error, b.Why)
}

// OffsetCommitted says that a group's committed offset is written: who reads it from now on gets this one.
type OffsetCommitted struct {
	Group          string               `json:"group"`
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Offset         kafka.Offset         `json:"offset"` // the next record to read
	Before         kafka.Offset         `json:"before"` // -1: none
	Member         kafka.MemberID       `json:"member"` // empty: no member, an administrator or a simple consumer
	Generation     kafka.GenerationID   `json:"generation"`
	Producer       kafka.ProducerID     `json:"producer_id"` // in whose transaction it was committed; -1: in none
}

// Kind gives the kind's name.
func (OffsetCommitted) Kind() string { return "OffsetCommitted" }

// Text gives the move of the committed offset.
func (b OffsetCommitted) Text() string {
	if b.Producer >= 0 {
		return fmt.Sprintf("%s %s %d→%d producer=%d", b.Group, b.TopicPartition, b.Before, b.Offset, b.Producer)
	}
	return fmt.Sprintf("%s %s %d→%d member=%s generation=%d", b.Group, b.TopicPartition, b.Before, b.Offset, b.Member, b.Generation)
}

// Sentence gives the move and says so if it goes back.
func (b OffsetCommitted) Sentence() string {
	who := "a client that is no member"
	switch {
	case b.Producer >= 0:
		who = "the transaction of producer id " + kafka.Thousands(b.Producer)
	case b.Member != "":
		who = fmt.Sprintf("%s, generation %d", b.Member, b.Generation)
	}
	s := fmt.Sprintf("Group %s has committed offset %d of %s, by %s: who takes the partition over reads from there.", b.Group, b.Offset, b.TopicPartition, who)
	switch {
	case b.Before > b.Offset:
		s += fmt.Sprintf(" That is before the old one, %d: the coordinator checks member and generation, not whether the offset goes back.", b.Before)
	case b.Before >= 0:
		s += fmt.Sprintf(" It was %d.", b.Before)
	}
	return s
}

// TransactionalOffsetPending says that an offset which was committed in a transaction is written. It is no committed
// offset before the transaction is committed.
//
// Source: OffsetMetadataManager.replay.
type TransactionalOffsetPending struct {
	Group          string               `json:"group"`
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Offset         kafka.Offset         `json:"offset"` // the next record to read
	ProducerID     kafka.ProducerID     `json:"producer_id"`
	ProducerEpoch  kafka.ProducerEpoch  `json:"producer_epoch"`
	Member         kafka.MemberID       `json:"member"` // empty: the request names none
	Generation     kafka.GenerationID   `json:"generation"`
}

// Kind gives the kind's name.
func (TransactionalOffsetPending) Kind() string { return "TransactionalOffsetPending" }

// Text gives the offset and whose transaction it is.
func (b TransactionalOffsetPending) Text() string {
	return fmt.Sprintf("%s %s %d producer=%d epoch=%d member=%s generation=%d", b.Group, b.TopicPartition, b.Offset, b.ProducerID, b.ProducerEpoch, b.Member, b.Generation)
}

// Sentence gives the rule.
func (b TransactionalOffsetPending) Sentence() string {
	who := "a client that names no member"
	if b.Member != "" {
		who = fmt.Sprintf("%s, generation %d", b.Member, b.Generation)
	}
	return fmt.Sprintf("Offset %d of %s is written for group %s in the transaction of producer id %s (epoch %d), by %s. It is pending: a COMMIT marker of that producer id in this partition of __consumer_offsets makes it the committed offset, an ABORT marker drops it. Until then OffsetFetch gives the offset that was committed before; whoever requires a stable one is answered with UNSTABLE_OFFSET_COMMIT.",
		b.Offset, b.TopicPartition, b.Group, kafka.Thousands(b.ProducerID), b.ProducerEpoch, who)
}

// TransactionalOffsetsEnded says what the end of a transaction did to the offsets of a group that were committed in it.
//
// Source: OffsetMetadataManager.replayEndTransactionMarker.
type TransactionalOffsetsEnded struct {
	Group         string              `json:"group"`
	ProducerID    kafka.ProducerID    `json:"producer_id"`
	ProducerEpoch kafka.ProducerEpoch `json:"producer_epoch"` // of the marker
	Committed     bool                `json:"committed"`      // else aborted
	Visible       []CommitOffset      `json:"visible"`        // that are the group's committed offsets now
	Dropped       []CommitOffset      `json:"dropped"`        // that count for nothing: of a committed transaction because a later commit is there
}

// Kind gives the kind's name.
func (TransactionalOffsetsEnded) Kind() string { return "TransactionalOffsetsEnded" }

func (b TransactionalOffsetsEnded) marker() string {
	if b.Committed {
		return "COMMIT"
	}
	return "ABORT"
}

// Text gives the marker and what became of the offsets.
func (b TransactionalOffsetsEnded) Text() string {
	text := fmt.Sprintf("%s %s producer=%d epoch=%d", b.Group, b.marker(), b.ProducerID, b.ProducerEpoch)
	if len(b.Visible) > 0 {
		text += " visible " + offsetList(b.Visible, " ")
	}
	if len(b.Dropped) > 0 {
		text += " dropped " + offsetList(b.Dropped, " ")
	}
	return text
}

// Sentence gives the rule.
func (b TransactionalOffsetsEnded) Sentence() string {
	s := fmt.Sprintf("The %s marker of producer id %s (epoch %d) is written. ", b.marker(), kafka.Thousands(b.ProducerID), b.ProducerEpoch)
	if !b.Committed {
		return s + fmt.Sprintf("What its transaction committed for group %s is dropped: %s. The group's committed offsets stay as they are.", b.Group, offsetList(b.Dropped, ", "))
	}
	if len(b.Visible) > 0 {
		s += fmt.Sprintf("What its transaction committed for group %s counts now: %s.", b.Group, offsetList(b.Visible, ", "))
	}
	if len(b.Dropped) > 0 {
		if len(b.Visible) > 0 {
			s += " "
		}
		s += fmt.Sprintf("Dropped is %s: another commit of group %s came after it in the log, and the last one counts.", offsetList(b.Dropped, ", "), b.Group)
	}
	return s
}

// OffsetsRemoved says that offsets of a group are gone.
type OffsetsRemoved struct {
	Group      string                 `json:"group"`
	Partitions []kafka.TopicPartition `json:"partitions"`        // whose committed offset is gone
	Why        string                 `json:"why"`               // the rule and setting
	Pending    []kafka.TopicPartition `json:"pending,omitempty"` // for which transactions that have not ended had offsets, which are gone, too
}

// Kind gives the kind's name.
func (OffsetsRemoved) Kind() string { return "OffsetsRemoved" }

// Text gives the partitions and the rule.
func (b OffsetsRemoved) Text() string {
	text := b.Group
	if len(b.Partitions) > 0 {
		text += " " + texts(b.Partitions, ",")
	}
	if len(b.Pending) > 0 {
		text += " pending " + texts(b.Pending, ",")
	}
	return text + ": " + b.Why
}

// Sentence gives the rule.
func (b OffsetsRemoved) Sentence() string {
	pending := "what transactions have pending for " + texts(b.Pending, ", ")
	if len(b.Partitions) == 0 {
		return fmt.Sprintf("Group %s loses %s: %s. Each gets a tombstone.", b.Group, pending, b.Why)
	}
	s := fmt.Sprintf("Group %s loses its committed %s of %s: %s. Each gets a tombstone.", b.Group, offsets(len(b.Partitions)), texts(b.Partitions, ", "), b.Why)
	if len(b.Pending) > 0 {
		s += " Gone is " + pending + ", too."
	}
	return s
}

func offsets(n int) string {
	if n == 1 {
		return "offset"
	}
	return "offsets"
}

// GroupDeleted says that a group is gone: the coordinator knows nothing of it any more.
type GroupDeleted struct {
	Group string `json:"group"`
	Why   string `json:"why"`
}

// Kind gives the kind's name.
func (GroupDeleted) Kind() string { return "GroupDeleted" }

// Text gives the rule.
func (b GroupDeleted) Text() string { return b.Group + ": " + b.Why }

// Sentence gives the rule.
func (b GroupDeleted) Sentence() string {
	return fmt.Sprintf("Group %s is deleted: %s. It gets a tombstone.", b.Group, b.Why)
}

// GroupsLoaded says that a broker became the coordinator of the groups of one partition of __consumer_offsets.
type GroupsLoaded struct {
	Records int `json:"records"` // read from the log
	Groups  int `json:"groups"`
	Members int `json:"members"`
	Offsets int `json:"offsets"`
	Pending int `json:"pending,omitempty"` // offsets of transactions that have not ended
}

// Kind gives the kind's name.
func (GroupsLoaded) Kind() string { return "GroupsLoaded" }

// Text gives the counts.
func (b GroupsLoaded) Text() string {
	text := fmt.Sprintf("records=%d groups=%d members=%d offsets=%d", b.Records, b.Groups, b.Members, b.Offsets)
	if b.Pending > 0 {
		text += fmt.Sprintf(" pending=%d", b.Pending)
	}
	return text
}

// Sentence says what was found.
func (b GroupsLoaded) Sentence() string {
	s := fmt.Sprintf("The group coordinator read %s of the partition's log and knows %s with %s and %s now. Each member has a whole session timeout to be heard of.",
		kafka.Count(b.Records, "record"), kafka.Count(b.Groups, "group"), kafka.Count(b.Members, "member"), kafka.Count(b.Offsets, "committed offset"))
	if b.Pending > 0 {
		s += fmt.Sprintf(" Of transactions whose end the log does not have, %s %s pending.", kafka.Count(b.Pending, "offset"), are(b.Pending))
	}
	return s
}

// CoordinatorResigned says that a broker is no longer the coordinator of the groups of a partition.
type CoordinatorResigned struct {
	Groups   int `json:"groups"`
	Answered int `json:"answered"` // requests that waited
}

// Kind gives the kind's name.
func (CoordinatorResigned) Kind() string { return "CoordinatorResigned" }

// Text gives the counts.
func (b CoordinatorResigned) Text() string {
	return fmt.Sprintf("groups=%d answered=%d", b.Groups, b.Answered)
}

// Sentence says what those who wait are told.
func (b CoordinatorResigned) Sentence() string {
	return fmt.Sprintf("The broker leads the partition no longer and coordinates its %s no more. %s waited and %s answered with NOT_COORDINATOR: clients ask for the new coordinator.",
		kafka.Count(b.Groups, "group"), kafka.Count(b.Answered, "request"), were(b.Answered))
}
