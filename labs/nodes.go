package labs

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/engine/kafka"
	"loglab/labs/view"
)

// Node begins the drawing of a node: what opens it, what is wrong with the links that lead to it, and the messages that
// are on their way to it, at most that many.
func (f Frame) Node(id kafka.NodeID, messages int) view.Node {
	n := view.Node{ID: "node-" + string(id), Name: string(id), At: Target{Kind: NodeTarget, Node: id}.String(), State: "up", Faults: f.faultsAt(id)}
	left := 0
	for _, m := range f.View.UnderWay {
		switch {
		case m.To != id:
		case len(n.Inbox) == messages:
			left++
		default:
			n.Inbox = append(n.Inbox, f.Envelope(m))
		}
	}
	switch {
	case left > 0 && messages == 0:
		n.More = fmt.Sprintf("%d on their way", left)
	case left > 0:
		n.More = fmt.Sprintf("%d more on their way", left)
	}
	return n
}

// Envelope draws one message.
func (f Frame) Envelope(m engine.MessageView) view.Message {
	kind := "request"
	if m.Answer {
		kind = "response"
	}
	e := view.Message{
		ID: fmt.Sprintf("m-%d", m.ID), From: string(m.From), To: string(m.To), Text: m.API + " " + kind,
		When: fmt.Sprintf("in tick %d", f.TickAfter(m.DueAt)), At: Target{Kind: MessageTarget, Number: int64(m.ID)}.String(), Response: m.Answer,
	}
	if m.Message.IsReset() {
		e.Text = m.API
	}
	if m.Held {
		e.When, e.Held = "waits: link cut", true
		if f.IsPaused(m.To) && !f.IsCut(m.From, m.To) {
			e.When = "waits: paused"
		}
	}
	return e
}

// IsCut says whether nothing passes from one node to another.
func (f Frame) IsCut(from, to kafka.NodeID) bool {
	return slices.ContainsFunc(f.View.Faulty, func(l engine.LinkView) bool { return l.Cut && l.From == from && l.To == to })
}

// TickAfter gives the tick in which a moment from now on falls, with the waits that the address has for later ticks; what is
// due at the very time of a frame happens in the tick after it.
func (f Frame) TickAfter(at kafka.Millis) int {
	tick, now, step := f.Address.T, f.View.Now, f.Address.TickMillis()
	for _, do := range f.Address.Do {
		wait, ok := do.Command.(command.Wait)
		if !ok || do.Tick <= f.Address.T {
			continue
		}
		before := now + kafka.Millis(do.Tick-tick)*step
		if at < before {
			break
		}
		tick, now = do.Tick, before+wait.Span
		if at < now {
			return tick
		}
	}
	return tick + 1 + max(int((at-now)/step), 0)
}

// IsPaused says whether a node's process stands still.
func (f Frame) IsPaused(id kafka.NodeID) bool {
	for _, b := range f.View.Brokers {
		if b.Node == id {
			return b.Paused
		}
	}
	for _, p := range f.View.Producers {
		if p.ID == id {
			return p.Paused
		}
	}
	for _, g := range f.View.Groups {
		for _, m := range g.Members {
			if kafka.NodeID(m.ID) == id {
				return m.Paused
			}
		}
	}
	return f.View.Controller.Node == id && f.View.Controller.Paused
}

// faultsAt says in words what is wrong with the links of a node, each link at the node where its messages arrive.
func (f Frame) faultsAt(id kafka.NodeID) (lines []string) {
	for _, l := range f.View.Faulty {
		if l.To != id {
			continue
		}
		var words []string
		if l.Cut {
			words = append(words, "cut")
		}
		if l.Delay > 0 {
			words = append(words, fmt.Sprintf("%s ms later", kafka.Thousands(l.Delay)))
		}
		if l.Drop > 0 {
			words = append(words, "drops "+nextMessages(l.Drop))
		}
		if l.Double > 0 {
			words = append(words, "doubles "+nextMessages(l.Double))
		}
		lines = append(lines, fmt.Sprintf("link from %s: %s", l.From, strings.Join(words, ", ")))
	}
	return lines
}

// nextMessages names the next messages of a link, by number.
func nextMessages(n int) string {
	if n == 1 {
		return "the next message"
	}
	return fmt.Sprintf("the next %d messages", n)
}

// BrokerName names a broker's node: "b1".
func BrokerName(id kafka.BrokerID) string { return fmt.Sprintf("b%d", id) }

// BrokerNames names brokers: "b1, b2".
func BrokerNames(ids []kafka.BrokerID) string {
	if len(ids) == 0 {
		return "none"
	}
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = BrokerName(id)
	}
	return strings.Join(names, ", ")
}

// PartitionNames names partitions, in their order.
func PartitionNames(list []kafka.TopicPartition) []string {
	var names []string
	for _, tp := range list {
		names = append(names, tp.String())
	}
	return names
}

// Nodes lists all nodes that have links.
func Nodes(v engine.View) (list []kafka.NodeID) {
	for _, b := range v.Brokers {
		list = append(list, b.Node)
	}
	list = append(list, v.Controller.Node)
	for _, p := range v.Producers {
		list = append(list, p.ID)
	}
	for _, g := range v.Groups {
		for _, m := range g.Members {
			list = append(list, kafka.NodeID(m.ID))
		}
	}
	return list
}

// Requests gives the requests of a kind that are on their way, or wait for a paused process, with their messages.
func Requests[R kmsg.Request](f Frame) iter.Seq2[R, engine.MessageView] {
	return func(yield func(R, engine.MessageView) bool) {
		for _, m := range f.View.UnderWay {
			if r, ok := m.Message.Request.(R); ok && !yield(r, m) {
				return
			}
		}
	}
}
