package storage

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// transactional is a batch of a transaction.
func transactional(id kafka.ProducerID, epoch kafka.ProducerEpoch, sequence kafka.Sequence, entries ...entry) []byte {
	return buildBatch(record.Options{Transactional: true, Producer: &record.Producer{ID: id, Epoch: epoch, BaseSequence: sequence}}, entries...)
}

// marker is what a coordinator of epoch 0 asks for.
func marker(kind record.ControlType, id kafka.ProducerID, epoch kafka.ProducerEpoch, version int16) TransactionMarker {
	return TransactionMarker{EndTxnMarker: record.EndTxnMarker{Type: kind}, ProducerID: id, ProducerEpoch: epoch, TransactionVersion: version}
}

// mustEnd ends a transaction at startTime and fails the test if the marker is refused.
func mustEnd(t *testing.T, l *Log, kind record.ControlType, id kafka.ProducerID, epoch kafka.ProducerEpoch, version int16) Appended {
	t.Helper()
	a, err := l.AppendEndTxnMarker(marker(kind, id, epoch, version), 0, startTime)
	if err != nil {
		t.Fatalf("%v of producer %d: %v", kind, id, err)
	}
	return a
}

// indexOf gives the content of the .txnindex of the segment with this base offset.
func indexOf(l *Log, base kafka.Offset) []byte {
	f, exists := l.disk.Open("orders-0/" + SegmentFileName(base, TransactionIndexSuffix))
	if !exists {
		return nil
	}
	return l.disk.Bytes(f)
}

// §1.4, V3 and V4: the markers of producer 1000, epoch 3, coordinator epoch 4, at offset 103 and T+10 in leader epoch 7.
func TestEndTxnMarkerVectors(t *testing.T) {
	for kind, want := range map[record.ControlType][]byte{
		record.Commit: unhex("0000000000000067000000420000000702a9da8aae0030000000000000018bcfe5680a0000018bcfe5680a00000000000003e80003ffffffff000000012000000008000000010c00000000000400"),
		record.Abort:  unhex("00000000000000670000004200000007025de45ce60030000000000000018bcfe5680a0000018bcfe5680a00000000000003e80003ffffffff000000012000000008000000000c00000000000400"),
	} {
		l := newLog(nil)
		l.TruncateFullyAndStartAt(100)
		mustAppend(t, l, v2, 7, startTime)
		m := TransactionMarker{record.EndTxnMarker{Type: kind, CoordinatorEpoch: 4}, 1000, 3, 2}
		a, err := l.AppendEndTxnMarker(m, 7, startTime+10)
		if got := l.Segments()[0].Bytes[104:]; err != nil || a.BaseOffset != 103 || a.Bytes != 78 || !bytes.Equal(got, want) {
			t.Errorf("%v: %+v, %v\n got %x\nwant %x", kind, a, err, got, want)
		}
		done := CompletedTransaction{ProducerID: 1000, FirstOffset: 100, LastOffset: 103, Aborted: kind == record.Abort}
		if a.Completed == nil || *a.Completed != done {
			t.Errorf("%v completed %+v, want %+v", kind, a.Completed, done)
		}
	}
}

// twoTransactions is the run of §5.4 up to where the next one begins.
func twoTransactions(t *testing.T) *Log {
	t.Helper()
	l := newLog(nil)
	mustAppend(t, l, transactional(1, 0, 0, entry{startTime, "a", "1"}, entry{startTime, "b", "1"}), 0, startTime)
	mustAppend(t, l, oneRecord(startTime), 0, startTime)
	mustAppend(t, l, transactional(2, 0, 0, entry{startTime, "c", "1"}), 0, startTime)
	return l
}

