package group

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// dissector reads the bytes of a key or value from front to back, and keeps the fields if they are wanted.
//
//	OffsetCommitValue v4   version int16 | offset int64 | leaderEpoch int32 | metadata compact string |
//	                       commitTimestamp int64 | tagged fields: 0 topicId, 16 bytes
//	GroupMetadataValue v3  version int16 | protocolType string | generation int32 | protocol string? | leader string? |
//	                       currentStateTimestamp int64 | members: count int32, each memberId string |
//	                       groupInstanceId string? | clientId string | clientHost string | rebalanceTimeout int32 |
//	                       sessionTimeout int32 | subscription bytes | assignment bytes
type dissector struct {
	bytes  []byte
	at     int
	keep   bool
	fields []record.Field
	err    error
	flex   bool   // the version is a flexible one: compact lengths and tagged fields
	prefix string // of the names of fields of a member
}

func (d *dissector) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("byte %d: %s: %w", d.at, fmt.Sprintf(format, args...), ErrUnreadable)
	}
}

// finish gives the error, and makes what was not read one field.
func (d *dissector) finish() error {
	rest := d.bytes[d.at:]
	if len(rest) > 0 {
		d.fail("%s follow the last field", kafka.Count(len(rest), "byte"))
		if d.keep {
			d.fields = append(d.fields, record.Field{
				Name: "unreadable", Offset: d.at, Width: len(rest), Raw: rest, Value: record.Printable(rest), Meaning: d.err.Error(), Record: -1,
			})
		}
	}
	return d.err
}

// take gives the next width bytes as one field, or nil if they are not there.
func (d *dissector) take(name string, width int, value func(raw []byte) (text, meaning string)) []byte {
	if d.err != nil {
		return nil
	}
	if width < 0 || width > len(d.bytes)-d.at {
		d.fail("%s of %s: %s are left", name, kafka.Count(width, "byte"), kafka.Count(len(d.bytes)-d.at, "byte"))
		return nil
	}
	raw := d.bytes[d.at : d.at+width : d.at+width]
	if d.keep && width > 0 {
		text, meaning := value(raw)
		d.fields = append(d.fields, record.Field{Name: d.prefix + name, Offset: d.at, Width: width, Raw: raw, Value: text, Meaning: meaning, Record: -1})
	}
	d.at += width
	return raw
}

func (d *dissector) int16(name string, meaning func(int16) string) int16 {
	raw := d.take(name, 2, func(raw []byte) (string, string) {
		v := int16(binary.BigEndian.Uint16(raw))
		return fmt.Sprint(v), meaning(v)
	})
	if raw == nil {
		return 0
	}
	return int16(binary.BigEndian.Uint16(raw))
}

func (d *dissector) int32(name string, meaning func(int32) string) int32 {
	raw := d.take(name, 4, func(raw []byte) (string, string) {
		v := int32(binary.BigEndian.Uint32(raw))
		return fmt.Sprint(v), meaning(v)
	})
	if raw == nil {
		return 0
	}
	return int32(binary.BigEndian.Uint32(raw))
}

func (d *dissector) int64(name string, meaning func(int64) string) int64 {
	raw := d.take(name, 8, func(raw []byte) (string, string) {
		v := int64(binary.BigEndian.Uint64(raw))
		return fmt.Sprint(v), meaning(v)
	})
	if raw == nil {
		return 0
	}
	return int64(binary.BigEndian.Uint64(raw))
}

func says(meaning string) func(int32) string { return func(int32) string { return meaning } }

func wallClock(what string) func(int64) string {
	return func(v int64) string {
		if v < 0 {
			return "not known"
		}
		return fmt.Sprintf("%s, %s ms since 1970-01-01 UTC", what, kafka.Thousands(v))
	}
}

// uvarint reads an unsigned varint of at most 5 bytes.
func (d *dissector) uvarint(name string, meaning func(uint64) string) uint64 {
	if d.err != nil {
		return 0
	}
	v, n := binary.Uvarint(d.bytes[d.at:])
	if n <= 0 || n > 5 || v > 1<<32-1 {
		d.fail("%s is no unsigned varint of 32 bits", name)
		return 0
	}
	d.take(name, n, func([]byte) (string, string) { return fmt.Sprint(v), meaning(v) })
	return v
}

// length reads the length of a string or of bytes; -1: null.
func (d *dissector) length(name string, wide bool) int {
	describe := func(n int64) string {
		if n < 0 {
			return "null"
		}
		return kafka.Count(int(n), "byte")
	}
	switch {
	case d.flex:
		return int(d.uvarint(name, func(v uint64) string { return describe(int64(v)-1) + "; a compact length is one more, 0 is null" })) - 1
	case wide:
		return int(d.int32(name, func(v int32) string { return describe(int64(v)) }))
	}
	return int(d.int16(name, func(v int16) string { return describe(int64(v)) }))
}

