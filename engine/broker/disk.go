package broker

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"loglab/engine/kafka"
	"loglab/engine/simdisk"
	"loglab/engine/storage"
)

// writeCheckpoints writes the high watermarks of all replicas to their file, in one step.
//
// Source: ReplicaManager.checkpointHighWatermarks.
func (b *Broker) writeCheckpoints() {
	if len(b.replicas) == 0 {
		return
	}
	list := make([]storage.PartitionOffset, 0, len(b.replicas))
	for _, r := range b.replicas {
		list = append(list, storage.PartitionOffset{TopicPartition: r.TopicPartition, Offset: r.HighWatermark()})
	}
	b.writeCheckpoint(storage.ReplicationOffsetCheckpoint, list)
	b.writeLogStarts()
}

// writeCheckpoint replaces a checkpoint file. One that says the same already stays: a broker at rest writes the same
// every 5 s.
func (b *Broker) writeCheckpoint(name string, list []storage.PartitionOffset) {
	text := storage.FormatOffsetCheckpoint(list)
	if old, ok := b.disk.Open(name); ok && bytes.Equal(b.disk.Bytes(old), text) {
		return
	}
	f := b.disk.Create(name + ".tmp")
	b.disk.Append(f, text)
	b.disk.Sync(f)
	b.disk.Rename(f, name)
}

// writeLogStarts writes the log start offsets that lie above the first segment's base offset to their file. While there
// are none and never were, there is no file.
//
// Simplified: they are written together with the high watermarks; Kafka does that every
// log.flush.start.offset.checkpoint.interval.ms, 60 s, and always writes the file.
//
// Source: LogManager.checkpointLogStartOffsets.
func (b *Broker) writeLogStarts() {
	var list []storage.PartitionOffset
	for _, r := range b.replicas {
		if start := r.Log.LogStartOffset(); start > r.Log.FirstOffset() {
			list = append(list, storage.PartitionOffset{TopicPartition: r.TopicPartition, Offset: start})
		}
	}
	if _, written := b.disk.Open(storage.LogStartOffsetCheckpoint); written || list != nil {
		b.writeCheckpoint(storage.LogStartOffsetCheckpoint, list)
	}
}

// beginAt lets a log that was opened begin where its checkpoint on a disk says, or at that offset anew if it ends lower.
//
// Source: LogLoader.load, UnifiedLog.create.
func beginAt(log *storage.Log, disk *simdisk.Disk, tp kafka.TopicPartition) {
	switch start := checkpointedOn(disk, storage.LogStartOffsetCheckpoint, tp); {
	case start > log.LogEndOffset():
		log.TruncateFullyAndStartAt(start)
	default:
		log.IncrementLogStartOffset(start)
	}
}

// checkpointedOn gives the offset of a partition in a checkpoint file; 0 where it has none.
func checkpointedOn(disk *simdisk.Disk, name string, tp kafka.TopicPartition) kafka.Offset {
	return offsetIn(readCheckpoint(disk, name), tp, 0)
}

// offsetIn gives the offset of a partition in the lines of a checkpoint; otherwise stands for one that has none.
func offsetIn(list []storage.PartitionOffset, tp kafka.TopicPartition, otherwise kafka.Offset) kafka.Offset {
	at := slices.IndexFunc(list, func(p storage.PartitionOffset) bool { return p.TopicPartition == tp })
	if at < 0 {
		return otherwise
	}
	return list[at].Offset
}

// readCheckpoint gives the lines of a checkpoint file on a disk; none where there is no such file.
func readCheckpoint(disk *simdisk.Disk, name string) []storage.PartitionOffset {
	f, ok := disk.Open(name)
	if !ok {
		return nil
	}
	list, err := storage.ParseOffsetCheckpoint(disk.Bytes(f))
	if err != nil {
		panic(fmt.Sprintf("%s: %v", name, err))
	}
	return list
}

// writeBack lets the operating system write what has been in its page cache for os.writeback.ms.
func (b *Broker) writeBack(now kafka.Millis) { b.disk.WriteBack(now, b.config.WritebackAge) }

// drawID draws an id for the n-th thing of that name, the same in every clone.
func (b *Broker) drawID(name string, n uint64) (id [16]byte) {
	rnd := b.config.Rand.Split(fmt.Sprintf("%s %d of %s", name, n, b.node))
	binary.BigEndian.PutUint64(id[:8], rnd.Uint64())
	binary.BigEndian.PutUint64(id[8:], rnd.Uint64())
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // version 4, as Uuid.randomUuid
	return id
}
