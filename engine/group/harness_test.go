package group

import (
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/record"
	"loglab/engine/simnet"
)

const wallStart kafka.Timestamp = 1_700_000_000_000

// run is a coordinator with a broker around it that writes what it wants written after a delay.
type run struct {
	t         testing.TB
	c         *Coordinator
	config    *Config
	j         journal.Journal
	now       kafka.Millis
	log       []coordinator.Logged // appended
	durable   int                  // of them on every in-sync replica
	inFlight  []flight
	delay     kafka.Millis
	fail      *kerr.Error // of the writes that come
	late      bool        // failures are told after the delay, as of a slow disk
	stuck     bool        // no write is told of
	sent      []*simnet.Message
	answers   map[*simnet.Message]kmsg.Response
	completed map[string]kafka.GenerationID
	onWritten func() // called when a write is on every in-sync replica, before anything that follows
}

type flight struct {
	id   uint64
	due  kafka.Millis
	upTo int
	err  *kerr.Error // refused
}

func newRun(t testing.TB, change func(*Config)) *run {
	config := DefaultConfig()
	config.Node, config.Start = "b1", wallStart
	if change != nil {
		change(&config)
	}
	r := &run{t: t, c: New(&config, prng.New(1).Split("group")), config: &config, answers: map[*simnet.Message]kmsg.Response{}, completed: map[string]kafka.GenerationID{}}
	r.perform(r.c.Load(0, func(func(coordinator.Logged) bool) {}, 0, &r.j))
	return r
}

// perform does what the coordinator wants done.
func (r *run) perform(e coordinator.Effects) {
	r.t.Helper()
	var refused []uint64
	for _, w := range e.Writes {
		if len(w.Records) > 0 == (w.Marker != nil) || w.Marker != nil && w.Transaction != nil {
			r.t.Fatalf("write %d has %d records, marker %v, transaction %v", w.ID, len(w.Records), w.Marker, w.Transaction)
		}
		if r.fail != nil && r.fail != kerr.RequestTimedOut {
			if r.late {
				r.inFlight = append(r.inFlight, flight{w.ID, r.now + r.delay, r.durable, r.fail})
				continue
			}
			refused = append(refused, w.ID)
			continue
		}
		r.log = append(r.log, logged(w)...)
		r.inFlight = append(r.inFlight, flight{w.ID, r.now + r.delay, len(r.log), nil})
	}
	for _, a := range e.Answers {
		if r.answers[a.Request] != nil {
			r.t.Fatalf("at %d %s from %s is answered twice", r.now, a.Request.API(), a.Request.From)
		}
		if a.Response.GetVersion() != a.Request.Version() || a.Response.Key() != a.Request.Request.Key() {
			r.t.Fatalf("%s v%d is answered by %T v%d", a.Request.API(), a.Request.Version(), a.Response, a.Response.GetVersion())
		}
		r.answers[a.Request] = a.Response
	}
	for _, id := range refused {
		r.perform(r.c.Written(r.now, id, r.fail, 0, &r.j))
	}
	r.land()
}

// land tells of the writes that are there.
func (r *run) land() {
	for !r.stuck && len(r.inFlight) > 0 && r.inFlight[0].due <= r.now {
		f := r.inFlight[0]
		r.inFlight = r.inFlight[1:]
		r.durable = max(r.durable, f.upTo)
		e := r.c.Written(r.now, f.id, f.err, 0, &r.j)
		if r.onWritten != nil && f.err == nil {
			r.onWritten()
		}
		r.perform(e)
	}
}

// until lets time pass; what is due at the end of it happens.
func (r *run) until(end kafka.Millis) {
	r.t.Helper()
	for {
		next := end
		if due, ok := r.c.NextDue(); ok {
			next = min(next, due)
		}
		if len(r.inFlight) > 0 && !r.stuck {
			next = min(next, r.inFlight[0].due)
		}
		r.now = max(r.now, next)
		r.land()
		before := r.j.Len()
		r.perform(r.c.Tick(r.now, &r.j))
		if due, ok := r.c.NextDue(); ok && due <= r.now {
			r.t.Fatalf("at %d a timer of %d is left", r.now, due)
		}
		if r.now >= end && r.j.Len() == before {
			return
		}
	}
}

