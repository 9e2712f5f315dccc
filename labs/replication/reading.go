package replication

import (
	"cmp"
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
	for _, id := range l.deposed(p) {
		add(l.readDeposed(p, id))
	}
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
	var lost, open []engine.LedgerEntry // open: their leader has not heard that it leads, and may still fetch them
	for _, e := range l.report.Lost {
		if l.unaware(l.View.Partitions[e.TopicPartition.Partition]) {
			open = append(open, e)
		} else {
			lost = append(lost, e)
		}
	}
	switch twice := l.report.Duplicated; {
	case len(lost) > 0:
		return view.Paragraph{
			{Text: fmt.Sprintf("%s lost: ", kafka.Count(len(lost), "acknowledged record")+" "+isAre(len(lost))), Strong: true},
			{Text: fmt.Sprintf("%s. The producer was told that %s written; the leader’s log does not have %s.", l.namesOf(lost), labs.Verb(len(lost), "it was", "they were"), labs.Verb(len(lost), "it", "them"))},
		}
	case len(open) > 0:
		return view.Paragraph{
			{Text: fmt.Sprintf("The new leader does not have %s: ", kafka.Count(len(open), "acknowledged record")), Strong: true},
			{Text: fmt.Sprintf("%s. It has not heard of its election yet. What it does not fetch until then is lost.", l.namesOf(open))},
		}
	case len(twice) > 0:
		times := "twice"
		if slices.ContainsFunc(twice, func(e engine.LedgerEntry) bool { return len(e.Offsets) > 2 }) {
			times = "more than once"
		}
		return view.Paragraph{
			{Text: fmt.Sprintf("%s %s: ", kafka.Count(len(twice), "record")+" "+labs.Verb(len(twice), "stands", "stand"), times), Strong: true},
			{Text: l.namesOf(twice) + ". " + l.whyTwice()},
		}
	}
	return nil
}

// whyTwice says why records could be written more than once: the producer sent a batch again, or a link delivered a request
// twice.
func (l *layout) whyTwice() string {
	if l.config.EnableIdempotence == engine.IdempotenceOn {
		return ""
	}
	j := l.Cluster.Journal()
	retried, doubled := "", false // retried: after which error
	requests := map[uint64]bool{} // by which such a batch was written; only looked up
	for e := range j.All() {
		b, ok := e.Body.(journal.BatchAppended)
		if !ok || b.TopicPartition.Topic != topic || !l.again[slot{b.TopicPartition.Partition, b.BaseOffset}] {
			continue
		}
		request := uint64(0)
		for _, cause := range j.Causes(e.Seq) {
			switch c := cause.Body.(type) {
			case journal.MessageSent:
				if request == 0 {
					request = c.Message
				}
			case journal.BatchRetried:
				retried = cmp.Or(retried, c.Error)
			}
		}
		doubled = doubled || requests[request]
		requests[request] = true
	}
	why := "A link delivered a request twice"
	switch {
	case retried != "" && doubled:
		why = fmt.Sprintf("The producer got no yes the first time (%s) and sent the batch again, and a link delivered a request twice", retried)
	case retried != "":
		why = fmt.Sprintf("The producer got no yes the first time (%s) and sent the batch again", retried)
	case !doubled:
		return ""
	}
	return why + "; with enable.idempotence = false the leader cannot tell that it has it already."
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
		text := " Nothing is written to it or read from it."
		if len(l.deposed(p)) > 0 {
			text = ""
		}
		text += fmt.Sprintf(" In sync: %s; eligible leaders: %s.", labs.BrokerNames(p.ISR), labs.BrokerNames(p.ELR))
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
	case l.registers(b):
		head = fmt.Sprintf("%s, the leader of %s, is starting", labs.BrokerName(p.Leader), name)
		text = "; the controller still counts its earlier process as alive, so it is not let in, and nobody else leads. In sync, as the controller has it: " + labs.BrokerNames(p.ISR) + "."
	case b.Paused:
		text += " It is paused, so nothing is written or read."
	case !l.serves(p, p.Leader):
		text += " It has not heard of that yet."
	default:
		if r, ok := replicaOn(p, p.Leader); ok && r.Online {
			text += fmt.Sprintf(" Consumers read what is below its high watermark, %d; its log ends at %d.", r.HighWatermark, r.LogEndOffset)
		}
	}
	return view.Paragraph{{Text: head, Strong: true}, {Text: text}}
}

