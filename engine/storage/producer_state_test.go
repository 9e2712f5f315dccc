package storage

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/simdisk"
)

// sent is a batch of an idempotent producer with so many records, named by value.
func sent(id kafka.ProducerID, epoch kafka.ProducerEpoch, sequence kafka.Sequence, records int, value string) []byte {
	entries := slices.Repeat([]entry{{startTime, "k", value}}, records)
	return buildBatch(record.Options{Producer: &record.Producer{ID: id, Epoch: epoch, BaseSequence: sequence}}, entries...)
}

// §5.2, the run that was made with Kafka's own code.
func TestProducerRun(t *testing.T) {
	l := newLog(nil)
	for _, step := range []struct {
		epoch     kafka.ProducerEpoch
		sequence  kafka.Sequence
		records   int
		err       *kerr.Error
		offset    kafka.Offset
		duplicate bool
	}{
		{0, 5, 2, nil, 0, false}, // not known before: any sequence
		{0, 7, 1, nil, 2, false},
		{0, 8, 1, nil, 3, false},
		{0, 9, 1, nil, 4, false},
		{0, 10, 1, nil, 5, false},
		{0, 11, 1, nil, 6, false},
		{0, 12, 1, nil, 7, false},
		{0, 8, 1, nil, 3, true},
		{0, 7, 1, kerr.OutOfOrderSequenceNumber, 0, false}, // the sixth before the last
		{0, 12, 2, kerr.OutOfOrderSequenceNumber, 0, false},
		{0, 14, 1, kerr.OutOfOrderSequenceNumber, 0, false}, // a gap
		{1, 3, 1, kerr.OutOfOrderSequenceNumber, 0, false},
		{1, 0, 1, nil, 8, false},
		{0, 13, 1, kerr.InvalidProducerEpoch, 0, false},
	} {
		end := l.LogEndOffset()
		appended, err := l.Append(sent(7, step.epoch, step.sequence, step.records, "v"), 0, startTime)
		switch {
		case step.err != nil:
			if !errors.Is(err, step.err) || l.LogEndOffset() != end {
				t.Errorf("epoch %d, sequence %d: %v, want %s", step.epoch, step.sequence, err, step.err.Message)
			}
		case err != nil || appended.BaseOffset != step.offset || appended.Duplicate != step.duplicate:
			t.Errorf("epoch %d, sequence %d: offset %d, duplicate %v, %v; want %d, %v", step.epoch, step.sequence, appended.BaseOffset, appended.Duplicate, err, step.offset, step.duplicate)
		case step.duplicate != (l.LogEndOffset() == end):
			t.Errorf("epoch %d, sequence %d: log end offset %d → %d", step.epoch, step.sequence, end, l.LogEndOffset())
		}
	}
	for i, sequence := range []kafka.Sequence{2147483647, 0} { // another producer: the numbers wrap around
		if appended := mustAppend(t, l, sent(8, 0, sequence, 1, "v"), 0, startTime); appended.BaseOffset != kafka.Offset(9+i) {
			t.Errorf("sequence %d got offset %d", sequence, appended.BaseOffset)
		}
	}
	if ids := l.Producers(); len(ids) != 2 || ids[0].ProducerID != 7 || ids[1].ProducerID != 8 || ids[1].LastSequence() != 0 {
		t.Errorf("producers: %+v", ids)
	}
}

