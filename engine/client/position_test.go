package client

import (
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/simnet"
)

// table is one consumer whose requests a test answers one by one.
type table struct {
	t        *testing.T
	consumer *Consumer
	out      Outside
	journal  journal.Journal
	now      kafka.Millis
	open     []simnet.Send // requests without an answer, oldest first
}

func newTable(t *testing.T, config ConsumerConfig, partitions ...kafka.Partition) *table {
	var named []kafka.TopicPartition
	for _, p := range partitions {
		named = append(named, kafka.TopicPartition{Topic: "orders", Partition: p})
	}
	tb := &table{t: t, consumer: NewConsumer("c0", []kafka.NodeID{"b1"}, config, named)}
	tb.tick(0)
	return tb
}

func (tb *table) add(sends []simnet.Send) {
	for _, s := range sends {
		if s.Close == simnet.KeepOpen {
			tb.open = append(tb.open, s)
		}
	}
}

// tick lets the timers fire that are due after a span.
func (tb *table) tick(span kafka.Millis) {
	tb.t.Helper()
	end := tb.now + span
	for steps := 0; ; steps++ {
		due, ok := tb.consumer.NextDue()
		if !ok || due > end {
			break
		}
		if steps > 1000 {
			tb.t.Fatalf("time does not pass: due at %d", due)
		}
		tb.now = max(tb.now, due)
		tb.add(tb.consumer.Tick(tb.now, 0, &tb.out, &tb.journal))
	}
	tb.now = end
}

// take gives the oldest request of an API to a broker and takes it off the list.
func (tb *table) take(api kmsg.Key, to kafka.NodeID) simnet.Send {
	tb.t.Helper()
	at := slices.IndexFunc(tb.open, func(s simnet.Send) bool { return s.To == to && s.Request.Key() == int16(api) })
	if at < 0 {
		tb.t.Fatalf("no %s request to %s among %s", api.Name(), to, tb.waiting())
	}
	s := tb.open[at]
	tb.open = slices.Delete(tb.open, at, at+1)
	return s
}

