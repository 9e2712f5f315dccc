package ledger

import (
	"fmt"
	"slices"

	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/replication"
)

// checkMetadata looks at what the controller and the brokers know.
func (k *Checker) checkMetadata(o *Observation) {
	for _, t := range o.Image.Topics {
		for i, now := range t.Partitions {
			p := k.of(kafka.TopicPartition{Topic: t.Name, Partition: kafka.Partition(i)})
			k.checkState(p.tp, "the controller", &now)
			if now.Leader != metadata.NoLeader {
				k.leads(p, now.LeaderEpoch, now.Leader, "the controller")
			}
			if p.known {
				k.checkEpochs(p.tp, "the controller", &p.state, &now)
			}
			p.state, p.known = now, true
		}
	}
	for i := range o.Brokers {
		if b := &o.Brokers[i]; b.Runs && b.Image.Offset > o.Image.Offset {
			k.violated(MetadataBehind, kafka.TopicPartition{}, "broker %d has the metadata below offset %d, the controller only below %d", b.ID, b.Image.Offset, o.Image.Offset)
		}
	}
}

// checkState looks at one state of a partition.
func (k *Checker) checkState(tp kafka.TopicPartition, who string, p *metadata.Partition) {
	for _, id := range p.ISR {
		if !slices.Contains(p.Replicas, id) {
			k.violated(ISRAmongReplicas, tp, "%s has broker %d in the ISR %d of the replicas %d", who, id, p.ISR, p.Replicas)
		}
	}
	if p.Leader != metadata.NoLeader && !slices.Contains(p.ISR, p.Leader) {
		k.violated(LeaderInISR, tp, "%s has the leader %d and the ISR %d", who, p.Leader, p.ISR)
	}
}

// checkEpochs compares a state with an earlier one.
func (k *Checker) checkEpochs(tp kafka.TopicPartition, who string, before, now *metadata.Partition) {
	if now.LeaderEpoch < before.LeaderEpoch || now.PartitionEpoch < before.PartitionEpoch {
		k.violated(EpochsRise, tp, "%s has leader epoch %d and partition epoch %d after %d and %d", who, now.LeaderEpoch, now.PartitionEpoch, before.LeaderEpoch, before.PartitionEpoch)
	}
}

// checkRole looks at what a broker's replica believes and where its marks are.
func (k *Checker) checkRole(p *partitionSeen, id kafka.BrokerID, was *replicaSeen, now *ReplicaState) {
	who := fmt.Sprintf("broker %d", id)
	if now.LogStartOffset > now.HighWatermark || now.HighWatermark > now.LogEndOffset {
		k.violated(MarksInOrder, p.tp, "%s: log start offset %d, high watermark %d, log end offset %d", who, now.LogStartOffset, now.HighWatermark, now.LogEndOffset)
	}
	p.highest = max(p.highest, now.HighWatermark)
	if now.State.PartitionEpoch >= 0 {
		k.checkState(p.tp, who, &now.State)
	}
	leads := now.Role == replication.Leader
	if leads {
		k.leads(p, now.State.LeaderEpoch, id, who)
	}
	if was.open && !k.brokers[id].started {
		k.checkEpochs(p.tp, who, &was.state, &now.State)
		if leads && was.leads && was.state.LeaderEpoch == now.State.LeaderEpoch && now.HighWatermark < was.highWatermark {
			k.violated(WatermarkStays, p.tp, "%s leads in epoch %d, and its high watermark fell from %d to %d", who, now.State.LeaderEpoch, was.highWatermark, now.HighWatermark)
		} else if leads && was.leads && was.state.LeaderEpoch == now.State.LeaderEpoch && now.LastStableOffset < was.lastStable {
			k.violated(StableBelowMark, p.tp, "%s leads in epoch %d, and its last stable offset fell from %d to %d", who, now.State.LeaderEpoch, was.lastStable, now.LastStableOffset)
		}
	}
	k.checkStable(p, id, was, now)
	was.open, was.leads, was.state, was.highWatermark, was.lastStable = true, leads, now.State, now.HighWatermark, now.LastStableOffset
}
