package journal

import (
	"fmt"
	"strings"

	"loglab/engine/kafka"
)

// BrokerRegistered says that the controller took a broker into the cluster's metadata.
type BrokerRegistered struct {
	Broker      kafka.BrokerID `json:"broker"`
	BrokerEpoch int64          `json:"broker_epoch"`
	Rack        string         `json:"rack"`           // "": none
	Previous    int64          `json:"previous_epoch"` // of the process before; -1: there was none
	Same        bool           `json:"same_process"`   // the process had registered before and says something else of itself
	Clean       bool           `json:"clean_shutdown"` // the process before shut down cleanly
	Asked       int64          `json:"named_epoch"`    // the epoch before a clean shutdown, as the request names it; -1: none
}

// Kind gives the kind's name.
func (BrokerRegistered) Kind() string { return "BrokerRegistered" }

// Text gives epochs and rack.
func (b BrokerRegistered) Text() string {
	text := fmt.Sprintf("broker=%d epoch=%d previous=%d", b.Broker, b.BrokerEpoch, b.Previous)
	if b.Previous >= 0 && !b.Same {
		text += fmt.Sprintf(" clean=%t", b.Clean)
	}
	if b.Rack != "" {
		text += " rack=" + b.Rack
	}
	return text
}

// Sentence says what the broker may do and what became of its last process.
func (b BrokerRegistered) Sentence() string {
	if b.Same {
		return fmt.Sprintf("Broker %d changed its registration; its broker epoch stays %d.", b.Broker, b.BrokerEpoch)
	}
	s := fmt.Sprintf("Broker %d registered with broker epoch %d, the offset that the metadata log had reached. It begins fenced: it leads nothing and is in no ISR until a heartbeat shows that it has read its own registration.",
		b.Broker, b.BrokerEpoch)
	switch {
	case b.Previous < 0:
		return s
	case b.Clean:
		return s + fmt.Sprintf(" Its last process, epoch %d, had shut down cleanly: the request names that epoch.", b.Previous)
	case b.Asked < 0:
		return s + fmt.Sprintf(" Its last process, epoch %d, had not shut down cleanly: the request names no epoch before.", b.Previous)
	}
	return s + fmt.Sprintf(" Its last process, epoch %d, had not shut down cleanly: the request names epoch %d.", b.Previous, b.Asked)
}

// BrokerFenced says that a broker leads nothing any more and left every ISR.
type BrokerFenced struct {
	Broker      kafka.BrokerID `json:"broker"`
	BrokerEpoch int64          `json:"broker_epoch"`
	Reason      string         `json:"reason"` // the rule with its numbers and setting
}

// Kind gives the kind's name.
func (BrokerFenced) Kind() string { return "BrokerFenced" }

// Text gives the broker and the rule.
func (b BrokerFenced) Text() string {
	return fmt.Sprintf("broker=%d epoch=%d: %s", b.Broker, b.BrokerEpoch, b.Reason)
}

// Sentence gives the rule and what it means.
func (b BrokerFenced) Sentence() string {
	return fmt.Sprintf("The controller fenced broker %d: %s. A fenced broker leads no partition and is in no ISR, the last member of an ISR without eligible leader replicas apart.", b.Broker, b.Reason)
}

// BrokerUnfenced says that a broker may lead and be in an ISR.
type BrokerUnfenced struct {
	Broker             kafka.BrokerID `json:"broker"`
	BrokerEpoch        int64          `json:"broker_epoch"`
	MetadataOffset     kafka.Offset   `json:"metadata_offset"`     // that the broker has read, inclusive
	RegistrationOffset kafka.Offset   `json:"registration_offset"` // of its own registration's record
}

// Kind gives the kind's name.
func (BrokerUnfenced) Kind() string { return "BrokerUnfenced" }

// Text gives both offsets.
func (b BrokerUnfenced) Text() string {
	return fmt.Sprintf("broker=%d epoch=%d read=%d registered=%d", b.Broker, b.BrokerEpoch, b.MetadataOffset, b.RegistrationOffset)
}

