package replication

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/record"
	"loglab/engine/simdisk"
	"loglab/engine/storage"
)

const clock = kafka.Timestamp(1_700_000_000_000)

// leading makes a leader, broker 1, with followers 2 and 3 in sync and min.insync.replicas = 1.
func leading(t *testing.T) (*Replica, *metadata.Image) {
	t.Helper()
	tp := kafka.TopicPartition{Topic: "orders"}
	log := storage.New(new(simdisk.Disk), tp.String(), storage.DefaultConfig(), clock)
	r := New(1, tp, [16]byte{1}, log, 0)
	r.SetConfig(Config{MinInsyncReplicas: 1, ReplicaLagTimeMax: 30000})
	image := &metadata.Image{Brokers: []metadata.Broker{{ID: 1}, {ID: 2}, {ID: 3}}}
	ids := []kafka.BrokerID{1, 2, 3}
	r.Become(0, metadata.Partition{Replicas: ids, ISR: ids, Leader: 1}, image)
	return r, image
}

// write appends records, a batch each.
func write(t *testing.T, r *Replica, image *metadata.Image, values ...string) {
	t.Helper()
	for _, value := range values {
		builder := record.NewBuilder(record.Options{})
		builder.Append(clock, nil, []byte(value))
		batch, err := builder.Build()
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := r.AppendAsLeader(0, clock, batch, 1, image); err != nil {
			t.Fatal(err)
		}
	}
}

// fetchAs lets a follower fetch at an offset.
func fetchAs(t *testing.T, r *Replica, image *metadata.Image, id kafka.BrokerID, offset kafka.Offset) Fetched {
	t.Helper()
	f := Fetch{Replica: id, ReplicaEpoch: -1, Offset: offset, CurrentLeaderEpoch: kafka.NoLeaderEpoch, LastFetchedEpoch: kafka.NoLeaderEpoch, MaxBytes: 1 << 20}
	got, err := r.ReadFor(f)
	if err != nil {
		t.Fatal(err)
	}
	r.Fetched(0, f, got.LogEndOffset, image)
	return got
}

// REP-14: a consumer's fetch below the high watermark has records, one from there to the log end offset is valid
// and empty, one beyond is out of range (trap 3).
func TestREP14(t *testing.T) {
	r, image := leading(t)
	write(t, r, image, "r0", "r1", "r2", "r3", "r4")
	fetchAs(t, r, image, 2, 5)
	fetchAs(t, r, image, 3, 2)
	if hw, end := r.HighWatermark(), r.Log.LogEndOffset(); hw != 2 || end != 5 {
		t.Fatalf("high watermark %d and log end offset %d, want 2 and 5", hw, end)
	}
	found := map[kafka.Offset]string{}
	for offset := kafka.Offset(0); offset <= 6; offset++ {
		got, err := r.ReadFor(Fetch{Replica: Consumer, Offset: offset, CurrentLeaderEpoch: kafka.NoLeaderEpoch, LastFetchedEpoch: kafka.NoLeaderEpoch, MaxBytes: 1 << 20, MinOneMessage: true})
		if refusal, ok := err.(*storage.Refusal); ok {
			found[offset] = fmt.Sprint(refusal.Err.Code, " ", refusal.Err.Message)
			continue
		}
		found[offset] = fmt.Sprint(offsetsIn(t, got.Read.Bytes))
	}
	outOfRange := fmt.Sprint(kerr.OffsetOutOfRange.Code, " OFFSET_OUT_OF_RANGE")
	want := map[kafka.Offset]string{0: "[0 1]", 1: "[1]", 2: "[]", 3: "[]", 4: "[]", 5: "[]", 6: outOfRange}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("fetches (-want +got):\n%s", diff)
	}
}

// Extra of the traps: a follower that is caught up and not in sync holds the high watermark back, so that it can
// get in. It is caught up here because it fetches where the leader's log ended at its fetch before.
func TestCaughtUpFollowerHoldsHighWatermark(t *testing.T) {
	r, image := leading(t)
	r.Become(0, metadata.Partition{Replicas: []kafka.BrokerID{1, 2, 3}, ISR: []kafka.BrokerID{1}, Leader: 1, LeaderEpoch: 1, PartitionEpoch: 1}, image)
	write(t, r, image, "r0", "r1", "r2")
	fetchAs(t, r, image, 2, 1)
	write(t, r, image, "r3")
	if hw := r.HighWatermark(); hw != 4 {
		t.Fatalf("high watermark %d with a follower that is behind, want 4", hw)
	}
	fetchAs(t, r, image, 2, 3)
	if f := r.Followers(0, image)[0]; !f.CaughtUp || f.InSync || r.Proposal() != nil {
		t.Fatalf("%+v and proposal %v, want a follower that is caught up and is not taken in below the high watermark", f, r.Proposal())
	}
	write(t, r, image, "r4")
	if hw := r.HighWatermark(); hw != 4 {
		t.Errorf("high watermark %d, want 4: the follower, at 3, holds it back", hw)
	}
	fetchAs(t, r, image, 2, 5)
	if p := r.Proposal(); p == nil || len(p.ISR) != 2 || r.HighWatermark() != 5 {
		t.Errorf("proposal %+v and high watermark %d, want 1 and 2 in sync and 5", p, r.HighWatermark())
	}
}

func offsetsIn(t *testing.T, data []byte) []kafka.Offset {
	t.Helper()
	list := []kafka.Offset{}
	for len(data) > 0 {
		b, err := record.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, b.BaseOffset)
		data = data[b.Size():]
	}
	return list
}
