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
}

// Clone gives an outside in the same state.
func (o *Outside) Clone() Outside {
	return Outside{Source: o.Source.clone(), Destination: o.Destination.clone()}
}

// CloneBytes estimates the memory that a clone takes by itself.
func (o *Outside) CloneBytes() int {
	const mapEntry, entityBytes = 56, 80
	return mapEntry*(len(o.Source.versions)+len(o.Source.records)+len(o.Destination.places)) + entityBytes*len(o.Destination.entities)
}

// Source is the database whose changes the producers' applications publish: it numbers the events of
// each entity from 1. It also counts the records that each key was sent with, by where its partitioner put
// them.
type Source struct {
	versions map[string]int   // by entity; only looked up
	records  map[keyPlace]int // of one key in one partition; only looked up
	handed   int              // records, with a key or without
	hottest  keyPlace         // the first that has as many records as no other has more
}

// keyPlace is a key and a partition that a partitioner has put it into.
type keyPlace struct {
	key       string
	partition kafka.Partition
}

// number gives the version of an entity's next event.
func (s *Source) number(entity string) int {
	if s.versions == nil {
		s.versions = map[string]int{}
	}
	s.versions[entity]++
	return s.versions[entity]
}

// count notes a record; keyed says that a partitioner chose the partition by its key.
func (s *Source) count(key []byte, keyed bool, partition kafka.Partition) {
	s.handed++
	if !keyed {
		return
	}
	if s.records == nil {
		s.records = map[keyPlace]int{}
	}
	at := keyPlace{string(key), partition}
	s.records[at]++
	if len(s.records) == 1 || s.records[at] > s.records[s.hottest] {
		s.hottest = at
	}
}

func (s *Source) clone() Source {
	c := *s
	c.versions, c.records = maps.Clone(s.versions), maps.Clone(s.records)
	return c
}

// SourceView is what the source has given out: an immutable value.
type SourceView struct {
	Records          int             `json:"records"` // handed to the producers
	HottestKey       string          `json:"hottest_key"`
	HottestPartition kafka.Partition `json:"hottest_partition"` // where its partitioner put it
	HottestRecords   int             `json:"hottest_records"`   // of that key in that partition
}

// View gives the source's counts.
func (s *Source) View() SourceView {
	return SourceView{
		Records: s.handed, HottestKey: s.hottest.key, HottestPartition: s.hottest.partition, HottestRecords: s.records[s.hottest],
	}
}

// Destination is what the consumers' applications write to: it sees the events in the order in which
// they are processed, whoever processes them.
type Destination struct {
	// CheckVersions makes the destination refuse an event that is older than what it has of the entity.
	CheckVersions bool

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
	Processed     int    `json:"processed"`               // events with a version
	Late          int    `json:"late"`                    // those that came after a newer one of their entity
	InPlace       int    `json:"late_within_a_partition"` // those of the late whose newer one stood in the same partition
	Refused       int    `json:"refused"`                 // those of the late that were refused
	FirstLate     []Late `json:"late_events"`             // the first of each entity that has one, in the order the entities were seen first
}

// View gives the destination's state.
func (d *Destination) View() DestinationView {
	v := DestinationView{CheckVersions: d.CheckVersions, Processed: d.processed, Late: d.late, InPlace: d.inPlace, FirstLate: []Late{}}
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
