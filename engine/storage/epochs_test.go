package storage

import (
	"slices"
	"testing"

	"loglab/engine/kafka"
)

// withEpochs is a log of one-record batches up to end, exclusive, whose epochs begin at the entries.
func withEpochs(t *testing.T, end kafka.Offset, entries ...EpochEntry) *Log {
	l := newLog(nil)
	epoch := kafka.LeaderEpoch(0)
	for offset := range end {
		for _, e := range entries {
			if e.StartOffset == offset {
				epoch = e.Epoch
			}
		}
		mustAppend(t, l, oneRecord(startTime), epoch, startTime)
	}
	for _, e := range entries { // those without a record
		if e.StartOffset == end {
			l.AssignEpochStartOffset(e.Epoch, end)
		}
	}
	if !slices.Equal(l.LeaderEpochs(), entries) {
		t.Fatalf("epochs are %v, want %v", l.LeaderEpochs(), entries)
	}
	return l
}

// §4.5: epochs 0@0, 2@2, 5@5, 6@6, log end offset 6.
func TestEndOffsetForEpoch(t *testing.T) {
	l := withEpochs(t, 6, EpochEntry{0, 0}, EpochEntry{2, 2}, EpochEntry{5, 5}, EpochEntry{6, 6})
	if e, ok := l.LatestEpoch(); e != 6 || !ok {
		t.Errorf("latest epoch is %d, %v", e, ok)
	}
	for asked, want := range []EpochEntry{{0, 2}, {0, 2}, {2, 5}, {2, 5}, {2, 5}, {5, 6}, {6, 6}} {
		epoch, end, ok := l.EndOffsetForEpoch(kafka.LeaderEpoch(asked))
		if epoch != want.Epoch || end != want.StartOffset || !ok {
			t.Errorf("epoch %d: (%d, %d), %v; want (%d, %d)", asked, epoch, end, ok, want.Epoch, want.StartOffset)
		}
	}
	for _, asked := range []kafka.LeaderEpoch{7, -1} {
		if epoch, end, ok := l.EndOffsetForEpoch(asked); ok {
			t.Errorf("epoch %d: (%d, %d), want undefined", asked, epoch, end)
		}
	}
	later := newLog(nil)
	later.epochs = []EpochEntry{{3, 1}, {4, 2}}
	if epoch, end, ok := later.EndOffsetForEpoch(1); epoch != 1 || end != 1 || !ok {
		t.Errorf("epoch 1, below all that are known: (%d, %d), %v; want (1, 1)", epoch, end, ok)
	}
	empty := newLog(nil)
	if _, _, ok := empty.EndOffsetForEpoch(0); ok {
		t.Error("a log without epochs answers")
	}
	if _, ok := empty.LatestEpoch(); ok {
		t.Error("a log without epochs has a latest one")
	}
}

// §4.5: a follower truncates to the smaller end of an epoch both know, else to the end of its next lower one.
func TestTruncationOffset(t *testing.T) {
	follower := withEpochs(t, 8, EpochEntry{0, 0}, EpochEntry{2, 3}, EpochEntry{5, 6})
	for _, tt := range []struct {
		epoch  kafka.LeaderEpoch
		end    kafka.Offset
		want   kafka.Offset
		agreed bool
	}{
		{5, 7, 7, true},
		{5, 20, 8, true},
		{2, 4, 4, true},
		{2, 20, 6, true},
		{3, 20, 6, false}, // unknown here: the end of epoch 2
		{1, 20, 3, false},
		{7, 5, 5, true}, // above all that are known here
		{7, 20, 8, true},
		{kafka.NoLeaderEpoch, 2, 2, true},
	} {
		if got, agreed := follower.TruncationOffset(tt.epoch, tt.end); got != tt.want || agreed != tt.agreed {
			t.Errorf("epoch %d ended at %d: truncate to %d, agreed %v; want %d, %v", tt.epoch, tt.end, got, agreed, tt.want, tt.agreed)
		}
	}
}

// LeaderEpochFileCacheTest: cutting either end keeps an epoch for every offset that is left.
func TestTruncateEpochs(t *testing.T) {
	entries := []EpochEntry{{2, 6}, {3, 8}, {4, 11}}
	for _, tt := range []struct {
		name string
		cut  func(l *Log)
		want []EpochEntry
	}{
		{"end 8", func(l *Log) { l.truncateEpochsFromEnd(8) }, entries[:1]},
		{"end 9", func(l *Log) { l.truncateEpochsFromEnd(9) }, entries[:2]},
		{"end 0", func(l *Log) { l.truncateEpochsFromEnd(0) }, nil},
		{"end 12", func(l *Log) { l.truncateEpochsFromEnd(12) }, entries},
		{"start 8", func(l *Log) { l.truncateEpochsFromStart(8) }, entries[1:]},
		{"start 7", func(l *Log) { l.truncateEpochsFromStart(7) }, []EpochEntry{{2, 7}, {3, 8}, {4, 11}}},
		{"start 9", func(l *Log) { l.truncateEpochsFromStart(9) }, []EpochEntry{{3, 9}, {4, 11}}},
		{"start 1", func(l *Log) { l.truncateEpochsFromStart(1) }, entries},
		{"start 20", func(l *Log) { l.truncateEpochsFromStart(20) }, []EpochEntry{{4, 20}}},
	} {
		l := newLog(nil)
		for _, e := range entries {
			l.AssignEpochStartOffset(e.Epoch, e.StartOffset)
		}
		clone := l.Clone(l.disk.Clone())
		tt.cut(l)
		if !slices.Equal(l.LeaderEpochs(), tt.want) {
			t.Errorf("%s: epochs are %v, want %v", tt.name, l.LeaderEpochs(), tt.want)
		}
		if !slices.Equal(clone.LeaderEpochs(), entries) {
			t.Errorf("%s: the clone's epochs became %v", tt.name, clone.LeaderEpochs())
		}
		f, _ := l.disk.Open("orders-0/" + LeaderEpochCheckpoint)
		if got, want := string(l.disk.Bytes(f)), string(formatLeaderEpochs(tt.want)); got != want {
			t.Errorf("%s: the checkpoint is %q, want %q", tt.name, got, want)
		}
	}
}
