// Package group is the group coordinator of one partition of __consumer_offsets: the classic and the consumer protocol
// of consumer groups, and committed offsets.
//
// A coordinator is a state machine. Receive takes a delivered request, Written the news of a write, Tick lets its
// timers fire, NextDue says when the next one does. They return what the coordinator wants done, see [Effects]: the
// broker that leads the partition appends the records and sends the answers. A coordinator never sends and never
// writes by itself. What it holds is the replay of its partition's log: [Coordinator.Load] builds it from there.
//
// It serves JoinGroup, SyncGroup, Heartbeat, LeaveGroup, ConsumerGroupHeartbeat, OffsetCommit, TxnOffsetCommit,
// OffsetFetch, OffsetDelete, DescribeGroups, ConsumerGroupDescribe and DeleteGroups.
//
// The states of a classic group are Empty, PreparingRebalance (the join phase), CompletingRebalance (the leader divides
// the partitions) and Stable; see state.go, join.go, rebalance.go, sync.go.
//
// A group of the consumer protocol (KIP-848) is a value made by its records (consumer_group.go), held in a slot
// (consumer_slot.go) as it is written and with what is being written. A heartbeat (consumer_heartbeat.go) may raise the
// group epoch; then the coordinator divides the partitions anew: that is the target assignment (consumer_epoch.go). Each
// member comes to it by its own heartbeats (consumer_reconcile.go): it lets go first, and is given what nobody owns. Its
// states are Empty, Assigning, Reconciling and Stable. Members that use the classic protocol can be in such a group
// (consumer_classic.go), and a group changes from one protocol to the other while it works (consumer_convert.go).
//
// What a request changes holds at once for the next request. Who asked is answered when it is written, and who only
// reads sees what is written: a heartbeat too is answered after the writes before it. JoinGroup and SyncGroup wait for
// other members instead, and the leader's assignment for its record.
//
// Offsets that are committed in a transaction are pending under its producer id (transactions.go). The transaction ends
// here when a marker is written, for which a transaction coordinator asks: [Coordinator.EndTransaction]. COMMIT makes them
// committed offsets, unless another commit came after them in the log; ABORT drops them.
//
// Invariants: the generation of a classic group rises by one at the end of each join phase and never falls; no request is
// answered twice; members have different ids, and static members different instances; the leader of a group with
// members is one of them; in CompletingRebalance no JoinGroup waits, in Stable no SyncGroup. A partition is owned by one
// member of a group at most, also while it is to be given up; group epoch, assignment epoch and member epochs do not fall.
// A group of which an offset is committed or pending is there.
//
// Simplified: members are gone through in the order in which they joined, also where the next leader is chosen; Kafka
// goes by the order of its hash table of their ids.
//
// Simplified: a client's client.id and its address are the name of its node, the address as "/c1".
//
// Simplified: share and streams groups are not coordinated. Their records are passed over.
//
// Simplified: of server assignors that equally many members ask for, uniform is taken; Kafka takes the one that its hash
// table has first.
//
// Simplified: the settings of the consumer protocol are the broker's; Kafka lets one set its session timeout and its
// heartbeat interval for a single group too.
//
// Simplified: each request and timer writes a batch of its own; Kafka's coordinator puts the writes of requests that
// came together into one.
//
// Simplified: a JoinGroup with a member id that comes to an empty group of the consumer protocol is refused, and the group
// stays. Kafka refuses it too, but forgets the group, of which the log says nothing: after a change of the coordinator it
// is there again.
//
// Simplified: a member without a target assignment is given nothing when its group becomes a classic one: it has joined
// since the group epoch rose last, and subscribes to nothing yet. Kafka's coordinator fails then with a
// NullPointerException, and the group stays as it is.
//
// Simplified: a classic group whose first record cannot be written, or which becomes one of the consumer protocol, goes
// with its timers. Kafka forgets the timer of its join phase, which then raises the generation of the next classic group of
// that name.
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
