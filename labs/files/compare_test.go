package files

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/kafka"
	"loglab/labs/view"
)

// held is the comparison of a directory's first segment.
func held(t *testing.T, d Directory, finding int) view.Inspector {
	t.Helper()
	var in view.Inspector
	shown := NoTarget
	shown.Finding = finding
	if !d.ShowComparison(&in, shown, testWays) {
		t.Fatal("there is no segment")
	}
	return in
}

// put gives a directory another content of a file, or that file.
func (d *Directory) put(suffix string, raw []byte) {
	name := "00000000000000000000" + suffix
	d.Files = slices.DeleteFunc(slices.Clone(d.Files), func(f File) bool { return f.Name == name })
	d.Files = append(d.Files, File{name, raw})
	slices.SortFunc(d.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
}

// Files that agree say so, and how many entries they have; zeros behind the entries are none.
func TestFilesThatAgree(t *testing.T) {
	d := tenBatches(t)
	for range 2 {
		in := held(t, d, 0)
		want := []view.Fact{{Name: ".log", Value: "agrees: 10 batches"}, {Name: ".index", Value: "agrees: 3 entries"}, {Name: ".timeindex", Value: "agrees: 3 entries"}}
		if diff := cmp.Diff(want, in.Facts); diff != "" || len(in.Tables) != 0 || len(in.Links) != 0 {
			t.Errorf("%s, %d tables, %d links", diff, len(in.Tables), len(in.Links))
		}
		d.put(".index", append(d.Files[0].Bytes, make([]byte, 8000)...))
		d.put(".timeindex", append(d.Files[2].Bytes, make([]byte, 12000)...))
	}
	expectFacts(t, held(t, Directory{Name: "orders-0", Files: d.Files[1:2]}, 0), view.Fact{Name: ".log", Value: "agrees: 10 batches"},
		view.Fact{Name: "Beside it", Value: "nothing: an .index or .timeindex of the same segment would be held against it"})
}

// Each way to spoil a file is one row, with the byte that was spoiled and the way there; lookups still find what is there.
func TestWhatIsSpoiledIsARow(t *testing.T) {
	be := binary.BigEndian

	for _, test := range []struct {
		name             string
		spoil            func(d *Directory, index, times []byte)
		row              string
		file, fact, lost string // the fact of a file, and what a lookup leaves out
	}{
		{"position off by one", func(d *Directory, index, times []byte) { index[15]++ },
			"8|.index|1|6|position 421|the first byte of a batch, as 420 of the one that ends with offset 6",
			".index", "1 disagreement; 2 of 3 entries agree", ".index from byte 8 on: a lookup uses only the 1 entry before it"},
		{"position of another batch", func(d *Directory, index, times []byte) { be.PutUint32(index[12:], 490) },
			"8|.index|1|6|offset 6|7, with which the batch at byte 490 ends",
			".index", "1 disagreement; 2 of 3 entries agree", ".index from byte 8 on: a lookup uses only the 1 entry before it"},
		{"position behind the log", func(d *Directory, index, times []byte) { be.PutUint32(index[20:], 700) },
			"16|.index|2|9|position 700|a batch in the 700 bytes of the log",
			".index", "1 disagreement; 2 of 3 entries agree", ".index from byte 16 on: a lookup uses only the 2 entries before it"},
		{"as older brokers wrote of batches appended at once", func(d *Directory, index, times []byte) { index[3] = 5 },
			"0|.index|0|5|offset 5|3, with which the batch at byte 210 ends", ".index", "1 disagreement; 2 of 3 entries agree", ""},
		{"entries exchanged", func(d *Directory, index, times []byte) {
			first := bytes.Clone(index[:8])
			copy(index, index[8:16])
			copy(index[8:], first)
		}, "8|.index|1|3|offset 3|above 6, as in entry 0", ".index", "1 disagreement; 2 of 3 entries agree", ".index from byte 8 on: a lookup uses only the 1 entry before it"},
		{"an entry cut", func(d *Directory, index, times []byte) { d.put(".index", index[:21]) },
			"16|.index|2|none|5 bytes behind the last whole entry|entries of 8 bytes",
			".index", "1 disagreement; 2 of 2 entries agree", ".index from byte 16 on: a lookup uses only the 2 entries before it"},
		{"half an entry alone", func(d *Directory, index, times []byte) { d.put(".index", index[:5]) },
			"0|.index|0|none|5 bytes behind the last whole entry|entries of 8 bytes",
			".index", "1 disagreement; it has no whole entry", ".index: a lookup uses none of its entries"},

		{"time of another batch", func(d *Directory, index, times []byte) { times[7]-- },
			"0|.timeindex|0|3|timestamp 1700000000002|1700000000003, the largest of the batch at byte 210",
			".timeindex", "1 disagreement; 2 of 3 entries agree", ".timeindex: a lookup uses none of its entries"},
		{"time too late", func(d *Directory, index, times []byte) { times[7] += 2 },
			"0|.timeindex|0|3|timestamp 1700000000005|1700000000003, the largest of the batch at byte 210",
			".timeindex", "1 disagreement; 2 of 3 entries agree", ""},
		{"time's offset behind the log", func(d *Directory, index, times []byte) { times[35] = 10 },
			"24|.timeindex|2|10|offset 10|at most 9, the last of the log",
			".timeindex", "1 disagreement; 2 of 3 entries agree", ".timeindex from byte 24 on: a lookup uses only the 2 entries before it"},

		{"aborted transaction of no transaction", func(d *Directory, index, times []byte) {
			d.put(".txnindex", unhex(t, "0000 00000000000003e8 0000000000000004 0000000000000006 0000000000000007"))
		}, "0|.txnindex|0|6|first offset 4 of producer 1000|the first offset of that producer's transaction: the batch there has offsets 4 to 4, which are of no transaction",
			".txnindex", "1 disagreement; 0 of 1 entry agree", ""},
		{"snapshot too short", func(d *Directory, index, times []byte) { d.put(".snapshot", make([]byte, 9)) },
			"0|.snapshot|none|none|9 bytes|a header of 10", ".snapshot", "1 disagreement; it has no whole entry", ""},
		{"next segment too early", func(d *Directory, index, times []byte) {
			d.Files = append(d.Files, File{"00000000000000000005.log", nil})
		}, "350|.log|none|5|last offset 5|below 5, where the next segment begins", ".log", "1 disagreement, 10 batches", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := tenBatches(t)
			test.spoil(&d, d.Files[0].Bytes, d.Files[2].Bytes)
			in := held(t, d, 0)
			rows, more := table(t, in, "findings")
			if diff := cmp.Diff([]string{test.row}, rows); diff != "" || more != "" {
				t.Errorf("%s%s", diff, more)
			}
			at, _, _ := strings.Cut(test.row, "|")
			shown := NoTarget
			shown.View, shown.File = Bytes, "00000000000000000000"+strings.Split(test.row, "|")[1]
			fmt.Sscan(at, &shown.Byte)
			if got := in.Tables[0].Rows[0].Items[0][0].Link; got == nil || got.Href != testWays.To(shown) {
				t.Errorf("byte %s leads to %+v, want %+v", at, got, shown)
			}
			expectFacts(t, in, view.Fact{Name: test.file, Value: test.fact}, view.Fact{Name: "Not used", Value: test.lost})
			expectFound(t, Directory{Name: d.Name, Files: slices.DeleteFunc(d.Files, func(f File) bool { return f.Bytes == nil })}, 10)
		})
	}
}

