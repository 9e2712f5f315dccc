// Package record reads and writes record batches, the unit in which Kafka sends, replicates and
// stores records, and takes one apart field by field. The bytes are exactly those of Apache Kafka 4.2: a
// batch written here is read by any Kafka client, and one from a real broker's disk is read here.
//
// # What it models
//
//   - the batch's header, its checksum and its records ([Parse], [Batch], [Scanner], [Record]); one batch after
//     another from a stream of any length ([Reader])
//   - writing as a producer does ([Builder]) and what the leader changes in place on append ([Stamp],
//     [StampLogAppendTime])
//   - writing anew as the cleaner does, with the delete horizon of KIP-534 and emptied batches
//     ([Retain])
//   - control records: transaction markers and the metadata log's leader change ([EndTxnMarker],
//     [DecodeControl])
//   - compression with gzip, snappy (in the Java framing), lz4 and zstd
//   - the anatomy: every byte of a batch with name, value and meaning ([Anatomy])
//
// # What it leaves out
//
// Message formats before record batch v2. What a leader checks before it appends (offset deltas
// without gaps, timestamps in range, producer state) is the business of package storage. Grep for
// "Simplified:" for the rest.
//
// # Invariants
//
//   - No input panics, and nothing is allocated from a length or count that the bytes only declare.
//   - The end, a torn tail and corrupt bytes are three different errors: [ErrEnd], [ErrTorn], [ErrCorrupt].
//     The last two carry the position.
//   - A parsed batch is never changed; Bytes gives back what was parsed.
//   - The same records and options give the same bytes on every machine, compressed or not.
//
// # Example
//
//	b := record.NewBuilder(record.Options{})
//	b.Append(1700000000000, []byte("k"), []byte("v"))
//	raw, err := b.Build()     // 70 bytes, base offset 0, leader epoch -1
//	record.Stamp(raw, 42, 3)  // the leader appends it at offset 42
//	batch, err := record.Parse(raw)
//	batch.NextOffset()        // 43
package record
