package storage

import (
	"fmt"

	"loglab/engine/kafka"
)

// The files of a partition's directory. A segment's files are named after its base offset in 20
// digits, so that sorting by name sorts by offset.
//
// Source: org.apache.kafka.storage.internals.log.LogFileUtils.
const (
	// LogSuffix ends the name of the file with the batches.
	LogSuffix = ".log"
	// OffsetIndexSuffix ends the name of a segment's offset index.
	OffsetIndexSuffix = ".index"
	// TimeIndexSuffix ends the name of a segment's time index.
	TimeIndexSuffix = ".timeindex"
	// TransactionIndexSuffix ends the name of a segment's list of aborted transactions.
	TransactionIndexSuffix = ".txnindex"
	// ProducerSnapshotSuffix ends the name of a snapshot of the producers; its number is the offset up to
	// which it holds, exclusive.
	ProducerSnapshotSuffix = ".snapshot"
	// DeletedSuffix is added to the name of a file whose segment is no more part of the log, until it is removed.
	DeletedSuffix = ".deleted"
	// CleanedSuffix is added to the names of a segment's files while the cleaner writes it.
	CleanedSuffix = ".cleaned"
	// SwapSuffix is added to them when they are written, until the files that they replace have their new names.
	SwapSuffix = ".swap"
	// LeaderEpochCheckpoint is the name of the text file that says where each leader epoch began.
	LeaderEpochCheckpoint = "leader-epoch-checkpoint"
)

// SegmentFileName gives the name of one of a segment's files, for example
// "00000000000000000120.log"; without a suffix, what all of them begin with.
func SegmentFileName(base kafka.Offset, suffix string) string {
	return fmt.Sprintf("%020d%s", base, suffix)
}
