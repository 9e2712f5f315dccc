package rebalance

import (
	"fmt"
	"slices"
	"strings"

	"loglab/engine"
	"loglab/engine/group"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/inspect"
	"loglab/labs/view"
)

// inspectAt shows what the address points at; nil when it points at nothing.
func (l *layout) inspectAt() *view.Inspector {
	return l.inspectFrame().Open(inspect.Parts{Node: l.inspectNode, Group: l.inspectGroup, Partition: l.inspectPartition, Tick: l.inspectTick, Record: l.inspectRecord})
}

// inspectFrame is the frame as the parts of the inspector take it that all labs share.
func (l *layout) inspectFrame() inspect.Frame {
	return inspect.Frame{Frame: l.Frame, Topic: l.topics()[0], Group: billing, Config: logConfig()}
}

// inspectRecord shows a record of a topic.
func (l *layout) inspectRecord(in *view.Inspector, log inspect.Log, at inspect.Location) {
	log.Record(in, at, string(at.Record.Key), "")
	in.Tables = append(in.Tables, log.Life(at.Record.Offset))
}

// link opens something from the inspector.
func (l *layout) link(in *view.Inspector, id, text string, at labs.Target) {
	in.Links = append(in.Links, labs.Open(l.Address, id, text, at))
}

// inspectPartition shows who has had a partition, and by which rule it has its owner.
func (l *layout) inspectPartition(in *view.Inspector, tp kafka.TopicPartition) bool {
	at := l.placeOf(tp)
	if at < 0 {
		return false
	}
	t := l.history.tracks[at]
	in.Title = "Who reads " + tp.String()
	is := t.now()
	in.AddFact("Now", "%s", standingText(is))
	lasting := l.seconds(t.standsStill())
	if l.history.waited(0, l.tick()) > 0 {
		lasting = "waits not counted"
	}
	in.AddFact("Stood still", "%s in all, %s; %s written to it meanwhile", kafka.Count(t.standsStill(), "tick"), lasting, were(t.waited(), "record"))
	for _, o := range l.group.Offsets {
		if o.TopicPartition == tp {
			committed, watermark := offsetText(o.Committed), fmt.Sprintf("; high watermark %d", o.HighWatermark)
			if l.unasked() {
				committed = "nobody can be asked: " + noneCoordinates
			}
			if !t.served {
				watermark = ""
			}
			in.AddFact("Committed", "%s", committed)
			in.AddFact("Position", "%s%s", offsetText(o.Position), watermark)
		}
	}
	if r := l.history.lastRound(); r != nil {
		if d, ok := l.divisionOf(r); ok {
			in.AddFact("Rule", "%s %d, %s: %s", l.numberName(), r.computed.Generation, r.computed.Assignor, l.why(d, r, tp))
		}
	}
	l.link(in, "open-group", "group "+billing, groupTarget())
	if is.owner >= 0 {
		l.link(in, "open-owner", memberName(is.owner), nodeTarget(is.owner))
	}
	if log, ok := l.inspectFrame().LogOf(tp); ok {
		l.link(in, "open-segment", "its log", log.Target(labs.SegmentTarget, log.Segments[len(log.Segments)-1].BaseOffset))
	}
	table := view.Table{ID: "stretches", Caption: "Who had it", Head: []string{"Ticks", "How it stood", "Since event"}}
	states := t.states
	if left := len(states) - inspect.RowsShown; left > 0 {
		states, table.More = states[left:], fmt.Sprintf("And %s before.", kafka.Count(left, "stretch"))
	}
	for _, s := range slices.Backward(states) {
		since := "it was so at the start"
		if e, ok := l.Cluster.Journal().At(s.Since); ok {
			since = l.named(e.Body.Sentence())
		}
		table.Rows = append(table.Rows, view.Row{Items: [][]view.Item{view.Plain(ticksText(s.From, s.To)), view.Plain(standingText(s.Is)), view.Plain(labs.Narrow(since, 160))}})
	}
	in.Tables = append(in.Tables, table)
	if e := t.states[len(t.states)-1].Since; e != 0 {
		in.Chain = labs.Causes(l.Frame, e, inspect.CausesShown)
	}
	return true
}

