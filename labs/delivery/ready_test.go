package delivery

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/labtest"
)

// want is what a ready-made run shows at its tick; what is empty is not looked at.
type want struct {
	strips, flags, brackets, ledger, states map[string]string
	uncommitted, committed                  string // what each reader has seen
	says                                    []string
}

// The strips of runs of the application, when all is over: written once, and written twice with the first aborted.
var (
	billedOnce  = map[string]string{"orders-0": "a1 b1 c1", "bills-0": "o0 o1 o2 C"}
	billedAgain = map[string]string{"orders-0": "a1 b1 c1", "bills-0": "o0 o1 o2 A o0 o1 o2 C"}
	onceForAll  = map[string]string{readCommitted: "3 billed once", readUncommitted: "3 billed once"}
	onceForSome = map[string]string{readCommitted: "3 billed once", readUncommitted: "0 billed once, 3 more than once", "Saw aborted records": "3 read_uncommitted; read_committed: 0"}
)

var wants = map[string]want{
	"A lost answer, without idempotence": {
		strips: map[string]string{"orders-0": "a1 a1"}, ledger: map[string]string{"Twice in the log": "1 one call of send, more than one record"},
		says: []string{"At least once from a call of send that is acknowledged to its record in orders", "So far, of 1 record handed in: 1 acknowledged, 1 is in orders, 1 of them twice."},
	},
	"A lost answer, with idempotence": {
		strips: map[string]string{"orders-0": "a1"}, says: []string{"Exactly once from a call of send that is acknowledged to its record in orders", "Taken for second copies, 1 time", "So far, of 1 record handed in: 1 acknowledged, 1 is in orders."},
	},
	"A lost answer, side by side": {strips: map[string]string{"orders-0": "a1"}},
	"A lost request, and nothing is sent again": {
		strips: map[string]string{"orders-0": "b1"}, says: []string{"At most once from a call of send", "1 is in orders, 1 is not there."},
	},
	"Two calls of send that idempotence does not merge": {
		strips: map[string]string{"orders-0": "paid paid"}, says: []string{"1 record has the same key and value as an earlier one, as in ticks 1 and 4: two calls of send, two records."},
	},
	"A crash before the answer, with an outbox table": {
		strips: map[string]string{"orders-0": "a1 a1"}, ledger: map[string]string{"Outbox rows": "1 1 marked as published; published again: 1"}, says: []string{"At least once from a row of the outbox table"},
	},
	"A transaction that hangs": {
		strips: map[string]string{"orders-0": "a1 x1 x2"}, flags: map[string]string{"orders-0": "last stable 0, watermark, end 3"}, states: map[string]string{"tx-0": "Ongoing"}, uncommitted: "a1 x1 x2",
		says: []string{"read_committed readers wait for 3 offsets, 2 of them records that are in no transaction or in one that is committed.", "If nobody ends it, its coordinator aborts it in tick"},
	},
	"An open transaction among others": { // TXN-01
		strips: map[string]string{"orders-0": "x0 a1 x1 b1 b2 C c1 A"}, flags: map[string]string{"orders-0": "last stable 1, watermark, end 8"}, brackets: map[string]string{"orders-0": "1–2 tx-0 open, 3–6 tx-1 committed, 6–8 tx-2 aborted"},
		states: map[string]string{"tx-0": "Ongoing", "tx-1": "CompleteCommit", "tx-2": "CompleteAbort"}, uncommitted: "x0 a1 x1 b1 b2 c1", committed: "x0",
		says: []string{"tx-0 holds orders-0 up: its transaction is open from offset 1 on, so the last stable offset is 1 while the high watermark is 8."},
	},
	"The same, aborted": {
		strips: map[string]string{"orders-0": "x0 a1 x1 b1 b2 C c1 A A"}, flags: map[string]string{"orders-0": "stable, watermark, end 9"}, uncommitted: "x0 a1 x1 b1 b2 c1", committed: "x0 x1 b1 b2",
		says: []string{"2 records of the first are in a transaction that was aborted"},
	},
	"A zombie is fenced": { // TXN-03
		strips: map[string]string{"orders-0": "a A new C"}, committed: "new", uncommitted: "a new",
		says: []string{"p0 got INVALID_PRODUCER_EPOCH in tick 27, the answer to its Produce request.", "p0 got PRODUCER_FENCED in tick", "p1 began with the same transactional.id. The epoch went from 0 to 1"},
	},
	"A transaction that takes too long": { // TXN-04
		strips: map[string]string{"orders-0": "a b c A"}, flags: map[string]string{"orders-0": "stable, watermark, end 4"}, uncommitted: "a b c",
		says: []string{"The coordinator began to abort the transaction of tx-0 in tick 8: transaction.timeout.ms was over.", "p0 got PRODUCER_FENCED in tick 15, the answer to its EndTxn request. That is fatal"},
	},
	"A batch given up while its transaction commits": {
		strips: map[string]string{"orders-0": "a b A C"}, uncommitted: "a b",
		says: []string{"2 acknowledged", "1 acknowledged record was lost here", "c was no copy: the producer had given up a batch and used its sequences again", "can cost the next one a record", "The leader may have written the batch. That transaction could only be aborted."},
	},
	"commitTransaction returns, and nobody sees it yet": {
		strips: billedOnce, flags: map[string]string{"bills-0": "last stable 0, watermark 3, end 4"}, states: map[string]string{"tx-billing-1": "PrepareCommit"}, uncommitted: "o0 o1 o2",
		says: []string{"its COMMIT marker stands at offset 3, which is not below the high watermark 3 yet"},
	},
	"The coordinator dies in PrepareCommit": {
		states: map[string]string{"tx-billing-1": "CompleteCommit"}, committed: "o0 o1 o2", ledger: onceForAll,
	},
	"Lag stays 1 behind a marker": { // OFF-15
		strips: map[string]string{"orders-0": "a b c C", readCommitted: "a b c ·"}, flags: map[string]string{"orders-0": "stable, watermark, end 4", readCommitted: "committed 3, position 4"},
		says: []string{"and stays: it has read all there is, to position 4, and has committed 3, the offset of its last record + 1."},
	},
	"The same, committing the position": {
		strips: map[string]string{"orders-0": "a b c C"}, flags: map[string]string{readCommitted: "committed 4, position 4"},
	},
	"Latency, with transactions and without":      {says: []string{"From send to a reader: 4 acknowledged records took on average 2.8 ticks to read_uncommitted and 9.5 to read_committed, where a1 took longest, 14 ticks; 4 records have come to read_uncommitted alone."}},
	"Read, process, write: one transaction":       {strips: billedOnce, ledger: onceForAll, committed: "o0 o1 o2", uncommitted: "o0 o1 o2", states: map[string]string{"tx-billing-1": "CompleteCommit"}},
	"It crashes after poll":                       {strips: billedOnce, ledger: onceForAll, committed: "o0 o1 o2", says: []string{"billing-1 crashed in tick 3, after poll."}},
	"It crashes after processing one order":       {strips: billedOnce, ledger: onceForAll, committed: "o0 o1 o2", says: []string{"billing-1 crashed in tick 4, after processing."}},
	"It crashes after its bills are written":      {strips: billedAgain, ledger: onceForSome, committed: "o0 o1 o2", says: []string{"billing-1 crashed in tick 10, after produce."}},
	"It crashes after its offsets are sent":       {strips: billedAgain, ledger: onceForSome, committed: "o0 o1 o2", says: []string{"billing-1 crashed in tick 17, after offsets."}},
	"It crashes during the commit":                {strips: billedOnce, ledger: onceForAll, committed: "o0 o1 o2", says: []string{"billing-1 crashed in tick 17, during commit."}},
	"It crashes after the commit":                 {strips: billedOnce, ledger: onceForAll, committed: "o0 o1 o2", says: []string{"billing-1 crashed in tick 19, after commit."}},
	"With and without transactions, side by side": {strips: billedAgain, ledger: onceForSome},
	"Without transactions: at least once": {
		strips: map[string]string{"bills-0": "o0 o1 o2 o0 o1 o2"}, ledger: map[string]string{readCommitted: "0 billed once, 3 more than once"}, says: []string{"At least once from an order to its bill"},
	},
	"Without transactions, offsets first: at most once": {
		strips: map[string]string{"bills-0": ""}, ledger: map[string]string{readCommitted: "0 billed once, 3 lost"}, says: []string{"At most once from an order to its bill"},
	},
	"Exactly once, and still two e-mails": { // TXN-05
		strips: map[string]string{"bills-0": "o0 o1 o2 A o0 o1 o2 C", "e-mail": "2× 2× 2×"}, committed: "o0 o1 o2", uncommitted: "o0 o1 o2 o0 o1 o2",
		ledger: map[string]string{readCommitted: "3 billed once", readUncommitted: "0 billed once, 3 more than once", "E-mails": "0 once, 3 more than once"},
		flags:  map[string]string{"orders-0": "billing committed 3, position 3, stable, watermark, end 3"},
		says:   []string{"Outside (e-mail): 0 once, 3 more than once, 6 effects in all.", "At least once from an order to its e-mail"},
	},
	"The same with a plain database":                {strips: map[string]string{"plain database": "2× 2× 2×"}, committed: "o0 o1 o2", says: []string{"6 effects in all"}},
	"The same with an inbox table":                  {strips: map[string]string{"database with an inbox": "1× 1× 1×"}, committed: "o0 o1 o2", says: []string{"3 effects in all", "Exactly once from an order to its row in the database with an inbox"}},
	"A plain insert, and a crash before the commit": {strips: map[string]string{"plain database": "2× 2× 2×"}, says: []string{"billing-1 crashed in tick 6, before commit."}},
	"An insert that is idempotent":                  {strips: map[string]string{"idempotent database": "1× 1× 1×"}},
	"The offset in the database’s own transaction":  {strips: map[string]string{"database with offsets": "1× 1× 1×"}},
	"An order that was written twice":               {strips: map[string]string{"orders-0": "a1 a1", "idempotent database": "1× 1×"}},
}

