package broker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/group"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// The topic is created by the first FindCoordinator: the broker asks the controller and answers
// COORDINATOR_NOT_AVAILABLE until it has read of it. All 50 partitions are in the metadata, one has logs.
func TestOffsetsTopicIsCreatedWhenItIsNeeded(t *testing.T) {
	c := newCluster(t, 3, []kafka.Partition{12}, nil)
	if got := c.find("b2", "my-group"); got != "COORDINATOR_NOT_AVAILABLE" {
		t.Fatalf("the first answer is %s", got)
	}
	coordinator := c.findAtLast("b2", "my-group")
	image := c.controller.Image()
	topic, _ := image.Topic(group.Topic)
	if len(topic.Partitions) != 50 || len(topic.Partitions[12].Replicas) != 3 {
		t.Fatalf("%d partitions with replicas %v", len(topic.Partitions), topic.Partitions[12].Replicas)
	}
	settings := fmt.Sprint(topic.Config)
	if want := "[{cleanup.policy compact} {compression.type producer} {segment.bytes 104857600}]"; settings != want {
		t.Errorf("settings %s, want %s", settings, want)
	}
	if want := NodeID(topic.Partitions[12].Leader); coordinator != want {
		t.Errorf("coordinator %s, want the leader of partition 12, %s", coordinator, want)
	}
	for _, b := range c.brokers {
		var has []string
		for _, r := range b.replicas {
			has = append(has, r.TopicPartition.String())
		}
		if diff := cmp.Diff([]string{"__consumer_offsets-12"}, has); diff != "" {
			t.Errorf("replicas of %s (-want +got):\n%s", b.node, diff)
		}
		config := b.replicas[0].Log.Config()
		if config.SegmentBytes != 100<<20 || !config.Compact {
			t.Errorf("the log of %s has segment.bytes %d, compact %t", b.node, config.SegmentBytes, config.Compact)
		}
		if hosts := b.coordinator(kafka.TopicPartition{Topic: kafka.OffsetsTopic, Partition: 12}) != nil; hosts != (b.node == coordinator) {
			t.Errorf("%s has a coordinator: %t", b.node, hosts)
		}
	}
	if created := events[journal.TopicCreated](c); len(created) != 1 {
		t.Errorf("created: %v", created)
	}
	if elected := events[journal.CoordinatorElected](c); len(elected) != 1 || elected[0] != string(coordinator)+" __consumer_offsets-12 epoch=0 records=0 leo=0" {
		t.Errorf("elected: %v", elected)
	}
}

// Two brokers that are asked at the same time both ask the controller; one learns that the topic exists.
func TestOffsetsTopicIsCreatedOnce(t *testing.T) {
	c := newCluster(t, 2, []kafka.Partition{12}, nil)
	r := kmsg.NewPtrFindCoordinatorRequest()
	r.Version, r.CoordinatorKeys = 6, []string{"my-group", "orders"}
	first, second := c.begin("b1", r), c.begin("b2", r)
	for _, number := range []int32{first, second} {
		for _, found := range answer[*kmsg.FindCoordinatorResponse](c, number).Coordinators {
			if got := errorName(found.ErrorCode); got != "COORDINATOR_NOT_AVAILABLE" || found.NodeID != -1 || found.Port != -1 {
				t.Errorf("%s: %s, node %d, port %d", found.Key, got, found.NodeID, found.Port)
			}
		}
	}
	c.run(1000)
	want := []string{"b2 __consumer_offsets replication.factor=2 TOPIC_ALREADY_EXISTS: Topic '__consumer_offsets' already exists."}
	if diff := cmp.Diff(want, events[journal.OffsetsTopicRefused](c)); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	if created := events[journal.TopicCreated](c); len(created) != 1 {
		t.Errorf("created: %v", created)
	}
}

// With one broker and replication factor 3 the topic is refused for ever.
func TestOffsetsTopicNeedsAsManyBrokersAsReplicas(t *testing.T) {
	c := newCluster(t, 1, []kafka.Partition{12}, func(c *Config) { c.OffsetsTopicReplicationFactor = 3 })
	for range 20 {
		if got := c.find("b1", "my-group"); got != "COORDINATOR_NOT_AVAILABLE" {
			t.Fatalf("answered %s", got)
		}
		c.run(100)
	}
	refused := events[journal.OffsetsTopicRefused](c)
	want := "b1 __consumer_offsets replication.factor=3 INVALID_REPLICATION_FACTOR: Unable to replicate the partition 3 time(s): The target replication factor of 3 cannot be reached because only 1 broker(s) are registered."
	if len(refused) != 20 || refused[0] != want {
		t.Errorf("%d refusals, the first\n%s\nwant\n%s", len(refused), refused[0], want)
	}
}

