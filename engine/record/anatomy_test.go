package record

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/kafka"

	"github.com/cockroachdb/datadriven"
)

// TestAnatomyTranscript prints the anatomy of the vectors. Commands:
//
//	anatomy            the fields of the batch given in hex
//	records            the fields of its records, decompressed
//
// A line is offset, width, name, value, meaning; the record's index stands before its fields.
func TestAnatomyTranscript(t *testing.T) {
	datadriven.RunTest(t, "testdata/anatomy.txt", func(t *testing.T, d *datadriven.TestData) string {
		raw := unhex(t, d.Input)
		var (
			fields []Field
			err    error
		)
		switch d.Cmd {
		case "anatomy":
			fields, err = Anatomy(raw)
			if err == nil {
				checkCoverage(t, d.Pos, fields, raw)
			}
		case "records":
			fields, err = RecordsAnatomy(raw)
		default:
			t.Fatalf("%s: unknown command %q", d.Pos, d.Cmd)
		}
		var out strings.Builder
		for _, f := range fields {
			where := "  "
			if f.Record >= 0 {
				where = fmt.Sprintf("%d ", f.Record)
			}
			fmt.Fprintf(&out, "%s%3d %2d %-20s %-14s %s\n", where, f.Offset, f.Width, f.Name, f.Value, f.Meaning)
		}
		if err != nil {
			fmt.Fprintf(&out, "error: %v\n", err)
		}
		return out.String()
	})
}

func TestAnatomyOfHugeBatchIsBounded(t *testing.T) {
	b := NewBuilder(Options{})
	for range 50_000 {
		b.Append(T, nil, nil)
	}
	raw, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	fields, err := Anatomy(raw)
	if err != nil {
		t.Fatal(err)
	}
	checkCoverage(t, "50,000 records", fields, raw)
	last := fields[len(fields)-1]
	if len(fields) > maxAnatomyFields+100 || last.Name != "records" || last.Record != -1 || !strings.HasSuffix(last.Meaning, "to 49,999, not taken apart") {
		t.Errorf("%d fields, the last is %+v", len(fields), last)
	}

	b.Reset()
	b.Append(T, nil, nil, make([]Header, 50_000)...)
	b.Append(T, nil, nil)
	if raw, err = b.Build(); err != nil {
		t.Fatal(err)
	}
	if fields, err = Anatomy(raw); err != nil {
		t.Fatal(err)
	}
	checkCoverage(t, "50,000 headers", fields, raw)
	if len(fields) > 1000 || fields[len(fields)-1].Record != 1 {
		t.Errorf("%d fields, the last is %+v", len(fields), fields[len(fields)-1])
	}
}

func TestAnatomyOfBadRecords(t *testing.T) {
	tests := []struct {
		name  string
		raw   []byte
		fault string // of the last field
	}{
		{"count -1", withRecords(t, -1, "0c000000010100"), "unreadable"},
		{"second record cut", withRecords(t, 2, "0c000000010100 0c0000"), "unreadable"},
		{"trailing bytes", withRecords(t, 1, "0c000000010100 00"), "unreadable"},
		{"one record too few", withRecords(t, 2, "0c000000010100"), "headerCount"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			fields, err := Anatomy(test.raw)
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("error is %v, want %v", err, ErrCorrupt)
			}
			checkCoverage(t, test.name, fields, test.raw)
			if last := fields[len(fields)-1].Name; last != test.fault {
				t.Errorf("the last field is %s, want %s", last, test.fault)
			}
		})
	}
}

func TestAnatomyOfNoBatch(t *testing.T) {
	for _, test := range []struct {
		raw  []byte
		want error
	}{{nil, ErrEnd}, {unhex(t, v1)[:69], ErrTorn}, {make([]byte, 61), ErrCorrupt}} {
		if fields, err := Anatomy(test.raw); !errors.Is(err, test.want) || fields != nil {
			t.Errorf("Anatomy of %d bytes: %v, %v, want %v", len(test.raw), fields, err, test.want)
		}
		if fields, err := RecordsAnatomy(test.raw); !errors.Is(err, test.want) || fields != nil {
			t.Errorf("RecordsAnatomy of %d bytes: %v, %v, want %v", len(test.raw), fields, err, test.want)
		}
	}
}

func TestPrintable(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", `""`}, {"user-1", `"user-1"`}, {`say "hi"`, `"say \"hi\""`}, {"Zürich", `"Zürich"`}, {"a\nb", "610a62"}, {"\xff", "ff"}, {"\x1b[2J", "1b5b324a"},
		{strings.Repeat("a", 64), `"` + strings.Repeat("a", 64) + `"`},
		{strings.Repeat("a", 65), `"` + strings.Repeat("a", 64) + `"…`},
		{strings.Repeat("a", 63) + "ü!", `"` + strings.Repeat("a", 63) + `"…`},
		{strings.Repeat("\x00", 65), strings.Repeat("00", 64) + "…"},
	}
	for _, test := range tests {
		if got := Printable([]byte(test.in)); got != test.want {
			t.Errorf("Printable(%q) = %s, want %s", test.in, got, test.want)
		}
	}
	if got := Printable(nil); got != "null" {
		t.Errorf("Printable(nil) = %s, want null", got)
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -999: "-999", 1700000000005: "1,700,000,000,005",
		-1 << 63: "-9,223,372,036,854,775,808"} {
		if got := kafka.Thousands(n); got != want {
			t.Errorf("kafka.Thousands(%d) = %s, want %s", n, got, want)
		}
	}
}

// AnatomyBetween gives the fields of the header and those of Anatomy for the records that reach into the range.
func TestAnatomyBetween(t *testing.T) {
	for _, codec := range []Codec{None, Zstd} {
		b := NewBuilder(Options{Codec: codec})
		for i := range 20 {
			b.Append(T, []byte{byte(i)}, make([]byte, i))
		}
		raw, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		of := func(all []Field, err error) []Field {
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		for _, test := range []struct {
			name         string
			all, between func(from, to int) []Field
		}{
			{"batch", func(int, int) []Field { return of(Anatomy(raw)) }, func(from, to int) []Field { return of(AnatomyBetween(raw, from, to)) }},
			{"records", func(int, int) []Field { return of(RecordsAnatomy(raw)) }, func(from, to int) []Field { return of(RecordsAnatomyBetween(raw, from, to)) }},
		} {
			all := test.all(0, 0)
			end := all[len(all)-1].Offset + all[len(all)-1].Width
			for from := 0; from < end; from += 13 {
				to := from + 40
				inside := map[int]bool{-1: true} // records that reach into from..to, and the header
				for _, f := range all {
					if f.Offset < to && f.Offset+f.Width > from {
						inside[f.Record] = true
					}
				}
				var want []Field
				for _, f := range all {
					if inside[f.Record] {
						want = append(want, f)
					}
				}
				if diff := cmp.Diff(want, test.between(from, to)); diff != "" {
					t.Fatalf("%v %s, bytes %d to %d (-want +got):\n%s", codec, test.name, from, to, diff)
				}
			}
		}
	}
}
