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
	"loglab/engine/record"
	"loglab/engine/simnet"
)

// mill is one broker, b1, that does what a cluster does, for one member of the group g that reads the topic in and writes
// to the topic out: it leads both, and coordinates the group and the transactions.
type mill struct {
	t        *testing.T
	consumer *Consumer
	out      Outside
	journal  journal.Journal
	now      kafka.Millis
	way      []onWay // in the order of arrival

	in        [][]byte // batches of in-0, of one record each
	outLog    []string // of out-0: "value epoch" or the marker
	committed int64    // of in-0; -1: none
	held      int64    // that a transaction holds; -1: none
	id        int64
	epoch     int16
	open      bool // a transaction is
	asked     []string
	refuse    func(api string, n int) int16 // the error for the n-th request of an API; -1: no answer
	counts    map[string]int
	stopped   bool // the member stands still: what arrives waits
}

func newMill(t *testing.T, records int, change func(*ConsumerConfig)) *mill {
	t.Helper()
	config := DefaultConsumerConfig("in")
	config.IsolationLevel = ReadCommitted
	config.Group = DefaultGroupConfig("g")
	config.Group.AutoCommit = false
	config.Group.App = AppConfig{Work: 5, Transform: &TransformConfig{Topic: "out", Producer: DefaultProducerConfig("")}}
	config.Group.App.Transform.Producer.TransactionalID = "tx-1"
	if change != nil {
		change(&config)
	}
	if err := config.Group.App.CheckTransform(); err != nil {
		t.Fatal(err)
	}
	m := &mill{t: t, committed: -1, held: -1, id: 4000, epoch: -1, counts: map[string]int{}}
	m.bring(records)
	m.out.Sinks = []Sink{NewSink("g", SinkConfig{})}
	m.consumer = NewMember("c0", []kafka.NodeID{"b1"}, 0, config, *prng.New(1))
	return m
}

// bring appends records to in-0.
func (m *mill) bring(records int) {
	for range records {
		n := len(m.in)
		builder := record.NewBuilder(record.Options{})
		builder.Append(0, fmt.Appendf(nil, "k%d", n), []byte("event 1"))
		bytes, err := builder.Build()
		if err != nil {
			m.t.Fatal(err)
		}
		record.Stamp(bytes, kafka.Offset(n), 4)
		m.in = append(m.in, bytes)
	}
}

func (m *mill) send(sends []simnet.Send) {
	for _, s := range sends {
		if s.Close == simnet.KeepOpen {
			m.put(hop, s.To, &simnet.Message{From: "c0", To: s.To, Request: s.Request, Correlation: s.Correlation})
		}
	}
	m.consumer.Ended()
}

// run lets time pass.
func (m *mill) run(span kafka.Millis) {
	m.t.Helper()
	end := m.now + span
	for steps := 0; ; steps++ {
		if steps > 100000 {
			m.t.Fatal("time does not pass")
		}
		due, timer := m.consumer.NextDue()
		timer = timer && !m.stopped
		at := slices.IndexFunc(m.way, func(w onWay) bool { return !m.stopped || w.m.Request != nil })
		arrives := at >= 0 && (!timer || m.way[at].due <= max(due, m.now))
		switch {
		case arrives && m.way[at].due <= end:
			w := m.way[at]
			m.way = slices.Delete(m.way, at, at+1)
			m.now = max(m.now, w.due)
			m.arrive(w.m)
		case !arrives && timer && due <= end:
			m.now = max(m.now, due)
			m.send(m.consumer.Tick(m.now, 0, &m.out, &m.journal))
		default:
			m.now = end
			return
		}
	}
}

func (m *mill) arrive(message *simnet.Message) {
	if message.Request == nil {
		if m.consumer.Alive() {
			m.send(m.consumer.Receive(m.now, 0, message, 0, &m.out, &m.journal))
		}
		return
	}
	api := kmsg.NameForKey(message.Request.Key())
	m.counts[api]++
	code := int16(0)
	if m.refuse != nil {
		code = m.refuse(api, m.counts[api])
	}
	if code == -1 {
		return
	}
	response, after := m.answer(message.Request, code), hop
	if fetched, ok := response.(*kmsg.FetchResponse); ok && len(fetched.Topics[0].Partitions[0].RecordBatches) == 0 {
		after = emptyFetch
	}
	m.put(after, "c0", &simnet.Message{From: "b1", To: "c0", Correlation: message.Correlation, Response: response})
}

// emptyFetch is how long the answer to a fetch for which nothing is there takes.
const emptyFetch kafka.Millis = 100

