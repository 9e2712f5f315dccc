package files

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/storage"
	"loglab/labs/inspect"
	"loglab/labs/view"
)

// partsOf takes the bytes from..to, to exclusive, of a file apart. What reaches over them is whole. Of a .log that is read
// already, s is the segment.
func partsOf(f File, s *segment, from, to int) []inspect.Part {
	base, _ := BaseOffset(f.Name)
	switch kindOf(f.Name) {
	case storage.LogSuffix:
		if s == nil || s.log.Name != f.Name {
			s = &segment{log: f}
			s.readLog(base, func(record.Batch) {})
		}
		return s.logParts(from, to)
	case storage.OffsetIndexSuffix:
		return entries(f.Bytes, from, to, 0, offsetEntrySize, false, true, offsetEntry(base))
	case storage.TimeIndexSuffix:
		return entries(f.Bytes, from, to, 0, timeEntrySize, false, true, timeEntry(base))
	case storage.TransactionIndexSuffix:
		return entries(f.Bytes, from, to, 0, transactionEntrySize, false, false, transactionEntry)
	case storage.ProducerSnapshotSuffix:
		return snapshotParts(f.Bytes, from, to)
	case checkpoint:
		return checkpointParts(f.Bytes)
	}
	return []inspect.Part{{Raw: f.Bytes, Field: view.ByteField{Name: "content", Value: kafka.Count(len(f.Bytes), "byte"), Meaning: "not a file whose fields are known here"}}}
}

