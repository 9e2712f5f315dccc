package offsets

import (
	"slices"
	"strings"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/engine/group"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs"
)

// history is what the journal says of a group's past.
type history struct {
	firsts  []kafka.Offset // by partition: the first offset that the group has begun to read at, at the least; -1: none
	crashes []crash        // oldest first
	refused []refusal      // commits that failed, oldest first; of a consumer whose later commit was taken, none
	failed  []failure      // consumers whose application has ended with an error
	growth  []int64        // by partition: how much the lag has grown over the last growthTicks ticks
	replays []task         // replays and resets under way, oldest first
	joined  bool           // it has had members
	closed  []closing      // consumers that were closed, and not started again since
	asked   []kafka.NodeID // by partition: who was last told that nothing is committed; empty: the last was told an offset
}

// task is a command for the offsets of a group that is not through.
type task struct {
	command string
	tick    kafka.Tick
}

// crash is the end of a consumer's process that its group was not told of.
type crash struct {
	node   kafka.NodeID
	tick   kafka.Tick
	at     string // the armed point; empty: at the end of a tick
	parts  []crashPart
	fenced bool       // others read by then what it took for its own
	back   kafka.Tick // when it was started again; -1: it was not
}

// crashPart is what a crash meant for one partition.
type crashPart struct {
	kafka.TopicPartition
	standing               // then; its end moves to where the heir begins
	processed kafka.Offset // after the last record that the process had processed; -1: it had processed none
	others    kafka.Offset // after the last record that anybody in the group had processed; -1: none
	heir      kafka.NodeID // who reads it next; empty: nobody yet
	heirTick  kafka.Tick
	begins    kafka.Offset // where; -1: it does not know yet
}

// closing is the end of a consumer that was closed in order.
type closing struct {
	node kafka.NodeID
	tick kafka.Tick
}

// failure is the end of an application with an error.
type failure struct {
	node  kafka.NodeID
	error string
	event uint64
}

// growthTicks is how far back growth of the lag is looked at.
const growthTicks kafka.Tick = 5

// growthSpan is how far back growth is looked at now: at most to tick 0.
func (l *layout) growthSpan() kafka.Tick { return min(growthTicks, l.tick()) }

// growthText writes that span, with the waits by command that lie in it and are part of no tick.
func (l *layout) growthText() string {
	text := kafka.Count(int(l.growthSpan()), "tick")
	waited := kafka.Millis(0)
	for _, do := range l.Address.Do {
		if w, is := do.Command.(command.Wait); is && do.Tick <= l.Address.T && do.Tick > l.Address.T-int(l.growthSpan()) {
			waited += w.Span
		}
	}
	if waited > 0 {
		text += " and the " + labs.Span(waited) + " waited in them"
	}
	return text
}

// place is one record.
type place struct {
	kafka.TopicPartition
	offset kafka.Offset
}

// reader follows one consumer through the journal.
type reader struct {
	node      kafka.NodeID
	owns      []kafka.TopicPartition
	took      uint64         // the event by which it took them
	sent      uint64         // the last commit that it has sent; 0: none
	hand      []place        // records that poll has returned to it and that are not done, in the order of poll
	processed []kafka.Offset // by partition, of this process: after the last record; -1: none
	position  []kafka.Offset // by partition; -1: none
}

// historian reads the journal once.
type historian struct {
	history
	group     string
	workers   int  // threads of each consumer; of those without, the poll loop
	offsets   bool // the sink stores offsets
	readers   []reader
	fates     [][]engine.RecordFate // by partition and offset; only what is looked at here
	committed []kafka.Offset        // by partition
	stored    []kafka.Offset
	watermark []kafka.Offset
	start     []kafka.Offset       // of the logs
	commits   []commit             // by partition: the last
	loaded    []bool               // by partition: a coordinator has read the group from its log, and what it has found has not been seen yet
	loadedAt  int                  // crashes that there were then
	log       kafka.TopicPartition // of __consumer_offsets, where the group lives
	loads     []kafka.NodeID       // brokers that lead it and have not read it yet
	lagThen   []lagThen            // by partition; nil: not yet
	then      kafka.Tick           // the tick whose lag is compared
}

