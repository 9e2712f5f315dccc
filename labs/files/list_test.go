package files

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/labs/view"
)

// fact gives the value of the first fact of a name that holds some words, or "".
func fact(in view.Inspector, name, words string) string {
	for _, f := range in.Facts {
		if f.Name == name && strings.Contains(f.Value, words) {
			return f.Value
		}
	}
	return ""
}

// table gives a table's rows as text, cells joined by bars.
func table(t *testing.T, in view.Inspector, id string) (rows []string, more string) {
	t.Helper()
	for _, table := range in.Tables {
		if table.ID != id {
			continue
		}
		for _, row := range table.Rows {
			var cells []string
			for _, items := range row.Items {
				cells = append(cells, items[0].Text)
			}
			rows = append(rows, strings.Join(cells, "|"))
		}
		return rows, table.More
	}
	t.Fatalf("there is no table %s", id)
	return nil, ""
}

// listed is the batches view of a directory with one file.
func listed(t *testing.T, base kafka.Offset, raw []byte, more ...File) view.Inspector {
	t.Helper()
	var in view.Inspector
	shown := NoTarget
	shown.Segment = base
	d := Directory{Name: "orders-0", Files: append([]File{{logName(base), raw}}, more...)}
	if !d.ShowBatches(&in, shown, testWays) {
		t.Fatal("there is no segment")
	}
	return in
}

// V2b, its COMMIT marker V3 and V8, a batch with a delete horizon.
func TestBatchesAndRecords(t *testing.T) {
	in := listed(t, 100, vector(t, "V2b", "V3", "V8"))
	batches, more := table(t, in, "batches")
	want := []string{"0|100 to 102|104|3|transactional|7|", "104|103|78|1|control|7|", "182|200 to 202|72|1|data|7|"}
	if strings.Join(batches, "\n") != strings.Join(want, "\n") || more != "" {
		t.Errorf("batches:\n%s\n%s", strings.Join(batches, "\n"), more)
	}
	records, _ := table(t, in, "records")
	want = []string{
		`100|2023-11-14 22:13:20.000 UTC|"user-1"|"a"|none`,
		`101|2023-11-14 22:13:20.005 UTC|"user-1"|null|"h1" = "x", "h2" = null`,
		`102|2023-11-14 22:13:19.997 UTC|null|""|none`,
	}
	if strings.Join(records, "\n") != strings.Join(want, "\n") {
		t.Errorf("records:\n%s", strings.Join(records, "\n"))
	}
	if got := fact(in, "Read", ""); got != "3 batches with 5 records in 254 bytes" {
		t.Errorf("read are %s", got)
	}
	in = listed(t, 103, vector(t, "V3"))
	if records, _ = table(t, in, "records"); len(records) != 1 || !strings.Contains(records[0], "|COMMIT|") {
		t.Errorf("the marker is %q", records)
	}
	in = listed(t, 100, vector(t, "V5"))
	if records, more = table(t, in, "records"); len(records) != 0 || !strings.Contains(more, "the cleaner keeps the header") {
		t.Errorf("the emptied batch has %q, %q", records, more)
	}
}

// resealed gives a batch its CRC anew, as who forges one does.
func resealed(raw []byte) []byte {
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	return raw
}

