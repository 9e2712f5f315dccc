package storage

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/simdisk"
)

// cleanedRecord is what may not change of a record.
type cleanedRecord struct {
	Offset    kafka.Offset
	Timestamp kafka.Timestamp
	Key       string
	Value     []byte // nil in a tombstone
}

// recordsOf lists a log's records from its start on.
func recordsOf(t *testing.T, l *Log) (list []cleanedRecord) {
	t.Helper()
	for _, s := range l.Segments() {
		for bytes := s.Bytes; len(bytes) > 0; {
			b, err := record.Parse(bytes)
			if err == nil {
				err = b.CheckCRC()
			}
			if err != nil {
				t.Fatalf("segment %d: %v", s.BaseOffset, err)
			}
			records, err := b.Records()
			if err != nil {
				t.Fatalf("segment %d: %v", s.BaseOffset, err)
			}
			for _, r := range records {
				if r.Offset >= l.LogStartOffset() {
					list = append(list, cleanedRecord{r.Offset, r.Timestamp, string(r.Key), r.Value})
				}
			}
			bytes = bytes[b.Size():]
		}
	}
	return list
}

// table is what a reader of all records ends with: the last value of each key that has one.
func table(records []cleanedRecord) map[string]string {
	last := map[string]string{}
	for _, r := range records {
		if delete(last, r.Key); r.Value != nil {
			last[r.Key] = string(r.Value)
		}
	}
	return last
}

// cleanOp is one thing that is done to a log that is cleaned, so that it can be done again.
type cleanOp struct {
	kind  int
	batch []byte
	now   kafka.Timestamp
	far   kafka.Offset // how far from the end, or the start, something lies
}

// cleanBranch is a log with its cleaner checkpoint and all that was done to it.
type cleanBranch struct {
	log        *Log
	checkpoint kafka.Offset
	history    []cleanOp
}

func newCleanBranch() cleanBranch {
	l := newCompacted(func(c *Config) {
		c.SegmentBytes, c.IndexIntervalBytes, c.DeleteRetentionMillis, c.FileDeleteDelayMillis = 500, 100, 300, 100
		c.Delete, c.RetentionBytes = true, 6000
	})
	return cleanBranch{log: l, checkpoint: kafka.NoOffset}
}

func (b *cleanBranch) clone() cleanBranch {
	return cleanBranch{b.log.Clone(b.log.disk.Clone()), b.checkpoint, append([]cleanOp(nil), b.history...)}
}

// drawCleanOp is mostly an append of a few of 12 keys.
func drawCleanOp(r *rand.Rand, step int) cleanOp {
	op := cleanOp{kind: r.IntN(12), now: startTime + kafka.Timestamp(20*step), far: kafka.Offset(r.IntN(20))}
	builder := record.NewBuilder(record.Options{})
	for range 1 + r.IntN(4) {
		value := fmt.Appendf(nil, "value-%d", step)
		if r.IntN(5) == 0 {
			value = nil
		}
		builder.Append(op.now-kafka.Timestamp(r.IntN(10)), fmt.Appendf(nil, "key-%d", r.IntN(12)), value)
	}
	op.batch, _ = builder.Build()
	return op
}

// do does an operation and gives what it said.
func (b *cleanBranch) do(t *testing.T, op cleanOp) any {
	t.Helper()
	b.history = append(b.history, op)
	l := b.log
	switch op.kind {
	case 0, 1:
		done, err := l.Clean(l.Cleanable(b.checkpoint, max(l.LogStartOffset(), l.LogEndOffset()-op.far), op.now), op.now)
		if err != nil {
			t.Fatal(err)
		}
		b.checkpoint = done.Checkpoint
		return done
	case 2:
		return l.DeleteOldSegments(max(l.LogStartOffset(), l.LogEndOffset()-op.far), op.now)
	case 3:
		return l.RemoveDeletedFiles(op.now)
	case 4:
		return l.IncrementLogStartOffset(min(l.LogStartOffset()+op.far/8, l.LogEndOffset()))
	}
	return mustAppend(t, l, op.batch, 0, op.now)
}

// A cleaning keeps the last value of every key, changes no offset, timestamp, key or value of what it keeps, and
// whoever reads at an offset gets the next record that is left. The end of the log stays where it was.
func TestCleaningKeepsWhatCounts(t *testing.T) {
	cleanings, removed := 0, 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 21))
		b := newCleanBranch()
		for step := range 200 {
			op := drawCleanOp(r, step)
			before, end := recordsOf(t, b.log), b.log.LogEndOffset()
			said, cleaned := b.do(t, op).(Cleaned)
			if !cleaned || len(said.Groups) == 0 {
				continue
			}
			cleanings++
			removed += len(said.Removed)
			after := recordsOf(t, b.log)
			if diff := cmp.Diff(table(before), table(after)); diff != "" {
				t.Fatalf("seed %d, step %d: last values (-before +after):\n%s", seed, step, diff)
			}
			checkKept(t, before, after)
			if b.log.LogEndOffset() != end {
				t.Fatalf("seed %d, step %d: log end offset %d became %d", seed, step, end, b.log.LogEndOffset())
			}
			checkReads(t, b.log, after)
			if t.Failed() {
				t.Fatalf("seed %d, step %d", seed, step)
			}
		}
	}
	t.Logf("%d cleanings removed %d records", cleanings, removed)
	if cleanings < 500 || removed < 1000 {
		t.Error("too few cleanings for this to say anything")
	}
}

