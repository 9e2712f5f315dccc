package controller

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
)

// allocateProducerIDs gives a broker the next block of producer ids.
//
// Source: ProducerIdControlManager.generateNextProducerId.
func (c *Controller) allocateProducerIDs(r *kmsg.AllocateProducerIDsRequest) (kmsg.Response, operation) {
	response := r.ResponseKind().(*kmsg.AllocateProducerIDsResponse)
	id := kafka.BrokerID(r.BrokerID)
	if err := c.checkBrokerEpoch(id, r.BrokerEpoch); err != nil {
		response.ErrorCode = err.Code
		return response, operation{}
	}
	first := c.image.NextProducerID
	if first > 1<<63-1-producerIDBlockSize {
		response.ErrorCode = kerr.UnknownServerError.Code
		return response, operation{}
	}
	response.ProducerIDStart, response.ProducerIDLen = int64(first), producerIDBlockSize
	return response, operation{
		records: []metadata.Record{metadata.ProducerIDsRecord{BrokerID: id, BrokerEpoch: r.BrokerEpoch, NextProducerID: first + producerIDBlockSize}},
		events:  []journal.Body{journal.ProducerIDsAllocated{Broker: id, First: first, Last: first + producerIDBlockSize - 1}},
	}
}

// producerIDBlockSize is how many producer ids a broker gets at once.
//
// Source: ProducerIdsBlock.PRODUCER_ID_BLOCK_SIZE.
const producerIDBlockSize = 1000
