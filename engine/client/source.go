package client

import (
	"maps"

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
	bytes        int                     // of keys and values
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
}

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
		o := Outcome{Record: number, Kind: kind, Offset: offset, Error: failure, Tick: tick, Event: event}
		if offset >= 0 {
			o.Offset += kafka.Offset(i)
		}
		s.outcomes.append(o)
	}
}

func (s *Source) clone() Source {
	c := *s
	c.versions, c.records = maps.Clone(s.versions), maps.Clone(s.records)
	c.handed, c.outcomes, c.transactions = s.handed.clone(), s.outcomes.clone(), s.transactions.clone()
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
		Records: s.handed.Len(), HottestKey: s.hottest.key, HottestPartition: s.hottest.partition, HottestRecords: s.records[s.hottest],
	}
}
