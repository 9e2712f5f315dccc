package offsets

import (
	"strings"
	"testing"

	"loglab/labs/labtest"
	"loglab/labs/view"
)

// wordsOf writes all that a page says in words and numbers: its reading, marks, cards, sink, tables and inspector.
func wordsOf(p *view.Page) string {
	var b strings.Builder
	line := func(parts ...string) { b.WriteString(strings.Join(parts, " ") + "\n") }
	tables := p.Picture.Tables
	for _, s := range p.Picture.Strips {
		line(s.Name, stripOf(p, s.Name), s.Owner, s.Lag, s.Count, gapsOf(p, s.Name))
		for _, f := range s.Flags {
			line(s.Name, "flag", f.Text)
		}
	}
	for _, n := range p.Picture.Cluster.Clients {
		line("card", n.Name+":", n.Words+";", strings.Join(append(n.Lines, n.Faults...), "; "))
	}
	for _, c := range p.Picture.Ledger {
		line(c.Name+":", c.Number, c.Text)
	}
	for _, k := range p.Picture.Legend {
		line("legend", k.Text)
	}
	if p.Inspector != nil {
		for _, f := range p.Inspector.Facts {
			line(f.Name+":", f.Value)
		}
		tables = append(tables, p.Inspector.Tables...)
	}
	for _, t := range tables {
		line(t.Caption, strings.Join(t.Head, " | "), t.More)
		for _, r := range t.Rows {
			var cells []string
			for _, items := range r.Items {
				for _, i := range items {
					cells = append(cells, i.Text)
				}
			}
			line(strings.Join(cells, " | "))
		}
	}
	return b.String() + labtest.Reading(p)
}

// truth is what a page must say of a run, and what of it is not so.
type truth struct {
	query       string
	says, lacks []string
}

func check(t *testing.T, truths []truth) {
	t.Helper()
	for _, run := range truths {
		_, p := frame(t, run.query)
		got := wordsOf(p)
		labtest.CheckText(t, run.query, got, run.says, run.lacks)
	}
}

// Without a coordinator nobody can say what is committed: here 3, 1, 1 and 3 are, which the page says again when there is one.
func TestNoCoordinator(t *testing.T) {
	const run = "brokers=3&commit=after-record&do=6:kill+b2"
	check(t, []truth{
		{run + "&t=8",
			[]string{"How far billing is behind is not known", "orders-0 | not known | 3 | 3 | 3 | not known | 0 | not known | not known", "Lost: – not known", "billing-2’s commit failed in tick 8: NETWORK_EXCEPTION"},
			[]string{"ahead of its commits", "where nothing is committed,", "nothing committed", "not committed\n", "to repeat", "was not taken"}},
		{run + "&t=16", []string{"orders-0 flag committed 3", "orders-1 flag committed 2"}, []string{"not known"}},
		{"commit=after-record&do=3:crash+billing-1&do=5:kill+b1&t=6", nil, []string{"no member of the group"}},
		{"commit=after-record&do=5:kill+b1&t=7&at=group:billing", []string{"State: nobody coordinates it now"}, []string{"knows of no such group"}},
		{"commit=after-record&do=5:kill+b1&t=7&at=node:billing-1", []string{"The group: nobody coordinates it now"}, []string{"does not count it"}},
	})
}

