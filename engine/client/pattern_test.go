package client

import (
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/prng"
)

// topics answers the oldest Metadata request with topics of two partitions: "orders#1" has the id 1; one that begins with __ is
// internal.
func (s seat) topics(names ...string) {
	s.t.Helper()
	at := slices.IndexFunc(s.open, isMetadata)
	if at < 0 {
		s.t.Fatalf("no Metadata request among %s", s.waiting())
	}
	asked := s.take(kmsg.Metadata, s.open[at].To)
	response := asked.Request.ResponseKind().(*kmsg.MetadataResponse)
	response.Brokers = []kmsg.MetadataResponseBroker{{NodeID: 1, Host: "b1"}}
	for _, text := range names {
		name, id, _ := strings.Cut(text, "#")
		topic := kmsg.NewMetadataResponseTopic()
		topic.Topic, topic.TopicID, topic.IsInternal = &name, [16]byte{id[0] - '0'}, strings.HasPrefix(name, "__")
		for p := range int32(2) {
			topic.Partitions = append(topic.Partitions, kmsg.MetadataResponseTopicPartition{Partition: p, Leader: 1, LeaderEpoch: 4})
		}
		response.Topics = append(response.Topics, topic)
	}
	s.answer(asked, response)
}

// patterned makes a seat of a member that subscribes by a pattern, whose first Metadata request has no answer.
func patterned(t *testing.T, group GroupConfig, pattern string) seat {
	config := DefaultConsumerConfig("")
	config.Topics, config.MetadataMaxAge, config.Group = nil, 4000, group
	config.Group.Pattern, config.Group.AutoCommit = pattern, false
	s := seat{&table{t: t}}
	s.consumer = NewMember("c0", []kafka.NodeID{"b1"}, 0, config, *prng.New(1))
	s.out.Sinks = []Sink{NewSink("g", SinkConfig{})}
	s.tick(0)
	s.coordinator("b1")
	return s
}

// askedTopics gives the topics of the Metadata request under way; ok is false for all of them.
func (s seat) askedTopics() (topics []kmsg.MetadataRequestTopic, ok bool) {
	s.t.Helper()
	for _, open := range s.open {
		if r, is := open.Request.(*kmsg.MetadataRequest); is {
			return r.Topics, r.Topics != nil
		}
	}
	s.t.Fatalf("no Metadata request among %s", s.waiting())
	return nil, false
}

func subscribedBy(t *testing.T, s seat) string {
	t.Helper()
	for _, open := range s.open {
		if r, ok := open.Request.(*kmsg.JoinGroupRequest); ok {
			var data kmsg.ConsumerMemberMetadata
			if err := data.ReadFrom(r.Protocols[0].Metadata); err != nil {
				t.Fatal(err)
			}
			return strings.Join(data.Topics, " ")
		}
	}
	t.Fatalf("no JoinGroup among %s", s.waiting())
	return ""
}

// A member of the classic protocol matches the names of all topics itself, none of the cluster's own, once metadata has
// come; it joins again when others match.
func TestClassicPattern(t *testing.T) {
	s := patterned(t, DefaultGroupConfig("g"), "orders.*|__.*")
	s.waits("Metadata>b1")
	if _, named := s.askedTopics(); named {
		t.Error("it names topics")
	}
	s.topics("orders.eu#1", "orders.us#2", "refunds.orders#3", "__consumer_offsets#4")
	s.waits("JoinGroup>b1")
	if got := subscribedBy(t, s); got != "orders.eu orders.us" {
		t.Errorf("it subscribes to %s", got)
	}
	s.joined(1, false)
	s.syncedTo("orders.eu", 0, 1)
	s.found(0)
	s.tick(4000)
	s.topics("orders.eu#1", "orders.us#2")
	if got := s.kinds("JoinSent"); got != "JoinSent" {
		t.Errorf("told %s, want no other join", got)
	}
	s.tick(4000)
	s.topics("orders.asia#5", "orders.eu#1", "orders.us#2")
	s.tick(100) // that metadata is young enough after retry.backoff.ms, or it asks once more
	for s.lastOpen(kmsg.Metadata) {
		s.topics("orders.asia#5", "orders.eu#1", "orders.us#2")
	}
	if got := subscribedBy(t, s); got != "orders.asia orders.eu orders.us" {
		t.Errorf("it subscribes to %s", got)
	}
	if b := lastOf[journal.JoinSent](s); b.Why != "its pattern orders.*|__.* matches [orders.asia orders.eu orders.us], and it has joined for [orders.eu orders.us]" {
		t.Errorf("it joins because %s", b.Why)
	}
}

// A pattern that matches nothing joins with an empty subscription.
func TestPatternThatMatchesNothing(t *testing.T) {
	s := patterned(t, DefaultGroupConfig("g"), "orders")
	s.topics("my.orders#1", "orders.eu#2")
	if got := subscribedBy(t, s); got != "" {
		t.Errorf("it subscribes to %s", got)
	}
}

// A member of the consumer protocol sends its pattern, and learns of topics by the ids that it is assigned.
func TestConsumerPattern(t *testing.T) {
	s := patterned(t, DefaultConsumerGroupConfig("g"), "orders.*")
	if list, named := s.askedTopics(); !named || len(list) != 0 {
		t.Errorf("it asks for %v", list)
	}
	s.beating("epoch=0 timeout=300000 topics=[] regex=orders.* owned=[]")
	s.topics()
	s.toldOf([16]byte{7}, 1, 0, 1)
	s.beating("epoch=1 owned=[]")
	s.owns("")
	s.tick(100)
	list, _ := s.askedTopics()
	if len(list) != 1 || list[0].TopicID != [16]byte{7} || list[0].Topic != nil {
		t.Errorf("it asks for %v", list)
	}
	s.beats(1)
	s.topics("orders.eu#7")
	s.beats(1) // it was about to acknowledge what it knew
	s.owns("0 1")
	s.inState("acknowledging 1")
	s.beats(1)
	s.beating("epoch=1 owned=[0 1]")
	if got := s.consumer.MemberView(s.now).Target; len(got) != 2 || got[0].Topic != "orders.eu" {
		t.Errorf("the target is %v", got)
	}
}

// syncedTo answers SyncGroup with partitions of a topic.
func (s seat) syncedTo(topic string, partitions ...int32) {
	s.t.Helper()
	asked := s.take(kmsg.SyncGroup, "b1")
	response := asked.Request.ResponseKind().(*kmsg.SyncGroupResponse)
	data := kmsg.NewConsumerMemberAssignment()
	data.Topics = []kmsg.ConsumerMemberAssignmentTopic{{Topic: topic, Partitions: partitions}}
	response.MemberAssignment = data.AppendTo(nil)
	s.answer(asked, response)
}
