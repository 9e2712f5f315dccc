package metadata

import (
	"github.com/twmb/franz-go/pkg/kbin"

	"loglab/engine/kafka"
)

// What a record says of a partition's leader.
const (
	// NoLeader stands where a leader would stand: the partition has none.
	NoLeader kafka.BrokerID = -1
	// NoLeaderChange is in a PartitionChangeRecord that leaves leader and leader epoch as they are.
	NoLeaderChange kafka.BrokerID = -2
)

// LeaderRecoveryState says whether a partition's leader still recovers from an unclean election.
//
// Source: LeaderRecoveryState.
type LeaderRecoveryState int8

// The states, and what a PartitionChangeRecord has that does not change it.
const (
	NoRecoveryChange LeaderRecoveryState = -1
	Recovered        LeaderRecoveryState = 0
	Recovering       LeaderRecoveryState = 1
)

// TopicRecord says that there is a topic.
//
// Source: TopicRecord.json, version 0.
type TopicRecord struct {
	Name    string
	TopicID [16]byte
}

// APIKey is 2.
func (TopicRecord) APIKey() int16 { return 2 }

// Version is 0.
func (TopicRecord) Version() int16 { return 0 }

func (m TopicRecord) appendBody(dst []byte) []byte {
	return appendTags(kbin.AppendUuid(kbin.AppendCompactString(dst, m.Name), m.TopicID))
}

func readTopic(r *kbin.Reader) Record {
	m := TopicRecord{r.CompactString(), r.Uuid()}
	skipTags(r)
	return m
}

// PartitionRecord says that there is a partition, and all of its state.
//
// Source: PartitionRecord.json, version 2.
type PartitionRecord struct {
	PartitionID            kafka.Partition
	TopicID                [16]byte
	Replicas               []kafka.BrokerID // the first is preferred as the leader
	ISR                    []kafka.BrokerID
	RemovingReplicas       []kafka.BrokerID
	AddingReplicas         []kafka.BrokerID
	Leader                 kafka.BrokerID
	LeaderRecoveryState    LeaderRecoveryState
	LeaderEpoch            kafka.LeaderEpoch
	PartitionEpoch         int32
	Directories            [][16]byte       // the log directory of each replica
	EligibleLeaderReplicas []kafka.BrokerID // nil: none
	LastKnownELR           []kafka.BrokerID // nil: none
}

// APIKey is 3.
func (PartitionRecord) APIKey() int16 { return 3 }

// Version is 2.
func (PartitionRecord) Version() int16 { return 2 }

func (m PartitionRecord) appendBody(dst []byte) []byte {
	dst = kbin.AppendUuid(kbin.AppendInt32(dst, int32(m.PartitionID)), m.TopicID)
	for _, ids := range [...][]kafka.BrokerID{m.Replicas, m.ISR, m.RemovingReplicas, m.AddingReplicas} {
		dst = appendPresentIDs(dst, ids)
	}
	dst = kbin.AppendInt32(dst, int32(m.Leader))
	dst = kbin.AppendInt32(dst, int32(m.LeaderEpoch))
	dst = kbin.AppendInt32(dst, m.PartitionEpoch)
	dst = appendUUIDs(dst, m.Directories)
	return appendTags(dst,
		tag{0, int8Or(int8(m.LeaderRecoveryState), 0)}, tag{1, idsOr(m.EligibleLeaderReplicas)}, tag{2, idsOr(m.LastKnownELR)})
}

func readPartition(r *kbin.Reader) Record {
	m := PartitionRecord{PartitionID: kafka.Partition(r.Int32()), TopicID: r.Uuid()}
	m.Replicas, m.ISR, m.RemovingReplicas, m.AddingReplicas = readIDs(r), readIDs(r), readIDs(r), readIDs(r)
	m.Leader, m.LeaderEpoch, m.PartitionEpoch = kafka.BrokerID(r.Int32()), kafka.LeaderEpoch(r.Int32()), r.Int32()
	m.Directories = readUUIDs(r)
	readTags(r, func(number uint32, value *kbin.Reader) {
		switch number {
		case 0:
			m.LeaderRecoveryState = LeaderRecoveryState(value.Int8())
		case 1:
			m.EligibleLeaderReplicas = readIDs(value)
		case 2:
			m.LastKnownELR = readIDs(value)
		}
	})
	return m
}

