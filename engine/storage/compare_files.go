package storage

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// MaxComparedFile is how large a file beside the log may be to be compared: 32 MiB. An index has at most
// segment.index.bytes, 10 MiB unless raised.
const MaxComparedFile = 32 << 20

// maxFindings is how many findings about one file a Comparison keeps; the rest is only counted.
const maxFindings = 1000

// SegmentFiles is what stands beside the log of a segment. A nil slice is a file that is not there and is not
// compared; an empty one is an empty file.
type SegmentFiles struct {
	OffsetIndex, TimeIndex, TransactionIndex, ProducerSnapshot []byte
	// Next is the base offset of the next segment; NoOffset if there is none.
	Next kafka.Offset
}

// Comparison holds the files of one segment against its log, which it is given batch by batch:
//
//	c := storage.NewComparison("00000000000000000120.log", files)
//	for each batch { c.Add(batch) }
//	findings, more := c.Finish(nil)
//
// What it looks at:
//
//   - the log's name: 20 digits, the base offset; no batch begins below it, nor ends as far above it as an
//     index entry can't tell
//   - the log: offsets rise from batch to batch, and stay below the next segment's base offset
//   - .index: an entry's position is the first byte of a batch that ends with the entry's offset; entries rise
//   - .timeindex: an entry's offset is the last of a batch that is the first to have the entry's timestamp, and
//     none before it has a larger one; entries rise
//   - .txnindex: an entry's last offset is an abort marker of its producer, its first offset the first of that
//     transaction, where the segment still has it; its last stable offset is not behind the marker; entries
//     rise; an aborted transaction whose records are in the segment has an entry
//   - .snapshot: version, checksum and length; one entry a producer, with offsets below the base offset
//
// An index says nothing wrong by leaving out a batch: how many entries there are is a matter of
// index.interval.bytes. Zeros at the end of an index are no entries: the file of a broker's active segment is
// filled up with them.
//
// It holds the files and a few bytes for each entry, whatever the size of the log.
//
// Source: kafka.tools.DumpLogSegments (dumpIndex, dumpTimeIndex, dumpTxnIndex), OffsetIndex.sanityCheck,
// TimeIndex.sanityCheck, TransactionIndex.sanityCheck.
type Comparison struct {
	log          findings
	base, next   kafka.Offset // NoOffset: not known
	position     int64        // of the next batch
	last         kafka.Offset // of the batch before; NoOffset: there is none
	seen         map[FindingKind]bool
	offsets      *offsetComparison // nil: there is no such file, or no base offset
	times        *timeComparison
	transactions *transactionComparison
	producers    producerComparison // no name: there is no such file
}

// NewComparison begins a comparison. name is the log's file name, without a directory. If it is not a number,
// there is no base offset and the files beside the log are not compared. They must not be changed until
// Finish.
func NewComparison(name string, files SegmentFiles) *Comparison {
	c := &Comparison{log: findings{file: name}, base: kafka.NoOffset, next: files.Next, last: kafka.NoOffset, seen: map[FindingKind]bool{}}
	digits := strings.TrimSuffix(name, LogSuffix)
	base, err := strconv.ParseUint(digits, 10, 63)
	if err == nil {
		c.base = kafka.Offset(base)
	}
	if err != nil || name != SegmentFileName(c.base, LogSuffix) {
		c.log.add(Finding{Kind: WrongName, Entry: -1, Byte: -1, Offset: kafka.NoOffset,
			Found: fmt.Sprintf("the name %q", name), Expected: "the base offset in 20 digits and " + LogSuffix})
	}
	if c.base == kafka.NoOffset {
		return c
	}
	if files.OffsetIndex != nil {
		c.offsets = newOffsetComparison(digits+OffsetIndexSuffix, files.OffsetIndex, c.base)
	}
	if files.TimeIndex != nil {
		c.times = newTimeComparison(digits+TimeIndexSuffix, files.TimeIndex, c.base)
	}
	if files.TransactionIndex != nil {
		c.transactions = newTransactionComparison(digits+TransactionIndexSuffix, files.TransactionIndex)
	}
	if files.ProducerSnapshot != nil {
		c.producers = compareProducerSnapshot(digits+ProducerSnapshotSuffix, files.ProducerSnapshot, c.base)
	}
	return c
}

