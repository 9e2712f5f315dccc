package replication

import (
	"strings"
	"testing"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/labtest"
)

const (
	// The leader's followers do not fetch from it, and it acknowledges by itself.
	noFetch = "acks=1&rate=0&do=4:cut+b1+b2&do=4:cut+b1+b3"
	// Everybody who was in sync is gone, and any replica may lead.
	allGone = "unclean=true&rate=0&" + leaderAlone
)

// The reading says what the run does where a broker is silent, deaf or on its way up, and leaves out what it does not do.
func TestReadingIsTrue(t *testing.T) {
	for query, want := range map[string]struct{ says, not []string }{
		"elr=off&rate=1&every=3&brokers=3&rf=2&do=8:wait+3s&do=10:power-loss+b2&do=12:start+b2&t=14": {
			says: []string{"13 acknowledged records would stand on no disk", "waits for heartbeats of b2"}, not: []string{"b2 would lead"},
		},
		"do=20:kill+b1&do=21:start+b1&t=30": {
			says: []string{"b1, the leader of orders-0, is starting", "waits for heartbeats of b1", "If nothing else happens, b2 would lead", "If b3 died or lost power now, b2 would lead", "Nobody can read the record now"},
			not:  []string{"An acknowledgement now means", "b1 would go on leading", "b1 leads"},
		},
		"elr=off&rate=0&do=4:kill+b2&do=4:kill+b3&do=6:wait+10s&do=10:produce+p0&do=20:power-loss+b1&do=21:start+b1&t=22": {
			says: []string{"1 acknowledged record would stand on no disk"}, not: []string{"It has held so far", "An acknowledgement now means"},
		},
		"brokers=2&rf=1&do=10:cut+b1+controller&do=12:wait+11s&t=30": {
			says: []string{"orders-0 has no leader.", "b1 has not heard of that: it believes that it leads, in epoch 0", "its log ends at 28", "still serves it"},
			not:  []string{"Nothing is written to it", "Nobody can read", "is lost unless"},
		},
		"brokers=2&rf=1&do=10:cut+b1+controller&t=20": {
			says: []string{"If nothing else happens, nobody could lead; b1, which does not hear of it, would go on"}, not: []string{"nothing is written or read"},
		},
		"acks=1&do=10:cut+b1+controller&do=12:wait+11s&t=30": {
			says: []string{"b2 leads orders-0", "b1 has not heard of that", "What it acknowledges is lost unless b2 has fetched it", "that b2 or b1 alone has the record"},
			not:  []string{"that b2 alone has the record"},
		},
		"acks=1&do=10:cut+b1+controller&t=20": {
			says: []string{"If nothing else happens, b2 would lead (first of b1, b2, b3 that is in sync and alive); no record acknowledged by now would be lost; what b1 acknowledges after this may be lost"},
			not:  []string{"no acknowledged record would be lost"},
		},
		"acks=1&rate=1&every=1&do=1:cut+b1+controller&do=2:delay+controller+b2+3s&do=2:delay+controller+b3+3s&do=3:wait+8500ms&t=8": {
			says: []string{"The new leader does not have 1 acknowledged record: event 91 (orders-0 at 90). It has not heard of its election yet", "b2, elected since, does not have the record yet"},
			not:  []string{"record is lost", "It was broken", "Consumers read"},
		},
		"do=10:shut-down+b1&t=12": {
			says: []string{"b2 leads orders-0 in leader epoch 1", "It has not heard of that yet", "b1 has not heard of that"}, not: []string{"Consumers read what is below its high watermark, 1"},
		},
		"do=10:kill+b2&t=45":                {says: []string{"here not before tick 86"}, not: []string{"b1 waits for b2"}},
		"do=10:pause+b2&t=45":               {says: []string{"here not before tick 86"}, not: []string{"b1 waits for b2"}},
		"do=10:kill+b2&do=30:pause+b1&t=45": {not: []string{"b1 waits for b2"}},
		"do=10:cut+b1+b2&t=45":              {says: []string{"b1 waits for b2", "leaves the in-sync replicas"}, not: []string{"heartbeats"}},
		"lag-time=3000&do=10:kill+b2&t=34":  {says: []string{"b1 waits for b2", "not before tick 39"}},
		"do=10:pause+controller&t=20":       {says: []string{"The controller is paused: until it goes on it fences nobody and elects nobody"}, not: []string{"would lead", "not before"}},
		"idempotence=false&retries=1&rate=0&request-timeout=1000&do=10:cut-one-way+b1+p0&do=11:produce+p0&t=28": {says: []string{"is its last (retries = 1)"}, not: []string{"until delivery.timeout.ms"}},
		"idempotence=false&retries=5&rate=0&request-timeout=1000&do=10:cut-one-way+b1+p0&do=11:produce+p0&t=28": {says: []string{"tries again, 5 times in all (retries), until delivery.timeout.ms"}},
		"rate=0&do=5:cut-one-way+b3+b1&do=5:produce+p0&do=9:power-loss+b3&do=12:wait+10s&t=20":                  {says: []string{"was given in tick 12, when b1, b2 had the record"}},
		"min-isr=2&rate=0&do=4:delay+controller+b1+5s&do=10:kill+b2&do=10:kill+b3&do=14:wait+8s&do=30:produce+p0&t=30": {
			says: []string{"b1 has not heard of that: it writes a record to its log and waits for b2, b3"}, not: []string{"before it is in any log"},
		},
		"min-isr=2&rate=0&" + leaderAlone + "&t=44": {says: []string{"is refused with NOT_ENOUGH_REPLICAS before it is in any log"}},
		"brokers=4&rf=4&min-isr=3&rate=0&do=2:cut+b1+b2&do=2:cut+b3+b2&do=2:cut+b4+b2&do=3:shut-down+b4&do=12:shut-down+b2&do=30:start+b2&do=30:wait+15s&t=40": {
			says: []string{"b3 would lead (first of b1, b2, b3, b4 that is in sync and alive)"}, not: []string{"or eligible"},
		},
		"idempotence=false&rate=0&do=4:double-next+p0+b1&do=5:produce+p0&t=16": {says: []string{"1 record stands twice", "A link delivered a request twice;"}, not: []string{"sent the batch again"}},
		"idempotence=false&min-isr=2&brokers=2&rf=2&rate=0&request-timeout=2000&do=5:produce+p0&do=6:kill+b2&do=9:wait+8s&do=40:start+b2&do=42:wait+5s&t=90": {
			says: []string{"1 record stands more than once: event 1 (orders-0 at 0, 1, 2, 3, 4 and 5)", "(REQUEST_TIMED_OUT) and sent the batch again"}, not: []string{"stands twice"},
		},
		"partitions=3&do=10:kill+b2&t=15":  {says: []string{"with a leader that does not serve now: orders-1"}, not: []string{"have a leader each"}},
		"partitions=3&t=15":                {says: []string{"The other partitions have a leader each, and all replicas are in sync"}},
		"do=10:kill+b1&do=20:wait+9s&t=15": {says: []string{"here not before tick 20."}},
	} {
		_, p := frame(t, query)
		text := labtest.Reading(p)
		labtest.CheckText(t, query, text, want.says, want.not)
	}
}

