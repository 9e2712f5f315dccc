package storage

import (
	"encoding/binary"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// What Kafka 4.2's own UnifiedLog answered where this package once answered otherwise.

func TestRefusalsAsKafkaGivesThem(t *testing.T) {
	future := oneRecord(startTime + 3600001)
	for name, tc := range map[string]struct {
		batch []byte
		want  *kerr.Error
	}{
		"magic 3":                        {edit(oneRecord(startTime), func(b []byte) { b[16] = 3 }), kerr.CorruptMessage},
		"magic 1":                        {edit(oneRecord(startTime), func(b []byte) { b[16] = 1 }), kerr.InvalidRecord},
		"codec 5":                        {edit(oneRecord(startTime), func(b []byte) { b[22] |= 5 }), kerr.UnknownServerError},
		"codec 7":                        {edit(oneRecord(startTime), func(b []byte) { b[22] |= 7 }), kerr.UnknownServerError},
		"a time in the future":           {future, kerr.InvalidTimestamp},
		"the same, and a count too high": {edit(future, func(b []byte) { b[26], b[60] = 1, 2 }), kerr.InvalidRecord},
	} {
		_, err := newLog(nil).Append(tc.batch, 0, startTime)
		if codeOf(err) != tc.want.Code {
			t.Errorf("%s: %v, want %s", name, err, tc.want.Message)
		}
	}
}

// When the leader writes the attributes anew, the bits that mean nothing are cleared.
func TestUnusedAttributesAreCleared(t *testing.T) {
	batch := edit(oneRecord(startTime), func(b []byte) { b[21], b[22] = 0xff, b[22]|0x80 })
	l := newLog(func(c *Config) { c.MessageTimestampType = record.LogAppendTime })
	mustAppend(t, l, batch, 0, startTime+1000)
	if got := binary.BigEndian.Uint16(l.Segments()[0].Bytes[21:]); got != 0x0008 {
		t.Errorf("attributes are %#04x, want 0x0008, LogAppendTime alone", got)
	}
	if b, err := record.Parse(l.Segments()[0].Bytes); err != nil || b.CheckCRC() != nil {
		t.Errorf("the batch is damaged: %v, %v", err, b.CheckCRC())
	}
}

// A segment whose records have no timestamp counts with the time at which its file was last written: a
// lookup looks into it, finds nothing there, and goes no further.
func TestLookupStopsAtASegmentWithoutTimestamps(t *testing.T) {
	l := newLog(func(c *Config) { c.SegmentMillis = 10 })
	mustAppend(t, l, oneRecord(kafka.NoTimestamp), 0, startTime+25)
	mustAppend(t, l, oneRecord(startTime+46), 0, startTime+46)
	if len(l.Segments()) != 2 {
		t.Fatalf("%d segments, want 2", len(l.Segments()))
	}
	found, err := l.OffsetForTimestamp(startTime - 18)
	if err != nil || found.Offset != kafka.NoOffset {
		t.Errorf("the first record from %d on is at %d, %v; want none", startTime-18, found.Offset, err)
	}
}

// The search for the end of what was read steps over the first index entry if the read ends where that points to: the
// list for a reader of committed records may then hold a transaction that begins right behind.
func TestAbortedTransactionsAsKafkaListsThem(t *testing.T) {
	l := newLog(func(c *Config) { c.IndexIntervalBytes = 0 })
	mustAppend(t, l, oneRecord(startTime), 0, startTime)
	mustAppend(t, l, transactional(1, 0, 0, entry{startTime, "a", "1"}), 0, startTime)
	mustAppend(t, l, transactional(2, 0, 0, entry{startTime, "a", "1"}), 0, startTime)
	mustEnd(t, l, record.Abort, 1, 1, 2)
	mustEnd(t, l, record.Abort, 2, 1, 2)
	for maxBytes, want := range map[int]int{70: 1, 140: 1, 210: 2} { // up to the index entries of offsets 1, 2 and 3
		read, err := l.Read(0, maxBytes, 5, true)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := l.AbortedTransactions(0, read); err != nil || len(got) != want {
			t.Errorf("%d bytes: %v, %v; want %d", len(read.Bytes), got, err, want)
		}
	}
}
