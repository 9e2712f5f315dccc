package group

import (
	"iter"
	"slices"
	"testing"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/simnet"
)

// loaded is a coordinator that has read a log.
func loaded(config *Config, now kafka.Millis, log iter.Seq[coordinator.Logged]) (*Coordinator, *journal.Journal, coordinator.Effects) {
	c := New(config, prng.New(2).Split("group"))
	var j journal.Journal
	e := c.Load(now, log, 0, &j)
	return c, &j, e
}

// A new coordinator knows group, members, assignment and offsets; each session begins anew.
func TestLoad(t *testing.T) {
	r := newRun(t, nil)
	c1, c2 := newConsumer("c1"), static("c2", "i2")
	c1.protocols, c2.protocols = []string{"range", "cooperative-sticky"}, []string{"range", "cooperative-sticky"}
	r.form(c1, c2)
	r.commits(c1, 0, 5)
	before := r.view("g")
	r.now = 20_000
	r.perform(r.c.Resign(r.now, 0, &r.j))
	var e coordinator.Effects
	r.c, _, e = loaded(r.config, r.now, slices.Values(r.log))
	r.perform(e)
	after := r.view("g")
	if after.State != Stable || after.Generation != 1 || after.Leader != before.Leader || after.Protocol != "range" || len(after.Members) != 2 ||
		!slices.Equal(after.Offsets, before.Offsets) {
		t.Errorf("before %+v\nafter %+v", before, after)
	}
	for i, m := range after.Members {
		if m.ID != before.Members[i].ID || m.SessionEnds != 65_000 || !slices.Equal(m.Assignment, before.Members[i].Assignment) || !slices.Equal(m.Protocols, []string{"range"}) {
			t.Errorf("%+v", m)
		}
	}
	r.wantCode(r.beats(c1), "ok")
	r.wantCode(r.syncs(c2, nil), "ok")
	// Of the assignors only the chosen one is in the record, so a follower that joins again starts a rebalance.
	r.wantCode(r.joins(c2), "waits")
	r.want(PreparingRebalance, 1)
	r.until(65_001)
	r.until(110_001)
}

// Tombstones, records of other kinds and bytes that nobody can read.
func TestLoadPassesOver(t *testing.T) {
	config := DefaultConfig()
	orders := kafka.TopicPartition{Topic: "orders"}
	key := Key{Type: TypeOffsetCommit, Group: "g", TopicPartition: orders}
	records := []coordinator.Record{
		OffsetCommitRecord{Group: "g", TopicPartition: orders, Offset: 5, ExpireTimestamp: -1}.Encode(),
		{Key: []byte{0, 3, 0, 1, 'g'}, Value: []byte{0, 0}},
		{Key: []byte{1}, Value: []byte{1}},
		{Key: key.encode(), Value: []byte{0, 9}},
		OffsetCommitRecord{Group: "h", TopicPartition: orders, Offset: 6, ExpireTimestamp: -1}.Encode(),
		Tombstone{Key{Type: TypeOffsetCommit, Group: "h", TopicPartition: orders}}.Encode(),
		GroupMetadataRecord{Group: "k", Generation: 3}.Encode(),
		Tombstone{Key{Type: TypeGroupMetadata, Group: "k"}}.Encode(),
	}
	c, j, _ := loaded(&config, 0, inLog(records...))
	views := c.View()
	if len(views) != 2 || views[0].ID != "g" || views[0].Offsets[0].Offset != 5 || views[1].ID != "h" || len(views[1].Offsets) != 0 {
		t.Errorf("%+v", views)
	}
	e, _ := j.At(1)
	if got, want := e.Body, (journal.GroupsLoaded{Records: 8, Groups: 2, Offsets: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A loaded group above group.max.size is rebalanced at once.
func TestLoadOverCapacity(t *testing.T) {
	r := newRun(t, nil)
	cs := []*consumer{newConsumer("c1"), newConsumer("c2"), newConsumer("c3")}
	r.form(cs...)
	config := *r.config
	config.MaxSize = 2
	r.c, _, _ = loaded(&config, r.now, slices.Values(r.log))
	r.want(PreparingRebalance, 1)
	r.wantCode(r.joins(cs[0]), "waits")
	r.wantCode(r.joins(cs[1]), "waits")
	r.wantCode(r.joins(cs[2]), "GROUP_MAX_SIZE_REACHED")
	r.want(PreparingRebalance, 1) // as in Kafka: that all others have joined is not looked at here
	r.pass(300_000)
	r.want(CompletingRebalance, 2)
}

// Who waits when the leadership goes is told so, and who comes after.
func TestResign(t *testing.T) {
	r := newRun(t, nil)
	c1, c2 := newConsumer("c1"), newConsumer("c2")
	r.form(c1)
	other := newConsumer("c3")
	other.group = "h"
	joins := r.joinAll(other)
	r.pass(3000)
	r.joined(other, joins[0])
	join := r.joins(c2)
	r.delay = 1000
	sync := r.syncs(other, map[*consumer][]byte{other: nil})
	commit := r.commits(c1, 0, 1)
	beat := r.beats(c1)
	r.inFlight = nil
	r.perform(r.c.Resign(r.now, 0, &r.j))
	for _, m := range []*simnet.Message{join, sync, commit, beat} {
		r.wantCode(m, "NOT_COORDINATOR")
	}
	if e := events[journal.CoordinatorResigned](r); len(e) != 1 || e[0].Groups != 2 || e[0].Answered != 4 {
		t.Errorf("%+v", e)
	}
	r.wantCode(r.beats(c1), "NOT_COORDINATOR")
	if due, ok := r.c.NextDue(); ok {
		t.Errorf("a timer is left at %d", due)
	}
}