// checkKept wants each record after to be one of those before, in order.
func checkKept(t *testing.T, before, after []cleanedRecord) {
	t.Helper()
	for _, a := range after {
		for len(before) > 0 && before[0].Offset < a.Offset {
			before = before[1:]
		}
		if len(before) == 0 || !cmp.Equal(before[0], a) {
			t.Errorf("record %+v is new", a)
			return
		}
	}
}

// checkReads reads from each offset.
func checkReads(t *testing.T, l *Log, records []cleanedRecord) {
	t.Helper()
	for from := l.LogStartOffset(); from < l.LogEndOffset(); from++ {
		for len(records) > 0 && records[0].Offset < from {
			records = records[1:]
		}
		got, found := kafka.NoOffset, false
		for at := from; !found && at < l.LogEndOffset(); {
			read, err := l.Read(at, 1, l.LogEndOffset(), true)
			if err != nil {
				t.Errorf("read at %d: %v", at, err)
				return
			}
			batch, err := record.Parse(read.Bytes)
			if err != nil {
				break // nothing more
			}
			for s := batch.Scan(); !found && s.Next(); {
				if s.Record().Offset >= from {
					got, found = s.Record().Offset, true
				}
			}
			at = batch.NextOffset()
		}
		if found != (len(records) > 0) || found && got != records[0].Offset {
			t.Errorf("read at %d: record %d, found %t; %d are left", from, got, found, len(records))
			return
		}
	}
}

// Logs that are cloned while they are cleaned and shortened end as straight runs do, and clones that nobody touches
// keep every file.
func TestClonesOfCleanedLogs(t *testing.T) {
	straight := func(history []cleanOp) *Log {
		b := newCleanBranch()
		for _, op := range history {
			b.do(t, op)
		}
		return b.log
	}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 22))
		branches := []cleanBranch{newCleanBranch()}
		var frozen []cleanBranch
		for step := range 150 {
			at := r.IntN(len(branches))
			switch b := &branches[at]; {
			case r.IntN(12) == 0 && len(branches) < 5:
				branches = append(branches, b.clone())
			case r.IntN(12) == 0:
				frozen = append(frozen, b.clone())
			default:
				op := drawCleanOp(r, step)
				twin := b.clone()
				if diff := cmp.Diff(twin.do(t, op), b.do(t, op)); diff != "" {
					t.Fatalf("seed %d, step %d: a clone (-clone +original):\n%s", seed, step, diff)
				}
			}
		}
		for i, b := range append(branches, frozen...) {
			want := straight(b.history)
			if diff := cmp.Diff(stateOf(want), stateOf(b.log), sameBytes); diff != "" {
				t.Fatalf("seed %d: log %d (-straight +cloned):\n%s", seed, i, diff)
			}
			if diff := cmp.Diff(want.DeletedFiles(), b.log.DeletedFiles()); diff != "" {
				t.Fatalf("seed %d: log %d, deleted files (-straight +cloned):\n%s", seed, i, diff)
			}
		}
	}
}

// A stop right after a cleaning loses nothing of it: Open finds the same log.
func TestOpenAfterCleaning(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 23))
		b := newCleanBranch()
		for step := range 120 {
			b.do(t, drawCleanOp(r, step))
		}
		disk := b.log.disk.Clone()
		disk.LoseUnsynced()
		opened, _ := Open(disk, "orders-0", b.log.Config(), startTime, false, b.log.RecoveryPoint())
		sealed := b.log.Segments()
		sealed = sealed[:len(sealed)-1]
		if diff := cmp.Diff(sealed, opened.Segments()[:len(sealed)], cmp.Comparer(bytes.Equal)); diff != "" {
			t.Fatalf("seed %d: sealed segments (-before +after the power loss):\n%s", seed, diff)
		}
	}
}

// A segment that cannot be read is named, and what stands before it stays usable.
func TestCleanADamagedSegment(t *testing.T) {
	l := newCompacted(nil)
	put(t, l, "a=1", "b=1")
	l.roll(2, startTime)
	file := l.sealed[0].log
	content := l.disk.Bytes(file)
	l.disk.Truncate(file, 0)
	l.disk.Append(file, edit(content, func(b []byte) { b[70+16] = 1 }))
	_, err := l.Clean(l.Cleanable(kafka.NoOffset, 2, startTime), startTime)
	if want := "orders-0/00000000000000000000.log at byte 70: "; err == nil || !bytes.HasPrefix([]byte(err.Error()), []byte(want)) {
		t.Errorf("%v, want %s…", err, want)
	}
	if len(l.DeletedFiles()) != 0 || simdiskHas(l.disk, CleanedSuffix) {
		t.Error("a cleaning that failed left something")
	}
}

func simdiskHas(d *simdisk.Disk, suffix string) bool {
	for _, path := range d.List("") {
		if bytes.HasSuffix([]byte(path), []byte(suffix)) {
			return true
		}
	}
	return false
}
