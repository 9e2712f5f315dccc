package sandbox

import (
	"fmt"
	"strings"
	"testing"

	"loglab/engine/journal"
	"loglab/labs/labtest"
	"loglab/labs/view"
)

// Beginnings that several tests share.
const (
	// b1 alone has what is written last; b2 runs again and is cut off from it.
	behindLeader = single + "unclean=true&do=5:produce+p0+a&do=12:kill+b2&do=12:kill+b3&do=16:wait+12s&do=26:cut+b1+b2&do=27:start+b2&do=28:wait+10s&"
	// The same, with a record that b2 does not have; b2 leads, and another is written at its offset.
	reused = behindLeader + "acks=1&do=20:produce+p0+b&do=34:kill+b1&do=36:wait+12s&do=44:produce+p0+d&do=50:wait+5s&"
	// The record c is lost with b1, and d is written at its offset.
	lostThird = single + "acks=1&do=5:produce+p0+a&do=6:produce+p0+b&do=7:produce+p0+c&do=10:kill+b1&do=14:wait+12s&do=40:produce+p0+d&t=60&"
)

// What the reading says is true of the run: each case is one in which another sentence would come easily.
func TestReading(t *testing.T) {
	for _, tc := range []struct {
		query     string
		says, not []string
	}{
		// No coordinator: what was committed stays so, and nobody knows what a crash would do.
		{"every=500&do=30:kill+b1&t=33", []string{"no coordinator. Lag: 1 by the last commits that were confirmed, without orders-0", "2 records are processed, and no coordinator has confirmed a commit of them"}, []string{"6 records", "a crash"}},
		// Without a committed offset auto.offset.reset decides.
		{"partitions=1&reset=latest&commit=manual&every=300&t=40", []string{"12 records are processed and not committed: by auto.offset.reset = latest who takes over begins at the end"}, []string{"a crash before"}},
		{"partitions=1&reset=earliest&commit=manual&every=300&t=40", []string{"12 records are processed and not committed: a crash before the commit arrives repeats them."}, nil},
		// A copy by the network, and one by the producer.
		{single + "idempotence=false&do=4:double-next+p0+b1&do=5:produce+p0+a&t=14", []string{"The network delivered a request twice. With enable.idempotence = false the leader cannot tell."}, []string{"sent a batch again"}},
		{single + "idempotence=false&do=4:drop-next+b1+p0&do=5:produce+p0+a&t=20", []string{"The producer sent a batch again after NETWORK_EXCEPTION."}, []string{"The network delivered"}},
		// Who is in sync and dead acknowledges nothing.
		{single + "do=5:produce+p0+a&do=12:kill+b2&do=12:kill+b3&do=14:produce+p0+b&t=20", []string{"A write with acks = all waits now: b2, b3 are in sync and cannot fetch."}, []string{"An acknowledgement now means"}},
		{single + "do=5:produce+p0+a&do=12:pause+b2&t=13", []string{"A write with acks = all waits now: b2 is in sync and cannot fetch."}, []string{"An acknowledgement now means"}},
		{single + "do=5:cut-one-way+b1+b3&t=6", []string{"waits now: b3 is in sync and cannot fetch."}, []string{"An acknowledgement now means"}},
		{single + "do=5:produce+p0+a&t=20", []string{"An acknowledgement now means that b1, b2, b3 have the record"}, []string{"waits now"}},
		// Lag where the log can be read, and never below nothing.
		{"brokers=3&rf=1&partitions=3&every=200&work=10&do=41:kill+b3&t=44", []string{"Lag: 2, without orders-2, which cannot be read."}, []string{"Lag: -"}},
		{"partitions=2&every=300&do=30:commit+billing-2+orders-1+@50&t=36", []string{"Lag: 3.", "What billing has committed is past the end of the log: orders-1 (committed 50, end 4)."}, []string{"Lag: -"}},
		// Who reads on behind a seek passes over nothing.
		{"tick-ms=1000&partitions=1&members=1&every=500&commit=before&work=3000&do=8:seek+billing-1+orders-0+@0&t=9", nil, []string{"never processed"}},
		// A leader that is about to serve.
		{single + "do=5:produce+p0+a&do=12:kill+b1&do=13:start+b1&t=14", []string{"b1, the leader of orders-0, is starting. "}, []string{"does not run"}},
		{single + "do=5:produce+p0+a&do=12:kill+b1&t=14", []string{"b1, the leader of orders-0, does not run. "}, []string{"is starting"}},
		// A record at an offset at which another was processed once is not processed twice.
		{reused + "t=70", []string{"1 acknowledged record is lost"}, []string{"more than once"}},
	} {
		_, p := frame(t, tc.query)
		labtest.CheckText(t, tc.query, labtest.Reading(p), tc.says, tc.not)
	}
}

