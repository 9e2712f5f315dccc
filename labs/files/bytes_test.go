package files

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"loglab/engine/record"
	"loglab/engine/storage"
	"loglab/labs/inspect"
	"loglab/labs/view"
)

// testWays write what is shown as text.
var testWays = Ways{
	To: func(s Shown) string { return fmt.Sprintf("%+v", s) },
	Ask: func(s Shown, param string) (string, []view.Param) {
		return "/here", []view.Param{{Name: "all but " + param, Value: fmt.Sprintf("%+v", s)}}
	},
}

// read is a file as the windows from its start to its end show it.
type read struct {
	bytes   []byte
	covered []bool
	fields  []view.ByteField // each once
	windows int
}

// readAll goes from window to window and checks that they join, that every byte belongs to a field, and that each is
// small.
func readAll(t *testing.T, d Directory, name string, inside bool, batch int) read {
	t.Helper()
	var all read
	shown := NoTarget
	shown.View, shown.File, shown.Inside, shown.Batch = Bytes, name, inside, batch
	for {
		var in view.Inspector
		if !d.ShowBytes(&in, shown, testWays) {
			t.Fatalf("%s is not there", name)
		}
		if len(in.Anatomies) == 0 {
			return all
		}
		all.windows++
		a := in.Anatomies[0]
		seen := map[int]bool{}
		for _, line := range a.Lines {
			if at := fmt.Sprintf("%04x", len(all.bytes)); line.At != at || len(all.bytes)%16 != 0 {
				t.Fatalf("%s: a line begins at %s, want %s", name, line.At, at)
			}
			for _, p := range line.Parts {
				raw := unhex(t, p.Text)
				if p.Field < 0 || p.Field >= len(a.Fields) || p.First == seen[p.Field] {
					t.Fatalf("%s: the bytes %s at %d lead to field %d, first %v", name, p.Text, len(all.bytes), p.Field, p.First)
				}
				seen[p.Field] = true
				for _, b := range raw {
					all.bytes, all.covered = append(all.bytes, b), append(all.covered, p.Covered)
				}
			}
		}
		if len(seen) != len(a.Fields) || len(a.Fields) > 80 || len(a.Lines) > 16 {
			t.Fatalf("%s: %d fields of which %d have bytes, %d lines", name, len(a.Fields), len(seen), len(a.Lines))
		}
		for _, f := range a.Fields {
			if n := len(all.fields); n == 0 || all.fields[n-1] != f { // one that two windows share
				all.fields = append(all.fields, f)
			}
		}
		next := shown
		for _, l := range in.Links {
			if l.ID == "bytes-after" {
				next.Byte = len(all.bytes)
				if l.Inactive {
					return all
				}
				if l.Href != testWays.To(next) {
					t.Fatalf("%s: after %d bytes the next window is %s", name, len(all.bytes), l.Href)
				}
			}
		}
		shown = next
	}
}

// field gives the n-th field of a name.
func (r read) field(t *testing.T, name string, n int) view.ByteField {
	t.Helper()
	for _, f := range r.fields {
		if f.Name == name {
			if n == 0 {
				return f
			}
			n--
		}
	}
	t.Fatalf("there is no field %s %d", name, n)
	return view.ByteField{}
}

// expect wants a field's place, value and a part of its meaning.
func (r read) expect(t *testing.T, name string, n int, at, value, meaning string) {
	t.Helper()
	if f := r.field(t, name, n); f.At != at || f.Value != value || !strings.Contains(f.Meaning, meaning) {
		t.Errorf("%s %d is %+v, want at %s, %s, %q", name, n, f, at, value, meaning)
	}
}

// Of every batch that Kafka's code wrote each byte is shown once, in a field, and the CRC covers what it says.
func TestBytesOfEveryVector(t *testing.T) {
	for name, text := range vectors {
		raw := unhex(t, text)
		b, err := record.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		file := logName(b.BaseOffset)
		all := readAll(t, Directory{Name: "orders-0", Files: []File{{file, raw}}}, file, false, 0)
		if string(all.bytes) != string(raw) {
			t.Errorf("%s: shown is %x", name, all.bytes)
		}
		for i, covered := range all.covered {
			if covered != (i >= 21) {
				t.Errorf("%s: byte %d is covered by the CRC: %v", name, i, covered)
			}
		}
		all.expect(t, "crc", 0, "17–20", hex.EncodeToString(raw[17:21]), fmt.Sprintf("of bytes 21 to %d of the file, the underlined ones: right", len(raw)-1))
	}
}

