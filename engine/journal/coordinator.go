package journal

import (
	"fmt"

	"loglab/engine/kafka"
)

// CoordinatorNotFound says that a broker could not name the coordinator of a group or of transactions.
type CoordinatorNotFound struct {
	Group         string `json:"group"` // or the transactional.id
	Transactional bool   `json:"transactional,omitempty"`
	Error         string `json:"error"`
	Why           string `json:"why"`
}

// Kind gives the kind's name.
func (CoordinatorNotFound) Kind() string { return "CoordinatorNotFound" }

// Text gives group, error and reason.
func (b CoordinatorNotFound) Text() string { return fmt.Sprintf("%s %s: %s", b.Group, b.Error, b.Why) }

// Sentence gives the answer and the reason.
func (b CoordinatorNotFound) Sentence() string {
	return fmt.Sprintf("FindCoordinator of %s is answered with %s: %s. The client asks again after retry.backoff.ms.", keyOf(b.Transactional, b.Group), b.Error, b.Why)
}

// keyOf names what a coordinator is for.
func keyOf(transactional bool, id string) string {
	if transactional {
		return "transactional.id " + id
	}
	return "group " + id
}

// OffsetsTopicRefused says that the controller did not create a topic of coordinators.
type OffsetsTopicRefused struct {
	Topic             string `json:"topic"`
	ReplicationFactor int    `json:"replication_factor"`
	Error             string `json:"error"`
	Message           string `json:"message"`
}

// Kind gives the kind's name.
func (OffsetsTopicRefused) Kind() string { return "OffsetsTopicRefused" }

// Text gives topic and error.
func (b OffsetsTopicRefused) Text() string {
	text := fmt.Sprintf("%s replication.factor=%d %s", b.Topic, b.ReplicationFactor, b.Error)
	if b.Message != "" {
		text += ": " + b.Message
	}
	return text
}

// Sentence gives the error and what follows from it.
func (b OffsetsTopicRefused) Sentence() string {
	switch b.Error {
	case "INVALID_REPLICATION_FACTOR":
		setting, who := "offsets.topic.replication.factor", "group"
		if b.Topic == kafka.TransactionsTopic {
			setting, who = "transaction.state.log.replication.factor", "transaction"
		}
		return fmt.Sprintf("The controller did not create %s with %s = %d. %s Until it can be created no %s has a coordinator.", b.Topic, setting, b.ReplicationFactor, b.Message, who)
	case "TOPIC_ALREADY_EXISTS":
		return fmt.Sprintf("The controller did not create %s: another broker had asked for it before. This broker has still to read that in the metadata log.", b.Topic)
	}
	return fmt.Sprintf("The controller did not create %s: %s. The next FindCoordinator asks for it again.", b.Topic, b.Error)
}

// CoordinatorElected says that a broker coordinates the groups of a partition of __consumer_offsets from now on.
type CoordinatorElected struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	LeaderEpoch    kafka.LeaderEpoch    `json:"leader_epoch"`
	Records        int                  `json:"records"` // that it reads first
	LogEndOffset   kafka.Offset         `json:"log_end_offset"`
}

// Kind gives the kind's name.
func (CoordinatorElected) Kind() string { return "CoordinatorElected" }

// Text gives partition, epoch and what is read.
func (b CoordinatorElected) Text() string {
	return fmt.Sprintf("%s epoch=%d records=%d leo=%d", b.TopicPartition, b.LeaderEpoch, b.Records, b.LogEndOffset)
}

// Sentence gives the rule and what is read.
func (b CoordinatorElected) Sentence() string {
	whose, knows := "groups whose id", "groups and offsets"
	if b.TopicPartition.Topic == kafka.TransactionsTopic {
		whose, knows = "transactions whose transactional.id", "transactions"
	}
	s := fmt.Sprintf("The leader of %s is the coordinator of the %s hashes to it: since leader epoch %d that is this broker.", b.TopicPartition, whose, b.LeaderEpoch)
	if b.Records == 0 && knows == "transactions" {
		return s + " The log is empty: it knows of no transactional.id yet."
	}
	if b.Records == 0 {
		return s + " The log is empty: it knows of no group yet."
	}
	return s + fmt.Sprintf(" It reads the log up to its end, offset %s, and so learns of "+knows+" from %s.", kafka.Thousands(b.LogEndOffset), kafka.Count(b.Records, "record"))
}

// NotCoordinator says that a broker was asked about a group that it does not coordinate.
type NotCoordinator struct {
	From           kafka.NodeID         `json:"from"`
	API            string               `json:"api"`
	Group          string               `json:"group"`
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Leader         kafka.BrokerID       `json:"leader"` // as this broker knows it; -1: none
}

// Kind gives the kind's name.
func (NotCoordinator) Kind() string { return "NotCoordinator" }

// Text gives the request and who leads.
func (b NotCoordinator) Text() string {
	return fmt.Sprintf("from=%s %s %s %s leader=%d", b.From, b.API, b.Group, b.TopicPartition, b.Leader)
}

// Sentence gives the rule.
func (b NotCoordinator) Sentence() string {
	who := fmt.Sprintf("which broker %d leads as far as this one knows", b.Leader)
	if b.Leader < 0 {
		who = "of which this broker knows no leader"
	}
	return fmt.Sprintf("The %s request of %s is answered with NOT_COORDINATOR: %s lives on %s, %s. The client looks for the coordinator again.",
		b.API, b.From, keyOf(b.TopicPartition.Topic == kafka.TransactionsTopic, b.Group), b.TopicPartition, who)
}

// GroupWriteParked says that records of a coordinator are in the leader's log and wait for the in-sync replicas.
type GroupWriteParked struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	HighWatermark  kafka.Offset         `json:"high_watermark"`            // that it waits for
	Timeout        kafka.Millis         `json:"offsets_commit_timeout_ms"` // of a group; 0: of a transactional id
}

// Kind gives the kind's name.
func (GroupWriteParked) Kind() string { return "GroupWriteParked" }

// Text gives what is waited for.
func (b GroupWriteParked) Text() string {
	if b.Timeout == 0 {
		return fmt.Sprintf("%s waits=%d", b.TopicPartition, b.HighWatermark)
	}
	return fmt.Sprintf("%s waits=%d timeout=%d", b.TopicPartition, b.HighWatermark, b.Timeout)
}

// Sentence gives the rule and the setting.
func (b GroupWriteParked) Sentence() string {
	limit := fmt.Sprintf("offsets.commit.timeout.ms = %s ms", kafka.Thousands(b.Timeout))
	if b.Timeout == 0 {
		limit = "the transaction.timeout.ms of the producer"
	}
	return fmt.Sprintf("%s: what the coordinator wrote counts when every in-sync replica has it: when the high watermark is %s. Who asked for it waits at most %s.",
		b.TopicPartition, kafka.Thousands(b.HighWatermark), limit)
}

// GroupAppendFailed says that the leader did not append the records of a group coordinator.
type GroupAppendFailed struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Error          string               `json:"error"`
	Why            string               `json:"why"`
}

// Kind gives the kind's name.
func (GroupAppendFailed) Kind() string { return "GroupAppendFailed" }

// Text gives error and reason.
func (b GroupAppendFailed) Text() string {
	return fmt.Sprintf("%s %s: %s", b.TopicPartition, b.Error, b.Why)
}

// Sentence gives error and reason.
func (b GroupAppendFailed) Sentence() string {
	return fmt.Sprintf("%s: the coordinator could not write: %s, %s. Nothing was appended.", b.TopicPartition, b.Error, b.Why)
}
