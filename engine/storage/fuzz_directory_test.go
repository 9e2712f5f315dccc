package storage

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/simdisk"
)

// hostileDirectory is a clone of a closed log's disk in which one file holds b. With mend the CRCs in it are right, so
// that what is behind them counts. Which file it is depends on number.
func hostileDirectory(closed *Log, number uint8, b []byte, mend bool) *simdisk.Disk {
	disk := closed.disk.Clone()
	paths := disk.List("")
	path := paths[int(number)%len(paths)]
	b = slices.Clone(b)
	if mend && strings.HasSuffix(path, LogSuffix) {
		for rest := b; ; {
			batch, err := record.Parse(rest)
			if err != nil {
				break
			}
			binary.BigEndian.PutUint32(rest[17:], crcOf(rest[:batch.Size()]))
			rest = rest[batch.Size():]
		}
	}
	if mend && strings.HasSuffix(path, ProducerSnapshotSuffix) && len(b) > 6 {
		binary.BigEndian.PutUint32(b[2:], crc32.Checksum(b[6:], castagnoli))
	}
	f, _ := disk.Open(path)
	disk.Truncate(f, 0)
	disk.Append(f, b)
	return disk
}

// Whatever bytes stand in a file of a log's directory, the log opens and goes on: what cannot be read is an error or
// a refusal. What was appended after that is there when it is opened again.
func FuzzDirectory(f *testing.F) {
	log := threeSegments(f)
	log.config.Compact, log.config.MinCleanableDirtyRatio = true, 0
	killed := log.disk.Clone()
	log.Close()
	for i, path := range log.disk.List("") {
		file, _ := log.disk.Open(path)
		content := log.disk.Bytes(file)
		f.Add(uint8(i), content, true, true, uint8(0))
		f.Add(uint8(i), content[:len(content)/2], false, false, uint8(20))
		if other, exists := killed.Open(path); exists {
			f.Add(uint8(i), killed.Bytes(other), false, false, uint8(0))
		}
	}
	f.Fuzz(func(t *testing.T, number uint8, b []byte, mend, clean bool, point uint8) {
		disk := hostileDirectory(log, number, b, mend)
		opened, recovered := Open(disk, "orders-0", log.config, startTime, clean, kafka.Offset(point))
		checkOffsets(t, opened)
		if recovered.DroppedBytes < 0 || recovered.DroppedSegments > 2 || recovered.Bytes > opened.Size() {
			t.Fatalf("%+v, %d bytes are left", recovered, opened.Size())
		}
		lookAround(t, opened)
		cleaned := opened.Clone(disk.Clone())
		if _, err := cleaned.Clean(cleaned.Cleanable(kafka.NoOffset, cleaned.LastStableOffset(cleaned.LogEndOffset()), startTime), startTime); err == nil {
			cleaned.RemoveDeletedFiles(startTime + 100_000)
			lookAround(t, cleaned)
			goOn(t, cleaned)
		}
		for _, to := range []kafka.Offset{opened.LogEndOffset() - 1, (opened.LogStartOffset() + opened.LogEndOffset()) / 2, opened.LogStartOffset()} {
			cut := opened.Clone(disk.Clone())
			if _, err := cut.TruncateTo(max(0, to)); err == nil {
				lookAround(t, cut)
				goOn(t, cut)
			}
		}
		goOn(t, opened)
	})
}

// checkOffsets holds the offsets of a log against each other.
func checkOffsets(t *testing.T, l *Log) {
	t.Helper()
	if l.LogStartOffset() < 0 || l.LogStartOffset() > l.LogEndOffset() || l.RecoveryPoint() > l.LogEndOffset() || !slices.IsSorted(bases(l)) {
		t.Fatalf("offsets %d to %d, recovery point %d, segments %v", l.LogStartOffset(), l.LogEndOffset(), l.RecoveryPoint(), bases(l))
	}
	if stable := l.LastStableOffset(l.LogEndOffset()); stable < l.LogStartOffset() || stable > l.LogEndOffset() {
		t.Fatalf("last stable offset %d, the log has %d to %d", stable, l.LogStartOffset(), l.LogEndOffset())
	}
}

// lookAround reads a log in all ways. Errors are none of its business, but a read that is answered has batches from
// the offset on.
func lookAround(t *testing.T, l *Log) {
	t.Helper()
	offset := l.LogStartOffset()
	for range 100 {
		read, err := l.Read(offset, 1, l.LogEndOffset(), true)
		if err != nil || len(read.Bytes) == 0 {
			break
		}
		batch, err := record.Parse(read.Bytes)
		if err != nil || batch.LastOffset() < offset {
			t.Fatalf("read %d: offsets %d to %d, %v", offset, batch.BaseOffset, batch.LastOffset(), err)
		}
		_, _ = l.AbortedTransactions(offset, read)
		offset = batch.NextOffset()
	}
	for target := startTime - 100; target < startTime+300; target += 50 {
		_, _ = l.OffsetForTimestamp(target)
	}
	segments := l.Segments()
	for offset := kafka.Offset(-1); offset < 45; offset += 5 {
		_, _, _ = Find(segments, offset)
	}
	for epoch := kafka.LeaderEpoch(-1); epoch < 5; epoch++ {
		l.TruncationOffset(epoch, 20)
	}
	l.Cleanable(20, 30, startTime)
	l.Clone(l.disk.Clone()).DeleteOldSegments(l.LogEndOffset(), startTime+1<<40)
}

// goOn appends to a log as a leader, a coordinator and a follower do, and opens it again after a clean stop.
func goOn(t *testing.T, l *Log) {
	t.Helper()
	first := l.LogEndOffset()
	epoch, _ := l.LatestEpoch()
	epoch = max(epoch, 3)
	if a, err := l.Append(oneRecord(startTime), epoch, startTime); err != nil || a.BaseOffset != first {
		t.Fatalf("append at %d: %+v, %v", first, a, err)
	}
	_, _ = l.Append(sent(1, 0, 12, 1, "v"), epoch, startTime)
	_, _ = l.AppendEndTxnMarker(marker(record.Abort, 3, 0, 1), epoch, startTime)
	if _, err := l.AppendAsFollower(stamped(oneRecord(startTime), l.LogEndOffset(), epoch), startTime); err != nil {
		t.Fatalf("append as a follower at %d: %v", l.LogEndOffset(), err)
	}
	checkOffsets(t, l)
	tail, err := l.Read(first, 1<<20, l.LogEndOffset(), true)
	if err != nil || len(tail.Bytes) < 70 {
		t.Fatalf("read at %d: %d bytes, %v", first, len(tail.Bytes), err)
	}
	end := l.LogEndOffset()
	l.Close()
	again, _ := Open(l.disk, "orders-0", l.config, startTime, true, end)
	read, err := again.Read(first, 1<<20, end, true)
	if err != nil || again.LogEndOffset() != end || !bytes.Equal(read.Bytes, tail.Bytes) {
		t.Fatalf("opened again: log end offset %d, want %d; %d bytes, %v", again.LogEndOffset(), end, len(read.Bytes), err)
	}
	for _, s := range again.Segments() {
		if _, err := ParseOffsetIndex(s.OffsetIndex, s.BaseOffset); err != nil {
			t.Fatalf("segment %d: %v", s.BaseOffset, err)
		}
		if _, err := ParseTimeIndex(s.TimeIndex, s.BaseOffset); err != nil {
			t.Fatalf("segment %d: %v", s.BaseOffset, err)
		}
	}
}
