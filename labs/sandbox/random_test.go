package sandbox

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"loglab/labs"
	"loglab/labs/labtest"
	"loglab/labs/view"
)

// Runs with settings and commands at random are drawn at many ticks: nothing is missing or out of bounds, and all that
// looks as if it could be opened can be.
func TestRandomRunsAreDrawn(t *testing.T) {
	const runs = 30
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 5))
		query := randomQuery(r)
		for _, tick := range []int{r.IntN(10), 10 + r.IntN(30), 40 + r.IntN(60)} {
			l, p := frame(t, query+fmt.Sprintf("&t=%d", tick))
			labtest.CheckStrips(t, l.Address, p)
			if len(p.Reading) == 0 || strings.Contains(labtest.Reading(p), "%!") {
				t.Errorf("%s: the reading is %q", l.Address, labtest.Reading(p))
			}
			openAll(t, l, p)
		}
	}
}

// openAll opens all that a page's picture offers.
func openAll(t *testing.T, l *layout, p *view.Page) {
	t.Helper()
	targets := map[string]bool{}
	for _, s := range p.Picture.Strips {
		targets[s.At] = true
		for _, c := range s.Cells {
			targets[c.At] = true
			targets[strings.Replace(c.At, "record", "batch", 1)] = true
			targets[strings.Replace(c.At, "record", "find", 1)] = true
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

// randomQuery draws settings and commands.
func randomQuery(r *rand.Rand) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	brokers := 1 + r.IntN(maxBrokers)
	var b strings.Builder
	acks, transactional := "all", pick(nobody, first, everyone)
	if transactional == nobody {
		acks = pick("all", "1", "0")
	}
	fmt.Fprintf(&b, "tick-ms=%s&brokers=%d&partitions=%d&rf=%d&min-isr=%d&unclean=%s&segment-bytes=%s&policy=%s&producers=%d&acks=%s&transactional=%s&rate=%d&every=%s&groups=%d&members=%d&protocol=%s&commit=%s&isolation=%s&reset=%s&seed=%d",
		pick("100", "500", "1000"), brokers, 1+r.IntN(6), 1+r.IntN(brokers), 1+r.IntN(2), pick(yes, no), pick("300", "1048576"), pick(deletes, compacts, both), 1+r.IntN(3), acks, transactional,
		r.IntN(4), pick("300", "1000"), 1+r.IntN(2), 1+r.IntN(maxMembers), pick("range", "cooperative-sticky", consumer), pick(perBatch, before, automatic, manual), pick(readCommitted, readUncommitted), pick(earliest, latest), r.Uint64())
	node := func() string { return fmt.Sprintf("b%d", 1+r.IntN(brokers)) }
	for range 5 + r.IntN(15) {
		text := pick("kill "+node(), "power-loss "+node(), "start "+node(), "start "+node(), "shut-down "+node(), "pause "+node(), "resume "+node(), "cut "+node()+" controller", "heal "+node()+" controller", "drop-next "+node()+" p0",
			"produce p0 a x", "kill p0", "start p0", "begin-transaction p0", "commit-transaction p0", "abort-transaction p0", "crash billing-1", "start billing-1", "pause billing-1", "resume billing-1", "leave billing-1",
			"commit billing-1", "replay billing from earliest", "add-partitions orders to 7", "delete-records orders-0 @3", "check-retention "+node(), "run-cleaner "+node(), "wait 10s", "elect-unclean orders 0")
		fmt.Fprintf(&b, "&do=%d:%s", r.IntN(80), strings.ReplaceAll(text, " ", "+"))
	}
	return b.String()
}
