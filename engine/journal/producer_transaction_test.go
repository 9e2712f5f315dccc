package journal

import "testing"

// producerTransactionSamples holds one body of each kind of a transactional producer.
var producerTransactionSamples = []sample{
	{TransactionsReady{"tx-1", 1000, 1, false}, "tx-1 id=1000 epoch=1",
		"initTransactions is done: the coordinator gave transactional.id tx-1 producer id 1000, epoch 1. A transaction that a process before it left open is aborted, and whoever still writes with a smaller epoch is fenced."},
	{TransactionCoordinatorFound{"tx-1", "b2"}, "tx-1 b2",
		"The transaction coordinator of transactional.id tx-1 is b2: it leads the id's partition of __transaction_state."},
	{TransactionCoordinatorLost{"tx-1", "b2", "EndTxn was answered with NOT_COORDINATOR"}, "tx-1 b2: EndTxn was answered with NOT_COORDINATOR",
		"b2 does not count as the coordinator of transactional.id tx-1 any more: EndTxn was answered with NOT_COORDINATOR. The producer asks for it again."},
	{TransactionRequestRetried{"tx-1", "AddPartitionsToTxn", "CONCURRENT_TRANSACTIONS", 20}, "tx-1 AddPartitionsToTxn CONCURRENT_TRANSACTIONS backoff=20ms",
		"AddPartitionsToTxn of transactional.id tx-1 was answered with CONCURRENT_TRANSACTIONS: the coordinator is not done with the transaction before. The producer sends it again after 20 ms, and no records meanwhile."},
	{ProducerTransactionBegun{"tx-1", 3, 1000, 2}, "tx-1 3 id=1000 epoch=2",
		"beginTransaction: transaction 3 of transactional.id tx-1 begins, with producer id 1000, epoch 2. No request says so: the coordinator learns of it by the first partition."},
	{ProducerPartitionsAdded{"tx-1", ordersOf(0, 3)}, "tx-1 [orders-0 orders-3]",
		"The coordinator counts orders-0, orders-3 as part of the transaction of tx-1: from now on records may go there."},
	{OffsetsSentToTransaction{"tx-1", "billing", "billing-1-x", 3, []CommitOffset{{orders3, 5}}}, "tx-1 billing generation=3 orders-3→5",
		"sendOffsetsToTransaction: orders-3→5 for group billing. They count when the transaction of tx-1 is committed, and never if it is aborted."},
	{OffsetsAddedToTransaction{"tx-1", "billing"}, "tx-1 billing",
		"The coordinator of group billing keeps the offsets of the transaction of tx-1 until its marker comes."},
	{ProducerTransactionEnding{"tx-1", 3, true, 4, 2, ""}, "tx-1 3 commit records=4 waiting=2",
		"commitTransaction: transaction 3 of tx-1 has 4 records. 2 have no acknowledgement yet: what waits is sent now, linger.ms or not, and EndTxn follows when all are acknowledged."},
	{ProducerTransactionEnded{"tx-1", 3, true, false, 1000, 3, true}, "tx-1 3 commit id=1000 epoch=3",
		"Transaction 3 of tx-1 is committed: the coordinator has the decision in its log. The markers may still be on their way, so a read_committed consumer may see nothing of it yet. The next one has producer id 1000, epoch 3, and sequences from 0 on."},
	{ProducerTransactionFailed{"tx-1", 3, true, "EndTxn", "PRODUCER_FENCED"}, "tx-1 3 FATAL_ERROR EndTxn PRODUCER_FENCED",
		"EndTxn was answered with PRODUCER_FENCED: the epoch of this producer is over, for another process with transactional.id tx-1 has begun, or the coordinator has given its transaction up. That is fatal: each further call throws ProducerFencedException, and all that is left to do is to close the producer."},
	{UnsentRecordsDropped{"tx-1", 2, "TransactionAbortedException", 0}, "tx-1 records=2 in-flight=0 TransactionAbortedException",
		"2 records of the transaction of tx-1 had not been sent: they are dropped and fail with TransactionAbortedException."},
	{ProducerEnded{"PRODUCER_FENCED"}, "PRODUCER_FENCED",
		"The application closes its producer after PRODUCER_FENCED, and its process ends. A new process begins with initTransactions."},
	{PositionsRewound{"billing", ordersOf(0), "the transaction was aborted"}, "billing [orders-0]: the transaction was aborted",
		"The application goes back to the committed offsets of group billing in orders-0: the transaction was aborted. What it had read since it reads again."},
	{OffsetsUnstable{"billing", ordersOf(0), 100}, "billing [orders-0] UNSTABLE_OFFSET_COMMIT backoff=100ms",
		"OffsetFetch of group billing was answered with UNSTABLE_OFFSET_COMMIT for orders-0: a transaction holds offsets there and is not over. The consumer takes no offset and asks again after 100 ms."},
}