// Who reads a partition for the group is a member of it, not one that was removed and has not noticed.
func TestZombieDoesNotRead(t *testing.T) {
	check(t, []truth{
		{"partitions=2&records=8&commit=after-record&do=2:pause+billing-2&t=14",
			[]string{"orders-1 0:✓ 1:✓ 2:✓ 3:✓ 4:busy 5:polled 6:polled 7:polled read by billing-1", "card billing-2: paused; no member of the group; takes for its own orders-1"},
			[]string{"read by billing-2", "committed and not processed yet"}},
		{"partitions=1&records=8&commit=after-record&do=2:pause+billing-1&do=13:crash+billing-2&t=14",
			[]string{"billing-2 crashed in tick 13. orders-0: it had processed up to offset 2 and had committed 3.", "nobody of billing reads it"},
			[]string{"Others read by then", "committed and not processed yet", "read by billing-1"}},
		{"partitions=1&records=0&consumers=3&process=2&commit=before&do=0:commit+billing-1+orders-0+@12&do=1:crash+billing-1&t=12",
			[]string{"billing-2 began at 0 in tick 10: nothing is repeated and nothing lost."}, []string{"in tick 9"}},
		{"partitions=1&records=8&commit=after-record&do=2:pause+billing-1&do=13:crash+billing-1&t=14", []string{"billing-1 crashed in tick 13. Others read by then what it took for its own."}, nil},
		{"partitions=2&records=6&process=3&static=on&session-timeout=30000&poll-interval=3000&commit=after-batch&do=1:pause+billing-2&do=4:rebalance+billing-1&t=9",
			[]string{"billing-2 is a member and does not know of generation 2."}, []string{"billing-2 is no member any more"}},
		{"partitions=2&records=6&reset=none&consumers=3&do=6:crash+billing-3&t=16",
			[]string{"The application of billing-1 has ended with an error: it does not join again."}, []string{"learns of it by its next heartbeat"}},
	})
}

// What a zombie has in hand is not lost: resumed, it processes both. What a replay will read again is not lost either.
func TestPassedAndNotLost(t *testing.T) {
	const zombie = "partitions=2&records=6&poll-records=3&commit=before&do=2:pause+billing-1"
	const static = "static=on&partitions=2&records=6&poll-records=3&commit=before&do=2:crash+billing-1&do=12:replay+billing+from+earliest"
	check(t, []truth{
		{zombie + "&t=12",
			[]string{"2 records are only in hands that do not read for billing any more: orders-0 @1 (billing-1), orders-0 @2 (billing-1).", "Lost: 0", "orders-0 0:✓ 1:polled 2:polled"},
			[]string{"lost to billing"}},
		{zombie + "&do=13:resume+billing-1&t=18", []string{"Never: 0", "Lost: 0"}, []string{"lost to billing", "only in hands"}},
		{zombie + "&do=13:crash+billing-1&t=14", []string{"2 records are lost to billing: orders-0 @1, orders-0 @2."}, []string{"only in hands"}},
		{static + "&t=13", []string{"4 records are passed over by billing", "what is under way (replay billing from earliest) decides whether they are read again"}, []string{"nobody will process"}},
		{static + "&t=36", []string{"Never: 0", "Lost: 0"}, nil},
		{"sink=offsets&threads=3&slow-every=4&partitions=2&records=8&t=8",
			[]string{"Lost: 4 the group goes on behind them", "The sink has stored a later offset and not their effects", "Ignored: 4 effects below the offset that the sink had stored"}, []string{"Lost: 4 committed", "had already", "lost: committed"}},
		{"partitions=5&records=1&rate=1&consumers=2&poll-records=2&reset=latest&process=1&commit=auto&auto-interval=3000&threads=2&commits=highest&slow-every=2&on-revoke=off&sink=offsets&do=3:commit+billing-1&do=3:seek+billing-1+orders-0+@11&do=2:pause+billing-1&do=11:resume+billing-1&t=15",
			[]string{"of 2 records the sink has stored a later offset and ignores the effects, and past the others the group has committed."}, []string{"orders-2 flag sink stored"}},
	})
}

