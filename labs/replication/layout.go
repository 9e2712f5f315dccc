package replication

import (
	"slices"
	"strings"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/labs"
)

// Bounds of what a page draws, so that it stays small with nine brokers and six partitions.
const (
	replicasShown  = 27  // at once; more are shown partition by partition
	replicasBeside = 12  // of each run where two stand beside each other
	cellsShown     = 240 // in all strips
	columnsMost    = 7   // places of a strip
	columnsLeast   = 5
	inboxShown     = 3 // messages on their way to one node
	inboxBeside    = 1 // of them where two runs stand beside each other
)

// layout is a frame with what the parts of the page share.
type layout struct {
	labs.Frame
	report   engine.LedgerReport
	config   engine.ProducerConfig      // the producer's settings that hold
	first    int                        // the first partition drawn
	shown    int                        // partitions drawn
	columns  int                        // places of a strip
	windows  []kafka.Offset             // of each partition: the offset of a strip's first place
	led      [][]labs.StoredRecord      // of each partition drawn: what stands there in the log that clients are served from
	news     map[place]bool             // what was written in this tick; only looked up
	gone     map[at][]byte              // batches cut off in this tick; only looked up
	told     map[slot][]told            // of offsets in sight: what was acknowledged there; only looked up
	promises map[kafka.Partition][]told // what acknowledged has found; only looked up
	lost     map[int]bool               // numbers of lost records; only looked up
	again    map[slot]bool              // places of records that stand more than once; only looked up
}

// at is a partition's replica on a broker.
type at struct {
	broker    kafka.BrokerID
	partition kafka.Partition
}

// slot is an offset of a partition, on whatever broker.
type slot struct {
	partition kafka.Partition
	offset    kafka.Offset
}

// place is an offset in one replica's log.
type place struct {
	at
	offset kafka.Offset
}

// told is a record that was acknowledged at an offset.
type told struct {
	number     int // -1: not yet, its acknowledgement is on its way
	offset     kafka.Offset
	key, value []byte
	tick       kafka.Tick
	event      uint64
}

func newLayout(f labs.Frame) *layout {
	l := &layout{Frame: f, report: f.Cluster.Ledger(), lost: map[int]bool{}, promises: map[kafka.Partition][]told{}, again: map[slot]bool{}}
	config, err := producerConfig(f.Address.Values)
	if err == nil {
		config, err = config.Resolve()
	}
	if err != nil {
		panic(err) // the address was checked
	}
	l.config = config
	l.findNews()
	l.choosePartitions()
	l.findTold()
	for _, e := range l.report.Lost {
		l.lost[e.Record] = true
	}
	for _, e := range l.report.Duplicated {
		for _, offset := range e.Offsets {
			l.again[slot{e.TopicPartition.Partition, offset}] = true
		}
	}
	return l
}

// account is the ledger as labs draw it.
func (l *layout) account() labs.Ledger {
	return labs.Ledger{Frame: l.Frame, Report: l.report, Acks: l.config.Acks}
}

// choosePartitions decides which partitions are drawn, and how much of their logs.
func (l *layout) choosePartitions() {
	n, rf := len(l.View.Partitions), l.Address.Values.Int("rf")
	most := replicasShown
	if l.Beside != nil {
		most = replicasBeside
	}
	l.shown = min(n, max(most/rf, 1))
	if at := l.Address.Shown().Partition; at.Topic == topic && int(at.Partition) < n {
		l.first = int(at.Partition) - int(at.Partition)%l.shown
	}
	l.columns = min(max(cellsShown/(rf*min(l.shown, n-l.first)), columnsLeast), columnsMost)
	if l.Beside != nil {
		l.columns = columnsLeast
	}
	l.windows = make([]kafka.Offset, n)
	l.led = make([][]labs.StoredRecord, n)
	for i, p := range l.View.Partitions {
		l.windows[i] = l.windowOf(i)
		l.led[i] = labs.RecordsFrom(p.Log.Segments, l.windows[i], l.columns)
	}
}

// drawn lists the partitions that are drawn.
func (l *layout) drawn() []engine.PartitionView {
	return l.View.Partitions[l.first:min(l.first+l.shown, len(l.View.Partitions))]
}