// later lets commands be given to a run at its tick and time pass, and gives what has happened since.
func later(t *testing.T, query string, ticks int, commands ...command.Command) (*engine.Cluster, []journal.Event) {
	t.Helper()
	f, _ := frame(t, query)
	c, before := f.Cluster.Clone(), f.Cluster.Journal().Len()
	for _, cmd := range commands {
		if err := c.Apply(cmd); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	for range ticks {
		if err := c.Tick(); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	var since []journal.Event
	for e := range c.Journal().All() {
		if int(e.Seq) > before {
			since = append(since, e)
		}
	}
	return c, since
}

// What the reading of silent, deaf and returning brokers says is what the run does.
func TestReadingAgreesWithTheJournal(t *testing.T) {
	kill := func(id kafka.NodeID) command.Command { return command.Kill{Node: id} }
	stop := command.StopSending{Producer: producer}
	leaders := func(events []journal.Event) (list []kafka.BrokerID) {
		for _, e := range events {
			switch b := e.Body.(type) {
			case journal.LeaderElected:
				list = append(list, b.To)
			case journal.LeaderLost:
				list = append(list, engine.NoLeader)
			}
		}
		return list
	}
	t.Run("a leader that has come back unnoticed is fenced", func(t *testing.T) {
		_, events := later(t, "do=20:kill+b1&do=21:start+b1&t=30", 90)
		if got := leaders(events); len(got) == 0 || got[0] != 2 {
			t.Errorf("elected are %v, want b2 first", got)
		}
		_, events = later(t, "do=20:kill+b1&do=21:start+b1&t=30", 100, kill("b2"))
		if got := leaders(events); len(got) == 0 || got[len(got)-1] != 3 {
			t.Errorf("elected are %v, want b3 last", got)
		}
	})
	t.Run("what a returning replica lacks is lost", func(t *testing.T) {
		c, _ := later(t, "elr=off&rate=1&every=3&brokers=3&rf=2&do=8:wait+3s&do=10:power-loss+b2&do=12:start+b2&t=14", 200, stop, kill("b1"))
		if got := len(c.Ledger().Lost); got != 13 {
			t.Errorf("%d records are lost, want 13", got)
		}
	})
	t.Run("a deposed leader acknowledges what is lost", func(t *testing.T) {
		c, _ := later(t, "acks=1&do=10:cut+b1+controller&t=20", 110)
		if len(c.Ledger().Lost) == 0 {
			t.Error("nothing is lost")
		}
	})
	t.Run("a new leader that has not heard fetches on", func(t *testing.T) {
		const query = "acks=1&rate=1&every=1&do=1:cut+b1+controller&do=2:delay+controller+b2+3s&do=2:delay+controller+b3+3s&do=3:wait+8500ms&t=8"
		c, _ := later(t, query, 3)
		for _, e := range c.Ledger().Lost {
			if e.Offset == 90 {
				t.Error("offset 90 is lost")
			}
		}
	})
	t.Run("a paused controller elects nobody", func(t *testing.T) {
		_, events := later(t, "do=10:pause+controller&t=20", 175, kill("b1"))
		if got := leaders(events); len(got) > 0 {
			t.Errorf("elected are %v", got)
		}
	})
	t.Run("a leader cut off from its follower acknowledges nothing", func(t *testing.T) {
		const query = "min-isr=2&do=5:cut+b2+b3&t=20"
		if _, p := frame(t, query); !strings.Contains(labtest.Reading(p), "b2 would lead (first of b1, b2, b3 that is in sync and alive); no acknowledged record would be lost; no write is acknowledged while b3, cut off from b2, is in sync, and then it is refused with NOT_ENOUGH_REPLICAS.") {
			t.Errorf("the reading is\n%s", labtest.Reading(p))
		}
		_, events := later(t, query, 600, kill("b1"))
		elected, refused := false, false
		for _, e := range events {
			switch b := e.Body.(type) {
			case journal.LeaderElected:
				elected = true
			case journal.ProduceAcknowledged:
				if elected {
					t.Fatalf("acknowledged in tick %d", e.Tick)
				}
			case journal.ProduceRefused:
				refused = refused || b.Error == "NOT_ENOUGH_REPLICAS"
			}
		}
		if !elected || !refused {
			t.Errorf("elected %t, refused %t", elected, refused)
		}
	})
	t.Run("the last attempt", func(t *testing.T) {
		_, events := later(t, "idempotence=false&retries=1&rate=0&request-timeout=1000&do=10:cut-one-way+b1+p0&do=11:produce+p0&t=28", 20)
		failed := false
		for _, e := range events {
			switch e.Body.(type) {
			case journal.BatchRetried:
				t.Error("it is tried again")
			case journal.ProduceFailed:
				failed = true
			}
		}
		if !failed {
			t.Error("it has not failed")
		}
	})
	t.Run("a tick that a later wait makes long", func(t *testing.T) {
		f, _ := frame(t, "do=10:kill+b1&do=20:wait+9s&t=25")
		for e := range f.Cluster.Journal().All() {
			if _, ok := e.Body.(journal.BrokerFenced); ok && e.Tick > 0 && e.Tick != 20 {
				t.Errorf("fenced in tick %d, want 20", e.Tick)
			}
		}
	})
}

// Where unclean elections are allowed, whoever comes back first leads, and what it lacks is lost.
func TestWhoeverComesBackLeads(t *testing.T) {
	for query, said := range map[string]map[kafka.NodeID]int{
		allGone + "&do=46:kill+b1&do=50:wait+9s&t=60":       {"b1": 0, "b2": 1, "b3": 1},
		allGone + "&do=46:power-loss+b1&do=50:wait+9s&t=60": {"b1": 2, "b2": 1, "b3": 1},
	} {
		f, page := frame(t, query)
		l, text := newLayout(f), labtest.Reading(page)
		p := f.View.Partitions[0]
		gone := len(l.onNoDisk(p, l.acknowledged(p), assigned(p)))
		for node, want := range said {
			c, _ := later(t, query, 60, command.Start{Node: node})
			id, _ := l.brokerOf(node)
			r, _ := replicaOn(p, id)
			lost := len(missing(l.acknowledged(p), labs.SegmentsOf(r)))
			if got := len(c.Ledger().Lost); got != want || lost != want || c.View().Partitions[0].Leader != id {
				t.Errorf("%s: %s leads %t, %d are lost; foreseen %d, want %d", query, node, c.View().Partitions[0].Leader == id, got, lost, want)
			}
			if says := strings.Contains(text, "If "+string(node)+" came back alone and led"); says != (want > gone) {
				t.Errorf("%s: the reading tells of %s: %t\n%s", query, node, says, text)
			}
		}
	}
}

// The ledger's words do not take a leader that stands still, or is none any more, for one that serves.
func TestLedgerWordsWhereNobodyServes(t *testing.T) {
	for query, want := range map[string]map[string]string{
		"do=10:pause+b1&t=20": {"Visible": "the leader of orders-0 does not serve now"},
		"brokers=2&rf=1&do=10:cut+b1+controller&do=12:wait+11s&t=30": {"Visible": "serves orders-0", "Out of reach": "a broker that has not heard that it is none serves orders-0"},
		"t=20": {"Visible": "consumers can read them now", "Lost": "their leader does not have them"},
		"acks=1&rate=1&every=1&do=1:cut+b1+controller&do=2:delay+controller+b2+3s&do=2:delay+controller+b3+3s&do=3:wait+8500ms&t=8": {"Lost": "may still fetch some"},
	} {
		_, p := frame(t, query)
		for name, says := range want {
			found := false
			for _, c := range p.Picture.Ledger {
				found = found || c.Name == name && strings.Contains(c.Text, says)
			}
			if !found {
				t.Errorf("%s: %s does not say %q", query, name, says)
			}
		}
	}
}

// The table of partitions says where a partition can be read.
func TestVisibleBelow(t *testing.T) {
	for query, want := range map[string]string{
		"rate=0&do=5:produce+p0&t=20": "1", "do=10:pause+b1&t=20": "cannot be read", "do=10:kill+b1&t=20": "cannot be read", "do=20:kill+b1&do=21:start+b1&t=30": "cannot be read",
		"brokers=2&rf=1&do=10:cut+b1+controller&do=12:wait+11s&t=30": "28, on b1",
	} {
		_, p := frame(t, query)
		row := p.Picture.Tables[0].Rows[0].Items
		if got := row[len(row)-1][0].Text; got != want {
			t.Errorf("%s: visible below %q, want %q", query, got, want)
		}
	}
}
