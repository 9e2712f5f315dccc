package journal

import "testing"

// consumerSamples holds one body of each kind of a member of the consumer protocol.
var consumerSamples = []sample{
	{JoinHeartbeatSent{"g", "its process has started", "c1-id", "", []string{"orders", "refunds"}, "", "uniform", 300000},
		"g c1-id epoch=0 topics=[orders refunds] assignor=uniform: its process has started",
		"Joins group g by a ConsumerGroupHeartbeat with epoch 0: its process has started. It names itself c1-id, subscribes to orders, refunds, wants the assignor uniform (group.remote.assignor), and will give up a partition within max.poll.interval.ms = 300,000 ms."},
	{MemberEpochMoved{"g", "c1-id", 3, 4, 5000}, "g c1-id epoch=3→4 interval=5000ms",
		"Moves from member epoch 3 to 4 of group g: the coordinator's answer says so. Its commits carry this epoch, and it sends a heartbeat every 5,000 ms (group.consumer.heartbeat.interval.ms of the broker)."},
	{TargetLearned{"g", 3, ordersOf(0, 3), 1, ordersOf(1), ordersOf(3)}, "g epoch=3 [orders-0 orders-3] revoked=[orders-1] added=[orders-3] unknown=1",
		"The coordinator of group g tells it to own orders-0, orders-3. It gives up orders-1 and then takes orders-3. The ids of 1 topic more are not in its metadata yet: it asks for them."},
	{ReconciliationHeld{"g", "its ConsumerRebalanceListener runs only while the application is in poll"}, "g: its ConsumerRebalanceListener runs only while the application is in poll",
		"Does not come to its new partitions of group g yet: its ConsumerRebalanceListener runs only while the application is in poll. It sends heartbeats meanwhile; whoever is to get what it gives up waits."},
	{AssignmentAcknowledged{"g", 3, ordersOf(0)}, "g epoch=3 [orders-0]",
		"Sends a heartbeat at once that lists what it owns of group g now: orders-0. What it leaves out the coordinator may give to others."},
	{LeaveHeartbeatSent{"g", "c1-id", -1, ordersOf(0)}, "g c1-id epoch=-1 [orders-0]",
		"Leaves group g by a ConsumerGroupHeartbeat with epoch -1 and gives up orders-0: its partitions go to others at once."},
}

// What the sentences say in other cases, and those of kinds that both protocols share.
func TestWordsOfTheConsumerProtocol(t *testing.T) {
	for _, test := range []sample{
		{JoinHeartbeatSent{"g", "it is back", "c1-id", "i1", nil, "orders.*", "", 300000}, "g c1-id epoch=0 instance=i1 pattern=orders.*: it is back",
			"Joins group g by a ConsumerGroupHeartbeat with epoch 0: it is back. It names itself c1-id, subscribes to every topic that matches orders.*, wants the coordinator's first assignor, and will give up a partition within max.poll.interval.ms = 300,000 ms."},
		{MemberEpochMoved{"g", "c1-id", 0, 4, 5000}, "g c1-id epoch=0→4 interval=5000ms",
			"Is a member of group g now, in member epoch 4: the coordinator's answer says so. Its commits carry this epoch, and it sends a heartbeat every 5,000 ms (group.consumer.heartbeat.interval.ms of the broker)."},
		{TargetLearned{"g", 3, nil, 0, ordersOf(1), nil}, "g epoch=3 [] revoked=[orders-1] added=[]",
			"The coordinator of group g tells it to own nothing. It gives up orders-1; what it keeps it reads on."},
		{TargetLearned{"g", 3, ordersOf(1), 0, nil, ordersOf(1)}, "g epoch=3 [orders-1] revoked=[] added=[orders-1]",
			"The coordinator of group g tells it to own orders-1. It takes orders-1; nobody owns that any more."},
		{AssignmentAcknowledged{"g", 3, nil}, "g epoch=3 []",
			"Sends a heartbeat at once that lists what it owns of group g now: no partition. What it leaves out the coordinator may give to others."},
		{LeaveHeartbeatSent{"g", "c1-id", -2, nil}, "g c1-id epoch=-2 []",
			"Leaves group g by a ConsumerGroupHeartbeat with epoch -2: a static member says that it will be back, and its partitions wait for its group.instance.id until its session ends."},
		{PartitionsTaken{"g", -1, "", ordersOf(1, 3), ordersOf(3), 3}, "g epoch=3 [orders-1 orders-3] added=[orders-3]",
			"Owns orders-1, orders-3 in epoch 3 of group g; orders-3 is new."},
		{PartitionsTaken{"g", -1, "", nil, nil, 3}, "g epoch=3 [] added=[]", "Owns no partition of group g in epoch 3: the coordinator's assignor gave it none."},
		{PartitionsRevoked{"g", ordersOf(3), false, 0, 3}, "g [orders-3] epoch=3",
			"Gives up orders-3 of group g: the coordinator has told it not to own that any more, and the next heartbeat says that it does not."},
		{MembershipLost{"g", "ConsumerGroupHeartbeat", "FENCED_MEMBER_EPOCH", "c1-id", -1, 3}, "g c1-id epoch=3 ConsumerGroupHeartbeat FENCED_MEMBER_EPOCH",
			"ConsumerGroupHeartbeat of group g was answered with FENCED_MEMBER_EPOCH: in epoch 3 it is a member no more. It drops what it owned without a commit, and joins again with epoch 0."},
		{PollIntervalExceeded{"g", 300000, false, -1}, "g 300000ms epoch=-1",
			"The application has not polled for max.poll.interval.ms = 300,000 ms: the client leaves the group by a heartbeat with epoch -1, while the application goes on working; its partitions go to others at once."},
		{ConsumerClosed{"g", "", -2}, "g epoch=-2", "The consumer is closed. Group g keeps its place until its session ends, for it has a group.instance.id."},
		{ConsumerClosed{"g", "", -1}, "g epoch=-1", "The consumer is closed and has left group g."},
		{CommitSent{"g", "commitSync after the batch", -1, []CommitOffset{{orders3, 5}}, 3}, "g epoch=3 orders-3→5: commitSync after the batch",
			"Commits orders-3→5 for group g (commitSync after the batch)."},
	} {
		if got := test.body.Text(); got != test.text {
			t.Errorf("%s: text %q, want %q", test.body.Kind(), got, test.text)
		}
		if got := test.body.Sentence(); got != test.sentence {
			t.Errorf("%s:\nsentence %q\n    want %q", test.body.Kind(), got, test.sentence)
		}
	}
}
