package files

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/storage"
)

// Bounds of what is read of one .log file.
const (
	MaxBatch        = 8 << 20  // bytes of one batch, as it is in the file and decompressed
	MaxDecompressed = 64 << 20 // bytes of the records of a file, decompressed
)

// Fault is where a file is not what a broker writes, and why. What lies before it is sound.
type Fault struct {
	Byte   int // of the field at fault
	Reason string
}

// String gives place and reason in one line.
func (f *Fault) String() string {
	return fmt.Sprintf("byte %s: %s", kafka.Thousands(f.Byte), f.Reason)
}

// segment is one .log file with its indexes, as far as they are sound.
type segment struct {
	storage.Segment        // Bytes end before the fault; the indexes have sound entries only
	log, index, times File // whole; no name: there is none
	starts            []int
	decompressed      int    // bytes of all records
	fault             *Fault // nil: the log is sound to its end

	findings []storage.Finding // where the files disagree, as far as they are listed
	compared []storage.ComparedFile
}

// batch parses the i-th batch.
func (s *segment) batch(i int) record.Batch {
	b, err := record.Parse(s.Bytes[s.starts[i]:])
	if err != nil {
		panic(fmt.Sprintf("%s: batch %d at byte %d was sound: %v", s.log.Name, i, s.starts[i], err))
	}
	return b
}

// batchAt gives the place of the batch that begins at a position, or -1.
func (s *segment) batchAt(position int) int {
	if i := s.batchHolding(position); i >= 0 && s.starts[i] == position {
		return i
	}
	return -1
}

