package replication

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

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
	rule   string // that chooses the leader
}

// foresee works out what a partition would be if a broker failed now and stayed down. What it has sent counts as
// arrived: an answer to a follower's fetch brings records, one to the producer is an acknowledgement.
func (l *layout) foresee(p engine.PartitionView, id kafka.BrokerID, how failure) outcome {
	look := l.Cluster.WithoutBroker(p.TopicPartition, id)
	o := outcome{leader: look.Leader, isr: look.ISR, clean: look.Clean, rule: look.Why}
	switch {
	case o.leader == engine.NoLeader:
		o.lost = l.onNoDisk(p, slices.Concat(look.ISR, look.ELR, p.LastKnownELR), id, how)
	case o.leader != engine.NoLeader && o.leader != p.Leader:
		if r, ok := replicaOn(p, o.leader); ok {
			o.lost = missing(l.promised(p), labs.SegmentsOf(r), l.arriving(p, o.leader))
		}
	}
	return o
}

// onNoDisk lists the promised records that none of these brokers, which may lead again, would have on its disk; one of
// them fails now.
func (l *layout) onNoDisk(p engine.PartitionView, ids []kafka.BrokerID, fails kafka.BrokerID, how failure) []told {
	lost := l.promised(p)
	for _, id := range ids {
		r, _ := replicaOn(p, id)
		segments := labs.SegmentsOf(r)
		if id == fails && how == losesPower {
			kept, _ := l.Cluster.AfterPowerLoss(id, p.TopicPartition)
			segments = kept.Segments
		}
		lost = missing(lost, segments, 0)
	}
	return lost
}

// promised lists the records of a partition that were acknowledged and are not lost, and those whose acknowledgement
// is on its way.
func (l *layout) promised(p engine.PartitionView) []told {
	list := l.promises[p.Partition]
	if list != nil {
		return list
	}
	source := l.Cluster.Source()
	for _, o := range source.Outcomes().From(0) {
		if o.Kind != engine.Acknowledged || o.Offset < 0 || l.lost[o.Record] {
			continue
		}
		if h := source.Handed().At(o.Record); h.TopicPartition == p.TopicPartition {
			list = append(list, told{number: o.Record, offset: o.Offset, key: h.Key, value: h.Value, tick: o.Tick, event: o.Event})
		}
	}
	for _, m := range l.View.UnderWay {
		response, ok := m.Message.Response.(*kmsg.ProduceResponse)
		if !ok {
			continue
		}
		for _, t := range response.Topics {
			for _, part := range t.Partitions {
				if t.Topic == topic && part.Partition == int32(p.Partition) && part.ErrorCode == 0 {
					list = append(list, batchAt(p.Log.Segments, kafka.Offset(part.BaseOffset))...)
				}
			}
		}
	}
	l.promises[p.Partition] = list
	return list
}

// batchAt lists the records of the batch that begins at an offset.
func batchAt(segments []storage.Segment, base kafka.Offset) (list []told) {
	for i, r := range labs.RecordsFrom(segments, base, 100) {
		if i > 0 && r.BatchStart {
			break
		}
		list = append(list, told{number: -1, offset: r.Offset, key: r.Key, value: r.Value})
	}
	return list
}

// arriving gives where a follower's log ends once the answers that are on their way to it are there; 0: none is.
func (l *layout) arriving(p engine.PartitionView, to kafka.BrokerID) (end kafka.Offset) {
	for _, m := range l.View.UnderWay {
		response, ok := m.Message.Response.(*kmsg.FetchResponse)
		if !ok || m.To != l.broker(to).Node || m.Held {
			continue
		}
		for _, t := range response.Topics {
			for _, part := range t.Partitions {
				if part.Partition == int32(p.Partition) && part.ErrorCode == 0 {
					end = max(end, endOf(part.RecordBatches))
				}
			}
		}
	}
	return end
}

// missing lists the records that a log does not have at their offsets, once it reaches arriving. Logs agree but for
// their last part, so only that is compared.
func missing(promised []told, segments []storage.Segment, arriving kafka.Offset) (list []told) {
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
		if (other || t.offset >= max(end, arriving)) && !seen[t.offset] {
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
		if l.silent(id) {
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
	if p.Leader == engine.NoLeader {
		gone := l.onNoDisk(p, slices.Concat(p.ISR, p.ELR, p.LastKnownELR), nobody, dies)
		if len(gone) == 0 {
			return view.Paragraph{{Text: "No acknowledged record is gone: ", Strong: true}, {Text: "they stand on the disks of those who may lead it again."}}
		}
		return view.Paragraph{{Text: fmt.Sprintf("%s on no disk of those who may lead it again: ", acknowledgedRecords(len(gone))+" "+labs.Verb(len(gone), "stands", "stand")), Strong: true}, {Text: offsetsOf(gone) + "."}}
	}
	if !l.silent(p.Leader) {
		return nil
	}
	return view.Paragraph{{Text: "If nothing else happens, ", Strong: true}, {Text: l.outcomeWords(p, nobody, dies)}}
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
	var parts []string
	switch {
	case o.leader == engine.NoLeader && p.Leader == engine.NoLeader:
		parts = append(parts, "there would still be no leader")
	case o.leader == engine.NoLeader:
		parts = append(parts, "nobody could lead, and nothing is written or read until brokers come back")
	case o.leader == p.Leader:
		parts = append(parts, fmt.Sprintf("%s would go on leading", labs.BrokerName(o.leader)))
	case o.clean:
		parts = append(parts, fmt.Sprintf("%s would lead (first of %s that is in sync or eligible, and alive)", labs.BrokerName(o.leader), labs.BrokerNames(assigned(p))))
	default:
		parts = append(parts, fmt.Sprintf("%s would lead after an unclean election", labs.BrokerName(o.leader)))
	}
	switch {
	case len(o.lost) > 0 && o.leader == engine.NoLeader:
		parts = append(parts, fmt.Sprintf("%s would stand on no disk of those who may lead it again: %s", acknowledgedRecords(len(o.lost)), offsetsOf(o.lost)))
	case len(o.lost) > 0:
		parts = append(parts, fmt.Sprintf("%s would be lost: %s", acknowledgedRecords(len(o.lost)), offsetsOf(o.lost)))
	default:
		parts = append(parts, "no acknowledged record would be lost")
	}
	if o.leader != engine.NoLeader {
		parts = append(parts, l.writesWords(len(o.isr), p.MinISR))
	}
	return strings.Join(parts, "; ") + "."
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

// writesWords says whether writing goes on with that many replicas in sync.
func (l *layout) writesWords(inSync, minISR int) string {
	switch {
	case inSync >= minISR:
		return "writing goes on"
	case l.config.Acks == -1:
		return fmt.Sprintf("writes are refused with NOT_ENOUGH_REPLICAS (%d in sync, min.insync.replicas = %d)", inSync, minISR)
	}
	return fmt.Sprintf("writing goes on, and nothing of it becomes visible (%d in sync, min.insync.replicas = %d)", inSync, minISR)
}
