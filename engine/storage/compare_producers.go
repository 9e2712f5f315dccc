package storage

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// producerComparison holds the snapshot of the producers that has the segment's name, which tells of the
// time before its base offset, against the log.
type producerComparison struct {
	findings
	entries  []ProducerSnapshotEntry
	waiting  map[kafka.ProducerID]int // entries whose producer has not written here yet
	expected kafka.Offset             // where the next batch begins if nothing was cleaned; NoOffset: something was
}

// forgottenAfter is how long a producer may be idle before a broker may have forgotten it and takes any
// sequence: the default of producer.id.expiration.ms.
const forgottenAfter kafka.Timestamp = 86_400_000

func newProducerComparison(name string, b []byte, base kafka.Offset) *producerComparison {
	c := &producerComparison{findings: findings{file: name}, waiting: map[kafka.ProducerID]int{}, expected: base}
	if !c.checkHeader(b) {
		return c
	}
	c.entries, _ = ParseProducerSnapshot(b)
	for i, e := range c.entries {
		_, twice := c.waiting[e.ProducerID]
		c.waiting[e.ProducerID] = i
		switch {
		case twice:
			c.reject(i, fmt.Sprintf("producer %d", e.ProducerID), "one entry a producer: there is one before")
		case e.LastOffset >= base:
			c.reject(i, fmt.Sprintf("last offset %d of producer %d", e.LastOffset, e.ProducerID), fmt.Sprintf("below %d, of which the snapshot is", base))
		case e.TransactionFirstOffset >= base:
			c.reject(i, fmt.Sprintf("an open transaction of producer %d from offset %d on", e.ProducerID, e.TransactionFirstOffset),
				fmt.Sprintf("below %d, of which the snapshot is", base))
		case e.LastOffset >= 0 && (e.OffsetDelta < 0 || kafka.Offset(e.OffsetDelta) > e.LastOffset):
			c.reject(i, fmt.Sprintf("offset delta %d of producer %d", e.OffsetDelta, e.ProducerID), fmt.Sprintf("0 to %d, its last offset", e.LastOffset))
		}
	}
	return c
}

// checkHeader says whether the entries can be read.
func (c *producerComparison) checkHeader(b []byte) bool {
	wrong := func(kind FindingKind, at int64, found, expected string) bool {
		c.add(Finding{Kind: kind, Entry: -1, Byte: at, Offset: kafka.NoOffset, Found: found, Expected: expected})
		return false
	}
	if len(b) < producerSnapshotHeaderSize {
		return wrong(WrongLength, 0, kafka.Count(len(b), "byte"), fmt.Sprintf("a header of %d", producerSnapshotHeaderSize))
	}
	if version := int16(binary.BigEndian.Uint16(b)); version != producerSnapshotVersion {
		return wrong(WrongVersion, 0, fmt.Sprintf("version %d", version), fmt.Sprint(producerSnapshotVersion))
	}
	if stored, computed := binary.BigEndian.Uint32(b[2:]), crc32.Checksum(b[6:], castagnoli); stored != computed {
		return wrong(WrongChecksum, 2, fmt.Sprintf("CRC %08x", stored), fmt.Sprintf("%08x, as the bytes from 6 on have", computed))
	}
	count, rest := int32(binary.BigEndian.Uint32(b[6:])), len(b)-producerSnapshotHeaderSize
	if count < 0 || int64(count)*producerSnapshotEntrySize != int64(rest) {
		return wrong(WrongLength, 6, fmt.Sprintf("a count of %d entries", count), fmt.Sprintf("as many as the %d bytes behind it hold, each of %d", rest, producerSnapshotEntrySize))
	}
	return true
}

// reject notes what is wrong with entry i, and leaves it out from here on.
func (c *producerComparison) reject(i int, found, expected string) {
	e := c.entries[i]
	delete(c.waiting, e.ProducerID)
	c.add(Finding{Kind: WrongProducer, Entry: i, Byte: producerSnapshotHeaderSize + int64(i)*producerSnapshotEntrySize, Offset: e.LastOffset, Found: found, Expected: expected})
}

// addBatch judges the entry of the batch's producer, if this is the first of it that tells something.
// Sequences are compared only while no batch is missing before this one: the cleaner may have taken it.
//
// Source: ProducerAppendInfo.checkProducerEpoch and checkSequence.
func (c *producerComparison) addBatch(b *record.Batch) {
	if b.BaseOffset != c.expected {
		c.expected = kafka.NoOffset
	}
	if c.expected != kafka.NoOffset {
		c.expected = b.NextOffset()
	}
	i, is := c.waiting[b.ProducerID]
	if !is {
		return
	}
	e := c.entries[i]
	next := record.IncrementSequence(e.LastSequence, 1)
	switch {
	case b.MaxTimestamp-e.Timestamp >= forgottenAfter:
		delete(c.waiting, b.ProducerID)
	case b.ProducerEpoch < e.ProducerEpoch:
		c.reject(i, fmt.Sprintf("epoch %d of producer %d", e.ProducerEpoch, e.ProducerID),
			fmt.Sprintf("at most %d, with which it writes at offset %d", b.ProducerEpoch, b.BaseOffset))
	case b.ProducerEpoch > e.ProducerEpoch:
		delete(c.waiting, b.ProducerID)
	case b.Attributes.Control() || b.BaseSequence < 0:
		// the producer goes on after it
	case c.expected != kafka.NoOffset && e.LastSequence >= 0 && b.BaseSequence != next:
		c.reject(i, fmt.Sprintf("last sequence %d of producer %d", e.LastSequence, e.ProducerID),
			fmt.Sprintf("the one before %d, with which it goes on at offset %d", b.BaseSequence, b.BaseOffset))
	default:
		delete(c.waiting, b.ProducerID)
	}
}
