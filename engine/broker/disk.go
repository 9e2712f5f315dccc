package broker

import (
	"encoding/binary"
	"fmt"

	"loglab/engine/kafka"
	"loglab/engine/simdisk"
	"loglab/engine/storage"
)

// writeCheckpoints writes the high watermarks of all replicas to their file, in one step.
//
// Source: ReplicaManager.checkpointHighWatermarks.
func (b *Broker) writeCheckpoints(t *turn) {
	if len(b.replicas) == 0 {
		return
	}
	list := make([]storage.PartitionOffset, 0, len(b.replicas))
	for _, r := range b.replicas {
		list = append(list, storage.PartitionOffset{TopicPartition: r.TopicPartition, Offset: r.HighWatermark()})
	}
	f := b.disk.Create(storage.ReplicationOffsetCheckpoint + ".tmp")
	b.disk.Append(f, storage.FormatOffsetCheckpoint(list))
	b.disk.Sync(f)
	b.disk.Rename(f, storage.ReplicationOffsetCheckpoint)
}

// checkpointed gives the high watermark of a partition that the file has; 0 where it has none.
func (b *Broker) checkpointed(tp kafka.TopicPartition) kafka.Offset {
	return checkpointedOn(b.disk, tp)
}

func checkpointedOn(disk *simdisk.Disk, tp kafka.TopicPartition) kafka.Offset {
	f, ok := disk.Open(storage.ReplicationOffsetCheckpoint)
	if !ok {
		return 0
	}
	list, err := storage.ParseOffsetCheckpoint(disk.Bytes(f))
	if err != nil {
		panic(fmt.Sprintf("%s: %v", storage.ReplicationOffsetCheckpoint, err))
	}
	for _, p := range list {
		if p.TopicPartition == tp {
			return p.Offset
		}
	}
	return 0
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
