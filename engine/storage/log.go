package storage

import (
	"slices"

	"loglab/engine/kafka"
	"loglab/engine/simdisk"
)

// Log is one partition's log on one broker's disk. Make it with New. It is not safe for concurrent
// use, Clone apart.
//
// Source: org.apache.kafka.storage.internals.log.UnifiedLog and LocalLog.
type Log struct {
	disk   *simdisk.Disk
	dir    string
	config Config

	logStartOffset kafka.Offset    // inclusive
	logEndOffset   kafka.Offset    // exclusive
	clock          kafka.Timestamp // the broker's clock when it was last told

	recoveryPoint kafka.Offset // exclusive: what lies below is synced

	sealed    []segment // by base offset; elements never change, because clones share them
	active    segment   // behind all sealed ones
	epochs    []EpochEntry
	producers producers
	deletions []deletion // files that wait to be removed; elements never change, because clones share them
}

// New makes the files of an empty log in directory dir of disk: the first segment with base offset 0
// and an empty leader-epoch-checkpoint. now is the broker's clock. It panics if config is not valid
// or a file is already there.
func New(disk *simdisk.Disk, dir string, config Config, now kafka.Timestamp) *Log {
	if err := config.Validate(); err != nil {
		panic("storage: " + dir + ": " + err.Error())
	}
	l := &Log{disk: disk, dir: dir, config: config, clock: now}
	l.active = l.createSegment(0, now)
	disk.Create(dir + "/" + LeaderEpochCheckpoint)
	return l
}

// Clone returns a log that goes its own way on disk, which must be a clone of this log's disk made at
// the same moment. It copies a few hundred bytes, whatever the size of the log.
func (l *Log) Clone(disk *simdisk.Disk) *Log {
	clone := *l
	clone.disk = disk
	clone.sealed = slices.Clip(l.sealed)
	clone.epochs = slices.Clip(l.epochs)
	clone.deletions = slices.Clip(l.deletions)
	clone.producers.states = slices.Clone(l.producers.states)
	clone.producers.completed = slices.Clip(l.producers.completed)
	return &clone
}

// Config returns the settings that the log was made with.
func (l *Log) Config() Config { return l.config }

// LogStartOffset is the first offset that can be read, inclusive. It equals LogEndOffset if the log
// is empty.
func (l *Log) LogStartOffset() kafka.Offset { return l.logStartOffset }

// FirstOffset is the base offset of the oldest segment, at most LogStartOffset.
func (l *Log) FirstOffset() kafka.Offset { return l.segmentAt(0).base }

// LogEndOffset is the offset that the next record gets, exclusive as an end.
func (l *Log) LogEndOffset() kafka.Offset { return l.logEndOffset }

// Size is the number of bytes in all segments, without the indexes.
func (l *Log) Size() int {
	size := l.active.size(l.disk)
	for i := range l.sealed {
		size += l.sealed[i].size(l.disk)
	}
	return size
}

// CloneBytes estimates what a clone takes by itself once it goes on: its first append copies the active segment.
func (l *Log) CloneBytes() int {
	const fixed = 700 // what is known of segments, epochs and producers
	return fixed + (l.active.size(l.disk)+l.disk.Size(l.active.offsetIndex)+l.disk.Size(l.active.timeIndex))*5/4
}

// Segments returns the segments as they are now, by base offset; the last is active. There is always
// one. The caller owns the slice, and what it points to never changes.
func (l *Log) Segments() []Segment {
	segments := make([]Segment, 0, len(l.sealed)+1)
	for i := range l.sealed {
		segments = append(segments, l.sealed[i].view(l.disk))
	}
	return append(segments, l.active.view(l.disk))
}

// segments lists the segments, the active one last. The caller owns the slice.
func (l *Log) segments() []segment { return append(slices.Clip(l.sealed), l.active) }

// segmentAt returns segment i, counted from the oldest.
func (l *Log) segmentAt(i int) *segment {
	if i < len(l.sealed) {
		return &l.sealed[i]
	}
	return &l.active
}

// floorSegment returns the number of the segment with the greatest base offset ≤ offset, or -1.
//
// Source: LogSegments.floorSegment.
func (l *Log) floorSegment(offset kafka.Offset) int {
	if offset >= l.active.base {
		return len(l.sealed)
	}
	return floor(len(l.sealed), offset, func(i int) kafka.Offset { return l.sealed[i].base }, nil)
}
