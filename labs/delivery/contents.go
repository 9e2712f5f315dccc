package delivery

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/storage"
	"loglab/labs"
)

// contents is what is in the log of a topic's partition, as clients are served from it.
type contents struct {
	engine.PartitionView
	entries    []entry // by offset; all
	spans      []*span // by first offset
	lastStable kafka.Offset
	producers  []storage.ProducerState // that the leader remembers, by id
	unread     bool                    // nobody serves the log now
	first      kafka.Offset            // of the window
	columns    int                     // of the window
	written    kafka.Offset            // the first offset that was written in this tick
}

// entry is one record with its batch.
type entry struct {
	record.Record
	producer    kafka.ProducerID // -1: none
	epoch       kafka.ProducerEpoch
	sequence    kafka.Sequence // of this record; -1: none
	base, last  kafka.Offset   // of its batch
	baseSeq     kafka.Sequence // of its batch
	leaderEpoch kafka.LeaderEpoch
	marker      string // COMMIT or ABORT; empty: it is data
	span        *span  // the transaction that it is in, or ends; nil: none
	idle        string // of a marker that ends none here: why
}

// span is what one transaction has in a log.
type span struct {
	producer kafka.ProducerID
	epoch    kafka.ProducerEpoch
	who      string         // transactional.id, or the producer id in words
	records  []kafka.Offset // data; never empty
	marker   kafka.Offset   // -1: it is open
	commit   bool
}

func (s *span) first() kafka.Offset { return s.records[0] }
func (s *span) last() kafka.Offset  { return s.records[len(s.records)-1] }
func (s *span) open() bool          { return s.marker < 0 }
func (s *span) aborted() bool       { return s.marker >= 0 && !s.commit }

// state says how a transaction stands in a log, in a word or two. A marker counts when it is below the high watermark.
func (s *span) state(c *contents) string {
	switch {
	case s.open():
		return "open"
	case s.marker >= c.Log.HighWatermark && s.commit:
		return "committing"
	case s.marker >= c.Log.HighWatermark:
		return "aborting"
	case s.commit:
		return "committed"
	}
	return "aborted"
}

// aborted says whether a record is in a transaction that was aborted.
func (e *entry) aborted() bool { return e.marker == "" && e.span != nil && e.span.aborted() }

// open says whether a record is in a transaction that is open.
func (e *entry) open() bool { return e.marker == "" && e.span != nil && e.span.open() }

// readContents reads the log of a partition.
func (l *layout) readContents(p engine.PartitionView) *contents {
	c := &contents{PartitionView: p, lastStable: kafka.NoOffset, unread: true}
	for _, r := range p.Replicas {
		if r.Broker == p.Leader && r.Online {
			c.lastStable, c.producers, c.unread = r.LastStableOffset, r.Replica.Producers, false
		}
	}
	open, ended := map[kafka.ProducerID]*span{}, map[kafka.ProducerID]kafka.ProducerEpoch{} // only looked up
	for _, segment := range p.Log.Segments {
		data := segment.Bytes
		for {
			b, err := record.Parse(data)
			if errors.Is(err, record.ErrEnd) {
				break
			}
			if err != nil {
				panic(fmt.Sprintf("segment %d: %v", segment.BaseOffset, err))
			}
			data = data[b.Size():]
			l.readBatch(c, &b, open, ended)
		}
	}
	c.written = c.Log.LogEndOffset
	return c
}

// readBatch takes in one batch. Open are the transactions without a marker so far, ended the epochs of the last markers.
func (l *layout) readBatch(c *contents, b *record.Batch, open map[kafka.ProducerID]*span, ended map[kafka.ProducerID]kafka.ProducerEpoch) {
	for scanner := b.Scan(); scanner.Next(); {
		r := scanner.Record()
		e := entry{
			Record: r, producer: b.ProducerID, epoch: b.ProducerEpoch, sequence: record.NoSequence, base: b.BaseOffset, last: b.LastOffset(),
			baseSeq: b.BaseSequence, leaderEpoch: b.PartitionLeaderEpoch,
		}
		if b.BaseSequence != record.NoSequence {
			e.sequence = record.IncrementSequence(b.BaseSequence, int32(r.Offset-b.BaseOffset))
		}
		switch {
		case b.Attributes.Control():
			e.marker = markerOf(r)
			if s := open[b.ProducerID]; s != nil {
				s.marker, s.commit, e.span = r.Offset, e.marker == record.Commit.String(), s
				delete(open, b.ProducerID)
			} else {
				epoch, before := ended[b.ProducerID]
				e.idle = l.idleMarker(b.ProducerID, before && epoch == b.ProducerEpoch)
			}
			ended[b.ProducerID] = b.ProducerEpoch
		case b.Attributes.Transactional():
			s := open[b.ProducerID]
			if s == nil {
				s = &span{producer: b.ProducerID, epoch: b.ProducerEpoch, who: l.whoIs(b.ProducerID), marker: kafka.NoOffset}
				open[b.ProducerID] = s
				c.spans = append(c.spans, s)
			}
			s.records = append(s.records, r.Offset)
			e.span = s
		}
		c.entries = append(c.entries, e)
	}
}

