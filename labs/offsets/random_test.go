package offsets

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
		r := rand.New(rand.NewPCG(seed, 3))
		query := randomQuery(r) + randomCommands(r)
		for _, tick := range []int{r.IntN(10), 10 + r.IntN(20), 30 + r.IntN(30)} {
			l, p := frame(t, withTick(query, tick))
			labtest.CheckStrips(t, l.Address, p)
			if len(p.Reading) == 0 || strings.Contains(labtest.Reading(p), "%!") {
				t.Errorf("%s: the reading is %q", l.Address, labtest.Reading(p))
			}
			openAll(t, l, p)
		}
	}
}

// withTick gives a query another tick.
func withTick(query string, tick int) string {
	at := strings.LastIndex(query, "&t=")
	end := strings.IndexByte(query[at+1:]+"&", '&')
	return query[:at] + query[at+1+end:] + fmt.Sprintf("&t=%d", tick)
}

// openAll opens all that a page's picture offers.
func openAll(t *testing.T, l *layout, p *view.Page) {
	t.Helper()
	targets := map[string]bool{"node:b1": true, "node:p0": true}
	for _, s := range p.Picture.Strips {
		if len(s.Cells) > 0 {
			targets[s.At] = true
		}
		for _, c := range s.Cells {
			targets[c.At] = true
			targets[strings.Replace(c.At, "record", "find", 1)] = true
		}
	}
	for _, n := range p.Picture.Cluster.Clients {
		targets[n.At] = true
		for _, m := range n.Inbox {
			targets[m.At] = true
		}
	}
	for _, partition := range l.View.Offsets {
		for _, rec := range labs.RecordsFrom(partition.Log.Segments, 0, 3) {
			targets[fmt.Sprintf("record:%s:%d", partition.TopicPartition, rec.Offset)] = true
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

// randomCommands draws commands for consumers, groups and the broker.
func randomCommands(r *rand.Rand) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	var b strings.Builder
	for range 3 + r.IntN(10) {
		who := pick("billing-1", "billing-2")
		text := pick("crash "+who, "crash "+who+" after poll", "crash "+who+" before processing", "crash "+who+" after processing", "crash "+who+" before commit", "crash "+who+" after commit",
			"start "+who, "start "+who, "start "+who, "pause "+who, "resume "+who, "leave "+who, "commit "+who, "commit "+who+" orders-0 @2", "seek "+who+" orders-0 @1", "rebalance "+who,
			"replay billing from earliest", "replay billing from shift -1", "reset billing to latest", "produce p0 order-3", "kill b1", "start b1", "wait 3s", "add-partitions orders to 8", "kill p0", "start p0")
		fmt.Fprintf(&b, "&do=%d:%s", r.IntN(40), strings.ReplaceAll(text, " ", "+"))
	}
	return b.String()
}

// A command that is offered can apply.
func TestOfferedCommandsApply(t *testing.T) {
	for _, query := range []string{
		"t=0", "t=3", "process=0&t=3", "do=2:crash+billing-1&t=3", "do=2:pause+billing-1&t=3", "do=2:leave+billing-1&t=4", "rate=2&t=5", "rate=2&do=2:stop-sending+p0&t=5", "do=2:kill+p0&t=3",
		"second=new&t=3", "second=running&t=3", "do=2:crash+billing-1&do=3:crash+billing-2&t=20", "reset=none&t=12", "do=6:leave+billing-1&t=6",
	} {
		labtest.CheckOffered(t, Lab(), query)
	}
}