// Add takes the next batch of the log. Its checksum must be right and its records readable.
func (c *Comparison) Add(b record.Batch) {
	c.checkOffsets(&b)
	if c.offsets != nil {
		c.offsets.addBatch(&b, c.position)
	}
	if c.times != nil {
		c.times.addBatch(&b, c.position)
	}
	if c.transactions != nil {
		c.transactions.addBatch(&b)
	}
	c.position += int64(b.Size())
	c.last = b.LastOffset()
}

// checkOffsets holds a batch's offsets against the name, the batch before and the next segment.
func (c *Comparison) checkOffsets(b *record.Batch) {
	wrong := func(kind FindingKind, found, expected string) {
		c.log.add(Finding{Kind: kind, Entry: -1, Byte: c.position, Offset: b.BaseOffset, Found: found, Expected: expected})
	}
	once := func(kind FindingKind, found, expected string) {
		if !c.seen[kind] {
			c.seen[kind] = true
			wrong(kind, found, expected)
		}
	}
	last := b.LastOffset()
	switch {
	case last < b.BaseOffset:
		wrong(WrongBatchOrder, fmt.Sprintf("last offset %d", last), fmt.Sprintf("%d or more, the batch's base offset", b.BaseOffset))
	case c.position > 0 && b.BaseOffset <= c.last:
		wrong(WrongBatchOrder, fmt.Sprintf("base offset %d", b.BaseOffset), fmt.Sprintf("above %d, with which the batch before it ends", c.last))
	case c.position == 0 && b.BaseOffset < c.base:
		wrong(WrongFirstOffset, fmt.Sprintf("base offset %d", b.BaseOffset), fmt.Sprintf("%d or more, as the file's name says", c.base))
	}
	if c.base != kafka.NoOffset && last >= c.base && last-c.base > math.MaxInt32 {
		once(WrongOffsetRange, fmt.Sprintf("last offset %d", last), fmt.Sprintf("at most %d, the file's name + %d", c.base+math.MaxInt32, math.MaxInt32))
	}
	if c.next != kafka.NoOffset && last >= c.next {
		once(WrongNextSegment, fmt.Sprintf("last offset %d", last), fmt.Sprintf("below %d, where the next segment begins", c.next))
	}
}

// Finish ends the comparison. fault is nil if the log ended behind a whole batch; else it is why the next
// batch could not be read, and a finding itself: entries that point there or beyond are not compared. The
// findings come file by file, and in each in the order of its bytes; more counts those that are not
// listed, which are all but the first thousand or so of a file. The caller owns the slice.
func (c *Comparison) Finish(fault error) (list []Finding, more int) {
	if fault != nil {
		c.log.add(Finding{Kind: WrongBatch, Entry: -1, Byte: c.position, Offset: kafka.NoOffset, Found: fault.Error(), Expected: "a whole batch"})
	}
	all := []*findings{&c.log}
	if c.offsets != nil {
		all = append(all, c.offsets.finish(c.position, fault == nil))
	}
	if c.times != nil {
		all = append(all, c.times.finish(c.last, fault == nil))
	}
	if c.transactions != nil {
		all = append(all, c.transactions.finish(c.last, c.next, fault == nil))
	}
	for _, f := range append(all, &c.producers.findings) {
		slices.SortStableFunc(f.list, func(a, b Finding) int { return cmp.Compare(a.Byte, b.Byte) })
		list = append(list, f.list...)
		more += f.more
	}
	return list, more
}

// ComparedFile is how a file beside the log came out of a Comparison.
type ComparedFile struct {
	Name string
	// Entries is how many whole entries it has, without the zeros that fill it up. Agree of them say what the log says;
	// NotCompared point behind the break of a log that is not whole, or cannot be read for what is wrong before them.
	Entries, Agree, NotCompared int
	// Findings is how many there are of it, listed or not.
	Findings int
}

// Files gives the files beside the log, after Finish.
func (c *Comparison) Files() []ComparedFile {
	var list []ComparedFile
	if c.offsets != nil {
		list = append(list, c.offsets.outcome())
	}
	if c.times != nil {
		list = append(list, c.times.outcome())
	}
	if c.transactions != nil {
		list = append(list, c.transactions.outcome())
	}
	if c.producers.file != "" {
		list = append(list, c.producers.outcome())
	}
	return list
}

