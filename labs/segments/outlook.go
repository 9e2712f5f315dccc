package segments

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

// The commands that the reading and the buttons share.
var (
	checkRetention = command.CheckRetention{Node: server}
	runCleaner     = command.RunCleaner{Node: server}
	powerLoss      = command.PowerLoss{Node: server}
	startReader    = command.Start{Node: reader}
)

// verdict is what the next check of retention would make of a segment if nothing else happened until then.
type verdict struct {
	goes bool
	why  string
}

// lookedAt is what a check of retention at a time would do.
type lookedAt struct {
	at   kafka.Millis
	list []verdict // by segment of now
	done storage.Retention
	ok   bool
}

// retention gives what a check at a time would do, by segment of now.
func (l *layout) retention(at kafka.Millis) (list []verdict, done storage.Retention, ok bool) {
	for _, looked := range l.looked {
		if looked.at == at {
			return looked.list, looked.done, looked.ok
		}
	}
	list, done, ok = l.foresee(at)
	l.looked = append(l.looked, lookedAt{at, list, done, ok})
	return list, done, ok
}

func (l *layout) foresee(at kafka.Millis) (list []verdict, done storage.Retention, ok bool) {
	done, ok = l.Cluster.RetentionAt(at, serverID, partition)
	if !ok {
		return nil, done, false
	}
	list = make([]verdict, len(l.log.Segments))
	left := 0 // segments that earlier rules have taken
	for _, check := range done.Checks {
		for i, s := range check.Segments {
			if left+i >= len(list) { // one that the rule before has begun
				break
			}
			v := &list[left+i]
			switch {
			case i < check.Deleted:
				*v = verdict{true, s.Why}
			case s.Verdict == storage.SegmentBehind && v.why != "":
			case check.Rule != storage.RetentionLogStart:
				v.why = join(v.why, s.Why)
			case v.why == "" && len(check.Segments) > 1 && s.Verdict != storage.SegmentBehind && l.log.LogStartOffset > l.log.Segments[0].BaseOffset:
				v.why = s.Why
			}
		}
		left += check.Deleted
	}
	return list, done, true
}

func join(a, b string) string {
	switch {
	case a == "" || a == b:
		return b
	case b == "":
		return a
	}
	return a + "; " + b
}

// offRules says why rules of retention are not asked.
func offRules(done storage.Retention) (list []string) {
	for _, check := range done.Checks {
		if check.Off != "" && !slices.Contains(list, check.Off) {
			list = append(list, check.Off)
		}
	}
	return list
}

// nextOf says what the next check makes of a segment, in a few words.
func (l *layout) nextOf(base kafka.Offset) (text string, goes bool) {
	if !l.open || l.upkeep.NextRetention < 0 || l.cleans(l.upkeep.NextRetention) {
		return "", false
	}
	list, _, ok := l.retention(l.upkeep.NextRetention)
	at := slices.IndexFunc(l.log.Segments, func(s storage.Segment) bool { return s.BaseOffset == base })
	if !ok || at < 0 || !list[at].goes || l.coming() && (at == len(list)-1 || l.config.Compact) { // the active one, or the cleaner comes first
		return "", false
	}
	return fmt.Sprintf("goes with the check %s", l.due(l.upkeep.NextRetention)), true
}

// How many segments the table of verdicts has at most, and of each run where two stand beside each other.
const (
	verdictsShown  = 6
	verdictsBeside = 3
)

// checkTable lists what the next check of retention would make of each segment, the oldest first; none where no check
// would look at the log as it is.
func (l *layout) checkTable() []view.Table {
	if !l.open || l.upkeep.NextRetention < 0 || l.config.Compact && !l.config.Delete || l.cleans(l.upkeep.NextRetention) {
		return nil
	}
	verdicts, done, ok := l.retention(l.upkeep.NextRetention)
	if !ok {
		return nil
	}
	t := view.Table{ID: "verdicts", Caption: fmt.Sprintf("The next check of retention, %s, %s", l.due(l.upkeep.NextRetention), l.conditions(l.upkeep.NextRetention, true)), Head: []string{"Segment", "So", "Why"}}
	gone, most := count(verdicts), verdictsShown
	if l.Beside != nil {
		most = verdictsBeside
	}
	for i, v := range verdicts {
		if i == most {
			t.More = fmt.Sprintf("And %s more.", kafka.Count(len(verdicts)-i, "segment"))
			break
		}
		base := l.log.Segments[i].BaseOffset
		so, why := "stays", v.why
		switch {
		case v.goes:
			so = "goes"
		case i > gone:
			why = fmt.Sprintf("segment %d stays, and older ones go first", l.log.Segments[gone].BaseOffset)
		default:
			why = whyStays(v, done)
		}
		item := view.Item{Text: fmt.Sprint(base), At: target(labs.SegmentTarget, base).String()}
		t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{{item}, view.Plain(so), view.Plain(why)}})
	}
	return []view.Table{t}
}

