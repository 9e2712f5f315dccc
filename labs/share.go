package labs

import (
	"fmt"
	"strconv"
	"strings"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/engine/kafka"
)

// AcksNumber gives the text of acks as the producer has it: -1 is all.
func AcksNumber(text string) int16 {
	n, err := strconv.ParseInt(text, 10, 16)
	if err != nil {
		return -1 // all
	}
	return int16(n)
}

// PlaceInOrder gives partition p the brokers p+1, p+2, … and, after the last, 1 again.
func PlaceInOrder(partitions, rf, brokers int) [][]kafka.BrokerID {
	list := make([][]kafka.BrokerID, partitions)
	for p := range list {
		for i := range rf {
			list[p] = append(list[p], kafka.BrokerID((p+i)%brokers+1))
		}
	}
	return list
}

// CheckReplicas refuses a replication factor, the setting rf, that is greater than the number of brokers.
func CheckReplicas(rf, brokers int) error {
	if rf <= brokers {
		return nil
	}
	return &AddressError{
		Param: "rf", Found: fmt.Sprintf("%d, with %s", rf, kafka.Count(brokers, "broker")),
		Allowed: fmt.Sprintf("a replication factor of at most %d: every replica needs a broker of its own. Kafka answers INVALID_REPLICATION_FACTOR", brokers),
	}
}

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

// BrokerName names a broker's node: "b1".
func BrokerName(id kafka.BrokerID) string { return fmt.Sprintf("b%d", id) }

// BrokerNames names brokers: "b1, b2".
func BrokerNames(ids []kafka.BrokerID) string {
	if len(ids) == 0 {
		return "none"
	}
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = BrokerName(id)
	}
	return strings.Join(names, ", ")
}

// Nodes lists all nodes that have links.
func Nodes(v engine.View) (list []kafka.NodeID) {
	for _, b := range v.Brokers {
		list = append(list, b.Node)
	}
	list = append(list, v.Controller.Node)
	for _, p := range v.Producers {
		list = append(list, p.ID)
	}
	for _, g := range v.Groups {
		for _, m := range g.Members {
			list = append(list, kafka.NodeID(m.ID))
		}
	}
	return list
}

// HoleText says in short which offsets from next up to an offset have no record; empty: all have.
func HoleText(next, offset kafka.Offset) string {
	switch n := offset - next; {
	case n <= 0:
		return ""
	case n == 1:
		return "·"
	default:
		return fmt.Sprintf("·%d·", n)
	}
}
