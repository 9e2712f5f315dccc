package rebalance

import (
	"maps"
	"slices"
	"strings"

	"loglab/engine/group"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// standing is how it stands with one partition at the end of a tick.
type standing struct {
	kind  standingKind
	owner int // the place of the member; -1: none
}

// standingKind says whether a partition is read.
type standingKind string

// The kinds of standing. Only in the first two somebody reads the partition.
const (
	read     standingKind = "read"    // its owner has a position in it
	busy     standingKind = "busy"    // so it has, and its application has been at one record for a tick or more
	begins   standingKind = "begins"  // its owner has no position in it yet
	unowned  standingKind = "nobody"  // no member has it
	stopped  standingKind = "stopped" // its owner's process stands still
	deserted standingKind = "down"    // its owner's process is gone, and the group counts it as a member
	away     standingKind = "away"    // so it is, and the owner has told the group that it will be back
	unserved standingKind = "cut"     // its leader does not run, or its owner cannot reach it
)

// gap says whether nobody reads the partition.
func (s standing) gap() bool { return s.kind != read && s.kind != busy }

// stretch is a stretch of ticks in which something stands the same; To is the first tick in which it does not any more.
type stretch[T any] struct {
	From, To kafka.Tick
	Is       T
	Since    uint64 // Seq of the event after which it began; 0: it was so at the start
}

// stretches are those of one thing, oldest first, without a hole between them.
type stretches[T comparable] []stretch[T]

// add takes in how it stands from a tick up to another.
func (s *stretches[T]) add(from, to kafka.Tick, is T, since uint64) {
	if n := len(*s); n > 0 && (*s)[n-1].Is == is && (*s)[n-1].To == from {
		(*s)[n-1].To = to
		return
	}
	*s = append(*s, stretch[T]{from, to, is, since})
}

// track is one partition over the whole run.
type track struct {
	kafka.TopicPartition
	states stretches[standing]

	owner     int            // the place of the member that has it; -1: none
	by        kafka.MemberID // the id under which it has it
	known     bool           // it has a position
	left      bool           // the process that had it is gone
	away      bool           // and has told that it will be back
	served    bool           // its leader runs and leads it
	since     uint64
	watermark kafka.Offset
	stoodAt   kafka.Offset // the high watermark when the gap began in which it stands; -1: it is read
	waits     []wait       // records that were written while nobody read it, by gap
	added     kafka.Tick   // when it was added; 0: it was there at the start
}

// wait counts the records that were written in one stretch of a gap.
type wait struct {
	from    kafka.Tick
	records int
}

// waited counts the records that were written while nobody read the partition.
func (t *track) waited() (n int) {
	for _, w := range t.waits {
		n += w.records
	}
	return n
}

// waitedSince counts those of the gaps of a change.
func (t *track) waitedSince(c *change) (n int) {
	gaps := t.gaps()
	for _, w := range t.waits {
		for _, s := range t.states {
			if w.from < s.From || w.from >= s.To || s.apart(c, kafka.Tick(t.states[len(t.states)-1].To)) {
				continue
			}
			for _, gap := range gaps {
				if max(w.from, 1) >= gap.From && w.from < gap.To && t.costs(c, gap) {
					n += w.records
				}
			}
		}
	}
	return n
}

// phase is what a member does for its membership at the end of a tick, and how many partitions it has.
type phase struct {
	kind  phaseKind
	owned int
}

// phaseKind is what a member does.
type phaseKind string

// What members do.
const (
	notRunning phaseKind = "off"
	outside    phaseKind = "out"   // it runs and is no member
	joins      phaseKind = "join"  // its JoinGroup waits, or its first heartbeat of the consumer protocol
	syncs      phaseKind = "sync"  // its SyncGroup waits
	reads      phaseKind = "reads" // it has what it was given
	idles      phaseKind = "idle"  // that is nothing
	gives      phaseKind = "gives" // it has what it was given, and is to give some up (consumer protocol)
	awaits     phaseKind = "waits" // and is to get what others have not given up yet (consumer protocol)
	isDown     phaseKind = "down"  // its process is gone, and the group counts it as a member
	isPaused   phaseKind = "paused"
	hasFailed  phaseKind = "failed" // its application has ended with an error
)

// seat is one member over the whole run.
type seat struct {
	node   kafka.NodeID
	id     kafka.MemberID   // of its process; empty: none yet
	in     kafka.MemberID   // under which the group counts it; empty: it does not
	ghosts []kafka.MemberID // of its earlier processes that the group still counts
	states stretches[phase]

	alive, paused, failed bool
	begun                 bool // its process has not joined yet
	cutTo, cutFrom        bool // nothing passes to the broker, or from it
	leaving               leaving
	beatless              bool // its heartbeats have stopped, as its application has not polled in time (static)
	doing                 phaseKind
	since                 uint64
	owned                 int
	claim                 claim             // what it tells when it joins
	state                 group.MemberState // of the consumer protocol, as the coordinator has it
	epoch                 kafka.MemberEpoch
	hand                  int        // records that poll has returned to it and that are not processed
	polls                 bool       // what came last of its application is that poll returned records
	sign                  kafka.Tick // the last tick in which its application polled or was done with a record
	error                 string     // with which its application has ended
	refused               *refusal   // its last commit that was not taken
}

// leaving is why a process that runs is no member any more, as far as it knows.
type leaving string

// The reasons.
const (
	unaware  leaving = ""         // it does not know
	closes   leaving = "closes"   // it is told to leave
	overdue  leaving = "overdue"  // it has left as its application did not poll in time
	answered leaving = "answered" // the coordinator has told it
)

// refusal is a commit that was not taken.
type refusal struct {
	tick  kafka.Tick
	event uint64
	error string
	then  string
}

// groupPhase is where the group is.
type groupPhase struct {
	state  group.State
	number int32 // its generation, or in the consumer protocol its epoch
}

// history is what the journal says of the run.
type history struct {
	tracks  []*track
	seats   [memberCount]*seat
	group   stretches[groupPhase]
	changes []*change // oldest first; the forming of the group before tick 0 is none

	journal    *journal.Journal
	broker     brokerState
	now        groupPhase
	remote     bool                       // it is a group of the consumer protocol
	places     map[kafka.MemberID]reached // of its members
	written    groupPhase                 // the classic group as it is written to __consumer_offsets
	records    map[kafka.MemberID]bool    // its members in what is written
	generation []kafka.MemberID           // the members of the last generation
	since      uint64
	tick       kafka.Tick // up to whose end all is taken in
	holders    map[kafka.MemberID]int
	byName     map[kafka.TopicPartition]*track
	last       map[kafka.TopicPartition]int              // who has what by the last assignment that came into force
	targets    map[kafka.MemberID][]kafka.TopicPartition // of the consumer protocol: what each member is to come to
	loops      []loop
	returns    []comeback

	additions      []addition
	waits          []passing
	refusedRequest journal.Event // of an administrator, the last
}

// passing is a wait by command, within which the tick stays the same: how all stands is noted after it only.
type passing struct {
	tick kafka.Tick
	span kafka.Millis
}

// waited is how long the waits were in some ticks.
func (h *history) waited(from, to kafka.Tick) (span kafka.Millis) {
	for _, w := range h.waits {
		if w.tick >= from && w.tick <= to {
			span += w.span
		}
	}
	return span
}

// addition is that a topic got more partitions.
type addition struct {
	tick     kafka.Tick
	topic    string
	from, to int
}

// comeback is the place of a static member that went to another process.
type comeback struct {
	tick      kafka.Tick
	event     uint64
	instance  kafka.GroupInstanceID
	from, to  int // the places of the two members; the same: it was started again
	rebalance string
	had       int // partitions by the last assignment
}

// loop is an application that has not polled for too long.
type loop struct {
	member int
	tick   kafka.Tick
	event  uint64
	static bool
}

// readHistory takes in a journal up to the end of a tick, which is not noted yet: more may happen in it. Partitions are those that there are in the end, in their order;
// atStart is how many each topic had at the start.
func readHistory(j *journal.Journal, partitions []kafka.TopicPartition, atStart int, until kafka.Tick) *history {
	h := &history{journal: j, holders: map[kafka.MemberID]int{}, byName: map[kafka.TopicPartition]*track{}, last: map[kafka.TopicPartition]int{}, targets: map[kafka.MemberID][]kafka.TopicPartition{}, records: map[kafka.MemberID]bool{}, places: map[kafka.MemberID]reached{}, now: groupPhase{state: group.Empty}, written: groupPhase{state: group.Empty}}
	for _, tp := range partitions {
		t := &track{TopicPartition: tp, owner: -1, stoodAt: kafka.NoOffset}
		if int(tp.Partition) >= atStart {
			t.added = until + 1 // the journal says when
		}
		h.tracks, h.byName[tp] = append(h.tracks, t), t
	}
	for i := range h.seats {
		h.seats[i] = &seat{node: kafka.NodeID(memberName(i)), doing: notRunning, claim: claim{generation: -1, keptIn: -1}}
	}
	for e := range j.All() {
		if e.Tick > h.tick {
			h.pass(e.Tick)
		}
		h.read(e)
	}
	return h
}

// readTick takes in one more tick of the journal and notes how all stands at its end.
func (h *history) readTick(tick kafka.Tick) {
	h.pass(tick)
	for e := range h.journal.Of(tick) {
		h.read(e)
	}
	h.pass(tick + 1)
}

// clone gives a history that goes on with another journal, which begins as this one's does.
func (h *history) clone(j *journal.Journal) *history {
	c := *h
	c.journal, c.tracks, c.byName = j, nil, map[kafka.TopicPartition]*track{}
	for _, t := range h.tracks {
		t := *t
		t.states, t.waits = slices.Clone(t.states), slices.Clone(t.waits)
		c.tracks, c.byName[t.TopicPartition] = append(c.tracks, &t), &t
	}
	for i, s := range h.seats {
		s := *s
		s.states, s.ghosts = slices.Clone(s.states), slices.Clone(s.ghosts)
		c.seats[i] = &s
	}
	c.additions, c.waits = slices.Clone(h.additions), slices.Clone(h.waits)
	c.group, c.loops, c.returns, c.holders, c.last = slices.Clone(h.group), slices.Clone(h.loops), slices.Clone(h.returns), maps.Clone(h.holders), maps.Clone(h.last)
	c.targets, c.records, c.places = maps.Clone(h.targets), maps.Clone(h.records), maps.Clone(h.places)
	c.changes = slices.Clone(h.changes) // none is under way: those that are through do not change any more
	return &c
}

// readFrom takes in the events behind one.
func (h *history) readFrom(seq int) {
	for ; seq < h.journal.Len(); seq++ {
		if e, ok := h.journal.At(uint64(seq + 1)); ok {
			h.read(e)
		}
	}
}

// pass notes how all stands at the ends of the ticks before one.
func (h *history) pass(to kafka.Tick) {
	for h.tick < to {
		h.note(h.tick + 1)
	}
}

// note notes how all stands at the end of the tick before one.
func (h *history) note(to kafka.Tick) {
	for _, t := range h.tracks {
		if t.added > h.tick {
			continue
		}
		is := h.standingOf(t)
		t.states.add(h.tick, to, is, t.since)
		switch {
		case !is.gap():
			t.stoodAt = kafka.NoOffset
		default:
			if t.stoodAt < 0 {
				t.stoodAt = t.watermark
			}
			if last := t.states[len(t.states)-1]; last.From == h.tick || len(t.waits) == 0 {
				t.waits = append(t.waits, wait{from: h.tick})
			}
		}
	}
	for _, s := range h.seats {
		s.states.add(h.tick, to, s.phase(), s.since)
	}
	h.group.add(h.tick, to, h.now, h.since)
	h.tick = to
}

// standingOf says how it stands with a partition now.
func (h *history) standingOf(t *track) standing {
	if t.owner < 0 {
		return standing{unowned, -1}
	}
	switch s := h.seats[t.owner]; {
	case t.left && t.away:
		return standing{away, t.owner}
	case t.left:
		return standing{deserted, t.owner}
	case s.paused, s.failed:
		return standing{stopped, t.owner}
	case !t.served || !h.reaches(s):
		return standing{unserved, t.owner}
	case !t.known:
		return standing{begins, t.owner}
	case s.hand > 0 && h.tick-s.sign >= busyTicks:
		return standing{busy, t.owner}
	}
	return standing{read, t.owner}
}

// busyTicks is after how many ticks at one record an application counts as busy.
const busyTicks = 1

// phase says what a member does now.
func (s *seat) phase() phase {
	switch {
	case !s.alive && s.in != "":
		return phase{isDown, s.owned}
	case !s.alive:
		return phase{notRunning, 0}
	case s.failed:
		return phase{hasFailed, 0}
	case s.paused:
		return phase{isPaused, s.owned}
	case s.doing == reads && s.in != "" && s.state == group.UnrevokedPartitions:
		return phase{gives, s.owned}
	case s.doing == reads && s.in != "" && s.state == group.UnreleasedPartitions:
		return phase{awaits, s.owned}
	case s.doing == reads && s.owned == 0:
		return phase{idles, 0}
	}
	return phase{s.doing, s.owned}
}

// read takes in one event.
func (h *history) read(e journal.Event) {
	if link, is := e.Body.(journal.LinkChanged); is {
		h.linkChanged(link, e.Seq)
		return
	}
	if i, ok := memberPlace(e.Node); ok {
		h.ofMember(i, e)
		return
	}
	if h.ofBroker(e) {
		return
	}
	switch b := e.Body.(type) {
	case journal.HighWatermarkAdvanced:
		if t := h.byName[b.TopicPartition]; t != nil {
			t.watermark = b.To
			if t.stoodAt >= 0 {
				t.waits[len(t.waits)-1].records += int(b.To - b.From)
			}
		}
	case journal.PartitionsAdded:
		h.added(e)
	case journal.TimePassed:
		h.waits = append(h.waits, passing{e.Tick, b.Span})
	case journal.RequestRefused:
		if b.API != "InitProducerID" { // a producer’s own
			h.refusedRequest = e
		}
	case journal.CommandGiven:
		h.told(b.Command, closes)
	case journal.CommandRejected:
		if !strings.Contains(b.Why, "closing") { // it has been told so before
			h.told(b.Command, unaware)
		}
	default:
		h.ofGroup(e)
	}
}

// ofGroup takes in what happened at the coordinator.
func (h *history) ofGroup(e journal.Event) {
	turn := func(state group.State, number int32) { h.now, h.since = groupPhase{state, number}, e.Seq }
	switch b := e.Body.(type) {
	case journal.MemberJoined:
		h.joined(b.From, b.Member)
	case journal.StaticMemberReplaced:
		h.replaced(b.Old, b.Member, b.Instance, b.Rebalance, e)
	case journal.MemberRemoved:
		h.removed(b, e)
	case journal.RebalanceStarted:
		turn(group.PreparingRebalance, int32(b.Generation))
		h.rebalanceStarted(b, e)
	case journal.JoinPhaseEnded:
		turn(group.CompletingRebalance, int32(b.Generation))
		h.generation = b.Members
		for _, id := range b.Members {
			if i, ok := h.holders[id]; ok && h.seats[i].doing == joins {
				h.seats[i].doing, h.seats[i].since = syncs, e.Seq
			}
		}
		h.joinEnded(b, e)
	case journal.GroupStable:
		turn(group.Stable, int32(b.Generation))
		h.writes(h.generation...)
		h.stable(e)
	case journal.GroupEmpty:
		turn(group.Empty, int32(b.Generation))
		h.writes()
		h.emptied(e)
	default:
		h.ofConsumers(e)
	}
}

// joined notes under which id the group counts a member.
func (h *history) joined(from kafka.NodeID, id kafka.MemberID) {
	i, ok := memberPlace(from)
	if !ok {
		return
	}
	s := h.seats[i]
	if s.in != "" && s.in != id { // its earlier process is not removed yet
		s.ghosts = append(s.ghosts, s.in)
	}
	h.holders[id], s.id, s.in, s.leaving, s.begun = i, id, id, unaware, false
}

// replaced notes that the place of a static member has gone to another process.
func (h *history) replaced(gone, id kafka.MemberID, instance kafka.GroupInstanceID, rebalance string, e journal.Event) {
	was, ok := h.holders[gone]
	if ok {
		h.seats[was].forget(gone)
	}
	if h.records[gone] {
		delete(h.records, gone)
		h.records[id] = true
	}
	if request, found := h.journal.At(e.Cause); found {
		if delivered, is := request.Body.(journal.MessageDelivered); is {
			h.joined(delivered.From, id)
		}
	}
	is, known := h.holders[id]
	if ok && known {
		had := 0
		for tp, i := range h.last { // what it was given is the new one's
			if i == was {
				had++
				h.last[tp] = is
			}
		}
		h.returns = append(h.returns, comeback{e.Tick, e.Seq, instance, was, is, rebalance, had})
	}
	for _, t := range h.tracks {
		if t.left && t.by == gone { // it is the new process's, which has to learn of it
			t.by, t.left, t.away, t.known, t.since = id, false, false, false, e.Seq
			if known {
				t.owner = is
			}
		}
	}
	if target, had := h.targets[gone]; had {
		delete(h.targets, gone)
		h.targets[id] = target
	}
}
