// Package group is the group coordinator of one partition of __consumer_offsets: the classic protocol of consumer
// groups, and committed offsets.
//
// A coordinator is a state machine. Receive takes a delivered request, Written the news of a write, Tick lets its
// timers fire, NextDue says when the next one does. They return what the coordinator wants done, see [Effects]: the
// broker that leads the partition appends the records and sends the answers. A coordinator never sends and never
// writes by itself. What it holds is the replay of its partition's log: [Coordinator.Load] builds it from there.
//
// It serves JoinGroup, SyncGroup, Heartbeat, LeaveGroup, OffsetCommit, OffsetFetch, OffsetDelete, DescribeGroups and
// DeleteGroups. The states of a group are Empty, PreparingRebalance (the join phase), CompletingRebalance (the leader
// divides the partitions) and Stable.
//
// What a request changes holds at once for the next request. Who asked is answered when it is written, and who only
// reads sees what is written: a heartbeat too is answered after the writes before it. JoinGroup and SyncGroup wait for
// other members instead, and the leader's assignment for its record.
//
// Invariants: the generation of a group rises by one at the end of each join phase and never falls; no request is
// answered twice; members have different ids, and static members different instances; the leader of a group with
// members is one of them; in CompletingRebalance no JoinGroup waits, in Stable no SyncGroup.
//
// Simplified: members are gone through in the order in which they joined, also where the next leader is chosen; Kafka
// goes by the order of its hash table of their ids.
//
// Simplified: a client's client.id and its address are the name of its node, the address as "/c1".
//
// Simplified: groups of the consumer protocol, share and streams groups, and offsets committed in transactions are
// not coordinated. Their records are passed over.
//
// Simplified: each request and timer writes a batch of its own; Kafka's coordinator puts the writes of requests that
// came together into one.
//
// Simplified: a group whose first record cannot be written goes with its timers. Kafka forgets the timer of its join
// phase, which then raises the generation of the next group of that name.
//
// As in Kafka, a JoinGroup or SyncGroup gets no answer when its member sends another one before, or when the member
// is taken out by LeaveGroup while its SyncGroup waits.
//
// Example: a consumer joins, is given a member id, and joins with it.
//
//	c := group.New(&config, rnd.Split("coordinator"))
//	e := c.Load(now, records, cause, &journal)
//	e = c.Receive(now, join, cause, &journal)     // e.Answers[0]: MEMBER_ID_REQUIRED; e.Writes[0]: the new group
//	e = c.Written(now, e.Writes[0].ID, nil, cause, &journal)
package group