func (l *layout) historyOf(v engine.GroupView) history { return l.readHistory(v).history }

// readHistory follows a group through the journal.
func (l *layout) readHistory(v engine.GroupView) *historian {
	n := l.partitions()
	nothing := func() []kafka.Offset { return slices.Repeat([]kafka.Offset{kafka.NoOffset}, n) }
	h := &historian{group: v.ID, then: l.tick() - l.growthSpan(), workers: max(l.Address.Values.Int("threads"), 1), offsets: v.Sink.Kind == engine.SinkOffsets}
	h.firsts, h.committed, h.stored = nothing(), nothing(), nothing()
	h.watermark, h.fates = make([]kafka.Offset, n), make([][]engine.RecordFate, n)
	h.start, h.commits, h.loaded, h.asked = make([]kafka.Offset, n), make([]commit, n), make([]bool, n), make([]kafka.NodeID, n)
	h.log = kafka.TopicPartition{Topic: group.Topic, Partition: v.OffsetsPartition}
	for _, m := range v.Members {
		h.readers = append(h.readers, reader{node: kafka.NodeID(m.ID), processed: nothing(), position: nothing()})
	}
	for e := range l.Cluster.Journal().All() {
		if e.Tick > h.then && h.lagThen == nil {
			h.lagThen = h.lags()
		}
		h.read(e)
	}
	if h.lagThen == nil { // nothing has happened since
		h.lagThen = h.lags()
	}
	if v.Coordinator != "" {
		h.settle(v)
	}
	for p, now := range h.lags() {
		h.growth = append(h.growth, now.lag()-h.lagThen[p].lag())
	}
	return h
}

// lags gives what the lag of each partition is worked out from.
func (h *historian) lags() []lagThen {
	list := make([]lagThen, len(h.committed))
	for p := range list {
		list[p] = lagThen{h.committed[p], h.watermark[p], h.start[p], h.loaded[p]}
	}
	return list
}

// reader gives the consumer of the group at a node; nil: there is none.
func (h *historian) reader(node kafka.NodeID) *reader {
	for i := range h.readers {
		if h.readers[i].node == node {
			return &h.readers[i]
		}
	}
	return nil
}

// read takes in one event.
func (h *historian) read(e journal.Event) {
	switch b := e.Body.(type) {
	case journal.HighWatermarkAdvanced:
		if b.TopicPartition.Topic == topic {
			h.watermark[b.TopicPartition.Partition] = b.To
		}
	case journal.LogStartOffsetMoved:
		if b.TopicPartition.Topic == topic && b.Leader {
			h.start[b.TopicPartition.Partition] = b.To
		}
	case journal.OffsetsReset:
		if b.Group == h.group {
			h.through()
		}
	case journal.ResetRefused:
		if b.Group == h.group {
			h.through()
		}
	case journal.RequestFailed:
		if b.API == "reset of group "+h.group {
			h.through()
		}
	case journal.CommandRejected:
		if last := len(h.replays) - 1; last >= 0 && h.replays[last].command == b.Command {
			h.replays = h.replays[:last]
		}
	case journal.CommandGiven:
		h.given(b.Command, e.Tick)
	}
	h.coordinate(e)
	if r := h.reader(e.Node); r != nil {
		h.follow(r, e)
	}
}

// through notes that the oldest replay or reset is through.
func (h *historian) through() {
	if len(h.replays) > 0 {
		h.replays = h.replays[1:]
	}
}

// follow takes in one event of a consumer.
func (h *historian) follow(r *reader, e journal.Event) {
	switch b := e.Body.(type) {
	case journal.PartitionsTaken:
		r.owns, r.took = b.Partitions, e.Seq
	case journal.CommitSent:
		r.sent = e.Seq
	case journal.PartitionsRevoked:
		h.giveUp(r, b.Partitions)
	case journal.PartitionsLost:
		h.giveUp(r, b.Partitions)
	case journal.ConsumerCrashed:
		h.crashed(r, e, b.At)
	case journal.ProcessKilled:
		h.crashed(r, e, "")
	case journal.ConsumerClosed:
		r.end()
		h.closed = append(h.closed, closing{r.node, e.Tick})
	case journal.PositionCommitted:
		if b.TopicPartition.Topic == topic {
			h.told(r, b.TopicPartition.Partition, b.Offset)
		}
		h.begin(r, e, b.TopicPartition, b.Offset)
	case journal.PositionReset:
		if b.From >= 0 {
			h.correct(r, e.Tick, b)
		}
		h.begin(r, e, b.TopicPartition, b.To)
	case journal.PositionMoved:
		h.moved(r, e, b)
	case journal.CommitFailed:
		h.refuse(r, e, b)
	case journal.CommitAccepted:
		h.refused = slices.DeleteFunc(h.refused, func(r refusal) bool { return r.node == e.Node })
	case journal.ConsumerFailed:
		h.failed = append(h.failed, failure{e.Node, b.Error, e.Seq})
	default:
		h.worked(r, e.Body)
	}
}

