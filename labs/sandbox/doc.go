// Package sandbox is the lab with what the others show one by one in one place: one topic, its brokers, producers with or
// without transactions, and one or two groups. It has no story of its own. What it draws is the least with which each
// mechanism can be seen; the other labs draw more of one each, and have settings that are left out here.
//
// Simplified: every message takes 100 ms. In a data centre it takes less than a millisecond; the time-outs are Kafka's.
//
// Simplified: with the classic protocol session.timeout.ms is 6,000 and heartbeat.interval.ms 2,000, so that a crash is
// noticed soon; Kafka's defaults are 45,000 and 3,000. group.initial.rebalance.delay.ms is 0 instead of 3,000.
//
// Simplified: auto.offset.reset is earliest at the start; Kafka's default is latest.
//
// Simplified: partition p has its replicas on brokers p+1, p+2, …; Kafka's controller draws where to begin.
package sandbox
