package broker

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// fetched writes the answer to a fetch of committed offsets, by group.
func fetched(r *kmsg.OffsetFetchResponse) (text string) {
	for _, g := range r.Groups {
		text += fmt.Sprint(g.Group, " ", errorName(g.ErrorCode))
		for _, topic := range g.Topics {
			for _, p := range topic.Partitions {
				text += fmt.Sprint(" ", p.Partition, ":", p.Offset)
				if p.ErrorCode != 0 {
					text += " " + errorName(p.ErrorCode)
				}
			}
		}
		text += "; "
	}
	return text
}

// waits says whether a request is not answered within a span.
func (c *cluster) waits(number int32, span kafka.Millis) bool {
	c.run(span)
	return c.answers[number] == nil
}

// followersOf lists the brokers that are not the coordinator.
func (c *cluster) followersOf(coordinator kafka.NodeID) (list []kafka.NodeID) {
	for _, b := range c.brokers {
		if b.node != coordinator {
			list = append(list, b.node)
		}
	}
	return list
}

// newGroups starts three brokers with a topic and finds the coordinator of my-group.
func newGroups(t *testing.T, change func(*Config)) (c *cluster, coordinator kafka.NodeID) {
	t.Helper()
	c = newCluster(t, 3, []kafka.Partition{12, 31}, change)
	c.create("t", []int32{1, 2, 3}, []int32{2, 3, 1})
	return c, c.findAtLast("b1", "my-group")
}

// A commit is answered when every in-sync replica has it, not before.
func TestCommitWaitsForTheInSyncReplicas(t *testing.T) {
	c, coordinator := newGroups(t, nil)
	slow := c.followersOf(coordinator)[1]
	c.cut(coordinator, slow, true)
	number := c.begin(coordinator, commit("my-group", 9, "t", [16]byte{}, 0, 1))
	if !c.waits(number, 4000) {
		t.Fatalf("answered while %s does not have it: %s", slow, committed(c.answers[number]))
	}
	if v := c.broker(coordinator).View(c.now).Coordinators[0]; v.TopicPartition.Partition != 12 || v.Writes != 1 || len(v.Groups) != 1 || len(v.Groups[0].Offsets) != 0 {
		t.Errorf("view %+v, want a write that waits and no offset yet", v)
	}
	c.cut(coordinator, slow, false)
	if got := committed(answer[*kmsg.OffsetCommitResponse](c, number)); got != "0 ok 1 ok " {
		t.Errorf("answered %s", got)
	}
	for _, b := range c.brokers {
		if end := b.replica(offsetsTopic(12)).Log.LogEndOffset(); end != 2 {
			t.Errorf("the log of %s ends at %d, want 2", b.node, end)
		}
	}
	if parked := events[journal.GroupWriteParked](c); len(parked) != 1 {
		t.Errorf("parked: %v", parked)
	}
}

// A commit that is not on every in-sync replica within offsets.commit.timeout.ms is answered with an error, and may
// hold later all the same.
func TestCommitTimesOut(t *testing.T) {
	c, coordinator := newGroups(t, nil)
	slow := c.followersOf(coordinator)[1]
	c.cut(coordinator, slow, true)
	begun := c.now
	got := committed(ask[*kmsg.OffsetCommitResponse](c, coordinator, commit("my-group", 9, "t", [16]byte{}, 0, 1)))
	if got != "0 COORDINATOR_NOT_AVAILABLE 1 COORDINATOR_NOT_AVAILABLE " {
		t.Errorf("answered %s", got)
	}
	if waited := c.now - begun; waited < 5000 || waited > 5010 {
		t.Errorf("answered after %d ms", waited)
	}
	c.cut(coordinator, slow, false)
	c.run(2000)
	if end := c.broker(slow).replica(offsetsTopic(12)).Log.LogEndOffset(); end != 2 {
		t.Errorf("the log of %s ends at %d, want 2", slow, end)
	}
	if got := fetched(ask[*kmsg.OffsetFetchResponse](c, coordinator, fetchCommitted(10, c.topicIDs["t"], "my-group"))); got != "my-group ok 0:10 1:11; " {
		t.Errorf("fetched %s", got)
	}
}

// Below min.insync.replicas nothing is written.
func TestCommitNeedsMinInsyncReplicas(t *testing.T) {
	c, coordinator := newGroups(t, nil)
	two := "2"
	alter := kmsg.NewPtrIncrementalAlterConfigsRequest()
	resource := kmsg.NewIncrementalAlterConfigsRequestResource()
	resource.ResourceType = kmsg.ConfigResourceTypeBroker
	resource.Configs = []kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: "min.insync.replicas", Value: &two}}
	alter.Resources = append(alter.Resources, resource)
	if code := ask[*kmsg.IncrementalAlterConfigsResponse](c, controllerNode, alter).Resources[0].ErrorCode; code != 0 {
		t.Fatal(errorName(code))
	}
	for _, node := range c.followersOf(coordinator) {
		c.kill(node)
	}
	c.run(25_000)
	end := c.broker(coordinator).replica(offsetsTopic(12)).Log.LogEndOffset()
	if got := committed(ask[*kmsg.OffsetCommitResponse](c, coordinator, commit("my-group", 9, "t", [16]byte{}, 0))); got != "0 COORDINATOR_NOT_AVAILABLE " {
		t.Errorf("answered %s", got)
	}
	if now := c.broker(coordinator).replica(offsetsTopic(12)).Log.LogEndOffset(); now != end {
		t.Errorf("the log ends at %d, before at %d", now, end)
	}
	if failed := events[journal.GroupAppendFailed](c); len(failed) != 1 {
		t.Errorf("failed: %v", failed)
	}
}

