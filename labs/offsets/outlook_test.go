package offsets

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"loglab/engine"
	"loglab/engine/kafka"
)

// What the page says a crash would repeat and lose is what the fork says of it in which the consumer does crash, where
// its link leads: with threads and slow records, and after other crashes.
func TestOutlookComesTrue(t *testing.T) {
	const seed, runs = 7, 80
	r := rand.New(rand.NewPCG(seed, 0))
	compared, visible, unseen, repeated, lost := 0, 0, 0, 0, 0
	for i := range runs {
		query := randomQuery(r)
		l, _ := frame(t, query)
		g := l.groups[0]
		for j := range g.Members {
			m := &g.Members[j]
			if !g.counts(m) || len(m.Assignment) == 0 {
				continue
			}
			fork := l.tryCrash(g, m)
			after, _ := frame(t, strings.TrimPrefix(fork.address.String(), "/lab/offsets?"))
			n := compareFork(t, fmt.Sprintf("seed %d run %d: %s", seed, i, fork.address), g, after.groups[0], kafka.NodeID(m.ID), l.Address.T)
			compared += n
			repeated += g.ifCrashed(m).again
			lost += g.ifCrashed(m).lost
			if fork.seen {
				visible++
				if n == 0 && !g.ifCrashed(m).unknown {
					t.Errorf("seed %d run %d: %s: nothing to see", seed, i, fork.address)
				}
			} else {
				unseen++
			}
		}
	}
	t.Logf("%d partitions compared; %d records to repeat and %d to lose; %d forks with an outcome, %d without", compared, repeated, lost, visible, unseen)
	if compared < 60 || repeated < 60 || lost < 10 {
		t.Errorf("too little was compared")
	}
}

// What is read from the journal is what the group has.
func TestHistoryHasWhatIs(t *testing.T) {
	const seed, runs = 8, 80
	r := rand.New(rand.NewPCG(seed, 0))
	compared := 0
	for range runs {
		query := randomQuery(r)
		l, _ := frame(t, query)
		g := l.groups[0]
		h := l.readHistory(g.GroupView)
		for i := range g.parts {
			p := &g.parts[i]
			if p.owner == nil || p.owner.App == "closing" {
				continue
			}
			was, is := h.standingOf(h.reader(p.Owner), p.Partition), p.standing
			if was.first != is.first || was.end != is.end || was.committed != is.committed || was.stored != is.stored || was.position != is.position || !slices.Equal(was.held, is.held) || !slices.Equal(was.strays, is.strays) {
				was.fates, is.fates = nil, nil
				t.Errorf("%s: %s: read %+v, is %+v", query, p.TopicPartition, was, is)
				continue
			}
			for o := range p.HighWatermark {
				a, b := was.fates(o), is.fates(o)
				if compared++; a.Processed != b.Processed || a.GivenUp != b.GivenUp || g.Sink.Kind == engine.SinkOffsets && (a.Applied > 0) != (b.Applied > 0) {
					t.Errorf("%s: %s @%d: read %+v, is %+v", query, p.TopicPartition, o, a, b)
				}
			}
		}
	}
	if t.Logf("%d records compared", compared); compared < 300 {
		t.Errorf("too little was compared")
	}
}

// compareFork compares each partition of a consumer that crashed in tick at; it gives how many were taken over.
func compareFork(t *testing.T, name string, was, is *groupState, node kafka.NodeID, at int) (taken int) {
	t.Helper()
	var c *crash
	for i := range is.history.crashes {
		if is.history.crashes[i].node == node && int(is.history.crashes[i].tick) == at {
			c = &is.history.crashes[i]
		}
	}
	if c == nil {
		t.Errorf("%s: no crash", name)
		return 0
	}
	for _, p := range c.parts {
		before := &was.parts[p.Partition]
		if p.begins < 0 || before.Owner != node || !before.foreseen {
			continue
		}
		taken++
		if (before.atLeast || before.outside) && p.begins != before.begins && is.parts[p.Partition].HighWatermark > before.HighWatermark {
			continue // more was written meanwhile
		}
		if p.begins != before.begins {
			t.Errorf("%s: %s goes on at %d, foreseen %d", name, p.TopicPartition, p.begins, before.begins)
			continue
		}
		if came := is.cameOf(&p); came.again != before.again || came.lost != before.lost {
			t.Errorf("%s: %s: %d again and %d lost, foreseen %d and %d", name, p.TopicPartition, came.again, came.lost, before.again, before.lost)
		}
	}
	return taken
}

// randomQuery draws a run in which others can take over.
func randomQuery(r *rand.Rand) string {
	pick := func(options ...string) string { return options[r.IntN(len(options))] }
	var q []string
	set := func(name, value string) { q = append(q, name+"="+value) }
	set("partitions", fmt.Sprint(1+r.IntN(6)))
	set("records", fmt.Sprint(r.IntN(9)))
	set("rate", fmt.Sprint(r.IntN(4)))
	set("brokers", pick("1", "1", "3"))
	set("consumers", fmt.Sprint(2+r.IntN(3)))
	set("assignor", pick("range", "roundrobin", "sticky", "cooperative-sticky"))
	set("poll-records", pick("1", "2", "3", "500"))
	set("reset", pick(earliest, earliest, latest))
	set("process", pick("1", "2", "3", "7"))
	set("commit", pick(manual, automatic, before, perRecord, perBatch, perBatchAsync))
	set("auto-interval", pick("1000", "3000", "5000"))
	if r.IntN(3) == 0 {
		set("threads", fmt.Sprint(1+r.IntN(4)))
		set("commits", pick(contiguous, highest))
		set("slow-every", fmt.Sprint(r.IntN(4)))
	}
	set("on-revoke", pick(on, off))
	set("sink", pick(sinkPlain, sinkPlain, sinkOnce, sinkUpsert, sinkOffsets))
	set("capacity", pick("0", "0", "3"))
	tick := r.IntN(12)
	at := r.IntN(tick + 1)
	if r.IntN(2) == 0 {
		set("do", fmt.Sprintf("%d:commit+billing-1", at))
	}
	switch r.IntN(8) { // before it: other crashes, a rebalance, a commit or a seek anywhere
	case 0, 1:
		q = append(q, fmt.Sprintf("do=%d:crash+billing-1&do=%d:start+billing-1", at, at+3))
		tick += 3 + r.IntN(20)
	case 2:
		q = append(q, fmt.Sprintf("do=%d:rebalance+billing-2", at))
	case 3:
		q = append(q, fmt.Sprintf("do=%d:commit+billing-1+orders-0+@%d", at, r.IntN(30)))
	case 4:
		q = append(q, fmt.Sprintf("do=%d:seek+billing-1+orders-0+@%d", at, r.IntN(12)))
	}
	if r.IntN(8) == 0 {
		set("handler", pick(handlerSkip, handlerTry, handlerDead))
	}
	set("t", fmt.Sprint(tick))
	return strings.Join(q, "&")
}
