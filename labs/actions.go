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

// States of a transactional producer, in Kafka's words.
const (
	readyToBegin  = "READY"
	InTransaction = "IN_TRANSACTION"
	abortable     = "ABORTABLE_ERROR"
)

// TransactionActions are the commands for the transaction of a producer in its state, if it has a transactional.id. By
// hand says that its application begins none by itself.
func TransactionActions(add Adder, p *engine.ProducerView, byHand bool) {
	t, id := p.Producer.Transaction, string(p.ID)
	if t == nil {
		return
	}
	switch string(t.State) {
	case readyToBegin:
		if byHand {
			add("do-begin-"+id, "Begin", command.BeginTransaction{Producer: p.ID}, false)
		}
	case InTransaction:
		add("do-commit-"+id, "Commit", command.CommitTransaction{Producer: p.ID}, false)
		add("do-abort-"+id, "Abort", command.AbortTransaction{Producer: p.ID}, true)
	case abortable:
		add("do-abort-"+id, "Abort", command.AbortTransaction{Producer: p.ID}, true)
	}
}
