package offsets

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"loglab/engine"
	"loglab/engine/group"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/inspect"
	"loglab/labs/view"
)

// inspectAt shows what the address points at; nil when it points at nothing.
func (l *layout) inspectAt() *view.Inspector {
	return l.inspectFrame().Open(inspect.Parts{Node: l.inspectNode, Group: l.inspectGroup, Partition: l.inspectPartition, Record: l.inspectRecord})
}

// inspectFrame is the frame as the parts of the inspector take it that all labs share.
func (l *layout) inspectFrame() inspect.Frame {
	return inspect.Frame{Frame: l.Frame, Topic: topic, Group: billing, Config: logConfig()}
}

// offsetsLog gives the log that keeps a group.
func (l *layout) offsetsLog(g *groupState) (inspect.Log, bool) {
	return l.inspectFrame().LogOf(kafka.TopicPartition{Topic: group.Topic, Partition: g.OffsetsPartition})
}

// inspectRecord shows a record with its whole life.
func (l *layout) inspectRecord(in *view.Inspector, log inspect.Log, at inspect.Location) {
	log.Record(in, at, strings.TrimPrefix(keyText(at.Record.Key), "key "), "")
	if log.Partition.Topic != topic {
		return
	}
	for _, g := range l.groups {
		p := &g.parts[log.Partition.Partition]
		fate := p.fates.At(at.Record.Offset)
		in.AddFact("For "+g.ID, "%s; delivered %s, processed %s, its effect applied %s", l.stageText(g, p, at.Record.Offset), often(fate.Delivered), often(fate.Processed), often(fate.Applied))
	}
	in.Tables = append(in.Tables, log.Life(at.Record.Offset))
}

// often writes how often something happened.
func often(n uint16) string {
	if n == 0 {
		return "never"
	}
	return times(n)
}

// inspectPartition shows how far each group is in a partition.
func (l *layout) inspectPartition(in *view.Inspector, tp kafka.TopicPartition) bool {
	log, ok := l.inspectFrame().LogOf(tp)
	if !ok || tp.Topic != topic {
		return false
	}
	in.Title = "How far the groups are in " + tp.String()
	in.AddFact("Log", "from %d, exclusive of its end %d; high watermark %d", log.LogStartOffset, log.LogEndOffset, log.HighWatermark)
	last := log.Segments[len(log.Segments)-1]
	in.Links = append(in.Links, labs.Open(l.Address, "open-segment", "its segment", log.Target(labs.SegmentTarget, last.BaseOffset)))
	t := view.Table{ID: "groups", Caption: "Groups", Head: []string{"Group", "Read by", "Committed", "Position", "Lag", "records-lag", "Oldest not committed", "A crash would repeat", "and lose"}}
	for _, g := range l.groups {
		p := &g.parts[tp.Partition]
		again, lost := "not known", "not known"
		if p.foreseen {
			again, lost = fmt.Sprint(p.again), fmt.Sprint(p.lost)
		}
		owner := string(p.Owner)
		if owner == "" {
			owner = "nobody"
		}
		t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{
			{{Text: g.ID, At: groupTarget(g.ID)}}, view.Plain(owner), view.Plain(committedText(p)), view.Plain(offsetText(p.Position)),
			view.Plain(groupLagText(p)), view.Plain(lagText(p)), view.Plain(l.oldestText(p)), view.Plain(again), view.Plain(lost),
		}})
		if offsets, found := l.offsetsLog(g); found {
			if at, committed := offsets.CommitRecord(g.ID, tp); committed {
				in.Links = append(in.Links, labs.Open(l.Address, "open-commit-"+g.ID, fmt.Sprintf("the commit of %s as a record", g.ID), offsets.Target(labs.RecordTarget, at)))
			}
		}
	}
	in.Tables = append(in.Tables, t)
	return true
}

func groupTarget(id string) string {
	return labs.Target{Kind: labs.GroupTarget, Node: kafka.NodeID(id)}.String()
}