// The sentence of a refusal names the numbers; the answer to a duplicate is that of the first time.
func TestProducerAnswers(t *testing.T) {
	l := newLog(func(c *Config) { c.MessageTimestampType = record.LogAppendTime })
	first := mustAppend(t, l, sent(7, 3, 0, 2, "v"), 0, startTime+5)
	again, err := l.Append(sent(7, 3, 0, 2, "v"), 0, startTime+900)
	want := Appended{Duplicate: true, BaseOffset: 0, LastOffset: 1, LogAppendTime: startTime + 5, SegmentBase: kafka.NoOffset}
	if diff := cmp.Diff(want, again); err != nil || diff != "" || first.LogAppendTime != again.LogAppendTime {
		t.Errorf("duplicate: %v (-want +got):\n%s", err, diff)
	}
	for says, batch := range map[string][]byte{
		"INVALID_PRODUCER_EPOCH: producer id 7 has epoch 2, older than the last seen 3":                         sent(7, 2, 2, 1, "v"),
		"OUT_OF_ORDER_SEQUENCE_NUMBER: producer id 7 sent sequence 4, the last was 1 and 2 follows":             sent(7, 3, 4, 1, "v"),
		"OUT_OF_ORDER_SEQUENCE_NUMBER: producer id 7 begins epoch 4 with sequence 2, a new epoch begins with 0": sent(7, 4, 2, 1, "v"),
		"INVALID_TXN_STATE: producer id 9 has a transaction open since offset 2, the batch belongs to none":     sent(9, 0, 1, 1, "v"),
	} {
		if strings.HasPrefix(says, "INVALID_TXN") {
			mustAppend(t, l, buildBatch(record.Options{Transactional: true, Producer: &record.Producer{ID: 9}}, entry{startTime, "k", "v"}), 0, startTime)
		}
		if _, err := l.Append(batch, 0, startTime); err == nil || err.Error() != says {
			t.Errorf("%v, want %s", err, says)
		}
	}
}

// The producer is looked at after the roll.
func TestRefusedBatchMayHaveRolled(t *testing.T) {
	l := newLog(func(c *Config) { c.SegmentBytes = 100 })
	mustAppend(t, l, sent(7, 0, 0, 1, "v"), 0, startTime)
	appended, err := l.Append(sent(7, 0, 5, 1, "v"), 0, startTime)
	if !errors.Is(err, kerr.OutOfOrderSequenceNumber) || appended.Roll == nil || appended.Roll.Base != 1 || len(l.Segments()) != 2 {
		t.Errorf("%v, roll %v, %d segments", err, appended.Roll, len(l.Segments()))
	}
	if appended, err = l.Append(sent(7, 0, 0, 1, "v"), 0, startTime); err != nil || !appended.Duplicate || appended.Roll != nil {
		t.Errorf("%+v, %v", appended, err)
	}
	if appended = mustAppend(t, l, sent(7, 0, 1, 1, "v"), 0, startTime); appended.SegmentBase != 1 || appended.BaseOffset != 1 {
		t.Errorf("%+v", appended)
	}
}

// PART-10: A is refused by a broker that no longer leads, B and C arrive first.
func TestCasePART10(t *testing.T) {
	l := newLog(nil)
	before := mustAppend(t, l, sent(7, 0, 0, 1, "before"), 0, startTime)
	a, b, c := sent(7, 0, 1, 1, "A"), sent(7, 0, 2, 1, "B"), sent(7, 0, 3, 1, "C")
	for _, early := range [][]byte{b, c} {
		if _, err := l.Append(early, 0, startTime); codeOf(err) != 45 {
			t.Errorf("sent too early: %v, want 45", err)
		}
	}
	for i, batch := range [][]byte{a, b, c} {
		if appended := mustAppend(t, l, batch, 0, startTime); appended.BaseOffset != before.LastOffset+1+kafka.Offset(i) {
			t.Errorf("batch %d got offset %d", i, appended.BaseOffset)
		}
	}
	plain := newLog(nil)
	for i, value := range []string{"B", "C", "A"} {
		if appended := mustAppend(t, plain, buildBatch(record.Options{}, entry{startTime, "k", value}), 0, startTime); appended.BaseOffset != kafka.Offset(i) {
			t.Errorf("%s got offset %d", value, appended.BaseOffset)
		}
	}
}

