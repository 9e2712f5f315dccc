package controller

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
)

// Every refusal of AlterPartition, and a request that changes nothing.
func TestAlterPartition(t *testing.T) {
	type partition = kmsg.AlterPartitionRequestTopicPartition
	for _, test := range []struct {
		want   string
		isr    []kafka.BrokerID
		change func(*kmsg.AlterPartitionRequest, *partition)
	}{
		{"ok", []kafka.BrokerID{1, 2}, nil},
		{"STALE_BROKER_EPOCH", []kafka.BrokerID{1, 2}, func(q *kmsg.AlterPartitionRequest, _ *partition) { q.BrokerEpoch++ }},
		{"NOT_CONTROLLER", []kafka.BrokerID{1, 2}, func(_ *kmsg.AlterPartitionRequest, p *partition) { p.LeaderEpoch++ }},
		{"NOT_CONTROLLER", []kafka.BrokerID{1, 2}, func(_ *kmsg.AlterPartitionRequest, p *partition) { p.PartitionEpoch++ }},
		{"FENCED_LEADER_EPOCH", []kafka.BrokerID{1, 2}, func(_ *kmsg.AlterPartitionRequest, p *partition) { p.LeaderEpoch-- }},
		{"INVALID_UPDATE_VERSION", []kafka.BrokerID{1, 2}, func(_ *kmsg.AlterPartitionRequest, p *partition) { p.PartitionEpoch-- }},
		{"INVALID_REQUEST", []kafka.BrokerID{1, 2}, func(q *kmsg.AlterPartitionRequest, _ *partition) { q.BrokerID, q.BrokerEpoch = 2, 11 }},
		{"INVALID_REQUEST", []kafka.BrokerID{2}, nil},
		{"INVALID_REQUEST", []kafka.BrokerID{1, 4}, nil}, // no replica
		{"INVALID_REQUEST", []kafka.BrokerID{1, 1}, nil},
		{"INVALID_REQUEST", []kafka.BrokerID{1, 2}, func(_ *kmsg.AlterPartitionRequest, p *partition) { p.LeaderRecoveryState = 1 }},
		{"INVALID_REQUEST", []kafka.BrokerID{1}, func(_ *kmsg.AlterPartitionRequest, p *partition) { p.LeaderRecoveryState = 1 }},
		{"INELIGIBLE_REPLICA", []kafka.BrokerID{1, 3}, nil}, // fenced
		{"INELIGIBLE_REPLICA", []kafka.BrokerID{1, 2}, func(_ *kmsg.AlterPartitionRequest, p *partition) { p.NewEpochISR[1].BrokerEpoch++ }},
		{"ok", []kafka.BrokerID{1, 2}, func(_ *kmsg.AlterPartitionRequest, p *partition) { p.NewEpochISR[1].BrokerEpoch = -1 }},
		{"UNKNOWN_TOPIC_OR_PARTITION", []kafka.BrokerID{1, 2}, func(_ *kmsg.AlterPartitionRequest, p *partition) { p.Partition = 1 }},
	} {
		r := newRun(t, nil)
		r.start(1, 2, 3, 4)
		r.create("t", [][]int32{{1, 2, 3}})
		r.pass(12_000, 1, 2, 4) // 3 is fenced
		r.want("leader=1 epoch=0/1 isr=[1 2] elr=[] last=[]")
		r.epochs[2] = brokerEpoch(r, 2)
		change := test.change
		response := r.alter(test.isr, func(q *kmsg.AlterPartitionRequest, p *partition) {
			if change != nil {
				change(q, p)
			}
			if q.BrokerID == 2 {
				q.BrokerEpoch = brokerEpoch(r, 2)
			}
		})
		got := name(response.ErrorCode)
		if response.ErrorCode == 0 {
			got = name(response.Topics[0].Partitions[0].ErrorCode)
		}
		if got != test.want {
			t.Errorf("ISR %v: %s, want %s", test.isr, got, test.want)
		}
		r.want("leader=1 epoch=0/1 isr=[1 2] elr=[] last=[]") // also after "ok": nothing was to change
		refused := events[journal.AlterPartitionRefused](r)
		if (len(refused) == 1) != (test.want != "ok") || len(refused) == 1 && refused[0].Error != test.want {
			t.Errorf("want %s, journal has %+v", test.want, refused)
		}
	}
}

func brokerEpoch(r *run, id kafka.BrokerID) int64 {
	b, _ := r.c.Image().Broker(id)
	return b.Epoch
}

