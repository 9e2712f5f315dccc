package ledger

import (
	"testing"

	"loglab/engine/group"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// A group of the consumer protocol is shown as it is written. A member that was removed, and has joined again before
// that is written, is still there as it was, without a timer; once the new one is there it needs one.
func TestRemovedAndJoinedAgain(t *testing.T) {
	var k Checker
	look := func(epoch kafka.MemberEpoch, ends kafka.Millis, bodies ...journal.Body) []Violation {
		t.Helper()
		k.out = nil
		for _, body := range bodies {
			k.takeGroupEvent(&Observation{}, journal.Event{Node: "b1", Body: body})
		}
		k.checkSessions(&GroupState{ID: "billing", Held: &group.GroupView{ID: "billing", Type: group.Consumer, Members: []group.MemberView{{ID: "m", Epoch: epoch, SessionEnds: ends}}}})
		return k.out
	}
	for _, step := range []struct {
		what   string
		epoch  kafka.MemberEpoch
		ends   kafka.Millis
		bodies []journal.Body
		wrong  int
	}{
		{"a member with a session", 3, 45000, []journal.Body{journal.GroupEpochBumped{Group: "billing", Epoch: 4}}, 0},
		{"removed, still shown", 3, 0, []journal.Body{journal.MemberRemoved{Group: "billing", Member: "m"}, journal.GroupEpochBumped{Group: "billing", Epoch: 5}}, 0},
		{"in the epoch that it came to last, as that is written", 4, 0, nil, 0},
		{"joined again, still shown as it was", 4, 0, []journal.Body{journal.ConsumerMemberJoined{Group: "billing", Member: "m"}}, 0},
		{"the new one, without a session", 6, 0, nil, 1},
		{"the new one, with its session", 6, 90000, nil, 0},
		{"its session stands still", 6, 0, nil, 1},
	} {
		if got := look(step.epoch, step.ends, step.bodies...); len(got) != step.wrong {
			t.Errorf("%s: %v, want %d violations", step.what, got, step.wrong)
		}
	}
}

// An empty group that is converted, or deleted, is another group from then on: its first epoch may come again.
func TestOwnersOfTheNextGroup(t *testing.T) {
	orders0 := kafka.TopicPartition{Topic: "orders"}
	taken := journal.PartitionsTaken{Group: "billing", Epoch: 1, Partitions: []kafka.TopicPartition{orders0}}
	for _, test := range []struct {
		between journal.Body
		wrong   int
	}{
		{journal.GroupConverted{Group: "billing", To: "consumer", Members: 1}, 1},
		{journal.GroupConverted{Group: "billing", To: "classic"}, 0},
		{journal.GroupDeleted{Group: "billing"}, 0},
	} {
		var k Checker
		o := Observation{Groups: []GroupState{{ID: "billing", Offsets: kafka.TopicPartition{Topic: group.Topic}}}}
		k.partitions = map[kafka.TopicPartition]*partitionSeen{}
		k.takeGroupEvent(&o, journal.Event{Node: "billing-1", Body: taken})
		k.takeGroupEvent(&o, journal.Event{Node: "b1", Body: test.between})
		k.takeGroupEvent(&o, journal.Event{Node: "billing-2", Body: taken})
		if len(k.out) != test.wrong {
			t.Errorf("with %+v between: %v, want %d violations", test.between, k.out, test.wrong)
		}
	}
}
