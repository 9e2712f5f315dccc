package replication

import (
	"fmt"
	"slices"
	"strings"

	"loglab/engine/kafka"
	"loglab/engine/metadata"
)

// Proposal is a change of the in-sync replicas that the leader asks the controller for.
//
// Source: PendingExpandIsr, PendingShrinkIsr.
type Proposal struct {
	ISR            []kafka.BrokerID // in the order of assignment
	Epochs         []int64          // broker epoch of each as the leader knows it
	LeaderEpoch    kafka.LeaderEpoch
	PartitionEpoch int32
	Why            string // the rule with its numbers
	Cause          uint64 // Seq of the event that says so
	Sent           bool   // its AlterPartition request is under way
}

// Proposal gives the change of the in-sync replicas that is under way, nil if none is. It must not be changed.
func (r *Replica) Proposal() *Proposal { return r.proposal }

// maybeExpand proposes to take a follower into the in-sync replicas once it has come to the high watermark and
// into the present leader epoch.
//
// Source: Partition.maybeExpandIsr, isFollowerInSync.
func (r *Replica) maybeExpand(f *follower, image *metadata.Image) bool {
	if r.proposal != nil || slices.Contains(r.state.ISR, f.id) || !eligible(f, image) || f.logEndOffset < r.highWatermark || f.logEndOffset < r.epochStart {
		return false
	}
	isr := append(slices.Clone(r.state.ISR), f.id)
	r.propose(isr, image, fmt.Sprintf("broker %d has fetched up to offset %s, which is not below the high watermark %s",
		f.id, kafka.Thousands(f.logEndOffset), kafka.Thousands(r.highWatermark)))
	return true
}

// ShrinkISR proposes to take those followers out of the in-sync replicas that have not been caught up for
// replica.lag.time.max.ms; false: there are none, or a proposal is under way already.
//
// Source: Partition.maybeShrinkIsr, getOutOfSyncReplicas.
func (r *Replica) ShrinkISR(now kafka.Millis, image *metadata.Image) bool {
	if r.role != Leader || r.proposal != nil {
		return false
	}
	var out []kafka.BrokerID
	var reasons []string
	for i := range r.followers {
		f := &r.followers[i]
		if !slices.Contains(r.state.ISR, f.id) || r.caughtUp(f, now) {
			continue
		}
		out = append(out, f.id)
		reasons = append(reasons, fmt.Sprintf("broker %d has not been caught up for more than replica.lag.time.max.ms = %s ms", f.id, kafka.Thousands(r.config.ReplicaLagTimeMax)))
	}
	if out == nil {
		return false
	}
	isr := slices.DeleteFunc(slices.Clone(r.state.ISR), func(id kafka.BrokerID) bool { return slices.Contains(out, id) })
	r.propose(isr, image, strings.Join(reasons, "; "))
	return true
}

// propose notes a proposal for the broker to send.
func (r *Replica) propose(isr []kafka.BrokerID, image *metadata.Image, why string) {
	p := &Proposal{ISR: isr, LeaderEpoch: r.state.LeaderEpoch, PartitionEpoch: r.state.PartitionEpoch, Why: why}
	for _, id := range isr {
		epoch := int64(-1)
		if at := slices.IndexFunc(r.followers, func(f follower) bool { return f.id == id }); at >= 0 {
			epoch = r.followers[at].brokerEpoch
		} else if b, ok := image.Broker(id); ok {
			epoch = b.Epoch
		}
		p.Epochs = append(p.Epochs, epoch)
	}
	r.proposal = p
}

// NoteProposal keeps with the proposal the event that says so.
func (r *Replica) NoteProposal(cause uint64) {
	p := *r.proposal
	p.Cause = cause
	r.proposal = &p
}

// NoteSent keeps that the proposal's request is under way, or is not any more and is to be sent again.
func (r *Replica) NoteSent(sent bool) {
	if r.proposal != nil {
		p := *r.proposal
		p.Sent = sent
		r.proposal = &p
	}
}

// Committed takes the controller's yes to an AlterPartition request: the in-sync replicas are these from now
// on. Moved says whether the high watermark moved with it; ok is false when the answer is older than what is
// known.
//
// Source: Partition.handleAlterPartitionUpdate.
func (r *Replica) Committed(now kafka.Millis, leaderEpoch kafka.LeaderEpoch, partitionEpoch int32, isr []kafka.BrokerID, image *metadata.Image) (moved, ok bool) {
	if r.role != Leader || leaderEpoch != r.state.LeaderEpoch || partitionEpoch < r.state.PartitionEpoch {
		return false, false
	}
	r.state.ISR, r.state.PartitionEpoch, r.proposal = isr, partitionEpoch, nil
	return r.advance(now, image), true
}

// Withdraw gives up the proposal: the committed in-sync replicas hold.
//
// Source: Partition.handleAlterPartitionError, for INELIGIBLE_REPLICA.
func (r *Replica) Withdraw() { r.proposal = nil }
