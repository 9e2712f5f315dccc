// Package rebalance is the rebalance lab: a consumer group with a coordinator, whose members join, leave, crash and
// stall. It shows over time who reads each partition, and what a change of the membership costs: which partitions move,
// which ones nobody reads meanwhile and for how long.
//
// What happened (history.go, changes.go, broker.go) is read from the journal: nothing is replayed for it. The rule that gave a
// partition to its owner (why.go) is worked out anew from what the members told the group's leader.
//
// Simplified: a tick is 500 ms and every message takes 500 ms, so that each hop of a request is a tick of its own. In a
// data centre a message takes less than a millisecond: the phases of a rebalance are shorter there, and what lasts is
// the wait for heartbeats, for applications that are still at work, and for sessions.
//
// With the consumer protocol the coordinator divides (consumers.go): what is drawn as its phases are the states of the
// group and of each member in it.
//
// Simplified: session.timeout.ms is 6,000 and metadata.max.age.ms of the consumers 10,000 at the start, so that a crash
// and new partitions are noticed soon; Kafka's defaults are 45,000 and 300,000, and 6,000 is the least that a broker
// allows.
//
// Simplified: auto.offset.reset is earliest; Kafka's default is latest.
//
// Simplified: the members that are there at the start joined before tick 0, together, and so their heartbeats fall into
// the same ticks. Those of a group that has grown by and by do not.
//
// Simplified: a partition counts as read from the moment at which its owner knows where to begin. Its first records come
// with the answer to the first fetch, two hops later.
package rebalance
