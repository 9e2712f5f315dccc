package enginetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// consuming makes a spec like that of [grouped] whose members use the consumer protocol.
func consuming(partitions, members int) *engine.Spec {
	spec := grouped(partitions, members)
	everyMember(spec, asConsumer)
	return spec
}

// asConsumer makes a member use the consumer protocol with its defaults, and commit nothing.
func asConsumer(c *engine.ConsumerConfig) {
	g := engine.DefaultConsumerGroupConfig(c.Group.ID)
	g.App, g.AutoCommit = c.Group.App, false
	c.Group = g
}

// off lets members join by a command only.
func off(spec *engine.Spec) {
	for i := range spec.Groups[0].Members {
		spec.Groups[0].Members[i].Off = true
	}
}

// reconciled tells what became of members, in order: "c-1 epoch=2 UNREVOKED_PARTITIONS 0,1 revoking 2".
func reconciled(c *engine.Cluster, since int) (list []string) {
	for _, e := range events(c)[since:] {
		b, ok := e.Body.(journal.MemberReconciled)
		if !ok {
			continue
		}
		text := fmt.Sprintf("%s epoch=%d %s %s", b.Host, b.Epoch, b.State, partitionNumbers(b.Assigned))
		if len(b.Revoking) > 0 {
			text += " revoking " + partitionNumbers(b.Revoking)
		}
		list = append(list, text)
	}
	return list
}

