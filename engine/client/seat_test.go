package client

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/simnet"
)

// seat is one member of the group g, whose requests a test answers one by one. Broker b1 leads orders-0 to orders-2 in
// epoch 4 and coordinates the group.
type seat struct{ *table }

// newSeat makes a member that knows topic and coordinator and has sent its first JoinGroup.
func newSeat(t *testing.T, change func(*ConsumerConfig)) seat {
	t.Helper()
	return seatOf(t, testMember(seatConfig(change)))
}

func testMember(config ConsumerConfig) *Consumer {
	return NewMember("c0", []kafka.NodeID{"b1"}, 0, config, *prng.New(1))
}

func seatOf(t *testing.T, consumer *Consumer) seat {
	t.Helper()
	s := seat{&table{t: t}}
	s.consumer = consumer
	s.out.Sinks = []Sink{NewSink("g", SinkConfig{})}
	s.tick(0)
	s.waits("FindCoordinator>b1 Metadata>b1")
	s.metadata("b1", []int32{1, 1, 1}, []int32{4, 4, 4})
	s.coordinator("b1")
	return s
}

func seatConfig(change func(*ConsumerConfig)) ConsumerConfig {
	return configOf(DefaultGroupConfig("g"), change)
}

func configOf(group GroupConfig, change func(*ConsumerConfig)) ConsumerConfig {
	config := DefaultConsumerConfig("orders")
	config.Group = group
	config.Group.AutoCommit = false
	if change != nil {
		change(&config)
	}
	return config
}

// coordinator answers FindCoordinator, whichever broker was asked.
func (s seat) coordinator(node string) {
	s.t.Helper()
	at := slices.IndexFunc(s.open, func(s simnet.Send) bool { return s.Request.Key() == int16(kmsg.FindCoordinator) })
	if at < 0 {
		s.t.Fatalf("no FindCoordinator request among %s", s.waiting())
	}
	asked := s.take(kmsg.FindCoordinator, s.open[at].To)
	response := asked.Request.ResponseKind().(*kmsg.FindCoordinatorResponse)
	response.Coordinators = []kmsg.FindCoordinatorResponseCoordinator{{Key: "g", Host: node}}
	s.answer(asked, response)
}

// refuse answers the oldest request of an API to b1 with an error.
func (s seat) refuse(api kmsg.Key, e *kerr.Error) {
	s.t.Helper()
	asked := s.take(api, "b1")
	switch response := asked.Request.ResponseKind().(type) {
	case *kmsg.FindCoordinatorResponse:
		response.Coordinators = []kmsg.FindCoordinatorResponseCoordinator{{Key: "g", ErrorCode: e.Code}}
		s.answer(asked, response)
	case *kmsg.JoinGroupResponse:
		response.ErrorCode, response.Generation, response.MemberID = e.Code, -1, "m1"
		s.answer(asked, response)
	case *kmsg.SyncGroupResponse:
		response.ErrorCode = e.Code
		s.answer(asked, response)
	case *kmsg.ConsumerGroupHeartbeatResponse:
		response.ErrorCode = e.Code
		s.answer(asked, response)
	case *kmsg.HeartbeatResponse:
		response.ErrorCode = e.Code
		s.answer(asked, response)
	case *kmsg.OffsetCommitResponse:
		s.committed(asked, response, e.Code)
	case *kmsg.OffsetFetchResponse:
		response.Groups = []kmsg.OffsetFetchResponseGroup{{Group: "g", ErrorCode: e.Code}}
		s.answer(asked, response)
	default:
		s.t.Fatalf("no answer to %s", api.Name())
	}
}

// joined answers JoinGroup: the member leads a generation alone, or follows.
func (s seat) joined(generation int32, leads bool) {
	s.t.Helper()
	asked := s.take(kmsg.JoinGroup, "b1")
	request := asked.Request.(*kmsg.JoinGroupRequest)
	response := request.ResponseKind().(*kmsg.JoinGroupResponse)
	response.Generation, response.MemberID, response.LeaderID, response.Protocol = generation, "m1", "m0", &request.Protocols[0].Name
	if leads {
		response.LeaderID = "m1"
		response.Members = []kmsg.JoinGroupResponseMember{{MemberID: "m1", InstanceID: request.InstanceID, ProtocolMetadata: request.Protocols[0].Metadata}}
	}
	s.answer(asked, response)
}

// synced answers SyncGroup with partitions of orders.
func (s seat) synced(partitions ...int32) {
	s.t.Helper()
	asked := s.take(kmsg.SyncGroup, "b1")
	response := asked.Request.ResponseKind().(*kmsg.SyncGroupResponse)
	data := kmsg.NewConsumerMemberAssignment()
	data.Topics = []kmsg.ConsumerMemberAssignmentTopic{{Topic: "orders", Partitions: partitions}}
	response.MemberAssignment = data.AppendTo(nil)
	s.answer(asked, response)
}

