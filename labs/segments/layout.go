package segments

import (
	"errors"
	"fmt"
	"hash/fnv"
	"path"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/storage"
	"loglab/labs"
	"loglab/labs/files"
	"loglab/labs/view"
)

// layout is a frame with what the parts of the page share.
type layout struct {
	labs.Frame
	config  storage.Config
	log     engine.LogView
	open    bool              // the broker runs and has opened the log
	upkeep  engine.UpkeepView // where open
	broker  engine.BrokerView
	files   []engine.DiskFile
	batches []placed        // of the whole log, oldest first
	window  window          // lines that are drawn
	grew    kafka.Offset    // the first offset that was written in the tick shown; at the log end: none was
	rolled  []kafka.Offset  // base offsets of segments that began in it
	newest  journal.Event   // of those of the log that change more than its end
	state   map[string]keys // what readers see, by key; only looked up
	names   []string        // its keys, sorted
	seen    int             // records that can be read
	gone    []gone          // segments whose files wait to be removed, by base offset
	looked  []lookedAt      // what checks of retention would do

	removals map[string]kafka.Millis // when files that wait for it are removed, by name, where open; only looked up
}

// placed is a batch at its place.
type placed struct {
	record.Batch
	segment  int // its place among the log’s
	position int // of its first byte in the .log file
}

func newLayout(f labs.Frame) *layout {
	l := &layout{Frame: f, config: logConfig(f.Address.Values), log: f.View.Partitions[0].Log, broker: f.View.Brokers[0], removals: map[string]kafka.Millis{}}
	l.upkeep, l.open = f.Cluster.Upkeep(serverID, partition)
	l.upkeep.NextRetention, l.upkeep.NextCleaner = l.nextAt(l.upkeep.NextRetention), l.nextAt(l.upkeep.NextCleaner)
	l.files = f.Cluster.Files(serverID, partition)
	l.findGone()
	l.findBatches()
	l.findNews()
	l.readKeys()
	l.window = l.findWindow()
	return l
}

func (l *layout) tick() kafka.Tick { return kafka.Tick(l.Address.T) }

// up says whether the broker’s process runs.
func (l *layout) up() bool { return l.broker.Up() }

// clock is the broker’s clock.
func (l *layout) clock() kafka.Timestamp { return engine.StartTime + kafka.Timestamp(l.View.Now) }

// findBatches reads the headers of all batches.
func (l *layout) findBatches() {
	for i, s := range l.log.Segments {
		position := 0
		for data := s.Bytes; ; {
			b, err := record.Parse(data)
			if errors.Is(err, record.ErrEnd) {
				break
			}
			if err != nil {
				panic(fmt.Sprintf("segment %d: %v", s.BaseOffset, err))
			}
			l.batches = append(l.batches, placed{b, i, position})
			position += b.Size()
			data = data[b.Size():]
		}
	}
}

// findNews finds what was written in the tick shown, and the newest that happened to the log.
func (l *layout) findNews() {
	l.grew = l.log.LogEndOffset
	for e := range l.Cluster.Journal().Of(l.tick()) {
		switch b := e.Body.(type) {
		case journal.BatchAppended:
			if b.TopicPartition == partition {
				l.grew = min(l.grew, b.BaseOffset)
			}
		case journal.SegmentRolled:
			if b.TopicPartition == partition {
				l.rolled = append(l.rolled, b.Base)
			}
		}
	}
	for e := range l.Cluster.Journal().Backward() {
		if ofLog(e.Body) {
			l.newest = e
			break
		}
	}
}

// ofLog says whether an event changes what is on the disk of the log.
func ofLog(b journal.Body) bool {
	switch b := b.(type) {
	case journal.BatchAppended:
		return b.TopicPartition == partition
	case journal.SegmentsDeleted:
		return b.TopicPartition == partition
	case journal.LogCleaned:
		return b.TopicPartition == partition
	case journal.LogStartOffsetMoved:
		return b.TopicPartition == partition
	case journal.LogOpened:
		return b.TopicPartition == partition
	}
	return false
}

// cleaned gives the last cleaning while nothing newer has happened to the log, or it was in the tick shown.
func (l *layout) cleaned() (e journal.Event, b journal.LogCleaned, ok bool) {
	if b, ok = l.newest.Body.(journal.LogCleaned); ok {
		return l.newest, b, true
	}
	for e := range l.Cluster.Journal().Of(l.tick()) {
		if c, is := e.Body.(journal.LogCleaned); is && c.TopicPartition == partition {
			return e, c, true
		}
	}
	return e, b, false
}

