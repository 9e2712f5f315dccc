//go:build judge

package judge

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/record"
)

const batchesACodec = 1000

// batchCase is a batch that both sides build and read.
type batchCase struct {
	options record.Options
	base    kafka.Offset
	epoch   kafka.LeaderEpoch
	records []drawnRecord
}

func drawBatch(rnd *prng.Rand, codec record.Codec) batchCase {
	c := batchCase{
		options: record.Options{Codec: codec, TimestampType: record.TimestampType(rnd.IntN(2))},
		base:    kafka.Offset(rnd.IntN(1 << 50)),
		epoch:   kafka.LeaderEpoch(rnd.IntN(1000)),
		records: drawRecords(rnd, 20, startTime, 100_000),
	}
	if rnd.IntN(2) == 0 {
		c.options.Producer = &record.Producer{
			ID: kafka.ProducerID(rnd.IntN(1 << 50)), Epoch: kafka.ProducerEpoch(rnd.IntN(1 << 15)), BaseSequence: kafka.Sequence(rnd.IntN(1 << 31)),
		}
		c.options.Transactional = rnd.IntN(2) == 0
	}
	return c
}

// logAppendTime is the leader's clock where it counts.
const logAppendTime = startTime + 12345

// build is our batch as the leader stores it.
func (c batchCase) build() []byte {
	options := c.options
	options.TimestampType = record.CreateTime // what a producer sends
	batch := build(c.records, options)
	record.Stamp(batch, c.base, c.epoch)
	if c.options.TimestampType == record.LogAppendTime {
		record.StampLogAppendTime(batch, logAppendTime)
	}
	return batch
}

// question asks Kafka to read our batch, then to build its own of the same records.
func (c batchCase) question(ours []byte) string {
	producer := record.Producer{ID: -1, Epoch: -1, BaseSequence: -1}
	if c.options.Producer != nil {
		producer = *c.options.Producer
	}
	words := []string{hex.EncodeToString(ours), c.options.Codec.String(), c.options.TimestampType.String(), fmt.Sprint(int64(logAppendTime)),
		fmt.Sprint(c.base), fmt.Sprint(c.epoch), fmt.Sprint(producer.ID), fmt.Sprint(producer.Epoch), fmt.Sprint(producer.BaseSequence),
		fmt.Sprint(c.options.Transactional)}
	for _, r := range c.records {
		words = append(words, recordText(fmt.Sprint(r.timestamp), r.key, r.value, r.headers))
	}
	return strings.Join(words, " ")
}

// recordText is what both sides say of a record: "TIMESTAMP:KEY:VALUE:HEADER=VALUE…", all but the first in
// hex, "-" for null.
func recordText(timestamp string, key, value []byte, headers []record.Header) string {
	text := timestamp + ":" + hexOrNull(key) + ":" + hexOrNull(value)
	for _, h := range headers {
		text += ":" + hex.EncodeToString([]byte(h.Key)) + "=" + hexOrNull(h.Value)
	}
	return text
}

func hexOrNull(b []byte) string {
	if b == nil {
		return "-"
	}
	return hex.EncodeToString(b)
}

// readText is what our side reads in a batch: its CRC, the rest of the header, then each record.
func readText(t *testing.T, raw []byte) string {
	t.Helper()
	batch, err := record.Parse(raw)
	if err == nil {
		err = batch.CheckCRC()
	}
	var records []record.Record
	if err == nil {
		records, err = batch.Records()
	}
	if err != nil {
		t.Errorf("%x\n cannot be read: %v", raw, err)
	}
	a := batch.Attributes
	text := fmt.Sprint(batch.CRC, batch.BaseOffset, batch.LastOffset(), batch.NextOffset(), batch.Size(), batch.PartitionLeaderEpoch,
		batch.MaxTimestamp, batch.ProducerID, batch.ProducerEpoch, batch.BaseSequence, batch.LastSequence(), batch.RecordsCount)
	text += fmt.Sprintf(" %v %v %t %t", a.Codec(), a.TimestampType(), a.Transactional(), a.Control())
	for _, r := range records {
		text += " " + recordText(fmt.Sprintf("%d@%d", r.Offset, r.Timestamp), r.Key, r.Value, r.Headers)
	}
	return text
}