// text reads a string; null reads as nil and is an error unless it is allowed.
func (d *dissector) text(name, meaning string, nullable bool) string {
	n := d.length(name+"Length", false)
	if d.err != nil || n < 0 {
		if n < -1 || n < 0 && !nullable {
			d.fail("%s has the length %d", name, n)
		}
		return ""
	}
	return string(d.take(name, n, func(raw []byte) (string, string) { return record.Printable(raw), meaning }))
}

// blob reads bytes that are not null.
func (d *dissector) blob(name, meaning string) []byte {
	n := d.length(name+"Length", true)
	if d.err == nil && n < 0 {
		d.fail("%s has the length %d", name, n)
	}
	return d.take(name, n, func(raw []byte) (string, string) { return record.Printable(raw), meaning })
}

// tags reads the tagged fields that end a flexible struct. Known reads those that it knows, of the given size, and
// says whether it did; nil: none are known.
func (d *dissector) tags(known func(tag uint64, size int) bool) {
	if !d.flex {
		return
	}
	n := d.uvarint("taggedFields", func(v uint64) string { return kafka.Count(int(v), "tagged field") })
	last := int64(-1)
	for range n {
		tag := d.uvarint("tag", func(v uint64) string { return "which field follows" })
		size := d.uvarint("tagSize", func(v uint64) string { return kafka.Count(int(v), "byte") })
		if d.err == nil && int64(tag) <= last {
			d.fail("tag %d after tag %d", tag, last)
		}
		last = int64(tag)
		if d.err != nil {
			return
		}
		if known != nil && known(tag, int(size)) {
			continue
		}
		d.take("taggedField", int(size), func(raw []byte) (string, string) { return record.Printable(raw), "not known here" })
	}
}

// uuid reads the id of a topic.
func (d *dissector) uuid(name, meaning string) (id [16]byte) {
	copy(id[:], d.take(name, 16, func(raw []byte) (string, string) { return hex.EncodeToString(raw), meaning }))
	return id
}

func (d *dissector) key() Key {
	k := Key{Type: d.int16("type", func(v int16) string {
		switch v {
		case TypeOffsetCommitOld, TypeOffsetCommit:
			return "a committed offset"
		case TypeGroupMetadata:
			return "a classic group"
		}
		if meaning := consumerRecordMeaning(v); meaning != "" {
			return meaning
		}
		return "a record of another kind"
	})}
	switch k.Type {
	case TypeOffsetCommitOld, TypeOffsetCommit:
		k.Group = d.text("group", "the group's id", false)
		k.TopicPartition.Topic = d.text("topic", "the topic's name", false)
		k.TopicPartition.Partition = kafka.Partition(d.int32("partition", says("the partition")))
	case TypeGroupMetadata, TypeConsumerGroupMetadata, TypeConsumerGroupPartitionMetadata, TypeTargetAssignmentMetadata:
		k.Group = d.text("group", "the group's id", false)
	case TypeConsumerGroupMemberMetadata, TypeTargetAssignmentMember, TypeCurrentMemberAssignment:
		k.Group = d.text("group", "the group's id", false)
		k.Member = kafka.MemberID(d.text("memberId", "the member's id", false))
	case TypeRegularExpression:
		k.Group = d.text("group", "the group's id", false)
		k.Regex = d.text("regularExpression", "the pattern", false)
	default:
		d.take("key", len(d.bytes)-d.at, func(raw []byte) (string, string) { return record.Printable(raw), "not taken apart" })
	}
	return k
}

func (d *dissector) value(key Key) Value {
	switch key.Type {
	case TypeOffsetCommitOld, TypeOffsetCommit:
		return d.offsetCommit(key)
	case TypeGroupMetadata:
		return d.groupMetadata(key)
	case TypeConsumerGroupMetadata, TypeConsumerGroupMemberMetadata, TypeTargetAssignmentMetadata, TypeTargetAssignmentMember, TypeCurrentMemberAssignment, TypeRegularExpression:
		return d.consumerValue(key)
	}
	d.fail("records of type %d are not known", key.Type)
	return nil
}

func (d *dissector) version(newest int16) int16 {
	v := d.int16("version", func(v int16) string { return fmt.Sprintf("version %d of the value", v) })
	if d.err == nil && (v < 0 || v > newest) {
		d.fail("version %d; 0 to %d are known", v, newest)
	}
	d.flex = v >= 4
	return v
}

