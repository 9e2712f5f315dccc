// Package replication is the replication lab: one topic on up to nine brokers, one producer, a group of one consumer
// or none. It shows what an acknowledgement is worth, and which failures a setting survives.
//
// The picture has the brokers beside each other, each with its replicas as they are: the role that the broker
// believes in, the log with its end and its high watermark, and, of a broker that is down, what is on its disk. The
// in-sync replicas are those that the controller has. What would happen if a broker failed now (outlook.go) comes from
// the controller's own rule and from the logs in a copy of the run, once what the broker had sent is there (fork.go); the
// ledger from an observer outside the cluster.
//
// Values are "event 1", "event 2", … in the order in which they were handed in, so that a record is known wherever it
// stands.
//
// Simplified: keyless records go to the partitions in turn, as RoundRobinPartitioner would do it, and not to one
// partition until batch.size bytes have gone there, which is Kafka's default: so every partition gets records.
//
// Simplified: one message hop takes one tick of 100 ms. In a data centre it takes less than a millisecond; the
// time-outs are Kafka's.
//
// Simplified: segment.bytes is 16,384 in this lab, so that a long run stays small; Kafka's least is 1,048,576. A segment
// that rolls is synced, so of a long log only the last one can be lost with power.
package replication
