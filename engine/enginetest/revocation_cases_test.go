package enginetest

import (
	"slices"
	"testing"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// moving makes a group of c-1, which owns t-0 and t-1 with 500 records each, and c-2, which is not there yet. c-1 hands
// the records to a thread, which needs 100 ms for each, and polls on. Its thread gets 300 of t-0, 300 of t-1, then the
// other 200 of each: they were written in two batches, and a fetch brings one of a partition.
func moving() *engine.Spec {
	spec := grouped(2, 2)
	for _, records := range []int{300, 200} {
		filled(spec, 0, records)
		filled(spec, 1, records)
		spec.Prologue = append(spec.Prologue, command.Wait{Span: 20})
	}
	first := &spec.Groups[0].Members[0].Config
	first.MaxPollRecords, first.MaxPartitionFetchSize = 1000, 3000
	first.Group.App.Workers, first.Group.App.Work = 1, 100
	spec.Groups[0].Members[1].Off = true
	return spec
}

// movedAway lets c-2 join once 300 records of each partition are processed, so that t-1 becomes its own.
func movedAway(t *testing.T, spec *engine.Spec) *engine.Cluster {
	t.Helper()
	c := start(t, spec)
	give(t, c, "wait 61s") // 600 records and the first of the last 400
	expectFate(t, c, "c", "t-1", "before c-2 joins: polled", arrived, span(0, 499))
	expectFate(t, c, "c", "t-1", "before c-2 joins: processed", done, span(0, 299))
	if got := commits(c, 0, "t-1"); len(got) > 0 {
		t.Errorf("before c-2 joins %v is committed, want nothing", got)
	}
	give(t, c, "start c-2", "wait 5s")
	expectOwns(t, c, "c", "c-2 has joined", "1=t-0 2=t-1")
	return c
}

// GRP-13: t-1 moves to c-2, which begins at 0 and repeats what c-1 has processed. The commit of c-1 comes late: it is
// accepted, for a coordinator does not ask who owns a partition, and helps nobody any more.
func TestGRP13(t *testing.T) {
	c := movedAway(t, moving())
	if got := began1(t, c); got != -1 {
		t.Errorf("c-2 begins t-1 at %d, want nothing committed", got)
	}
	expectFate(t, c, "c", "t-1", "duplicates", twice, span(0, 299))
	give(t, c, "commit c-1 t-1 @300", "wait 1s")
	if got := commits(c, 0, "t-1"); !slices.Equal(got, []int{300}) {
		t.Errorf("committed of t-1: %v, want the late 300", got)
	}
}

// began1 gives the offset at which c-2 began to read t-1, as it was committed.
func began1(t *testing.T, c *engine.Cluster) int {
	t.Helper()
	for _, b := range all[journal.PositionCommitted](c, "c-2") {
		if b.TopicPartition.Partition == 1 {
			return int(b.Offset)
		}
	}
	t.Fatal("c-2 has not asked where to begin with t-1")
	return 0
}

// GRP-13 with a commit in onPartitionsRevoked: c-2 goes on where c-1 was.
func TestGRP13WithCallback(t *testing.T) {
	spec := moving()
	spec.Groups[0].Members[0].Config.Group.App.CommitOnRevoke = true
	c := movedAway(t, spec)
	if got := commits(c, 0, "t-1"); !slices.Equal(got, []int{300}) {
		t.Errorf("committed of t-1: %v, want 300", got)
	}
	if got := began1(t, c); got != 300 {
		t.Errorf("c-2 begins t-1 at %d, want 300", got)
	}
	expectFate(t, c, "c", "t-1", "duplicates", twice, nil)
}

// outdated makes c-1, which owns t-0 and t-1, miss a rebalance: it is a static member, of a client that knows no
// max.poll.interval.ms, and holds records by hand. After the rebalance timeout of 10 s the group goes on in generation
// 2 without it, and t-1 is the other's. Java's client does not send such a commit: its own max.poll.interval.ms is over
// by then, and with it its membership.
func outdated(t *testing.T, records int) *engine.Cluster {
	t.Helper()
	spec := grouped(2, 2, "range")
	filled(spec, 1, records)
	spec.Groups[0].Members[1].Off = true
	everyMember(spec, func(c *engine.ConsumerConfig) { c.Group.MaxPollInterval = 10_000 })
	first := &spec.Groups[0].Members[0].Config.Group
	first.InstanceID, first.HeartbeatInLoop, first.App.ByHand = "i1", true, true
	c := start(t, spec)
	give(t, c, "wait 1s")
	return c
}

// GRP-13 and OFF-06, error codes: a commit of an old generation is refused by 22. One between JoinGroup and SyncGroup,
// 27, Java's client does not send: a unit test of the member and one of the coordinator have it.
func TestCommitOfAnOldGeneration(t *testing.T) {
	c := outdated(t, 8)
	give(t, c, "process c-1 6", "commit c-1 t-1 @5", "start c-2", "wait 15s")
	stable(t, c, "c", "after the rebalance timeout", 2)
	give(t, c, "commit c-2 t-1 @8", "wait 1s", "commit c-1 t-1 @6", "wait 10ms")
	if got, want := refusedCommits(c), []string{"c-1 ILLEGAL_GENERATION"}; !slices.Equal(got, want) {
		t.Errorf("refused commits %v, want %v", got, want)
	}
	if got := commits(c, 0, "t-1"); !slices.Equal(got, []int{5, 8}) {
		t.Errorf("committed of t-1: %v, want 5, 8", got)
	}
}

// refusedCommits lists whose commits a coordinator has refused, and how.
func refusedCommits(c *engine.Cluster) (list []string) {
	for _, r := range all[journal.GroupRequestRefused](c, "") {
		if r.API == "OffsetCommit" {
			list = append(list, string(r.From)+" "+r.Error)
		}
	}
	return list
}

// handedOver lets t-1 with eight records move from c-1, which has committed 5 and works on the record at 5, to c-2,
// which processes 5, 6 and 7 and commits 8. Both are in the generation.
func handedOver(t *testing.T) *engine.Cluster {
	t.Helper()
	spec := grouped(2, 2, "range")
	filled(spec, 1, 8)
	first, second := &spec.Groups[0].Members[0].Config.Group.App, &spec.Groups[0].Members[1]
	first.Workers, first.SlowEvery, first.SlowWork = 1, 5, 10_000 // of 0 and 5
	second.Off, second.Config.Group.App.Commit = true, engine.CommitBatch
	c := start(t, spec)
	give(t, c, "wait 11s", "commit c-1", "wait 1s", "start c-2", "wait 5s")
	expectOwns(t, c, "c", "c-2 has joined", "1=t-0 2=t-1")
	expectCommitted(t, c, "c", "t-1", "c-2 is through", 8, 0)
	if got := commits(c, 0, "t-1"); !slices.Equal(got, []int{5, 8}) {
		t.Errorf("committed of t-1: %v, want 5, 8", got)
	}
	return c
}

// OFF-06: a commit that goes back is accepted. The lag is 2 although all is processed, and stays, for no record comes.
func TestOFF06(t *testing.T) {
	c := handedOver(t)
	from := c.Journal().Len()
	give(t, c, "commit c-1 t-1 @6", "wait 1m")
	if got := append([]int{8}, commits(c, from, "t-1")...); !slices.Equal(got, []int{8, 6}) {
		t.Errorf("committed of t-1: %v, want 8, 6", got)
	}
	expectCommitted(t, c, "c", "t-1", "after the late commit", 6, 2)
	if o := offset(t, c, "c", "t-1"); o.LogEndOffset != 8 {
		t.Errorf("the log ends at %d, want 8", o.LogEndOffset)
	}
	from = c.Journal().Len()
	give(t, c, "crash c-1", "crash c-2", "start c-2", "wait 2m")
	var again []int
	for _, b := range since[journal.RecordProcessed](c, from, "c-2") {
		again = append(again, int(b.Offset))
	}
	if !slices.Equal(again, []int{6, 7}) {
		t.Errorf("repeated after the restart: %v, want 6, 7", again)
	}
}

// OFF-06, a batch of commits in the wrong order: the last one wins.
func TestOFF06Batch(t *testing.T) {
	c := handedOver(t)
	from := c.Journal().Len()
	give(t, c, "commit c-2 t-1 @1", "commit c-2 t-1 @3", "commit c-2 t-1 @4", "commit c-2 t-1 @2", "wait 1s")
	if got := commits(c, from, "t-1"); !slices.Equal(got, []int{1, 3, 4, 2}) {
		t.Errorf("committed of t-1: %v, want 1, 3, 4, 2", got)
	}
	expectCommitted(t, c, "c", "t-1", "after the batch", 2, 6)
}

// shared makes a group in which one application reads orders and another payments; a third consumer assigns itself
// orders-0.
func shared() *engine.Spec {
	spec := grouped(4, 3)
	spec.Topic.Name, spec.Producers = "orders", nil
	addTopic(spec, "payments", 4)
	for i, topic := range []string{"orders", "payments", "orders"} {
		spec.Groups[0].Members[i].Config.Topics = []string{topic}
	}
	spec.Groups[0].Members[2].Config.Group.Assign = []kafka.TopicPartition{{Topic: "orders"}}
	return spec
}

// GRP-14: membership is of the group, not of a topic: whoever restarts makes all join again. The applications A and B
// are c-1 and c-2.
func TestGRP14(t *testing.T) {
	c := start(t, shared())
	want := "1=orders-0,orders-1,orders-2,orders-3 2=payments-0,payments-1,payments-2,payments-3 3=orders-0"
	expectOwns(t, c, "c", "at the start", want)
	from := c.Journal().Len()
	give(t, c, "leave c-2", "wait 10s", "start c-2", "wait 10s")
	taken := since[journal.PartitionsTaken](c, from, "c-1")
	if len(taken) != 2 {
		t.Errorf("A is in %d new generations, want 2", len(taken))
	}
	for _, b := range taken {
		if len(b.Partitions) != 4 || b.Partitions[0].Topic != "orders" {
			t.Errorf("A owns %v, want its partitions as before", b.Partitions)
		}
	}
	expectOwns(t, c, "c", "after the restart of B", want)
}

// GRP-14: who assigns itself partitions commits without a member id; that is accepted while the group is empty only.
func TestGRP14Assign(t *testing.T) {
	c := start(t, shared())
	give(t, c, "commit c-3 orders-0 @1", "wait 1s")
	if got, want := refusedCommits(c), []string{"c-3 UNKNOWN_MEMBER_ID"}; !slices.Equal(got, want) {
		t.Errorf("refused commits %v, want %v", got, want)
	}
	if failed := last[journal.CommitFailed](t, c, "c-3"); failed.Error != "UNKNOWN_MEMBER_ID" {
		t.Errorf("the commit of c-3 fails with %s, want UNKNOWN_MEMBER_ID", failed.Error)
	}
	give(t, c, "leave c-1", "leave c-2", "wait 1s")
	if g := group(t, c, "c"); g.State != "Empty" {
		t.Errorf("the group is %s, want Empty", g.State)
	}
	give(t, c, "commit c-3 orders-0 @1", "wait 1s")
	if got := commits(c, 0, "orders-0"); !slices.Equal(got, []int{1}) {
		t.Errorf("committed of orders-0: %v, want 1", got)
	}
}
