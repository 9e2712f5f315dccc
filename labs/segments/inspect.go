package segments

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"loglab/engine/group"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/storage"
	"loglab/labs"
	"loglab/labs/inspect"
	"loglab/labs/view"
)

// inspectFrame is the frame as the parts of the inspector take it that all labs share.
func (l *layout) inspectFrame() inspect.Frame {
	return inspect.Frame{Frame: l.Frame, Topic: topic, Group: readers, Config: l.config}
}

// inspectAt shows what the address points at; nil when it points at nothing.
func (l *layout) inspectAt() *view.Inspector {
	in := l.inspectFrame().Open(inspect.Parts{
		Node: l.inspectNode, Group: func(in *view.Inspector, id string) bool { return id == readers && l.inspectReader(in) },
		Partition: l.inspectPartition, Record: l.inspectRecord, Named: l.inspectNamed,
	})
	if in != nil && l.Address.At.Kind == labs.SegmentTarget {
		l.inspectFate(in, kafka.Offset(l.Address.At.Number))
	}
	return in
}

// inspectRecord shows a record, and what retention and the cleaner make of it.
func (l *layout) inspectRecord(in *view.Inspector, log inspect.Log, at inspect.Location) {
	log.Record(in, at, keyText(at.Record.Key), "")
	r := at.Record
	var facts []view.Fact
	add := func(name, format string, args ...any) {
		facts = append(facts, view.Fact{Name: name, Value: fmt.Sprintf(format, args...)})
	}
	if r.Offset < l.log.LogStartOffset {
		add("Readable", "no: it is below the log start offset %d. Its bytes stay until %s", l.log.LogStartOffset, l.belowUntil("its whole segment is"))
	}
	if k, ok := l.state[string(r.Key)]; ok && r.Key != nil && k.key != nil {
		switch {
		case k.last.Offset == r.Offset:
			add("Of its key", "the last one")
		case k.last.Offset > r.Offset:
			add("Of its key", "an older one: offset %d is the last. %s", k.last.Offset, l.whyOlder(r.Offset, k.last.Offset))
		}
	}
	if r.Value == nil && l.config.Compact && l.isLast(r) {
		add("Tombstone", "%s", l.tombstoneText(at.Batch))
	}
	in.Facts = append(facts, in.Facts...)
	in.Tables = append(in.Tables, log.Life(r.Offset))
}

// whyOlder says why a record is there although a later one has its key. One between the two may have replaced it for the
// cleaner already.
func (l *layout) whyOlder(offset, last kafka.Offset) string {
	switch {
	case !l.config.Compact:
		return "cleanup.policy does not contain compact, so nothing replaces it"
	case !l.open:
		return fmt.Sprintf("b1 %s, and so its cleaner does nothing", l.onDisk())
	}
	c := l.upkeep.Cleanable
	done, _ := l.Cluster.CleaningAt(l.View.Now, serverID, partition)
	goes := slices.ContainsFunc(done.Removed, func(r storage.RemovedRecord) bool { return r.Offset == offset })
	switch {
	case !goes && last >= c.FirstUncleanableOffset:
		return fmt.Sprintf("That is at %d or above, where the cleaner may not go (%s): until it may, the cleaner leaves both", c.FirstUncleanableOffset, c.Bound)
	case !c.Eligible():
		return "The cleaner leaves the log: " + c.Why
	}
	return "The next cleaning takes it"
}

// tombstoneText says when a tombstone may go.
func (l *layout) tombstoneText(b record.Batch) string {
	horizon, met := b.DeleteHorizon()
	switch {
	case !met:
		return fmt.Sprintf("no cleaning has met it: delete.retention.ms = %s begin when one does", kafka.Thousands(l.config.DeleteRetentionMillis))
	case horizon <= l.clock():
		return "its delete horizon has passed: the next cleaning takes it"
	}
	at := kafka.Millis(horizon - startTime)
	return fmt.Sprintf("its batch has the delete horizon %s; a cleaning in tick %d, in %s, or later takes it", runTime(horizon), l.commandTick(at), labs.Span(max(at-l.View.Now, 0)))
}

// runTime writes a timestamp as a time in the run.
func runTime(t kafka.Timestamp) string {
	if t < startTime {
		return labs.Span(kafka.Millis(startTime-t)) + " before the run"
	}
	return labs.Span(kafka.Millis(t-startTime)) + " into the run"
}

