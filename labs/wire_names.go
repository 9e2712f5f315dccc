package labs

import "strings"

// wireNames gives the names in Kafka's message schemas where those of kmsg differ by more than their spelling.
//
// Source: clients/src/main/resources/common/message, the schemas of Kafka 4.2.
var wireNames = map[string]string{
	"MetadataRequestTopic.Topic":                 "Name",
	"MetadataResponseTopic.Topic":                "Name",
	"MetadataResponseTopic.AuthorizedOperations": "TopicAuthorizedOperations",
	"MetadataResponseTopicPartition.Partition":   "PartitionIndex",
	"MetadataResponseTopicPartition.Leader":      "LeaderId",
	"MetadataResponseTopicPartition.Replicas":    "ReplicaNodes",
	"MetadataResponseTopicPartition.ISR":         "IsrNodes",

	"ProduceRequest.Topics":                       "TopicData",
	"ProduceRequestTopic.Topic":                   "Name",
	"ProduceRequestTopic.Partitions":              "PartitionData",
	"ProduceRequestTopicPartition.Partition":      "Index",
	"ProduceResponse.Topics":                      "Responses",
	"ProduceResponse.Brokers":                     "NodeEndpoints",
	"ProduceResponseTopic.Topic":                  "Name",
	"ProduceResponseTopic.Partitions":             "PartitionResponses",
	"ProduceResponseTopicPartition.Partition":     "Index",
	"ProduceResponseTopicPartition.LogAppendTime": "LogAppendTimeMs",
	"ProduceResponseTopicPartition.ErrorRecords":  "RecordErrors",

	"FetchRequest.Rack":                         "RackId",
	"FetchRequest.ForgottenTopics":              "ForgottenTopicsData",
	"FetchResponse.Topics":                      "Responses",
	"FetchResponse.Brokers":                     "NodeEndpoints",
	"FetchResponseTopicPartition.Partition":     "PartitionIndex",
	"FetchResponseTopicPartition.RecordBatches": "Records",

	"ListOffsetsRequestTopic.Topic":               "Name",
	"ListOffsetsRequestTopicPartition.Partition":  "PartitionIndex",
	"ListOffsetsResponseTopic.Topic":              "Name",
	"ListOffsetsResponseTopicPartition.Partition": "PartitionIndex",

	"CreatePartitionsRequestTopic.Topic":      "Name",
	"CreatePartitionsRequestTopic.Assignment": "Assignments",
	"CreatePartitionsResponse.Topics":         "Results",
	"CreatePartitionsResponseTopic.Topic":     "Name",

	"JoinGroupRequest.Group":                             "GroupId",
	"JoinGroupRequest.InstanceID":                        "GroupInstanceId",
	"JoinGroupResponse.Generation":                       "GenerationId",
	"JoinGroupResponse.Protocol":                         "ProtocolName",
	"JoinGroupResponse.LeaderID":                         "Leader",
	"JoinGroupResponseMember.InstanceID":                 "GroupInstanceId",
	"JoinGroupResponseMember.ProtocolMetadata":           "Metadata",
	"SyncGroupRequest.Group":                             "GroupId",
	"SyncGroupRequest.Generation":                        "GenerationId",
	"SyncGroupRequest.InstanceID":                        "GroupInstanceId",
	"SyncGroupRequest.Protocol":                          "ProtocolName",
	"SyncGroupRequest.GroupAssignment":                   "Assignments",
	"SyncGroupRequestGroupAssignment.MemberAssignment":   "Assignment",
	"SyncGroupResponse.Protocol":                         "ProtocolName",
	"SyncGroupResponse.MemberAssignment":                 "Assignment",
	"HeartbeatRequest.Group":                             "GroupId",
	"HeartbeatRequest.Generation":                        "GenerationId",
	"HeartbeatRequest.InstanceID":                        "GroupInstanceId",
	"LeaveGroupRequest.Group":                            "GroupId",
	"LeaveGroupRequestMember.InstanceID":                 "GroupInstanceId",
	"LeaveGroupResponseMember.InstanceID":                "GroupInstanceId",
	"OffsetCommitRequest.Group":                          "GroupId",
	"OffsetCommitRequest.Generation":                     "GenerationIdOrMemberEpoch",
	"OffsetCommitRequest.InstanceID":                     "GroupInstanceId",
	"OffsetCommitRequestTopic.Topic":                     "Name",
	"OffsetCommitRequestTopicPartition.Partition":        "PartitionIndex",
	"OffsetCommitRequestTopicPartition.Offset":           "CommittedOffset",
	"OffsetCommitRequestTopicPartition.LeaderEpoch":      "CommittedLeaderEpoch",
	"OffsetCommitRequestTopicPartition.Metadata":         "CommittedMetadata",
	"OffsetCommitResponseTopic.Topic":                    "Name",
	"OffsetCommitResponseTopicPartition.Partition":       "PartitionIndex",
	"OffsetFetchRequestGroup.Group":                      "GroupId",
	"OffsetFetchRequestGroupTopic.Topic":                 "Name",
	"OffsetFetchRequestGroupTopic.Partitions":            "PartitionIndexes",
	"OffsetFetchResponseGroup.Group":                     "GroupId",
	"OffsetFetchResponseGroupTopic.Topic":                "Name",
	"OffsetFetchResponseGroupTopicPartition.Partition":   "PartitionIndex",
	"OffsetFetchResponseGroupTopicPartition.Offset":      "CommittedOffset",
	"OffsetFetchResponseGroupTopicPartition.LeaderEpoch": "CommittedLeaderEpoch",
	"ConsumerGroupHeartbeatRequest.Group":                "GroupId",
	"ConsumerGroupHeartbeatRequest.Topics":               "TopicPartitions",
	"ConsumerGroupHeartbeatResponseAssignment.Topics":    "TopicPartitions",
	"FindCoordinatorRequest.CoordinatorKey":              "Key",
	"FindCoordinatorRequest.CoordinatorType":             "KeyType",
}

// wireName gives the name that a field of a kmsg struct has in Kafka's schema.
func wireName(structName, field string) string {
	if name, ok := wireNames[structName+"."+field]; ok {
		return name
	}
	if field == "ThrottleMillis" {
		return "ThrottleTimeMs"
	}
	if short, ok := strings.CutSuffix(field, "Millis"); ok {
		field = short + "Ms"
	}
	return strings.ReplaceAll(field, "ID", "Id")
}
