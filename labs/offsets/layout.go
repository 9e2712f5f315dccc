package offsets

import (
	"cmp"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine"
	"loglab/engine/group"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs"
)

// Bounds of what a page draws, so that it stays small with twelve partitions and two groups of sixteen.
const (
	stripsShown   = 6
	columnsShown  = 12
	membersShown  = 9 // of all groups together
	stripsBeside  = 4 // of each run where two stand beside each other
	columnsBeside = 9
	membersBeside = 6
	inboxShown    = 2 // messages on their way to one consumer
)

// layout is a frame with what the parts of the page share.
type layout struct {
	labs.Frame
	groups  []*groupState  // billing, and audit where there is one
	first   int            // the first partition drawn
	shown   int            // partitions drawn at most
	columns int            // places of a strip
	members int            // consumers drawn at most
	ahead   int            // consumers for whose crash the page has looked ahead
	written []kafka.Offset // by partition: the first offset that was written in this tick
}

// groupState is one group at the tick shown.
type groupState struct {
	engine.GroupView
	reset   string // auto.offset.reset
	parts   []part // by partition
	history history
	blind   bool // nobody coordinates it now, so that what it has committed cannot be asked
}

// part is how far a group is in one partition.
type part struct {
	engine.OffsetView
	owner    *engine.MemberView // who reads it; nil: nobody
	coming   kafka.Offset       // what is committed once the commits on their way have arrived; -1: nothing
	fates    engine.FatesView   // what became of each record in this group
	inHand   []kafka.Offset     // records that poll has returned to the owner and that are not done, sorted
	strays   []stray            // records that others still have in hand, who read the partition before
	blind    bool               // what is committed cannot be asked now
	stored   kafka.Offset       // by a sink that stores offsets: where consumers begin; -1: nothing
	begins   kafka.Offset       // where whoever takes over would begin; see foresee
	foreseen bool               // begins is known
	atLeast  bool               // it would begin there or later: at the end of the log then
	outside  bool               // the log does not have what is committed, so auto.offset.reset decides
	again    int                // records that would then be processed again
	lost     int                // records that nobody would process, and that are not lost as it is
	standing standing
	unread   bool // nobody serves the log now
}

// stray is a record in the hands of a consumer that does not read its partition for the group any more.
type stray struct {
	offset kafka.Offset
	node   kafka.NodeID
}

func newLayout(f labs.Frame) *layout {
	l := &layout{Frame: f, shown: stripsShown, columns: columnsShown, members: membersShown}
	if f.Beside != nil {
		l.shown, l.columns, l.members = stripsBeside, columnsBeside, membersBeside
	}
	if len(f.View.Groups) > 1 { // each strip has the marks of both
		l.shown -= 2
	}
	n := l.partitions()
	if at := f.Address.Shown().Partition; at.Topic == topic && int(at.Partition) < n {
		l.first = int(at.Partition) - int(at.Partition)%l.shown
	}
	for _, g := range f.View.Groups {
		l.groups = append(l.groups, l.newGroup(g))
	}
	l.written = make([]kafka.Offset, n)
	for i, p := range l.orders() {
		l.written[i] = p.Log.LogEndOffset
	}
	if f.Address.T > 0 { // all of the set-up belongs to tick 0
		l.findWritten()
	}
	return l
}

// orders lists the partitions of the topic.
func (l *layout) orders() []engine.PartitionView { return ordersOf(l.View) }

// ordersOf lists the partitions of the topic in a view, which has those of the dead letters after them.
func ordersOf(v engine.View) []engine.PartitionView {
	at := slices.IndexFunc(v.Partitions, func(p engine.PartitionView) bool { return p.TopicPartition.Topic != topic })
	if at < 0 {
		return v.Partitions
	}
	return v.Partitions[:at]
}

func (l *layout) partitions() int { return len(l.orders()) }

// drawn gives the range of partitions that are drawn.
func (l *layout) drawn() (from, to int) { return l.first, min(l.first+l.shown, l.partitions()) }

func (l *layout) tick() kafka.Tick { return kafka.Tick(l.Address.T) }

func (l *layout) findWritten() {
	for e := range l.Cluster.Journal().Of(l.tick()) {
		if b, ok := e.Body.(journal.BatchAppended); ok && b.TopicPartition.Topic == topic {
			l.written[b.TopicPartition.Partition] = min(l.written[b.TopicPartition.Partition], b.BaseOffset)
		}
	}
}

// newGroup works out how far a group is.
func (l *layout) newGroup(v engine.GroupView) *groupState {
	setting := "reset"
	if v.ID == audit {
		setting = "audit-reset"
	}
	g := &groupState{GroupView: v, reset: l.Address.Values.Text(setting), history: l.historyOf(v)}
	g.blind = g.Coordinator == "" && len(l.View.Offsets) > 0
	for _, p := range l.orders() {
		g.parts = append(g.parts, l.newPart(g, p))
	}
	return g
}

