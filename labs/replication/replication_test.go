package replication

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/labtest"
	"loglab/labs/view"
)

// frame replays a query and draws its page.
func frame(t *testing.T, query string) (labs.Frame, *view.Page) {
	t.Helper()
	f, p := labtest.Replay(t, Lab(), query), &view.Page{}
	build(f, p)
	return f, p
}

// number gives a number of the ledger; "" if it is not there.
func number(p *view.Page, name string) string {
	for _, c := range p.Picture.Ledger {
		if c.Name == name {
			return c.Number
		}
	}
	return ""
}

// replicaOf gives a drawn replica.
func replicaOf(t *testing.T, p *view.Page, broker, partition string) view.Replica {
	t.Helper()
	for _, n := range p.Picture.Cluster.Brokers {
		for _, r := range n.Replicas {
			if n.Name == broker && r.Name == partition {
				return r
			}
		}
	}
	t.Fatalf("no replica of %s is drawn on %s", partition, broker)
	return view.Replica{}
}

// strip writes a replica's cells with their signs: "1✓ 2 3✕".
func strip(r view.Replica) string {
	var cells []string
	for _, c := range r.Cells {
		text := c.Text
		switch {
		case c.Lost:
			text += "✕"
		case c.Acknowledged:
			text += "✓"
		}
		if c.Again {
			text += "²"
		}
		if c.Waiting {
			text += "…"
		}
		if c.Gone {
			text = "(" + text + ")"
		}
		cells = append(cells, text)
	}
	return strings.Join(cells, " ")
}

// flagsOf writes a replica's flags.
func flagsOf(r view.Replica) string {
	var flags []string
	for _, f := range r.Flags {
		flags = append(flags, fmt.Sprintf("%s@%d", f.Text, f.Column))
	}
	return strings.Join(flags, " ")
}

