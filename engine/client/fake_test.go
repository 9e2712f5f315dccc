package client

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/command"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/record"
	"loglab/engine/simnet"
)

// hop is how long a message between a client and the fake brokers takes.
const hop kafka.Millis = 10

// fake is brokers that do as a test says, with one producer.
type fake struct {
	t        *testing.T
	producer *Producer
	out      Outside
	journal  journal.Journal
	now      kafka.Millis
	way      []onWay // in the order of arrival

	leaders []int32 // by partition; -1: none
	epochs  []int32 // by partition
	logs    [][]string
	states  map[string]state // by partition and producer id
	next    int64            // producer id
	batches int              // that have come

	// refuse gives the error for the n-th batch that comes, from 1; 0: none.
	refuse func(n int, partition int32) int16
	// lose says whether the connection is lost instead of the answer to the n-th Produce request, from 1.
	lose func(n int) bool
	// answer changes an answer to a Produce request before it is sent.
	answer   func(*kmsg.ProduceResponse)
	requests int
	codes    []string // "key:code" for each batch that came, in order
	closed   []kafka.NodeID
	silent   bool // nothing is answered

	// other answers requests about transactions; a nil response is a lost connection.
	other func(m *simnet.Message) kmsg.Response
}

// state is what a leader remembers of a producer id: of its last five batches.
type state struct {
	epoch int16
	last  []remembered
}

type remembered struct {
	first, last kafka.Sequence
	offset      int64
}

type onWay struct {
	due kafka.Millis
	to  kafka.NodeID // of a request
	m   *simnet.Message
}

func newFake(t *testing.T, config ProducerConfig, leaders ...int32) *fake {
	t.Helper()
	f := unready(t, config, Workload{}, leaders...)
	f.run(5 * hop)
	if !f.producer.Ready() {
		t.Fatal("the producer is not ready")
	}
	return f
}

// unready makes a producer that has not begun.
func unready(t *testing.T, config ProducerConfig, workload Workload, leaders ...int32) *fake {
	t.Helper()
	f := &fake{t: t, leaders: leaders, epochs: make([]int32, len(leaders)), logs: make([][]string, len(leaders)), states: map[string]state{}, next: 1000}
	rnd := *prng.New(1)
	var err error
	if f.producer, err = NewProducer("p0", []kafka.NodeID{"b1"}, 0, config, workload, rnd, rnd); err != nil {
		t.Fatal(err)
	}
	return f
}

// single gives settings of which each record is a batch of its own that is sent at once.
func single(idempotence Idempotence) ProducerConfig {
	c := DefaultProducerConfig("orders")
	c.EnableIdempotence, c.Linger, c.BatchSize = idempotence, 0, 1
	return c
}

// run lets time pass.
func (f *fake) run(span kafka.Millis) {
	f.t.Helper()
	end := f.now + span
	for steps := 0; ; steps++ {
		if steps > 100000 {
			f.t.Fatal("time does not pass")
		}
		due, timer := f.producer.NextDue()
		arrives := len(f.way) > 0 && (!timer || f.way[0].due <= max(due, f.now))
		switch {
		case arrives && f.way[0].due <= end:
			first := f.way[0]
			f.way = f.way[1:]
			f.now = first.due
			f.arrive(first)
		case !arrives && timer && due <= end:
			f.now = max(f.now, due)
			f.send(f.producer.Tick(f.now, &f.out, &f.journal))
		default:
			f.now = end
			return
		}
	}
}

func (f *fake) put(to kafka.NodeID, m *simnet.Message) {
	f.way = append(f.way, onWay{f.now + hop, to, m})
}

func (f *fake) send(sends []simnet.Send) {
	for _, s := range sends {
		if s.Close == simnet.CloseOwn {
			f.closed = append(f.closed, s.To)
			continue
		}
		f.put(s.To, &simnet.Message{From: "p0", To: s.To, Request: s.Request, Correlation: s.Correlation})
	}
}

