package storage

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// The numbers are those of runs of Kafka 4.2's own UnifiedLog and Cleaner.

// newCompacted makes a compacted log that is cleaned whenever there is something dirty.
func newCompacted(change func(*Config)) *Log {
	return newLog(func(c *Config) {
		c.Compact, c.Delete, c.MinCleanableDirtyRatio = true, false, 0
		if change != nil {
			change(c)
		}
	})
}

// put appends records as "a=1", one a batch; "b" alone is a tombstone.
func put(t *testing.T, l *Log, records ...string) {
	t.Helper()
	for _, r := range records {
		key, value, has := strings.Cut(r, "=")
		b := record.NewBuilder(record.Options{})
		if has {
			b.Append(startTime, []byte(key), []byte(value))
		} else {
			b.Append(startTime, []byte(key), nil)
		}
		batch, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		mustAppend(t, l, batch, 0, startTime)
	}
}

// clean cleans what can be cleaned, with everything stable, from a checkpoint on.
func clean(t *testing.T, l *Log, checkpoint kafka.Offset, now kafka.Timestamp) Cleaned {
	t.Helper()
	done, err := l.Clean(l.Cleanable(checkpoint, l.LogEndOffset(), now), now)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// recordsText gives every record as "3:a=2", emptied batches as "0-1:-", segments apart by "|", a delete horizon as
// "(T+1000)".
func recordsText(t *testing.T, l *Log) string {
	t.Helper()
	var parts []string
	for i, s := range l.Segments() {
		if i > 0 {
			parts = append(parts, "|")
		}
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
			if len(records) == 0 {
				parts = append(parts, fmt.Sprintf("%d-%d:-", b.BaseOffset, b.LastOffset()))
			}
			for _, r := range records {
				text := fmt.Sprintf("%d:%s=%s", r.Offset, r.Key, r.Value)
				if r.Value == nil {
					text = fmt.Sprintf("%d:%s", r.Offset, r.Key)
				}
				if b.Attributes.Control() {
					text = fmt.Sprintf("%d:marker", r.Offset)
				}
				if horizon, ok := b.DeleteHorizon(); ok {
					text += "(" + at(horizon) + ")"
				}
				parts = append(parts, text)
			}
			bytes = bytes[b.Size():]
		}
	}
	return strings.Join(parts, " ")
}

func wantContents(t *testing.T, l *Log, when, want string) {
	t.Helper()
	if got := recordsText(t, l); got != want {
		t.Errorf("%s:\n got %s\nwant %s", when, got, want)
	}
}

// §2.7, first run: two segments become one; a/2 stays, as a/3 is in the active segment; the tombstone gets its horizon in the first
// cleaning and goes in the one at that time, not a millisecond earlier.
func TestCleanThreeTimes(t *testing.T) {
	l := newCompacted(func(c *Config) { c.DeleteRetentionMillis = 1000 })
	put(t, l, "a=1", "b=1", "c=1", "a=2", "b", "d=1")
	l.roll(6, startTime)
	put(t, l, "c=9")
	l.roll(7, startTime)
	put(t, l, "a=3")
	c := l.Cleanable(kafka.NoOffset, 8, startTime)
	if c.FirstDirtyOffset != 0 || c.FirstUncleanableOffset != 7 || c.Ratio() != 1 || c.Verdict != CleanByRatio || c.Bound != BoundActive {
		t.Errorf("%+v", c)
	}
	bytesBefore := l.Segments()[0].Bytes
	done := clean(t, l, kafka.NoOffset, startTime)
	wantContents(t, l, "clean 1", "3:a=2 4:b(T+1000) 5:d=1 6:c=9 | 7:a=3")
	if diff := cmp.Diff([]kafka.Offset{0, 6}, done.Groups[0].From); diff != "" || done.Checkpoint != 7 {
		t.Errorf("groups %v, checkpoint %d", done.Groups, done.Checkpoint)
	}
	wantRemoved := []RemovedRecord{{0, Superseded, 3}, {1, Superseded, 4}, {2, Superseded, 6}}
	if diff := cmp.Diff(wantRemoved, done.Removed); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	tombstone := done.Batches[4]
	want := CleanedBatch{BaseOffset: 4, LastOffset: 4, Fate: BatchRewritten, RecordsBefore: 1, RecordsAfter: 1, BytesBefore: 69, BytesAfter: 70,
		DeleteHorizon: startTime + 1000, HorizonSet: true}
	if diff := cmp.Diff(want, tombstone); diff != "" {
		t.Errorf("the tombstone's batch (-want +got):\n%s", diff)
	}
	if l.LogStartOffset() != 0 || l.LogEndOffset() != 8 {
		t.Errorf("offsets %d to %d", l.LogStartOffset(), l.LogEndOffset())
	}
	if bytesBefore[7] != 0 || len(bytesBefore) != 6*70-1 {
		t.Error("what was read before changed")
	}

	l.roll(8, startTime)
	done = clean(t, l, done.Checkpoint, startTime+999)
	wantContents(t, l, "clean 2", "4:b(T+1000) 5:d=1 6:c=9 7:a=3 |")
	if len(done.Removed) != 1 || done.Removed[0] != (RemovedRecord{3, Superseded, 7}) {
		t.Errorf("removed %v", done.Removed)
	}
	put(t, l, "e=1")
	l.roll(9, startTime)
	done = clean(t, l, done.Checkpoint, startTime+1000)
	wantContents(t, l, "clean 3", "5:d=1 6:c=9 7:a=3 8:e=1 |")
	if len(done.Removed) != 1 || done.Removed[0] != (RemovedRecord{4, ExpiredTombstone, kafka.NoOffset}) || l.LogStartOffset() != 0 {
		t.Errorf("removed %v, log start offset %d", done.Removed, l.LogStartOffset())
	}
}

