package partitions

import (
	"fmt"

	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/inspect"
	"loglab/labs/view"
)

// inspectNode shows a consumer, the producer or the broker, and what it waits for.
func inspectNode(f labs.Frame, in *view.Inspector, node kafka.NodeID) bool {
	state, found := "", false
	for _, m := range f.View.Groups[0].Members {
		if kafka.NodeID(m.ID) != node {
			continue
		}
		found, state = true, standing(m.Alive, m.Paused)
		in.AddFact("Member of", "%s, assignor %s", group, f.Address.Values.Text("assignor"))
		in.AddFact("Assignment", "%s.", m.Rule)
		table := view.Table{ID: "assignment", Caption: "What it reads", Head: []string{"Partition", "Position", "Read", "To read"}}
		for _, a := range m.Assignment {
			table.Rows = append(table.Rows, inspect.Cells(a.TopicPartition.String(), positionText(a.Position), fmt.Sprint(a.Read), fmt.Sprint(a.Lag)))
		}
		if len(m.Assignment) == 0 {
			table.More = "Nothing: it is idle."
		}
		in.Tables = append(in.Tables, table)
	}
	for _, p := range f.View.Producers {
		if p.ID == node {
			found, state = true, standing(p.Alive, p.Paused)
			in.AddFact("Handed in", "%s", kafka.Count(p.Produced, "record"))
			in.AddFact("In open batches", "%s", kafka.Count(p.Waiting, "record"))
			in.AddFact("Acknowledged", "%s", kafka.Count(p.Acknowledged, "record"))
		}
	}
	for _, b := range f.View.Brokers {
		if b.Node == node {
			found, state = true, standing(b.Up(), b.Paused)
			if b.Up() {
				in.AddFact("Leads", "%s", kafka.Count(ledBy(f, b.ID), "partition"))
				in.AddFact("Waiting fetches", "%d", b.Parked)
			}
		}
	}
	switch {
	case state == down:
		in.AddFact("Process", "does not run")
	case found:
		inspectFrame(f).Waits(in, node, state == paused)
	}
	return found
}

// ledBy counts the partitions that a broker leads.
func ledBy(f labs.Frame, id kafka.BrokerID) (n int) {
	for _, p := range f.View.Partitions {
		if p.Leader == id {
			n++
		}
	}
	return n
}

// positionText writes a position; there is none before a reader has asked for one.
func positionText(at kafka.Offset) string {
	if at < 0 {
		return "none yet"
	}
	return fmt.Sprint(at)
}