// GRP-19: the group's partition is its id's hash; with one replica its coordinator has no other place to go, while
// other groups go on.
func TestGRP19(t *testing.T) {
	for id, want := range map[string]kafka.Partition{"my-group": 12, "orders": 31, "group-1": 49, "checkout": 18, "billing": 9, "polygenelubricants": 0, "test": 48, "g": 3} {
		if got := coordinator.PartitionFor(id, 50); got != want {
			t.Errorf("group %s lives on partition %d, want %d", id, got, want)
		}
	}
	used := []kafka.Partition{12, 31}
	for _, replicas := range []int{1, 3} {
		c := newCluster(t, 3, used, func(c *Config) { c.OffsetsTopicReplicationFactor = replicas })
		gone, other := c.findAtLast("b1", "my-group"), c.findAtLast("b1", "orders")
		if gone == other {
			t.Fatal("both groups have one coordinator under this seed")
		}
		asked := kafka.NodeID("b1")
		if gone == "b1" {
			asked = "b2"
		}
		c.kill(gone)
		c.run(15_000)
		got := c.find(asked, "my-group")
		if replicas == 1 && got != "COORDINATOR_NOT_AVAILABLE" || replicas == 3 && (!strings.HasPrefix(got, "b") || got == string(gone)) {
			t.Errorf("replication factor %d: after %s is gone the coordinator of my-group is %s", replicas, gone, got)
		}
		if got := c.find(asked, "orders"); got != string(other) {
			t.Errorf("replication factor %d: the coordinator of orders is %s, want %s", replicas, got, other)
		}
	}
}

// What becomes of partitions that are not in use is not told.
func TestUnusedPartitionsAreNotTold(t *testing.T) {
	c := newCluster(t, 3, []kafka.Partition{12}, nil)
	gone := c.findAtLast("b1", "my-group")
	before := c.j.Len()
	c.kill(gone)
	c.run(20_000)
	c.start(gone)
	for e := range c.j.All() {
		for p := range 50 {
			if name := fmt.Sprintf("__consumer_offsets-%d ", p); e.Seq > uint64(before) && p != 12 && strings.Contains(e.Body.Text()+" ", name) {
				t.Errorf("told: %s", e.Line())
			}
		}
	}
	if elected := events[journal.LeaderElected](c); len(elected) == 0 {
		t.Error("no election of partition 12 is told")
	}
}

