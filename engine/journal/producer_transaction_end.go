package journal

import (
	"fmt"

	"loglab/engine/kafka"
)

// ProducerTransactionEnding says that an application has called commitTransaction or abortTransaction.
type ProducerTransactionEnding struct {
	TransactionalID string `json:"transactional_id"`
	Number          int    `json:"number"`
	Commit          bool   `json:"commit"`
	Records         int    `json:"records"` // handed in since it began
	Waiting         int    `json:"waiting"` // those of them without an acknowledgement
	Why             string `json:"why"`     // of an abort
}

// Kind gives the kind's name.
func (ProducerTransactionEnding) Kind() string { return "ProducerTransactionEnding" }

// Text gives the counts.
func (b ProducerTransactionEnding) Text() string {
	text := fmt.Sprintf("%s %d %s records=%d waiting=%d", b.TransactionalID, b.Number, endWord(b.Commit), b.Records, b.Waiting)
	if b.Why != "" {
		text += ": " + b.Why
	}
	return text
}

// Sentence says what has to be done before.
func (b ProducerTransactionEnding) Sentence() string {
	if b.Commit {
		s := fmt.Sprintf("commitTransaction: transaction %d of %s has %s.", b.Number, b.TransactionalID, kafka.Count(b.Records, "record"))
		if b.Waiting > 0 {
			s += fmt.Sprintf(" %s %s no acknowledgement yet: what waits is sent now, linger.ms or not, and EndTxn follows when all are acknowledged.", kafka.Thousands(b.Waiting), byCount(b.Waiting, "has", "have"))
		}
		return s
	}
	return fmt.Sprintf("abortTransaction: transaction %d of %s is given up: %s. What was never sent is dropped; what is in flight is waited for.", b.Number, b.TransactionalID, b.Why)
}

func endWord(commit bool) string {
	if commit {
		return "commit"
	}
	return "abort"
}

// ProducerTransactionEnded says that a producer's transaction is over.
type ProducerTransactionEnded struct {
	TransactionalID string              `json:"transactional_id"`
	Number          int                 `json:"number"`
	Commit          bool                `json:"commit"`
	Untold          bool                `json:"untold"`      // nothing was in it, and no EndTxn was sent
	ProducerID      kafka.ProducerID    `json:"producer_id"` // of the next transaction
	ProducerEpoch   kafka.ProducerEpoch `json:"producer_epoch"`
	Raised          bool                `json:"raised"` // the answer brought that epoch
}

// Kind gives the kind's name.
func (ProducerTransactionEnded) Kind() string { return "ProducerTransactionEnded" }

// Text gives the end and the next epoch.
func (b ProducerTransactionEnded) Text() string {
	text := fmt.Sprintf("%s %d %s id=%d epoch=%d", b.TransactionalID, b.Number, endWord(b.Commit), b.ProducerID, b.ProducerEpoch)
	if b.Untold {
		text += " untold"
	}
	return text
}

// Sentence says what is certain now.
func (b ProducerTransactionEnded) Sentence() string {
	name := fmt.Sprintf("Transaction %d of %s", b.Number, b.TransactionalID)
	switch {
	case b.Untold:
		return name + " is over. Nothing was in it, so the coordinator was told nothing."
	case b.Commit:
		name += " is committed: the coordinator has the decision in its log. The markers may still be on their way, so a read_committed consumer may see nothing of it yet."
	default:
		name += " is aborted: the coordinator has the decision in its log. Its records stay where they are, behind an ABORT marker."
	}
	if b.Raised {
		name += fmt.Sprintf(" The next one has producer id %d, epoch %d, and sequences from 0 on.", b.ProducerID, b.ProducerEpoch)
	}
	return name
}

// ProducerTransactionFailed says that a transactional producer has come into an error state.
type ProducerTransactionFailed struct {
	TransactionalID string `json:"transactional_id"`
	Number          int    `json:"number"` // 0: it had begun none
	Fatal           bool   `json:"fatal"`
	API             string `json:"api"` // whose answer it was; empty: a time that was over
	Error           string `json:"error"`
}

// Kind gives the kind's name.
func (ProducerTransactionFailed) Kind() string { return "ProducerTransactionFailed" }

// Text gives the state and the error.
func (b ProducerTransactionFailed) Text() string {
	state := "ABORTABLE_ERROR"
	if b.Fatal {
		state = "FATAL_ERROR"
	}
	if b.API == "" {
		return fmt.Sprintf("%s %d %s %s", b.TransactionalID, b.Number, state, b.Error)
	}
	return fmt.Sprintf("%s %d %s %s %s", b.TransactionalID, b.Number, state, b.API, b.Error)
}

