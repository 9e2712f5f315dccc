package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"testing"

	"loglab/engine/kafka"
)

func TestParseTellsEndTornAndCorruptApart(t *testing.T) {
	whole := unhex(t, v2b)
	change := func(at int, value ...byte) []byte {
		b := append([]byte(nil), whole...)
		copy(b[at:], value)
		return b
	}
	tests := []struct {
		name     string
		bytes    []byte
		want     error
		position int
	}{
		{"no bytes", nil, ErrEnd, 0},
		{"1 byte", whole[:1], ErrTorn, 0},
		{"inside batchLength", whole[:11], ErrTorn, 0},
		{"before the magic", whole[:16], ErrTorn, 0},
		{"inside the header", whole[:60], ErrTorn, 0},
		{"the header alone", whole[:61], ErrTorn, 0},
		{"1 byte too few", whole[:103], ErrTorn, 0},
		{"zeroed", make([]byte, 104), ErrCorrupt, 8},
		{"batchLength 48", change(8, 0, 0, 0, 48), ErrCorrupt, 8},
		{"batchLength -1", change(8, 255, 255, 255, 255), ErrCorrupt, 8},
		{"batchLength 2147483647", change(8, 127, 255, 255, 255), ErrCorrupt, 8},
		{"batchLength 2147483635", change(8, 127, 255, 255, 243), ErrTorn, 0},
		{"magic 1", change(16, 1), ErrCorrupt, 16},
		{"magic 3 in a batch that is cut", change(16, 3)[:40], ErrCorrupt, 16},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse(test.bytes)
			if !errors.Is(err, test.want) {
				t.Fatalf("error is %v, want %v", err, test.want)
			}
			var at *PositionError
			if errors.As(err, &at) && at.Position != test.position {
				t.Errorf("position is %d, want %d: %v", at.Position, test.position, err)
			}
		})
	}
}

func TestParseTakesTheFirstBatch(t *testing.T) {
	log := append(unhex(t, v2b), unhex(t, v3)...)
	first := parse(t, log)
	second := parse(t, log[first.Size():])
	if first.NextOffset() != 103 || second.BaseOffset != 103 {
		t.Errorf("first ends before %d, second begins at %d, want 103 and 103", first.NextOffset(), second.BaseOffset)
	}
	if _, err := Parse(log[first.Size()+second.Size():]); err != ErrEnd {
		t.Errorf("after both: %v, want %v", err, ErrEnd)
	}
}

// Trap 15 and §1.1: the CRC covers everything from byte 21 on, and nothing before.
func TestCRCCoverage(t *testing.T) {
	whole := unhex(t, v2b)
	for i := range whole {
		b := append([]byte(nil), whole...)
		b[i] ^= 0x40
		batch, err := Parse(b)
		if i >= 8 && i < 12 || i == 16 {
			continue // batchLength and magic: Parse reads them
		}
		if err != nil {
			t.Errorf("byte %d changed: Parse: %v", i, err)
			continue
		}
		covered := i >= 17 // the crc itself, too
		if err := batch.CheckCRC(); errors.Is(err, ErrCorrupt) != covered {
			t.Errorf("byte %d changed: CheckCRC: %v, want an error: %v", i, err, covered)
		}
	}
	if got := fmt.Sprintf("%08x", crc32.Checksum([]byte("123456789"), castagnoli)); got != "e3069283" {
		t.Errorf("CRC-32C of 123456789 is %s, want e3069283", got)
	}
}

// Trap 16 and §1.1: sequences wrap to 0 after 2147483647.
func TestSequences(t *testing.T) {
	tests := []struct {
		base  kafka.Sequence
		delta int32
		last  kafka.Sequence
	}{
		{5, 2, 7}, {0, 0, 0}, {-1, 2, -1},
		{math.MaxInt32, 0, math.MaxInt32}, {math.MaxInt32, 1, 0}, {math.MaxInt32 - 1, 2, 0}, {math.MaxInt32 - 1, 3, 1},
		{math.MaxInt32, math.MaxInt32, math.MaxInt32 - 1},
	}
	for _, test := range tests {
		b := Batch{BaseSequence: test.base, LastOffsetDelta: test.delta}
		if got := b.LastSequence(); got != test.last {
			t.Errorf("base %d, delta %d: last sequence is %d, want %d", test.base, test.delta, got, test.last)
		}
	}
	if got := parse(t, unhex(t, v2)).LastSequence(); got != 7 {
		t.Errorf("V2: last sequence is %d, want 7", got)
	}
	if got := parse(t, unhex(t, v5)).LastSequence(); got != 7 {
		t.Errorf("V5: last sequence is %d, want 7", got)
	}
}