func expectReconciled(t *testing.T, c *engine.Cluster, since int, want ...string) {
	t.Helper()
	if got := reconciled(c, since); !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// GRP-15: the hand-over of KIP-848, a member at a time. The process of c-2 stands still at first, so that c-1 and c-3 go
// through theirs alone. Nobody but who gives a partition up stops reading it.
func TestGRP15(t *testing.T) {
	spec := consuming(6, 3)
	off(spec)
	c := start(t, spec)
	give(t, c, "start c-1", "wait 3s", "start c-2", "wait 12s")
	expectOwns(t, c, "c", "before c-3 joins", "1=t-0,t-1,t-2 2=t-3,t-4,t-5")
	if g := group(t, c, "c"); g.Held.Epoch != 2 || g.Held.AssignmentEpoch != 2 || g.State != "Stable" {
		t.Errorf("before c-3 joins: %s, group epoch %d, assignment epoch %d; want Stable, 2 and 2", g.State, g.Held.Epoch, g.Held.AssignmentEpoch)
	}
	n := c.Journal().Len()
	give(t, c, "pause c-2", "start c-3", "wait 12s", "resume c-2", "wait 12s")
	expectReconciled(t, c, n,
		"c-3 epoch=3 UNRELEASED_PARTITIONS ",
		"c-1 epoch=2 UNREVOKED_PARTITIONS 01 revoking 2",
		"c-1 epoch=3 STABLE 01",
		"c-3 epoch=3 UNRELEASED_PARTITIONS 2",
		"c-2 epoch=2 UNREVOKED_PARTITIONS 34 revoking 5",
		"c-2 epoch=3 STABLE 34",
		"c-3 epoch=3 STABLE 25",
	)
	for _, lost := range since[journal.PartitionsRevoked](c, n, "") {
		if names := partitionNumbers(lost.Partitions); names != "2" && names != "5" {
			t.Errorf("partitions %s stop, want only 2 and 5", names)
		}
	}
	expectOwns(t, c, "c", "c-3 has joined", "1=t-0,t-1 2=t-3,t-4 3=t-2,t-5")
	n = c.Journal().Len()
	give(t, c, "leave c-1", "wait 15s")
	// Which of them gets 0 and which 1 follows from their ids.
	if got := owns(t, c, "c"); got != "2=t-0,t-3,t-4 3=t-1,t-2,t-5" && got != "2=t-1,t-3,t-4 3=t-0,t-2,t-5" {
		t.Errorf("c-1 has left: %s", got)
	}
	if epochs := since[journal.GroupEpochBumped](c, n, ""); len(epochs) != 1 || epochs[0].Epoch != 4 {
		t.Errorf("group epochs %+v, want 4 alone", epochs)
	}
}

// GRP-01 by uniform: three of five members work.
func TestGRP01ConsumerProtocol(t *testing.T) {
	spec := consuming(3, 5)
	c := start(t, spec)
	give(t, c, "wait 20s")
	counts := ownedCounts(t, c, "c")
	slices.Sort(counts)
	if !slices.Equal(counts, []int{0, 0, 1, 1, 1}) || group(t, c, "c").State != "Stable" {
		t.Errorf("the members own %v partitions, want 3 of 5 one each", counts)
	}
}

// GRP-02 by the broker's assignors: server-range gives ten topics of one partition to one member, uniform to all.
func TestGRP02ConsumerProtocol(t *testing.T) {
	for assignor, want := range map[string][]int{"server-range": {0, 0, 0, 10}, "uniform": {2, 2, 3, 3}} {
		spec := consuming(1, 4)
		spec.Topic.Name, spec.Producers = "t0", nil
		everyMember(spec, func(c *engine.ConsumerConfig) { c.Topics, c.Group.RemoteAssignor = []string{"t0"}, assignor })
		for i := range 9 {
			addTopic(spec, fmt.Sprint("t", i+1), 1)
		}
		c := start(t, spec)
		give(t, c, "wait 30s")
		counts := ownedCounts(t, c, "c")
		slices.Sort(counts)
		if g := group(t, c, "c"); !slices.Equal(counts, want) || g.State != "Stable" || g.Held.ServerAssignor != assignor {
			t.Errorf("%s (%s): the members own %v partitions, want %v", assignor, g.Held.ServerAssignor, counts, want)
		}
	}
}

// GRP-13 under the consumer protocol: t-1 moves to c-2 while c-1 has processed 300 of it and committed none. Without a
// commit before the hand-over c-2 repeats them; with one in onPartitionsRevoked nothing is repeated.
func TestGRP13ConsumerProtocol(t *testing.T) {
	for _, tc := range []struct {
		callback bool
		began    int
		again    []int
	}{{false, -1, span(0, 299)}, {true, 300, nil}} {
		spec := moving()
		everyMember(spec, asConsumer)
		spec.Groups[0].Members[0].Config.Group.App.CommitOnRevoke = tc.callback
		c := start(t, spec)
		give(t, c, "wait 61s", "start c-2", "wait 12s")
		expectOwns(t, c, "c", "c-2 has joined", "1=t-0 2=t-1")
		if got := began1(t, c); got != tc.began {
			t.Errorf("commit on revoke %t: c-2 begins t-1 at %d, want %d", tc.callback, got, tc.began)
		}
		expectFate(t, c, "c", "t-1", "duplicates", twice, tc.again)
	}
}

// GRP-13, error codes: a commit that names an old member epoch is refused by 113, STALE_MEMBER_EPOCH. c-1 sends it when
// the coordinator has gone on and its answer has not come yet, for the link is slow. commitSync throws: only a commit that
// enable.auto.commit makes before partitions change hands is sent again. c-1 still has t-0, so nobody else reads what poll
// had returned to it and it has not processed: it seeks back to that.
func TestCommitOfAnOldMemberEpoch(t *testing.T) {
	spec := consuming(2, 2)
	filled(spec, 0, 6)
	app := &spec.Groups[0].Members[0].Config.Group.App
	app.ByHand, app.Commit = true, engine.CommitRecord
	spec.Groups[0].Members[1].Off = true
	c := start(t, spec)
	give(t, c, "wait 1s", "process c-1 2", "wait 1s", "delay b1 c-1 1s", "start c-2")
	for range 200 { // until c-1 has acknowledged, and has not heard that it is in epoch 2
		give(t, c, "wait 100ms")
		if g := group(t, c, "c"); g.Held.Members[0].Epoch == 2 && g.Members[0].Epoch == 1 {
			break
		}
	}
	give(t, c, "process c-1", "wait 10s")
	var refused []string
	for _, b := range all[journal.GroupRequestRefused](c, "") {
		if b.API == "OffsetCommit" {
			refused = append(refused, b.Error)
		}
	}
	if !slices.Equal(refused, []string{"STALE_MEMBER_EPOCH"}) {
		t.Errorf("refused commits %v, want one by STALE_MEMBER_EPOCH", refused)
	}
	failed := all[journal.CommitFailed](c, "c-1")
	if len(failed) != 1 || failed[0].Error != "CommitFailedException: STALE_MEMBER_EPOCH" || !slices.Equal(commits(c, 0, "t-0"), []int{1, 2}) {
		t.Errorf("committed of t-0: %v, %+v; want 1 and 2, and commitSync to throw", commits(c, 0, "t-0"), failed)
	}
	give(t, c, "process c-1", "wait 10s")
	if got := commits(c, 0, "t-0"); !slices.Equal(got, []int{1, 2, 4}) {
		t.Errorf("committed of t-0: %v, want 1, 2 and 4: the record at 3 is next after the refused commit of 3", got)
	}
	expectFate(t, c, "c", "t-0", "processed", func(f engine.RecordFate) bool { return f.Processed == 1 }, span(0, 3))
}

// Partitions that are added, and a topic that is made, come to the members of both protocols: a classic leader learns of
// them by its metadata, the coordinator of the consumer protocol by its own.
func TestTopicsThatGrow(t *testing.T) {
	for _, protocol := range []string{"classic", "consumer"} {
		spec := grouped(2, 2, "range")
		spec.Topics = append(spec.Topics, spec.Topic)
		spec.Topics[0].Name, spec.Topics[0].Partitions, spec.Topics[0].Later = "t2", 2, true
		everyMember(spec, func(c *engine.ConsumerConfig) {
			c.Topics, c.MetadataMaxAge = nil, 10_000
			if protocol == "consumer" {
				asConsumer(c)
				c.Group.RemoteAssignor = "server-range"
			}
			c.Group.Pattern = "t[0-9]*"
		})
		c := start(t, spec)
		give(t, c, "wait 15s")
		counts := func(when string, want ...int) {
			t.Helper()
			got := ownedCounts(t, c, "c")
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("%s, %s: the members own %v partitions, want %v", protocol, when, got, want)
			}
		}
		counts("at the start", 1, 1)
		give(t, c, "add-partitions t to 4", "wait 25s")
		counts("partitions are added", 2, 2)
		give(t, c, "create-topic t2", "wait 40s")
		counts("a topic is made", 3, 3)
	}
}

