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
}

// Kind gives the kind's name.
func (OffsetCommitted) Kind() string { return "OffsetCommitted" }

// Text gives the move of the committed offset.
func (b OffsetCommitted) Text() string {
	return fmt.Sprintf("%s %s %d→%d member=%s generation=%d", b.Group, b.TopicPartition, b.Before, b.Offset, b.Member, b.Generation)
}

// Sentence gives the move and says so if it goes back.
func (b OffsetCommitted) Sentence() string {
	who := "a client that is no member"
	if b.Member != "" {
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

// OffsetsRemoved says that committed offsets of a group are gone.
type OffsetsRemoved struct {
	Group      string                 `json:"group"`
	Partitions []kafka.TopicPartition `json:"partitions"`
	Why        string                 `json:"why"` // the rule and setting
}

// Kind gives the kind's name.
func (OffsetsRemoved) Kind() string { return "OffsetsRemoved" }

// Text gives the partitions and the rule.
func (b OffsetsRemoved) Text() string {
	return fmt.Sprintf("%s %s: %s", b.Group, texts(b.Partitions, ","), b.Why)
}

// Sentence gives the rule.
func (b OffsetsRemoved) Sentence() string {
	return fmt.Sprintf("Group %s loses its committed %s of %s: %s. Each gets a tombstone.", b.Group, offsets(len(b.Partitions)), texts(b.Partitions, ", "), b.Why)
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
}

// Kind gives the kind's name.
func (GroupsLoaded) Kind() string { return "GroupsLoaded" }

// Text gives the counts.
func (b GroupsLoaded) Text() string {
	return fmt.Sprintf("records=%d groups=%d members=%d offsets=%d", b.Records, b.Groups, b.Members, b.Offsets)
}

// Sentence says what was found.
func (b GroupsLoaded) Sentence() string {
	return fmt.Sprintf("The group coordinator read %s of the partition's log and knows %s with %s and %s now. Each member has a whole session timeout to be heard of.",
		kafka.Count(b.Records, "record"), kafka.Count(b.Groups, "group"), kafka.Count(b.Members, "member"), kafka.Count(b.Offsets, "committed offset"))
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