// §1.2: the smallest record is 7 bytes.
func TestRecordSize(t *testing.T) {
	if got := appendRecord(nil, 0, 0, nil, nil, nil); string(got) != "\x0c\x00\x00\x00\x01\x01\x00" {
		t.Errorf("the smallest record is %x, want 0c000000010100", got)
	}
	headers := []Header{{Key: "h1", Value: []byte("x")}, {Key: "h2"}}
	tests := []struct {
		name              string
		offsetDelta       int32
		timestampDelta    int64
		key, value        []byte
		headers           []Header
		exact, upperBound int
	}{
		{"smallest", 0, 0, nil, nil, nil, 7, 21 + 3},
		{"V2 first", 0, 0, []byte("user-1"), []byte("a"), nil, 14, 21 + 10},
		{"V2 second", 1, 5, []byte("user-1"), nil, headers, 22, 21 + 18},
		{"V2 third", 2, -3, nil, []byte{}, nil, 7, 21 + 3},
		{"V8", 1, 1 - 86500000, []byte("b"), nil, nil, 11, 21 + 4},
		{"value of 100 bytes", 0, 0, nil, make([]byte, 100), nil, 109, 21 + 104},
		{"largest overhead", math.MaxInt32, math.MinInt64, nil, make([]byte, 1<<27), nil, 1<<27 + 21 + 7, 1<<27 + 21 + 7},
	}
	for _, test := range tests {
		if got := RecordSize(test.offsetDelta, test.timestampDelta, test.key, test.value, test.headers...); got != test.exact {
			t.Errorf("%s: size is %d, want %d", test.name, got, test.exact)
		}
		if got := RecordSizeUpperBound(test.key, test.value, test.headers...); got != test.upperBound {
			t.Errorf("%s: upper bound is %d, want %d", test.name, got, test.upperBound)
		}
	}
}

// withRecords makes a batch of the header of V1 and this record data.
func withRecords(t testing.TB, count int32, data string) []byte {
	b := append(unhex(t, v1)[:HeaderSize], unhex(t, data)...)
	header := decodeHeader(b)
	header.RecordsCount = count
	encodeHeader(b, header)
	return b
}

func TestRecordsRefuse(t *testing.T) {
	tests := []struct {
		name     string
		count    int32
		data     string
		position int
	}{
		{"count -1", -1, "0c000000010100", 57},
		{"count 2 for 1 record", 2, "0c000000010100", 68},
		{"count 0 for 1 record", 0, "0c000000010100", 61},
		{"count 1 for 2 records", 1, "0c000000010100 0c000000010100", 68},
		{"count 2147483647", math.MaxInt32, "0c000000010100", 68},
		{"length -1", 1, "01000000010100", 61},
		{"length 0", 1, "00000000010100", 61},
		{"length past the end", 1, "0e000000010100", 61},
		{"length too small", 1, "0a000000010100", 61},
		{"length too large", 2, "0e000000010100 0c000000010100", 61},
		{"length that is cut", 1, "80", 61},
		{"length of 6 bytes", 1, "8080808080000000", 61},
		{"timestamp delta that is cut", 1, "0200", 63},
		{"offset delta of 6 bytes", 1, "18 00 00 808080808000 01 01 00 00", 64},
		{"key length -2", 1, "0c000000030100", 65},
		{"key length past the end", 1, "0c000000060100", 65},
		{"value length -2", 1, "0c000000010300", 66},
		{"value length 2147483647", 1, "14 000000 01 feffffff0f 00", 66},
		{"header count -1", 1, "0c000000010101", 67},
		{"header count past the end", 1, "0c000000010102", 67},
		{"header count 2147483647", 1, "14 000000 01 01 feffffff0f", 67},
		{"header key null", 1, "10 000000 01 01 02 01 01", 68},
		{"header key length -2", 1, "10 000000 01 01 02 03 01", 68},
		{"header value length -2", 1, "10 000000 01 01 02 00 03", 69},
		{"header value past the end", 1, "10 000000 01 01 02 00 02", 69},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := parse(t, withRecords(t, test.count, test.data)).Records()
			var at *PositionError
			if !errors.As(err, &at) || at.Kind != ErrCorrupt {
				t.Fatalf("error is %v, want %v", err, ErrCorrupt)
			}
			if at.Position != test.position {
				t.Errorf("position is %d, want %d: %v", at.Position, test.position, err)
			}
		})
	}
}

