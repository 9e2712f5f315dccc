package group

import (
	"slices"
	"strings"

	"loglab/engine/coordinator"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
)

// slot holds a group of the consumer protocol: with what is being written and as it is written, and beside it what no
// record has.
type slot struct {
	id      string
	latest  *consumerGroup // with what is being written; nil: there is none
	visible *consumerGroup // as it is written; nil: nothing of it is
	timers  []memberTimers // in the order in which they were first set

	// The topics that the group subscribes to are looked at again by the first heartbeat after this is false, or the
	// group has an older epoch.
	looked      bool
	lookedEpoch kafka.GroupEpoch
	counted     []topicCount // as they were then; the slice is never written
}

// topicCount is how many partitions a topic had.
type topicCount struct {
	topic string
	count int
}

// memberTimers are the deadlines of one member.
type memberTimers struct {
	member      string
	session     timer
	revoke      timer // it has given up by then what it must, if it still is in revokeEpoch
	revokeEpoch kafka.MemberEpoch
	join        timer // of a member that uses the classic protocol: it joins again by then
	sync        timer // of such a member: it sends SyncGroup by then
}

func (sl *slot) clone() *slot {
	n := *sl
	n.timers = slices.Clone(sl.timers)
	return &n
}

// timersOf gives the member's timers, new ones if it has none.
func (sl *slot) timersOf(member string) *memberTimers {
	i := slices.IndexFunc(sl.timers, func(t memberTimers) bool { return t.member == member })
	if i < 0 {
		sl.timers = append(sl.timers, memberTimers{member: member})
		i = len(sl.timers) - 1
	}
	return &sl.timers[i]
}

func (sl *slot) cancel(member string) {
	sl.timers = slices.DeleteFunc(sl.timers, func(t memberTimers) bool { return t.member == member })
}

func (c *Coordinator) slotIndex(id string) (int, bool) {
	return slices.BinarySearchFunc(c.slots, id, func(sl *slot, id string) int { return strings.Compare(sl.id, id) })
}

// slot gives the place of a group of the consumer protocol; nil: there is none.
func (c *Coordinator) slot(id string) *slot {
	if i, found := c.slotIndex(id); found {
		return c.slots[i]
	}
	return nil
}

// openSlot gives the place of a group, a new one if there is none.
func (c *Coordinator) openSlot(id string) *slot {
	i, found := c.slotIndex(id)
	if !found {
		c.slots = slices.Insert(c.slots, i, &slot{id: id})
	}
	return c.slots[i]
}

// closeSlots forgets the places of groups that there are not any more.
func (c *Coordinator) closeSlots() {
	c.slots = slices.DeleteFunc(c.slots, func(sl *slot) bool { return sl.latest == nil && sl.visible == nil && len(sl.timers) == 0 })
}

// consumerGroup gives a group of the consumer protocol, nil if there is none.
func (c *Coordinator) consumerGroup(id string) *consumerGroup {
	if sl := c.slot(id); sl != nil {
		return sl.latest
	}
	return nil
}

// shownConsumer gives a group of the consumer protocol as it is written, nil if there is none.
func (c *Coordinator) shownConsumer(id string) *consumerGroup {
	if sl := c.slot(id); sl != nil {
		return sl.visible
	}
	return nil
}

// replayed is what the records of a write say of a group of the consumer protocol.
type replayed struct {
	group  string
	values []Value // never written
}

func (g *consumerGroup) replayAll(values []Value) *consumerGroup {
	for _, v := range values {
		if ofConsumerProtocol(v.key()) {
			g = g.replay(v)
		}
	}
	return g
}

// writeValues wants the records of a group of the consumer protocol appended, others among them.
func (s *step) writeValues(id string, values []Value, w pendingWrite) *pendingWrite {
	records := make([]coordinator.Record, len(values))
	for i, v := range values {
		records[i] = v.Encode()
	}
	sl := s.c.openSlot(id)
	sl.latest = sl.latest.replayAll(values)
	w.replayed = append(w.replayed, replayed{id, values})
	return s.write(records, w)
}

// makeVisible takes over what the records of a write say.
func (c *Coordinator) makeVisible(w pendingWrite) {
	for _, r := range w.replayed {
		sl := c.openSlot(r.group)
		sl.visible = sl.visible.replayAll(r.values)
	}
	if len(w.replayed) > 0 {
		c.closeSlots()
	}
}

// takeBack forgets what the records of a write would have said: what is written stands, and what is still being
// written.
func (c *Coordinator) takeBack(w pendingWrite) {
	for _, r := range w.replayed {
		sl := c.openSlot(r.group)
		sl.latest = sl.visible
		for _, other := range c.writes {
			for _, later := range other.replayed {
				if later.group == r.group {
					sl.latest = sl.latest.replayAll(later.values)
				}
			}
		}
	}
	if len(w.replayed) > 0 {
		c.closeSlots()
	}
}

// Publish tells the coordinator how the cluster is now. Groups that subscribe to a topic of which anything has
// changed look at their topics again with the next heartbeat. Image is only read and must not be changed any more.
//
// Source: GroupMetadataManager.onNewMetadataImage.
func (c *Coordinator) Publish(image *metadata.Image) {
	before := c.image
	c.image = image
	if c.newTopics < 0 {
		c.newTopics = image.Offset
		return
	}
	for i := range image.Topics {
		t := &image.Topics[i]
		old, known := before.Topic(t.Name)
		if known && old.ID == t.ID && samePartitions(old.Partitions, t.Partitions) {
			continue
		}
		if !known || old.ID != t.ID {
			c.newTopics = image.Offset
		}
		for _, sl := range c.slots {
			if sl.latest != nil && sl.latest.subscribes(t.Name) {
				sl.looked = false
			}
		}
	}
}

// samePartitions says whether nothing about a topic's partitions has changed: an image shares what stays.
func samePartitions(a, b []metadata.Partition) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// named gives partitions by the names of their topics, sorted; those of topics that there are not any more are left
// out.
func (c *Coordinator) named(o ownership) []kafka.TopicPartition {
	list := make([]kafka.TopicPartition, 0, len(o))
	o.byTopic(func(id [16]byte, partitions []int32) {
		if t, ok := c.image.TopicByID(id); ok {
			for _, p := range partitions {
				list = append(list, kafka.TopicPartition{Topic: t.Name, Partition: kafka.Partition(p)})
			}
		}
	})
	slices.SortFunc(list, func(a, b kafka.TopicPartition) int {
		if a.Less(b) {
			return -1
		}
		return 1
	})
	return list
}
