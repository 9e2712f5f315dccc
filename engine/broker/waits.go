package broker

import (
	"fmt"

	"loglab/engine/kafka"
)

// NextTimer is when the broker's next timer fires and what it then does, in words; ok is false when none
// is set.
func (b *Broker) NextTimer() (due kafka.Millis, does string, ok bool) {
	due, ok = b.NextDue()
	if !ok {
		return 0, "", false
	}
	for i := range b.parkedFetches {
		if p := &b.parkedFetches[i]; p.deadline == due {
			return due, p.does(), true
		}
	}
	for _, p := range b.parkedProduces {
		if p.deadline == due {
			return due, fmt.Sprintf("answers the write of %s with REQUEST_TIMED_OUT", p.message.From), true
		}
	}
	for _, p := range b.parkedDeletes {
		if p.deadline == due {
			return due, fmt.Sprintf("answers the DeleteRecords of %s with REQUEST_TIMED_OUT", p.message.From), true
		}
	}
	for i := range b.coordinators {
		if at, ok := b.coordinators[i].machine().NextDue(); ok && at == due {
			return due, fmt.Sprintf("lets a timer of the coordinator of %s fire", b.coordinators[i].tp), true
		}
	}
	for _, p := range b.parkedMarkers {
		if p.deadline == due {
			return due, fmt.Sprintf("answers the WriteTxnMarkers of %s with REQUEST_TIMED_OUT", p.message.From), true
		}
	}
	if c := b.callWith(func(c *call) bool { return c.deadline == due }); c != nil {
		return due, fmt.Sprintf("gives up waiting for the answer of %s to its %s request", c.to, c.api), true
	}
	switch due {
	case b.writesDue():
		return due, "its slow disk has done a write", true
	case b.lifecycle.next:
		if b.epoch == -1 {
			return due, "registers with the controller again", true
		}
		return due, fmt.Sprintf("sends a heartbeat: broker.heartbeat.interval.ms = %s", kafka.Thousands(b.config.HeartbeatInterval)), true
	case b.lifecycle.giveUp:
		return due, "stops without the controller's word", true
	case b.shrink:
		return due, fmt.Sprintf("looks for replicas that have not been caught up for replica.lag.time.max.ms = %s", kafka.Thousands(b.config.ReplicaLagTimeMax)), true
	case b.recoveryDue():
		return due, "has recovered its logs and opens them", true
	case b.upkeep.retention:
		return due, fmt.Sprintf("looks for old segments: log.retention.check.interval.ms = %s", kafka.Thousands(b.config.RetentionCheckInterval)), true
	case b.upkeep.cleaner:
		return due, fmt.Sprintf("its cleaner looks at the compacted logs: log.cleaner.backoff.ms = %s", kafka.Thousands(b.config.CleanerBackoff)), true
	case b.upkeep.removal:
		return due, "removes .deleted files: their file.delete.delay.ms is over", true
	case b.expire:
		return due, "forgets producers that have been silent for producer.id.expiration.ms", true
	case b.checkpoint:
		return due, fmt.Sprintf("writes its high watermarks to disk: replica.high.watermark.checkpoint.interval.ms = %s", kafka.Thousands(b.config.CheckpointInterval)), true
	}
	return due, "asks again after a back-off", true
}
