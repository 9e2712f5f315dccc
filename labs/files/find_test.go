package files

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/simdisk"
	"loglab/engine/storage"
	"loglab/labs/view"
)

// tenBatches are ten batches of 70 bytes with offset i and timestamp t0 + i, and the indexes that Kafka's code writes for
// them when index.interval.bytes is 200.
func tenBatches(t *testing.T) Directory {
	t.Helper()
	var log []byte
	for i := range 10 {
		b := record.NewBuilder(record.Options{})
		b.Append(t0+kafka.Timestamp(i), []byte("k"), []byte("v"))
		raw, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		record.Stamp(raw, kafka.Offset(i), 0)
		log = append(log, raw...)
	}
	const stem = "00000000000000000000"
	return Directory{Name: "orders-0", Files: []File{
		{stem + ".index", unhex(t, "00000003 000000d2 00000006 000001a4 00000009 00000276")}, // 3@210 6@420 9@630
		{stem + ".log", log},
		{stem + ".timeindex", unhex(t, "0000018bcfe56803 00000003 0000018bcfe56806 00000006 0000018bcfe56809 00000009")}, // T+3@3 T+6@6 T+9@9
	}}
}

// expectFacts wants facts of these names and values.
func expectFacts(t *testing.T, in view.Inspector, want ...view.Fact) {
	t.Helper()
	for _, w := range want {
		if got := fact(in, w.Name, ""); got != w.Value {
			t.Errorf("%s is %q, want %q", w.Name, got, w.Value)
		}
	}
}

func TestFindAnOffset(t *testing.T) {
	shown := NoTarget
	shown.View, shown.Offset = Lookup, 5
	var in view.Inspector
	if !tenBatches(t).ShowLookup(&in, shown, testWays) {
		t.Fatal("there is no segment")
	}
	expectFacts(t, in,
		view.Fact{Name: "1. Segment", Value: "00000000000000000000.log: base offset 0 is the greatest ≤ 5 of 1 segment"},
		view.Fact{Name: "2. Index", Value: "entry 0, offset 3, is the greatest ≤ 5 of 3 entries: the scan begins at byte 210, found in 2 steps"},
		view.Fact{Name: "3. Scan", Value: "3 batches looked at, 140 bytes passed over, up to the first whose last offset is ≥ 5"},
		view.Fact{Name: "Answer", Value: "the batch of offset 5 at byte 350"},
		view.Fact{Name: "Bytes read", Value: "199 bytes: 2 entries of the offset index × 8, 3 headers × 61 = 183"},
		view.Fact{Name: "Without index", Value: "from the start of the segment: 6 batches, 350 bytes passed over, 6 headers × 61 = 366"})
	search, _ := table(t, in, "search")
	scan, _ := table(t, in, "scan")
	if diff := cmp.Diff([]string{"0 to 2|entry 1|6|> 5: go on before it", "0|entry 0|3|≤ 5: go on after it"}, search); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"210|3|70|3 < 5: the next", "280|4|70|4 < 5: the next", "350|5|70|5 ≥ 5: here"}, scan); diff != "" {
		t.Error(diff)
	}
}

func TestFindATime(t *testing.T) {
	shown := NoTarget
	shown.View, shown.Time = Lookup, t0+5
	var in view.Inspector
	tenBatches(t).ShowLookup(&in, shown, testWays)
	expectFacts(t, in,
		view.Fact{Name: "Time", Value: "2023-11-14 22:13:20.005 UTC"},
		view.Fact{Name: "2. Time index", Value: "entry 0, timestamp 1700000000003, is the greatest ≤ 1700000000005 of 3 entries: it leads to offset 3, found in 2 steps"},
		view.Fact{Name: "3. Offset index", Value: "entry 0, offset 3, is the greatest ≤ 3 of 3 entries: the scan begins at byte 210, found in 2 steps"},
		view.Fact{Name: "Answer", Value: "offset 5, timestamp 1700000000005, in the batch at byte 350"},
		view.Fact{Name: "Bytes read", Value: "232 bytes: 2 entries of the time index × 12, 2 entries of the offset index × 8, 3 headers × 61 = 183, 9 bytes of records"},
		view.Fact{Name: "Without index", Value: "from the start of the segment: 6 headers × 61 = 366"})
	shown.Time = t0 + 10
	in = view.Inspector{}
	tenBatches(t).ShowLookup(&in, shown, testWays)
	expectFacts(t, in, view.Fact{Name: "Answer", Value: "offset −1: no segment has a timestamp ≥ 1700000000010"})
}

// Of the offset index of §2.2, base 100, a read of 101 takes none, 102 and 149 the first entry, 999 the last.
func TestNotThere(t *testing.T) {
	for offset, want := range map[kafka.Offset]string{
		99:  "OFFSET_OUT_OF_RANGE: offset 99 < log start offset 100",
		104: "no bytes: the last offset that can be read is 103",
	} {
		shown := NoTarget
		shown.View, shown.Offset = Lookup, offset
		var in view.Inspector
		Directory{Name: "orders-0", Files: []File{{logName(100), vector(t, "V2b", "V3")}}}.ShowLookup(&in, shown, testWays)
		expectFacts(t, in, view.Fact{Name: "Answer", Value: want})
	}
	var in view.Inspector
	shown := NoTarget
	if (Directory{Name: "orders-0", Files: []File{{"leader-epoch-checkpoint", nil}}}).ShowLookup(&in, shown, testWays) || (Directory{}).ShowBatches(&in, shown, testWays) || (Directory{}).ShowBytes(&in, shown, testWays) {
		t.Error("something is shown of a directory without a segment")
	}
}