// bomb is a small gzip batch that holds size bytes in one record.
func bomb(t *testing.T, size int) []byte {
	t.Helper()
	b := record.NewBuilder(record.Options{Codec: record.Gzip})
	b.Append(t0, nil, make([]byte, size))
	raw, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// What no broker writes ends the listing, with the byte and the reason; what lies before it is listed.
func TestFaultsEndTheListing(t *testing.T) {
	forged := resealed(func() []byte { raw := vector(t, "V1"); raw[60] = 2; return raw }())
	most := resealed(func() []byte { raw := vector(t, "V1"); copy(raw[57:], "\x7f\xff\xff\xff"); return raw }())
	back := vector(t, "V1")
	for name, test := range map[string]struct {
		raw    []byte
		fault  string
		behind int // batches before it
	}{
		"torn":             {vector(t, "V1", "V2b")[:120], "byte 70: torn batch: the batch has 104 bytes, only 50 are there", 1},
		"torn at the size": {vector(t, "V1", "V2b")[:75], "byte 70: torn batch: base offset and batchLength need 12 bytes, only 5 are there", 1},
		"wrong crc":        {flip(vector(t, "V1", "V2b"), 140), "byte 87: corrupt batch: crc is a7359323, the bytes from 21 on have", 1},
		"not a log":        {[]byte(strings.Repeat("x", 100)), "byte 16: corrupt batch: magic is 120, only 2 (record batch v2) is read", 0},
		"forged count":     {forged, "byte 70: corrupt batch: the records end after 1 of 2", 0},
		"largest count":    {most, "byte 70: corrupt batch: the records end after 1 of 2147483647", 0},
		"goes back":        {append(vector(t, "V2b"), back...), "byte 104: corrupt batch: baseOffset is 0, must be above 102", 1},
		"bomb":             {bomb(t, MaxBatch), "byte 61: corrupt batch: the records are more than 8,388,608 bytes once decompressed, as many are read of one batch", 0},
		"larger bomb":      {bomb(t, 40<<20), "it holds more than 33554432 bytes", 0},
	} {
		in := listed(t, 0, test.raw)
		if got := fact(in, "At fault", ""); !strings.Contains(got, test.fault) {
			t.Errorf("%s: at fault is %q, want %q", name, got, test.fault)
		}
		if got := fact(in, "Read", ""); !strings.HasPrefix(got, kafka.Count(test.behind, "batch")+" with") {
			t.Errorf("%s: read are %s, want %d batches", name, got, test.behind)
		}
	}
}

// The records of a file may be 64 MiB: the batch with which they would be more is not read.
func TestAFileIsDecompressedUpToABound(t *testing.T) {
	one := bomb(t, MaxBatch-100)
	var raw []byte
	for i := range 10 {
		record.Stamp(one, kafka.Offset(i), 0)
		raw = append(raw, one...)
	}
	in := listed(t, 0, raw)
	want := fmt.Sprintf("byte %s: corrupt batch: with this batch the records are more than 67,108,864 bytes", kafka.Thousands(8*len(one)+61))
	if got := fact(in, "At fault", ""); !strings.Contains(got, want) || !strings.HasPrefix(fact(in, "Read", ""), "8 batches") {
		t.Errorf("%s, %s; want %s", fact(in, "Read", ""), got, want)
	}
}

// Tables show twelve rows, and links lead to the others.
func TestWindowsOfBatchesAndRecords(t *testing.T) {
	var raw []byte
	for i := range 100 {
		b := record.NewBuilder(record.Options{})
		for j := range 30 {
			b.Append(t0+kafka.Timestamp(i), nil, fmt.Append(nil, j))
		}
		batch, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		record.Stamp(batch, kafka.Offset(30*i), 0)
		raw = append(raw, batch...)
	}
	d := Directory{Name: "orders-0", Files: []File{{logName(0), raw}}}
	size := len(raw) / 100
	shown := NoTarget
	shown.Batch, shown.Record = 50*size, 24
	var in view.Inspector
	d.ShowBatches(&in, shown, testWays)
	batches, more := table(t, in, "batches")
	if len(batches) != 12 || !strings.HasPrefix(batches[6], kafka.Thousands(50*size)+"|1500 to 1529|") || more != "100 batches; 45 to 56 are shown." {
		t.Errorf("%d batches, the seventh is %q; %s", len(batches), batches[6], more)
	}
	records, more := table(t, in, "records")
	if len(records) != 12 || !strings.HasPrefix(records[0], "1518|") || !strings.HasPrefix(records[11], "1529|") || more != "30 records; 19 to 30 are shown." {
		t.Errorf("%d records from %q to %q; %s", len(records), records[0], records[11], more)
	}
}
