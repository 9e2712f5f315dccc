package enginetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// grouped makes a spec of one broker, a topic t and a group c whose members c-1, c-2, … read it; their applications
// process a record in no time and nobody commits. With strategies, partition.assignment.strategy is these. A tick is
// a second.
func grouped(partitions, members int, strategies ...string) *engine.Spec {
	spec := orders(partitions, 0)
	spec.TickMillis, spec.Latency = 1000, 5
	spec.Topic.Name, spec.Producers[0].Config = "t", engine.DefaultProducerConfig("t")
	spec.Producers[0].Config.EnableIdempotence = engine.IdempotenceOff
	spec.Group = engine.GroupSpec{}
	addGroup(spec, "c", members, strategies...)
	return spec
}

// addGroup adds a group with members like those of [grouped].
func addGroup(spec *engine.Spec, id string, members int, strategies ...string) {
	g := engine.ConsumerGroupSpec{ID: id}
	for range members {
		config := engine.DefaultConsumerConfig(spec.Topic.Name)
		config.Group = engine.DefaultGroupConfig(id)
		config.Group.AutoCommit = false
		if len(strategies) > 0 {
			config.Group.Assignors = strategies
		}
		g.Members = append(g.Members, engine.MemberSpec{Config: config})
	}
	spec.Groups = append(spec.Groups, g)
}

// addTopic adds a topic that the members of the first group read too.
func addTopic(spec *engine.Spec, name string, partitions int) {
	t := spec.Topic
	t.Name, t.Partitions = name, partitions
	spec.Topics = append(spec.Topics, t)
	everyMember(spec, func(c *engine.ConsumerConfig) { c.Topics = append(c.Topics, name) })
}

// everyMember changes the settings of all members of the first group.
func everyMember(spec *engine.Spec, change func(*engine.ConsumerConfig)) {
	for i := range spec.Groups[0].Members {
		change(&spec.Groups[0].Members[i].Config)
	}
}

// filled lets the prologue put records into a partition of the topic of p0, one a message.
func filled(spec *engine.Spec, partition, records int) {
	for range records {
		spec.Prologue = append(spec.Prologue, command.Produce{Producer: "p0", Named: true, To: kafka.Partition(partition), Keyless: true, Value: "r"})
	}
}

// group gives a group with a coordinator.
func group(t *testing.T, c *engine.Cluster, id string) engine.GroupView {
	t.Helper()
	for _, g := range c.View().Groups {
		if g.ID == id && g.CoordinatedView != nil {
			return g
		}
	}
	t.Fatalf("there is no group %s", id)
	return engine.GroupView{}
}

// memberOf gives a member of the group that its name begins with.
func memberOf(t *testing.T, c *engine.Cluster, node string) engine.MemberView {
	t.Helper()
	g := group(t, c, node[:strings.LastIndexByte(node, '-')])
	for _, m := range g.Members {
		if string(m.ID) == node {
			return m
		}
	}
	t.Fatalf("there is no member %s", node)
	return engine.MemberView{}
}

// owns gives what the members of a group that run own, by the members' numbers: "1=t-0,t-1 2=".
func owns(t *testing.T, c *engine.Cluster, id string) string {
	t.Helper()
	var list []string
	for _, m := range group(t, c, id).Members {
		if m.Alive {
			list = append(list, strings.TrimPrefix(string(m.ID), id+"-")+"="+assignmentOf(m))
		}
	}
	return strings.Join(list, " ")
}

func assignmentOf(m engine.MemberView) string {
	var names []string
	for _, a := range m.Assignment {
		names = append(names, a.TopicPartition.String())
	}
	return strings.Join(names, ",")
}

// expectOwns compares what the members of a group own.
func expectOwns(t *testing.T, c *engine.Cluster, id, when, want string) {
	t.Helper()
	if got := owns(t, c, id); got != want {
		t.Errorf("%s:\n got %s\nwant %s", when, got, want)
	}
}

// ownedCounts gives how many partitions each member of a group owns.
func ownedCounts(t *testing.T, c *engine.Cluster, id string) (list []int) {
	t.Helper()
	for _, m := range group(t, c, id).Members {
		list = append(list, len(m.Assignment))
	}
	return list
}

