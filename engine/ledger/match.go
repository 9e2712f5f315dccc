package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sort"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/storage"
)

// account is a report on its way.
type account struct {
	records  []Record
	standing []standing // sorted by partition
	first    []int32    // of each record: its first place in the log of its partition, -1 for none
}

// standing is what stands in a log.
type standing struct {
	tp            kafka.TopicPartition
	logStart      kafka.Offset
	highWatermark kafka.Offset
	compact       bool
	latest        map[string]kafka.Offset // of each key; nil: not asked for yet; only looked up
	places        []place                 // by offset
}

// place is one record in a log.
type place struct {
	offset     kafka.Offset
	timestamp  kafka.Timestamp // kafka.NoTimestamp: the leader's own, which says nothing
	key, value []byte
	owner      int32 // number of the record that stands here, -1 for none that was handed in
	again      bool  // its owner stands at a later place too
}

// read decodes the logs.
func read(logs []Log) []standing {
	list := make([]standing, 0, len(logs))
	for _, l := range logs {
		s := standing{tp: l.TopicPartition, logStart: l.LogStartOffset, highWatermark: l.HighWatermark, compact: l.Compact}
		if n := len(l.Segments); n > 0 {
			s.places = make([]place, 0, max(l.Segments[n-1].LastOffset-l.Segments[0].BaseOffset+1, 0))
		}
		for _, segment := range l.Segments {
			s.readSegment(segment)
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b standing) int {
		if a.tp.Less(b.tp) {
			return -1
		}
		return 1
	})
	return list
}

func (s *standing) readSegment(segment storage.Segment) {
	for data := segment.Bytes; ; {
		b, err := record.Parse(data)
		if errors.Is(err, record.ErrEnd) {
			return
		}
		if err != nil {
			panic(fmt.Sprintf("ledger: %s, segment %d: %v", s.tp, segment.BaseOffset, err)) // a log holds whole batches
		}
		data = data[b.Size():]
		if b.Attributes.Control() {
			continue
		}
		stamped := b.Attributes.TimestampType() == record.LogAppendTime
		for scan := b.Scan(); scan.Next(); {
			r := scan.Record()
			p := place{offset: r.Offset, timestamp: r.Timestamp, key: r.Key, value: r.Value, owner: -1}
			if stamped {
				p.timestamp = kafka.NoTimestamp
			}
			s.places = append(s.places, p)
		}
	}
}

// logOf gives what stands in a partition, nil if it has no leader that runs.
func (a *account) logOf(tp kafka.TopicPartition) *standing {
	if i := int(tp.Partition); i < len(a.standing) && a.standing[i].tp == tp { // one topic, every partition with a leader
		return &a.standing[i]
	}
	for i := range a.standing {
		if a.standing[i].tp == tp {
			return &a.standing[i]
		}
	}
	return nil
}

// at finds the place of an offset, -1 for none.
func (s *standing) at(offset kafka.Offset) int {
	if len(s.places) == 0 || offset < s.places[0].offset {
		return -1
	}
	if i := int(offset - s.places[0].offset); i < len(s.places) && s.places[i].offset == offset {
		return i // without gaps
	}
	i := sort.Search(len(s.places), func(i int) bool { return s.places[i].offset >= offset })
	if i == len(s.places) || s.places[i].offset != offset {
		return -1
	}
	return i
}

// is says whether a place holds a record, as far as its content says.
func (p *place) is(r *Record) bool {
	return (p.timestamp == r.Timestamp || p.timestamp == kafka.NoTimestamp) && equal(p.key, r.Key) && equal(p.value, r.Value)
}

