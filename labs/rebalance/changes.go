package rebalance

import (
	"maps"
	"slices"

	"loglab/engine/assignor"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// change is the way of the group from one assignment to the next: one rebalance, or with a cooperative assignor the two
// or more that it takes until all partitions are given out.
type change struct {
	from    kafka.Tick
	event   uint64 // that began it
	why     string
	to      kafka.Tick // the tick in which the last assignment came into force; -1: it goes on
	rounds  []round
	before  map[kafka.TopicPartition]int // who had what
	after   map[kafka.TopicPartition]int // by the last assignment worked out so far
	emptied bool                         // it ended with no member left
	broken  bool                         // it ended as the coordinator did
}

// round is one rebalance of a group.
type round struct {
	from       kafka.Tick // the join phase begins
	joined     kafka.Tick // it ends and the sync phase begins; -1: it goes on
	stable     kafka.Tick // the assignment is in force; -1: not yet
	generation kafka.GenerationID
	computed   *journal.AssignmentComputed // nil: not yet
	event      uint64                      // of computed
	joins      map[kafka.MemberID]claim    // what the members told when they joined
}

// claim is what a member told of itself when it joined.
type claim struct {
	owned      []kafka.TopicPartition
	generation kafka.GenerationID
	kept       []kafka.TopicPartition // what it was last given, which the sticky assignor looks at
	keptIn     kafka.GenerationID
}

// open gives the change under way; nil: there is none.
func (h *history) open() *change {
	if n := len(h.changes); n > 0 && h.changes[n-1].to < 0 {
		return h.changes[n-1]
	}
	return nil
}

// round gives the rebalance under way; nil: there is none.
func (h *history) round() *round {
	if c := h.open(); c != nil && len(c.rounds) > 0 {
		return &c.rounds[len(c.rounds)-1]
	}
	return nil
}

// rebalanceStarted notes that a join phase begins.
func (h *history) rebalanceStarted(b journal.RebalanceStarted, e journal.Event) {
	c := h.open()
	if c == nil {
		c = h.begun(b.Why, e)
	}
	c.rounds = append(c.rounds, round{from: e.Tick, joined: -1, stable: -1, generation: b.Generation})
}

// begun notes that a change begins.
func (h *history) begun(why string, e journal.Event) *change {
	c := &change{from: e.Tick, event: e.Seq, why: why, to: -1, before: maps.Clone(h.last)}
	h.changes = append(h.changes, c)
	return c
}

// joinEnded notes that the sync phase begins.
func (h *history) joinEnded(b journal.JoinPhaseEnded, e journal.Event) {
	if r := h.round(); r != nil {
		r.joined, r.generation, r.joins = e.Tick, b.Generation, map[kafka.MemberID]claim{}
		for _, id := range b.Members {
			if i, ok := h.holders[id]; ok {
				r.joins[id] = h.seats[i].claim
			}
		}
	}
}

// divided notes the assignment that a leader has worked out.
func (h *history) divided(b journal.AssignmentComputed, e journal.Event) {
	c, r := h.open(), h.round()
	if r == nil {
		return
	}
	r.computed, r.event = &b, e.Seq
	c.after = map[kafka.TopicPartition]int{}
	for _, share := range b.Shares {
		for _, tp := range share.Partitions {
			if i, ok := h.holders[share.Member]; ok {
				c.after[tp] = i
			}
		}
	}
}

// stable notes that an assignment is in force. If it holds back what members are still to give up, another round follows.
func (h *history) stable(e journal.Event) {
	c, r := h.open(), h.round()
	if r == nil {
		return
	}
	r.stable = e.Tick
	if r.computed == nil {
		return
	}
	h.last = c.after
	if len(r.computed.Withheld) > 0 {
		return
	}
	c.to = e.Tick
}

// emptied notes that no member is left.
func (h *history) emptied(e journal.Event) {
	if c := h.open(); c != nil {
		c.to, c.emptied, c.after = e.Tick, true, map[kafka.TopicPartition]int{}
		h.last = c.after
	}
}

// lastChange gives the last change that began after the start; nil: there was none.
func (h *history) lastChange() *change {
	if n := len(h.changes); n > 0 && h.changes[n-1].from > 0 {
		return h.changes[n-1]
	}
	return nil
}

// divided says whether it has come to an assignment that holds nothing back.
func (c *change) divided() bool {
	if c.after == nil || c.emptied || c.broken || len(c.rounds) == 0 {
		return false
	}
	last := c.rounds[len(c.rounds)-1].computed
	return last != nil && len(last.Withheld) == 0
}

// cost is what a change came to.
type cost struct {
	moved   []kafka.TopicPartition // that another member has than before
	fresh   int                    // that nobody had before
	fewest  int                    // that had to move for an even division
	stood   int                    // partitions that nobody read for at least one tick
	ticks   int                    // for which, over all of them
	longest int
	hidden  kafka.Millis         // for which waits in it lasted, which ticks do not count
	worst   kafka.TopicPartition // that stood longest, or the first of those
	equal   int                  // that stood as long
	waited  int                  // records that were written to them meanwhile
	// needless is how many partitions an eager member gave up and got back.
	needless int
}

// costOf works out what a change has come to so far: of every stretch without a reader that reaches into it all.
func (l *layout) costOf(c *change) (k cost) {
	from, to := c.from, c.to
	if c.to < 0 {
		to = l.tick()
	}
	for _, t := range l.history.tracks {
		was, had := c.before[t.TopicPartition]
		is, has := c.after[t.TopicPartition]
		switch {
		case had && has && was != is:
			k.moved = append(k.moved, t.TopicPartition)
		case has && !had:
			k.fresh++
		}
		n, back := 0, 0
		for _, gap := range t.gaps() {
			if t.costs(c, gap) {
				n += int(gap.To-gap.From) - t.apart(c, gap)
				from, to = min(from, gap.From), max(to, min(gap.To, l.tick()))
				if had && has && was == is && l.history.gaveUp(gap.Since) {
					back++
				}
			}
		}
		k.needless += min(back, 1)
		if n > 0 {
			k.stood++
		}
		k.waited += t.waitedSince(c)
		switch k.ticks += n; {
		case n > k.longest:
			k.longest, k.worst, k.equal = n, t.TopicPartition, 1
		case n == k.longest:
			k.equal++
		}
	}
	k.fewest, k.hidden = l.fewest(c), l.history.waited(from, to)
	return k
}

// apart is how many ticks of a gap have nothing to do with a change: in them the owner was down, away or stood still, or
// had nobody to read from, and the change did not end that.
func (t *track) apart(c *change, gap stretch[standing]) (n int) {
	for _, s := range t.states {
		s.From = max(s.From, 1)
		if s.From >= gap.From && s.To <= gap.To && s.apart(c, t.states[len(t.states)-1].To) {
			n += int(s.To - s.From)
		}
	}
	return n
}

// apart says whether a stretch has nothing to do with a change, at the end of a run so far.
func (s stretch[T]) apart(c *change, end kafka.Tick) bool {
	is, ok := any(s.Is).(standing)
	if !ok || c.from == 0 {
		return false
	}
	switch is.kind {
	case deserted, away, stopped, unserved:
		return c.to >= 0 && s.To > c.to+1 || c.to < 0 && s.To == end && s.From >= c.from
	}
	return false
}

// costs says whether a gap is one of a change: it reaches into it, and did not begin before and end again before the change had
// an assignment.
func (t *track) costs(c *change, gap stretch[standing]) bool {
	if !gap.reaches(c) {
		return false
	}
	open := gap.To == t.states[len(t.states)-1].To
	return open || gap.From >= c.from || len(c.rounds) == 0 || c.rounds[0].joined >= 0 && gap.To > c.rounds[0].joined
}

// reaches says whether a stretch reaches into a change.
func (s stretch[T]) reaches(c *change) bool {
	return s.To > c.from && (c.to < 0 || s.From <= c.to+1)
}

// partitionsIn is how many partitions there were when a change ended, or are if it goes on.
func (l *layout) partitionsIn(c *change) (n int) {
	for _, t := range l.history.tracks {
		if c.to < 0 || t.added <= c.to {
			n++
		}
	}
	return n
}

// gaveUp says whether an event is that an eager member gave up what it had, to join again.
func (h *history) gaveUp(seq uint64) bool {
	e, ok := h.journal.At(seq)
	if !ok {
		return false
	}
	b, is := e.Body.(journal.PartitionsRevoked)
	next, found := h.journal.At(seq + 1)
	if !is || b.Cooperative || !found {
		return false
	}
	_, joins := next.Body.(journal.JoinSent)
	return joins && next.Node == e.Node
}

// gaps joins the stretches in which nobody reads the partition, whatever the reason.
func (t *track) gaps() (list []stretch[standing]) {
	for _, s := range t.states {
		if !s.Is.gap() || s.To <= 1 { // all of the set-up belongs to tick 0
			continue
		}
		s.From = max(s.From, 1)
		if n := len(list); n > 0 && list[n-1].To == s.From {
			list[n-1].To = s.To
			continue
		}
		list = append(list, s)
	}
	return list
}

// fewest is how many partitions at the least have to change hands in a change so that each member has about as many as
// the others: what the sticky rule moves, which keeps as much as it can.
func (l *layout) fewest(c *change) (n int) {
	if c.emptied || len(c.after) == 0 {
		return 0
	}
	g, last := assignor.Group{}, &c.rounds[len(c.rounds)-1]
	if last.computed == nil {
		return 0
	}
	for _, name := range l.topics() {
		if n := l.countAt(name, last); n > 0 {
			g.Topics = append(g.Topics, assignor.Topic{Name: name, PartitionCount: int32(n)})
		}
	}
	processes := map[int]int{} // of each member: one is more than the other
	for _, share := range last.computed.Shares {
		processes[l.history.holders[share.Member]]++
	}
	by := map[kafka.TopicPartition]kafka.MemberID{}
	for _, share := range last.computed.Shares {
		i, ok := l.history.holders[share.Member]
		if !ok {
			return 0
		}
		id := kafka.MemberID(memberName(i) + " " + string(share.Member))
		var had []kafka.TopicPartition
		for _, t := range l.history.tracks {
			if was, has := c.before[t.TopicPartition]; has && was == i && (processes[i] == 1 || slices.Contains(last.joins[share.Member].owned, t.TopicPartition)) {
				had = append(had, t.TopicPartition)
				by[t.TopicPartition] = id
			}
		}
		g.Members = append(g.Members, assignor.Member{
			ID: id, Topics: subscriptionOf(l.Address.Values, i), Owned: byTopic(had), Generation: 1,
		})
	}
	rule, err := assignor.ByName("sticky")
	if err != nil || g.Check() != nil {
		return 0
	}
	assigned := rule.Assign(g)
	for _, t := range l.history.tracks {
		_, had := c.before[t.TopicPartition]
		if is, has := assigned.Owner(t.TopicPartition); had && has && is != by[t.TopicPartition] {
			n++
		}
	}
	return n
}

// byTopic groups partitions, which are sorted by topic and partition or are not.
func byTopic(list []kafka.TopicPartition) (by []assignor.TopicPartitions) {
	list = slices.Clone(list)
	slices.SortFunc(list, comparePartitions)
	for _, tp := range list {
		if n := len(by); n == 0 || by[n-1].Topic != tp.Topic {
			by = append(by, assignor.TopicPartitions{Topic: tp.Topic})
		}
		last := &by[len(by)-1]
		last.Partitions = append(last.Partitions, tp.Partition)
	}
	return by
}
