package storage

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// maxOpenTransactions is of how many producers at once a comparison follows the open transaction. Beyond
// that it no longer asks whether entries are missing.
const maxOpenTransactions = 100_000

// transactionComparison holds a transaction index against the log.
type transactionComparison struct {
	comparedEntries                                   // found by their last offset
	firsts          entryFile                         // the same entries, found by their first offset; in order of that and the producer id
	stables         entryFile                         // the same entries, found by their last stable offset
	open            map[kafka.ProducerID]kafka.Offset // the first batch of each open transaction that has one here; nil: too many
}

func newTransactionComparison(name string, b []byte) *transactionComparison {
	c := &transactionComparison{open: map[kafka.ProducerID]kafka.Offset{}}
	c.comparedEntries = newComparedEntries(name, b, abortedTransactionSize, func(e []byte) int64 { return int64(abortedTransactionAt(e).LastOffset) })
	c.firsts = newEntryFile(c.b, abortedTransactionSize, func(e []byte) int64 { return int64(abortedTransactionAt(e).FirstOffset) })
	slices.SortFunc(c.firsts.order, func(i, j int32) int {
		return compareFirsts(abortedTransactionAt(c.entry(int(i))), abortedTransactionAt(c.entry(int(j))))
	})
	c.stables = newEntryFile(c.b, abortedTransactionSize, func(e []byte) int64 { return int64(abortedTransactionAt(e).LastStableOffset) })
	for i := range c.state {
		if version := int16(binary.BigEndian.Uint16(c.entry(i))); version != abortedTransactionVersion {
			c.reject(WrongVersion, i, abortedTransactionAt(c.entry(i)).LastOffset, func() (string, string) {
				return fmt.Sprintf("version %d", version), fmt.Sprint(abortedTransactionVersion)
			})
		}
	}
	return c
}

// abortedTransactionAt reads an entry, whatever its version.
func abortedTransactionAt(e []byte) AbortedTransaction {
	return AbortedTransaction{
		ProducerID:       kafka.ProducerID(binary.BigEndian.Uint64(e[2:])),
		FirstOffset:      kafka.Offset(binary.BigEndian.Uint64(e[10:])),
		LastOffset:       kafka.Offset(binary.BigEndian.Uint64(e[18:])),
		LastStableOffset: kafka.Offset(binary.BigEndian.Uint64(e[26:])),
	}
}

// addBatch judges the entries whose first or last offset is in a batch.
func (c *transactionComparison) addBatch(b *record.Batch) {
	c.judgeFirsts(b)
	if b.Attributes.Control() {
		c.judgeLasts(b)
		delete(c.open, b.ProducerID)
		c.judgeStables(b)
		return
	}
	for _, n := range c.within(int64(b.BaseOffset), int64(b.LastOffset())) {
		c.rejectMarker(int(n))
	}
	if _, is := c.open[b.ProducerID]; b.Attributes.Transactional() && !is && c.open != nil {
		c.open[b.ProducerID] = b.BaseOffset
	}
	if len(c.open) > maxOpenTransactions {
		c.open = nil
	}
	c.judgeStables(b)
}

// judgeStables judges the entries whose last stable offset is in a batch behind their marker. A follower that appends
// several batches at once knows of the transactions that begin in the later ones before it makes an entry: the first of
// another producer may begin there. What was cleaned away cannot be held against them.
//
// Source: UnifiedLog.append, ProducerStateManager.lastStableOffset.
func (c *transactionComparison) judgeStables(b *record.Batch) {
	first, known := c.open[b.ProducerID]
	for _, n := range c.stables.within(int64(b.BaseOffset), int64(b.LastOffset())) {
		e := abortedTransactionAt(c.entry(int(n)))
		data := b.Attributes.Transactional() && !b.Attributes.Control() && e.ProducerID != b.ProducerID
		begins := data && e.LastStableOffset == b.BaseOffset && (c.open == nil || known && first == b.BaseOffset)
		if e.LastStableOffset > e.LastOffset+1 && !begins {
			c.rejectStable(int(n))
		}
	}
}

// rejectStable notes that an entry's last stable offset is where nothing is that it could be.
func (c *transactionComparison) rejectStable(i int) {
	if c.state[i] == disagrees {
		return
	}
	e := abortedTransactionAt(c.entry(i))
	c.reject(WrongLastStableOffset, i, e.LastOffset, func() (string, string) {
		return fmt.Sprintf("last stable offset %d", e.LastStableOffset),
			fmt.Sprintf("at most %d, behind the marker, or where a transaction of another producer begins", e.LastOffset+1)
	})
}