func equal(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// match finds who stands where, as the package's doc says.
func (a *account) match() {
	left := 0
	for i := range a.standing {
		left += len(a.standing[i].places)
	}
	for i := range a.records {
		r := &a.records[i]
		a.first[i] = -1
		if r.Fate != Acknowledged || r.Offset < 0 {
			continue
		}
		l := a.logOf(r.TopicPartition)
		if l == nil {
			continue
		}
		if at := l.at(r.Offset); at >= 0 && l.places[at].owner < 0 && l.places[at].is(r) {
			a.first[i], l.places[at].owner = int32(at), int32(i)
			left--
		}
	}
	if left > 0 {
		a.deal()
	}
}

// deal gives the places that nobody owns yet to records that equal them: first one each to those that stand
// nowhere, then all that are left to the first.
func (a *account) deal() {
	equals := a.byContent()
	for k := range a.standing {
		l := &a.standing[k]
		for at := range l.places {
			p := &l.places[at]
			if p.owner >= 0 {
				continue
			}
			for i := equals.of(hash(l.tp.Partition, p.key, p.value)); i >= 0; i = equals.next[i] {
				if r := &a.records[i]; r.TopicPartition != l.tp || !p.is(r) {
					continue
				}
				if p.owner < 0 || a.first[p.owner] >= 0 && a.first[i] < 0 {
					p.owner = i
				}
			}
			if p.owner >= 0 {
				a.stands(l, p.owner, int32(at))
			}
		}
	}
}

// stands notes one more place of a record.
func (a *account) stands(l *standing, i, at int32) {
	was := a.first[i]
	if was >= 0 {
		l.places[min(was, at)].again = true
		at = min(was, at)
	}
	a.first[i] = at
}

// content finds records by what is in them: chains of the records with the same hash, lowest number first.
type content struct {
	heads []int32 // by hash; -1: none
	next  []int32 // by number
}

func (a *account) byContent() content {
	size := 1
	for size < len(a.records) {
		size *= 2
	}
	c := content{heads: make([]int32, size), next: make([]int32, len(a.records))}
	for i := range c.heads {
		c.heads[i] = -1
	}
	for i := len(a.records) - 1; i >= 0; i-- {
		r := &a.records[i]
		h := hash(r.TopicPartition.Partition, r.Key, r.Value) & uint32(size-1)
		c.next[i], c.heads[h] = c.heads[h], int32(i)
	}
	return c
}

func (c *content) of(h uint32) int32 { return c.heads[h&uint32(len(c.heads)-1)] }

// hash mixes a partition, a key and the beginning and end of a value (FNV-1a).
func hash(p kafka.Partition, key, value []byte) uint32 {
	const prime = 16777619
	h := uint32(2166136261) ^ uint32(p)
	for _, b := range key {
		h = (h ^ uint32(b)) * prime
	}
	const most = 24
	for _, b := range value[:min(len(value), most)] {
		h = (h ^ uint32(b)) * prime
	}
	for _, b := range value[max(0, len(value)-most):] {
		h = (h ^ uint32(b)) * prime
	}
	return h ^ h>>15
}

// findReordered walks over the logs and notes each record behind which a later one of its kind stands before it.
func (a *account) findReordered(r *Report) {
	for k := range a.standing {
		l := &a.standing[k]
		latest := map[kafka.NodeID]*highest{} // only looked up
		for at := range l.places {
			i := l.places[at].owner
			if i < 0 || a.first[i] != int32(at) {
				continue
			}
			from := &a.records[i]
			of := latest[from.Producer]
			if of == nil {
				of = &highest{byKey: map[string]*int32{}}
				latest[from.Producer] = of
			}
			if so := of.of(from.Key); *so > i {
				r.Reordered = append(r.Reordered, a.entry(l, int(i)))
			} else {
				*so = i
			}
		}
	}
	slices.SortFunc(r.Reordered, func(x, y Entry) int { return x.Record - y.Record })
}

// highest is the highest number of a producer's records so far, by their key.
type highest struct {
	keyless int32
	byKey   map[string]*int32 // only looked up
}

func (h *highest) of(key []byte) *int32 {
	if key == nil {
		return &h.keyless
	}
	at, ok := h.byKey[string(key)]
	if !ok {
		at = new(int32)
		h.byKey[string(key)] = at
	}
	return at
}