// readRetention says what a check of retention would do now, and what the next one would, and why the rest would stay.
func (l *layout) readRetention() (list []view.Paragraph) {
	onlyCompacts := l.config.Compact && !l.config.Delete && l.log.LogStartOffset <= l.log.Segments[0].BaseOffset
	if !l.open || l.upkeep.NextRetention < 0 || onlyCompacts {
		return nil
	}
	now, _, _ := l.retention(l.View.Now)
	if !l.config.Compact && !l.broker.Paused {
		list = append(list, l.readRetentionNow())
	}
	at := l.upkeep.NextRetention
	verdicts, done, ok := l.retention(at)
	if !ok || l.cleans(at) {
		return list
	}
	by := "log.retention.check.interval.ms"
	if l.config.Compact {
		by = "with the cleaner, log.cleaner.backoff.ms"
	}
	head := fmt.Sprintf("The next check of retention, %s (%s), ", l.due(at), by)
	gone := count(verdicts)
	until := l.provided(at)
	switch {
	case !l.config.Compact && gone == count(now) && gone == 0:
		return append(list, say(head, "%swould leave all too: %s.", until, whyStays(verdicts[0], done)))
	case gone == 0:
		return append(list, say(head, "%swould leave all. Of segment %d: %s.", until, l.log.Segments[0].BaseOffset, whyStays(verdicts[0], done)))
	}
	return append(list, say(head, "%swould take %s: %s; %s.", until, l.segmentNames(0, gone), verdicts[gone-1].why, l.restStays(verdicts, gone, done)))
}

// cleans says whether the cleaner would clean the log at a time: then it comes before retention, and segments change.
func (l *layout) cleans(at kafka.Millis) bool {
	c, ok := l.Cluster.CleanableAt(at, serverID, partition)
	return ok && l.config.Compact && c.Eligible()
}

// count counts the segments that go.
func count(verdicts []verdict) (n int) {
	for _, v := range verdicts {
		if v.goes {
			n++
		}
	}
	return n
}

// whyStays says why the oldest segment stays.
func whyStays(v verdict, done storage.Retention) string {
	why := v.why
	for _, off := range offRules(done) {
		why = join(why, off)
	}
	if why == "" {
		return "no rule takes it"
	}
	return why
}

// restStays says of the first segment that stays why it does, and that newer ones wait for it.
func (l *layout) restStays(verdicts []verdict, gone int, done storage.Retention) string {
	if gone == len(verdicts) {
		return fmt.Sprintf("as all segments go, an empty one begins at %d first, and the log begins there", done.LogStartTo)
	}
	text := fmt.Sprintf("segment %d stays: %s", l.log.Segments[gone].BaseOffset, whyStays(verdicts[gone], done))
	if gone+1 < len(verdicts) {
		text += ", and newer ones never go before it"
	}
	return text
}

// segmentNames lists segments by their base offsets, at most a few.
func (l *layout) segmentNames(from, to int) string {
	const most = 4
	text := "segment "
	if to-from > 1 {
		text = "segments "
	}
	for i := from; i < to; i++ {
		if i-from == most {
			return text + fmt.Sprintf(" and %d more", to-i)
		}
		if i > from {
			text += ", "
		}
		text += fmt.Sprint(l.log.Segments[i].BaseOffset)
	}
	return text
}

// readRetentionNow says what a check right now would take, with a link that does it.
func (l *layout) readRetentionNow() view.Paragraph {
	verdicts, done, ok := l.retention(l.View.Now)
	if !ok {
		return nil
	}
	head, gone := "If the check of retention ran now, ", count(verdicts)
	if gone == 0 {
		return say(head, "it would leave all. Of segment %d: %s.", l.log.Segments[0].BaseOffset, whyStays(verdicts[0], done))
	}
	bytes := 0
	for _, s := range l.log.Segments[:gone] {
		bytes += len(s.Bytes)
	}
	return append(say(head, "%s would go at once, %s: %s; %s. The log would begin at %d and keep %s: ", l.segmentNames(0, gone), kafka.Count(bytes, "byte"), verdicts[gone-1].why,
		l.restStays(verdicts, gone, done), done.LogStartTo, kafka.Count(l.log.Bytes-bytes, "byte")), labs.TryIt(checkRetention.String(), l.Address.WithCommand(checkRetention, false)), view.Span{Text: "."})
}