// worked takes in what an application did with records.
func (h *historian) worked(r *reader, body journal.Body) {
	switch b := body.(type) {
	case journal.RecordsRead:
		if b.TopicPartition.Topic != topic {
			return
		}
		r.position[b.TopicPartition.Partition] = b.To
		for o := b.To - kafka.Offset(b.Records); o < b.To; o++ {
			r.hand = append(r.hand, place{b.TopicPartition, o})
		}
	case journal.RecordProcessed:
		if b.TopicPartition.Topic != topic {
			return
		}
		p := b.TopicPartition.Partition
		r.processed[p] = max(r.processed[p], b.Offset+1)
		r.drop(b.TopicPartition, b.Offset)
		fate := h.fate(p, b.Offset)
		fate.Processed++
		if b.Offset >= h.stored[p] {
			fate.Applied++
			if h.offsets {
				h.stored[p] = b.Offset + 1
			}
		}
	case journal.ProcessingFailed:
		switch {
		case strings.HasSuffix(b.Then, "it is skipped"):
			r.drop(b.TopicPartition, b.Offset)
			h.fate(b.TopicPartition.Partition, b.Offset).GivenUp++
		case strings.Contains(b.Then, "dead-letter"):
			r.drop(b.TopicPartition, b.Offset)
		}
	case journal.DeadLetterSent:
		h.fate(b.TopicPartition.Partition, b.Offset).GivenUp++
	}
}

// fate gives what is known of a record, to be changed.
func (h *historian) fate(p kafka.Partition, o kafka.Offset) *engine.RecordFate {
	for int(o) >= len(h.fates[p]) {
		h.fates[p] = append(h.fates[p], engine.RecordFate{})
	}
	return &h.fates[p][o]
}

// drop notes that a record is in the reader's hands no more.
func (r *reader) drop(tp kafka.TopicPartition, o kafka.Offset) {
	if at := slices.Index(r.hand, place{tp, o}); at >= 0 {
		r.hand = slices.Delete(r.hand, at, at+1)
	}
}

// end notes that a process has ended.
func (r *reader) end() {
	r.owns, r.hand = nil, nil
	for p := range r.processed {
		r.processed[p], r.position[p] = kafka.NoOffset, kafka.NoOffset
	}
}

// forget drops what waits to be processed of a partition. What is being processed already, which is what came first,
// goes on.
func (h *historian) forget(r *reader, tp kafka.TopicPartition) {
	var kept []place
	for i, p := range r.hand {
		if i < h.workers || p.TopicPartition != tp {
			kept = append(kept, p)
		}
	}
	r.hand = kept
}

// moved notes a seek: of the application for a sink, of the one that goes back to a failing record, or by command.
func (h *historian) moved(r *reader, e journal.Event, b journal.PositionMoved) {
	switch {
	case b.TopicPartition.Topic != topic:
	case b.From < 0 && b.Why != seekByCommand: // where a sink says
		h.begin(r, e, b.TopicPartition, b.To)
	case b.Why == seekByCommand:
		h.forget(r, b.TopicPartition)
	default:
		r.hand = nil
	}
	r.position[b.TopicPartition.Partition] = b.To
}

// seekByCommand is why a position moved that somebody has moved by hand.
const seekByCommand = "you asked for it"

