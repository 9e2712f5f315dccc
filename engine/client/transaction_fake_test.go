package client

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/simnet"
)

// txnFake is a transaction coordinator, b2, and the leader of all partitions, b1: they do what Kafka's do as long as
// refuse says nothing else, and keep what they were asked.
type txnFake struct {
	*fake
	asked  []string
	id     int64
	epoch  int16
	counts map[string]int // requests by API
	// refuse gives the error for the n-th request of an API, from 1; 0: none. -1: the connection is lost.
	refuse func(api string, n int) int16
}

func newTxnFake(t *testing.T, config ProducerConfig, workload Workload) *txnFake {
	t.Helper()
	f := &txnFake{fake: unready(t, config, workload, 1, 1), id: 4000, epoch: -1, counts: map[string]int{}}
	f.other = f.answerTxn
	return f
}

// transactional gives settings of version 1 or 2 with the id tx-1 and a linger.ms that a test can see.
func transactional(version int) ProducerConfig {
	c := DefaultProducerConfig("orders")
	c.TransactionalID, c.TransactionVersion, c.Linger = "tx-1", version, 1000
	return c
}

func (f *txnFake) answerTxn(m *simnet.Message) kmsg.Response {
	api := kmsg.NameForKey(m.Request.Key())
	f.counts[api]++
	code := int16(0)
	if f.refuse != nil {
		code = f.refuse(api, f.counts[api])
	}
	response := f.answerOf(m, code)
	if code == -1 {
		return nil
	}
	return response
}

// note keeps what a request says, as "API vVERSION →BROKER …".
func (f *txnFake) note(m *simnet.Message, format string, args ...any) {
	f.asked = append(f.asked, fmt.Sprintf("%s v%d →%s ", kmsg.NameForKey(m.Request.Key()), m.Request.GetVersion(), m.To)+fmt.Sprintf(format, args...))
}

func (f *txnFake) answerOf(m *simnet.Message, code int16) kmsg.Response {
	switch request := m.Request.(type) {
	case *kmsg.FindCoordinatorRequest:
		f.note(m, "%d %s", request.CoordinatorType, strings.Join(request.CoordinatorKeys, " "))
		response := request.ResponseKind().(*kmsg.FindCoordinatorResponse)
		response.Coordinators = []kmsg.FindCoordinatorResponseCoordinator{{Key: request.CoordinatorKeys[0], Host: "b2", ErrorCode: code}}
		return response
	case *kmsg.InitProducerIDRequest:
		f.note(m, "%s timeout=%d id=%d epoch=%d", *request.TransactionalID, request.TransactionTimeoutMillis, request.ProducerID, request.ProducerEpoch)
		if code == 0 {
			f.epoch++
		}
		response := request.ResponseKind().(*kmsg.InitProducerIDResponse)
		response.ErrorCode, response.ProducerID, response.ProducerEpoch = code, f.id, f.epoch
		return response
	case *kmsg.AddPartitionsToTxnRequest:
		var list []string
		response := request.ResponseKind().(*kmsg.AddPartitionsToTxnResponse)
		for _, topic := range request.Topics {
			answer := kmsg.AddPartitionsToTxnResponseTopic{Topic: topic.Topic}
			for _, p := range topic.Partitions {
				list = append(list, fmt.Sprintf("%s-%d", topic.Topic, p))
				answer.Partitions = append(answer.Partitions, kmsg.AddPartitionsToTxnResponseTopicPartition{Partition: p, ErrorCode: code})
			}
			response.Topics = append(response.Topics, answer)
		}
		f.note(m, "%s %d/%d %s", request.TransactionalID, request.ProducerID, request.ProducerEpoch, strings.Join(list, " "))
		return response
	case *kmsg.AddOffsetsToTxnRequest:
		f.note(m, "%s %d/%d %s", request.TransactionalID, request.ProducerID, request.ProducerEpoch, request.Group)
		response := request.ResponseKind().(*kmsg.AddOffsetsToTxnResponse)
		response.ErrorCode = code
		return response
	case *kmsg.TxnOffsetCommitRequest:
		var list []string
		response := request.ResponseKind().(*kmsg.TxnOffsetCommitResponse)
		for _, topic := range request.Topics {
			answer := kmsg.TxnOffsetCommitResponseTopic{Topic: topic.Topic}
			for _, p := range topic.Partitions {
				list = append(list, fmt.Sprintf("%s-%d→%d", topic.Topic, p.Partition, p.Offset))
				answer.Partitions = append(answer.Partitions, kmsg.TxnOffsetCommitResponseTopicPartition{Partition: p.Partition, ErrorCode: code})
			}
			response.Topics = append(response.Topics, answer)
		}
		f.note(m, "%s %d/%d %s %s gen=%d %s", request.TransactionalID, request.ProducerID, request.ProducerEpoch, request.Group, request.MemberID, request.Generation, strings.Join(list, " "))
		return response
	case *kmsg.EndTxnRequest:
		f.note(m, "%s %d/%d commit=%t", request.TransactionalID, request.ProducerID, request.ProducerEpoch, request.Commit)
		response := request.ResponseKind().(*kmsg.EndTxnResponse)
		if response.ErrorCode = code; code == 0 && request.Version >= 5 {
			f.epoch++
			response.ProducerID, response.ProducerEpoch = f.id, f.epoch
		}
		return response
	case *kmsg.ProduceRequest:
		return f.takeBatches(m, request, code)
	}
	f.t.Fatalf("no answer to %T", m.Request)
	return nil
}

