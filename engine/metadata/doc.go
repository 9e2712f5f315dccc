// Package metadata models what a node knows of its cluster and how it learns it: the records of the log
// __cluster_metadata-0 in Kafka's bytes, and the image that they add up to.
//
// A record says one change: a broker registered, a partition has another leader. The controller writes
// records, every broker fetches them, and both apply them in the order of their offsets. The same records give
// the same image everywhere; that is all there is to agreement about metadata.
//
// A record's value in the log is a frame:
//
//	frame version │ api key │ version │ body
//	uvarint: 1    │ uvarint │ uvarint │ flexible, with tagged fields
//
// Invariants: an image is never written once it was returned, so images share what did not change; brokers are
// sorted by id, topics by name, settings by name; each PartitionChangeRecord adds 1 to the partition epoch, and
// adds 1 to the leader epoch if and only if it names a leader.
//
// It leaves out who may write a record and when: that is the controller's, see package controller.
//
// Simplified: records of access control, quotas, delegation tokens, SCRAM, controllers' registrations and the
// removal of topics are left out, and so are metadata transactions: one batch is one atomic change.
//
// Simplified: nobody takes snapshots of the metadata log, so a broker that starts reads all of it.
//
// Example: a topic with one partition, led by broker 1.
//
//	var image metadata.Image
//	image = image.Apply(metadata.TopicRecord{Name: "orders", TopicID: id}, 0)
//	image = image.Apply(metadata.PartitionRecord{TopicID: id, Replicas: ids, ISR: ids, Leader: 1}, 1)
//	image.Offset // 2
package metadata