// A change of the ISR moves the partition epoch and leaves the leader epoch.
func TestISRChangeLeavesLeaderEpoch(t *testing.T) {
	r := newRun(t, nil)
	r.start(1, 2, 3)
	r.create("t", [][]int32{{1, 2, 3}})
	r.alter([]kafka.BrokerID{1, 3}, nil)
	r.want("leader=1 epoch=0/1 isr=[1 3] elr=[] last=[]")
	response := r.alter([]kafka.BrokerID{1, 2, 3}, nil)
	r.want("leader=1 epoch=0/2 isr=[1 2 3] elr=[] last=[]")
	if got := response.Topics[0].Partitions[0]; got.LeaderID != 1 || got.LeaderEpoch != 0 || got.PartitionEpoch != 2 || fmt.Sprint(got.ISR) != "[1 2 3]" {
		t.Errorf("answer %+v", got)
	}
}

// A new min.insync.replicas makes the controller forget the ELR; that counts as a change of the partition.
func TestMinISRChangeClearsELR(t *testing.T) {
	r := newRun(t, func(c *Config) { c.MinInSyncReplicas = 2 })
	r.start(1, 2, 3)
	r.create("t", [][]int32{{1, 2, 3}})
	r.alter([]kafka.BrokerID{1}, nil)
	r.want("leader=1 epoch=0/1 isr=[1] elr=[2 3] last=[]")
	alter := func(resources ...kmsg.IncrementalAlterConfigsRequestResource) string {
		request := kmsg.NewPtrIncrementalAlterConfigsRequest()
		request.Resources = resources
		var got []string
		for _, result := range ask[*kmsg.IncrementalAlterConfigsResponse](r, request).Resources {
			text := name(result.ErrorCode)
			if result.ErrorMessage != nil {
				text += ": " + *result.ErrorMessage
			}
			got = append(got, text)
		}
		return strings.Join(got, "; ")
	}
	topic, broker := kmsg.ConfigResourceTypeTopic, kmsg.ConfigResourceTypeBroker
	remove := setting(broker, "", "min.insync.replicas", "")
	remove.Configs[0].Op, remove.Configs[0].Value = kmsg.IncrementalAlterConfigOpDelete, nil
	for _, test := range []struct {
		resource kmsg.IncrementalAlterConfigsRequestResource
		want     string
	}{
		{setting(topic, "t", "min.insync.replicas", "0"), "INVALID_CONFIG: Invalid value 0 for configuration min.insync.replicas: Value must be at least 1"},
		{setting(topic, "none", "min.insync.replicas", "1"), "UNKNOWN_TOPIC_OR_PARTITION: The topic 'none' does not exist."},
		{remove, "INVALID_CONFIG: Cluster-level min.insync.replicas cannot be removed while ELR is enabled."},
	} {
		if got := alter(test.resource); got != test.want {
			t.Errorf("%+v:\n%s\nwant %s", test.resource, got, test.want)
		}
	}
	if got := alter(setting(topic, "t", "min.insync.replicas", "1")); got != "ok" {
		t.Error(got)
	}
	r.want("leader=1 epoch=0/2 isr=[1] elr=[] last=[]")
	if changed := events[journal.ConfigChanged](r); len(changed) != 1 || !changed[0].ELRCleared || changed[0].To != "1" {
		t.Errorf("%+v", changed)
	}
	if value, _ := r.c.Image().TopicSetting("t", metadata.MinInSyncReplicas); value != "1" {
		t.Errorf("min.insync.replicas of t is %s", value)
	}
	if value, _ := metadata.Lookup(r.c.Image().ClusterConfig, metadata.MinInSyncReplicas); value != "2" {
		t.Errorf("min.insync.replicas of all brokers is %s", value)
	}
	if got := alter(setting(broker, "", "min.insync.replicas", "3")); got != "ok" {
		t.Error(got)
	}
	if value, _ := metadata.Lookup(r.c.Image().ClusterConfig, metadata.MinInSyncReplicas); value != "3" {
		t.Errorf("min.insync.replicas of all brokers is %s", value)
	}
}

