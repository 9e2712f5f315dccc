// Package coordinator has what a coordinator and the broker that it lives on say to each other, and what the coordinators of
// groups and of transactions share: which partition keeps what, and how the bytes of their records are taken apart.
//
// A coordinator looks after one partition of an internal topic, and what it knows is the replay of that partition's log:
// the group coordinator that of __consumer_offsets, the transaction coordinator that of __transaction_state. It never
// writes and never sends by itself, but returns [Effects]; its broker appends, sends, and tells it what became of that.
//
// Invariants: a coordinator's writes are appended in the order of their ids; every byte of a key or value that is taken apart
// lies in exactly one field.
//
// Example: a write of one record, and the answer that goes out without waiting for it.
//
//	e := coordinator.Effects{
//		Writes:  []coordinator.Write{{ID: 1, Records: []coordinator.Record{{Key: key, Value: value}}, Cause: cause}},
//		Answers: []coordinator.Answer{{Request: m, Response: response, Cause: cause}},
//	}
package coordinator