// idleMarker says why a marker ends nothing in its log; again says that the one before it has the same epoch. With
// transaction.version = 2 each transaction has an epoch of its own.
func (l *layout) idleMarker(id kafka.ProducerID, again bool) string {
	switch {
	case !again:
		return "ends a transaction of " + l.whoIs(id) + " that had nothing here"
	case l.Address.Values.Int("version") == 2:
		return "ends nothing: the marker of a transaction of " + l.whoIs(id) + " that had ended, written again"
	}
	return "ends nothing: a transaction of " + l.whoIs(id) + " that had nothing here, or the marker of one that had ended, written again"
}

func markerOf(r record.Record) string {
	control, err := record.DecodeControl(r)
	if err != nil {
		return "control record"
	}
	return control.Type.String()
}

// whoIs names the producer of an id: by its transactional.id where one is known.
func (l *layout) whoIs(id kafka.ProducerID) string {
	for _, t := range l.View.Transactions {
		if h := t.Held; h != nil && (h.ProducerID == id || h.PreviousProducerID == id) {
			return t.TransactionalID
		}
	}
	for _, p := range l.allProducers() {
		switch {
		case p.ProducerID != id:
		case p.Transaction != nil:
			return p.Transaction.TransactionalID
		default:
			return string(p.Node)
		}
	}
	return fmt.Sprintf("producer id %d", id)
}

// at gives the record at an offset; nil: there is none.
func (c *contents) at(o kafka.Offset) *entry {
	at, found := slices.BinarySearchFunc(c.entries, o, func(e entry, o kafka.Offset) int { return int(e.Offset - o) })
	if !found {
		return nil
	}
	return &c.entries[at]
}

// inSight lists the records in the window.
func (c *contents) inSight() []entry {
	from, _ := slices.BinarySearchFunc(c.entries, c.first, func(e entry, o kafka.Offset) int { return int(e.Offset - o) })
	return c.entries[from:min(from+c.columns, len(c.entries))]
}

// holder is the transaction that holds the last stable offset back: that which begins there; nil: none does.
func (c *contents) holder() *span {
	if c.lastStable < 0 || c.lastStable >= c.Log.HighWatermark {
		return nil
	}
	for _, s := range c.spans {
		if s.first() == c.lastStable {
			return s
		}
	}
	return nil
}

// heldUp counts the offsets between the last stable offset and the high watermark, and how many of them are data that
// is in no open transaction.
func (c *contents) heldUp() (offsets, others int) {
	if c.lastStable < 0 {
		return 0, 0
	}
	for i := range c.entries {
		if e := &c.entries[i]; e.Offset >= c.lastStable && e.Offset < c.Log.HighWatermark {
			offsets++
			if e.marker == "" && !e.open() && !e.aborted() {
				others++
			}
		}
	}
	return offsets, others
}

// The words between which an output's value names its input.
const (
	ofWord    = " of "
	eventWord = "event "
)

// inputOf gives the offset of the order that a bill was written for; ok is false for any other record.
func inputOf(value []byte) (o kafka.Offset, ok bool) {
	text := string(value)
	at := strings.LastIndex(text, ofWord+partition(orders).String()+"@")
	if at < 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(text[strings.LastIndexByte(text, '@')+1:], 10, 62)
	return kafka.Offset(n), err == nil
}

// nameOf is a record's name in a cell: "o0" of a bill for the order at 0, "a1" of the first event of a, or its value.
func nameOf(r record.Record) string {
	if o, ok := inputOf(r.Value); ok {
		return fmt.Sprintf("o%d", o)
	}
	value := string(r.Value)
	if number, ok := strings.CutPrefix(value, eventWord); ok {
		value = string(r.Key) + strings.TrimRight(number, ".")
	}
	if value == "" {
		value = string(r.Key)
	}
	const most = 5
	return labs.Narrow(value, most)
}
