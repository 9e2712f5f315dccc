package kafka

import (
	"cmp"
	"strconv"
	"strings"
)

// Offset is the position of a record in one partition. The first record ever written has offset 0;
// offsets are never reused. Ends of ranges are exclusive: a log end offset is the offset that the
// next record gets.
type Offset int64

// NoOffset stands where Kafka sends -1: no such offset.
const NoOffset Offset = -1

// LeaderEpoch counts the leaders of one partition, from 0. The leader stamps it on every batch that
// it appends. -1 means unknown.
type LeaderEpoch int32

// NoLeaderEpoch is what a producer puts in a batch before the leader stamps it.
const NoLeaderEpoch LeaderEpoch = -1

// ProducerID identifies one idempotent or transactional producer. -1 means none.
type ProducerID int64

// ProducerEpoch fences older instances of one producer id. -1 means none.
type ProducerEpoch int16

// Sequence numbers the records of one producer id in one partition, from 0; after 2147483647 comes
// 0 again. -1 means none.
type Sequence int32

// BrokerID is a node of the cluster, as node.id in its configuration.
type BrokerID int32

// NodeID names anything that sends or receives messages or keeps a timer: "b1" is broker 1, "p0" a
// producer, "c0" a consumer. Names are unique in a run.
type NodeID string

// MemberID names a member of a consumer group.
type MemberID string

// GroupInstanceID is group.instance.id, which makes a member static. Empty means a dynamic member.
type GroupInstanceID string

// GenerationID counts the completed joins of a classic group, from 1. -1 means none.
type GenerationID int32

// GroupEpoch counts the changes of a group of the consumer protocol: of its members, what they subscribe to and the
// partitions of that. 0: none yet.
type GroupEpoch int32

// MemberEpoch is the group epoch whose target assignment a member of the consumer protocol has come to. In a heartbeat
// 0 says that it joins, -1 that it leaves, and -2 that a static member leaves to come back.
type MemberEpoch int32

// Partition is the index of a partition in its topic, from 0.
type Partition int32

// TopicPartition is one partition of one topic. Its text is "orders-0".
type TopicPartition struct {
	Topic     string    `json:"topic"`
	Partition Partition `json:"partition"`
}

// String gives the name of the partition's directory, for example "orders-0".
func (tp TopicPartition) String() string {
	return tp.Topic + "-" + strconv.Itoa(int(tp.Partition))
}

// Compare orders by topic, then by partition.
func (tp TopicPartition) Compare(other TopicPartition) int {
	return cmp.Or(strings.Compare(tp.Topic, other.Topic), cmp.Compare(tp.Partition, other.Partition))
}

// Less orders by topic, then by partition.
func (tp TopicPartition) Less(other TopicPartition) bool { return tp.Compare(other) < 0 }

// Tick counts the ticks of a run. Frame t is the state after t ticks.
type Tick int32

// Millis is a point or a span of virtual time in milliseconds. Points count from the start of the
// run; spans are Kafka's settings that end in ".ms".
type Millis int64

// Timestamp is a record's time in milliseconds since 1970-01-01 UTC. -1 means none.
type Timestamp int64

// NoTimestamp is the timestamp of a record or segment that has none.
const NoTimestamp Timestamp = -1
