package group

import (
	"testing"

	"loglab/engine/kafka"
	"loglab/engine/metadata"
)

// Hashes that Kafka 4.2's Utils.computeTopicHash and computeGroupHash give. Racks are sorted by their UTF-16 units: 😀
// comes before the wide tilde.
func TestMetadataHash(t *testing.T) {
	id := func(first, last byte) (id [16]byte) {
		for i := range id {
			id[i] = byte(i)
		}
		id[0], id[15] = first, last
		return id
	}
	replicas := func(ids ...kafka.BrokerID) metadata.Partition { return metadata.Partition{Replicas: ids} }
	image := &metadata.Image{
		Brokers: []metadata.Broker{{ID: 1, Rack: "a"}, {ID: 2, Rack: "b"}, {ID: 3, Rack: "\uff5e"}, {ID: 4, Rack: "😀"}, {ID: 5}},
		Topics: []metadata.Topic{
			{Name: "orders", ID: id(0, 15), Partitions: []metadata.Partition{replicas(5), replicas(1, 2), replicas(3, 4)}},
			{Name: "payments", ID: id(15, 0), Partitions: []metadata.Partition{replicas(2, 5, 1)}},
		},
	}
	for _, c := range []struct {
		topics []string
		want   int64
	}{
		{nil, 0},
		{[]string{"nothing"}, 0},
		{[]string{"orders"}, -7005910209731068022},
		{[]string{"orders", "payments"}, 3863831755888283706},
	} {
		if got := int64(metadataHash(c.topics, image)); got != c.want {
			t.Errorf("%v: %d, want %d", c.topics, got, c.want)
		}
	}
}
