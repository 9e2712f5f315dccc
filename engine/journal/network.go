package journal

import (
	"fmt"
	"strings"

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
	return fmt.Sprintf("Sent %s %s (version %d, correlation id %d) to %s; it arrives in %s ms.",
		withArticle("a", b.API), direction(b.Response), b.Version, b.Correlation, b.To, kafka.Thousands(b.Arrives))
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
	s := fmt.Sprintf("%s %s from %s was taken in", withArticle("A", b.API), direction(b.Response), b.From)
	if b.Held {
		return s + ", after it had waited for the paused process."
	}
	return s + "."
}

// withArticle puts "a" or "an" before a name.
func withArticle(article, name string) string {
	if strings.ContainsRune("AEIOU", rune(name[0])) {
		article += "n"
	}
	return article + " " + name
}

// direction names what a message is.
func direction(response bool) string {
	if response {
		return "response"
	}
	return "request"
}

// MessageLost says that a message did not arrive.
type MessageLost struct {
	Message  uint64       `json:"message"`
	From     kafka.NodeID `json:"from"`
	API      string       `json:"api"`
	Response bool         `json:"response"`
	Why      string       `json:"why"`
	ByLink   bool         `json:"by_link"` // a command made the link lose it
}

// Kind gives the kind's name.
func (MessageLost) Kind() string { return "MessageLost" }

// Text gives the envelope and the reason.
func (b MessageLost) Text() string {
	return fmt.Sprintf("m%d %s→ %s %s: %s", b.Message, b.From, b.API, direction(b.Response), b.Why)
}

// Sentence gives the reason.
func (b MessageLost) Sentence() string {
	return fmt.Sprintf("%s %s from %s is lost: %s.", withArticle("A", b.API), direction(b.Response), b.From, b.Why)
}

// MessageHeld says that a message cannot pass a link that is cut.
type MessageHeld struct {
	Message  uint64       `json:"message"`
	To       kafka.NodeID `json:"to"`
	API      string       `json:"api"`
	Response bool         `json:"response"`
}

// Kind gives the kind's name.
func (MessageHeld) Kind() string { return "MessageHeld" }

// Text gives the envelope.
func (b MessageHeld) Text() string {
	return fmt.Sprintf("m%d →%s %s %s", b.Message, b.To, b.API, direction(b.Response))
}

// Sentence says what the network does.
func (b MessageHeld) Sentence() string {
	return fmt.Sprintf("%s %s to %s waits: the link is cut. TCP sends it again when the link is healed, unless the connection is closed before.", withArticle("A", b.API), direction(b.Response), b.To)
}

// ConnectionReset says that a node's connection to a server is gone, or the server does not listen.
type ConnectionReset struct {
	Server kafka.NodeID `json:"server"`
}

// Kind gives the kind's name.
func (ConnectionReset) Kind() string { return "ConnectionReset" }

// Text gives the server.
func (b ConnectionReset) Text() string { return string(b.Server) }

// Sentence says what is lost with it.
func (b ConnectionReset) Sentence() string {
	return fmt.Sprintf("The connection to %s is closed: what was asked on it gets no answer.", b.Server)
}

// LinkChanged says that a link was cut, healed, delayed, or is to lose or double its next message.
type LinkChanged struct {
	From   kafka.NodeID `json:"from"`
	To     kafka.NodeID `json:"to"`
	Cut    bool         `json:"cut"`
	Delay  kafka.Millis `json:"delay_ms"`
	Drop   int          `json:"drop_next"`
	Double int          `json:"double_next"`
}

// Kind gives the kind's name.
func (LinkChanged) Kind() string { return "LinkChanged" }

// Text gives what holds for the link.
func (b LinkChanged) Text() string {
	return fmt.Sprintf("%s→%s cut=%t delay=%d drop=%d double=%d", b.From, b.To, b.Cut, b.Delay, b.Drop, b.Double)
}

// Sentence gives what holds for the link.
func (b LinkChanged) Sentence() string {
	way := fmt.Sprintf("The link from %s to %s", b.From, b.To)
	switch {
	case b.Cut:
		return way + " is cut: nothing passes."
	case b.Drop > 0:
		return fmt.Sprintf("%s loses the next %s to arrive, and the connection with it.", way, kafka.Count(b.Drop, "message"))
	case b.Double > 0:
		return fmt.Sprintf("%s delivers the next %s to arrive twice.", way, kafka.Count(b.Double, "message"))
	case b.Delay > 0:
		return fmt.Sprintf("%s takes %s ms more.", way, kafka.Thousands(b.Delay))
	}
	return way + " is whole."
}
