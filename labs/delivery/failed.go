package delivery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/engine/txn"
	"loglab/labs/view"
)

// readFenced tells of the transactions that the coordinator ended for their producers.
func (l *layout) readFenced() (list []view.Paragraph) {
	for i := len(l.past.fenced) - 1; i >= 0 && len(list) < crashesTold; i-- {
		f := l.past.fenced[i]
		text := "whoever still has the old one is fenced"
		if l.mayEnd(&f) {
			text = "records with the old one are refused and a commit too; an abort with it is taken for the one that was done"
		}
		list = append(list, say(fmt.Sprintf("The coordinator began to abort the transaction of %s in tick %d: ", f.who, f.tick), "%s. The epoch went from %d to %d, so %s.", f.why, f.from, f.to, text))
	}
	return list
}

// mayEnd says whether a producer of transaction version 2 can still end what the coordinator has aborted for it: as long as
// nobody has begun since, it is taken for who asked first.
func (l *layout) mayEnd(f *fencing) bool {
	return l.Address.Values.Int("version") == 2 && slices.ContainsFunc(l.View.Transactions, func(t engine.TransactionalView) bool {
		return t.TransactionalID == f.who && t.Held != nil && t.Held.ProducerEpoch == f.to && (t.Held.State == txn.PrepareAbort || t.Held.State == txn.CompleteAbort)
	})
}

// readFailures tells of the errors that producers got.
func (l *layout) readFailures() (list []view.Paragraph) {
	for i := len(l.past.failures) - 1; i >= 0 && len(list) < failuresTold; i-- {
		f := l.past.failures[i]
		head, text := fmt.Sprintf("%s got %s in tick %d, ", f.node, f.error, f.tick), "the answer to its "+f.api+" request."
		switch {
		case f.error == expired:
			head, text = fmt.Sprintf("%s gave up a batch in tick %d: ", f.node, f.tick), expired+" was over."
		case f.api == "":
			text = "when its time was over."
		case !f.asked:
			head, text = fmt.Sprintf("%s got no answer to its %s request until tick %d: ", f.node, f.api, f.tick), f.error+"."
		}
		list = append(list, say(head, "%s %s", text, l.failureMeans(&f)))
	}
	return list
}

// failureMeans says what is left after an error.
func (l *layout) failureMeans(f *failure) string {
	switch {
	case f.fatal:
		return "That is fatal: all that is left is to close the producer."
	case f.error == expired && !f.sent:
		return "It was never sent."
	case f.error == kerr.NotEnoughReplicasAfterAppend.Message && f.sent:
		return "The leader has written the batch, and too few replicas have it."
	case f.doubt && (f.sent || f.error == expired):
		return "The leader may have written the batch: its producer does not know."
	case f.error == expired:
		return "Each try was refused: nothing of it is written."
	case f.sent:
		return "Nothing of that batch is written by this request."
	}
	means := "That transaction could only be aborted."
	if f.open {
		means = "It can only abort this transaction."
	}
	if f.doubt {
		means = "The leader may have written the batch. " + means
	}
	return means
}

// readCoordinators says which transactional ids nobody coordinates now.
func (l *layout) readCoordinators() (list []view.Paragraph) {
	reasons := []string{"is down", "stands still", "has not read that log yet"}
	ids := make([][]string, len(reasons))
	for _, t := range l.View.Transactions {
		if t.Coordinator != "" && !l.IsPaused(t.Coordinator) {
			continue
		}
		reason := 2
		switch b := l.leaderIn(t.Partition); {
		case b == nil || !b.Up():
			reason = 0
		case b.Paused:
			reason = 1
		}
		ids[reason] = append(ids[reason], t.TransactionalID)
	}
	for i, names := range ids {
		if names != nil {
			list = append(list, say("Nobody coordinates "+strings.Join(names, ", ")+" now: ", "the leader of its partition of __transaction_state %s. Whoever leads it next goes on from what that log has.", reasons[i]))
		}
	}
	return list
}

// leaderIn is the broker that leads a partition, as the controller has it; nil: none does.
func (l *layout) leaderIn(tp kafka.TopicPartition) *engine.BrokerView {
	p, ok := l.View.Controller.Image.Partition(tp)
	for i := range l.View.Brokers {
		if b := &l.View.Brokers[i]; ok && b.ID == p.Leader {
			return b
		}
	}
	return nil
}
