package broker

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// producerIDs gives out producer ids from the block that the controller has given to this broker.
//
// Source: RPCProducerIdManager.
type producerIDs struct {
	call      call
	next, end kafka.ProducerID // of the block; end is exclusive
	wanted    bool             // one was asked for, and none is left
}

// initProducerID gives a producer its id. One with a transactional.id gets it from the coordinator of that. Without a block
// the broker asks the controller for one and answers COORDINATOR_LOAD_IN_PROGRESS, after which the producer asks again.
//
// Simplified: the next block is asked for when none is left; Kafka asks when a tenth is.
//
// Source: TransactionCoordinator.handleInitProducerId, RPCProducerIdManager.generateProducerId.
func (b *Broker) initProducerID(t *turn, m *simnet.Message, r *kmsg.InitProducerIDRequest, cause uint64) {
	if r.TransactionalID != nil {
		b.coordinateTransaction(t, m, *r.TransactionalID, cause)
		return
	}
	response := r.ResponseKind().(*kmsg.InitProducerIDResponse)
	if id, ok := b.nextProducerID(); ok {
		response.ProducerID, response.ProducerEpoch = int64(id), 0
		t.answer(m, response, cause)
		return
	}
	response.ErrorCode, response.ProducerID, response.ProducerEpoch = kerr.CoordinatorLoadInProgress.Code, -1, -1
	t.answer(m, response, cause)
	b.ids.wanted = false
	b.allocateProducerIDs(t, cause)
}

// nextProducerID takes an id out of the block; ok is false when none is left.
func (b *Broker) nextProducerID() (id kafka.ProducerID, ok bool) {
	if b.ids.next >= b.ids.end {
		b.ids.wanted = true
		return kafka.ProducerID(-1), false
	}
	b.ids.next++
	return b.ids.next - 1, true
}

// allocateProducerIDs asks the controller for a block, one request at a time.
func (b *Broker) allocateProducerIDs(t *turn, cause uint64) {
	if b.ids.call.open() || b.epoch == -1 {
		return
	}
	request := kmsg.NewPtrAllocateProducerIDsRequest()
	request.Version, request.BrokerID, request.BrokerEpoch = allocateProducerVersion, int32(b.config.ID), b.epoch
	b.ids.call = b.request(t, b.config.Controller, request, b.channelTimeout(), cause)
}

// idsAllocated takes a block.
func (b *Broker) idsAllocated(response *kmsg.AllocateProducerIDsResponse) {
	if response.ErrorCode == 0 {
		b.ids.next = kafka.ProducerID(response.ProducerIDStart)
		b.ids.end = b.ids.next + kafka.ProducerID(response.ProducerIDLen)
	}
}