func (r *run) pass(span kafka.Millis) { r.t.Helper(); r.until(r.now + span) }

// send delivers a request in its newest version, or in the one that it has.
func (r *run) send(from kafka.NodeID, request kmsg.Request) *simnet.Message {
	r.t.Helper()
	if request.GetVersion() == 0 {
		version := request.MaxVersion()
		switch request.(type) {
		case *kmsg.OffsetCommitRequest:
			version = 9
		case *kmsg.TxnOffsetCommitRequest:
			version = 5
		}
		request.SetVersion(version)
	}
	m := &simnet.Message{ID: uint64(len(r.sent) + 1), From: from, To: "b1", Request: request}
	r.sent = append(r.sent, m)
	r.perform(r.c.Receive(r.now, m, 0, &r.j))
	return m
}

// errorName gives Kafka's name of a code.
func errorName(code int16) string {
	if code == 0 {
		return "ok"
	}
	return kerr.ErrorForCode(code).(*kerr.Error).Message
}

// code gives the code of an answer; "waits": there is none yet.
func (r *run) code(m *simnet.Message) string {
	switch a := r.answers[m].(type) {
	case nil:
		return "waits"
	case *kmsg.JoinGroupResponse:
		return errorName(a.ErrorCode)
	case *kmsg.SyncGroupResponse:
		return errorName(a.ErrorCode)
	case *kmsg.HeartbeatResponse:
		return errorName(a.ErrorCode)
	case *kmsg.LeaveGroupResponse:
		if a.ErrorCode == 0 && len(a.Members) > 0 {
			return errorName(a.Members[0].ErrorCode)
		}
		return errorName(a.ErrorCode)
	case *kmsg.OffsetCommitResponse:
		return errorName(a.Topics[0].Partitions[0].ErrorCode)
	case *kmsg.TxnOffsetCommitResponse:
		return errorName(a.Topics[0].Partitions[0].ErrorCode)
	case *kmsg.OffsetFetchResponse:
		return errorName(a.Groups[0].ErrorCode)
	case *kmsg.OffsetDeleteResponse:
		if a.ErrorCode == 0 && len(a.Topics) > 0 {
			return errorName(a.Topics[0].Partitions[0].ErrorCode)
		}
		return errorName(a.ErrorCode)
	case *kmsg.DeleteGroupsResponse:
		return errorName(a.Groups[0].ErrorCode)
	case *kmsg.DescribeGroupsResponse:
		return errorName(a.Groups[0].ErrorCode)
	case *kmsg.ConsumerGroupHeartbeatResponse:
		return errorName(a.ErrorCode)
	}
	return "another answer"
}

func (r *run) wantCode(m *simnet.Message, want string) {
	r.t.Helper()
	if got := r.code(m); got != want {
		r.t.Errorf("at %d: %s of %s is answered with %s, want %s", r.now, m.API(), m.From, got, want)
	}
}

// consumer is a client as far as the coordinator sees it.
type consumer struct {
	node       kafka.NodeID
	group      string
	instance   string
	member     string
	generation int32
	protocols  []string // assignors; "range" if there are none
	topics     []string
	session    int32
	rebalance  int32
	joinV      int16
}

func newConsumer(node kafka.NodeID) *consumer {
	return &consumer{node: node, group: "g", generation: -1, topics: []string{"orders"}, session: 45_000, rebalance: 300_000}
}

func static(node kafka.NodeID, instance string) *consumer {
	c := newConsumer(node)
	c.instance = instance
	return c
}

func subscription(topics ...string) []byte {
	m := kmsg.NewConsumerMemberMetadata()
	m.Version, m.Topics = 1, topics
	return m.AppendTo(nil)
}