// padding is more than what the bound of a record's size is too large by, so that batch.size = 1 means one
// record a batch.
const padding = "......................................."

// produce hands in records by their keys.
func (f *fake) produce(partition kafka.Partition, keys ...string) {
	f.t.Helper()
	for _, key := range keys {
		sends, err := f.producer.Produce(f.now, command.Produce{Named: true, To: partition, Key: key, Value: padding}, 0, &f.out, &f.journal)
		if err != nil {
			f.t.Fatal(err)
		}
		f.send(sends)
	}
}

// arrive lets a broker or the producer take one message.
func (f *fake) arrive(w onWay) {
	m := w.m
	switch {
	case m.IsReset():
		f.send(f.producer.Disconnected(f.now, m.From, 0, &f.out, &f.journal))
		return
	case m.IsResponse():
		f.send(f.producer.Receive(f.now, m, 0, &f.out, &f.journal))
		return
	case f.silent:
		return
	}
	reply := &simnet.Message{From: m.To, To: "p0", Correlation: m.Correlation}
	if f.other != nil {
		if _, data := m.Request.(*kmsg.MetadataRequest); !data {
			reply.Response = f.other(m)
			f.put("p0", reply)
			return
		}
	}
	switch request := m.Request.(type) {
	case *kmsg.MetadataRequest:
		reply.Response = f.metadata(request)
	case *kmsg.InitProducerIDRequest:
		response := request.ResponseKind().(*kmsg.InitProducerIDResponse)
		response.ProducerID, response.ProducerEpoch = f.next, 0
		f.next++
		reply.Response = response
	case *kmsg.ProduceRequest:
		f.requests++
		response := f.append(m.To, request)
		if f.answer != nil {
			f.answer(response)
		}
		if f.lose == nil || !f.lose(f.requests) {
			reply.Response = response
		}
	}
	f.put("p0", reply)
}

func (f *fake) metadata(request *kmsg.MetadataRequest) kmsg.Response {
	response := request.ResponseKind().(*kmsg.MetadataResponse)
	for id := range int32(3) {
		response.Brokers = append(response.Brokers, kmsg.MetadataResponseBroker{NodeID: id + 1, Host: fmt.Sprintf("b%d", id+1)})
	}
	topic := kmsg.NewMetadataResponseTopic()
	topic.Topic, topic.TopicID = kmsg.StringPtr("orders"), [16]byte{1}
	for i, id := range f.leaders {
		p := kmsg.NewMetadataResponseTopicPartition()
		p.Partition, p.Leader, p.LeaderEpoch = int32(i), id, f.epochs[i]
		topic.Partitions = append(topic.Partitions, p)
	}
	response.Topics = append(response.Topics, topic)
	return response
}

func (f *fake) append(broker kafka.NodeID, request *kmsg.ProduceRequest) *kmsg.ProduceResponse {
	response := request.ResponseKind().(*kmsg.ProduceResponse)
	topic := kmsg.NewProduceResponseTopic()
	for _, rp := range request.Topics[0].Partitions {
		result := kmsg.NewProduceResponseTopicPartition()
		result.Partition, result.BaseOffset = rp.Partition, -1
		f.batches++
		b, err := record.Parse(rp.Records)
		if err != nil || b.CheckCRC() != nil {
			f.t.Fatalf("a batch that is not one: %v", err)
		}
		records, err := b.Records()
		if err != nil {
			f.t.Fatal(err)
		}
		switch {
		case fmt.Sprintf("b%d", f.leaders[rp.Partition]) != string(broker):
			result.ErrorCode = kerr.NotLeaderForPartition.Code
		case f.refuse != nil && f.refuse(f.batches, rp.Partition) != 0:
			result.ErrorCode = f.refuse(f.batches, rp.Partition)
		default:
			result.BaseOffset, result.ErrorCode = f.check(rp.Partition, b)
		}
		if result.ErrorCode == 0 && result.BaseOffset == int64(len(f.logs[rp.Partition])) {
			for _, r := range records {
				f.logs[rp.Partition] = append(f.logs[rp.Partition], string(r.Key))
			}
		}
		f.codes = append(f.codes, fmt.Sprintf("%s:%d", records[0].Key, result.ErrorCode))
		topic.Partitions = append(topic.Partitions, result)
	}
	response.Topics = append(response.Topics, topic)
	return response
}