// A group moves from the classic protocol to the consumer protocol a process at a time, and back: classic members go on
// reading in between, and every partition has an owner in the end.
func TestRollingUpgrade(t *testing.T) {
	spec := grouped(4, 4, "cooperative-sticky")
	for i := range spec.Groups[0].Members { // c-3 and c-4 are the new processes
		if i > 1 {
			asConsumer(&spec.Groups[0].Members[i].Config)
			spec.Groups[0].Members[i].Off = true
		}
	}
	c := start(t, spec)
	give(t, c, "wait 5s")
	expectOwns(t, c, "c", "both are classic", "1=t-0,t-2 2=t-1,t-3")
	give(t, c, "start c-3", "wait 30s")
	if g := group(t, c, "c"); g.Held.Type != "consumer" || g.State != "Stable" || !g.Held.Members[0].Classic {
		t.Errorf("c-3 has joined: a %s group, %s", g.Held.Type, g.State)
	}
	give(t, c, "leave c-1", "start c-4", "wait 10s", "leave c-2", "wait 30s")
	counts := ownedCounts(t, c, "c")
	if !slices.Equal(counts[2:], []int{2, 2}) || group(t, c, "c").State != "Stable" {
		t.Errorf("all have moved: %v", counts)
	}
	give(t, c, "start c-1", "wait 10s", "leave c-3", "wait 10s", "leave c-4", "wait 30s")
	expectOwns(t, c, "c", "back again", "1=t-0,t-1,t-2,t-3")
	if g := group(t, c, "c"); g.Held.Type != "classic" || g.State != "Stable" {
		t.Errorf("back again: a %s group, %s", g.Held.Type, g.State)
	}
}