// §5.4, the run that was made with Kafka's own code, transactions of version 2.
func TestLastStableOffsetRun(t *testing.T) {
	l := twoTransactions(t)
	stable := func(highWatermark, want kafka.Offset) {
		t.Helper()
		l.OnHighWatermarkUpdated(highWatermark)
		if got := l.LastStableOffset(highWatermark); got != want {
			t.Errorf("high watermark %d: last stable offset %d, want %d", highWatermark, got, want)
		}
	}
	stable(4, 0)
	if a := mustEnd(t, l, record.Abort, 1, 1, 2); a.BaseOffset != 4 {
		t.Errorf("the first marker is at %d, want 4", a.BaseOffset)
	}
	stable(4, 0)
	stable(5, 3)
	mustAppend(t, l, transactional(2, 0, 1, entry{startTime, "d", "1"}), 0, startTime)
	if a := mustEnd(t, l, record.Commit, 2, 1, 2); a.BaseOffset != 6 {
		t.Errorf("the second marker is at %d, want 6", a.BaseOffset)
	}
	stable(6, 3)
	stable(7, 7)
	aborted := []AbortedTransaction{{ProducerID: 1, FirstOffset: 0, LastOffset: 4, LastStableOffset: 3}}
	if got, err := ParseTransactionIndex(indexOf(l, 0)); err != nil || !slices.Equal(got, aborted) {
		t.Errorf(".txnindex %v, %v; want %v", got, err, aborted)
	}
	for from, want := range map[kafka.Offset]struct {
		batches string
		aborted []AbortedTransaction
	}{
		0: {"batches [0-1] [2-2] [3-3] [4-4] [5-5] [6-6]", aborted},
		5: {"batches [5-5] [6-6]", nil},
	} {
		read, err := l.Read(from, 1<<20, l.LastStableOffset(7), true)
		if err != nil {
			t.Fatal(err)
		}
		list, err := l.AbortedTransactions(from, read)
		if got := batchesText(read.Bytes); err != nil || got != want.batches || !slices.Equal(list, want.aborted) {
			t.Errorf("read_committed from %d: %s, aborted %v, %v; want %s, %v", from, got, list, err, want.batches, want.aborted)
		}
	}
}

