package record

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loglab/engine/kafka"
)

// T is the base time of the vectors.
const T kafka.Timestamp = 1700000000000

// The vectors were written by Kafka 4.2's own code. Spaces and line ends are for the reader.
const (
	v1 = `0000000000000000 0000003a ffffffff 02 e99b8dd8 0000 00000000 0000018bcfe56800 0000018bcfe56800 ffffffffffffffff ffff ffffffff 00000001
		10 00 00 00 02 6b 02 76 00`
	v1b = `000000000000002a 0000003a 00000003 02 24f5855f 0008 00000000 0000018bcfe56800 0000018bcfe56be8 ffffffffffffffff ffff ffffffff 00000001 10000000026b027600`
	v2  = `0000000000000000 0000005c ffffffff 02 a7359323 0010 00000002 0000018bcfe56800 0000018bcfe56805 00000000000003e8 0002 00000005 00000003
		1a0000000c757365722d31026100
		2a000a020c757365722d3101 04 046831 0278 046832 01
		0c000504010000`
	v2b = `0000000000000064 0000005c 00000007 02 a7359323 0010 00000002 0000018bcfe56800 0000018bcfe56805 00000000000003e8 0002 00000005 00000003
		1a0000000c757365722d31026100
		2a000a020c757365722d3101 04 046831 0278 046832 01
		0c000504010000`
	v3 = `0000000000000067000000420000000702a9da8aae0030000000000000018bcfe5680a0000018bcfe5680a00000000000003e80003ffffffff000000012000000008000000010c00000000000400`
	v4 = `00000000000000670000004200000007025de45ce60030000000000000018bcfe5680a0000018bcfe5680a00000000000003e80003ffffffff000000012000000008000000000c00000000000400`
	v5 = `000000000000006400000031000000070264105aa0001000000002ffffffffffffffff0000018bcfe5680500000000000003e800020000000500000000`
	v6 = `00000000000000000000005e00000005021735ab2b0020000000000000018bcfe568000000018bcfe56800ffffffffffffffffffffffffffff00000001580000000800000002440000000000010400000001000000000200000000030003000000010000000002000000`
	v7 = `00000000000000c80000004b000000070294d9578c0000000000020000018bcfe568000000018bcfe56802ffffffffffffffffffffffffffff000000031000000002610231000e00020202620100100004040263023300`
	v8 = `00000000000000c80000003c00000007020fdbc3ed0040000000020000018bd50d4aa00000018bcfe56801ffffffffffffffffffffffffffff000000011400bd8abf520202620100`

	// The marker of V3 after the cleaner gave it a delete horizon at T+100000, with
	// delete.retention.ms = 86400000: its timestamp delta takes 4 bytes instead of 1.
	v3Horizon = `00000000000000670000004500000007026b63424d0070000000000000018bd50d4aa00000018bcfe5680a00000000000003e80003ffffffff000000012600ab8abf520008000000010c00000000000400`

	// A transactional batch of LogAppendTime (offsets 50 to 52, producer 9, epoch 1, sequences from
	// 2147483646, appended at T+1000), and what the cleaner leaves of it: offset 51 with a delete
	// horizon, offset 52 without, nothing.
	vLogAppendTime        = `00000000000000320000004b0000000402a02119310018000000020000018bcfe568000000018bcfe56be8000000000000000900017ffffffe000000031000000002610231000e00020202620100100004040263023300`
	vLogAppendTimeHorizon = `00000000000000320000003c000000040242cf8e450058000000020000018bd50d4aa00000018bcfe56be8000000000000000900017ffffffe000000011400effabe520202620100`
	vLogAppendTimeLast    = `00000000000000320000003a000000040230b387e70018000000020000018bcfe56be80000018bcfe56be8000000000000000900017ffffffe00000001100000040263023300`
	vLogAppendTimeEmptied = `0000000000000032000000310000000402c27215c2001800000002ffffffffffffffff0000018bcfe56be8000000000000000900017ffffffe00000000`
)

// unhex gives the bytes of a vector.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// parse parses a whole batch with a right CRC.
func parse(t testing.TB, b []byte) Batch {
	t.Helper()
	batch, err := Parse(b)
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	if err := batch.CheckCRC(); err != nil {
		t.Fatalf("CheckCRC: %v", err)
	}
	return batch
}

// wantBytes compares bytes and shows them in hex.
func wantBytes(t testing.TB, what string, got, want []byte) {
	t.Helper()
	if hex.EncodeToString(got) != hex.EncodeToString(want) {
		t.Errorf("%s\n got %x\nwant %x", what, got, want)
	}
}