// On random logs the answer to every time is that of the log itself, and every offset is found where a read begins.
func TestLookupsAgreeWithTheLog(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		var disk simdisk.Disk
		config := storage.DefaultConfig()
		config.SegmentBytes, config.IndexIntervalBytes = 1000, 150
		log := storage.New(&disk, "orders-0", config, 0)
		for range 60 {
			b := record.NewBuilder(record.Options{})
			for range 1 + random.IntN(4) {
				b.Append(t0+kafka.Timestamp(random.IntN(500)), nil, make([]byte, random.IntN(60)))
			}
			raw, err := b.Build()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := log.Append(raw, 0, t0); err != nil {
				t.Fatal(err)
			}
		}
		d := Directory{Name: "orders-0"}
		for _, path := range disk.List("orders-0") {
			f, _ := disk.Open(path)
			d.Files = append(d.Files, File{strings.TrimPrefix(path, "orders-0/"), disk.Bytes(f)})
		}
		slices.SortFunc(d.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
		for target := kafka.Timestamp(t0 - 1); target < t0+502; target += 7 {
			want, err := log.OffsetForTimestamp(target)
			if err != nil {
				t.Fatal(err)
			}
			answer := "offset −1"
			if want.Offset >= 0 {
				answer = fmt.Sprintf("offset %d, timestamp %d, in the batch at byte %s", want.Offset, want.Timestamp, kafka.Thousands(want.Position))
			}
			shown := NoTarget
			shown.Time = target
			var in view.Inspector
			d.ShowLookup(&in, shown, testWays)
			if fact(in, "Answer", answer) == "" || want.Offset >= 0 && fact(in, "4. Scan", kafka.Count(want.BatchesScanned, "batch")+" looked at") == "" {
				t.Fatalf("seed %d, time %d: the log answers %+v, shown is %v", seed, target, want, in.Facts)
			}
		}
		for offset := range log.LogEndOffset() {
			read, err := log.Read(offset, 1, log.LogEndOffset(), true)
			if err != nil {
				t.Fatal(err)
			}
			b, err := record.Parse(read.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			shown := NoTarget
			shown.Offset = offset
			var in view.Inspector
			d.ShowLookup(&in, shown, testWays)
			word := "offset"
			if b.LastOffset() > b.BaseOffset {
				word = "offsets"
			}
			if fact(in, "Answer", fmt.Sprintf("the batch of %s %d", word, b.BaseOffset)) == "" {
				t.Fatalf("seed %d, offset %d: the log reads from %d on, shown is %v", seed, offset, b.BaseOffset, in.Facts)
			}
		}
	}
}

// The same directory is the same zip, byte for byte, and holds the files.
func TestZip(t *testing.T) {
	d := tenBatches(t)
	var first, second bytes.Buffer
	if err := d.Zip(&first); err != nil {
		t.Fatal(err)
	}
	if err := tenBatches(t).Zip(&second); err != nil {
		t.Fatal(err)
	}
	if sha256.Sum256(first.Bytes()) != sha256.Sum256(second.Bytes()) {
		t.Error("two zips of one directory differ")
	}
	z, err := zip.NewReader(bytes.NewReader(first.Bytes()), int64(first.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if len(z.File) != len(d.Files) {
		t.Fatalf("%d files in the zip, want %d", len(z.File), len(d.Files))
	}
	for i, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(r)
		if err != nil || f.Name != "orders-0/"+d.Files[i].Name || !bytes.Equal(raw, d.Files[i].Bytes) || f.Modified.Year() != 1980 {
			t.Errorf("%s of %v: %v, %d bytes", f.Name, f.Modified, err, len(raw))
		}
	}
}

// Whatever the files hold, every view answers, and every byte is shown.
func FuzzDirectory(f *testing.F) {
	f.Add(vector(f, "V2b", "V3"), unhex(f, "00000003 00000068"), unhex(f, "0000018bcfe56805 00000002"), int64(101), 3)
	f.Add(vector(f, "V5", "V8")[:100], []byte{}, []byte{}, int64(0), 0)
	f.Add([]byte("not a log"), make([]byte, 64), make([]byte, 64), int64(1<<62), -1)
	f.Fuzz(func(t *testing.T, log, index, times []byte, target int64, at int) {
		const stem = "00000000000000000100"
		d := Directory{Name: "orders-0", Files: []File{{stem + ".index", index}, {stem + ".log", log}, {stem + ".snapshot", index}, {stem + ".timeindex", times}, {stem + ".txnindex", times}, {"leader-epoch-checkpoint", log}}}
		for _, file := range d.Files {
			if all := readAll(t, d, file.Name, false, 0); !bytes.Equal(all.bytes, file.Bytes) {
				t.Errorf("%s: shown is %x", file.Name, all.bytes)
			}
			var in view.Inspector
			d.ShowBytes(&in, Shown{File: file.Name, Byte: at}, testWays)
			d.ShowBytes(&in, Shown{File: file.Name, Byte: at, Inside: true, Batch: at}, testWays)
		}
		var in view.Inspector
		d.ShowBatches(&in, Shown{Segment: 100, Batch: at, Record: at}, testWays)
		d.ShowLookup(&in, Shown{Offset: kafka.Offset(target), Time: kafka.NoTimestamp}, testWays)
		d.ShowLookup(&in, Shown{Offset: kafka.NoOffset, Time: kafka.Timestamp(target)}, testWays)
		in = view.Inspector{}
		if d.ShowComparison(&in, Shown{Segment: 100, Finding: at}, testWays); len(in.Tables) > 1 || len(in.Tables) == 1 && len(in.Tables[0].Rows) > 12 {
			t.Errorf("%d tables, more than 12 rows", len(in.Tables))
		}
	})
}
