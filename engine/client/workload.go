package client

import (
	"bytes"
	"slices"
	"strconv"

	"loglab/engine/kafka"
	"loglab/engine/prng"
)

// Workload is what a producer's application sends by itself: events of entities, each event a record.
type Workload struct {
	// Entities are what the events are about; only read. Empty: the records have no key.
	Entities []string
	// Weights say how often each entity is drawn, in proportion; only read. Nil: the entities come in
	// turn, over and over.
	Weights []int
	// KeyBy says what the application uses as a record's key.
	KeyBy KeyBy
	// Rate is the number of records that are handed to the producer at once every Every ms; 0: none.
	Rate  int
	Every kafka.Millis
	// ValueBytes is the least length of a value; shorter ones are filled up with dots.
	ValueBytes int
	// DeleteEvery makes every so many-th event of an entity a deletion: a record without a value. 0: none.
	DeleteEvery int
	// Turn and Turns deal the records to several producers with the same workload: this one hands in
	// every Turns-th pass through the entities, or record where there are no passes. Turns 0 is one.
	Turn, Turns int
	// TransactionRecords is how many records a transactional producer's application puts into one transaction; 0: those
	// that it hands in at once. Stopped between two, it leaves the transaction open.
	TransactionRecords int
	// Outbox makes the application write its events into its database, each with a row in an outbox table in one database
	// transaction; a relay publishes the rows and marks them. Without it the application writes its database and hands
	// the event to the producer: a crash between, or before the record is acknowledged, loses the event for Kafka.
	Outbox bool
	// RelayEvery is how often the relay looks into the outbox table; 0: as soon as there is a row.
	RelayEvery kafka.Millis
	// AbortEvery makes that application abort every so many-th transaction; 0: none.
	AbortEvery int
}

// KeyBy is the application's choice of a key.
type KeyBy string

// The choices.
const (
	KeyByEntity KeyBy = "entity"           // the entity: its events share a key for ever
	KeyByState  KeyBy = "entity-and-state" // changes in the entity's life
	KeyByRegion KeyBy = "region"           // one of three, for all entities
)

// KeyBys lists the choices. The slice is the caller's own.
func KeyBys() []string { return []string{string(KeyByEntity), string(KeyByState), string(KeyByRegion)} }

// states are what an entity goes through, one an event, over and over.
var states = [...]string{"created", "paid", "packed", "shipped"}

// regions are where ten entities in a row are.
var regions = [...]string{"eu", "eu", "us", "eu", "eu", "us", "eu", "ap", "eu", "us"}

// Keys gives the different keys that the workload's records can have, in the order in which one pass after
// another would bring them. None means that records have no key.
func (w Workload) Keys() []string {
	passes := 1
	if w.KeyBy == KeyByState {
		passes = len(states)
	}
	var keys []string
	seen := map[string]bool{}
	for version := 1; version <= passes; version++ {
		for index := range w.Entities {
			if key := string(w.key(index, version)); !seen[key] {
				seen[key] = true
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// key gives the key of an event: of the entity with that index, its version-th.
func (w Workload) key(index, version int) []byte {
	entity := w.Entities[index]
	switch w.KeyBy {
	case KeyByState:
		return []byte(entity + "/" + states[(version-1)%len(states)])
	case KeyByRegion:
		return []byte(regions[index%len(regions)])
	}
	return []byte(entity)
}

// value gives the value of an event. It names the entity where the key does not, and always the version.
func (w Workload) value(entity string, version int) []byte {
	const digits = 20
	b := make([]byte, 0, max(w.ValueBytes, len(entity)+1+len(eventWord)+digits))
	if entity != "" && w.KeyBy != KeyByEntity && w.KeyBy != "" {
		b = append(append(b, entity...), ' ')
	}
	b = strconv.AppendInt(append(b, eventWord...), int64(version), 10)
	for len(b) < w.ValueBytes {
		b = append(b, '.')
	}
	return b
}

// deletes says whether the version-th event of an entity is its deletion.
func (w Workload) deletes(version int) bool { return w.DeleteEvery > 0 && version%w.DeleteEvery == 0 }

// eventWord stands before the version in a value.
const eventWord = "event "

// eventOf reads what an application wrote: whose event a record is, and which. Without a version in the
// value ok is false.
//
// Simplified: a record's version is the number in its value, as in "event 7"; a value of another form has
// none, and the destination cannot tell whether it is late. What an application writes for such a record has the version
// too.
func eventOf(key, value []byte) (entity []byte, version int, ok bool) {
	value = inputOf(value)
	word := []byte(eventWord)
	at := bytes.LastIndex(value, word)
	if at < 0 {
		return nil, 0, false
	}
	digits := bytes.TrimRight(value[at+len(word):], ".")
	for _, digit := range digits {
		if digit < '0' || digit > '9' || version > 1e9 {
			return nil, 0, false
		}
		version = version*10 + int(digit-'0')
	}
	if version == 0 {
		return nil, 0, false
	}
	if before := value[:at]; len(before) > 1 {
		return before[:len(before)-1], version, true // without the space
	}
	return key, version, true
}

// deal is a workload on its way: it draws the entities of all records and knows which are this producer's.
type deal struct {
	Workload
	cumulative []int // of Weights; shared by clones, never written
	rnd        prng.Rand
	next       int // records drawn so far, those of other producers too
}

func newDeal(w Workload, rnd prng.Rand) deal {
	d := deal{Workload: w, rnd: rnd}
	sum := 0
	for _, weight := range w.Weights {
		sum += weight
		d.cumulative = append(d.cumulative, sum)
	}
	return d
}

// draw gives the index of the next record's entity, -1 where there is none, and whether the record is
// this producer's.
func (d *deal) draw() (index int, mine bool) {
	n, pass := d.next, d.next
	d.next++
	switch {
	case len(d.Entities) == 0:
		index = -1
	case d.cumulative != nil:
		drawn := d.rnd.IntN(d.cumulative[len(d.cumulative)-1])
		index, _ = slices.BinarySearch(d.cumulative, drawn+1)
	default:
		index, pass = n%len(d.Entities), n/len(d.Entities)
	}
	return index, d.Turns < 2 || pass%d.Turns == d.Turn
}
