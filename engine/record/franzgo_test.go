package record

import (
	"bytes"
	"hash/crc32"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/kafka"
)

// readFranzGo lets franz-go's consumer read a log.
func readFranzGo(t *testing.T, log []byte) []*kgo.Record {
	t.Helper()
	response := kmsg.NewFetchResponseTopicPartition()
	response.RecordBatches = log
	partition, _ := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{KeepControlRecords: true}, &response, kgo.DefaultDecompressor(), nil)
	if partition.Err != nil {
		t.Fatalf("franz-go: %v", partition.Err)
	}
	return partition.Records
}

// fromFranzGo turns a record of franz-go into one of ours.
func fromFranzGo(r *kgo.Record) Record {
	ours := Record{Offset: kafka.Offset(r.Offset), Timestamp: kafka.Timestamp(r.Timestamp.UnixMilli()), Key: r.Key, Value: r.Value}
	for _, h := range r.Headers {
		ours.Headers = append(ours.Headers, Header{Key: h.Key, Value: h.Value})
	}
	return ours
}

func TestFranzGoReadsOurs(t *testing.T) {
	everyDraw(t, 50, func(t *testing.T, d drawn) {
		var got []Record
		for _, r := range readFranzGo(t, d.raw) {
			got = append(got, fromFranzGo(r))
			if r.LeaderEpoch != int32(d.epoch) {
				t.Errorf("leader epoch is %d, want %d", r.LeaderEpoch, d.epoch)
			}
			if p := d.options.Producer; p != nil && (r.ProducerID != int64(p.ID) || r.ProducerEpoch != int16(p.Epoch)) {
				t.Errorf("producer is %d epoch %d, want %+v", r.ProducerID, r.ProducerEpoch, p)
			}
			if r.Attrs.IsTransactional() != d.options.Transactional || r.Attrs.TimestampType() != int8(d.options.TimestampType) ||
				r.Attrs.CompressionType() != uint8(d.options.Codec) {
				t.Errorf("attributes are %+v, want %+v", r.Attrs, d.options)
			}
		}
		if diff := cmp.Diff(d.records, got, sameBytes, cmpopts.IgnoreFields(Record{}, "OffsetDelta", "TimestampDelta", "Position", "Size")); diff != "" {
			t.Errorf("records (-ours +franz-go)\n%s", diff)
		}
	})
}

// kmsg writes the same bytes; compressed by franz-go's compressor they are read here.
func TestKmsgWritesTheSame(t *testing.T) {
	everyDraw(t, 20, func(t *testing.T, d drawn) {
		var data []byte
		latest := d.records[0].TimestampDelta
		for _, r := range d.records {
			data = append(data, kmsgRecord(r)...)
			latest = max(latest, r.TimestampDelta)
		}
		ours := parse(t, d.raw)
		theirs := kmsg.RecordBatch{
			FirstOffset: int64(d.base), PartitionLeaderEpoch: int32(d.epoch), Magic: 2, Attributes: int16(d.options.attributes()),
			LastOffsetDelta: int32(len(d.records) - 1), FirstTimestamp: int64(ours.BaseTimestamp), MaxTimestamp: int64(ours.BaseTimestamp) + latest,
			ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1, NumRecords: int32(len(d.records)), Records: data,
		}
		if p := d.options.Producer; p != nil {
			theirs.ProducerID, theirs.ProducerEpoch, theirs.FirstSequence = int64(p.ID), int16(p.Epoch), int32(p.BaseSequence)
		}
		if d.options.Codec != None {
			theirs.Records = compressFranzGo(t, d.options.Codec, data)
		}
		theirs.Length = int32(HeaderSize - 12 + len(theirs.Records))
		theirs.CRC = int32(crc32.Checksum(theirs.AppendTo(nil)[21:], crc32.MakeTable(crc32.Castagnoli)))
		raw := theirs.AppendTo(nil)
		if d.options.Codec == None {
			wantBytes(t, "ours and kmsg's", d.raw, raw)
		}
		records, err := parse(t, raw).Records()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d.records, records, sameBytes, cmpopts.IgnoreFields(Record{}, "Position", "Size")); diff != "" {
			t.Errorf("records (-ours +theirs)\n%s", diff)
		}
	})
}

// kmsgRecord encodes r with kmsg, which wants the length to be set.
func kmsgRecord(r Record) []byte {
	k := kmsg.Record{TimestampDelta64: r.TimestampDelta, OffsetDelta: r.OffsetDelta, Key: r.Key, Value: r.Value}
	for _, h := range r.Headers {
		k.Headers = append(k.Headers, kmsg.Header{Key: h.Key, Value: h.Value})
	}
	k.Length = int32(len(k.AppendTo(nil)) - 1) // length 0 takes one byte
	return k.AppendTo(nil)
}

func compressFranzGo(t *testing.T, codec Codec, data []byte) []byte {
	codecs := map[Codec]kgo.CompressionCodec{Gzip: kgo.GzipCompression(), Snappy: kgo.SnappyCompression(), LZ4: kgo.Lz4Compression(), Zstd: kgo.ZstdCompression()}
	compressor, err := kgo.DefaultCompressor(codecs[codec])
	if err != nil {
		t.Fatal(err)
	}
	out, got := compressor.Compress(new(bytes.Buffer), data)
	if got != kgo.CompressionCodecType(codec) {
		t.Fatalf("franz-go compressed with %v, want %v", got, codec)
	}
	return out
}

// A log of all kinds of batches, as a consumer meets it.
func TestFranzGoReadsTheVectors(t *testing.T) {
	var log []byte
	for _, v := range []string{v5, v3, v7, v8} {
		log = append(log, unhex(t, v)...)
	}
	var got []Record
	for _, r := range readFranzGo(t, log) {
		got = append(got, fromFranzGo(r))
	}
	var want []Record
	for rest := log; ; {
		batch, err := Parse(rest)
		if err == ErrEnd {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		rest = rest[batch.Size():]
		records, err := batch.Records()
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, records...)
	}
	// franz-go drops what lies before the offset it has reached: V8 comes after V7 here.
	want = want[:len(want)-1]
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Record{}, "OffsetDelta", "TimestampDelta", "Position", "Size")); diff != "" {
		t.Errorf("records (-ours +franz-go)\n%s", diff)
	}
}