// Each ready-made run shows its point in picture, reading and ledger.
func TestReadyMadeRuns(t *testing.T) {
	type want struct {
		strips map[string]string // broker → its cells
		roles  map[string]string // broker → role, sync
		ledger map[string]string
		says   []string
	}
	for title, want := range map[string]want{
		"acks = 1, and the leader dies": {
			strips: map[string]string{"b1": "1✓ 2✓ 3✕…", "b2": "1✓ 2✓", "b3": "1✓ 2✓"},
			roles:  map[string]string{"b1": "Offline, not in sync", "b2": "Leader, in sync", "b3": "Follower, in sync"},
			ledger: map[string]string{"Handed in": "3", "Acknowledged": "3", "Visible": "2", "Lost": "1", "Duplicated": "0"},
			says: []string{
				"1 acknowledged record is lost: event 3 (orders-0 at 2).", "b2 leads orders-0 in leader epoch 1. In sync: b2, b3.",
				"that b2 alone has the record in its page cache (acks = 1)", "(orders-0 offset 2) was given in tick 9, when b1 had the record. It was broken",
				"If b2 died or lost power now, b3 would lead",
			},
		},
		"A late old leader cuts its log": {
			strips: map[string]string{"b1": "1✓ 2✓ (3✕…)", "b2": "1✓ 2✓ 4✓", "b3": "1✓ 2✓ 4✓"},
			roles:  map[string]string{"b1": "Follower, not in sync", "b2": "Leader, in sync"},
			ledger: map[string]string{"Handed in": "4", "Acknowledged": "4", "Visible": "3", "Lost": "1"},
			says:   []string{"1 acknowledged record is lost: event 3"},
		},
		"All in sync, and then refused": {
			strips: map[string]string{"b1": "1✓", "b2": "1✓", "b3": "1✓"},
			roles:  map[string]string{"b1": "Leader, in sync", "b2": "Follower, in sync", "b3": "Offline, eligible leader"},
			ledger: map[string]string{"Handed in": "2", "Acknowledged": "1", "On their way": "1", "Lost": "0"},
			says:   []string{"There are no acknowledgements now: 2 in sync is fewer than min.insync.replicas = 3", "NOT_ENOUGH_REPLICAS"},
		},
		"acks = all, in sync: one": {
			strips: map[string]string{"b1": "1✓ 2✓", "b2": "1✓", "b3": "1✓"},
			roles:  map[string]string{"b1": "Leader, in sync", "b2": "Offline, not in sync", "b3": "Offline, not in sync"},
			ledger: map[string]string{"Acknowledged": "2", "Visible": "2", "Lost": "0"},
			says: []string{
				"An acknowledgement now means that b1 alone has the record", "(orders-0 offset 1) was given in tick 42, when b1 had the record. It has held so far.",
				"If b1 died now, nobody could lead", "If b1 lost power now, nobody could lead", "2 acknowledged records would stand on no disk of those who may lead it again: offset 0, offset 1",
			},
		},
		"The same with min.insync.replicas 2": {
			strips: map[string]string{"b1": "1✓", "b2": "1✓", "b3": "1✓"},
			roles:  map[string]string{"b1": "Leader, in sync", "b2": "Offline, not in sync", "b3": "Offline, eligible leader"},
			ledger: map[string]string{"Acknowledged": "1", "On their way": "1", "Lost": "0"},
			says:   []string{"There are no acknowledgements now: 1 in sync is fewer than min.insync.replicas = 2", "p0 waits: 1 record of it has not been acknowledged"},
		},
		"Unclean election": {
			strips: map[string]string{"b1": "1✓ 2✕…", "b2": "1✓", "b3": "1✓"},
			roles:  map[string]string{"b1": "Offline, not in sync", "b2": "Leader, in sync"},
			ledger: map[string]string{"Acknowledged": "2", "Visible": "1", "Lost": "1"},
			says:   []string{"1 acknowledged record is lost: event 2 (orders-0 at 1)", "It was broken"},
		},
		"Power loss of all in-sync replicas": {
			strips: map[string]string{"b1": "", "b2": "", "b3": ""},
			roles:  map[string]string{"b3": "Leader, in sync"},
			ledger: map[string]string{"Acknowledged": "5", "Visible": "0", "Lost": "5"},
			says:   []string{"5 acknowledged records are lost: event 1 (orders-0 at 0), event 2 (orders-0 at 1), event 3 (orders-0 at 2), event 4 (orders-0 at 3), 1 more."},
		},
		"A duplicate": {
			strips: map[string]string{"b1": "1² 1✓²", "b2": "1² 1✓²"},
			ledger: map[string]string{"Handed in": "1", "Acknowledged": "1", "Duplicated": "1", "Lost": "0"},
			says:   []string{"1 record stands twice: event 1 (orders-0 at 0 and 1)", "enable.idempotence = false"},
		},
		"No duplicate with idempotence": {
			strips: map[string]string{"b1": "1✓", "b2": "1✓"},
			ledger: map[string]string{"Handed in": "1", "Acknowledged": "1", "Duplicated": "0", "Lost": "0"},
		},
	} {
		t.Run(title, func(t *testing.T) {
			at := slices.IndexFunc(readyRuns(), func(r labs.Ready) bool { return r.Title == title })
			if at < 0 {
				t.Fatal("there is no such run")
			}
			_, p := frame(t, readyRuns()[at].Query)
			for broker, cells := range want.strips {
				if got := strip(replicaOf(t, p, broker, "orders-0")); got != cells {
					t.Errorf("%s shows %q, want %q", broker, got, cells)
				}
			}
			for broker, role := range want.roles {
				r := replicaOf(t, p, broker, "orders-0")
				if got := r.RoleText + ", " + r.SyncText; got != role {
					t.Errorf("%s is %q, want %q", broker, got, role)
				}
			}
			for name, n := range want.ledger {
				if got := number(p, name); got != n {
					t.Errorf("the ledger says %s %q, want %s", name, got, n)
				}
			}
			for _, text := range want.says {
				if !strings.Contains(labtest.Reading(p), text) {
					t.Errorf("the reading does not say %q:\n%s", text, labtest.Reading(p))
				}
			}
		})
	}
}

// The example of the facts, §4.1: two replicas, one record. The leader's high watermark trails its log end by one
// round of fetches, the follower's by two; acks = all is answered with the leader's.
func TestHighWatermarkTrails(t *testing.T) {
	var states []string
	for tick := 5; tick <= 30; tick++ {
		_, p := frame(t, fmt.Sprintf("brokers=2&rf=2&rate=0&do=5:produce+p0&t=%d", tick))
		state := fmt.Sprintf("b1 %s; b2 %s; acknowledged %s", flagsOf(replicaOf(t, p, "b1", "orders-0")), flagsOf(replicaOf(t, p, "b2", "orders-0")), number(p, "Acknowledged"))
		if len(states) == 0 || states[len(states)-1] != state {
			states = append(states, state)
		}
	}
	want := []string{
		"b1 watermark 0@0 end 0@0; b2 watermark 0@0 end 0@0; acknowledged 0",
		"b1 watermark 0@0 end 1@1; b2 watermark 0@0 end 0@0; acknowledged 0",
		"b1 watermark 0@0 end 1@1; b2 watermark 0@0 end 1@1; acknowledged 0",
		"b1 watermark 1@1 end 1@1; b2 watermark 0@0 end 1@1; acknowledged 0",
		"b1 watermark 1@1 end 1@1; b2 watermark 0@0 end 1@1; acknowledged 1",
		"b1 watermark 1@1 end 1@1; b2 watermark 1@1 end 1@1; acknowledged 1",
	}
	if !slices.Equal(states, want) {
		t.Errorf("the states are\n%s\nwant\n%s", strings.Join(states, "\n"), strings.Join(want, "\n"))
	}
}