// readWaits says what is waited for now.
func (l *layout) readWaits(p engine.PartitionView) (list []view.Paragraph) {
	say := func(head, format string, args ...any) {
		list = append(list, view.Paragraph{{Text: head, Strong: true}, {Text: fmt.Sprintf(format, args...)}})
	}
	timeout := l.sessionTimeout()
	var silent []kafka.BrokerID
	due := kafka.Millis(0) // of the first of them
	for _, b := range l.View.Brokers {
		if b.Fenced || !b.Session || l.heard(b) || l.View.Controller.Paused {
			continue
		}
		if at := l.fencingOf(b); len(silent) == 0 || at < due {
			due = at
		}
		silent = append(silent, b.ID)
	}
	if len(silent) > 0 {
		say(fmt.Sprintf("The controller waits for heartbeats of %s: ", labs.BrokerNames(silent)), "a broker is fenced once broker.session.timeout.ms = %s have passed since its last, here not before tick %d.",
			kafka.Thousands(timeout), l.TickAfter(due))
	}
	if r, ok := replicaOn(p, p.Leader); ok && l.serves(p, p.Leader) && !l.silent(p.Leader) && !l.View.Controller.Paused {
		lagTime := kafka.Millis(l.Address.Values.Int("lag-time"))
		for _, f := range r.Replica.Followers {
			if b := l.broker(f.ID); l.silent(f.ID) && (b.Fenced || l.fencingOf(b) < f.LastCaughtUp+lagTime) {
				continue // the controller has removed it, or will before
			}
			if f.InSync && f.LogEndOffset < r.LogEndOffset && f.EverCaughtUp && l.View.Now-f.LastCaughtUp > 2000 {
				say(fmt.Sprintf("%s waits for %s: ", labs.BrokerName(p.Leader), labs.BrokerName(f.ID)), "%s was caught up last %s and leaves the in-sync replicas once replica.lag.time.max.ms = %s have passed, not before tick %d. Until then acks = all waits for it.",
					labs.BrokerName(f.ID), moment(f.LastCaughtUp), kafka.Thousands(lagTime), l.TickAfter(f.LastCaughtUp+lagTime))
			}
		}
	}
	producer := &l.View.Producers[0]
	if n, why := retries(producer); n > 0 {
		say("p0 waits: ", "%s of it %s not been acknowledged after an attempt that failed (%s); %s.", kafka.Count(n, "record"), labs.Verb(n, "has", "have"), why, l.retryWords(producer))
	}
	return list
}

// retryWords says how long a producer tries again: as often as retries allows, until delivery.timeout.ms is over.
func (l *layout) retryWords(p *engine.ProducerView) string {
	least, most := l.config.Retries, 0 // retries that are left to a batch, the one under way not counted
	for _, part := range p.Producer.Partitions {
		for _, b := range part.Batches {
			if b.Attempts > 0 {
				least, most = min(least, l.config.Retries-b.Attempts), max(most, l.config.Retries-b.Attempts)
			}
		}
	}
	until := fmt.Sprintf("until delivery.timeout.ms = %s have passed", kafka.Thousands(l.config.DeliveryTimeout))
	switch {
	case least > 1000:
		return "it tries again " + until
	case most == 0:
		return fmt.Sprintf("the attempt that it makes now or next is its last (retries = %d)", l.config.Retries)
	}
	return fmt.Sprintf("it tries again, %s in all (retries), %s", kafka.Count(l.config.Retries, "time"), until)
}

// fencingOf gives when a broker of which no heartbeat comes is fenced at the earliest.
func (l *layout) fencingOf(b engine.BrokerView) kafka.Millis {
	return max(b.LastHeartbeat+l.sessionTimeout(), l.View.Now)
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
	return b.Up() && !l.registers(b) && !b.Paused && !l.IsCut(b.Node, l.View.Controller.Node) && !l.IsCut(l.View.Controller.Node, b.Node)
}

// readOthers tells of the partitions that the reading does not tell of.
func (l *layout) readOthers(told engine.PartitionView) view.Paragraph {
	var leaderless, unserved, thin []string
	for _, p := range l.View.Partitions {
		switch {
		case p.TopicPartition == told.TopicPartition:
		case p.Leader == engine.NoLeader:
			leaderless = append(leaderless, p.TopicPartition.String())
		case !l.serves(p, p.Leader):
			unserved = append(unserved, p.TopicPartition.String())
		case len(p.ISR) < len(p.Replicas):
			thin = append(thin, p.TopicPartition.String())
		}
	}
	var parts []string
	if len(leaderless) > 0 {
		parts = append(parts, "without a leader: "+strings.Join(leaderless, ", "))
	}
	if len(unserved) > 0 {
		parts = append(parts, "with a leader that does not serve now: "+strings.Join(unserved, ", "))
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
