package txn

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/kafka"
	"loglab/engine/sabotage"
	"loglab/engine/simnet"
)

// fromBrokers is the version of AddPartitionsToTxn since which brokers send it: they add a partition at the first write to
// it, or ask whether it was added. Older versions come from producers.
const fromBrokers = 4

// addition is an AddPartitionsToTxn that waits until all of its transactions are dealt with.
type addition struct {
	number  uint64
	request *simnet.Message
	codes   [][]int16 // by transaction and partition, in the order of the request; nil: not known yet
}

// transactionsOf gives the transactions of a request, whichever its version.
//
// Source: AddPartitionsToTxnRequest.normalizeRequest.
func transactionsOf(request *kmsg.AddPartitionsToTxnRequest) []kmsg.AddPartitionsToTxnRequestTransaction {
	if request.Version >= fromBrokers {
		return request.Transactions
	}
	t := kmsg.NewAddPartitionsToTxnRequestTransaction()
	t.TransactionalID, t.ProducerID, t.ProducerEpoch = request.TransactionalID, request.ProducerID, request.ProducerEpoch
	for _, topic := range request.Topics {
		t.Topics = append(t.Topics, kmsg.AddPartitionsToTxnRequestTransactionTopic{Topic: topic.Topic, Partitions: topic.Partitions})
	}
	return []kmsg.AddPartitionsToTxnRequestTransaction{t}
}

// partitionsOf gives the partitions of a transaction in the order of the request.
func partitionsOf(t *kmsg.AddPartitionsToTxnRequestTransaction) (list []kafka.TopicPartition) {
	for _, topic := range t.Topics {
		for _, p := range topic.Partitions {
			list = append(list, kafka.TopicPartition{Topic: topic.Topic, Partition: kafka.Partition(p)})
		}
	}
	return list
}

// same gives one code for each of n partitions.
func same(err *kerr.Error, n int) []int16 {
	code := int16(0)
	if err != nil {
		code = err.Code
	}
	return slices.Repeat([]int16{code}, n)
}

// addPartitions handles an AddPartitionsToTxn. It is answered when all of its transactions are dealt with.
//
// Source: KafkaApis.handleAddPartitionsToTxnRequest.
func (s *step) addPartitions(m *simnet.Message, request *kmsg.AddPartitionsToTxnRequest) {
	list := transactionsOf(request)
	s.c.lastAddition++
	number := s.c.lastAddition
	s.c.additions = append(s.c.additions, addition{number: number, request: m, codes: make([][]int16, len(list))})
	cause := s.cause
	for i := range list {
		s.cause = cause
		s.addTransaction(m, number, i, &list[i])
	}
	if len(list) == 0 {
		s.answerAddition(number)
	}
}

// addTransaction handles one transaction of an AddPartitionsToTxn.
func (s *step) addTransaction(m *simnet.Message, number uint64, place int, t *kmsg.AddPartitionsToTxnRequestTransaction) {
	partitions := partitionsOf(t)
	producer := coordinator.Producer{ID: kafka.ProducerID(t.ProducerID), Epoch: kafka.ProducerEpoch(t.ProducerEpoch)}
	if codes := s.unknown(m, t.TransactionalID, partitions); codes != nil {
		s.added(number, place, codes)
		return
	}
	if t.VerifyOnly {
		s.added(number, place, s.verify(m, t.TransactionalID, producer, partitions))
		return
	}
	client := int16(0)
	if m.Version() >= fromBrokers {
		client = epochBump
	}
	r, waits := s.add(t.TransactionalID, producer, partitions, pendingWrite{request: m, addition: number, place: place, client: client})
	switch {
	case r != nil:
		s.noteRefusal(m, *r)
		s.added(number, place, same(knownAs(m.Request, r.err), len(partitions)))
	case !waits:
		s.added(number, place, same(nil, len(partitions)))
	}
}

