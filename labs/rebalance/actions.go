package rebalance

import (
	"fmt"

	"loglab/engine/command"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// buttonsFor is how many members have buttons of their own; a form has all.
const buttonsFor = 4

// closing is how many ticks a member that leaves is given before Restart starts it again.
const closing = 5

// actions adds the commands that make sense now.
func (l *layout) actions(p *view.Page) {
	add := func(id, text string, cmd command.Command, warn bool) {
		labs.AddAction(p, l.Address, id, text, cmd, warn)
	}
	labs.AddActionGroup(p, "Group "+billing)
	if i, ok := l.nextToJoin(); ok {
		add("do-join", memberName(i)+" joins", command.Start{Node: kafka.NodeID(memberName(i))}, false)
	}
	for i, s := range l.history.seats {
		if s.alive && !s.paused && !s.failed && s.in != "" && s.leaving == unaware && !l.remote() { // a client of the consumer protocol cannot ask for one
			add("do-rebalance", memberName(i)+" forces a rebalance", command.Rebalance{Node: kafka.NodeID(memberName(i))}, false)
			break
		}
	}
	topic := l.topics()[0]
	if n := l.partitionsOf(topic); n < maxPartitions {
		add("do-add-partitions", fmt.Sprintf("%s to %s", topic, kafka.Count(min(2*n, maxPartitions), "partition")), command.AddPartitions{Topic: topic, Count: min(2*n, maxPartitions)}, false)
	}
	left := buttonsFor
	for _, i := range l.present() {
		if left == 0 {
			break
		}
		left--
		labs.AddActionGroup(p, memberName(i))
		l.memberActions(p, add, i)
	}
	labs.AddActionGroup(p, "Time")
	add("do-wait", "Wait 5 s", command.Wait{Span: 5000}, false)
	p.Actions.Forms = append(l.forms(), p.Actions.Forms...)
}

// maxPartitions is how many partitions a topic has at most.
const maxPartitions = 64

// nextToJoin gives the first member that does not run.
func (l *layout) nextToJoin() (i int, ok bool) {
	for i, s := range l.history.seats {
		if !s.alive && s.in == "" {
			return i, true
		}
	}
	return 0, false
}

// memberActions are the commands for one member in its state.
func (l *layout) memberActions(p *view.Page, add labs.Adder, i int) {
	s, name := l.history.seats[i], memberName(i)
	n := kafka.NodeID(name)
	if !labs.ReviveActions(add, n, s.alive, s.paused) {
		return
	}
	if s.failed || s.leaving == closes { // its process runs, and takes no orders
		add("do-crash-"+name, "Crash", command.Crash{Node: n}, true)
		return
	}
	add("do-leave-"+name, "Leave", command.Leave{Node: n}, false)
	add("do-crash-"+name, "Crash", command.Crash{Node: n}, true)
	add("do-pause-"+name, "Pause", command.Pause{Node: n}, true)
	again := l.restart(i)
	links := &p.Actions.Groups[len(p.Actions.Groups)-1].Links
	*links = append(*links, view.Link{ID: "do-restart-" + name, Text: "Restart", Label: fmt.Sprintf("Restart: leave now, start %d ticks later", closing), Href: again.String(), Go: "push"})
}

// restart makes a member leave now and start again a little later; the frame stays.
func (l *layout) restart(i int) labs.Address {
	n := kafka.NodeID(memberName(i))
	a := l.Address.WithCommand(command.Leave{Node: n}, false)
	return a.WithTick(l.Address.T+closing).WithCommand(command.Start{Node: n}, true).WithTick(l.Address.T)
}

// forms are the commands with something to choose.
func (l *layout) forms() []view.Form {
	hidden := append(labs.CommandParams(l.Address), view.Param{Name: "do", Value: fmt.Sprintf("%d:", l.Address.T)})
	form := func(id, title string, fields ...view.Field) view.Form {
		return view.Form{ID: id, Title: title, Action: l.Address.Path(), Submit: "Do it", Go: "push", Fields: fields, Hidden: hidden}
	}
	what := []string{"start", "leave", "crash", "pause", "resume"}
	if !l.remote() {
		what = append(what, "rebalance")
	}
	return []view.Form{
		form("member", "A member", choice("member-what", "What", what...),
			view.Field{ID: "member-who", Name: "do", Label: "Who", Kind: view.Line, Value: memberName(0), Help: memberName(0) + " to " + memberName(memberCount-1)}),
		form("more-partitions", "More partitions", choice("more-topic", "Topic", l.topics()...),
			view.Field{ID: "more-count", Name: "do", Label: "In all", Kind: view.Number, Value: fmt.Sprint(min(l.partitionsOf(l.topics()[0])+1, maxPartitions)), Min: 1, Max: maxPartitions}),
	}
}

// choice makes a field of words, each of which a command begins with.
func choice(id, label string, words ...string) view.Field {
	f := view.Field{ID: id, Name: "do", Label: label, Kind: view.Choice}
	for i, word := range words {
		value := word + " *"
		if label == "Topic" {
			value = "add-partitions " + word + " to *"
		}
		f.Options = append(f.Options, view.Option{Value: value, Text: word, Chosen: i == 0})
	}
	return f
}
