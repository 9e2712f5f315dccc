package partitions

import (
	"fmt"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// How many messages a lane shows at most; fewer where two runs stand beside each other.
const (
	envelopesShown  = 8
	envelopesBeside = 4
)

// network draws the envelopes between the producers, the broker and the group.
func (l *layout) network() view.Network {
	producers, brokers := view.Stop{Name: "Producers"}, view.Stop{Name: "Broker"}
	consumers := view.Stop{Name: "Consumers", More: kafka.Count(len(l.View.Groups[0].Members), "consumer") + " of " + group}
	for _, p := range l.View.Producers {
		n := drawNode("node-", p.ID, standing(p.Alive, p.Paused))
		if !p.Sending && p.Alive {
			n.Text = "application stopped"
		}
		producers.Nodes = append(producers.Nodes, n)
	}
	for _, b := range l.View.Brokers {
		brokers.Nodes = append(brokers.Nodes, drawNode("node-", b.Node, standing(b.Up(), b.Paused)))
	}
	return view.Network{
		Title: "On the network", Stops: []view.Stop{producers, brokers, consumers},
		Lanes: []view.Lane{
			l.lane("between producers and broker", func(node kafka.NodeID) bool { return !l.isMember(node) }),
			l.lane("between broker and consumers", l.isMember),
		},
	}
}

// drawNode draws a node as something that can be opened; prefix and name are its element id.
func drawNode(prefix string, node kafka.NodeID, state string) view.Member {
	return view.Member{ID: prefix + string(node), Name: string(node), At: labs.Target{Kind: labs.NodeTarget, Node: node}.String(), State: state}
}

// The states of a node's process.
const (
	working = "working"
	paused  = "paused"
	down    = "down"
)

// standing says how a node's process is.
func standing(alive, isPaused bool) string {
	switch {
	case !alive:
		return down
	case isPaused:
		return paused
	}
	return working
}

// isMember says whether a node is a consumer of the group.
func (l *layout) isMember(node kafka.NodeID) bool {
	for _, m := range l.View.Groups[0].Members {
		if kafka.NodeID(m.ID) == node {
			return true
		}
	}
	return false
}

// lane draws the messages whose client is on that side.
func (l *layout) lane(name string, isClient func(kafka.NodeID) bool) view.Lane {
	lane := view.Lane{Name: name, Empty: "nothing on its way"}
	left, most := 0, envelopesShown
	if l.Beside != nil {
		most = envelopesBeside
	}
	for _, m := range l.View.UnderWay {
		client := m.From
		if m.Answer {
			client = m.To
		}
		switch {
		case !isClient(client):
		case len(lane.Items) == most:
			left++
		default:
			lane.Items = append(lane.Items, l.envelope(m, l.isMember(client) == m.Answer))
		}
	}
	if left > 0 {
		lane.More = kafka.Count(left, "more message")
	}
	return lane
}

// envelope draws one message.
func (l *layout) envelope(m engine.MessageView, right bool) view.Message {
	kind := "request"
	if m.Answer {
		kind = "response"
	}
	when := fmt.Sprintf("in %d ms", m.DueAt-l.View.Now)
	if m.Held {
		when = "held until it resumes"
	}
	return view.Message{
		ID: fmt.Sprintf("m-%d", m.ID), From: string(m.From), To: string(m.To), Text: fmt.Sprintf("%s %s", m.API, kind),
		When: when, At: labs.Target{Kind: labs.MessageTarget, Number: int64(m.ID)}.String(), Right: right, Response: m.Answer,
	}
}
