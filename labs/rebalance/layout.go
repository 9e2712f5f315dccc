package rebalance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"loglab/engine"
	"loglab/engine/group"
	"loglab/engine/kafka"
	"loglab/labs"
)

// Bounds of what a page draws.
const (
	columnsShown    = 40  // ticks of the timeline
	columnsShift    = 10  // by which it moves on when it is full
	partitionsEach  = 24  // that have a row of their own each; of more, equal neighbours share one
	partitionsMost  = 64  // drawn at once
	partitionsLeast = 6   // also where they have changed hands many times
	elementsMost    = 440 // of the rows of partitions
	elementsOpen    = 240 // beside an open inspector
	elementsBeside  = 170 // in each of two runs
)

// layout is a frame with what the parts of the page share.
type layout struct {
	labs.Frame
	group   engine.GroupView
	history *history
	base    *history // the same before the end of the tick
	first   int      // the tick of the first column
	from    int      // the first partition drawn
	size    int      // partitions drawn at most
}

func newLayout(f labs.Frame) *layout {
	l := &layout{Frame: f, group: f.View.Groups[0]}
	l.base = readHistory(f.Cluster.Journal(), l.partitions(), f.Address.Values.Int("partitions"), kafka.Tick(f.Address.T))
	l.history = l.base.clone(f.Cluster.Journal())
	l.history.pass(l.tick() + 1)
	l.first = firstColumn(f.Address)
	l.size = l.pageSize()
	at := max(l.placeOf(f.Address.Shown().Partition), 0)
	for {
		l.from = at - at%l.size
		if l.size <= partitionsLeast || l.elements() <= l.most() {
			return l
		}
		l.size = (l.size + 1) / 2
	}
}

// opens says whether the inspector shows something.
func (l *layout) opens() bool {
	a := l.Address
	return a.Shown() != labs.Target{} || a.Why != 0 || a.Vs.Why != 0
}

// most is how many elements the rows of partitions may take.
func (l *layout) most() int {
	switch open := l.opens(); {
	case l.Beside != nil && open:
		return elementsBeside / 3
	case l.Beside != nil:
		return elementsBeside
	case open:
		return elementsOpen
	}
	return elementsMost
}

// elements is about how many the rows of partitions take.
func (l *layout) elements() (n int) {
	for _, row := range l.partitionRows() {
		if n += 3 + len(row.Runs); row.Name != "" {
			n++
		}
	}
	return n
}

// firstColumn gives the tick at which the timeline begins: it stands still for some ticks, then moves on by several.
func firstColumn(a labs.Address) int {
	last := a.T
	if at := a.Shown(); at.Kind == labs.TickTarget && int(at.Number) < last {
		return max(int(at.Number)-columnsShown/2, 0) / columnsShift * columnsShift
	}
	return max((last-columnsShown+columnsShift)/columnsShift*columnsShift, 0)
}

// pageSize is how many partitions are drawn at once: whole topics.
func (l *layout) pageSize() int {
	size := 0
	for _, name := range l.topics() {
		n := l.partitionsOf(name)
		if size > 0 && size+n > partitionsMost {
			break
		}
		size += n
	}
	return max(size, 1)
}

// placeOf gives the place of a partition among all; -1: there is none.
func (l *layout) placeOf(tp kafka.TopicPartition) int {
	return slices.IndexFunc(l.history.tracks, func(t *track) bool { return t.TopicPartition == tp })
}

// topics lists the run's topics.
func (l *layout) topics() []string { return topicsOf(l.Address.Values) }

// partitions lists all partitions of the run's topics.
func (l *layout) partitions() (list []kafka.TopicPartition) {
	for _, p := range l.View.Partitions {
		list = append(list, p.TopicPartition)
	}
	slices.SortFunc(list, func(a, b kafka.TopicPartition) int {
		return cmp.Or(slices.Index(topicNames[:], a.Topic)-slices.Index(topicNames[:], b.Topic), int(a.Partition-b.Partition))
	})
	return list
}