// Asked about a group that lives elsewhere a broker says NOT_COORDINATOR, as each API says it.
func TestNotCoordinator(t *testing.T) {
	c := newCluster(t, 2, []kafka.Partition{12}, nil)
	c.create("t", []int32{1, 2}, []int32{2, 1})
	coordinator := c.findAtLast("b1", "my-group")
	wrong := kafka.NodeID("b1")
	if coordinator == wrong {
		wrong = "b2"
	}
	for _, test := range []struct {
		request kmsg.Request
		code    func(kmsg.Response) string
	}{
		{request: &kmsg.JoinGroupRequest{Version: 9, Group: "my-group", MemberID: "m"}, code: func(r kmsg.Response) string {
			a := r.(*kmsg.JoinGroupResponse)
			return fmt.Sprint(errorName(a.ErrorCode), " ", a.Generation, " ", a.MemberID)
		}},
		{request: &kmsg.SyncGroupRequest{Version: 5, Group: "my-group", MemberID: "m"}, code: func(r kmsg.Response) string { return errorName(r.(*kmsg.SyncGroupResponse).ErrorCode) }},
		{request: &kmsg.HeartbeatRequest{Version: 4, Group: "my-group", MemberID: "m"}, code: func(r kmsg.Response) string { return errorName(r.(*kmsg.HeartbeatResponse).ErrorCode) }},
		{request: &kmsg.LeaveGroupRequest{Version: 5, Group: "my-group"}, code: func(r kmsg.Response) string { return errorName(r.(*kmsg.LeaveGroupResponse).ErrorCode) }},
		{request: &kmsg.OffsetDeleteRequest{Group: "my-group"}, code: func(r kmsg.Response) string { return errorName(r.(*kmsg.OffsetDeleteResponse).ErrorCode) }},
		{request: commit("my-group", 9, "t", [16]byte{}, 0, 1, 7), code: committed},
		{request: commit("my-group", 10, "", c.topicIDs["t"], 0, 1, 7), code: committed},
		{request: fetchCommitted(10, [16]byte{9}, "my-group"), code: func(r kmsg.Response) string {
			a := r.(*kmsg.OffsetFetchResponse)
			return fmt.Sprint(errorName(a.Groups[0].ErrorCode), " ", a.Groups[0].Group, " ", len(a.Groups[0].Topics))
		}},
		{request: &kmsg.OffsetFetchRequest{Version: 7, Group: "my-group"}, code: func(r kmsg.Response) string { return errorName(r.(*kmsg.OffsetFetchResponse).ErrorCode) }},
		{request: &kmsg.DescribeGroupsRequest{Version: 6, Groups: []string{"my-group", "orders"}}, code: func(r kmsg.Response) (text string) {
			for _, g := range r.(*kmsg.DescribeGroupsResponse).Groups {
				text += fmt.Sprint(g.Group, " ", errorName(g.ErrorCode), " ")
			}
			return text
		}},
		{request: &kmsg.DeleteGroupsRequest{Version: 2, Groups: []string{"my-group", "orders"}}, code: func(r kmsg.Response) (text string) {
			for _, g := range r.(*kmsg.DeleteGroupsResponse).Groups {
				text += fmt.Sprint(g.Group, " ", errorName(g.ErrorCode), " ")
			}
			return text
		}},
	} {
		want := map[string]string{
			"JoinGroup": "NOT_COORDINATOR -1 m", "OffsetFetch": "NOT_COORDINATOR my-group 0",
			"DescribeGroups": "my-group NOT_COORDINATOR orders NOT_COORDINATOR ", "DeleteGroups": "my-group NOT_COORDINATOR orders NOT_COORDINATOR ",
			"OffsetCommit": "0 NOT_COORDINATOR 1 NOT_COORDINATOR 7 UNKNOWN_TOPIC_OR_PARTITION ",
		}[kmsg.NameForKey(test.request.Key())]
		if want == "" || test.request.GetVersion() == 7 {
			want = "NOT_COORDINATOR"
		}
		if got := test.code(ask[kmsg.Response](c, wrong, test.request)); got != want {
			t.Errorf("%s v%d: %s, want %s", kmsg.NameForKey(test.request.Key()), test.request.GetVersion(), got, want)
		}
	}
}

// commit makes an OffsetCommit request of nobody's: offset 10 plus the partition, of each.
func commit(groupID string, version int16, topic string, id [16]byte, partitions ...int32) *kmsg.OffsetCommitRequest {
	r := kmsg.NewPtrOffsetCommitRequest()
	r.Version, r.Group, r.Generation = version, groupID, -1
	rt := kmsg.NewOffsetCommitRequestTopic()
	rt.Topic, rt.TopicID = topic, id
	for _, p := range partitions {
		rp := kmsg.NewOffsetCommitRequestTopicPartition()
		rp.Partition, rp.Offset, rp.Metadata = p, 10+int64(p), new(string)
		rt.Partitions = append(rt.Partitions, rp)
	}
	r.Topics = append(r.Topics, rt)
	return r
}

// committed writes the answer to a commit, by partition.
func committed(r kmsg.Response) (text string) {
	byPartition := map[int32]string{}
	for _, topic := range r.(*kmsg.OffsetCommitResponse).Topics {
		for _, p := range topic.Partitions {
			byPartition[p.Partition] = errorName(p.ErrorCode)
		}
	}
	for p := range int32(100) {
		if got := byPartition[p]; got != "" {
			text += fmt.Sprint(p, " ", got, " ")
		}
	}
	return text
}

// fetchCommitted makes an OffsetFetch request of partitions 0 and 1 of one topic for some groups.
func fetchCommitted(version int16, id [16]byte, groups ...string) *kmsg.OffsetFetchRequest {
	r := kmsg.NewPtrOffsetFetchRequest()
	r.Version = version
	for _, groupID := range groups {
		rg := kmsg.NewOffsetFetchRequestGroup()
		rg.Group = groupID
		rt := kmsg.NewOffsetFetchRequestGroupTopic()
		rt.TopicID, rt.Partitions = id, []int32{0, 1}
		rg.Topics = append(rg.Topics, rt)
		r.Groups = append(r.Groups, rg)
	}
	return r
}