// inspectNode shows a consumer, the producer or a broker, and what it waits for.
func (l *layout) inspectNode(in *view.Inspector, node kafka.NodeID) bool {
	alive, paused, found := false, false, false
	for _, g := range l.groups {
		for i := range g.Members {
			if m := &g.Members[i]; kafka.NodeID(m.ID) == node {
				l.inspectMember(in, g, m)
				alive, paused, found = m.Alive, m.Paused, true
			}
		}
	}
	for _, p := range l.View.Producers {
		if p.ID == node {
			in.AddFact("Records", "%d handed in, %d acknowledged, %d to be sent", p.Produced, p.Acknowledged, p.Waiting)
			alive, paused, found = p.Alive, p.Paused, true
		}
	}
	for _, b := range l.View.Brokers {
		if b.Node == node {
			in.AddFact("State", "%s", b.State)
			in.AddFact("Wait in it", "fetches: %d, writes: %d", b.Parked, b.Waiting)
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

// inspectMember shows a consumer with its application.
func (l *layout) inspectMember(in *view.Inspector, g *groupState, m *engine.MemberView) {
	in.Links = append(in.Links, labs.Open(l.Address, "open-group", "group "+g.ID, labs.Target{Kind: labs.GroupTarget, Node: kafka.NodeID(g.ID)}))
	if !m.Alive {
		in.AddFact("Group", "%s", cmp.Or(strings.Join(l.sessionLine(g, m), ""), "nobody coordinates it now"))
		return
	}
	in.AddFact("Application", "%s", m.App)
	in.AddFact("Member id", "%s", orNone(string(m.MemberView.MemberID)))
	if m.InstanceID != "" {
		in.AddFact("group.instance.id", "%s: a static member", m.InstanceID)
	}
	in.AddFact("Believes", "%s, generation %d, coordinator %s", m.State, m.Generation, orNone(string(m.Coordinator)))
	switch {
	case g.blind:
		in.AddFact("The group", "nobody coordinates it now")
	case !g.counts(m):
		in.AddFact("The group", "does not count it as a member of its generation %d", g.Generation)
	}
	if beats(m) && !m.Paused {
		in.AddFact("Next heartbeat", "%s, every heartbeat.interval.ms = %s", l.beatText(m), kafka.Thousands(heartbeat))
	}
	if len(m.Busy)+len(m.Queue) > 0 && !m.Paused {
		in.AddFact("Must poll", "by tick %d: max.poll.interval.ms = %s", l.tickAt(m.PollBy), kafka.Thousands(l.Address.Values.Int("poll-interval")))
	}
	if m.Armed != "" {
		in.AddFact("Will crash", "%s", m.Armed)
	}
	t := view.Table{ID: "assignment", Caption: "What it reads", Head: []string{"Partition", "Position", "After the last done", "Committed by it", "In hand", "records-lag"}}
	for _, a := range m.Assignment {
		next, committed := "none", "none"
		for _, d := range m.Done {
			if d.TopicPartition == a.TopicPartition {
				next, committed = fmt.Sprint(d.Next), offsetText(d.Committed)
			}
		}
		hand := len(handOf(m, a.TopicPartition))
		t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{
			{{Text: a.TopicPartition.String(), At: labs.Target{Kind: labs.PartitionTarget, Partition: a.TopicPartition}.String()}},
			view.Plain(offsetText(a.Position)), view.Plain(next), view.Plain(committed), view.Plain(fmt.Sprint(hand)), view.Plain(kafka.Thousands(a.Lag)),
		}})
	}
	if len(t.Rows) == 0 {
		t.More = "Nothing: it is idle."
	}
	in.Tables = append(in.Tables, t)
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// inspectGroup shows a group as its coordinator has it.
func (l *layout) inspectGroup(in *view.Inspector, id string) bool {
	at := slices.IndexFunc(l.groups, func(g *groupState) bool { return g.ID == id })
	if at < 0 {
		return false
	}
	g := l.groups[at]
	in.AddFact("Lives on", "%s-%d: its id’s hash modulo %d partitions", group.Topic, g.OffsetsPartition, engine.OffsetsPartitions)
	in.AddFact("Coordinator", "%s, the leader of that partition", orNone(string(g.Coordinator)))
	if log, ok := l.offsetsLog(g); ok {
		in.Tables = append(in.Tables, log.GroupRecords())
	}
	if g.Coordinator != "" {
		in.Links = append(in.Links, labs.Open(l.Address, "open-broker", string(g.Coordinator), labs.Target{Kind: labs.NodeTarget, Node: g.Coordinator}))
	}
	if g.Held == nil {
		text := "the coordinator knows of no such group"
		if g.Coordinator == "" {
			text = "nobody coordinates it now"
		}
		in.AddFact("State", "%s", text)
		return true
	}
	held := g.Held
	since := kafka.Thousands(held.Since-engine.StartTime) + " ms into the run"
	if held.Since < engine.StartTime {
		since = "before tick 0"
	}
	in.AddFact("State", "%s since %s", held.State, since)
	in.AddFact("Generation", "%d; it moves when a join phase ends", held.Generation)
	in.AddFact("Assignor", "%s, worked out by the leader %s", orNone(held.Protocol), orNone(string(held.Leader)))
	if held.JoinEnds > 0 {
		in.AddFact("Join phase", "ends in tick %d at the latest: %s", l.tickAt(held.JoinEnds), held.JoinEndsBy)
	}
	if held.SyncEnds > 0 {
		in.AddFact("Sync phase", "who has not sent SyncGroup in tick %d is removed", l.tickAt(held.SyncEnds))
	}
	t := view.Table{ID: "members", Caption: "Its members, as the coordinator has them", Head: []string{"Consumer", "Member id", "Session ends in tick", "Waits for", "Owns"}}
	for i, m := range held.Members {
		if i == inspect.RowsShown {
			t.More = fmt.Sprintf("And %d more.", len(held.Members)-i)
			break
		}
		ends := "does not run"
		if m.SessionEnds > 0 {
			ends = fmt.Sprint(l.tickAt(m.SessionEnds))
		}
		waits := "nothing"
		switch {
		case m.WaitsInJoin:
			waits = "the end of the join phase"
		case m.WaitsInSync:
			waits = "its assignment"
		case held.State == group.PreparingRebalance:
			waits = "has not joined again"
		}
		t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{
			{{Text: string(m.Host), At: labs.Target{Kind: labs.NodeTarget, Node: m.Host}.String()}}, view.Plain(string(m.ID)), view.Plain(ends), view.Plain(waits), view.Plain(orNone(strings.Join(labs.PartitionNames(m.Assignment), ", "))),
		}})
	}
	if len(t.Rows) == 0 {
		t.More = "None."
	}
	in.Tables = append([]view.Table{t}, in.Tables...)
	return true
}
