// Package offsets is the offset and commit playground: one topic, a consumer group with a coordinator, the applications
// around its members, the system outside that they write to, and if asked for a second group that reads the same topic.
// It shows that position and committed offset are two numbers, and that a crash repeats or loses what lies between them.
//
// What happened in the past (history.go) is read from the journal; what a crash would do now (outlook.go) is worked out
// from positions, commits, those on their way included, and what the sink has.
//
// Simplified: a tick is 1,000 ms and every message takes 50 ms, so that what one request leads to falls into one tick.
// In a data centre a message takes less than a millisecond; the time-outs are Kafka's.
//
// Simplified: session.timeout.ms is 6,000 and heartbeat.interval.ms 2,000 at the start, so that a crash is noticed soon;
// Kafka's defaults are 45,000 and 3,000, and 6,000 is the least that a broker allows. group.initial.rebalance.delay.ms
// is 0 instead of 3,000.
//
// Simplified: auto.offset.reset is earliest at the start; Kafka's default is latest.
//
// Simplified: applications poll for the first time at tick 0, when their group is stable and the records to begin with
// are written.
//
// Simplified: a group and its sink tell records apart by topic, partition and offset. Where a record is lost and another
// gets its offset, after a power loss or an unclean election, the lab counts both as one.
package offsets