// A commit whose answer was lost has arrived: OffsetCommitted stands in the journal at tick 4.
func TestCommitsThatFail(t *testing.T) {
	check(t, []truth{
		{"partitions=2&records=8&do=3:drop-next+b1+billing-1&do=3:commit+billing-1&t=36",
			[]string{"billing-1’s commit failed in tick 4 and was taken all the same: NETWORK_EXCEPTION", "orders-0 flag committed 2"}, []string{"was not taken"}},
		{"partitions=2&records=8&do=3:drop-next+billing-1+b1&do=3:commit+billing-1&t=36", []string{"billing-1’s commit failed in tick 4: NETWORK_EXCEPTION"}, []string{"all the same", "flag committed"}},
		{"consumers=1&partitions=1&records=6&commit=after-record&do=2:pause+billing-1&do=16:resume+billing-1&t=17",
			[]string{"billing-1’s commit was not taken in tick 17: UNKNOWN_MEMBER_ID. What is committed stays as it was"}, []string{"by others"}},
	})
}

// What the coordinator has lost or removed counts as committed neither at a crash nor in the growth of the lag.
func TestCommitsThatGo(t *testing.T) {
	const expired = "consumers=1&partitions=1&records=6&offsets-retention=1&commit=after-record&do=8:leave+billing-1&do=9:wait+20m&do=10:start+billing-1&do=11:crash+billing-1"
	check(t, []truth{
		{expired + "&t=11", []string{"it had processed none (the group up to 5) and committed nothing.", "has grown by 5 in 5 ticks and the 20 min waited in them"}, []string{"shrunk"}},
		{expired + "&t=9", []string{"has grown by 3 in 5 ticks", "The coordinator knows of no group billing any more"}, []string{"Nobody has joined"}},
		{"brokers=3&offsets-replicas=1&commit=after-record&process=1&do=6:power-loss+b2&do=10:start+b2&do=20:crash+billing-1&t=21",
			[]string{"orders-0: it had processed up to offset 2 and had committed nothing. orders-1: it had processed up to offset 2 and had committed 1.", "has grown by 7"}, nil},
		{"rate=4&partitions=1&consumers=1&do=6:wait+60s&t=8", []string{"has grown by 260 in 5 ticks and the 1 min waited in them"}, nil},
		{"partitions=1&consumers=1&records=6&do=5:delete-records+orders-0+@5&t=7", []string{"Applied once: 6", "orders-0 5:done read by billing-1 lag none sink: 6 once, 0 never", "has shrunk by 5"}, nil},
	})
}

// Where a crash leads: what the page says before is what the fork shows, in which the consumer crashes.
func TestCrashesAndTheirForks(t *testing.T) {
	const (
		again   = "partitions=1&consumers=1&commit=before&records=3&do=6:seek+billing-1+orders-0+@0"
		sink    = "partitions=1&consumers=2&commit=before&records=6&sink=offsets"
		outside = "partitions=1&consumers=2&records=6&rate=3&do=2:commit+billing-1+orders-0+@20"
		held    = "partitions=1&consumers=2&records=6&do=2:cut+billing-1+b1&do=3:commit+billing-1"
		threads = "partitions=2&records=30&threads=1&commit=auto"
	)
	const early = "committed and not processed yet"
	check(t, []truth{
		{again + "&t=7", []string{"no record would be processed again and none lost"}, []string{early}},
		{sink + "&t=2", []string{"no record would be processed again and none lost"}, []string{early}},
		{sink + "&do=2:crash+billing-1&t=14", []string{"billing-2 began at 1 in tick 11: nothing is repeated and nothing lost"}, nil},
		{outside + "&t=3", []string{"What is committed of orders-0 is beyond the end: once the log has reached that, whoever takes over begins there instead."}, []string{early}},
		{outside + "&do=3:crash+billing-1&t=20", []string{"billing-2 began at 20 in tick 11: 18 records were never processed"}, nil},
		{held + "&t=4", []string{"3 records would be processed again and none lost", "3 never 0–6 3 to repeat"}, []string{"flag commit under way"}},
		{held + "&do=4:crash+billing-1&t=18", []string{"3 records were processed twice"}, nil},
		{threads + "&t=6", []string{"The rebalance also drops what waits for the threads of the other consumers, and by then that is committed: 24 records now."}, nil},
		{threads + "&do=6:crash+billing-1&t=16", []string{"Lost: 41"}, nil},
	})
}

