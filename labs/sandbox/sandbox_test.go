package sandbox

import (
	"fmt"
	"strings"
	"testing"

	"loglab/labs"
	"loglab/labs/labtest"
	"loglab/labs/view"
)

// frame replays a query and draws its page.
func frame(t *testing.T, query string) (*layout, *view.Page) {
	t.Helper()
	f, p := labtest.Replay(t, Lab(), query), &view.Page{}
	build(f, p)
	return newLayout(f), p
}

// cells writes a strip's cells: "a1 b1…", with … behind what is not delivered, ? what is not committed, ² what was
// processed twice, ✕ what was passed over.
func cells(s view.Strip) string {
	var list []string
	for _, c := range s.Cells {
		text := c.Text
		for _, sign := range [][2]string{{waiting, "…"}, {processed, "?"}, {"twice", "²"}, {missed, "✕"}} {
			if strings.Contains(" "+c.Stage+" ", " "+sign[0]+" ") {
				text += sign[1]
			}
		}
		list = append(list, text)
	}
	return strings.Join(list, " ")
}

// number gives a number of the ledger.
func number(p *view.Page, name string) string {
	for _, c := range p.Picture.Ledger {
		if c.Name == name {
			return c.Number
		}
	}
	return ""
}

// Each ready-made run shows its point in picture, reading and ledger.
func TestReadyMadeRuns(t *testing.T) {
	type want struct {
		cells  string // of the first strip
		ledger map[string]string
		says   []string
	}
	wants := map[string]want{
		"A leader dies under everybody": {
			ledger: map[string]string{"Lost": "0", "Duplicated": "0"},
			says:   []string{"b2 leads orders-0 in leader epoch 1. In sync: b2, b3.", "under-replicated: orders-0, orders-1", "Group billing: Stable, generation 1."},
		},
		"acks = 1, and the leader dies": {
			ledger: map[string]string{"Acknowledged": "3", "Visible": "2", "Lost": "1"},
			says:   []string{"1 acknowledged record is lost: event 1 (orders-0 at 2).", "An acknowledgement now means that b2 has the record in its page cache (acks = 1)."},
		},
		"All but the leader die": {
			ledger: map[string]string{"Acknowledged": "2", "Lost": "0"},
			says:   []string{"means that b1 alone has the record: nobody else is in sync, and min.insync.replicas = 1 allows that.", "If b1 ended now, nobody could lead orders-0"},
		},
		"The same, with min.insync.replicas 1 and 2 side by side": {ledger: map[string]string{"Acknowledged": "2"}},
		"A lost answer, with idempotence and without":             {cells: "a1", ledger: map[string]string{"Duplicated": "0"}},
		"An open transaction holds up readers": {
			cells: "a1… b1… c1…",
			says:  []string{"A transaction holds up 3 offsets of orders-0: its last stable offset is 0, its high watermark 3; tx-0 is Ongoing.", "wait at the last stable offset", "Group billing: Stable, generation 1. Lag: 3. Idle: billing-2."},
		},
		"A crash after processing, before the commit": {
			cells: "e2 a3?² b3?² c3? e3? a4? b4 c4 e4 a5",
			says:  []string{"2 records were processed more than once. 5 records are processed and not committed"},
		},
		"A member more than there are partitions": {says: []string{"Group billing: Stable, epoch 3.", "Idle: billing-3."}},
		"Records deleted before a group has read them": {
			says: []string{"below the start of the log: orders-0 (committed 15, start 20). Who begins there is out of range, and auto.offset.reset = earliest decides", "logs begin later: orders-0 at 20."},
		},
		"A cleaning": {cells: "d3 e3 f3 a4 b4 c4 d4 e4? f4…", says: []string{"offsets without a record: 15 in orders-0."}},
	}
	for _, r := range Lab().Ready {
		want, ok := wants[r.Title]
		if !ok {
			t.Errorf("%s: nothing is expected of it", r.Title)
		}
		_, p := frame(t, r.Query)
		if got := cells(p.Picture.Strips[0]); want.cells != "" && got != want.cells {
			t.Errorf("%s: the first strip has %q, want %q", r.Title, got, want.cells)
		}
		for name, n := range want.ledger {
			if got := number(p, name); got != n {
				t.Errorf("%s: %s %s, want %s", r.Title, name, got, n)
			}
		}
		for _, sentence := range want.says {
			if !strings.Contains(labtest.Reading(p), sentence) {
				t.Errorf("%s: the reading does not say %q:\n%s", r.Title, sentence, labtest.Reading(p))
			}
		}
	}
}

