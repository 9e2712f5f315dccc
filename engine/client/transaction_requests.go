package client

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// The versions of a transactional producer's requests: the newest of Kafka 4.2, and those of its version 1, in which
// the producer itself adds partitions and offsets.
const (
	endTxnVersion          = 5
	endTxnVersion1         = 4
	addPartitionsVersion   = 3
	addOffsetsVersion      = 4
	txnOffsetCommitVersion = 5
	txnOffsetVersion1      = 4
	produceVersion1        = 11
)

// transactionKey is FindCoordinator's type of a transactional.id; 0 is a group's.
const transactionKey = 1

// addPartitionsBackoff is the wait after a transaction's first AddPartitionsToTxn that was refused because the
// transaction before is not over.
//
// Source: TransactionManager.ADD_PARTITIONS_RETRY_BACKOFF_MS.
const addPartitionsBackoff kafka.Millis = 20

// txnKind is a kind of request about a transaction. Smaller ones go first.
//
// Source: TransactionManager.Priority.
type txnKind uint8

const (
	txnFind       txnKind = iota // FindCoordinator of the transactional.id
	txnFindGroup                 // FindCoordinator of the group
	txnInit                      // InitProducerId
	txnPartitions                // AddPartitionsToTxn
	txnAddOffsets                // AddOffsetsToTxn
	txnOffsets                   // TxnOffsetCommit
	txnEnd                       // EndTxn
	txnRaise                     // InitProducerId with the id and epoch that the producer has
)

// The names of the requests.
var txnNames = [...]string{
	txnFind: "FindCoordinator", txnFindGroup: "FindCoordinator", txnInit: "InitProducerId", txnPartitions: "AddPartitionsToTxn",
	txnAddOffsets: "AddOffsetsToTxn", txnOffsets: "TxnOffsetCommit", txnEnd: "EndTxn", txnRaise: "InitProducerId",
}

// priority orders kinds of which none is to come before the other by their arrival.
func (k txnKind) priority() int {
	return [...]int{txnFind: 0, txnFindGroup: 0, txnInit: 1, txnPartitions: 2, txnAddOffsets: 2, txnOffsets: 2, txnEnd: 3, txnRaise: 4}[k]
}

// txnRequest is one request about a transaction.
//
// Source: TransactionManager.TxnRequestHandler.
type txnRequest struct {
	kind    txnKind
	again   bool         // it was sent before, or a coordinator had to be found: the sender waits before it sends it
	backoff kafka.Millis // for so long
	commit  bool         // of EndTxn
	id      kafka.ProducerID
	epoch   kafka.ProducerEpoch
}

// enqueue puts a request among those to be sent.
func (p *Producer) enqueue(r txnRequest) {
	if r.backoff == 0 {
		r.backoff = p.config.RetryBackoff
	}
	t := &p.txn
	at := len(t.pending)
	for at > 0 && t.pending[at-1].kind.priority() > r.kind.priority() {
		at--
	}
	t.pending = slices.Insert(slices.Clone(t.pending), at, r)
}

// enqueueFresh asks the coordinator to add the partitions that are new.
func (p *Producer) enqueueFresh() {
	t := &p.txn
	for _, tp := range t.fresh {
		t.adding = plus(t.adding, tp)
	}
	t.fresh = nil
	p.enqueue(txnRequest{kind: txnPartitions})
}

// repeat puts a request back, to be sent after its wait.
func (p *Producer) repeat(r txnRequest) {
	r.again = true
	p.enqueue(r)
}

// lookUpCoordinator forgets a coordinator and asks for it.
//
// Source: TransactionManager.lookupCoordinator.
func (p *Producer) lookUpCoordinator(kind txnKind, why string, cause uint64, j *journal.Journal) {
	t := &p.txn
	find, at := txnFind, &t.coordinator
	if kind == txnOffsets {
		find, at = txnFindGroup, &t.offsetsAt
	}
	if *at != "" && why != "" {
		var event journal.Body = journal.TransactionCoordinatorLost{TransactionalID: p.config.TransactionalID, Coordinator: *at, Why: why}
		if kind == txnOffsets {
			event = journal.CoordinatorLost{Group: t.group.group, Coordinator: *at, Why: why}
		}
		t.last = j.Append(p.node, cause, event)
	}
	*at = ""
	p.enqueue(txnRequest{kind: find})
}

// transact does what the sender does for transactions before it sends records; it says whether it goes on to these. One
// request about a transaction is under way at a time, and no records are sent meanwhile.
//
// Source: Sender.runOnce, maybeSendAndPollTransactionalRequest; TransactionManager.nextRequest.
//
// Simplified: while the sender waits before it sends a request again, answers are taken all the same; Kafka's sleeps.
// A coordinator that cannot be reached for now is waited for.
func (p *Producer) transact(now kafka.Millis, out *Outside, j *journal.Journal) (sends []simnet.Send, goesOn bool) {
	t := &p.txn
	if t.state == Uninitialized {
		p.initialize()
	}
	for {
		switch {
		case t.state == FatalError:
			p.drop(t.failure, func(*batch, bool) bool { return true }, out, j)
			t.pending, t.asleep, t.correlation = nil, false, 0
			return sends, false
		case t.correlation != 0, t.asleep && t.wakeAt > now:
			return sends, false
		case t.asleep:
			if at := p.openForCurrent(); at > now { // connections were lost meanwhile
				t.wakeAt = at
				return sends, false
			}
			t.asleep = false
			return append(sends, p.sendCurrent(now)), false
		case t.state == AbortableError:
			p.dropUnsent(t.failure, out, j)
		case t.state == AbortingTransaction:
			p.dropUnsent(transactionAborted, out, j)
		}
		if len(t.fresh) > 0 {
			p.enqueueFresh()
		}
		if len(t.pending) == 0 || t.pending[0].kind == txnEnd && p.unacknowledged() > 0 {
			return sends, true
		}
		t.current, t.pending = t.pending[0], t.pending[1:]
		switch finds := t.current.kind <= txnFindGroup; {
		case t.broken() && !finds: // it fails with the error
		case t.current.kind == txnEnd && !t.started:
			p.ended(t.current.commit, nil, t.last, out, j)
		default:
			if send, sent := p.dispatch(now, j); sent {
				return append(sends, send), false
			}
		}
	}
}

