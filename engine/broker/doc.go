// Package broker models one node of the cluster: it takes requests of Kafka's protocol off the network,
// does them on the partitions it leads, and answers.
//
// A broker is a state machine. Receive takes a delivered message, Tick lets its timers fire, NextDue says
// when the next one does; both return what the broker wants sent. It never sends by itself and knows no
// clock but the now it is given.
//
// It serves Produce (13), Fetch (18), ListOffsets (11) and Metadata (13); each has a file of its own.
//
// Invariants: a partition's high watermark is at most its log end offset and never falls; a response is
// made once for each request that wants one; a parked fetch is answered when its data is there or when
// fetch.max.wait.ms is over, whichever comes first.
//
// Simplified: there is one broker and every partition has the replication factor 1, so the in-sync
// replicas are the leader alone and the high watermark moves with each append.
//
// Simplified: a request is handled in the instant it arrives; queues, threads, quotas and the request's
// ApiVersions handshake are left out.
package broker