func assignment(topic string, partitions ...int32) []byte {
	a := kmsg.NewConsumerMemberAssignment()
	a.Topics = []kmsg.ConsumerMemberAssignmentTopic{{Topic: topic, Partitions: partitions}}
	return a.AppendTo(nil)
}

// joins sends a JoinGroup, and once more if it is told to take an id.
func (r *run) joins(c *consumer) *simnet.Message {
	r.t.Helper()
	m := r.joinsOnce(c)
	if a, ok := r.answers[m].(*kmsg.JoinGroupResponse); ok && a.ErrorCode == kerr.MemberIDRequired.Code {
		c.member = a.MemberID
		return r.joinsOnce(c)
	}
	return m
}

func (r *run) joinsOnce(c *consumer) *simnet.Message {
	r.t.Helper()
	q := kmsg.NewPtrJoinGroupRequest()
	q.Version, q.Group, q.MemberID, q.InstanceID, q.ProtocolType = c.joinV, c.group, c.member, orNull(c.instance), "consumer"
	q.SessionTimeoutMillis, q.RebalanceTimeoutMillis = c.session, c.rebalance
	names := c.protocols
	if names == nil {
		names = []string{"range"}
	}
	for _, name := range names {
		q.Protocols = append(q.Protocols, kmsg.JoinGroupRequestProtocol{Name: name, Metadata: subscription(c.topics...)})
	}
	return r.send(c.node, q)
}

// joined takes the answer of a JoinGroup.
func (r *run) joined(c *consumer, m *simnet.Message) *kmsg.JoinGroupResponse {
	r.t.Helper()
	a, ok := r.answers[m].(*kmsg.JoinGroupResponse)
	if !ok || a.ErrorCode != 0 {
		r.t.Fatalf("at %d: the JoinGroup of %s: %s", r.now, c.node, r.code(m))
	}
	c.member, c.generation = a.MemberID, a.Generation
	return a
}

func (r *run) syncs(c *consumer, assignments map[*consumer][]byte) *simnet.Message {
	r.t.Helper()
	q := kmsg.NewPtrSyncGroupRequest()
	q.Group, q.MemberID, q.Generation, q.InstanceID = c.group, c.member, c.generation, orNull(c.instance)
	consumerType, protocol := "consumer", "range"
	q.ProtocolType, q.Protocol = &consumerType, &protocol
	if c.protocols != nil {
		q.Protocol = nil
	}
	for k, bytes := range assignments {
		q.GroupAssignment = append(q.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: k.member, MemberAssignment: bytes})
	}
	return r.send(c.node, q)
}

func (r *run) beats(c *consumer) *simnet.Message {
	q := kmsg.NewPtrHeartbeatRequest()
	q.Group, q.MemberID, q.Generation, q.InstanceID = c.group, c.member, c.generation, orNull(c.instance)
	return r.send(c.node, q)
}

func (r *run) leaves(c *consumer) *simnet.Message {
	q := kmsg.NewPtrLeaveGroupRequest()
	q.Group = c.group
	q.Members = []kmsg.LeaveGroupRequestMember{{MemberID: c.member, InstanceID: orNull(c.instance)}}
	return r.send(c.node, q)
}

func commit(c *consumer, topic string, partition int32, offset int64) *kmsg.OffsetCommitRequest {
	q := kmsg.NewPtrOffsetCommitRequest()
	q.Group, q.MemberID, q.Generation, q.InstanceID = c.group, c.member, c.generation, orNull(c.instance)
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Partition, p.Offset, p.LeaderEpoch = partition, offset, -1
	q.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: topic, Partitions: []kmsg.OffsetCommitRequestTopicPartition{p}}}
	return q
}

func (r *run) commits(c *consumer, partition int32, offset int64) *simnet.Message {
	r.t.Helper()
	return r.send(c.node, commit(c, "orders", partition, offset))
}

