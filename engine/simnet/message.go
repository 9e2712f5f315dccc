package simnet

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/kafka"
)

// Send is what a node wants done on the network: a request or a response sent, of which exactly one is set,
// or a connection closed.
type Send struct {
	To          kafka.NodeID
	Request     kmsg.Request
	Response    kmsg.Response
	Correlation int32  // pairs a response with its request on a connection
	Connection  uint32 // of a response: its request's [Message.Connection]
	Close       Close
	Cause       uint64 // Seq of the event that led to it
}

// Close says which connection between two nodes a node closes.
type Close uint8

// The ways to close.
const (
	KeepOpen   Close = iota // nothing is closed: a message is sent
	CloseOwn                // the connection that this node opened to the other, as a client does after a time-out
	CloseTheir              // the connection that the other node opened to this one, as a server does instead of an answer
)

// Message is a request or a response on its way or delivered, or the news that a connection is closed. It
// is never written after it was sent.
type Message struct {
	ID          uint64 // its number in the run, from 1
	From, To    kafka.NodeID
	Request     kmsg.Request  // nil in a response
	Response    kmsg.Response // nil in a request
	Correlation int32
	Connection  uint32 // which of the connections that the client has had to the server, from 1
	SentAt      kafka.Millis
	DueAt       kafka.Millis // when it arrives
	Sent        uint64       // Seq of the event that says it was sent
	link        int
}

// Reset is what API gives of the news that a connection is closed.
const Reset = "connection closed"

// API names the Kafka API, for example "Produce".
func (m *Message) API() string {
	if m.IsReset() {
		return Reset
	}
	return kmsg.NameForKey(m.key())
}

// IsResponse says whether it is an answer.
func (m *Message) IsResponse() bool { return m.Response != nil }

// IsReset says whether it tells a client that the server has closed the connection, or cannot be connected to.
func (m *Message) IsReset() bool { return m.Request == nil && m.Response == nil }

// Version is the API version; 0 of a reset.
func (m *Message) Version() int16 {
	switch {
	case m.Response != nil:
		return m.Response.GetVersion()
	case m.Request != nil:
		return m.Request.GetVersion()
	}
	return 0
}

func (m *Message) key() int16 {
	if m.Response != nil {
		return m.Response.Key()
	}
	return m.Request.Key()
}

// Body gives the message's bytes as Kafka's protocol writes them, without the size and header in front.
// It is encoded anew at each call. A reset has none.
func (m *Message) Body() []byte {
	switch {
	case m.Response != nil:
		return m.Response.AppendTo(nil)
	case m.Request != nil:
		return m.Request.AppendTo(nil)
	}
	return nil
}
