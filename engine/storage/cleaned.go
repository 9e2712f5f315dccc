package storage

import "loglab/engine/kafka"

// Cleaned says what a cleaning did, down to each record that went.
type Cleaned struct {
	// FirstDirtyOffset is where the dirty part began, inclusive.
	FirstDirtyOffset kafka.Offset
	// Checkpoint is where it begins now, exclusive as an end of what was cleaned: the new entry of
	// cleaner-offset-checkpoint.
	Checkpoint kafka.Offset
	// Keys is how many keys the offset map held, and KeyRoom how many it had room for.
	Keys, KeyRoom int
	// MapFull says that the room did not do: Checkpoint is lower than the cleaner could have gone.
	MapFull bool
	// Groups are the new segments, by base offset.
	Groups []CleanedGroup
	// Batches are all batches that were read, by offset.
	Batches []CleanedBatch
	// Removed are the records that went, by offset.
	Removed []RemovedRecord
	// RecordsRead counts the records that were read.
	RecordsRead int
}

// BytesBefore is the size of the segments that were rewritten.
func (c *Cleaned) BytesBefore() int {
	bytes := 0
	for _, g := range c.Groups {
		bytes += g.BytesBefore
	}
	return bytes
}

// BytesAfter is the size of the segments that came of them.
func (c *Cleaned) BytesAfter() int {
	bytes := 0
	for _, g := range c.Groups {
		bytes += g.BytesAfter
	}
	return bytes
}

// CleanedGroup is a segment that the cleaner wrote, and those that it was written from.
type CleanedGroup struct {
	// From are their base offsets; the first is that of the new segment, too.
	From []kafka.Offset
	// BytesBefore and BytesAfter are the sizes of the .log files.
	BytesBefore, BytesAfter int
}

// BatchFate is what became of a batch.
type BatchFate int8

const (
	// BatchKept: its bytes were copied.
	BatchKept BatchFate = iota + 1
	// BatchRewritten: it has fewer records, or a delete horizon that it had not.
	BatchRewritten
	// BatchEmptied: its header alone is left, or it was so before and is still needed.
	BatchEmptied
	// BatchRemoved: nothing is left.
	BatchRemoved
)

var batchFates = [...]string{BatchKept: "kept", BatchRewritten: "rewritten", BatchEmptied: "emptied", BatchRemoved: "removed"}

// String names the fate in a word.
func (f BatchFate) String() string { return batchFates[f] }

// NeededFor is why a batch stays although it has no record left.
type NeededFor int8

const (
	// NeededForNothing: it may go.
	NeededForNothing NeededFor = iota
	// NeededForProducer: it has the last sequence of a producer that the log knows, or the epoch if the producer
	// has no data in the log.
	NeededForProducer
	// NeededForRound: it is the last batch before the first uncleanable offset.
	NeededForRound
)

var neededFor = [...]string{NeededForNothing: "nothing", NeededForProducer: "producer", NeededForRound: "end of the round"}

// String names the reason.
func (n NeededFor) String() string { return neededFor[n] }

// CleanedBatch is what became of one batch.
type CleanedBatch struct {
	BaseOffset kafka.Offset
	LastOffset kafka.Offset // inclusive; cleaning keeps both
	Fate       BatchFate
	// RecordsBefore and RecordsAfter count its records.
	RecordsBefore, RecordsAfter int
	// BytesBefore and BytesAfter are its sizes.
	BytesBefore, BytesAfter int
	// Needed is why its header would stay without records.
	Needed NeededFor
	// DeleteHorizon is when its tombstones or its marker may go: set by this cleaning if HorizonSet, else by an
	// earlier one. NoTimestamp if it has none.
	DeleteHorizon kafka.Timestamp
	HorizonSet    bool
}

// RemovalReason is why a record went.
type RemovalReason int8

const (
	// Superseded: a later record has the same key.
	Superseded RemovalReason = iota + 1
	// ExpiredTombstone: it is the last of its key, has no value, and its batch's delete horizon has passed.
	ExpiredTombstone
	// Keyless: it has no key.
	Keyless
	// AbortedData: its transaction was aborted.
	AbortedData
	// ExpiredMarker: it ends a transaction of which no batch is left, and the delete horizon has passed.
	ExpiredMarker
)

var removalReasons = [...]string{
	Superseded: "superseded", ExpiredTombstone: "expired tombstone", Keyless: "keyless", AbortedData: "aborted", ExpiredMarker: "expired marker",
}

// String names the reason in one or two words.
func (r RemovalReason) String() string { return removalReasons[r] }

// RemovedRecord is a record that went.
type RemovedRecord struct {
	Offset kafka.Offset
	Reason RemovalReason
	// By is the offset of the last record of the same key that the cleaner knows; NoOffset if it is not Superseded.
	By kafka.Offset
}