func TestCreateTopics(t *testing.T) {
	r := newRun(t, nil)
	r.start(1, 2)
	create := func(topic string, partitions int32, factor int16) (string, *kmsg.CreateTopicsResponseTopic) {
		request := kmsg.NewPtrCreateTopicsRequest()
		rt := kmsg.NewCreateTopicsRequestTopic()
		rt.Topic, rt.NumPartitions, rt.ReplicationFactor = topic, partitions, factor
		request.Topics = append(request.Topics, rt)
		result := ask[*kmsg.CreateTopicsResponse](r, request).Topics[0]
		text := name(result.ErrorCode)
		if result.ErrorMessage != nil {
			text += ": " + *result.ErrorMessage
		}
		return text, &result
	}
	for _, test := range []struct {
		topic      string
		partitions int32
		factor     int16
		want       string
	}{
		{"a.b", 3, 2, "ok"},
		{"a.b", 3, 2, "TOPIC_ALREADY_EXISTS: Topic 'a.b' already exists."},
		{"a_b", 3, 2, "INVALID_TOPIC_EXCEPTION: Topic 'a_b' collides with existing topic: a.b"},
		{"a b", 3, 2, "INVALID_TOPIC_EXCEPTION: Topic name is invalid: 'a b' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"},
		{"c", 3, 3, "INVALID_REPLICATION_FACTOR: Unable to replicate the partition 3 time(s): The target replication factor of 3 cannot be reached because only 2 broker(s) are registered."},
		{"c", 3, 0, "INVALID_REPLICATION_FACTOR: Replication factor must be larger than 0, or -1 to use the default value."},
		{"c", 0, 1, "INVALID_PARTITIONS: Number of partitions was set to an invalid non-positive value."},
		{"c", 10_001, 1, "POLICY_VIOLATION: Excessively large number of partitions per request."},
		{"c", 10_000, 1, "POLICY_VIOLATION: Unable to perform excessively large batch operation."},
		{"c", -1, -1, "ok"},
	} {
		got, result := create(test.topic, test.partitions, test.factor)
		if got != test.want {
			t.Errorf("%s %d×%d:\n%s\nwant %s", test.topic, test.partitions, test.factor, got, test.want)
		}
		if topic, _ := r.c.Image().Topic(test.topic); got == "ok" && (int(result.NumPartitions) != len(topic.Partitions) || result.TopicID != topic.ID) {
			t.Errorf("%s: answer %+v", test.topic, result)
		}
	}
	r.pass(12_000) // both brokers are fenced
	if got, _ := create("d", 1, 1); got != "INVALID_REPLICATION_FACTOR: Unable to replicate the partition 1 time(s): All brokers are currently fenced." {
		t.Error(got)
	}
}

func TestCreatePartitions(t *testing.T) {
	r := newRun(t, nil)
	r.start(1, 2, 3)
	r.create("t", [][]int32{{1, 2}, {2, 3}})
	grow := func(topic string, count int32) string {
		request := kmsg.NewPtrCreatePartitionsRequest()
		request.Topics = []kmsg.CreatePartitionsRequestTopic{{Topic: topic, Count: count}}
		result := ask[*kmsg.CreatePartitionsResponse](r, request).Topics[0]
		if result.ErrorMessage != nil {
			return name(result.ErrorCode) + ": " + *result.ErrorMessage
		}
		return name(result.ErrorCode)
	}
	for _, test := range []struct {
		topic string
		count int32
		want  string
	}{
		{"t", 2, "INVALID_PARTITIONS: Topic already has 2 partition(s)."},
		{"t", 1, "INVALID_PARTITIONS: The topic t currently has 2 partition(s); 1 would not be an increase."},
		{"none", 3, "UNKNOWN_TOPIC_OR_PARTITION"},
		{"t", 5, "ok"},
	} {
		if got := grow(test.topic, test.count); got != test.want {
			t.Errorf("%s to %d: %s, want %s", test.topic, test.count, got, test.want)
		}
	}
	topic, _ := r.c.Image().Topic("t")
	if len(topic.Partitions) != 5 || len(topic.Partitions[4].Replicas) != 2 || topic.Partitions[4].LeaderEpoch != 0 {
		t.Errorf("%+v", topic)
	}
}

// BAS-04: t-0 on 1 and 2, t-1 on 2 and 3, t-2 on 3 and 1, as the placer does from the first broker on. The values
// are those of StripedReplicaPlacer.
func TestPlacementByFixedDraws(t *testing.T) {
	three := []UsableBroker{{ID: 1}, {ID: 2}, {ID: 3}}
	racks := []UsableBroker{{ID: 1, Rack: "a"}, {ID: 2, Rack: "a"}, {ID: 3, Rack: "b"}, {ID: 4, Rack: "b"}}
	for _, test := range []struct {
		partitions, factor int
		brokers            []UsableBroker
		draw               int // each draw below n is this modulo n
		want               string
	}{
		{3, 2, three, 0, "[[1 2] [2 3] [3 1]]"},
		{3, 3, three, 1, "[[2 3 1] [3 1 2] [1 2 3]]"},
		{4, 2, racks, 0, "[[1 3] [4 2] [1 3] [4 2]]"},
		{2, 3, []UsableBroker{{ID: 1, Fenced: true}, {ID: 2}, {ID: 3}}, 0, "[[2 3 1] [3 2 1]]"},
	} {
		got, refused := PlaceReplicas(test.partitions, test.factor, test.brokers, func(n int) int { return test.draw % n })
		if refused != nil || fmt.Sprint(got) != test.want {
			t.Errorf("%+v: %v %v", test, got, refused)
		}
	}
}