// fetched gives a group's committed offset of a partition of orders, by OffsetFetch.
func (r *run) fetched(group string, partition int32) int64 {
	r.t.Helper()
	q := fetchRequest(group, partition)
	m := r.send("admin", q)
	a, ok := r.answers[m].(*kmsg.OffsetFetchResponse)
	if !ok {
		r.t.Fatalf("an OffsetFetch that is not stable waits")
	}
	return a.Groups[0].Topics[0].Partitions[0].Offset
}

func fetchRequest(group string, partition int32) *kmsg.OffsetFetchRequest {
	q := kmsg.NewPtrOffsetFetchRequest()
	q.Version = 9
	asked := kmsg.NewOffsetFetchRequestGroup()
	asked.Group = group
	asked.Topics = []kmsg.OffsetFetchRequestGroupTopic{{Topic: "orders", Partitions: []int32{partition}}}
	q.Groups = []kmsg.OffsetFetchRequestGroup{asked}
	return q
}

// view gives a group as it is now.
func (r *run) view(id string) GroupView {
	r.t.Helper()
	views := r.c.View()
	i := slices.IndexFunc(views, func(v GroupView) bool { return v.ID == id })
	if i < 0 {
		return GroupView{ID: id, State: Dead}
	}
	return views[i]
}

// want compares state and generation of group g.
func (r *run) want(state State, generation kafka.GenerationID) {
	r.t.Helper()
	if v := r.view("g"); v.State != state || v.Generation != generation {
		r.t.Errorf("at %d: group g is %s in generation %d, want %s in %d", r.now, v.State, v.Generation, state, generation)
	}
}

// form brings the consumers into a stable group, the first one leading; each is given the partition of its place.
func (r *run) form(consumers ...*consumer) {
	r.t.Helper()
	r.complete(r.joinAll(consumers...), consumers...)
}

func (r *run) joinAll(consumers ...*consumer) []*simnet.Message {
	r.t.Helper()
	var joins []*simnet.Message
	for _, c := range consumers {
		joins = append(joins, r.joins(c))
	}
	return joins
}

// complete waits for the end of the join phase and brings the group to Stable.
func (r *run) complete(joins []*simnet.Message, consumers ...*consumer) {
	r.t.Helper()
	for r.answers[joins[0]] == nil {
		due, ok := r.c.NextDue()
		if !ok {
			r.t.Fatal("no timer ends the join phase")
		}
		r.until(due)
	}
	assignments := map[*consumer][]byte{}
	var leader *consumer
	for i, c := range consumers {
		if a := r.joined(c, joins[i]); a.LeaderID == a.MemberID {
			leader = c
		}
		assignments[c] = assignment("orders", int32(i))
	}
	for _, c := range consumers {
		if c != leader {
			r.syncs(c, nil)
		}
	}
	r.wantCode(r.syncs(leader, assignments), "ok")
}

// events gives the bodies of one kind, oldest first.
func events[B journal.Body](r *run) (bodies []B) {
	for e := range r.j.All() {
		if b, ok := e.Body.(B); ok {
			bodies = append(bodies, b)
		}
	}
	return bodies
}

func (r *run) dump() string {
	text := ""
	for e := range r.j.All() {
		text += fmt.Sprintln(e.Line())
	}
	return text
}

// logged is what a write leaves in the log.
func logged(w coordinator.Write) (list []coordinator.Logged) {
	if w.Marker != nil {
		end := coordinator.Aborted
		if w.Marker.Type == record.Commit {
			end = coordinator.Committed
		}
		return []coordinator.Logged{{Transactional: true, Producer: w.Marker.ProducerID, End: end}}
	}
	for _, r := range w.Records {
		l := coordinator.Logged{Record: r}
		if w.Transaction != nil {
			l.Transactional, l.Producer = true, w.Transaction.ID
		}
		list = append(list, l)
	}
	return list
}

// inLog is a log of records that are in no transaction.
func inLog(records ...coordinator.Record) iter.Seq[coordinator.Logged] {
	return func(yield func(coordinator.Logged) bool) {
		for _, r := range records {
			if !yield(coordinator.Logged{Record: r}) {
				return
			}
		}
	}
}
