package group

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
)

const (
	minute kafka.Millis = 60_000
	day                 = 24 * 60 * minute
)

// keepAlive lets a stable member go on for a span.
func (r *run) keepAlive(c *consumer, span kafka.Millis) {
	r.t.Helper()
	for end := r.now + span; r.now < end; {
		r.until(min(end, r.now+40_000))
		r.wantCode(r.beats(c), "ok")
	}
}

// An empty group keeps its offsets for offsets.retention.minutes from when it became empty, whenever they were
// committed; then it goes too.
func TestEmptyGroupExpires(t *testing.T) {
	r := newRun(t, func(c *Config) { c.OffsetsRetention = 2 * 60 * minute })
	c1 := newConsumer("c1")
	r.form(c1)
	r.commits(c1, 0, 5)
	r.keepAlive(c1, 3*60*minute) // longer than the retention, but the topic is subscribed to
	r.leaves(c1)
	left := r.now
	if v := r.view("g"); !v.Offsets[0].Expires || v.Offsets[0].ExpiresAt != wallStart+kafka.Timestamp(left+120*minute) {
		t.Errorf("%+v", v.Offsets)
	}
	expires := (left + 120*minute + 10*minute - 1) / (10 * minute) * (10 * minute) // checks come every 10 minutes
	r.until(expires - 1)
	r.want(Empty, 2)
	r.until(expires)
	r.want(Dead, 0)
	removed, deleted := events[journal.OffsetsRemoved](r), events[journal.GroupDeleted](r)
	if len(removed) != 1 || !strings.Contains(removed[0].Why, "empty for longer than offsets.retention.minutes = 120") || len(deleted) != 1 {
		t.Errorf("%+v %+v", removed, deleted)
	}
	if n := len(r.log); r.log[n-1].Value != nil || r.log[n-2].Value != nil {
		t.Error("the last two records are no tombstones")
	}
	if due, ok := r.c.NextDue(); ok {
		t.Errorf("nothing is left, but a timer is due at %d", due)
	}
}

// In a stable group only offsets of topics that nobody subscribes to expire, from their commit on.
func TestUnsubscribedTopicExpires(t *testing.T) {
	r := newRun(t, nil)
	c1 := newConsumer("c1")
	r.form(c1)
	r.until(20_000)
	committed := r.now
	r.send("c1", commit(c1, "payments", 0, 7))
	r.commits(c1, 0, 5)
	if v := r.view("g"); v.Offsets[0].Expires || !v.Offsets[1].Expires || v.Offsets[1].ExpiresAt != wallStart+kafka.Timestamp(committed+7*day) {
		t.Errorf("%+v", v.Offsets)
	}
	r.keepAlive(c1, 7*day-40_000)
	if v := r.view("g"); len(v.Offsets) != 2 {
		t.Errorf("%+v", v.Offsets)
	}
	r.keepAlive(c1, 11*minute) // to the next check
	if v := r.view("g"); len(v.Offsets) != 1 || v.Offsets[0].TopicPartition.Topic != "orders" || v.State != Stable {
		t.Errorf("%+v", v)
	}
}

// Offsets of a simple consumer expire by their commit, each for itself; the last takes the group with it.
func TestSimpleConsumerExpires(t *testing.T) {
	r := newRun(t, nil)
	c := newConsumer("c1")
	r.commits(c, 0, 1)
	r.until(day)
	r.commits(c, 1, 1)
	r.until(7*day - 1)
	if v := r.view("g"); len(v.Offsets) != 2 {
		t.Errorf("%+v", v.Offsets)
	}
	r.until(7 * day)
	if v := r.view("g"); len(v.Offsets) != 1 || v.Offsets[0].TopicPartition.Partition != 1 {
		t.Errorf("%+v", v.Offsets)
	}
	r.until(8 * day)
	r.want(Dead, 0)
}

// In a join phase nothing expires, and an empty group without offsets goes at the next check, pending ids with it.
func TestExpiryByState(t *testing.T) {
	r := newRun(t, func(c *Config) { c.OffsetsRetention = minute })
	c1 := newConsumer("c1")
	c1.session, c1.rebalance = 1_800_000, 1_800_000
	r.form(c1)
	r.send("c1", commit(c1, "payments", 0, 7))
	r.joins(newConsumer("c2")) // c1 never joins again, and c2 waits for it
	r.until(10 * minute)
	if v := r.view("g"); len(v.Offsets) != 1 {
		t.Errorf("%s: %+v", v.State, v.Offsets)
	}

	r = newRun(t, nil)
	c2 := newConsumer("c2")
	r.until(10*minute - 1)
	c2.member = r.answers[r.joinsOnce(c2)].(*kmsg.JoinGroupResponse).MemberID
	r.want(Empty, 0)
	r.pass(1)
	r.want(Dead, 0)
	r.wantCode(r.joinsOnce(c2), "UNKNOWN_MEMBER_ID")
}

// Tombstones that cannot be written are tried again at the next check.
func TestExpiryNotWritten(t *testing.T) {
	r := newRun(t, func(c *Config) { c.OffsetsRetention = minute })
	r.commits(newConsumer("c1"), 0, 1)
	r.fail = kerr.NotEnoughReplicas
	r.until(10 * minute)
	if v := r.view("g"); v.State != Empty || len(v.Offsets) != 1 {
		t.Errorf("%+v", v)
	}
	r.fail = nil
	r.until(20 * minute)
	r.want(Dead, 0)
}
