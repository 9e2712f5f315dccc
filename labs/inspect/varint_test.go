package inspect

import (
	"encoding/hex"
	"strings"
	"testing"

	"loglab/engine/record"
	"loglab/labs/view"
)

// The bytes and values are those of Kafka's ByteUtils.
func TestVarintSteps(t *testing.T) {
	for _, test := range []struct{ raw, value, steps string }{
		{"00", "0", "00 → 0·0000000 → 0 → even: 0 / 2 = 0"},
		{"01", "−1", "01 → 0·0000001 → 1 → odd: −(1 + 1) / 2 = −1"},
		{"7f", "−64", ""},
		{"8001", "64", "80 01 → 1·0000000 0·0000001 → 0000001·0000000 = 128 → even: 128 / 2 = 64"},
		{"8101", "−65", ""},
		{"d804", "300", "d8 04 → 1·1011000 0·0000100 → 0000100·1011000 = 600 → even: 600 / 2 = 300"},
		{"d704", "−300", ""},
		{"fe7f", "8191", ""},
		{"808001", "8192", ""},
		{"80a0abfef962", "1700000000000", ""},
		{"feffffff0f", "2147483647", ""},
		{"ffffffff0f", "−2147483648", ""},
		{"ffffffffffffffffff01", "−9223372036854775808", ""},
	} {
		raw, err := hex.DecodeString(test.raw)
		if err != nil {
			t.Fatal(err)
		}
		got := VarintSteps(raw)
		if !strings.HasSuffix(got, " = "+test.value) || test.steps != "" && got != test.steps {
			t.Errorf("%s: %q, want it to end in %s (%s)", test.raw, got, test.value, test.steps)
		}
	}
	for _, raw := range [][]byte{nil, {0x80}, {1, 1}, {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1}} {
		if got := VarintSteps(raw); got != "" {
			t.Errorf("% x is no varint and has the steps %q", raw, got)
		}
	}
}

// The bytes of V2 in the order of its batch: what the CRC covers begins with the attributes, and the numbers of its
// records are varints.
func TestABatchShowsCRCAndVarints(t *testing.T) {
	raw, err := hex.DecodeString("00000000000000000000005cffffffff02a735932300100000000200" +
		"00018bcfe568000000018bcfe5680500000000000003e8000200000005000000031a0000000c757365722d31026100" +
		"2a000a020c757365722d3101040468310278046832010c000504010000")
	if err != nil {
		t.Fatal(err)
	}
	fields, err := record.Anatomy(raw)
	if err != nil {
		t.Fatal(err)
	}
	d := newDissector("v2", "V2")
	d.fields(fields, 0)
	a := d.done()
	covered := 0
	for _, line := range a.Lines {
		for _, p := range line.Parts {
			if p.Covered && covered == 0 && a.Fields[p.Field].Name != "attributes" {
				t.Errorf("the CRC covers from %s on, want from attributes on", a.Fields[p.Field].Name)
			}
			if covered > 0 && !p.Covered && !p.Gap {
				t.Errorf("%s of %s is not covered", p.Text, a.Fields[p.Field].Name)
			}
			if p.Covered {
				covered++
			}
		}
	}
	if covered == 0 || a.Note != coveredNote+" "+varintNote {
		t.Errorf("%d parts covered, note %q", covered, a.Note)
	}
	want := map[string]string{
		"timestampDelta": "00 → 0·0000000 → 0 → even: 0 / 2 = 0", "length": "1a → 0·0011010 → 26 → even: 26 / 2 = 13", "attributes": "", "key": "", "recordsCount": "",
	}
	for name, steps := range want {
		if got := lineOf(t, a, name).Steps; got != steps {
			t.Errorf("%s has the steps %q, want %q", name, got, steps)
		}
	}
}

// lineOf is the first field of that name.
func lineOf(t *testing.T, a view.Anatomy, name string) view.ByteField {
	t.Helper()
	for _, f := range a.Fields {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("there is no field %s", name)
	return view.ByteField{}
}
