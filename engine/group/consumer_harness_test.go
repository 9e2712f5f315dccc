package group

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/simnet"
)

// publish tells the coordinator of a cluster with these topics, "orders:3" each. A topic has an id of its name.
func (r *run) publish(topics ...string) {
	image := metadata.Image{Offset: r.c.image.Offset + 10}
	slices.Sort(topics)
	for _, spec := range topics {
		var name string
		var n int
		if _, err := fmt.Sscanf(strings.Replace(spec, ":", " ", 1), "%s %d", &name, &n); err != nil {
			r.t.Fatalf("topic %q: %v", spec, err)
		}
		t := metadata.Topic{Name: name, Partitions: make([]metadata.Partition, n)}
		copy(t.ID[:], name+"----------------")
		image.Topics = append(image.Topics, t)
	}
	r.c.Publish(&image)
}

// modern is a client of the consumer protocol as far as the coordinator sees it.
type modern struct {
	node     kafka.NodeID
	group    string
	id       string
	instance string
	epoch    int32
	topics   []string
	regex    string
	assignor string
	timeout  int32
	owns     []kmsg.ConsumerGroupHeartbeatRequestTopic // as it was told
}

func newModern(node kafka.NodeID) *modern {
	return &modern{node: node, group: "g", id: string(node), topics: []string{"orders"}, timeout: 300_000}
}

// full is a heartbeat with everything in it.
func (c *modern) full(epoch int32) *kmsg.ConsumerGroupHeartbeatRequest {
	q := c.beat()
	q.MemberEpoch, q.RebalanceTimeoutMillis, q.Topics = epoch, c.timeout, c.owns
	if q.SubscribedTopicNames = c.topics; c.topics == nil {
		q.SubscribedTopicNames = []string{}
	}
	if c.regex != "" {
		q.SubscribedTopicRegex = &c.regex
	}
	q.ServerAssignor = orNull(c.assignor)
	if q.Topics == nil {
		q.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	}
	return q
}

// beat is a heartbeat that says nothing new.
func (c *modern) beat() *kmsg.ConsumerGroupHeartbeatRequest {
	q := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	q.Version, q.Group, q.MemberID, q.MemberEpoch, q.InstanceID = 1, c.group, c.id, c.epoch, orNull(c.instance)
	q.RebalanceTimeoutMillis = -1
	return q
}

// heartbeats sends one and takes its answer.
func (r *run) heartbeats(c *modern, q *kmsg.ConsumerGroupHeartbeatRequest) *simnet.Message {
	r.t.Helper()
	m := r.send(c.node, q)
	r.told(c, m)
	return m
}

func (r *run) told(c *modern, m *simnet.Message) {
	a, ok := r.answers[m].(*kmsg.ConsumerGroupHeartbeatResponse)
	if !ok || a.ErrorCode != 0 {
		return
	}
	c.epoch = a.MemberEpoch
	if a.Assignment != nil {
		c.owns = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
		for _, t := range a.Assignment.Topics {
			c.owns = append(c.owns, kmsg.ConsumerGroupHeartbeatRequestTopic{TopicID: t.TopicID, Partitions: t.Partitions})
		}
	}
}

func (r *run) joinsModern(c *modern) *simnet.Message {
	r.t.Helper()
	c.owns, c.epoch = nil, 0
	return r.heartbeats(c, c.full(0))
}

func (r *run) beatsModern(c *modern) *simnet.Message {
	r.t.Helper()
	return r.heartbeats(c, c.beat())
}

// acks sends a heartbeat that lists what the client owns: all that it was told.
func (r *run) acks(c *modern) *simnet.Message {
	r.t.Helper()
	q := c.beat()
	if q.Topics = c.owns; q.Topics == nil {
		q.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	}
	return r.heartbeats(c, q)
}

// settle lets the clients send heartbeats until nothing changes any more.
func (r *run) settle(clients ...*modern) {
	r.t.Helper()
	for range 20 {
		before := len(r.log)
		for _, c := range clients {
			r.acks(c)
		}
		if len(r.log) == before {
			return
		}
	}
	r.t.Fatal("the group does not come to rest")
}

// member gives a member of group g in short: "c1 epoch=2 STABLE orders-0 orders-1 revoking orders-2".
func (r *run) memberText(id string) string {
	r.t.Helper()
	v := r.view("g")
	for _, m := range v.Members {
		if string(m.ID) == id {
			text := fmt.Sprintf("epoch=%d %s %s", m.Epoch, m.State, numbers(m.Assignment))
			if len(m.Revoking) > 0 {
				text += " revoking " + numbers(m.Revoking)
			}
			return text
		}
	}
	return "none"
}

func (r *run) wantMember(c *modern, want string) {
	r.t.Helper()
	if got := r.memberText(c.id); got != want {
		r.t.Errorf("at %d: %s is %s, want %s", r.now, c.id, got, want)
	}
}

// wantModern compares the group: state, group epoch, assignment epoch.
func (r *run) wantModern(state State, epoch, assignment kafka.GroupEpoch) {
	r.t.Helper()
	if v := r.view("g"); v.State != state || v.Epoch != epoch || v.AssignmentEpoch != assignment || v.Type != Consumer {
		r.t.Errorf("at %d: group g is a %s group, %s, epoch %d, assignment %d, want %s, %d, %d", r.now, v.Type, v.State, v.Epoch, v.AssignmentEpoch, state, epoch, assignment)
	}
}

// numbers lists partitions in short: "0,1", with their topics if there are several.
func numbers(list []kafka.TopicPartition) string {
	if len(list) == 0 {
		return "∅"
	}
	var words []string
	for _, tp := range list {
		if list[0].Topic == list[len(list)-1].Topic && tp.Topic == "orders" {
			words = append(words, fmt.Sprint(tp.Partition))
		} else {
			words = append(words, tp.String())
		}
	}
	return strings.Join(words, ",")
}

var errNotEnough = kerr.NotEnoughReplicas

func wantSame(t testing.TB, before, after GroupView) {
	t.Helper()
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("-before +after:\n%s", diff)
	}
}