func comparePartitions(a, b kafka.TopicPartition) int {
	return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
}

// partitionsOf is how many partitions a topic has.
func (l *layout) partitionsOf(topic string) (n int) {
	for _, p := range l.View.Partitions {
		if p.TopicPartition.Topic == topic {
			n++
		}
	}
	return n
}

// remote says whether the coordinator divides the partitions: the group's protocol is the consumer protocol.
func (l *layout) remote() bool { return protocolOf(l.Address.Values).remote }

func (l *layout) tick() kafka.Tick { return kafka.Tick(l.Address.T) }

// tickAt gives the tick in which that happens which is due at a moment from now on.
func (l *layout) tickAt(at kafka.Millis) int { return l.TickAfter(at) }

// present lists the places of the members that are drawn: those that run or did, and those that the group counts.
func (l *layout) present() (list []int) {
	for i, s := range l.history.seats {
		if i < l.Address.Values.Int("members") || len(s.states) > 1 || s.states[0].Is.kind != notRunning {
			list = append(list, i)
		}
	}
	return list
}

// How many members are drawn of each of two runs: fewer beside an open inspector.
const (
	membersBeside = 8
	membersOpen   = 5
)

// drawnMembers lists the places of the members that are drawn, and how many are not. Where not all are, those that a
// command names come first, so that two runs of the same commands show the same.
func (l *layout) drawnMembers() (list []int, left int) {
	list = l.present()
	most := membersBeside
	if l.opens() {
		most = membersOpen
	}
	if l.Beside == nil || len(list) <= most {
		return list, 0
	}
	left = len(list) - most
	named := func(i int) bool {
		return slices.ContainsFunc(l.Address.Do, func(s labs.Stamped) bool { return strings.Contains(s.Command.String(), memberName(i)) })
	}
	slices.SortStableFunc(list, func(i, j int) int {
		switch {
		case named(i) && !named(j):
			return -1
		case named(j) && !named(i):
			return 1
		}
		return i - j
	})
	list = slices.Clone(list[:most])
	slices.Sort(list)
	return list, left
}

// held gives what the coordinator has of a member; nil: it is none.
func (l *layout) held(i int) *group.MemberView {
	if l.group.Held == nil {
		return nil
	}
	for j := range l.group.Held.Members {
		if m := &l.group.Held.Members[j]; m.ID == l.history.seats[i].in {
			return m
		}
	}
	return nil
}

// nameOf gives the short name of the member behind an id: "billing-02".
func (l *layout) nameOf(id kafka.MemberID) string {
	if i, ok := l.history.holders[id]; ok {
		return memberName(i)
	}
	return string(id)
}

// processName names the process behind an id: the earlier one where a member has been started again.
func (l *layout) processName(id kafka.MemberID) string {
	if i, ok := l.history.holders[id]; ok && slices.Contains(l.history.seats[i].ghosts, id) {
		return memberName(i) + "’s earlier process"
	}
	return l.nameOf(id)
}

// named puts the members' names for their ids in a text of the engine.
func (l *layout) named(text string) string {
	ids := make([]kafka.MemberID, 0, len(l.history.holders))
	for id := range l.history.holders {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		name := l.nameOf(id)
		for _, before := range idWords { // where it is about the id itself
			text = strings.ReplaceAll(text, before+string(id), before+shortID(id))
		}
		text = strings.ReplaceAll(text, fmt.Sprintf("%s (%s)", id, name), name)
		text = strings.ReplaceAll(text, string(id), name)
	}
	return text
}

// idWords are the words of the engine behind which a member id stands for itself.
var idWords = []string{"member id ", "member id now, and the old one, ", "the old one, ", "join again as "}

// shortID shortens a member id: the universally unique part of it, which nobody reads to its end.
func shortID(id kafka.MemberID) string {
	const unique, most = 36, 4
	text := string(id)
	at := max(len(text)-unique, 0)
	if at > 0 && text[at-1] != '-' {
		at = 0
	}
	return text[:at] + text[at:min(at+most, len(text))] + "…"
}
