// Package controller models the active controller: the one node that decides who leads which partition, which
// broker is alive and where replicas are placed, and that writes each decision into the metadata log.
//
// A controller is a state machine. Receive takes a delivered message, Tick lets its timers fire, NextDue says
// when the next one does; both return what the controller wants sent. It never sends by itself and knows no
// clock but the now it is given.
//
// It serves Fetch (18) of the metadata log, BrokerRegistration (4), BrokerHeartbeat (1), AlterPartition (3),
// CreateTopics (7), CreatePartitions (3), ElectLeaders (2), IncrementalAlterConfigs (1) and
// AllocateProducerIDs (0); each has a file of its own.
//
// An operation reads the image, makes records and what is to be journalled, and is committed: its records go
// into the log as one batch and are applied to the image. Nothing of an operation can be seen before that.
//
// Invariants: the image is what the records in the log add up to; at most one leader per leader epoch; the leader
// is in the ISR; ISR and ELR have no member in common; a fenced broker leads nothing.
//
// Simplified: one node is the active controller from the start and always is. The metadata log has one voter and
// the leader epoch 0, so a record is committed when it is written, and each operation is one batch.
//
// Simplified: partitions are never reassigned, topics never deleted, and each broker has one log directory that
// never fails by itself.
//
// Simplified: metadata.max.idle.interval.ms is 0: the controller writes no NoOpRecord every 500 ms to keep the
// log moving.
//
// Simplified: where one operation changes many partitions, it goes by topic name and partition; Kafka goes by the
// order of its hash tables.
//
// Example: a broker registers; the answer says its broker epoch, and the image has it fenced.
//
//	config := controller.DefaultConfig()
//	config.Node, config.ClusterID, config.Rand = "k1", id, rnd.Split("controller")
//	c := controller.New(config)
//	sends := c.Receive(now, registration, cause, &journal)
//	b, _ := c.Image().Broker(1) // b.Fenced is true
package controller
