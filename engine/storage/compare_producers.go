package storage

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"loglab/engine/kafka"
)

// producerComparison is a snapshot that was held against its segment's base offset.
type producerComparison struct {
	findings
	entries int
	read    bool // not: the header is wrong, and no entry was compared
}

// outcome counts the entries. There is at most one finding of each.
func (c *producerComparison) outcome() ComparedFile {
	f := ComparedFile{Name: c.file, Entries: c.entries, NotCompared: c.entries, Findings: len(c.list) + c.more}
	if c.read {
		f.NotCompared, f.Agree = 0, c.entries-f.Findings
	}
	return f
}

// compareProducerSnapshot holds the snapshot of the producers that has the segment's name against the base
// offset, of which it is. How a producer goes on in the segment says nothing: a broker forgets one that is idle
// for producer.id.expiration.ms, and a follower takes what the leader has.
func compareProducerSnapshot(name string, b []byte, base kafka.Offset) producerComparison {
	f := producerComparison{findings: findings{file: name}, entries: max(0, len(b)-producerSnapshotHeaderSize) / producerSnapshotEntrySize}
	if !f.checkSnapshotHeader(b) {
		return f
	}
	entries, _ := ParseProducerSnapshot(b)
	f.read = true
	seen := map[kafka.ProducerID]bool{}
	for i, e := range entries {
		twice := seen[e.ProducerID]
		seen[e.ProducerID] = true
		reject := func(found, expected string) {
			f.add(Finding{Kind: WrongProducer, Entry: i, Byte: producerSnapshotHeaderSize + int64(i)*producerSnapshotEntrySize, Offset: e.LastOffset, Found: found, Expected: expected})
		}
		switch {
		case twice:
			reject(fmt.Sprintf("producer %d", e.ProducerID), "one entry a producer: there is one before")
		case e.LastOffset >= base:
			reject(fmt.Sprintf("last offset %d of producer %d", e.LastOffset, e.ProducerID), fmt.Sprintf("below %d, of which the snapshot is", base))
		case e.TransactionFirstOffset >= base:
			reject(fmt.Sprintf("an open transaction of producer %d from offset %d on", e.ProducerID, e.TransactionFirstOffset),
				fmt.Sprintf("below %d, of which the snapshot is", base))
		case e.LastOffset >= 0 && (e.OffsetDelta < 0 || kafka.Offset(e.OffsetDelta) > e.LastOffset):
			reject(fmt.Sprintf("offset delta %d of producer %d", e.OffsetDelta, e.ProducerID), fmt.Sprintf("0 to %d, its last offset", e.LastOffset))
		}
	}
	return f
}

// checkSnapshotHeader says whether the entries can be read.
func (f *findings) checkSnapshotHeader(b []byte) bool {
	wrong := func(kind FindingKind, at int64, found, expected string) bool {
		f.add(Finding{Kind: kind, Entry: -1, Byte: at, Offset: kafka.NoOffset, Found: found, Expected: expected})
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
