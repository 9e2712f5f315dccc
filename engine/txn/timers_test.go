package txn

import (
	"testing"

	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// A transaction is aborted by the first check at which more than transaction.timeout.ms are over since its first partition
// was added; what is added later does not extend it.
func TestTimeout(t *testing.T) {
	for _, tc := range []struct {
		begins, aborted kafka.Millis
	}{
		{0, 40_000}, // 30,000 ms are over at 30,000, and not more
		{1, 40_000},
		{9_999, 40_000},
		{10_000, 50_000},
	} {
		r := newRun(t, nil)
		r.noMarkers = true
		p := newProducer("p1")
		p.timeout = 30_000
		r.begins(p)
		r.until(tc.begins)
		r.adds(p, 0)
		if v := r.view("t1"); v.TimesOut != tc.aborted {
			t.Errorf("begun at %d it times out at %d, want %d", tc.begins, v.TimesOut, tc.aborted)
		}
		r.until(tc.aborted - 5000)
		r.adds(p, 1)
		r.until(tc.aborted - 1)
		r.want(Ongoing, 1000, 0)
		r.until(tc.aborted)
		r.want(PrepareAbort, 1000, 1)
		if m := r.markers[0]; m.ProducerEpoch != 1 || m.TransactionVersion != 2 || m.Type.String() != "ABORT" || len(m.Partitions) != 2 {
			t.Errorf("markers %+v", m)
		}
		if got := events[journal.TransactionTimedOut](r); len(got) != 1 || got[0].Open != tc.aborted-tc.begins || got[0].Timeout != 30_000 || got[0].NewEpoch != 1 || got[0].Interval != 10_000 {
			t.Errorf("%+v", got)
		}
		r.wantCode(r.ends(p, true), "CONCURRENT_TRANSACTIONS")
		r.noMarkers = false
		r.pass(1)
		r.want(CompleteAbort, 1000, 1)
		r.wantCode(r.ends(p, true), "INVALID_TXN_STATE")
		r.wantCode(r.adds(p, 0), "PRODUCER_FENCED")
		p.Epoch = 0
		r.ended(p, r.ends(p, false)) // as if it asked again: Kafka tells it the epoch that fences
		if p.Epoch != 1 {
			t.Errorf("an abort after the time-out is answered with epoch %d", p.Epoch)
		}
	}
}

// The transaction of an older client is aborted in the way of the cluster.
func TestTimeoutOfOldClient(t *testing.T) {
	for version, want := range map[int16]int16{0: 0, 1: 0, 2: 2} {
		r := newRun(t, func(c *Config) { c.TransactionVersion = version })
		r.noMarkers = true
		p := oldProducer("p1")
		r.begins(p)
		r.adds(p, 0)
		r.until(70_000)
		r.want(PrepareAbort, 1000, 1)
		if m := r.markers[0]; m.TransactionVersion != want || m.ProducerEpoch != 1 {
			t.Errorf("transaction.version %d: markers %+v", version, m)
		}
		r.wantCode(r.ends(p, true), "PRODUCER_FENCED")
	}
}

// While a change is pending a check passes the transaction over; the next one finds it.
func TestTimeoutWhilePending(t *testing.T) {
	r := newRun(t, nil)
	p := newProducer("p1")
	p.timeout = 35_000
	r.begins(p)
	r.adds(p, 0)
	r.until(39_000)
	r.delay = 2000
	r.adds(p, 1)
	r.until(41_000)
	r.want(Ongoing, 1000, 0)
	r.until(49_999)
	r.want(Ongoing, 1000, 0)
	r.until(50_000)
	if v := r.view("t1"); v.PendingState != PrepareAbort {
		t.Errorf("%+v", v)
	}
	r.until(60_000)
	r.want(CompleteAbort, 1000, 1)
}

// A check that passed a transaction over is not made up for when the change has failed: the next one finds it.
func TestTimeoutAfterFailedChange(t *testing.T) {
	r := newRun(t, nil)
	p := newProducer("p1")
	p.timeout = 12_000
	r.begins(p)
	r.adds(p, 0)
	r.until(15_000)
	r.stuck = true
	m := r.adds(p, 1)
	r.until(26_999)
	r.wantCode(m, "waits")
	r.stuck, r.inFlight = false, nil
	r.until(27_000)
	r.wantCode(m, "COORDINATOR_NOT_AVAILABLE")
	r.want(Ongoing, 1000, 0)
	if v := r.view("t1"); v.TimesOut != 30_000 || v.PendingState != "" {
		t.Errorf("%+v", v)
	}
	r.until(30_000)
	r.want(CompleteAbort, 1000, 1)
}

// A process that has stood still finds what is due when it goes on.
func TestLateTick(t *testing.T) {
	r := newRun(t, nil)
	p := newProducer("p1")
	r.begins(p)
	r.adds(p, 0)
	r.now = 123_456
	r.perform(r.c.Tick(r.now, &r.j))
	r.want(CompleteAbort, 1000, 1)
	if got := events[journal.TransactionTimedOut](r); len(got) != 1 || got[0].Open != 123_456 {
		t.Errorf("%+v", got)
	}
	r.begins(p)
	r.adds(p, 0)
	if v := r.view("t1"); v.TimesOut != 190_000 {
		t.Errorf("the next checks have moved: %+v", v)
	}
}

// No timer runs while there is nothing to wait for but the expiration.
func TestNextDue(t *testing.T) {
	r := newRun(t, nil)
	if _, ok := r.c.NextDue(); ok {
		t.Error("a timer of nothing")
	}
	p := newProducer("p1")
	r.begins(p)
	const week = 7 * 24 * 3_600_000
	if due, ok := r.c.NextDue(); !ok || due != week {
		t.Errorf("an idle id: due at %d, %t", due, ok)
	}
	r.until(12_345)
	r.adds(p, 0)
	if due, _ := r.c.NextDue(); due != 80_000 {
		t.Errorf("an open transaction: due at %d", due)
	}
	r.ended(p, r.ends(p, true))
	if due, _ := r.c.NextDue(); due != week+3_600_000 {
		t.Errorf("after it: due at %d", due)
	}
}

// A transactional id is forgotten by the first check at which transactional.id.expiration.ms are over since it changed.
func TestExpiration(t *testing.T) {
	r := newRun(t, nil)
	const week, hour = 7 * 24 * 3_600_000, 3_600_000
	for _, id := range []string{"t1", "t2", "t3", "t4"} {
		p := newProducer(kafka.NodeID(id))
		p.id, p.timeout = id, 900_000
		r.begins(p)
		switch id {
		case "t2":
			r.adds(p, 0)
			r.ended(p, r.ends(p, true))
		case "t3":
			r.noMarkers = true
			r.adds(p, 0)
			r.ended(p, r.ends(p, true))
		}
	}
	r.until(1)
	p5 := newProducer("p5")
	p5.id = "t5"
	r.begins(p5)
	r.until(week - 1)
	if n := len(r.c.View()); n != 5 {
		t.Errorf("%d transactional ids before", n)
	}
	r.delay = 100
	records := len(r.log)
	r.until(week)
	if v := r.view("t1"); v.PendingState != Dead || v.State != Empty {
		t.Errorf("%+v", v)
	}
	r.wantCode(r.inits(newProducer("p1"), false), "CONCURRENT_TRANSACTIONS")
	r.until(week + 100)
	if got := len(r.c.View()); got != 2 || r.view("t3").State != PrepareCommit || r.view("t5").State != Empty {
		t.Errorf("left: %+v", r.c.View())
	}
	if len(r.log) != records+3 || r.log[records].Value != nil || string(r.log[records].Key) != "\x00\x00\x00\x02t1" {
		t.Errorf("tombstones: %q", r.log[records:])
	}
	if got := events[journal.TransactionalIDExpired](r); len(got) != 3 || got[1].TransactionalID != "t2" || got[1].State != "CompleteCommit" || got[0].Unused != week+100 {
		t.Errorf("%+v", got)
	}
	r.until(week + hour + 100)
	if r.view("t5").State != Dead {
		t.Errorf("left: %+v", r.c.View())
	}
	p := newProducer("p1")
	m := r.inits(p, false)
	r.pass(100)
	r.began(p, m)
	if p.ID < 1005 || p.Epoch != 0 {
		t.Errorf("an id that comes back has %+v", p.Producer)
	}
}
