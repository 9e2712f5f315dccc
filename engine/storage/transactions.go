package storage

import (
	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/sabotage"
	"loglab/engine/simdisk"
)

// TransactionMarker is what a transaction coordinator asks a leader to append when a transaction ends.
//
// Source: WriteTxnMarkersRequest.json.
type TransactionMarker struct {
	record.EndTxnMarker
	ProducerID kafka.ProducerID
	// ProducerEpoch is that of the transaction's data; since transactions of version 2 that epoch plus 1.
	ProducerEpoch kafka.ProducerEpoch
	// TransactionVersion is the version of the transaction protocol that the coordinator speaks: 0, 1 or 2.
	TransactionVersion int16
}

// CompletedTransaction is a transaction whose marker is in the log.
//
// Source: org.apache.kafka.storage.internals.log.CompletedTxn.
type CompletedTransaction struct {
	ProducerID  kafka.ProducerID
	FirstOffset kafka.Offset // of its first record in this log
	LastOffset  kafka.Offset // of its marker, inclusive
	Aborted     bool
}

// AppendEndTxnMarker puts the marker of a transaction at the end of the log: the leader's append for a coordinator. It
// is a control batch of 78 bytes with the time now. A marker of a producer that has no transaction open here is
// appended, too; it ends nothing. If it ends one, Appended says which, and if that was aborted, .txnindex
// gets an entry.
//
// The error is a *Refusal: MESSAGE_TOO_LARGE or RECORD_LIST_TOO_LARGE by the log's settings, UNKNOWN_SERVER_ERROR for
// what is no marker, INVALID_PRODUCER_EPOCH for an epoch older than the producer's, under version 2 also for the same
// one while a transaction is open, and TRANSACTION_COORDINATOR_FENCED for an older coordinator. It panics if epoch is
// negative.
//
// Source: KafkaApis.handleWriteTxnMarkersRequest, ProducerAppendInfo.appendEndTxnMarker; KIP-890.
func (l *Log) AppendEndTxnMarker(m TransactionMarker, epoch kafka.LeaderEpoch, now kafka.Timestamp) (Appended, error) {
	l.clock = now
	bytes, err := m.Build(now, m.ProducerID, m.ProducerEpoch)
	if err != nil {
		return Appended{}, refuse(kerr.UnknownServerError, "%v", err)
	}
	batch, err := record.Parse(bytes)
	if err != nil {
		panic("storage: " + l.dir + ": a marker that was just built: " + err.Error())
	}
	if refusal := l.config.checkSize(batch); refusal != nil {
		return Appended{}, refusal
	}
	return l.append(incoming{batch: batch, maxTimestamp: now, marker: &m}, epoch, now)
}

// checkMarker holds a marker against what is known of its producer. Under version 2 its epoch is above that of the
// data; the same epoch is taken when no transaction is open, as the coordinator sends a marker again whose answer it
// did not get.
//
// Source: ProducerAppendInfo.checkProducerEpoch and checkCoordinatorEpoch.
func (p *producers) checkMarker(m *TransactionMarker) *Refusal {
	known := p.get(m.ProducerID)
	if known == nil {
		return nil
	}
	open := known.TransactionFirstOffset >= 0
	switch {
	case m.ProducerEpoch < known.ProducerEpoch:
		return refuse(kerr.InvalidProducerEpoch, "the marker of producer id %s has epoch %d, older than the last seen %d",
			kafka.Thousands(m.ProducerID), m.ProducerEpoch, known.ProducerEpoch)
	case m.TransactionVersion >= 2 && m.ProducerEpoch == known.ProducerEpoch && open:
		return refuse(kerr.InvalidProducerEpoch, "the marker of producer id %s has epoch %d, that of the open transaction; transaction.version %d needs a later one",
			kafka.Thousands(m.ProducerID), m.ProducerEpoch, m.TransactionVersion)
	case m.CoordinatorEpoch < known.CoordinatorEpoch:
		return refuse(kerr.TransactionCoordinatorFenced, "coordinator epoch is %d, a marker of producer id %s has had %d",
			m.CoordinatorEpoch, kafka.Thousands(m.ProducerID), known.CoordinatorEpoch)
	}
	return nil
}

// LastStableOffset is where a reader of committed records has to stop, exclusive: the first record of a transaction
// that is open, or whose marker is at the high watermark or above, if that lies below the high watermark; else the
// high watermark. Transactions that OnHighWatermarkUpdated has forgotten do not count.
//
// Simplified: of a transaction that began before the log start offset, that offset is taken. Kafka 4.2 takes the base
// offset of the batch that holds it.
//
// Source: UnifiedLog.fetchLastStableOffsetMetadata, ProducerStateManager.firstUnstableOffset.
func (l *Log) LastStableOffset(highWatermark kafka.Offset) kafka.Offset {
	stable := highWatermark
	for _, p := range l.producers.states {
		if p.TransactionFirstOffset >= 0 {
			stable = min(stable, max(p.TransactionFirstOffset, l.logStartOffset))
		}
	}
	for _, t := range l.producers.completed {
		if t.LastOffset >= highWatermark && l.config.Sabotage != sabotage.EndsUnreplicated {
			stable = min(stable, max(t.FirstOffset, l.logStartOffset))
		}
	}
	return stable
}

