package storage

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/kafka"
)

// §2.3 and §2.4: ten batches of 70 bytes, index.interval.bytes 200: the index is 3@210 6@420 9@630. A
// lookup takes the greatest entry ≤ the offset and scans from there.
func TestFindByTheIndex(t *testing.T) {
	l := newLog(func(c *Config) { c.IndexIntervalBytes = 200 })
	for i := range kafka.Timestamp(10) {
		mustAppend(t, l, oneRecord(startTime+i), 0, startTime)
	}
	for _, test := range []struct {
		offset                  kafka.Offset
		entry, position, scaned int
	}{
		{0, -1, 0, 1}, {2, -1, 140, 3}, {3, 0, 210, 1}, {5, 0, 350, 3}, {6, 1, 420, 1}, {8, 1, 560, 3}, {9, 2, 630, 1},
	} {
		found, ok, err := Find(l.Segments(), test.offset)
		got := []int{found.Lookup.IndexEntryNumber, found.Lookup.Position, found.Lookup.BatchesScanned, len(found.Scanned)}
		if diff := cmp.Diff([]int{test.entry, test.position, test.scaned, test.scaned}, got); diff != "" || !ok || err != nil {
			t.Errorf("offset %d, %v, %v: entry, position, batches (-want +got):\n%s", test.offset, ok, err, diff)
		}
	}
	if _, ok, err := Find(l.Segments(), 10); ok || err != nil {
		t.Errorf("offset 10, the log end: found %v, %v", ok, err)
	}
}

// §2.4, vectors with base 100: (102@0),(150@4200): 101 → (100,0), 102 and 149 → (102,0), 999 → (150,4200).
func TestSearchSteps(t *testing.T) {
	index := unhex("00000002 00000000 00000032 00001068")
	for target, want := range map[kafka.Offset]string{
		101: "0..2 at 1: 150 above; 0..1 at 0: 102 above; → 100@0",
		102: "0..2 at 1: 150 above; 0..1 at 0: 102; → 102@0",
		149: "0..2 at 1: 150 above; 0..1 at 0: 102; → 102@0",
		999: "0..2 at 1: 150; → 150@4200",
	} {
		var steps []SearchStep
		entry, _ := lookupOffset(index, 100, target, &steps)
		var b strings.Builder
		for _, s := range steps {
			fmt.Fprintf(&b, "%d..%d at %d: %d%s; ", s.Low, s.High, s.Middle, s.Offset, map[bool]string{true: " above"}[s.Above])
		}
		fmt.Fprintf(&b, "→ %d@%d", entry.Offset, entry.Position)
		if got := b.String(); got != want {
			t.Errorf("target %d: %s, want %s", target, got, want)
		}
	}
}

// Find says of every offset what Read does.
func TestFindGoesTheWayOfRead(t *testing.T) {
	for seed := range uint64(30) {
		l := randomLog(t, rand.New(rand.NewPCG(seed, 3)))
		for offset := range l.LogEndOffset() + 1 {
			read, err := l.Read(offset, 1, l.LogEndOffset(), true)
			if err != nil {
				t.Fatal(err)
			}
			segments := l.Segments()
			found, ok, err := Find(segments, offset)
			if err != nil || ok != (read.SegmentBase != kafka.NoOffset) {
				t.Fatalf("seed %d, offset %d: found %v, %v; read in segment %d", seed, offset, ok, err, read.SegmentBase)
			}
			if !ok {
				continue
			}
			if segments[found.Segment].BaseOffset != read.SegmentBase || found.Lookup != read.Lookup {
				t.Fatalf("seed %d, offset %d: %+v in segment %d, read went %+v in %d", seed, offset, found.Lookup, segments[found.Segment].BaseOffset, read.Lookup, read.SegmentBase)
			}
			last := found.Scanned[len(found.Scanned)-1]
			if offset < last.BaseOffset || offset > last.LastOffset() || len(found.Scanned) != found.Lookup.BatchesScanned {
				t.Fatalf("seed %d, offset %d: %d batches, the last has %d to %d", seed, offset, len(found.Scanned), last.BaseOffset, last.LastOffset())
			}
		}
	}
}

// §2.3, index.interval.bytes 200: the time index is T+3@3 T+6@6 T+9@9. A time leads to the entry ≤ it, over its offset to
// a byte, and from there to the first record that is not older.
func TestFindATime(t *testing.T) {
	l := newLog(func(c *Config) { c.IndexIntervalBytes = 200 })
	for i := range kafka.Timestamp(10) {
		mustAppend(t, l, oneRecord(startTime+10*i), 0, startTime)
	}
	for _, test := range []struct {
		after                            kafka.Timestamp
		entry, position, scanned, offset int
	}{{0, -1, 0, 1, 0}, {15, -1, 0, 3, 2}, {30, 0, 210, 1, 3}, {59, 0, 210, 4, 6}, {85, 1, 420, 4, 9}, {91, -1, 0, 0, -1}} {
		found, err := FindTimestamp(l.Segments(), 0, startTime+test.after)
		got := []int{found.TimeEntryNumber, found.IndexEntry.Position, found.BatchesScanned, int(found.Offset)}
		if diff := cmp.Diff([]int{test.entry, test.position, test.scanned, test.offset}, got); diff != "" || err != nil {
			t.Errorf("T+%d, %v: entry, byte, batches, offset (-want +got):\n%s", test.after, err, diff)
		}
	}
}

// FindTimestamp says of every time what OffsetForTimestamp does.
func TestFindTimestampGoesTheWayOfTheLookup(t *testing.T) {
	for seed := range uint64(30) {
		l := randomLog(t, rand.New(rand.NewPCG(seed, 3)))
		var first, last kafka.Timestamp = startTime, startTime
		for _, s := range l.Segments() {
			last = max(last, s.LargestTimestamp)
		}
		for at := first - 2; at <= last+2; at += max((last-first)/200, 1) {
			want, err := l.OffsetForTimestamp(at)
			if err != nil {
				t.Fatal(err)
			}
			found, err := FindTimestamp(l.Segments(), l.LogStartOffset(), at)
			if err != nil || found.Offset != want.Offset || found.Segment >= 0 && found.TimestampLookup != want {
				t.Fatalf("seed %d, T%+d: %+v, %v, want %+v", seed, at-startTime, found.TimestampLookup, err, want)
			}
		}
	}
}
