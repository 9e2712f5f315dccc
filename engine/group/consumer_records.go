package group

import (
	"encoding/binary"

	"loglab/engine/coordinator"
	"loglab/engine/kafka"
)

// The record types of groups of the consumer protocol. A group is the sum of its records: its epoch, its members with
// what they subscribe to, the target assignment with its epoch, what each member owns, and the topics that match a
// pattern.
//
// Source: CoordinatorRecordType.
const (
	TypeConsumerGroupMetadata          int16 = 3
	TypeConsumerGroupPartitionMetadata int16 = 4 // written as a tombstone only, when a group is deleted
	TypeConsumerGroupMemberMetadata    int16 = 5
	TypeTargetAssignmentMetadata       int16 = 6
	TypeTargetAssignmentMember         int16 = 7
	TypeCurrentMemberAssignment        int16 = 8
	TypeRegularExpression              int16 = 16
)

// ConsumerGroupRecord is a group's epoch.
//
// Source: ConsumerGroupMetadataValue.json.
type ConsumerGroupRecord struct {
	Group        string
	Epoch        kafka.GroupEpoch
	MetadataHash uint64 // of the topics that the group subscribes to; see topicHash
}

// ConsumerMemberRecord is a member with what it sent of itself.
//
// Source: ConsumerGroupMemberMetadataValue.json.
type ConsumerMemberRecord struct {
	Group            string
	Member           kafka.MemberID
	InstanceID       kafka.GroupInstanceID // empty: null
	Rack             string                // empty: null
	ClientID         string
	ClientHost       string   // as Java writes an address: "/c1"
	Topics           []string // sorted
	Regex            string
	RebalanceTimeout kafka.Millis
	ServerAssignor   string // Kafka's name; empty: null
	Classic          *ClassicMemberRecord
}

// ClassicMemberRecord is what a member sent by JoinGroup that uses the classic protocol in a group of the consumer
// protocol.
type ClassicMemberRecord struct {
	SessionTimeout kafka.Millis
	Protocols      []ClassicProtocol
}

// ClassicProtocol is one assignor that such a member supports, with its subscription: the consumer's bytes.
type ClassicProtocol struct {
	Name     string
	Metadata []byte
}

// TargetEpochRecord is the group epoch that a target assignment was made for.
//
// Source: ConsumerGroupTargetAssignmentMetadataValue.json.
type TargetEpochRecord struct {
	Group string
	Epoch kafka.GroupEpoch
}

// TargetMemberRecord is what one member is to own in the end.
//
// Source: ConsumerGroupTargetAssignmentMemberValue.json.
type TargetMemberRecord struct {
	Group      string
	Member     kafka.MemberID
	Partitions []AssignedTopic
}

// CurrentAssignmentRecord is what one member owns, and how far it is with its target assignment.
//
// Source: ConsumerGroupCurrentMemberAssignmentValue.json.
type CurrentAssignmentRecord struct {
	Group         string
	Member        kafka.MemberID
	Epoch         kafka.MemberEpoch
	PreviousEpoch kafka.MemberEpoch
	State         MemberState
	Assigned      []AssignedTopic
	Revoking      []AssignedTopic
}

// RegularExpressionRecord is the topics that matched a pattern.
//
// Source: ConsumerGroupRegularExpressionValue.json.
type RegularExpressionRecord struct {
	Group     string
	Regex     string
	Topics    []string // sorted
	Version   int64    // the offset of the metadata record up to which topics were looked at
	Timestamp kafka.Timestamp
}

// AssignedTopic is partitions of one topic.
type AssignedTopic struct {
	TopicID    [16]byte
	Partitions []int32
}

func (r ConsumerGroupRecord) key() Key {
	return Key{Type: TypeConsumerGroupMetadata, Group: r.Group}
}
func (r ConsumerMemberRecord) key() Key {
	return Key{Type: TypeConsumerGroupMemberMetadata, Group: r.Group, Member: r.Member}
}
func (r TargetEpochRecord) key() Key { return Key{Type: TypeTargetAssignmentMetadata, Group: r.Group} }
func (r TargetMemberRecord) key() Key {
	return Key{Type: TypeTargetAssignmentMember, Group: r.Group, Member: r.Member}
}
func (r CurrentAssignmentRecord) key() Key {
	return Key{Type: TypeCurrentMemberAssignment, Group: r.Group, Member: r.Member}
}
func (r RegularExpressionRecord) key() Key {
	return Key{Type: TypeRegularExpression, Group: r.Group, Regex: r.Regex}
}

// The version of these values: the only one there is, a flexible one.
const consumerValueVersion = 0

// encoder writes the fields of a flexible struct.
type encoder struct{ bytes []byte }

func (e *encoder) int16(v int16) { e.bytes = binary.BigEndian.AppendUint16(e.bytes, uint16(v)) }
func (e *encoder) int32(v int32) { e.bytes = binary.BigEndian.AppendUint32(e.bytes, uint32(v)) }
func (e *encoder) int64(v int64) { e.bytes = binary.BigEndian.AppendUint64(e.bytes, uint64(v)) }
func (e *encoder) uvarint(v int) { e.bytes = binary.AppendUvarint(e.bytes, uint64(v)) }
func (e *encoder) noTags()       { e.uvarint(0) }