// check does what a leader does with producer id, epoch and sequence; see ProducerStateManager.
func (f *fake) check(partition int32, b record.Batch) (offset int64, code int16) {
	end := int64(len(f.logs[partition]))
	if b.ProducerID < 0 {
		return end, 0
	}
	key := fmt.Sprint(partition, "/", b.ProducerID)
	s, known := f.states[key]
	last := record.IncrementSequence(b.BaseSequence, b.LastOffsetDelta)
	for _, r := range s.last {
		if known && s.epoch == int16(b.ProducerEpoch) && r.first == b.BaseSequence && r.last == last {
			return r.offset, 0
		}
	}
	switch {
	case known && int16(b.ProducerEpoch) < s.epoch:
		return -1, kerr.InvalidProducerEpoch.Code
	case known && int16(b.ProducerEpoch) > s.epoch && b.BaseSequence != 0,
		known && int16(b.ProducerEpoch) == s.epoch && b.BaseSequence != record.IncrementSequence(s.last[len(s.last)-1].last, 1):
		return -1, kerr.OutOfOrderSequenceNumber.Code
	case !known && b.BaseSequence != 0: // as in a partition whose leader has the state of earlier batches
		return -1, kerr.OutOfOrderSequenceNumber.Code
	case int16(b.ProducerEpoch) > s.epoch:
		s.last = nil
	}
	s.epoch = int16(b.ProducerEpoch)
	s.last = append(slices.Clone(s.last), remembered{b.BaseSequence, last, end})
	s.last = s.last[max(0, len(s.last)-5):]
	f.states[key] = s
	return end, 0
}

// holds fails unless a partition's log is the keys given.
func (f *fake) holds(partition int, keys string) {
	f.t.Helper()
	if got := strings.Join(f.logs[partition], " "); got != keys {
		f.t.Errorf("partition %d holds %q, want %q\n%s", partition, got, keys, f.told())
	}
}

// told gives the journal.
func (f *fake) told() string {
	var b strings.Builder
	for e := range f.journal.All() {
		b.WriteString(e.Line() + "\n")
	}
	return b.String()
}

// texts gives what events of one kind say.
func (f *fake) texts(kind string) (list []string) {
	for e := range f.journal.All() {
		if e.Body.Kind() == kind {
			list = append(list, e.Body.Text())
		}
	}
	return list
}

// outcomes gives what became of the records: "key@offset", "key!ERROR", "key-" for dropped, "key?" for
// sent without promise.
func (f *fake) outcomes() string {
	var list []string
	for _, o := range f.out.Source.Outcomes().From(0) {
		key := string(f.out.Source.Handed().At(o.Record).Key)
		list = append(list, key+map[OutcomeKind]string{
			Acknowledged: fmt.Sprintf("@%d", o.Offset), Failed: "!" + o.Error, Dropped: "-", SentWithoutPromise: "?",
		}[o.Kind])
	}
	return strings.Join(list, " ")
}

func (f *fake) ends(want string) {
	f.t.Helper()
	if got := f.outcomes(); got != want {
		f.t.Errorf("outcomes %q, want %q\n%s", got, want, f.told())
	}
}

// once refuses the n-th batch with an error.
func once(n int, e *kerr.Error) func(int, int32) int16 {
	return func(batch int, _ int32) int16 {
		if batch == n {
			return e.Code
		}
		return 0
	}
}