// Each ready-made run shows its point in picture, ledger and reading.
func TestReadyMadeRuns(t *testing.T) {
	for _, run := range readyRuns() {
		t.Run(run.Title, func(t *testing.T) {
			w, known := wants[run.Title]
			if !known {
				t.Fatal("nothing is expected of it")
			}
			_, p := frame(t, "v=1&"+run.Query)
			check := func(what string, want map[string]string, get func(string) string) {
				t.Helper()
				for name, text := range want {
					if got := get(name); got != text {
						t.Errorf("%s of %s: %q, want %q", what, name, got, text)
					}
				}
			}
			check("strip", w.strips, func(n string) string { return stripOf(p, n) })
			check("marks", w.flags, func(n string) string { return flagsOf(p, n) })
			check("brackets", w.brackets, func(n string) string { return bracketsOf(p, n) })
			check("ledger", w.ledger, func(n string) string { return countOf(p, n) })
			check("state", w.states, func(n string) string { return stateOf(p, n) })
			if got := seenBy(p, readUncommitted); w.uncommitted != "" && got != w.uncommitted {
				t.Errorf("read_uncommitted has seen %q, want %q", got, w.uncommitted)
			}
			if got := seenBy(p, readCommitted); got != w.committed && (w.committed != "" || w.uncommitted != "") {
				t.Errorf("read_committed has seen %q, want %q", got, w.committed)
			}
			for _, words := range w.says {
				if got := labtest.Reading(p); !strings.Contains(got, words) {
					t.Errorf("the reading lacks %q:\n%s", words, got)
				}
			}
			if len(p.Notices) > 0 {
				t.Errorf("notices: %v", p.Notices)
			}
		})
	}
	if len(wants) != len(readyRuns()) {
		t.Errorf("%d runs, and something is expected of %d", len(readyRuns()), len(wants))
	}
}

