package delivery

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/labtest"
	"loglab/labs/view"
)

// randomSettings draws settings with which a run can begin.
func randomSettings(r *rand.Rand) string {
	pick := func(options ...string) string { return options[r.IntN(len(options))] }
	var q []string
	set := func(name, value string) { q = append(q, name+"="+value) }
	transactions := pick(off, txnProducers, txnApp, txnApp, txnBoth)
	producersOpen := transactions == txnProducers || transactions == txnBoth
	set("transactions", transactions)
	set("brokers", pick("1", "1", "2", "3"))
	set("records", fmt.Sprint(r.IntN(7)))
	set("version", pick("1", "2", "2"))
	set("producers", fmt.Sprint(1+r.IntN(3)))
	set("ids", pick(ownIDs, ownIDs, sharedIDs))
	set("plain", pick(off, on))
	if !producersOpen {
		set("acks", pick(acksAll, acksAll, "1", "0"))
		set("idempotence", pick(unset, unset, no))
		set("retries", pick("2147483647", "2147483647", "0"))
		set("outbox", pick(off, off, on))
	}
	set("request-timeout", pick("500", "1000"))
	set("txn-timeout", pick("60000", "2000"))
	set("rate", fmt.Sprint(r.IntN(3)))
	set("every", fmt.Sprint(1+r.IntN(8)))
	set("txn-records", fmt.Sprint(1+r.IntN(5)))
	set("abort-every", fmt.Sprint(r.IntN(4)))
	set("output", pick(on, on, off))
	set("outside", pick(nothing, nothing, toPlain, toOnce, toOffsets, toInbox, toEmail))
	if transactions == off || transactions == txnProducers {
		set("app-idempotence", pick(unset, unset, no))
	}
	set("commit", pick(commitAfter, commitAfter, commitFirst))
	set("isolation", pick(readCommitted, readCommitted, readUncommitted))
	set("poll-records", fmt.Sprint(1+r.IntN(5)))
	set("work", fmt.Sprint(r.IntN(3)))
	set("instances", fmt.Sprint(1+r.IntN(2)))
	set("static", pick(on, on, off))
	set("reader-commit", pick(byNobody, byLast, byPosition))
	return strings.Join(q, "&")
}

// randomCommands draws faults and commands by hand up to a tick, sorted or not.
func randomCommands(r *rand.Rand, until int) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	var b strings.Builder
	for range 2 + r.IntN(12) {
		p := pick("p0", "p0", "p1", "p3")
		who := pick("billing-1", "billing-1", "billing-2")
		node := pick("p0", "billing-1", "uncommitted-1", "committed-1")
		text := pick("crash "+who, "crash "+who+" after poll", "crash "+who+" after processing", "crash "+who+" after produce", "crash "+who+" after offsets", "crash "+who+" during commit",
			"crash "+who+" after commit", "start "+who, "start "+who, "start "+who, "pause "+who, "resume "+who, "leave "+who, "produce "+p+" a", "produce "+p+" b paid", "begin-transaction "+p, "commit-transaction "+p,
			"abort-transaction "+p, "kill "+p, "start "+p, "start "+p, "pause "+p, "resume "+p, "kill b1", "start b1", "start b1", "pause b1", "resume b1", "drop-next b1 "+node, "drop-next "+node+" b1", "double-next "+node+" b1", "wait 1s", "wait 10s")
		fmt.Fprintf(&b, "&do=%d:%s", r.IntN(until), strings.ReplaceAll(text, " ", "+"))
	}
	return b.String()
}

// Runs with settings and commands at random are drawn at many ticks: nothing is missing or out of bounds, all that looks
// as if it could be opened can be, and what the page says is what the journal has.
func TestRandomRunsAreDrawn(t *testing.T) {
	const runs = 60
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 5))
		query := randomSettings(r) + randomCommands(r, 40)
		if _, err := labs.Parse(Lab(), labs.Pages, query); err != nil {
			t.Fatalf("seed %d: %s: %v", seed, query, err)
		}
		for _, tick := range []int{r.IntN(10), 10 + r.IntN(30), 40 + r.IntN(80)} {
			l, p := frame(t, fmt.Sprintf("%s&t=%d", query, tick))
			labtest.CheckStrips(t, l.Address, p)
			checkRows(t, l, p)
			if len(p.Reading) == 0 || strings.Contains(labtest.Reading(p), "%!") {
				t.Errorf("%s: the reading is %q", l.Address, labtest.Reading(p))
			}
			checkReaders(t, l)
			for _, w := range l.waits() {
				if l.past.appended[w.Offset].seq < w.handed.seq {
					t.Errorf("%s: %s @%d is written before it was handed in", l.Address, nameOf(w.Record), w.Offset)
				}
			}
			openAll(t, l, p)
		}
	}
}

// checkRows checks that the brackets of open transactions stand in rows that are drawn.
func checkRows(t *testing.T, l *layout, p *view.Page) {
	t.Helper()
	for _, s := range p.Picture.Strips {
		for _, g := range s.Gaps {
			if g.Row < 1 || g.Row > openRows {
				t.Errorf("%s: %s has a bracket from %d to %d in row %d", l.Address, s.ID, g.From, g.To, g.Row)
			}
		}
	}
}

