package broker

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/group"
	"loglab/engine/kafka"
)

// join lets a member join my-group for the first time.
func (c *cluster) join(at kafka.NodeID) *kmsg.JoinGroupResponse {
	c.t.Helper()
	r := kmsg.NewPtrJoinGroupRequest()
	r.Version, r.Group, r.SessionTimeoutMillis, r.RebalanceTimeoutMillis, r.ProtocolType = 9, "my-group", 45_000, 300_000, "consumer"
	metadata := kmsg.NewConsumerMemberMetadata()
	metadata.Topics = []string{"t"}
	r.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: metadata.AppendTo(nil)}}
	first := ask[*kmsg.JoinGroupResponse](c, at, r)
	if got := errorName(first.ErrorCode); got != "MEMBER_ID_REQUIRED" {
		c.t.Fatalf("joined without an id: %s", got)
	}
	again := *r
	again.MemberID = first.MemberID
	return ask[*kmsg.JoinGroupResponse](c, at, &again)
}

// heartbeat lets a member say that it lives.
func (c *cluster) heartbeat(at kafka.NodeID, member string, generation int32) string {
	c.t.Helper()
	return errorName(ask[*kmsg.HeartbeatResponse](c, at, &kmsg.HeartbeatRequest{Version: 4, Group: "my-group", MemberID: member, Generation: generation}).ErrorCode)
}

// groups gives what a broker coordinates.
func (c *cluster) groups(node kafka.NodeID) (list []group.GroupView) {
	for _, h := range c.broker(node).View(c.now).Coordinators {
		list = append(list, h.Groups...)
	}
	return list
}

// A member joins, gets its assignment and lives on at the next coordinator, which knows it from the log. It is removed
// session.timeout.ms after its last heartbeat, by a timer of the broker.
func TestMemberOutlivesItsCoordinator(t *testing.T) {
	c, old := newGroups(t, nil)
	begun := c.now
	joined := c.join(old)
	if joined.ErrorCode != 0 || joined.Generation != 1 || joined.LeaderID != joined.MemberID || c.now-begun < 3000 {
		t.Fatalf("joined after %d ms: %+v", c.now-begun, joined)
	}
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Version, sync.Group, sync.MemberID, sync.Generation = 5, "my-group", joined.MemberID, 1
	assignment := kmsg.NewConsumerMemberAssignment()
	assignment.Topics = []kmsg.ConsumerMemberAssignmentTopic{{Topic: "t", Partitions: []int32{0, 1}}}
	sync.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: joined.MemberID, MemberAssignment: assignment.AppendTo(nil)}}
	if synced := ask[*kmsg.SyncGroupResponse](c, old, sync); synced.ErrorCode != 0 || len(synced.MemberAssignment) == 0 {
		t.Fatalf("synced: %+v", synced)
	}
	if got := c.heartbeat(old, joined.MemberID, 1); got != "ok" {
		t.Errorf("heartbeat: %s", got)
	}
	c.kill(old)
	c.run(15_000)
	next := c.findAtLast(c.followersOf(old)[0], "my-group")
	if got := c.heartbeat(next, joined.MemberID, 1); got != "ok" {
		t.Errorf("heartbeat at the new coordinator %s: %s", next, got)
	}
	if known := c.groups(next); len(known) != 1 || known[0].State != group.Stable || known[0].Generation != 1 || len(known[0].Members) != 1 || len(known[0].Members[0].Assignment) != 2 {
		t.Errorf("the new coordinator knows %+v", known)
	}
	c.run(44_000)
	if known := c.groups(next); len(known[0].Members) != 1 {
		t.Errorf("removed before its session timeout: %+v", known)
	}
	c.run(2000)
	if known := c.groups(next); len(known[0].Members) != 0 || known[0].State != group.Empty {
		t.Errorf("not removed after its session timeout: %+v", known)
	}
	if _, does, _ := c.broker(next).NextTimer(); does == "" {
		t.Error("the broker does not say what its next timer does")
	}
}

// Two coordinators of one partition, or one after a restart, never give out the same member id.
func TestMemberIDsDiffer(t *testing.T) {
	c := newCluster(t, 1, []kafka.Partition{12}, nil)
	c.create("t", []int32{1})
	c.findAtLast("b1", "my-group")
	first := c.join("b1").MemberID
	c.kill("b1")
	c.start("b1")
	if second := c.join("b1").MemberID; second == first {
		t.Errorf("member id %s twice", first)
	}
}
