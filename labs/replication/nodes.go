package replication

import (
	"fmt"
	"slices"
	"strings"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// cluster draws all nodes.
func (l *layout) cluster() *view.Cluster {
	c := &view.Cluster{Columns: columnsOf(len(l.View.Brokers))}
	for i := range l.View.Producers {
		c.Clients = append(c.Clients, l.producerNode(&l.View.Producers[i]))
	}
	for i := range l.View.Groups[0].Members {
		c.Clients = append(c.Clients, l.consumerNode(&l.View.Groups[0].Members[i]))
	}
	for _, b := range l.View.Brokers {
		c.Brokers = append(c.Brokers, l.brokerNode(b))
	}
	c.Controller = l.controllerNode()
	return c
}

// columnsOf says how many of n brokers stand beside each other.
func columnsOf(n int) int {
	switch {
	case n <= 4:
		return n
	case n == 5, n == 6, n == 9:
		return 3
	}
	return 4
}

// newNode begins a node with the messages that are on their way to it.
func (l *layout) newNode(id kafka.NodeID) view.Node {
	n := view.Node{ID: "node-" + string(id), Name: string(id), At: labs.Target{Kind: labs.NodeTarget, Node: id}.String(), State: "up", Faults: l.faultsAt(id)}
	left, most := 0, inboxShown
	if l.Beside != nil {
		most = inboxBeside
	}
	for _, m := range l.View.UnderWay {
		switch {
		case m.To != id:
		case len(n.Inbox) == most:
			left++
		default:
			n.Inbox = append(n.Inbox, l.envelope(m))
		}
	}
	if left > 0 {
		n.More = fmt.Sprintf("%d more on their way", left)
	}
	return n
}

// envelope draws one message.
func (l *layout) envelope(m engine.MessageView) view.Message {
	kind := "request"
	if m.Answer {
		kind = "response"
	}
	e := view.Message{
		ID: fmt.Sprintf("m-%d", m.ID), From: string(m.From), To: string(m.To), Text: m.API + " " + kind,
		When: fmt.Sprintf("in tick %d", l.tickAfter(m.DueAt)), At: labs.Target{Kind: labs.MessageTarget, Number: int64(m.ID)}.String(), Response: m.Answer,
	}
	if m.Message.IsReset() {
		e.Text = m.API
	}
	if m.Held {
		e.When, e.Held = "waits: link cut", true
		if l.paused(m.To) && !l.cut(m.From, m.To) {
			e.When = "waits: paused"
		}
	}
	return e
}

// cut says whether nothing passes from one node to another.
func (l *layout) cut(from, to kafka.NodeID) bool {
	return slices.ContainsFunc(l.View.Faulty, func(f engine.LinkView) bool { return f.Cut && f.From == from && f.To == to })
}

// tickAfter gives the tick in which a moment from now on falls.
func (l *layout) tickAfter(at kafka.Millis) int {
	return l.Address.T + 1 + max(int((at-l.View.Now)/tickMillis), 0)
}

// paused says whether a node's process stands still.
func (l *layout) paused(id kafka.NodeID) bool {
	for _, b := range l.View.Brokers {
		if b.Node == id {
			return b.Paused
		}
	}
	for _, p := range l.View.Producers {
		if p.ID == id {
			return p.Paused
		}
	}
	for _, m := range l.View.Groups[0].Members {
		if kafka.NodeID(m.ID) == id {
			return m.Paused
		}
	}
	return l.View.Controller.Node == id && l.View.Controller.Paused
}

// faultsAt says in words what is wrong with the links of a node, each link at the node where its messages arrive.
func (l *layout) faultsAt(id kafka.NodeID) (lines []string) {
	for _, f := range l.View.Faulty {
		if f.To != id {
			continue
		}
		var words []string
		if f.Cut {
			words = append(words, "cut")
		}
		if f.Delay > 0 {
			words = append(words, fmt.Sprintf("%s ms later", kafka.Thousands(f.Delay)))
		}
		if f.Drop > 0 {
			words = append(words, "drops "+nextMessages(f.Drop))
		}
		if f.Double > 0 {
			words = append(words, "doubles "+nextMessages(f.Double))
		}
		lines = append(lines, fmt.Sprintf("link from %s: %s", f.From, strings.Join(words, ", ")))
	}
	return lines
}

// producerNode draws the producer with what it believes.
func (l *layout) producerNode(p *engine.ProducerView) view.Node {
	n := l.newNode(p.ID)
	n.Words = "producer"
	switch {
	case !p.Alive:
		n.State, n.Words = "down", "producer, down"
	case p.Paused:
		n.State, n.Words = "stopped", "producer, paused"
	case !p.Sending:
		n.Words = "producer, application stopped"
	}
	n.Lines = append(n.Lines, fmt.Sprintf("handed in %d, acknowledged %d, failed %d", p.Produced, p.Acknowledged, p.Failed))
	state := p.Producer
	if retried, why := retries(p); retried > 0 {
		n.Lines = append(n.Lines, fmt.Sprintf("%s tried again (%s)", kafka.Count(retried, "record"), why))
	} else if p.Waiting > 0 {
		n.Lines = append(n.Lines, kafka.Count(p.Waiting, "record")+" to be sent")
	}
	switch {
	case state.ProducerID >= 0:
		n.Lines = append(n.Lines, fmt.Sprintf("producer id %d, epoch %d", state.ProducerID, state.ProducerEpoch))
	case !state.Idempotent:
		n.Lines = append(n.Lines, "not idempotent")
	}
	return n
}

// retries counts the records that a producer sends again or is about to, and says why.
func retries(p *engine.ProducerView) (records int, why string) {
	for _, part := range p.Producer.Partitions {
		for _, b := range part.Batches {
			if b.Attempts > 0 {
				records += len(b.Records)
				why = b.Error
			}
		}
	}
	return records, why
}

// consumerNode draws a consumer.
func (l *layout) consumerNode(m *engine.MemberView) view.Node {
	n := l.newNode(kafka.NodeID(m.ID))
	n.Words = "consumer"
	switch {
	case !m.Alive:
		n.State, n.Words = "down", "consumer, down"
	case m.Paused:
		n.State, n.Words = "stopped", "consumer, paused"
	}
	read, lag := 0, int64(0)
	for _, a := range m.Assignment {
		read, lag = read+a.Read, lag+a.Lag
	}
	n.Lines = append(n.Lines, fmt.Sprintf("read %d, %d to read", read, max(lag, 0)))
	return n
}

// controllerNode draws the controller with what it holds of the brokers.
func (l *layout) controllerNode() *view.Node {
	c := l.View.Controller
	n := l.newNode(c.Node)
	n.Words = "counts as alive: " + nodes(l.alive())
	if c.Paused {
		n.State, n.Words = "stopped", "paused"
	}
	n.Lines = append(n.Lines, fmt.Sprintf("metadata log ends at %d", c.LogEndOffset))
	return &n
}

// alive lists the brokers that the controller counts as alive.
func (l *layout) alive() (ids []kafka.BrokerID) {
	for _, b := range l.View.Brokers {
		if !b.Fenced {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

// brokerNode draws a broker with its replicas of the partitions shown.
func (l *layout) brokerNode(b engine.BrokerView) view.Node {
	n := l.newNode(b.Node)
	words := []string{string(b.State)}
	if b.State == engine.BrokerPowerOff {
		words[0] = "no power"
	}
	switch {
	case !up(b):
		n.State = "down"
		if !b.Fenced {
			words = append(words, "the controller still counts it as alive")
		}
	case b.Paused:
		n.State = "stopped"
		words = append(words, "paused")
	}
	if up(b) && b.Fenced {
		words = append(words, "fenced")
	}
	if b.DiskDelay > 0 {
		words = append(words, fmt.Sprintf("slow disk: %s ms a write", kafka.Thousands(b.DiskDelay)))
	}
	if b.Rack != "" {
		words = append(words, b.Rack)
	}
	n.Words = strings.Join(words, ", ")
	for _, p := range l.drawn() {
		if r, ok := replicaOn(p, b.ID); ok {
			n.Replicas = append(n.Replicas, l.replica(p, r))
		}
	}
	return n
}

// nextMessages names the next messages of a link, by number.
func nextMessages(n int) string {
	if n == 1 {
		return "the next message"
	}
	return fmt.Sprintf("the next %d messages", n)
}