// Static members under the consumer protocol: one that leaves to come back gets what it had, under another member id,
// and no epoch rises; a second consumer with its instance is refused meanwhile, and ends.
func TestStaticMembersOfTheConsumerProtocol(t *testing.T) {
	spec := consuming(4, 3)
	for i, id := range []kafka.GroupInstanceID{"i1", "i2", "i1"} {
		spec.Groups[0].Members[i].Config.Group.InstanceID = id
	}
	spec.Groups[0].Members[2].Off = true
	c := start(t, spec)
	give(t, c, "wait 15s")
	before := owns(t, c, "c")
	epoch := group(t, c, "c").Held.Epoch
	give(t, c, "start c-3", "wait 5s")
	if failed := all[journal.ConsumerFailed](c, "c-3"); len(failed) != 1 || failed[0].Error != "UNRELEASED_INSTANCE_ID" {
		t.Errorf("c-3: %+v, want UNRELEASED_INSTANCE_ID", failed)
	}
	give(t, c, "leave c-1", "wait 10s", "start c-1", "wait 10s")
	if after := strings.TrimSuffix(owns(t, c, "c"), " 3="); after != strings.TrimSuffix(before, " 3=") {
		t.Errorf("after a restart\n %s\nwant %s", after, before)
	}
	if g := group(t, c, "c"); g.Held.Epoch != epoch || g.State != "Stable" {
		t.Errorf("group epoch %d, %s; want %d, Stable", g.Held.Epoch, g.State, epoch)
	}
}

// The poll-interval loop under the consumer protocol: an application that is too slow leaves, and joins again when it
// polls; its partitions go to the other and come back.
func TestPollIntervalOfTheConsumerProtocol(t *testing.T) {
	spec := consuming(2, 2)
	filled(spec, 0, 10)
	everyMember(spec, func(c *engine.ConsumerConfig) {
		c.Group.MaxPollInterval, c.Group.App.Work = 8000, 3000
	})
	c := start(t, spec)
	give(t, c, "wait 60s")
	exceeded := all[journal.PollIntervalExceeded](c, "")
	if len(exceeded) < 2 || exceeded[0].Interval != 8000 || exceeded[0].Epoch != -1 {
		t.Errorf("%+v, want the loop of leaving and joining", exceeded)
	}
}

// A rebalance timeout: a member that does not poll cannot let go of what it is to, and is fenced.
func TestRebalanceTimeoutOfTheConsumerProtocol(t *testing.T) {
	spec := consuming(2, 2)
	filled(spec, 0, 3)
	everyMember(spec, func(c *engine.ConsumerConfig) { c.Group.MaxPollInterval = 20_000 })
	first := &spec.Groups[0].Members[0].Config.Group
	first.App.ByHand, first.App.CommitOnRevoke = true, true
	spec.Groups[0].Members[1].Off = true
	c := start(t, spec)
	give(t, c, "wait 2s", "start c-2", "wait 10s")
	expectOwns(t, c, "c", "c-1 does not poll", "1=t-0,t-1 2=")
	give(t, c, "wait 20s")
	expectOwns(t, c, "c", "c-1 is out", "1=t-0,t-1 2=t-0,t-1")
	if state := group(t, c, "c").Held.Members; len(state) != 1 {
		t.Errorf("%d members, want c-2 alone", len(state))
	}
}

// A member that subscribes by a pattern learns of the dead-letter topic too, which the pattern does not match.
func TestDeadLettersOfAPattern(t *testing.T) {
	for _, protocol := range []string{"classic", "consumer"} {
		spec := grouped(1, 1)
		filled(spec, 0, 3)
		spec.Topics = append(spec.Topics, spec.Topic)
		spec.Topics[0].Name = "dead"
		everyMember(spec, func(c *engine.ConsumerConfig) {
			if protocol == "consumer" {
				asConsumer(c)
			}
			c.Topics, c.Group.Pattern = nil, "t"
			app := &c.Group.App
			app.Poison = []engine.Poison{{TopicPartition: kafka.TopicPartition{Topic: "t"}, Offset: 1}}
			app.OnFailure, app.Attempts, app.DeadLetterTopic = engine.DeadLetter, 2, "dead"
		})
		c := start(t, spec)
		give(t, c, "wait 20s")
		if sent := all[journal.DeadLetterSent](c, "c-1"); len(sent) != 1 || sent[0].To.Topic != "dead" {
			t.Errorf("%s: %+v, want the record at 1 in the dead-letter topic", protocol, sent)
		}
		expectFate(t, c, "c", "t-0", protocol+": processed", done, []int{0, 2})
	}
}
