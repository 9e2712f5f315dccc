package storage

import (
	"encoding/binary"
	"fmt"
	"strings"

	"loglab/engine/kafka"
	"loglab/engine/simdisk"
)

// AbortedTransaction is one entry of a transaction index: a transaction of one producer that was aborted,
// so that a reader of committed records can leave its records out.
//
//	 0      2             10             18             26                 34
//	┌──────┬─────────────┬──────────────┬──────────────┬──────────────────┐
//	│ 0    │ producer id │ first offset │ last offset  │ last stable      │
//	│ int16│ int64       │ int64        │ int64        │ offset, int64    │
//	└──────┴─────────────┴──────────────┴──────────────┴──────────────────┘
//
// The file comes into being with its first entry.
//
// Source: org.apache.kafka.storage.internals.log.AbortedTxn.
type AbortedTransaction struct {
	ProducerID       kafka.ProducerID
	FirstOffset      kafka.Offset // of the transaction's first record
	LastOffset       kafka.Offset // of its abort marker, inclusive
	LastStableOffset kafka.Offset // after the abort, exclusive
}

const (
	abortedTransactionSize    = 34
	abortedTransactionVersion = 0
)

// appendAbortedTransaction adds the bytes of one entry to b.
func appendAbortedTransaction(b []byte, t AbortedTransaction) []byte {
	b = binary.BigEndian.AppendUint16(b, abortedTransactionVersion)
	b = binary.BigEndian.AppendUint64(b, uint64(t.ProducerID))
	b = binary.BigEndian.AppendUint64(b, uint64(t.FirstOffset))
	b = binary.BigEndian.AppendUint64(b, uint64(t.LastOffset))
	return binary.BigEndian.AppendUint64(b, uint64(t.LastStableOffset))
}

// ParseTransactionIndex reads a transaction index file. Last offsets must rise from entry to entry. The
// caller owns the slice; on an error it holds the entries before the one at fault.
//
// Source: TransactionIndex.sanityCheck and append.
func ParseTransactionIndex(b []byte) ([]AbortedTransaction, error) {
	var entries []AbortedTransaction
	for at := 0; at < len(b); at += abortedTransactionSize {
		fault := func(format string, args ...any) ([]AbortedTransaction, error) {
			return entries, fmt.Errorf("transaction index entry %d (byte %d): "+format, append([]any{len(entries), at}, args...)...)
		}
		if left := len(b) - at; left < abortedTransactionSize {
			return fault("only %d of %d bytes", left, abortedTransactionSize)
		}
		e := b[at:]
		if version := int16(binary.BigEndian.Uint16(e)); version != abortedTransactionVersion {
			return fault("version is %d, allowed is %d", version, abortedTransactionVersion)
		}
		t := AbortedTransaction{
			ProducerID:       kafka.ProducerID(binary.BigEndian.Uint64(e[2:])),
			FirstOffset:      kafka.Offset(binary.BigEndian.Uint64(e[10:])),
			LastOffset:       kafka.Offset(binary.BigEndian.Uint64(e[18:])),
			LastStableOffset: kafka.Offset(binary.BigEndian.Uint64(e[26:])),
		}
		if n := len(entries); n > 0 && t.LastOffset <= entries[n-1].LastOffset {
			return fault("last offset is %d, must be above %d", t.LastOffset, entries[n-1].LastOffset)
		}
		entries = append(entries, t)
	}
	return entries, nil
}

// transactionIndex gives the segment's .txnindex, if it has one.
func (s *segment) transactionIndex(disk *simdisk.Disk) (simdisk.File, bool) {
	return disk.Open(s.transactionIndexPath(disk))
}

func (s *segment) transactionIndexPath(disk *simdisk.Disk) string {
	return strings.TrimSuffix(disk.Path(s.log), LogSuffix) + TransactionIndexSuffix
}

// appendAborted adds an entry to the segment's .txnindex.
//
// Source: TransactionIndex.append.
func (s *segment) appendAborted(disk *simdisk.Disk, t AbortedTransaction) {
	file, exists := s.transactionIndex(disk)
	if !exists {
		file = disk.Create(s.transactionIndexPath(disk))
	}
	var b [abortedTransactionSize]byte
	disk.Append(file, appendAbortedTransaction(b[:0], t))
}

// truncateAborted cuts off the entries of the .txnindex whose transaction ended at offset or above. An empty file stays.
//
// Source: TransactionIndex.truncateTo.
func (s *segment) truncateAborted(disk *simdisk.Disk, offset kafka.Offset) {
	file, exists := s.transactionIndex(disk)
	if !exists {
		return
	}
	entries, _ := ParseTransactionIndex(disk.Bytes(file))
	kept := len(entries)
	for kept > 0 && entries[kept-1].LastOffset >= offset {
		kept--
	}
	disk.Truncate(file, kept*abortedTransactionSize)
}

// checkAborted holds the .txnindex against itself and against the offsets of its segment.
//
// Source: TransactionIndex.sanityCheck.
func (s *segment) checkAborted(disk *simdisk.Disk) error {
	file, exists := s.transactionIndex(disk)
	if !exists {
		return nil
	}
	entries, err := ParseTransactionIndex(disk.Bytes(file))
	if n := len(entries); err == nil && n > 0 && (entries[0].LastOffset < s.base || entries[n-1].LastOffset > s.lastOffset) {
		err = fmt.Errorf("transaction index: last offsets %d to %d, the segment has %d to %d", entries[0].LastOffset, entries[n-1].LastOffset, s.base, s.lastOffset)
	}
	return err
}
