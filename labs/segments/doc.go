// Package segments is the segment lab: one partition on one broker, drawn as the files that it is, to scale. It shows
// what is on the disk, and why old data is sometimes still there and sometimes already gone: segments that roll, the
// check of retention that takes whole ones, the cleaner that takes records out of them, the files that wait as
// .deleted, and the bytes that a power loss would take.
//
// What the next check and the next cleaning would do comes from the engine: the log is cloned and the check is run on
// the clone (Cluster.RetentionAt, Cluster.CleaningAt).
//
// Simplified: a tick may be a day. So that hours in which nothing happens cost few messages, brokers, producer and
// reader send their heartbeats, idle fetches, commits and requests for metadata twice a tick where that is less often
// than Kafka's defaults, and sessions are as much longer. The check of retention, the cleaner and file.delete.delay.ms
// keep their times.
//
// Simplified: segment.bytes is 420 and index.interval.bytes 140 at the start, so that a few records make a segment;
// Kafka's defaults are 1,073,741,824 and 4,096.
//
// Simplified: the group of the reader has committed offset 0 before it starts, so that auto.offset.reset decides only
// where its position is out of range.
package segments
