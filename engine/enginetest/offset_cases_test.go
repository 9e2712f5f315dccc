package enginetest

import (
	"slices"
	"testing"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// byHand makes a group whose first member processes when it is told to, on a partition of so many records. Its second
// member does not run yet and processes by itself.
func byHand(records int) *engine.Spec {
	spec := grouped(1, 2)
	filled(spec, 0, records)
	spec.Groups[0].Members[0].Config.Group.App.ByHand = true
	spec.Groups[0].Members[1].Off = true
	return spec
}

// takesOver lets c-2 start and waits until the session of c-1, which has crashed, is over.
func takesOver(t *testing.T, c *engine.Cluster) {
	t.Helper()
	give(t, c, "start c-2", "wait 60s")
	expectOwns(t, c, "c", "c-2 has taken over", "2=t-0")
}

// began gives the offset at which a member began to read t-0, as it was committed: -1 for nothing committed.
func began(t *testing.T, c *engine.Cluster, node kafka.NodeID) int {
	t.Helper()
	return int(last[journal.PositionCommitted](t, c, node).Offset)
}

// OFF-01: what was processed since the last commit is processed again. The thread's crash comes one record earlier.
func TestOFF01(t *testing.T) {
	for _, test := range []struct {
		process    string
		duplicates []int
	}{{"process c-1 3", []int{5, 6, 7}}, {"process c-1 2", []int{5, 6}}} {
		c := start(t, byHand(10))
		give(t, c, "wait 1s", "process c-1 5", "commit c-1", "wait 1s", test.process, "crash c-1")
		expectCommitted(t, c, "c", "t-0", "after the crash", 5, 5)
		takesOver(t, c)
		if got := began(t, c, "c-2"); got != 5 {
			t.Errorf("c-2 begins at %d, want 5", got)
		}
		expectFate(t, c, "c", "t-0", "duplicates", twice, test.duplicates)
		expectFate(t, c, "c", "t-0", "lost", undone, nil)
	}
}

// OFF-02: what was committed before it was processed is lost, and the lag shows nothing.
func TestOFF02(t *testing.T) {
	spec := byHand(10)
	spec.Groups[0].Members[0].Config.Group.App.Commit = engine.CommitBefore
	c := start(t, spec)
	give(t, c, "wait 1s", "process c-1 4", "crash c-1")
	expectCommitted(t, c, "c", "t-0", "after the crash", 10, 0)
	takesOver(t, c)
	if got := began(t, c, "c-2"); got != 10 {
		t.Errorf("c-2 begins at %d, want 10", got)
	}
	expectFate(t, c, "c", "t-0", "duplicates", twice, nil)
	expectFate(t, c, "c", "t-0", "lost", undone, span(4, 9))
}

// autoCommitting makes a member that commits by enable.auto.commit, on a partition of 1,000 records of which poll
// returns 500 at a time.
func autoCommitting(app engine.AppConfig) *engine.Spec {
	spec := grouped(1, 1)
	filled(spec, 0, 1000)
	config := &spec.Groups[0].Members[0].Config
	config.Group.AutoCommit, config.Group.App = true, app
	return spec
}

// OFF-03: enable.auto.commit commits in poll what polls before have returned: with work in the loop nothing is lost.
func TestOFF03(t *testing.T) {
	c := start(t, autoCommitting(engine.AppConfig{Work: 12})) // 500 records take 6 s
	give(t, c, "wait 5999ms")
	if sent := all[journal.CommitSent](c, "c-1"); len(sent) > 0 {
		t.Errorf("%+v is sent in the middle of a batch", sent)
	}
	give(t, c, "crash c-1 after processing t-0 @699", "wait 100ms")
	expectCommitted(t, c, "c", "t-0", "at 6 s", 500, 500)
	give(t, c, "wait 10s", "start c-1", "wait 60s")
	if got := began(t, c, "c-1"); got != 500 {
		t.Errorf("c-1 begins anew at %d, want 500", got)
	}
	expectFate(t, c, "c", "t-0", "duplicates", twice, span(500, 699))
	expectFate(t, c, "c", "t-0", "lost", undone, nil)
}

// OFF-03, the crash after 3 s of work: nothing is committed, and auto.offset.reset decides. With latest the first process begins
// at 0 because the log was empty when it came.
func TestOFF03CrashBeforeTheFirstCommit(t *testing.T) {
	for policy, lost := range map[string][]int{"earliest": nil, "latest": span(250, 999)} {
		spec := autoCommitting(engine.AppConfig{Work: 12})
		everyMember(spec, func(c *engine.ConsumerConfig) { c.AutoOffsetReset = policy })
		c := start(t, spec)
		give(t, c, "crash c-1 after processing t-0 @249", "wait 5s")
		if offsets := group(t, c, "c").Offsets; len(offsets) > 0 {
			t.Errorf("%s: the group has %+v, want nothing committed", policy, offsets)
		}
		give(t, c, "start c-1", "wait 60s")
		if got := began(t, c, "c-1"); got != -1 {
			t.Errorf("%s: c-1 begins at %d, want nothing committed", policy, got)
		}
		expectFate(t, c, "c", "t-0", policy+": lost", undone, lost)
	}
}

// OFF-05: what poll has returned counts as consumed. One thread needs 30 ms a record: 200 of them in 6 s.
func TestOFF05(t *testing.T) {
	c := start(t, autoCommitting(engine.AppConfig{Workers: 1, Work: 30, PollEvery: 6000}))
	give(t, c, "wait 6020ms")
	expectCommitted(t, c, "c", "t-0", "at 6 s", 500, 500)
	expectFate(t, c, "c", "t-0", "at 6 s: returned by poll", arrived, span(0, 999))
	expectFate(t, c, "c", "t-0", "at 6 s: finished", done, span(0, 199))
	give(t, c, "crash c-1", "start c-1", "wait 90s")
	if got := began(t, c, "c-1"); got != 500 {
		t.Errorf("c-1 begins anew at %d, want 500", got)
	}
	expectFate(t, c, "c", "t-0", "lost", undone, span(200, 499))
}

// commits lists the offsets that a group has committed for a partition since an event, in order.
func commits(c *engine.Cluster, from int, partition string) (list []int) {
	for _, o := range since[journal.OffsetCommitted](c, from, "") {
		if o.TopicPartition.String() == partition {
			list = append(list, int(o.Offset))
		}
	}
	return list
}

// OFF-08: three partitions of five records; the record at t-2 offset 2 cannot be processed, and the application seeks
// back to it. A record takes 10 ms.
func poisoned(app engine.AppConfig) *engine.Spec {
	spec := grouped(3, 1)
	for p := range 3 {
		filled(spec, p, 5)
	}
	app.Work, app.Commit, app.OnFailure = 10, engine.CommitBatch, engine.SeekBack
	app.Poison = []engine.Poison{{TopicPartition: kafka.TopicPartition{Topic: "t", Partition: 2}, Offset: 2}}
	spec.Groups[0].Members[0].Config.Group.App = app
	return spec
}

// deliveries gives how often poll has returned each record of t-2.
func deliveries(t *testing.T, c *engine.Cluster) (list []int) {
	t.Helper()
	for _, f := range group(t, c, "c").Sink.Fates {
		if f.TopicPartition.String() == "t-2" {
			for at := range offset(t, c, "c", "t-2").LogEndOffset {
				list = append(list, int(f.At(at).Delivered))
			}
		}
	}
	return list
}

// OFF-08, endless: the partition stands still, the others go on. A seek does not end the fetch that is under way behind
// the record: it comes back after fetch.max.wait.ms = 500 ms, and the next fetch only then.
func TestOFF08Endless(t *testing.T) {
	c := start(t, poisoned(engine.AppConfig{}))
	give(t, c, "wait 10s")
	before := deliveries(t, c)
	for _, p := range []string{"0", "1", "2"} {
		give(t, c, "produce-to p0 "+p)
	}
	give(t, c, "wait 10s")
	expectCommitted(t, c, "c", "t-0", "endless", 6, 0)
	expectCommitted(t, c, "c", "t-1", "endless", 6, 0)
	expectCommitted(t, c, "c", "t-2", "endless: the lag is the log's end minus 2", 2, 6-2)
	after := deliveries(t, c)
	if before[1] != 1 || after[1] != 1 || before[2] < 10 || after[2] <= before[2] {
		t.Errorf("poll has returned the records %v times after 10 s and %v times after 20 s, want 1 once and 2 without bound", before, after)
	}
	if before[2] != before[3] || before[2] != before[4] {
		t.Errorf("poll has returned the records %v times, want 2, 3 and 4 together", before)
	}
}

// OFF-08 with a dead-letter topic after three attempts.
func TestOFF08DeadLetter(t *testing.T) {
	spec := poisoned(engine.AppConfig{Attempts: 3, DeadLetterTopic: "dead"})
	spec.Topics = append(spec.Topics, spec.Topic)
	spec.Topics[0].Name = "dead"
	c := start(t, spec)
	give(t, c, "wait 2s")
	if got, want := deliveries(t, c), []int{1, 1, 3, 3, 3}; !slices.Equal(got, want) {
		t.Errorf("poll has returned the records of t-2 %v times, want %v: three come again with each seek", got, want)
	}
	if n := group(t, c, "c").Sink.DeadLetter; n != 1 || deadLetters(c) != 1 {
		t.Errorf("%d records were sent to the dead-letter topic and %d stand in it, want 1 and 1", n, deadLetters(c))
	}
	expectCommitted(t, c, "c", "t-2", "after the dead letter", 5, 0)
}

// deadLetters counts the records in the topic dead.
func deadLetters(c *engine.Cluster) (n int) {
	for _, p := range c.View().Partitions {
		if p.Topic == "dead" {
			n += int(p.Log.LogEndOffset)
		}
	}
	return n
}

// OFF-08, a dead letter without a commit: on restart the record comes again. It is the last of its partition here:
// once the application commits behind a later record of the same partition, that commit is for the poison record too.
func TestOFF08DeadLetterWithoutCommit(t *testing.T) {
	spec := poisoned(engine.AppConfig{Attempts: 3, DeadLetterTopic: "dead", ForgetCommit: true})
	spec.Prologue = spec.Prologue[:len(spec.Prologue)-2]
	spec.Topics = append(spec.Topics, spec.Topic)
	spec.Topics[0].Name = "dead"
	c := start(t, spec)
	give(t, c, "wait 2s")
	expectCommitted(t, c, "c", "t-2", "after the dead letter", 2, 1)
	before := deliveries(t, c)[2]
	give(t, c, "leave c-1", "wait 1s", "start c-1", "wait 10s")
	if after := deliveries(t, c)[2]; after <= before || deadLetters(c) != 2 {
		t.Errorf("poll has returned the record %d times before the restart and %d after it, and %d dead letters stand; want more, and 2", before, after, deadLetters(c))
	}
	expectCommitted(t, c, "c", "t-2", "after the second dead letter", 2, 1)
}

// OFF-12: the commit of a group without members goes offsets.retention.minutes after the last one left, at the next of
// the checks that come every 10 minutes; 7 days is too long for a run, it is the 2 minutes of the thread here. Where the
// next member begins is auto.offset.reset's word. A group that runs keeps its commits.
func TestOFF12(t *testing.T) {
	for _, test := range []struct {
		policy   string
		position kafka.Offset
		again    []int
		never    []int
	}{{"earliest", 0, span(0, 999), nil}, {"latest", 1040, nil, span(1000, 1039)}} {
		spec := grouped(1, 2)
		filled(spec, 0, 1000)
		spec.Cluster.Groups.OffsetsRetention = 2 * 60_000
		everyMember(spec, func(c *engine.ConsumerConfig) { c.AutoOffsetReset, c.Group.AutoCommit = "earliest", true })
		spec.Groups[0].Members[1].Config.AutoOffsetReset, spec.Groups[0].Members[1].Off = test.policy, true
		c := start(t, spec)
		give(t, c, "wait 25m")
		expectCommitted(t, c, "c", "t-0", "a group that runs, 25 minutes after its commit", 1000, 0)
		give(t, c, "leave c-1", "wait 1m")
		for range 40 {
			give(t, c, "produce p0 k v")
		}
		give(t, c, "wait 1s")
		expectCommitted(t, c, "c", "t-0", "a minute after it is empty", 1000, 40)
		give(t, c, "wait 12m")
		removed := last[journal.OffsetsRemoved](t, c, "b1")
		if len(removed.Partitions) != 1 {
			t.Errorf("%s: removed %+v, want the offset of t-0", test.policy, removed)
		}
		give(t, c, "start c-2", "wait 20s")
		moved := last[journal.PositionReset](t, c, "c-2")
		if moved.To != test.position {
			t.Errorf("%s: c-2 begins at %d, want %d", test.policy, moved.To, test.position)
		}
		expectFate(t, c, "c", "t-0", test.policy+": duplicates", twice, test.again)
		expectFate(t, c, "c", "t-0", test.policy+": never processed", undone, test.never)
	}
}
