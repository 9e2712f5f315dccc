package replication

import (
	"fmt"
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
	if l.Beside != nil {
		return l.Node(id, inboxBeside)
	}
	return l.Node(id, inboxShown)
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
	n.Words = "counts as alive: " + labs.BrokerNames(l.alive())
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
	case !b.Up():
		n.State = "down"
		if !b.Fenced {
			words = append(words, "the controller still counts it as alive")
		}
	case b.Paused:
		n.State = "stopped"
		words = append(words, "paused")
	}
	if b.Up() && b.Fenced {
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
