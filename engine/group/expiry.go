package group

import (
	"fmt"
	"slices"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// expiresAt is when a committed offset of the group expires as things stand; never: it does not.
//
// Source: ClassicGroup.offsetExpirationCondition, OffsetMetadataManager.cleanupExpiredOffsets.
func (c *Coordinator) expiresAt(g *group, entry committed) (at kafka.Timestamp, why string, never bool) {
	retention := kafka.Timestamp(c.config.OffsetsRetention)
	setting := c.retentionText()
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

// expiresOf is when a committed offset of a group of either protocol expires.
func (c *Coordinator) expiresOf(id string, entry committed) (at kafka.Timestamp, why string, never bool) {
	if g := c.consumerGroup(id); g != nil {
		return c.expiresInConsumerGroup(g, entry)
	}
	return c.expiresAt(c.group(id), entry)
}

// expiresInConsumerGroup is when a committed offset of a group of the consumer protocol expires: it counts from the
// commit on, also in an empty group.
//
// Source: ConsumerGroup.offsetExpirationCondition.
func (c *Coordinator) expiresInConsumerGroup(g *consumerGroup, entry committed) (at kafka.Timestamp, why string, never bool) {
	if g.subscribes(entry.tp.Topic) {
		return 0, "", true
	}
	why = fmt.Sprintf("no member subscribes to the topic, and the commit is older than %s", c.retentionText())
	if entry.expires >= 0 {
		return entry.expires, "its record says when it expires", false
	}
	return entry.at + kafka.Timestamp(c.config.OffsetsRetention), why, false
}

func (c *Coordinator) retentionText() string {
	return fmt.Sprintf("offsets.retention.minutes = %s", kafka.Thousands(c.config.OffsetsRetention/60_000))
}

// ids lists the groups of either protocol, sorted.
func (c *Coordinator) ids() (list []string) {
	for _, g := range c.groups {
		list = append(list, g.id)
	}
	for _, sl := range c.slots {
		if sl.latest != nil {
			list = append(list, sl.id)
		}
	}
	slices.Sort(list)
	return list
}

func (c *Coordinator) isEmpty(id string) bool {
	if g := c.consumerGroup(id); g != nil {
		return len(g.members) == 0
	}
	return c.group(id).state == Empty
}

// removeExpired writes tombstones for what has expired, and for empty groups that have no offset left. While a
// transaction has an offset pending, neither the partition's offset nor the group goes.
//
// Source: GroupCoordinatorShard.cleanupGroupMetadata.
func (s *step) removeExpired() {
	var w pendingWrite
	var records []coordinator.Record
	for _, id := range s.c.ids() {
		o := s.c.offsetsOf(id).latest
		var event journal.OffsetsRemoved
		for _, entry := range o.committed {
			at, why, never := s.c.expiresOf(id, entry)
			if never || s.at() < at || o.isPending(entry.tp) {
				continue
			}
			records = append(records, forget(id, entry.tp, &w))
			event.Group, event.Why = id, why
			event.Partitions = append(event.Partitions, entry.tp)
		}
		if len(event.Partitions) > 0 {
			s.journal(event)
		}
		if len(event.Partitions) == len(o.committed) && len(o.pending) == 0 && s.c.isEmpty(id) {
			records = append(records, s.deleteGroup(id, "it has no members and no committed offset", &w)...)
		}
	}
	if len(records) > 0 {
		s.write(records, w)
	}
}