// readCleaner says whether the cleaner would clean the log, why or why not, and what that would take.
func (l *layout) readCleaner() view.Paragraph {
	if !l.open || !l.config.Compact || l.upkeep.NextCleaner < 0 {
		return nil
	}
	if l.upkeep.Spoiled {
		return say("The cleaner leaves this log alone: ", "it could not read it.")
	}
	at := l.upkeep.NextCleaner
	c, _ := l.Cluster.CleanableAt(at, serverID, partition)
	head := fmt.Sprintf("The cleaner wakes up %s (log.cleaner.backoff.ms). ", l.due(at))
	if !c.Eligible() {
		return say(head, "As things stand it would leave the log: %s.", c.Why)
	}
	done, ok := l.Cluster.CleaningAt(at, serverID, partition)
	if !ok {
		return nil
	}
	p := say(head, "%s %s that it would read, %s would go, and %s bytes of %s stay", l.worthText(c, at), kafka.Count(done.RecordsRead, "record"),
		removedText(done), kafka.Thousands(done.BytesAfter()), kafka.Thousands(done.BytesBefore()))
	switch {
	case l.broker.Paused:
		return append(p, view.Span{Text: "."})
	case !l.upkeep.Cleanable.Eligible():
		return append(p, view.Span{Text: ". A cleaning right now would find nothing to do."})
	}
	if now, ok := l.Cluster.CleaningAt(l.View.Now, serverID, partition); ok && !slices.Equal(now.Removed, done.Removed) { // a time is over only then
		p = append(p, view.Span{Text: fmt.Sprintf(". Right now %s would go", removedText(now))})
	}
	return append(p, view.Span{Text: ": "}, labs.TryIt(runCleaner.String(), l.Address.WithCommand(runCleaner, false)), view.Span{Text: "."})
}

// worthText begins the sentence about what the next cleaning would take with why it comes.
func (l *layout) worthText(c storage.Cleanable, at kafka.Millis) string {
	if needs, is := strings.CutPrefix(l.provided(at), "if"); is {
		return fmt.Sprintf("The log is worth it: %s. If%sof", c.Why, needs)
	}
	return fmt.Sprintf("The log is worth it: %s. Of", c.Why)
}

// removedText lists the offsets that a cleaning would take.
func removedText(done storage.Cleaned) string {
	const most = 8
	text := kafka.Thousands(len(done.Removed))
	for i, r := range done.Removed {
		switch {
		case i == 0:
			text += labs.Verb(len(done.Removed), " (offset ", " (offsets ")
		case i == most:
			return text + fmt.Sprintf(" and %d more)", len(done.Removed)-most)
		default:
			text += ", "
		}
		text += fmt.Sprint(r.Offset)
	}
	if len(done.Removed) > 0 {
		text += ")"
	}
	return text
}

