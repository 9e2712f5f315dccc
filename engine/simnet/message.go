package simnet

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/kafka"
)

// Send is what a node wants sent. Exactly one of Request and Response is set.
type Send struct {
	To          kafka.NodeID
	Request     kmsg.Request
	Response    kmsg.Response
	Correlation int32  // pairs a response with its request on a connection
	Cause       uint64 // Seq of the event that led to it
}

// Message is a request or a response on its way or delivered. It is never written after it was sent.
type Message struct {
	ID          uint64 // its number in the run, from 1
	From, To    kafka.NodeID
	Request     kmsg.Request  // nil in a response
	Response    kmsg.Response // nil in a request
	Correlation int32
	SentAt      kafka.Millis
	DueAt       kafka.Millis // when it arrives
	Sent        uint64       // Seq of the event that says it was sent
	link        int
}

// API names the Kafka API, for example "Produce".
func (m *Message) API() string { return kmsg.NameForKey(m.key()) }

// IsResponse says whether it is an answer.
func (m *Message) IsResponse() bool { return m.Response != nil }

// Version is the API version.
func (m *Message) Version() int16 {
	if m.Response != nil {
		return m.Response.GetVersion()
	}
	return m.Request.GetVersion()
}

func (m *Message) key() int16 {
	if m.Response != nil {
		return m.Response.Key()
	}
	return m.Request.Key()
}

// Body gives the message's bytes as Kafka's protocol writes them, without the size and header in front.
// It is encoded anew at each call.
func (m *Message) Body() []byte {
	if m.Response != nil {
		return m.Response.AppendTo(nil)
	}
	return m.Request.AppendTo(nil)
}
