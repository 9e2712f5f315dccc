package inspect

import (
	"fmt"
	"slices"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// Waits says what a node waits for: its next timer, the answer to its last request, or to be resumed.
func (f Frame) Waits(in *view.Inspector, node kafka.NodeID, paused bool) {
	if paused {
		in.AddFact("Waits for", "to be resumed: its process stands still and takes nothing in")
	}
	if due, does, ok := f.Cluster.NextTimer(node); ok && due < f.View.Now {
		in.AddFact("Next timer", "due: %s", does)
	} else if ok {
		in.AddFact("Next timer", "in %s ms, at %s ms: %s", kafka.Thousands(due-f.View.Now), kafka.Thousands(due), does)
	} else {
		in.AddFact("Next timer", "none is set: only a message or a command makes it act")
	}
	asked, answers := pending(f.Frame, node)
	if len(asked) > 0 {
		last := asked[len(asked)-1]
		text := fmt.Sprintf("the answer to its %s request, correlation id %d, sent in tick %d", last.body.API, last.body.Correlation, last.event.Tick)
		if len(asked) > 1 {
			text = fmt.Sprintf("the answers to %s; the last: %s", kafka.Count(len(asked), "request"), text)
		}
		in.AddFact("Waits for", "%s", text)
		in.Links = append(in.Links, labs.Open(f.Address, "open-message", fmt.Sprintf("message %d", last.body.Message), labs.Target{Kind: labs.MessageTarget, Number: int64(last.body.Message)}))
		in.Chain = labs.Causes(f.Frame, last.event.Seq, CausesShown)
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
	unanswered := withoutAnswer(f)
	j := f.Cluster.Journal()
	for e := range j.All() {
		switch b := e.Body.(type) {
		case journal.ProcessKilled, journal.PowerLost, journal.BrokerStopped, journal.ConsumerClosed:
			if e.Node == node {
				asked, owed = nil, 0
			}
		case journal.ConnectionLost:
			asked = withoutServer(asked, e.Node == node, b.Server)
		case journal.ConnectionReset:
			asked = withoutServer(asked, e.Node == node, b.Server)
		case journal.MessageSent:
			if b.API == connectionClosed {
				continue
			}
			correlations[b.Message] = b.Correlation
			if unanswered.takes(e, b) {
				continue
			}
			switch {
			case e.Node == node && !b.Response:
				asked = append(asked, sentRequest{e, b})
			case e.Node == node:
				owed--
			}
		case journal.MessageDelivered:
			switch {
			case e.Node != node || unanswered.messages[b.Message]:
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

// oneWay are the requests to which no answer comes.
type oneWay struct {
	events   map[uint64]bool // that sent them, by number; only looked up
	messages map[uint64]bool // by number; only looked up
}

// withoutAnswer finds the events with which producers sent batches with acks = 0.
func withoutAnswer(f labs.Frame) oneWay {
	w := oneWay{events: map[uint64]bool{}, messages: map[uint64]bool{}}
	for _, o := range f.Cluster.Source().Outcomes().From(0) {
		if o.Kind == engine.SentWithoutPromise {
			w.events[o.Event] = true
		}
	}
	return w
}

// takes notes a message that is such a request.
func (w oneWay) takes(e journal.Event, b journal.MessageSent) bool {
	if b.Response || !w.events[e.Cause] {
		return false
	}
	w.messages[b.Message] = true
	return true
}

// connectionClosed is what stands in the place of an API where a message says that a connection is gone.
const connectionClosed = "connection closed"

// withoutServer drops the requests that were sent to a server, if it is so.
func withoutServer(asked []sentRequest, so bool, server kafka.NodeID) []sentRequest {
	if !so {
		return asked
	}
	return slices.DeleteFunc(asked, func(r sentRequest) bool { return r.body.To == server })
}
