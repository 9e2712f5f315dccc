package controller

import (
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/sabotage"
)

// effectiveMinISR is min.insync.replicas of a topic, at most its replication factor.
//
// Source: ReplicationControlManager.getTopicEffectiveMinIsr.
func (c *Controller) effectiveMinISR(t metadata.Topic) int {
	minISR := c.config.MinInSyncReplicas
	if value, ok := c.image.TopicSetting(t.Name, metadata.MinInSyncReplicas); ok {
		minISR, _ = strconv.Atoi(value) // checked when it was set
	}
	return min(minISR, len(t.Partitions[0].Replicas))
}

// uncleanAllowed is unclean.leader.election.enable of a topic.
//
// Source: ConfigurationControlManager.uncleanLeaderElectionEnabledForTopic.
func (c *Controller) uncleanAllowed(t metadata.Topic) bool {
	if value, ok := c.image.TopicSetting(t.Name, uncleanLeaderElectionEnable); ok {
		return isTrue(value)
	}
	return c.config.UncleanLeaderElection || c.config.Sabotage == sabotage.ElectsAnyone
}

// change begins a change of one partition in which nothing changes but who leads, if it has to.
func (c *Controller) change(t metadata.Topic, index kafka.Partition) PartitionChange {
	p := t.Partitions[index]
	b := PartitionChange{
		TopicID: t.ID, Index: index, Partition: p, Acceptable: c.image.Active, MinISR: c.effectiveMinISR(t), ELR: c.image.ELREnabled(),
		ISR: p.ISR, Unclean: metadata.NoLeader, Untold: !c.told(t.Name, index), Sabotage: c.config.Sabotage,
	}
	if c.uncleanAllowed(t) {
		b.Election = UncleanElection
	}
	return b
}

// apply puts a change into an operation with its event; askedBy says in words who wanted it, for a change of the
// ISR alone. It reports the partition's new state, and whether there was anything to change.
func (op *operation) apply(topic string, b *PartitionChange, askedBy string) (after metadata.Partition, changed bool) {
	record, how, changed := b.Build()
	if !changed {
		return b.Partition, false
	}
	before, after := b.Partition, b.Partition.Merge(record)
	op.records = append(op.records, record)
	if b.Untold {
		return after, true
	}
	tp := kafka.TopicPartition{Topic: topic, Partition: b.Index}
	isrBefore, isr, elrBefore, elr := present(before.ISR), present(after.ISR), present(before.ELR), present(after.ELR)
	switch record.Leader {
	case metadata.NoLeaderChange:
		op.events = append(op.events, journal.ISRChanged{
			TopicPartition: tp, From: isrBefore, To: isr, ELRBefore: elrBefore, ELR: elr, LeaderEpoch: after.LeaderEpoch,
			PartitionEpoch: after.PartitionEpoch, Recovered: before.Recovering && !after.Recovering, AskedBy: askedBy,
		})
	case metadata.NoLeader:
		op.events = append(op.events, journal.LeaderLost{
			TopicPartition: tp, From: before.Leader, LeaderEpoch: after.LeaderEpoch, ISRBefore: isrBefore, ISR: isr, ELRBefore: elrBefore, ELR: elr, Why: how.Why,
		})
	default:
		op.events = append(op.events, journal.LeaderElected{
			TopicPartition: tp, From: before.Leader, To: after.Leader, LeaderEpoch: after.LeaderEpoch, ISRBefore: isrBefore, ISR: isr,
			ELRBefore: elrBefore, ELR: elr, Clean: how.Clean, Why: how.Why,
		})
	}
	return after, true
}

// update is what a change of one broker means for many partitions. NoLeader stands for nobody.
type update struct {
	remove  kafka.BrokerID // leaves ISR and leadership
	add     kafka.BrokerID // may lead although the image still says that it is fenced
	unclean kafka.BrokerID // leaves ISR, ELR and leadership: it may have lost records
	cause   string         // in words
}

// Which partitions an update looks at.
func inISR(broker kafka.BrokerID) func(metadata.Partition) bool {
	return func(p metadata.Partition) bool { return slices.Contains(p.ISR, broker) }
}

func inELR(broker kafka.BrokerID) func(metadata.Partition) bool {
	return func(p metadata.Partition) bool { return slices.Contains(p.ELR, broker) }
}

func withoutLeader(p metadata.Partition) bool { return p.Leader == metadata.NoLeader }

// updateLeadersAndISRs changes every partition that which picks.
//
// Source: ReplicationControlManager.generateLeaderAndIsrUpdates.
func (c *Controller) updateLeadersAndISRs(op *operation, u update, which func(metadata.Partition) bool) {
	for _, t := range c.image.Topics {
		for index, p := range t.Partitions {
			if !which(p) {
				continue
			}
			b := c.change(t, kafka.Partition(index))
			b.Acceptable = func(id kafka.BrokerID) bool {
				return id != u.remove && id != u.unclean && (id == u.add || c.image.Active(id))
			}
			b.Unclean = u.unclean
			b.ISR = slices.DeleteFunc(slices.Clone(p.ISR), func(id kafka.BrokerID) bool { return id == u.remove || id == u.unclean })
			op.apply(t.Name, &b, u.cause)
		}
	}
}

// maxElectionsPerImbalance bounds the elections of one run of a timer.
//
// Source: ReplicationControlManager.MAX_ELECTIONS_PER_IMBALANCE.
const maxElectionsPerImbalance = 1_000

