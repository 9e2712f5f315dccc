package broker

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/replication"
)

// isrManager sends the leaders' proposals for their in-sync replicas to the controller, one request at a time.
//
// Source: AlterPartitionManager.
type isrManager struct {
	call  call
	retry kafka.Millis // not sent before then
}

// isrDue is when a proposal that waits can be sent.
func (b *Broker) isrDue() kafka.Millis {
	if b.isr.call.open() || !b.proposes() {
		return never
	}
	return b.isr.retry
}

func (b *Broker) proposes() bool {
	for _, r := range b.replicas {
		if p := r.Proposal(); p != nil && !p.Sent {
			return true
		}
	}
	return false
}

// shrinkISRs looks at the in-sync replicas of every partition that the broker leads.
func (b *Broker) shrinkISRs(t *turn) {
	for _, r := range b.replicas {
		if r.ShrinkISR(t.now, &b.image) {
			b.noteProposal(t, r, 0)
		}
	}
}

// noteProposal journals a proposal.
func (b *Broker) noteProposal(t *turn, r *replication.Replica, cause uint64) {
	p := r.Proposal()
	r.NoteProposal(t.note(cause, journal.ISRProposed{TopicPartition: r.TopicPartition, From: r.State().ISR, To: p.ISR, Why: p.Why}))
}

// sendProposals puts all proposals that wait into one request.
func (b *Broker) sendProposals(t *turn) {
	if b.isr.call.open() || b.isr.retry > t.now || b.epoch == -1 {
		return
	}
	var request *kmsg.AlterPartitionRequest
	cause := uint64(0)
	for _, r := range b.replicas {
		p := r.Proposal()
		if p == nil || p.Sent {
			continue
		}
		if request == nil {
			request = kmsg.NewPtrAlterPartitionRequest()
			request.Version, request.BrokerID, request.BrokerEpoch = alterPartitionVersion, int32(b.config.ID), b.epoch
		}
		rp := kmsg.NewAlterPartitionRequestTopicPartition()
		rp.Partition, rp.LeaderEpoch, rp.PartitionEpoch = int32(r.TopicPartition.Partition), int32(p.LeaderEpoch), p.PartitionEpoch
		for i, id := range p.ISR {
			member := kmsg.NewAlterPartitionRequestTopicPartitionNewEpochISR()
			member.BrokerID, member.BrokerEpoch = int32(id), p.Epochs[i]
			rp.NewEpochISR = append(rp.NewEpochISR, member)
		}
		if n := len(request.Topics); n == 0 || request.Topics[n-1].TopicID != r.TopicID {
			rt := kmsg.NewAlterPartitionRequestTopic()
			rt.TopicID = r.TopicID
			request.Topics = append(request.Topics, rt)
		}
		last := &request.Topics[len(request.Topics)-1]
		last.Partitions = append(last.Partitions, rp)
		cause = p.Cause
		r.NoteSent(true)
	}
	if request != nil {
		b.isr.call = b.request(t, b.config.Controller, request, b.channelTimeout(), cause)
	}
}

// resendProposals makes the proposals whose request got no answer wait again.
func (b *Broker) resendProposals() {
	for _, r := range b.replicas {
		r.NoteSent(false)
	}
}

// isrAnswered takes the controller's answer.
//
// Source: DefaultAlterPartitionManager.handleAlterPartitionResponse, Partition.submitAlterPartition.
func (b *Broker) isrAnswered(t *turn, response *kmsg.AlterPartitionResponse, cause uint64) {
	if response.ErrorCode != 0 {
		t.note(cause, journal.ISRProposalFailed{Error: kerr.TypedErrorForCode(response.ErrorCode).Message})
		b.resendProposals()
		b.isr.retry = t.now + reconnectBackoff
		return
	}
	var woken []wake
	for _, topic := range response.Topics {
		for _, result := range topic.Partitions {
			r, missing := b.find(topic.TopidID, result.Partition) // the library's spelling
			if missing != nil || r.Proposal() == nil {
				continue
			}
			if result.ErrorCode != 0 {
				b.proposalRefused(t, r, kerr.TypedErrorForCode(result.ErrorCode), cause)
				continue
			}
			var isr []kafka.BrokerID
			for _, id := range result.ISR {
				isr = append(isr, kafka.BrokerID(id))
			}
			from := r.HighWatermark()
			moved, ok := r.Committed(t.now, kafka.LeaderEpoch(result.LeaderEpoch), result.PartitionEpoch, isr, &b.image)
			if !ok {
				continue
			}
			seq := t.note(cause, journal.ISRCommitted{TopicPartition: r.TopicPartition, ISR: isr, PartitionEpoch: result.PartitionEpoch})
			if moved {
				seq = b.noteWatermark(t, r, from, seq)
			}
			woken = append(woken, wake{r: r, cause: seq, watermark: true})
		}
	}
	b.wakeUp(t, woken)
}

// proposalRefused takes a no. Where the controller says that nothing was changed the proposal is withdrawn;
// otherwise what holds is not known, and the leader waits for the metadata.
func (b *Broker) proposalRefused(t *turn, r *replication.Replica, failed error, cause uint64) {
	t.note(cause, journal.ISRProposalFailed{TopicPartition: r.TopicPartition, Error: failed.(*kerr.Error).Message})
	switch failed {
	case kerr.IneligibleReplica, kerr.OperationNotAttempted:
		r.Withdraw()
	case kerr.UnknownTopicOrPartition, kerr.UnknownTopicID, kerr.FencedLeaderEpoch, kerr.InvalidUpdateVersion, kerr.InvalidRequest, kerr.NewLeaderElected:
	default:
		r.NoteSent(false)
		b.isr.retry = t.now + reconnectBackoff
	}
}
