package journal

// markerSamples holds one body of each kind by which leaders take part in transactions.
var markerSamples = []sample{
	{TransactionVerificationAsked{"t1", 1000, 2, ordersOf(0, 1), false},
		"t1 pid=1000 epoch=2 orders-0,orders-1 verify_only=false",
		"The first batch of a transaction in orders-0, orders-1 waits: the leader has the coordinator of t1 add the partition to the transaction (AddPartitionsToTxn; with transaction.version = 2 the producer need not)."},
	{TransactionVerificationFailed{"t1", ordersOf(0)[0], "NOT_ENOUGH_REPLICAS", "the coordinator of transactional.id t1 answered NOT_COORDINATOR"},
		"t1 orders-0 NOT_ENOUGH_REPLICAS: the coordinator of transactional.id t1 answered NOT_COORDINATOR",
		"Nothing is appended to orders-0: the coordinator of transactional.id t1 answered NOT_COORDINATOR. The client is answered NOT_ENOUGH_REPLICAS."},
	{TransactionEnded{ordersOf(0)[0], 1000, 3, "COMMIT", 7, 4, 3, 7, 3},
		"orders-0 COMMIT pid=1000 epoch=3 offset=7 first=3 hw=7 lso=3",
		"orders-0: the COMMIT marker of producer id 1,000 takes offset 7 and ends the transaction that began at 3. It counts when it is below the high watermark, now 7: read_committed reads up to the last stable offset, 3."},
	{MarkerRefused{ordersOf(0)[0], 1000, 2, "INVALID_PRODUCER_EPOCH", "the last seen epoch is 3"},
		"orders-0 pid=1000 epoch=2 INVALID_PRODUCER_EPOCH: the last seen epoch is 3",
		"orders-0: the marker of producer id 1,000 is refused: INVALID_PRODUCER_EPOCH, the last seen epoch is 3."},
	{MarkerRetried{"t1", ordersOf(0)[0], "NOT_LEADER_FOR_PARTITION", 100},
		"t1 orders-0 NOT_LEADER_FOR_PARTITION retry=100",
		"The leader of orders-0 has not written the marker of t1: NOT_LEADER_FOR_PARTITION. It is asked again in 100 ms; until then the transaction is not complete."},
	{MarkersGivenUp{"t1", ordersOf(0)[0], "TRANSACTION_COORDINATOR_FENCED"},
		"t1 orders-0 TRANSACTION_COORDINATOR_FENCED",
		"The leader of orders-0 refused the marker of t1: TRANSACTION_COORDINATOR_FENCED. This coordinator sends no more markers of that transaction; a later one does."},
}