// A leader that is not in sync is said to lack as many committed records as are lost where it leads.
func TestOutlookUnclean(t *testing.T) {
	for _, query := range []string{behindLeader, behindLeader + "do=20:produce+p0+b&", behindLeader + "do=20:produce+p0+b&do=21:produce+p0+c&"} {
		l, p := frame(t, query+"t=30")
		says := "not in sync, but with all that is committed"
		fork, _ := frame(t, query+"do=30:kill+b1&do=32:wait+12s&t=40")
		if n := len(fork.report.Lost); n > 0 {
			says = fmt.Sprintf(", without %d record", n)
		}
		if fork.parts[0].Leader != 2 {
			t.Fatalf("%s: b%d leads", fork.Address, fork.parts[0].Leader)
		}
		labtest.CheckText(t, l.Address.String(), labtest.Reading(p), []string{"If b1 ended now, b2 would lead orders-0 once the controller has noticed", says}, nil)
	}
}

// A write that waits for dead replicas is acknowledged once they are out of the in-sync replicas, where enough are left.
func TestPromise(t *testing.T) {
	for minISR, want := range map[string]string{"1": "2", "2": "1"} {
		query := single + "min-isr=" + minISR + "&do=5:produce+p0+a&do=12:kill+b2&do=12:kill+b3&do=14:produce+p0+b&"
		_, p := frame(t, query+"t=20")
		labtest.CheckText(t, query, labtest.Reading(p), []string{"waits now", "at least min.insync.replicas = " + minISR + " are left"}, nil)
		_, after := frame(t, query+"do=20:wait+12s&t=24")
		if was, is := number(p, "Acknowledged"), number(after, "Acknowledged"); was != "1" || is != want {
			t.Errorf("%s: acknowledged %s, then %s, want 1, then %s", query, was, is, want)
		}
	}
}

// A replica that has cleaned its log by itself lacks nothing.
func TestLacks(t *testing.T) {
	l, p := frame(t, "tick-ms=1000&partitions=1&policy=compact&segment-bytes=300&every=500&do=12:run-cleaner+b2&t=12")
	leader, follower := l.parts[0].Replicas[0], l.parts[0].Replicas[1]
	if follower.Bytes >= leader.Bytes {
		t.Fatalf("%d bytes of b2, %d of b1", follower.Bytes, leader.Bytes)
	}
	labtest.CheckText(t, l.Address.String(), labtest.Reading(p), []string{"If b1 ended now, b2 would lead orders-0 once the controller has noticed ("}, nil)
}

// What a crash is said to repeat is what it repeats.
func TestOutlookCrash(t *testing.T) {
	for _, reset := range []string{earliest, latest} {
		query := "partitions=1&commit=manual&every=300&do=38:stop-sending+p0&reset=" + reset
		l, _ := frame(t, query+"&t=40")
		fork, _ := frame(t, query+"&do=40:crash+billing-1&do=41:wait+20s&t=60")
		if says, comes := l.weigh(&l.View.Groups[0]).pending, fork.weigh(&fork.View.Groups[0]).twice; says != comes || (says > 0) != (reset == earliest) {
			t.Errorf("%s: %d are to be repeated, and %d are", l.Address, says, comes)
		}
	}
}

