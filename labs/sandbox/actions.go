package sandbox

import (
	"fmt"
	"slices"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// buttonsFor is how many members have buttons of their own; a form has all.
const buttonsFor = 4

// actions adds the commands that make sense now.
func (l *layout) actions(p *view.Page) {
	add := func(id, text string, cmd command.Command, warn bool) {
		labs.AddAction(p, l.Address, id, text, cmd, warn)
	}
	for _, b := range l.View.Brokers {
		labs.AddActionGroup(p, string(b.Node))
		labs.BrokerActions(add, b)
	}
	for i := range l.View.Producers {
		labs.AddActionGroup(p, string(l.View.Producers[i].ID))
		next := command.Produce{Producer: l.View.Producers[i].ID, Key: entities[l.View.Producers[i].Produced%len(entities)], Default: true}
		labs.ProducerActions(add, &l.View.Producers[i], next, l.Address.Values.Int("rate") > 0)
	}
	left := buttonsFor
	if l.Beside != nil {
		left = 1
	}
	for i := range l.View.Groups {
		g := &l.View.Groups[i]
		for j := range g.Members {
			if left > 0 {
				left--
				labs.AddActionGroup(p, string(g.Members[j].ID))
				l.memberActions(add, &g.Members[j])
			}
		}
	}
	labs.AddActionGroup(p, "Topic "+topic)
	l.topicActions(add)
	labs.AddActionGroup(p, "Groups")
	for i := range l.View.Groups {
		g := &l.View.Groups[i]
		if !slices.ContainsFunc(g.Members, func(m engine.MemberView) bool { return m.Paused }) { // one that stands still cannot leave
			add("do-replay-"+g.ID, "Replay "+g.ID+" from earliest", command.Replay{Group: g.ID, From: command.ResetTo{Rule: command.ToEarliest}}, false)
		}
	}
	labs.AddActionGroup(p, "Time")
	labs.WaitActions(add, 1000, 10_000, 300_000)
	p.Actions.Forms = append(l.forms(), p.Actions.Forms...)
}

// memberActions are the commands for a member in its state.
func (l *layout) memberActions(add labs.Adder, m *engine.MemberView) {
	id, n := string(m.ID), kafka.NodeID(m.ID)
	if !labs.ReviveActions(add, n, m.Alive, m.Paused) {
		return
	}
	add("do-crash-"+id, "Crash", command.Crash{Node: n}, true)
	if m.Refuses != "" { // it closes, or has ended and only its process is left
		return
	}
	add("do-pause-"+id, "Pause", command.Pause{Node: n}, true)
	add("do-leave-"+id, "Leave", command.Leave{Node: n}, false)
	if l.Address.Values.Text("commit") == manual {
		add("do-commit-"+id, "Commit", command.Commit{Node: n}, false)
	}
}

// topicActions are the commands for the topic, and for what brokers do to its logs by themselves.
func (l *layout) topicActions(add labs.Adder) {
	if n := len(l.parts); n < engine.MaxPartitions {
		add("do-add-partition", "Add a partition", command.AddPartitions{Topic: topic, Count: n + 1}, true)
	}
	for _, b := range l.View.Brokers {
		leads := slices.ContainsFunc(l.parts, func(p part) bool { return p.Leader == b.ID })
		if !leads || !b.Up() || b.Paused || b.State != engine.BrokerRunning {
			continue
		}
		add("do-check-"+string(b.Node), "Check retention on "+string(b.Node), command.CheckRetention{Node: b.Node}, false)
		if l.Address.Values.Text("policy") != deletes {
			add("do-clean-"+string(b.Node), "Run the cleaner on "+string(b.Node), command.RunCleaner{Node: b.Node}, false)
		}
	}
	for i := range l.parts {
		if p := &l.parts[i]; p.Leader == engine.NoLeader && slices.ContainsFunc(p.Replicas, func(r engine.ReplicaView) bool { return !l.View.Brokers[r.Broker-1].Fenced }) {
			add("do-unclean-"+p.TopicPartition.String(), "Unclean election "+p.TopicPartition.String(), command.Elect{TopicPartition: p.TopicPartition, Unclean: true}, true)
		}
	}
}

// forms are the commands with something to choose.
func (l *layout) forms() []view.Form {
	var who, members, what [][2]string
	for _, p := range l.View.Producers {
		who = append(who, [2]string{fmt.Sprintf("produce %s * *", p.ID), string(p.ID)})
	}
	for _, g := range l.View.Groups {
		for _, m := range g.Members {
			members = append(members, [2]string{string(m.ID), string(m.ID)})
		}
		what = append(what, [2]string{"replay " + g.ID + " from *", "replay " + g.ID}, [2]string{"reset " + g.ID + " to *", "reset " + g.ID})
	}
	line := func(id, label, value, help string) view.Field {
		return view.Field{ID: id, Name: "do", Label: label, Kind: view.Line, Value: value, Help: help}
	}
	list := []view.Form{
		labs.CommandForm(l.Address, "produce", "Produce a record", "Produce", labs.Choose("produce-who", "Producer", who...),
			line("produce-key", "Key", entities[0], "with spaces in double quotes"), line("produce-value", "Value", "paid", "")),
		labs.CommandForm(l.Address, "member", "A member", "Do it", labs.Choose("member-what", "What", [][2]string{
			{"crash *", "crash now"}, {"crash * after poll", "crash after poll"}, {"crash * after processing", "crash after processing"}, {"crash * before commit", "crash before its commit"},
			{"crash * after commit", "crash after its commit"}, {"start *", "start"}, {"pause *", "pause"}, {"resume *", "resume"}, {"leave *", "leave"}, {"commit *", "commit"},
		}...), labs.Choose("member-who", "Who", members...)),
		l.deleteForm(),
		labs.CommandForm(l.Address, "offsets", "Offsets of a group", "Do it", labs.Choose("offsets-what", "What", what...),
			line("offsets-to", "Where", string(command.ToEarliest), "earliest, latest, offset 1, shift -2 or duration 5s; a reset alone needs an empty group")),
		labs.LinkForm(l.Address, labs.Nodes(l.View)),
	}
	if l.Beside != nil { // there is less room
		return []view.Form{list[0], list[len(list)-1]}
	}
	return list
}

// deleteForm deletes the records of a partition below an offset.
func (l *layout) deleteForm() view.Form {
	var which [][2]string
	for i := range l.parts {
		name := l.parts[i].TopicPartition.String()
		which = append(which, [2]string{"delete-records " + name + " @*", name})
	}
	return labs.CommandForm(l.Address, "delete-records", "Delete records", "Delete", labs.Choose("delete-which", "Partition", which...),
		view.Field{ID: "delete-offset", Name: "do", Label: "Below offset", Kind: view.Number, Value: fmt.Sprint(l.parts[0].Log.HighWatermark), Max: 1_000_000, Help: "the log begins there at once"})
}