// inspectFate adds to a segment what each rule of the next check says of it, and what the cleaner makes of it.
func (l *layout) inspectFate(in *view.Inspector, base kafka.Offset) {
	at := slices.IndexFunc(l.log.Segments, func(s storage.Segment) bool { return s.BaseOffset == base })
	if at < 0 || !l.open {
		return
	}
	s := l.log.Segments[at]
	if s.LargestTimestamp >= 0 {
		in.AddFact("Largest timestamp", "%s; retention by time goes by it", runTime(s.LargestTimestamp))
	}
	if part := partWords[l.kindOf(at)]; part != "" {
		in.AddFact("To the cleaner", "%s", part)
	}
	if l.upkeep.NextRetention < 0 {
		return
	}
	done, ok := l.Cluster.RetentionAt(l.upkeep.NextRetention, serverID, partition)
	if !ok || l.cleans(l.upkeep.NextRetention) {
		return
	}
	t := view.Table{ID: "check", Caption: fmt.Sprintf("What each rule says of it at the next check, %s, %s", l.due(l.upkeep.NextRetention), l.conditions(l.upkeep.NextRetention, true)), Head: []string{"Rule", "So", "Why"}}
	for _, check := range done.Checks {
		so, why := "not asked", check.Off
		for i, found := range check.Segments {
			if found.BaseOffset == base {
				so, why = found.Verdict.String(), found.Why
				if i < check.Deleted {
					so = "goes"
				}
			}
		}
		if why == "" {
			why = "the rule before has taken it"
		}
		t.Rows = append(t.Rows, inspect.Cells(check.Rule.String(), so, why))
	}
	in.Tables = slices.Insert(in.Tables, 0, t)
}

// inspectNamed shows a file or a mark.
func (l *layout) inspectNamed(in *view.Inspector, at labs.Target) bool {
	if at.Kind == labs.FileTarget {
		return l.inspectFile(in, at)
	}
	if digits, removed := strings.CutPrefix(at.Name, "removed-"); removed {
		return l.inspectRemoved(in, digits)
	}
	return l.inspectMark(in, at.Name)
}

// chainOf gives the causes of the last event of a kind.
func (l *layout) chainOf(is func(journal.Body) bool) []view.EventLine {
	for e := range l.Cluster.Journal().Backward() {
		if is(e.Body) {
			return labs.Causes(l.Frame, e.Seq, inspect.CausesShown)
		}
	}
	return nil
}

// inspectRemoved shows a record that the last cleaning took.
func (l *layout) inspectRemoved(in *view.Inspector, digits string) bool {
	e, b, ok := l.cleaned()
	if !ok {
		return false
	}
	i := slices.IndexFunc(b.Removed, func(r journal.RemovedRecord) bool { return fmt.Sprint(r.Offset) == digits })
	if i < 0 {
		return false
	}
	r := b.Removed[i]
	in.Title = fmt.Sprintf("Offset %d, which the cleaner took", r.Offset)
	in.AddFact("Reason", "%s", removalWords(r))
	in.AddFact("Its offset", "stays a gap: no record moves to another offset, and a reader steps over it")
	in.Chain = labs.Causes(l.Frame, e.Seq, inspect.CausesShown)
	if r.By != kafka.NoOffset {
		if _, there := l.recordAt(r.By); there {
			in.Links = append(in.Links, labs.Open(l.Address, "open-by", fmt.Sprintf("offset %d", r.By), target(labs.RecordTarget, r.By)))
		}
	}
	return true
}

// removalWords says why a record went.
func removalWords(r journal.RemovedRecord) string {
	switch r.Reason {
	case storage.Superseded.String():
		return fmt.Sprintf("superseded: offset %d is the last of its key that the cleaner noted, and only that one stays", r.By)
	case storage.ExpiredTombstone.String():
		return "an expired tombstone: the last of its key, without a value, and its batch’s delete horizon had passed"
	case storage.Keyless.String():
		return "it has no key, so it cannot be told apart from others in a compacted log"
	}
	return r.Reason
}

// inspectMark shows a place in the log that has a name: what it means and what moved it last.
func (l *layout) inspectMark(in *view.Inspector, name string) bool {
	m, ok := l.markOf(name)
	if !ok {
		return false
	}
	in.Title = strings.ToUpper(m.title[:1]) + m.title[1:] + fmt.Sprintf(" %d of %s", m.offset, partition)
	var moved func(journal.Body) bool
	switch m.name {
	case "log-start":
		in.AddFact("Means", "the first offset that can be read; a fetch from below is answered with OFFSET_OUT_OF_RANGE")
		in.AddFact("Moves", "with retention, to the first segment that is left, and with DeleteRecords, to any record")
		moved = func(b journal.Body) bool {
			switch b := b.(type) {
			case journal.SegmentsDeleted:
				return b.TopicPartition == partition
			case journal.LogStartOffsetMoved:
				return b.TopicPartition == partition
			}
			return false
		}
	case "high-watermark", "log-end":
		in.AddFact("Means", "the log end is the offset that the next record gets; consumers read below the high watermark, which every in-sync replica has")
		moved = func(b journal.Body) bool {
			switch b := b.(type) {
			case journal.HighWatermarkAdvanced:
				return b.TopicPartition == partition
			case journal.LogOpened:
				return b.TopicPartition == partition
			case journal.PowerLost:
				return true
			}
			return false
		}
	case "checkpoint":
		in.AddFact("Means", "below it the log is clean: of each key that stands there only the last record is left, as far as the cleaner knew. It is kept in the file %s", storage.CleanerOffsetCheckpoint)
		moved = func(b journal.Body) bool { c, is := b.(journal.LogCleaned); return is && c.TopicPartition == partition }
	case "uncleanable":
		c := l.upkeep.Cleanable
		in.AddFact("Means", "the cleaner does not go further now: %s", c.Bound)
		in.AddFact("The bound", "is at offset %d; the segment that holds it begins at %d", c.BoundOffset, c.FirstUncleanableOffset)
	case "committed":
		return l.inspectReader(in)
	}
	if moved != nil {
		in.Chain = l.chainOf(moved)
	}
	return true
}

