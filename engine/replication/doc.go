// Package replication models one replica of one partition: what its broker does with it as the leader, and
// what it does as a follower.
//
//	producer ──Produce──▶ leader ◀──Fetch── follower
//	                        │  the log grows       │  its log grows, its high watermark follows
//	                        │  the high watermark moves when every in-sync replica has the record
//	                        ▼
//	                     AlterPartition: who is in sync
//
// A [Replica] holds its log, its high watermark, and what the cluster's metadata says of the partition. It
// knows no network and no timer: its broker hands it requests, answers and the time, and sends what has to
// be sent. Three things are a leader's: the append of a producer's batch ([Replica.AppendAsLeader]), the
// answer to a fetch ([Replica.ReadFor], then [Replica.Fetched]), and the in-sync replicas
// ([Replica.ShrinkISR], [Replica.Proposal], [Replica.Committed]). Two are a follower's: the append of what it
// has fetched ([Replica.AppendAsFollower]) and the truncation where its log is not the leader's
// ([Replica.TruncateToAgree]).
//
// # Invariants
//
//   - Log start offset ≤ high watermark ≤ log end offset; a leader's high watermark never falls in its epoch.
//   - The high watermark moves only while the committed in-sync replicas are at least min.insync.replicas, or
//     as many as the partition has replicas.
//   - One proposal for the in-sync replicas is under way at a time. Until it is committed the larger set, of
//     the old one and the proposed one, decides about the high watermark.
//   - A leader is in its in-sync replicas.
//
// # Left out
//
// Reassignment (adding and removing replicas), future replicas of another log directory, tiered storage.
package replication
