package group

import (
	"encoding/hex"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/kafka"
	"loglab/engine/record"
)

// dissector reads a key or a value of __consumer_offsets.
//
//	OffsetCommitValue v4   version int16 | offset int64 | leaderEpoch int32 | metadata compact string |
//	                       commitTimestamp int64 | tagged fields: 0 topicId, 16 bytes
//	GroupMetadataValue v3  version int16 | protocolType string | generation int32 | protocol string? | leader string? |
//	                       currentStateTimestamp int64 | members: count int32, each memberId string |
//	                       groupInstanceId string? | clientId string | clientHost string | rebalanceTimeout int32 |
//	                       sessionTimeout int32 | subscription bytes | assignment bytes
type dissector struct{ coordinator.Dissector }

func wallClock(what string) func(int64) string { return coordinator.WallClock(what, "not known") }

// uuid reads the id of a topic.
func (d *dissector) uuid(name, meaning string) (id [16]byte) {
	copy(id[:], d.Take(name, 16, func(raw []byte) (string, string) { return hex.EncodeToString(raw), meaning }))
	return id
}

func (d *dissector) key() Key {
	k := Key{Type: int16(d.Number("type", 2, func(v int64) string {
		switch int16(v) {
		case TypeOffsetCommitOld, TypeOffsetCommit:
			return "a committed offset"
		case TypeGroupMetadata:
			return "a classic group"
		}
		if meaning := consumerRecordMeaning(int16(v)); meaning != "" {
			return meaning
		}
		return "a record of another kind"
	}))}
	switch k.Type {
	case TypeOffsetCommitOld, TypeOffsetCommit:
		k.Group = d.Text("group", "the group's id", false)
		k.TopicPartition.Topic = d.Text("topic", "the topic's name", false)
		k.TopicPartition.Partition = kafka.Partition(d.Number("partition", 4, coordinator.Says("the partition")))
	case TypeGroupMetadata, TypeConsumerGroupMetadata, TypeConsumerGroupPartitionMetadata, TypeTargetAssignmentMetadata:
		k.Group = d.Text("group", "the group's id", false)
	case TypeConsumerGroupMemberMetadata, TypeTargetAssignmentMember, TypeCurrentMemberAssignment:
		k.Group = d.Text("group", "the group's id", false)
		k.Member = kafka.MemberID(d.Text("memberId", "the member's id", false))
	case TypeRegularExpression:
		k.Group = d.Text("group", "the group's id", false)
		k.Regex = d.Text("regularExpression", "the pattern", false)
	default:
		d.Take("key", d.Left(), func(raw []byte) (string, string) { return record.Printable(raw), "not taken apart" })
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
	d.Fail("records of type %d are not known", key.Type)
	return nil
}

func (d *dissector) version(newest int16) int16 {
	v := int16(d.Number("version", 2, func(v int64) string { return fmt.Sprintf("version %d of the value", v) }))
	if d.Err == nil && (v < 0 || v > newest) {
		d.Fail("version %d; 0 to %d are known", v, newest)
	}
	d.Flexible = v >= 4
	return v
}

func (d *dissector) offsetCommit(key Key) OffsetCommitRecord {
	r := OffsetCommitRecord{Group: key.Group, TopicPartition: key.TopicPartition, LeaderEpoch: kafka.NoLeaderEpoch, ExpireTimestamp: kafka.NoTimestamp}
	r.Version = d.version(4)
	r.Offset = kafka.Offset(d.Number("offset", 8, func(v int64) string { return fmt.Sprintf("the next record to read; %d was the last one", v-1) }))
	if r.Version >= 3 {
		r.LeaderEpoch = kafka.LeaderEpoch(d.Number("leaderEpoch", 4, func(v int64) string {
			if v < 0 {
				return "not known"
			}
			return fmt.Sprintf("the record before was written in leader epoch %d", v)
		}))
	}
	r.Metadata = d.Text("metadata", "what the client wrote beside it", false)
	r.CommitTimestamp = kafka.Timestamp(d.Number("commitTimestamp", 8, wallClock("when it was committed, by the coordinator's clock")))
	if r.Version == 1 {
		r.ExpireTimestamp = kafka.Timestamp(d.Number("expireTimestamp", 8, wallClock("when it expires")))
	}
	d.Tags(func(tag int64, size int) bool {
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
	r.ProtocolType = d.Text("protocolType", "what the group is for", false)
	r.Generation = kafka.GenerationID(d.Number("generation", 4, coordinator.Says("completed join phases")))
	r.Protocol = d.Text("protocol", "the assignor", true)
	r.Leader = kafka.MemberID(d.Text("leader", "the member that divides the partitions", true))
	if r.Version >= 2 {
		r.StateTimestamp = kafka.Timestamp(d.Number("currentStateTimestamp", 8, wallClock("since when the group has been in its state")))
	}
	count := d.Count("members", "member", 1, false)
	for i := 0; i < count && d.Err == nil; i++ {
		d.Prefix = fmt.Sprintf("member %d ", i)
		r.Members = append(r.Members, d.memberOf(r.Version))
	}
	d.Prefix = ""
	d.Tags(nil)
	return r
}

func (d *dissector) memberOf(version int16) MemberRecord {
	m := MemberRecord{RebalanceTimeout: -1}
	m.ID = kafka.MemberID(d.Text("memberId", "the member's id", false))
	if version >= 3 {
		m.InstanceID = kafka.GroupInstanceID(d.Text("groupInstanceId", "group.instance.id: a static member", true))
	}
	m.ClientID = d.Text("clientId", "client.id", false)
	m.ClientHost = d.Text("clientHost", "where it joined from", false)
	if version >= 1 {
		m.RebalanceTimeout = kafka.Millis(d.Number("rebalanceTimeout", 4, coordinator.Says("milliseconds; max.poll.interval.ms of the consumer")))
	}
	m.SessionTimeout = kafka.Millis(d.Number("sessionTimeout", 4, coordinator.Says("milliseconds; session.timeout.ms of the consumer")))
	m.Subscription = d.Blob("subscription", "what the member sent for the assignor: "+subscriptionText)
	m.Assignment = d.Blob("assignment", "what the leader gave the member: a version, topics with partitions, and data of the assignor")
	if d.Flexible {
		d.Tags(nil)
	}
	return m
}

const subscriptionText = "a version, its topics, data of the assignor and, from version 1 on, the partitions that it owned"

// subscribed gives the topics of a consumer's subscription; ok is false when the bytes are none.
//
// Source: ClassicGroup.computeSubscribedTopics, which reads version 0, the beginning of each newer one.
func subscribed(subscription []byte) (topics []string, ok bool) {
	d := dissector{coordinator.NewDissector(subscription, false)}
	d.Number("version", 2, coordinator.Says(""))
	count := d.Number("topics", 4, coordinator.Says(""))
	if d.Err != nil || count < 0 || int(count) > len(subscription) {
		return nil, false
	}
	for range count {
		topics = append(topics, d.Text("topic", "", false))
	}
	if n := d.Length("userDataLength", 4, "byte"); n > 0 {
		d.Take("userData", n, nil)
	}
	return topics, d.Err == nil
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