// withoutCRCAndSize cuts what differs when two compressors write one batch.
func withoutCRCAndSize(text string) string {
	words := strings.Split(text, " ")
	words[0], words[4] = "", ""
	return strings.Join(words, " ")
}

// Kafka's DefaultRecordBatch reads in our batches what we read, and we read in those of its
// MemoryRecordsBuilder what it reads. Without compression both are the same bytes.
func TestBatches(t *testing.T) {
	for codec := record.None; codec <= record.Zstd; codec++ {
		t.Run(codec.String(), func(t *testing.T) {
			rnd := draws(t)
			var cases []batchCase
			var ours [][]byte
			var questions []string
			records := 0
			for range batchesACodec {
				c := drawBatch(&rnd, codec)
				raw := c.build()
				cases, ours, questions = append(cases, c), append(ours, raw), append(questions, c.question(raw))
				records += len(c.records)
			}
			for i, answer := range answers(t, kafkaProgram(t, "Batches"), questions) {
				if compareBatch(t, cases[i], ours[i], answer); t.Failed() {
					t.Fatalf("seed %d, batch %d of %s, %+v", *seed, i, codec, cases[i].options)
				}
			}
			t.Logf("%d batches, %d records", len(cases), records)
		})
	}
}

// compareBatch holds one batch of ours against Kafka's answer.
func compareBatch(t *testing.T, c batchCase, ours []byte, answer string) {
	t.Helper()
	said, itsBatch, _ := strings.Cut(answer, " | ")
	text := readText(t, ours)
	if text != said {
		t.Errorf("%x\n we read     %s\n Kafka reads %s", ours, text, said)
	}
	theirs, err := hex.DecodeString(itsBatch)
	if err != nil {
		t.Fatal(err)
	}
	if c.options.Codec == record.None && !bytes.Equal(ours, theirs) {
		t.Errorf("we write     %x\nKafka writes %x", ours, theirs)
	}
	if read := readText(t, theirs); withoutCRCAndSize(read) != withoutCRCAndSize(text) {
		t.Errorf("%x\n of Kafka's batch we read %s\n of ours                  %s", theirs, read, text)
	}
}

// Transaction markers are the same bytes.
func TestMarkers(t *testing.T) {
	rnd := draws(t)
	var ours, questions []string
	for i := range 1000 {
		marker := record.EndTxnMarker{Type: record.ControlType(rnd.IntN(2)), CoordinatorEpoch: int32(rnd.IntN(1 << 31))}
		timestamp, id, epoch := startTime+kafka.Timestamp(i), kafka.ProducerID(rnd.IntN(1<<50)), kafka.ProducerEpoch(rnd.IntN(1<<15))
		base, leaderEpoch := kafka.Offset(rnd.IntN(1<<50)), kafka.LeaderEpoch(rnd.IntN(1000))
		raw, err := marker.Build(timestamp, id, epoch)
		if err != nil {
			t.Fatal(err)
		}
		record.Stamp(raw, base, leaderEpoch)
		ours = append(ours, hex.EncodeToString(raw))
		questions = append(questions, fmt.Sprint("marker ", marker.Type, base, timestamp, leaderEpoch, id, epoch, marker.CoordinatorEpoch))
	}
	for i, theirs := range answers(t, kafkaProgram(t, "Batches"), questions) {
		if ours[i] != theirs {
			t.Fatalf("seed %d: %s\n we write    %s\n Kafka writes %s", *seed, questions[i], ours[i], theirs)
		}
	}
	t.Logf("%d markers", len(ours))
}