// ticksText writes a stretch of ticks.
func ticksText(from, to kafka.Tick) string {
	if to-from == 1 {
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d to %d", from, to-1)
}

func offsetText(o kafka.Offset) string {
	if o < 0 {
		return "none"
	}
	return fmt.Sprint(o)
}

// standingText says how it stands with a partition.
func standingText(s standing) string {
	name := ""
	if s.owner >= 0 {
		name = memberName(s.owner)
	}
	switch s.kind {
	case read:
		return "read by " + name
	case busy:
		return name + " has it, and its application is at one record"
	case begins:
		return name + " has it and no position in it yet"
	case away:
		return name + " has it, is away and will be back"
	case unserved:
		return name + " has it and has nobody to read from"
	case stopped:
		return name + " has it and stands still"
	case deserted:
		return name + " has it, and its process is gone"
	}
	return "nobody has it"
}

// inspectTick shows what happened to the group in one tick.
func (l *layout) inspectTick(in *view.Inspector, tick int) bool {
	if tick > l.Address.T {
		return false
	}
	in.Title = fmt.Sprintf("Tick %d", tick)
	to := labs.Replace("go-tick", fmt.Sprintf("to tick %d", tick), l.Address.WithTick(tick))
	to.Inactive = tick == l.Address.T
	in.Links = append(in.Links, to)
	if tick == 0 {
		in.AddFact("Before", "all of the set-up belongs to tick 0: the group formed")
		return true
	}
	for _, s := range l.history.group {
		if int(s.From) <= tick && tick < int(s.To) {
			if s.Is.state == noCoordinator {
				in.AddFact("Group", noneCoordinates)
			} else {
				in.AddFact("Group", "%s, %s %d", s.Is.state, l.numberName(), s.Is.number)
			}
		}
	}
	gaps, there := 0, 0
	for _, t := range l.history.tracks {
		for _, s := range t.states {
			if int(s.From) > tick || tick >= int(s.To) {
				continue
			}
			if there++; s.Is.gap() {
				gaps++
			}
		}
	}
	in.AddFact("Not read", "%d of %s", gaps, kafka.Count(there, "partition"))
	table := view.Table{ID: "tick", Caption: "What happened to the group", Head: []string{"Where", "What"}}
	left := 0
	for e := range l.Cluster.Journal().Of(kafka.Tick(tick)) {
		if !ofTheGroup(e.Body) {
			continue
		}
		if len(table.Rows) == inspect.RowsShown {
			left++
			continue
		}
		table.Rows = append(table.Rows, view.Row{Items: [][]view.Item{view.Plain(string(e.Node)), view.Plain(labs.Narrow(l.named(e.Body.Sentence()), 280))}})
	}
	switch {
	case left > 0:
		table.More = fmt.Sprintf("And %s.", kafka.Count(left, "event"))
	case len(table.Rows) == 0 && gaps > 0:
		table.More = "Nothing."
	case len(table.Rows) == 0:
		table.More = "Nothing: the members read."
	}
	in.Tables = append(in.Tables, table)
	return true
}

// ofTheGroup says whether an event is one of the group's membership.
func ofTheGroup(b journal.Body) bool {
	switch b := b.(type) {
	case journal.MessageSent:
		return b.API == "JoinGroup" || b.API == "SyncGroup" || b.API == "Heartbeat" || b.API == "LeaveGroup" || b.API == "ConsumerGroupHeartbeat"
	case journal.RequestRefused:
		return b.API != "InitProducerID"
	case journal.CommandGiven, journal.CommandRejected, journal.NodePaused, journal.NodeResumed,
		journal.MemberIDGiven, journal.MemberJoined, journal.RebalanceStarted, journal.InitialDelayExtended, journal.JoinPhaseEnded, journal.JoinPhaseProlonged, journal.SyncGroupParked,
		journal.GroupStable, journal.GroupEmpty, journal.MemberRemoved, journal.StaticMemberReplaced, journal.GroupRequestRefused,
		journal.JoinSent, journal.AssignmentComputed, journal.PartitionsTaken, journal.PartitionsRevoked, journal.PartitionsLost, journal.MembershipLost,
		journal.ConsumerMemberJoined, journal.GroupEpochBumped, journal.TargetAssigned, journal.MemberReconciled, journal.StaticMemberAway, journal.StaticMemberReturned,
		journal.JoinHeartbeatSent, journal.MemberEpochMoved, journal.TargetLearned, journal.ReconciliationHeld, journal.AssignmentAcknowledged, journal.LeaveHeartbeatSent,
		journal.PartitionsAdded, journal.CoordinatorResigned, journal.GroupsLoaded, journal.BrokerStarted, journal.BrokerStopped, journal.ProcessKilled, journal.PowerLost,
		journal.PollIntervalExceeded, journal.ConsumerClosed, journal.ConsumerCrashed, journal.ConsumerFailed, journal.CommitFailed:
		return true
	}
	return false
}

// inspectNode shows a member, a producer or the broker, and what it waits for.
func (l *layout) inspectNode(in *view.Inspector, node kafka.NodeID) bool {
	alive, paused, found := false, false, false
	for i := range l.group.Members {
		if m := &l.group.Members[i]; kafka.NodeID(m.ID) == node {
			l.inspectMember(in, i, m)
			alive, paused, found = m.Alive, m.Paused, true
		}
	}
	for _, p := range l.View.Producers {
		if p.ID == node {
			in.AddFact("Records", "%d handed in, %d acknowledged", p.Produced, p.Acknowledged)
			alive, paused, found = p.Alive, p.Paused, true
		}
	}
	for _, b := range l.View.Brokers {
		if b.Node == node {
			in.AddFact("State", "%s", b.State)
			if l.history.now.state != noCoordinator && l.group.Coordinator != "" {
				in.AddFact("Coordinates", "group %s", billing)
			}
			alive, paused, found = b.Up(), b.Paused, true
		}
	}
	if !found {
		return false
	}
	if alive {
		l.inspectFrame().Waits(in, node, paused)
	} else {
		in.AddFact("Process", "does not run")
	}
	return true
}

// inspectMember shows a member by its place.
func (l *layout) inspectMember(in *view.Inspector, i int, m *engine.MemberView) {
	l.link(in, "open-group", "group "+billing, groupTarget())
	in.AddFact("Subscribes to", "%s", strings.Join(subscriptionOf(l.Address.Values, i), ", "))
	if id := instanceFor(l.Address.Values, i); id != "" {
		in.AddFact("group.instance.id", "%s: a static member", id)
	}
	if held := l.held(i); l.unasked() {
		in.AddFact("The group", "nobody can be asked whether it is a member: "+noneCoordinates)
	} else if held == nil {
		in.AddFact("The group", "does not count it as a member")
	} else {
		switch {
		case held.SessionEnds > 0 && l.history.broker.paused:
			in.AddFact("Session", "does not end while %s stands still", brokerNode)
		case held.SessionEnds > 0 && held.New && held.WaitsInJoin:
			in.AddFact("Session", "ends in tick %d if the join phase lasts so long: a new member has 5 minutes in it", l.tickAt(held.SessionEnds))
		case held.SessionEnds > 0:
			in.AddFact("Session", "ends in tick %d unless it is heard of: %s = %s", l.tickAt(held.SessionEnds), l.sessionSetting(), kafka.Thousands(held.SessionTimeout))
		}
		in.AddFact("Rebalance timeout", "%s ms, its max.poll.interval.ms", kafka.Thousands(held.RebalanceTimeout))
		if l.remote() {
			l.inspectReconciliation(in, held)
		} else {
			in.AddFact("Assignors", "%s", strings.Join(held.Protocols, ", "))
		}
	}
	if !m.Alive {
		return
	}
	in.AddFact("Application", "%s", m.App)
	in.AddFact("Member id", "%s", orNone(string(m.MemberView.MemberID)))
	if l.remote() {
		in.AddFact("Believes", "%s, member epoch %d; told to own %s", m.State, m.Epoch, partitionsText(m.Target))
	} else {
		in.AddFact("Believes", "%s, generation %d", m.State, m.Generation)
	}
	if m.Rejoin != "" && m.State != "joining" && m.State != "waiting for its assignment" {
		when := "at its next poll"
		if strings.HasPrefix(m.App, "committing before") {
			when = "once its commit is answered"
		}
		in.AddFact("Joins again", "%s: %s", when, l.named(m.Rejoin))
	}
	if len(m.Busy)+len(m.Queue) > 0 {
		in.AddFact("Must poll", "by tick %d: max.poll.interval.ms = %s", l.tickAt(m.PollBy), kafka.Thousands(int64(l.Address.Values.Int("poll-interval"))))
	}
	table := view.Table{ID: "assignment", Caption: "What it reads", Head: []string{"Partition", "Position", "To read"}}
	for k, a := range m.Assignment {
		if k == inspect.RowsShown {
			table.More = fmt.Sprintf("And %d more.", len(m.Assignment)-k)
			break
		}
		table.Rows = append(table.Rows, view.Row{Items: [][]view.Item{
			{{Text: a.TopicPartition.String(), At: partitionTarget(a.TopicPartition).String()}}, view.Plain(offsetText(a.Position)), view.Plain(l.lagText(a)),
		}})
	}
	if len(table.Rows) == 0 {
		table.More = "Nothing."
	}
	in.Tables = append(in.Tables, table)
}

// lagText says how much of a partition a member has to read; without its leader nobody can tell.
func (l *layout) lagText(a engine.PositionView) string {
	if t := l.history.byName[a.TopicPartition]; t != nil && !t.served {
		return "–"
	}
	return kafka.Thousands(a.Lag)
}

// inspectReconciliation shows how far a member of the consumer protocol is.
func (l *layout) inspectReconciliation(in *view.Inspector, m *group.MemberView) {
	in.AddFact("Member epoch", "%d; the assignment epoch is %d", m.Epoch, l.group.Held.AssignmentEpoch)
	in.AddFact("State", "%s", m.State)
	in.AddFact("Has", "%s", partitionsText(m.Assignment))
	in.AddFact("Target", "%s", partitionsText(m.Target))
	if len(m.Revoking) > 0 {
		in.AddFact("To give up", "%s, until tick %d at the latest", partitionsText(m.Revoking), l.tickAt(m.RevokeEnds))
	}
}

// unasked says whether no coordinator can be asked about the group.
func (l *layout) unasked() bool {
	return l.group.Held == nil && (l.history.now.state == noCoordinator || l.history.broker.paused || l.group.Coordinator == "")
}

// noneCoordinates says that no broker has the group now, as far as is known. What is written of it stays.
const noneCoordinates = "no broker is known to coordinate the group"

// partitionsText lists partitions, of many only some.
func partitionsText(list []kafka.TopicPartition) string {
	return orNone(listed(labs.PartitionNames(list)))
}

// numberName names what a group's assignments are counted by.
func (l *layout) numberName() string {
	if l.remote() {
		return "epoch"
	}
	return "generation"
}

// sessionSetting names the setting after which a silent member is removed.
func (l *layout) sessionSetting() string {
	if l.remote() {
		return "group.consumer.session.timeout.ms"
	}
	return "session.timeout.ms"
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// inspectGroup shows the group as its coordinator has it, and its last assignment beside the one before.
func (l *layout) inspectGroup(in *view.Inspector, id string) bool {
	if id != billing {
		return false
	}
	in.AddFact("Coordinator", "%s, the leader of %s-%d", orNone(string(l.group.Coordinator)), group.Topic, l.group.OffsetsPartition)
	held := l.group.Held
	if l.unasked() {
		in.AddFact("State", "nobody can be asked: "+noneCoordinates)
		return true
	}
	if held == nil {
		in.AddFact("State", "the coordinator knows of no such group")
		return true
	}
	in.AddFact("State", "%s", held.State)
	if l.remote() {
		in.AddFact("Group epoch", "%d; it moves when a member or a topic comes or goes or changes", held.Epoch)
		in.AddFact("Assignment epoch", "%d: that of the target assignment", held.AssignmentEpoch)
		in.AddFact("Assignor", "%s; the coordinator divides", held.ServerAssignor)
	} else {
		in.AddFact("Generation", "%d; it moves when a join phase ends", held.Generation)
		in.AddFact("Assignor", "%s, chosen by the members’ votes; worked out by the leader %s", orNone(held.Protocol), orNone(l.processName(held.Leader)))
	}
	if held.JoinEnds > 0 {
		joined, pending := l.joinedText()
		latest := " at the latest"
		if held.JoinEndsBy == initialDelay {
			latest = ", or goes on if members come until then"
		}
		in.AddFact("Join phase", "%s%s; it ends in tick %d%s: %s", joined, pending, l.tickAt(held.JoinEnds), latest, held.JoinEndsBy)
	}
	if held.SyncEnds > 0 {
		in.AddFact("Sync phase", "who has not sent SyncGroup in tick %d is removed", l.tickAt(held.SyncEnds))
	}
	in.Tables = append(in.Tables, l.membersTable(held))
	if t, ok := l.assignmentTable(); ok {
		in.Tables = append(in.Tables, t)
	}
	if log, ok := l.inspectFrame().LogOf(kafka.TopicPartition{Topic: group.Topic, Partition: l.group.OffsetsPartition}); ok {
		in.Tables = append(in.Tables, log.GroupRecords())
	}
	return true
}

// membersTable lists the members as the coordinator has them.
func (l *layout) membersTable(held *group.GroupView) view.Table {
	t := view.Table{ID: "members", Caption: "Its members, as the coordinator has them", Head: []string{"Member", "Session ends in tick", "Waits for", "Has"}}
	if l.remote() {
		t.Head = []string{"Member", "Session ends in tick", "State", "Has", "Target", "Epoch"}
	}
	for i := range held.Members {
		m := &held.Members[i]
		if i == inspect.RowsShown {
			t.More = fmt.Sprintf("And %d more.", len(held.Members)-i)
			break
		}
		ends := "–"
		if m.SessionEnds > 0 && !l.history.broker.paused {
			ends = fmt.Sprint(l.tickAt(m.SessionEnds))
		}
		waits := "nothing"
		switch {
		case m.WaitsInJoin:
			waits = "the end of the join phase"
		case m.WaitsInSync:
			waits = "the assignment"
		case held.State == group.PreparingRebalance:
			waits = "has not joined again"
		}
		row := view.Row{Items: [][]view.Item{{{Text: l.processName(m.ID), At: labs.Target{Kind: labs.NodeTarget, Node: m.Host}.String()}}, view.Plain(ends), view.Plain(waits), view.Plain(kafka.Count(len(m.Assignment), "partition"))}}
		if l.remote() {
			row.Items[2] = view.Plain(string(m.State))
			row.Items = append(row.Items, view.Plain(fmt.Sprint(len(m.Target))), view.Plain(fmt.Sprint(m.Epoch)))
		}
		t.Rows = append(t.Rows, row)
	}
	if len(t.Rows) == 0 {
		t.More = "None."
	}
	return t
}

// assignmentTable shows who had each partition before the last assignment and has it after, with the rule.
func (l *layout) assignmentTable() (t view.Table, ok bool) {
	c := l.history.lastChange()
	before := map[kafka.TopicPartition]int{}
	if c != nil {
		before = c.before
	}
	r := l.history.lastRound()
	if r == nil {
		return t, false
	}
	if l.remote() { // the target before, which may be of the same rebalance
		before = map[kafka.TopicPartition]int{}
		for id, told := range r.joins {
			for _, tp := range told.owned {
				before[tp] = l.history.holders[id]
			}
		}
	}
	d, known := l.divisionOf(r)
	t = view.Table{ID: "division", Caption: fmt.Sprintf("The assignment of %s %d, by %s", l.numberName(), r.computed.Generation, r.computed.Assignor), Head: []string{"Partition", "Before", "After", "Rule"}}
	rows := 0
	for _, moved := range []bool{true, false} { // first what moved
		for _, track := range l.history.tracks {
			tp := track.TopicPartition
			was, had := before[tp]
			after, has := l.ownerIn(r, tp)
			if (had != has || was != after) != moved {
				continue
			}
			if rows++; rows > inspect.RowsShown {
				continue
			}
			item := view.Item{Text: tp.String(), At: partitionTarget(tp).String()}
			if moved && had {
				item.Mark, item.Label = "moved", "moved"
			}
			rule := "not worked out again"
			if known {
				rule = l.why(d, r, tp)
			}
			t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{{item}, view.Plain(ownerText(was, had)), view.Plain(ownerText(after, has)), view.Plain(rule)}})
		}
	}
	if rows > inspect.RowsShown {
		t.More = fmt.Sprintf("And %d more: press a partition for its rule.", rows-inspect.RowsShown)
	}
	return t, true
}

// ownerIn gives who gets a partition in a round.
func (l *layout) ownerIn(r *round, tp kafka.TopicPartition) (member int, ok bool) {
	for _, share := range r.computed.Shares {
		if slices.Contains(share.Partitions, tp) {
			i, known := l.history.holders[share.Member]
			return i, known
		}
	}
	return 0, false
}

func ownerText(i int, has bool) string {
	if !has {
		return "nobody"
	}
	return memberName(i)
}