func (d *dissector) offsetCommit(key Key) OffsetCommitRecord {
	r := OffsetCommitRecord{Group: key.Group, TopicPartition: key.TopicPartition, LeaderEpoch: kafka.NoLeaderEpoch, ExpireTimestamp: kafka.NoTimestamp}
	r.Version = d.version(4)
	r.Offset = kafka.Offset(d.int64("offset", func(v int64) string { return fmt.Sprintf("the next record to read; %d was the last one", v-1) }))
	if r.Version >= 3 {
		r.LeaderEpoch = kafka.LeaderEpoch(d.int32("leaderEpoch", func(v int32) string {
			if v < 0 {
				return "not known"
			}
			return fmt.Sprintf("the record before was written in leader epoch %d", v)
		}))
	}
	r.Metadata = d.text("metadata", "what the client wrote beside it", false)
	r.CommitTimestamp = kafka.Timestamp(d.int64("commitTimestamp", wallClock("when it was committed, by the coordinator's clock")))
	if r.Version == 1 {
		r.ExpireTimestamp = kafka.Timestamp(d.int64("expireTimestamp", wallClock("when it expires")))
	}
	d.tags(func(tag uint64, size int) bool {
		if tag != 0 || size != 16 {
			return false
		}
		r.TopicID = d.uuid("topicId", "the topic that had this name when the offset was committed")
		return true
	})
	return r
}

func (d *dissector) groupMetadata(key Key) GroupMetadataRecord {
	r := GroupMetadataRecord{Group: key.Group, StateTimestamp: kafka.NoTimestamp}
	r.Version = d.version(4)
	r.ProtocolType = d.text("protocolType", "what the group is for", false)
	r.Generation = kafka.GenerationID(d.int32("generation", says("completed join phases")))
	r.Protocol = d.text("protocol", "the assignor", true)
	r.Leader = kafka.MemberID(d.text("leader", "the member that divides the partitions", true))
	if r.Version >= 2 {
		r.StateTimestamp = kafka.Timestamp(d.int64("currentStateTimestamp", wallClock("since when the group has been in its state")))
	}
	var count int
	describe := func(n int64) string { return kafka.Count(int(n), "member") }
	if d.flex {
		count = int(d.uvarint("members", func(v uint64) string { return describe(int64(v) - 1) })) - 1
	} else {
		count = int(d.int32("members", func(v int32) string { return describe(int64(v)) }))
	}
	if d.err == nil && (count < 0 || count > len(d.bytes)-d.at) {
		d.fail("%d members in %s", count, kafka.Count(len(d.bytes)-d.at, "byte"))
	}
	for i := 0; i < count && d.err == nil; i++ {
		d.prefix = fmt.Sprintf("member %d ", i)
		r.Members = append(r.Members, d.memberOf(r.Version))
	}
	d.prefix = ""
	d.tags(nil)
	return r
}

func (d *dissector) memberOf(version int16) MemberRecord {
	m := MemberRecord{RebalanceTimeout: -1}
	m.ID = kafka.MemberID(d.text("memberId", "the member's id", false))
	if version >= 3 {
		m.InstanceID = kafka.GroupInstanceID(d.text("groupInstanceId", "group.instance.id: a static member", true))
	}
	m.ClientID = d.text("clientId", "client.id", false)
	m.ClientHost = d.text("clientHost", "where it joined from", false)
	if version >= 1 {
		m.RebalanceTimeout = kafka.Millis(d.int32("rebalanceTimeout", says("milliseconds; max.poll.interval.ms of the consumer")))
	}
	m.SessionTimeout = kafka.Millis(d.int32("sessionTimeout", says("milliseconds; session.timeout.ms of the consumer")))
	m.Subscription = d.blob("subscription", "what the member sent for the assignor: "+subscriptionText)
	m.Assignment = d.blob("assignment", "what the leader gave the member: a version, topics with partitions, and data of the assignor")
	if d.flex {
		d.tags(nil)
	}
	return m
}

const subscriptionText = "a version, its topics, data of the assignor and, from version 1 on, the partitions that it owned"

// subscribed gives the topics of a consumer's subscription; ok is false when the bytes are none.
//
// Source: ClassicGroup.computeSubscribedTopics, which reads version 0, the beginning of each newer one.
func subscribed(subscription []byte) (topics []string, ok bool) {
	d := dissector{bytes: subscription}
	d.int16("version", func(int16) string { return "" })
	count := d.int32("topics", says(""))
	if d.err != nil || count < 0 || int(count) > len(subscription) {
		return nil, false
	}
	for range count {
		topics = append(topics, d.text("topic", "", false))
	}
	if n := d.length("userDataLength", true); n > 0 {
		d.take("userData", n, nil)
	}
	return topics, d.err == nil
}

// assigned gives the partitions of a consumer's assignment, in the order that the leader gave; none when the bytes
// are no assignment.
func assigned(assignment []byte) []kafka.TopicPartition {
	var a kmsg.ConsumerMemberAssignment
	if a.ReadFrom(assignment) != nil {
		return nil
	}
	var partitions []kafka.TopicPartition
	for _, topic := range a.Topics {
		for _, p := range topic.Partitions {
			partitions = append(partitions, kafka.TopicPartition{Topic: topic.Topic, Partition: kafka.Partition(p)})
		}
	}
	return partitions
}