// batchHolding gives the place of the last batch that begins at or before a position, or -1.
func (s *segment) batchHolding(position int) int {
	low, high := 0, len(s.starts)
	for low < high {
		if middle := (low + high) / 2; s.starts[middle] <= position {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low - 1
}

// segments reads all segments of a directory: a .log file each, with the files of its name.
func (d Directory) segments() []*segment {
	bases := d.bases()
	list := make([]*segment, len(bases))
	for i := range bases {
		list[i] = d.read(bases, i)
	}
	return list
}

// segment reads the one of a base offset alone; nil: there is none.
func (d Directory) segment(base kafka.Offset) *segment {
	bases := d.bases()
	if i := slices.Index(bases, base); i >= 0 {
		return d.read(bases, i)
	}
	return nil
}

// segmentOf reads the one whose base offset a file is named after; nil: there is none.
func (d Directory) segmentOf(name string) *segment {
	if base, ok := BaseOffset(name); ok {
		return d.segment(base)
	}
	return nil
}

// bases are the base offsets of the segments, in order.
func (d Directory) bases() (list []kafka.Offset) {
	for _, f := range d.Files {
		if base, ok := BaseOffset(f.Name); ok && f.Name == logName(base) { // else something else, or a segment that is being deleted or written
			list = append(list, base)
		}
	}
	return list
}

// read reads the i-th segment.
func (d Directory) read(bases []kafka.Offset, i int) *segment {
	base, next := bases[i], kafka.NoOffset
	if i+1 < len(bases) {
		next = bases[i+1]
	}
	s := &segment{}
	s.log, _ = d.file(logName(base))
	s.index, _ = d.file(storage.SegmentFileName(base, storage.OffsetIndexSuffix))
	s.times, _ = d.file(storage.SegmentFileName(base, storage.TimeIndexSuffix))
	comparison := storage.NewComparison(s.log.Name, d.beside(base, next))
	s.readLog(base, comparison.Add)
	s.finish(comparison)
	s.readIndex()
	s.readTimes()
	return s
}

// sound is what a lookup goes through.
func sound(list []*segment) []storage.Segment {
	segments := make([]storage.Segment, len(list))
	for i, s := range list {
		segments[i] = s.Segment
	}
	return segments
}

// readLog reads batch after batch up to the end or the first that no broker has written, and hands on each.
func (s *segment) readLog(base kafka.Offset, add func(record.Batch)) {
	s.BaseOffset, s.FirstOffset, s.LastOffset, s.LargestTimestamp = base, kafka.NoOffset, kafka.NoOffset, kafka.NoTimestamp
	at, after := 0, base-1
	for {
		b, err := record.Parse(s.log.Bytes[at:])
		if errors.Is(err, record.ErrEnd) {
			break
		}
		var records int
		if err == nil {
			records, err = checkBatch(b, after, MaxDecompressed-s.decompressed)
		}
		if err != nil {
			s.fault = faultAt(at, err)
			break
		}
		if len(s.starts) == 0 {
			s.FirstOffset = b.BaseOffset
		}
		add(b)
		s.starts = append(s.starts, at)
		s.decompressed += records
		s.LargestTimestamp = max(s.LargestTimestamp, b.MaxTimestamp)
		s.LastOffset, after = b.LastOffset(), b.LastOffset()
		at += b.Size()
	}
	s.Bytes = s.log.Bytes[:at:at]
}

// checkBatch says what is wrong with a batch behind the offset after, or how many bytes its records are once
// decompressed, at most left of them.
func checkBatch(b record.Batch, after kafka.Offset, left int) (records int, err error) {
	wrong := func(at int, format string, args ...any) (int, error) {
		return 0, &record.PositionError{Kind: record.ErrCorrupt, Position: at, What: fmt.Sprintf(format, args...)}
	}
	if b.Size() > MaxBatch {
		return wrong(atBatchLength, "the batch has %s bytes, at most %s are read here", kafka.Thousands(b.Size()), kafka.Thousands(MaxBatch))
	}
	if err := b.CheckCRC(); err != nil {
		return 0, err
	}
	if b.LastOffsetDelta < 0 || b.LastOffset() < b.BaseOffset {
		return wrong(atLastOffsetDelta, "lastOffsetDelta is %d behind baseOffset %d", b.LastOffsetDelta, b.BaseOffset)
	}
	if b.BaseOffset <= after {
		return wrong(0, "baseOffset is %d, must be above %d", b.BaseOffset, after)
	}
	scan := b.Scan()
	for scan.Next() {
		if records += scan.Record().Size; records > MaxBatch {
			return wrong(record.HeaderSize, "the records are more than %s bytes once decompressed, as many are read of one batch", kafka.Thousands(MaxBatch))
		}
		if records > left {
			return wrong(record.HeaderSize, "with this batch the records are more than %s bytes once decompressed, as many are read of one file", kafka.Thousands(MaxDecompressed))
		}
	}
	return records, scan.Err()
}

// faultAt is an error of the batch at a position.
func faultAt(position int, err error) *Fault {
	var at *record.PositionError
	if errors.As(err, &at) {
		return &Fault{Byte: position + at.Position, Reason: fmt.Sprintf("%v: %s", at.Kind, at.What)}
	}
	return &Fault{Byte: position, Reason: err.Error()}
}

// readIndex takes the entries of the offset index through which a lookup finds what is there: each leads to the first byte
// of a batch that begins at or below its offset. That is less than to agree with the log: of batches that a follower or the
// cleaner appended at once, older brokers wrote the last one's offset with the first one's position.
func (s *segment) readIndex() {
	const size = offsetEntrySize
	used := entriesIn(s.index.Bytes, size)
	list, _ := storage.ParseOffsetIndex(s.index.Bytes[:min(used, (len(s.starts)+2)*size)], s.BaseOffset)
	n := 0
	for _, e := range list {
		if b := s.batchAt(e.Position); b < 0 || s.batch(b).BaseOffset > e.Offset || e.Offset > s.LastOffset {
			break
		}
		n++
	}
	s.OffsetIndex = s.index.Bytes[: n*size : n*size]
}

// readTimes takes the entries of the time index through which a lookup finds the first record of a time: whatever is in
// the batches that end before the offset of one has a smaller timestamp.
func (s *segment) readTimes() {
	const size = timeEntrySize
	used := entriesIn(s.times.Bytes, size)
	list, _ := storage.ParseTimeIndex(s.times.Bytes[:min(used, (len(s.starts)+2)*size)], s.BaseOffset)
	n, before, largest := 0, 0, kafka.NoTimestamp
	for _, e := range list {
		if e.Offset > s.LastOffset {
			break
		}
		for b := s.batch(before); b.LastOffset() < e.Offset; b = s.batch(before) {
			largest = max(largest, b.MaxTimestamp)
			before++
		}
		if e.Timestamp <= largest {
			break
		}
		n++
	}
	s.TimeIndex = s.times.Bytes[: n*size : n*size]
}

// entriesIn is how many bytes of an index hold entries: the file of a running broker's active segment is filled up with
// zeros.
func entriesIn(b []byte, size int) int {
	used := len(bytes.TrimRight(b, "\x00"))
	return min((used+size-1)/size*size, len(b))
}
