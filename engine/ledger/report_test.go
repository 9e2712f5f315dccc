package ledger_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/kafka"
	"loglab/engine/ledger"
	"loglab/engine/record"
	"loglab/engine/simdisk"
	"loglab/engine/storage"
)

var orders0 = kafka.TopicPartition{Topic: "orders"}

// sent makes a record that p0 handed in at 1,000 + tick.
func sent(tick int, key, value string, fate ledger.Fate, offset kafka.Offset) ledger.Record {
	r := ledger.Record{
		Producer: "p0", Value: []byte(value), TopicPartition: orders0, Timestamp: kafka.Timestamp(1000 + tick), Tick: kafka.Tick(tick), Fate: fate, Offset: offset,
	}
	if key != "" {
		r.Key = []byte(key)
	}
	return r
}

// logOf writes records into a log, a batch each.
func logOf(tb testing.TB, highWatermark kafka.Offset, records ...ledger.Record) ledger.Log {
	tb.Helper()
	var disk simdisk.Disk
	log := storage.New(&disk, "orders-0", storage.DefaultConfig(), 1000)
	for _, r := range records {
		b := record.NewBuilder(record.Options{})
		b.Append(r.Timestamp, r.Key, r.Value)
		batch, err := b.Build()
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := log.Append(batch, 0, 2000); err != nil {
			tb.Fatal(err)
		}
	}
	return ledger.Log{TopicPartition: orders0, HighWatermark: highWatermark, Segments: log.Segments()}
}

// brief writes entries as "number: offset [offsets]".
func brief(list []ledger.Entry) []string {
	var lines []string
	for _, e := range list {
		lines = append(lines, fmt.Sprintf("%d: %d %v", e.Record, e.Offset, e.Offsets))
	}
	return lines
}

func TestAccount(t *testing.T) {
	const acked, waiting = ledger.Acknowledged, ledger.Waiting
	a, b, c := sent(1, "a", "one", acked, 0), sent(2, "b", "two", acked, 1), sent(3, "a", "three", acked, 2)
	for name, tc := range map[string]struct {
		records                     []ledger.Record
		log                         []ledger.Record
		highWatermark               kafka.Offset
		visible                     int
		lost, duplicated, reordered []string
	}{
		"all well":             {[]ledger.Record{a, b, c}, []ledger.Record{a, b, c}, 3, 3, nil, nil, nil},
		"not visible yet":      {[]ledger.Record{a, b, c}, []ledger.Record{a, b, c}, 1, 1, nil, nil, nil},
		"the last are lost":    {[]ledger.Record{a, b, c}, []ledger.Record{a}, 1, 1, []string{"1: 1 []", "2: 2 []"}, nil, nil},
		"another stands there": {[]ledger.Record{a, b}, []ledger.Record{a, c}, 2, 1, []string{"1: 1 []"}, nil, nil},
		"twice": {
			[]ledger.Record{a, sent(2, "b", "two", acked, 2)}, []ledger.Record{a, b, b}, 3, 2, nil, []string{"1: 2 [1 2]"}, nil,
		},
		"three times, not acknowledged": {
			[]ledger.Record{sent(1, "a", "one", ledger.Failed, -1)}, []ledger.Record{a, a, a}, 0, 0, nil, []string{"0: -1 [0 1 2]"}, nil,
		},
		"behind a later one of its key": {
			[]ledger.Record{sent(1, "a", "one", acked, 1), sent(3, "a", "three", acked, 0)}, []ledger.Record{c, a}, 2, 2, nil, nil, []string{"0: 1 [1]"},
		},
		"behind a later one of another key": {
			[]ledger.Record{sent(1, "a", "one", acked, 1), sent(2, "b", "two", acked, 0)}, []ledger.Record{b, a}, 2, 2, nil, nil, nil,
		},
		"without keys": {
			[]ledger.Record{sent(1, "", "one", acked, 1), sent(2, "", "two", acked, 0)},
			[]ledger.Record{sent(2, "", "two", acked, 0), sent(1, "", "one", acked, 1)}, 2, 2, nil, nil, []string{"0: 1 [1]"},
		},
		"equal in all but the time": {
			[]ledger.Record{a, sent(2, "a", "one", waiting, -1)}, []ledger.Record{a}, 1, 1, nil, nil, nil,
		},
		"equal ones, each once": {
			[]ledger.Record{sent(1, "a", "one", waiting, -1), sent(1, "a", "one", acked, 0)}, []ledger.Record{a, a}, 2, 2, nil, nil, []string{"0: -1 [1]"},
		},
		"equal ones, one too many": {
			[]ledger.Record{sent(1, "a", "one", acked, 0), sent(1, "a", "one", acked, 1)}, []ledger.Record{a, a, a}, 3, 2, nil, []string{"0: 0 [0 2]"}, nil,
		},
	} {
		r := ledger.Account(tc.records, []ledger.Log{logOf(t, tc.highWatermark, tc.log...)})
		if r.Visible != tc.visible || r.Sent != len(tc.records) {
			t.Errorf("%s: %d sent, %d visible; want %d and %d", name, r.Sent, r.Visible, len(tc.records), tc.visible)
		}
		for what, pair := range map[string][2][]string{
			"lost": {tc.lost, brief(r.Lost)}, "duplicated": {tc.duplicated, brief(r.Duplicated)}, "reordered": {tc.reordered, brief(r.Reordered)},
		} {
			if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", name, what, diff)
			}
		}
	}
}

