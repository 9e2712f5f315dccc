package delivery

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/engine/txn"
	"loglab/labs"
	"loglab/labs/view"
)

// readCrashes tells of the last processes that ended.
func (l *layout) readCrashes() (list []view.Paragraph) {
	for i := len(l.past.crashes) - 1; i >= 0 && len(list) < crashesTold; i-- {
		c := l.past.crashes[i]
		head := fmt.Sprintf("%s crashed in tick %d%s. ", c.node, c.tick, pointText(c.at))
		if l.app != nil {
			for j := range l.app.Members {
				if m := &l.app.Members[j]; kafka.NodeID(m.ID) == c.node {
					list = append(list, say(head, "%s", l.afterCrash(j)))
				}
			}
		}
	}
	return list
}

// afterCrash says what a crash of an instance of the application leads to, or has led to.
func (l *layout) afterCrash(i int) string {
	from := l.beginsText()
	if l.app.Members[i].Alive {
		return fmt.Sprintf("It runs again; by now %s.", from)
	}
	id := appTransaction(i)
	how := isOver
	if appTransacts(l.Address.Values) {
		how = l.ending(id)
	}
	switch how {
	case isOpening:
		return fmt.Sprintf("Its transaction is still open, and %s. A new process aborts it with initTransactions, and reads from there on.", from)
	case isEnding:
		return fmt.Sprintf("Its EndTxn request is on its way, or what it decides is not on every in-sync replica yet. If it gets there, its transaction is committed%s; if not, a new process aborts it. By now %s.", l.decidedText(id), from)
	case isDecided:
		return fmt.Sprintf("Its transaction is committed%s: that is decided, and its markers follow. By now %s.", l.decidedText(id), from)
	case isAborting:
		return fmt.Sprintf("Its transaction is being aborted, and %s. A new process reads from there on.", from)
	case isUnknown:
		return fmt.Sprintf("Its transaction was in %s when its coordinator told last; the next one goes on from what its log has. By now %s.", l.past.states[id], from)
	}
	for _, o := range l.app.Offsets {
		if o.Topic == orders && o.Owner != "" && o.Owner != kafka.NodeID(l.app.Members[i].ID) {
			return fmt.Sprintf("%s reads on in its place: %s.", o.Owner, from)
		}
	}
	return fmt.Sprintf("When a process is started, it reads on from there: %s.", from)
}

// ending is how far the end of a transaction is.
type ending int

const (
	isOver     ending = iota // there is none
	isOpening                // nobody has asked for its end
	isEnding                 // its commit is asked for, and not decided
	isDecided                // its commit stands in the coordinator's log
	isAborting               // its abort does, or is to
	isUnknown                // nobody coordinates it
)

// ending says how far the end of the transaction of a transactional.id is.
func (l *layout) ending(id string) ending {
	for _, t := range l.View.Transactions {
		if t.TransactionalID != id {
			continue
		}
		if t.Held == nil {
			switch l.past.states[id] {
			case txn.Ongoing, txn.PrepareCommit, txn.PrepareAbort:
				return isUnknown
			}
			continue
		}
		switch h := t.Held; {
		case h.State == txn.PrepareCommit:
			return isDecided
		case h.State == txn.PrepareAbort, h.State == txn.Ongoing && h.PendingState == txn.PrepareAbort:
			return isAborting
		case h.State == txn.Ongoing && h.PendingState == txn.PrepareCommit:
			return isEnding
		}
	}
	for r := range labs.Requests[*kmsg.EndTxnRequest](l.Frame) {
		if r.TransactionalID == id && r.Commit {
			return isEnding
		}
	}
	for _, c := range l.logs() {
		if slices.ContainsFunc(c.spans, func(s *span) bool { return s.open() && s.who == id }) {
			return isOpening
		}
	}
	return isOver
}

// decidedText says where a new process begins when the offsets of a transaction count.
func (l *layout) decidedText(id string) string {
	if o := l.pendingOffset(id); o >= 0 && l.app.Sink.Kind != engine.SinkOffsets {
		return fmt.Sprintf(", and with it the offset %d, at which a new process begins", o)
	}
	return ""
}

// pendingOffset is the offset of orders that counts when the transaction of a transactional.id is committed; -1: none.
func (l *layout) pendingOffset(id string) kafka.Offset {
	if l.app.Held == nil {
		return kafka.NoOffset
	}
	for _, t := range l.View.Transactions {
		for _, p := range l.app.Held.PendingOffsets {
			if t.TransactionalID == id && t.Held != nil && t.Held.ProducerID == p.ProducerID && p.Topic == orders {
				return p.Offset
			}
		}
	}
	return kafka.NoOffset
}

// beginsText says where a new process of the application would begin, and who says so.
func (l *layout) beginsText() string {
	if stored := l.storedOutside(); l.app.Sink.Kind == engine.SinkOffsets && stored >= 0 {
		return fmt.Sprintf("the database has the offset %d", stored)
	}
	text := "its group has committed nothing"
	done := l.committedOrders()
	if done >= 0 {
		text = fmt.Sprintf("its group has committed %d", done)
	}
	if l.app.Coordinator == "" {
		text += ", as its coordinator told last: it has none now"
	}
	if o := l.commitUnderWay(); o > done {
		text += fmt.Sprintf(", and a commit of %d is on its way", o)
	}
	return text
}

// commitUnderWay is the offset of orders that a request of the application's group commits which is on its way; -1: none.
func (l *layout) commitUnderWay() kafka.Offset {
	o := kafka.NoOffset
	for request := range labs.Requests[*kmsg.OffsetCommitRequest](l.Frame) {
		if request.Group != billing {
			continue
		}
		for _, t := range request.Topics {
			for _, p := range t.Partitions {
				if t.Topic == orders {
					o = max(o, kafka.Offset(p.Offset))
				}
			}
		}
	}
	return o
}
