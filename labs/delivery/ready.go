package delivery

import "loglab/labs"

// The beginnings and commands that several runs share.
const (
	// Producers alone, nothing there at the start; those of the second with transactions.
	alone   = "transactions=off&output=off&records=0&"
	openers = "transactions=producers&output=off&records=0&"
	// The first answer to p0 is lost.
	lostAnswer = "request-timeout=500&do=1:drop-next+b1+p0&do=1:produce+p0+a&t=14"
	// p3 is plain; p0 opens a transaction, p1 commits one and p2 aborts one.
	amongOthers = openers + "producers=3&plain=on&do=1:produce+p3+x+x0&do=1:begin-transaction+p0&do=1:begin-transaction+p1&do=1:begin-transaction+p2&do=3:produce+p0+a+a1&do=7:produce+p3+x+x1" +
		"&do=8:produce+p1+b+b1&do=8:produce+p1+b+b2&do=12:commit-transaction+p1&do=15:produce+p2+c+c1&do=19:abort-transaction+p2"
	// p0 opens a transaction and stands still; p1 begins with its transactional.id, writes and commits; p0 goes on.
	zombie = openers + "producers=2&ids=shared&do=1:begin-transaction+p0&do=1:produce+p0+a+a&do=6:pause+p0&do=7:start+p1&do=17:begin-transaction+p1&do=17:produce+p1+n+new&do=21:commit-transaction+p1&do=24:resume+p0&do=24:produce+p0+b+b&do=28:abort-transaction+p0"
	// One transaction with a, b and c, committed.
	oneCommit = "do=1:begin-transaction+p0&do=1:produce+p0+a+a&do=1:produce+p0+b+b&do=1:produce+p0+c+c&do=5:commit-transaction+p0&t=14"
	// b is written, its answer is lost, and p0 learns of that after delivery.timeout.ms, while its transaction commits; c is in the next one.
	givenUp = openers + "version=1&txn-timeout=300000&do=1:begin-transaction+p0&do=1:produce+p0+a+a&do=9:drop-next+b1+p0&do=9:produce+p0+b+b&do=9:commit-transaction+p0&do=10:pause+p0&do=10:wait+125s" +
		"&do=11:resume+p0&do=12:abort-transaction+p0&do=19:begin-transaction+p0&do=19:produce+p0+c+c&do=20:commit-transaction+p0"
	// p0 opens a transaction and is silent for 75 s.
	silent = "do=1:begin-transaction+p0&do=1:produce+p0+a+a&do=1:produce+p0+b+b&do=1:produce+p0+c+c&do=6:wait+60s&do=8:wait+10s&do=10:wait+4s&do=12:commit-transaction+p0&t=17"
)

// readyRuns are runs to begin with, one for each thing that the lab shows.
func readyRuns() []labs.Ready {
	list := append(producing(), transacting()...)
	return append(append(list, crashing()...), outside()...)
}

// producing are runs of what an acknowledgement and idempotence are worth.
func producing() []labs.Ready {
	return []labs.Ready{
		{Title: "A lost answer, without idempotence", Query: alone + "idempotence=false&" + lostAnswer, Text: "The record is written, its answer is lost, and the batch comes again: one call of send, two records."},
		{Title: "A lost answer, with idempotence", Query: alone + lostAnswer, Text: "The same loss: the leader has that producer id, epoch and sequence among its five last batches, and writes nothing."},
		{Title: "A lost answer, side by side", Query: alone + lostAnswer + "&vs=idempotence:false", Text: "One setting, and the record is there once or twice."},
		{Title: "A lost request, and nothing is sent again", Query: alone + "acks=0&do=1:drop-next+p0+b1&do=1:produce+p0+a&do=2:produce+p0+b&t=7", Text: "acks = 0: at most once. a is gone, and its producer does not know."},
		{Title: "Two calls of send that idempotence does not merge", Query: alone + "do=1:produce+p0+a+paid&do=4:produce+p0+a+paid&t=8", Text: "The same key and value, handed in twice: two sequences, two records."},
		{Title: "A crash before the answer, with an outbox table", Query: alone + "outbox=on&do=1:produce+p0+a&do=2:kill+p0&do=5:start+p0&t=16", Text: "The relay finds the row unmarked and publishes it again: at least once, as a new producer id cannot know the old one’s."},
	}
}

