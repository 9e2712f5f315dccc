package partitions

import (
	"fmt"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// inspectNode shows a consumer, the producer or the broker, and what it waits for.
func inspectNode(f labs.Frame, in *view.Inspector, node kafka.NodeID) bool {
	paused, found := false, false
	for _, m := range f.View.Groups[0].Members {
		if kafka.NodeID(m.ID) != node {
			continue
		}
		found, paused = true, m.Paused
		in.AddFact("Member of", "%s, assignor %s", group, f.Address.Values.Text("assignor"))
		in.AddFact("Assignment", "%s.", m.Rule)
		table := view.Table{ID: "assignment", Caption: "What it reads", Head: []string{"Partition", "Position", "Read", "To read"}}
		for _, a := range m.Assignment {
			table.Rows = append(table.Rows, cells(a.TopicPartition.String(), fmt.Sprint(a.Position), fmt.Sprint(a.Read), fmt.Sprint(a.Lag)))
		}
		if len(m.Assignment) == 0 {
			table.More = "Nothing: it is idle."
		}
		in.Tables = append(in.Tables, table)
	}
	for _, p := range f.View.Producers {
		if p.ID == node {
			found, paused = true, p.Paused
			in.AddFact("Handed in", "%s", kafka.Count(p.Produced, "record"))
			in.AddFact("In open batches", "%s", kafka.Count(p.Waiting, "record"))
			in.AddFact("Acknowledged", "%s", kafka.Count(p.Acknowledged, "record"))
		}
	}
	for _, b := range f.View.Brokers {
		if b.Node == node {
			found, paused = true, b.Paused
			in.AddFact("Leads", "%s", kafka.Count(len(f.View.Partitions), "partition"))
			in.AddFact("Waiting fetches", "%d", b.Parked)
		}
	}
	if found {
		waits(f, in, node, paused)
	}
	return found
}

// waits says what a node waits for: its next timer, the answer to its last request, or to be resumed.
func waits(f labs.Frame, in *view.Inspector, node kafka.NodeID, paused bool) {
	if paused {
		in.AddFact("Waits for", "to be resumed: its process stands still and takes nothing in")
	}
	if due, does, ok := f.Cluster.NextTimer(node); ok {
		in.AddFact("Next timer", "in %s ms, at %s ms: %s", kafka.Thousands(max(due-f.View.Now, 0)), kafka.Thousands(due), does)
	} else {
		in.AddFact("Next timer", "none is set: only a message or a command makes it act")
	}
	asked, answers := pending(f, node)
	if len(asked) > 0 {
		last := asked[len(asked)-1]
		text := fmt.Sprintf("the answer to its %s request, correlation id %d, sent in tick %d", last.body.API, last.body.Correlation, last.event.Tick)
		if len(asked) > 1 {
			text = fmt.Sprintf("the answers to %s; the last: %s", kafka.Count(len(asked), "request"), text)
		}
		in.AddFact("Waits for", "%s", text)
		in.Links = append(in.Links, open(f.Address, "open-message", fmt.Sprintf("message %d", last.body.Message), labs.Target{Kind: labs.MessageTarget, Number: int64(last.body.Message)}))
		in.Chain = labs.Causes(f, last.event.Seq, causesShown)
	}
	if answers > 0 {
		in.AddFact("Owes", "%s", kafka.Count(answers, "answer"))
	}
}

// sentRequest is a request that has no answer yet.
type sentRequest struct {
	event journal.Event
	body  journal.MessageSent
}

// pending lists the requests of a node whose answers it has not taken in, and counts those that it was
// sent and has not answered.
func pending(f labs.Frame, node kafka.NodeID) (asked []sentRequest, owed int) {
	correlations := map[uint64]int32{} // of messages, by number; only looked up
	j := f.Cluster.Journal()
	for e := range j.All() {
		switch b := e.Body.(type) {
		case journal.MessageSent:
			correlations[b.Message] = b.Correlation
			switch {
			case e.Node == node && !b.Response:
				asked = append(asked, sentRequest{e, b})
			case e.Node == node:
				owed--
			}
		case journal.MessageDelivered:
			switch {
			case e.Node != node:
			case b.Response:
				for i, r := range asked {
					if r.body.Correlation == correlations[b.Message] && r.body.To == b.From {
						asked = append(asked[:i:i], asked[i+1:]...)
						break
					}
				}
			default:
				owed++
			}
		}
	}
	return asked, owed
}