// given takes in a command: a process that had crashed is started again, the offsets of a group are to be set.
func (h *historian) given(cmd string, tick kafka.Tick) {
	if strings.HasPrefix(cmd, "replay "+h.group+" ") || strings.HasPrefix(cmd, "reset "+h.group+" ") {
		h.replays = append(h.replays, task{cmd, tick})
	}
	h.closed = slices.DeleteFunc(h.closed, func(c closing) bool { return cmd == (command.Start{Node: c.node}).String() })
	for i := range h.crashes {
		if c := &h.crashes[i]; c.back < 0 && cmd == (command.Start{Node: c.node}).String() {
			c.back = tick
		}
	}
}

// giveUp notes that a consumer does not read partitions any more.
func (h *historian) giveUp(r *reader, list []kafka.TopicPartition) {
	r.owns = slices.DeleteFunc(slices.Clone(r.owns), func(tp kafka.TopicPartition) bool { return slices.Contains(list, tp) })
	for _, tp := range list {
		if tp.Topic == topic {
			h.forget(r, tp)
			r.position[tp.Partition] = kafka.NoOffset
		}
	}
}

// standingOf is how far the group is in a partition now, as its reader has it.
func (h *historian) standingOf(r *reader, p kafka.Partition) standing {
	fates := slices.Clone(h.fates[p])
	s := standing{
		first: h.firsts[p], start: h.start[p], end: h.watermark[p], committed: h.committed[p], stored: h.stored[p], position: kafka.NoOffset,
		fates: func(o kafka.Offset) (fate engine.RecordFate) {
			if o >= 0 && int(o) < len(fates) {
				fate = fates[o]
			}
			return fate
		},
	}
	for i := range h.readers {
		for _, at := range h.readers[i].hand {
			switch {
			case at.Partition != p:
			case &h.readers[i] == r:
				s.held = append(s.held, at.offset)
			default:
				s.strays = append(s.strays, at.offset)
			}
		}
	}
	slices.Sort(s.held)
	slices.Sort(s.strays)
	if r != nil {
		s.position = r.position[p]
	}
	return s
}

// crashed notes what a process leaves behind.
func (h *historian) crashed(r *reader, e journal.Event, at string) {
	c := crash{node: r.node, tick: e.Tick, at: at, back: -1}
	for _, tp := range r.owns {
		if slices.ContainsFunc(h.readers, func(other reader) bool {
			return other.node != r.node && other.took > r.took && slices.Contains(other.owns, tp)
		}) {
			c.fenced = true
			continue
		}
		p := crashPart{TopicPartition: tp, standing: h.standingOf(r, tp.Partition), processed: r.processed[tp.Partition], others: kafka.NoOffset, begins: kafka.NoOffset}
		for o, fate := range h.fates[tp.Partition] {
			if fate.Processed > 0 {
				p.others = kafka.Offset(o) + 1
			}
		}
		c.parts = append(c.parts, p)
	}
	r.end()
	h.crashes = append(h.crashes, c)
}

// begin notes where a consumer begins to read a partition; -1: auto.offset.reset decides.
func (h *historian) begin(r *reader, e journal.Event, tp kafka.TopicPartition, at kafka.Offset) {
	if tp.Topic != topic || at < 0 {
		return
	}
	r.position[tp.Partition] = at
	if first := &h.firsts[tp.Partition]; *first < 0 || at < *first {
		*first = at
	}
	for i := range h.crashes {
		for j := range h.crashes[i].parts {
			if p := &h.crashes[i].parts[j]; p.TopicPartition == tp && p.begins < 0 {
				p.heir, p.heirTick, p.begins = r.node, e.Tick, at
				p.end = max(p.end, min(at, h.watermark[tp.Partition]))
			}
		}
	}
}

// correct notes that the log had nothing where a consumer began, and where and when it begins instead.
func (h *historian) correct(r *reader, tick kafka.Tick, b journal.PositionReset) {
	if b.TopicPartition.Topic != topic {
		return
	}
	for i := range h.crashes {
		for j := range h.crashes[i].parts {
			if p := &h.crashes[i].parts[j]; p.TopicPartition == b.TopicPartition && p.heir == r.node && p.begins == b.From {
				p.heirTick, p.begins = tick, b.To
				p.end = max(p.end, min(b.To, h.watermark[b.TopicPartition.Partition]))
			}
		}
	}
}
