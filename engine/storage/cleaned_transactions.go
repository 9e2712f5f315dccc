package storage

import (
	"cmp"
	"slices"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// cleanedTransactions is what the cleaner knows of transactions on its way through a log: which are aborted, and of
// which it has met data, so that their markers have to stay.
//
// Source: org.apache.kafka.storage.internals.log.CleanedTransactionMetadata.
type cleanedTransactions struct {
	pending   []AbortedTransaction // known from .txnindex but not reached yet, by first offset
	aborted   map[kafka.ProducerID]*abortedOnTheWay
	committed map[kafka.ProducerID]bool // has data of a transaction that is not aborted
	kept      []AbortedTransaction      // whose markers have to stay, for the new .txnindex
}

// abortedOnTheWay is an aborted transaction whose marker has not been reached.
type abortedOnTheWay struct {
	AbortedTransaction
	seen bool // a batch of it, be it empty
}

// add makes aborted transactions known.
func (t *cleanedTransactions) add(list []AbortedTransaction) {
	if len(list) > 0 {
		t.pending = append(t.pending, list...)
		slices.SortStableFunc(t.pending, func(a, b AbortedTransaction) int { return cmp.Compare(a.FirstOffset, b.FirstOffset) })
	}
}

// reach begins the aborted transactions up to offset.
func (t *cleanedTransactions) reach(offset kafka.Offset) {
	for len(t.pending) > 0 && t.pending[0].FirstOffset <= offset {
		next := t.pending[0]
		t.pending = t.pending[1:]
		if t.aborted == nil {
			t.aborted = map[kafka.ProducerID]*abortedOnTheWay{}
		}
		if t.aborted[next.ProducerID] == nil {
			t.aborted[next.ProducerID] = &abortedOnTheWay{AbortedTransaction: next}
		}
	}
}

// onData says whether a batch of data belongs to an aborted transaction.
//
// Source: CleanedTransactionMetadata.onBatchRead.
func (t *cleanedTransactions) onData(b *record.Batch) (aborted bool) {
	t.reach(b.LastOffset())
	if !b.Attributes.Transactional() {
		return false
	}
	if of := t.aborted[b.ProducerID]; of != nil {
		of.seen = true
		return true
	}
	if t.committed == nil {
		t.committed = map[kafka.ProducerID]bool{}
	}
	t.committed[b.ProducerID] = true
	return false
}

// onControl says whether a control batch may go: it is empty, or a marker whose transaction has no batch left.
//
// Source: CleanedTransactionMetadata.onControlBatchRead.
func (t *cleanedTransactions) onControl(b *record.Batch) (mayGo bool) {
	t.reach(b.LastOffset())
	scan := b.Scan()
	if !scan.Next() {
		return true
	}
	marker, err := record.DecodeControl(scan.Record())
	switch {
	case err != nil:
		return false
	case marker.Type == record.Abort:
		of := t.aborted[b.ProducerID]
		delete(t.aborted, b.ProducerID)
		if of == nil || !of.seen {
			return true
		}
		t.kept = append(t.kept, of.AbortedTransaction)
		return false
	case marker.Type == record.Commit:
		had := t.committed[b.ProducerID]
		delete(t.committed, b.ProducerID)
		return !had
	}
	return false
}
