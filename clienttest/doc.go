// Package clienttest lets real clients of Kafka talk to a test: to them it is a broker. It frames requests and responses as
// the protocol does, decodes and encodes them by package kmsg, and knows nothing of what they ask for: what they are
// answered is the test's. It leaves out authentication and tagged fields. Only tests import it.
//
//	address := clienttest.Serve(t, func(request kmsg.Request) kmsg.Response {
//		response := request.ResponseKind()
//		if r, ok := response.(*kmsg.FetchResponse); ok {
//			r.Topics = topics
//		}
//		return response
//	})
//	broker := sarama.NewBroker(address.String())
package clienttest