// What the sentences say in other cases.
func TestWordsOfTransactions(t *testing.T) {
	for _, test := range []sample{
		{TransactionsReady{"tx-1", 1000, 1, true}, "tx-1 id=1000 epoch=1",
			"InitProducerId has raised the epoch of producer id 1000 to 1 after an error in the transaction before. All sequences begin again at 0."},
		{ProducerTransactionEnding{"tx-1", 3, false, 4, 2, "you asked for it"}, "tx-1 3 abort records=4 waiting=2: you asked for it",
			"abortTransaction: transaction 3 of tx-1 is given up: you asked for it. What was never sent is dropped; what is in flight is waited for."},
		{ProducerTransactionEnding{"tx-1", 3, true, 1, 0, ""}, "tx-1 3 commit records=1 waiting=0", "commitTransaction: transaction 3 of tx-1 has 1 record."},
		{ProducerTransactionEnded{"tx-1", 3, false, false, 1000, 0, false}, "tx-1 3 abort id=1000 epoch=0",
			"Transaction 3 of tx-1 is aborted: the coordinator has the decision in its log. Its records stay where they are, behind an ABORT marker."},
		{ProducerTransactionEnded{"tx-1", 3, true, true, 1000, 0, false}, "tx-1 3 commit id=1000 epoch=0 untold",
			"Transaction 3 of tx-1 is over. Nothing was in it, so the coordinator was told nothing."},
		{ProducerTransactionFailed{"tx-1", 3, false, "Produce", "INVALID_PRODUCER_EPOCH"}, "tx-1 3 ABORTABLE_ERROR Produce INVALID_PRODUCER_EPOCH",
			"Produce was answered with INVALID_PRODUCER_EPOCH. Transaction 3 of tx-1 can only be aborted now: send and commitTransaction throw until the application has called abortTransaction."},
		{ProducerTransactionFailed{"tx-1", 3, false, "Produce", "NETWORK_EXCEPTION"}, "tx-1 3 ABORTABLE_ERROR Produce NETWORK_EXCEPTION",
			"Produce failed with NETWORK_EXCEPTION. Transaction 3 of tx-1 can only be aborted now: send and commitTransaction throw until the application has called abortTransaction."},
		{ProduceFailed{orders3, 1, "REQUEST_TIMED_OUT"}, "orders-3 records=1 REQUEST_TIMED_OUT",
			"The producer gave up 1 record for orders-3: request.timeout.ms was over (REQUEST_TIMED_OUT), here or at the leader, so they may be written all the same."},
		{ProducerTransactionFailed{"tx-1", 0, true, "InitProducerId", "INVALID_TRANSACTION_TIMEOUT"}, "tx-1 0 FATAL_ERROR InitProducerId INVALID_TRANSACTION_TIMEOUT",
			"InitProducerId was answered with INVALID_TRANSACTION_TIMEOUT. For the producer of transactional.id tx-1 that is fatal: all that is left to do is to close it."},
		{UnsentRecordsDropped{"tx-1", 2, "PRODUCER_FENCED", 1}, "tx-1 records=2 in-flight=1 PRODUCER_FENCED",
			"The producer of tx-1 gives up 2 records with PRODUCER_FENCED; 1 had been sent and may be written."},
		{RecordsRead{TopicPartition: orders3, From: 0, To: 7, Records: 2, Aborted: 2, Markers: 1}, "orders-3 0→7 records=2 skipped=0 aborted=2 markers=1",
			"Read 2 records of orders-3; the position moves from 0 to 7. It skips 2 records of aborted transactions (isolation.level = read_committed). It moves over 1 transaction marker, which no application is given."},
	} {
		test.check(t)
	}
}