// The second run of the two pairs shows the other outcome.
func TestOtherRuns(t *testing.T) {
	_, p := frame(t, "min-isr=2&"+single+leaderAlone)
	if text := labtest.Reading(p); !strings.Contains(text, "A write with acks = all is refused now: 1 in sync, min.insync.replicas = 2.") || number(p, "Acknowledged") != "1" {
		t.Errorf("acknowledged %s:\n%s", number(p, "Acknowledged"), text)
	}
	_, p = frame(t, "idempotence=false&"+single+"do=4:drop-next+b1+p0&do=5:produce+p0+a&t=20")
	if text := labtest.Reading(p); number(p, "Duplicated") != "1" || !strings.Contains(text, "1 record stands more than once") {
		t.Errorf("duplicated %s:\n%s", number(p, "Duplicated"), text)
	}
}

// What is committed before it is processed can be passed over.
func TestCommitBefore(t *testing.T) {
	_, p := frame(t, "tick-ms=1000&partitions=1&members=1&work=500&every=200&commit=before&do=4:crash+billing-1&do=5:start+billing-1&t=20")
	if text := labtest.Reading(p); !strings.Contains(text, "committed and never processed: who begins at the committed offset passes over") {
		t.Error(text)
	}
}

// The controls beside a strip count records and open one.
func TestShift(t *testing.T) {
	for query, want := range map[string]string{
		"tick-ms=1000&partitions=1&policy=compact&segment-bytes=300&every=500&do=12:run-cleaner+b1&t=12": "",
		"tick-ms=1000&partitions=1&every=500&t=12":                                                       "15 earlier",
	} {
		_, p := frame(t, query)
		got := ""
		if before := p.Picture.Strips[0].Before; before != nil {
			got = before.Text
		}
		if got != want {
			t.Errorf("%s: %q is offered, want %q", query, got, want)
		}
	}
}

// What was processed before a replay is read again in any case; what a crashed member has not committed, by who takes over.
func TestToRepeat(t *testing.T) {
	_, p := frame(t, "tick-ms=1000&partitions=1&members=1&every=500&do=8:stop-sending+p0&do=12:replay+billing+from+earliest&t=12")
	if text := labtest.Reading(p); strings.Contains(text, "a crash before") {
		t.Error(text)
	}
	_, p = frame(t, "tick-ms=1000&partitions=1&members=1&commit=manual&every=500&do=8:crash+billing-1&t=20")
	if text := labtest.Reading(p); !strings.Contains(text, "processed and not committed, and nobody reads there: who takes over repeats them.") {
		t.Error(text)
	}
}

// A replication factor greater than the number of brokers is refused, as Kafka refuses it; so is a producer that cannot
// start.
func TestRefused(t *testing.T) {
	for query, param := range map[string]string{"brokers=2": "rf", "acks=1&idempotence=true": "idempotence", "acks=1&transactional=all": "transactional"} {
		a, err := labs.Parse(Lab(), labs.Pages, query)
		if err != nil {
			t.Fatal(err)
		}
		_, err = spec(a.Values)
		if err == nil || !strings.Contains(err.Error(), param) {
			t.Errorf("%s: %v, want %s refused", query, err, param)
		}
	}
}

// A command that is offered can apply.
func TestOfferedCommandsApply(t *testing.T) {
	for _, query := range []string{
		"t=0", "t=5", "rate=0&t=3", "do=2:kill+b1&t=3", "do=2:pause+b1&t=3", "do=2:shut-down+b1&t=4", "do=2:power-loss+b1&t=4", "do=2:pause+p0&do=3:pause+billing-1&t=5", "do=2:kill+p0&do=2:crash+billing-1&t=5",
		"transactional=all&producers=3&rate=0&t=8", "transactional=all&rate=0&do=8:begin-transaction+p0&t=9", "transactional=first&t=9", "do=3:stop-sending+p0&t=4", "policy=compact&groups=2&t=9", "protocol=consumer&t=12", "reset=none&t=12", "do=6:leave+billing-1&t=6",
	} {
		labtest.CheckOffered(t, Lab(), query)
	}
}

// At the largest setting few things are drawn.
func TestLargest(t *testing.T) {
	_, p := frame(t, largest)
	if n := len(p.Picture.Strips); n != 6 {
		t.Errorf("%d strips are drawn", n)
	}
	if n := len(p.Picture.Cluster.Clients); n != 5+1+3+2+8 {
		t.Errorf("%d cards are drawn", n)
	}
	_, p = frame(t, largest+"&at=record:orders-0:1")
	if n := len(p.Picture.Strips); n != stripsOpen {
		t.Errorf("%d strips are drawn beside the inspector", n)
	}
}

// largest has as much of everything as the settings allow.
var largest = fmt.Sprintf("brokers=%d&partitions=6&rf=%d&producers=3&transactional=all&rate=3&every=500&groups=2&members=%d&t=60", maxBrokers, maxBrokers, maxMembers)
