package offsets

import (
	"fmt"
	"strings"

	"loglab/engine"
	"loglab/engine/group"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// cards draws each consumer with what it does, and each group's coordinator.
func (l *layout) cards() *view.Cluster {
	c := &view.Cluster{Columns: 1}
	left := 0
	for _, g := range l.groups {
		c.Clients = append(c.Clients, l.groupCard(g))
		for i := range g.Members {
			if len(c.Clients) >= l.members {
				left++
				continue
			}
			c.Clients = append(c.Clients, l.memberCard(g, &g.Members[i]))
		}
	}
	if left > 0 {
		last := &c.Clients[len(c.Clients)-1]
		last.More = kafka.Count(left, "more consumer") + " not drawn"
	}
	return c
}

// groupCard draws what the coordinator has of a group.
func (l *layout) groupCard(g *groupState) view.Node {
	n := view.Node{ID: "group-" + g.ID, Name: g.ID, At: labs.Target{Kind: labs.GroupTarget, Node: kafka.NodeID(g.ID)}.String(), State: "up", Words: g.standing()}
	if g.Held == nil {
		n.State = "stopped"
		return n
	}
	n.Lines = append(n.Lines, "coordinator "+string(g.Coordinator))
	for _, m := range g.silent() {
		n.Faults = append(n.Faults, fmt.Sprintf("session of %s ends in tick %d", m.Host, l.tickAt(m.SessionEnds)))
	}
	if g.Held.JoinEnds > 0 {
		n.Lines = append(n.Lines, fmt.Sprintf("waits for all members to join, until tick %d at the latest", l.tickAt(g.Held.JoinEnds)))
	}
	return n
}

// silent lists the members of a group behind which there is no process that sends heartbeats: it has ended, is paused, or
// was started again and has another member id.
func (g *groupState) silent() (list []group.MemberView) {
	if g.Held == nil {
		return nil
	}
	for _, held := range g.Held.Members {
		if m := g.consumer(held.Host); held.SessionEnds > 0 && (m == nil || !m.Alive || m.Paused || m.MemberView.MemberID != held.ID) {
			list = append(list, held)
		}
	}
	return list
}

// consumer gives the consumer at a node; nil: there is none.
func (g *groupState) consumer(node kafka.NodeID) *engine.MemberView {
	for i := range g.Members {
		if kafka.NodeID(g.Members[i].ID) == node {
			return &g.Members[i]
		}
	}
	return nil
}

// tickAt gives the first tick at whose frame a moment from now on is over.
func (l *layout) tickAt(at kafka.Millis) int { return l.TickAfter(at) }

// memberCard draws one consumer.
func (l *layout) memberCard(g *groupState, m *engine.MemberView) view.Node {
	n := l.Node(kafka.NodeID(m.ID), inboxShown)
	n.Words = m.App
	switch {
	case !m.Alive:
		n.State, n.Words = "down", l.deadText(g, m)
		n.Lines = append(n.Lines, l.sessionLine(g, m)...)
		return n
	case m.Paused:
		n.State, n.Words = "stopped", "paused"
		n.Lines = append(n.Lines, l.sessionLine(g, m)...)
	case g.Held == nil && m.State == "stable":
		n.Words += "; no coordinator knows its group now"
	case g.knows(m) && !g.counts(m) && m.State == "stable":
		n.State, n.Words = "stopped", fmt.Sprintf("a member that does not know of generation %d", g.Generation)
	case !g.counts(m) && m.State == "stable":
		n.State, n.Words = "stopped", "fenced: it does not know yet that it is no member"
	case m.App == failedApp:
		n.State = "stopped"
	case m.State != "stable":
		n.Words += "; " + m.State
	}
	n.Lines = append(n.Lines, g.readsText(m))
	if hand := len(m.Busy) + len(m.Queue); hand > 0 {
		n.Lines = append(n.Lines, fmt.Sprintf("%s in hand", kafka.Count(hand, "record")))
	}
	for _, c := range m.Committing {
		n.Lines = append(n.Lines, fmt.Sprintf("commit under way: %s → %d", c.TopicPartition, c.Next))
	}
	if m.Armed != "" {
		n.Faults = append(n.Faults, "will crash "+m.Armed)
	}
	if old := l.earlier(g, m); old != "" {
		n.Faults = append(n.Faults, old)
	}
	if m.Rejoin != "" && (m.State == "stable" || m.State == "not joined") {
		n.Lines = append(n.Lines, "joins again at its next poll")
	}
	if !m.Paused {
		n.Lines = append(n.Lines, l.timerText(m))
	}
	return n
}

// deadText says how a process ended.
func (l *layout) deadText(g *groupState, m *engine.MemberView) string {
	for _, c := range g.history.closed {
		if c.node == kafka.NodeID(m.ID) {
			return fmt.Sprintf("closed in tick %d", c.tick)
		}
	}
	for i := len(g.history.crashes) - 1; i >= 0; i-- {
		if c := g.history.crashes[i]; c.node == kafka.NodeID(m.ID) {
			return fmt.Sprintf("crashed in tick %d", c.tick)
		}
	}
	return "not running"
}

// sessionLine says when the group notices that a member is silent; nothing where nobody has the group now.
func (l *layout) sessionLine(g *groupState, m *engine.MemberView) []string {
	if g.blind {
		return nil
	}
	for _, held := range g.silent() {
		if held.Host == kafka.NodeID(m.ID) {
			return []string{fmt.Sprintf("the group has not noticed: session ends in tick %d", l.tickAt(held.SessionEnds))}
		}
	}
	return []string{"no member of the group"}
}

// readsText lists what a consumer reads, or by its own belief has to read where the group does not count on it any more.
func (g *groupState) readsText(m *engine.MemberView) string {
	var names []string
	for _, a := range m.Assignment {
		names = append(names, a.TopicPartition.String())
	}
	if len(names) == 0 {
		return "idle: it reads no partition"
	}
	const most = 4
	if len(names) > most {
		names = append(names[:most-1], fmt.Sprintf("%d more", len(names)-most+1))
	}
	if g.Held != nil && !g.knows(m) {
		return "takes for its own " + strings.Join(names, ", ")
	}
	return "reads " + strings.Join(names, ", ")
}

// timerText says what a consumer does next by itself.
func (l *layout) timerText(m *engine.MemberView) string {
	for _, b := range m.Busy {
		if b.Waits {
			return fmt.Sprintf("the sink is full: %s @%d waits until tick %d", b.TopicPartition, b.Offset, l.tickAt(b.DoneAt))
		}
		if b.Thread == 0 {
			return fmt.Sprintf("done with %s @%d in tick %d", b.TopicPartition, b.Offset, l.tickAt(b.DoneAt))
		}
	}
	if m.MemberView.MemberID == "" {
		return "looks for its coordinator or joins"
	}
	if !beats(m) {
		return "no heartbeat before it has joined"
	}
	return "heartbeat " + l.beatText(m)
}

// beatText says when a member sends its next heartbeat. Heartbeats in the poll loop wait for the work between two polls.
func (l *layout) beatText(m *engine.MemberView) string {
	if l.Address.Values.Text("heartbeats") == inLoop && len(m.Busy) > 0 {
		return fmt.Sprintf("between two records or in poll, not before tick %d", l.tickAt(m.HeartbeatAt))
	}
	return fmt.Sprintf("in tick %d", l.tickAt(m.HeartbeatAt))
}

// beats says whether a member sends heartbeats.
func beats(m *engine.MemberView) bool {
	return m.State == "stable" || m.State == "waiting for its assignment"
}

// earlier says until when a restarted consumer waits for its earlier self to be removed; empty: it does not.
func (l *layout) earlier(g *groupState, m *engine.MemberView) string {
	for _, held := range g.silent() {
		if held.Host == kafka.NodeID(m.ID) && m.Alive && !m.Paused && held.InstanceID == "" {
			return fmt.Sprintf("its earlier process is still a member: its session ends in tick %d", l.tickAt(held.SessionEnds))
		}
	}
	return ""
}