// records gives the records of a batch, up to most of them.
func records(b record.Batch, most int) (list []record.Record) {
	for s := b.Scan(); len(list) < most && s.Next(); {
		list = append(list, s.Record())
	}
	return list
}

// active gives the segment that takes the appends.
func (l *layout) active() storage.Segment { return l.log.Segments[len(l.log.Segments)-1] }

// eventWord begins the value of a record that the producer made up.
const eventWord = "event "

// plain writes bytes as text without quotes, where they are text.
func plain(b []byte) string {
	text := record.Printable(b)
	if unquoted, ok := strings.CutPrefix(text, `"`); ok {
		return strings.TrimSuffix(unquoted, `"`)
	}
	return text
}

// shortValue is a record’s value in a cell: the number of its event, or else its beginning.
func shortValue(r record.Record) string {
	if r.Value == nil {
		return "∅"
	}
	return labs.Narrow(strings.TrimRight(strings.TrimPrefix(plain(r.Value), eventWord), "."), 4)
}

// keyText writes a key in words; long ones are cut.
func keyText(key []byte) string {
	if key == nil {
		return "no key"
	}
	return labs.Narrow(plain(key), 24)
}

// valueText writes a value in words; long ones are cut.
func valueText(value []byte) string {
	if value == nil {
		return "deleted (a tombstone)"
	}
	return labs.Narrow(strings.TrimRight(plain(value), "."), 24)
}

// keyColor is the colour of a key: one of the first letters has that of its place.
func keyColor(key []byte) int {
	switch {
	case key == nil:
		return 0
	case len(key) == 1 && key[0] >= 'A' && key[0] <= 'Z':
		return int(key[0]-'A')%8 + 1
	}
	h := fnv.New32a()
	h.Write(key)
	return int(h.Sum32()%8) + 1
}

// tickOf gives the tick in which a moment falls: of the run, now or to come.
func (l *layout) tickOf(at kafka.Millis) int { return l.TickAfter(at) }

// when says in which tick something comes, and after how long.
func (l *layout) when(at kafka.Millis) string {
	return fmt.Sprintf("tick %d, in %s", l.tickOf(at), labs.Span(max(at-l.View.Now, 0)))
}

// due says when the broker does something by a timer: in which tick, or once it is resumed, and whether it runs so long.
func (l *layout) due(at kafka.Millis) string {
	switch {
	case l.broker.Paused:
		return fmt.Sprintf("once b1 is resumed, from tick %d on", l.tickOf(at))
	case l.stops():
		return fmt.Sprintf("in %s, if b1 still runs then", l.when(at))
	}
	return "in " + l.when(at)
}

// stops says whether the broker is in its controlled shutdown.
func (l *layout) stops() bool { return l.broker.State == engine.BrokerShuttingDown }

// commandTick is the first tick, from the one shown on, whose commands are carried out at a time or later. The ticks are
// counted from the frame, as those before it may hold waits.
func (l *layout) commandTick(at kafka.Millis) int {
	tick := l.Address.TickMillis()
	return l.Address.T + int((max(at-l.View.Now, 0)+tick-1)/tick)
}

// coming says whether records may be written without any command: the producer's application hands them in, or some that
// were handed in are not acknowledged yet.
func (l *layout) coming() bool {
	p := l.View.Producers[0]
	writes := p.Sending && l.Address.Values.Int("rate") > 0 || p.Waiting > 0
	return p.Alive && (p.Producer.InFlight > 0 || writes && !p.Paused) || underWay[*kmsg.ProduceRequest](l)
}

// provided is what a sentence about what b1 does at a time to come needs: that it is resumed, that nothing is written before,
// and that no records are deleted. It ends in a comma and a space; empty: it needs nothing.
func (l *layout) provided(at kafka.Millis) string {
	if conditions := l.conditions(at, l.coming()); conditions != "" {
		return conditions + ", "
	}
	return ""
}

// conditions is the same without the end; written says whether it is named that nothing is written.
func (l *layout) conditions(at kafka.Millis, written bool) string {
	var list []string
	switch {
	case l.broker.Paused && at <= l.View.Now:
		list = append(list, "b1 is resumed now")
	case l.broker.Paused:
		list = append(list, "b1 is resumed by then")
	}
	if written {
		list = append(list, "nothing is written until then")
	}
	if underWay[*kmsg.DeleteRecordsRequest](l) {
		list = append(list, "the DeleteRecords request that is on its way changes nothing")
	}
	if len(list) == 0 {
		return ""
	}
	return "if " + strings.Join(list, " and ")
}