// unknown gives the errors of a transaction with partitions that there are not, or that a producer may not write to: then
// nothing is added. Nil: they are all there.
func (s *step) unknown(m *simnet.Message, id string, partitions []kafka.TopicPartition) []int16 {
	codes := same(kerr.OperationNotAttempted, len(partitions))
	cause := s.cause
	for i, tp := range partitions {
		var err *kerr.Error
		why := ""
		switch {
		case m.Version() < fromBrokers && internal(tp.Topic):
			err, why = kerr.TopicAuthorizationFailed, "producers do not write to "+tp.Topic+", so nothing is added"
		case s.c.image != nil && !s.exists(tp):
			err, why = kerr.UnknownTopicOrPartition, "the coordinator knows of no partition "+tp.String()+", so nothing is added"
		default:
			continue
		}
		codes[i] = err.Code
		s.cause = cause
		s.noteRefusal(m, refusal{id, err, why})
	}
	if slices.Equal(codes, same(kerr.OperationNotAttempted, len(partitions))) {
		return nil
	}
	return codes
}

func (s *step) exists(tp kafka.TopicPartition) bool {
	t, known := s.c.image.Topic(tp.Topic)
	return known && int(tp.Partition) >= 0 && int(tp.Partition) < len(t.Partitions)
}

// internal says whether only brokers write to a topic.
//
// Source: org.apache.kafka.common.internals.Topic.isInternal.
func internal(topic string) bool {
	return slices.Contains([]string{kafka.OffsetsTopic, Topic, "__share_group_state"}, topic)
}

// addOffsets handles an AddOffsetsToTxn: the partition of __consumer_offsets that keeps the group becomes one of the
// transaction.
//
// Source: KafkaApis.handleAddOffsetsToTxnRequest.
func (s *step) addOffsets(m *simnet.Message, request *kmsg.AddOffsetsToTxnRequest) {
	producer := coordinator.Producer{ID: kafka.ProducerID(request.ProducerID), Epoch: kafka.ProducerEpoch(request.ProducerEpoch)}
	offsets := kafka.TopicPartition{Topic: kafka.OffsetsTopic, Partition: coordinator.PartitionFor(request.Group, s.c.config.OffsetsPartitions)}
	r, waits := s.add(request.TransactionalID, producer, []kafka.TopicPartition{offsets}, pendingWrite{request: m, group: request.Group})
	switch {
	case r != nil:
		s.refuse(m, *r)
	case !waits:
		s.answer(m, kmsg.NewPtrAddOffsetsToTxnResponse())
	}
}

// add adds partitions to a transaction, and begins one if there is none. If it waits, w says for what.
//
// Source: TransactionCoordinator.handleAddPartitionsToTransaction.
func (s *step) add(id string, producer coordinator.Producer, partitions []kafka.TopicPartition, w pendingWrite) (r *refusal, waits bool) {
	if id == "" {
		return &refusal{id, kerr.InvalidRequest, "the transactional id is empty"}, false
	}
	t := s.c.transaction(id)
	switch {
	case t == nil:
		return unmapped(id), false
	case s.c.config.Sabotage == sabotage.AddsWhileEnding && t.state.prepared() && t.producer() == producer:
		w.done, t.pending = partitionsAdded, Ongoing
		to := t.details
		to.state, to.partitions = Ongoing, union(t.partitions, partitions)
		s.write(t, to, w)
		return nil, true
	case t.pending != "":
		return t.changing(), false
	}
	if r := t.checkProducer(producer); r != nil {
		return r, false
	}
	switch {
	case t.state.prepared():
		return t.ending(), false
	case t.state == Ongoing && includes(t.partitions, partitions):
		return nil, false
	case t.epoch == noEpoch:
		return &refusal{id, kerr.UnknownServerError, "the producer has no epoch yet: its InitProducerID could not be written"}, false
	}
	w.done, w.before = partitionsAdded, t.details
	s.write(t, t.preparePartitions(partitions, w.client, s.at()), w)
	return nil, true
}

// unmapped says that a transactional id is not known.
func unmapped(id string) *refusal {
	return &refusal{id, kerr.InvalidProducerIDMapping, "the transactional id is not known here: it has expired, or no InitProducerID came for it"}
}