// Sentence gives the rule with both offsets.
func (b BrokerUnfenced) Sentence() string {
	return fmt.Sprintf("The controller unfenced broker %d: its heartbeat says that it has read the metadata log up to offset %d, and its own registration is at offset %d.",
		b.Broker, b.MetadataOffset, b.RegistrationOffset)
}

// ControlledShutdownBegun says that a broker asked to shut down and its partitions get other leaders first.
type ControlledShutdownBegun struct {
	Broker      kafka.BrokerID `json:"broker"`
	BrokerEpoch int64          `json:"broker_epoch"`
	Leads       int            `json:"leads"` // partitions that it led when it asked
}

// Kind gives the kind's name.
func (ControlledShutdownBegun) Kind() string { return "ControlledShutdownBegun" }

// Text gives the broker and what it leads.
func (b ControlledShutdownBegun) Text() string {
	return fmt.Sprintf("broker=%d epoch=%d leads=%d", b.Broker, b.BrokerEpoch, b.Leads)
}

// Sentence says what comes before the shutdown.
func (b ControlledShutdownBegun) Sentence() string {
	return fmt.Sprintf("Broker %d asked to shut down while it led %s. It leaves every ISR and its partitions get other leaders; it may stop once it leads nothing and every active broker has read of that.",
		b.Broker, kafka.Count(b.Leads, "partition"))
}

// LeaderElected says that a partition has another leader.
type LeaderElected struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	From           kafka.BrokerID       `json:"from"` // -1: it had none
	To             kafka.BrokerID       `json:"to"`
	LeaderEpoch    kafka.LeaderEpoch    `json:"leader_epoch"`
	ISRBefore      []kafka.BrokerID     `json:"isr_before"`
	ISR            []kafka.BrokerID     `json:"isr"`
	ELRBefore      []kafka.BrokerID     `json:"elr_before"`
	ELR            []kafka.BrokerID     `json:"elr"`
	Clean          bool                 `json:"clean"` // the leader has every committed record
	Why            string               `json:"why"`   // the rule that chose
}

// Kind gives the kind's name.
func (LeaderElected) Kind() string { return "LeaderElected" }

// Text gives leaders, epoch, replicas and whether the election was clean.
func (b LeaderElected) Text() string {
	clean := "clean"
	if !b.Clean {
		clean = "unclean"
	}
	return fmt.Sprintf("%s %d→%d epoch=%d %s %s", b.TopicPartition, b.From, b.To, b.LeaderEpoch, replicasText(b.ISRBefore, b.ISR, b.ELRBefore, b.ELR), clean)
}

// Sentence gives the rule that chose.
func (b LeaderElected) Sentence() string {
	was := fmt.Sprintf("after broker %d", b.From)
	if b.From < 0 {
		was = "after having none"
	}
	s := fmt.Sprintf("Broker %d leads %s now, %s, with leader epoch %d: %s.%s", b.To, b.TopicPartition, was, b.LeaderEpoch, b.Why,
		replicasSentence(b.ISRBefore, b.ISR, b.ELRBefore, b.ELR))
	if !b.Clean {
		s += " The election was unclean: records that were acknowledged may be lost."
	}
	return s
}

// LeaderLost says that a partition has no leader: nothing is written to it or read from it.
type LeaderLost struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	From           kafka.BrokerID       `json:"from"`
	LeaderEpoch    kafka.LeaderEpoch    `json:"leader_epoch"`
	ISRBefore      []kafka.BrokerID     `json:"isr_before"`
	ISR            []kafka.BrokerID     `json:"isr"`
	ELRBefore      []kafka.BrokerID     `json:"elr_before"`
	ELR            []kafka.BrokerID     `json:"elr"`
	Why            string               `json:"why"` // why nobody could be elected
}

// Kind gives the kind's name.
func (LeaderLost) Kind() string { return "LeaderLost" }