func (l *layout) newPart(g *groupState, p engine.PartitionView) part {
	at := part{
		OffsetView: engine.OffsetView{
			TopicPartition: p.TopicPartition, Committed: kafka.NoOffset, Position: kafka.NoOffset,
			LogStartOffset: p.Log.LogStartOffset, HighWatermark: p.Log.HighWatermark, LogEndOffset: p.Log.LogEndOffset,
			Lag: int64(p.Log.HighWatermark - p.Log.LogStartOffset), RecordsLag: -1,
		},
		stored: kafka.NoOffset, unread: unread(p), blind: g.blind,
	}
	for _, o := range g.Offsets {
		if o.TopicPartition == p.TopicPartition {
			at.OffsetView = o
		}
	}
	for _, fates := range g.Sink.Fates {
		if fates.TopicPartition == p.TopicPartition {
			at.fates = fates
		}
	}
	at.coming = at.Committed
	g.findReader(&at)
	l.addComing(g, &at)
	if g.Sink.Kind == engine.SinkOffsets {
		for o := kafka.Offset(0); o < at.fates.End(); o++ {
			if at.fates.At(o).Applied > 0 {
				at.stored = o + 1
			}
		}
	}
	at.standing = standing{
		fates: at.fates.At, first: g.history.firsts[p.Partition], start: at.LogStartOffset, end: at.HighWatermark,
		committed: at.Committed, stored: at.stored, position: at.Position, held: at.inHand,
	}
	for _, s := range at.strays {
		at.standing.strays = append(at.standing.strays, s.offset)
	}
	g.foresee(&at)
	return at
}

// findReader finds who reads a partition for the group, and what the consumers have in hand of it. Several may have it
// as theirs: one that was removed from the group and does not know it reads on, but not for the group.
func (g *groupState) findReader(at *part) {
	at.owner, at.Owner, at.Position, at.RecordsLag = nil, "", kafka.NoOffset, -1
	best := 0
	for i := range g.Members {
		m := &g.Members[i]
		rank := g.rank(m)
		for _, a := range m.Assignment {
			if a.TopicPartition == at.TopicPartition && rank > 0 && rank >= best {
				best, at.owner, at.Owner, at.Position, at.RecordsLag = rank, m, kafka.NodeID(m.ID), a.Position, -1
				if a.Position >= 0 {
					at.RecordsLag = int64(a.End - a.Position)
				}
			}
		}
	}
	for i := range g.Members {
		m := &g.Members[i]
		for _, o := range handOf(m, at.TopicPartition) {
			if m == at.owner {
				at.inHand = append(at.inHand, o)
			} else if m.Alive {
				at.strays = append(at.strays, stray{o, kafka.NodeID(m.ID)})
			}
		}
	}
	slices.Sort(at.inHand)
	slices.SortStableFunc(at.strays, func(a, b stray) int { return cmp.Compare(a.offset, b.offset) })
}

// rank says how much a consumer's word counts for who reads a partition: that of a member of the current generation most,
// then that of a member; 0: nothing. Where the coordinator cannot be asked or knows of no group, the latest generation counts.
func (g *groupState) rank(m *engine.MemberView) int {
	switch {
	case !m.Alive:
		return 0
	case g.Held == nil:
		return 1 + max(int(m.Generation), 0)
	case g.counts(m):
		return 2
	case g.knows(m):
		return 1
	}
	return 0
}

// handOf lists what a consumer has in hand of a partition.
func handOf(m *engine.MemberView, tp kafka.TopicPartition) (list []kafka.Offset) {
	for _, b := range m.Busy {
		if b.TopicPartition == tp {
			list = append(list, b.Offset)
		}
	}
	for _, q := range m.Queue {
		if q.TopicPartition == tp {
			list = append(list, q.Offset)
		}
	}
	return list
}

// unread says whether nobody serves a log now: the partition has no leader, or its leader does not run.
func unread(p engine.PartitionView) bool {
	return !slices.ContainsFunc(p.Replicas, func(r engine.ReplicaView) bool { return r.Broker == p.Leader && r.Online })
}

// addComing adds the commits on their way that the coordinator will still take: those of its members, and what a
// process sent before it ended. What waits before a link that is cut is lost with the process that sent it.
func (l *layout) addComing(g *groupState, at *part) {
	for i := range g.Members {
		m := &g.Members[i]
		if !g.counts(m) || l.IsCut(kafka.NodeID(m.ID), g.Coordinator) {
			continue
		}
		for _, c := range m.Committing {
			if c.TopicPartition == at.TopicPartition {
				at.coming = c.Next
			}
		}
	}
	for request, m := range labs.Requests[*kmsg.OffsetCommitRequest](l.Frame) {
		if request.Group != g.ID || l.IsCut(m.From, m.To) || !g.has(kafka.MemberID(request.MemberID), kafka.GenerationID(request.Generation)) {
			continue
		}
		for _, t := range request.Topics {
			for _, c := range t.Partitions {
				if (kafka.TopicPartition{Topic: t.Topic, Partition: kafka.Partition(c.Partition)}) == at.TopicPartition {
					at.coming = kafka.Offset(c.Offset)
				}
			}
		}
	}
}

// knows says whether the coordinator has a consumer as a member, whatever generation that believes in.
func (g *groupState) knows(m *engine.MemberView) bool {
	id := m.MemberView.MemberID
	return g.Held != nil && id != "" && slices.ContainsFunc(g.Held.Members, func(held group.MemberView) bool { return held.ID == id })
}

// counts says whether the coordinator has a consumer as a member, in the generation that it believes in.
func (g *groupState) counts(m *engine.MemberView) bool {
	return m.Alive && g.has(m.MemberView.MemberID, m.Generation)
}

// has says whether the coordinator has a member of that id in that generation.
func (g *groupState) has(id kafka.MemberID, generation kafka.GenerationID) bool {
	return g.Held != nil && generation == g.Held.Generation && slices.ContainsFunc(g.Held.Members, func(m group.MemberView) bool { return m.ID == id })
}
