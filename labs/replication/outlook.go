package replication

import (
	"fmt"
	"slices"
	"strings"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/storage"
	"loglab/labs"
	"loglab/labs/view"
)

// failure is a way in which a broker can stop.
type failure int

const (
	dies failure = iota
	losesPower
)

// outcome is what one broker's failure would mean for one partition, if it stayed down.
type outcome struct {
	leader kafka.BrokerID   // engine.NoLeader: none
	isr    []kafka.BrokerID // then in sync
	clean  bool
	lost   []told // acknowledged records that the next leader does not have, or where none leads, nobody who may lead again
}

// foresee works out what a partition would be if a broker failed now and stayed down. What it has sent arrives, where a fork
// of the run says so: an answer to a follower's fetch brings records, one to the producer is an acknowledgement.
func (l *layout) foresee(p engine.PartitionView, id kafka.BrokerID, how failure) outcome {
	if p.Leader != engine.NoLeader && p.Leader != id && !l.silent(p.Leader) && !l.unsettled() {
		look := l.Cluster.WithoutBroker(p.TopicPartition, id)
		if look.Leader == p.Leader {
			return outcome{leader: look.Leader, isr: look.ISR, clean: look.Clean}
		}
	}
	f := l.fork(p, id, how)
	look := f.WithoutBroker(p.TopicPartition, id)
	o := outcome{leader: look.Leader, isr: look.ISR, clean: look.Clean}
	then := f.view.Partitions[p.Partition]
	switch {
	case o.leader == engine.NoLeader:
		o.lost = l.onNoDisk(then, l.promised(f, p), l.mayReturn(p, slices.Concat(look.ISR, look.ELR, then.LastKnownELR)))
	case o.leader != p.Leader:
		r, _ := replicaOn(then, o.leader)
		o.lost = missing(l.promised(f, p), labs.SegmentsOf(r))
	}
	return o
}

// unsettled says whether a broker is about to go or has come back unnoticed, so that who leads is not the controller's rule
// for a single failure.
func (l *layout) unsettled() bool {
	return slices.ContainsFunc(l.View.Brokers, func(b engine.BrokerView) bool { return b.State == engine.BrokerShuttingDown || l.registers(b) })
}

// mayReturn lists who may lead a partition that nobody leads, once they are back: those who may do so cleanly, or, where
// unclean elections are allowed, every replica.
func (l *layout) mayReturn(p engine.PartitionView, clean []kafka.BrokerID) []kafka.BrokerID {
	if l.uncleanAllowed() {
		return assigned(p)
	}
	return clean
}

// onNoDisk lists the promised records that none of these brokers, which may lead again, has on its disk.
func (l *layout) onNoDisk(p engine.PartitionView, promised []told, ids []kafka.BrokerID) []told {
	for _, id := range ids {
		r, _ := replicaOn(p, id)
		promised = missing(promised, labs.SegmentsOf(r))
	}
	return promised
}

// missing lists the records that a log does not have at their offsets. Logs agree but for their last part, so only that is
// compared.
func missing(promised []told, segments []storage.Segment) (list []told) {
	end := kafka.Offset(0)
	for _, s := range segments {
		end = max(end, s.LastOffset+1)
	}
	const compared = 64
	from := max(0, end-compared)
	tail := map[kafka.Offset]record.Record{} // only looked up
	for _, r := range labs.RecordsFrom(segments, from, compared) {
		tail[r.Offset] = r.Record
	}
	seen := map[kafka.Offset]bool{}
	for _, t := range promised {
		r, has := tail[t.offset]
		other := has && (string(r.Key) != string(t.key) || string(r.Value) != string(t.value))
		if (other || t.offset >= end) && !seen[t.offset] {
			list = append(list, t)
			seen[t.offset] = true
		}
	}
	return list
}

