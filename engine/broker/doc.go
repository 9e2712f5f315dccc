// Package broker models one node of the cluster: a machine with a disk, and the process that takes requests of
// Kafka's protocol off the network, does them on the replicas it has, and answers.
//
// A broker is a state machine. Receive takes a delivered message, Tick lets its timers fire, NextDue says
// when the next one does; both return what the broker wants sent. It never sends by itself and knows no
// clock but the now it is given.
//
// It serves Produce (13), Fetch (18), ListOffsets (11), OffsetForLeaderEpoch (4), DeleteRecords (2), Metadata (13),
// InitProducerID (5) and FindCoordinator (6). It asks the controller: BrokerRegistration and BrokerHeartbeat
// (lifecycle.go), Fetch of the metadata log (metadata_log.go), AlterPartition (isr.go), AllocateProducerIDs
// (producer_ids.go), CreateTopics of __consumer_offsets (offsets_topic.go); and the leaders that it follows: Fetch and
// ListOffsets (fetcher.go).
//
// Requests about consumer groups go to package group: JoinGroup, SyncGroup, Heartbeat, LeaveGroup, OffsetCommit,
// OffsetFetch, OffsetDelete, DescribeGroups, DeleteGroups. The broker has a coordinator for each partition of
// __consumer_offsets that it leads (coordinators.go), hands it its requests (group_requests.go, group_offsets.go,
// errands.go), and does what it wants done: answers are sent, records appended and waited for (group_writes.go); it tells it what became of them.
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
// Simplified: a request is handled in the instant it arrives; queues, threads, quotas and the request's
// ApiVersions handshake are left out.
//
// Simplified: an unclean stop makes the next start check every segment; Kafka begins at the recovery point that
// it had noted.
package broker
