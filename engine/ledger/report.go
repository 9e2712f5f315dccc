package ledger

import (
	"encoding/json"

	"loglab/engine/kafka"
	"loglab/engine/storage"
)

// Fate is what a producer knows of a record.
type Fate uint8

// The fates. Only an acknowledged record is known to be written; any other may be.
const (
	Waiting      Fate = iota // it is still on its way
	Acknowledged             // the broker said yes
	Failed                   // the producer gave it up
	Dropped                  // the producer's process ended first
	Unpromised               // acks=0: there is no answer
)

// Record is one record that an application handed to its producer. Its number is its place in the list.
type Record struct {
	Producer       kafka.NodeID
	Key, Value     []byte // nil: null; only read
	TopicPartition kafka.TopicPartition
	Timestamp      kafka.Timestamp
	Tick           kafka.Tick // when it was handed in
	Fate           Fate
	Offset         kafka.Offset // at which it was acknowledged; kafka.NoOffset: not told
	Settled        kafka.Tick   // when its producer learned of its fate
}

// Log is the log of a partition's leader. A partition without a leader that runs has none.
type Log struct {
	TopicPartition kafka.TopicPartition
	LogStartOffset kafka.Offset      // inclusive
	HighWatermark  kafka.Offset      // exclusive
	Compact        bool              // cleanup.policy contains compact
	Segments       []storage.Segment // oldest first
}

// Entry is one record of the report.
type Entry struct {
	Record         int                  `json:"record"` // its number
	Producer       kafka.NodeID         `json:"producer"`
	Key            *string              `json:"key"`   // nil: null
	Value          *string              `json:"value"` // nil: null; at most MaxValue bytes
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Offset         kafka.Offset         `json:"offset"`  // at which it was acknowledged; -1: it was not
	Offsets        []kafka.Offset       `json:"offsets"` // where it stands in the leader's log now, rising
	Tick           kafka.Tick           `json:"tick"`    // when it was handed in
}

// MaxValue is how many bytes of a value an entry has.
const MaxValue = 64

// Report is the account at one moment: an immutable value. In JSON Lost, Duplicated and Reordered are counts, and
// the records stand under lost_records, duplicated_records and reordered_records.
type Report struct {
	Sent         int // handed in: the sum of the five that follow
	Acknowledged int
	Failed       int
	Dropped      int // their producer's process ended first
	Unpromised   int // acks=0
	Waiting      int
	Visible      int // consumers can read them now: below the leader's high watermark
	Unavailable  int // acknowledged, and their partition has no leader that runs
	Removed      int // acknowledged, and taken by retention, DeleteRecords or a cleaning
	Processed    int // by the applications of consumers, again ones too; Account does not fill it

	Lost       []Entry // acknowledged, not in their leader's log, and not Removed; by number
	Duplicated []Entry // stand more often than they were handed in; by number
	// Reordered stand behind a record of the same producer, partition and key that was handed in later; by number.
	// Where a record stands more than once the first place counts. Records without a key are compared with each
	// other.
	Reordered []Entry
}

// MarshalJSON gives the counts, then the records.
func (r Report) MarshalJSON() ([]byte, error) {
	orEmpty := func(list []Entry) []Entry { return append([]Entry{}, list...) }
	return json.Marshal(struct {
		Sent              int     `json:"sent"`
		Acknowledged      int     `json:"acknowledged"`
		Failed            int     `json:"failed"`
		Dropped           int     `json:"dropped"`
		Unpromised        int     `json:"unpromised"`
		Waiting           int     `json:"waiting"`
		Visible           int     `json:"visible"`
		Unavailable       int     `json:"unavailable"`
		Removed           int     `json:"removed"`
		Processed         int     `json:"processed"`
		Lost              int     `json:"lost"`
		Duplicated        int     `json:"duplicated"`
		Reordered         int     `json:"reordered"`
		LostRecords       []Entry `json:"lost_records"`
		DuplicatedRecords []Entry `json:"duplicated_records"`
		ReorderedRecords  []Entry `json:"reordered_records"`
	}{
		r.Sent, r.Acknowledged, r.Failed, r.Dropped, r.Unpromised, r.Waiting, r.Visible, r.Unavailable, r.Removed, r.Processed,
		len(r.Lost), len(r.Duplicated), len(r.Reordered), orEmpty(r.Lost), orEmpty(r.Duplicated), orEmpty(r.Reordered),
	})
}