// Text gives the leader, the epoch and the replicas.
func (b LeaderLost) Text() string {
	return fmt.Sprintf("%s %d→-1 epoch=%d %s", b.TopicPartition, b.From, b.LeaderEpoch, replicasText(b.ISRBefore, b.ISR, b.ELRBefore, b.ELR))
}

// Sentence gives the rule.
func (b LeaderLost) Sentence() string {
	return fmt.Sprintf("%s has no leader now, after broker %d, with leader epoch %d: %s. Nothing is written to it or read from it.%s",
		b.TopicPartition, b.From, b.LeaderEpoch, b.Why, replicasSentence(b.ISRBefore, b.ISR, b.ELRBefore, b.ELR))
}

// ISRChanged says that a partition's in-sync or eligible leader replicas changed and its leader stayed.
type ISRChanged struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	From           []kafka.BrokerID     `json:"from"`
	To             []kafka.BrokerID     `json:"to"`
	ELRBefore      []kafka.BrokerID     `json:"elr_before"`
	ELR            []kafka.BrokerID     `json:"elr"`
	LeaderEpoch    kafka.LeaderEpoch    `json:"leader_epoch"`
	PartitionEpoch int32                `json:"partition_epoch"`
	Recovered      bool                 `json:"recovered"` // the leader said that it recovered from an unclean election
	AskedBy        string               `json:"asked_by"`  // who or what asked for it
}

// Kind gives the kind's name.
func (ISRChanged) Kind() string { return "ISRChanged" }

// Text gives replicas and epochs.
func (b ISRChanged) Text() string {
	text := fmt.Sprintf("%s %s epoch=%d partition-epoch=%d", b.TopicPartition, replicasText(b.From, b.To, b.ELRBefore, b.ELR), b.LeaderEpoch, b.PartitionEpoch)
	if b.Recovered {
		text += " recovered"
	}
	return text
}

// Sentence says who asked and which epoch moved.
func (b ISRChanged) Sentence() string {
	s := fmt.Sprintf("%s has partition epoch %d now and keeps leader epoch %d, as %s.%s", b.TopicPartition, b.PartitionEpoch, b.LeaderEpoch, b.AskedBy,
		replicasSentence(b.From, b.To, b.ELRBefore, b.ELR))
	if b.Recovered {
		s += " The leader has recovered from its unclean election."
	}
	return s
}

// replicasText gives in-sync and eligible leader replicas before and after, for one line.
func replicasText(isrBefore, isr, elrBefore, elr []kafka.BrokerID) string {
	text := fmt.Sprintf("isr=[%s]→[%s]", listed(isrBefore, ","), listed(isr, ","))
	if len(elrBefore)+len(elr) > 0 {
		text += fmt.Sprintf(" elr=[%s]→[%s]", listed(elrBefore, ","), listed(elr, ","))
	}
	return text
}

// replicasSentence says how in-sync and eligible leader replicas changed; eligible ones only where there are any.
func replicasSentence(isrBefore, isr, elrBefore, elr []kafka.BrokerID) string {
	s := fmt.Sprintf(" In-sync replicas: %s, before %s.", orNone(isr), orNone(isrBefore))
	if len(elrBefore)+len(elr) > 0 {
		s += fmt.Sprintf(" Eligible leader replicas: %s, before %s.", orNone(elr), orNone(elrBefore))
	}
	return s
}

func orNone(ids []kafka.BrokerID) string {
	if len(ids) == 0 {
		return "none"
	}
	return listed(ids, ", ")
}

// AlterPartitionRefused says that the controller did not change the in-sync replicas that a leader asked for.
type AlterPartitionRefused struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Broker         kafka.BrokerID       `json:"broker"` // who asked
	ISR            []kafka.BrokerID     `json:"isr"`    // asked for
	Error          string               `json:"error"`  // Kafka's name of the code
	Why            string               `json:"why"`
}