// §2.7, run of an idempotent producer: its last batch stays as a header, so that its last sequence is known.
func TestCleanKeepsTheLastSequence(t *testing.T) {
	l := newCompacted(nil)
	producer := &record.Producer{ID: 7, Epoch: 0, BaseSequence: 0}
	mustAppend(t, l, buildBatch(record.Options{Producer: producer}, entry{startTime, "k", "1"}, entry{startTime, "k", "2"}), 0, startTime)
	put(t, l, "k=3")
	l.roll(3, startTime)
	done := clean(t, l, kafka.NoOffset, startTime)
	wantContents(t, l, "cleaned", "0-1:- 2:k=3 |")
	if b := done.Batches[0]; b.Fate != BatchEmptied || b.Needed != NeededForProducer || b.BytesAfter != 61 {
		t.Errorf("%+v", b)
	}
	read, err := l.Read(0, 1000, 3, true)
	if b, _ := record.Parse(read.Bytes); err != nil || b.LastSequence() != 1 || b.ProducerID != 7 {
		t.Errorf("the batch at 0: %+v, %v", b, err)
	}
}

// The last batch of a round stays as a header even if nothing of it is left.
func TestCleanKeepsTheEndOfTheRound(t *testing.T) {
	l := newCompacted(func(c *Config) { c.DeleteRetentionMillis = 0 })
	put(t, l, "a=1", "b")
	l.roll(2, startTime)
	done := clean(t, l, kafka.NoOffset, startTime)
	wantContents(t, l, "clean 1", "0:a=1 1:b(T+0) |")
	put(t, l, "c=1")
	l.roll(3, startTime)
	put(t, l, "d=1")
	clean(t, l, done.Checkpoint, startTime)
	wantContents(t, l, "clean 2", "0:a=1 2:c=1 | 3:d=1")

	l = newCompacted(func(c *Config) { c.DeleteRetentionMillis = 0 })
	put(t, l, "a=1", "b")
	l.roll(2, startTime)
	clean(t, l, kafka.NoOffset, startTime)
	done = clean(t, l, 0, startTime)
	wantContents(t, l, "the same range twice", "0:a=1 1-1:- |")
	if b := done.Batches[1]; b.Needed != NeededForRound || b.Fate != BatchEmptied {
		t.Errorf("%+v", b)
	}
}

