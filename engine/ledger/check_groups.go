package ledger

import (
	"fmt"
	"slices"

	"loglab/engine/command"
	"loglab/engine/group"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// GroupState is a consumer group with a coordinator, as a checker sees it.
type GroupState struct {
	ID          string
	Offsets     kafka.TopicPartition // the partition of __consumer_offsets that keeps it
	Coordinator kafka.NodeID         // the broker that leads the partition, as the controller has it, if it knows that; else empty
	Held        *group.GroupView     // what the coordinator has; nil: there is none, or it knows of no such group
	// AfterWork says that the group's applications commit only what they are done with.
	AfterWork bool
	// ReadsCommitted says that a member has isolation.level = read_committed.
	ReadsCommitted bool
	// Done says whether the group is done with a record: it was processed, or given up by rule.
	Done func(tp kafka.TopicPartition, offset kafka.Offset) bool
	// EffectsOnce says that the group's sink keeps every effect once, Doubled how many it has more than once.
	EffectsOnce bool
	Doubled     int
	// Outputs is the topic that the group's applications write to in transactions with their offsets; empty: they do not.
	Outputs string
	// InputOf says from its value for which record an output was written; false: it does not say.
	InputOf func(value []byte) (tp kafka.TopicPartition, offset kafka.Offset, found bool)
}

// groupSeen is what is remembered of a group.
type groupSeen struct {
	generations []generationSeen // in order
	owners      map[kafka.TopicPartition]ownerSeen
	told        map[toldBy]kafka.Offset               // committed, as a coordinator told last
	last        map[kafka.TopicPartition]kafka.Offset // committed, as any coordinator told last
	done        map[kafka.TopicPartition]kafka.Offset // below it all is done, or skipped for a reason; missing: nothing was committed yet
	started     map[kafka.TopicPartition]kafka.Offset // where the first member began to read
	loaded      map[kafka.NodeID]bool                 // a coordinator there has read its log since the last look
	removed     map[kafka.MemberID]kafka.GroupEpoch   // members of the consumer protocol that a coordinator has removed, with the group epoch then: they were in none above
	unwritten   map[kafka.MemberID]bool               // whose JoinGroup was given up before it was written
	bumped      kafka.GroupEpoch                      // the last group epoch that was told of
	converts    bool                                  // it becomes a classic group, and may still be shown as one of the consumer protocol
	ended       int                                   // groups of its name that have ended, of which one may still be shown
	epoch       kafka.GroupEpoch                      // of a group of the consumer protocol, as it was seen last
	assignment  kafka.GroupEpoch                      // the epoch of its target assignment then
	outputs     map[standsAt]standsAt                 // of each input, its committed output
	chosen      map[kafka.TopicPartition]bool         // somebody has told where to read on
}

// toldBy is what a coordinator tells of: an old one may not know yet that it is none any more.
type toldBy struct {
	node kafka.NodeID
	tp   kafka.TopicPartition
}

// generationSeen is a generation with the event that began it.
type generationSeen struct {
	seq        uint64
	node       kafka.NodeID       // the coordinator
	generation kafka.GenerationID // -1: not known
}

// ownerSeen is who took a partition in which generation, or in which member epoch of the consumer protocol.
type ownerSeen struct {
	generation kafka.GenerationID
	epoch      kafka.MemberEpoch
	node       kafka.NodeID
}

func (k *Checker) group(id string) *groupSeen {
	g := k.groups[id]
	if g == nil {
		g = &groupSeen{
			owners: map[kafka.TopicPartition]ownerSeen{}, told: map[toldBy]kafka.Offset{}, loaded: map[kafka.NodeID]bool{}, last: map[kafka.TopicPartition]kafka.Offset{},
			done: map[kafka.TopicPartition]kafka.Offset{}, started: map[kafka.TopicPartition]kafka.Offset{}, outputs: map[standsAt]standsAt{}, chosen: map[kafka.TopicPartition]bool{}, removed: map[kafka.MemberID]kafka.GroupEpoch{}, unwritten: map[kafka.MemberID]bool{},
		}
		if k.groups == nil {
			k.groups = map[string]*groupSeen{}
		}
		k.groups[id] = g
	}
	return g
}

// generationAt gives the generation that a group had at an event for a coordinator; -1: not known.
func (g *groupSeen) generationAt(seq uint64, node kafka.NodeID) kafka.GenerationID {
	for i := len(g.generations) - 1; i >= 0; i-- {
		if g.generations[i].seq <= seq && g.generations[i].node == node {
			return g.generations[i].generation
		}
	}
	return -1
}

// takeGroupEvent learns from the journal what a look at states between two ticks can miss.
func (k *Checker) takeGroupEvent(o *Observation, e journal.Event) {
	switch body := e.Body.(type) {
	case journal.JoinPhaseEnded:
		g := k.group(body.Group)
		g.generations = append(g.generations, generationSeen{e.Seq, e.Node, body.Generation})
	case journal.GroupEmpty:
		g := k.group(body.Group)
		g.generations = append(g.generations, generationSeen{e.Seq, e.Node, body.Generation})
	case journal.GroupConverted:
		g := k.group(body.Group)
		g.generations = append(g.generations, generationSeen{e.Seq, e.Node, -1})
		if g.converts = body.To == string(group.Classic); g.converts {
			g.ended++
		}
		if body.Members == 0 { // the next generation or epoch is that of another group
			clear(g.owners)
		}
	case journal.GroupDeleted:
		k.group(body.Group).ended++
		clear(k.group(body.Group).owners)
	case journal.GroupsLoaded:
		for _, state := range o.Groups {
			g := k.group(state.ID)
			g.loaded[e.Node], g.converts = true, false
			g.generations = append(g.generations, generationSeen{e.Seq, e.Node, -1})
		}
	case journal.MemberRemoved:
		g := k.group(body.Group)
		g.removed[body.Member] = max(g.bumped, g.epoch)
	case journal.StaticMemberReturned:
		g := k.group(body.Group)
		g.removed[body.Old] = max(g.bumped, g.epoch)
	case journal.GroupRequestRefused:
		if body.API == "JoinGroup" && body.Error == "COORDINATOR_NOT_AVAILABLE" {
			k.group(body.Group).unwritten[joining(o, e, body.Member)] = true
		}
	case journal.GroupEpochBumped:
		k.group(body.Group).bumped = body.Epoch
	case journal.PartitionsTaken:
		k.takeOwners(o, e.Node, body)
	case journal.PositionReset:
		k.takeStart(o, e.Node, body.TopicPartition, body.To)
	case journal.PositionMoved:
		k.takeStart(o, e.Node, body.TopicPartition, body.To)
		k.takeChoice(o, e.Node, body.TopicPartition)
		k.choose(e.Node, body.TopicPartition, body.To)
	case journal.PositionCommitted:
		k.choose(e.Node, body.TopicPartition, body.Offset)
	case journal.CommandGiven:
		k.takeCommitCommand(o, body.Command)
	case journal.OffsetsReset:
		g := k.group(body.Group)
		for _, change := range body.Offsets {
			g.done[change.TopicPartition], g.chosen[change.TopicPartition] = change.To, true
		}
	case journal.OffsetsRemoved:
		g := k.group(body.Group)
		for _, tp := range body.Partitions {
			delete(g.told, toldBy{e.Node, tp})
			delete(g.last, tp)
			delete(g.done, tp)
			g.chosen[tp] = true
		}
	case journal.OffsetCommitted:
		g := k.group(body.Group)
		g.told[toldBy{e.Node, body.TopicPartition}], g.last[body.TopicPartition] = body.Offset, body.Offset
		k.takeCommit(o, body)
	case journal.BatchAppended:
		if body.TopicPartition.Topic == group.Topic {
			k.checkCommitter(o, e)
		}
	}
}

// joining gives the member whose JoinGroup was given up. One that joined for the first time, and was given its name with the
// answer, is named by what was to be written.
func joining(o *Observation, e journal.Event, asked kafka.MemberID) kafka.MemberID {
	if cause, ok := o.Journal.At(e.Cause); ok {
		if body, is := cause.Body.(journal.MemberReconciled); is && asked == "" {
			return body.Member
		}
	}
	return asked
}

// groupOf gives the group that a consumer is a member of by its name, nil if there is none.
func (o *Observation) groupOf(node kafka.NodeID) *GroupState {
	for i := range o.Groups {
		if g := &o.Groups[i]; len(node) > len(g.ID) && string(node[:len(g.ID)]) == g.ID && node[len(g.ID)] == '-' {
			return g
		}
	}
	return nil
}

func (o *Observation) group(id string) *GroupState {
	at := slices.IndexFunc(o.Groups, func(g GroupState) bool { return g.ID == id })
	if at < 0 {
		return nil
	}
	return &o.Groups[at]
}

// takeOwners looks whether a partition has one owner in a generation. Where the log of the group's partition lost
// data, a generation's number may come again.
func (k *Checker) takeOwners(o *Observation, node kafka.NodeID, taken journal.PartitionsTaken) {
	state := o.group(taken.Group)
	if state == nil || k.of(state.Offsets).disturbed {
		return
	}
	g := k.group(taken.Group)
	for _, tp := range taken.Partitions {
		if had, ok := g.owners[tp]; ok && had.generation == taken.Generation && had.epoch == taken.Epoch && had.node != node {
			in := fmt.Sprintf("generation %d", taken.Generation)
			if taken.Epoch > 0 {
				in = fmt.Sprintf("member epoch %d", taken.Epoch)
			}
			k.violated(OneOwner, tp, "%s and %s both own it in %s of group %s", had.node, node, in, taken.Group)
		}
		g.owners[tp] = ownerSeen{taken.Generation, taken.Epoch, node}
	}
}

// takeStart notes where a member reads on that was not told to by a committed offset.
func (k *Checker) takeStart(o *Observation, node kafka.NodeID, tp kafka.TopicPartition, to kafka.Offset) {
	if state := o.groupOf(node); state != nil {
		g := k.group(state.ID)
		g.started[tp] = max(g.started[tp], to)
	}
}

// choose notes a place that was chosen for a consumer, wherever the log ends.
func (k *Checker) choose(node kafka.NodeID, tp kafka.TopicPartition, to kafka.Offset) {
	if k.chosen == nil {
		k.chosen = map[chosenBy]kafka.Offset{}
	}
	at := chosenBy{node, tp}
	k.chosen[at] = max(k.chosen[at], to)
}

// takeCommitCommand notes an offset that somebody commits by hand: what lies before it is skipped on purpose.
func (k *Checker) takeCommitCommand(o *Observation, text string) {
	cmd, err := command.Parse(text)
	if c, ok := cmd.(command.Commit); err == nil && ok {
		k.takeStart(o, c.Node, c.TopicPartition, c.Offset)
		k.takeChoice(o, c.Node, c.TopicPartition)
	}
}

// takeChoice notes that a member was told where to read on: it may read again what the group is through with.
func (k *Checker) takeChoice(o *Observation, node kafka.NodeID, tp kafka.TopicPartition) {
	if state := o.groupOf(node); state != nil {
		k.group(state.ID).chosen[tp] = true
	}
}

// takeCommit looks whether a group that commits what it is done with has skipped a record. What lies before a place
// that a reset, a seek or auto.offset.reset chose was skipped on purpose; what retention or a cleaning may have taken
// cannot be processed.
func (k *Checker) takeCommit(o *Observation, committed journal.OffsetCommitted) {
	state := o.group(committed.Group)
	if state == nil {
		return
	}
	g, tp := k.group(committed.Group), committed.TopicPartition
	from := max(g.done[tp], g.started[tp], k.of(tp).start, k.of(tp).cleaned)
	g.done[tp] = max(from, committed.Offset)
	if !state.AfterWork || committed.Member == "" || k.of(tp).disturbed {
		return
	}
	for offset := from; offset < committed.Offset; offset++ {
		if !state.Done(tp, offset) {
			k.undone = append(k.undone, undone{tp, offset, state, committed.Offset})
		}
	}
}

// undone is a record that a group has not processed though it has committed a later offset.
type undone struct {
	tp        kafka.TopicPartition
	offset    kafka.Offset
	group     *GroupState
	committed kafka.Offset
}

// checkUndone looks, once the logs are known, whether what a group has not processed is anything to be processed: no
// application is given markers, and one that reads committed records nothing of aborted transactions.
func (k *Checker) checkUndone() {
	for _, u := range k.undone {
		p := k.of(u.tp)
		r, number, found := p.at(u.offset)
		switch {
		case p.over(u.offset) && (!found || r.batches[number].records == 0): // it was deleted in the same tick, or cleaned
			continue
		case found:
			given, noData := r.isGiven(&r.batches[number], p.sure())
			if noData || u.group.ReadsCommitted && !given {
				continue
			}
		}
		k.violated(NothingSkipped, u.tp, "group %s has committed %d and never processed the record at %d", u.group.ID, u.committed, u.offset)
		break
	}
	k.undone = nil
}

// checkCommitter looks whether a commit that a coordinator writes is one of the group's generation: it walks from the
// append back to the request and from that to what the consumer said when it sent it.
func (k *Checker) checkCommitter(o *Observation, e journal.Event) {
	delivered, ok := o.Journal.At(e.Cause)
	if !ok {
		return
	}
	message, ok := delivered.Body.(journal.MessageDelivered)
	if !ok || message.API != "OffsetCommit" || message.Response {
		return
	}
	sent, ok := o.Journal.At(delivered.Cause)
	if !ok {
		return
	}
	said, ok := o.Journal.At(sent.Cause)
	if !ok {
		return
	}
	commit, ok := said.Body.(journal.CommitSent)
	if !ok || commit.Generation < 0 {
		return
	}
	if now := k.group(commit.Group).generationAt(delivered.Seq, e.Node); now >= 0 && now != commit.Generation {
		k.violated(CommitOfGeneration, commit.Offsets[0].TopicPartition, "a commit of %s of generation %d was taken, group %s is in generation %d", said.Node, commit.Generation, commit.Group, now)
	}
}

// checkGroups looks at the groups as they are.
func (k *Checker) checkGroups(o *Observation) {
	k.checkUndone()
	for i := range o.Groups {
		state := &o.Groups[i]
		g := k.group(state.ID)
		if state.EffectsOnce && state.Doubled > 0 {
			k.violated(EffectsOnce, kafka.TopicPartition{}, "the sink of group %s takes every effect once and has %d more than once", state.ID, state.Doubled)
		}
		if state.Held == nil {
			continue
		}
		k.checkSessions(state)
		k.checkConsumerProtocol(state)
		if g.loaded[state.Coordinator] { // what was written and not told yet may be there now, by a member or by the tool that resets
			for _, held := range state.Held.Offsets {
				if last, ok := g.last[held.TopicPartition]; !ok || last != held.Offset {
					g.done[held.TopicPartition] = held.Offset
				}
				g.last[held.TopicPartition], g.told[toldBy{state.Coordinator, held.TopicPartition}] = held.Offset, held.Offset
			}
			g.loaded[state.Coordinator] = false
			generation := state.Held.Generation
			if state.Held.Type == group.Consumer {
				generation = -1 // its members commit by their epochs
			}
			g.generations = append(g.generations, generationSeen{uint64(o.Journal.Len()), state.Coordinator, generation})
			continue
		}
		for _, held := range state.Held.Offsets {
			if told, ok := g.told[toldBy{state.Coordinator, held.TopicPartition}]; !ok || told != held.Offset {
				k.violated(OffsetsWritten, held.TopicPartition, "the coordinator of group %s shows the committed offset %d; what it told as written is %d", state.ID, held.Offset, told)
			}
		}
	}
}

// checkSessions looks whether every member that does not wait for an answer has a session that can end. In a rebalance
// it is enough that the phase can: sessions run anew with the next one. A group of the consumer protocol is shown as it
// is written: who was removed is in it until that is written, too, even if it has joined again meanwhile; then it is there
// in another epoch. A member of the classic protocol in it has its timers from the time on when its JoinGroup is written; if
// that was given up before, it has none until it joins again, as in Kafka.
func (k *Checker) checkSessions(state *GroupState) {
	g := k.group(state.ID)
	if state.Held.JoinEnds != 0 || state.Held.SyncEnds != 0 || state.Held.Type == group.Consumer && g.converts {
		return
	}
	for _, m := range state.Held.Members {
		if m.SessionEnds != 0 {
			delete(g.unwritten, m.ID)
		}
		going := state.Held.Type == group.Consumer && (g.isGoing(&m) || m.Classic && g.unwritten[m.ID])
		if !m.WaitsInJoin && !m.WaitsInSync && m.SessionEnds == 0 && !going {
			k.violated(SessionsEnd, kafka.TopicPartition{}, "member %s of group %s waits for nothing, and no timer would remove it", m.ID, state.ID)
		}
	}
}

// isGoing says whether a member is shown only because its removal is not written yet. One that has joined again since is
// in a later epoch.
func (g *groupSeen) isGoing(m *group.MemberView) bool {
	epoch, removed := g.removed[m.ID]
	if removed && kafka.GroupEpoch(m.Epoch) > epoch {
		delete(g.removed, m.ID)
		return false
	}
	return removed
}

// isReplicated says whether all that a group's coordinator has in its log is on every in-sync replica. One that has just
// taken over knows what is not yet, too, and the next one may never have had it.
func (k *Checker) isReplicated(state *GroupState) bool {
	r := k.of(state.Offsets).replicas[k.idOf(state.Coordinator)]
	return r != nil && r.highWatermark >= r.end()
}

// checkConsumerProtocol looks at a group of the consumer protocol as its coordinator has it. Where the log of the group's
// partition lost data, its epochs may come again; and a group that was converted or deleted is shown until that is
// written, which can be after the next one of its name has begun with low epochs.
func (k *Checker) checkConsumerProtocol(state *GroupState) {
	held, g := state.Held, k.group(state.ID)
	if held.Type != group.Consumer || k.of(state.Offsets).disturbed {
		return
	}
	if !g.converts {
		fell := held.Epoch < g.epoch || held.AssignmentEpoch < g.assignment
		next := fell && g.ended > 0 // it is the next group of the name
		if next {
			g.ended, fell = g.ended-1, false
		}
		if fell || held.AssignmentEpoch > held.Epoch {
			k.violated(GroupEpochsRise, kafka.TopicPartition{}, "group %s is in group epoch %d with a target assignment of epoch %d; it was in %d with one of %d", state.ID, held.Epoch, held.AssignmentEpoch, g.epoch, g.assignment)
		}
		if next || k.isReplicated(state) {
			g.epoch, g.assignment = held.Epoch, held.AssignmentEpoch
		}
	}
	holders := map[kafka.TopicPartition]kafka.MemberID{}
	for _, m := range held.Members {
		if kafka.GroupEpoch(m.Epoch) > held.AssignmentEpoch {
			k.violated(GroupEpochsRise, kafka.TopicPartition{}, "member %s of group %s is in epoch %d, beyond its target assignment of epoch %d", m.ID, state.ID, m.Epoch, held.AssignmentEpoch)
		}
		for _, tp := range slices.Concat(m.Assignment, m.Revoking) {
			if other, taken := holders[tp]; taken {
				k.violated(OneHolder, tp, "the coordinator of group %s has it with %s and with %s", state.ID, other, m.ID)
			}
			holders[tp] = m.ID
		}
	}
}