func (m *mill) put(after kafka.Millis, to kafka.NodeID, message *simnet.Message) {
	due := m.now + after
	at := len(m.way)
	for at > 0 && m.way[at-1].due > due {
		at--
	}
	m.way = slices.Insert(m.way, at, onWay{due, to, message})
}

func (m *mill) note(format string, args ...any) {
	m.asked = append(m.asked, fmt.Sprintf(format, args...))
}

// end ends the open transaction.
func (m *mill) end(marker string) {
	if !m.open {
		return
	}
	m.outLog = append(m.outLog, marker)
	if marker == "COMMIT" && m.held >= 0 {
		m.committed = m.held
	}
	m.open, m.held = false, -1
}

func (m *mill) answer(r kmsg.Request, code int16) kmsg.Response {
	switch request := r.(type) {
	case *kmsg.MetadataRequest:
		response := request.ResponseKind().(*kmsg.MetadataResponse)
		response.Brokers = []kmsg.MetadataResponseBroker{{NodeID: 1, Host: "b1"}}
		for _, wanted := range request.Topics {
			topic := kmsg.NewMetadataResponseTopic()
			topic.Topic, topic.TopicID = wanted.Topic, [16]byte{1}
			if *wanted.Topic == "out" {
				topic.TopicID = [16]byte{2}
			}
			p := kmsg.NewMetadataResponseTopicPartition()
			p.Leader, p.LeaderEpoch = 1, 4
			topic.Partitions = append(topic.Partitions, p)
			response.Topics = append(response.Topics, topic)
		}
		return response
	case *kmsg.FindCoordinatorRequest:
		response := request.ResponseKind().(*kmsg.FindCoordinatorResponse)
		response.Coordinators = []kmsg.FindCoordinatorResponseCoordinator{{Key: request.CoordinatorKeys[0], Host: "b1"}}
		return response
	case *kmsg.FetchRequest:
		return m.fetch(request)
	case *kmsg.ProduceRequest:
		return m.produce(request, code)
	case *kmsg.InitProducerIDRequest:
		if request.TransactionalID == nil {
			response := request.ResponseKind().(*kmsg.InitProducerIDResponse)
			response.ProducerID = 7
			return response
		}
		m.end("ABORT")
		m.epoch++
		m.note("InitProducerID %d/%d", m.id, m.epoch)
		response := request.ResponseKind().(*kmsg.InitProducerIDResponse)
		response.ProducerID, response.ProducerEpoch = m.id, m.epoch
		return response
	case *kmsg.TxnOffsetCommitRequest:
		m.note("TxnOffsetCommit %s generation=%d %d", request.MemberID, request.Generation, request.Topics[0].Partitions[0].Offset)
		response := request.ResponseKind().(*kmsg.TxnOffsetCommitResponse)
		response.Topics = []kmsg.TxnOffsetCommitResponseTopic{{Topic: "in", Partitions: []kmsg.TxnOffsetCommitResponseTopicPartition{{ErrorCode: code}}}}
		if code == 0 {
			m.open, m.held = true, request.Topics[0].Partitions[0].Offset
		}
		return response
	case *kmsg.EndTxnRequest:
		m.note("EndTxn %d commit=%t", request.ProducerEpoch, request.Commit)
		response := request.ResponseKind().(*kmsg.EndTxnResponse)
		if response.ErrorCode = code; code == 0 {
			m.end(map[bool]string{true: "COMMIT", false: "ABORT"}[request.Commit])
			m.epoch++
			response.ProducerID, response.ProducerEpoch = m.id, m.epoch
		}
		return response
	}
	return m.answerMember(r, code)
}

