// Package txn is the transaction coordinator of one partition of __transaction_state.
//
// A coordinator is a state machine. Receive takes a delivered request, Written the news of a write, MarkersWritten that of
// markers, Tick lets its timers fire, NextDue says when the next one does. They return what the coordinator wants done, see
// [coordinator.Effects]: the broker that leads the partition appends the records, sends the answers, and asks the leaders of
// a transaction's partitions for its markers. A coordinator never sends and never writes by itself. What it holds is the
// replay of its partition's log: [Coordinator.Load] builds it from there.
package txn