// PartitionChangeRecord says what changed in a partition. Make it with NewPartitionChange, in which nothing
// changes. In its slices nil means no change and empty means none.
//
// Source: PartitionChangeRecord.json, version 2.
type PartitionChangeRecord struct {
	PartitionID            kafka.Partition
	TopicID                [16]byte
	ISR                    []kafka.BrokerID
	Leader                 kafka.BrokerID // NoLeaderChange, NoLeader or the leader
	Replicas               []kafka.BrokerID
	RemovingReplicas       []kafka.BrokerID
	AddingReplicas         []kafka.BrokerID
	LeaderRecoveryState    LeaderRecoveryState
	EligibleLeaderReplicas []kafka.BrokerID
	LastKnownELR           []kafka.BrokerID
	Directories            [][16]byte
}

// NewPartitionChange gives the record of a partition in which nothing changes yet.
func NewPartitionChange(topicID [16]byte, partition kafka.Partition) PartitionChangeRecord {
	return PartitionChangeRecord{PartitionID: partition, TopicID: topicID, Leader: NoLeaderChange, LeaderRecoveryState: NoRecoveryChange}
}

// IsNoOp says that the record changes nothing.
//
// Source: PartitionChangeBuilder.changeRecordIsNoOp.
func (m PartitionChangeRecord) IsNoOp() bool {
	return m.ISR == nil && m.Leader == NoLeaderChange && m.Replicas == nil && m.RemovingReplicas == nil && m.AddingReplicas == nil &&
		m.LeaderRecoveryState == NoRecoveryChange && m.EligibleLeaderReplicas == nil && m.LastKnownELR == nil && m.Directories == nil
}

// APIKey is 5.
func (PartitionChangeRecord) APIKey() int16 { return 5 }

// Version is 2.
func (PartitionChangeRecord) Version() int16 { return 2 }

func (m PartitionChangeRecord) appendBody(dst []byte) []byte {
	dst = kbin.AppendUuid(kbin.AppendInt32(dst, int32(m.PartitionID)), m.TopicID)
	var leader, directories []byte
	if m.Leader != NoLeaderChange {
		leader = kbin.AppendInt32(nil, int32(m.Leader))
	}
	if m.Directories != nil {
		directories = appendUUIDs(nil, m.Directories)
	}
	return appendTags(dst,
		tag{0, idsOr(m.ISR)}, tag{1, leader}, tag{2, idsOr(m.Replicas)}, tag{3, idsOr(m.RemovingReplicas)}, tag{4, idsOr(m.AddingReplicas)},
		tag{5, int8Or(int8(m.LeaderRecoveryState), int8(NoRecoveryChange))},
		tag{6, idsOr(m.EligibleLeaderReplicas)}, tag{7, idsOr(m.LastKnownELR)}, tag{8, directories})
}

func readPartitionChange(r *kbin.Reader) Record {
	index, topicID := kafka.Partition(r.Int32()), r.Uuid()
	m := NewPartitionChange(topicID, index)
	readTags(r, func(number uint32, value *kbin.Reader) {
		switch number {
		case 0:
			m.ISR = readIDs(value)
		case 1:
			m.Leader = kafka.BrokerID(value.Int32())
		case 2:
			m.Replicas = readIDs(value)
		case 3:
			m.RemovingReplicas = readIDs(value)
		case 4:
			m.AddingReplicas = readIDs(value)
		case 5:
			m.LeaderRecoveryState = LeaderRecoveryState(value.Int8())
		case 6:
			m.EligibleLeaderReplicas = readIDs(value)
		case 7:
			m.LastKnownELR = readIDs(value)
		case 8:
			m.Directories = readUUIDs(value)
		}
	})
	return m
}

// ClearELRRecord says that the eligible leader replicas of a topic are forgotten, because its
// min.insync.replicas changed.
//
// Source: ClearElrRecord.json, version 0.
type ClearELRRecord struct {
	TopicName string // "": of all topics
}

// APIKey is 28.
func (ClearELRRecord) APIKey() int16 { return 28 }

// Version is 0.
func (ClearELRRecord) Version() int16 { return 0 }

func (m ClearELRRecord) appendBody(dst []byte) []byte {
	return appendTags(kbin.AppendCompactString(dst, m.TopicName))
}

func readClearELR(r *kbin.Reader) Record {
	m := ClearELRRecord{r.CompactString()}
	skipTags(r)
	return m
}