// §5.3: which markers a leader takes.
func TestMarkerEpochs(t *testing.T) {
	older := marker(record.Abort, 1, 1, 2)
	older.CoordinatorEpoch = 3
	for name, tc := range map[string]struct {
		before []TransactionMarker // those that the log takes before
		marker TransactionMarker
		want   *kerr.Error
	}{
		"version 2, next epoch":                   {nil, marker(record.Commit, 1, 6, 2), nil},
		"version 2, a later epoch":                {nil, marker(record.Commit, 1, 9, 2), nil},
		"version 2, same epoch, open":             {nil, marker(record.Commit, 1, 5, 2), kerr.InvalidProducerEpoch},
		"version 2, same epoch, again":            {[]TransactionMarker{marker(record.Commit, 1, 6, 2)}, marker(record.Commit, 1, 6, 2), nil},
		"version 2, older epoch":                  {nil, marker(record.Commit, 1, 4, 2), kerr.InvalidProducerEpoch},
		"version 1, same epoch":                   {nil, marker(record.Commit, 1, 5, 1), nil},
		"version 1, same epoch, again":            {[]TransactionMarker{marker(record.Abort, 1, 5, 1)}, marker(record.Abort, 1, 5, 1), nil},
		"version 0, older epoch":                  {nil, marker(record.Commit, 1, 4, 0), kerr.InvalidProducerEpoch},
		"a producer without data here":            {nil, marker(record.Abort, 2, 0, 2), nil},
		"an older coordinator":                    {[]TransactionMarker{{record.EndTxnMarker{Type: record.Commit, CoordinatorEpoch: 4}, 1, 6, 2}}, TransactionMarker{record.EndTxnMarker{Type: record.Commit, CoordinatorEpoch: 3}, 1, 7, 2}, kerr.TransactionCoordinatorFenced},
		"neither commit nor abort":                {nil, marker(record.LeaderChange, 1, 6, 2), kerr.UnknownServerError},
		"a negative epoch":                        {nil, marker(record.Commit, 2, -1, 2), kerr.UnknownServerError},
		"the same coordinator, the next producer": {[]TransactionMarker{older}, older, kerr.InvalidProducerEpoch},
	} {
		l := newLog(nil)
		mustAppend(t, l, transactional(1, 5, 0, entry{startTime, "a", "1"}), 0, startTime)
		var err error
		for _, m := range append(tc.before, tc.marker) {
			before := l.LogEndOffset()
			if _, err = l.AppendEndTxnMarker(m, 0, startTime); err == nil && l.LogEndOffset() != before+1 || err != nil && l.LogEndOffset() != before {
				t.Errorf("%s: %v, the log end offset went from %d to %d", name, err, before, l.LogEndOffset())
			}
		}
		if want := tc.want; want == nil && err != nil || want != nil && codeOf(err) != want.Code {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
}

// A marker that comes twice is appended twice, and one without data too; neither moves the last stable offset nor
// gets an entry in .txnindex. After a marker of a new epoch sequences begin with 0.
func TestMarkersThatEndNothing(t *testing.T) {
	l := newLog(nil)
	mustAppend(t, l, transactional(1, 0, 0, entry{startTime, "a", "1"}), 0, startTime)
	mustEnd(t, l, record.Abort, 1, 1, 2)
	for range 2 {
		if a := mustEnd(t, l, record.Abort, 1, 1, 2); a.Completed != nil {
			t.Errorf("the marker again completed %+v", a.Completed)
		}
	}
	mustEnd(t, l, record.Abort, 2, 0, 2)
	if got := len(indexOf(l, 0)); got != abortedTransactionSize || l.LogEndOffset() != 5 || l.LastStableOffset(2) != 2 {
		t.Errorf(".txnindex has %d bytes, log end offset %d, last stable offset %d; want 34, 5, 2", got, l.LogEndOffset(), l.LastStableOffset(2))
	}
	if _, err := l.Append(transactional(1, 1, 1, entry{startTime, "a", "2"}), 0, startTime); codeOf(err) != kerr.OutOfOrderSequenceNumber.Code {
		t.Errorf("sequence 1 after the marker: %v", err)
	}
	mustAppend(t, l, transactional(1, 1, 0, entry{startTime, "a", "2"}), 0, startTime)
	if got := l.LastStableOffset(6); got != 5 {
		t.Errorf("last stable offset %d, want 5", got)
	}
}

// A marker under LogAppendTime is one of that timestamp type.
func TestMarkerUnderLogAppendTime(t *testing.T) {
	l := newLog(func(c *Config) { c.MessageTimestampType = record.LogAppendTime })
	mustEnd(t, l, record.Commit, 1, 0, 2)
	b, err := record.Parse(l.Segments()[0].Bytes)
	if err != nil || b.CheckCRC() != nil || b.Attributes.TimestampType() != record.LogAppendTime || b.MaxTimestamp != startTime || !b.Attributes.Control() {
		t.Errorf("%+v, %v", b, err)
	}
}

// abortedAndOpen is a log of three segments: 0 to 5 as the run of §5.4 begins, with 1 aborted at 4; in the second,
// from 6, producer 2 aborts at 6, and producer 1 has one open from 8 that ends in the third.
func abortedAndOpen(t *testing.T) *Log {
	t.Helper()
	l := twoTransactions(t)
	mustEnd(t, l, record.Abort, 1, 1, 2)
	mustAppend(t, l, transactional(2, 0, 1, entry{startTime, "d", "1"}), 0, startTime)
	l.roll(6, startTime)
	mustEnd(t, l, record.Abort, 2, 1, 2)
	mustAppend(t, l, oneRecord(startTime), 0, startTime)
	mustAppend(t, l, transactional(1, 1, 0, entry{startTime, "e", "1"}), 0, startTime)
	l.roll(9, startTime)
	mustAppend(t, l, transactional(2, 1, 0, entry{startTime, "f", "1"}), 0, startTime)
	mustEnd(t, l, record.Commit, 2, 2, 2)
	mustEnd(t, l, record.Abort, 1, 2, 2)
	return l
}

// Each segment's .txnindex holds the transactions that were aborted in it. A follower that takes the batches one by
// one writes the same; one that is opened after an unclean stop too; Clean reads them (TestCleanTransactions).
func TestTransactionIndexes(t *testing.T) {
	l := abortedAndOpen(t)
	want := map[kafka.Offset][]AbortedTransaction{
		0: {{1, 0, 4, 3}},
		6: {{2, 3, 6, 7}},
		9: {{1, 8, 11, 12}},
	}
	check := func(who string, l *Log) {
		t.Helper()
		for base, entries := range want {
			if got, err := ParseTransactionIndex(indexOf(l, base)); err != nil || !slices.Equal(got, entries) {
				t.Errorf("%s, segment %d: %v, %v; want %v", who, base, got, err, entries)
			}
		}
	}
	check("leader", l)

	follower := newLog(nil)
	for _, s := range l.Segments() {
		if s.BaseOffset > 0 {
			follower.roll(s.BaseOffset, startTime)
		}
		for b := s.Bytes; len(b) > 0; {
			batch, err := record.Parse(b)
			if err != nil {
				t.Fatal(err)
			}
			answers, err := follower.AppendAsFollower(batch.Bytes(), startTime)
			if err != nil || (answers[0].Completed != nil) != batch.Attributes.Control() {
				t.Fatalf("%+v, %v", answers, err)
			}
			b = b[batch.Size():]
		}
	}
	check("follower", follower)
	if diff := cmp.Diff(contents(l.disk), contents(follower.disk)); diff != "" {
		t.Errorf("files (-leader +follower):\n%s", diff)
	}

	for _, point := range []kafka.Offset{0, 6, 9} {
		disk := l.disk.Clone()
		cut(disk, "orders-0/"+SegmentFileName(9, TransactionIndexSuffix), 0)
		opened, _ := Open(disk, "orders-0", l.config, startTime, false, point)
		check("recovered", opened)
		if got := opened.LastStableOffset(12); got != 12 {
			t.Errorf("recovered: last stable offset %d, want 12", got)
		}
	}
	l.disk.Sync(l.active.log)
	l.Close()
	l.disk.LoseUnsynced()
	opened, _ := Open(l.disk, "orders-0", l.config, startTime, true, 0)
	check("closed", opened)
}

// A follower that takes several batches at once asks only after the last of them which transactions are open, as
// Kafka's does: of those that begin in between it knows already.
func TestFollowerCompletesAfterTheLastBatch(t *testing.T) {
	leader := newLog(nil)
	mustAppend(t, leader, transactional(1, 0, 0, entry{startTime, "a", "1"}), 0, startTime)
	mustEnd(t, leader, record.Abort, 1, 1, 2)
	mustAppend(t, leader, oneRecord(startTime), 0, startTime)
	mustAppend(t, leader, transactional(2, 0, 0, entry{startTime, "b", "1"}), 0, startTime)
	mustEnd(t, leader, record.Commit, 2, 1, 2)
	follower := newLog(nil)
	replicate(t, leader, follower, 1<<20, startTime)
	for who, tc := range map[string]struct {
		log  *Log
		want kafka.Offset
	}{"leader": {leader, 2}, "follower": {follower, 3}} {
		got, err := ParseTransactionIndex(indexOf(tc.log, 0))
		if want := (AbortedTransaction{1, 0, 1, tc.want}); err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%s: %v, %v; want %v", who, got, err, want)
		}
		name, log, files := filesOf(tc.log, 0)
		if found := compared(name, log, files); len(found) > 0 {
			t.Errorf("%s: held against its log, there is %v", who, found)
		}
	}
	if got := follower.LastStableOffset(1); got != 0 {
		t.Errorf("the follower's last stable offset is %d, want 0", got)
	}
}

// Truncation takes the entries whose marker goes, and their transactions are open again.
func TestTruncationOpensTransactions(t *testing.T) {
	for _, tc := range []struct {
		to      kafka.Offset
		stable  kafka.Offset // with all that is left replicated
		entries map[kafka.Offset]int
	}{
		{11, 8, map[kafka.Offset]int{0: 1, 6: 1, 9: 0}},
		{10, 8, map[kafka.Offset]int{0: 1, 6: 1, 9: 0}},
		{8, 8, map[kafka.Offset]int{0: 1, 6: 1}},
		{6, 3, map[kafka.Offset]int{0: 1, 6: 0}},
		{4, 0, map[kafka.Offset]int{0: 0}},
		{0, 0, map[kafka.Offset]int{0: 0}},
	} {
		l := abortedAndOpen(t)
		if _, err := l.TruncateTo(tc.to); err != nil {
			t.Fatal(err)
		}
		if got := l.LastStableOffset(tc.to); got != tc.stable {
			t.Errorf("cut at %d: last stable offset %d, want %d", tc.to, got, tc.stable)
		}
		for _, base := range []kafka.Offset{0, 6, 9} {
			if got := len(indexOf(l, base)); got != tc.entries[base]*abortedTransactionSize {
				t.Errorf("cut at %d: the .txnindex of segment %d has %d bytes, want %d entries", tc.to, base, got, tc.entries[base])
			}
		}
	}
}

// The list for a reader goes on into later segments, as the marker may stand there.
func TestAbortedTransactionsAcrossSegments(t *testing.T) {
	l := abortedAndOpen(t)
	for from, want := range map[kafka.Offset][]AbortedTransaction{
		0:  {{1, 0, 4, 3}, {2, 3, 6, 7}},
		5:  {{2, 3, 6, 7}},
		7:  {{1, 8, 11, 12}},
		9:  {{1, 8, 11, 12}},
		12: nil,
	} {
		read, err := l.Read(from, 1<<20, 12, true)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := l.AbortedTransactions(from, read); err != nil || !slices.Equal(got, want) {
			t.Errorf("from %d: %v, %v; want %v", from, got, err, want)
		}
	}
}

// A clone goes its own way.
func TestClonesHaveTransactionsOfTheirOwn(t *testing.T) {
	l := twoTransactions(t)
	mustEnd(t, l, record.Abort, 1, 1, 2)
	clone := l.Clone(l.disk.Clone())
	mustEnd(t, clone, record.Abort, 2, 1, 2)
	clone.OnHighWatermarkUpdated(6)
	mustEnd(t, l, record.Commit, 2, 1, 2)
	if got := len(indexOf(l, 0)); got != abortedTransactionSize || l.LastStableOffset(4) != 0 || clone.LastStableOffset(6) != 6 {
		t.Errorf(".txnindex has %d bytes, last stable offsets %d and %d; want 34, 0 and 6", got, l.LastStableOffset(4), clone.LastStableOffset(6))
	}
}