// When the coordinator dies the next leader of its partition knows the offsets; the old one, back, does not coordinate.
func TestCoordinatorMovesWithTheLeader(t *testing.T) {
	c, old := newGroups(t, nil)
	if got := committed(ask[*kmsg.OffsetCommitResponse](c, old, commit("my-group", 9, "t", [16]byte{}, 0, 1))); got != "0 ok 1 ok " {
		t.Fatalf("committed: %s", got)
	}
	alive := c.followersOf(old)[0]
	c.kill(old)
	if c.broker(old).coordinators != nil {
		t.Error("a process that is gone has coordinators")
	}
	c.run(15_000)
	next := c.findAtLast(alive, "my-group")
	if next == old {
		t.Fatalf("the coordinator is still %s", old)
	}
	ids := fetchCommitted(10, c.topicIDs["t"], "my-group")
	want := "my-group ok 0:10 1:11; "
	if got := fetched(ask[*kmsg.OffsetFetchResponse](c, next, ids)); got != want {
		t.Errorf("%s answers %s, want %s", next, got, want)
	}
	c.start(old)
	if got := c.find(alive, "my-group"); got != string(next) {
		t.Errorf("with %s back the coordinator is %s, want %s", old, got, next)
	}
	if got := fetched(ask[*kmsg.OffsetFetchResponse](c, old, ids)); got != "my-group NOT_COORDINATOR; " {
		t.Errorf("%s answers %s", old, got)
	}
}

// A coordinator with a write that waits answers NOT_COORDINATOR when it learns that another broker leads.
func TestCoordinatorResigns(t *testing.T) {
	c, old := newGroups(t, func(c *Config) { c.Group.CommitTimeout = 60_000 })
	for _, node := range c.followersOf(old) {
		c.cut(old, node, true)
	}
	number := c.begin(old, commit("my-group", 9, "t", [16]byte{}, 0))
	c.run(100)
	c.cut(old, controllerNode, true)
	if !c.waits(number, 20_000) {
		t.Fatalf("answered %s", committed(c.answers[number]))
	}
	c.cut(old, controllerNode, false)
	if got := committed(answer[*kmsg.OffsetCommitResponse](c, number)); got != "0 NOT_COORDINATOR " {
		t.Errorf("answered %s", got)
	}
	if b := c.broker(old); b.coordinator(kafka.TopicPartition{Topic: kafka.OffsetsTopic, Partition: 12}) != nil || len(b.coordinatorWrites) != 0 {
		t.Errorf("%s still coordinates: %v, %v", old, b.coordinators, b.coordinatorWrites)
	}
	for _, node := range c.followersOf(old) {
		c.cut(old, node, false)
	}
	c.run(5000)
	next := c.findAtLast(old, "my-group")
	if got := fetched(ask[*kmsg.OffsetFetchResponse](c, next, fetchCommitted(10, c.topicIDs["t"], "my-group"))); got != "my-group ok 0:-1 1:-1; " {
		t.Errorf("the new coordinator answers %s: what was on the old leader only is cut off", got)
	}
}