// found answers OffsetFetch with one offset for all partitions; -1: nothing is committed.
func (s seat) found(offset int64) {
	s.t.Helper()
	asked := s.take(kmsg.OffsetFetch, "b1")
	request := asked.Request.(*kmsg.OffsetFetchRequest)
	response := request.ResponseKind().(*kmsg.OffsetFetchResponse)
	group := kmsg.NewOffsetFetchResponseGroup()
	group.Group = "g"
	for _, wanted := range request.Groups[0].Topics {
		topic := kmsg.NewOffsetFetchResponseGroupTopic()
		topic.Topic = wanted.Topic
		for _, p := range wanted.Partitions {
			one := kmsg.NewOffsetFetchResponseGroupTopicPartition()
			one.Partition, one.Offset, one.LeaderEpoch = p, offset, -1
			topic.Partitions = append(topic.Partitions, one)
		}
		group.Topics = append(group.Topics, topic)
	}
	response.Groups = append(response.Groups, group)
	s.answer(asked, response)
}

// accept answers the oldest OffsetCommit.
func (s seat) accept() {
	s.t.Helper()
	asked := s.take(kmsg.OffsetCommit, "b1")
	s.committed(asked, asked.Request.ResponseKind().(*kmsg.OffsetCommitResponse), 0)
}

func (s seat) committed(asked simnet.Send, response *kmsg.OffsetCommitResponse, code int16) {
	for _, wanted := range asked.Request.(*kmsg.OffsetCommitRequest).Topics {
		topic := kmsg.NewOffsetCommitResponseTopic()
		topic.Topic = wanted.Topic
		for _, p := range wanted.Partitions {
			topic.Partitions = append(topic.Partitions, kmsg.OffsetCommitResponseTopicPartition{Partition: p.Partition, ErrorCode: code})
		}
		response.Topics = append(response.Topics, topic)
	}
	s.answer(asked, response)
}

// alive answers the oldest Heartbeat.
func (s seat) alive() {
	s.t.Helper()
	asked := s.take(kmsg.Heartbeat, "b1")
	s.answer(asked, asked.Request.ResponseKind())
}

// brings answers the fetch with records of orders-0.
func (s seat) brings(base kafka.Offset, count int) {
	s.t.Helper()
	s.fetch("b1", func(p *kmsg.FetchResponseTopicPartition) {
		if p.Partition == 0 && count > 0 {
			p.RecordBatches = batchAt(base, count, 4)
		}
	})
}

// seated gives a member that owns partitions in generation 1 and has sent its first fetch, from offset 0.
func seated(t *testing.T, change func(*ConsumerConfig), partitions ...int32) seat {
	t.Helper()
	s := newSeat(t, change)
	if s.consumer.config.Group.InstanceID == "" {
		s.refuse(kmsg.JoinGroup, kerr.MemberIDRequired)
	}
	s.joined(1, false)
	s.synced(partitions...)
	s.found(0)
	s.waits("Fetch>b1")
	return s
}

// rejoins lets the member learn of a rebalance by its heartbeat.
func (s seat) rejoins() {
	s.t.Helper()
	for !strings.Contains(s.waiting(), "Heartbeat") {
		s.tick(100)
	}
	s.refuse(kmsg.Heartbeat, kerr.RebalanceInProgress)
}

// owned gives the partitions that the member reads.
func (s seat) owns(want string) {
	s.t.Helper()
	var list []string
	for _, tp := range s.consumer.owned() {
		list = append(list, fmt.Sprint(tp.Partition))
	}
	if got := strings.Join(list, " "); got != want {
		s.t.Errorf("it owns %q, want %q", got, want)
	}
}

// lastCommit gives what the oldest OffsetCommit without an answer says: "0@5 generation=1 member=m1".
func (s seat) lastCommit(want string) {
	s.t.Helper()
	for _, open := range s.open {
		request, ok := open.Request.(*kmsg.OffsetCommitRequest)
		if !ok {
			continue
		}
		var list []string
		for _, p := range request.Topics[0].Partitions {
			list = append(list, fmt.Sprintf("%d@%d", p.Partition, p.Offset))
		}
		if got := fmt.Sprintf("%s generation=%d member=%s", strings.Join(list, " "), request.Generation, request.MemberID); got != want {
			s.t.Errorf("the commit is %q, want %q", got, want)
		}
		return
	}
	s.t.Errorf("no commit is under way among %s", s.waiting())
}

// commitNow lets the application commit what it is done with.
func (s seat) commitNow() {
	s.t.Helper()
	sends, why := s.consumer.CommitNow(s.now, 0, &s.out, &s.journal)
	if why != "" {
		s.t.Fatal(why)
	}
	s.add(sends)
}

// leave closes the consumer.
func (s seat) leave() {
	s.t.Helper()
	sends, why := s.consumer.Leave(s.now, 0, &s.out, &s.journal)
	if why != "" {
		s.t.Fatal(why)
	}
	s.add(sends)
}

// kinds lists the events of some kinds in order.
func (s seat) kinds(kinds ...string) string {
	var list []string
	for e := range s.journal.All() {
		for _, kind := range kinds {
			if e.Body.Kind() == kind {
				list = append(list, kind)
			}
		}
	}
	return strings.Join(list, " ")
}

// lastOf gives the last event of one kind.
func lastOf[B journal.Body](s seat) B {
	s.t.Helper()
	var found B
	any := false
	for e := range s.journal.All() {
		if b, ok := e.Body.(B); ok {
			found, any = b, true
		}
	}
	if !any {
		s.t.Fatalf("there is no event %s", found.Kind())
	}
	return found
}
