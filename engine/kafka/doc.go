// Package kafka is the vocabulary of the lab: the numbers and names that every other package
// speaks in. It imports nothing of ours.
//
// Each number that could be taken for another has a type of its own, so an offset is never passed
// where an epoch belongs. The words are Apache Kafka's, whole. Interval ends are stated on the
// fields that hold such numbers; where nothing is said, an end offset is exclusive.
//
// All integers on the wire and on disk are big-endian. Virtual time is [Millis].
package kafka