// OnHighWatermarkUpdated forgets the transactions whose marker is below the high watermark. A broker calls it when the
// high watermark has moved up, so that they do not pile up.
//
// Source: ProducerStateManager.onHighWatermarkUpdated.
func (l *Log) OnHighWatermarkUpdated(highWatermark kafka.Offset) {
	l.producers.forgetCompleted(highWatermark)
}

// forgetCompleted forgets the completed transactions whose marker is below offset.
//
// Source: ProducerStateManager.removeUnreplicatedTransactions.
func (p *producers) forgetCompleted(offset kafka.Offset) {
	for len(p.completed) > 0 && p.completed[0].LastOffset < offset {
		p.completed = p.completed[1:]
	}
}

// complete notes transactions whose markers came into segment s by one append. Those that were aborted go into
// .txnindex, with the last stable offset after them: the first record of any other transaction that is not completed
// yet.
//
// Source: UnifiedLog.append, LogSegment.updateTxnIndex, ProducerStateManager.lastStableOffset and completeTxn.
func (p *producers) complete(disk *simdisk.Disk, s *segment, done ...CompletedTransaction) {
	for i, t := range done {
		if t.Aborted {
			stable := t.LastOffset + 1
			if first := p.firstOpen(t.ProducerID, done[i+1:]); first != kafka.NoOffset {
				stable = first
			}
			s.appendAborted(disk, AbortedTransaction{ProducerID: t.ProducerID, FirstOffset: t.FirstOffset, LastOffset: t.LastOffset, LastStableOffset: stable})
		}
		p.completed = append(p.completed, t)
	}
}

// firstOpen is the first record of the transactions that are open or in pending, those of one producer apart; NoOffset
// if there is none.
//
// Source: ProducerStateManager.findNextIncompleteTxn.
func (p *producers) firstOpen(except kafka.ProducerID, pending []CompletedTransaction) kafka.Offset {
	first := kafka.NoOffset
	note := func(id kafka.ProducerID, offset kafka.Offset) {
		if id != except && offset >= 0 && (first == kafka.NoOffset || offset < first) {
			first = offset
		}
	}
	for _, s := range p.states {
		note(s.ProducerID, s.TransactionFirstOffset)
	}
	for _, t := range pending {
		note(t.ProducerID, t.FirstOffset)
	}
	return first
}

// AbortedTransactions lists the aborted transactions that a reader of committed records needs to know for what Read
// has just given for from: it leaves out their records by itself. Some may not reach into what was read. They stand in
// the order of their markers; the caller owns the slice. The error means that a .txnindex is damaged.
//
// Source: LocalLog.addAbortedTransactions and collectAbortedTransactions, OffsetIndex.fetchUpperBoundOffset.
func (l *Log) AbortedTransactions(from kafka.Offset, read Read) ([]AbortedTransaction, error) {
	if read.SegmentBase == kafka.NoOffset {
		return nil, nil
	}
	at := l.floorSegment(read.SegmentBase)
	end := l.logEndOffset
	if at < len(l.sealed) {
		end = l.segmentAt(at + 1).base
	}
	s := l.segmentAt(at)
	index := l.disk.Bytes(s.offsetIndex)
	for i := range s.offsetEntries(l.disk) {
		e, stop := offsetEntryAt(index, s.base, i), read.Lookup.Position+len(read.Bytes)
		if e.Position > stop || e.Position == stop && i > 0 { // the search steps over the first entry if that is the one
			end = e.Offset
			break
		}
	}
	return l.abortedTransactions(at, from, end)
}

// abortedTransactions gives the aborted transactions that begin below end and end at from or above,
// from the .txnindex files of segment i and those behind it. The error means that such a file is damaged.
//
// Source: LocalLog.collectAbortedTransactions, TransactionIndex.collectAbortedTxns.
func (l *Log) abortedTransactions(i int, from, end kafka.Offset) (list []AbortedTransaction, err error) {
	for ; i <= len(l.sealed); i++ {
		file, exists := l.segmentAt(i).transactionIndex(l.disk)
		if !exists {
			continue
		}
		entries, err := ParseTransactionIndex(l.disk.Bytes(file))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.LastOffset >= from && e.FirstOffset < end {
				list = append(list, e)
			}
			if e.LastStableOffset >= end {
				return list, nil
			}
		}
	}
	return list, nil
}
