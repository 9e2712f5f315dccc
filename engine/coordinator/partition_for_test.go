package coordinator

import (
	"testing"

	"loglab/engine/kafka"
)

// GRP-19 and the vectors of both topics; the mask of the sign bit would give others.
func TestPartitionFor(t *testing.T) {
	for id, want := range map[string]kafka.Partition{
		"my-group": 12, "test": 48, "orders-service": 17, "console-consumer-1": 24, "group-1": 49, "g": 3, "polygenelubricants": 0,
		"orders": 31, "checkout": 18, "billing": 9, "": 0, "t1": 45, "my-transactional-id": 46,
	} {
		if got := PartitionFor(id, 50); got != want {
			t.Errorf("%q: partition %d, want %d", id, got, want)
		}
	}
}
