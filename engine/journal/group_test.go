package journal

import (
	"testing"

	"loglab/engine/kafka"
)

// sample is a body with its text and its sentence.
type sample struct {
	body           Body
	text, sentence string
}

func (s sample) check(t *testing.T) {
	t.Helper()
	if got := s.body.Text(); got != s.text {
		t.Errorf("%+v:\ntext %q, want %q", s.body, got, s.text)
	}
	if got := s.body.Sentence(); got != s.sentence {
		t.Errorf("%+v:\nsentence %q\n    want %q", s.body, got, s.sentence)
	}
}

// groupSamples holds one body of each kind of a group coordinator.
var groupSamples = []sample{
	{MemberIDGiven{"g", "c1-1f", "c1", 45000},
		"g c1-1f to c1 session=45000ms",
		"c1 joins group g without a member id and is answered with MEMBER_ID_REQUIRED: it is to join again as c1-1f. Until it does, for session.timeout.ms = 45,000 ms at most, a join phase of the group is held open for it."},
	{MemberJoined{"g", "c1-1f", "", "c1", []string{"range", "sticky"}, true, "Empty", 0, 1, 1, 0},
		"g c1-1f from=c1 protocols=range,sticky new=true Empty generation=0 joined=1/1 pending=0",
		"c1-1f (c1) is a new member of group g, which is in state Empty, generation 0. Its JoinGroup is answered when the join phase ends: 1 of 1 member joined."},
	{RebalanceStarted{"g", "Empty", 0, "c1-1f (c1) joined", 3000, "group.initial.rebalance.delay.ms", 0},
		"g Empty→PreparingRebalance generation=0 group.initial.rebalance.delay.ms=3000 syncs=0: c1-1f (c1) joined",
		"Group g starts a rebalance from state Empty: c1-1f (c1) joined. As it was empty, it waits group.initial.rebalance.delay.ms = 3,000 ms for more members, even when everybody has joined. The generation stays 0 until the join phase ends."},
	{InitialDelayExtended{"g", 3000, 294000, 3000},
		"g window=3000ms remaining=294000ms",
		"Group g waits 3,000 ms more: members came within the last window, and of the rebalance timeout there is time left (group.initial.rebalance.delay.ms = 3,000; 294,000 ms remain after this window)."},
	{JoinPhaseEnded{"g", 5, "range", "c1-1f", []kafka.MemberID{"c1-1f", "c2-2e"}, "range has 2 votes", "every member has joined and no id is pending", 300000},
		"g PreparingRebalance→CompletingRebalance generation=5 protocol=range leader=c1-1f members=c1-1f,c2-2e: every member has joined and no id is pending",
		"The join phase of group g ended: every member has joined and no id is pending. Generation 5 begins with 2 members. c1-1f leads it and divides the partitions with range (range has 2 votes). Members must send SyncGroup within 300,000 ms, the longest rebalance timeout, or are removed."},
	{JoinPhaseProlonged{"g", 2, 300000},
		"g members=2 wait=300000ms",
		"The join phase of group g goes on for 300,000 ms: none of its 2 members has joined again. They are static, so they stay until their session timeout."},
	{SyncGroupParked{"g", "c2-2e", 5, false, nil},
		"g c2-2e generation=5 leader=false",
		"The SyncGroup of c2-2e waits: the leader of group g has not brought the assignment of generation 5 yet, or it is not written."},
	{GroupStable{"g", 5, 2, 1},
		"g CompletingRebalance→Stable generation=5 told=1/2",
		"Group g is stable in generation 5: the assignment is written, and 1 of 2 members waited for it and was told. Session timeouts run anew."},
	{GroupEmpty{"g", 6, 604800000},
		"g PreparingRebalance→Empty generation=6",
		"Group g has no members now; that is generation 6, and it is recorded. Its committed offsets expire 604,800,000 ms from now (offsets.retention.minutes)."},
	{MemberRemoved{"g", "c1-1f", "i1", false, "no heartbeat or commit came for session.timeout.ms = 45,000 ms", 1, "c1"},
		"g c1-1f instance=i1 left=1: no heartbeat or commit came for session.timeout.ms = 45,000 ms",
		"Static member c1-1f was removed from group g: no heartbeat or commit came for session.timeout.ms = 45,000 ms. The group has 1 member."},
	{StaticMemberReplaced{"g", "i1", "i1-1f", "i1-2e", "Stable", 5, "range", ""},
		"g instance=i1 i1-1f→i1-2e Stable generation=5",
		"The static member with group.instance.id = i1 came back to group g within its session: it has the member id i1-2e now, and the old one, i1-1f, is fenced. Assignment and generation 5 stay as they are: the assignor would still be range."},
	{GroupRequestRefused{"OffsetCommit", "g", "c1-1f", "c1", "ILLEGAL_GENERATION", "it names generation 4, the group is in generation 5"},
		"g OffsetCommit from=c1 member=c1-1f ILLEGAL_GENERATION: it names generation 4, the group is in generation 5",
		"The OffsetCommit request of c1-1f (c1) for group g was answered with ILLEGAL_GENERATION: it names generation 4, the group is in generation 5."},
	{OffsetCommitted{"g", orders3, 42, 40, "c1-1f", 5, -1},
		"g orders-3 40→42 member=c1-1f generation=5",
		"Group g has committed offset 42 of orders-3, by c1-1f, generation 5: who takes the partition over reads from there. It was 40."},
	{OffsetsRemoved{"g", []kafka.TopicPartition{orders3}, "the group has been empty for longer than offsets.retention.minutes = 10,080", nil},
		"g orders-3: the group has been empty for longer than offsets.retention.minutes = 10,080",
		"Group g loses its committed offset of orders-3: the group has been empty for longer than offsets.retention.minutes = 10,080. Each gets a tombstone."},
	{TransactionalOffsetPending{"g", orders3, 42, 1000, 4, "c1-1f", 5},
		"g orders-3 42 producer=1000 epoch=4 member=c1-1f generation=5",
		"Offset 42 of orders-3 is written for group g in the transaction of producer id 1,000 (epoch 4), by c1-1f, generation 5. It is pending: a COMMIT marker of that producer id in this partition of __consumer_offsets makes it the committed offset, an ABORT marker drops it. Until then OffsetFetch gives the offset that was committed before; whoever requires a stable one is answered with UNSTABLE_OFFSET_COMMIT."},
	{TransactionalOffsetsEnded{"g", 1000, 5, true, []CommitOffset{{orders3, 42}}, nil},
		"g COMMIT producer=1000 epoch=5 visible orders-3→42",
		"The COMMIT marker of producer id 1,000 (epoch 5) is written. What its transaction committed for group g counts now: orders-3→42."},
	{GroupDeleted{"g", "it has no members and no committed offset"},
		"g: it has no members and no committed offset",
		"Group g is deleted: it has no members and no committed offset. It gets a tombstone."},
	{GroupsLoaded{12, 1, 2, 3, 0},
		"records=12 groups=1 members=2 offsets=3",
		"The group coordinator read 12 records of the partition's log and knows 1 group with 2 members and 3 committed offsets now. Each member has a whole session timeout to be heard of."},
	{CoordinatorResigned{2, 1},
		"groups=2 answered=1",
		"The broker leads the partition no longer and coordinates its 2 groups no more. 1 request waited and was answered with NOT_COORDINATOR: clients ask for the new coordinator."},
}