// waiting names the requests without an answer, sorted.
func (tb *table) waiting() string {
	var list []string
	for _, s := range tb.open {
		list = append(list, kmsg.NameForKey(s.Request.Key())+">"+string(s.To))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

func (tb *table) waits(want string) {
	tb.t.Helper()
	if got := tb.waiting(); got != want {
		tb.t.Fatalf("requests %q are open, want %q", got, want)
	}
}

func (tb *table) answer(s simnet.Send, response kmsg.Response) {
	m := &simnet.Message{From: s.To, To: "c0", Correlation: s.Correlation, Response: response}
	tb.add(tb.consumer.Receive(tb.now, 0, m, 0, &tb.out, &tb.journal))
}

// metadata answers the Metadata request to a broker: leaders and their epochs, by partition.
func (tb *table) metadata(from kafka.NodeID, leaders, epochs []int32) {
	tb.t.Helper()
	response := kmsg.NewPtrMetadataResponse()
	response.Brokers = []kmsg.MetadataResponseBroker{{NodeID: 1, Host: "b1"}, {NodeID: 2, Host: "b2"}, {NodeID: 3, Host: "b3"}}
	topic := kmsg.NewMetadataResponseTopic()
	topic.Topic, topic.TopicID = kmsg.StringPtr("orders"), [16]byte{1}
	for i := range leaders {
		p := kmsg.NewMetadataResponseTopicPartition()
		p.Partition, p.Leader, p.LeaderEpoch = int32(i), leaders[i], epochs[i]
		topic.Partitions = append(topic.Partitions, p)
	}
	response.Topics = append(response.Topics, topic)
	tb.answer(tb.take(kmsg.Metadata, from), response)
}

// offset answers the ListOffsets request to a broker with the same offset and epoch for all.
func (tb *table) offset(from kafka.NodeID, offset int64, epoch int32) {
	tb.t.Helper()
	s := tb.take(kmsg.ListOffsets, from)
	response := s.Request.ResponseKind().(*kmsg.ListOffsetsResponse)
	topic := kmsg.NewListOffsetsResponseTopic()
	topic.Topic = "orders"
	for _, rp := range s.Request.(*kmsg.ListOffsetsRequest).Topics[0].Partitions {
		p := kmsg.NewListOffsetsResponseTopicPartition()
		p.Partition, p.Offset, p.LeaderEpoch = rp.Partition, offset, epoch
		topic.Partitions = append(topic.Partitions, p)
	}
	response.Topics = append(response.Topics, topic)
	tb.answer(s, response)
}

// epoch answers the OffsetForLeaderEpoch request to a broker.
func (tb *table) epoch(from kafka.NodeID, epoch int32, end int64) {
	tb.t.Helper()
	s := tb.take(kmsg.OffsetForLeaderEpoch, from)
	response := s.Request.ResponseKind().(*kmsg.OffsetForLeaderEpochResponse)
	topic := kmsg.NewOffsetForLeaderEpochResponseTopic()
	topic.Topic = "orders"
	p := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
	p.LeaderEpoch, p.EndOffset = epoch, end
	topic.Partitions = append(topic.Partitions, p)
	response.Topics = append(response.Topics, topic)
	tb.answer(s, response)
}

// fetch answers the Fetch request to a broker as fill says for each partition.
func (tb *table) fetch(from kafka.NodeID, fill func(*kmsg.FetchResponseTopicPartition)) simnet.Send {
	tb.t.Helper()
	s := tb.take(kmsg.Fetch, from)
	response := s.Request.ResponseKind().(*kmsg.FetchResponse)
	topic := kmsg.NewFetchResponseTopic()
	topic.TopicID = s.Request.(*kmsg.FetchRequest).Topics[0].TopicID
	for _, rp := range s.Request.(*kmsg.FetchRequest).Topics[0].Partitions {
		p := kmsg.NewFetchResponseTopicPartition()
		p.Partition = rp.Partition
		fill(&p)
		topic.Partitions = append(topic.Partitions, p)
	}
	response.Topics = append(response.Topics, topic)
	tb.answer(s, response)
	return s
}

// batchAt gives a batch of records as a leader of an epoch has it.
func batchAt(base kafka.Offset, count int, epoch kafka.LeaderEpoch) []byte {
	builder := record.NewBuilder(record.Options{})
	for range count {
		builder.Append(0, []byte("k"), []byte("v"))
	}
	bytes, err := builder.Build()
	if err != nil {
		panic(err)
	}
	record.Stamp(bytes, base, epoch)
	return bytes
}

func (tb *table) position(want kafka.Offset) {
	tb.t.Helper()
	if got := tb.consumer.View().Partitions[0].Position; got != want {
		tb.t.Errorf("the position is %d, want %d", got, want)
	}
}

func (tb *table) told(kind, want string) {
	tb.t.Helper()
	var list []string
	for e := range tb.journal.All() {
		if e.Body.Kind() == kind {
			list = append(list, e.Body.Text())
		}
	}
	if got := strings.Join(list, "; "); got != want {
		tb.t.Errorf("%s: %q, want %q", kind, got, want)
	}
}

// reading gives a consumer that has read offsets 0 to 9, written in epoch 4, from b1.
func reading(t *testing.T, policy string) *table {
	config := DefaultConsumerConfig("orders")
	config.AutoOffsetReset = policy
	tb := newTable(t, config, 0)
	tb.metadata("b1", []int32{1}, []int32{4})
	if policy == resetNone {
		a := &tb.consumer.partitions[0] // a position as a commit would give it
		a.position, a.leader = 0, tb.consumer.metadata.leaderOf(a.tp)
		tb.add(tb.consumer.ask(0))
	} else {
		tb.offset("b1", 0, 4)
	}
	tb.fetch("b1", func(p *kmsg.FetchResponseTopicPartition) { p.RecordBatches = batchAt(0, 10, 4) })
	tb.position(10)
	tb.waits("Fetch>b1")
	return tb
}

// lead makes b2 the leader of epoch 5 while b1 refuses the fetch.
func (tb *table) lead() {
	tb.t.Helper()
	tb.tick(1000)
	tb.fetch("b1", func(p *kmsg.FetchResponseTopicPartition) { p.ErrorCode = kerr.NotLeaderForPartition.Code })
	tb.tick(0)
	tb.waits("Metadata>b1")
	tb.metadata("b1", []int32{2}, []int32{5})
	tb.waits("OffsetForLeaderEpoch>b2")
}

// After a change of leader a position is checked before anything is fetched there; what was truncated is told.
func TestPositionIsCheckedAgainstANewLeader(t *testing.T) {
	tb := reading(t, "earliest")
	tb.lead()
	request := tb.open[0].Request.(*kmsg.OffsetForLeaderEpochRequest)
	if p := request.Topics[0].Partitions[0]; p.LeaderEpoch != 4 || p.CurrentLeaderEpoch != 5 || request.ReplicaID != -1 {
		t.Errorf("asks for the end of epoch %d in leader epoch %d as replica %d, want 4, 5, -1", p.LeaderEpoch, p.CurrentLeaderEpoch, request.ReplicaID)
	}
	tb.epoch("b2", 4, 10)
	tb.told("PositionValidated", "orders-0 @10 epoch=4 end=10")
	tb.position(10)
	tb.waits("Fetch>b2")

	for _, tc := range []struct {
		policy   string
		epoch    int32
		end      int64
		position kafka.Offset
		told     string
		then     string
	}{
		{"earliest", 4, 7, 7, "orders-0 @10 epoch=4 leader epoch=4 end=7 auto.offset.reset=earliest", "Fetch>b2"},
		{"latest", 3, 6, 6, "orders-0 @10 epoch=4 leader epoch=3 end=6 auto.offset.reset=latest", "Fetch>b2"},
		{"earliest", -1, -1, -1, "orders-0 @10 epoch=4 leader epoch=-1 end=-1 auto.offset.reset=earliest", "ListOffsets>b2"},
		{"none", 4, 7, 10, "orders-0 @10 epoch=4 leader epoch=4 end=7 auto.offset.reset=none", ""},
	} {
		tb := reading(t, tc.policy)
		tb.lead()
		tb.epoch("b2", tc.epoch, tc.end)
		tb.told("LogTruncationDetected", tc.told)
		tb.position(tc.position)
		tb.waits(tc.then)
	}
}

// A position that the log does not hold is reset as auto.offset.reset says.
func TestOffsetOutOfRange(t *testing.T) {
	outOfRange := func(p *kmsg.FetchResponseTopicPartition) { p.ErrorCode = kerr.OffsetOutOfRange.Code }
	tb := reading(t, "latest")
	tb.fetch("b1", outOfRange)
	tb.waits("ListOffsets>b1")
	tb.offset("b1", 3, 4)
	tb.position(3)
	tb.told("PositionReset", "orders-0 →0 auto.offset.reset=latest; orders-0 10→3 auto.offset.reset=latest")
	tb = reading(t, "none")
	tb.fetch("b1", outOfRange)
	tb.waits("")
	tb.position(10)
	if !tb.consumer.View().Partitions[0].Stopped {
		t.Error("with auto.offset.reset=none it reads on")
	}
}

// Each leader is fetched from by itself; a broker that is gone does not hold up the other.
func TestEachLeaderIsFetchedFrom(t *testing.T) {
	tb := newTable(t, DefaultConsumerConfig("orders"), 0, 1, 2)
	tb.metadata("b1", []int32{1, 2, 1}, []int32{0, 0, 0})
	tb.waits("ListOffsets>b1 ListOffsets>b2")
	tb.offset("b1", 0, 0)
	tb.offset("b2", 0, 0)
	tb.waits("Fetch>b1 Fetch>b2")
	if n := len(tb.open[0].Request.(*kmsg.FetchRequest).Topics[0].Partitions); n != 2 {
		t.Errorf("the fetch from b1 is for %d partitions, want 2", n)
	}
	tb.take(kmsg.Fetch, "b2")
	tb.add(tb.consumer.Disconnected(tb.now, "b2", 0, &tb.out, &tb.journal))
	tb.fetch("b1", func(p *kmsg.FetchResponseTopicPartition) { p.RecordBatches = batchAt(0, 1, 0) })
	tb.waits("Fetch>b1")
	tb.tick(49)
	tb.waits("Fetch>b1")
	tb.tick(1) // reconnect.backoff.ms
	tb.waits("Fetch>b1 Fetch>b2")
	tb.tick(50) // retry.backoff.ms since the first metadata; b3 has the least to do
	tb.waits("Fetch>b1 Fetch>b2 Metadata>b3")
	tb.metadata("b3", []int32{1, 3, 1}, []int32{0, 1, 0})
	tb.told("LeaderLearned", "orders-1 b2→b3 epoch=1 by Metadata")
	tb.waits("Fetch>b1 Fetch>b2 OffsetForLeaderEpoch>b3")
}

// A leader sends a consumer with client.rack to another replica, until that fails or metadata.max.age.ms is over.
func TestPreferredReplica(t *testing.T) {
	config := DefaultConsumerConfig("orders")
	config.ClientRack = "zone-b"
	for _, fails := range []bool{false, true} {
		tb := newTable(t, config, 0)
		tb.metadata("b1", []int32{1}, []int32{0})
		tb.offset("b1", 0, 0)
		s := tb.fetch("b1", func(p *kmsg.FetchResponseTopicPartition) { p.PreferredReadReplica = 2 })
		if rack := s.Request.(*kmsg.FetchRequest).Rack; rack != "zone-b" {
			t.Errorf("the rack is %q", rack)
		}
		tb.told("PreferredReplicaChosen", "orders-0 b2 client.rack=zone-b for 300000ms")
		tb.waits("Fetch>b2")
		if fails {
			tb.fetch("b2", func(p *kmsg.FetchResponseTopicPartition) { p.ErrorCode = kerr.OffsetOutOfRange.Code })
			tb.waits("Fetch>b1")
			tb.position(0)
			continue
		}
		tb.now = 299999
		tb.fetch("b2", func(*kmsg.FetchResponseTopicPartition) {})
		tb.waits("Fetch>b2")
		tb.now = 300000
		tb.fetch("b2", func(*kmsg.FetchResponseTopicPartition) {})
		tb.waits("Fetch>b1")
	}
}

// A fetch without an answer closes the connection; a new process begins where auto.offset.reset says.
func TestConsumerTimeoutAndRestart(t *testing.T) {
	tb := reading(t, "earliest")
	tb.tick(30000)
	tb.told("RequestTimedOut", "b1 Fetch request.timeout.ms=30000")
	if !tb.consumer.Kill(0, &tb.out, &tb.journal) || tb.consumer.Kill(0, &tb.out, &tb.journal) {
		t.Error("a process dies once")
	}
	if due, ok := tb.consumer.NextDue(); ok {
		t.Errorf("a dead process has a timer at %d", due)
	}
	tb.open = nil
	if !tb.consumer.Start(tb.now) || tb.consumer.Start(tb.now) {
		t.Error("a dead process starts once")
	}
	tb.tick(0)
	tb.metadata("b1", []int32{1}, []int32{4})
	tb.offset("b1", 0, 4)
	tb.position(0)
	tb.waits("Fetch>b1")
}

// KIP-951: a fetch that is answered with the new leader needs no Metadata request to go on there.
func TestFetchNamesTheLeader(t *testing.T) {
	tb := reading(t, "earliest")
	tb.fetch("b1", func(p *kmsg.FetchResponseTopicPartition) {
		p.ErrorCode = kerr.FencedLeaderEpoch.Code
		p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch = 2, 5
	})
	tb.waits("OffsetForLeaderEpoch>b2")
	tb.told("LeaderLearned", "orders-0 b1→b2 epoch=5 by Fetch")
}

// The admin client tells what was refused and what got no answer.
func TestAdmin(t *testing.T) {
	var j journal.Journal
	a := NewAdmin("admin", "c1", nil, 0)
	s := a.ElectLeaders(0, []kafka.TopicPartition{{Topic: "orders", Partition: 1}, {Topic: "orders", Partition: 2}}, true, 0)
	request := s.Request.(*kmsg.ElectLeadersRequest)
	if s.To != "c1" || request.ElectionType != 1 || len(request.Topics) != 1 || !slices.Equal(request.Topics[0].Partitions, []int32{1, 2}) {
		t.Errorf("%+v", request)
	}
	response := request.ResponseKind().(*kmsg.ElectLeadersResponse)
	response.Topics = []kmsg.ElectLeadersResponseTopic{{Topic: "orders", Partitions: []kmsg.ElectLeadersResponseTopicPartition{{Partition: 1}, {Partition: 2, ErrorCode: kerr.ElectionNotNeeded.Code}}}}
	a.Receive(0, &simnet.Message{From: "c1", To: "admin", Correlation: s.Correlation, Response: response}, 0, &j)
	value := "2"
	a.AlterConfigs(0, kmsg.ConfigResourceTypeTopic, "orders", []Setting{{"min.insync.replicas", &value}, {"retention.ms", nil}}, 0)
	a.CreateTopic(0, "payments", 3, 2, nil, nil, 0)
	a.Disconnected(0, "c1", 0, &j)
	a.CreatePartitions(100, "orders", 9, 0)
	if due, ok := a.NextDue(); !ok || due != 30100 {
		t.Errorf("due at %d", due)
	}
	if sends := a.Clone().Tick(30100, &j); len(sends) != 1 || sends[0].Close != simnet.CloseOwn {
		t.Errorf("sends %v", sends)
	}
	var got []string
	for e := range j.All() {
		got = append(got, e.Body.Kind()+" "+e.Body.Text())
	}
	want := []string{
		"RequestRefused ElectLeaders ELECTION_NOT_NEEDED", "ConnectionLost c1 requests=2 backoff=50ms",
		"RequestFailed IncrementalAlterConfigs NETWORK_EXCEPTION", "RequestFailed CreateTopics NETWORK_EXCEPTION",
		"RequestTimedOut c1 CreatePartitions request.timeout.ms=30000", "ConnectionLost c1 requests=1 backoff=100ms",
		"RequestFailed CreatePartitions REQUEST_TIMED_OUT",
	}
	if !slices.Equal(got, want) {
		t.Errorf("told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
