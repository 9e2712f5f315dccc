package segments

import (
	"fmt"
	"strings"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs"
)

// change says what the tick shown brought, for those who hear the page; empty where the page’s own words do.
func (l *layout) change() string {
	if l.tick() == 0 {
		return "" // all of the set-up belongs to tick 0
	}
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	written, cleaned := 0, false
	for e := range l.Cluster.Journal().Of(l.tick()) {
		switch b := e.Body.(type) {
		case journal.BatchAppended:
			if b.TopicPartition == partition {
				written += b.Records()
			}
		case journal.SegmentRolled:
			if b.TopicPartition == partition {
				add("segment %d begins: %s", b.Base, b.Reason)
			}
		case journal.SegmentsDeleted:
			if b.TopicPartition == partition {
				add("retention let go of %s, and the log begins at %d", kafka.Count(len(b.Segments), "segment"), b.LogStartTo)
			}
		case journal.SegmentsKept:
			if b.TopicPartition == partition && !l.config.Compact {
				add("a check of retention let all stay")
			}
		case journal.FilesRemoved:
			if b.TopicPartition == partition {
				add("%s left the disk", kafka.Count(len(b.Files), "file"))
			}
		case journal.LogCleaned:
			if b.TopicPartition == partition {
				cleaned = true
				add("the cleaner took %s of %s", kafka.Thousands(len(b.Removed)), kafka.Count(b.RecordsRead, "record"))
			}
		case journal.LogNotCleaned:
			if b.TopicPartition == partition && !cleaned {
				add("the cleaner left the log: %s", b.Why)
			}
		case journal.LogStartOffsetMoved:
			if b.TopicPartition == partition {
				add("the log begins at %d", b.To)
			}
		case journal.LogOpened:
			if b.TopicPartition == partition {
				add("the broker has opened the log: it ends at %d", b.LogEndOffset)
			}
		case journal.ProduceRefused:
			add("records are refused: %s", b.Error)
		case journal.PowerLost:
			add("%s has lost power", e.Node)
		case journal.FetchFailed:
			add("a fetch of %s fails: %s", e.Node, b.Error)
		case journal.PositionReset:
			add("the position of %s is set to %d", e.Node, b.To)
		case journal.ConsumerFailed:
			add("%s ends with %s", e.Node, b.Error)
		}
	}
	if written > 0 {
		parts = append([]string{kafka.Count(written, "record") + " written"}, parts...)
	}
	if len(parts) == 0 {
		return ""
	}
	const most = 4
	if len(parts) > most {
		parts = append(parts[:most], kafka.Count(len(parts)-most, "change")+" more")
	}
	return fmt.Sprintf("Tick %d, %s: %s.", l.Address.T, labs.Span(l.View.Now), strings.Join(parts, "; "))
}
