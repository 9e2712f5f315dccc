package enginetest

import (
	"strings"
	"testing"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// joining makes a spec like that of [consuming], whose members from the second on do not run yet.
func joining(partitions, members int, change func(*engine.ConsumerConfig)) *engine.Spec {
	spec := consuming(partitions, members)
	if change != nil {
		everyMember(spec, change)
	}
	off(spec)
	spec.Groups[0].Members[0].Off = false
	return spec
}

// says lists what the members told in events of some kinds, in order, without their ids.
func says(c *engine.Cluster, from uint64, kinds ...string) string {
	var list []string
	for e := range c.Journal().All() {
		for _, kind := range kinds {
			if e.Seq > from && e.Body.Kind() == kind {
				list = append(list, string(e.Node)+" "+kind+" "+strings.TrimPrefix(e.Body.Text(), "c "))
			}
		}
	}
	return strings.Join(list, "\n")
}

// One member owns all; a second joins; the first gives one partition up by its own heartbeat and reads on in the others;
// the second gets it once the first has said so. Nobody joins again.
func TestConsumerProtocolTrace(t *testing.T) {
	c := start(t, joining(3, 2, nil))
	give(t, c, "wait 20s")
	from := uint64(c.Journal().Len())
	give(t, c, "start c-2", "wait 30s")
	want := `c-2 TargetLearned epoch=2 [] revoked=[] added=[]
c-2 PartitionsTaken epoch=2 [] added=[]
c-2 AssignmentAcknowledged epoch=2 []
c-1 TargetLearned epoch=1 [t-0 t-1] revoked=[t-2] added=[]
c-1 PartitionsRevoked [t-2] epoch=1
c-1 PartitionsTaken epoch=1 [t-0 t-1] added=[]
c-1 AssignmentAcknowledged epoch=1 [t-0 t-1]
c-2 TargetLearned epoch=2 [t-2] revoked=[] added=[t-2]
c-2 PartitionsTaken epoch=2 [t-2] added=[t-2]
c-2 AssignmentAcknowledged epoch=2 [t-2]`
	if got := says(c, from, "TargetLearned", "PartitionsTaken", "PartitionsRevoked", "PartitionsLost", "AssignmentAcknowledged"); got != want {
		t.Errorf("told\n%s\nwant\n%s", got, want)
	}
	if n := len(all[journal.JoinHeartbeatSent](c, "")); n != 2 {
		t.Errorf("%d joins, want 2", n)
	}
	for _, node := range []string{"c-1", "c-2"} {
		if m := memberOf(t, c, node); m.State != "stable" || m.Epoch != 2 {
			t.Errorf("%s is %s in epoch %d", node, m.State, m.Epoch)
		}
	}
}

// A member whose application is at work in a long batch gives up nothing before it polls, if it has a listener; the one
// that waits gets it then. One that needs longer than max.poll.interval.ms leaves.
func TestBusyMemberDelaysTheNext(t *testing.T) {
	for work, want := range map[kafka.Millis]string{20_000: "1=t-0 2=t-1", 100_000: "1=t-0,t-1 2="} {
		spec := joining(2, 2, func(c *engine.ConsumerConfig) {
			c.Group.App.CommitOnRevoke, c.Group.App.SlowEvery, c.Group.App.SlowWork, c.Group.MaxPollInterval = true, 1, work, 50_000
		})
		filled(spec, 0, 1)
		c := start(t, spec)
		give(t, c, "start c-2", "wait 15s")
		if got := owns(t, c, "c"); got != "1=t-0,t-1 2=" {
			t.Errorf("work %d: after 15 s %s", work, got)
		}
		give(t, c, "wait 15s")
		if got := owns(t, c, "c"); got != want {
			t.Errorf("work %d: after 30 s %s, want %s", work, got, want)
		}
		give(t, c, "wait 40s")
		exceeded := len(all[journal.PollIntervalExceeded](c, "c-1"))
		if got := assignmentOf(memberOf(t, c, "c-2")); work > 50_000 && (exceeded != 1 || got != "t-0,t-1") || work < 50_000 && exceeded != 0 {
			t.Errorf("work %d: max.poll.interval.ms was exceeded %d times, c-2 owns %s", work, exceeded, got)
		}
	}
}

// A member that stands still for longer than its session is none any more: what it owned went on without it, and once it
// runs again it is told so and joins anew.
func TestFrozenMemberIsFenced(t *testing.T) {
	c := start(t, joining(2, 2, nil))
	give(t, c, "start c-2", "wait 30s", "pause c-1", "wait 40s")
	if got := assignmentOf(memberOf(t, c, "c-2")); got != "t-1" {
		t.Errorf("before the session ends c-2 owns %s", got)
	}
	give(t, c, "wait 15s")
	if got := assignmentOf(memberOf(t, c, "c-2")); got != "t-0,t-1" {
		t.Errorf("after the session c-2 owns %s", got)
	}
	id := memberOf(t, c, "c-1").MemberID
	give(t, c, "resume c-1", "wait 30s")
	if b := last[journal.MembershipLost](t, c, "c-1"); b.Error != "UNKNOWN_MEMBER_ID" || b.Epoch != 2 {
		t.Errorf("%+v", b)
	}
	if got := says(c, 0, "PartitionsLost"); got != "c-1 PartitionsLost [t-0]" {
		t.Errorf("told %s", got)
	}
	m := memberOf(t, c, "c-1")
	if m.State != "stable" || m.Epoch != 4 || m.MemberID != id || len(m.Assignment) != 1 {
		t.Errorf("c-1 is %s in epoch %d as %s, owns %s", m.State, m.Epoch, m.MemberID, assignmentOf(m))
	}
}

// A clone of a run with members of the consumer protocol goes on as the run does.
func TestClonesOfTheConsumerProtocolGoOnAlike(t *testing.T) {
	spec := joining(3, 3, func(c *engine.ConsumerConfig) {
		c.MaxPollRecords, c.Group.AutoCommit, c.Group.AutoCommitInterval = 4, true, 2000
		c.Group.App = engine.AppConfig{Work: 900}
	})
	filled(spec, 0, 20)
	c := start(t, spec)
	commands := map[int]string{1: "start c-2", 8: "start c-3", 15: "pause c-1", 20: "crash c-2", 30: "start c-2", 70: "resume c-1", 80: "leave c-3"}
	goOnAlike(t, c, 100, commands)
}
