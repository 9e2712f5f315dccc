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

// policies makes a group c that has committed 100 of 100 records and a group d that is not there yet, under a policy.
func policies(t *testing.T, policy string) *engine.Cluster {
	t.Helper()
	spec := grouped(1, 1)
	addGroup(spec, "d", 1)
	filled(spec, 0, 100)
	spec.Groups[0].Members[0].Config.Group.App.Commit = engine.CommitBatch
	spec.Groups[1].Members[0].Config.AutoOffsetReset, spec.Groups[1].Members[0].Off = policy, true
	c := start(t, spec)
	give(t, c, "wait 1s", "leave c-1", "wait 1s")
	expectCommitted(t, c, "c", "t-0", "before", 100, 0)
	return c
}

// OFF-10: earliest is for who has committed nothing. The case's groups g and g2 are c and d.
func TestOFF10(t *testing.T) {
	c := policies(t, "earliest")
	from := c.Journal().Len()
	give(t, c, "start c-1", "start d-1", "wait 10s")
	if o := offset(t, c, "c", "t-0"); o.Position != 100 || len(since[journal.RecordsRead](c, from, "c-1")) > 0 {
		t.Errorf("g: position %d, records read %v; want 100 and none", o.Position, since[journal.RecordsRead](c, from, "c-1"))
	}
	if first := all[journal.PositionReset](c, "d-1"); len(first) != 1 || first[0].To != 0 {
		t.Errorf("g2 begins at %+v, want 0", first)
	}
	expectFate(t, c, "d", "t-0", "g2: processed", done, span(0, 99))

	c = policies(t, "latest")
	give(t, c, "start d-1", "wait 10s")
	if o := offset(t, c, "d", "t-0"); o.Position != 100 {
		t.Errorf("g2 with latest: position %d, want 100", o.Position)
	}
	expectFate(t, c, "d", "t-0", "g2 with latest: processed", done, nil)

	c = policies(t, "none")
	give(t, c, "start d-1", "wait 10s")
	if failed := last[journal.ConsumerFailed](t, c, "d-1"); failed.API != "poll" || failed.Error != "NoOffsetForPartitionException" {
		t.Errorf("g2 with none: %+v, want poll to throw NoOffsetForPartitionException", failed)
	}
}

// negativeLags are the rows of OFF-14: committed, log end, lag.
var negativeLags = [...][3]int64{
	{2020, 1611, -409}, {2128, 1667, -461}, {2239, 1653, -586}, {3787, 1678, -2109}, {1917, 1622, -295}, {2370, 1684, -686}, {2388, 1821, -567},
}

// OFF-14: offsets are committed beyond the end of the log, by hand here; the next fetch is out of range, and
// auto.offset.reset says where to go on.
func TestOFF14(t *testing.T) {
	spec := grouped(7, 1)
	for p, row := range negativeLags {
		filled(spec, p, int(row[1]))
	}
	c := start(t, spec)
	for p, row := range negativeLags {
		give(t, c, fmt.Sprintf("commit c-1 t-%d @%d", p, row[0]))
	}
	give(t, c, "wait 1s", "crash c-1")
	for p, row := range negativeLags {
		o := heldOffset(t, c, p)
		end := c.View().Partitions[p].Log.LogEndOffset
		if got := [3]int64{int64(o), int64(end), int64(end - o)}; got != row {
			t.Errorf("t-%d: committed, log end, lag: %v, want %v", p, got, row)
		}
	}
	from := c.Journal().Len()
	give(t, c, "start c-1", "wait 50s")
	for p, row := range negativeLags {
		partition := fmt.Sprintf("t-%d", p)
		expectCommitted(t, c, "c", partition, "c-1 is back", kafka.Offset(row[0]), row[2])
		failed := slices.DeleteFunc(since[journal.FetchFailed](c, from, "c-1"), func(b journal.FetchFailed) bool { return b.TopicPartition.String() != partition })
		if len(failed) != 1 || failed[0].Error != "OFFSET_OUT_OF_RANGE" || int64(failed[0].Position) != row[0] {
			t.Errorf("%s: %+v, want OFFSET_OUT_OF_RANGE at %d", partition, failed, row[0])
		}
	}
}

// heldOffset gives what the coordinator has as committed.
func heldOffset(t *testing.T, c *engine.Cluster, partition int) kafka.Offset {
	t.Helper()
	for _, o := range group(t, c, "c").Held.Offsets {
		if int(o.TopicPartition.Partition) == partition {
			return o.Offset
		}
	}
	t.Fatalf("nothing is committed for t-%d", partition)
	return 0
}