// A record's life and fate begin where it was written: what happened at its offset before belongs to another.
func TestReusedOffset(t *testing.T) {
	for _, tc := range []struct {
		query     string
		says, not []string
	}{
		{lostThird + "at=record:orders-0:2", []string{"47 b2 written by the leader", "For billing: delivered 1 time, processed 1 time"}, []string{"b1 written"}},
		{reused + "t=70&at=record:orders-0:1", []string{"b2 written by the leader", "processed for group billing. ", "For billing: delivered 1 time, processed 1 time"}, []string{"b1 written", "time 2", "22 b1", "24 billing"}},
		{reused + "t=70&at=record:orders-0:0", []string{"7 b1 written by the leader", "11 billing-1 processed for group billing."}, nil},
	} {
		l, p := frame(t, tc.query)
		labtest.CheckText(t, l.Address.String(), inspected(p.Inspector), tc.says, tc.not)
	}
	// The engine counts by offset, and so both records together.
	l, _ := frame(t, reused+"t=70")
	times := 0
	for e := range l.Cluster.Journal().All() {
		if b, ok := e.Body.(journal.RecordProcessed); ok && b.Offset == 1 {
			times++
		}
	}
	if of := l.fateOf(&l.View.Groups[0], &l.parts[0], l.parts[0].all[1]); times != 2 || of.Processed != 1 {
		t.Errorf("processed %d times at the offset, and the record %d times", times, of.Processed)
	}
}

// inspected writes the facts and tables of an inspector, a line for each.
func inspected(in *view.Inspector) string {
	var b strings.Builder
	for _, f := range in.Facts {
		fmt.Fprintf(&b, "%s: %s\n", f.Name, f.Value)
	}
	for _, table := range in.Tables {
		for _, row := range table.Rows {
			var cells []string
			for _, cell := range row.Items {
				for _, item := range cell {
					cells = append(cells, item.Text)
				}
			}
			fmt.Fprintln(&b, strings.Join(cells, " "))
		}
	}
	return b.String()
}

// No answer is waited for, or owed, where acks = 0; where there is one, it is.
func TestWaits(t *testing.T) {
	for _, tc := range []struct {
		query     string
		says, not []string
	}{
		{"partitions=1&acks=0&every=300&t=60&at=node:p0", nil, []string{"Waits for"}},
		{"partitions=1&acks=0&every=300&t=60&at=node:b1", nil, []string{"Owes"}},
		{single + "acks=1&do=5:produce+p0+a&t=6&at=node:p0", []string{"the answer to its Produce request"}, nil},
		{single + "do=5:produce+p0+a&t=7&at=node:b1", []string{"Owes: 1 answer"}, nil},
	} {
		_, p := frame(t, tc.query)
		labtest.CheckText(t, tc.query, inspected(p.Inspector), tc.says, tc.not)
	}
}

// Not everybody can read what is below the high watermark where there are transactions.
func TestVisible(t *testing.T) {
	for query, want := range map[string]string{
		single + "t=3": "consumers can read them now",
		single + "transactional=first&isolation=read_committed&t=3": "below the high watermark: read_uncommitted can read them now",
	} {
		_, p := frame(t, query)
		for _, c := range p.Picture.Ledger {
			if c.Name == "Visible" && c.Text != want {
				t.Errorf("%s: %q", query, c.Text)
			}
		}
	}
}

// The lag beside a strip and in the inspector is that of a log that can be read.
func TestLag(t *testing.T) {
	const query = "brokers=3&rf=1&partitions=3&every=200&work=10&do=41:kill+b3&t=44&at=partition:orders-2"
	_, p := frame(t, query)
	labtest.CheckText(t, query, inspected(p.Inspector), []string{"cannot be read"}, []string{"-6"})
	if s := p.Picture.Strips[2]; s.Lag != "cannot be read" {
		t.Errorf("%s: lag %q", s.Name, s.Lag)
	}
	const past = "partitions=2&every=300&do=30:commit+billing-2+orders-1+@50&t=36"
	l, p := frame(t, past)
	watermark := int(l.parts[1].Log.HighWatermark)
	if s, want := p.Picture.Strips[1], fmt.Sprintf("billing: lag 0, committed %d past the high watermark", 50-watermark); s.Lag != want {
		t.Errorf("%s: lag %q, want %q", s.Name, s.Lag, want)
	}
}
