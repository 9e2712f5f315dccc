package record

import (
	"bytes"
	"math"
	"math/rand"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loglab/engine/kafka"
)

// drawn is a batch drawn from a seed: what went in and the bytes that came out, already appended by a
// leader.
type drawn struct {
	options Options
	base    kafka.Offset
	epoch   kafka.LeaderEpoch
	records []Record // without Position and Size
	raw     []byte
}

// sameBytes keeps null and empty apart. It spares cmp from looking at every byte by reflection.
var sameBytes = cmp.Comparer(func(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) })

// drawBytes is null, empty, short or, seldom, long.
func drawBytes(rng *rand.Rand) []byte {
	var n int
	switch rng.Intn(8) {
	case 0:
		return nil
	case 1:
		return []byte{}
	case 2:
		n = rng.Intn(20_000)
	default:
		n = 1 + rng.Intn(100)
	}
	b := make([]byte, n)
	if rng.Intn(2) == 0 {
		rng.Read(b)
	} else {
		for i := range b {
			b[i] = "abc"[i%3]
		}
	}
	return b
}

// drawHeaders are none in most records.
func drawHeaders(rng *rand.Rand) []Header {
	if rng.Intn(3) > 0 {
		return nil
	}
	var headers []Header
	for range rng.Intn(4) {
		headers = append(headers, Header{Key: string(drawBytes(rng)), Value: drawBytes(rng)})
	}
	return headers
}

// drawBatch builds a batch with the builder under test.
func drawBatch(t testing.TB, rng *rand.Rand, codec Codec) drawn {
	d := drawn{
		options: Options{Codec: codec, TimestampType: TimestampType(rng.Intn(2))},
		base:    kafka.Offset(rng.Int63n(1 << 40)),
		epoch:   kafka.LeaderEpoch(rng.Intn(1000)),
	}
	if rng.Intn(2) == 0 {
		d.options.Transactional = rng.Intn(2) == 0
		d.options.Producer = &Producer{ID: kafka.ProducerID(rng.Int63n(1 << 40)), Epoch: kafka.ProducerEpoch(rng.Intn(math.MaxInt16)),
			BaseSequence: kafka.Sequence(rng.Int31())}
	}
	b := NewBuilder(d.options)
	latest := kafka.Timestamp(math.MinInt64)
	for i := range 1 + rng.Intn(30) {
		r := Record{
			Offset: d.base + kafka.Offset(i), OffsetDelta: int32(i), Timestamp: T + kafka.Timestamp(rng.Int63n(20_000)-10_000),
			Key: drawBytes(rng), Value: drawBytes(rng), Headers: drawHeaders(rng),
		}
		if i > 0 {
			r.TimestampDelta = int64(r.Timestamp - d.records[0].Timestamp)
		}
		size := b.SizeWith(r.Timestamp, r.Key, r.Value, r.Headers...)
		b.Append(r.Timestamp, r.Key, r.Value, r.Headers...)
		if b.Size() != size {
			t.Fatalf("Size is %d, SizeWith said %d", b.Size(), size)
		}
		latest = max(latest, r.Timestamp)
		d.records = append(d.records, r)
	}
	raw, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	Stamp(raw, d.base, d.epoch)
	if d.options.TimestampType == LogAppendTime {
		for i := range d.records {
			d.records[i].Timestamp = latest
		}
	}
	d.raw = raw
	return d
}

// everyDraw runs f on seeded batches of each codec.
func everyDraw(t *testing.T, perCodec int, f func(t *testing.T, d drawn)) {
	for codec := None; codec <= Zstd; codec++ {
		t.Run(codec.String(), func(t *testing.T) {
			for seed := range int64(perCodec) {
				d := drawBatch(t, rand.New(rand.NewSource(seed)), codec)
				f(t, d)
				if t.Failed() {
					t.Fatalf("seed %d, options %+v", seed, d.options)
				}
			}
		})
	}
}

func TestRoundTrip(t *testing.T) {
	everyDraw(t, 50, func(t *testing.T, d drawn) {
		batch := parse(t, d.raw)
		records, err := batch.Records()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d.records, records, sameBytes, cmpopts.IgnoreFields(Record{}, "Position", "Size")); diff != "" {
			t.Errorf("records (-in +out)\n%s", diff)
		}
		if batch.BaseOffset != d.base || batch.PartitionLeaderEpoch != d.epoch || batch.NextOffset() != d.base+kafka.Offset(len(records)) {
			t.Errorf("header %+v, want base %d, epoch %d, %d records", batch, d.base, d.epoch, len(records))
		}
		at := 0
		for _, r := range records {
			if r.Position != at {
				t.Errorf("record at %d has position %d", at, r.Position)
			}
			if size := RecordSize(r.OffsetDelta, r.TimestampDelta, r.Key, r.Value, r.Headers...); r.Size != size {
				t.Errorf("record at %d has size %d, RecordSize says %d", at, r.Size, size)
			}
			at += r.Size
		}
		if d.options.Codec == None && at != len(d.raw)-HeaderSize {
			t.Errorf("the records end at %d of %d bytes", at, len(d.raw)-HeaderSize)
		}
	})
}

