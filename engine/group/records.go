package group

import (
	"encoding/binary"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/kafka"
	"loglab/engine/record"
)

// The record types of __consumer_offsets that this package writes and reads, with those in consumer_records.go. Each key
// begins with its type, each value with a version of its own.
//
// Source: CoordinatorRecordType, OffsetCommitKey.json, GroupMetadataKey.json.
const (
	TypeOffsetCommitOld int16 = 0 // read only
	TypeOffsetCommit    int16 = 1
	TypeGroupMetadata   int16 = 2
)

// The versions of values that Kafka 4.2 writes.
const (
	offsetCommitVersion  = 4
	groupMetadataVersion = 3
)

// Key is the decoded key of a record of __consumer_offsets.
type Key struct {
	Type           int16
	Group          string
	TopicPartition kafka.TopicPartition // of a committed offset; else zero
	Member         kafka.MemberID       // of a member of the consumer protocol; else empty
	Regex          string               // of a pattern that such members subscribe to; else empty
}

// Value is a decoded value: an [OffsetCommitRecord], a [GroupMetadataRecord], one of the records of the consumer
// protocol or a [Tombstone].
type Value interface {
	// Encode gives the record as Kafka 4.2 writes it.
	Encode() coordinator.Record
	key() Key
}

// OffsetCommitRecord is a committed offset as it stands in the log.
//
// Source: OffsetCommitValue.json.
type OffsetCommitRecord struct {
	Version         int16
	Group           string
	TopicPartition  kafka.TopicPartition
	Offset          kafka.Offset // the next record to read
	LeaderEpoch     kafka.LeaderEpoch
	Metadata        string
	CommitTimestamp kafka.Timestamp
	ExpireTimestamp kafka.Timestamp // of version 1 only; else -1
	TopicID         [16]byte        // from version 4 on; zero: not known
}

// GroupMetadataRecord is a classic group as it stands in the log: with members a stable one, without an empty one.
//
// Source: GroupMetadataValue.json.
type GroupMetadataRecord struct {
	Version        int16
	Group          string
	ProtocolType   string // "consumer"; empty: nobody has completed a join yet
	Generation     kafka.GenerationID
	Protocol       string // the assignor; empty: null
	Leader         kafka.MemberID
	StateTimestamp kafka.Timestamp // since when the group has been in the state; -1: not known
	Members        []MemberRecord
}

// MemberRecord is a member in a GroupMetadataRecord. Subscription and Assignment are the consumer's bytes.
type MemberRecord struct {
	ID               kafka.MemberID
	InstanceID       kafka.GroupInstanceID // empty: a dynamic member
	ClientID         string
	ClientHost       string // as Java writes an address: "/c1"
	RebalanceTimeout kafka.Millis
	SessionTimeout   kafka.Millis
	Subscription     []byte
	Assignment       []byte
}

// Tombstone is a null value: what the key names is gone.
type Tombstone struct{ Key Key }

func (r OffsetCommitRecord) key() Key {
	return Key{Type: TypeOffsetCommit, Group: r.Group, TopicPartition: r.TopicPartition}
}
func (r GroupMetadataRecord) key() Key { return Key{Type: TypeGroupMetadata, Group: r.Group} }
func (t Tombstone) key() Key           { return t.Key }

// Encode gives the record as Kafka 4.2 writes it: one that says when it expires in version 1, whatever r.Version is.
func (r OffsetCommitRecord) Encode() coordinator.Record {
	value := kmsg.OffsetCommitValue{
		Version: offsetCommitVersion, Offset: int64(r.Offset), LeaderEpoch: int32(r.LeaderEpoch), Metadata: r.Metadata,
		CommitTimestamp: int64(r.CommitTimestamp), TopicID: r.TopicID,
	}
	if r.ExpireTimestamp >= 0 {
		value.Version, value.ExpireTimestamp = 1, int64(r.ExpireTimestamp)
	}
	return coordinator.Record{Key: r.key().encode(), Value: value.AppendTo(nil)}
}