func (f *txnFake) takeBatches(m *simnet.Message, request *kmsg.ProduceRequest, code int16) kmsg.Response {
	response := request.ResponseKind().(*kmsg.ProduceResponse)
	var list []string
	for _, topic := range request.Topics {
		if named := topic.Topic != ""; named != (request.Version < 13) {
			f.t.Errorf("Produce v%d names its topic %q", request.Version, topic.Topic)
		}
		answer := kmsg.NewProduceResponseTopic()
		for _, rp := range topic.Partitions {
			b, err := record.Parse(rp.Records)
			if err != nil || b.CheckCRC() != nil || !b.Attributes.Transactional() {
				f.t.Fatalf("no transactional batch: %v", err)
			}
			records, err := b.Records()
			if err != nil {
				f.t.Fatal(err)
			}
			part := kmsg.NewProduceResponseTopicPartition()
			part.Partition, part.BaseOffset, part.ErrorCode = rp.Partition, int64(len(f.logs[rp.Partition])), code
			var keys []string
			for _, r := range records {
				keys = append(keys, string(r.Key))
			}
			if code == 0 {
				f.logs[rp.Partition] = append(f.logs[rp.Partition], keys...)
			}
			list = append(list, fmt.Sprintf("%d: %d/%d seq=%d %s", rp.Partition, b.ProducerID, b.ProducerEpoch, b.BaseSequence, strings.Join(keys, " ")))
			answer.Partitions = append(answer.Partitions, part)
		}
		response.Topics = append(response.Topics, answer)
	}
	f.note(m, "%s %s", *request.TransactionID, strings.Join(list, "; "))
	return response
}

// said fails unless exactly these requests have come since the last call.
func (f *txnFake) said(want ...string) {
	f.t.Helper()
	if !slices.Equal(f.asked, want) {
		f.t.Errorf("asked\n\t%s\nwant\n\t%s\n%s", strings.Join(f.asked, "\n\t"), strings.Join(want, "\n\t"), f.told())
	}
	f.asked = nil
}

// is fails unless the producer is in a state.
func (f *txnFake) is(state TransactionState, failure string) {
	f.t.Helper()
	if v := f.producer.View().Transaction; v.State != state || v.Error != failure {
		f.t.Errorf("state %s %q, want %s %q\n%s", v.State, v.Error, state, failure, f.told())
	}
}

// do carries out an order of a person, which must not be refused.
func (f *txnFake) do(order func() ([]simnet.Send, error)) {
	f.t.Helper()
	sends, err := order()
	if err != nil {
		f.t.Fatalf("%v\n%s", err, f.told())
	}
	f.send(sends)
}

func (f *txnFake) begin() {
	f.t.Helper()
	f.do(func() ([]simnet.Send, error) { return f.producer.BeginTransaction(f.now, 0, &f.out, &f.journal) })
}

func (f *txnFake) commit() {
	f.t.Helper()
	f.do(func() ([]simnet.Send, error) { return f.producer.CommitTransaction(f.now, 0, &f.out, &f.journal) })
}

func (f *txnFake) abort() {
	f.t.Helper()
	f.do(func() ([]simnet.Send, error) { return f.producer.AbortTransaction(f.now, 0, &f.out, &f.journal) })
}

// ready lets initTransactions be done and forgets what was asked.
func (f *txnFake) ready() {
	f.t.Helper()
	f.run(200)
	f.is(TransactionsIdle, "")
	f.asked = nil
}

// nth refuses the n-th request of an API.
func nth(api string, n int, e *kerr.Error) func(string, int) int16 {
	return func(a string, i int) int16 {
		if a == api && i == n {
			return e.Code
		}
		return 0
	}
}

// offsetsOf gives sorted offsets of a group's topic "in".
func offsetsOf(next ...kafka.Offset) (list []commitOffset) {
	for p, o := range next {
		list = append(list, commitOffset{kafka.TopicPartition{Topic: "in", Partition: kafka.Partition(p)}, o, 0})
	}
	return list
}
