package storage

import (
	"slices"
	"testing"

	"loglab/engine/kafka"
)

// UnifiedLog.truncateTo: what a reader has keeps its bytes, the segment that holds the offset becomes active,
// and only whole batches stay.
func TestTruncateTo(t *testing.T) {
	build := func() *Log {
		l := newLog(func(c *Config) { c.SegmentBytes, c.IndexIntervalBytes = 280, 0 })
		for offset := range kafka.Offset(10) {
			mustAppend(t, l, oneRecord(startTime+kafka.Timestamp(offset)), kafka.LeaderEpoch(offset/3), startTime)
		}
		return l
	}
	for _, tt := range []struct {
		offset  kafka.Offset
		removed int
		bases   []kafka.Offset
		index   []OffsetEntry
		times   []TimeEntry
		epochs  int
	}{
		{10, 0, []kafka.Offset{0, 4, 8}, []OffsetEntry{{9, 70}}, []TimeEntry{{startTime + 9, 9}}, 4},
		{9, 1, []kafka.Offset{0, 4, 8}, nil, nil, 3},
		{8, 2, []kafka.Offset{0, 4, 8}, nil, nil, 3},
		{7, 3, []kafka.Offset{0, 4}, []OffsetEntry{{5, 70}, {6, 140}}, []TimeEntry{{startTime + 5, 5}, {startTime + 6, 6}}, 3},
		{5, 5, []kafka.Offset{0, 4}, nil, nil, 2},
		{0, 10, []kafka.Offset{0}, nil, nil, 0},
	} {
		l := build()
		read, err := l.Read(0, 1000, 10, true)
		if err != nil {
			t.Fatal(err)
		}
		before := slices.Clone(read.Bytes)
		removed, err := l.TruncateTo(tt.offset)
		if err != nil || removed != tt.removed || l.LogEndOffset() != tt.offset || !slices.Equal(bases(l), tt.bases) || len(l.LeaderEpochs()) != tt.epochs {
			t.Errorf("to %d: %d records, %v, end offset %d, segments %v, %d epochs; want %d, %v, %d", tt.offset, removed, err, l.LogEndOffset(), bases(l), len(l.LeaderEpochs()), tt.removed, tt.bases, tt.epochs)
		}
		active := l.Segments()[len(tt.bases)-1]
		if !slices.Equal(active.OffsetEntries(), tt.index) || !slices.Equal(active.TimeEntries(), tt.times) {
			t.Errorf("to %d: index %v, time index %v", tt.offset, active.OffsetEntries(), active.TimeEntries())
		}
		for range 10 { // the next segment's name may be one that was removed
			mustAppend(t, l, oneRecord(startTime+1000), 9, startTime)
		}
		if !slices.Equal(read.Bytes, before) {
			t.Errorf("to %d: bytes that had been read changed", tt.offset)
		}
	}
}

func TestTruncateFullyAndStartAt(t *testing.T) {
	l := newLog(func(c *Config) { c.SegmentBytes = 70 })
	for range 3 {
		mustAppend(t, l, oneRecord(startTime), 1, startTime)
	}
	l.TruncateFullyAndStartAt(100)
	if l.LogStartOffset() != 100 || l.LogEndOffset() != 100 || !slices.Equal(bases(l), []kafka.Offset{100}) || l.Size() != 0 || len(l.LeaderEpochs()) != 0 {
		t.Errorf("offsets %d to %d, segments %v, %d bytes, epochs %v", l.LogStartOffset(), l.LogEndOffset(), bases(l), l.Size(), l.LeaderEpochs())
	}
	if removed, err := l.TruncateTo(50); removed != 0 || err != nil || l.LogEndOffset() != 50 || l.LogStartOffset() != 50 {
		t.Errorf("before the first segment: %d records, %v, offsets %d to %d", removed, err, l.LogStartOffset(), l.LogEndOffset())
	}
}

func TestIncrementLogStartOffset(t *testing.T) {
	l := withEpochs(t, 6, EpochEntry{0, 0}, EpochEntry{2, 2})
	for _, tt := range []struct {
		offset kafka.Offset
		moved  bool
		epochs []EpochEntry
	}{
		{0, false, []EpochEntry{{0, 0}, {2, 2}}},
		{1, true, []EpochEntry{{0, 1}, {2, 2}}},
		{1, false, []EpochEntry{{0, 1}, {2, 2}}},
		{6, true, []EpochEntry{{2, 6}}},
	} {
		if moved := l.IncrementLogStartOffset(tt.offset); moved != tt.moved || !slices.Equal(l.LeaderEpochs(), tt.epochs) {
			t.Errorf("to %d: moved %v, epochs %v; want %v, %v", tt.offset, moved, l.LeaderEpochs(), tt.moved, tt.epochs)
		}
	}
	if removed, err := l.TruncateTo(4); removed != 2 || err != nil || l.LogStartOffset() != 4 {
		t.Errorf("truncated below its start: %d records, %v, log start offset %d", removed, err, l.LogStartOffset())
	}
}