// Kind gives the kind's name.
func (AlterPartitionRefused) Kind() string { return "AlterPartitionRefused" }

// Text gives what was asked for and the code.
func (b AlterPartitionRefused) Text() string {
	return fmt.Sprintf("%s broker=%d isr=[%s] %s: %s", b.TopicPartition, b.Broker, listed(b.ISR, ","), b.Error, b.Why)
}

// Sentence gives the code and the rule.
func (b AlterPartitionRefused) Sentence() string {
	return fmt.Sprintf("Broker %d asked for the in-sync replicas %s of %s and was answered with %s: %s. Nothing was changed.",
		b.Broker, orNone(b.ISR), b.TopicPartition, b.Error, b.Why)
}

// ConfigChanged says that a setting has another value.
type ConfigChanged struct {
	Resource   string `json:"resource"` // "topic orders" or "all brokers"
	Name       string `json:"name"`
	From       string `json:"from"` // "": not set
	To         string `json:"to"`   // "": no longer set
	ELRCleared bool   `json:"elr_cleared"`
}

// Kind gives the kind's name.
func (ConfigChanged) Kind() string { return "ConfigChanged" }

// Text gives the setting and both values.
func (b ConfigChanged) Text() string {
	text := fmt.Sprintf("%s %s=%q→%q", b.Resource, b.Name, b.From, b.To)
	if b.ELRCleared {
		text += " elr cleared"
	}
	return text
}

// Sentence gives the setting, both values and what goes with it.
func (b ConfigChanged) Sentence() string {
	s := fmt.Sprintf("%s has %s = %s now", strings.ToUpper(b.Resource[:1])+b.Resource[1:], b.Name, b.To)
	if b.To == "" {
		s = fmt.Sprintf("%s has no %s of its own now", strings.ToUpper(b.Resource[:1])+b.Resource[1:], b.Name)
	}
	if b.From == "" {
		s += "; it was not set before."
	} else {
		s += "; before it was " + b.From + "."
	}
	if b.ELRCleared {
		s += " The eligible leader replicas are forgotten: they were chosen by the old minimum."
	}
	return s
}

// ProducerIDsAllocated says that a broker may give these producer ids to producers.
type ProducerIDsAllocated struct {
	Broker kafka.BrokerID   `json:"broker"`
	First  kafka.ProducerID `json:"first"`
	Last   kafka.ProducerID `json:"last"` // inclusive
}

// Kind gives the kind's name.
func (ProducerIDsAllocated) Kind() string { return "ProducerIDsAllocated" }

// Text gives the ids.
func (b ProducerIDsAllocated) Text() string {
	return fmt.Sprintf("broker=%d %d..%d", b.Broker, b.First, b.Last)
}

// Sentence gives the ids.
func (b ProducerIDsAllocated) Sentence() string {
	return fmt.Sprintf("Broker %d may give out the producer ids %d to %d: a block of %s that no other broker gets.", b.Broker, b.First, b.Last, kafka.Thousands(int64(b.Last-b.First)+1))
}

// MetadataFetchParked says that a node has read all of the metadata log and waits for more.
type MetadataFetchParked struct {
	From    kafka.NodeID `json:"from"`
	Offset  kafka.Offset `json:"offset"` // the log end offset, which it asked for
	MaxWait kafka.Millis `json:"max_wait_ms"`
}

// Kind gives the kind's name.
func (MetadataFetchParked) Kind() string { return "MetadataFetchParked" }

// Text gives the asker and the limits.
func (b MetadataFetchParked) Text() string {
	return fmt.Sprintf("%s @%d wait=%dms", b.From, b.Offset, b.MaxWait)
}

// Sentence says when it is answered.
func (b MetadataFetchParked) Sentence() string {
	return fmt.Sprintf("The fetch of %s waits here: it has all of the metadata log, up to offset %d. It is answered when a record comes, or after %s ms.",
		b.From, b.Offset, kafka.Thousands(b.MaxWait))
}