// inspectPartition shows the whole log in numbers, with the files that are no segment’s.
func (l *layout) inspectPartition(in *view.Inspector, tp kafka.TopicPartition) bool {
	if tp != partition {
		return false
	}
	in.Title = "The directory " + tp.String()
	for _, m := range l.marks() {
		in.AddFact(strings.ToUpper(m.title[:1])+m.title[1:], "%d", m.offset)
		in.Links = append(in.Links, labs.Open(l.Address, "open-mark-"+m.name, m.title, named(labs.MarkTarget, m.name)))
	}
	t := view.Table{ID: "files", Caption: "Its files", Head: []string{"Name", "Bytes", "Synced"}, Mono: true}
	const most = 40
	for i, f := range l.files {
		if i == most {
			t.More = fmt.Sprintf("And %s more.", kafka.Count(len(l.files)-i, "file"))
			break
		}
		item := view.Item{Text: f.Name, At: named(labs.FileTarget, f.Name).String()}
		t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{{item}, view.Plain(kafka.Thousands(len(f.Bytes))), view.Plain(kafka.Thousands(f.Synced))}})
	}
	in.Tables = append(in.Tables, t)
	return true
}

// inspectNode shows the producer, the broker or the reader.
func (l *layout) inspectNode(in *view.Inspector, node kafka.NodeID) bool {
	switch node {
	case server:
		l.inspectBroker(in)
		return true
	case producer:
		p := l.View.Producers[0]
		in.AddFact("Records", "%s handed in, %s acknowledged, %s failed, %s to be sent", kafka.Thousands(p.Produced), kafka.Thousands(p.Acknowledged), kafka.Thousands(p.Failed), kafka.Thousands(p.Waiting))
		clock := "right"
		if p.Skew != 0 {
			clock = skewText(p.Skew)
		}
		in.AddFact("Its clock", "%s", clock)
		l.waits(in, node, p.Alive, p.Paused)
		return true
	case reader:
		return l.inspectReader(in)
	}
	return false
}

// waits says what a node waits for, if its process runs.
func (l *layout) waits(in *view.Inspector, node kafka.NodeID, alive, paused bool) {
	if alive {
		l.inspectFrame().Waits(in, node, paused)
	} else {
		in.AddFact("Process", "does not run")
	}
}

// inspectBroker shows what the broker does to the log by itself.
func (l *layout) inspectBroker(in *view.Inspector) {
	in.AddFact("State", "%s", l.broker.State)
	if l.open {
		if l.upkeep.NextRetention >= 0 {
			in.AddFact("Next check of retention", "%s", l.due(l.upkeep.NextRetention))
		}
		if l.upkeep.NextCleaner >= 0 {
			in.AddFact("The cleaner wakes up", "%s", l.due(l.upkeep.NextCleaner))
			c, _ := l.Cluster.CleanableAt(l.upkeep.NextCleaner, serverID, partition)
			in.AddFact("As things stand it would", "%s: %s", cmp.Or(map[bool]string{true: "clean"}[c.Eligible()], "leave the log"), c.Why)
		}
	}
	in.Links = append(in.Links, labs.Open(l.Address, "open-directory", "the directory "+partition.String(), labs.Target{Kind: labs.PartitionTarget, Partition: partition}))
	l.waits(in, server, l.up(), l.broker.Paused)
}

// committedFact says what the reader's group has committed, and who keeps that.
func (l *layout) committedFact(r readerState) string {
	if !r.known {
		return "cannot be asked now: " + l.unasked()
	}
	return fmt.Sprintf("%s, kept by the group %s", offsetText(r.committed), readers)
}

// inspectReader shows the reader and its group.
func (l *layout) inspectReader(in *view.Inspector) bool {
	r, ok := l.away()
	if !ok {
		return false
	}
	in.AddFact("Committed", "%s", l.committedFact(r))
	in.AddFact("Position", "%s", offsetText(r.position))
	if r.committed != kafka.NoOffset {
		in.AddFact("Lag of the group", "%d", r.lag)
	}
	in.AddFact("auto.offset.reset", "%s: where its position is not between log start %d and log end %d", l.Address.Values.Text("reset"), l.log.LogStartOffset, l.log.LogEndOffset)
	if r.failed != "" {
		in.AddFact("Ended with", "%s", r.failed)
	}
	if g := l.View.Groups[0]; g.Coordinator != "" {
		if log, found := l.inspectFrame().LogOf(kafka.TopicPartition{Topic: group.Topic, Partition: g.OffsetsPartition}); found {
			in.Tables = append(in.Tables, log.GroupRecords())
		}
	}
	l.waits(in, reader, r.alive, r.paused)
	return true
}