func TestVectorsParse(t *testing.T) {
	header := func(base kafka.Offset, epoch kafka.LeaderEpoch, crc uint32, attributes Attributes, lastDelta int32, baseTS, maxTS kafka.Timestamp,
		pid kafka.ProducerID, producerEpoch kafka.ProducerEpoch, sequence kafka.Sequence, count int32) Batch {
		return Batch{BaseOffset: base, PartitionLeaderEpoch: epoch, Magic: 2, CRC: crc, Attributes: attributes, LastOffsetDelta: lastDelta,
			BaseTimestamp: baseTS, MaxTimestamp: maxTS, ProducerID: pid, ProducerEpoch: producerEpoch, BaseSequence: sequence, RecordsCount: count}
	}
	h1, h2 := Header{Key: "h1", Value: []byte("x")}, Header{Key: "h2"}
	v2Records := func(base kafka.Offset) []Record {
		return []Record{
			{Offset: base, Timestamp: T, Key: []byte("user-1"), Value: []byte("a"), Size: 14},
			{Offset: base + 1, OffsetDelta: 1, Timestamp: T + 5, TimestampDelta: 5, Key: []byte("user-1"), Headers: []Header{h1, h2}, Position: 14, Size: 22},
			{Offset: base + 2, OffsetDelta: 2, Timestamp: T - 3, TimestampDelta: -3, Value: []byte{}, Position: 36, Size: 7},
		}
	}
	marker := func(kind byte) []Record {
		return []Record{{Offset: 103, Timestamp: T + 10, Key: []byte{0, 0, 0, kind}, Value: []byte{0, 0, 0, 0, 0, 4}, Size: 17}}
	}
	tests := []struct {
		name    string
		hex     string
		size    int
		want    Batch
		records []Record
	}{
		{"V1", v1, 70, header(0, -1, 0xe99b8dd8, 0, 0, T, T, -1, -1, -1, 1),
			[]Record{{Timestamp: T, Key: []byte("k"), Value: []byte("v"), Size: 9}}},
		{"V1b", v1b, 70, header(42, 3, 0x24f5855f, 8, 0, T, T+1000, -1, -1, -1, 1),
			[]Record{{Offset: 42, Timestamp: T + 1000, Key: []byte("k"), Value: []byte("v"), Size: 9}}},
		{"V2", v2, 104, header(0, -1, 0xa7359323, 0x10, 2, T, T+5, 1000, 2, 5, 3), v2Records(0)},
		{"V2b", v2b, 104, header(100, 7, 0xa7359323, 0x10, 2, T, T+5, 1000, 2, 5, 3), v2Records(100)},
		{"V3", v3, 78, header(103, 7, 0xa9da8aae, 0x30, 0, T+10, T+10, 1000, 3, -1, 1), marker(1)},
		{"V4", v4, 78, header(103, 7, 0x5de45ce6, 0x30, 0, T+10, T+10, 1000, 3, -1, 1), marker(0)},
		{"V5", v5, 61, header(100, 7, 0x64105aa0, 0x10, 2, -1, T+5, 1000, 2, 5, 0), []Record{}},
		{"V6", v6, 106, header(0, 5, 0x1735ab2b, 0x20, 0, T, T, -1, -1, -1, 1),
			[]Record{{Timestamp: T, Key: []byte{0, 0, 0, 2}, Value: unhex(t, "0000 00000001 04 0000000100 0000000200 0000000300 03 0000000100 0000000200 00"), Size: 45}}},
		{"V7", v7, 87, header(200, 7, 0x94d9578c, 0, 2, T, T+2, -1, -1, -1, 3), []Record{
			{Offset: 200, Timestamp: T, Key: []byte("a"), Value: []byte("1"), Size: 9},
			{Offset: 201, OffsetDelta: 1, Timestamp: T + 1, TimestampDelta: 1, Key: []byte("b"), Position: 9, Size: 8},
			{Offset: 202, OffsetDelta: 2, Timestamp: T + 2, TimestampDelta: 2, Key: []byte("c"), Value: []byte("3"), Position: 17, Size: 9}}},
		{"V8", v8, 72, header(200, 7, 0x0fdbc3ed, 0x40, 2, T+100000+86400000, T+1, -1, -1, -1, 1), []Record{
			{Offset: 201, OffsetDelta: 1, Timestamp: T + 1, TimestampDelta: 1 - 100000 - 86400000, Key: []byte("b"), Size: 11}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			raw := unhex(t, test.hex)
			got := parse(t, raw)
			test.want.BatchLength = int32(test.size - 12)
			if diff := cmp.Diff(test.want, got, cmpopts.IgnoreUnexported(Batch{})); diff != "" {
				t.Errorf("header (-want +got)\n%s", diff)
			}
			if got.Size() != test.size {
				t.Errorf("Size is %d, want %d", got.Size(), test.size)
			}
			records, err := got.Records()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.records, records); diff != "" {
				t.Errorf("records (-want +got)\n%s", diff)
			}
			wantBytes(t, "Bytes", got.Bytes(), raw)
			again := make([]byte, len(raw))
			copy(again[HeaderSize:], raw[HeaderSize:])
			encodeHeader(again, got)
			wantBytes(t, "encoded again", again, raw)
		})
	}
}

