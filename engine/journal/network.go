package journal

import (
	"fmt"

	"loglab/engine/kafka"
)

// MessageSent says that a request or a response was put on the network.
type MessageSent struct {
	Message     uint64       `json:"message"` // number of the message in the run, from 1
	To          kafka.NodeID `json:"to"`
	API         string       `json:"api"`
	Version     int16        `json:"version"`
	Correlation int32        `json:"correlation_id"`
	Response    bool         `json:"response"`
	Arrives     kafka.Millis `json:"arrives_in_ms"`
}

// Kind gives the kind's name.
func (MessageSent) Kind() string { return "MessageSent" }

// Text gives the envelope.
func (b MessageSent) Text() string {
	return fmt.Sprintf("m%d →%s %s v%d %s %d", b.Message, b.To, b.API, b.Version, direction(b.Response), b.Correlation)
}

// Sentence says what is on its way.
func (b MessageSent) Sentence() string {
	return fmt.Sprintf("Sent a %s %s (version %d, correlation id %d) to %s; it arrives in %s ms.",
		b.API, direction(b.Response), b.Version, b.Correlation, b.To, kafka.Thousands(b.Arrives))
}

// MessageDelivered says that a message arrived.
type MessageDelivered struct {
	Message  uint64       `json:"message"`
	From     kafka.NodeID `json:"from"`
	API      string       `json:"api"`
	Response bool         `json:"response"`
	Held     bool         `json:"held"` // it had waited for a paused process
}

// Kind gives the kind's name.
func (MessageDelivered) Kind() string { return "MessageDelivered" }

// Text gives the envelope.
func (b MessageDelivered) Text() string {
	s := fmt.Sprintf("m%d %s→ %s %s", b.Message, b.From, b.API, direction(b.Response))
	if b.Held {
		s += " held"
	}
	return s
}

// Sentence says what came in.
func (b MessageDelivered) Sentence() string {
	s := fmt.Sprintf("A %s %s from %s was taken in", b.API, direction(b.Response), b.From)
	if b.Held {
		return s + ", after it had waited for the paused process."
	}
	return s + "."
}

// direction names what a message is.
func direction(response bool) string {
	if response {
		return "response"
	}
	return "request"
}
