package journal

import (
	"encoding/json"
	"fmt"
	"iter"
	"sort"
	"strings"

	"loglab/engine/kafka"
)

// You is the node of events that a command of the address brought about directly.
const You kafka.NodeID = "you"

// Event is one thing that happened, in the order it happened.
type Event struct {
	Tick  kafka.Tick   // the frame in which it is first seen
	Seq   uint64       // place in the journal, from 1, no gaps
	Cause uint64       // Seq of the event that led here, smaller than Seq; 0: a timer
	Node  kafka.NodeID // where it happened
	Body  Body         // one struct per kind, values only
}

// Body is what one kind of event says.
type Body interface {
	// Kind names the kind, in the past tense: "BatchAppended".
	Kind() string
	// Text gives the facts in fixed order, short, for one line.
	Text() string
	// Sentence tells a learner what happened and by which rule and setting.
	Sentence() string
}

// Line gives the event's one line of text.
func (e Event) Line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "t=%04d #%05d %s %s", e.Tick, e.Seq, e.Node, e.Body.Kind())
	if text := e.Body.Text(); text != "" {
		b.WriteString(" " + text)
	}
	if e.Cause != 0 {
		fmt.Fprintf(&b, " <#%05d", e.Cause)
	}
	return b.String()
}

// MarshalJSON gives tick, seq, cause, node and kind, then the body's own fields, in fixed order.
func (e Event) MarshalJSON() ([]byte, error) {
	head, err := json.Marshal(struct {
		Tick  kafka.Tick   `json:"tick"`
		Seq   uint64       `json:"seq"`
		Cause uint64       `json:"cause"`
		Node  kafka.NodeID `json:"node"`
		Kind  string       `json:"kind"`
	}{e.Tick, e.Seq, e.Cause, e.Node, e.Body.Kind()})
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(e.Body)
	if err != nil || len(body) <= 2 { // "{}": the kind says it all
		return head, err
	}
	head[len(head)-1] = ','
	return append(head, body[1:]...), nil
}

// stored is an event as a journal keeps it. Its place says its Seq; a run has far fewer events than a uint32 holds.
type stored struct {
	body  Body
	node  kafka.NodeID
	cause uint32
	tick  kafka.Tick
}

// chunkEvents is how many events one chunk holds.
const chunkEvents = 512

// Journal is the list of events of a run. The zero Journal is empty and ready.
type Journal struct {
	// Tick is stamped on what is appended next.
	Tick   kafka.Tick
	sealed [][]stored // full chunks, never written again
	tail   []stored   // the chunk that grows
}

// Append records one event and returns its Seq. Cause is the Seq of the event that led to it, or 0.
func (j *Journal) Append(node kafka.NodeID, cause uint64, body Body) uint64 {
	if len(j.tail) == chunkEvents {
		j.sealed = append(j.sealed, j.tail)
		j.tail = nil
	}
	if j.tail == nil {
		j.tail = make([]stored, 0, chunkEvents)
	}
	j.tail = append(j.tail, stored{body, node, uint32(cause), j.Tick})
	return uint64(j.Len())
}

// Len is the number of events.
func (j *Journal) Len() int { return len(j.sealed)*chunkEvents + len(j.tail) }

// At gives the event with that Seq; ok is false when there is none.
func (j *Journal) At(seq uint64) (e Event, ok bool) {
	if seq < 1 || seq > uint64(j.Len()) {
		return Event{}, false
	}
	i := int(seq - 1)
	s := &j.tail
	if i/chunkEvents < len(j.sealed) {
		s = &j.sealed[i/chunkEvents]
	}
	kept := &(*s)[i%chunkEvents]
	return Event{Tick: kept.tick, Seq: seq, Cause: uint64(kept.cause), Node: kept.node, Body: kept.body}, true
}

// All walks over the events in order.
func (j *Journal) All() iter.Seq[Event] {
	return func(yield func(Event) bool) {
		for seq := uint64(1); ; seq++ {
			if e, ok := j.At(seq); !ok || !yield(e) {
				return
			}
		}
	}
}

// Backward walks over the events from the last to the first.
func (j *Journal) Backward() iter.Seq[Event] {
	return func(yield func(Event) bool) {
		for seq := uint64(j.Len()); ; seq-- {
			if e, ok := j.At(seq); !ok || !yield(e) {
				return
			}
		}
	}
}

// Of walks over the events of one tick in order.
func (j *Journal) Of(tick kafka.Tick) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		first := sort.Search(j.Len(), func(i int) bool {
			e, _ := j.At(uint64(i) + 1)
			return e.Tick >= tick
		})
		for seq := uint64(first) + 1; ; seq++ {
			if e, ok := j.At(seq); !ok || e.Tick != tick || !yield(e) {
				return
			}
		}
	}
}

// Causes gives the chain from the event with that Seq back to a command or a timer, the event itself
// first. It is empty when there is no such event.
func (j *Journal) Causes(seq uint64) []Event {
	var chain []Event
	for e, ok := j.At(seq); ok; e, ok = j.At(e.Cause) {
		chain = append(chain, e)
	}
	return chain
}

// Clone gives a journal with the same events; see the package's doc for what is shared.
func (j *Journal) Clone() Journal {
	return Journal{
		Tick:   j.Tick,
		sealed: j.sealed[:len(j.sealed):len(j.sealed)],
		tail:   j.tail[:len(j.tail):len(j.tail)],
	}
}