// expectFound wants each of the first n offsets and times of tenBatches found in its batch.
func expectFound(t *testing.T, d Directory, n int) {
	t.Helper()
	for i := range n {
		offset, moment := NoTarget, NoTarget
		offset.Offset, moment.Time = kafka.Offset(i), t0+kafka.Timestamp(i)
		var in view.Inspector
		d.ShowLookup(&in, offset, testWays)
		expectFacts(t, in, view.Fact{Name: "Answer", Value: fmt.Sprintf("the batch of offset %d at byte %d", i, 70*i)})
		in = view.Inspector{}
		d.ShowLookup(&in, moment, testWays)
		expectFacts(t, in, view.Fact{Name: "Answer", Value: fmt.Sprintf("offset %d, timestamp %d, in the batch at byte %d", i, t0+i, 70*i)})
	}
}

// A log that is broken is compared up to the break: what leads there or beyond is neither right nor wrong, and not used.
func TestABrokenLogIsComparedUpToTheBreak(t *testing.T) {
	d := tenBatches(t)
	flip(d.Files[1].Bytes, 350+65)
	in := held(t, d, 0)
	if got := fact(in, ".log", ""); !strings.HasPrefix(got, "agrees: 5 batches before the fault at byte 367: corrupt batch: crc is ") || !strings.HasSuffix(got, ". What leads there or beyond is not compared.") {
		t.Errorf("the log %s", got)
	}
	expectFacts(t, in, view.Fact{Name: ".index", Value: "agrees as far as it is compared: 1 of 3 entries, 2 not compared"},
		view.Fact{Name: ".timeindex", Value: "agrees as far as it is compared: 1 of 3 entries, 2 not compared"},
		view.Fact{Name: "Not used", Value: ".index from byte 8 on: a lookup uses only the 1 entry before it"})
	if len(in.Tables) != 0 || len(in.Links) != 1 || in.Links[0].ID != "fault" {
		t.Errorf("%d tables, links %+v", len(in.Tables), in.Links)
	}
	d.Files[0].Bytes[3]--
	in = held(t, d, 0)
	expectFacts(t, in, view.Fact{Name: ".index", Value: "1 disagreement; 0 of 3 entries agree, 2 not compared"})
	if rows, _ := table(t, in, "findings"); len(rows) != 1 || rows[0] != "0|.index|0|2|offset 2|3, with which the batch at byte 210 ends" {
		t.Errorf("found is %q", rows)
	}
	expectFound(t, d, 5)
}

// Twelve rows are shown, links lead to the others that are listed, and the rest is counted.
func TestWindowsOfDisagreements(t *testing.T) {
	d := tenBatches(t)
	d.put(".index", bytes.Repeat([]byte{0, 0, 0, 9, 0, 0, 0, 1}, 5000))
	seen := map[string]bool{}
	for at := 0; ; at += 12 {
		in := held(t, d, at)
		rows, more := table(t, in, "findings")
		from := min(at, 1000-12)
		if want := fmt.Sprintf("1,000 disagreements; %s to %s are shown. 4,000 more: of one file the first thousand are listed.", kafka.Thousands(from+1), kafka.Thousands(from+12)); more != want || len(rows) != 12 {
			t.Fatalf("%d rows, %q, want %q", len(rows), more, want)
		}
		for _, row := range rows {
			seen[row] = true
		}
		next := in.Links[len(in.Links)-2]
		if next.ID != "findings-after" || next.Inactive != (from == 1000-12) {
			t.Fatalf("from %d on: %+v", from, next)
		}
		if next.Inactive {
			break
		}
	}
	if len(seen) != 1000 {
		t.Errorf("%d rows in all, want 1000", len(seen))
	}
	expectFacts(t, held(t, d, 1<<62), view.Fact{Name: ".index", Value: "5,000 disagreements; 0 of 5,000 entries agree"})
}
