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
	switch {
	case !ok:
		return 0, "", false
	case !p.asked:
		return due, "asks for metadata", true
	}
	var parts []string
	if p.begun && p.nextSend == due {
		parts = append(parts, fmt.Sprintf("the application hands in %s", kafka.Count(p.workload.Rate, "record")))
	}
	for i, q := range p.queues {
		if at, any := q.readyAt(p.config); any && at == due && len(p.inFlight) < p.config.MaxInFlight {
			parts = append(parts, fmt.Sprintf("the batch of %s-%d has waited linger.ms = %d or is full and goes out", p.config.Topic, i, p.config.Linger))
			break
		}
	}
	return due, strings.Join(parts, "; "), true
}

// NextTimer is when the consumer's next timer fires and what it then does, in words; ok is false when
// none is set.
func (c *Consumer) NextTimer() (due kafka.Millis, does string, ok bool) {
	due, ok = c.NextDue()
	return due, "asks for metadata", ok
}