// Sentence says what the error means and what is left to do.
func (b ProducerTransactionFailed) Sentence() string {
	cause := fmt.Sprintf("%s was answered with %s", b.API, b.Error)
	switch {
	case b.API == "":
		cause = b.Error
	case b.Error == "NETWORK_EXCEPTION", b.Error == "REQUEST_TIMED_OUT": // there may have been no answer
		cause = fmt.Sprintf("%s failed with %s", b.API, b.Error)
	}
	switch {
	case b.Fatal && b.Error == "PRODUCER_FENCED":
		return fmt.Sprintf("%s: the epoch of this producer is over, for another process with transactional.id %s has begun, or the coordinator has given its transaction up. That is fatal: each further call throws ProducerFencedException, and all that is left to do is to close the producer.", cause, b.TransactionalID)
	case b.Fatal:
		return fmt.Sprintf("%s. For the producer of transactional.id %s that is fatal: all that is left to do is to close it.", cause, b.TransactionalID)
	}
	return fmt.Sprintf("%s. Transaction %d of %s can only be aborted now: send and commitTransaction throw until the application has called abortTransaction.", cause, b.Number, b.TransactionalID)
}

// UnsentRecordsDropped says that a transactional producer drops records that it never sent.
type UnsentRecordsDropped struct {
	TransactionalID string `json:"transactional_id"`
	Records         int    `json:"records"`
	Error           string `json:"error"` // that their sender gets
	InFlight        int    `json:"in_flight"`
}

// Kind gives the kind's name.
func (UnsentRecordsDropped) Kind() string { return "UnsentRecordsDropped" }

// Text gives the count and the error.
func (b UnsentRecordsDropped) Text() string {
	return fmt.Sprintf("%s records=%d in-flight=%d %s", b.TransactionalID, b.Records, b.InFlight, b.Error)
}

// Sentence gives the count and the error.
func (b UnsentRecordsDropped) Sentence() string {
	if b.InFlight > 0 {
		return fmt.Sprintf("The producer of %s gives up %s with %s; %s had been sent and may be written.", b.TransactionalID, kafka.Count(b.Records, "record"), b.Error, kafka.Thousands(b.InFlight))
	}
	return fmt.Sprintf("%s of the transaction of %s had not been sent: they are dropped and fail with %s.", kafka.Count(b.Records, "record"), b.TransactionalID, b.Error)
}

// ProducerEnded says that an application has closed its producer after a fatal error and its process has ended.
type ProducerEnded struct {
	Error string `json:"error"`
}

// Kind gives the kind's name.
func (ProducerEnded) Kind() string { return "ProducerEnded" }

// Text gives the error.
func (b ProducerEnded) Text() string { return b.Error }

// Sentence gives the error.
func (b ProducerEnded) Sentence() string {
	return fmt.Sprintf("The application closes its producer after %s, and its process ends. A new process begins with initTransactions.", b.Error)
}

// OffsetsUnstable says that a consumer waits for transactions that are about to commit offsets of its group.
type OffsetsUnstable struct {
	Group      string                 `json:"group"`
	Partitions []kafka.TopicPartition `json:"partitions"` // sorted
	Backoff    kafka.Millis           `json:"backoff_ms"`
}

// Kind gives the kind's name.
func (OffsetsUnstable) Kind() string { return "OffsetsUnstable" }

// Text gives the partitions.
func (b OffsetsUnstable) Text() string {
	return fmt.Sprintf("%s [%s] UNSTABLE_OFFSET_COMMIT backoff=%dms", b.Group, texts(b.Partitions, " "), b.Backoff)
}

// Sentence says what is waited for.
func (b OffsetsUnstable) Sentence() string {
	return fmt.Sprintf("OffsetFetch of group %s was answered with UNSTABLE_OFFSET_COMMIT for %s: a transaction holds offsets there and is not over. The consumer takes no offset and asks again after %s ms.", b.Group, texts(b.Partitions, ", "), kafka.Thousands(b.Backoff))
}

// PositionsRewound says that an application goes back to what its group has committed.
type PositionsRewound struct {
	Group      string                 `json:"group"`
	Partitions []kafka.TopicPartition `json:"partitions"` // sorted
	Why        string                 `json:"why"`
}

// Kind gives the kind's name.
func (PositionsRewound) Kind() string { return "PositionsRewound" }

// Text gives the partitions and the reason.
func (b PositionsRewound) Text() string {
	return fmt.Sprintf("%s [%s]: %s", b.Group, texts(b.Partitions, " "), b.Why)
}

// Sentence gives the partitions and the reason.
func (b PositionsRewound) Sentence() string {
	return fmt.Sprintf("The application goes back to the committed offsets of group %s in %s: %s. What it had read since it reads again.", b.Group, texts(b.Partitions, ", "), b.Why)
}
