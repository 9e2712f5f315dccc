// Package partitions is the partition explorer: one topic, one producer that goes through a list of
// keys, one consumer group. It shows that within a consumer group parallelism is capped by the number
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
// index entries come soon. Kafka allows no segment.bytes below 1 MiB; its defaults are 1 GiB and 4,096.
//
// Simplified: the number of partitions is set before the run. Adding partitions to a topic that holds
// records already is not part of this lab yet.
package partitions