// underWay says whether a request of a kind is on its way, or waits for a paused process.
func underWay[R kmsg.Request](l *layout) bool {
	for range labs.Requests[R](l.Frame) {
		return true
	}
	return false
}

// nextAt gives when b1 does by itself what its timer has for a time: as soon as it can be resumed where that is over.
func (l *layout) nextAt(timer kafka.Millis) kafka.Millis {
	if timer < 0 || !l.broker.Paused {
		return timer
	}
	return max(timer, l.View.Now)
}

// readable is the end of what a reader can get: the high watermark. That of a log that b1 has not opened is not known
// from its checkpoint: once it is opened, nothing below its end is kept back, as there is no other replica.
func (l *layout) readable() kafka.Offset {
	if !l.open {
		return l.log.LogEndOffset
	}
	return l.log.HighWatermark
}

// suffixOf is the name of a segment's file without the base offset.
func suffixOf(name string) string { return strings.TrimLeft(name, "0123456789") }

// fileOrder is the order in which the files of a segment are listed.
var fileOrder = []string{storage.LogSuffix, storage.OffsetIndexSuffix, storage.TimeIndexSuffix, storage.TransactionIndexSuffix, storage.ProducerSnapshotSuffix}

// byKind sorts the files of a segment.
func byKind(list []engine.DiskFile) {
	place := func(f engine.DiskFile) int {
		return slices.Index(fileOrder, strings.TrimSuffix(suffixOf(f.Name), storage.DeletedSuffix))
	}
	slices.SortStableFunc(list, func(a, b engine.DiskFile) int { return place(a) - place(b) })
}

// findGone finds the segments whose files wait to be removed, by base offset.
func (l *layout) findGone() {
	for _, d := range l.upkeep.Deleted {
		name := path.Base(d.Path)
		at := kafka.Millis(d.RemovedAt - engine.StartTime)
		if before, twice := l.removals[name]; twice { // a file of that name was given up before: the earlier time takes this one
			at = min(at, before)
		}
		l.removals[name] = at
	}
	for _, f := range l.files {
		base, ok := files.BaseOffset(f.Name)
		if !ok || !strings.HasSuffix(f.Name, storage.DeletedSuffix) {
			continue
		}
		if n := len(l.gone); n == 0 || l.gone[n-1].base != base {
			l.gone = append(l.gone, gone{base: base})
		}
		g := &l.gone[len(l.gone)-1]
		g.files = append(g.files, f)
		if suffixOf(f.Name) == storage.LogSuffix+storage.DeletedSuffix {
			g.bytes = f.Bytes
		}
	}
	for i := range l.gone {
		byKind(l.gone[i].files)
	}
}

// gone is a segment that is no more part of the log, and still on the disk.
type gone struct {
	base  kafka.Offset
	bytes []byte // of its .log file
	files []engine.DiskFile
}

// goes says when files that wait to be removed go. A broker that has not opened the log removes them as it does.
func (l *layout) goes(list ...engine.DiskFile) string {
	var times []kafka.Millis
	for _, f := range list {
		at, known := l.removals[f.Name]
		if !known {
			return "as b1 opens the log"
		}
		times = append(times, at)
	}
	first, last := slices.Min(times), slices.Max(times)
	if first == last {
		return l.due(first)
	}
	return fmt.Sprintf("%s, and the last %s", l.due(first), l.due(last))
}

// target names something in the partition.
func target(kind labs.TargetKind, number kafka.Offset) labs.Target {
	return labs.Target{Kind: kind, Partition: partition, Number: int64(number)}
}

// named names a file or a mark of the partition.
func named(kind labs.TargetKind, name string) labs.Target {
	return labs.Target{Kind: kind, Partition: partition, Name: name}
}

// fileItem draws a file with its size.
func fileItem(f engine.DiskFile) view.Item {
	item := view.Item{Text: fmt.Sprintf("%s %s B", suffixOf(f.Name), kafka.Thousands(len(f.Bytes))), At: named(labs.FileTarget, f.Name).String(), Label: "file " + f.Name}
	if f.Synced < len(f.Bytes) {
		item.Mark, item.Label = "unsynced", fmt.Sprintf("file %s, %s not synced", f.Name, kafka.Count(len(f.Bytes)-f.Synced, "byte"))
	}
	return item
}