// The other sentences of the same kinds.
func TestGroupWords(t *testing.T) {
	for _, s := range []sample{
		{MemberJoined{"g", "c1-1f", "i1", "c1", []string{"range"}, false, "Stable", 4, 3, 1, 2},
			"g c1-1f from=c1 instance=i1 protocols=range new=false Stable generation=4 joined=1/3 pending=2",
			"c1-1f (c1) joined again in group g, which is in state Stable, generation 4. Its JoinGroup is answered when the join phase ends: 1 of 3 members joined; 2 ids given out that nobody has joined with yet."},
		{RebalanceStarted{"g", "CompletingRebalance", 4, "c1-1f (c1) joined", 300000, "max.poll.interval.ms", 2},
			"g CompletingRebalance→PreparingRebalance generation=4 max.poll.interval.ms=300000 syncs=2: c1-1f (c1) joined",
			"Group g starts a rebalance from state CompletingRebalance: c1-1f (c1) joined. The join phase ends when every member has joined again and no id is pending, at the latest after the longest max.poll.interval.ms of a member, 300,000 ms. 2 SyncGroup requests that waited were answered with REBALANCE_IN_PROGRESS. The generation stays 4 until the join phase ends."},
		{SyncGroupParked{"g", "c1-1f", 5, true, []kafka.MemberID{"c2-2e"}},
			"g c1-1f generation=5 leader=true missing=c2-2e",
			"c1-1f, leader of group g, brought the assignment of generation 5. It holds once its record is written to __consumer_offsets. It leaves out c2-2e: their assignment is empty."},
		{MemberRemoved{"g", "c1-1f", "", true, "nobody joined with it within session.timeout.ms", 0, ""},
			"g c1-1f pending left=0: nobody joined with it within session.timeout.ms",
			"The pending member id c1-1f was removed from group g: nobody joined with it within session.timeout.ms. The group has 0 members."},
		{MemberRemoved{"g", "c1-1f", "", false, "c1 sent LeaveGroup for it", 2, "c1"},
			"g c1-1f left=2: c1 sent LeaveGroup for it",
			"Member c1-1f was removed from group g: c1 sent LeaveGroup for it. The group has 2 members."},
		{StaticMemberReplaced{"g", "i1", "i1-1f", "i1-2e", "CompletingRebalance", 5, "range", "i1-2e (c1) came back while the leader divides the partitions for i1-1f"},
			"g instance=i1 i1-1f→i1-2e CompletingRebalance generation=5: i1-2e (c1) came back while the leader divides the partitions for i1-1f",
			"The static member with group.instance.id = i1 came back to group g within its session: it has the member id i1-2e now, and the old one, i1-1f, is fenced. A rebalance follows: i1-2e (c1) came back while the leader divides the partitions for i1-1f."},
		{StaticMemberReplaced{"g", "i1", "i1-1f", "i1-2e", "PreparingRebalance", 5, "range", ""},
			"g instance=i1 i1-1f→i1-2e PreparingRebalance generation=5",
			"The static member with group.instance.id = i1 came back to group g within its session: it has the member id i1-2e now, and the old one, i1-1f, is fenced. It waits with the others for the end of the join phase."},
		{GroupRequestRefused{"OffsetDelete", "g", "", "admin", "GROUP_ID_NOT_FOUND", "there is no such group"},
			"g OffsetDelete from=admin GROUP_ID_NOT_FOUND: there is no such group",
			"The OffsetDelete request of admin for group g was answered with GROUP_ID_NOT_FOUND: there is no such group."},
		{OffsetCommitted{"g", orders3, 6, 8, "c1-1f", 5, -1},
			"g orders-3 8→6 member=c1-1f generation=5",
			"Group g has committed offset 6 of orders-3, by c1-1f, generation 5: who takes the partition over reads from there. That is before the old one, 8: the coordinator checks member and generation, not whether the offset goes back."},
		{OffsetCommitted{"g", orders3, 0, -1, "", -1, -1},
			"g orders-3 -1→0 member= generation=-1",
			"Group g has committed offset 0 of orders-3, by a client that is no member: who takes the partition over reads from there."},
		{OffsetCommitted{"g", orders3, 42, 40, "", -1, 1000},
			"g orders-3 40→42 producer=1000",
			"Group g has committed offset 42 of orders-3, by the transaction of producer id 1,000: who takes the partition over reads from there. It was 40."},
		{TransactionalOffsetPending{"g", orders3, 42, 1000, 4, "", -1},
			"g orders-3 42 producer=1000 epoch=4 member= generation=-1",
			"Offset 42 of orders-3 is written for group g in the transaction of producer id 1,000 (epoch 4), by a client that names no member. It is pending: a COMMIT marker of that producer id in this partition of __consumer_offsets makes it the committed offset, an ABORT marker drops it. Until then OffsetFetch gives the offset that was committed before; whoever requires a stable one is answered with UNSTABLE_OFFSET_COMMIT."},
		{TransactionalOffsetsEnded{"g", 1000, 5, false, nil, []CommitOffset{{orders3, 42}, {kafka.TopicPartition{Topic: "orders", Partition: 4}, 7}}},
			"g ABORT producer=1000 epoch=5 dropped orders-3→42 orders-4→7",
			"The ABORT marker of producer id 1,000 (epoch 5) is written. What its transaction committed for group g is dropped: orders-3→42, orders-4→7. The group's committed offsets stay as they are."},
		{TransactionalOffsetsEnded{"g", 1000, 5, true, []CommitOffset{{orders3, 42}}, []CommitOffset{{kafka.TopicPartition{Topic: "orders", Partition: 4}, 7}}},
			"g COMMIT producer=1000 epoch=5 visible orders-3→42 dropped orders-4→7",
			"The COMMIT marker of producer id 1,000 (epoch 5) is written. What its transaction committed for group g counts now: orders-3→42. Dropped is orders-4→7: another commit of group g came after it in the log, and the last one counts."},
		{TransactionalOffsetsEnded{"g", 1000, 5, true, nil, []CommitOffset{{orders3, 42}}},
			"g COMMIT producer=1000 epoch=5 dropped orders-3→42",
			"The COMMIT marker of producer id 1,000 (epoch 5) is written. Dropped is orders-3→42: another commit of group g came after it in the log, and the last one counts."},
		{OffsetsRemoved{"g", nil, "admin sent OffsetDelete for them", []kafka.TopicPartition{orders3}},
			"g pending orders-3: admin sent OffsetDelete for them",
			"Group g loses what transactions have pending for orders-3: admin sent OffsetDelete for them. Each gets a tombstone."},
		{OffsetsRemoved{"g", []kafka.TopicPartition{orders3}, "the group is deleted", []kafka.TopicPartition{orders3}},
			"g orders-3 pending orders-3: the group is deleted",
			"Group g loses its committed offset of orders-3: the group is deleted. Each gets a tombstone. Gone is what transactions have pending for orders-3, too."},
		{GroupsLoaded{12, 1, 2, 3, 2},
			"records=12 groups=1 members=2 offsets=3 pending=2",
			"The group coordinator read 12 records of the partition's log and knows 1 group with 2 members and 3 committed offsets now. Each member has a whole session timeout to be heard of. Of transactions whose end the log does not have, 2 offsets are pending."},
	} {
		s.check(t)
	}
}