// text writes a compact string.
func (e *encoder) text(v string) {
	e.uvarint(len(v) + 1)
	e.bytes = append(e.bytes, v...)
}

// orNull writes a compact string, an empty one as null.
func (e *encoder) orNull(v string) {
	if v == "" {
		e.uvarint(0)
		return
	}
	e.text(v)
}

func (e *encoder) texts(list []string) {
	e.uvarint(len(list) + 1)
	for _, v := range list {
		e.text(v)
	}
}

func (e *encoder) assigned(list []AssignedTopic) {
	e.uvarint(len(list) + 1)
	for _, t := range list {
		e.bytes = append(e.bytes, t.TopicID[:]...)
		e.uvarint(len(t.Partitions) + 1)
		for _, p := range t.Partitions {
			e.int32(p)
		}
		e.noTags()
	}
}

// value begins the value of a record.
func value() *encoder {
	e := &encoder{}
	e.int16(consumerValueVersion)
	return e
}

// Encode gives the record as Kafka 4.2 writes it.
func (r ConsumerGroupRecord) Encode() coordinator.Record {
	e := value()
	e.int32(int32(r.Epoch))
	if r.MetadataHash == 0 {
		e.noTags()
	} else {
		e.uvarint(1)
		e.uvarint(0) // the tag
		e.uvarint(8) // its size
		e.int64(int64(r.MetadataHash))
	}
	return coordinator.Record{Key: r.key().encode(), Value: e.bytes}
}

// Encode gives the record as Kafka 4.2 writes it.
func (r ConsumerMemberRecord) Encode() coordinator.Record {
	e := value()
	e.orNull(string(r.InstanceID))
	e.orNull(r.Rack)
	e.text(r.ClientID)
	e.text(r.ClientHost)
	e.texts(r.Topics)
	e.text(r.Regex)
	e.int32(int32(r.RebalanceTimeout))
	e.orNull(r.ServerAssignor)
	e.uvarint(1) // classicMemberMetadata, tag 0, is written also where it is null: that is not its default
	e.uvarint(0)
	inner := encoder{}
	if r.Classic == nil {
		inner.uvarint(0)
	} else {
		inner.uvarint(1)
		r.Classic.encode(&inner)
	}
	e.uvarint(len(inner.bytes))
	e.bytes = append(e.bytes, inner.bytes...)
	return coordinator.Record{Key: r.key().encode(), Value: e.bytes}
}

func (r *ClassicMemberRecord) encode(e *encoder) {
	e.int32(int32(r.SessionTimeout))
	e.uvarint(len(r.Protocols) + 1)
	for _, p := range r.Protocols {
		e.text(p.Name)
		e.text(string(p.Metadata))
		e.noTags()
	}
	e.noTags()
}

// Encode gives the record as Kafka 4.2 writes it.
func (r TargetEpochRecord) Encode() coordinator.Record {
	e := value()
	e.int32(int32(r.Epoch))
	e.noTags()
	return coordinator.Record{Key: r.key().encode(), Value: e.bytes}
}

// Encode gives the record as Kafka 4.2 writes it; it goes through topics in the order of a hash table, this one by id.
func (r TargetMemberRecord) Encode() coordinator.Record {
	e := value()
	e.assigned(r.Partitions)
	e.noTags()
	return coordinator.Record{Key: r.key().encode(), Value: e.bytes}
}

// Encode gives the record as Kafka 4.2 writes it, topics as in a TargetMemberRecord.
func (r CurrentAssignmentRecord) Encode() coordinator.Record {
	e := value()
	e.int32(int32(r.Epoch))
	e.int32(int32(r.PreviousEpoch))
	e.bytes = append(e.bytes, memberStateCode(r.State))
	e.assigned(r.Assigned)
	e.assigned(r.Revoking)
	e.noTags()
	return coordinator.Record{Key: r.key().encode(), Value: e.bytes}
}

// Encode gives the record as Kafka 4.2 writes it.
func (r RegularExpressionRecord) Encode() coordinator.Record {
	e := value()
	e.texts(r.Topics)
	e.int64(r.Version)
	e.int64(int64(r.Timestamp))
	e.noTags()
	return coordinator.Record{Key: r.key().encode(), Value: e.bytes}
}

// The codes of member states in records, by place.
//
// Source: MemberState.
var memberStates = [...]MemberState{MemberStable, UnrevokedPartitions, UnreleasedPartitions}

func memberStateCode(state MemberState) byte {
	for code, s := range memberStates {
		if s == state {
			return byte(code)
		}
	}
	panic("group: no code for the member state " + string(state))
}

// assignedTopics gives partitions as records have them.
func assignedTopics(o ownership) (list []AssignedTopic) {
	o.byTopic(func(topic [16]byte, partitions []int32) {
		list = append(list, AssignedTopic{TopicID: topic, Partitions: partitions})
	})
	return list
}

// ownershipOf reads them back.
func ownershipOf(list []AssignedTopic) (o ownership) {
	for _, t := range list {
		o.add(t.TopicID, t.Partitions)
	}
	return o.sorted()
}