// Topics named by id, partitions and topics that do not exist, and groups that live elsewhere, all in one request.
func TestRequestsInParts(t *testing.T) {
	c, coordinator := newGroups(t, nil)
	unknown := [16]byte{9}
	for _, test := range []struct {
		request *kmsg.OffsetCommitRequest
		want    string
	}{
		{commit("my-group", 9, "t", [16]byte{}, 0, 1, 7), "0 ok 1 ok 7 UNKNOWN_TOPIC_OR_PARTITION "},
		{commit("my-group", 9, "u", [16]byte{}, 0), "0 UNKNOWN_TOPIC_OR_PARTITION "},
		{commit("my-group", 10, "", c.topicIDs["t"], 0, 1, 7), "0 ok 1 ok 7 UNKNOWN_TOPIC_OR_PARTITION "},
		{commit("my-group", 10, "", unknown, 0), "0 UNKNOWN_TOPIC_ID "},
	} {
		response := ask[*kmsg.OffsetCommitResponse](c, coordinator, test.request)
		if got := committed(response); got != test.want {
			t.Errorf("commit v%d of %q: %s, want %s", test.request.Version, test.request.Topics[0].Topic, got, test.want)
		}
		for _, topic := range response.Topics {
			if topic.Topic != test.request.Topics[0].Topic || topic.TopicID != test.request.Topics[0].TopicID {
				t.Errorf("commit v%d: the answer names topic %q, %x", test.request.Version, topic.Topic, topic.TopicID)
			}
		}
	}
	elsewhere := c.findAtLast(coordinator, "orders")
	if elsewhere == coordinator {
		t.Fatal("both groups have one coordinator under this seed")
	}
	both := fetchCommitted(10, c.topicIDs["t"], "my-group", "orders")
	rt := kmsg.NewOffsetFetchRequestGroupTopic()
	rt.TopicID, rt.Partitions = unknown, []int32{3}
	both.Groups[0].Topics = append(both.Groups[0].Topics, rt)
	if got, want := fetched(ask[*kmsg.OffsetFetchResponse](c, coordinator, both)), "my-group ok 0:10 1:11 3:-1 UNKNOWN_TOPIC_ID; orders NOT_COORDINATOR; "; got != want {
		t.Errorf("fetched %s, want %s", got, want)
	}
	both.Groups[0].Topics = nil // all of them
	response := ask[*kmsg.OffsetFetchResponse](c, coordinator, both)
	if got, want := fetched(response), "my-group ok 0:10 1:11; orders NOT_COORDINATOR; "; got != want || response.Groups[0].Topics[0].TopicID != c.topicIDs["t"] {
		t.Errorf("fetched %s, want %s, topic %x", got, want, response.Groups[0].Topics[0].TopicID)
	}
	described := ask[*kmsg.DescribeGroupsResponse](c, coordinator, &kmsg.DescribeGroupsRequest{Version: 6, Groups: []string{"orders", "my-group"}})
	if len(described.Groups) != 2 || described.Groups[0].ErrorCode != kerr.NotCoordinator.Code || described.Groups[1].ErrorCode != 0 || described.Groups[1].State != "Empty" {
		t.Errorf("described %+v", described.Groups)
	}
	if len(c.broker(coordinator).errands) != 0 {
		t.Error("requests in parts are left")
	}
}

// A slow disk delays what a coordinator writes, and keeps the order.
func TestCommitOnASlowDisk(t *testing.T) {
	c, coordinator := newGroups(t, nil)
	b := c.broker(coordinator)
	b.SetDelay(300)
	begun := c.now
	first := c.begin(coordinator, commit("my-group", 9, "t", [16]byte{}, 0))
	c.run(50)
	b.SetDelay(0)
	later := commit("my-group", 9, "t", [16]byte{}, 0)
	later.Topics[0].Partitions[0].Offset = 20
	second := c.begin(coordinator, later)
	for _, number := range []int32{first, second} {
		if got := committed(answer[*kmsg.OffsetCommitResponse](c, number)); got != "0 ok " {
			t.Errorf("answered %s", got)
		}
		if waited := c.now - begun; waited < 300 {
			t.Errorf("answered after %d ms", waited)
		}
	}
	if got, want := fetched(ask[*kmsg.OffsetFetchResponse](c, coordinator, fetchCommitted(10, c.topicIDs["t"], "my-group"))), "my-group ok 0:20 1:-1; "; got != want {
		t.Errorf("fetched %s, want %s", got, want)
	}
}

// One broker, one replica: offsets come back from its disk.
func TestOffsetsSurviveARestart(t *testing.T) {
	c := newCluster(t, 1, []kafka.Partition{12}, nil)
	c.create("t", []int32{1}, []int32{1})
	c.findAtLast("b1", "my-group")
	if got := committed(ask[*kmsg.OffsetCommitResponse](c, "b1", commit("my-group", 9, "t", [16]byte{}, 0, 1))); got != "0 ok 1 ok " {
		t.Fatalf("committed: %s", got)
	}
	c.kill("b1")
	c.start("b1")
	if got, want := fetched(ask[*kmsg.OffsetFetchResponse](c, c.findAtLast("b1", "my-group"), fetchCommitted(10, c.topicIDs["t"], "my-group"))), "my-group ok 0:10 1:11; "; got != want {
		t.Errorf("fetched %s, want %s", got, want)
	}
}

// A clone made while a commit waits goes the same way.
func TestCloneOfACoordinator(t *testing.T) {
	c, coordinator := newGroups(t, nil)
	slow := c.followersOf(coordinator)[1]
	c.cut(coordinator, slow, true)
	c.begin(coordinator, commit("my-group", 10, "", c.topicIDs["t"], 0, 1, 7))
	c.run(1000)
	twin := c.clone()
	for _, one := range []*cluster{c, twin} {
		one.cut(coordinator, slow, false)
		one.run(3000)
		if got := committed(one.answers[one.correlation]); got != "0 ok 1 ok 7 UNKNOWN_TOPIC_OR_PARTITION " {
			t.Errorf("answered %s", got)
		}
	}
	lines := func(c *cluster) (list []string) {
		for e := range c.j.All() {
			list = append(list, e.Line())
		}
		return list
	}
	if diff := cmp.Diff(lines(c), lines(twin)); diff != "" {
		t.Errorf("the clone went another way:\n%s", diff)
	}
}
