package client

import (
	"slices"

	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// OutboxRow is one row of the outbox table of a producer's application: an event that is written in the database and
// has to be published.
type OutboxRow struct {
	Key   []byte // nil: no key
	Value []byte
	Named bool // the record names its partition, To
	To    kafka.Partition
	Tick  kafka.Tick
	Event uint64 // Seq of the event that says it was written
}

// outbox is the outbox table in the database of one producer's application. It outlives the process.
//
// Source: the transactional outbox with a polling publisher; Debezium's outbox event router reads the database's log.
type outbox struct {
	producer kafka.NodeID
	rows     History[OutboxRow]
	open     []openRow // not marked as published, in the order of the rows; replaced, never written
	marked   int
	again    int // times that a row was handed to a producer after the first
}

// openRow is a row that is not marked as published.
type openRow struct {
	row   int // its index in rows
	times int // that it was handed to a producer
}

// relay is what the process that publishes the rows of an outbox table has in its memory.
type relay struct {
	underWay []relayed    // rows whose outcome it waits for
	at       kafka.Millis // it looks into the table again
	wanted   bool         // there may be a row that is not under way
}

// newRelay gives the relay of a new process, which knows nothing of the rows.
func newRelay() relay { return relay{at: atOnce, wanted: true} }

// relayed is a row that was handed to the producer.
type relayed struct {
	row    int
	record int // its number in the source
}

// outboxOf gives the table of a producer's application.
func (s *Source) outboxOf(producer kafka.NodeID) *outbox {
	at := slices.IndexFunc(s.outboxes, func(o outbox) bool { return o.producer == producer })
	if at < 0 {
		s.outboxes = append(slices.Clip(s.outboxes), outbox{producer: producer})
		at = len(s.outboxes) - 1
	}
	return &s.outboxes[at]
}

// write writes an event with its row; it is for the caller to tell.
func (o *outbox) write(row OutboxRow) {
	o.open = append(slices.Clip(o.open), openRow{row: o.rows.Len()})
	o.rows.append(row)
}

// mark takes rows off those that are open.
func (o *outbox) mark(rows []int) {
	o.open = slices.DeleteFunc(slices.Clone(o.open), func(r openRow) bool { return slices.Contains(rows, r.row) })
	o.marked += len(rows)
}

// keep writes an event into the application's database instead of handing it to the producer.
func (p *Producer) keep(r submitted, cause uint64, out *Outside, j *journal.Journal) {
	o := out.Source.outboxOf(p.node)
	seq := j.Append(p.node, cause, journal.OutboxWritten{Rows: 1, Open: len(o.open) + 1})
	o.write(OutboxRow{Key: r.key, Value: r.value, Named: r.named, To: r.to, Tick: j.Tick, Event: seq})
}

// relayDue is when the relay looks into the table; ok is false for an application without one, and before metadata is
// there.
func (p *Producer) relayDue() (due kafka.Millis, ok bool) {
	if !p.workload.Outbox || len(p.queues) == 0 {
		return 0, false
	}
	return p.relay.at, p.workload.RelayEvery > 0 || p.relay.wanted
}

// publish hands the rows that are open and not under way to the producer, if it is time.
//
// Simplified: the relay runs in the process of the producer, and the application that writes the rows does too; one is
// killed with the other.
func (p *Producer) publish(now kafka.Millis, out *Outside, j *journal.Journal) {
	if !p.workload.Outbox || len(p.queues) == 0 {
		return
	}
	if every := p.workload.RelayEvery; every > 0 {
		if now < p.relay.at {
			return
		}
		p.relay.at = now + every
	}
	p.relay.wanted = false
	o := out.Source.outboxOf(p.node)
	open := slices.Clone(o.open)
	var due []int // indexes in open
	event := journal.OutboxRelayed{}
	for i := range open {
		if slices.ContainsFunc(p.relay.underWay, func(r relayed) bool { return r.row == open[i].row }) {
			continue
		}
		due = append(due, i)
		if open[i].times > 0 {
			event.Again++
		}
		open[i].times++
	}
	if len(due) == 0 {
		return
	}
	event.Rows = len(due)
	o.open, o.again = open, o.again+event.Again
	seq := j.Append(p.node, o.rows.At(open[due[0]].row).Event, event)
	for _, i := range due {
		row := o.rows.At(open[i].row)
		number := p.hand(now, submitted{key: row.Key, value: row.Value, named: row.Named, to: row.To, again: open[i].times > 1}, seq, out, j)
		p.relay.underWay = append(slices.Clip(p.relay.underWay), relayed{open[i].row, number})
	}
}

// relayHears takes the outcome of records: rows that are acknowledged are marked, and others come again.
func (p *Producer) relayHears(records []int, acknowledged bool, cause uint64, out *Outside, j *journal.Journal) {
	if !p.workload.Outbox {
		return
	}
	var rows []int
	p.relay.underWay = slices.DeleteFunc(slices.Clone(p.relay.underWay), func(r relayed) bool {
		if !slices.Contains(records, r.record) {
			return false
		}
		rows = append(rows, r.row)
		return true
	})
	if !acknowledged || len(rows) == 0 {
		p.relay.wanted = p.relay.wanted || len(rows) > 0
		return
	}
	o := out.Source.outboxOf(p.node)
	o.mark(rows)
	j.Append(p.node, cause, journal.OutboxMarked{Rows: len(rows), Open: len(o.open)})
}

// OutboxView is an outbox table: an immutable value.
type OutboxView struct {
	Producer kafka.NodeID  `json:"producer"`
	Rows     int           `json:"rows"`
	Marked   int           `json:"marked"` // as published
	Again    int           `json:"published_again"`
	Open     []OpenRowView `json:"open"` // not marked, in the order of the rows
}

// OpenRowView is a row that is not marked as published.
type OpenRowView struct {
	Row   int    `json:"row"` // from 0
	Key   string `json:"key"`
	Value string `json:"value"`
	Times int    `json:"times"` // that it was handed to a producer
}

func (o *outbox) view() OutboxView {
	v := OutboxView{Producer: o.producer, Rows: o.rows.Len(), Marked: o.marked, Again: o.again, Open: []OpenRowView{}}
	for _, r := range o.open {
		row := o.rows.At(r.row)
		v.Open = append(v.Open, OpenRowView{Row: r.row, Key: string(row.Key), Value: string(row.Value), Times: r.times})
	}
	return v
}
