package journal

import (
	"fmt"

	"loglab/engine/kafka"
)

// OutboxWritten says that an application has written events into its database, and a row for each into the outbox table,
// in one database transaction.
type OutboxWritten struct {
	Rows int `json:"rows"`
	Open int `json:"open"` // rows that are not marked as published, these included
}

// Kind gives the kind's name.
func (OutboxWritten) Kind() string { return "OutboxWritten" }

// Text gives the counts.
func (b OutboxWritten) Text() string { return fmt.Sprintf("rows=%d open=%d", b.Rows, b.Open) }

// Sentence says what cannot be lost.
func (b OutboxWritten) Sentence() string {
	return fmt.Sprintf("The application writes %s into its database and %s into the outbox table, in one database transaction: there is never one without the other. %s %s to be published.",
		kafka.Count(b.Rows, "event"), kafka.Count(b.Rows, "row"), kafka.Count(b.Open, "row"), byCount(b.Open, "waits", "wait"))
}

// OutboxRelayed says that a relay has handed rows of an outbox table to its producer.
type OutboxRelayed struct {
	Rows  int `json:"rows"`
	Again int `json:"again"` // those of them that were handed to a producer before
}

// Kind gives the kind's name.
func (OutboxRelayed) Kind() string { return "OutboxRelayed" }

// Text gives the counts.
func (b OutboxRelayed) Text() string { return fmt.Sprintf("rows=%d again=%d", b.Rows, b.Again) }

// Sentence says why rows come again.
func (b OutboxRelayed) Sentence() string {
	s := fmt.Sprintf("The relay reads %s of the outbox table that %s not marked as published and hands %s to its producer.", kafka.Count(b.Rows, "row"), are(b.Rows), byCount(b.Rows, "it", "them"))
	if b.Again > 0 {
		s += fmt.Sprintf(" %s of them it had handed over before: it cannot know whether they are in the log.", kafka.Thousands(b.Again))
	}
	return s
}

// OutboxMarked says that a relay has marked rows of an outbox table as published.
type OutboxMarked struct {
	Rows int `json:"rows"`
	Open int `json:"open"` // rows that are not marked
}

// Kind gives the kind's name.
func (OutboxMarked) Kind() string { return "OutboxMarked" }

// Text gives the counts.
func (b OutboxMarked) Text() string { return fmt.Sprintf("rows=%d open=%d", b.Rows, b.Open) }

// Sentence says when a row is marked.
func (b OutboxMarked) Sentence() string {
	return fmt.Sprintf("The relay marks %s as published, after the acknowledgement. A crash before that would have published %s again. %s %s.",
		kafka.Count(b.Rows, "row"), byCount(b.Rows, "it", "them"), kafka.Count(b.Open, "row"), byCount(b.Open, "remains", "remain"))
}
