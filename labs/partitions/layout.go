package partitions

import (
	"fmt"
	"strings"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/partitioner"
	"loglab/labs"
)

// Bounds of what a page draws, so that it stays small with 64 partitions and 1,000 keys.
const (
	stripsShown  = 10
	columnsShown = 16
	keysShown    = 60 // in the table, over all partitions shown

	// Of each run where two stand beside each other.
	stripsBeside  = 6
	columnsBeside = 10
	keysBeside    = 24
	membersBeside = 12
)

// layout is a frame with what the parts of the page share.
type layout struct {
	labs.Frame
	senders   []sender // p0, and p1 where there are two
	baseline  int
	placed    []placedKey       // the different keys of the workload, in the order they are sent first
	short     map[string]string // key → its name in a cell; only looked up
	places    map[string]int    // key → its index in placed; only looked up
	readers   []*reader         // by partition; nil: nobody reads it
	news      []news            // by partition
	past      []past            // by partition
	dropped   int               // records that were in a producer’s memory, without an acknowledgement, when its process ended
	rewritten bool              // a producer sent a batch again, or a link doubled a request of one: it can stand in the log twice, behind later ones
	late      map[place]string  // what a record's part in an event that was seen late is; only looked up
	lateKeys  map[string]bool   // keys whose entities have late events; only looked up
	first     int               // the first partition drawn
	strips    int               // drawn at most
	columns   int               // places of a strip
	keys      int               // in the table
}

// place is where a record stands.
type place struct {
	kafka.TopicPartition
	kafka.Offset
}

// reader is who reads a partition, and how far.
type reader struct {
	member   engine.MemberView
	position kafka.Offset
	lag      int64
}

// news is what the tick shown brought to a partition.
type news struct {
	from     kafka.Offset // the first offset that was written in it
	appended uint64       // Seq of the last event that wrote; 0: none
	lag      uint64       // Seq of the last event that changed how much is to be read; 0: none
}

func newLayout(f labs.Frame) *layout {
	l := &layout{Frame: f, baseline: f.Address.Values.Int("baseline"), places: map[string]int{}, strips: stripsShown, columns: columnsShown, keys: keysShown}
	if f.Beside != nil {
		l.strips, l.columns, l.keys = stripsBeside, columnsBeside, keysBeside
	}
	for i, name := range partitioners(f.Address.Values) {
		rule, err := partitioner.ByName(name)
		if err != nil {
			panic(err) // the address was checked
		}
		producer := f.View.Producers[i]
		if producer.Known == 0 { // its process is gone or has just begun: it will learn of all
			producer.Known = len(f.View.Partitions)
		}
		l.senders = append(l.senders, sender{producer, rule})
	}
	l.placed = placeKeys(workload(f.Address.Values).Keys(), l.senders, l.baseline)
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
	l.findNews()
	l.findPast()
	l.findLate()
	if at := f.Address.Shown().Partition; at.Topic == topic && int(at.Partition) < l.partitions() {
		l.first = int(at.Partition) - int(at.Partition)%l.strips
	}
	return l
}

func (l *layout) partitions() int { return len(l.View.Partitions) }

// rule is the first producer's, known how many partitions that divides its keys among.
func (l *layout) rule() partitioner.Partitioner { return l.senders[0].rule }
func (l *layout) known() int                    { return l.senders[0].Known }

// keyCounts gives how many keys the first producer puts into each partition.
func (l *layout) keyCounts() []int {
	counts := make([]int, l.partitions())
	for _, k := range l.placed {
		if k.keyed {
			counts[k.now]++
		}
	}
	return counts
}

// setting gives the text of a setting.
func (l *layout) setting(name string) string { return l.Address.Values.Text(name) }

// findNews finds what the tick shown brought.
func (l *layout) findNews() {
	l.news = make([]news, l.partitions())
	for i, p := range l.View.Partitions {
		l.news[i].from = p.Log.LogEndOffset
	}
	first := func(seq *uint64, e journal.Event) { // the journal is walked backward
		if *seq == 0 {
			*seq = e.Seq
		}
	}
	j := l.Cluster.Journal()
	for e := range j.Backward() {
		if int(e.Tick) != l.Address.T {
			return
		}
		switch b := e.Body.(type) {
		case journal.BatchAppended:
			n := &l.news[b.TopicPartition.Partition]
			n.from = b.BaseOffset
			first(&n.appended, e)
		case journal.HighWatermarkAdvanced:
			first(&l.news[b.TopicPartition.Partition].lag, e)
		case journal.RecordsRead:
			first(&l.news[b.TopicPartition.Partition].lag, e)
		}
	}
}

// findLate names the records of events that were seen late, and of those that were seen before them.
func (l *layout) findLate() {
	l.late, l.lateKeys = map[place]string{}, map[string]bool{}
	for _, late := range l.View.Destination.FirstLate {
		l.lateKeys[late.Entity] = true
		l.late[place{late.Newer.At, late.Newer.Offset}] = fmt.Sprintf("event %d, seen in tick %d, before event %d", late.Newer.Version, late.Newer.Tick, late.Event.Version)
		l.late[place{late.Event.At, late.Event.Offset}] = fmt.Sprintf("event %d, seen late in tick %d, after event %d", late.Event.Version, late.Event.Tick, late.Newer.Version)
	}
}

// memberNames lists members: "c4, c5".
func memberNames(members []engine.MemberView) string {
	var names []string
	for _, m := range members {
		names = append(names, string(m.ID))
	}
	return strings.Join(names, ", ")
}
