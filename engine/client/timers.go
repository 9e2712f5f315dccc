package client

import (
	"fmt"
	"strings"

	"loglab/engine/kafka"
)

// NextTimer is when the producer's next timer fires and what it then does, in words; ok is false when
// none is set.
func (p *Producer) NextTimer() (due kafka.Millis, does string, ok bool) {
	due, ok = p.NextDue()
	var parts []string
	if p.metadata.firesAt(due) {
		parts = append(parts, p.metadata.does())
	}
	if p.sending && p.workload.Rate > 0 && p.nextSend == due {
		parts = append(parts, fmt.Sprintf("the application hands in %s", kafka.Count(p.workload.Rate, "record")))
	}
	for i, q := range p.queues {
		if at, any := q.readyAt(p.config); any && at == due && len(p.inFlight) < p.config.MaxInFlight {
			parts = append(parts, fmt.Sprintf("the batch of %s-%d has waited linger.ms = %d or is full and goes out", p.config.Topic, i, p.config.Linger))
			break
		}
	}
	return due, strings.Join(parts, "; "), ok
}

// NextTimer is when the consumer's next timer fires and what it then does, in words; ok is false when
// none is set.
func (c *Consumer) NextTimer() (due kafka.Millis, does string, ok bool) {
	due, ok = c.NextDue()
	if len(c.buffered) > 0 && c.nextPoll == due {
		return due, fmt.Sprintf("the application polls: up to max.poll.records = %d", c.config.MaxPollRecords), ok
	}
	return due, c.metadata.does(), ok
}

func (m *metadata) firesAt(due kafka.Millis) bool { return !m.waiting && m.next == due }

func (m *metadata) does() string {
	switch {
	case m.next == atOnce:
		return "asks for metadata"
	case m.next < m.answered+m.maxAge:
		return fmt.Sprintf("asks for metadata: it does not know the leader of a partition, and retry.backoff.ms = %d have passed", retryBackoff)
	}
	return fmt.Sprintf("asks for metadata again: it is metadata.max.age.ms = %s old", kafka.Thousands(m.maxAge))
}
