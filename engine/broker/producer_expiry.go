package broker

import (
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// producerExpirationCheck is producer.id.expiration.check.interval.ms.
const producerExpirationCheck kafka.Millis = 600_000

// expireProducers lets every log forget the producers that have written nothing for producer.id.expiration.ms.
//
// Source: UnifiedLog.removeExpiredProducers, the task PeriodicProducerExpirationCheck.
func (b *Broker) expireProducers(t *turn) {
	for _, r := range b.replicas {
		for _, p := range r.Log.ExpireProducers(b.clock(t.now)) {
			t.note(0, journal.ProducerStateExpired{
				TopicPartition: r.TopicPartition, ProducerID: p.ProducerID, LastSequence: p.LastSequence(),
				Idle: kafka.Millis(b.clock(t.now) - p.LastTimestamp), Expiration: r.Log.Config().ProducerIDExpirationMillis,
			})
		}
	}
}
