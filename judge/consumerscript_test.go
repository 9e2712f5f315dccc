//go:build judge

package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/group"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/prng"
)

// modernClient is what a client knows as one of the consumer protocol.
type modernClient struct {
	active   bool // it uses that protocol now, else the classic one
	id       string
	names    int // of member ids that it has made
	epoch    int32
	topics   []string // nil: it names none
	regex    string
	assignor string
	image    *metadata.Image // the cluster as it is now
	asks     string          // the assignor that it asks for, if it asks for one: in a world all ask for the same, see TestConsumers
	rack     string
	timeout  int32
	owns     []kmsg.ConsumerGroupHeartbeatRequestTopic // as it was told
	told     bool                                      // it was told, and has not said that it owns that
	changed  bool                                      // it subscribes to something else, and has not said so
}

func newMixedClient(rnd *prng.Rand, i int, id, assignor string, image *metadata.Image) *groupClient {
	c := &groupClient{
		node: kafka.NodeID(fmt.Sprint("c", i)), group: id, generation: -1, session: int32(6000 + rnd.IntN(30_000)), rebalance: int32(3000 + rnd.IntN(40_000)), topics: []string{"orders"},
		protocols: [][]string{{"range"}, {"range", "sticky"}, {"sticky", "range"}, {"cooperative-sticky", "range"}}[rnd.IntN(4)],
		modern:    &modernClient{active: rnd.IntN(5) > 1, timeout: int32(3000 + rnd.IntN(40_000)), asks: assignor, image: image},
	}
	if rnd.IntN(3) == 0 {
		c.instance = fmt.Sprint("i", rnd.IntN(4))
	}
	c.modern.subscribe(rnd)
	return c
}

func (k *modernClient) subscribe(rnd *prng.Rand) {
	k.topics = [][]string{{"orders"}, {"orders"}, {"orders"}, {"orders", "payments"}, {"payments", "orders", "logs"}, {}, {"nothing"}}[rnd.IntN(7)]
	k.regex = ""
	if rnd.IntN(4) == 0 {
		k.regex = []string{"pay.*", "orders|logs", ".*s", "or(ders"}[rnd.IntN(4)]
		if rnd.IntN(2) == 0 {
			k.topics = nil
		}
	}
	k.assignor = []string{"", "", k.asks}[rnd.IntN(3)]
	if rnd.IntN(20) == 0 {
		k.assignor = "sticky"
	}
	k.rack = []string{"", "", "r3"}[rnd.IntN(3)]
	k.changed = true
}

// forget is a client of either protocol that starts anew.
func (c *groupClient) forget() {
	c.member, c.members, c.generation, c.told, c.owned = "", nil, -1, false, nil
	c.modern.epoch, c.modern.owns, c.modern.told = 0, nil, false
}

// divide is what a leader gives to a member: two partitions of orders, now and then others, nothing, or something with
// data of a user. They are some that there are: others stay in the target assignment when the group changes its protocol,
// and Kafka's uniform rule fails with them, where engine/assignor passes over them.
func (k *modernClient) divide(rnd *prng.Rand, i int) []byte {
	a := kmsg.NewConsumerMemberAssignment()
	a.Version = 1
	topic := "orders"
	switch rnd.IntN(12) {
	case 0:
		return nil
	case 1:
		topic = "payments"
	case 2:
		if rnd.IntN(2) == 0 {
			a.UserData = []byte{1}
		}
	}
	if t, ok := k.image.Topic(topic); ok && 2*i+1 < len(t.Partitions) {
		a.Topics = []kmsg.ConsumerMemberAssignmentTopic{{Topic: topic, Partitions: []int32{int32(2 * i), int32(2*i + 1)}}}
	}
	return a.AppendTo(nil)
}

// synced takes note of what a client of the classic protocol owns.
func (c *groupClient) synced(r *kmsg.SyncGroupResponse) {
	if c.modern == nil || r.ErrorCode != 0 {
		return
	}
	c.owned = nil
	var a kmsg.ConsumerMemberAssignment
	if a.ReadFrom(r.MemberAssignment) == nil {
		for _, t := range a.Topics {
			c.owned = append(c.owned, kmsg.ConsumerMemberMetadataOwnedPartition{Topic: t.Topic, Partitions: t.Partitions})
		}
	}
}

