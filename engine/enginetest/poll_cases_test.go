package enginetest

import (
	"slices"
	"testing"

	"loglab/engine"
	"loglab/engine/journal"
)

// slowLoop makes a group of two members that commit after each batch of at most so many records, of which each takes
// a second. There are 500, and the group has committed 0.
func slowLoop(t *testing.T, maxPollRecords int) *engine.Cluster {
	t.Helper()
	spec := grouped(1, 2)
	filled(spec, 0, 500)
	everyMember(spec, func(c *engine.ConsumerConfig) {
		c.MaxPollRecords, c.Group.App.Work, c.Group.App.Commit = maxPollRecords, 1000, engine.CommitBatch
	})
	c := start(t, spec)
	give(t, c, "commit c-1 t-0 @0", "wait 10ms") // the first fetch comes back after a round trip of 10 ms
	return c
}

// GRP-12, Java's client: a heartbeat thread keeps the session, and after max.poll.interval.ms = 300,000 ms the client
// leaves by itself.
func TestGRP12(t *testing.T) {
	c := slowLoop(t, 500)
	give(t, c, "wait 300s")
	if n := len(all[journal.PollIntervalExceeded](c, "c-1")); n != 0 || owns(t, c, "c") != "1=t-0 2=" {
		t.Errorf("before 300 s: max.poll.interval.ms was exceeded %d times, and the members own %s", n, owns(t, c, "c"))
	}
	give(t, c, "wait 1ms")
	if n := len(all[journal.PollIntervalExceeded](c, "c-1")); n != 1 {
		t.Errorf("at 300 s max.poll.interval.ms was exceeded %d times, want once", n)
	}
	give(t, c, "wait 199998ms")
	if n := len(all[journal.CommitSent](c, "c-1")); n != 1 {
		t.Errorf("c-1 has committed %d times before 500 s, want the one by hand", n)
	}
	give(t, c, "wait 2ms") // 500 s after its poll c-1 is through and commits
	failed := last[journal.CommitFailed](t, c, "c-1")
	if failed.Error != "CommitFailedException: the consumer is not part of an active group" {
		t.Errorf("the commit of c-1 fails with %q, want CommitFailedException", failed.Error)
	}
	if got := began(t, c, "c-2"); got != 0 {
		t.Errorf("c-2 begins at %d, want the committed offset 0", got)
	}
	// c-1 joins again, and c-2 has left at 600 s. It is through at 800 s, while c-1 has begun a third round.
	give(t, c, "wait 305s")
	if failed := last[journal.CommitFailed](t, c, "c-2"); failed.Error != "CommitFailedException: the consumer is not part of an active group" {
		t.Errorf("the commit of c-2 fails with %q, want CommitFailedException", failed.Error)
	}
	expectCommitted(t, c, "c", "t-0", "after two rounds", 0, 500)
	var rounds []int
	for _, e := range events(c) {
		if b, ok := e.Body.(journal.RecordProcessed); ok && (e.Node == "c-2" || b.Times == 1) { // c-1's third round is not the first of any record
			rounds = append(rounds, int(b.Offset))
		}
	}
	slices.Sort(rounds)
	if distinct := len(slices.Compact(slices.Clone(rounds))); len(rounds) != 1000 || distinct != 500 || len(rounds)-distinct != 500 {
		t.Errorf("two rounds: %d processed, %d distinct, want 1000 and 500: 500 duplicates", len(rounds), distinct)
	}
}

// GRP-12, the fix: at most 299 records a poll at a second each. With 300 the poll comes too late.
func TestGRP12Fix(t *testing.T) {
	c := slowLoop(t, 299)
	give(t, c, "wait 510s")
	expectCommitted(t, c, "c", "t-0", "at most 299 records", 500, 0)
	expectFate(t, c, "c", "t-0", "at most 299 records: duplicates", twice, nil)
	if n := len(all[journal.PollIntervalExceeded](c, "")); n > 0 {
		t.Errorf("at most 299 records: max.poll.interval.ms was exceeded %d times", n)
	}
	c = slowLoop(t, 300)
	give(t, c, "wait 310s")
	if n := len(all[journal.PollIntervalExceeded](c, "c-1")); n != 1 {
		t.Errorf("at most 300 records: max.poll.interval.ms was exceeded %d times, want once", n)
	}
}

// GRP-12, Karafka's client: heartbeats between records only, a session of 9,000 ms and 10,000 ms for a record. Each
// member is thrown out in turn, and the record is never committed.
func TestGRP12Karafka(t *testing.T) {
	spec := grouped(1, 2)
	filled(spec, 0, 1)
	everyMember(spec, func(c *engine.ConsumerConfig) {
		c.Group.SessionTimeout, c.Group.HeartbeatInLoop = 9000, true
		c.Group.App.Work, c.Group.App.Commit = 10_000, engine.CommitBatch
	})
	c := start(t, spec)
	give(t, c, "wait 20ms")
	busy := memberOf(t, c, "c-1").Busy
	held := group(t, c, "c").Held.Members[0]
	if len(busy) != 1 || held.Host != "c-1" {
		t.Fatalf("c-1 works on %+v; the first member is %+v", busy, held)
	}
	kicked, done := held.SessionEnds, busy[0].DoneAt
	begun := done - 10_000
	if heard := kicked - 9000; heard > begun || heard < begun-3000 {
		t.Errorf("the session ends at %d; the record is begun at %d, want the last heartbeat within 3,000 ms before", kicked, begun)
	}
	give(t, c, "wait "+millis(kicked-now(c)))
	if n := len(group(t, c, "c").Held.Members); n != 2 {
		t.Errorf("before 9,000 ms the group has %d members, want 2", n)
	}
	give(t, c, "wait 1ms")
	if removed := last[journal.MemberRemoved](t, c, "b1"); removed.Member != held.ID || done <= kicked {
		t.Errorf("removed %+v at %d, want c-1 before it is through at %d", removed, kicked, done)
	}
	give(t, c, "wait "+millis(done-now(c)+100))
	if refused := last[journal.CommitFailed](t, c, "c-1"); refused.Error != "UNKNOWN_MEMBER_ID" {
		t.Errorf("the commit of c-1 fails with %q, want UNKNOWN_MEMBER_ID", refused.Error)
	}
	give(t, c, "wait 5m")
	if got := all[journal.OffsetCommitted](c, ""); len(got) > 0 {
		t.Errorf("after five minutes: committed %+v, want nothing", got)
	}
	if rounds := len(all[journal.RecordProcessed](c, "")); rounds < 10 {
		t.Errorf("the record was processed %d times in five minutes, want again and again", rounds)
	}
}
