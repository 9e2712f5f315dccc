package storage

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"loglab/engine/kafka"
	"loglab/engine/record"
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

// LatestEpoch is the latest leader epoch that this log knows; ok is false if it knows none.
//
// Source: LeaderEpochFileCache.latestEpoch.
func (l *Log) LatestEpoch() (epoch kafka.LeaderEpoch, ok bool) {
	if len(l.epochs) == 0 {
		return kafka.NoLeaderEpoch, false
	}
	return l.epochs[len(l.epochs)-1].Epoch, true
}

// EndOffsetForEpoch says where a leader epoch ended in this log: the answer to OffsetsForLeaderEpoch, and
// what a leader holds a follower's fetch against.
//
//	e is the latest epoch    e and the log end offset
//	e is above the latest    ok is false: undefined
//	no epoch ≤ e is known    e and the start offset of the first epoch
//	otherwise                the largest epoch ≤ e and the start offset of the epoch after it
//
// The end is exclusive. It is undefined too if e is negative or no epoch is known.
//
// Source: LeaderEpochFileCache.endOffsetFor; KIP-101, KIP-279.
func (l *Log) EndOffsetForEpoch(e kafka.LeaderEpoch) (epoch kafka.LeaderEpoch, end kafka.Offset, ok bool) {
	latest, known := l.LatestEpoch()
	if !known || e < 0 || e > latest {
		return kafka.NoLeaderEpoch, kafka.NoOffset, false
	}
	if e == latest {
		return e, l.logEndOffset, true
	}
	higher := 0 // the first epoch > e
	for l.epochs[higher].Epoch <= e {
		higher++
	}
	if higher == 0 {
		return e, l.epochs[0].StartOffset, true
	}
	return l.epochs[higher-1].Epoch, l.epochs[higher].StartOffset, true
}

// TruncationOffset is how far a follower keeps its log when the leader answers that an epoch ended at end,
// exclusive, in the leader's log. If the follower knows the epoch, it keeps up to the smaller end of the two
// and they agree. If not, it keeps up to the end of its next lower epoch and asks again: agreed is false.
// Epoch may be NoLeaderEpoch; the follower then keeps what lies below end. The result is never above the log
// end offset.
//
// Source: AbstractFetcherThread.getOffsetTruncationState; KIP-279, KIP-595.
func (l *Log) TruncationOffset(epoch kafka.LeaderEpoch, end kafka.Offset) (offset kafka.Offset, agreed bool) {
	ours, ourEnd, known := l.EndOffsetForEpoch(epoch)
	switch {
	case !known:
		return min(end, l.logEndOffset), true
	case ours != epoch:
		return min(ourEnd, l.logEndOffset), false
	}
	return min(ourEnd, end, l.logEndOffset), true
}

// truncateEpochsFromEnd forgets the epochs that begin at end or later.
//
// Source: LeaderEpochFileCache.truncateFromEndAsyncFlush.
func (l *Log) truncateEpochsFromEnd(end kafka.Offset) {
	kept := len(l.epochs)
	for kept > 0 && l.epochs[kept-1].StartOffset >= end {
		kept--
	}
	if kept < len(l.epochs) {
		l.epochs = l.epochs[:kept:kept]
		l.writeLeaderEpochCheckpoint()
	}
}

// truncateEpochsFromStart forgets the epochs that ended at start or before; the one that holds start begins
// there from now on.
//
// Source: LeaderEpochFileCache.truncateFromStartAsyncFlush.
func (l *Log) truncateEpochsFromStart(start kafka.Offset) {
	gone := 0
	for gone < len(l.epochs) && l.epochs[gone].StartOffset <= start {
		gone++
	}
	if gone == 0 || gone == 1 && l.epochs[0].StartOffset == start {
		return
	}
	first := EpochEntry{Epoch: l.epochs[gone-1].Epoch, StartOffset: start}
	l.epochs = append([]EpochEntry{first}, l.epochs[gone:]...)
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

// loadLeaderEpochs reads leader-epoch-checkpoint, or makes the file. ok is false if there is something else in
// it, which a crash cannot leave: the file is only ever replaced as a whole.
//
// Source: LeaderEpochFileCache, CheckpointFile.read.
func (l *Log) loadLeaderEpochs() (ok bool) {
	path := l.dir + "/" + LeaderEpochCheckpoint
	f, exists := l.disk.Open(path)
	if !exists {
		l.disk.Create(path)
		return true
	}
	entries, err := parseLeaderEpochs(l.disk.Bytes(f))
	if err == nil {
		l.epochs = entries
	}
	return err == nil
}

// parseLeaderEpochs reads what formatLeaderEpochs writes, to the end of the last line. An empty file holds no epochs.
// Neither number may be negative, and both rise.
func parseLeaderEpochs(b []byte) (entries []EpochEntry, err error) {
	if len(b) == 0 {
		return nil, nil
	}
	lines, err := checkpointLines(b)
	if err != nil {
		return nil, err
	}
	if b[len(b)-1] != '\n' {
		return nil, fmt.Errorf("checkpoint line %d: its end is missing", len(lines)+2)
	}
	after := EpochEntry{Epoch: -1, StartOffset: -1}
	for i, line := range lines {
		fields := strings.Fields(line)
		if len(fields) != 2 {
			return nil, fmt.Errorf("checkpoint line %d: %q, want epoch and start offset", i+3, line)
		}
		epoch, err := strconv.ParseInt(fields[0], 10, 32)
		if err != nil {
			return nil, fmt.Errorf("checkpoint line %d: epoch: %w", i+3, err)
		}
		start, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("checkpoint line %d: start offset: %w", i+3, err)
		}
		e := EpochEntry{Epoch: kafka.LeaderEpoch(epoch), StartOffset: kafka.Offset(start)}
		if e.Epoch <= after.Epoch || e.StartOffset <= after.StartOffset {
			return nil, fmt.Errorf("checkpoint line %d: epoch %d at offset %d, must be above %d and %d", i+3, e.Epoch, e.StartOffset, after.Epoch, after.StartOffset)
		}
		entries = append(entries, e)
		after = e
	}
	return entries, nil
}

// rebuildLeaderEpochs notes each leader epoch with the batch that begins it, as a follower's append does.
func (l *Log) rebuildLeaderEpochs(segments []segment) {
	for i := range segments {
		bytes := l.disk.Bytes(segments[i].log)
		for {
			batch, err := record.Parse(bytes)
			if err != nil {
				break
			}
			if latest, _ := l.LatestEpoch(); batch.PartitionLeaderEpoch > latest && batch.BaseOffset >= 0 {
				l.AssignEpochStartOffset(batch.PartitionLeaderEpoch, batch.BaseOffset)
			}
			bytes = bytes[batch.Size():]
		}
	}
	l.writeLeaderEpochCheckpoint()
}