// Account says what became of every record. The logs have each partition at most once.
func Account(records []Record, logs []Log) Report {
	a := account{records: records, standing: read(logs), first: make([]int32, len(records))}
	a.match()
	r := Report{Sent: len(records)}
	for i := range records {
		a.count(&r, i)
	}
	a.findReordered(&r)
	return r
}

// count adds one record to the counts, and to the lost and duplicated ones.
func (a *account) count(r *Report, i int) {
	switch a.records[i].Fate {
	case Waiting:
		r.Waiting++
	case Acknowledged:
		r.Acknowledged++
	case Failed:
		r.Failed++
	case Dropped:
		r.Dropped++
	case Unpromised:
		r.Unpromised++
	}
	l := a.logOf(a.records[i].TopicPartition)
	if l == nil {
		if a.records[i].Fate == Acknowledged {
			r.Unavailable++
		}
		return
	}
	switch at := a.first[i]; {
	case at >= 0 && l.places[at].offset < l.logStart: // its segment is still there
		if a.records[i].Fate == Acknowledged {
			r.Removed++
		}
	case at >= 0:
		if l.places[at].offset < l.highWatermark {
			r.Visible++
		}
		if l.places[at].again {
			r.Duplicated = append(r.Duplicated, a.entry(l, i))
		}
	case a.records[i].Fate == Acknowledged && a.removed(l, &a.records[i]):
		r.Removed++
	case a.records[i].Fate == Acknowledged:
		r.Lost = append(r.Lost, a.entry(l, i))
	}
}

// removed says whether an acknowledged record that is not in the log is one that retention, DeleteRecords or a cleaning
// has taken: it lay below the log start offset, or in a compacted log its key has a later record, or it was a tombstone.
func (a *account) removed(l *standing, r *Record) bool {
	return r.Offset >= 0 && (r.Offset < l.logStart || l.compact && (r.Value == nil || a.latestOf(l, r.Key) > r.Offset))
}

// latestOf gives the offset of the last record of a key that was acknowledged in a partition or stands there.
func (a *account) latestOf(l *standing, key []byte) kafka.Offset {
	if l.latest == nil {
		l.latest = map[string]kafka.Offset{}
		for i := range a.records {
			if r := &a.records[i]; r.TopicPartition == l.tp && r.Fate == Acknowledged {
				l.latest[string(r.Key)] = max(l.latest[string(r.Key)], r.Offset)
			}
		}
		for i := range l.places {
			key := string(l.places[i].key)
			l.latest[key] = max(l.latest[key], l.places[i].offset)
		}
	}
	return l.latest[string(key)]
}

// entry writes down one record with all places where it stands.
func (a *account) entry(l *standing, i int) Entry {
	from := &a.records[i]
	e := Entry{
		Record: i, Producer: from.Producer, Key: text(from.Key, len(from.Key)), Value: text(from.Value, MaxValue), TopicPartition: from.TopicPartition,
		Offset: kafka.NoOffset, Offsets: []kafka.Offset{}, Tick: from.Tick,
	}
	if from.Fate == Acknowledged {
		e.Offset = from.Offset
	}
	at := a.first[i]
	if at < 0 {
		return e
	}
	e.Offsets = append(e.Offsets, l.places[at].offset)
	if !l.places[at].again {
		return e
	}
	for k := int(at) + 1; k < len(l.places); k++ {
		if l.places[k].owner == int32(i) {
			e.Offsets = append(e.Offsets, l.places[k].offset)
		}
	}
	return e
}

func text(b []byte, most int) *string {
	if b == nil {
		return nil
	}
	s := string(b[:min(len(b), most)])
	return &s
}
