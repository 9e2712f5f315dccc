package partitions

import (
	"errors"
	"fmt"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/partitioner"
	"loglab/engine/record"
	"loglab/labs"
)

// Bounds of what a page draws, so that it stays small with 64 partitions and 1,000 keys.
const (
	stripsShown  = 12
	columnsShown = 16
	keysShown    = 96 // in the table, over all partitions shown
)

// layout is a frame with what the parts of the page share.
type layout struct {
	labs.Frame
	rule     partitioner.Partitioner
	baseline int
	placed   []placedKey       // the different keys of the workload, in the order they are sent first
	short    map[string]string // key → its name in a cell; only looked up
	places   map[string]int    // key → its index in placed; only looked up
	readers  []*reader         // by partition; nil: nobody reads it
	fresh    []kafka.Offset    // by partition: the first offset that was written in the tick shown
	first    int               // the first partition drawn
}

// reader is who reads a partition, and how far.
type reader struct {
	member   engine.MemberView
	position kafka.Offset
	lag      int64
}

func newLayout(f labs.Frame) *layout {
	rule, err := partitioner.ByName(f.Address.Values.Text("partitioner"))
	if err != nil {
		panic(err) // the address was checked
	}
	l := &layout{Frame: f, rule: rule, baseline: f.Address.Values.Int("baseline"), places: map[string]int{}}
	l.placed = place(keysOf(f.Address.Values.Text("keys")), rule, l.partitions(), l.baseline)
	l.short = shortNames(l.placed)
	for i, k := range l.placed {
		l.places[k.key] = i
	}
	l.readers = make([]*reader, l.partitions())
	for _, m := range f.View.Groups[0].Members {
		for _, a := range m.Assignment {
			l.readers[a.Partition] = &reader{member: m, position: a.Position, lag: a.Lag}
		}
	}
	l.findFresh()
	if selected := int(f.Address.At.Partition.Partition); f.Address.At.Partition.Topic == topic && selected < l.partitions() {
		l.first = selected - selected%stripsShown
	}
	return l
}

func (l *layout) partitions() int { return len(l.View.Partitions) }

// findFresh finds what was written in the tick shown.
func (l *layout) findFresh() {
	l.fresh = make([]kafka.Offset, l.partitions())
	for i, p := range l.View.Partitions {
		l.fresh[i] = p.Log.LogEndOffset
	}
	j := l.Cluster.Journal()
	for e := range j.Backward() {
		if int(e.Tick) != l.Address.T {
			return
		}
		if b, ok := e.Body.(journal.BatchAppended); ok {
			l.fresh[b.TopicPartition.Partition] = b.BaseOffset
		}
	}
}

// stored is a record as it stands in a segment.
type stored struct {
	record.Record
	batchStart   bool
	segmentStart bool
}

// window reads the records with offsets from first, up to count of them, out of a partition's segments.
func window(p engine.PartitionView, first kafka.Offset, count int) []stored {
	var list []stored
	for _, segment := range p.Log.Segments {
		if segment.LastOffset < first {
			continue
		}
		data := segment.Bytes
		for len(list) < count {
			b, err := record.Parse(data)
			if errors.Is(err, record.ErrEnd) {
				break
			}
			if err != nil {
				panic(fmt.Sprintf("%s, segment %d: %v", p.TopicPartition, segment.BaseOffset, err))
			}
			data = data[b.Size():]
			if b.LastOffset() < first {
				continue
			}
			for scanner := b.Scan(); scanner.Next() && len(list) < count; {
				if r := scanner.Record(); r.Offset >= first {
					starts := r.Offset == b.BaseOffset
					list = append(list, stored{r, starts, starts && b.BaseOffset == segment.FirstOffset})
				}
			}
		}
	}
	return list
}

// memberNames lists members: "c4, c5".
func memberNames(members []engine.MemberView) string {
	names := ""
	for i, m := range members {
		if i > 0 {
			names += ", "
		}
		names += string(m.ID)
	}
	return names
}
