package storage

import (
	"fmt"
	"slices"

	"loglab/engine/kafka"
)

// EpochEntry says where a leader epoch began.
//
// Source: org.apache.kafka.server.common.EpochEntry; KIP-101.
type EpochEntry struct {
	Epoch kafka.LeaderEpoch
	// StartOffset is the offset of the first record that the leader of this epoch could append.
	StartOffset kafka.Offset
}

// LeaderEpochs returns the epochs that this log knows, oldest first; epoch and start offset both
// rise. It is what stands in leader-epoch-checkpoint. The slice is shared and must not be changed.
func (l *Log) LeaderEpochs() []EpochEntry { return slices.Clip(l.epochs) }

// AssignEpochStartOffset notes that epoch begins at start, as a leader does with its log end offset
// when it takes office. Nothing happens if epoch is the latest and began at or before start. Otherwise
// entries that don't lie below both numbers go, and leader-epoch-checkpoint is written and synced.
// It panics if either number is negative.
//
// Source: LeaderEpochFileCache.assign; KIP-101.
func (l *Log) AssignEpochStartOffset(epoch kafka.LeaderEpoch, start kafka.Offset) {
	if epoch < 0 || start < 0 {
		panic(fmt.Sprintf("storage: %s: leader epoch %d at offset %d", l.dir, epoch, start))
	}
	kept := len(l.epochs)
	if kept > 0 && l.epochs[kept-1].Epoch == epoch && l.epochs[kept-1].StartOffset <= start {
		return
	}
	for kept > 0 && (l.epochs[kept-1].Epoch >= epoch || l.epochs[kept-1].StartOffset >= start) {
		kept--
	}
	l.epochs = append(l.epochs[:kept:kept], EpochEntry{Epoch: epoch, StartOffset: start})
	l.writeLeaderEpochCheckpoint()
}

// writeLeaderEpochCheckpoint replaces the file in one step, so that a crash leaves the old one or the
// new one.
//
// Source: org.apache.kafka.server.common.CheckpointFile.write.
func (l *Log) writeLeaderEpochCheckpoint() {
	path := l.dir + "/" + LeaderEpochCheckpoint
	f := l.disk.Create(path + ".tmp")
	l.disk.Append(f, formatLeaderEpochs(l.epochs))
	l.disk.Sync(f)
	l.disk.Rename(f, path)
}

// formatLeaderEpochs gives the text of leader-epoch-checkpoint: version 0, the number of entries, and
// a line "epoch startOffset" for each.
func formatLeaderEpochs(entries []EpochEntry) []byte {
	text := fmt.Appendf(nil, "0\n%d\n", len(entries))
	for _, e := range entries {
		text = fmt.Appendf(text, "%d %d\n", e.Epoch, e.StartOffset)
	}
	return text
}