func TestNullAndEmpty(t *testing.T) {
	b := NewBuilder(Options{})
	values := [][]byte{nil, {}, []byte("v")}
	for _, key := range values {
		for _, value := range values {
			b.Append(T, key, value, Header{Key: "", Value: key}, Header{Key: "h", Value: value})
		}
	}
	raw, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	records, err := parse(t, raw).Records()
	if err != nil {
		t.Fatal(err)
	}
	same := func(a, b []byte) bool { return (a == nil) == (b == nil) && string(a) == string(b) }
	for i, r := range records {
		key, value := values[i/3], values[i%3]
		if !same(r.Key, key) || !same(r.Value, value) || len(r.Headers) != 2 || r.Headers[0].Key != "" ||
			!same(r.Headers[0].Value, key) || r.Headers[1].Key != "h" || !same(r.Headers[1].Value, value) {
			t.Errorf("record %d: %#v, want key %#v and value %#v in record and headers", i, r, key, value)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	tests := []struct {
		name    string
		options Options
	}{
		{"transactional without producer", Options{Transactional: true}},
		{"producer id -1", Options{Producer: &Producer{ID: -1}}},
		{"producer epoch -1", Options{Producer: &Producer{ID: 1, Epoch: -1}}},
		{"base sequence -1", Options{Producer: &Producer{ID: 1, BaseSequence: -1}}},
		{"control with a base sequence", Options{Control: true, Producer: &Producer{ID: 1, BaseSequence: 0}}},
		{"codec 5", Options{Codec: 5}},
		{"codec -1", Options{Codec: -1}},
	}
	for _, test := range tests {
		b := NewBuilder(test.options)
		b.Append(T, nil, nil)
		if raw, err := b.Build(); err == nil || raw != nil {
			t.Errorf("%s: %x, %v, want an error", test.name, raw, err)
		}
	}
	if _, err := NewBuilder(Options{}).Build(); !errors.Is(err, ErrNoRecords) {
		t.Errorf("empty: %v, want %v", err, ErrNoRecords)
	}
	if _, err := (EndTxnMarker{Type: LeaderChange}).Build(T, 1, 1); err == nil {
		t.Error("marker of type LEADER_CHANGE: no error")
	}
}

func TestBuilderReuse(t *testing.T) {
	b := NewBuilder(Options{})
	b.Append(T-1000, []byte("other"), []byte("record"))
	if want := b.SizeWith(T, []byte("k"), []byte("v")); want != 61+RecordSize(0, 0, []byte("other"), []byte("record"))+RecordSize(1, 1000, []byte("k"), []byte("v")) {
		t.Errorf("SizeWith is %d", want)
	}
	b.Reset()
	if got := b.SizeWith(T, []byte("k"), []byte("v")); got != 70 {
		t.Errorf("SizeWith after Reset is %d, want 70", got)
	}
	if b.Count() != 0 || b.Size() != HeaderSize {
		t.Errorf("after Reset: Count is %d and Size %d, want 0 and %d", b.Count(), b.Size(), HeaderSize)
	}
	b.Append(T, []byte("k"), []byte("v"))
	clone := b.Clone()
	clone.Append(T, nil, nil)
	first, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	wantBytes(t, "V1 after Reset", first, unhex(t, v1))
	b.SetProducer(&Producer{ID: 1000, Epoch: 2, BaseSequence: 5})
	second, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	batch := parse(t, second)
	if batch.ProducerID != 1000 || batch.ProducerEpoch != 2 || batch.BaseSequence != 5 || batch.RecordsCount != 1 {
		t.Errorf("after SetProducer: %+v", batch)
	}
	wantBytes(t, "the first result belongs to its caller", first, unhex(t, v1))
	b.SetProducer(nil)
	third, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	wantBytes(t, "V1 without a copy", third, unhex(t, v1))
	raw, err := clone.Build()
	if err != nil || binary.BigEndian.Uint32(raw[atRecordsCount:]) != 2 {
		t.Errorf("clone: %x, %v, want 2 records", raw, err)
	}
}

func TestControl(t *testing.T) {
	decode := func(vector string) Control {
		records, err := parse(t, unhex(t, vector)).Records()
		if err != nil {
			t.Fatal(err)
		}
		c, err := DecodeControl(records[0])
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if c := decode(v3); c.Type != Commit || c.Version != 0 || c.CoordinatorEpoch != 4 {
		t.Errorf("V3: %+v, want COMMIT with coordinator epoch 4", c)
	}
	if c := decode(v4); c.Type != Abort || c.CoordinatorEpoch != 4 {
		t.Errorf("V4: %+v, want ABORT with coordinator epoch 4", c)
	}
	c := decode(v6)
	if c.Type != LeaderChange || c.LeaderChange.LeaderID != 1 {
		t.Fatalf("V6: %+v, want LEADER_CHANGE to 1", c)
	}
	var voters, granting []int32
	for _, v := range c.LeaderChange.Voters {
		voters = append(voters, v.VoterID)
	}
	for _, v := range c.LeaderChange.GrantingVoters {
		granting = append(granting, v.VoterID)
	}
	if fmt.Sprint(voters, granting) != "[1 2 3] [1 2]" {
		t.Errorf("V6: voters %v, granting %v, want [1 2 3] and [1 2]", voters, granting)
	}
	for _, test := range []struct{ name, key, value string }{
		{"key of 3 bytes", "000000", ""},
		{"null key", "", ""},
		{"key version -1", "ffff0000", "000000000004"},
		{"marker of 5 bytes", "00000001", "0000000000"},
		{"leader change that is cut", "00000002", "0000000000010400"},
	} {
		if c, err := DecodeControl(Record{Key: unhex(t, test.key), Value: unhex(t, test.value)}); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %+v, %v, want %v", test.name, c, err, ErrCorrupt)
		}
	}
	if c, err := DecodeControl(Record{Key: unhex(t, "00000009"), Value: []byte("x")}); err != nil || c.Type.String() != "UNKNOWN(9)" || string(c.Value) != "x" {
		t.Errorf("type 9: %+v, %v, want it named and its value left alone", c, err)
	}
}

func TestAttributes(t *testing.T) {
	a := Attributes(0x7f)
	if a.Codec() != 7 || a.TimestampType() != LogAppendTime || !a.Transactional() || !a.Control() || !a.HasDeleteHorizon() {
		t.Errorf("0x7f: %v %v %v %v %v", a.Codec(), a.TimestampType(), a.Transactional(), a.Control(), a.HasDeleteHorizon())
	}
	for c := None; c <= Zstd; c++ {
		if got, err := ParseCodec(c.String()); got != c || err != nil {
			t.Errorf("ParseCodec(%q) = %v, %v", c, got, err)
		}
	}
	if _, err := ParseCodec("brotli"); err == nil {
		t.Error("ParseCodec(brotli): no error")
	}
	if got := Codec(5).String() + " " + Codec(-1).String(); got != "codec(5) codec(-1)" {
		t.Errorf("codecs that don't exist: %s", got)
	}
}

func TestScanAllocatesNothing(t *testing.T) {
	raw := unhex(t, v7)
	allocs := testing.AllocsPerRun(100, func() {
		batch, _ := Parse(raw)
		s := batch.Scan()
		for s.Next() {
		}
		if batch.CheckCRC() != nil || s.Err() != nil {
			t.Fatal("V7 has a fault")
		}
	})
	if allocs != 0 {
		t.Errorf("parsing and scanning V7 takes %v allocations, want 0", allocs)
	}
}
