package labs

import (
	"fmt"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/engine/kafka"
)

// Adder adds the control that gives a command; warn marks one that breaks something.
type Adder func(id, text string, cmd command.Command, warn bool)

// WaitActions are the commands that let time go by.
func WaitActions(add Adder, spans ...kafka.Millis) {
	for _, span := range spans {
		add(fmt.Sprintf("do-wait-%d", span), "Wait "+Span(span), command.Wait{Span: span}, false)
	}
}

// ReviveActions add what brings a node back that does not run or stands still; runs is whether it does neither.
func ReviveActions(add Adder, n kafka.NodeID, alive, paused bool) (runs bool) {
	switch {
	case !alive:
		add("do-start-"+string(n), "Start", command.Start{Node: n}, false)
	case paused:
		add("do-resume-"+string(n), "Resume", command.Resume{Node: n}, false)
	default:
		return true
	}
	return false
}

// BrokerActions are the commands for a broker's process in its state.
func BrokerActions(add Adder, b engine.BrokerView) {
	id, n := string(b.Node), b.Node
	runs := ReviveActions(add, n, b.Up(), b.Paused)
	if b.Up() {
		add("do-kill-"+id, "Kill", command.Kill{Node: n}, true)
		add("do-power-"+id, "Power loss", command.PowerLoss{Node: n}, true)
	}
	if runs {
		add("do-pause-"+id, "Pause", command.Pause{Node: n}, true)
		if b.State != engine.BrokerShuttingDown {
			add("do-stop-"+id, "Shut down", command.ShutDown{Node: n}, false)
		}
	}
}

// ProducerActions are the commands for a producer in its state: its next record by hand, its transaction, and its process.
// Of one that runs by itself, its application can be stopped.
func ProducerActions(add Adder, p *engine.ProducerView, next command.Produce, byItself bool) {
	id, t := string(p.ID), p.Producer.Transaction
	if ReviveActions(add, p.ID, p.Alive, p.Paused) {
		if t == nil || string(t.State) == inTransaction {
			add("do-produce-"+id, "Produce", next, false)
		}
		transactionActions(add, p, !byItself || !p.Sending)
		switch {
		case !byItself:
		case p.Sending:
			add("do-stop-sending-"+id, "Stop writing", command.StopSending{Producer: p.ID}, false)
		default:
			add("do-start-sending-"+id, "Go on writing", command.StartSending{Producer: p.ID}, false)
		}
		add("do-pause-"+id, "Pause", command.Pause{Node: p.ID}, true)
	}
	if p.Alive {
		add("do-kill-"+id, "Kill", command.Kill{Node: p.ID}, true)
	}
}

// States of a transactional producer, in Kafka's words.
const (
	readyToBegin  = "READY"
	inTransaction = "IN_TRANSACTION"
	abortable     = "ABORTABLE_ERROR"
)

// transactionActions are the commands for the transaction of a producer in its state, if it has a transactional.id. By
// hand says that its application begins none by itself.
func transactionActions(add Adder, p *engine.ProducerView, byHand bool) {
	t, id := p.Producer.Transaction, string(p.ID)
	if t == nil {
		return
	}
	switch string(t.State) {
	case readyToBegin:
		if byHand {
			add("do-begin-"+id, "Begin", command.BeginTransaction{Producer: p.ID}, false)
		}
	case inTransaction:
		add("do-commit-"+id, "Commit", command.CommitTransaction{Producer: p.ID}, false)
		add("do-abort-"+id, "Abort", command.AbortTransaction{Producer: p.ID}, true)
	case abortable:
		add("do-abort-"+id, "Abort", command.AbortTransaction{Producer: p.ID}, true)
	}
}