// readOutlook says what each failure would do to a partition now. Brokers whose failure would do the same stand
// together.
func (l *layout) readOutlook(p engine.PartitionView) []view.Paragraph {
	type group struct {
		brokers []kafka.BrokerID
		words   [2]string // by failure
	}
	var groups []group
	for _, id := range assigned(p) {
		if l.silent(id) || l.View.Controller.Paused {
			continue
		}
		words := [2]string{l.outcomeWords(p, id, dies), l.outcomeWords(p, id, losesPower)}
		at := slices.IndexFunc(groups, func(g group) bool { return g.words == words })
		if at < 0 {
			at = len(groups)
			groups = append(groups, group{words: words})
		}
		groups[at].brokers = append(groups[at].brokers, id)
	}
	var list []view.Paragraph
	for _, g := range groups {
		name := either(g.brokers)
		if g.words[dies] == g.words[losesPower] {
			text := view.Paragraph{{Text: fmt.Sprintf("If %s died or lost power now, ", name), Strong: true}, {Text: g.words[dies]}}
			list = append(list, append(text, l.tries(g.brokers, dies, losesPower)...))
			continue
		}
		text := view.Paragraph{{Text: fmt.Sprintf("If %s died now, ", name), Strong: true}, {Text: g.words[dies]}}
		list = append(list, append(text, l.tries(g.brokers, dies)...))
		text = view.Paragraph{{Text: fmt.Sprintf("If %s lost power now, ", name), Strong: true}, {Text: g.words[losesPower]}}
		list = append(list, append(text, l.tries(g.brokers, losesPower)...))
	}
	return list
}

// readNext says what will come of a leader that has fallen silent, if nothing else happens.
func (l *layout) readNext(p engine.PartitionView) view.Paragraph {
	switch {
	case p.Leader == engine.NoLeader:
		return l.readGone(p)
	case l.View.Controller.Paused:
		return view.Paragraph{{Text: "The controller is paused: ", Strong: true}, {Text: "until it goes on it fences nobody and elects nobody, whichever broker fails."}}
	case !l.silent(p.Leader):
		return nil
	}
	return view.Paragraph{{Text: "If nothing else happens, ", Strong: true}, {Text: l.outcomeWords(p, nobody, dies)}}
}

// readGone says which acknowledged records are gone from the disks of those who may lead a partition that has no leader.
func (l *layout) readGone(p engine.PartitionView) view.Paragraph {
	clean := slices.Concat(p.ISR, p.ELR, p.LastKnownELR)
	may := l.mayReturn(p, clean)
	gone := l.onNoDisk(p, l.acknowledged(p), may)
	var text view.Paragraph
	if len(gone) == 0 {
		text = view.Paragraph{{Text: "No acknowledged record is gone: ", Strong: true}, {Text: "they stand on the disks of those who may lead it again."}}
	} else {
		text = view.Paragraph{{Text: fmt.Sprintf("%s on no disk of those who may lead it again: ", acknowledgedRecords(len(gone))+" "+labs.Verb(len(gone), "stands", "stand")), Strong: true}, {Text: offsetsOf(gone) + "."}}
	}
	for _, id := range may {
		r, _ := replicaOn(p, id)
		if lost := missing(l.acknowledged(p), labs.SegmentsOf(r)); l.uncleanAllowed() && len(lost) > len(gone) {
			text = append(text, view.Span{Text: fmt.Sprintf(" If %s came back alone and led, %s would be lost: %s.", labs.BrokerName(id), acknowledgedRecords(len(lost)), offsetsOf(lost))})
		}
	}
	return text
}

// nobody is no broker's id: its failure changes nothing.
const nobody kafka.BrokerID = 0

// either names brokers as alternatives: "b1, b2 or b3".
func either(ids []kafka.BrokerID) string {
	names := labs.BrokerNames(ids)
	if at := strings.LastIndex(names, ", "); at >= 0 {
		return names[:at] + " or " + names[at+2:]
	}
	return names
}

// triesShown is how many brokers of a group are offered to be tried.
const triesShown = 3

// tries lead to the forks in which a broker fails now.
func (l *layout) tries(ids []kafka.BrokerID, hows ...failure) []view.Span {
	var list []view.Span
	for _, id := range ids[:min(len(ids), triesShown)] {
		n := l.broker(id).Node
		for _, how := range hows {
			var cmd command.Command = command.Kill{Node: n}
			if how == losesPower {
				cmd = command.PowerLoss{Node: n}
			}
			span := labs.TryIt(cmd.String(), l.Address.WithCommand(cmd, false))
			span.Text, span.Label = "try "+cmd.String(), "" // which is enough by itself
			separator := " "
			if len(list) > 0 {
				separator = ", "
			}
			list = append(list, view.Span{Text: separator}, span)
		}
	}
	return append(list, view.Span{Text: "."})
}