// judgeFirsts judges where entries say that a transaction begins. What lies before the segment, or was
// cleaned away, cannot be held against them.
func (c *transactionComparison) judgeFirsts(b *record.Batch) {
	for _, n := range c.firsts.within(int64(b.BaseOffset), int64(b.LastOffset())) {
		i := int(n)
		e := abortedTransactionAt(c.entry(i))
		begins := e.FirstOffset == b.BaseOffset && e.ProducerID == b.ProducerID && b.Attributes.Transactional() && !b.Attributes.Control()
		if c.state[i] == disagrees || begins {
			continue
		}
		what := "are of no transaction"
		if b.Attributes.Transactional() {
			what = fmt.Sprintf("are of producer %d", b.ProducerID)
		}
		c.reject(WrongTransaction, i, e.LastOffset, func() (string, string) {
			return fmt.Sprintf("first offset %d of producer %d", e.FirstOffset, e.ProducerID), fmt.Sprintf("the first offset of that producer's transaction: the batch there has offsets %d to %d, which %s", b.BaseOffset, b.LastOffset(), what)
		})
	}
}

// judgeLasts judges the entries that say that a marker aborts their transaction, and asks of an abort marker
// whether there is one for it.
func (c *transactionComparison) judgeLasts(b *record.Batch) {
	last := b.LastOffset()
	first, known := c.open[b.ProducerID]
	kind, readable := markerOf(b)
	listed := false
	for _, n := range c.within(int64(b.BaseOffset), int64(last)) {
		i := int(n)
		e := abortedTransactionAt(c.entry(i))
		listed = true
		if c.state[i] != unmet {
			continue
		}
		c.state[i] = agrees
		switch {
		case readable && kind != record.Abort || e.ProducerID != b.ProducerID:
			c.rejectMarker(i)
		case known && first < e.FirstOffset:
			c.reject(WrongTransaction, i, e.LastOffset, func() (string, string) {
				return fmt.Sprintf("first offset %d of producer %d", e.FirstOffset, e.ProducerID), fmt.Sprintf("at most %d, where the transaction has a batch", first)
			})
		}
	}
	if readable && kind == record.Abort && known && !listed && !c.has(b.ProducerID, first) {
		c.add(Finding{Kind: MissingEntry, Entry: -1, Byte: -1, Offset: last, Found: "no entry",
			Expected: fmt.Sprintf("one for the transaction of producer %d from offset %d on, which the marker at %d aborts", b.ProducerID, first, last)})
	}
}

// rejectMarker notes that an entry's last offset is no abort marker of its producer.
func (c *transactionComparison) rejectMarker(i int) {
	if c.state[i] == disagrees {
		return
	}
	e := abortedTransactionAt(c.entry(i))
	c.reject(WrongMarker, i, e.LastOffset, func() (string, string) {
		return fmt.Sprintf("last offset %d of producer %d", e.LastOffset, e.ProducerID), "the offset of a marker that aborts that producer's transaction"
	})
}

// has says whether there is an entry, right or wrong, for a transaction.
func (c *transactionComparison) has(id kafka.ProducerID, first kafka.Offset) bool {
	_, found := slices.BinarySearchFunc(c.firsts.order, AbortedTransaction{ProducerID: id, FirstOffset: first}, func(i int32, t AbortedTransaction) int {
		return compareFirsts(abortedTransactionAt(c.entry(int(i))), t)
	})
	return found
}

// compareFirsts orders entries by first offset, then producer id.
func compareFirsts(a, b AbortedTransaction) int {
	return cmp.Or(cmp.Compare(a.FirstOffset, b.FirstOffset), cmp.Compare(a.ProducerID, b.ProducerID))
}

// markerOf says which way a batch ends a transaction; readable is false for any other batch, and for a marker
// that the cleaner has emptied.
func markerOf(b *record.Batch) (kind record.ControlType, readable bool) {
	if !b.Attributes.Control() {
		return 0, false
	}
	s := b.Scan()
	if !s.Next() {
		return 0, false
	}
	control, err := record.DecodeControl(s.Record())
	return control.Type, err == nil
}

// finish judges the entries whose last offset is in no batch, and the order. last is the last offset of the log,
// NoOffset if it is empty; what lies behind it is not judged if it is not whole. next is the base offset of the next
// segment, NoOffset if there is none: before it batches may have been cleaned away.
func (c *transactionComparison) finish(last, next kafka.Offset, whole bool) *findings {
	for i, state := range c.state {
		e := abortedTransactionAt(c.entry(i))
		if stable := e.LastStableOffset; whole && state == agrees && stable > e.LastOffset+1 && stable > last && (next == kafka.NoOffset || stable >= next) {
			c.rejectStable(i)
		}
		if state == unmet && (whole || e.LastOffset <= last) {
			c.reject(WrongMarker, i, e.LastOffset, func() (string, string) {
				return fmt.Sprintf("last offset %d", e.LastOffset), describeNoBatch(e.LastOffset, last)
			})
		}
	}
	c.checkOrder(func(e []byte) (int64, kafka.Offset, string) {
		last := abortedTransactionAt(e).LastOffset
		return int64(last), last, "last offset"
	})
	return &c.findings
}
