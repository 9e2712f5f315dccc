package txn

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// describe handles a DescribeTransactions.
//
// Source: TransactionCoordinator.handleDescribeTransactions.
func (s *step) describe(m *simnet.Message, request *kmsg.DescribeTransactionsRequest) {
	response := kmsg.NewPtrDescribeTransactionsResponse()
	for _, id := range request.TransactionalIDs {
		answer := kmsg.NewDescribeTransactionsResponseTransactionState()
		answer.TransactionalID = id
		switch t := s.c.transaction(id); {
		case id == "":
			answer.ErrorCode = kerr.InvalidRequest.Code
		case t == nil:
			answer.ErrorCode = kerr.TransactionalIDNotFound.Code
		default:
			answer.State, answer.TimeoutMillis, answer.StartTimestamp = string(t.state), int32(t.timeout), int64(t.start)
			answer.ProducerID, answer.ProducerEpoch = int64(t.producerID), int16(t.epoch)
			answer.Topics = described(t.partitions)
		}
		response.TransactionStates = append(response.TransactionStates, answer)
	}
	s.answer(m, response)
}

func described(partitions []kafka.TopicPartition) (list []kmsg.DescribeTransactionsResponseTransactionStateTopic) {
	for _, tp := range partitions {
		if n := len(list); n == 0 || list[n-1].Topic != tp.Topic {
			topic := kmsg.NewDescribeTransactionsResponseTransactionStateTopic()
			topic.Topic = tp.Topic
			list = append(list, topic)
		}
		last := &list[len(list)-1]
		last.Partitions = append(last.Partitions, int32(tp.Partition))
	}
	return list
}

// List answers a ListTransactions with what a broker's coordinators have, each in the order of the transactional ids.
//
// Simplified: a pattern is one of Go's regexp; Kafka takes Java's.
//
// Source: TransactionStateManager.listTransactionStates.
func List(now kafka.Timestamp, request *kmsg.ListTransactionsRequest, coordinators ...*Coordinator) *kmsg.ListTransactionsResponse {
	response := kmsg.NewPtrListTransactionsResponse()
	response.SetVersion(request.Version)
	var wanted []State
	for _, name := range request.StateFilters {
		if slices.Contains(states[:], State(name)) {
			wanted = append(wanted, State(name))
		} else {
			response.UnknownStateFilters = append(response.UnknownStateFilters, name)
		}
	}
	var pattern *regexp.Regexp
	if text := request.TransactionalIDPattern; request.Version >= 2 && text != nil && *text != "" {
		var err error
		if pattern, err = kafka.WholePattern(*text); err != nil {
			response.ErrorCode = kerr.InvalidRegularExpression.Code
			return response
		}
	}
	for _, c := range coordinators {
		for _, t := range c.transactions {
			switch {
			case len(request.ProducerIDFilters) > 0 && !slices.Contains(request.ProducerIDFilters, int64(t.producerID)):
			case len(request.StateFilters) > 0 && !slices.Contains(wanted, t.state):
			case request.Version >= 1 && request.DurationFilterMillis >= 0 && int64(now-t.start) <= request.DurationFilterMillis:
			case pattern != nil && !pattern.MatchString(t.id):
			default:
				listed := kmsg.NewListTransactionsResponseTransactionState()
				listed.TransactionalID, listed.ProducerID, listed.TransactionState = t.id, int64(t.producerID), string(t.state)
				response.TransactionStates = append(response.TransactionStates, listed)
			}
		}
	}
	return response
}

// ErrorResponse gives the response to a request about transactional ids that says nothing but an error, in the shape that
// each API has for it. Another request panics.
//
// Source: KafkaApis.handleInitProducerIdRequest and its like, the getErrorResponse of each request.
func ErrorResponse(request kmsg.Request, err *kerr.Error) kmsg.Response {
	response := errorResponse(request, err)
	response.SetVersion(request.GetVersion())
	return response
}

func errorResponse(request kmsg.Request, err *kerr.Error) kmsg.Response {
	code := knownAs(request, err).Code
	switch request := request.(type) {
	case *kmsg.InitProducerIDRequest:
		response := kmsg.NewPtrInitProducerIDResponse()
		response.ErrorCode, response.ProducerID, response.ProducerEpoch = code, int64(noProducerID), int16(noEpoch)
		return response
	case *kmsg.AddPartitionsToTxnRequest:
		var codes [][]int16
		for _, t := range transactionsOf(request) {
			codes = append(codes, same(knownAs(request, err), len(partitionsOf(&t))))
		}
		return additionResponse(request, codes)
	case *kmsg.AddOffsetsToTxnRequest:
		response := kmsg.NewPtrAddOffsetsToTxnResponse()
		response.ErrorCode = code
		return response
	case *kmsg.EndTxnRequest:
		response := kmsg.NewPtrEndTxnResponse()
		response.ErrorCode, response.ProducerID, response.ProducerEpoch = code, int64(noProducerID), int16(noEpoch)
		return response
	case *kmsg.DescribeTransactionsRequest:
		response := kmsg.NewPtrDescribeTransactionsResponse()
		for _, id := range request.TransactionalIDs {
			answer := kmsg.NewDescribeTransactionsResponseTransactionState()
			answer.TransactionalID, answer.ErrorCode = id, code
			response.TransactionStates = append(response.TransactionStates, answer)
		}
		return response
	case *kmsg.ListTransactionsRequest:
		response := kmsg.NewPtrListTransactionsResponse()
		response.ErrorCode = code
		return response
	}
	panic(fmt.Sprintf("txn: %s is not for a transaction coordinator", kmsg.NameForKey(request.Key())))
}

// knownAs gives an error as a request's version knows it: older producers do not know PRODUCER_FENCED.
func knownAs(request kmsg.Request, err *kerr.Error) *kerr.Error {
	since := int16(0)
	switch request.(type) {
	case *kmsg.InitProducerIDRequest:
		since = 4
	case *kmsg.AddPartitionsToTxnRequest, *kmsg.AddOffsetsToTxnRequest, *kmsg.EndTxnRequest:
		since = 2
	}
	if err == kerr.ProducerFenced && request.GetVersion() < since {
		return kerr.InvalidProducerEpoch
	}
	return err
}

// idIn gives the transactional id that a request names; empty: none, or several.
func idIn(request kmsg.Request) string {
	switch request := request.(type) {
	case *kmsg.InitProducerIDRequest:
		if request.TransactionalID != nil {
			return *request.TransactionalID
		}
	case *kmsg.AddPartitionsToTxnRequest:
		if list := transactionsOf(request); len(list) == 1 {
			return list[0].TransactionalID
		}
	case *kmsg.AddOffsetsToTxnRequest:
		return request.TransactionalID
	case *kmsg.EndTxnRequest:
		return request.TransactionalID
	case *kmsg.DescribeTransactionsRequest:
		if len(request.TransactionalIDs) == 1 {
			return request.TransactionalIDs[0]
		}
	}
	return ""
}