// transacting are runs of transactions that producers begin and end.
func transacting() []labs.Ready {
	return []labs.Ready{
		{Title: "A transaction that hangs", Query: openers + "plain=on&do=1:begin-transaction+p0&do=1:produce+p0+a+a1&do=6:kill+p0&do=8:produce+p1+x+x1&do=9:produce+p1+x+x2&t=14", Text: "p0 is gone, its transaction is open: read_committed waits for everything behind it, the plain records of p1 too."},
		{Title: "An open transaction among others", Query: amongOthers + "&t=25", Text: "Log end 8, watermark 8, last stable offset 1: read_committed has x0 alone, not even the committed b1 and b2."},
		{Title: "The same, aborted", Query: amongOthers + "&do=25:abort-transaction+p0&t=32", Text: "Last stable offset 9: read_committed is given x0, x1, b1, b2, and the client filters a1 and c1. read_uncommitted has seen all six."},
		{Title: "A zombie is fenced", Query: zombie + "&t=33", Text: "0: a, 1: ABORT, 2: new. The leader refuses the zombie’s record with INVALID_PRODUCER_EPOCH, the coordinator its abort with PRODUCER_FENCED."},
		{Title: "A transaction that takes too long", Query: openers + "version=1&" + silent, Text: "Silent for 75 s with transaction.timeout.ms = 60,000: its coordinator aborts it at a look every 10 s, and the commit comes too late."},
		{Title: "A batch given up while its transaction commits", Query: givenUp + "&t=30&vs=version:2", Text: "With transaction version 1 the producer keeps its epoch and uses the sequence of b again. c is taken for a copy of it: acknowledged, committed, and in no log. Version 2 gives each transaction an epoch of its own."},
		{Title: "commitTransaction returns, and nobody sees it yet", Query: "brokers=3&t=30", Text: "The decision is in the coordinator’s log and the marker in bills, but not below the high watermark: read_committed still waits."},
		{Title: "The coordinator dies in PrepareCommit", Query: "brokers=3&do=28:kill+b2&do=29:wait+10s&t=33", Text: "The decision stands in __transaction_state: the broker that takes over reads it there, and writes the markers."},
		{Title: "Lag stays 1 behind a marker", Query: openers + "reader-commit=last&" + oneCommit, Text: "Three records and a COMMIT marker: the reader commits its last offset + 1 = 3, the log ends at 4."},
		{Title: "The same, committing the position", Query: openers + "reader-commit=position&" + oneCommit, Text: "The position moves over the marker: read_committed commits 4, lag 0."},
		{Title: "Latency, with transactions and without", Query: openers + "rate=1&every=3&txn-records=4&t=26&vs=transactions:off", Text: "The same records: with transactions of four, the first of each waits for the three behind it and the marker."},
	}
}

// crashing are runs of an application that reads, processes and writes, and crashes at each of its steps.
func crashing() []labs.Ready {
	return []labs.Ready{
		{Title: "Read, process, write: one transaction", Query: "t=20", Text: "Three orders, three bills and the offset of the orders in one transaction: 17 ticks from what poll returns to CompleteCommit."},
		{Title: "It crashes after poll", Query: "do=1:crash+billing-1+after+poll&do=4:start+billing-1&do=4:wait+2s&t=18", Text: "Nothing was written: the new process reads the same orders. One bill each."},
		{Title: "It crashes after processing one order", Query: "do=1:crash+billing-1+after+processing&do=5:start+billing-1&do=5:wait+2s&t=19", Text: "The bill was in the producer’s memory, and is gone with it. One bill each."},
		{Title: "It crashes after its bills are written", Query: "do=1:crash+billing-1+after+produce&do=11:start+billing-1&do=11:wait+2500ms&t=24", Text: "initTransactions aborts them, and they are written again: one bill each for read_committed, two for read_uncommitted."},
		{Title: "It crashes after its offsets are sent", Query: "do=1:crash+billing-1+after+offsets&do=18:start+billing-1&do=18:wait+2500ms&t=31", Text: "Offsets go with the transaction: they never count, and the orders are read again. One bill each for read_committed."},
		{Title: "It crashes during the commit", Query: "do=1:crash+billing-1+during+commit&do=18:start+billing-1&do=18:wait+2s&t=24", Text: "EndTxn was on its way and arrives: the transaction is committed, and the new process begins behind it."},
		{Title: "It crashes after the commit", Query: "do=1:crash+billing-1+after+commit&do=20:start+billing-1&do=20:wait+2s&t=24", Text: "The offsets are committed with the bills: nothing is read again."},
		{Title: "Without transactions: at least once", Query: "transactions=off&do=1:crash+billing-1+after+produce&do=11:start+billing-1&do=11:wait+2s&t=20", Text: "The bills are there and the offset is not: two bills for each order, for every reader. Idempotence does not help."},
		{Title: "Without transactions, offsets first: at most once", Query: "transactions=off&commit=before&do=1:crash+billing-1+after+commit&do=8:start+billing-1&do=8:wait+2s&t=16", Text: "The offset is there and the bills are not: nobody will ever write them."},
		{Title: "With and without transactions, side by side", Query: "do=1:crash+billing-1+after+produce&do=11:start+billing-1&do=11:wait+2500ms&t=24&vs=transactions:off", Text: "The same crash: once for read_committed, or twice for all."},
	}
}

// outside are runs of what is not in the cluster, and so in none of its transactions.
func outside() []labs.Ready {
	const (
		crash  = "do=1:crash+billing-1+after+offsets&do=18:start+billing-1&do=18:wait+2500ms&t=31"
		single = "output=off&transactions=off&do=1:crash+billing-1+before+commit&do=8:start+billing-1&do=8:wait+2s&t=13"
	)
	return []labs.Ready{
		{Title: "Exactly once, and still two e-mails", Query: "outside=e-mail&" + crash, Text: "Bills once for read_committed, six for read_uncommitted, and six e-mails for three orders: an abort takes none back."},
		{Title: "The same with a plain database", Query: "outside=plain&" + crash, Text: "The transaction is the cluster’s. The rows that were inserted before the crash stay, and come again."},
		{Title: "The same with an inbox table", Query: "outside=inbox&" + crash, Text: "The database keeps the id of each order with its effect and ignores the second time: once, as far as this database goes."},
		{Title: "A plain insert, and a crash before the commit", Query: "outside=plain&" + single, Text: "At least once: each row is inserted twice."},
		{Title: "An insert that is idempotent", Query: "outside=idempotent&" + single, Text: "The same crash: an order that it has is ignored."},
		{Title: "The offset in the database’s own transaction", Query: "outside=offsets&" + single, Text: "The application begins where the database says, not where its group has committed."},
		{Title: "An order that was written twice", Query: "output=off&transactions=off&records=0&outside=idempotent&idempotence=false&request-timeout=500&do=1:drop-next+b1+p0&do=1:produce+p0+a&t=22&vs=outside:inbox", Text: "Two records for one event: by topic, partition and offset they are two, by the event’s id one."},
	}
}
