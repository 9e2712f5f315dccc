package record

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"loglab/engine/kafka"
)

// Producer is the part of a batch's header that makes it idempotent.
type Producer struct {
	ID           kafka.ProducerID
	Epoch        kafka.ProducerEpoch
	BaseSequence kafka.Sequence
}

// noProducer is what a batch without a producer id says.
var noProducer = Producer{ID: -1, Epoch: -1, BaseSequence: NoSequence}

// Options are what a batch is built with. The zero value is the batch of a plain producer:
// uncompressed, CreateTime, no producer id.
type Options struct {
	Codec         Codec
	TimestampType TimestampType
	Transactional bool
	Control       bool
	// Producer is nil for a producer without id. A transactional batch needs one. In a control
	// batch its BaseSequence is -1.
	Producer *Producer
}

// Builder writes one batch, record by record, as a producer does: offset deltas count up from 0 and
// the first record's timestamp is the base timestamp. It keeps its buffer over Reset. It is not
// safe for concurrent use, and a copy shares the buffer: use Clone.
//
// Source: org.apache.kafka.common.record.MemoryRecordsBuilder.
type Builder struct {
	options       Options
	buffer        []byte // room for the header, then the records, not compressed
	count         int32
	baseTimestamp kafka.Timestamp
	maxTimestamp  kafka.Timestamp
	compressor    *compressor
}

// ErrNoRecords is the error of Build on a batch without records, which no producer sends.
var ErrNoRecords = errors.New("a batch needs at least one record")

// NewBuilder starts an empty batch.
func NewBuilder(options Options) *Builder {
	b := &Builder{options: options}
	b.Reset()
	return b
}

// Append adds a record. A nil key or value is null, an empty one is empty. The builder copies all
// bytes.
func (b *Builder) Append(ts kafka.Timestamp, key, value []byte, headers ...Header) {
	if b.count == 0 {
		b.baseTimestamp, b.maxTimestamp = ts, ts
	} else if ts > b.maxTimestamp {
		b.maxTimestamp = ts
	}
	b.buffer = appendRecord(b.buffer, b.count, int64(ts-b.baseTimestamp), key, value, headers)
	b.count++
}

// Count is the number of records appended since the last Reset.
func (b *Builder) Count() int { return int(b.count) }

// Size is the number of bytes that the batch has now without compression, header included:
// HeaderSize if it is empty.
func (b *Builder) Size() int { return len(b.buffer) }

// SizeWith is what Size would be after appending this record. A producer closes a batch when this
// passes batch.size.
//
// Source: MemoryRecordsBuilder.hasRoomFor.
func (b *Builder) SizeWith(ts kafka.Timestamp, key, value []byte, headers ...Header) int {
	var timestampDelta int64
	if b.count > 0 {
		timestampDelta = int64(ts - b.baseTimestamp)
	}
	return len(b.buffer) + RecordSize(b.count, timestampDelta, key, value, headers...)
}

// SetProducer gives the batch another producer id, epoch and base sequence; nil takes them away. A
// producer knows the base sequence only when the batch is sent.
//
// Source: MemoryRecordsBuilder.setProducerState.
func (b *Builder) SetProducer(p *Producer) { b.options.Producer = p }

// Build gives the batch as a producer sends it: base offset 0, leader epoch -1, with its CRC. The
// slice is new and belongs to the caller. The builder stays as it is, so Build can be called again
// after SetProducer or more records.
//
// Errors: ErrNoRecords; an option that Kafka refuses too; a batch over 2 GiB.
func (b *Builder) Build() ([]byte, error) {
	batch, err := b.Finish()
	if err != nil {
		return nil, err
	}
	return bytes.Clone(batch), nil
}

// Finish gives what Build gives without a copy: the slice may be the builder's own memory, and holds only
// until the builder's next Append, SetProducer, Finish or Reset. It is for a batch that is sent as it is and
// a builder that is dropped or reset afterwards.
func (b *Builder) Finish() ([]byte, error) {
	if b.count == 0 {
		return nil, ErrNoRecords
	}
	producer, err := b.options.producer()
	if err != nil {
		return nil, err
	}
	return b.finish(Batch{
		PartitionLeaderEpoch: kafka.NoLeaderEpoch,
		Attributes:           b.options.attributes(),
		LastOffsetDelta:      b.count - 1,
		BaseTimestamp:        b.baseTimestamp,
		MaxTimestamp:         b.maxTimestamp,
		ProducerID:           producer.ID,
		ProducerEpoch:        producer.Epoch,
		BaseSequence:         producer.BaseSequence,
		RecordsCount:         b.count,
	})
}

// finish puts a header before the records, compressed as it says; see Finish for whose memory it is.
func (b *Builder) finish(header Batch) ([]byte, error) {
	batch := b.buffer[:len(b.buffer):len(b.buffer)]
	if codec := header.Attributes.Codec(); codec != None {
		if b.compressor == nil {
			b.compressor = new(compressor)
		}
		var err error
		if batch, err = b.compressor.append(make([]byte, HeaderSize), codec, b.buffer[HeaderSize:]); err != nil {
			return nil, fmt.Errorf("compress with %v: %w", codec, err)
		}
	}
	if len(batch)-lengthOverhead > maxBatchLength {
		return nil, fmt.Errorf("the batch has %d bytes, allowed are %d", len(batch), maxBatchLength+lengthOverhead)
	}
	encodeHeader(batch, header)
	return batch, nil
}

// Reset empties the batch and keeps options and buffer.
func (b *Builder) Reset() {
	if b.buffer == nil {
		b.buffer = make([]byte, HeaderSize, 1024)
	}
	b.buffer = b.buffer[:HeaderSize]
	b.count = 0
	b.baseTimestamp, b.maxTimestamp = kafka.NoTimestamp, kafka.NoTimestamp
}

// Clone gives a builder with the same options and records that shares nothing with b.
func (b *Builder) Clone() *Builder {
	c := *b
	c.buffer = append([]byte(nil), b.buffer...)
	c.compressor = nil
	if b.options.Producer != nil {
		producer := *b.options.Producer
		c.options.Producer = &producer
	}
	return &c
}

func (o Options) attributes() Attributes {
	a := Attributes(o.Codec) & codecMask
	if o.TimestampType == LogAppendTime {
		a |= logAppendTimeBit
	}
	if o.Transactional {
		a |= transactionalBit
	}
	if o.Control {
		a |= controlBit
	}
	return a
}

// producer checks the options against what Kafka's builder allows.
func (o Options) producer() (Producer, error) {
	if o.Codec < None || o.Codec > Zstd {
		return Producer{}, fmt.Errorf("codec is %d, allowed are %d to %d", o.Codec, None, Zstd)
	}
	if o.Producer == nil {
		if o.Transactional {
			return Producer{}, errors.New("a transactional batch needs a producer id")
		}
		return noProducer, nil
	}
	p := *o.Producer
	if p.ID < 0 || p.Epoch < 0 {
		return Producer{}, fmt.Errorf("producer id is %d and epoch %d, both must be 0 or more", p.ID, p.Epoch)
	}
	switch {
	case o.Control && p.BaseSequence != NoSequence:
		return Producer{}, fmt.Errorf("base sequence is %d, a control batch has %d", p.BaseSequence, NoSequence)
	case !o.Control && p.BaseSequence < 0:
		return Producer{}, fmt.Errorf("base sequence is %d, allowed are 0 to %d", p.BaseSequence, math.MaxInt32)
	}
	return p, nil
}
