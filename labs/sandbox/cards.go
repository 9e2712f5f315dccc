package sandbox

import (
	"fmt"
	"slices"
	"strings"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// cards draw brokers, controller, producers, groups and members, each with the message that comes to it next.
func (l *layout) cards() *view.Cluster {
	c := &view.Cluster{}
	for _, b := range l.View.Brokers {
		c.Clients = append(c.Clients, l.brokerCard(b))
	}
	c.Clients = append(c.Clients, l.controllerCard())
	for i := range l.View.Producers {
		c.Clients = append(c.Clients, l.producerCard(&l.View.Producers[i]))
	}
	drawn, left := 0, 0
	for i := range l.View.Groups {
		g := &l.View.Groups[i]
		c.Clients = append(c.Clients, l.groupCard(g))
		for j := range g.Members {
			if drawn == l.members {
				left++
				continue
			}
			drawn++
			c.Clients = append(c.Clients, l.memberCard(&g.Members[j]))
		}
	}
	if left > 0 {
		c.Clients[len(c.Clients)-1].More = kafka.Count(left, "more member") + " not drawn"
	}
	return c
}

// brokerWords say how a broker's process is, and what the controller makes of it.
func brokerWords(b engine.BrokerView) string {
	words := []string{string(b.State)}
	if b.State == engine.BrokerPowerOff {
		words[0] = "no power"
	}
	switch {
	case !b.Up() && !b.Fenced:
		words = append(words, "the controller still counts it as alive")
	case b.Up() && b.Paused:
		words = append(words, "paused")
	}
	if b.Up() && b.Fenced {
		words = append(words, "fenced")
	}
	return strings.Join(words, ", ")
}

// brokerCard draws a broker with what it leads and coordinates.
func (l *layout) brokerCard(b engine.BrokerView) view.Node {
	n := l.Node(b.Node, l.inbox)
	n.Words = "broker, " + brokerWords(b)
	switch {
	case !b.Up():
		n.State = "down"
	case b.Paused:
		n.State = "stopped"
	}
	var leads, coordinates []string
	for i := range l.parts {
		if l.parts[i].Leader == b.ID {
			leads = append(leads, l.parts[i].TopicPartition.String())
		}
	}
	for i := range l.View.Groups {
		if l.View.Groups[i].Coordinator == b.Node {
			coordinates = append(coordinates, l.View.Groups[i].ID)
		}
	}
	for _, t := range l.View.Transactions {
		if t.Coordinator == b.Node && t.Held != nil {
			coordinates = append(coordinates, fmt.Sprintf("%s (%s)", t.TransactionalID, t.Held.State))
		}
	}
	if len(leads) > 0 {
		n.Lines = append(n.Lines, "leads "+few(leads))
	}
	if len(coordinates) > 0 {
		n.Lines = append(n.Lines, "coordinates "+few(coordinates))
	}
	return n
}

// few names at most four of a list.
func few(names []string) string {
	const most = 4
	if len(names) > most {
		names = append(slices.Clone(names[:most-1]), fmt.Sprintf("%d more", len(names)-most+1))
	}
	return strings.Join(names, ", ")
}

// controllerCard draws the controller with the brokers that it counts as alive.
func (l *layout) controllerCard() view.Node {
	n := l.Node(l.View.Controller.Node, l.inbox)
	var alive []kafka.BrokerID
	for _, b := range l.View.Brokers {
		if !b.Fenced {
			alive = append(alive, b.ID)
		}
	}
	n.Words = "counts as alive: " + labs.BrokerNames(alive)
	if l.View.Controller.Paused {
		n.State, n.Words = "stopped", "paused"
	}
	return n
}

// producerCard draws a producer with its transaction.
func (l *layout) producerCard(p *engine.ProducerView) view.Node {
	n := l.Node(p.ID, l.inbox)
	n.Words = "producer"
	switch {
	case !p.Alive:
		n.State, n.Words = "down", "producer, down"
		return n
	case p.Paused:
		n.State, n.Words = "stopped", "producer, paused"
	}
	n.Lines = append(n.Lines, fmt.Sprintf("handed in %d, acknowledged %d, failed %d", p.Produced, p.Acknowledged, p.Failed))
	if t := p.Producer.Transaction; t != nil {
		n.Lines = append(n.Lines, t.TransactionalID+": "+string(t.State))
		if t.Error != "" {
			n.Lines = append(n.Lines, "error: "+t.Error)
		}
	}
	if p.Producer.ProducerID >= 0 {
		n.Lines = append(n.Lines, fmt.Sprintf("producer id %d, epoch %d", p.Producer.ProducerID, p.Producer.ProducerEpoch))
	}
	return n
}

// groupCard draws what the coordinator has of a group.
func (l *layout) groupCard(g *engine.GroupView) view.Node {
	n := view.Node{ID: "group-" + g.ID, Name: g.ID, At: labs.Target{Kind: labs.GroupTarget, Node: kafka.NodeID(g.ID)}.String(), State: "up", Words: "group, " + standing(g)}
	if g.Held == nil {
		n.State = "stopped"
		return n
	}
	n.Lines = append(n.Lines, fmt.Sprintf("coordinator %s; lag %s", g.Coordinator, l.lagSum(g)))
	return n
}

// standing says what the coordinator makes of a group.
func standing(g *engine.GroupView) string {
	switch {
	case g.Coordinator == "":
		return "no coordinator"
	case g.State == "":
		return "not formed"
	}
	if g.Held != nil && g.Held.Epoch > 0 {
		return fmt.Sprintf("%s, epoch %d", g.State, g.Held.Epoch)
	}
	return fmt.Sprintf("%s, generation %d", g.State, g.Generation)
}

// memberCard draws a member with what it reads.
func (l *layout) memberCard(m *engine.MemberView) view.Node {
	n := l.Node(kafka.NodeID(m.ID), l.inbox)
	n.Words = m.App
	switch {
	case !m.Alive:
		n.State, n.Words = "down", "does not run"
		return n
	case m.Paused:
		n.State, n.Words = "stopped", "paused"
	case m.State != "stable":
		n.Words += "; " + m.State
	}
	n.Lines = append(n.Lines, readsText(m))
	if hand := len(m.Busy) + len(m.Queue); hand > 0 {
		n.Lines = append(n.Lines, kafka.Count(hand, "record")+" in hand")
	}
	for i, c := range m.Committing {
		if i == 0 {
			n.Lines = append(n.Lines, fmt.Sprintf("commit under way: %s → %d", c.TopicPartition, c.Next))
		}
	}
	if m.Armed != "" {
		n.Faults = append(n.Faults, "will crash "+m.Armed)
	}
	return n
}

// readsText lists what a member reads.
func readsText(m *engine.MemberView) string {
	var names []string
	for _, a := range m.Assignment {
		names = append(names, a.TopicPartition.String())
	}
	if len(names) == 0 {
		return "idle: it reads no partition"
	}
	return "reads " + few(names)
}
