package replication

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/storage"
)

// Trap 5: with fewer in-sync replicas than min.insync.replicas a write with acks=all is refused before it is
// appended, by NOT_ENOUGH_REPLICAS; NOT_ENOUGH_REPLICAS_AFTER_APPEND is for one that is in the log and on every
// replica, when too few are in sync by the time it is looked at. Kafka 4.2 hardly gets there: below the minimum the
// high watermark stands still, and the write times out (enginetest.TestREP02ShrinksAfterAppend).
func TestNotEnoughReplicasAfterAppend(t *testing.T) {
	r, image := leading(t)
	r.SetConfig(Config{MinInsyncReplicas: 2, ReplicaLagTimeMax: 30000})
	write(t, r, image, "r0")
	if done, _ := r.Acknowledged(1); done {
		t.Error("acknowledged although no follower has the record")
	}
	fetchAs(t, r, image, 2, 1)
	fetchAs(t, r, image, 3, 1)
	if done, failed := r.Acknowledged(1); !done || failed != nil {
		t.Errorf("done %t with error %v once all have the record, want true and none", done, failed)
	}
	alone := metadata.Partition{Replicas: []kafka.BrokerID{1, 2, 3}, ISR: []kafka.BrokerID{1}, Leader: 1, PartitionEpoch: 1}
	r.Become(0, alone, image)
	if done, failed := r.Acknowledged(1); !done || failed != kerr.NotEnoughReplicasAfterAppend {
		t.Errorf("done %t with error %v, want true and NOT_ENOUGH_REPLICAS_AFTER_APPEND", done, failed)
	}
	end := r.Log.LogEndOffset()
	_, _, err := r.AppendAsLeader(0, clock, nil, -1, image)
	if refusal, ok := err.(*storage.Refusal); !ok || refusal.Err != kerr.NotEnoughReplicas || r.Log.LogEndOffset() != end {
		t.Errorf("acks=all: %v, log end offset %d; want NOT_ENOUGH_REPLICAS and %d as before", err, r.Log.LogEndOffset(), end)
	}
}
