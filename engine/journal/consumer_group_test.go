package journal

import (
	"testing"

	"loglab/engine/kafka"
)

// ordersOf gives partitions of orders.
func ordersOf(numbers ...kafka.Partition) (list []kafka.TopicPartition) {
	for _, p := range numbers {
		list = append(list, kafka.TopicPartition{Topic: "orders", Partition: p})
	}
	return list
}

// consumerGroupSamples holds one body of each kind of a group of the consumer protocol.
var consumerGroupSamples = []sample{
	{ConsumerMemberJoined{"g", "m1", "i1", "c1", []string{"orders"}, "", false, 2},
		"g m1 from=c1 instance=i1 topics=orders regex=\"\" classic=false members=2",
		"c1 joins group g by a heartbeat with member epoch 0 and subscribes to orders. The group has 2 members now; nobody else has to do anything before its own next heartbeat."},
	{SubscriptionChanged{"g", "m1", []string{"orders"}, "pay.*", "c1"},
		"g m1 topics=orders regex=\"pay.*\"",
		"c1 subscribes to orders and the pattern pay.* in group g now."},
	{GroupEpochBumped{"g", 3, 2, "m1 joined"},
		"g epoch=3 assignment=2: m1 joined",
		"The group epoch of g is 3 now: m1 joined. The target assignment is that of epoch 2: the next heartbeat of a member makes a new one, this one if it is one."},
	{TargetAssigned{"g", 3, "uniform", []MemberShare{{"m1", ordersOf(0, 1)}, {"m2", nil}}, []kafka.NodeID{"c1", "c2"}},
		"g epoch=3 uniform m1=orders-0,orders-1 m2=none",
		"The coordinator makes the target assignment of group g for epoch 3 with the assignor uniform: c1 is to own orders-0, orders-1; c2 is to own no partition. Each member comes to it with its own heartbeats."},
	{MemberReconciled{"g", "m1", "STABLE", "UNREVOKED_PARTITIONS", 2, 2, 3, ordersOf(0, 1), nil, nil, ordersOf(2), nil, nil, 300_000, "c1"},
		"g m1 STABLE→UNREVOKED_PARTITIONS epoch=2→2 target=3 owns=orders-0,orders-1 revoking=orders-2",
		"c1 is to give up orders-2 and goes on reading orders-0, orders-1. It stays in member epoch 2 until a heartbeat of it lists what it owns without them, and is fenced if that takes longer than max.poll.interval.ms = 300,000 ms."},
	{StaticMemberAway{"g", "m1", "i1", ordersOf(0), 45_000},
		"g m1 instance=i1 keeps=orders-0 session=45000",
		"Static member i1 of group g leaves with member epoch -2: it is to come back. Nobody else is given what it owned, orders-0, until it is back or its session is over, 45,000 ms after its last heartbeat (group.consumer.session.timeout.ms)."},
	{StaticMemberReturned{"g", "i1", "m1", "m2", ordersOf(0), 3},
		"g instance=i1 m1→m2 keeps=orders-0 epoch=3",
		"The consumer with group.instance.id = i1 is back in group g: m2 takes the place of m1, with its target assignment and orders-0. If it subscribes to the same as before, the group epoch stays 3."},
	{PatternResolved{"g", "pay.*", []string{"payments"}, nil},
		"g \"pay.*\" topics=payments before=",
		"The coordinator has looked at all topics: the pattern pay.* of group g matches payments."},
	{GroupConverted{"g", "consumer", 2, "a member of the consumer protocol joins"},
		"g→consumer members=2: a member of the consumer protocol joins",
		"Group g uses the consumer protocol from now on: a member of the consumer protocol joins. 2 members of the classic protocol stay in it (group.consumer.migration.policy)."},
}

// The other sentences of the same kinds.
func TestConsumerGroupWords(t *testing.T) {
	for _, s := range []sample{
		{ConsumerMemberJoined{"g", "m1", "", "c1", nil, "pay.*", true, 1},
			"g m1 from=c1 topics= regex=\"pay.*\" classic=true members=1",
			"c1 joins group g by JoinGroup, as a member that uses the classic protocol and subscribes to the pattern pay.*. The group has 1 member now; nobody else has to do anything before its own next heartbeat."},
		{MemberReconciled{"g", "m3", "UNREVOKED_PARTITIONS", "UNRELEASED_PARTITIONS", 2, 3, 3, ordersOf(0, 1), ordersOf(1), ordersOf(2), nil, ordersOf(3, 4), []kafka.NodeID{"c1", "c2"}, 300_000, "c3"},
			"g m3 UNREVOKED_PARTITIONS→UNRELEASED_PARTITIONS epoch=2→3 target=3 owns=orders-0,orders-1 given=orders-1 released=orders-2 waits=orders-3,orders-4",
			"c3 has let go of orders-2: anybody may be given that now. It comes from member epoch 2 to 3, that of the target assignment. It is given orders-1, which nobody owns. It is to get orders-3, orders-4 too, but c1, c2 have not let go yet."},
		{MemberReconciled{"g", "m3", "UNRELEASED_PARTITIONS", "STABLE", 3, 3, 3, ordersOf(0, 1), ordersOf(1), nil, nil, nil, nil, 300_000, "c3"},
			"g m3 UNRELEASED_PARTITIONS→STABLE epoch=3→3 target=3 owns=orders-0,orders-1 given=orders-1",
			"c3 is given orders-1, which nobody owns. It owns orders-0, orders-1 now, all that it is to."},
		{GroupEpochBumped{"g", 3, 3, "m1 joined"},
			"g epoch=3 assignment=3: m1 joined",
			"The group epoch of g is 3 now: m1 joined."},
		{GroupConverted{"g", "classic", 0, "it was empty"},
			"g→classic members=0: it was empty",
			"Group g uses the classic protocol from now on: it was empty."},
		{PatternResolved{"g", "pay.*", nil, []string{"payments"}},
			"g \"pay.*\" topics= before=payments",
			"The coordinator has looked at all topics: the pattern pay.* of group g matches no topic."},
	} {
		s.check(t)
	}
}
