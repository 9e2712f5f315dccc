package engine

import (
	"slices"

	"loglab/engine/assignor"
	"loglab/engine/broker"
	"loglab/engine/client"
	"loglab/engine/group"
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
		for _, tp := range c.partitions(o.Image) {
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
	c.observeGroups(&o)
	c.observeTransactions(&o)
	return k.Check(o, c.outside.Source.Outcomes().Len())
}

// partitions lists the partitions that have replicas: of the run's topics, and of internal topics those on
// which a coordinator lives.
func (c *Cluster) partitions(image metadata.Image) (list []kafka.TopicPartition) {
	for _, t := range c.spec.topics() {
		topic, _ := image.Topic(t.Name)
		for i := range topic.Partitions {
			list = append(list, kafka.TopicPartition{Topic: t.Name, Partition: kafka.Partition(i)})
		}
	}
	for _, tp := range c.spec.internalPartitions() {
		if _, ok := image.Topic(tp.Topic); ok {
			list = append(list, tp)
		}
	}
	return list
}

func (c *Cluster) replicaState(r *replication.Replica, image *metadata.Image) ledger.ReplicaState {
	s := ledger.ReplicaState{
		TopicPartition: r.TopicPartition, Segments: r.Log.Segments(), Open: true, Role: r.Role(), State: r.State(),
		LogStartOffset: r.Log.LogStartOffset(), HighWatermark: r.HighWatermark(), LogEndOffset: r.Log.LogEndOffset(),
		LastStableOffset: r.LastStableOffset(),
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
		config := c.producerConfig(h.Producer)
		if o.Kind != client.Acknowledged || config.Acks != -1 {
			continue
		}
		promise := ledger.Promise{Record: o.Record, Producer: h.Producer, TopicPartition: h.TopicPartition, Offset: o.Offset, Key: h.Key, Value: h.Value, Tick: h.Tick}
		if config.TransactionalID != "" {
			promise.Coordinated = TransactionsPartition(config.TransactionalID)
		}
		list = append(list, promise)
	}
	return list
}

// producerConfig gives the settings of a producer, or of that of an application that reads and writes.
func (c *Cluster) producerConfig(node kafka.NodeID) ProducerConfig {
	n := c.client(node)
	if n.producer != nil {
		return n.producer.Config()
	}
	config, _ := n.consumer.ProducerConfig()
	return config
}

// observeGroup adds the consumers: where they are, and what they were given.
func (c *Cluster) observeGroup(o *ledger.Observation) {
	o.Group = assignor.Group{Topics: []assignor.Topic{{Name: c.spec.Topic.Name, PartitionCount: int32(c.divided)}}}
	for _, m := range c.members {
		o.Group.Members = append(o.Group.Members, assignor.Member{ID: kafka.MemberID(m.node), Topics: []string{c.spec.Topic.Name}, Generation: -1})
		assigned := ledger.Assigned{Member: kafka.MemberID(m.node)}
		for _, tp := range m.partitions {
			assigned.Partitions = append(assigned.Partitions, tp.Partition)
		}
		o.Assigned = append(o.Assigned, assigned)
	}
	for _, n := range c.clients {
		if n.consumer == nil {
			continue
		}
		for _, a := range n.consumer.View().Partitions {
			o.Positions = append(o.Positions, ledger.Position{
				Node: n.id(), TopicPartition: a.TopicPartition, Offset: a.Position,
			})
		}
	}
}

// observeTransactions adds the transactional.ids.
func (c *Cluster) observeTransactions(o *ledger.Observation) {
	for _, id := range c.spec.transactionalIDs() {
		o.Transactions = append(o.Transactions, ledger.TransactionState{ID: id, Partition: TransactionsPartition(id)})
	}
	o.ReadsCommitted = func(node kafka.NodeID) bool {
		n := c.client(node)
		return n != nil && n.consumer != nil && n.consumer.ReadsCommitted()
	}
}

// observeGroups adds the groups with a coordinator.
func (c *Cluster) observeGroups(o *ledger.Observation) {
	for i := range c.spec.Groups {
		spec, sink := &c.spec.Groups[i], &c.outside.Sinks[i]
		state := ledger.GroupState{
			ID: spec.ID, Offsets: kafka.TopicPartition{Topic: group.Topic, Partition: OffsetsPartition(spec.ID)}, AfterWork: spec.commitsAfterWork(),
			ReadsCommitted: spec.readsCommitted(), Done: sink.Done, EffectsOnce: spec.Sink.Kind == SinkIdempotent || spec.Sink.Kind == SinkOffsets, Doubled: sink.Doubled(),
		}
		if state.Outputs = spec.outputs(); state.Outputs != "" {
			state.InputOf = client.InputOf
		}
		state.Coordinator, state.Held = c.coordinatorOf(o.Image, state.Offsets, spec.ID)
		o.Groups = append(o.Groups, state)
	}
}

// coordinatorOf gives the broker that coordinates a group, as the controller has it, with what it has of the group;
// empty where it does not know of that or does not run.
func (c *Cluster) coordinatorOf(image metadata.Image, offsets kafka.TopicPartition, id string) (kafka.NodeID, *group.GroupView) {
	p, ok := image.Partition(offsets)
	if !ok {
		return "", nil
	}
	b := c.broker(broker.NodeID(p.Leader))
	if b == nil {
		return "", nil
	}
	held, leads := b.GroupHeld(offsets.Partition, id)
	if !leads {
		return "", nil
	}
	return b.Node(), held
}

// commitsAfterWork says whether all applications of a group commit only what they are done with.
func (g *ConsumerGroupSpec) commitsAfterWork() bool {
	return !slices.ContainsFunc(g.Members, func(m MemberSpec) bool {
		app := &m.Config.Group.App
		return m.Config.Group.AutoCommit || app.Commit == CommitBefore || app.Workers > 0 && app.What == CommitHighest
	})
}

// outputs gives the topic that a group's applications write to in transactions; empty: one does not, or not to that.
func (g *ConsumerGroupSpec) outputs() (topic string) {
	for i, m := range g.Members {
		t := m.Config.Group.App.Transform
		if t == nil || t.Producer.TransactionalID == "" || i > 0 && t.Topic != topic {
			return ""
		}
		topic = t.Topic
	}
	return topic
}

// readsCommitted says whether a member of a group has isolation.level = read_committed.
func (g *ConsumerGroupSpec) readsCommitted() bool {
	return slices.ContainsFunc(g.Members, func(m MemberSpec) bool { return m.Config.IsolationLevel == client.ReadCommitted })
}
