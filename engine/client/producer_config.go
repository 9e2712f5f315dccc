package client

import (
	"fmt"
	"math"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// ProducerConfig holds a producer's settings under Kafka's names.
type ProducerConfig struct {
	Topic             string
	Partitioner       string       // of keyed records; a name of partitioner.Names
	Keyless           string       // of records without a key; a name of partitioner.KeylessNames
	AdaptiveKeyless   bool         // partitioner.adaptive.partitioning.enable: sticky draws a partition with a longer queue less often
	Linger            kafka.Millis // linger.ms
	BatchSize         int          // batch.size, bytes
	MaxRequestSize    int          // max.request.size, bytes
	MaxInFlight       int          // max.in.flight.requests.per.connection
	Acks              int16        // -1 is all
	RequestTimeout    kafka.Millis // request.timeout.ms
	Compression       record.Codec // compression.type
	MetadataMaxAge    kafka.Millis // metadata.max.age.ms
	EnableIdempotence Idempotence  // enable.idempotence
	Retries           int          // retries
	RetryBackoff      kafka.Millis // retry.backoff.ms
	RetryBackoffMax   kafka.Millis // retry.backoff.max.ms
	DeliveryTimeout   kafka.Millis // delivery.timeout.ms

	TransactionalID    string       // transactional.id; empty: none
	TransactionTimeout kafka.Millis // transaction.timeout.ms; 0: the default
	// TransactionVersion is the feature transaction.version, 1 or 2; 0: 2.
	//
	// Simplified: the producer knows it from the beginning and it stays. Kafka's brokers tell it, and a producer takes a
	// new version over at the end of a transaction.
	TransactionVersion int
}

// Idempotence is the setting enable.idempotence, which Kafka treats otherwise when it is not set than when it
// is set to its default.
type Idempotence uint8

// The values of the setting.
const (
	IdempotenceUnset Idempotence = iota // on, unless other settings rule it out
	IdempotenceOn
	IdempotenceOff
)

// defaultDeliveryTimeout is the default of delivery.timeout.ms. A value that equals it counts as not set.
const defaultDeliveryTimeout kafka.Millis = 120000

// defaultTransactionTimeout is the default of transaction.timeout.ms.
const defaultTransactionTimeout kafka.Millis = 60000

// maxInFlightForIdempotence is how many batches of a producer id a leader remembers.
const maxInFlightForIdempotence = 5

// DefaultProducerConfig gives the defaults of Kafka 4.2.
//
// Source: class ProducerConfig.
func DefaultProducerConfig(topic string) ProducerConfig {
	return ProducerConfig{
		Topic: topic, Partitioner: "murmur2", Keyless: "sticky", AdaptiveKeyless: true, Linger: 5, BatchSize: 16384,
		MaxRequestSize: 1 << 20, MaxInFlight: 5, Acks: -1, RequestTimeout: 30000, MetadataMaxAge: 300000,
		Retries: math.MaxInt32, RetryBackoff: retryBackoff, RetryBackoffMax: retryBackoffMax, DeliveryTimeout: defaultDeliveryTimeout,
		TransactionTimeout: defaultTransactionTimeout, TransactionVersion: 2,
	}
}

// Resolve gives the settings that hold: EnableIdempotence is on or off, and delivery.timeout.ms is not below
// linger.ms + request.timeout.ms. Idempotence that was not asked for is turned off without a word by acks
// other than all and by retries = 0; more than five requests in flight are an error in any case. The errors
// are those for which Kafka's producer does not start.
//
// Source: ProducerConfig.postProcessAndValidateIdempotenceConfigs, validate; KafkaProducer.configureDeliveryTimeout.
func (c ProducerConfig) Resolve() (ProducerConfig, error) {
	asked := c.EnableIdempotence == IdempotenceOn
	if c.EnableIdempotence != IdempotenceOff {
		c.EnableIdempotence = IdempotenceOn
		if c.Retries == 0 {
			if asked {
				return c, fmt.Errorf("retries = 0: an idempotent producer must be able to retry")
			}
			c.EnableIdempotence = IdempotenceOff
		}
		if c.Acks != -1 {
			if asked {
				return c, fmt.Errorf("acks = %d: an idempotent producer needs acks = all", c.Acks)
			}
			c.EnableIdempotence = IdempotenceOff
		}
		if c.MaxInFlight > maxInFlightForIdempotence {
			return c, fmt.Errorf("max.in.flight.requests.per.connection = %d: an idempotent producer may have at most %d; set enable.idempotence = false for more", c.MaxInFlight, maxInFlightForIdempotence)
		}
	}
	if c.transactional() {
		if c.TransactionTimeout == 0 {
			c.TransactionTimeout = defaultTransactionTimeout
		}
		if c.TransactionVersion == 0 {
			c.TransactionVersion = 2
		}
		switch {
		case !c.idempotent():
			return c, fmt.Errorf("transactional.id = %q: a transactional producer needs enable.idempotence = true, and so acks = all and retries above 0", c.TransactionalID)
		case c.TransactionVersion != 1 && c.TransactionVersion != 2:
			return c, fmt.Errorf("transaction.version = %d; it is 1 or 2", c.TransactionVersion)
		case c.TransactionTimeout < 1:
			return c, fmt.Errorf("transaction.timeout.ms = %d; it must be at least 1", c.TransactionTimeout)
		}
	}
	if c.MaxInFlight < 1 {
		return c, fmt.Errorf("max.in.flight.requests.per.connection = %d; it must be at least 1", c.MaxInFlight)
	}
	if least := c.Linger + c.RequestTimeout; c.DeliveryTimeout < least {
		if c.DeliveryTimeout != defaultDeliveryTimeout {
			return c, fmt.Errorf("delivery.timeout.ms = %d; it must be at least linger.ms + request.timeout.ms = %d", c.DeliveryTimeout, least)
		}
		c.DeliveryTimeout = least
	}
	return c, nil
}

// batchOptions gives what batches are built with.
func (c *ProducerConfig) batchOptions() record.Options {
	return record.Options{Codec: c.Compression, Transactional: c.transactional()}
}

// idempotent says whether batches carry sequences.
func (c *ProducerConfig) idempotent() bool { return c.EnableIdempotence == IdempotenceOn }
