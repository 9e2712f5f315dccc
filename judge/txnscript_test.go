//go:build judge

package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// draw does one drawn thing, mostly a request.
func (w *txnWorld) draw() {
	switch w.rnd.IntN(12) {
	case 0, 1, 2:
		w.passTo(w.now + kafka.Millis(w.rnd.IntN(500)))
	case 3:
		w.passTo(w.now + kafka.Millis(w.rnd.IntN(8000)))
	case 4:
		if w.rnd.IntN(12) == 0 {
			w.passTo(w.now + kafka.Millis(w.rnd.IntN(250_000)))
		}
	}
	switch roll := w.rnd.IntN(100); {
	case roll < 50 && len(w.writes) > 0:
		w.tellWrite()
	case roll < 60 && len(w.markers) > 0:
		w.tellMarkers()
	case roll < 62:
		w.ids = w.rnd.IntN(3) > 0
		w.step(func() {}, "ids %t", w.ids)
	case roll < 63:
		w.failOver()
	case roll < 64:
		w.describe()
	case roll < 65:
		w.list()
	default:
		w.request(w.clients[w.rnd.IntN(len(w.clients))])
	}
}

// passTo lets time pass; what is due then happens.
func (w *txnWorld) passTo(until kafka.Millis) {
	for {
		due, ok := w.c.NextDue()
		if !ok || due > until {
			break
		}
		w.now = max(w.now, due)
		w.step(func() {
			w.writes = slices.DeleteFunc(w.writes, func(write txnWrite) bool { return write.due <= w.now }) // they stay in the log
			w.perform(w.c.Tick(w.now, &w.j))
		}, "tick")
	}
	w.now = until
}

// tellWrite tells what became of the oldest write.
func (w *txnWorld) tellWrite() {
	write := w.writes[0]
	var err *kerr.Error
	if w.rnd.IntN(8) == 0 {
		err = []*kerr.Error{kerr.NotEnoughReplicas, kerr.NotEnoughReplicasAfterAppend, kerr.RequestTimedOut, kerr.NotLeaderForPartition, kerr.KafkaStorageError, kerr.MessageTooLarge}[w.rnd.IntN(6)]
	}
	if err != nil && len(write.records) == 1 && write.records[0].Value != nil && write.records[0].Value[16] >= 4 && write.records[0].Value[16] <= 5 {
		if err == kerr.MessageTooLarge || err == kerr.KafkaStorageError || err == kerr.NotLeaderForPartition {
			err = kerr.NotEnoughReplicas // with others Kafka gives the transaction up, or fails
		}
	}
	name := "-"
	if err != nil {
		name = codeText(err.Code)
	}
	w.writes = w.writes[1:]
	w.step(func() {
		if err != nil && err != kerr.NotEnoughReplicasAfterAppend && err != kerr.RequestTimedOut {
			w.takeBack(write)
		}
		w.perform(w.c.Written(w.now, write.id, err, 0, &w.j))
	}, "written %s %s", write.name, name)
}

// takeBack takes a write's records out of the log.
func (w *txnWorld) takeBack(write txnWrite) {
	for _, r := range write.records {
		i := slices.IndexFunc(w.log, func(other coordinator.Record) bool { return &other.Key[0] == &r.Key[0] })
		w.log = slices.Delete(slices.Clone(w.log), i, i+1)
	}
}

// tellMarkers has some markers of one transaction written.
func (w *txnWorld) tellMarkers() {
	i := w.rnd.IntN(len(w.markers))
	m := w.markers[i]
	n := 1 + w.rnd.IntN(len(m.Partitions))
	done := slices.Clone(m.Partitions[:n])
	w.markers[i].Partitions = m.Partitions[n:]
	if n == len(m.Partitions) {
		w.markers = slices.Delete(w.markers, i, i+1)
	}
	w.step(func() {
		w.perform(w.c.MarkersWritten(w.now, m.TransactionalID, coordinator.Producer{ID: m.ProducerID, Epoch: m.ProducerEpoch}, done, 0, &w.j))
	}, "markers %s %s", m.TransactionalID, partitionsText(done))
}

// failOver has another coordinator take over.
func (w *txnWorld) failOver() {
	keep := w.rnd.IntN(2) == 0
	w.epoch++
	w.step(func() {
		w.perform(w.c.Resign(w.now, 0, &w.j))
		for _, write := range w.writes {
			if !keep {
				w.takeBack(write)
			}
		}
		w.writes, w.markers = nil, nil
		w.load()
	}, "failover %d %t", w.epoch, keep)
}

// send delivers a request.
func (w *txnWorld) send(c *txnClient, request kmsg.Request, question string, args ...any) {
	w.requests++
	m := &simnet.Message{From: "p", To: "b1", Request: request}
	w.numbers[m] = w.requests
	if c != nil {
		c.waits = m
	}
	words := strings.SplitN(question, " ", 2)
	w.step(func() {
		w.perform(w.c.Receive(w.now, m, func() (kafka.ProducerID, bool) {
			if !w.ids {
				return 0, false
			}
			w.nextID++
			return w.nextID - 1, true
		}, 0, &w.j))
	}, fmt.Sprintf("%s %d %s", words[0], w.requests, words[1]), args...)
}

