package group

import (
	"encoding/hex"
	"fmt"

	"loglab/engine/coordinator"
	"loglab/engine/kafka"
)

// consumerRecordMeaning says what a record of the consumer protocol is; empty: it is none.
func consumerRecordMeaning(recordType int16) string {
	switch recordType {
	case TypeConsumerGroupMetadata:
		return "a group of the consumer protocol"
	case TypeConsumerGroupPartitionMetadata:
		return "the partitions that a group of the consumer protocol subscribes to, written by versions before 4.1"
	case TypeConsumerGroupMemberMetadata:
		return "a member of such a group"
	case TypeTargetAssignmentMetadata:
		return "the epoch of its target assignment"
	case TypeTargetAssignmentMember:
		return "the target assignment of a member"
	case TypeCurrentMemberAssignment:
		return "the current assignment of a member"
	case TypeRegularExpression:
		return "the topics that match a pattern"
	}
	return ""
}

// consumerValue reads the value of a record of the consumer protocol. There is one version of each, 0, which is a
// flexible one.
//
//	ConsumerGroupMetadataValue                  epoch int32 | tags: 0 metadataHash int64
//	ConsumerGroupMemberMetadataValue            instanceId string? | rackId string? | clientId | clientHost |
//	                                            subscribedTopicNames strings | subscribedTopicRegex string? |
//	                                            rebalanceTimeoutMs int32 | serverAssignor string? |
//	                                            tags: 0 classicMemberMetadata?: sessionTimeoutMs int32 | supportedProtocols
//	ConsumerGroupTargetAssignmentMetadataValue  assignmentEpoch int32 | tags
//	ConsumerGroupTargetAssignmentMemberValue    topics, each topicId 16 bytes | partitions int32s | tags; tags
//	ConsumerGroupCurrentMemberAssignmentValue   memberEpoch int32 | previousMemberEpoch int32 | state int8 |
//	                                            assigned topics | topics pending revocation | tags
//	ConsumerGroupRegularExpressionValue         topics strings | version int64 | timestamp int64 | tags
func (d *dissector) consumerValue(key Key) Value {
	d.version(consumerValueVersion)
	d.Flexible = true
	switch key.Type {
	case TypeConsumerGroupMetadata:
		return d.consumerGroup(key)
	case TypeConsumerGroupMemberMetadata:
		return d.consumerMember(key)
	case TypeTargetAssignmentMetadata:
		r := TargetEpochRecord{Group: key.Group}
		r.Epoch = kafka.GroupEpoch(d.Number("assignmentEpoch", 4, coordinator.Says("the group epoch that the target assignment was made for")))
		d.Tags(nil)
		return r
	case TypeTargetAssignmentMember:
		r := TargetMemberRecord{Group: key.Group, Member: key.Member}
		r.Partitions = d.assignedTopics("target")
		d.Tags(nil)
		return r
	case TypeCurrentMemberAssignment:
		return d.currentAssignment(key)
	}
	r := RegularExpressionRecord{Group: key.Group, Regex: key.Regex}
	r.Topics = d.texts("topic")
	r.Version = d.Number("version", 8, func(int64) string { return "the offset of the metadata up to which topics were looked at" })
	r.Timestamp = kafka.Timestamp(d.Number("timestamp", 8, wallClock("when they were looked at, by the coordinator's clock")))
	d.Tags(nil)
	return r
}

func (d *dissector) consumerGroup(key Key) ConsumerGroupRecord {
	r := ConsumerGroupRecord{Group: key.Group}
	r.Epoch = kafka.GroupEpoch(d.Number("epoch", 4, coordinator.Says("the group epoch")))
	d.Tags(func(tag int64, size int) bool {
		if tag != 0 || size != 8 {
			return false
		}
		r.MetadataHash = uint64(d.Number("metadataHash", 8, func(int64) string {
			return "a hash of the topics that the group subscribes to, with their partitions and racks"
		}))
		return true
	})
	return r
}