// drawMixed draws a request of a client that uses one protocol and now and then changes to the other.
func (w *consumerWorld) drawMixed(rnd *prng.Rand, c *groupClient) (kmsg.Request, string) {
	k := c.modern
	if rnd.IntN(30) == 0 {
		k.active = !k.active
		member, id := c.member, k.id
		c.forget()
		if rnd.IntN(6) == 0 { // with the same member id
			if k.active && member != "" {
				k.id = member
			} else if !k.active {
				c.member = id
			}
		}
	}
	switch roll := rnd.IntN(100); {
	case roll < 3:
		q := kmsg.NewPtrConsumerGroupDescribeRequest()
		q.Version, q.Groups = 1, []string{c.group}
		return q, fmt.Sprintf("cdescribe %s %s", c.node, c.group)
	case roll < 6:
		return w.drawFetch(rnd, c)
	case roll < 16 && k.active:
		return w.drawMemberCommit(rnd, c)
	case k.active && roll < 94:
		return w.drawBeat(rnd, c)
	case roll < 40 && c.generation >= 0 && !k.active:
		q := kmsg.NewPtrHeartbeatRequest()
		q.Version, q.Group, q.MemberID, q.InstanceID, q.Generation = 4, c.group, c.member, orNil(c.instance), c.generation+w.slip(rnd)
		return q, fmt.Sprintf("beat %s %s %s %s %d", c.node, q.Group, orDash(q.MemberID), orDash(c.instance), q.Generation)
	}
	if !k.active && c.member == "" && rnd.IntN(3) > 0 {
		return w.drawJoin(rnd, c)
	}
	if k.active && rnd.IntN(3) == 0 { // LeaveGroup and others with its member id
		c.member = k.id
	}
	request, words := w.draw(rnd, c)
	switch q := request.(type) {
	case *kmsg.OffsetFetchRequest:
		return q, words + " - -1"
	case *kmsg.JoinGroupRequest:
		if q.MemberID != "" && w.isEmptyConsumerGroup(q.Group) {
			// Kafka takes the group out of its memory, and writes nothing of that: the next coordinator has it again.
			return w.drawFetch(rnd, c)
		}
	}
	return request, words
}

func (w *consumerWorld) isEmptyConsumerGroup(id string) bool {
	return slices.ContainsFunc(w.c.View(), func(g group.GroupView) bool {
		return g.ID == id && g.Type == group.Consumer && len(g.Members) == 0
	})
}

func (w *consumerWorld) drawFetch(rnd *prng.Rand, c *groupClient) (kmsg.Request, string) {
	q := kmsg.NewPtrOffsetFetchRequest()
	q.Version = 9
	asked := kmsg.NewOffsetFetchRequestGroup()
	asked.Group, asked.Topics = c.group, []kmsg.OffsetFetchRequestGroupTopic{{Topic: []string{"orders", "payments"}[rnd.IntN(2)], Partitions: []int32{int32(rnd.IntN(2))}}}
	id := c.member
	asked.MemberEpoch = c.generation
	if c.modern.active {
		id, asked.MemberEpoch = c.modern.id, c.modern.epoch+w.slip(rnd)
	}
	if asked.MemberID = &id; id == "" || rnd.IntN(4) == 0 {
		asked.MemberID, asked.MemberEpoch = nil, -1
	}
	q.Groups, q.RequireStable = []kmsg.OffsetFetchRequestGroup{asked}, rnd.IntN(2) == 0
	return q, fmt.Sprintf("fetch %s %s %s %d %t %s %d", c.node, c.group, asked.Topics[0].Topic, asked.Topics[0].Partitions[0], q.RequireStable, orDash(textOf(asked.MemberID)), asked.MemberEpoch)
}

func (w *consumerWorld) drawMemberCommit(rnd *prng.Rand, c *groupClient) (kmsg.Request, string) {
	classic := *c
	c.member, c.generation = c.modern.id, c.modern.epoch
	request, words := w.drawCommit(rnd, c)
	c.member, c.generation = classic.member, classic.generation
	return request, words
}

// drawBeat draws a heartbeat of the consumer protocol: mostly one that a client would send.
func (w *consumerWorld) drawBeat(rnd *prng.Rand, c *groupClient) (kmsg.Request, string) {
	k := c.modern
	q := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	q.Version, q.Group, q.RebalanceTimeoutMillis, q.InstanceID = 1, c.group, -1, orNil(c.instance)
	none := []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	if rnd.IntN(20) == 0 {
		k.subscribe(rnd)
	}
	switch roll := rnd.IntN(100); {
	case k.epoch <= 0 || roll < 2: // it joins
		if k.id == "" || rnd.IntN(4) == 0 {
			k.names++
			k.id = fmt.Sprintf("%s.%d", c.node, k.names)
		}
		k.epoch, k.owns = 0, nil
		w.everything(q, k)
		q.Topics = none
		if rnd.IntN(12) == 0 {
			q.Version, k.id = 0, ""
		}
	case roll < 8: // it leaves
		q.MemberEpoch = -1
		if c.instance != "" && rnd.IntN(4) > 0 || rnd.IntN(10) == 0 {
			q.MemberEpoch = -2
		}
		q.MemberID = k.id
		k.epoch, k.owns, k.told = 0, nil, false
		return q, beatWords(c, q)
	case roll < 14:
		w.everything(q, k)
		q.Topics = k.owns
	case k.changed:
		w.everything(q, k)
		q.RebalanceTimeoutMillis = -1
	}
	if q.MemberEpoch = k.epoch; k.epoch > 0 && rnd.IntN(15) == 0 {
		q.MemberEpoch += []int32{-1, -1, 1, 5}[rnd.IntN(4)]
	}
	if k.epoch > 0 && (k.told && rnd.IntN(3) > 0 || rnd.IntN(6) == 0) {
		k.told = false
		if q.Topics = k.owns; q.Topics == nil {
			q.Topics = none
		}
		if rnd.IntN(10) == 0 && len(k.owns) > 0 { // it says less, or more
			q.Topics = slices.Clone(k.owns)[:rnd.IntN(len(k.owns))]
			if rnd.IntN(2) == 0 {
				q.Topics = append(q.Topics, kmsg.ConsumerGroupHeartbeatRequestTopic{TopicID: scriptTopicID("logs"), Partitions: []int32{int32(rnd.IntN(5))}})
			}
		}
	}
	q.MemberID = k.id
	w.spoil(rnd, c, q)
	k.changed = false
	return q, beatWords(c, q)
}

