package delivery

import (
	"strings"
	"testing"

	"loglab/labs/labtest"
)

// What the reading says is true of the run: each case is one in which another sentence would come easily.
func TestReading(t *testing.T) {
	const (
		cutOff = "brokers=3&do=1:cut+b1+b2&do=1:cut+b1+b3&do=2:produce+p0+a&do=6:kill+b1&do=7:wait+15s&t=20"
		// p0 loses its first batch, and the answer to a second try.
		lostTwice = "request-timeout=500&do=1:drop-next+p0+b1&do=1:produce+p0+a&do=3:drop-next+p0+b1&do=10:wait+10s&t=30"
		timedOut  = openers + "do=1:begin-transaction+p0&do=1:produce+p0+a+a&do=6:wait+80s&do=12:abort-transaction+p0&do=16:begin-transaction+p0&do=16:produce+p0+b+b&do=22:commit-transaction+p0"
		twoOfOne  = openers + "producers=2&ids=shared&do=1:begin-transaction+p0&do=1:produce+p0+a+a&"
		refused   = "seed=1&brokers=2&do=1:alter-config+orders+min.insync.replicas+2&do=1:kill+b2&do=2:wait+15s&do=3:delay+b1+p0+100ms&do=3:produce+p0+a&do=4:wait+125s&t=20"
		aborted   = "transactions=producers&isolation=read_uncommitted&records=0&do=1:begin-transaction+p0&do=1:produce+p0+a+a1&do=7:abort-transaction+p0&t=40&"
	)
	for _, tc := range []struct {
		query     string
		says, not []string
	}{
		// An order whose bill is in an open transaction is not lost, though the database is behind it.
		{"outside=offsets&t=14", []string{"Bills for read_committed: 0 once, 3 not yet"}, []string{"lost"}},
		{"outside=offsets&t=20", []string{"Bills for read_committed: 3 once."}, []string{"3 lost"}},
		{"outside=offsets&do=1:crash+billing-1+during+commit&t=17", []string{"Bills for read_committed: 0 once, 3 not yet"}, []string{"3 lost"}},

		// What is acknowledged can be lost, and the guarantee says when.
		{alone + "acks=1&" + cutOff, []string{"No promise from a call of send", "with acks = 1 the leader answers before any other replica has the record", "1 acknowledged record was lost here"}, []string{"At least once"}},
		{alone + "acks=1&outbox=on&" + cutOff, []string{"No promise from a row of the outbox table", "1 acknowledged record was lost here"}, []string{"At least once"}},
		{alone + "acks=all&brokers=3&t=5", []string{"with min.insync.replicas = 1 one that is alone in sync acknowledges what nobody else has"}, []string{"lost here"}},
		{alone + "do=1:produce+p0+a&do=6:power-loss+b1&do=8:start+b1&do=9:wait+20s&t=40", []string{"a power loss takes what is not on its disk yet", "1 acknowledged record was lost here"}, nil},
		{"do=21:power-loss+b1&do=22:start+b1&do=23:wait+30s&t=60", []string{"acknowledged records were lost here", "there is no order now that the application can read"}, []string{"yet that"}},

		// A call that fails.
		{alone + "retries=1&idempotence=true&" + lostTwice, []string{"Exactly once from a call of send that is acknowledged", "after retries = 1 or when delivery.timeout.ms = 120,000 is over, has its record once or not at all", "1 given up by its producer"}, nil},
		{alone + "retries=1&idempotence=false&" + lostTwice, []string{"At least once from a call of send that is acknowledged", "may have its record or not", "1 given up by its producer"}, nil},
		{alone + "do=1:cut+p0+b1&do=1:produce+p0+a&do=3:wait+130s&do=10:heal+p0+b1&t=30", []string{"p0 gave up a batch in tick 3: delivery.timeout.ms was over. The leader may have written the batch"}, []string{"batches were sent again"}},
		{alone + "retries=0&request-timeout=500&do=1:drop-next+b1+p0&do=1:produce+p0+a&t=14", []string{"p0 got no answer to its Produce request until tick", "The leader may have written the batch", "1 is in orders"}, []string{"Nothing of that batch", "the answer to"}},
		{alone + "outbox=on&retries=0&request-timeout=500&do=1:drop-next+b1+p0&do=1:produce+p0+a&do=10:wait+5s&t=34", []string{"At least once from a row of the outbox table", "2 are in orders"}, nil},
		{alone + "do=1:cut-one-way+b1+p0&do=1:produce+p0+a&do=3:wait+60s&do=4:wait+65s&t=20", []string{"Taken for second copies, 61 times"}, []string{"batches were"}},

		// A batch that is given up, though it is written: what comes next is taken for its copy, or is not.
		{givenUp + "&t=11", []string{"p0 got no answer to its Produce request until tick 11: NETWORK_EXCEPTION. The leader may have written the batch. It can only abort this transaction."}, []string{"no copy", "lost here"}},
		{givenUp + "&t=25", []string{"Taken for second copies, 1 time", "That transaction could only be aborted."}, []string{"no copy", "lost here", "only abort this"}},
		{givenUp + "&t=30", []string{"c was no copy", "1 acknowledged record was lost here"}, []string{"only abort this"}},
		{strings.Replace(givenUp, "produce+p0+c+c", "produce+p0+c", 1) + "&t=30", []string{"c1 was no copy"}, nil},
		{strings.Replace(givenUp, "version=1", "version=2", 1) + "&t=34", []string{"3 records handed in: 2 acknowledged, 3 are in orders"}, []string{"no copy", "lost here", "Taken for", "can cost"}},
		{alone + "request-timeout=500&do=1:drop-next+b1+p0&do=1:produce+p0+a+a&do=14:power-loss+b1&do=16:start+b1&do=17:wait+20s&do=18:produce+p0+b+b&t=30", []string{"Taken for second copies, 1 time", "1 acknowledged record was lost here"}, []string{"no copy"}},

		// After a crash: what is decided is not aborted any more.
		{"brokers=3&do=1:crash+billing-1+during+commit&t=28", []string{"Its transaction is committed, and with it the offset 3, at which a new process begins: that is decided, and its markers follow. By now its group has committed nothing."}, []string{"initTransactions"}},
		{"do=1:crash+billing-1+during+commit&t=17", []string{"Its EndTxn request is on its way", "and with it the offset 3, at which a new process begins"}, []string{"initTransactions"}},
		{"do=1:crash+billing-1+after+offsets&t=17", []string{"Its transaction is still open, and its group has committed nothing. A new process aborts it with initTransactions, and reads from there on."}, nil},
		{"outside=offsets&do=1:crash+billing-1+after+produce&t=12", []string{"Its transaction is still open, and the database has the offset 3."}, []string{"its group has committed nothing"}},
		{"transactions=off&outside=offsets&do=1:crash+billing-1+after+processing&t=6", []string{"it reads on from there: the database has the offset 1."}, []string{"committed nothing"}},

		// A zombie that wrote no row writes its bill.
		{"transactions=off&outside=offsets&instances=2&static=off&do=3:pause+billing-1&do=4:wait+10s&do=30:resume+billing-1&t=50", []string{"No promise from an order to its bill", "taken for dead and goes on writes its bill", "3 more than once"}, []string{"At most once from an order to its bill"}},

		// What a producer whose transaction timed out can still do.
		{"version=2&" + timedOut + "&t=10", []string{"an abort with it is taken for the one that was done"}, []string{"is fenced"}},
		{"version=2&" + timedOut + "&t=30", []string{"read_committed b.", "so whoever still has the old one is fenced"}, []string{"PRODUCER_FENCED"}},
		{twoOfOne + "do=7:start+p1&do=13:kill+p1&t=16", []string{"an abort with it is taken for the one that was done"}, []string{"is fenced"}},
		{twoOfOne + "do=6:wait+75s&do=12:start+p1&do=20:abort-transaction+p0&t=30", []string{"so whoever still has the old one is fenced", "p0 got PRODUCER_FENCED"}, []string{"an abort with it"}},
		{"version=1&" + timedOut + "&t=30", []string{"so whoever still has the old one is fenced", "PRODUCER_FENCED"}, nil},
		{openers + "brokers=3&producers=2&ids=shared&do=1:begin-transaction+p0&do=1:produce+p0+a+a&do=12:pause+p0&do=13:start+p1&t=18", []string{"The coordinator began to abort the transaction of tx-0 in tick 18"}, nil},

		// Orders of aborted transactions, where the application reads them.
		{aborted + "output=off&outside=inbox", []string{"Exactly once from an order to its row", "orders whose transaction is aborted count too"}, nil},
		{aborted + "output=on", []string{"orders whose transaction is aborted count too"}, nil},
		{"transactions=producers&records=0&output=off&outside=inbox&t=9", []string{"Exactly once from an order to its row"}, []string{"count too"}},

		// Latency: the same records for both readers, and no ticks that are longer than others.
		{amongOthers + "&t=25", []string{"x0 took 3 ticks to read_uncommitted and 3 to read_committed; 5 records have come to read_uncommitted alone."}, nil},
		{"brokers=3&do=28:kill+b2&do=29:wait+10s&t=33", nil, []string{"From send to a reader: of", "ticks to read_committed"}},

		{alone + "idempotence=false&" + lostAnswer, []string{"a1 took 3 ticks to read_uncommitted and 3 to read_committed"}, nil},
		{alone + "do=1:produce+p0+a&do=2:wait+5s&do=6:produce+p0+b&do=7:produce+p0+c&t=14", []string{"2 acknowledged records took on average", "1 record has a wait on the way"}, nil},

		// What is on its way is not lost, and what nobody can be asked about is not nothing.
		{"transactions=off&commit=before&do=8:crash+billing-1&t=8", []string{"Bills for read_committed: 0 once, 3 not yet"}, []string{"3 lost"}},
		{"transactions=off&commit=before&do=8:pause+b1&do=10:crash+billing-1&t=12", []string{"0 once, 3 not yet"}, []string{"3 lost"}},
		{"do=3:crash+billing-1+after+commit&do=21:kill+b1&t=22", []string{"its group has committed 3, as its coordinator told last: it has none now"}, []string{"committed nothing"}},
		{"transactions=off&commit=before&do=1:crash+billing-1+after+commit&do=8:kill+b1&t=9", []string{"0 once, 3 lost"}, []string{"not yet"}},
		{"transactions=off&do=8:crash+billing-1&t=8", []string{"its group has committed nothing, and a commit of 3 is on its way"}, nil},
		{"brokers=3&do=1:crash+billing-1+during+commit&do=28:kill+b2&t=29", []string{"Its transaction was in PrepareCommit when its coordinator told last; the next one goes on from what its log has."}, []string{"initTransactions"}},
		{"brokers=3&do=16:crash+billing-1&do=17:kill+b2&t=22", []string{"Its transaction was in Ongoing when its coordinator told last"}, nil},
		{"instances=2&do=8:crash+billing-2&t=10", []string{"billing-1 reads on in its place"}, []string{"When a process is started"}},
		{alone + "do=1:produce+p0+a&do=2:kill+p0&t=2", []string{"0 are in orders, 1 is not there yet, 1 forgotten in a crash"}, []string{"given up"}},
		{alone + "retries=0&do=1:drop-next+p0+b1&do=1:produce+p0+a&do=4:produce+p0+b&t=6", []string{"1 is in orders, 1 is not there yet"}, nil},
		{alone + "acks=0&do=1:drop-next+p0+b1&do=1:produce+p0+a+paid&do=4:produce+p0+a+paid&t=9", []string{"1 is in orders, 1 is not there.", "two calls of send."}, []string{"two records"}},
		{alone + "do=1:produce+p0+a&do=8:delete-records+orders-0+@1&t=12", []string{"0 are in orders, 1 is deleted"}, nil},
		{alone + "reader-commit=last&do=1:produce+p0+a&do=7:produce+p0+b&t=9", nil, []string{"and stays"}},

		// Who coordinates, and who only stands still.
		{"do=1:crash+billing-1+during+commit&do=18:power-loss+b1&t=19", []string{"is down. Whoever leads it next goes on from what that log has."}, []string{"What is decided stands"}},
		{"request-timeout=500&do=8:pause+b1&do=10:wait+1s&t=11", []string{"__transaction_state stands still"}, []string{"is down"}},

		// Errors: who answered, and what is written.
		{alone + "brokers=3&retries=0&idempotence=false&do=1:cut+b1+b3&do=2:produce+p0+a&do=5:shut-down+b1&t=30", []string{"p0 got NOT_LEADER_OR_FOLLOWER in tick", "The leader may have written the batch", "1 is in orders"}, nil},
		{alone + "retries=0&do=1:produce+p0+a&do=2:pause+b1&t=16", []string{"p0 got no answer to its Produce request until tick"}, []string{"the answer to"}},
		{alone + refused, []string{"delivery.timeout.ms was over. Each try was refused: nothing of it is written."}, []string{"may have written"}},
		{"brokers=3&txn-timeout=2000&do=16:crash+billing-1&do=17:cut+b2+b1&do=17:cut+b2+b3&do=20:wait+25s&t=40", nil, []string{"The epoch went from"}},
		{alone + "idempotence=false&do=1:drop-next+b1+p0&do=1:drop-next+b1+p0&do=1:produce+p0+a&t=25", []string{"1 of them more than once"}, []string{"them twice"}},

		// A bill that is committed and behind the last stable offset.
		{"brokers=3&t=30", []string{"Bills for read_committed: 3 once; of their bills 3 are behind the last stable offset, where they cannot be read yet."}, nil},
	} {
		_, p := frame(t, "v=1&"+tc.query)
		got := labtest.Reading(p)
		labtest.CheckText(t, tc.query, got, tc.says, tc.not)
	}
}
