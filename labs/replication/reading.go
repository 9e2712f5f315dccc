package replication

import (
	"fmt"
	"slices"
	"strings"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// reading says in plain words what the picture shows. What would happen is told of one partition: the one in the
// inspector, or the first.
func (l *layout) reading() []view.Paragraph {
	var list []view.Paragraph
	add := func(p view.Paragraph) {
		if len(p) > 0 {
			list = append(list, p)
		}
	}
	add(l.readLoss())
	p := l.told1()
	add(l.readState(p))
	add(l.readPromise(p))
	add(l.readLastPromise())
	for _, waits := range l.readWaits(p) {
		add(waits)
	}
	add(l.readOthers(p))
	add(l.readNext(p))
	list = append(list, l.readOutlook(p)...)
	add(l.readMinISR())
	return list
}

// told1 is the partition of which the reading tells most.
func (l *layout) told1() engine.PartitionView {
	at := l.Address.Shown().Partition
	if at.Topic == topic && int(at.Partition) < len(l.View.Partitions) {
		return l.View.Partitions[at.Partition]
	}
	return l.View.Partitions[0]
}

// readLoss tells first what was lost, if anything was.
func (l *layout) readLoss() view.Paragraph {
	r := &l.report
	switch {
	case len(r.Lost) > 0:
		return view.Paragraph{
			{Text: fmt.Sprintf("%s lost: ", kafka.Count(len(r.Lost), "acknowledged record")+" "+isAre(len(r.Lost))), Strong: true},
			{Text: fmt.Sprintf("%s. The producer was told that %s written; the leader’s log does not have %s.", l.namesOf(r.Lost), labs.Verb(len(r.Lost), "it was", "they were"), labs.Verb(len(r.Lost), "it", "them"))},
		}
	case len(r.Duplicated) > 0:
		return view.Paragraph{
			{Text: fmt.Sprintf("%s twice: ", kafka.Count(len(r.Duplicated), "record")+" "+labs.Verb(len(r.Duplicated), "stands", "stand")), Strong: true},
			{Text: l.namesOf(r.Duplicated) + ". " + l.whyTwice()},
		}
	}
	return nil
}

// whyTwice says why a record could be written twice.
func (l *layout) whyTwice() string {
	if l.config.EnableIdempotence == engine.IdempotenceOn {
		return ""
	}
	return "The first answer did not come, so the producer sent the batch again; with enable.idempotence = false the leader cannot tell that it has it already."
}

// namesOf names records of the ledger, at most a few.
func (l *layout) namesOf(list []engine.LedgerEntry) string {
	var names []string
	for i, e := range list {
		if i == labs.RecordsListed {
			names = append(names, fmt.Sprintf("%d more", len(list)-i))
			break
		}
		names = append(names, l.account().EntryName(e))
	}
	return strings.Join(names, ", ")
}

func isAre(n int) string { return labs.Verb(n, "is", "are") }

// readState says who leads and who is in sync.
func (l *layout) readState(p engine.PartitionView) view.Paragraph {
	name := p.TopicPartition.String()
	if p.Leader == engine.NoLeader {
		text := fmt.Sprintf(" Nothing is written to it or read from it. In sync: %s; eligible leaders: %s.", labs.BrokerNames(p.ISR), labs.BrokerNames(p.ELR))
		if len(p.LastKnownELR) > 0 {
			text += fmt.Sprintf(" It was led last by %s.", labs.BrokerNames(p.LastKnownELR))
		}
		return view.Paragraph{{Text: name + " has no leader.", Strong: true}, {Text: text}}
	}
	b := l.broker(p.Leader)
	head := fmt.Sprintf("%s leads %s", labs.BrokerName(p.Leader), name)
	text := fmt.Sprintf(" in leader epoch %d. In sync: %s", p.LeaderEpoch, labs.BrokerNames(p.ISR))
	if len(p.ELR) > 0 {
		text += fmt.Sprintf("; eligible leaders: %s", labs.BrokerNames(p.ELR))
	}
	text += "."
	switch {
	case !b.Up():
		head = fmt.Sprintf("%s, the leader of %s, is down", labs.BrokerName(p.Leader), name)
		text = "; the controller does not know yet, so nobody else leads. In sync, as the controller has it: " + labs.BrokerNames(p.ISR) + "."
	case b.Paused:
		text += " It is paused, so nothing is written or read."
	default:
		if r, ok := replicaOn(p, p.Leader); ok && r.Online {
			text += fmt.Sprintf(" Consumers read what is below its high watermark, %d; its log ends at %d.", r.HighWatermark, r.LogEndOffset)
		}
	}
	return view.Paragraph{{Text: head, Strong: true}, {Text: text}}
}

// readPromise says what an acknowledgement means now.
func (l *layout) readPromise(p engine.PartitionView) view.Paragraph {
	if p.Leader == engine.NoLeader || l.silent(p.Leader) {
		return nil
	}
	head := view.Span{Text: "An acknowledgement now means ", Strong: true}
	switch {
	case l.config.Acks == 0:
		return view.Paragraph{{Text: "There are no acknowledgements: ", Strong: true}, {Text: "with acks = 0 the producer does not wait for an answer."}}
	case l.config.Acks == 1:
		return view.Paragraph{head, {Text: fmt.Sprintf("that %s alone has the record in its page cache (acks = 1). Others may not have it yet.", labs.BrokerName(p.Leader))}}
	case len(p.ISR) < p.MinISR:
		return view.Paragraph{
			{Text: "There are no acknowledgements now: ", Strong: true},
			{Text: fmt.Sprintf("%d in sync is fewer than min.insync.replicas = %d, so a write with acks = all is refused with NOT_ENOUGH_REPLICAS before it is in any log.", len(p.ISR), p.MinISR)},
		}
	case len(p.ISR) == 1:
		return view.Paragraph{head, {Text: fmt.Sprintf("that %s alone has the record: acks = all waits for all that are in sync, only %s is, and min.insync.replicas = 1 is content with that.", labs.BrokerNames(p.ISR), labs.BrokerNames(p.ISR))}}
	}
	return view.Paragraph{head, {Text: fmt.Sprintf("that %s have the record, each in its page cache (acks = all waits for all that are in sync). min.insync.replicas = %d is only the least number with which writing goes on.", labs.BrokerNames(p.ISR), p.MinISR)}}
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
		case l.lost[o.Record]:
			held = " It was broken: the leader does not have the record now."
		case p.Leader == engine.NoLeader || !l.broker(p.Leader).Up():
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
	holds := func(b journal.BatchAppended) bool {
		return b.TopicPartition == tp && offset >= b.BaseOffset && offset <= b.LastOffset
	}
	for e := range j.Backward() {
		if e.Seq >= sent {
			continue
		}
		id, isBroker := l.brokerOf(e.Node)
		if !isBroker {
			continue
		}
		switch b := e.Body.(type) {
		case journal.BatchReplicated:
			if holds(journal.BatchAppended(b)) && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		case journal.BatchAppended:
			if holds(b) {
				ids = append(ids, id)
				slices.Sort(ids)
				return slices.Compact(ids), given
			}
		}
	}
	return ids, given
}

// readWaits says what is waited for now.
func (l *layout) readWaits(p engine.PartitionView) (list []view.Paragraph) {
	say := func(head, format string, args ...any) {
		list = append(list, view.Paragraph{{Text: head, Strong: true}, {Text: fmt.Sprintf(format, args...)}})
	}
	timeout := kafka.Millis(l.Address.Values.Int("session-timeout"))
	var silent []kafka.BrokerID
	due := kafka.Millis(0) // of the first of them
	for _, b := range l.View.Brokers {
		if b.Fenced || !b.Session || l.heard(b) {
			continue
		}
		if at := max(b.LastHeartbeat+timeout, l.View.Now); len(silent) == 0 || at < due {
			due = at
		}
		silent = append(silent, b.ID)
	}
	if len(silent) > 0 {
		say(fmt.Sprintf("The controller waits for heartbeats of %s: ", labs.BrokerNames(silent)), "a broker is fenced once broker.session.timeout.ms = %s have passed since its last, here not before tick %d.",
			kafka.Thousands(timeout), l.TickAfter(due))
	}
	if r, ok := replicaOn(p, p.Leader); ok && r.Online && r.Replica != nil && l.broker(p.Leader).Up() {
		lagTime := kafka.Millis(l.Address.Values.Int("lag-time"))
		for _, f := range r.Replica.Followers {
			if f.InSync && f.LogEndOffset < r.LogEndOffset && f.EverCaughtUp && l.View.Now-f.LastCaughtUp > 2000 {
				say(fmt.Sprintf("%s waits for %s: ", labs.BrokerName(p.Leader), labs.BrokerName(f.ID)), "%s was caught up last %s and leaves the in-sync replicas once replica.lag.time.max.ms = %s have passed, not before tick %d. Until then acks = all waits for it.",
					labs.BrokerName(f.ID), moment(f.LastCaughtUp), kafka.Thousands(lagTime), l.TickAfter(f.LastCaughtUp+lagTime))
			}
		}
	}
	producer := &l.View.Producers[0]
	if n, why := retries(producer); n > 0 {
		say("p0 waits: ", "%s of it %s not been acknowledged after an attempt that failed (%s); it tries again until delivery.timeout.ms = %s have passed.",
			kafka.Count(n, "record"), labs.Verb(n, "has", "have"), why, kafka.Thousands(l.config.DeliveryTimeout))
	}
	return list
}

// moment says when something was.
func moment(at kafka.Millis) string {
	if at < 0 {
		return "before tick 0"
	}
	return fmt.Sprintf("at %s ms", kafka.Thousands(at))
}

// silent says whether no heartbeat of a broker comes to the controller.
func (l *layout) silent(id kafka.BrokerID) bool { return !l.heard(l.broker(id)) }

// heard says whether heartbeats of a broker come to the controller.
func (l *layout) heard(b engine.BrokerView) bool {
	return b.Up() && !b.Paused && !l.IsCut(b.Node, l.View.Controller.Node) && !l.IsCut(l.View.Controller.Node, b.Node)
}

// readOthers tells of the partitions that the reading does not tell of.
func (l *layout) readOthers(told engine.PartitionView) view.Paragraph {
	var leaderless, thin []string
	for _, p := range l.View.Partitions {
		switch {
		case p.TopicPartition == told.TopicPartition:
		case p.Leader == engine.NoLeader:
			leaderless = append(leaderless, p.TopicPartition.String())
		case len(p.ISR) < len(p.Replicas):
			thin = append(thin, p.TopicPartition.String())
		}
	}
	var parts []string
	if len(leaderless) > 0 {
		parts = append(parts, "without a leader: "+strings.Join(leaderless, ", "))
	}
	if len(thin) > 0 {
		parts = append(parts, "with fewer in sync than replicas: "+strings.Join(thin, ", "))
	}
	switch {
	case len(l.View.Partitions) < 2:
		return nil
	case len(parts) == 0:
		return view.Paragraph{{Text: "The other partitions", Strong: true}, {Text: " have a leader each, and all replicas are in sync. Press one to read of it here."}}
	}
	return view.Paragraph{{Text: "Of the other partitions, ", Strong: true}, {Text: strings.Join(parts, "; ") + ". Press one to read of it here."}}
}

// readMinISR explains a min.insync.replicas that is larger than the replication factor.
func (l *layout) readMinISR() view.Paragraph {
	asked, rf := l.minISR(), l.Address.Values.Int("rf")
	if asked <= rf {
		return nil
	}
	return view.Paragraph{
		{Text: fmt.Sprintf("min.insync.replicas = %d is more than the replication factor: ", asked), Strong: true},
		{Text: fmt.Sprintf("Kafka takes the smaller of the two, %d, so every replica must be in sync for a write with acks = all.", rf)},
	}
}

// change says what the tick shown brought, for those who hear the page; empty where the page's own words do.
func (l *layout) change() string {
	if l.Address.T == 0 {
		return "" // all of the set-up belongs to tick 0
	}
	var parts []string
	for e := range l.Cluster.Journal().Of(l.tick()) {
		switch b := e.Body.(type) {
		case journal.ProcessKilled:
			parts = append(parts, fmt.Sprintf("%s was killed", e.Node))
		case journal.PowerLost:
			parts = append(parts, fmt.Sprintf("%s lost power", e.Node))
		case journal.BrokerFenced:
			parts = append(parts, fmt.Sprintf("the controller fenced b%d", b.Broker))
		case journal.BrokerUnfenced:
			parts = append(parts, fmt.Sprintf("b%d may take part again", b.Broker))
		case journal.LeaderElected:
			words := fmt.Sprintf("%s leads %s, epoch %d", labs.BrokerName(b.To), b.TopicPartition, b.LeaderEpoch)
			if !b.Clean {
				words += ", after an unclean election"
			}
			parts = append(parts, words)
		case journal.LeaderLost:
			parts = append(parts, fmt.Sprintf("%s has no leader", b.TopicPartition))
		case journal.ISRChanged:
			parts = append(parts, fmt.Sprintf("in sync for %s: %s", b.TopicPartition, labs.BrokerNames(b.To)))
		case journal.LogTruncated:
			if b.Records > 0 {
				parts = append(parts, fmt.Sprintf("%s cut %s off its log", e.Node, kafka.Count(b.Records, "record")))
			}
		case journal.ProduceRefused:
			parts = append(parts, "a write was refused")
		case journal.DuplicateRecognised:
			parts = append(parts, fmt.Sprintf("%s recognised a duplicate", e.Node))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	const most = 4
	if len(parts) > most {
		parts = append(parts[:most], fmt.Sprintf("%d changes more", len(parts)-most))
	}
	return fmt.Sprintf("Tick %d: %s.", l.Address.T, strings.Join(parts, "; "))
}