// A file of V2b and V3: positions count in the file, and a window may begin anywhere.
func TestBytesOfTwoBatches(t *testing.T) {
	file := logName(100)
	raw := vector(t, "V2b", "V3")
	d := Directory{Name: "orders-0", Files: []File{{file, raw}}}
	all := readAll(t, d, file, false, 0)
	if string(all.bytes) != string(raw) {
		t.Fatalf("shown is %x", all.bytes)
	}
	all.expect(t, "baseOffset", 0, "0–7", "100", "offset deltas count from 100")
	all.expect(t, "producerId", 0, "43–50", "1000", "")
	all.expect(t, "timestampDelta", 1, "77", "5", "1,700,000,000,005 = base + 5 ms")
	all.expect(t, "timestampDelta", 2, "99", "-3", "1,699,999,999,997 = base - 3 ms")
	all.expect(t, "headerKey", 0, "89–90", `"h1"`, "text")
	all.expect(t, "baseOffset", 1, "104–111", "103", "")
	all.expect(t, "crc", 1, "121–124", "a9da8aae", "of bytes 125 to 181 of the file, the underlined ones: right")
	all.expect(t, "value", 1, "175–180", "000000000004", "the transaction coordinator's epoch is 4")
	if got, want := all.field(t, "timestampDelta", 2).Steps, "05 → 0·0000101 → 5 → odd: −(5 + 1) / 2 = −3"; got != want {
		t.Errorf("the steps of −3 are %q, want %q", got, want)
	}
	for i, covered := range all.covered {
		if want := i >= 21 && i < 104 || i >= 125; covered != want {
			t.Errorf("byte %d is covered by a CRC: %v", i, covered)
		}
	}
	var in view.Inspector
	shown := NoTarget
	shown.View, shown.File, shown.Byte = Bytes, file, 121
	d.ShowBytes(&in, shown, testWays)
	if a := in.Anatomies[0]; a.Lines[0].At != "0070" || a.Fields[0].Name != "batchLength" || a.Fields[0].At != "112–115" {
		t.Errorf("the window from byte 121 on begins at %s with %+v", a.Lines[0].At, a.Fields[0])
	}
}

// The index files are those that Kafka's code wrote for base offset 100.
func TestBytesOfIndexes(t *testing.T) {
	const stem = "00000000000000000100"
	d := Directory{Name: "orders-0", Files: []File{
		{stem + ".index", unhex(t, "00000002 00000000 00000032 00001068")},
		{stem + ".snapshot", unhex(t, "0001 e085b298 00000001 00000000000003e8 0002 00000007 0000000000000066 00000002 0000018bcfe56805 00000004 0000000000000064")},
		{stem + ".timeindex", append(unhex(t, "0000018bcfe5680500000002 0000018bcfe56b8400000033"), make([]byte, 1200)...)},
		{stem + ".txnindex.deleted", unhex(t, "0000 00000000000003e8 0000000000000064 0000000000000067 0000000000000068")},
		{"leader-epoch-checkpoint", []byte("0\n4\n0 0\n2 2\n5 5\n6 6\n")},
		{"partition.metadata", []byte("version: 0\ntopic_id: x\n")},
	}}
	shown := map[string]read{}
	for _, f := range d.Files {
		all := readAll(t, d, f.Name, false, 0)
		if string(all.bytes) != string(f.Bytes) {
			t.Errorf("%s: shown is %x", f.Name, all.bytes)
		}
		shown[f.Name] = all
	}
	index := shown[stem+".index"]
	index.expect(t, "entry 0 relativeOffset", 0, "0–3", "2", "offset 102 = base offset 100 + 2")
	index.expect(t, "entry 1 relativeOffset", 0, "8–11", "50", "offset 150 = base offset 100 + 50")
	index.expect(t, "entry 1 position", 0, "12–15", "4200", "byte 4,200 of the .log")
	if f := index.field(t, "entry 1 position", 0); f.Link != nil {
		t.Errorf("without a .log an entry leads to %+v", f.Link)
	}
	times := shown[stem+".timeindex"]
	times.expect(t, "entry 0 timestamp", 0, "0–7", "1700000000005", "2023-11-14 22:13:20.005 UTC")
	times.expect(t, "entry 1 relativeOffset", 0, "20–23", "51", "offset 151 = base offset 100 + 51")
	times.expect(t, "preallocated", 0, "24–1223", "1,200 zero bytes", "no entries")
	snapshot := shown[stem+".snapshot"]
	snapshot.expect(t, "crc", 0, "2–5", "e085b298", "bytes 6 to 55: right")
	snapshot.expect(t, "entry 0 lastSequence", 0, "20–23", "7", "")
	snapshot.expect(t, "entry 0 currentTxnFirstOffset", 0, "48–55", "100", "where its open transaction begins")
	for i, covered := range snapshot.covered {
		if covered != (i >= 6) {
			t.Errorf("byte %d of the snapshot is covered: %v", i, covered)
		}
	}
	shown[stem+".txnindex.deleted"].expect(t, "entry 0 lastStableOffset", 0, "26–33", "104", "after the abort")
	epochs := shown["leader-epoch-checkpoint"]
	epochs.expect(t, "entries", 0, "2–3", `"4"`, "")
	epochs.expect(t, "entry 1 epoch", 0, "8–9", `"2"`, "")
	epochs.expect(t, "entry 3 startOffset", 0, "18–19", `"6"`, "")
	shown["partition.metadata"].expect(t, "content", 0, "0–22", "23 bytes", "not a file whose fields are known")
}

