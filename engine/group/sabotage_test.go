package group

import (
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/sabotage"
)

// Each rule that a test can break is broken by its switch.
func TestSabotage(t *testing.T) {
	broken := func(rule sabotage.Rule) (*run, *consumer, *consumer) {
		r := newRun(t, func(c *Config) { c.Sabotage = rule })
		c1, c2 := newConsumer("c1"), newConsumer("c2")
		r.form(c1, c2)
		return r, c1, c2
	}
	r, c1, _ := broken(sabotage.OldCommitsAccepted)
	c1.generation = 0
	r.wantCode(r.commits(c1, 0, 3), "ok")

	r, _, _ = broken(sabotage.SessionsNeverEnd)
	r.pass(1_000_000)
	r.want(Stable, 1)

	r, _, _ = broken(sabotage.LeaderServesAll)
	if v := r.view("g"); !slices.Equal(v.Members[0].Assignment, v.Members[1].Assignment) || len(v.Members[0].Assignment) != 1 {
		t.Errorf("%+v", v.Members)
	}

	r, c1, _ = broken(sabotage.OffsetsShownEarly)
	r.delay = 100
	r.commits(c1, 0, 3)
	if got := r.fetched("g", 0); got != 3 || len(r.view("g").Offsets) != 1 {
		t.Errorf("offset %d is shown", got)
	}
}

// crowd is a coordinator with a stable group of many members.
func crowd(tb testing.TB, members int) *Coordinator {
	config := DefaultConfig()
	c := New(&config, prng.New(1).Split("group"))
	record := GroupMetadataRecord{Group: "g", ProtocolType: "consumer", Generation: 1, Protocol: "range"}
	for i := range members {
		name := string(rune('a'+i/26)) + string(rune('a'+i%26))
		record.Members = append(record.Members, MemberRecord{ID: kafka.MemberID(name), ClientID: name, ClientHost: "/" + name, SessionTimeout: 45_000, RebalanceTimeout: 300_000, Subscription: subscription("orders")})
	}
	record.Leader = record.Members[0].ID
	var j journal.Journal
	c.Load(0, inLog(record.Encode()), 0, &j)
	return c
}

// To ask for the next timer, and a tick in which nothing is due, cost no memory.
func TestIdleTicksAllocateNothing(t *testing.T) {
	c := crowd(t, 64)
	var j journal.Journal
	if n := testing.AllocsPerRun(100, func() {
		if due, ok := c.NextDue(); !ok || due != 45_000 {
			t.Fatalf("due at %d, %t", due, ok)
		}
		c.Tick(1000, &j)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkClone(b *testing.B) {
	c := crowd(b, 64)
	b.ReportAllocs()
	for b.Loop() {
		c.Clone()
	}
}

func BenchmarkIdleTick(b *testing.B) {
	c := crowd(b, 64)
	var j journal.Journal
	for b.Loop() {
		c.NextDue()
		c.Tick(1000, &j)
	}
}

func BenchmarkHeartbeat(b *testing.B) {
	r := newRun(b, nil)
	c1 := newConsumer("c1")
	r.form(c1)
	q := kmsg.NewPtrHeartbeatRequest()
	q.Version, q.Group, q.MemberID, q.Generation = 4, "g", c1.member, 1
	m := *r.sent[0]
	m.Request = q
	b.ReportAllocs()
	for b.Loop() {
		r.c.Receive(r.now, &m, 0, &r.j)
	}
}