// outcomeWords says what a failure would do: who leads, what is lost, whether writing goes on.
func (l *layout) outcomeWords(p engine.PartitionView, id kafka.BrokerID, how failure) string {
	o := l.foresee(p, id, how)
	parts := []string{l.leaderWords(p, id, o)}
	deaf := p.Leader != engine.NoLeader && p.Leader != id && o.leader != p.Leader && l.serves(p, p.Leader) // it goes on after its successor is elected
	switch {
	case len(o.lost) > 0 && o.leader == engine.NoLeader:
		parts = append(parts, fmt.Sprintf("%s would stand on no disk of those who may lead it again: %s", acknowledgedRecords(len(o.lost)), offsetsOf(o.lost)))
	case len(o.lost) > 0:
		parts = append(parts, fmt.Sprintf("%s would be lost: %s", acknowledgedRecords(len(o.lost)), offsetsOf(o.lost)))
	case o.leader == engine.NoLeader && l.uncleanAllowed():
		parts = append(parts, "no acknowledged record would be gone from every disk, but any replica may lead that comes back first")
	case deaf:
		parts = append(parts, "no record acknowledged by now would be lost")
	default:
		parts = append(parts, "no acknowledged record would be lost")
	}
	if deaf && o.leader != engine.NoLeader && l.config.Acks == 1 {
		parts = append(parts, fmt.Sprintf("what %s acknowledges after this may be lost", labs.BrokerName(p.Leader)))
	}
	if o.leader != engine.NoLeader {
		parts = append(parts, l.writesWords(o, p.MinISR))
	}
	return strings.Join(parts, "; ") + "."
}

// leaderWords says who leads after a failure, and by which rule.
func (l *layout) leaderWords(p engine.PartitionView, id kafka.BrokerID, o outcome) string {
	switch name := labs.BrokerName(o.leader); {
	case o.leader == engine.NoLeader && p.Leader == engine.NoLeader:
		return "there would still be no leader"
	case o.leader == engine.NoLeader && p.Leader != id && l.serves(p, p.Leader):
		return fmt.Sprintf("nobody could lead; %s, which does not hear of it, would go on for clients that reach it", labs.BrokerName(p.Leader))
	case o.leader == engine.NoLeader:
		return "nobody could lead, and nothing is written or read until brokers come back"
	case o.leader == p.Leader:
		return fmt.Sprintf("%s would go on leading", name)
	case !o.clean:
		return fmt.Sprintf("%s would lead after an unclean election", name)
	case slices.Contains(p.ISR, o.leader):
		return fmt.Sprintf("%s would lead (first of %s that is in sync and alive)", name, labs.BrokerNames(assigned(p)))
	default:
		return fmt.Sprintf("%s would lead (nobody in sync is alive; first of %s that is eligible and alive)", name, labs.BrokerNames(assigned(p)))
	}
}

func acknowledgedRecords(n int) string { return kafka.Count(n, "acknowledged record") }

// offsetsOf lists the offsets of records, at most a few.
func offsetsOf(list []told) string {
	const most = 4
	var offsets []string
	for i, t := range list {
		if i == most {
			offsets = append(offsets, fmt.Sprintf("%d more", len(list)-most))
			break
		}
		offsets = append(offsets, fmt.Sprintf("offset %d", t.offset))
	}
	return strings.Join(offsets, ", ")
}

// writesWords says whether writing goes on after a failure.
func (l *layout) writesWords(o outcome, minISR int) string {
	node, cut := l.broker(o.leader).Node, []kafka.BrokerID{}
	for _, id := range o.isr {
		if n := l.broker(id).Node; l.IsCut(n, node) || l.IsCut(node, n) {
			cut = append(cut, id)
		}
	}
	switch inSync := len(o.isr); {
	case l.IsCut(producer, node):
		return fmt.Sprintf("%s cannot reach %s", producer, labs.BrokerName(o.leader))
	case l.config.Acks == -1 && inSync < minISR:
		return fmt.Sprintf("writes are refused with NOT_ENOUGH_REPLICAS (%d in sync, min.insync.replicas = %d)", inSync, minISR)
	case inSync < minISR:
		return fmt.Sprintf("writing goes on, and nothing of it becomes visible (%d in sync, min.insync.replicas = %d)", inSync, minISR)
	case len(cut) == 0:
		return "writing goes on"
	case l.config.Acks != -1:
		return fmt.Sprintf("writing goes on, and nothing of it becomes visible while %s, cut off from %s, %s in sync", labs.BrokerNames(cut), labs.BrokerName(o.leader), isAre(len(cut)))
	case inSync-len(cut) < minISR:
		return fmt.Sprintf("no write is acknowledged while %s, cut off from %s, %s in sync, and then it is refused with NOT_ENOUGH_REPLICAS", labs.BrokerNames(cut), labs.BrokerName(o.leader), isAre(len(cut)))
	default:
		return fmt.Sprintf("no write is acknowledged while %s, cut off from %s, %s in sync", labs.BrokerNames(cut), labs.BrokerName(o.leader), isAre(len(cut)))
	}
}
