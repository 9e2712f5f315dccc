package rebalance

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"loglab/engine"
	"loglab/engine/group"
	"loglab/engine/kafka"
	"loglab/engine/replication"
	"loglab/labs"
	"loglab/labs/labtest"
)

// For how long partitions stood still is what views of every tick say: nobody who runs has a position in them.
func TestStandstillIsWhatViewsSay(t *testing.T) {
	const seed, runs = 3, 250
	r := rand.New(rand.NewPCG(seed, 0))
	var queries []string
	for _, run := range readyRuns() {
		queries = append(queries, run.Query)
	}
	for range runs {
		query := randomQuery(r)
		if r.IntN(4) == 0 {
			query = brokerFault(r, query)
		}
		queries = append(queries, query)
	}
	still := 0
	for _, query := range queries {
		l, _ := frame(t, query)
		want := recount(t, l.Address.Alone())
		for _, track := range l.history.tracks {
			still += want[track.TopicPartition]
			if got := track.standsStill(); got != want[track.TopicPartition] {
				t.Errorf("%s: %s stood still for %d ticks, by the views for %d", query, track.TopicPartition, got, want[track.TopicPartition])
			}
		}
	}
	if t.Logf("%d runs, %d ticks of standstill", len(queries), still); still < 5000 {
		t.Error("too little was compared")
	}
}

// place is a partition in the hands of a member.
type place struct {
	kafka.TopicPartition
	member kafka.MemberID
}

// readersIn gives who has each partition. A member that believes to have what another has by right is outlived, and
// stays so until it gives the partition up.
func readersIn(v engine.View, outlived map[place]bool) map[kafka.TopicPartition]reader {
	readers, has := map[kafka.TopicPartition]reader{}, map[place]bool{}
	for _, m := range v.Groups[0].Members {
		for _, at := range m.Assignment {
			one := reader{
				place: place{at.TopicPartition, m.ID}, reads: m.Alive && !m.Paused && m.App != "ended with an error" && at.Position >= 0 && serves(v, at.TopicPartition, kafka.NodeID(m.ID)),
				generation: m.Generation, epoch: m.Epoch, counted: counts(v.Groups[0], m.MemberView.MemberID),
			}
			has[one.place] = true
			other, taken := readers[at.TopicPartition]
			switch {
			case !m.Alive || outlived[one.place]:
			case !taken:
				readers[at.TopicPartition] = one
			case one.outranks(other):
				outlived[other.place] = true
				readers[at.TopicPartition] = one
			default:
				outlived[one.place] = true
			}
		}
	}
	for p := range outlived {
		if !has[p] {
			delete(outlived, p)
		}
	}
	return readers
}

// serves says whether a partition has a leader that runs and that a member can talk with.
func serves(v engine.View, tp kafka.TopicPartition, member kafka.NodeID) bool {
	if b := v.Brokers[0]; !b.Up() || b.Paused {
		return false
	}
	for _, link := range v.Faulty {
		if link.Cut && (link.From == member || link.To == member) {
			return false
		}
	}
	at := slices.IndexFunc(v.Partitions, func(p engine.PartitionView) bool { return p.TopicPartition == tp })
	return v.Partitions[at].Replicas[0].Online && v.Partitions[at].Replicas[0].Role == replication.Leader
}

// reader is a member that has a partition by its own belief.
type reader struct {
	place
	reads      bool
	generation kafka.GenerationID
	epoch      kafka.MemberEpoch
	counted    bool // the coordinator has it as a member
}

// outranks says which of two that have the same partition has it: the other has lost it, and does not know yet.
func (r reader) outranks(other reader) bool {
	if r.generation != other.generation {
		return r.generation > other.generation
	}
	if r.counted == other.counted {
		return r.epoch > other.epoch
	}
	return r.counted && !other.counted
}

func counts(g engine.GroupView, id kafka.MemberID) bool {
	return g.Held != nil && slices.ContainsFunc(g.Held.Members, func(m group.MemberView) bool { return m.ID == id })
}

// recount steps through a run and counts for each partition the ticks at whose end nobody reads it.
func recount(t *testing.T, a labs.Address) map[kafka.TopicPartition]int {
	t.Helper()
	still, outlived := map[kafka.TopicPartition]int{}, map[place]bool{}
	c, err := labs.Replay(a.WithTick(0))
	if err != nil {
		t.Fatal(err)
	}
	for tick := 0; ; tick++ {
		for _, stamped := range a.Do {
			if stamped.Tick == tick {
				c.Apply(stamped.Command) // one that cannot apply is an event
			}
		}
		v := c.View()
		if tick > 0 {
			readers := readersIn(v, outlived)
			for _, p := range v.Partitions {
				if !readers[p.TopicPartition].reads {
					still[p.TopicPartition]++
				}
			}
		}
		if tick == a.T {
			return still
		}
		if err := c.Tick(); err != nil {
			t.Fatal(err)
		}
	}
}