// answerMember answers what is the group's.
func (m *mill) answerMember(r kmsg.Request, code int16) kmsg.Response {
	switch request := r.(type) {
	case *kmsg.JoinGroupRequest:
		response := request.ResponseKind().(*kmsg.JoinGroupResponse)
		response.Generation, response.MemberID, response.LeaderID, response.Protocol = 3, "m1", "m0", &request.Protocols[0].Name
		return response
	case *kmsg.SyncGroupRequest:
		response := request.ResponseKind().(*kmsg.SyncGroupResponse)
		data := kmsg.NewConsumerMemberAssignment()
		data.Topics = []kmsg.ConsumerMemberAssignmentTopic{{Topic: "in", Partitions: []int32{0}}}
		response.MemberAssignment = data.AppendTo(nil)
		return response
	case *kmsg.OffsetFetchRequest:
		response := request.ResponseKind().(*kmsg.OffsetFetchResponse)
		one := kmsg.NewOffsetFetchResponseGroupTopicPartition()
		if one.Offset, one.LeaderEpoch = m.committed, -1; m.held >= 0 {
			one.ErrorCode = kerr.UnstableOffsetCommit.Code
		}
		response.Groups = []kmsg.OffsetFetchResponseGroup{{Group: "g", Topics: []kmsg.OffsetFetchResponseGroupTopic{{
			Topic: "in", Partitions: []kmsg.OffsetFetchResponseGroupTopicPartition{one},
		}}}}
		return response
	case *kmsg.ListOffsetsRequest:
		response := request.ResponseKind().(*kmsg.ListOffsetsResponse)
		response.Topics = []kmsg.ListOffsetsResponseTopic{{Topic: "in", Partitions: []kmsg.ListOffsetsResponseTopicPartition{{Offset: 0, LeaderEpoch: 4}}}}
		return response
	case *kmsg.OffsetCommitRequest:
		m.committed = request.Topics[0].Partitions[0].Offset
		m.note("OffsetCommit %d", m.committed)
		response := request.ResponseKind().(*kmsg.OffsetCommitResponse)
		response.Topics = []kmsg.OffsetCommitResponseTopic{{Topic: "in", Partitions: []kmsg.OffsetCommitResponseTopicPartition{{}}}}
		return response
	case *kmsg.HeartbeatRequest:
		response := request.ResponseKind().(*kmsg.HeartbeatResponse)
		response.ErrorCode = code
		return response
	case *kmsg.LeaveGroupRequest:
		return request.ResponseKind()
	}
	m.t.Fatalf("no answer to %T", r)
	return nil
}

// fetch answers with all that is there.
func (m *mill) fetch(request *kmsg.FetchRequest) kmsg.Response {
	response := request.ResponseKind().(*kmsg.FetchResponse)
	topic := kmsg.NewFetchResponseTopic()
	topic.TopicID = [16]byte{1}
	p := kmsg.NewFetchResponseTopicPartition()
	for _, b := range m.in[min(int(request.Topics[0].Partitions[0].FetchOffset), len(m.in)):] {
		p.RecordBatches = append(p.RecordBatches, b...)
	}
	topic.Partitions = append(topic.Partitions, p)
	response.Topics = append(response.Topics, topic)
	return response
}

func (m *mill) produce(request *kmsg.ProduceRequest, code int16) kmsg.Response {
	response := request.ResponseKind().(*kmsg.ProduceResponse)
	topic := kmsg.NewProduceResponseTopic()
	p := kmsg.NewProduceResponseTopicPartition()
	p.ErrorCode, p.BaseOffset = code, int64(len(m.outLog))
	b, err := record.Parse(request.Topics[0].Partitions[0].Records)
	if err != nil {
		m.t.Fatal(err)
	}
	if b.Attributes.Transactional() && code == 0 && int16(b.ProducerEpoch) != m.epoch {
		code = kerr.InvalidProducerEpoch.Code
	}
	records, err := b.Records()
	if err != nil {
		m.t.Fatal(err)
	}
	m.note("Produce %d/%d seq=%d records=%d", b.ProducerID, b.ProducerEpoch, b.BaseSequence, len(records))
	if p.ErrorCode = code; code == 0 {
		m.open = b.Attributes.Transactional()
		for _, r := range records {
			m.outLog = append(m.outLog, fmt.Sprintf("%s=%s", r.Key, r.Value))
		}
	}
	topic.Partitions = append(topic.Partitions, p)
	response.Topics = append(response.Topics, topic)
	return response
}

// wrote fails unless the topic out holds these records and markers.
func (m *mill) wrote(want ...string) {
	m.t.Helper()
	if !slices.Equal(m.outLog, want) {
		m.t.Errorf("out holds\n\t%s\nwant\n\t%s\n%s", strings.Join(m.outLog, "\n\t"), strings.Join(want, "\n\t"), m.told())
	}
}

func (m *mill) said(want ...string) {
	m.t.Helper()
	if !slices.Equal(m.asked, want) {
		m.t.Errorf("asked\n\t%s\nwant\n\t%s\n%s", strings.Join(m.asked, "\n\t"), strings.Join(want, "\n\t"), m.told())
	}
	m.asked = nil
}

func (m *mill) told() string {
	var b strings.Builder
	for e := range m.journal.All() {
		b.WriteString(e.Line() + "\n")
	}
	return b.String()
}

// fate gives what became of a record of in-0.
func (m *mill) fate(offset kafka.Offset) RecordFate {
	return m.out.Sinks[0].View().Fates[0].At(offset)
}
