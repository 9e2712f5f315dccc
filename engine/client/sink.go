package client

import (
	"fmt"
	"slices"
	"strings"

	"loglab/engine/kafka"
	"loglab/engine/sabotage"
)

// SinkKind says what a sink does with an effect that it has had before.
type SinkKind string

// The kinds of sinks.
const (
	SinkPlain      SinkKind = "plain"      // appends it again
	SinkIdempotent SinkKind = "idempotent" // keeps the topic, partition and offset of every effect, and ignores one that it has
	SinkUpsert     SinkKind = "upsert"     // writes it over what it has under the record's key
	SinkOffsets    SinkKind = "offsets"    // stores the offset with the effect in one transaction; consumers begin there
	SinkInbox      SinkKind = "inbox"      // keeps the id of each event in an inbox table, in one database transaction with the effect
	SinkEmail      SinkKind = "e-mail"     // each effect leaves at once and cannot be taken back
)

// SinkConfig is the system outside the cluster that a group's applications write to.
type SinkConfig struct {
	Kind     SinkKind     // empty: plain
	Capacity int          // effects in one window, of all members together; 0: no bound
	Window   kafka.Millis // tick.ms
	Sabotage sabotage.Rule
}

// Sink is what the applications of one group write to. It also keeps, as an observer, what became of each record in
// the group.
type Sink struct {
	config     SinkConfig
	group      string
	window     kafka.Millis // the number of the window that used counts
	used       int
	tables     []fateTable // sorted; shared chunks
	totals     SinkTotals
	order      Destination // the order per key
	deadLetter int
	inbox      idSet // of a sink with an inbox
}

// SinkTotals counts what became of the records in a group, and what its sink has had.
type SinkTotals struct {
	Delivered      int `json:"delivered"`       // records that poll has returned in the group
	DeliveredAgain int `json:"delivered_again"` // of them more than once
	Processed      int `json:"processed"`       // records that an application was done with
	ProcessedAgain int `json:"processed_again"` // of them more than once
	Effects        int `json:"effects"`         // that were written: a plain sink's size
	Ignored        int `json:"ignored"`         // that an idempotent sink, or one with offsets or an inbox, had already
	Doubled        int `json:"doubled"`         // effects written again
}

// RecordFate is how often something happened to one record in a group.
type RecordFate struct {
	Delivered uint16 // poll returned it
	Processed uint16 // the application was done with it, well
	Applied   uint16 // the sink wrote its effect
	Failed    uint16 // attempts of the handler that failed
	GivenUp   uint16 // skipped after its attempts, or sent to the dead-letter topic
}

// fateChunk is how many records one chunk holds.
const fateChunk = 32

// fateTable holds the fates of one partition's records, by offset. A chunk is never written once made: clones and
// views share it.
type fateTable struct {
	tp     kafka.TopicPartition
	chunks []*[fateChunk]RecordFate // nil: nothing has happened to any of them
	stored kafka.Offset             // by a sink that stores offsets: the next to read
}

func (o *Outside) sink(group string) *Sink {
	for i := range o.Sinks {
		if o.Sinks[i].group == group {
			return &o.Sinks[i]
		}
	}
	panic(fmt.Sprintf("group %s has no sink", group))
}

// NewSink makes the sink of a group.
func NewSink(group string, config SinkConfig) Sink {
	return Sink{config: config, group: group, window: -1}
}

func (s *Sink) clone() Sink {
	c := *s
	c.tables, c.order, c.inbox = slices.Clone(s.tables), s.order.clone(), s.inbox.clone()
	for i := range c.tables {
		c.tables[i].chunks = slices.Clone(c.tables[i].chunks)
	}
	return c
}

// cloneBytes estimates the memory that a clone takes by itself.
func (s *Sink) cloneBytes() (bytes int) {
	for _, t := range s.tables {
		bytes += 64 + 8*len(t.chunks)
	}
	return bytes + 136*len(s.order.entities) + 56*len(s.inbox.tail)
}

// place gives the place of a partition's table.
func (s *Sink) place(tp kafka.TopicPartition) (at int, found bool) {
	return slices.BinarySearchFunc(s.tables, tp, func(t fateTable, tp kafka.TopicPartition) int { return compareTP(t.tp, tp) })
}

// table gives a partition's table, a new one if there was none.
func (s *Sink) table(tp kafka.TopicPartition) *fateTable {
	at, found := s.place(tp)
	if !found {
		s.tables = slices.Insert(s.tables, at, fateTable{tp: tp, stored: kafka.NoOffset})
	}
	return &s.tables[at]
}

func compareTP(a, b kafka.TopicPartition) int {
	if by := strings.Compare(a.Topic, b.Topic); by != 0 {
		return by
	}
	return int(a.Partition) - int(b.Partition)
}

// note changes the fate of a record and gives the new one.
func (s *Sink) note(tp kafka.TopicPartition, offset kafka.Offset, change func(*RecordFate)) RecordFate {
	t := s.table(tp)
	for int(offset)/fateChunk >= len(t.chunks) {
		t.chunks = append(t.chunks, nil)
	}
	var chunk [fateChunk]RecordFate
	if had := t.chunks[offset/fateChunk]; had != nil {
		chunk = *had
	}
	fate := &chunk[offset%fateChunk]
	before := *fate
	change(fate)
	t.chunks[offset/fateChunk] = &chunk
	s.totals.count(before, *fate)
	return *fate
}