// windowOf gives the offset at which the drawn part of a partition's logs begins: where the longest of them ends in
// sight, or else the record in the inspector. All replicas show the same stretch.
func (l *layout) windowOf(i int) kafka.Offset {
	most := kafka.Offset(l.columns)
	end := longest(l.View.Partitions[i])
	if l.Beside != nil && i < len(l.Beside.Partitions) {
		end = max(end, longest(l.Beside.Partitions[i]))
	}
	for where, data := range l.gone {
		if int(where.partition) == i {
			end = max(end, endOf(data))
		}
	}
	first := max(0, end-most+1) // one place stays free for the next record
	shown := l.Address.Shown()
	if shown.Partition == l.View.Partitions[i].TopicPartition && (shown.Kind == labs.RecordTarget || shown.Kind == labs.BatchTarget) {
		if selected := kafka.Offset(shown.Number); selected < first {
			first = max(0, selected-most/2)
		}
	}
	return first
}

// longest is the greatest log end offset of a partition's replicas.
func longest(p engine.PartitionView) kafka.Offset {
	end := kafka.Offset(0)
	for _, r := range p.Replicas {
		end = max(end, r.LogEndOffset)
	}
	return end
}

// endOf gives the offset behind the last of some whole batches.
func endOf(data []byte) kafka.Offset {
	end := kafka.Offset(0)
	for len(data) > 0 {
		b, err := record.Parse(data)
		if err != nil {
			break
		}
		end = b.LastOffset() + 1
		data = data[b.Size():]
	}
	return end
}

// findNews finds what was written and cut off in the tick shown.
func (l *layout) findNews() {
	l.news, l.gone = map[place]bool{}, map[at][]byte{}
	j := l.Cluster.Journal()
	for e := range j.Of(l.tick()) {
		id, isBroker := l.brokerOf(e.Node)
		if !isBroker {
			continue
		}
		note := func(b journal.BatchAppended) {
			for offset := b.BaseOffset; offset <= b.LastOffset; offset++ {
				l.news[place{at{id, b.TopicPartition.Partition}, offset}] = true
			}
		}
		switch b := e.Body.(type) {
		case journal.BatchAppended:
			note(b)
		case journal.BatchReplicated:
			note(journal.BatchAppended(b))
		case journal.LogTruncated:
			l.gone[at{id, b.TopicPartition.Partition}] = b.Gone
		}
	}
}

func (l *layout) tick() kafka.Tick { return kafka.Tick(l.Address.T) }

// brokerOf gives the broker of a node.
func (l *layout) brokerOf(node kafka.NodeID) (kafka.BrokerID, bool) {
	for _, b := range l.View.Brokers {
		if b.Node == node {
			return b.ID, true
		}
	}
	return 0, false
}

// findTold finds what was acknowledged at the offsets in sight.
func (l *layout) findTold() {
	l.told = map[slot][]told{}
	source := l.Cluster.Source()
	for _, o := range source.Outcomes().From(0) {
		if o.Kind != engine.Acknowledged || o.Offset < 0 {
			continue
		}
		h := source.Handed().At(o.Record)
		p := h.TopicPartition.Partition
		if o.Offset >= l.windows[p] && o.Offset < l.windows[p]+kafka.Offset(l.columns) {
			s := slot{p, o.Offset}
			l.told[s] = append(l.told[s], told{o.Record, o.Offset, h.Key, h.Value, o.Tick, o.Event})
		}
	}
}

// acknowledgedAt gives the record that was acknowledged at an offset and is this one.
func (l *layout) acknowledgedAt(p kafka.Partition, r labs.StoredRecord) (told, bool) {
	for _, t := range l.told[slot{p, r.Offset}] {
		if string(t.key) == string(r.Key) && string(t.value) == string(r.Value) {
			return t, true
		}
	}
	return told{}, false
}

// eventWord begins the value of a record that the producer made up.
const eventWord = "event "

// shortName is a record's name in a cell: the number of its event, or else what its value or key begins with.
func shortName(r record.Record) string {
	text := string(r.Value)
	if text == "" {
		text = string(r.Key)
	}
	return labs.Narrow(strings.TrimPrefix(text, eventWord), 4)
}

// broker gives a broker by its id.
func (l *layout) broker(id kafka.BrokerID) engine.BrokerView { return l.View.Brokers[id-1] }

// replicaOn gives the replica of a partition on a broker.
func replicaOn(p engine.PartitionView, id kafka.BrokerID) (engine.ReplicaView, bool) {
	at := slices.IndexFunc(p.Replicas, func(r engine.ReplicaView) bool { return r.Broker == id })
	if at < 0 {
		return engine.ReplicaView{}, false
	}
	return p.Replicas[at], true
}
