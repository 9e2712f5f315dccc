package delivery

import (
	"fmt"
	"strings"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// actions adds the commands that make sense now.
func (l *layout) actions(p *view.Page) {
	add := func(id, text string, cmd command.Command, warn bool) {
		labs.AddAction(p, l.Address, id, text, cmd, warn)
	}
	for i := range l.View.Producers {
		labs.AddActionGroup(p, string(l.View.Producers[i].ID))
		next := command.Produce{Producer: l.View.Producers[i].ID, Key: entities[l.View.Producers[i].Produced%len(entities)], Default: true}
		labs.ProducerActions(add, &l.View.Producers[i], next, l.Address.Values.Int("rate") > 0)
	}
	if crashable := false; l.app != nil {
		for i := range l.app.Members {
			m := &l.app.Members[i]
			labs.AddActionGroup(p, string(m.ID))
			memberActions(add, m)
			if m.Alive && !m.Paused && !crashable {
				crashable = true
				labs.AddActionGroup(p, "Crash "+string(m.ID))
				l.crashActions(add, m)
			}
		}
	}
	for _, b := range l.View.Brokers {
		labs.AddActionGroup(p, string(b.Node))
		labs.BrokerActions(add, b)
	}
	labs.AddActionGroup(p, "Lose the next")
	l.lossActions(add)
	labs.AddActionGroup(p, "Time")
	labs.WaitActions(add, 1000, 10_000)
	add("do-wait-60000", "Wait 60 s", command.Wait{Span: 60_000}, false)
	p.Actions.Forms = append(l.forms(), p.Actions.Forms...)
}

// memberActions are the commands for an instance of the application in its state.
func memberActions(add labs.Adder, m *engine.MemberView) {
	id, n := string(m.ID), kafka.NodeID(m.ID)
	if !labs.ReviveActions(add, n, m.Alive, m.Paused) {
		return
	}
	add("do-pause-"+id, "Pause", command.Pause{Node: n}, true)
	if m.Refuses == "" {
		add("do-leave-"+id, "Leave", command.Leave{Node: n}, false)
	}
}

// crashActions let an instance crash now, or when it next comes to a point of its loop.
func (l *layout) crashActions(add labs.Adder, m *engine.MemberView) {
	id, n := string(m.ID), kafka.NodeID(m.ID)
	add("do-crash-"+id, "now", command.Crash{Node: n}, true)
	for _, point := range l.crashPoints() {
		add(fmt.Sprintf("do-crash-%s-%s", id, strings.ReplaceAll(string(point), " ", "-")), string(point), command.Crash{Node: n, At: command.CrashPoint{When: point}}, true)
	}
}

// crashPoints are the points of the application's loop as it is set up, in order.
func (l *layout) crashPoints() []command.CrashWhen {
	list := []command.CrashWhen{command.AfterPoll, command.BeforeProcessing, command.AfterProcessing}
	if l.bills != nil {
		list = append(list, command.AfterProduce)
		if appTransacts(l.Address.Values) {
			return append(list, command.AfterOffsets, command.DuringCommit, command.AfterCommit)
		}
	}
	return append(list, command.BeforeCommit, command.AfterCommit)
}

// lossActions lose the next request to the leader of what the first producer or instance writes, or the next answer from
// it. The form for a link has all.
func (l *layout) lossActions(add labs.Adder) {
	lose := func(node kafka.NodeID, c *contents) {
		b, ok := l.leaderOf(c)
		if !ok {
			return
		}
		add("do-drop-request-"+string(node), fmt.Sprintf("request %s → %s", node, b), command.DropNext{From: node, To: b}, true)
		add("do-drop-answer-"+string(node), fmt.Sprintf("answer %s → %s", b, node), command.DropNext{From: b, To: node}, true)
	}
	if p := l.View.Producers[0]; p.Alive {
		lose(p.ID, l.orders)
	}
	if l.bills != nil {
		if m := l.app.Members[0]; m.Alive {
			lose(kafka.NodeID(m.ID), l.bills)
		}
	}
}

// leaderOf gives the broker that leads a log; ok is false if none does.
func (l *layout) leaderOf(c *contents) (kafka.NodeID, bool) {
	for _, b := range l.View.Brokers {
		if b.ID == c.Leader {
			return b.Node, true
		}
	}
	return "", false
}

// forms are the commands with something to choose.
func (l *layout) forms() []view.Form {
	var who [][2]string
	for _, p := range l.View.Producers {
		who = append(who, [2]string{fmt.Sprintf("produce %s * *", p.ID), string(p.ID)})
	}
	return []view.Form{
		labs.CommandForm(l.Address, "produce", "Produce an order", "Produce", labs.Choose("produce-who", "Producer", who...),
			view.Field{ID: "produce-key", Name: "do", Label: "Key", Kind: view.Line, Value: entities[0], Help: "with spaces in double quotes"},
			view.Field{ID: "produce-value", Name: "do", Label: "Value", Kind: view.Line, Value: "paid"}),
		labs.LinkForm(l.Address, labs.Nodes(l.View)),
	}
}
