// Package delivery is the delivery lab: producers and an application that reads one topic and writes to another, to a
// database or by e-mail, with and without transactions, and two readers of what they write, one of each isolation level.
// It shows at most once, at least once and exactly once, and the line at which each stops.
//
// What is in the logs (contents.go) is read batch by batch: whose each is, which transaction it is in and how that ended.
// What became of each input record (effects.go) is counted from the logs and the system outside, never from what a
// client believes. The guarantee of a set-up (guarantee.go) is worked out from its settings, and from what was lost. What was
// told once and cannot be asked now, as no coordinator is there, is kept from the journal (past.go) and said to be that.
//
// Simplified: a tick is 100 ms and every message takes 100 ms, so that each request can be seen on its way. In a data
// centre a message takes less than a millisecond; the time-outs are Kafka's.
//
// Simplified: topics have one partition each. A transaction can cover any number; the application's covers one of the
// output topic and one of __consumer_offsets.
//
// Simplified: the application's consumer has a group.instance.id at the start, so that after a restart it reads on at
// once. Without one it waits until the session of its earlier self is over.
//
// Simplified: linger.ms of the application's producer is 5,000, so that the bills of one poll go out as one batch when the
// application has made them all, and flushes.
//
// Simplified: the two readers are given their partition with assign() and take no part in a group; they commit under a
// group id of their own.
package delivery
