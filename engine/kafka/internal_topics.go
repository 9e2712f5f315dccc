package kafka

// The topics that coordinators keep what they know in.
//
// Source: org.apache.kafka.common.internals.Topic.
const (
	OffsetsTopic      = "__consumer_offsets"  // of the group coordinators
	TransactionsTopic = "__transaction_state" // of the transaction coordinators
)

// IsInternal says whether a topic is one of the coordinators'.
func IsInternal(topic string) bool { return topic == OffsetsTopic || topic == TransactionsTopic }