// transactions fills a log: producer 1 writes 0 and 1 and aborts at 4; producer 2 writes 3 and 5 and commits at 6;
// 2 and 7 belong to none. Data has epoch 0; markers have epoch 1 under transactions of version 2, 0 before. The
// active segment begins at 7.
func transactions(t *testing.T, version int16) *Log {
	t.Helper()
	l := newCompacted(func(c *Config) { c.DeleteRetentionMillis = 1000 })
	mustAppend(t, l, transactional(1, 0, 0, entry{startTime, "a", "1"}, entry{startTime, "b", "1"}), 0, startTime)
	put(t, l, "p=1")
	mustAppend(t, l, transactional(2, 0, 0, entry{startTime, "c", "1"}), 0, startTime)
	mustEnd(t, l, record.Abort, 1, kafka.ProducerEpoch(version/2), version)
	mustAppend(t, l, transactional(2, 0, 1, entry{startTime, "d", "1"}), 0, startTime)
	mustEnd(t, l, record.Commit, 2, kafka.ProducerEpoch(version/2), version)
	l.roll(7, startTime)
	put(t, l, "z=1")
	return l
}

// §2.7, run of transactions: the first cleaning removes 0 and 1 only, the second gives the abort marker its horizon,
// the third makes it an empty control batch, kept for the producer's epoch, as markers have had an epoch of their own
// since transactions of version 2. The .txnindex loses the transaction when its data is gone.
func TestCleanTransactions(t *testing.T) {
	l := transactions(t, 2)
	hasIndex := func() bool {
		_, exists := l.disk.Open("orders-0/00000000000000000000.txnindex")
		return exists
	}
	done := clean(t, l, kafka.NoOffset, startTime)
	wantContents(t, l, "clean 1", "2:p=1 3:c=1 4:marker 5:d=1 6:marker | 7:z=1")
	if diff := cmp.Diff([]RemovedRecord{{0, AbortedData, kafka.NoOffset}, {1, AbortedData, kafka.NoOffset}}, done.Removed); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	if !hasIndex() {
		t.Error("the .txnindex is gone although data of its transaction was met")
	}
	l.roll(8, startTime)
	done = clean(t, l, done.Checkpoint, startTime+10)
	wantContents(t, l, "clean 2", "2:p=1 3:c=1 4:marker(T+1010) 5:d=1 6:marker 7:z=1 |")
	if hasIndex() {
		t.Error("the .txnindex is there although no data of its transaction is")
	}
	put(t, l, "y=1")
	l.roll(9, startTime)
	done = clean(t, l, done.Checkpoint, startTime+1010)
	wantContents(t, l, "clean 3", "2:p=1 3:c=1 4-4:- 5:d=1 6:marker 7:z=1 8:y=1 |")
	if b := done.Batches[2]; b.Fate != BatchEmptied || b.Needed != NeededForProducer || b.BytesAfter != 61 {
		t.Errorf("the marker's batch: %+v", b)
	}
}

// If the marker has the epoch of the data, as before, the data's last batch stays as a header, and with it the
// marker.
func TestCleanTransactionsOfVersion1(t *testing.T) {
	l := transactions(t, 1)
	done := clean(t, l, kafka.NoOffset, startTime)
	wantContents(t, l, "clean 1", "0-1:- 2:p=1 3:c=1 4:marker 5:d=1 6:marker | 7:z=1")
	l.roll(8, startTime)
	clean(t, l, done.Checkpoint, startTime)
	wantContents(t, l, "clean 2", "0-1:- 2:p=1 3:c=1 4:marker 5:d=1 6:marker 7:z=1 |")
}

// STO-06: the active segment is never cleaned, and its keys do not shadow older ones. STO-07 goes on: a tombstone
// needs two cleanings, delete.retention.ms apart.
func TestSTO06And07(t *testing.T) {
	l := newCompacted(func(c *Config) { c.DeleteRetentionMillis = 1000 })
	put(t, l, "A=1", "B=1", "A=2", "C=1", "B", "A=3")
	if c := l.Cleanable(kafka.NoOffset, 6, startTime); c.Eligible() || c.Verdict != NothingToClean || c.Why != "no dirty bytes below offset 0, bound by: active segment" {
		t.Errorf("%+v", c)
	}
	clean(t, l, kafka.NoOffset, startTime)
	wantContents(t, l, "STO-06 clean1", "0:A=1 1:B=1 2:A=2 3:C=1 4:B 5:A=3")
	l.roll(6, startTime)
	put(t, l, "A=4")
	done := clean(t, l, kafka.NoOffset, startTime)
	wantContents(t, l, "STO-06 clean2", "3:C=1 4:B(T+1000) 5:A=3 | 6:A=4")
	if l.LogEndOffset() != 7 || l.LogStartOffset() != 0 {
		t.Errorf("offsets %d to %d", l.LogStartOffset(), l.LogEndOffset())
	}
	l.roll(7, startTime)
	put(t, l, "D=1")
	done = clean(t, l, done.Checkpoint, startTime+500)
	wantContents(t, l, "STO-07 clean3", "3:C=1 4:B(T+1000) 6:A=4 | 7:D=1")
	if clean(t, l, done.Checkpoint, startTime+2500); l.Cleanable(done.Checkpoint, 8, startTime+2500).Eligible() {
		t.Error("STO-07: eligible although nothing is dirty")
	}
	wantContents(t, l, "STO-07 without another dirty segment", "3:C=1 4:B(T+1000) 6:A=4 | 7:D=1")
	l.roll(8, startTime)
	put(t, l, "D=2")
	clean(t, l, done.Checkpoint, startTime+2500)
	wantContents(t, l, "STO-07 clean4", "3:C=1 6:A=4 7:D=1 | 8:D=2")
}

