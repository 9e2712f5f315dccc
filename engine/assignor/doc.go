// Package assignor turns the members of a consumer group and the partitions of its topics into an
// assignment: pure functions, the same that the leader of a classic group runs, or, for a group of the consumer
// protocol, the broker.
//
// What it models: the client's range, roundrobin, sticky and cooperative-sticky and the broker's uniform and
// server-range (in Kafka range, too), the order in which each goes through the members, and the reason for each
// partition in a sentence. The sticky ones and uniform do what Kafka's do also where that is not the optimum.
//
// What it leaves out: racks; the broker's other assignors, of share and streams groups; and when a group
// rebalances, which is the group coordinator's matter.
//
// Invariants:
//
//   - An assignment depends on its input alone, not on the order in which members, topics or
//     subscriptions are given.
//   - Every partition of a subscribed topic has exactly one owner, and its owner subscribes to the topic;
//     but cooperative-sticky withholds a partition that somebody else has to give up first.
//   - Every member is in the assignment, with or without partitions.
//
// Names and ids are compared byte by byte. Java compares UTF-16 units, which differs only for ids with
// characters above U+FFFF.
//
// Example:
//
//	assign, _ := assignor.ByName("range")
//	result := assign.Assign(assignor.Group{
//		Topics:  []assignor.Topic{{Name: "orders", PartitionCount: 3}},
//		Members: []assignor.Member{{ID: "m0", Topics: []string{"orders"}}, {ID: "m1", Topics: []string{"orders"}}},
//	})
//	// m0: orders 0,1; m1: orders 2
package assignor
