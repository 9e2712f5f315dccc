package partitions

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/partitioner"
	"loglab/engine/record"
	"loglab/engine/storage"
	"loglab/labs"
	"loglab/labs/view"
)

// inspectRecord shows one record: what it holds, how its key was hashed, where else the key would be, and
// its bytes.
func inspectRecord(l *layout, in *view.Inspector, at location) {
	r, b, name := at.record, at.batch, at.partition.TopicPartition
	key := "no key (null)"
	if r.Key != nil {
		key = fmt.Sprintf("%s, %s", keyName(string(r.Key)), kafka.Count(len(r.Key), "byte"))
	}
	in.AddFact("Key", "%s", key)
	if r.Value == nil {
		in.AddFact("Value", "null")
	} else {
		in.AddFact("Value", "%s, %s", record.Printable(r.Value), kafka.Count(len(r.Value), "byte"))
	}
	in.AddFact("Headers", "%s", headers(r.Headers))
	by, handed := l.senderOf(at), handedIn(l.Frame, at)
	in.AddFact("Partition", "%s", l.how(at, by, handed))
	in.AddFact("Offset", "%d, which is the batch’s base offset %d + %d", r.Offset, b.BaseOffset, r.OffsetDelta)
	in.AddFact("Timestamp", "%d ms since 1970, %d ms into the run", r.Timestamp, int64(r.Timestamp-engine.StartTime))
	in.AddFact("Place", "%s in a batch of %s at byte %s of %s", kafka.Count(r.Size, "byte"), kafka.Count(int(b.RecordsCount), "record"),
		kafka.Thousands(at.position), storage.SegmentFileName(at.segment.BaseOffset, storage.LogSuffix))
	in.Links = append(in.Links,
		open(l.Address, "open-batch", "its batch", logTarget(labs.BatchTarget, name, r.Offset)),
		open(l.Address, "open-find", "how a read finds it", logTarget(labs.FindTarget, name, r.Offset)))
	if handed != nil {
		in.AddFact("Handed in", "in tick %d: %s", handed.Tick, handed.Body.Sentence())
		why := labs.Replace("why-record", "why it was handed in", l.Address.WithWhy(handed.Seq))
		in.Links = append(in.Links, why)
	}
	in.Chain = appendChain(l, at)
	if _, keyed := by.rule.Partition(r.Key, int32(by.Known)); keyed {
		in.Tables = append(in.Tables, hashTable(by, r.Key), l.elsewhere(by, r.Key, name.Partition))
	}
	in.Anatomies = []view.Anatomy{recordAnatomy(at)}
}

// headers lists a record's headers.
func headers(list []record.Header) string {
	if len(list) == 0 {
		return "none"
	}
	var texts []string
	for i, h := range list {
		if i == 8 {
			texts = append(texts, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		texts = append(texts, fmt.Sprintf("%s = %s", record.Printable([]byte(h.Key)), record.Printable(h.Value)))
	}
	return strings.Join(texts, ", ")
}

// senderOf gives the producer that sent a record.
func (l *layout) senderOf(at location) sender {
	for _, e := range l.Cluster.Journal().Causes(appendEvent(l.Frame, at.partition.TopicPartition, at.batch.BaseOffset)) {
		for _, s := range l.senders {
			if e.Node == s.ID {
				return s
			}
		}
	}
	return l.senders[0]
}

// how says in one line how a record came to the partition it stands in.
func (l *layout) how(at location, by sender, handed *journal.Event) string {
	n := by.Known
	if handed != nil {
		b := handed.Body.(journal.RecordPartitioned)
		if b.Named {
			return "The record named its partition; no partitioner was asked."
		}
		n = b.Partitions
	}
	partition, keyed := by.rule.Partition(at.record.Key, int32(n))
	if !keyed {
		return "The producer chose by the rule " + l.setting("keyless") + "."
	}
	text := by.rule.Hash(at.record.Key).Formula(int32(n))
	if partition != at.partition.Partition {
		text += ", but it stands here"
	}
	if now, _ := by.place(string(at.record.Key)); now != at.partition.Partition {
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
			t.Rows = append(t.Rows, cells(step, bytes, word, h, how))
		} else {
			t.Rows = append(t.Rows, cells(step, bytes, h, how))
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
			text = fmt.Sprintf("% x %s", s.Bytes, seen(s.Bytes))
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
// where a batch was refused or several producers write.
func handedIn(f labs.Frame, at location) *journal.Event {
	if len(f.View.Producers) != 1 {
		return nil
	}
	j, next := f.Cluster.Journal(), kafka.Offset(0)
	var found *journal.Event
	for e := range j.All() {
		switch b := e.Body.(type) {
		case journal.RecordPartitioned:
			if b.TopicPartition != at.partition.TopicPartition {
				continue
			}
			if next == at.record.Offset && b.Key == string(at.record.Key) {
				found = &e
			}
			next++
		case journal.ProduceRefused:
			if b.TopicPartition == at.partition.TopicPartition {
				return nil
			}
		}
	}
	return found
}