// What is committed, or not: a clock ahead, an offset beyond the log, a log that cannot be read, an answer not there yet.
func TestGapsAndLag(t *testing.T) {
	const delayed = "partitions=1&consumers=2&records=0&rate=1&process=4&commit=after-record&reset=by_duration:PT5S&do=1:delay+billing-2+b1+700ms&do=40:crash+billing-1"
	check(t, []truth{
		{"records=0&partitions=1&do=1:skew+p0+10m&do=2:produce+p0+a&do=3:produce+p0+b&t=8", []string{"The lag of billing is 2", "ms ahead by its timestamp"}, []string{"all that is visible is committed"}},
		{"partitions=2&records=0&t=8", []string{"The lag of billing is 0: all that is visible is committed.\n"}, nil},
		{"partitions=1&consumers=2&records=6&reset=latest&rate=1&do=2:commit+billing-1+orders-0+@50&t=8",
			[]string{"nothing that the log has is committed of some of its partitions, and auto.offset.reset = latest"}, []string{": nothing is committed of some"}},
		{"partitions=2&brokers=3&records=3&do=5:commit+billing-1&do=7:kill+b2&t=9", []string{"No gap in billing where it can be told"}, []string{"wherever it reads"}},
		{"partitions=1&consumers=1&process=0&records=6&do=2:seek+billing-1+orders-0+@6&t=4",
			[]string{"Of what poll gave 6 records are not done", "orders-0 0 1 2 3 4 5 read by billing-1 lag none sink: 0 once, 6 never 0–6 6 ahead"}, []string{"All that poll gave is done", "6 in hand"}},
		{"commit=manual&handler=skip&partitions=1&consumers=1&records=1&fails-at=0&attempts=1&poll-records=1&t=6", []string{"0–1 1 ahead", "All that poll gave is done"}, []string{"1 in hand"}},
		{delayed + "&t=52", nil, []string{"has no position"}},
		{"partitions=1&consumers=1&records=0&reset=by_duration:PT5S&t=5", []string{"billing has no position in orders-0: nothing is committed"}, nil},
		{"rate=1&handler=retry&partitions=1&consumers=2&records=6&do=4:commit+billing-1+orders-0+@4&do=5:crash+billing-1&t=22",
			[]string{"Of 26 records behind it 9 are done. Nobody has it in hand now."}, []string{"Nothing behind it is processed"}},
		{"rate=1&handler=seek&partitions=1&consumers=2&records=6&do=4:commit+billing-1+orders-0+@4&do=5:crash+billing-1&t=22",
			[]string{"Nobody has it in hand now."}, []string{"again and again"}},
	})
}

// Cards and the inspector say what a consumer does: one that stands still does nothing, and the last end of a process counts.
func TestCardsAreTrue(t *testing.T) {
	check(t, []truth{
		{"do=2:pause+billing-1&t=5&at=node:billing-1", []string{"card billing-1: paused;"}, []string{"; done with orders-0 @1", "Next heartbeat", "Must poll"}},
		{"do=2:crash+billing-1&do=4:start+billing-1&do=14:leave+billing-1&t=18", []string{"card billing-1: closed in tick 15"}, []string{"card billing-1: crashed"}},
		{"do=2:crash+billing-1&do=4:start+billing-1&do=14:leave+billing-1&do=16:start+billing-1&do=17:crash+billing-1&t=18", []string{"card billing-1: crashed in tick 17"}, nil},
		{"threads=3&slow-every=4&partitions=2&records=8&t=3&at=node:billing-1", []string{"After the last done"}, []string{"Processed below"}},
		{"heartbeats=in-loop&process=1&slow-every=1&partitions=1&consumers=1&t=3&at=node:billing-1", []string{"Next heartbeat: between two records or in poll, not before tick 4"}, nil},
	})
}