func (d *dissector) consumerMember(key Key) ConsumerMemberRecord {
	r := ConsumerMemberRecord{Group: key.Group, Member: key.Member}
	r.InstanceID = kafka.GroupInstanceID(d.Text("instanceId", "group.instance.id: a static member", true))
	r.Rack = d.Text("rackId", "client.rack", true)
	r.ClientID = d.Text("clientId", "client.id", false)
	r.ClientHost = d.Text("clientHost", "where its heartbeat came from", false)
	r.Topics = d.texts("subscribedTopicName")
	r.Regex = d.Text("subscribedTopicRegex", "the pattern that it subscribes to", true)
	r.RebalanceTimeout = kafka.Millis(d.Number("rebalanceTimeoutMs", 4, coordinator.Says("milliseconds; max.poll.interval.ms of the consumer")))
	r.ServerAssignor = d.Text("serverAssignor", "group.remote.assignor", true)
	d.Tags(func(tag int64, size int) bool {
		if tag != 0 {
			return false
		}
		present := d.Uvarint("classicMemberMetadata", func(v int64) string {
			if v == 0 {
				return "null: it uses the consumer protocol"
			}
			return "it uses the classic protocol"
		})
		if present == 0 || d.Err != nil {
			return true
		}
		r.Classic = d.classicMember()
		return true
	})
	return r
}

func (d *dissector) classicMember() *ClassicMemberRecord {
	c := &ClassicMemberRecord{}
	c.SessionTimeout = kafka.Millis(d.Number("sessionTimeoutMs", 4, coordinator.Says("milliseconds; session.timeout.ms of the consumer")))
	for range d.Count("supportedProtocols", "assignor", 1, false) {
		p := ClassicProtocol{Name: d.Text("name", "an assignor that it supports", false)}
		p.Metadata = d.Blob("metadata", "what the member sent for the assignor: "+subscriptionText)
		d.Tags(nil)
		c.Protocols = append(c.Protocols, p)
	}
	d.Tags(nil)
	return c
}

func (d *dissector) currentAssignment(key Key) CurrentAssignmentRecord {
	r := CurrentAssignmentRecord{Group: key.Group, Member: key.Member}
	r.Epoch = kafka.MemberEpoch(d.Number("memberEpoch", 4, func(v int64) string {
		if v == int64(leavesToReturn) {
			return "a static member that has left and is to come back"
		}
		return "the group epoch whose target assignment the member has come to"
	}))
	r.PreviousEpoch = kafka.MemberEpoch(d.Number("previousMemberEpoch", 4, coordinator.Says("the one before, in case the answer with the new one was lost")))
	code := d.Take("state", 1, func(raw []byte) (string, string) {
		if int(raw[0]) < len(memberStates) {
			return fmt.Sprint(raw[0]), string(memberStates[raw[0]])
		}
		return hex.EncodeToString(raw), "not known"
	})
	if len(code) == 1 && int(code[0]) < len(memberStates) {
		r.State = memberStates[code[0]]
	} else {
		d.Fail("no member state has this code")
	}
	r.Assigned = d.assignedTopics("assigned")
	r.Revoking = d.assignedTopics("pendingRevocation")
	d.Tags(nil)
	return r
}

func (d *dissector) texts(name string) (list []string) {
	for range d.Count(name+"s", "string", 1, false) {
		list = append(list, d.Text(name, "a topic", false))
	}
	return list
}

func (d *dissector) assignedTopics(what string) (list []AssignedTopic) {
	for range d.Count(what+"Topics", "topic", 1, false) {
		t := AssignedTopic{TopicID: d.uuid(what+"TopicId", "the topic")}
		for range d.Count(what+"Partitions", "partition", 1, false) {
			t.Partitions = append(t.Partitions, int32(d.Number(what+"Partition", 4, coordinator.Says("a partition"))))
		}
		d.Tags(nil)
		list = append(list, t)
	}
	return list
}
