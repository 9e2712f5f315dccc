package engine

import (
	"loglab/engine/assignor"
	"loglab/engine/client"
	"loglab/engine/kafka"
	"loglab/engine/ledger"
	"loglab/engine/metadata"
	"loglab/engine/replication"
)

// What watches over the invariants, in its own terms.
type (
	Checker   = ledger.Checker
	Violation = ledger.Violation
)

// Check lets a checker look at the cluster, which stays as it is, and says which invariants do not hold. A checker
// watches one run from tick 0 on: after New, after each Apply and after each Tick.
func (c *Cluster) Check(k *Checker) []Violation {
	o := ledger.Observation{
		Tick: c.tick, Journal: &c.journal, Image: c.controller.View().Image, Unclean: c.spec.Cluster.UncleanElection, Assignor: c.spec.Group.Assignor,
	}
	for _, b := range c.brokers {
		seen := b.View(c.now)
		state := ledger.BrokerState{ID: seen.ID, Runs: b.Up(), Epoch: seen.Epoch, Image: seen.Image}
		topic, _ := o.Image.Topic(c.spec.Topic.Name)
		for i := range topic.Partitions {
			tp := kafka.TopicPartition{Topic: topic.Name, Partition: kafka.Partition(i)}
			if r := b.Replica(tp); r != nil {
				state.Replicas = append(state.Replicas, c.replicaState(r, &seen.Image))
			} else if onDisk := b.LogOnDisk(tp); onDisk != nil {
				state.Replicas = append(state.Replicas, ledger.ReplicaState{TopicPartition: tp, Segments: onDisk})
			}
		}
		o.Brokers = append(o.Brokers, state)
	}
	o.Promises = c.promisesFrom(k.Promises())
	c.observeGroup(&o)
	return k.Check(o, c.outside.Source.Outcomes().Len())
}

func (c *Cluster) replicaState(r *replication.Replica, image *metadata.Image) ledger.ReplicaState {
	s := ledger.ReplicaState{
		TopicPartition: r.TopicPartition, Segments: r.Log.Segments(), Open: true, Role: r.Role(), State: r.State(),
		LogStartOffset: r.Log.LogStartOffset(), HighWatermark: r.HighWatermark(), LogEndOffset: r.Log.LogEndOffset(),
	}
	for _, f := range r.Followers(c.now, image) {
		if f.HasFetched {
			s.Attached = append(s.Attached, ledger.Attached{ID: f.ID, Epoch: f.Epoch})
		}
	}
	return s
}

// promisesFrom lists what was acknowledged with acks=all, from an outcome on.
func (c *Cluster) promisesFrom(first int) []ledger.Promise {
	var list []ledger.Promise
	for _, o := range c.outside.Source.Outcomes().From(first) {
		h := c.outside.Source.Handed().At(o.Record)
		if n := c.client(h.Producer); o.Kind == client.Acknowledged && n.producer.Config().Acks == -1 {
			list = append(list, ledger.Promise{Record: o.Record, TopicPartition: h.TopicPartition, Offset: o.Offset, Key: h.Key, Value: h.Value, Tick: h.Tick})
		}
	}
	return list
}

// observeGroup adds the consumers: where they are, and what they were given.
func (c *Cluster) observeGroup(o *ledger.Observation) {
	o.Group = assignor.Group{Topics: []assignor.Topic{{Name: c.spec.Topic.Name, PartitionCount: int32(c.divided)}}}
	for _, m := range c.members {
		o.Group.Members = append(o.Group.Members, assignor.Member{ID: kafka.MemberID(m.node), Topics: []string{c.spec.Topic.Name}, Generation: -1})
		o.Assigned = append(o.Assigned, ledger.Assigned{Member: kafka.MemberID(m.node), Partitions: m.partitions})
	}
	for _, n := range c.clients {
		if n.consumer == nil {
			continue
		}
		for _, a := range n.consumer.View().Partitions {
			o.Positions = append(o.Positions, ledger.Position{
				Node: n.id(), TopicPartition: kafka.TopicPartition{Topic: c.spec.Topic.Name, Partition: a.Partition}, Offset: a.Position,
			})
		}
	}
}