// Everything that is drawn can be opened.
func TestEverythingDrawnOpens(t *testing.T) {
	for _, query := range []string{
		"t=17", "acks=1&rate=0&" + leaderDies + "&t=11", "acks=1&rate=0&" + leaderDies + "&t=40", "brokers=9&partitions=6&racks=3&placement=kafka&rate=3&every=1&t=33",
		"do=3:power-loss+b1&do=4:wipe+b2&do=5:cut+b3+controller&do=30:kill+p0&t=130", "do=5:kill+b1&do=7:start+b1&t=10",
	} {
		f, p := frame(t, query)
		targets := map[string]bool{}
		for _, n := range slices.Concat(p.Picture.Cluster.Clients, p.Picture.Cluster.Brokers, []view.Node{*p.Picture.Cluster.Controller}) {
			targets[n.At] = true
			for _, m := range n.Inbox {
				targets[m.At] = true
			}
			for _, r := range n.Replicas {
				targets[r.At] = true
				for _, c := range r.Cells {
					if c.Gone {
						continue // it is not there any more
					}
					for _, kind := range []string{"record", "batch", "find"} {
						targets[strings.Replace(c.At, "record", kind, 1)] = true
					}
				}
			}
		}
		for _, r := range p.Picture.Tables[0].Rows {
			targets[r.Items[0][0].At] = true
		}
		for target := range targets {
			a, err := labs.Parse(Lab(), labs.Pages, query+"&at="+target)
			if err != nil {
				t.Fatalf("%s: %v", target, err)
			}
			if got := a.At.String(); got != target {
				t.Errorf("%s is written as %s", target, got)
			}
			f.Address = a
			in := newLayout(f).inspectAt()
			if in == nil || len(in.Facts) == 0 || in.Facts[0].Name == "Not there" {
				t.Errorf("%s: %s cannot be opened", query, target)
			}
		}
	}
}

// A command that is offered can apply.
func TestOfferedCommandsApply(t *testing.T) {
	for _, query := range []string{
		"t=5", "do=5:kill+b1&t=8", "do=5:power-loss+b2&do=6:pause+b3&t=9", "do=3:kill+p0&t=5", "do=3:pause+p0&do=3:stop-sending+p0&t=5", "do=3:slow-disk+b1+500ms&do=4:shut-down+b2&t=5",
		"rate=0&" + leaderAlone + "&do=44:kill+b1&do=46:wait+10s&t=50", "acks=1&rate=0&" + leaderDies + "&t=40", "min-isr=3&t=5", "brokers=1&rf=1&t=5", "acks=1&rate=0&" + leaderDies + "&do=40:start+b1&t=52",
		"rate=0&" + leaderAlone + "&do=44:kill+b1&do=46:wait+10s&do=48:start+b2&t=60",
	} {
		labtest.CheckOffered(t, Lab(), query)
	}
}

// A ready-made run is one press away, without a redirect, and shows its point by tick 400.
func TestReadyMadeRunsHaveCanonicalAddresses(t *testing.T) {
	for _, r := range readyRuns() {
		a, err := labs.Parse(Lab(), labs.Pages, r.Query)
		if err != nil {
			t.Fatalf("%s: %v", r.Title, err)
		}
		if want := "v=1&" + r.Query; a.Query() != want || a.T > 400 {
			t.Errorf("%s: %s\nwant %s", r.Title, a.Query(), want)
		}
	}
}