// dispatch sends the current request, or puts the sender to sleep before; false: a coordinator has to be found first.
func (p *Producer) dispatch(now kafka.Millis, j *journal.Journal) (send simnet.Send, sent bool) {
	t := &p.txn
	if to, finds := p.target(t.current.kind); to == "" && !finds {
		p.lookUpCoordinator(t.current.kind, "", 0, j)
		p.repeat(t.current)
		return send, false
	}
	at := max(now, p.openForCurrent())
	if t.current.again {
		at = max(at, now+t.current.backoff)
	}
	if at > now {
		t.asleep, t.wakeAt = true, at
		return send, false
	}
	return p.sendCurrent(now), true
}

// target gives the coordinator that a request goes to; finds: any broker will do.
func (p *Producer) target(kind txnKind) (to kafka.NodeID, finds bool) {
	switch kind {
	case txnFind, txnFindGroup:
		return "", true
	case txnOffsets:
		return p.txn.offsetsAt, false
	}
	return p.txn.coordinator, false
}

// openForCurrent is when the current request can be sent, as far as connections go.
func (p *Producer) openForCurrent() kafka.Millis {
	to, finds := p.target(p.txn.current.kind)
	if finds {
		return p.metadata.reachableAt(&p.connections)
	}
	return p.connections.openAt(to)
}

// sendCurrent sends the current request.
func (p *Producer) sendCurrent(now kafka.Millis) simnet.Send {
	t := &p.txn
	to, finds := p.target(t.current.kind)
	if finds {
		to, _ = p.metadata.anyBroker(now, &p.connections)
	}
	send := p.connections.send(now, to, p.txnMessage(), t.last)
	t.correlation = send.Correlation
	return send
}

// txnMessage makes the current request.
func (p *Producer) txnMessage() kmsg.Request {
	t, id := &p.txn, p.config.TransactionalID
	switch t.current.kind {
	case txnFind, txnFindGroup:
		request := kmsg.NewPtrFindCoordinatorRequest()
		request.Version, request.CoordinatorKeys, request.CoordinatorType = findCoordinatorVersion, []string{id}, transactionKey
		if t.current.kind == txnFindGroup {
			request.CoordinatorKeys, request.CoordinatorType = []string{t.group.group}, 0
		}
		return request
	case txnInit, txnRaise:
		request := kmsg.NewPtrInitProducerIDRequest()
		request.Version, request.TransactionalID, request.TransactionTimeoutMillis = initProducerIDVersion, &id, int32(p.config.TransactionTimeout)
		if t.current.kind == txnRaise {
			request.ProducerID, request.ProducerEpoch = int64(t.current.id), int16(t.current.epoch)
		}
		return request
	case txnPartitions:
		request := kmsg.NewPtrAddPartitionsToTxnRequest()
		request.Version, request.TransactionalID = addPartitionsVersion, id
		request.ProducerID, request.ProducerEpoch = int64(p.identity.id), int16(p.identity.epoch)
		for name, list := range partitionsByTopic(t.adding) {
			topic := kmsg.NewAddPartitionsToTxnRequestTopic()
			topic.Topic, topic.Partitions = name, list
			request.Topics = append(request.Topics, topic)
		}
		return request
	case txnAddOffsets:
		request := kmsg.NewPtrAddOffsetsToTxnRequest()
		request.Version, request.TransactionalID, request.Group = addOffsetsVersion, id, t.group.group
		request.ProducerID, request.ProducerEpoch = int64(p.identity.id), int16(p.identity.epoch)
		return request
	case txnOffsets:
		return p.offsetsMessage()
	}
	request := kmsg.NewPtrEndTxnRequest()
	request.Version, request.TransactionalID, request.Commit = endTxnVersion, id, t.current.commit
	if !p.config.implicit() {
		request.Version = endTxnVersion1
	}
	request.ProducerID, request.ProducerEpoch = int64(t.current.id), int16(t.current.epoch)
	return request
}

// offsetsMessage makes TxnOffsetCommit.
func (p *Producer) offsetsMessage() kmsg.Request {
	t := &p.txn
	request := kmsg.NewPtrTxnOffsetCommitRequest()
	request.Version, request.TransactionalID, request.Group = txnOffsetCommitVersion, p.config.TransactionalID, t.group.group
	if !p.config.implicit() {
		request.Version = txnOffsetVersion1
	}
	request.ProducerID, request.ProducerEpoch = int64(p.identity.id), int16(p.identity.epoch)
	request.Generation, request.MemberID, request.InstanceID = int32(t.group.generation), string(t.group.member), t.group.instance
	for _, o := range t.offsets {
		if n := len(request.Topics); n == 0 || request.Topics[n-1].Topic != o.tp.Topic {
			topic := kmsg.NewTxnOffsetCommitRequestTopic()
			topic.Topic = o.tp.Topic
			request.Topics = append(request.Topics, topic)
		}
		part := kmsg.NewTxnOffsetCommitRequestTopicPartition()
		part.Partition, part.Offset, part.LeaderEpoch = int32(o.tp.Partition), int64(o.offset), int32(o.epoch)
		topic := &request.Topics[len(request.Topics)-1]
		topic.Partitions = append(topic.Partitions, part)
	}
	return request
}
