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
	if at, any := p.connections.nextTimeout(); any && at == due {
		parts = append(parts, fmt.Sprintf("a request has waited request.timeout.ms = %s for its answer and the connection is closed", kafka.Thousands(p.config.RequestTimeout)))
	}
	if at, any := p.metadata.nextDue(&p.connections); any && at == due {
		parts = append(parts, p.metadata.does())
	}
	if at, any := p.identityDue(); any && at == due {
		parts = append(parts, "asks for a producer id")
	}
	if at, any := p.relayDue(); any && at == due {
		parts = append(parts, "the relay looks into the outbox table")
	}
	if at, any := p.txn.due(); any && at == due {
		parts = append(parts, p.txnDoes())
	}
	if p.handsIn() && p.nextSend == due {
		parts = append(parts, fmt.Sprintf("the application hands in %s", kafka.Count(p.workload.Rate, "record")))
	}
	if drains := p.drainsAt(due); drains != "" {
		parts = append(parts, drains)
	}
	if at, any := p.nextExpiry(); any && at == due {
		parts = append(parts, fmt.Sprintf("a batch has waited delivery.timeout.ms = %s and is given up", kafka.Thousands(p.config.DeliveryTimeout)))
	}
	return due, strings.Join(parts, "; "), ok
}

// drainsAt says which batch goes out at a time, in words; empty: none does.
func (p *Producer) drainsAt(due kafka.Millis) string {
	for i := range p.queues {
		q := &p.queues[i]
		node := p.metadata.first().leaders[i].node
		at, any := p.drainDue(node)
		ready, waits := p.readyAt(q)
		switch {
		case !any || at != due || !waits || ready > due:
		case q.batches[0].attempts > 0:
			return fmt.Sprintf("the batch of %s is tried again", p.name(i))
		default:
			return fmt.Sprintf("the batch of %s has waited linger.ms = %d or is full and goes out", p.name(i), p.config.Linger)
		}
	}
	return ""
}

// NextTimer is when the consumer's next timer fires and what it then does, in words; ok is false when
// none is set.
func (c *Consumer) NextTimer() (due kafka.Millis, does string, ok bool) {
	due, ok = c.NextDue()
	if len(c.buffered) > 0 && c.nextPoll == due {
		return due, fmt.Sprintf("the application polls: up to max.poll.records = %d", c.config.MaxPollRecords), ok
	}
	if at, any := c.connections.nextTimeout(); any && at == due {
		return due, fmt.Sprintf("a request has waited request.timeout.ms = %s for its answer and the connection is closed", kafka.Thousands(c.config.RequestTimeout)), ok
	}
	if at, any := c.metadata.nextDue(&c.connections); any && at == due {
		return due, c.metadata.does(), ok
	}
	if does := c.memberDoes(due); does != "" {
		return due, does, ok
	}
	return due, "asks a broker again that it could not reach or that refused", ok
}

// does says why the client asks for metadata, in words.
func (m *metadata) does() string {
	switch {
	case !m.known:
		return "asks for metadata"
	case m.wanted:
		return fmt.Sprintf("asks for metadata: it does not know the leader of a partition, and retry.backoff.ms = %d have passed", m.next()-m.refreshed)
	}
	return fmt.Sprintf("asks for metadata again: it is metadata.max.age.ms = %s old", kafka.Thousands(m.maxAge))
}