// What would happen is what happens: in many states each broker is killed, or loses power, and time passes.
func TestOutlookIsWhatHappens(t *testing.T) {
	queries := []string{
		"t=20", "t=21", "t=22", "t=23&rate=3&every=1&acks=1", "t=24&rate=3&every=1&acks=1", "t=25&rate=3&every=1", "t=30&acks=1&rate=1&every=1&seed=3",
		"acks=1&rate=1&every=3&t=5", noFetch + "&do=4:delay+b1+p0+1s&do=5:produce+p0&t=20", noFetch + "&do=5:produce+p0&do=10:alter-config+orders+min.insync.replicas+2&t=11",
		noFetch + "&do=5:produce+p0&do=10:alter-config+orders+min.insync.replicas+2&t=13", noFetch + "&do=5:produce+p0&t=7", "acks=1&rate=0&do=4:delay+b1+b2+20s&do=5:produce+p0&t=8",
		"acks=1&rate=0&do=4:slow-disk+b2+500ms&do=5:produce+p0&t=7", "acks=1&rate=0&do=4:drop-next+b1+b2&do=5:produce+p0&t=7", "acks=1&rate=0&do=4:drop-next+b1+b2&do=5:produce+p0&t=8",
		"every=3&do=7:shut-down+b2&do=8:stop-sending+p0&t=8", "rf=2&every=3&do=7:shut-down+b2&do=8:stop-sending+p0&t=8", "do=10:shut-down+b1&t=11", "acks=1&do=10:pause+b1&t=20", "do=10:kill+b1&t=15",
		"brokers=4&rf=4&min-isr=3&rate=0&do=2:cut+b1+b2&do=2:cut+b3+b2&do=2:cut+b4+b2&do=3:shut-down+b4&do=12:shut-down+b2&do=30:start+b2&do=30:wait+15s&t=40",
		"t=40&brokers=5&partitions=3&rf=3&min-isr=2&rate=2&every=2", "t=30&rf=2&acks=1&rate=2&every=1", "t=30&rf=1", "t=22&elr=off&rf=2&rate=1&every=2&acks=1",
		"min-isr=2&rate=0&" + leaderAlone + "&t=44", "rate=0&" + leaderAlone + "&t=44", "rate=0&unclean=true&" + leaderAlone + "&t=44",
		"rate=0&min-isr=3&do=5:produce+p0&do=12:kill+b3&do=16:wait+7s&t=60", "rate=1&every=1&acks=1&do=5:kill+b3&t=20", "rate=1&every=1&acks=1&do=20:kill+b1&t=21",
		"rate=1&every=1&acks=1&do=20:kill+b1&t=60", "rate=2&every=1&acks=1&do=10:delay+b1+b2+500ms&t=20", "rate=1&every=3&do=3:stop-sending+p0&do=5:wait+40s&t=30",
	}
	checked := 0
	for _, query := range queries {
		f, _ := frame(t, query)
		l := newLayout(f)
		for _, p := range f.View.Partitions {
			for _, id := range append(assigned(p), nobody) {
				if id != nobody && l.silent(id) {
					continue
				}
				for _, how := range []failure{dies, losesPower} {
					want := l.foresee(p, id, how)
					checkFork(t, query, l, p.TopicPartition, id, how, want)
					checked++
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d outcomes were checked", checked)
	}
}

// checkFork lets a broker fail, or nobody, stops the application and waits until the controller has fenced it. What is lost is
// counted from what was acknowledged by then.
func checkFork(t *testing.T, query string, l *layout, tp kafka.TopicPartition, id kafka.BrokerID, how failure, want outcome) {
	t.Helper()
	c := l.Cluster.Clone()
	if id != nobody {
		var cmd command.Command = command.Kill{Node: l.broker(id).Node}
		if how == losesPower {
			cmd = command.PowerLoss{Node: l.broker(id).Node}
		}
		if err := c.Apply(cmd); err != nil {
			t.Fatal(err)
		}
	}
	c.Apply(command.StopSending{Producer: producer}) // what it would hand in later is not part of the question
	for range 130 {
		if err := c.Tick(); err != nil {
			t.Fatal(err)
		}
	}
	v := c.View()
	p := v.Partitions[tp.Partition]
	name := fmt.Sprintf("%s: %s of b%d, %s", query, map[failure]string{dies: "death", losesPower: "power loss"}[how], id, tp)
	isr, foreseen := slices.Sorted(slices.Values(p.ISR)), slices.Sorted(slices.Values(want.isr))
	if p.Leader != want.leader || !slices.Equal(isr, foreseen) {
		t.Errorf("%s: leader %d, in sync %v; foreseen %d, %v", name, p.Leader, isr, want.leader, foreseen)
	}
	may := []kafka.BrokerID{p.Leader}
	if p.Leader == engine.NoLeader {
		may = slices.Concat(p.ISR, p.ELR)
		if l.uncleanAllowed() {
			may = assigned(p)
		}
	}
	lost := map[kafka.Offset]bool{}
	for _, o := range c.Source().Outcomes().From(0) {
		h := c.Source().Handed().At(o.Record)
		if o.Kind != engine.Acknowledged || o.Offset < 0 || l.lost[o.Record] || h.TopicPartition != tp {
			continue
		}
		has := slices.ContainsFunc(may, func(id kafka.BrokerID) bool {
			r, _ := replicaOn(p, id)
			found := labs.RecordsFrom(labs.SegmentsOf(r), o.Offset, 1)
			return len(found) == 1 && found[0].Offset == o.Offset && string(found[0].Value) == string(h.Value)
		})
		if !has {
			lost[o.Offset] = true
		}
	}
	if len(lost) != len(want.lost) {
		t.Errorf("%s: %d acknowledged records are lost; foreseen %d", name, len(lost), len(want.lost))
	}
}
