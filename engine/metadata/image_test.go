package metadata

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/kafka"
)

// after applies records from offset 0 on.
func after(records ...Record) Image {
	var im Image
	for _, r := range records {
		im = im.Apply(r, im.Offset)
	}
	return im
}

func base() Image {
	return after(
		RegisterBrokerRecord{BrokerID: 2, BrokerEpoch: 0, Fenced: true, EndPoints: []EndPoint{{"PLAINTEXT", "b2", 9092, 0}}, Rack: "east"},
		RegisterBrokerRecord{BrokerID: 1, BrokerEpoch: 1, Fenced: true, EndPoints: []EndPoint{{"PLAINTEXT", "b1", 9092, 0}}},
		TopicRecord{"orders", seven()},
		PartitionRecord{PartitionID: 0, TopicID: seven(), Replicas: ids{1, 2}, ISR: ids{1, 2}, Leader: 1},
		PartitionRecord{PartitionID: 1, TopicID: seven(), Replicas: ids{2, 1}, ISR: ids{2, 1}, Leader: 2},
	)
}

func TestBrokers(t *testing.T) {
	im := base()
	if im.Offset != 5 || im.Brokers[0].Node != "b1" || im.Brokers[1].Rack != "east" || im.Active(1) {
		t.Errorf("%+v", im)
	}
	im = im.Apply(BrokerRegistrationChangeRecord{BrokerID: 1, BrokerEpoch: 1, Fenced: Unfence}, 5)
	if !im.Active(1) || im.Active(2) || im.Active(9) {
		t.Errorf("%+v", im.Brokers)
	}
	im = im.Apply(BrokerRegistrationChangeRecord{BrokerID: 1, BrokerEpoch: 1, InControlledShutdown: true}, 6)
	if b, _ := im.Broker(1); b.Fenced || !b.InControlledShutdown || b.Active() {
		t.Errorf("%+v", b)
	}
	im = im.Apply(UnregisterBrokerRecord{1, 1}, 7)
	if _, ok := im.Broker(1); ok || len(im.Brokers) != 1 {
		t.Errorf("%+v", im.Brokers)
	}
}

// Every change moves the partition epoch; the leader epoch moves if and only if the change names a leader.
func TestEpochs(t *testing.T) {
	im := base()
	step := func(change func(*PartitionChangeRecord), want Partition) {
		t.Helper()
		m := NewPartitionChange(seven(), 1)
		change(&m)
		im = im.Apply(m, im.Offset)
		got, _ := im.Partition(kafka.TopicPartition{Topic: "orders", Partition: 1})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", m, diff)
		}
	}
	replicas := ids{2, 1}
	step(func(m *PartitionChangeRecord) { m.ISR = ids{2} }, Partition{Replicas: replicas, ISR: ids{2}, Leader: 2, PartitionEpoch: 1})
	step(func(m *PartitionChangeRecord) { m.Leader = 2 }, Partition{Replicas: replicas, ISR: ids{2}, Leader: 2, LeaderEpoch: 1, PartitionEpoch: 2})
	step(func(m *PartitionChangeRecord) {
		m.ISR, m.Leader, m.EligibleLeaderReplicas, m.LastKnownELR = ids{}, NoLeader, ids{2}, ids{2}
	}, Partition{Replicas: replicas, ISR: ids{}, ELR: ids{2}, LastKnownELR: ids{2}, Leader: NoLeader, LeaderEpoch: 2, PartitionEpoch: 3})
	im = im.Apply(ClearELRRecord{"orders"}, im.Offset)
	step(func(m *PartitionChangeRecord) { m.Leader, m.ISR, m.LeaderRecoveryState = 1, ids{1}, Recovering },
		Partition{Replicas: replicas, ISR: ids{1}, ELR: ids{}, LastKnownELR: ids{}, Leader: 1, LeaderEpoch: 3, PartitionEpoch: 5, Recovering: true})
	if p, _ := im.Partition(kafka.TopicPartition{Topic: "orders"}); p.PartitionEpoch != 0 {
		t.Errorf("the other partition changed: %+v", p) // it had no ELR to clear
	}
}

func TestSettings(t *testing.T) {
	im := base()
	want := func(value string) {
		t.Helper()
		if got, ok := im.TopicSetting("orders", MinInSyncReplicas); got != value || ok != (value != "") {
			t.Errorf("min.insync.replicas is %q, want %q", got, value)
		}
	}
	apply := func(kind ResourceType, resource string, value *string) {
		im = im.Apply(ConfigRecord{kind, resource, MinInSyncReplicas, value}, im.Offset)
	}
	want("")
	apply(BrokerResource, "", text("2"))
	want("2")
	apply(TopicResource, "orders", text("1"))
	want("1")
	apply(BrokerResource, "1", text("7")) // of one broker: not modelled
	want("1")
	apply(TopicResource, "orders", nil)
	want("2")
	im = im.Apply(FeatureLevelRecord{ELRFeature, 1}, im.Offset)
	if !im.ELREnabled() {
		t.Error("eligible leader replicas are off")
	}
	if im = im.Apply(FeatureLevelRecord{ELRFeature, 0}, im.Offset); im.ELREnabled() {
		t.Error("eligible leader replicas are on")
	}
}

// An image never changes, whatever is applied to it, also by two at once.
func TestImagesShareNothingWritten(t *testing.T) {
	other := [16]byte{1}
	changes := []Record{
		RegisterBrokerRecord{BrokerID: 3}, RegisterBrokerRecord{BrokerID: 1, BrokerEpoch: 9}, UnregisterBrokerRecord{2, 0},
		BrokerRegistrationChangeRecord{BrokerID: 2, Fenced: Unfence}, TopicRecord{"a", other}, TopicRecord{"z", other},
		PartitionRecord{PartitionID: 2, TopicID: seven(), Replicas: ids{1}}, PartitionChangeRecord{TopicID: seven(), PartitionID: 1, Leader: 1},
		ConfigRecord{TopicResource, "orders", "a", text("1")}, ConfigRecord{BrokerResource, "", "a", text("1")},
		FeatureLevelRecord{"f", 1}, ProducerIDsRecord{NextProducerID: 9}, ClearELRRecord{},
	}
	im := base()
	for _, first := range changes {
		one := im.Apply(first, im.Offset)
		want := base().Apply(first, im.Offset)
		for _, second := range changes {
			im.Apply(second, im.Offset)
		}
		if diff := cmp.Diff(want, one); diff != "" {
			t.Errorf("after %T and others (-want +got):\n%s", first, diff)
		}
		if diff := cmp.Diff(base(), im); diff != "" {
			t.Fatalf("%T changed the image it was applied to (-want +got):\n%s", first, diff)
		}
	}
}
