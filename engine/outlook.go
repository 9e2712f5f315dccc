package engine

import (
	"loglab/engine/broker"
	"loglab/engine/client"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/storage"
)

// What can be seen of a broker, in the brokers' own terms.
type (
	BrokerState = broker.State
	LogOnDisk   = broker.LogOnDisk
)

// The states of a broker's process.
const (
	BrokerDown         = broker.Down
	BrokerPowerOff     = broker.PowerOff
	BrokerStarting     = broker.Starting
	BrokerRunning      = broker.Running
	BrokerShuttingDown = broker.ShuttingDown
)

// NoLeader is the leader of a partition that has none.
const NoLeader = metadata.NoLeader

// Outlook is what a partition would be without some brokers.
type Outlook struct {
	Leader kafka.BrokerID // NoLeader: none
	ISR    []kafka.BrokerID
	ELR    []kafka.BrokerID // eligible leader replicas
	Clean  bool             // the leader has every committed record
	Why    string           // the rule that chose, in words
}

// WithoutBroker gives what the controller would make of a partition if a broker stopped now and did not come back:
// the brokers that send the controller no heartbeat already are fenced too, in the order in which their sessions end.
// Nothing is changed. With an id that no broker has it says what comes if none stops.
//
// Source: see [controller.Controller.WithoutBrokers].
func (c *Cluster) WithoutBroker(tp kafka.TopicPartition, id kafka.BrokerID) Outlook {
	gone := []kafka.BrokerID{id}
	for i, b := range c.brokers {
		if c.isSilent(b) {
			gone = append(gone, kafka.BrokerID(i+1))
		}
	}
	after, how := c.controller.WithoutBrokers(tp, gone...)
	return Outlook{Leader: after.Leader, ISR: after.ISR, ELR: after.ELR, Clean: how.Clean, Why: how.Why}
}

// isSilent says whether no more heartbeats of a broker come to the controller: it sends none while the last is not
// answered.
func (c *Cluster) isSilent(b *broker.Broker) bool {
	return !b.Up() || c.inboxOf(b.Node()) != nil || c.net.Faults(b.Node(), controllerNode).Cut || c.net.Faults(controllerNode, b.Node()).Cut
}

// AfterPowerLoss gives what a broker's disk would have of a partition if its machine lost power now; ok is false if
// it would have nothing of it. Nothing is changed.
func (c *Cluster) AfterPowerLoss(id kafka.BrokerID, tp kafka.TopicPartition) (log LogOnDisk, ok bool) {
	return c.brokers[id-1].AfterPowerLoss(c.now, tp)
}

// Source gives what the producers' applications handed in and what became of it. It belongs to the cluster: only
// read it.
func (c *Cluster) Source() *client.Source { return &c.outside.Source }

// The outcomes of a record, in the clients' own terms.
const (
	Acknowledged       = client.Acknowledged
	Failed             = client.Failed
	Dropped            = client.Dropped
	SentWithoutPromise = client.SentWithoutPromise
)

// What a broker does to its logs by itself, and its files, in the brokers' own terms.
type (
	UpkeepView = broker.UpkeepView
	DiskFile   = broker.File
)

// Upkeep gives what a broker does to one log by itself, and when; ok is false while it has not opened the log.
func (c *Cluster) Upkeep(id kafka.BrokerID, tp kafka.TopicPartition) (v UpkeepView, ok bool) {
	return c.brokers[id-1].Upkeep(c.now, tp)
}

// RetentionAt says what a broker's check of retention would do to a log at a time if nothing else happened until then.
// Nothing is changed.
func (c *Cluster) RetentionAt(at kafka.Millis, id kafka.BrokerID, tp kafka.TopicPartition) (r storage.Retention, ok bool) {
	return c.brokers[id-1].RetentionAt(at, tp)
}

// CleanableAt says what a broker's cleaner would find of a log at a time if nothing else happened until then.
func (c *Cluster) CleanableAt(at kafka.Millis, id kafka.BrokerID, tp kafka.TopicPartition) (found storage.Cleanable, ok bool) {
	return c.brokers[id-1].CleanableAt(at, tp)
}

// CleaningAt says what a broker's cleaner would do to a log at a time if nothing else happened until then, whether it is
// worth it or not. Nothing is changed.
func (c *Cluster) CleaningAt(at kafka.Millis, id kafka.BrokerID, tp kafka.TopicPartition) (cleaned storage.Cleaned, ok bool) {
	return c.brokers[id-1].CleaningAt(at, tp)
}

// Files lists the files of a partition's directory on a broker's disk by name, its process running or not.
func (c *Cluster) Files(id kafka.BrokerID, tp kafka.TopicPartition) []DiskFile {
	return c.brokers[id-1].Files(tp)
}