// No command of a ready-made run is refused, and each ends within some steps.
func TestReadyMadeRunsAreShort(t *testing.T) {
	const most = 34
	for _, run := range readyRuns() {
		a, err := labs.Parse(Lab(), labs.Pages, run.Query)
		if err != nil {
			t.Fatal(err)
		}
		if a.T > most {
			t.Errorf("%s: %d ticks", run.Title, a.T)
		}
		if run.Text == "" {
			t.Errorf("%s says nothing", run.Title)
		}
	}
}

// The ticks that a text gives are those of its run.
func TestTicksOfReadProcessWrite(t *testing.T) {
	at := slices.IndexFunc(readyRuns(), func(r labs.Ready) bool { return r.Title == "Read, process, write: one transaction" })
	run := readyRuns()[at]
	l, _ := frame(t, "v=1&"+run.Query)
	var read, complete kafka.Tick
	for e := range l.Cluster.Journal().All() {
		switch b := e.Body.(type) {
		case journal.RecordsRead:
			if b.TopicPartition.Topic == orders && read == 0 {
				read = e.Tick
			}
		case journal.TransactionCompleted:
			complete = e.Tick
		}
	}
	if want := fmt.Sprintf("%d ticks from what poll returns to CompleteCommit", complete-read); !strings.Contains(run.Text, want) {
		t.Errorf("%q lacks %q", run.Text, want)
	}
}

// At the start the orders are there, and nothing is billed.
func TestStart(t *testing.T) {
	_, p := frame(t, "")
	if got, want := stripOf(p, "orders-0"), "a1 b1 c1"; got != want {
		t.Errorf("orders-0 is %q, want %q", got, want)
	}
	if got, want := p.Picture.Title, "1 producer → orders → billing → bills; transactions in the application"; got != want {
		t.Errorf("the title is %q, want %q", got, want)
	}
	if got := stateOf(p, "tx-billing-1"); got != "Empty" {
		t.Errorf("tx-billing-1 is %s", got)
	}
}