// randomQuery draws a run in which members come and go.
func randomQuery(r *rand.Rand) string {
	pick := func(options ...string) string { return options[r.IntN(len(options))] }
	var q []string
	set := func(name, value string) { q = append(q, name+"="+value) }
	topics := 1 + r.IntN(3)
	set("topics", fmt.Sprint(topics))
	set("partitions", fmt.Sprint(1+r.IntN(7)))
	set("rate", pick("0", "3", "6"))
	if topics > 1 {
		set("subscribe", pick("all", "o", "o,p", "op,o,p"))
	}
	members := r.IntN(6)
	set("members", fmt.Sprint(members))
	switch p := pick(randomProtocols...); p {
	case eager:
		set("assignor", pick(byDefault, "range", "roundrobin", "sticky"))
	default:
		set("protocol", p)
	}
	set("static", pick(off, off, on, clash))
	if r.IntN(3) == 0 {
		set("poll-interval", pick("4000", "8000"))
	}
	if r.IntN(3) == 0 {
		set("slow", fmt.Sprint(1+r.IntN(3)))
		set("slow-work", pick("1000", "5000"))
		set("poll-records", pick("1", "3"))
	}
	set("commit", pick(automatic, perBatch, perRecord))
	tick := 1
	for range r.IntN(7) {
		tick += r.IntN(12)
		n := memberName(r.IntN(6))
		if r.IntN(8) == 0 {
			n = memberName(memberCount - 1)
		}
		set("do", fmt.Sprintf("%d:%s+%s", tick, pick("start", "start", "leave", "crash", "pause", "resume", "rebalance"), n))
	}
	if r.IntN(4) == 0 {
		set("do", fmt.Sprintf("%d:add-partitions+orders+to+9", tick))
	}
	set("t", fmt.Sprint(tick+r.IntN(40)))
	return strings.Join(q, "&")
}

// randomProtocols are those that random runs have.
var randomProtocols = []string{eager, eager, cooperative, consumer, consumer}

// Every assignment is worked out again from what the members told, and so its rule can be given.
func TestDivisionsComeOutAgain(t *testing.T) {
	const seed, runs = 5, 120
	r := rand.New(rand.NewPCG(seed, 0))
	divided := 0
	for range runs {
		query := randomQuery(r)
		l, _ := frame(t, query)
		for _, c := range l.history.changes {
			for i := range c.rounds {
				round := &c.rounds[i]
				if round.computed == nil {
					continue
				}
				if divided++; !divides(l, round) {
					t.Errorf("%s: generation %d by %s does not come out again", query, round.computed.Generation, round.computed.Assignor)
				}
			}
		}
	}
	if t.Logf("%d assignments", divided); divided < 150 {
		t.Error("too few assignments")
	}
}

func divides(l *layout, r *round) bool {
	_, ok := l.divisionOf(r)
	return ok
}

// What the page says would follow from a join or a crash is what the fork shows, where its link leads.
func TestOutlookComesTrue(t *testing.T) {
	for _, query := range []string{"t=5", "protocol=cooperative&t=4", "assignor=sticky&partitions=8&t=9", "topics=3&partitions=3&members=2&t=3", "do=2:start+billing-04&t=22", "members=1&t=6"} {
		if n := comesTrue(t, query); n != 2 {
			t.Errorf("%s: %d links", query, n)
		}
	}
	const seed, runs = 23, 70
	r, told := rand.New(rand.NewPCG(seed, 0)), 0
	for range runs {
		told += comesTrue(t, randomQuery(r))
	}
	if t.Logf("%d foretold", told); told < 40 {
		t.Error("too few")
	}
}

// comesTrue compares what a page foretells with where its links lead, and gives how many there are.
func comesTrue(t *testing.T, query string) (n int) {
	t.Helper()
	_, p := frame(t, query)
	for _, paragraph := range p.Reading {
		if !strings.HasPrefix(paragraph[0].Text, "If ") {
			continue
		}
		n++
		if strings.Contains(paragraph[1].Text, "would not be through") || strings.Contains(paragraph[1].Text, "without a reader") || strings.Contains(paragraph[1].Text, "that nobody reads") || strings.Contains(paragraph[1].Text, "it would end with") {
			continue
		}
		href := paragraph[2].Href
		_, fork := frame(t, strings.TrimPrefix(href, "/lab/rebalance?"))
		if who := strings.Fields(paragraph[0].Text)[1]; !strings.Contains(labtest.Reading(fork), "It began because "+who) {
			t.Errorf("%s: %s leads to a rebalance for another reason:\n%s", query, href, labtest.Reading(fork))
		}
		ledger := fork.Picture.Ledger
		words := fmt.Sprintf("%s would move", kafka.Count(atoi(ledger[0].Number), "partition"))
		if still := atoi(ledger[1].Number); still > 0 {
			words += fmt.Sprintf(" and %d would stand still for %s", still, strings.SplitN(strings.SplitN(ledger[1].Text, ", ", 2)[1], " in all", 2)[0])
		}
		if text := labtest.Reading(p); !strings.Contains(text, words) {
			t.Errorf("%s: %s leads to %q, which is not foretold:\n%s", query, href, words, text)
		}
		if strings.Contains(fork.Picture.LedgerTitle, "since") {
			t.Errorf("%s: %s leads into the middle: %s", query, href, fork.Picture.LedgerTitle)
		}
	}
	return n
}

func atoi(s string) (n int) {
	fmt.Sscan(s, &n)
	return n
}