// everything is what a client sends when it joins.
func (w *consumerWorld) everything(q *kmsg.ConsumerGroupHeartbeatRequest, k *modernClient) {
	q.RebalanceTimeoutMillis, q.SubscribedTopicNames, q.ServerAssignor, q.RackID = k.timeout, k.topics, orNil(k.assignor), orNil(k.rack)
	if q.SubscribedTopicRegex = &k.regex; k.regex == "" && k.topics != nil && len(k.topics) != 1 {
		q.SubscribedTopicRegex = nil
	}
	text := k.regex
	if q.SubscribedTopicRegex != nil {
		q.SubscribedTopicRegex = &text
	}
}

// spoil makes a heartbeat now and then one that no client would send.
func (w *consumerWorld) spoil(rnd *prng.Rand, c *groupClient, q *kmsg.ConsumerGroupHeartbeatRequest) {
	empty := ""
	switch rnd.IntN(300) {
	case 0:
		q.MemberID = ""
	case 1:
		q.InstanceID = &empty
	case 2:
		q.RackID = &empty
	case 3:
		q.MemberEpoch = -3
	case 4:
		q.Topics = nil
	case 5:
		q.RebalanceTimeoutMillis = -1
	case 6:
		q.SubscribedTopicNames, q.SubscribedTopicRegex = nil, nil
	case 7:
		if q.MemberEpoch > 0 { // else one member has two instances, of which Kafka forgets neither
			q.InstanceID = orNil(fmt.Sprint("i", rnd.IntN(5)))
		}
	case 8:
		q.MemberEpoch, q.InstanceID = 0, orNil(c.instance)
	case 9:
		q.MemberID = "x.1"
	}
}

func nullOrEmpty(text *string) string {
	if text != nil && *text == "" {
		return "''"
	}
	return orDash(textOf(text))
}

func beatWords(c *groupClient, q *kmsg.ConsumerGroupHeartbeatRequest) string {
	names, owned := "-", "-"
	if q.SubscribedTopicNames != nil {
		if names = strings.Join(q.SubscribedTopicNames, ","); names == "" {
			names = "[]"
		}
	}
	if q.Topics != nil {
		var list []group.AssignedTopic
		for _, t := range q.Topics {
			list = append(list, group.AssignedTopic{TopicID: t.TopicID, Partitions: t.Partitions})
		}
		owned = assignedText(list)
	}
	return fmt.Sprintf("cbeat %s %d %s %s %d %s %s %d %s %s %s %s", c.node, q.Version, q.Group, orDash(q.MemberID), q.MemberEpoch, nullOrEmpty(q.InstanceID), nullOrEmpty(q.RackID),
		q.RebalanceTimeoutMillis, names, nullOrEmpty(q.SubscribedTopicRegex), nullOrEmpty(q.ServerAssignor), owned)
}

// consumerBeatText is what the judge says of an answer to a heartbeat. The client takes note of it.
func (w *groupWorld) consumerBeatText(c *groupClient, r *kmsg.ConsumerGroupHeartbeatResponse) string {
	k := c.modern
	assigned := "-"
	if r.Assignment != nil {
		var list []group.AssignedTopic
		k.owns, k.told = nil, true
		for _, t := range r.Assignment.Topics {
			list = append(list, group.AssignedTopic{TopicID: t.TopicID, Partitions: t.Partitions})
			k.owns = append(k.owns, kmsg.ConsumerGroupHeartbeatRequestTopic{TopicID: t.TopicID, Partitions: t.Partitions})
		}
		assigned = assignedText(list)
	}
	switch r.ErrorCode {
	case 0:
		if k.epoch = r.MemberEpoch; k.id == "" {
			k.id = textOf(r.MemberID)
		}
	case kerr.FencedMemberEpoch.Code, kerr.UnknownMemberID.Code, kerr.GroupIDNotFound.Code, kerr.FencedInstanceID.Code:
		k.epoch, k.owns, k.told = 0, nil, false
	}
	return fmt.Sprintf("cbeat %s %s %d %d %s", codeText(r.ErrorCode), orDash(textOf(r.MemberID)), r.MemberEpoch, r.HeartbeatIntervalMillis, assigned)
}
