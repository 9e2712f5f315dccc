package broker

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/simnet"
)

// errand is a request that goes to coordinators in parts, or not as it came: because it names many groups, topics by
// their ids, or partitions that do not exist. Its answer is made of theirs.
type errand struct {
	message *simnet.Message // as it came
	parts   []part          // in the order of the request; never written once they are sent
	answers []kmsg.Response // of the parts; nil: not yet there
	refused []refusedCommit // partitions that are in no part
	cause   uint64          // Seq of the event that the answer goes back to
}

// part is what one coordinator gets of a request.
type part struct {
	key         string // the group that it is about, or the transactional.id
	transaction bool   // it is about a transactional.id
	message     *simnet.Message
	unknown     []kmsg.OffsetFetchRequestGroupTopic // left out of it: their ids are not known
}

// send hands the parts of a request to their coordinators. Without any, the request is answered at once.
func (b *Broker) send(t *turn, e errand, parts []part) {
	e.parts, e.answers = parts, make([]kmsg.Response, len(parts))
	if len(parts) == 0 {
		t.answer(e.message, b.joined(e), e.cause)
		return
	}
	b.errands = append(b.errands, e)
	for _, p := range parts {
		if p.transaction {
			b.coordinateTransaction(t, p.message, p.key, e.cause)
			continue
		}
		b.coordinate(t, p.message, p.key, e.cause)
	}
}

// answerFor sends a coordinator's answer, or keeps it until those to the other parts of the request are there.
func (b *Broker) answerFor(t *turn, m *simnet.Message, response kmsg.Response, cause uint64) {
	for i := range b.errands {
		e := &b.errands[i]
		at := slices.IndexFunc(e.parts, func(p part) bool { return p.message == m })
		if at < 0 {
			continue
		}
		e.answers[at], e.cause = response, max(e.cause, cause)
		if !slices.Contains(e.answers, nil) {
			done := *e
			b.errands = slices.Delete(b.errands, i, i+1)
			t.answer(done.message, b.joined(done), done.cause)
		}
		return
	}
	t.answer(m, response, cause)
}

// joined makes one answer of the broker's own and those to the parts.
func (b *Broker) joined(e errand) kmsg.Response {
	switch request := e.message.Request.(type) {
	case *kmsg.DescribeGroupsRequest:
		response := request.ResponseKind().(*kmsg.DescribeGroupsResponse)
		for _, a := range e.answers {
			response.Groups = append(response.Groups, a.(*kmsg.DescribeGroupsResponse).Groups...)
		}
		return response
	case *kmsg.ConsumerGroupDescribeRequest:
		response := request.ResponseKind().(*kmsg.ConsumerGroupDescribeResponse)
		for _, a := range e.answers {
			response.Groups = append(response.Groups, a.(*kmsg.ConsumerGroupDescribeResponse).Groups...)
		}
		return response
	case *kmsg.DeleteGroupsRequest:
		response := request.ResponseKind().(*kmsg.DeleteGroupsResponse)
		for _, a := range e.answers {
			response.Groups = append(response.Groups, a.(*kmsg.DeleteGroupsResponse).Groups...)
		}
		return response
	case *kmsg.AddPartitionsToTxnRequest:
		response := request.ResponseKind().(*kmsg.AddPartitionsToTxnResponse)
		for _, a := range e.answers {
			answer := a.(*kmsg.AddPartitionsToTxnResponse)
			response.ErrorCode = max(response.ErrorCode, answer.ErrorCode)
			response.Transactions = append(response.Transactions, answer.Transactions...)
		}
		return response
	case *kmsg.DescribeTransactionsRequest:
		response := request.ResponseKind().(*kmsg.DescribeTransactionsResponse)
		for _, a := range e.answers {
			response.TransactionStates = append(response.TransactionStates, a.(*kmsg.DescribeTransactionsResponse).TransactionStates...)
		}
		return response
	case *kmsg.OffsetCommitRequest:
		return joinedCommit(request, e)
	case *kmsg.OffsetFetchRequest:
		response := request.ResponseKind().(*kmsg.OffsetFetchResponse)
		for i, a := range e.answers {
			for _, fetched := range a.(*kmsg.OffsetFetchResponse).Groups {
				response.Groups = append(response.Groups, b.joinedFetch(request, fetched, e.parts[i]))
			}
		}
		return response
	}
	panic("no request in parts: " + e.message.API())
}