// PART-11: the acknowledgement of m1 is lost and m1 is sent again.
func TestCasePART11(t *testing.T) {
	plain, idempotent, restarted := newLog(nil), newLog(nil), newLog(nil)
	for range 2 {
		mustAppend(t, plain, oneRecord(startTime), 0, startTime)
		if appended := mustAppend(t, idempotent, sent(7, 0, 0, 1, "m1"), 0, startTime); appended.BaseOffset != 0 {
			t.Errorf("idempotent: base offset %d, want 0", appended.BaseOffset)
		}
	}
	mustAppend(t, restarted, sent(7, 0, 0, 1, "m1"), 0, startTime)
	mustAppend(t, restarted, sent(8, 0, 0, 1, "m1"), 0, startTime) // a new producer id
	if plain.LogEndOffset() != 2 || idempotent.LogEndOffset() != 1 || restarted.LogEndOffset() != 2 {
		t.Errorf("log end offsets are %d, %d, %d; want 2, 1, 2", plain.LogEndOffset(), idempotent.LogEndOffset(), restarted.LogEndOffset())
	}
}

// PART-13: a producer whose state has expired goes on where it was.
func TestCasePART13(t *testing.T) {
	l := newLog(nil)
	mustAppend(t, l, sent(104, 0, 0, 7, "v"), 0, startTime)
	l.ExpireProducers(startTime + 86400000 - 1)
	if len(l.Producers()) != 1 {
		t.Error("expired a millisecond early")
	}
	clone := l.Clone(l.disk.Clone())
	l.ExpireProducers(startTime + 86400000)
	if len(l.Producers()) != 0 || len(clone.Producers()) != 1 {
		t.Errorf("producers: %v; the clone's: %v", l.Producers(), clone.Producers())
	}
	if appended := mustAppend(t, l, sent(104, 0, 7, 8, "v"), 0, startTime+86400000); appended.BaseOffset != 7 {
		t.Errorf("sequence 7 got offset %d", appended.BaseOffset)
	}
	if appended := mustAppend(t, l, sent(105, 0, 100, 1, "v"), 0, startTime); appended.BaseOffset != 15 {
		t.Errorf("an unknown producer's sequence 100 got offset %d", appended.BaseOffset)
	}
}

