package group

import (
	"fmt"

	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// expiresAt is when a committed offset of the group expires as things stand; never: it does not.
//
// Source: ClassicGroup.offsetExpirationCondition, OffsetMetadataManager.cleanupExpiredOffsets.
func (c *Coordinator) expiresAt(g *group, entry committed) (at kafka.Timestamp, why string, never bool) {
	retention := kafka.Timestamp(c.config.OffsetsRetention)
	setting := fmt.Sprintf("offsets.retention.minutes = %s", kafka.Thousands(c.config.OffsetsRetention/60_000))
	since := entry.at
	switch {
	case g.subscribes(entry.tp.Topic):
		return 0, "", true
	case g.protocolType == "":
		why = "the group has never had members, and the commit is older than " + setting
	case g.state == Empty:
		if g.since >= 0 {
			since = g.since
		}
		why = "the group has been empty for longer than " + setting
	case g.state == Stable && g.protocolType == consumerType && g.topicsKnown:
		why = fmt.Sprintf("no member subscribes to the topic, and the commit is older than %s", setting)
	default:
		return 0, "", true
	}
	if entry.expires >= 0 {
		return entry.expires, "its record says when it expires", false
	}
	return since + retention, why, false
}

// removeExpired writes tombstones for what has expired, and for empty groups that have no offset left.
//
// Source: GroupCoordinatorShard.cleanupGroupMetadata.
func (s *step) removeExpired() {
	var w pendingWrite
	var records []Record
	for _, g := range append([]*group(nil), s.c.groups...) {
		list := s.c.offsetsOf(g.id).latest
		var event journal.OffsetsRemoved
		for _, entry := range list {
			at, why, never := s.c.expiresAt(g, entry)
			if never || s.at() < at {
				continue
			}
			records = append(records, forget(g.id, entry.tp, &w))
			event.Group, event.Why = g.id, why
			event.Partitions = append(event.Partitions, entry.tp)
		}
		if len(event.Partitions) > 0 {
			s.journal(event)
		}
		if len(event.Partitions) == len(list) && g.state == Empty {
			records = append(records, s.deleteGroup(g, "it has no members and no committed offset", &w))
		}
	}
	if len(records) > 0 {
		s.write(records, w)
	}
}
