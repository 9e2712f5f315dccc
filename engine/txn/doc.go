// Package txn is the transaction coordinator of one partition of __transaction_state.
//
// A coordinator is a state machine. Receive takes a delivered request, Written the news of a write, MarkersWritten that of
// markers, Tick lets its timers fire, NextDue says when the next one does. They return what the coordinator wants done, see
// [coordinator.Effects]: the broker that leads the partition appends the records, sends the answers, and asks the leaders of
// a transaction's partitions for its markers. A coordinator never sends and never writes by itself. What it holds is the
// replay of its partition's log: [Coordinator.Load] builds it from there.
//
// It serves InitProducerID with a transactional id, AddPartitionsToTxn, AddOffsetsToTxn, EndTxn, DescribeTransactions and
// ListTransactions.
//
// A transactional id goes through these states (state.go):
//
//	Empty ──────────→ Ongoing ──→ PrepareCommit ──→ CompleteCommit
//	  a producer id,     │ ↑       the outcome is     all markers
//	  no transaction     ↓ │       written            are written
//	              PrepareAbort ──→ CompleteAbort
//
// From the states that begin with Complete a new transaction begins, or InitProducerID leads to Empty. With version 2
// of transactions (KIP-890) an abort is allowed where nothing was added, and each end raises the epoch: the markers have
// the epoch after that of the data, and so has the next transaction. With an older client the epoch stays.
//
// What a request changes is written first. Until it is on every in-sync replica it is pending, and who asks for something
// else is answered CONCURRENT_TRANSACTIONS; then it holds, and who asked is answered. If it cannot be written, all is as
// before. The end of a transaction takes two writes: PrepareCommit or PrepareAbort is the decision, after which EndTxn is
// answered and markers are asked for; when every partition has its marker, CompleteCommit or CompleteAbort follows.
//
// Invariants: a transactional id has one change pending at most. Its producer id and epoch never go back. A request is
// answered once. A transaction whose end is decided ends so, whoever crashes. It is complete only when each of its
// partitions has its marker, or is gone.
//
// Simplified: distributed two-phase commit (KIP-939), which Kafka 4.2 has switched off, is not coordinated.
//
// Simplified: the answer to an AddPartitionsToTxn of several transactions has them in the order of the request; Kafka's has
// them in the order in which they were dealt with. One of no transactions is answered; Kafka leaves it without an answer.
//
// Simplified: where Kafka's code fails with an exception because a producer has the last epoch there is, or none yet, only
// the transaction concerned is answered UNKNOWN_SERVER_ERROR; Kafka gives a request of several that answer as a whole.
//
// Example: a producer begins, and its first InitProducerID is answered when it is written.
//
//	c := txn.New(&config)
//	e := c.Load(now, records, leaderEpoch, cause, &journal) // e.Markers: of transactions whose end was decided
//	e = c.Receive(now, request, ids, cause, &journal)       // e.Writes[0]: the transactional id, Empty
//	e = c.Written(now, e.Writes[0].ID, nil, cause, &journal) // e.Answers[0]: producer id and epoch 0
package txn
