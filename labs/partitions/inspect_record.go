package partitions

import (
	"fmt"
	"iter"
	"slices"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/partitioner"
	"loglab/engine/record"
	"loglab/labs"
	"loglab/labs/inspect"
	"loglab/labs/view"
)

// inspectRecord shows one record: what it holds, how its key was hashed, where else the key would be, and
// its bytes.
func inspectRecord(l *layout, log inspect.Log, in *view.Inspector, at inspect.Location) {
	r, name := at.Record, log.Partition
	key := "no key (null)"
	if r.Key != nil {
		key = fmt.Sprintf("%s, %s", keyName(string(r.Key)), kafka.Count(len(r.Key), "byte"))
	}
	by, handed := l.senderOf(log, at), handedIn(l.Frame, name, at.Record)
	log.Record(in, at, key, l.how(at.Record, name, by, handed))
	if handed != nil {
		in.AddFact("Handed in", "in tick %d: %s", handed.Tick, handed.Body.Sentence())
		in.Links = append(in.Links, labs.Replace("why-record", "why it was handed in", l.Address.WithWhy(handed.Seq)))
	}
	if _, keyed := by.rule.Partition(r.Key, int32(by.Known)); keyed {
		in.Tables = append(in.Tables, hashTable(by, r.Key), l.elsewhere(by, r.Key, name.Partition))
	}
}

// senderOf gives the producer that sent a record.
func (l *layout) senderOf(log inspect.Log, at inspect.Location) sender {
	for _, e := range l.Cluster.Journal().Causes(log.AppendEvent(at.Batch.BaseOffset)) {
		for _, s := range l.senders {
			if e.Node == s.ID {
				return s
			}
		}
	}
	return l.senders[0]
}

// how says in one line how a record came to the partition it stands in.
func (l *layout) how(r record.Record, stands kafka.TopicPartition, by sender, handed *journal.Event) string {
	n := by.Known
	if handed != nil {
		b := handed.Body.(journal.RecordPartitioned)
		if b.Named {
			return "The record named its partition; no partitioner was asked."
		}
		n = b.Partitions
	}
	partition, keyed := by.rule.Partition(r.Key, int32(n))
	if !keyed {
		return "The producer chose by the rule " + l.setting("keyless") + "."
	}
	text := by.rule.Hash(r.Key).Formula(int32(n))
	if partition != stands.Partition {
		text += ", but it stands here"
	}
	if now, _ := by.place(string(r.Key)); now != stands.Partition {
		text += fmt.Sprintf("; %s would send it to %s-%d now, with %s", by.ID, topic, now, kafka.Count(by.Known, "partition"))
	}
	return text
}

// Of a long key's steps these are shown.
const (
	firstSteps = 6
	lastSteps  = 4
)

// hashTable shows the hash of a key step by step, down to the partition.
func hashTable(by sender, key []byte) view.Table {
	rule := by.rule
	t := view.Table{
		ID: "hash", Caption: fmt.Sprintf("From key to partition by %s, step by step", rule.Name), Mono: true,
		Head: []string{"Step", "Bytes", "k", "h after it", "How"}, More: "So do " + rule.Clients + ".",
	}
	steps, left := ends(rule.Steps(key), firstSteps, lastSteps)
	words := slices.ContainsFunc(steps, func(s partitioner.Step) bool { return s.HasWord })
	if !words {
		t.Head = slices.Delete(t.Head, 2, 3)
	}
	row := func(step, bytes, word, h, how string) {
		if words {
			t.Rows = append(t.Rows, inspect.Cells(step, bytes, word, h, how))
		} else {
			t.Rows = append(t.Rows, inspect.Cells(step, bytes, h, how))
		}
	}
	for i, s := range steps {
		if left > 0 && i == firstSteps {
			row("…", "", "", "", kafka.Count(left, "step")+" more")
		}
		word, text := "", ""
		if s.HasWord {
			word = fmt.Sprintf("%08x", s.Word)
		}
		if len(s.Bytes) > 0 {
			text = fmt.Sprintf("% x %s", s.Bytes, inspect.Seen(s.Bytes))
		}
		row(s.Name, text, word, fmt.Sprintf("%08x", s.Hash), s.Rule)
	}
	n, hash := by.Known, rule.Hash(key)
	row("positive", "", "", fmt.Sprint(hash.Mapped()), hash.Mapping())
	row("partition", "", "", fmt.Sprint(hash.Partition(int32(n))), fmt.Sprintf("%d mod %d partitions", hash.Mapped(), n))
	t.Rows[len(t.Rows)-1].Selected = true
	return t
}