// request draws a request of a producer.
func (w *txnWorld) request(c *txnClient) {
	producer := c.Producer
	if w.rnd.IntN(12) == 0 {
		producer.Epoch += kafka.ProducerEpoch(w.rnd.IntN(3) - 1)
	}
	if w.rnd.IntN(40) == 0 {
		producer.ID += kafka.ProducerID(w.rnd.IntN(3) - 1)
	}
	switch roll := w.rnd.IntN(100); {
	case roll < 6 || c.ID < 0 || c.fenced && w.rnd.IntN(3) > 0:
		w.init(c, coordinator.Producer{ID: -1, Epoch: -1})
	case roll < 12:
		if producer.ID < 0 || producer.Epoch < 0 {
			producer = coordinator.Producer{ID: -1, Epoch: -1}
		}
		w.init(c, producer)
	case roll < 60:
		w.add(c, producer, false)
	case roll < 66:
		w.add(c, producer, true)
	default:
		q := kmsg.NewPtrEndTxnRequest()
		q.Version, q.TransactionalID, q.ProducerID, q.ProducerEpoch, q.Commit = 5, c.id, int64(producer.ID), int16(producer.Epoch), w.rnd.IntN(2) == 0
		client := 2
		if c.old {
			q.Version, client = 4, 0
		}
		w.send(c, q, "end %s %d %d %t %d", c.id, producer.ID, producer.Epoch, q.Commit, client)
	}
}

func (w *txnWorld) init(c *txnClient, expected coordinator.Producer) {
	q := kmsg.NewPtrInitProducerIDRequest()
	q.Version, q.TransactionalID, q.TransactionTimeoutMillis, q.ProducerID, q.ProducerEpoch = 5, &c.id, c.timeout, int64(expected.ID), int16(expected.Epoch)
	w.send(c, q, "init %s %d %d %d", c.id, c.timeout, expected.ID, expected.Epoch)
}

func (w *txnWorld) add(c *txnClient, producer coordinator.Producer, verify bool) {
	var topics []kmsg.AddPartitionsToTxnRequestTransactionTopic
	var list []kafka.TopicPartition
	for _, topic := range []string{"orders", "payments"} {
		partitions := []int32{int32(w.rnd.IntN(4))}
		switch w.rnd.IntN(8) {
		case 0:
			partitions[0] = int32(9 + w.rnd.IntN(2)) // there is no such partition when the transaction ends
		case 1, 2, 3:
			if topic == "payments" {
				continue
			}
		case 4:
			partitions = append(partitions, 5)
		}
		topics = append(topics, kmsg.AddPartitionsToTxnRequestTransactionTopic{Topic: topic, Partitions: partitions})
		for _, p := range partitions {
			list = append(list, kafka.TopicPartition{Topic: topic, Partition: kafka.Partition(p)})
		}
	}
	q := kmsg.NewPtrAddPartitionsToTxnRequest()
	if c.old && !verify {
		q.Version, q.TransactionalID, q.ProducerID, q.ProducerEpoch = 3, c.id, int64(producer.ID), int16(producer.Epoch)
		for _, topic := range topics {
			q.Topics = append(q.Topics, kmsg.AddPartitionsToTxnRequestTopic{Topic: topic.Topic, Partitions: topic.Partitions})
		}
		w.send(c, q, "add %s %d %d 0 %s", c.id, producer.ID, producer.Epoch, partitionsText(list))
		return
	}
	q.Version = 5
	t := kmsg.NewAddPartitionsToTxnRequestTransaction()
	t.TransactionalID, t.ProducerID, t.ProducerEpoch, t.Topics, t.VerifyOnly = c.id, int64(producer.ID), int16(producer.Epoch), topics, verify
	q.Transactions = []kmsg.AddPartitionsToTxnRequestTransaction{t}
	if verify {
		w.send(c, q, "verify %s %d %d %s", c.id, producer.ID, producer.Epoch, partitionsText(list))
		return
	}
	w.send(c, q, "add %s %d %d 2 %s", c.id, producer.ID, producer.Epoch, partitionsText(list))
}

func (w *txnWorld) describe() {
	q := kmsg.NewPtrDescribeTransactionsRequest()
	id := fmt.Sprint("t", w.rnd.IntN(4))
	q.TransactionalIDs = []string{id}
	w.send(nil, q, "describe %s", id)
}

func (w *txnWorld) list() {
	q := kmsg.NewPtrListTransactionsRequest()
	q.Version, q.DurationFilterMillis = 2, -1
	states, ids := "-", "-"
	if w.rnd.IntN(2) == 0 {
		q.StateFilters = [][]string{{"Ongoing"}, {"Empty", "CompleteCommit"}, {"PrepareAbort", "Nothing"}, {"Nothing"}}[w.rnd.IntN(4)]
		states = strings.Join(q.StateFilters, ",")
	}
	if w.rnd.IntN(3) == 0 {
		q.ProducerIDFilters = []int64{1000, 7}
		ids = "1000,7"
	}
	if w.rnd.IntN(3) == 0 {
		q.DurationFilterMillis = int64(w.rnd.IntN(10_000))
	}
	w.send(nil, q, "list %s %s %d", states, ids, q.DurationFilterMillis)
}