// checkReaders compares what the page has the readers see with what the journal says they were given.
func checkReaders(t *testing.T, l *layout) {
	t.Helper()
	for _, r := range l.readers {
		given, seen := 0, 0
		for e := range l.Cluster.Journal().All() {
			if b, ok := e.Body.(journal.RecordsRead); ok && e.Node == kafka.NodeID(r.member.ID) {
				given += b.Records
			}
		}
		c := l.read()
		for i := range c.entries {
			e := &c.entries[i]
			if n := r.saw(e.Offset); e.marker != "" && n > 0 {
				t.Errorf("%s: %s was given the marker at %d", l.Address, r.level, e.Offset)
			} else {
				seen += n
			}
			if r.level == readCommitted && e.aborted() && r.saw(e.Offset) > 0 {
				t.Errorf("%s: read_committed was given the aborted record at %d", l.Address, e.Offset)
			}
			if r.level == readCommitted && !c.unread && r.saw(e.Offset) > 0 && e.Offset >= c.Log.HighWatermark {
				t.Errorf("%s: read_committed was given the record at %d, the high watermark is %d", l.Address, e.Offset, c.Log.HighWatermark)
			}
		}
		if given != seen {
			t.Errorf("%s: %s was given %d records, the page has %d", l.Address, r.level, given, seen)
		}
	}
}

// openAll opens all that a page's picture offers.
func openAll(t *testing.T, l *layout, p *view.Page) {
	t.Helper()
	targets := map[string]bool{"node:b1": true, "node:p0": true, "node:committed-1": true, "group:committed": true}
	for _, s := range p.Picture.Strips {
		if len(s.Cells) > 0 {
			targets[s.At] = true
		}
		for _, c := range s.Cells {
			targets[c.At] = true
			targets[strings.Replace(c.At, "record", "batch", 1)] = true
		}
	}
	for _, n := range p.Picture.Cluster.Clients {
		targets[n.At] = true
		for _, m := range n.Inbox {
			targets[m.At] = true
		}
	}
	_, query, _ := strings.Cut(l.Address.String(), "?")
	for target := range targets {
		a, err := labs.Parse(Lab(), labs.Pages, query+"&at="+target)
		if err != nil {
			t.Fatalf("%s: %v", target, err)
		}
		f := l.Frame
		f.Address = a
		in := newLayout(f).inspectAt()
		if in == nil || len(in.Facts) == 0 || in.Facts[0].Name == "Not there" {
			t.Errorf("%s: %s cannot be opened", l.Address, target)
		}
	}
}

// What the guarantee promises holds in runs with crashes, losses and pauses at random, when everything runs again and has
// come to rest.
func TestPromisesHold(t *testing.T) {
	const runs = 150
	checked, broken := map[string]int{}, map[string]int{}
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 6))
		query := "rate=0&" + strings.Replace(randomSettings(r), "rate=", "every=1&x=", 1)
		query = withoutX(query) + randomCommands(r, 40) + "&do=60:resume+b1&do=60:start+b1&do=61:resume+billing-1&do=61:resume+billing-2&do=61:start+billing-1&do=61:start+billing-2&do=62:wait+90s&t=66"
		l, _ := frame(t, query)
		if l.app == nil {
			report := l.Cluster.Ledger()
			g := l.promises()[0]
			checked[g.level]++
			if n := len(report.Duplicated); n > 0 && g.level != atLeastOnce {
				t.Errorf("seed %d: %s: %s %s, and %d are twice in the log", seed, l.Address, g.level, g.where, n)
			}
			continue
		}
		check := func(g promise, count func(*effect) int) {
			tally := l.tallyOf(count)
			checked[g.level]++
			twice, lost := tally.more > 0, tally.lost > 0
			if twice && (g.level == exactlyOnce || g.level == atMostOnce) || lost && (g.level == exactlyOnce || g.level == atLeastOnce) {
				t.Errorf("seed %d: %s: %s %s, and it is %s", seed, l.Address, g.level, g.where, tally.text())
			}
			if twice || lost {
				broken[g.level]++
			}
		}
		for i, g := range l.promises() {
			if i == 0 && l.bills != nil {
				check(g, func(e *effect) int { return e.kept })
			} else {
				check(g, func(e *effect) int { return e.outside })
			}
		}
	}
	t.Logf("checked %v; not once in %v", checked, broken)
	if checked[exactlyOnce] < 30 || broken[atLeastOnce] < 5 || broken[atMostOnce] < 3 {
		t.Error("too little was checked")
	}
}

// withoutX takes out the setting that stands under the name x.
func withoutX(query string) string {
	var kept []string
	seen := map[string]bool{}
	for _, p := range strings.Split(query, "&") {
		name, _, _ := strings.Cut(p, "=")
		if name == "x" || seen[name] {
			continue
		}
		seen[name] = true
		kept = append(kept, p)
	}
	return strings.Join(kept, "&")
}
