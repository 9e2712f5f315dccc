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
	if r, ok := replicaOn(p, p.Leader); ok && r.Online && r.Replica != nil && l.broker(p.Leader).Up() {
		lagTime := kafka.Millis(l.Address.Values.Int("lag-time"))
		for _, f := range r.Replica.Followers {
			if b := l.broker(f.ID); l.silent(f.ID) && (b.Fenced || !l.View.Controller.Paused && l.fencingOf(b) < f.LastCaughtUp+lagTime) {
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