// readTombstones says when the tombstones in the log may go.
func (l *layout) readTombstones() view.Paragraph {
	if !l.config.Compact {
		return nil
	}
	const most = 3
	var texts []string
	left := 0
	for _, b := range l.batches {
		horizon, met := b.DeleteHorizon()
		for _, r := range records(b.Batch, int(b.RecordsCount)) {
			switch {
			case r.Value != nil || !l.isLast(r): // also where a later one has replaced it
				continue
			case len(texts) == most:
				left++
				continue
			}
			text := fmt.Sprintf("that of %s at offset %d has not met the cleaner: its %s ms of delete.retention.ms begin when it does", keyText(r.Key), r.Offset, kafka.Thousands(l.config.DeleteRetentionMillis))
			if met && horizon <= l.clock() {
				text = fmt.Sprintf("that of %s at offset %d may go: its time is over, and the next cleaning takes it", keyText(r.Key), r.Offset)
			} else if met {
				text = fmt.Sprintf("that of %s at offset %d may go with a cleaning in %s or later, from tick %s on", keyText(r.Key), r.Offset, labs.Span(kafka.Millis(horizon-startTime)-l.View.Now), kafka.Thousands(l.commandTick(kafka.Millis(horizon-startTime))))
			}
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	all := texts[0]
	for _, text := range texts[1:] {
		all += "; " + text
	}
	if left > 0 {
		all += fmt.Sprintf("; and %d more", left)
	}
	return say("Tombstones: ", "%s.", all)
}

// readFiles says which files wait to be removed, and when they are.
func (l *layout) readFiles() view.Paragraph {
	var waiting []engine.DiskFile
	for _, g := range l.gone {
		waiting = append(waiting, g.files...)
	}
	if len(waiting) == 0 {
		return nil
	}
	bytes := 0
	for _, f := range waiting {
		bytes += len(f.Bytes)
	}
	until := l.goes(waiting...)
	if l.open {
		until += fmt.Sprintf(" (file.delete.delay.ms = %s)", kafka.Thousands(l.config.FileDeleteDelayMillis))
	}
	return say(fmt.Sprintf("%s of deleted segments %s still on the disk: ", kafka.Count(len(waiting), "file"), labs.Verb(len(waiting), "is", "are")),
		"%s with the suffix .deleted. They go %s.", kafka.Count(bytes, "byte"), until)
}

// powerMost is how many segments a log has at most of which a power loss is foreseen: all of it is read then.
const powerMost = 200

// readPower says what a power loss would take.
func (l *layout) readPower() view.Paragraph {
	if !l.open || l.broker.Paused || len(l.log.Segments) > powerMost {
		return nil
	}
	after, ok := l.Cluster.AfterPowerLoss(serverID, partition)
	lost := l.log.LogEndOffset
	if ok {
		lost -= after.LogEndOffset
	}
	if lost <= 0 {
		return nil
	}
	unsynced, empty := 0, ""
	for _, f := range l.files {
		if strings.HasSuffix(f.Name, storage.LogSuffix) {
			unsynced += len(f.Bytes) - f.Synced
		}
	}
	if ok && after.LogEndOffset == after.LogStartOffset {
		empty = fmt.Sprintf("; the log would then be empty and begin at %d", after.LogStartOffset)
	}
	return append(say("If b1 lost power now, ", "%s (%s %s) would be gone: %s %s only in the page cache, and no other broker has them%s. The operating system writes back what is older than 30 s; a segment that rolls is synced: ",
		kafka.Count(int(lost), "record"), labs.Verb(int(lost), "offset", "offsets"), offsetsText(l.log.LogEndOffset-lost, l.log.LogEndOffset-1), kafka.Count(unsynced, "byte"), labs.Verb(unsynced, "is", "are"), empty),
		labs.TryIt(powerLoss.String(), l.Address.WithCommand(powerLoss, false)), view.Span{Text: "."})
}

// readRoll says when the active segment rolls.
func (l *layout) readRoll() view.Paragraph {
	s := l.active()
	at := l.firstOf(len(l.log.Segments) - 1)
	if at == len(l.batches) {
		return nil
	}
	span, name := l.config.SegmentMillis, "segment.ms"
	if l.config.Compact && l.config.MaxCompactionLagMillis < span {
		span, name = l.config.MaxCompactionLagMillis, "max.compaction.lag.ms"
	}
	due := kafka.Millis(l.batches[at].MaxTimestamp-startTime) + span
	idle := fmt.Sprintf("or with a batch whose timestamp is more than %s = %s ms after that of its first one", name, kafka.Thousands(span))
	now := l.View.Now
	if l.config.MessageTimestampType == record.CreateTime {
		now += l.View.Producers[0].Skew
	}
	if due < now {
		idle += l.lateText(now - due + span)
	}
	return say(fmt.Sprintf("Segment %d is active: ", s.BaseOffset), "it rolls when a batch does not fit into segment.bytes any more (%s of %s are taken), %s.", kafka.Thousands(len(s.Bytes)), kafka.Thousands(l.config.SegmentBytes), idle)
}

// lateText says what a record of now, so long after the first batch of the active segment, would do to it.
func (l *layout) lateText(after kafka.Millis) string {
	p := l.View.Producers[0]
	text := fmt.Sprintf(". A record of now would be %s after it", labs.Span(after))
	switch most := l.config.TimestampAfterMaxMillis; {
	case l.config.MessageTimestampType == record.CreateTime && p.Skew > most:
		return text + fmt.Sprintf(", but b1 refuses it with INVALID_TIMESTAMP if it comes within %s: until then its timestamp is more than message.timestamp.after.max.ms = %s ms ahead of b1’s clock",
			labs.Span(p.Skew-most), kafka.Thousands(most))
	case p.Waiting > 0 || p.Producer.InFlight > 0: // one that was handed in before comes next
		return text + ": such a one makes it roll. No timer does"
	}
	return text + ": the next one makes it roll. No timer does: while nobody writes, it stays as it is"
}