// checkProducer holds a request to the producer id and epoch of the transactional id.
func (t *transaction) checkProducer(producer coordinator.Producer) *refusal {
	switch {
	case producer.ID != t.producerID:
		return &refusal{t.id, kerr.InvalidProducerIDMapping, fmt.Sprintf("the transactional id has producer id %s, the request %s",
			kafka.Thousands(t.producerID), kafka.Thousands(producer.ID))}
	case producer.Epoch != t.epoch:
		return &refusal{t.id, kerr.ProducerFenced, fmt.Sprintf("the producer id has epoch %d, the request %d", t.epoch, producer.Epoch)}
	}
	return nil
}

// verify says for each partition whether it is part of the transaction: a broker asks before it takes the first write of
// a producer whose client adds partitions by itself.
//
// Source: TransactionCoordinator.handleVerifyPartitionsInTransaction.
func (s *step) verify(m *simnet.Message, id string, producer coordinator.Producer, partitions []kafka.TopicPartition) []int16 {
	t := s.c.transaction(id)
	var r *refusal
	switch {
	case id == "":
		r = &refusal{id, kerr.InvalidRequest, "the transactional id is empty"}
	case t == nil:
		r = unmapped(id)
	default:
		if r = t.checkProducer(producer); r == nil && t.state.prepared() {
			r = t.ending()
		}
	}
	if r != nil {
		s.noteRefusal(m, *r)
		return same(r.err, len(partitions))
	}
	codes := same(nil, len(partitions))
	cause := s.cause
	for i, tp := range partitions {
		if !has(t.partitions, tp) {
			codes[i] = kerr.TransactionAbortable.Code
			s.cause = cause
			s.noteRefusal(m, refusal{id, kerr.TransactionAbortable, tp.String() + " was not added to the transaction"})
		}
	}
	return codes
}

// added notes what became of one transaction of an AddPartitionsToTxn, and answers if it was the last.
func (s *step) added(number uint64, place int, codes []int16) {
	i := slices.IndexFunc(s.c.additions, func(a addition) bool { return a.number == number })
	if codes == nil {
		codes = []int16{}
	}
	s.c.additions[i].codes[place] = codes
	if !slices.ContainsFunc(s.c.additions[i].codes, func(codes []int16) bool { return codes == nil }) {
		s.answerAddition(number)
	}
}

// answerAddition answers an AddPartitionsToTxn.
func (s *step) answerAddition(number uint64) {
	i := slices.IndexFunc(s.c.additions, func(a addition) bool { return a.number == number })
	a := s.c.additions[i]
	s.c.additions = slices.Delete(s.c.additions, i, i+1)
	s.answer(a.request, additionResponse(a.request.Request.(*kmsg.AddPartitionsToTxnRequest), a.codes))
}

// additionResponse puts codes into the shape of the request's version.
func additionResponse(request *kmsg.AddPartitionsToTxnRequest, codes [][]int16) *kmsg.AddPartitionsToTxnResponse {
	response := kmsg.NewPtrAddPartitionsToTxnResponse()
	for i, t := range transactionsOf(request) {
		result := kmsg.NewAddPartitionsToTxnResponseTransaction()
		result.TransactionalID = t.TransactionalID
		n := 0
		for _, topic := range t.Topics {
			old, current := kmsg.NewAddPartitionsToTxnResponseTopic(), kmsg.NewAddPartitionsToTxnResponseTransactionTopic()
			old.Topic, current.Topic = topic.Topic, topic.Topic
			for _, p := range topic.Partitions {
				old.Partitions = append(old.Partitions, kmsg.AddPartitionsToTxnResponseTopicPartition{Partition: p, ErrorCode: codes[i][n]})
				current.Partitions = append(current.Partitions, kmsg.AddPartitionsToTxnResponseTransactionTopicPartition{Partition: p, ErrorCode: codes[i][n]})
				n++
			}
			result.Topics = append(result.Topics, current)
			if request.Version < fromBrokers {
				response.Topics = append(response.Topics, old)
			}
		}
		if request.Version >= fromBrokers {
			response.Transactions = append(response.Transactions, result)
		}
	}
	return response
}
