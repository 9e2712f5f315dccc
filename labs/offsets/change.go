package offsets

import (
	"fmt"
	"strings"

	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// change says what the tick shown brought, for those who hear the page; empty where the page's own words do.
func (l *layout) change() string {
	if l.Address.T == 0 {
		return "" // all of the set-up belongs to tick 0
	}
	var parts []string
	processed, again := 0, 0
	for e := range l.Cluster.Journal().Of(l.tick()) {
		switch b := e.Body.(type) {
		case journal.RecordProcessed:
			processed++
			if b.Times > 1 {
				again++
			}
		case journal.RecordsRead:
			parts = append(parts, fmt.Sprintf("poll gave %s %s of %s", e.Node, kafka.Count(b.Records, "record"), b.TopicPartition))
		case journal.OffsetCommitted:
			parts = append(parts, fmt.Sprintf("%s committed %d of %s", b.Group, b.Offset, b.TopicPartition))
		case journal.CommitFailed:
			parts = append(parts, fmt.Sprintf("a commit of %s failed: %s", e.Node, b.Error))
		case journal.ConsumerCrashed:
			parts = append(parts, fmt.Sprintf("%s crashed", e.Node))
		case journal.MemberRemoved:
			parts = append(parts, "a member was removed from "+b.Group)
		case journal.GroupStable:
			parts = append(parts, fmt.Sprintf("%s is stable in generation %d", b.Group, b.Generation))
		case journal.OffsetsReset:
			parts = append(parts, fmt.Sprintf("the offsets of %s were set to %s", b.Group, b.Rule))
		case journal.ProcessingFailed:
			parts = append(parts, fmt.Sprintf("%s failed at %s @%d", e.Node, b.TopicPartition, b.Offset))
		}
	}
	switch {
	case again > 0:
		parts = append([]string{fmt.Sprintf("%s processed, %d of them again", kafka.Count(processed, "record"), again)}, parts...)
	case processed > 0:
		parts = append([]string{kafka.Count(processed, "record") + " processed"}, parts...)
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
