package client

import (
	"maps"
	"slices"

	"loglab/engine/kafka"
)

// Source is the database whose changes the producers' applications publish: it numbers the events of
// each entity from 1. It also counts the records that each key was sent with, by where its partitioner put
// them, and keeps what was handed in and what became of it.
type Source struct {
	versions map[string]int   // by entity; only looked up
	records  map[keyPlace]int // of one key in one partition; only looked up
	hottest  keyPlace         // the first that has as many records as no other has more
	handed   History[Handed]  // by record number
	outcomes History[Outcome] // in the order the producers learned of them

	transactions History[TransactionEnd] // in the order the producers learned of them

	outboxes []outbox            // in the order their producers first wrote
	explicit map[string]struct{} // events whose value a person gave; only looked up
	repeated int                 // records that were made for an event of which there was one before
	direct   directCounts
	bytes    int // of keys and values
}

// Handed is one record that an application handed to its producer. Its number is its index in
// [Source.Handed].
type Handed struct {
	Producer       kafka.NodeID
	Key            []byte // nil: no key
	Value          []byte
	TopicPartition kafka.TopicPartition
	Timestamp      kafka.Timestamp // of the record: the producer's clock
	Tick           kafka.Tick
	Event          uint64 // Seq of the event that says so
	Transaction    int    // number of the producer's transaction that it is in; 0: in none

	// The record that an application which reads and writes made it of.
	Of       kafka.TopicPartition // zero: of none
	OfOffset kafka.Offset

	// Repeats says that the event was handed to a producer before: a second call of send, which no sequence shows. It is
	// known of records whose value a person gave, of the rows of an outbox table, and of an application's outputs.
	Repeats bool
	Relayed bool // it is the row of an outbox table
}

// direct says whether an application handed the event over when it wrote it into its database.
func (h *Handed) direct() bool { return !h.Relayed && h.Of == (kafka.TopicPartition{}) }

// directCounts counts events that applications hand over when they write them into their databases.
type directCounts struct{ written, acknowledged, lost int }

// TransactionEnd says that a producer's transaction is over. Records of one that has no end are not known to be committed.
type TransactionEnd struct {
	Producer  kafka.NodeID
	Number    int // of the producer's transactions, from 1
	Committed bool
	Tick      kafka.Tick
	Event     uint64 // Seq of the event that says so
}

// OutcomeKind says what a producer knows in the end of a record.
type OutcomeKind uint8

// The outcomes. Only an acknowledged record is known to be written; a failed or dropped one may be.
const (
	Acknowledged       OutcomeKind = iota
	Failed                         // the producer gave it up
	Dropped                        // the process ended before an answer came
	SentWithoutPromise             // acks=0: there is no answer
)

// Outcome is what became of one record. Every record has at most one.
type Outcome struct {
	Record int // its number
	Kind   OutcomeKind
	Offset kafka.Offset // of an acknowledged record; -1: the broker did not say, or the record has none
	Error  string       // Kafka's name of the error of a failed record
	Tick   kafka.Tick
	Event  uint64 // Seq of the event that says so
}

// Handed gives the records handed in so far, by number. It is only read.
func (s *Source) Handed() *History[Handed] { return &s.handed }

// Outcomes gives what became of records, in the order their producers learned of it. A record without an
// outcome is still on its way. It is only read.
func (s *Source) Outcomes() *History[Outcome] { return &s.outcomes }

// Transactions gives the ends of transactions, in the order their producers learned of them. It is only read.
func (s *Source) Transactions() *History[TransactionEnd] { return &s.transactions }

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

// take notes a record and gives its number; keyed says that a partitioner chose the partition by its key.
func (s *Source) take(h Handed, keyed bool) (number int) {
	s.handed.append(h)
	if h.Repeats {
		s.repeated++
	}
	if h.direct() {
		s.direct.written++
	}
	s.bytes += len(h.Key) + len(h.Value)
	if keyed {
		if s.records == nil {
			s.records = map[keyPlace]int{}
		}
		at := keyPlace{string(h.Key), h.TopicPartition.Partition}
		s.records[at]++
		if len(s.records) == 1 || s.records[at] > s.records[s.hottest] {
			s.hottest = at
		}
	}
	return s.handed.Len() - 1
}

// settle notes what became of records. The offset is that of the first of them, -1 for none.
func (s *Source) settle(records []int, kind OutcomeKind, offset kafka.Offset, failure string, tick kafka.Tick, event uint64) {
	for i, number := range records {
		if h := s.handed.At(number); h.direct() && kind == Acknowledged {
			s.direct.acknowledged++
		} else if h.direct() && kind != SentWithoutPromise {
			s.direct.lost++
		}
		o := Outcome{Record: number, Kind: kind, Offset: offset, Error: failure, Tick: tick, Event: event}
		if offset >= 0 {
			o.Offset += kafka.Offset(i)
		}
		s.outcomes.append(o)
	}
}

func (s *Source) clone() Source {
	c := *s
	c.versions, c.records, c.explicit = maps.Clone(s.versions), maps.Clone(s.records), maps.Clone(s.explicit)
	c.outboxes = slices.Clone(s.outboxes)
	for i := range c.outboxes {
		c.outboxes[i].rows = s.outboxes[i].rows.clone()
	}
	c.handed, c.outcomes, c.transactions = s.handed.clone(), s.outcomes.clone(), s.transactions.clone()
	return c
}

// SourceView is what the source has given out: an immutable value.
type SourceView struct {
	Records          int             `json:"records"` // handed to the producers
	HottestKey       string          `json:"hottest_key"`
	HottestPartition kafka.Partition `json:"hottest_partition"`  // where its partitioner put it
	HottestRecords   int             `json:"hottest_records"`    // of that key in that partition
	Repeated         int             `json:"repeated,omitempty"` // handed in for an event that was handed in before
	Outboxes         []OutboxView    `json:"outboxes,omitempty"`
	Database         DatabaseView    `json:"-"`
}

// DatabaseView compares what the applications have written into their databases with what they have published.
type DatabaseView struct {
	Written        int // events
	Published      int // acknowledged at least once
	PublishedAgain int // times that an event was handed to a producer again by a relay
	NeverPublished int // not acknowledged: still on their way, or never to come
	Lost           int // those of them that nobody will publish any more
}

// database compares. An event of an application without an outbox table counts as written when it is handed to the
// producer, for that comes right after; what its producer has given up or forgotten is lost.
func (s *Source) database() (v DatabaseView) {
	rows, marked := 0, 0
	for i := range s.outboxes {
		o := &s.outboxes[i]
		rows, marked, v.PublishedAgain = rows+o.rows.Len(), marked+o.marked, v.PublishedAgain+o.again
	}
	v.Written, v.Published, v.Lost = rows+s.direct.written, marked+s.direct.acknowledged, s.direct.lost
	v.NeverPublished = v.Written - v.Published
	return v
}

// repeats notes an event whose value a person gave, and says whether it was handed over before.
func (s *Source) repeats(key, value []byte) bool {
	id := eventID(key, value)
	if _, was := s.explicit[id]; was {
		return true
	}
	if s.explicit == nil {
		s.explicit = map[string]struct{}{}
	}
	s.explicit[id] = struct{}{}
	return false
}

// View gives the source's counts.
func (s *Source) View() SourceView {
	v := SourceView{
		Records: s.handed.Len(), HottestKey: s.hottest.key, HottestPartition: s.hottest.partition, HottestRecords: s.records[s.hottest],
		Repeated: s.repeated, Database: s.database(),
	}
	for i := range s.outboxes {
		v.Outboxes = append(v.Outboxes, s.outboxes[i].view())
	}
	return v
}