// ends gives the first and the last steps of a sequence, and how many lie between.
func ends(all iter.Seq[partitioner.Step], first, last int) (list []partitioner.Step, left int) {
	for s := range all {
		if len(list) == first+last {
			list = slices.Delete(list, first, first+1)
			left++
		}
		list = append(list, s)
	}
	return list, left
}

// elsewhere shows the partition of a key under other counts and with other clients; what is not the
// partition it stands in is marked.
func (l *layout) elsewhere(by sender, key []byte, stands kafka.Partition) view.Table {
	rule, n := by.rule, int32(by.Known)
	t := view.Table{ID: "elsewhere", Caption: fmt.Sprintf("Where this key would be, instead of %s-%d", topic, stands), Head: []string{"With", "It would be in"}}
	row := func(rule partitioner.Partitioner, count int32, with string) {
		item := view.Item{Text: "any partition: no key for this client"}
		if partition, keyed := rule.Partition(key, count); keyed {
			item.Text = fmt.Sprintf("%s-%d", topic, partition)
			if partition != stands {
				item.Mark, item.Label = "moved", "another than now"
			}
		}
		t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{view.Plain(with), {item}}})
	}
	counts := []int32{n}
	for _, other := range []struct {
		count int32
		what  string
	}{{int32(l.baseline), ", the baseline"}, {n - 1, ", one fewer"}, {n + 1, ", one more"}, {2 * n, ", twice as many"}} {
		if other.count > 0 && !slices.Contains(counts, other.count) {
			counts = append(counts, other.count)
			row(rule, other.count, kafka.Count(int(other.count), "partition")+other.what)
		}
	}
	for _, name := range partitioner.Names() {
		if other, err := partitioner.ByName(name); err == nil && name != rule.Name {
			row(other, n, name)
		}
	}
	return t
}

// handedIn finds the event with which a record was handed to its producer. A partition's records are
// appended in the order in which they were put into its batches, so the event is found by counting; nil
// where several producers write, and where a batch can be missing or stand in the log twice.
func handedIn(f labs.Frame, tp kafka.TopicPartition, r record.Record) *journal.Event {
	if len(f.View.Producers) != 1 {
		return nil
	}
	j, next, begun := f.Cluster.Journal(), kafka.Offset(0), 0
	delivered := map[uint64]bool{}
	var found *journal.Event
	for e := range j.All() {
		switch b := e.Body.(type) {
		case journal.RecordPartitioned:
			if b.TopicPartition != tp {
				continue
			}
			if next == r.Offset && b.Key == string(r.Key) {
				found = &e
			}
			next++
		case journal.ProduceRefused:
			if b.TopicPartition == tp {
				return nil
			}
		case journal.BatchRetried:
			if b.TopicPartition == tp {
				return nil
			}
		case journal.ProduceFailed, journal.BatchExpired, journal.ProducerMemoryLost:
			return nil
		case journal.BatchAppended:
			if b.TopicPartition == tp && b.BaseOffset == 0 {
				begun++
			}
			if begun > 1 {
				return nil
			}
		case journal.MessageDelivered:
			if b.API == "Produce" && !b.Response && delivered[b.Message] {
				return nil
			}
			delivered[b.Message] = true
		}
	}
	return found
}