func TestVectorsBuild(t *testing.T) {
	t.Run("V1", func(t *testing.T) {
		b := NewBuilder(Options{})
		b.Append(T, []byte("k"), []byte("v"))
		raw, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		wantBytes(t, "V1", raw, unhex(t, v1))
		Stamp(raw, 42, 3)
		StampLogAppendTime(raw, T+1000)
		wantBytes(t, "V1b", raw, unhex(t, v1b))
	})
	t.Run("V2", func(t *testing.T) {
		b := NewBuilder(Options{Transactional: true, Producer: &Producer{ID: 1000, Epoch: 2, BaseSequence: 5}})
		b.Append(T, []byte("user-1"), []byte("a"))
		b.Append(T+5, []byte("user-1"), nil, Header{Key: "h1", Value: []byte("x")}, Header{Key: "h2"})
		b.Append(T-3, nil, []byte{})
		if b.Count() != 3 || b.Size() != 104 {
			t.Errorf("Count is %d and Size %d, want 3 and 104", b.Count(), b.Size())
		}
		raw, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		wantBytes(t, "V2", raw, unhex(t, v2))
		Stamp(raw, 100, 7)
		wantBytes(t, "V2b", raw, unhex(t, v2b))
		parse(t, raw) // the CRC still holds
	})
	for _, test := range []struct {
		name string
		kind ControlType
		hex  string
	}{{"V3", Commit, v3}, {"V4", Abort, v4}} {
		t.Run(test.name, func(t *testing.T) {
			raw, err := EndTxnMarker{Type: test.kind, CoordinatorEpoch: 4}.Build(T+10, 1000, 3)
			if err != nil {
				t.Fatal(err)
			}
			Stamp(raw, 103, 7)
			wantBytes(t, test.name, raw, unhex(t, test.hex))
		})
	}
	t.Run("V6", func(t *testing.T) {
		b := NewBuilder(Options{Control: true})
		b.Append(T, []byte{0, 0, 0, 2}, unhex(t, "0000 00000001 04 0000000100 0000000200 0000000300 03 0000000100 0000000200 00"))
		raw, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		Stamp(raw, 0, 5)
		wantBytes(t, "V6", raw, unhex(t, v6))
	})
}

func TestVectorsRetain(t *testing.T) {
	const horizon = T + 100000 + 86400000
	tests := []struct {
		name    string
		before  string
		keep    []int
		horizon kafka.Timestamp
		after   string
	}{
		{"V2b to V5", v2b, nil, kafka.NoTimestamp, v5},
		{"V7 to V8", v7, []int{1}, horizon, v8},
		{"V3 with a delete horizon", v3, []int{0}, horizon, v3Horizon},
		{"LogAppendTime with a delete horizon", vLogAppendTime, []int{1}, horizon, vLogAppendTimeHorizon},
		{"LogAppendTime without", vLogAppendTime, []int{2}, kafka.NoTimestamp, vLogAppendTimeLast},
		{"LogAppendTime emptied", vLogAppendTime, nil, kafka.NoTimestamp, vLogAppendTimeEmptied},
		{"the horizon stays if it is passed on", v8, []int{0}, horizon, v8},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			before := unhex(t, test.before)
			batch := parse(t, before)
			all, err := batch.Records()
			if err != nil {
				t.Fatal(err)
			}
			var kept []Record
			for _, i := range test.keep {
				kept = append(kept, all[i])
			}
			after, err := Retain(batch, kept, test.horizon)
			if err != nil {
				t.Fatal(err)
			}
			wantBytes(t, "after", after, unhex(t, test.after))
			wantBytes(t, "before must not change", before, unhex(t, test.before))
			if next := parse(t, after).NextOffset(); next != batch.NextOffset() {
				t.Errorf("NextOffset became %d, was %d", next, batch.NextOffset())
			}
		})
	}
}

func TestDeleteHorizon(t *testing.T) {
	if at, ok := parse(t, unhex(t, v8)).DeleteHorizon(); !ok || at != T+86500000 {
		t.Errorf("V8: horizon is %d, %v, want %d, true", at, ok, T+86500000)
	}
	if at, ok := parse(t, unhex(t, v7)).DeleteHorizon(); ok || at != kafka.NoTimestamp {
		t.Errorf("V7: horizon is %d, %v, want none", at, ok)
	}
}

func TestRetainRefusesOtherRecords(t *testing.T) {
	batch := parse(t, unhex(t, v7))
	for _, deltas := range [][]int32{{1, 1}, {2, 0}, {3}, {-1}} {
		var records []Record
		for _, d := range deltas {
			records = append(records, Record{OffsetDelta: d})
		}
		if _, err := Retain(batch, records, kafka.NoTimestamp); err == nil {
			t.Errorf("offset deltas %v: no error", deltas)
		}
	}
}
