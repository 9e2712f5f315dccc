package replication

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"loglab/labs"
	"loglab/labs/labtest"
	"loglab/labs/view"
)

// Runs with settings and faults at random are drawn at many ticks; nothing is missing or out of bounds.
func TestRandomRunsAreDrawn(t *testing.T) {
	const runs = 40
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 7))
		query := randomQuery(r)
		for _, tick := range []int{1 + r.IntN(20), 20 + r.IntN(60), 80 + r.IntN(80)} {
			f, p := frame(t, query+fmt.Sprintf("&t=%d", tick))
			for _, n := range p.Picture.Cluster.Brokers {
				for _, drawn := range n.Replicas {
					if len(drawn.Cells) > drawn.Columns {
						t.Errorf("%s: %s has %d cells in %d places", f.Address, drawn.ID, len(drawn.Cells), drawn.Columns)
					}
					ids := map[string]bool{}
					for _, c := range drawn.Cells {
						if ids[c.ID] {
							t.Errorf("%s: two cells are called %s", f.Address, c.ID)
						}
						ids[c.ID] = true
					}
				}
			}
			if len(p.Reading) == 0 || strings.Contains(labtest.Reading(p), "%!") {
				t.Errorf("%s: the reading is %q", f.Address, labtest.Reading(p))
			}
			if sent := p.Picture.Ledger[0].Number; sent != fmt.Sprint(f.View.Source.Records) && f.View.Source.Records < 1000 {
				t.Errorf("%s: handed in are %s, the ledger says %d", f.Address, sent, f.View.Source.Records)
			}
			for _, at := range []string{"node:b1", "replica:orders-0:1", "partition:orders-0", "node:controller", "node:p0"} {
				a, err := labs.Parse(Lab(), labs.Pages, query+fmt.Sprintf("&t=%d&at=%s", tick, at))
				if err != nil {
					t.Fatal(err)
				}
				build(labs.Frame{Address: a, Cluster: f.Cluster, View: f.View}, &view.Page{})
			}
		}
	}
}

// randomQuery draws settings and commands.
func randomQuery(r *rand.Rand) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	brokers := 1 + r.IntN(5)
	var b strings.Builder
	fmt.Fprintf(&b, "brokers=%d&rf=%d&partitions=%d&min-isr=%d&acks=%s&unclean=%s&elr=%s&rate=%d&every=%d&placement=%s&racks=%d&lag-time=2000&session-timeout=3000&seed=%d",
		brokers, 1+r.IntN(brokers), 1+r.IntN(3), 1+r.IntN(3), pick("all", "1", "0"), pick("true", "false"), pick("on", "off"), 1+r.IntN(3), 1+r.IntN(4), pick("in-order", "kafka"), r.IntN(3), r.Uint64())
	node := func() string { return fmt.Sprintf("b%d", 1+r.IntN(brokers)) }
	any := func() string { return pick(node(), "controller", "p0", "c0") }
	for range 5 + r.IntN(20) {
		text := pick("kill "+node(), "power-loss "+node(), "wipe "+node(), "start "+node(), "start "+node(), "start "+node(), "shut-down "+node(), "pause "+node(), "resume "+node(),
			"slow-disk "+node()+" 500ms", "slow-disk "+node()+" 0ms", "elect-unclean orders 0", "elect-preferred orders 0", "alter-config orders min.insync.replicas 2",
			"alter-config orders unclean.leader.election.enable true", "produce p0 key value", "stop-sending p0", "start-sending p0", "kill p0", "start p0", "wait 1s", "add-partitions orders to 4")
		if r.IntN(3) == 0 {
			from, to := any(), any()
			if from == to {
				continue
			}
			text = pick("cut", "cut-one-way", "heal", "heal", "drop-next", "double-next") + " " + from + " " + to
		}
		fmt.Fprintf(&b, "&do=%d:%s", r.IntN(140), strings.ReplaceAll(text, " ", "+"))
	}
	return b.String()
}
