package broker

import (
	"loglab/engine/kafka"
	"loglab/engine/simdisk"
	"loglab/engine/storage"
)

// LogOnDisk is what a broker would find of one partition on its disk if it were started now: an immutable value.
type LogOnDisk struct {
	LogStartOffset kafka.Offset // inclusive
	HighWatermark  kafka.Offset // as the last checkpoint has it, at most the log end offset
	LogEndOffset   kafka.Offset // exclusive
	Epochs         []storage.EpochEntry
	Segments       []storage.Segment // oldest first
	Bytes          int               // of all .log files
}

// OnDisk gives what the disk has of a partition; ok is false if it has nothing of it.
func (b *Broker) OnDisk(now kafka.Millis, tp kafka.TopicPartition) (log LogOnDisk, ok bool) {
	return b.openCopy(now, b.disk, tp)
}

// AfterPowerLoss gives what the disk would have of a partition if the machine lost power now; ok is false if it
// would have nothing of it. Nothing is changed.
func (b *Broker) AfterPowerLoss(now kafka.Millis, tp kafka.TopicPartition) (log LogOnDisk, ok bool) {
	disk := b.disk.Clone()
	disk.WriteBack(now, b.config.WritebackAge)
	disk.LoseUnsynced()
	return b.openCopy(now, disk, tp)
}

// openCopy opens the log in a copy of a disk, as a broker that starts does.
func (b *Broker) openCopy(now kafka.Millis, disk *simdisk.Disk, tp kafka.TopicPartition) (log LogOnDisk, ok bool) {
	if len(disk.List(tp.String())) == 0 {
		return LogOnDisk{}, false
	}
	opened, _ := storage.Open(disk.Clone(), tp.String(), b.logConfig(tp.Topic), b.clock(now), false, 0)
	beginAt(opened, disk, tp)
	return LogOnDisk{
		LogStartOffset: opened.LogStartOffset(), HighWatermark: min(max(checkpointedOn(disk, storage.ReplicationOffsetCheckpoint, tp), opened.LogStartOffset()), opened.LogEndOffset()), LogEndOffset: opened.LogEndOffset(),
		Epochs: opened.LeaderEpochs(), Segments: opened.Segments(), Bytes: opened.Size(),
	}, true
}

// File is a file on a broker's disk: an immutable value.
type File struct {
	Name   string // without the directory
	Bytes  []byte // never changed
	Synced int    // bytes at its start that a power loss would leave
}

// Files lists the files of a partition's directory by name, the process running or not.
func (b *Broker) Files(tp kafka.TopicPartition) []File {
	var list []File
	dir := tp.String()
	for _, path := range b.disk.List(dir) {
		f, _ := b.disk.Open(path)
		list = append(list, File{Name: path[len(dir)+1:], Bytes: b.disk.Bytes(f), Synced: b.disk.Synced(f)})
	}
	return list
}
