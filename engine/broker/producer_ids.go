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
}

// initProducerID gives an idempotent producer its id. Without a block it asks the controller for one and answers
// COORDINATOR_LOAD_IN_PROGRESS, after which the producer asks again.
//
// Simplified: the next block is asked for when none is left; Kafka asks when a tenth is.
//
// Source: TransactionCoordinator.handleInitProducerId, RPCProducerIdManager.generateProducerId.
func (b *Broker) initProducerID(t *turn, m *simnet.Message, r *kmsg.InitProducerIDRequest, cause uint64) {
	response := r.ResponseKind().(*kmsg.InitProducerIDResponse)
	if b.ids.next < b.ids.end {
		response.ProducerID, response.ProducerEpoch = int64(b.ids.next), 0
		b.ids.next++
		t.answer(m, response, cause)
		return
	}
	response.ErrorCode, response.ProducerID, response.ProducerEpoch = kerr.CoordinatorLoadInProgress.Code, -1, -1
	t.answer(m, response, cause)
	if !b.ids.call.open() && b.epoch != -1 {
		request := kmsg.NewPtrAllocateProducerIDsRequest()
		request.Version, request.BrokerID, request.BrokerEpoch = allocateProducerVersion, int32(b.config.ID), b.epoch
		b.ids.call = b.request(t, b.config.Controller, request, b.channelTimeout(), cause)
	}
}

// idsAllocated takes a block.
func (b *Broker) idsAllocated(response *kmsg.AllocateProducerIDsResponse) {
	if response.ErrorCode == 0 {
		b.ids.next = kafka.ProducerID(response.ProducerIDStart)
		b.ids.end = b.ids.next + kafka.ProducerID(response.ProducerIDLen)
	}
}