// entries takes the entries of an index apart that reach into from..to; the first begins at byte start. Zeros behind the
// last are no entries where a broker fills the file up.
func entries(b []byte, from, to, start, size int, covered, filled bool, numbers []number) []inspect.Part {
	end := len(b)
	if filled {
		end = entriesIn(b, size)
	}
	var parts []inspect.Part
	for i := max(0, (from-start)/size); start+i*size < min(end, to); i++ {
		at := start + i*size
		parts = append(parts, entry(at, b[at:min(at+size, end)], fmt.Sprintf("entry %d ", i), covered, numbers)...)
	}
	if end < len(b) && to > end {
		parts = append(parts, spare(end, b[end:]))
	}
	return parts
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// snapshotParts takes a producer snapshot apart.
func snapshotParts(b []byte, from, to int) []inspect.Part {
	const covered = 6 // the CRC covers what follows it
	head := b[:min(snapshotHeaderSize, len(b))]
	parts := entry(0, head, "", false, snapshotHeader)
	if len(head) == snapshotHeaderSize {
		stored, computed := binary.BigEndian.Uint32(b[2:]), crc32.Checksum(b[covered:], castagnoli)
		parts[1].Field.Value, parts[1].Field.Meaning = fmt.Sprintf("%08x", stored), fmt.Sprintf("CRC-32C of bytes %d to %d: right", covered, len(b)-1)
		if stored != computed {
			parts[1].Field.Meaning = fmt.Sprintf("CRC-32C of bytes %d to %d: wrong, they have %08x", covered, len(b)-1, computed)
		}
		parts[2].Covered = true
	}
	if from >= snapshotHeaderSize {
		parts = nil
	}
	return append(parts, entries(b, from, to, snapshotHeaderSize, snapshotEntrySize, true, false, snapshotEntry)...)
}

// maxCheckpointLines is how many lines of a checkpoint are taken apart; a partition has one for each leader epoch.
const maxCheckpointLines = 100_000

// checkpointParts takes leader-epoch-checkpoint apart: version, number of entries, and a line "epoch startOffset" each.
//
// Source: LeaderEpochCheckpointFile, CheckpointFile.
func checkpointParts(b []byte) []inspect.Part {
	var parts []inspect.Part
	at := 0
	add := func(n int, name, meaning string) {
		if n == 0 {
			return
		}
		value := strings.TrimRight(string(b[at:at+n]), " \n")
		parts = append(parts, inspect.Part{At: at, Raw: b[at : at+n], Field: view.ByteField{Name: name, Value: record.Printable([]byte(value)), Meaning: meaning}})
		at += n
	}
	for line := 0; at < len(b) && line < maxCheckpointLines; line++ {
		end := len(b)
		if i := bytes.IndexByte(b[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		switch line {
		case 0:
			add(end-at, "version", "of the file; a line feed ends it")
		case 1:
			add(end-at, "entries", "lines that follow")
		default:
			if space := bytes.IndexByte(b[at:end], ' '); space >= 0 {
				add(space+1, fmt.Sprintf("entry %d epoch", line-2), "a leader epoch; a space ends it")
			}
			add(end-at, fmt.Sprintf("entry %d startOffset", line-2), "the first offset that its leader could append at")
		}
	}
	if at < len(b) {
		parts = append(parts, left(at, b[at:], fmt.Sprintf("more than %s lines", kafka.Thousands(maxCheckpointLines))))
	}
	return parts
}

// logParts takes the batches apart that reach into from..to, and what is left behind the last.
func (s *segment) logParts(from, to int) []inspect.Part {
	var parts []inspect.Part
	for i := max(0, s.batchHolding(from)); i < len(s.starts) && s.starts[i] < to; i++ {
		at, b := s.starts[i], s.batch(i)
		fields, _ := record.AnatomyBetween(b.Bytes(), from-at, to-at) // it was sound
		parts = append(parts, batchParts(at, b, fields)...)
	}
	if end := len(s.Bytes); s.fault != nil && end < to {
		parts = append(parts, s.faultParts(end, from, to)...)
	}
	return parts
}

// batchParts are the fields of a batch at a position of the file.
func batchParts(at int, b record.Batch, fields []record.Field) []inspect.Part {
	var parts []inspect.Part
	for _, f := range fields {
		p := inspect.Part{At: at + f.Offset, Raw: f.Raw, Field: inspect.FieldOf(f), Covered: inspect.InCRC(f)}
		if f.Name == "crc" {
			p.Field.Meaning = fmt.Sprintf("CRC-32C of bytes %s to %s of the file, the underlined ones: right", kafka.Thousands(at+record.CRCStart), kafka.Thousands(at+b.Size()-1))
			if b.CheckCRC() != nil {
				p.Field.Meaning = strings.TrimSuffix(p.Field.Meaning, "right") + fmt.Sprintf("wrong, they have %08x", crc32.Checksum(b.Bytes()[record.CRCStart:], castagnoli))
			}
		}
		parts = append(parts, p)
	}
	return parts
}

// faultParts takes apart what can be of the batch at fault; what follows it is not read.
func (s *segment) faultParts(at, from, to int) []inspect.Part {
	rest := s.log.Bytes[at:]
	b, err := record.Parse(rest)
	if err != nil {
		parts := entry(at, rest[:min(len(rest), record.HeaderSize)], "", false, batchHeader)
		if n := len(rest) - record.HeaderSize; n > 0 {
			parts = append(parts, left(at+record.HeaderSize, rest[record.HeaderSize:], s.fault.Reason))
		}
		return parts
	}
	var parts []inspect.Part
	if b.Size() > MaxBatch {
		parts = entry(at, rest[:record.HeaderSize], "", false, batchHeader)
		parts = append(parts, left(at+record.HeaderSize, b.Bytes()[record.HeaderSize:], s.fault.Reason))
	} else {
		fields, _ := record.AnatomyBetween(b.Bytes(), from-at, to-at) // its last field names the fault
		parts = batchParts(at, b, fields)
	}
	if end := at + b.Size(); end < len(s.log.Bytes) && end < to {
		parts = append(parts, inspect.Part{At: end, Raw: s.log.Bytes[end:], Field: view.ByteField{
			Name: "not read", Value: kafka.Count(len(s.log.Bytes)-end, "byte"), Meaning: "what follows a batch at fault: " + s.fault.String(),
		}})
	}
	return parts
}