// balanceLeaders elects the preferred leader of each partition that has another one, if it is in the ISR.
//
// Source: ReplicationControlManager.maybeBalancePartitionLeaders.
func (c *Controller) balanceLeaders() (op operation, again bool) {
	return c.electWhere(PreferredElection, func(_ metadata.Topic, p metadata.Partition) bool { return p.Leader != p.PreferredLeader() })
}

// electUncleanLeaders elects a leader of each partition that has none, uncleanly if need be, where the topic
// allows that.
//
// Source: ReplicationControlManager.maybeElectUncleanLeaders.
func (c *Controller) electUncleanLeaders() (op operation, again bool) {
	return c.electWhere(UncleanElection, func(t metadata.Topic, p metadata.Partition) bool { return withoutLeader(p) && c.uncleanAllowed(t) })
}

func (c *Controller) electWhere(e Election, which func(metadata.Topic, metadata.Partition) bool) (op operation, again bool) {
	for _, t := range c.image.Topics {
		for index, p := range t.Partitions {
			if len(op.records) < maxElectionsPerImbalance && which(t, p) {
				b := c.change(t, kafka.Partition(index))
				b.Election = e
				op.apply(t.Name, &b, "a timer tried to elect a leader")
			}
		}
	}
	return op, len(op.records) >= maxElectionsPerImbalance
}

// The election types of an ElectLeaders request.
const (
	preferredType = 0
	uncleanType   = 1
)

// electLeaders elects the leaders that an administrator asks for: the preferred one, or any, uncleanly if need
// be, of a partition without one. Without a list it means all partitions, and names in the answer those that
// were not as they should be.
//
// Source: ReplicationControlManager.electLeaders.
func (c *Controller) electLeaders(r *kmsg.ElectLeadersRequest) (kmsg.Response, operation) {
	response := r.ResponseKind().(*kmsg.ElectLeadersResponse)
	var op operation
	if r.ElectionType != preferredType && r.ElectionType != uncleanType {
		response.ErrorCode = kerr.InvalidRequest.Code
		return response, op
	}
	topics := r.Topics
	if r.Topics == nil {
		for _, t := range c.image.Topics {
			all := kmsg.NewElectLeadersRequestTopic()
			all.Topic = t.Name
			for index := range t.Partitions {
				all.Partitions = append(all.Partitions, int32(index))
			}
			topics = append(topics, all)
		}
	}
	for _, topic := range topics {
		rt := kmsg.NewElectLeadersResponseTopic()
		rt.Topic = topic.Topic
		for _, index := range topic.Partitions {
			result := kmsg.NewElectLeadersResponseTopicPartition()
			result.Partition = index
			result.ErrorCode, result.ErrorMessage = c.electLeader(&op, topic.Topic, kafka.Partition(index), r.ElectionType).parts()
			if r.Topics != nil || result.ErrorCode != kerr.ElectionNotNeeded.Code {
				rt.Partitions = append(rt.Partitions, result)
			}
		}
		response.Topics = append(response.Topics, rt)
	}
	return response, op
}

// electLeader elects the leader of one partition; nil says that it did.
//
// Source: ReplicationControlManager.electLeader.
func (c *Controller) electLeader(op *operation, topic string, index kafka.Partition, electionType int8) *Refusal {
	t, ok := c.image.Topic(topic)
	if !ok {
		return refuse(kerr.UnknownTopicOrPartition, "No such topic as %s", topic)
	}
	p, ok := t.Partition(index)
	if !ok {
		return refuse(kerr.UnknownTopicOrPartition, "No such partition as %s-%d", topic, index)
	}
	if electionType == preferredType && p.Leader == p.PreferredLeader() || electionType == uncleanType && p.Leader != metadata.NoLeader {
		return refuse(kerr.ElectionNotNeeded, "Leader election not needed for topic partition.")
	}
	b := c.change(t, index)
	b.Election = PreferredElection
	if electionType == uncleanType {
		b.Election, b.Ordered = UncleanElection, true
	}
	if _, changed := op.apply(topic, &b, "an administrator asked for an election"); changed {
		return nil
	}
	if electionType == preferredType {
		return refuse(kerr.PreferredLeaderNotAvailable, "The preferred leader was not available.")
	}
	return refuse(kerr.EligibleLeadersNotAvailable, "Eligible topic partition leaders are not available.")
}

// WithoutBrokers gives what a partition would be if no more heartbeat came from these brokers, so that they are
// fenced, one after the other, and how its leader would be chosen by the last of these fencings that changed anything.
// Nothing is changed.
//
// Source: ReplicationControlManager.handleBrokerFenced, generateLeaderAndIsrUpdates.
func (c *Controller) WithoutBrokers(tp kafka.TopicPartition, gone ...kafka.BrokerID) (after metadata.Partition, how Chosen) {
	t, ok := c.image.Topic(tp.Topic)
	if !ok {
		return after, how
	}
	after, ok = t.Partition(tp.Partition)
	how = Chosen{Leader: after.Leader, Clean: true}
	gone = c.fencingOrder(gone)
	for i, broker := range gone {
		if !ok || !slices.Contains(after.ISR, broker) {
			continue
		}
		b := c.change(t, tp.Partition)
		b.Partition = after
		b.Acceptable = func(id kafka.BrokerID) bool { return !slices.Contains(gone[:i+1], id) && c.image.Active(id) }
		b.ISR = slices.DeleteFunc(slices.Clone(after.ISR), func(id kafka.BrokerID) bool { return id == broker })
		record, chosen, changed := b.Build()
		if changed {
			after, how = after.Merge(record), chosen
		}
	}
	return after, how
}