// STO-09: an open transaction stops the cleaner at the last stable offset, here 1.
func TestSTO09OpenTransaction(t *testing.T) {
	l := newCompacted(nil)
	put(t, l, "A=1")
	mustAppend(t, l, transactional(1, 0, 0, entry{startTime, "T", "1"}), 0, startTime)
	put(t, l, "A=2")
	l.roll(3, startTime)
	put(t, l, "A=3")
	l.roll(4, startTime)
	put(t, l, "A=4")
	const highWatermark = 5
	stable := l.LastStableOffset(highWatermark)
	c := l.Cleanable(kafka.NoOffset, stable, startTime)
	if stable != 1 || l.LogEndOffset() != highWatermark || c.BoundOffset != 1 || c.Bound != BoundLastStable || c.Eligible() {
		t.Errorf("last stable offset %d, %+v", stable, c)
	}
	if _, err := l.Clean(c, startTime); err != nil {
		t.Fatal(err)
	}
	wantContents(t, l, "STO-09", "0:A=1 1:T=1 2:A=2 | 3:A=3 | 4:A=4")
	// When it ends, the segment is cleaned.
	mustEnd(t, l, record.Commit, 1, 1, 2)
	l.OnHighWatermarkUpdated(6)
	done, err := l.Clean(l.Cleanable(kafka.NoOffset, l.LastStableOffset(6), startTime), startTime)
	if err != nil || done.Checkpoint != 4 {
		t.Errorf("%+v, %v", done, err)
	}
	wantContents(t, l, "after the commit", "1:T=1 3:A=3 | 4:A=4 5:marker")
}