// OFF-14, how it comes about: the disk of the only replica is lost. The offsets are in another broker's log. Java's
// client commits the leader epoch with the offset, so it finds out by OffsetForLeaderEpoch before it fetches (KIP-320).
func TestOFF14LogLost(t *testing.T) {
	spec := grouped(1, 1)
	spec.Cluster = engine.DefaultCluster(2)
	spec.Cluster.Groups.OffsetsReplicationFactor = 1
	spec.Topic.Replicas = [][]kafka.BrokerID{{1}}
	if start(t, spec).View().Offsets[0].Leader == 1 {
		spec.Topic.Replicas[0][0] = 2
	}
	filled(spec, 0, 2020)
	spec.Groups[0].Members[0].Config.Group.App.Commit = engine.CommitBatch
	c := start(t, spec)
	give(t, c, "wait 5s", "leave c-1", "wait 1s")
	expectCommitted(t, c, "c", "t-0", "before", 2020, 0)
	b := fmt.Sprintf("b%d", spec.Topic.Replicas[0][0])
	give(t, c, "wipe "+b, "wait 10s", "start "+b, "wait 10s")
	for range 1611 {
		give(t, c, "produce-to p0 0")
	}
	give(t, c, "wait 5s")
	expectCommitted(t, c, "c", "t-0", "the log is another", 2020, -409)
	give(t, c, "start c-1", "wait 10s")
	if gone := last[journal.LogTruncationDetected](t, c, "c-1"); gone.Position != 2020 || gone.Epoch != 0 || gone.EndOffset != 0 {
		t.Errorf("%+v, want that of epoch 0, in which the record before 2020 was, nothing is left", gone)
	}
	expectCommitted(t, c, "c", "t-0", "with earliest all is read", 1611, 0)
}

// BAS-02: reading removes nothing, and each group has its own committed offset. The case's g0 and g1 are c and d.
func TestBAS02(t *testing.T) {
	spec := grouped(1, 1)
	addGroup(spec, "d", 1)
	filled(spec, 0, 17)
	spec.Prologue = append(spec.Prologue, command.Produce{Producer: "p0", Named: true, Keyless: true, Value: "m0"})
	spec.Groups[0].Members[0].Config.Group.App.Commit = engine.CommitBatch
	spec.Groups[1].Members[0].Config.Group.App.Commit = engine.CommitBatch
	spec.Groups[1].Members[0].Off = true
	c := start(t, spec)
	give(t, c, "wait 1s")
	if list := contents(t, c, 0); len(list) != 18 || list[17] != "17:m0" {
		t.Errorf("the log is %v, want m0 at 17", list)
	}
	expectCommitted(t, c, "c", "t-0", "g0 has read", 18, 0)
	if g := group(t, c, "d"); len(g.Offsets) > 0 {
		t.Errorf("g1 has %+v before it reads, want nothing", g.Offsets)
	}
	give(t, c, "wait 4h", "start d-1", "wait 10s")
	expectFate(t, c, "d", "t-0", "g1 reads", arrived, span(0, 17))
	expectCommitted(t, c, "d", "t-0", "g1 has read", 18, 0)
	expectCommitted(t, c, "c", "t-0", "g0 afterwards", 18, 0)
	if log := c.View().Partitions[0].Log; log.LogStartOffset != 0 || log.LogEndOffset != 18 {
		t.Errorf("the log is from %d to %d, want 0 to 18", log.LogStartOffset, log.LogEndOffset)
	}
}

// A shift needs something to shift from: the tool ends with an error, and nothing is set.
func TestShiftWithoutACommit(t *testing.T) {
	spec := grouped(1, 1, "range")
	filled(spec, 0, 5)
	c := start(t, spec)
	give(t, c, "leave c-1")
	tick(t, c, 2)
	give(t, c, "reset c to shift -3")
	tick(t, c, 2)
	if kinds := kindsSince(c, 0, "ResetFailed", "OffsetsReset"); kinds != "ResetFailed" {
		t.Errorf("told %q", kinds)
	}
}

// A replay that cannot reset starts the members again, and is not begun while a member stands still.
func TestReplayThatFails(t *testing.T) {
	c := start(t, grouped(1, 2, "range"))
	give(t, c, "pause c-1", "replay c from earliest")
	last, _ := c.Journal().At(uint64(c.Journal().Len()))
	if rejected, ok := last.Body.(journal.CommandRejected); !ok || !strings.Contains(rejected.Why, "c-1 is paused and cannot leave") {
		t.Errorf("%s", last.Line())
	}
	give(t, c, "resume c-1", "replay c from shift 2")
	tick(t, c, 10)
	if kinds := kindsSince(c, 0, "ResetFailed", "OffsetsReset"); kinds != "ResetFailed" {
		t.Errorf("told %q", kinds)
	}
	for _, node := range []string{"c-1", "c-2"} {
		if m := memberOf(t, c, node); !m.Alive {
			t.Errorf("%s does not run", node)
		}
	}
}

// kindsSince lists the events of some kinds after one, in order.
func kindsSince(c *engine.Cluster, seq uint64, kinds ...string) string {
	var list []string
	for e := range c.Journal().All() {
		if e.Seq > seq && slices.Contains(kinds, e.Body.Kind()) {
			list = append(list, e.Body.Kind())
		}
	}
	return strings.Join(list, " ")
}
