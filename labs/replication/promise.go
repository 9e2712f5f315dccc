package replication

import (
	"fmt"
	"slices"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// serves says whether a broker takes writes and reads for a partition: it runs and believes that it leads.
func (l *layout) serves(p engine.PartitionView, id kafka.BrokerID) bool {
	if id == engine.NoLeader {
		return false
	}
	b := l.broker(id)
	r, ok := replicaOn(p, id)
	return ok && r.Online && r.Role == "leader" && b.Up() && b.State != engine.BrokerStarting && !b.Paused
}

// unaware says whether a partition's leader runs and has not heard of its election.
func (l *layout) unaware(p engine.PartitionView) bool {
	r, ok := replicaOn(p, p.Leader)
	return ok && r.Online && r.Role != "leader"
}

// deposed lists the brokers that serve a partition although the controller has no leader or another.
func (l *layout) deposed(p engine.PartitionView) (ids []kafka.BrokerID) {
	for _, id := range assigned(p) {
		if id != p.Leader && l.serves(p, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// readDeposed tells of a broker that goes on as the leader because it has not heard that it is none.
func (l *layout) readDeposed(p engine.PartitionView, id kafka.BrokerID) view.Paragraph {
	r, _ := replicaOn(p, id)
	text := fmt.Sprintf("it believes that it leads, in epoch %d, and takes writes and reads of clients that reach it; its log ends at %d.", r.Replica.State.LeaderEpoch, r.LogEndOffset)
	if p.Leader != engine.NoLeader && l.mayAcknowledge(r) {
		text += fmt.Sprintf(" What it acknowledges is lost unless %s has fetched it.", labs.BrokerName(p.Leader))
	}
	return view.Paragraph{{Text: fmt.Sprintf("%s has not heard of that: ", labs.BrokerName(id)), Strong: true}, {Text: text}}
}

// mayAcknowledge says whether a deposed leader gives acknowledgements by itself: with acks = 1, or where it knows of nobody
// else in sync.
func (l *layout) mayAcknowledge(r engine.ReplicaView) bool {
	isr := r.Replica.State.ISR
	return l.config.Acks == 1 || l.config.Acks == -1 && len(isr) == 1 && r.Replica.MinISR <= 1
}

// readPromise says what an acknowledgement means now.
func (l *layout) readPromise(p engine.PartitionView) view.Paragraph {
	if p.Leader == engine.NoLeader || l.silent(p.Leader) {
		return nil
	}
	head := view.Span{Text: "An acknowledgement now means ", Strong: true}
	givers := []kafka.BrokerID{p.Leader} // alone
	for _, id := range l.deposed(p) {
		if r, _ := replicaOn(p, id); l.mayAcknowledge(r) {
			givers = append(givers, id)
		}
	}
	isr := l.knownISR(p)
	others := slices.DeleteFunc(slices.Clone(isr), func(id kafka.BrokerID) bool { return id == p.Leader })
	switch {
	case l.config.Acks == 0:
		return view.Paragraph{{Text: "There are no acknowledgements: ", Strong: true}, {Text: "with acks = 0 the producer does not wait for an answer."}}
	case l.config.Acks == 1:
		return view.Paragraph{head, {Text: fmt.Sprintf("that %s alone has the record in its page cache (acks = 1). Others may not have it yet.", either(givers))}}
	case len(givers) > 1:
		return view.Paragraph{head, {Text: fmt.Sprintf("that %s have the record, or %s alone.", labs.BrokerNames(isr), either(givers[1:]))}}
	case len(p.ISR) < p.MinISR && len(isr) >= p.MinISR:
		return view.Paragraph{
			{Text: "There are no acknowledgements now: ", Strong: true},
			{Text: fmt.Sprintf("%d in sync is fewer than min.insync.replicas = %d, but %s has not heard of that: it writes a record to its log and waits for %s.", len(p.ISR), p.MinISR, labs.BrokerName(p.Leader), labs.BrokerNames(others))},
		}
	case len(isr) < p.MinISR:
		return view.Paragraph{
			{Text: "There are no acknowledgements now: ", Strong: true},
			{Text: fmt.Sprintf("%d in sync is fewer than min.insync.replicas = %d, so a write with acks = all is refused with NOT_ENOUGH_REPLICAS before it is in any log.", len(isr), p.MinISR)},
		}
	case len(isr) == 1:
		return view.Paragraph{head, {Text: fmt.Sprintf("that %s alone has the record: acks = all waits for all that are in sync, only %s is, and min.insync.replicas = 1 is content with that.", labs.BrokerNames(isr), labs.BrokerNames(isr))}}
	}
	return view.Paragraph{head, {Text: fmt.Sprintf("that %s have the record, each in its page cache (acks = all waits for all that are in sync). min.insync.replicas = %d is only the least number with which writing goes on.", labs.BrokerNames(isr), p.MinISR)}}
}

// knownISR lists who is in sync as the leader knows it, and as the controller has it while the leader has not heard.
func (l *layout) knownISR(p engine.PartitionView) []kafka.BrokerID {
	if r, ok := replicaOn(p, p.Leader); ok && l.serves(p, p.Leader) {
		return r.Replica.State.ISR
	}
	return p.ISR
}

// readLastPromise tells of the last acknowledgement: who had the record when it was given, and whether it held.
func (l *layout) readLastPromise() view.Paragraph {
	outcomes := l.Cluster.Source().Outcomes()
	for i := outcomes.Len() - 1; i >= 0; i-- {
		o := outcomes.At(i)
		if o.Kind != engine.Acknowledged || o.Offset < 0 {
			continue
		}
		tp := l.Cluster.Source().Handed().At(o.Record).TopicPartition
		had, given := l.holders(tp, o.Offset, o.Event)
		held := " It has held so far."
		switch p := l.View.Partitions[tp.Partition]; {
		case l.lost[o.Record] && l.unaware(p):
			held = fmt.Sprintf(" %s, elected since, does not have the record yet.", labs.BrokerName(p.Leader))
		case l.lost[o.Record]:
			held = " It was broken: the leader does not have the record now."
		case l.serves(p, p.Leader):
		case len(l.deposed(p)) > 0:
			held = fmt.Sprintf(" %s, which the controller does not count as the leader, still serves it.", labs.BrokerNames(l.deposed(p)))
		default:
			held = " Nobody can read the record now."
		}
		return view.Paragraph{
			{Text: "The last acknowledgement", Strong: true},
			{Text: fmt.Sprintf(" (%s offset %d) was given in tick %d, when %s had the record.%s", tp, o.Offset, given, labs.BrokerNames(had), held)},
		}
	}
	return nil
}

// holders lists the brokers that had the record at an offset when the answer to its producer was sent, and the tick of
// that. The event is the one with which the producer learned of it.
func (l *layout) holders(tp kafka.TopicPartition, offset kafka.Offset, event uint64) (ids []kafka.BrokerID, given kafka.Tick) {
	j := l.Cluster.Journal()
	sent := event
	for _, e := range j.Causes(event) {
		if b, ok := e.Body.(journal.MessageSent); ok && b.Response {
			sent, given = e.Seq, e.Tick
			break
		}
	}
	gone := map[kafka.BrokerID]bool{} // who lost it between then and the event looked at; only looked up
	note := func(id kafka.BrokerID) {
		if !gone[id] && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	holds := func(b journal.BatchAppended) bool {
		return b.TopicPartition == tp && offset >= b.BaseOffset && offset <= b.LastOffset
	}
	for e := range j.Backward() {
		id, isBroker := l.brokerOf(e.Node)
		if e.Seq >= sent || !isBroker {
			continue
		}
		switch b := e.Body.(type) {
		case journal.BatchReplicated:
			if holds(journal.BatchAppended(b)) {
				note(id)
			}
		case journal.BatchAppended:
			if holds(b) {
				note(id)
				slices.Sort(ids)
				return ids, given
			}
		case journal.LogTruncated:
			gone[id] = gone[id] || b.TopicPartition == tp && b.To <= offset
		case journal.DiskWiped:
			gone[id] = true
		case journal.ProcessKilled:
			gone[id] = gone[id] || b.Wiped
		case journal.PowerLost:
			gone[id] = gone[id] || !l.keptAfter(e, id, tp, offset)
		}
	}
	return ids, given
}

// keptAfter says whether a broker's disk had an offset after it had lost power, by what it found when it was started next, or
// by what is there if it was not.
func (l *layout) keptAfter(lost journal.Event, id kafka.BrokerID, tp kafka.TopicPartition, offset kafka.Offset) bool {
	kept := false
	if r, ok := replicaOn(l.View.Partitions[tp.Partition], id); ok {
		kept = r.LogEndOffset > offset
	}
	for e := range l.Cluster.Journal().Backward() {
		if e.Seq <= lost.Seq {
			break
		}
		if b, ok := e.Body.(journal.LogOpened); ok && e.Node == lost.Node && b.TopicPartition == tp {
			kept = b.LogEndOffset > offset
		}
	}
	return kept
}
