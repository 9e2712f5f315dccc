package journal

import (
	"fmt"
	"strings"

	"loglab/engine/kafka"
)

// CommandGiven says that a command of the address was carried out.
type CommandGiven struct {
	Command string `json:"command"`
}

// Kind gives the kind's name.
func (CommandGiven) Kind() string { return "CommandGiven" }

// Text gives the command.
func (b CommandGiven) Text() string { return b.Command }

// Sentence says what was asked for.
func (b CommandGiven) Sentence() string { return "You gave the command: " + b.Command + "." }

// CommandRejected says that a command could not apply at its tick. The cluster is as it was.
type CommandRejected struct {
	Command string `json:"command"`
	Why     string `json:"why"`
}

// Kind gives the kind's name.
func (CommandRejected) Kind() string { return "CommandRejected" }

// Text gives the command and the reason.
func (b CommandRejected) Text() string { return b.Command + ": " + b.Why }

// Sentence says why nothing was done.
func (b CommandRejected) Sentence() string {
	return fmt.Sprintf("The command %q could not apply: %s. Nothing was changed.", b.Command, b.Why)
}

// NodePaused says that a process stands still.
type NodePaused struct{}

// Kind gives the kind's name.
func (NodePaused) Kind() string { return "NodePaused" }

// Text is empty: the node says it.
func (NodePaused) Text() string { return "" }

// Sentence says what a pause means.
func (NodePaused) Sentence() string {
	return "The process stands still: no timer fires and nothing is read; what arrives waits."
}

// NodeResumed says that a paused process goes on.
type NodeResumed struct {
	Waiting int `json:"waiting"` // messages that had arrived meanwhile
}

// Kind gives the kind's name.
func (NodeResumed) Kind() string { return "NodeResumed" }

// Text gives the number of waiting messages.
func (b NodeResumed) Text() string { return fmt.Sprintf("waiting=%d", b.Waiting) }

// Sentence says what comes next.
func (b NodeResumed) Sentence() string {
	return "The process goes on and takes " + kafka.Count(b.Waiting, "message") + " that had arrived meanwhile, in order."
}

// TimePassed says that a wait is over.
type TimePassed struct {
	Span kafka.Millis `json:"span_ms"`
}

// Kind gives the kind's name.
func (TimePassed) Kind() string { return "TimePassed" }

// Text gives the span.
func (b TimePassed) Text() string { return fmt.Sprintf("%d ms", b.Span) }

// Sentence gives the span.
func (b TimePassed) Sentence() string {
	return fmt.Sprintf("%s ms passed; all that fell due in them has happened.", kafka.Thousands(b.Span))
}

// RequestRefused says that an administrator's request was answered with an error.
type RequestRefused struct {
	API   string `json:"api"`
	Error string `json:"error"`
	Why   string `json:"why"` // the broker's own words, if it has any
}

// Kind gives the kind's name.
func (RequestRefused) Kind() string { return "RequestRefused" }

// Text gives the error.
func (b RequestRefused) Text() string {
	return strings.TrimSuffix(fmt.Sprintf("%s %s: %s", b.API, b.Error, b.Why), ": ")
}

// Sentence gives the error and the reason.
func (b RequestRefused) Sentence() string {
	if b.Why == "" {
		return fmt.Sprintf("The %s request was answered with %s. Nothing was changed.", b.API, b.Error)
	}
	return fmt.Sprintf("The %s request was answered with %s: %s Nothing was changed.", b.API, b.Error, b.Why)
}