// findings collects what is wrong in one file.
type findings struct {
	file string
	list []Finding
	more int
}

func (f *findings) add(one Finding) {
	if len(f.list) == maxFindings {
		f.more++
		return
	}
	one.File = f.file
	f.list = append(f.list, one)
}

// Finding is one disagreement between the files of a segment, or of a file with the rules for it.
type Finding struct {
	Kind FindingKind
	// File is the name of the file that is wrong, without a directory.
	File string
	// Entry is the number of the entry in an index or a snapshot, from 0; -1 if it is about none.
	Entry int
	// Byte is the first byte of the entry, or in the log of the batch; -1 if it is about the whole file.
	Byte int64
	// Offset is the one that the entry is about, or the batch's base offset; NoOffset if there is none.
	Offset kafka.Offset
	// Found is what stands there, Expected what the log or the rule asks for: phrases without a full stop.
	Found, Expected string
}

// String gives the finding in one line.
func (f Finding) String() string {
	place := f.File
	if f.Entry >= 0 {
		place += fmt.Sprintf(": entry %d", f.Entry)
	}
	if f.Byte >= 0 {
		place += fmt.Sprintf(": byte %d", f.Byte)
	}
	if f.Offset != kafka.NoOffset {
		place += fmt.Sprintf(": offset %d", f.Offset)
	}
	return fmt.Sprintf("%s: found %s, expected %s", place, f.Found, f.Expected)
}

// FindingKind says what does not agree.
type FindingKind int8

const (
	// WrongName: the log's file name is not a base offset in 20 digits.
	WrongName FindingKind = iota + 1
	// WrongBatch: there are bytes in the log that are no whole batch with a right checksum.
	WrongBatch
	// WrongFirstOffset: the first batch begins below the base offset.
	WrongFirstOffset
	// WrongBatchOrder: a batch does not begin above the one before it, or ends below its own beginning.
	WrongBatchOrder
	// WrongOffsetRange: a batch ends too far above the base offset for an index entry.
	WrongOffsetRange
	// WrongNextSegment: a batch reaches into the next segment.
	WrongNextSegment
	// WrongLength: the file does not end behind a whole entry, or not behind as many as it declares.
	WrongLength
	// WrongVersion: the file or entry has a version that Kafka 4.2 does not write.
	WrongVersion
	// WrongChecksum: the file's checksum is not that of its bytes.
	WrongChecksum
	// WrongPosition: no batch begins at an entry's position.
	WrongPosition
	// WrongOffset: no batch ends with an entry's offset, or another than the one at its position.
	WrongOffset
	// WrongTimestamp: a time index entry's timestamp is not the largest so far, or not its batch's.
	WrongTimestamp
	// WrongEntryOrder: an entry that agrees with the log does not come after the one before it.
	WrongEntryOrder
	// WrongMarker: a transaction index entry's last offset is no abort marker of its producer.
	WrongMarker
	// WrongTransaction: its first offset is not where the transaction begins.
	WrongTransaction
	// WrongLastStableOffset: its last stable offset lies behind its marker, and no other transaction begins there.
	WrongLastStableOffset
	// MissingEntry: the log aborts a transaction that the transaction index lacks.
	MissingEntry
	// WrongProducer: a snapshot's entry can't have been true at the base offset.
	WrongProducer
)

var findingKinds = [...]string{
	WrongName: "name", WrongBatch: "batch", WrongFirstOffset: "first-offset", WrongBatchOrder: "batch-order", WrongOffsetRange: "offset-range",
	WrongNextSegment: "next-segment", WrongLength: "length", WrongVersion: "version", WrongChecksum: "checksum", WrongPosition: "position",
	WrongOffset: "offset", WrongTimestamp: "timestamp", WrongEntryOrder: "entry-order", WrongMarker: "marker",
	WrongTransaction: "transaction", WrongLastStableOffset: "last-stable-offset", MissingEntry: "missing-entry", WrongProducer: "producer",
}

// String gives the kind as scripts see it, for example "entry-order".
func (k FindingKind) String() string { return findingKinds[k] }