// Retaining all records without a horizon gives back what the builder wrote: the base timestamp is the
// first record's either way. Not so under LogAppendTime, whose deltas are not what they say.
func TestRetainAll(t *testing.T) {
	everyDraw(t, 20, func(t *testing.T, d drawn) {
		if d.options.TimestampType == LogAppendTime {
			return
		}
		batch := parse(t, d.raw)
		records, err := batch.Records()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Retain(batch, records, kafka.NoTimestamp)
		if err != nil {
			t.Fatal(err)
		}
		wantBytes(t, "all retained", again, d.raw)
	})
}

// checkCoverage reports bytes of raw that lie in no field or in two.
func checkCoverage(t *testing.T, what string, fields []Field, raw []byte) {
	t.Helper()
	at := 0
	for _, f := range fields {
		if f.Offset != at || f.Width < 1 || f.Width != len(f.Raw) || at+f.Width > len(raw) || string(f.Raw) != string(raw[at:at+f.Width]) {
			t.Fatalf("%s: after byte %d of %d comes field %+v", what, at, len(raw), f)
		}
		if f.Name == "" || f.Value == "" || f.Meaning == "" {
			t.Errorf("%s: field %+v says nothing", what, f)
		}
		at += f.Width
	}
	if at != len(raw) {
		t.Errorf("%s: the fields end at byte %d of %d", what, at, len(raw))
	}
}

func TestAnatomyCoversEveryByteOnce(t *testing.T) {
	everyDraw(t, 20, func(t *testing.T, d drawn) {
		fields, err := Anatomy(append(d.raw, "the next batch"...))
		if err != nil {
			t.Fatal(err)
		}
		checkCoverage(t, "batch", fields, d.raw)
		inner, err := RecordsAnatomy(d.raw)
		if err != nil {
			t.Fatal(err)
		}
		data, err := decompress(d.options.Codec, d.raw[HeaderSize:])
		if err != nil {
			t.Fatal(err)
		}
		checkCoverage(t, "records", inner, data)
		if last := inner[len(inner)-1].Record; last != len(d.records)-1 {
			t.Errorf("the last field is of record %d, want %d", last, len(d.records)-1)
		}
	})
}

// everyNull gives records with every mix of null, empty and given keys, values and headers.
func everyNull() []Record {
	var records []Record
	choices := [][]byte{nil, {}, []byte("x")}
	for _, key := range choices {
		for _, value := range choices {
			records = append(records, Record{Key: key, Value: value})
			for _, header := range choices {
				records = append(records, Record{Key: key, Value: value, Headers: []Header{{Key: string(header), Value: value}, {Key: "h", Value: header}}})
			}
		}
	}
	return records
}

// Every byte lies in one field too where keys, values and headers are null or empty, and in the batches
// that hold no records of an application: markers, leader changes, batches emptied by the cleaner.
func TestAnatomyCoversNullsAndControlBatches(t *testing.T) {
	cover := func(what string, raw []byte) {
		t.Helper()
		fields, err := Anatomy(raw)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		checkCoverage(t, what, fields, raw)
		batch := parse(t, raw)
		data, err := decompress(batch.Attributes.Codec(), raw[HeaderSize:])
		if err != nil {
			t.Fatal(err)
		}
		inner, err := RecordsAnatomy(raw)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		checkCoverage(t, what+", records", inner, data)
		names := map[string]int{}
		for _, f := range inner {
			names[f.Name]++
		}
		for _, name := range []string{"length", "attributes", "timestampDelta", "offsetDelta", "keyLength", "valueLength", "headerCount"} {
			if names[name] != int(batch.RecordsCount) {
				t.Errorf("%s: %d fields %s for %d records", what, names[name], name, batch.RecordsCount)
			}
		}
	}
	for codec := None; codec <= Zstd; codec++ {
		b := NewBuilder(Options{Codec: codec})
		for _, r := range everyNull() {
			b.Append(T, r.Key, r.Value, r.Headers...)
		}
		raw, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		cover("nulls, "+codec.String(), raw)
		emptied, err := Retain(parse(t, raw), nil, kafka.NoTimestamp)
		if err != nil {
			t.Fatal(err)
		}
		if len(emptied) > 0 {
			fields, err := Anatomy(emptied)
			if err != nil {
				t.Fatal(err)
			}
			checkCoverage(t, "emptied, "+codec.String(), fields, emptied)
		}
	}
	rng := rand.New(rand.NewSource(11))
	for range 200 {
		raw, err := EndTxnMarker{Type: ControlType(rng.Intn(2)), CoordinatorEpoch: rng.Int31()}.
			Build(T+kafka.Timestamp(rng.Int63n(1000)), kafka.ProducerID(rng.Int63()), kafka.ProducerEpoch(rng.Intn(math.MaxInt16)))
		if err != nil {
			t.Fatal(err)
		}
		Stamp(raw, kafka.Offset(rng.Int63n(1<<40)), kafka.LeaderEpoch(rng.Int31()))
		cover("marker", raw)
	}
	cover("leader change", unhex(t, v6))
	cover("delete horizon", unhex(t, v8))
}