// offset gives how far a group is in a partition.
func offset(t *testing.T, c *engine.Cluster, id, partition string) engine.OffsetView {
	t.Helper()
	for _, o := range group(t, c, id).Offsets {
		if o.TopicPartition.String() == partition {
			return o
		}
	}
	t.Fatalf("group %s has neither read %s nor committed for it", id, partition)
	return engine.OffsetView{}
}

// expectCommitted compares the committed offset of a partition, -1 for none, and the group's lag there.
func expectCommitted(t *testing.T, c *engine.Cluster, id, partition, when string, committed kafka.Offset, lag int64) {
	t.Helper()
	if o := offset(t, c, id, partition); o.Committed != committed || o.Lag != lag {
		t.Errorf("%s: %s of group %s: committed %d, lag %d; want %d and %d", when, partition, id, o.Committed, o.Lag, committed, lag)
	}
}

// fate lists the offsets of a partition with whose records this has happened in a group, up to the end of the log.
func fate(t *testing.T, c *engine.Cluster, id, partition string, happened func(engine.RecordFate) bool) (list []int) {
	t.Helper()
	v := c.View()
	at := slices.IndexFunc(v.Partitions, func(p engine.PartitionView) bool { return p.TopicPartition.String() == partition })
	if at < 0 {
		t.Fatalf("there is no partition %s", partition)
	}
	var fates engine.FatesView // of a partition of which nothing was read: none of anything
	for _, f := range group(t, c, id).Sink.Fates {
		if f.TopicPartition.String() == partition {
			fates = f
		}
	}
	for o := range v.Partitions[at].Log.LogEndOffset {
		if happened(fates.At(o)) {
			list = append(list, int(o))
		}
	}
	return list
}

// The fates that cases ask for.
func twice(f engine.RecordFate) bool   { return f.Processed > 1 }
func done(f engine.RecordFate) bool    { return f.Processed > 0 }
func undone(f engine.RecordFate) bool  { return f.Processed == 0 }
func arrived(f engine.RecordFate) bool { return f.Delivered > 0 }

// expectFate compares the offsets of the records with a fate.
func expectFate(t *testing.T, c *engine.Cluster, id, partition, what string, happened func(engine.RecordFate) bool, want []int) {
	t.Helper()
	if got := fate(t, c, id, partition, happened); !slices.Equal(got, want) {
		t.Errorf("%s: records %s of %s, want %s", what, spans(got), partition, spans(want))
	}
}

// spans shortens a sorted list: "2 5-7".
func spans(list []int) string {
	var words []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		if i == j {
			words = append(words, fmt.Sprint(list[i]))
		} else {
			words = append(words, fmt.Sprintf("%d-%d", list[i], list[j]))
		}
		i = j + 1
	}
	return "[" + strings.Join(words, " ") + "]"
}

// generations lists the generations that groups have come to since an event, at the end of a join phase or empty.
func generations(c *engine.Cluster, since int) (list []int) {
	for _, e := range events(c)[since:] {
		switch b := e.Body.(type) {
		case journal.JoinPhaseEnded:
			list = append(list, int(b.Generation))
		case journal.GroupEmpty:
			list = append(list, int(b.Generation))
		}
	}
	return list
}

// since gives the bodies of one kind among the events after the first n.
func since[B journal.Body](c *engine.Cluster, n int, node kafka.NodeID) (list []B) {
	for _, e := range events(c)[n:] {
		if body, ok := e.Body.(B); ok && (node == "" || e.Node == node) {
			list = append(list, body)
		}
	}
	return list
}

// now gives the virtual time.
func now(c *engine.Cluster) kafka.Millis {
	_, at := c.Now()
	return at
}

// stable fails unless a group is stable with a generation.
func stable(t *testing.T, c *engine.Cluster, id, when string, generation int) {
	t.Helper()
	if g := group(t, c, id); g.State != "Stable" || int(g.Generation) != generation {
		t.Errorf("%s: group %s is %s in generation %d, want Stable in %d", when, id, g.State, g.Generation, generation)
	}
}

// millis gives a span as commands have it.
func millis(span kafka.Millis) string { return fmt.Sprintf("%dms", span) }
