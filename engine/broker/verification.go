package broker

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/coordinator"
	"loglab/engine/kafka"
	"loglab/engine/replication"
	"loglab/engine/sabotage"
	"loglab/engine/storage"
)

// verification is a producer that wants to begin a transaction in a log of which this broker is the leader: the transaction
// coordinator is asked whether the log's partition is in the transaction. It lasts until the first batch is appended, or
// the end of a transaction comes first.
//
// Source: VerificationStateEntry.
type verification struct {
	tp       kafka.TopicPartition
	producer coordinator.Producer
	lowest   kafka.Sequence // of the batches that wait for the answer
	bumps    bool           // by transactions of version 2, with which a producer that is not known begins with sequence 0
}

// verify notes that the coordinator is asked.
//
// Source: UnifiedLog.maybeStartTransactionVerification.
func (b *Broker) verify(v verification) {
	at := b.verificationOf(v.tp, v.producer.ID)
	switch {
	case at < 0:
		b.verifications = append(slices.Clip(b.verifications), v)
	case b.verifications[at].producer.Epoch < v.producer.Epoch:
		b.verifications = slices.Clone(b.verifications)
		b.verifications[at] = v
	case v.lowest < b.verifications[at].lowest:
		b.verifications = slices.Clone(b.verifications)
		b.verifications[at].lowest = v.lowest
	}
}

func (b *Broker) verificationOf(tp kafka.TopicPartition, id kafka.ProducerID) int {
	return slices.IndexFunc(b.verifications, func(v verification) bool { return v.tp == tp && v.producer.ID == id })
}

// forgetVerification ends it: what comes next has to be asked for anew.
func (b *Broker) forgetVerification(tp kafka.TopicPartition, id kafka.ProducerID) {
	b.verifications = slices.DeleteFunc(slices.Clone(b.verifications), func(v verification) bool { return v.tp == tp && v.producer.ID == id })
}

// unverified refuses a batch of a transaction that the coordinator does not know to write to this partition; nil: it may
// be appended. Records that a coordinator writes have sequence 0 here.
//
// Source: UnifiedLog.batchMissingRequiredVerification, ProducerAppendInfo.checkSequence.
func (b *Broker) unverified(r *replication.Replica, p coordinator.Producer, sequence kafka.Sequence) error {
	known, is := r.Log.Producer(p.ID)
	if r.Log.HasOngoingTransaction(p.ID, p.Epoch) || is && known.ProducerEpoch > p.Epoch || b.config.Sabotage == sabotage.WritesUnverified {
		return nil // an older epoch is refused by the log
	}
	at := b.verificationOf(r.TopicPartition, p.ID)
	if at < 0 || b.verifications[at].producer.Epoch > p.Epoch {
		return &storage.Refusal{Err: kerr.InvalidTxnState, Why: "the batch is in a transaction, and the coordinator has not said that this partition is in it"}
	}
	switch v := &b.verifications[at]; {
	case sequence > v.lowest:
		return &storage.Refusal{Err: kerr.OutOfOrderSequenceNumber, Why: "a batch with a smaller sequence still waits for the transaction coordinator"}
	case v.bumps && !is && sequence != 0:
		return &storage.Refusal{Err: kerr.OutOfOrderSequenceNumber, Why: "the first batch of a producer in transactions of version 2 has sequence 0"}
	}
	return nil
}
