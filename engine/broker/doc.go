// Package broker models one node of the cluster: a machine with a disk, and the process that takes requests of
// Kafka's protocol off the network, does them on the replicas it has, and answers.
//
// A broker is a state machine. Receive takes a delivered message, Tick lets its timers fire, NextDue says
// when the next one does; both return what the broker wants sent. It never sends by itself and knows no
// clock but the now it is given.
//
// It serves Produce (13, and 11 and 12 from transactional producers), Fetch (18), ListOffsets (11), OffsetForLeaderEpoch (4),
// DeleteRecords (2), Metadata (13), InitProducerID (5), WriteTxnMarkers (2) and FindCoordinator (6). It asks the controller:
// BrokerRegistration and BrokerHeartbeat (lifecycle.go), Fetch of the metadata log (metadata_log.go), AlterPartition
// (isr.go), AllocateProducerIDs (producer_ids.go), CreateTopics of __consumer_offsets and __transaction_state
// (internal_topics.go); the leaders that it follows: Fetch and ListOffsets (fetcher.go); transaction coordinators:
// AddPartitionsToTxn (txn_additions.go); and as a transaction coordinator the leaders of partitions: WriteTxnMarkers
// (marker_sender.go).
//
// The broker has a coordinator for each partition of the internal topics that it leads (coordinators.go): package group has
// that of __consumer_offsets, package txn that of __transaction_state. It hands them their requests (group_requests.go,
// group_offsets.go, txn_requests.go, errands.go), and does what they want done: answers are sent, records appended and waited
// for (coordinator_writes.go), markers asked for; it tells them what became of them.
//
// As the leader of a partition it takes the first batch of a transaction only when the coordinator knows the partition
// (txn_additions.go, verification.go), and writes the markers that end transactions (markers.go).
//
// By its timers it lets old segments go (retention.go), cleans compacted logs and keeps how far it came (cleaner.go), and
// recovers its logs after an unclean end (recovery.go).
//
// What a broker knows of the cluster is its image of the metadata, which may be old: it leads, follows and
// answers by that.
//
// Invariants: a response is made once for each request that wants one; a parked fetch is answered when its data
// is there or when its wait is over, a parked write when every in-sync replica has it, when it cannot be any
// more, or when its time is over; a coordinator is there exactly while the broker leads its partition, and is told
// once of each of its writes; at most one request of a kind is under way to the controller, and one to
// each leader.
//
// Simplified: a request is handled in the instant it arrives; queues, threads, quotas and the
// connection's ApiVersions handshake are left out.
//
// Simplified: an unclean stop makes the next start check every segment; Kafka begins at the recovery point that
// it had noted.
package broker