// An entry of the index leads to the bytes of its batch.
func TestAnEntryLeadsToItsBatch(t *testing.T) {
	d := tenBatches(t)
	f := readAll(t, d, d.Files[0].Name, false, 0).field(t, "entry 2 position", 0)
	want := NoTarget
	want.View, want.File, want.Byte = Bytes, d.Files[1].Name, 630
	if f.Link == nil || f.Link.Href != testWays.To(want) {
		t.Errorf("it leads to %+v, want %s", f.Link, testWays.To(want))
	}
}

// The records of a compressed batch are one field of the file, and have bytes and fields of their own.
func TestBytesOfACompressedBatch(t *testing.T) {
	for _, codec := range []record.Codec{record.Gzip, record.Snappy, record.LZ4, record.Zstd} {
		b := record.NewBuilder(record.Options{Codec: codec})
		for range 40 {
			b.Append(t0, []byte("key"), []byte("value value value"))
		}
		raw, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		file := logName(0)
		d := Directory{Name: "orders-0", Files: []File{{file, append(vector(t, "V1"), raw...)}}}
		record.Stamp(d.Files[0].Bytes[70:], 1, 0)
		outside := readAll(t, d, file, false, 0)
		if string(outside.bytes) != string(d.Files[0].Bytes) {
			t.Errorf("%v: shown is %x", codec, outside.bytes)
		}
		outside.expect(t, "records", 0, fmt.Sprintf("131–%d", 69+len(raw)), fmt.Sprintf("%d bytes", len(raw)-61), "once decompressed with "+codec.String())
		inside := readAll(t, d, file, true, 70)
		if len(inside.bytes) != 40*27 { // length, attributes, two deltas, 1 + 3, 1 + 17, 0 headers: 26 bytes and the length
			t.Errorf("%v: %d bytes inside, want %d", codec, len(inside.bytes), 40*27)
		}
		inside.expect(t, "value", 39, fmt.Sprintf("%d–%d", 39*27+9, 39*27+25), `"value value value"`, "text")
	}
}

// A file that breaks off is shown to the end, and so is what cannot be read.
func TestBytesOfBrokenFiles(t *testing.T) {
	sound := vector(t, "V2b")
	for name, test := range map[string]struct {
		tail         []byte
		field, value string
		meaning      string
	}{
		"torn in the header":  {vector(t, "V3")[:30], "unreadable", "3 bytes", "the file ends inside this field"},
		"torn in the records": {vector(t, "V3")[:70], "unreadable", "9 bytes", "torn batch: the batch has 78 bytes, only 70 are there"},
		"not a batch":         {[]byte(strings.Repeat("not a log ", 40)), "unreadable", "339 bytes", "magic is 108"},
		"wrong crc":           {flip(vector(t, "V3", "V3"), 70), "not read", "78 bytes", "byte 121: corrupt batch: crc is a9da8aae"},
	} {
		file := logName(100)
		d := Directory{Name: "orders-0", Files: []File{{file, append(sound[:len(sound):len(sound)], test.tail...)}}}
		all := readAll(t, d, file, false, 0)
		if string(all.bytes) != string(d.Files[0].Bytes) {
			t.Errorf("%s: shown is %x", name, all.bytes)
		}
		if f := all.field(t, test.field, 0); f.Value != test.value || !strings.Contains(f.Meaning, test.meaning) {
			t.Errorf("%s: %+v, want %s, %s", name, f, test.value, test.meaning)
		}
	}
}

// flip gives the bytes with one changed.
func flip(raw []byte, at int) []byte {
	raw[at] ^= 0x40
	return raw
}

// In a batch of very many records every window names its fields, the last too.
func TestBytesFarInAHugeBatch(t *testing.T) {
	b := record.NewBuilder(record.Options{})
	for range 50_000 {
		b.Append(t0, nil, nil)
	}
	raw, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	file := storage.SegmentFileName(0, storage.LogSuffix)
	var in view.Inspector
	shown := NoTarget
	shown.View, shown.File, shown.Byte = Bytes, file, len(raw)-100
	Directory{Name: "orders-0", Files: []File{{file, raw}}}.ShowBytes(&in, shown, testWays)
	a := in.Anatomies[0]
	if len(a.Fields) < 50 || len(a.Fields) > 80 || a.Fields[10].Name == "records" || len(a.Lines) == 0 || len(a.Lines) > inspect.WindowBytes/16 {
		t.Errorf("%d fields, the eleventh is %+v", len(a.Fields), a.Fields[10])
	}
}
