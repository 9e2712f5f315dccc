// Package ledger is the observer outside the cluster. It is told what applications handed to their producers
// and what these learned of it, looks at the logs, and says what became of every record.
//
//	sent ──▶ acknowledged ──▶ in the leader's log? ──▶ below its high watermark?
//	   │                         no: lost                yes: visible
//	   └──▶ failed, dropped, unpromised, waiting
//
// [Report] is the account at one moment: a pure function of [Record] values and [Log] values. [Checker] is fed
// with the cluster as it is after every tick and says which invariant does not hold.
//
// # What counts as the same record
//
// A record in a log is one that was handed in if partition, key, value and timestamp are equal. The timestamp is
// left out where the leader has stamped its own (message.timestamp.type = LogAppendTime). Of several handed-in
// records that are equal in all four, an acknowledged one stands first of all at the offset at which it was
// acknowledged; what is left of the log is dealt to the others in the order they were handed in, one place
// each; a place that is then still left is a duplicate of the first of them.
//
// # Invariants
//
//   - Every record that was handed in is counted once among acknowledged, failed, dropped, unpromised, waiting.
//   - The same input gives the same report, entry for entry.
//
// # Left out
//
// Whether a record's transaction was committed: [Report] counts it either way. A record of a compacted log that is gone and has a later one of its key counts as removed, whoever took
// it.
//
//	r := ledger.Account(records, logs)
//	r.Lost // acknowledged, and gone
package ledger