// A follower takes over what the leader knows, without a check; a marker ends the transaction.
func TestFollowerKnowsTheProducers(t *testing.T) {
	leader, follower := newLog(nil), newLog(nil)
	for sequence := range kafka.Sequence(7) {
		mustAppend(t, leader, sent(7, 0, sequence, 1, "v"), 0, startTime)
	}
	mustAppend(t, leader, buildBatch(record.Options{Transactional: true, Producer: &record.Producer{ID: 9}}, entry{startTime, "k", "v"}), 0, startTime)
	replicate(t, leader, follower, 300, startTime)
	if diff := cmp.Diff(leader.Producers(), follower.Producers()); diff != "" {
		t.Errorf("producers (-leader +follower):\n%s", diff)
	}
	marker, err := record.EndTxnMarker{Type: record.Commit, CoordinatorEpoch: 4}.Build(startTime+9, 9, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, batch := range [][]byte{stamped(marker, 8, 0), stamped(sent(7, 0, 50, 1, "v"), 9, 0)} {
		if _, err := follower.AppendAsFollower(batch, startTime); err != nil {
			t.Fatal(err)
		}
	}
	got := follower.Producers()
	want := ProducerState{ProducerID: 9, ProducerEpoch: 1, LastTimestamp: startTime + 9, CoordinatorEpoch: 4, TransactionFirstOffset: kafka.NoOffset}
	if diff := cmp.Diff(want, got[1]); diff != "" || got[0].LastSequence() != 50 {
		t.Errorf("last sequence %d, after the marker (-want +got):\n%s", got[0].LastSequence(), diff)
	}
}

// snapshots gives the names of the snapshot files, without directory and leading zeros.
func snapshots(disk *simdisk.Disk) (names []string) {
	for _, path := range disk.List("orders-0") {
		if name, is := strings.CutSuffix(path, ProducerSnapshotSuffix); is {
			names = append(names, strings.TrimLeft(strings.TrimPrefix(name, "orders-0/"), "0"))
		}
	}
	return names
}

// A snapshot is taken at each roll, also without producers. Truncation goes back to the newest one that is not
// above, and reads the log from there; of the batches before it only the last is known.
func TestProducerSnapshots(t *testing.T) {
	l := newLog(func(c *Config) { c.SegmentBytes = 280 })
	for sequence := range kafka.Sequence(12) {
		mustAppend(t, l, sent(7, 0, sequence, 1, "v"), 0, startTime)
	}
	if got := snapshots(l.disk); !slices.Equal(got, []string{"4", "8"}) {
		t.Fatalf("snapshots at %v, want 4 and 8", got)
	}
	file, _ := l.disk.Open("orders-0/" + SegmentFileName(8, ProducerSnapshotSuffix))
	entries, err := ParseProducerSnapshot(l.disk.Bytes(file))
	want := []ProducerSnapshotEntry{{ProducerID: 7, LastSequence: 7, LastOffset: 7, Timestamp: startTime, CoordinatorEpoch: -1, TransactionFirstOffset: kafka.NoOffset}}
	if diff := cmp.Diff(want, entries); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	clone := l.Clone(l.disk.Clone())
	if _, err := l.TruncateTo(10); err != nil {
		t.Fatal(err)
	}
	sequences := func(l *Log) (list []kafka.Sequence) {
		for _, b := range l.Producers()[0].Batches {
			list = append(list, b.BaseSequence)
		}
		return list
	}
	if got := sequences(l); !slices.Equal(got, []kafka.Sequence{7, 8, 9}) {
		t.Errorf("after the cut at 10: sequences %v, want 7 from the snapshot, 8 and 9 from the log", got)
	}
	if got := snapshots(l.disk); !slices.Equal(got, []string{"4", "8", "10"}) {
		t.Errorf("snapshots at %v, want 4, 8 and 10", got)
	}
	if got := sequences(clone); !slices.Equal(got, []kafka.Sequence{7, 8, 9, 10, 11}) {
		t.Errorf("the clone's sequences became %v", got)
	}
	if appended := mustAppend(t, l, sent(7, 0, 10, 1, "v"), 0, startTime); appended.BaseOffset != 10 {
		t.Errorf("sequence 10 got offset %d", appended.BaseOffset)
	}
	if _, err := l.TruncateTo(8); err != nil {
		t.Fatal(err)
	}
	if got := sequences(l); !slices.Equal(got, []kafka.Sequence{7}) || !slices.Equal(snapshots(l.disk), []string{"4", "8"}) {
		t.Errorf("after the cut at 8: sequences %v, snapshots %v", got, snapshots(l.disk))
	}
	damaged, _ := l.disk.Open("orders-0/" + SegmentFileName(4, ProducerSnapshotSuffix))
	l.disk.Truncate(damaged, 12)
	if _, err := l.TruncateTo(6); err != nil {
		t.Fatal(err)
	}
	if got := sequences(l); !slices.Equal(got, []kafka.Sequence{1, 2, 3, 4, 5}) || !slices.Equal(snapshots(l.disk), []string{"4", "6"}) {
		t.Errorf("after the cut at 6, the snapshot at 4 damaged: sequences %v, snapshots %v", got, snapshots(l.disk))
	}
	if !bytes.Equal(allBytes(l), allBytes(clone)[:l.Size()]) {
		t.Error("bytes differ")
	}
	l.TruncateFullyAndStartAt(50)
	if len(l.Producers()) != 0 || snapshots(l.disk) != nil {
		t.Errorf("after the full cut: producers %v, snapshots %v", l.Producers(), snapshots(l.disk))
	}
}
