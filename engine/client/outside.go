package client

import (
	"maps"
	"slices"

	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// Outside is the world around the clients that is neither a node nor on the network: where the events
// come from and where they go. There is one a run; the clients' applications share it.
type Outside struct {
	Source      Source
	Destination Destination
	Sinks       []Sink // of the groups with a coordinator
}

// Clone gives an outside in the same state.
func (o *Outside) Clone() Outside {
	c := Outside{Source: o.Source.clone(), Destination: o.Destination.clone()}
	for i := range o.Sinks {
		c.Sinks = append(c.Sinks, o.Sinks[i].clone())
	}
	return c
}

// The sizes of an entry of each history, about.
const handedBytes, outcomeBytes = 168, 72

// SizeBytes estimates the memory that is shared with clones.
func (o *Outside) SizeBytes() int {
	rows := 0
	for i := range o.Source.outboxes {
		rows += o.Source.outboxes[i].rows.Len()
	}
	return o.Source.handed.Len()*handedBytes + o.Source.outcomes.Len()*outcomeBytes + o.Source.bytes + (rows+o.Source.transactions.Len())*handedBytes
}

// CloneBytes estimates the memory that a clone takes by itself.
func (o *Outside) CloneBytes() int {
	const mapEntry, entityBytes = 56, 80
	chunks := historyChunk*(handedBytes+outcomeBytes) + (o.Source.handed.Len()+o.Source.outcomes.Len())/historyChunk*24
	for i := range o.Sinks {
		chunks += o.Sinks[i].cloneBytes()
	}
	chunks += len(o.Source.outboxes) * historyChunk * handedBytes
	return chunks + mapEntry*(len(o.Source.explicit)+len(o.Source.versions)+len(o.Source.records)+len(o.Destination.places)) + entityBytes*len(o.Destination.entities)
}

// Destination is what the consumers' applications write to: it sees the events in the order in which
// they are processed, whoever processes them.
type Destination struct {
	// CheckVersions makes the destination refuse an event that is older than what it has of the entity.
	CheckVersions bool

	records   int            // processed
	places    map[string]int // entity → index in entities; only looked up
	entities  []entity       // in the order they were seen first
	processed int            // events with a version
	late      int            // those that came after a newer one of their entity
	inPlace   int            // those of the late that the newer one had overtaken within one partition
}

// entity is what the destination has of one entity.
type entity struct {
	newest Sight
	first  *Late // the first event that came after a newer one; never written once made
}

// Sight is one event as the destination saw it.
type Sight struct {
	Version int                  `json:"version"`
	At      kafka.TopicPartition `json:"topic_partition"`
	Offset  kafka.Offset         `json:"offset"`
	Tick    kafka.Tick           `json:"tick"`
	Member  kafka.NodeID         `json:"member"`
}

// Late is an event that was seen after a newer one of the same entity.
type Late struct {
	Entity string `json:"entity"` // empty: records without a key
	Event  Sight  `json:"event"`
	Newer  Sight  `json:"newer"` // seen before it
}

// take processes one event; it returns what to journal when the event comes late.
func (d *Destination) take(name []byte, seen Sight) (late journal.EventSeenLate, isLate bool) {
	d.processed++
	at, known := d.places[string(name)]
	if !known {
		if d.places == nil {
			d.places = map[string]int{}
		}
		d.places[string(name)] = len(d.entities)
		d.entities = append(d.entities, entity{newest: seen})
		return late, false
	}
	e := &d.entities[at]
	if seen.Version >= e.newest.Version { // the same again changes nothing
		e.newest = seen
		return late, false
	}
	d.late++
	if seen.At == e.newest.At {
		d.inPlace++
	}
	if e.first == nil {
		e.first = &Late{Entity: string(name), Event: seen, Newer: e.newest}
	}
	return journal.EventSeenLate{
		Entity: string(name), Version: seen.Version, TopicPartition: seen.At, Offset: seen.Offset,
		Newer: e.newest.Version, NewerAt: e.newest.At, NewerOffset: e.newest.Offset, NewerTick: e.newest.Tick, Refused: d.CheckVersions,
	}, true
}

func (d *Destination) clone() Destination {
	c := *d
	c.places, c.entities = maps.Clone(d.places), slices.Clone(d.entities)
	return c
}

// DestinationView is what the destination holds: an immutable value.
type DestinationView struct {
	CheckVersions bool   `json:"check_versions"`
	Records       int    `json:"records"`                 // processed, those without a version too
	Processed     int    `json:"processed"`               // events with a version
	Late          int    `json:"late"`                    // those that came after a newer one of their entity
	InPlace       int    `json:"late_within_a_partition"` // those of the late whose newer one stood in the same partition
	Refused       int    `json:"refused"`                 // those of the late that were refused
	FirstLate     []Late `json:"late_events"`             // the first of each entity that has one, in the order the entities were seen first
}

// View gives the destination's state.
func (d *Destination) View() DestinationView {
	v := DestinationView{CheckVersions: d.CheckVersions, Records: d.records, Processed: d.processed, Late: d.late, InPlace: d.inPlace, FirstLate: []Late{}}
	if d.CheckVersions {
		v.Refused = d.late
	}
	for _, e := range d.entities {
		if e.first != nil {
			v.FirstLate = append(v.FirstLate, *e.first)
		}
	}
	return v
}
