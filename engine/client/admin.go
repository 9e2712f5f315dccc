package client

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// createPartitionsVersion is the newest version of Kafka 4.2.
const createPartitionsVersion = 3

// Admin is the client behind kafka-topics and its like: it sends what a person asks for and tells how it
// was answered.
type Admin struct {
	node        kafka.NodeID
	broker      kafka.NodeID
	timeout     kafka.Millis // the smaller of request.timeout.ms and default.api.timeout.ms
	correlation int32
}

// NewAdmin makes an admin client that talks to one broker.
func NewAdmin(node, broker kafka.NodeID) *Admin {
	return &Admin{node: node, broker: broker, timeout: 30000}
}

// Node gives the client's name on the network.
func (a *Admin) Node() kafka.NodeID { return a.node }

// CreatePartitions asks for a topic to have count partitions in all.
func (a *Admin) CreatePartitions(topic string, count int, cause uint64) simnet.Send {
	request := kmsg.NewPtrCreatePartitionsRequest()
	request.Version, request.TimeoutMillis = createPartitionsVersion, int32(a.timeout)
	rt := kmsg.NewCreatePartitionsRequestTopic()
	rt.Topic, rt.Count = topic, int32(count)
	request.Topics = append(request.Topics, rt)
	a.correlation++
	return simnet.Send{To: a.broker, Request: request, Correlation: a.correlation, Cause: cause}
}

// Receive handles one response.
func (a *Admin) Receive(m *simnet.Message, cause uint64, j *journal.Journal) {
	response, ok := m.Response.(*kmsg.CreatePartitionsResponse)
	if !ok {
		panic(fmt.Sprintf("admin %s: no handler for %s", a.node, m.API()))
	}
	for _, result := range response.Topics {
		if result.ErrorCode == 0 {
			continue
		}
		event := journal.RequestRefused{API: m.API(), Error: kerr.TypedErrorForCode(result.ErrorCode).Message}
		if result.ErrorMessage != nil {
			event.Why = *result.ErrorMessage
		}
		j.Append(a.node, cause, event)
	}
}

// Clone gives an admin client in the same state.
func (a *Admin) Clone() *Admin {
	c := *a
	return &c
}
