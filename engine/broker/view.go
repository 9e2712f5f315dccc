package broker

import (
	"loglab/engine/kafka"
	"loglab/engine/storage"
)

// PartitionView is what can be seen of one partition from outside: an immutable value.
type PartitionView struct {
	TopicPartition kafka.TopicPartition
	LeaderEpoch    kafka.LeaderEpoch
	LogStartOffset kafka.Offset      // inclusive
	HighWatermark  kafka.Offset      // exclusive
	LogEndOffset   kafka.Offset      // exclusive
	Segments       []storage.Segment // oldest first
	Bytes          int               // of all .log files
}

// Partitions gives the partitions that this broker leads, by index.
func (b *Broker) Partitions() []PartitionView {
	views := make([]PartitionView, len(b.partitions))
	for i, p := range b.partitions {
		views[i] = PartitionView{
			TopicPartition: p.tp, LeaderEpoch: p.leaderEpoch, LogStartOffset: p.log.LogStartOffset(),
			HighWatermark: p.highWatermark, LogEndOffset: p.log.LogEndOffset(), Segments: p.log.Segments(), Bytes: p.log.Size(),
		}
	}
	return views
}

// ParkedFetches is the number of fetches that wait for data.
func (b *Broker) ParkedFetches() int { return len(b.parked) }

// LogBytes is the size of all .log files together.
func (b *Broker) LogBytes() int {
	bytes := 0
	for _, p := range b.partitions {
		bytes += p.log.Size()
	}
	return bytes
}

// CloneBytes estimates the memory that a clone takes by itself once it has gone on: its list of files and
// what it writes to each partition's active segment.
func (b *Broker) CloneBytes() int {
	const perFile, perPartition = 56, 1500
	return perFile*b.disk.Files() + perPartition*len(b.partitions)
}
