// Package storage models the log of one partition on one broker: segment files with their offset and
// time index, the leader's checks before it appends, what is known of each producer, the rule by which a
// new segment begins, the lookups by offset and by time, truncation, and what happens when a broker stops
// and starts; which transactions are open, and how far they let a reader read; how old segments are deleted, and how
// a compacted log is cleaned. The files are Kafka's, byte for byte.
//
//	orders-0/00000000000000000000.log        batches, one after another
//	orders-0/00000000000000000000.index      offset → position, sparse
//	orders-0/00000000000000000000.timeindex  timestamp → offset, sparse
//	orders-0/00000000000000000120.log        the next segment, named after its first offset
//	orders-0/00000000000000000120.txnindex   aborted transactions whose marker is in this segment, if there are any
//	orders-0/00000000000000000120.snapshot   what was known of the producers before offset 120
//	…
//	orders-0/00000000000000000000.log.deleted  a file that is no more part of the log, until it is removed
//	orders-0/leader-epoch-checkpoint         where each leader epoch began, as text
//
// [Log.Append] is the leader's append: it checks a producer's batch, gives it offsets and the leader
// epoch, rolls if the active segment may not take it, and writes. [Log.Read] serves a fetch,
// [Log.OffsetForTimestamp] a ListOffsets by time; both also say how they got there. A request that
// Kafka would answer with an error code gets a [Refusal], which holds that code and a sentence.
//
// A follower takes the leader's batches with [Log.AppendAsFollower]. [Log.EndOffsetForEpoch] and
// [Log.TruncationOffset] tell how far two logs agree, [Log.TruncateTo] cuts off what they do not agree on.
// [Open] makes a log of what a stop left on the disk, and says in [Recovered] what it had to drop;
// [Log.Close] makes that stop a clean one.
//
// [Log.AppendEndTxnMarker] ends a transaction, for a coordinator. [Log.LastStableOffset] is how far a reader of
// committed records may go, [Log.AbortedTransactions] what it has to leave out; who knows the high watermark tells it.
//
// [Log.DeleteOldSegments] holds the segments against the rules of retention and says of each why it goes or
// stays. [Log.Cleanable] says what the cleaner could do with a log and whether it is worth it, [Filthiest] which of
// several logs it takes, [Log.Clean] does it and says what became of each batch and record. Both leave files behind
// that [Log.RemoveDeletedFiles] removes later. A broker calls them by its timers and keeps the cleaner's checkpoint.
//
// [Comparison] holds the files of one segment, ours or a real broker's, against its log of any length, and says of
// each disagreement where it is, what was found and what the log says.
//
// # Invariants
//
//   - Log start offset ≤ log end offset. Segments are sorted by base offset; the last is active and
//     the only one that is written.
//   - The bytes that Read and Segments return never change, whatever is truncated or appended later.
//   - The caller's batch is never written: it may be a frozen message.
//   - An append that is refused changes nothing, but that one refused for its producer may have begun a
//     segment and a leader epoch.
//   - A Log does nothing by itself. It has no timer: without an append no segment rolls, but for the one check of
//     retention that finds all segments too old.
//   - Whatever bytes the files have, Open makes a log of them, and what cannot be read in it is an error of who reads.
//   - Cleaning keeps the last value of every key, the offsets of all records it keeps, and the log end offset.
//     It never touches the active segment, nor a record at its bound or above.
//   - Clone only reads its receiver, so a log that nobody changes may be cloned by several at once.
//
// # Left out
//
// The high watermark: who deletes, cleans or reads says how far the log is replicated. Other appends by coordinators
// than markers. A leader does not ask whether a transaction was begun: transactional data of any producer begins one.
//
// Simplified: partition.metadata, the file that holds the topic id, is not written.
//
// Simplified: index files hold only their entries. Kafka gives the active segment's index files their
// full segment.index.bytes and cuts them when the segment rolls.
//
// Simplified: when a segment rolls, the old one and the snapshot of the producers are synced at once, and so
// is leader-epoch-checkpoint after a truncation. Kafka does it in a background thread shortly after.
//
// # Example
//
//	var disk simdisk.Disk
//	log := storage.New(&disk, "orders-0", storage.DefaultConfig(), now)
//	appended, err := log.Append(batch, 0, now) // offsets 0 to 2
//	read, err := log.Read(1, 1<<20, log.LogEndOffset(), true)
//	read.Bytes // begins with offset 0: whole batches are served
//
// The same lookup, step by step, over segments as they were at one moment:
//
//	found, ok, err := storage.Find(log.Segments(), 1)
//	found.Search, found.Scanned // the steps in the offset index, then the batches that were looked at
package storage
