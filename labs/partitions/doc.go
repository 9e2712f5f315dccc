// Package partitions is the partition explorer: one topic, one or two producers that send events of a list
// of entities, one consumer group. It shows that within a consumer group parallelism is capped by the number
// of partitions, that order holds only per key, and that changing the number of partitions moves keys.
//
// The picture's cells are decoded from the bytes of the segments, the table of keys comes from the same
// partitioner that the producer uses, and everything under "Reading the result" is computed from both.
//
// The inspector opens one thing to the byte: a record with the steps of its hash, a batch with every field,
// a segment with its indexes, the way of a read to an offset, a message as it would stand on a connection,
// a node with what it waits for. Each file inspect_*.go holds one of these.
//
// Simplified: segment.bytes is 1,000 and index.interval.bytes is 300 in this lab, so that segments and
// index entries come soon, and batch.size is 900, so that every batch fits into a segment. For records
// without keys segment.bytes is 20,000 and batch.size Kafka's 16,384, because the sticky rule goes by it.
// Kafka allows no segment.bytes below 1 MiB; its defaults are 1 GiB and 4,096.
//
// Simplified: metadata.max.age.ms is 100 in this lab unless set otherwise, so that clients learn soon of
// partitions that were added. Kafka's default is 300,000.
//
// Simplified: where a record needs work, max.poll.records is 1 (Kafka's default is 500), so that a position
// is never past a record that the application has not begun.
//
// Simplified: auto.offset.reset is earliest. With Kafka's default, latest, a group skips what was written to a
// new partition before it began to read there.
package partitions