// count counts a record whose fate has changed.
func (t *SinkTotals) count(before, after RecordFate) {
	reached := func(n, before, after uint16) int {
		if before < n && after >= n {
			return 1
		}
		return 0
	}
	t.Delivered += reached(1, before.Delivered, after.Delivered)
	t.DeliveredAgain += reached(2, before.Delivered, after.Delivered)
	t.Processed += reached(1, before.Processed, after.Processed)
	t.ProcessedAgain += reached(2, before.Processed, after.Processed)
}

// fate gives the fate of a record.
func (t *fateTable) fate(offset kafka.Offset) RecordFate {
	if at := int(offset) / fateChunk; offset >= 0 && at < len(t.chunks) && t.chunks[at] != nil {
		return t.chunks[at][offset%fateChunk]
	}
	return RecordFate{}
}

// admit says whether the sink takes one effect now, and if not, how long it has to wait.
func (s *Sink) admit(now kafka.Millis) (wait kafka.Millis, ok bool) {
	if s.config.Capacity == 0 {
		return 0, true
	}
	window := floorDiv(now, s.config.Window)
	if window != s.window {
		s.window, s.used = window, 0
	}
	if s.used >= s.config.Capacity {
		return (window+1)*s.config.Window - now, false
	}
	s.used++
	return 0, true
}

func floorDiv(a, b kafka.Millis) kafka.Millis {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// apply writes the effect of a record, and says in words what the sink made of it.
func (s *Sink) apply(tp kafka.TopicPartition, offset kafka.Offset, key, value []byte) (effect string) {
	had := s.table(tp).fate(offset).Applied > 0
	stored := s.table(tp).stored
	switch {
	case s.config.Kind == SinkIdempotent && had && s.config.Sabotage != sabotage.EffectsDoubled:
		s.totals.Ignored++
		return "The sink has this record's effect and ignores it"
	case s.config.Kind == SinkOffsets && offset < stored:
		s.totals.Ignored++
		return "The sink has stored a later offset and ignores it"
	case s.config.Kind == SinkInbox:
		id := eventID(key, value)
		if s.inbox.has(id) {
			s.totals.Ignored++
			return "The sink has this event in its inbox table and ignores it"
		}
		s.inbox.add(id)
	}
	s.note(tp, offset, func(f *RecordFate) { f.Applied++ })
	s.totals.Effects++
	if s.config.Kind == SinkOffsets {
		s.table(tp).stored = offset + 1
	}
	switch {
	case s.config.Kind == SinkEmail && had:
		s.totals.Doubled++
		return "The e-mail leaves once more, and nobody can take it back"
	case s.config.Kind == SinkEmail:
		return "An e-mail leaves, and nobody can take it back"
	case s.config.Kind == SinkInbox:
		return "The sink applies its effect and writes the event's id into its inbox table, in one database transaction"
	case s.config.Kind == SinkUpsert && had:
		s.totals.Doubled++
		return "The sink writes it over what it had under the key"
	case had:
		s.totals.Doubled++
		return "The sink applies its effect once more"
	case s.config.Kind == SinkOffsets:
		return fmt.Sprintf("The sink applies its effect and stores the offset %d with it", offset+1)
	}
	return "The sink applies its effect"
}

// storedOffset is where consumers of a sink with offsets begin; -1: nothing is stored.
func (s *Sink) storedOffset(tp kafka.TopicPartition) kafka.Offset {
	if s.config.Kind != SinkOffsets {
		return kafka.NoOffset
	}
	return s.table(tp).stored
}

// SinkView is a group's sink: an immutable value.
type SinkView struct {
	Kind       SinkKind    `json:"kind"`
	Capacity   int         `json:"capacity"` // 0: no bound
	SinkTotals             // over all partitions
	OutOfOrder int         `json:"out_of_order"` // events processed after a newer one of their key
	FirstLate  []Late      `json:"late_events"`
	Fates      []FatesView `json:"-"` // sorted by partition
	DeadLetter int         `json:"dead_lettered"`
	Inbox      int         `json:"inbox,omitempty"` // ids in the inbox table
}

// FatesView is what became of the records of one partition in a group.
type FatesView struct {
	kafka.TopicPartition
	table fateTable
}

// At gives the fate of the record at an offset.
func (f FatesView) At(offset kafka.Offset) RecordFate { return f.table.fate(offset) }

// End is after the last record to which something has happened, at most a chunk.
func (f FatesView) End() kafka.Offset { return kafka.Offset(len(f.table.chunks) * fateChunk) }

// View gives the sink's state.
func (s *Sink) View() SinkView {
	seen := s.order.View()
	v := SinkView{Kind: s.config.Kind, Capacity: s.config.Capacity, SinkTotals: s.totals, OutOfOrder: seen.Late, FirstLate: seen.FirstLate, DeadLetter: s.deadLetter, Inbox: s.inbox.size()}
	if v.Kind == "" {
		v.Kind = SinkPlain
	}
	for _, t := range s.tables {
		t.chunks = slices.Clone(t.chunks)
		v.Fates = append(v.Fates, FatesView{TopicPartition: t.tp, table: t})
	}
	return v
}

// Group gives the id of the group whose sink it is.
func (s *Sink) Group() string { return s.group }

// Done says whether the group is done with a record: it was processed, or given up by rule.
func (s *Sink) Done(tp kafka.TopicPartition, offset kafka.Offset) bool {
	at, found := s.place(tp)
	if !found {
		return false
	}
	fate := s.tables[at].fate(offset)
	return fate.Processed > 0 || fate.GivenUp > 0
}

// Doubled is how many effects were written again.
func (s *Sink) Doubled() int { return s.totals.Doubled }
