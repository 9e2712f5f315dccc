package delivery

import (
	"fmt"
	"slices"
	"strings"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/engine/kafka"
	"loglab/engine/txn"
	"loglab/labs/view"
)

// machine draws the coordinator's states with the transactional ids that are in each; nil: there are none, and no other run
// beside this one.
func (l *layout) machine() *view.Machine {
	if len(l.View.Transactions) == 0 && l.Beside == nil {
		return nil
	}
	m := &view.Machine{Title: "States of a transactional.id at its coordinator"}
	state := func(s txn.State, text string) view.MachineState {
		d := view.MachineState{Name: string(s), Text: text}
		for _, t := range l.View.Transactions {
			if t.Held != nil && t.Held.State == s {
				d.Now = true
				d.In = append(d.In, t.TransactionalID)
			}
		}
		return d
	}
	m.States = []view.MachineState{state(txn.Empty, "no transaction"), state(txn.Ongoing, "open")}
	m.Ends = [][]view.MachineState{
		{state(txn.PrepareCommit, "COMMIT markers go out"), state(txn.CompleteCommit, "all are written")},
		{state(txn.PrepareAbort, "ABORT markers go out"), state(txn.CompleteAbort, "all are written")},
	}
	if len(l.View.Transactions) == 0 {
		m.Facts = []view.Fact{{Name: "transactional.id", Value: "nobody has one"}}
	}
	for _, t := range l.View.Transactions {
		m.Facts = append(m.Facts, view.Fact{Name: t.TransactionalID, Value: l.heldText(t)})
	}
	return m
}

// heldText says what a coordinator has of a transactional id.
func (l *layout) heldText(t engine.TransactionalView) string {
	switch {
	case t.Coordinator == "":
		return "no coordinator runs"
	case t.Held == nil:
		return string(t.Coordinator) + " knows nothing of it"
	}
	h := t.Held
	text := fmt.Sprintf("%s, producer id %d, epoch %d", t.Coordinator, h.ProducerID, h.ProducerEpoch)
	if h.PendingState != "" {
		text += ", → " + string(h.PendingState)
	}
	if h.State == txn.Ongoing && h.TimesOut > 0 {
		text += fmt.Sprintf(", aborted in tick %d at the latest", l.TickAfter(h.TimesOut))
	}
	return text
}

// steps draws where the application is in its loop.
func (l *layout) steps() *view.Machine {
	m := &view.Machine{Title: "Steps of the application " + billing}
	names := l.stepNames()
	for _, s := range names {
		m.States = append(m.States, view.MachineState{Name: s[0], Text: s[1]})
	}
	for i := range l.app.Members {
		member := &l.app.Members[i]
		step := l.stepOf(member)
		if at := slices.IndexFunc(names, func(s [2]string) bool { return s[0] == step }); at >= 0 {
			m.States[at].Now = true
			m.States[at].In = append(m.States[at].In, string(member.ID))
		}
		if c := l.lastCrash(kafka.NodeID(member.ID)); !member.Alive && c != nil {
			if at := slices.IndexFunc(names, func(s [2]string) bool { return s[0] == l.stepOfPoint(c.at) }); at >= 0 {
				m.States[at].Warn, m.States[at].Text = true, "crashed "+c.at
			}
		}
		m.Facts = append(m.Facts, view.Fact{Name: string(member.ID), Value: l.memberWords(member)})
	}
	return m
}

// The steps of the application.
const (
	stepPoll    = "poll"
	stepProcess = "process"
	stepWrite   = "write"
	stepOffsets = "send offsets"
	stepCommit  = "commit"
)

// stepNames are the steps of the loop as it is set up, each with what it does.
func (l *layout) stepNames() (list [][2]string) {
	add := func(name, text string) { list = append(list, [2]string{name, text}) }
	add(stepPoll, "orders")
	if l.bills == nil {
		if l.Address.Values.Text("commit") == commitFirst {
			add(stepCommit, "offsets")
		}
		add(stepProcess, "effect, each")
		if l.Address.Values.Text("commit") == commitAfter {
			add(stepCommit, "offsets")
		}
		return list
	}
	first := !appTransacts(l.Address.Values) && l.Address.Values.Text("commit") == commitFirst
	if first {
		add(stepCommit, "offsets")
	}
	if l.outside() == nothing {
		add(stepProcess, "each, and send")
	} else {
		add(stepProcess, "and effect, and send")
	}
	add(stepWrite, "acknowledged")
	if appTransacts(l.Address.Values) {
		add(stepOffsets, "in transaction")
		add(stepCommit, "bills and offsets")
	} else if !first {
		add(stepCommit, "offsets")
	}
	return list
}

// stepOf says at which step an instance is; empty: at none.
func (l *layout) stepOf(m *engine.MemberView) string {
	switch text := m.App; {
	case !m.Alive:
		return ""
	case strings.HasPrefix(text, "processing"):
		return stepProcess
	case text == "waiting for its records to be acknowledged":
		return stepWrite
	case text == "in sendOffsetsToTransaction":
		return stepOffsets
	case text == "in commitTransaction", text == "waiting for a commit":
		return stepCommit
	case text == "polling":
		return stepPoll
	}
	return ""
}

// stepOfPoint says at which step a crash at a point was; empty: it was at none.
func (l *layout) stepOfPoint(at string) string {
	when := strings.Join(strings.Fields(at)[:min(2, len(strings.Fields(at)))], " ") // a point may name a record
	switch command.CrashWhen(when) {
	case command.AfterPoll:
		return stepPoll
	case command.BeforeProcessing, command.AfterProcessing:
		return stepProcess
	case command.AfterProduce:
		return stepWrite
	case command.AfterOffsets:
		return stepOffsets
	case command.BeforeCommit, command.DuringCommit, command.AfterCommit:
		return stepCommit
	}
	return ""
}

// memberWords say what an instance does.
func (l *layout) memberWords(m *engine.MemberView) string {
	switch {
	case !m.Alive:
		if c := l.lastCrash(kafka.NodeID(m.ID)); c != nil {
			return fmt.Sprintf("crashed in tick %d%s", c.tick, pointText(c.at))
		}
		return "does not run"
	case m.Paused:
		return "stands still, " + m.App
	case m.Armed != "":
		return m.App + "; will crash " + m.Armed
	}
	return m.App
}

func pointText(at string) string {
	if at == "" {
		return ""
	}
	return ", " + at
}