// Without a leader nothing can be said of acknowledged records but that they cannot be reached.
func TestAccountWithoutALeader(t *testing.T) {
	r := ledger.Account([]ledger.Record{sent(1, "a", "one", ledger.Acknowledged, 0), sent(2, "a", "two", ledger.Waiting, -1)}, nil)
	if r.Unavailable != 1 || r.Lost != nil || r.Visible != 0 || r.Waiting != 1 {
		t.Errorf("%+v", r)
	}
}

// What retention, DeleteRecords or a cleaning has taken is not lost: below the log start offset, though the segment may
// still be there; in a compacted log where the key has a later record, or where it was a tombstone.
func TestRemovedIsNotLost(t *testing.T) {
	const acked = ledger.Acknowledged
	a, b, c := sent(1, "a", "one", acked, 0), sent(2, "b", "two", acked, 1), sent(3, "a", "three", acked, 2)
	tombstone := sent(4, "b", "", acked, 3)
	tombstone.Value = nil
	l := logOf(t, 3, a, b, c)
	l.LogStartOffset = 2
	if r := ledger.Account([]ledger.Record{a, b, c}, []ledger.Log{l}); r.Removed != 2 || r.Visible != 1 || r.Lost != nil {
		t.Errorf("below the log start offset: removed %d, visible %d, lost %v; want 2, 1, none", r.Removed, r.Visible, r.Lost)
	}
	for _, compact := range []bool{true, false} {
		l := logOf(t, 3) // only c is left, at its offset
		l = logOf(t, 3, c)
		l.Compact = compact
		c := sent(3, "a", "three", acked, 0)
		d, e := sent(1, "a", "one", acked, -1), sent(5, "d", "last of its key", acked, 4)
		d.Offset = 0
		c.Offset = 7 // it was acknowledged behind the others
		r := ledger.Account([]ledger.Record{d, b, c, tombstone, e}, []ledger.Log{l})
		if compact && (r.Removed != 3 || len(r.Lost) != 1 || r.Lost[0].Record != 4) {
			t.Errorf("compacted: removed %d, lost %v; want 3, and the last of key d", r.Removed, brief(r.Lost))
		}
		if !compact && (r.Removed != 0 || len(r.Lost) != 4) {
			t.Errorf("not compacted: removed %d, lost %v; want none and 4", r.Removed, brief(r.Lost))
		}
	}
}

func TestReportJSON(t *testing.T) {
	r := ledger.Account([]ledger.Record{sent(1, "", "one", ledger.Acknowledged, 0), sent(2, "k", "two", ledger.Dropped, -1)}, []ledger.Log{logOf(t, 0)})
	got, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"sent":2,"acknowledged":1,"failed":0,"dropped":1,"unpromised":0,"waiting":0,"visible":0,"unavailable":0,"removed":0,"processed":0,` +
		`"lost":1,"duplicated":0,"reordered":0,"lost_records":[{"record":0,"producer":"p0","key":null,"value":"one",` +
		`"topic_partition":{"topic":"orders","partition":0},"offset":0,"offsets":[],"tick":1}],"duplicated_records":[],"reordered_records":[]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A large log: 50,000 records of which all, or none, are known by their offset.
func BenchmarkAccount(b *testing.B) {
	for _, fate := range []ledger.Fate{ledger.Acknowledged, ledger.Unpromised} {
		var records []ledger.Record
		for i := range 50_000 {
			offset := kafka.Offset(i)
			if fate != ledger.Acknowledged {
				offset = kafka.NoOffset
			}
			records = append(records, sent(i/10, fmt.Sprintf("key-%d", i%50), fmt.Sprintf("event %d", i/50), fate, offset))
		}
		log := logOf(b, 50_000, records...)
		b.Run(map[ledger.Fate]string{ledger.Acknowledged: "acknowledged", ledger.Unpromised: "unpromised"}[fate], func(b *testing.B) {
			for b.Loop() {
				if r := ledger.Account(records, []ledger.Log{log}); r.Visible != 50_000 {
					b.Fatalf("%d of 50,000 are visible", r.Visible)
				}
			}
		})
	}
}