// Why a log is cleaned or not, with the numbers.
func TestCleanable(t *testing.T) {
	sixBatches := func(change func(*Config)) *Log {
		l := newCompacted(func(c *Config) {
			c.SegmentBytes = 140
			change(c)
		})
		for ts := range kafka.Timestamp(6) {
			mustAppend(t, l, oneRecord(startTime+1000*ts), 0, startTime+1000*ts)
		}
		return l
	}
	for name, tc := range map[string]struct {
		change             func(*Config)
		checkpoint, stable kafka.Offset
		now                kafka.Timestamp
		want               Cleanable
	}{
		"all of it": {func(*Config) {}, kafka.NoOffset, 6, 0, Cleanable{0, 4, BoundActive, 4, false, 0, 280, 0, CleanByRatio, "280 of 280 bytes are dirty, 1 > min.cleanable.dirty.ratio 0"}},
		"half, not enough": {func(c *Config) { c.MinCleanableDirtyRatio = 0.5 }, 2, 6, 0, Cleanable{2, 4, BoundActive, 4, false, 140, 140, 0, TooClean,
			"140 of 280 bytes are dirty, 0.5 ≤ min.cleanable.dirty.ratio 0.5"}},
		"a checkpoint in a segment": {func(*Config) {}, 3, 6, 0, Cleanable{3, 4, BoundActive, 4, false, 280, 140, 0, CleanByRatio, "140 of 420 bytes are dirty, 0.3333 > min.cleanable.dirty.ratio 0"}},
		"a checkpoint behind the end": {func(*Config) {}, 7, 6, 0, Cleanable{0, 4, BoundActive, 4, true, 0, 280, 0, CleanByRatio,
			"280 of 280 bytes are dirty, 1 > min.cleanable.dirty.ratio 0"}},
		"an open transaction": {func(*Config) {}, kafka.NoOffset, 3, 0, Cleanable{0, 2, BoundLastStable, 3, false, 0, 140, 0, CleanByRatio,
			"140 of 140 bytes are dirty, 1 > min.cleanable.dirty.ratio 0"}},
		"young records": {func(c *Config) { c.MinCompactionLagMillis = 2000 }, kafka.NoOffset, 6, 5000, Cleanable{0, 4, BoundActive, 4, false, 0, 280, 0, CleanByRatio,
			"280 of 280 bytes are dirty, 1 > min.cleanable.dirty.ratio 0"}},
		"younger records": {func(c *Config) { c.MinCompactionLagMillis = 2001 }, kafka.NoOffset, 6, 5000, Cleanable{0, 2, BoundMinLag, 2, false, 0, 140, 0, CleanByRatio,
			"140 of 140 bytes are dirty, 1 > min.cleanable.dirty.ratio 0"}},
		"overdue": {func(c *Config) { c.MinCleanableDirtyRatio, c.MaxCompactionLagMillis = 0.9, 4000 }, 2, 6, 6001, Cleanable{2, 4, BoundActive, 4, false, 140, 140, 1, CleanByMaxLag,
			"a dirty segment began 1 ms longer ago than max.compaction.lag.ms 4,000"}},
		"not compacted": {func(c *Config) { c.Compact = false }, kafka.NoOffset, 6, 0, Cleanable{0, 4, BoundActive, 4, false, 0, 280, 0, NotCompacted,
			"cleanup.policy does not contain compact"}},
	} {
		got := sixBatches(tc.change).Cleanable(tc.checkpoint, tc.stable, startTime+tc.now)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	logs := []Cleanable{{Verdict: TooClean, CleanableBytes: 9}, {Verdict: CleanByRatio, CleanBytes: 1, CleanableBytes: 1}, {Verdict: CleanByMaxLag, CleanBytes: 1, CleanableBytes: 2}}
	if Filthiest(logs) != 2 || Filthiest(logs[:1]) != -1 {
		t.Error("the wrong log is the filthiest")
	}
}

// If the keys do not fit into the map, the round ends with the last one that did.
func TestCleanWithAFullMap(t *testing.T) {
	l := newCompacted(func(c *Config) { c.DedupeBufferBytes = 3 * slotSize }) // room for 2 keys
	put(t, l, "a=1", "b=1", "a=2", "c=1", "a=3")
	l.roll(5, startTime)
	done := clean(t, l, kafka.NoOffset, startTime)
	if !done.MapFull || done.Keys != 2 || done.KeyRoom != 2 || done.Checkpoint != 2 {
		t.Errorf("%+v", done)
	}
	wantContents(t, l, "round 1", "0:a=1 1:b=1 2:a=2 3:c=1 4:a=3 |")
	done = clean(t, l, done.Checkpoint, startTime)
	wantContents(t, l, "round 2", "1:b=1 2:a=2 3:c=1 4:a=3 |")
	if done.Checkpoint != 4 {
		t.Errorf("checkpoint %d", done.Checkpoint)
	}
}

// What a cleaning replaces can be seen as .deleted, snapshots of the producers included.
func TestCleanedFiles(t *testing.T) {
	l := newCompacted(nil)
	put(t, l, "a=1")
	l.roll(1, startTime)
	put(t, l, "a=2")
	l.roll(2, startTime)
	clean(t, l, kafka.NoOffset, startTime)
	want := []string{
		"00000000000000000000.index", "00000000000000000000.index.deleted", "00000000000000000000.log", "00000000000000000000.log.deleted",
		"00000000000000000000.timeindex", "00000000000000000000.timeindex.deleted",
		"00000000000000000001.index.deleted", "00000000000000000001.log.deleted", "00000000000000000001.snapshot.deleted", "00000000000000000001.timeindex.deleted",
		"00000000000000000002.index", "00000000000000000002.log", "00000000000000000002.snapshot", "00000000000000000002.timeindex", "leader-epoch-checkpoint",
	}
	var got []string
	for _, path := range l.disk.List("orders-0") {
		got = append(got, strings.TrimPrefix(path, "orders-0/"))
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	l.RemoveDeletedFiles(startTime + 60_000)
	if n := l.disk.Files(); n != 8 {
		t.Errorf("%d files are left, want 8", n)
	}
}