// Encode gives the record as Kafka 4.2 writes it, whatever r.Version is.
func (r GroupMetadataRecord) Encode() coordinator.Record {
	value := kmsg.GroupMetadataValue{
		Version: groupMetadataVersion, ProtocolType: r.ProtocolType, Generation: int32(r.Generation), Protocol: orNull(r.Protocol),
		Leader: orNull(string(r.Leader)), CurrentStateTimestamp: int64(r.StateTimestamp), Members: make([]kmsg.GroupMetadataValueMember, len(r.Members)),
	}
	for i, m := range r.Members {
		value.Members[i] = kmsg.GroupMetadataValueMember{
			MemberID: string(m.ID), InstanceID: orNull(string(m.InstanceID)), ClientID: m.ClientID, ClientHost: m.ClientHost,
			RebalanceTimeoutMillis: int32(m.RebalanceTimeout), SessionTimeoutMillis: int32(m.SessionTimeout),
			Subscription: m.Subscription, Assignment: m.Assignment,
		}
	}
	return coordinator.Record{Key: r.key().encode(), Value: value.AppendTo(nil)}
}

// Encode gives a record without a value.
func (t Tombstone) Encode() coordinator.Record { return coordinator.Record{Key: t.Key.encode()} }

func (k Key) encode() []byte {
	switch k.Type {
	case TypeGroupMetadata:
		key := kmsg.GroupMetadataKey{Version: k.Type, Group: k.Group}
		return key.AppendTo(nil)
	case TypeConsumerGroupMetadata, TypeConsumerGroupPartitionMetadata, TypeTargetAssignmentMetadata:
		return appendText(beginKey(k.Type), k.Group)
	case TypeConsumerGroupMemberMetadata, TypeTargetAssignmentMember, TypeCurrentMemberAssignment:
		return appendText(appendText(beginKey(k.Type), k.Group), string(k.Member))
	case TypeRegularExpression:
		return appendText(appendText(beginKey(k.Type), k.Group), k.Regex)
	}
	key := kmsg.OffsetCommitKey{Version: k.Type, Group: k.Group, Topic: k.TopicPartition.Topic, Partition: int32(k.TopicPartition.Partition)}
	return key.AppendTo(nil)
}

// beginKey begins a key.
func beginKey(recordType int16) []byte {
	return binary.BigEndian.AppendUint16(nil, uint16(recordType))
}

// appendText appends a string of a key.
func appendText(key []byte, text string) []byte {
	return append(binary.BigEndian.AppendUint16(key, uint16(len(text))), text...)
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// DecodeKey decodes a key. Of a type that this package does not know, only Type is given. The error is
// coordinator.ErrUnreadable with what is wrong.
func DecodeKey(key []byte) (Key, error) {
	d := dissector{coordinator.NewDissector(key, false)}
	k := d.key()
	_, err := d.Finish()
	return k, err
}

// DecodeValue decodes the value of a record with that key; nil gives a Tombstone. Of a key of a type that this
// package does not know, and of a value of a version that it does not know, the error is coordinator.ErrUnreadable. Byte
// slices of the answer are shared with value.
func DecodeValue(key Key, value []byte) (Value, error) {
	if value == nil {
		return Tombstone{key}, nil
	}
	d := dissector{coordinator.NewDissector(value, false)}
	v := d.value(key)
	_, err := d.Finish()
	return v, err
}

// KeyAnatomy takes a key apart: every byte lies in exactly one field. Where the bytes cannot be decoded, the rest is
// one field, "unreadable", and the error is that of DecodeKey.
func KeyAnatomy(key []byte) ([]record.Field, error) {
	d := dissector{coordinator.NewDissector(key, true)}
	d.key()
	return d.Finish()
}

// ValueAnatomy takes the value of a record with that key apart, as KeyAnatomy does.
func ValueAnatomy(key Key, value []byte) ([]record.Field, error) {
	d := dissector{coordinator.NewDissector(value, true)}
	d.value(key)
	return d.Finish()
}
