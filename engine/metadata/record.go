package metadata

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kbin"

	"loglab/engine/kafka"
)

// Topic and partition of the metadata log.
const (
	// TopicName is the name of the metadata log's topic. It has one partition.
	TopicName = "__cluster_metadata"
	// frameVersion is the version of the frame around a record.
	frameVersion = 1
)

// LogTopicID is the id by which brokers fetch the metadata log: the UUID whose value is 1.
//
// Source: Uuid.METADATA_TOPIC_ID.
func LogTopicID() [16]byte { return [16]byte{15: 1} }

// LogPartition is the one partition of the metadata log.
func LogPartition() kafka.TopicPartition { return kafka.TopicPartition{Topic: TopicName} }

// Record is one record of the metadata log. Values are only read once they are in the log or in an image.
type Record interface {
	// APIKey is the number of the kind.
	APIKey() int16
	// Version is the version that its bytes have.
	Version() int16
	// appendBody appends the bytes behind the frame.
	appendBody(dst []byte) []byte
}

// ErrCorrupt is the error of Decode for bytes that are no record.
var ErrCorrupt = errors.New("not a metadata record")

// ErrUnknown is the error of Decode for a frame version, a kind or a version that is not modelled here.
var ErrUnknown = errors.New("unknown kind of metadata record")

// Append appends a record's frame and body to dst and returns it. It is the value of a record of the metadata
// log; the key is null.
//
// Source: AbstractApiMessageSerde, MetadataRecordSerde.
func Append(dst []byte, r Record) []byte {
	dst = kbin.AppendUvarint(dst, frameVersion)
	dst = kbin.AppendUvarint(dst, uint32(r.APIKey()))
	dst = kbin.AppendUvarint(dst, uint32(r.Version()))
	return r.appendBody(dst)
}

// Decode reads what Append writes. Tagged fields that are not known are skipped, as in Kafka. Errors:
// ErrCorrupt, ErrUnknown.
func Decode(b []byte) (Record, error) {
	r := &kbin.Reader{Src: b}
	frame, key, version := r.Uvarint(), r.Uvarint(), r.Uvarint()
	if !r.Ok() {
		return nil, fmt.Errorf("frame of %d bytes: %w", len(b), ErrCorrupt)
	}
	read, known := readers[kind{key, version}]
	if !known || frame != frameVersion {
		return nil, fmt.Errorf("frame version %d, api key %d, version %d: %w", frame, key, version, ErrUnknown)
	}
	decoded := read(r)
	if err := r.Complete(); err != nil {
		return nil, fmt.Errorf("api key %d, version %d: %w", key, version, ErrCorrupt)
	}
	return decoded, nil
}

// kind is a kind of record in one version.
type kind struct{ key, version uint32 }

// readers read the body of each kind in the versions that Kafka 4.2 writes at metadata.version 4.2-IV1.
var readers = map[kind]func(*kbin.Reader) Record{
	{0, 3}:  readRegisterBroker,
	{1, 0}:  readUnregisterBroker,
	{2, 0}:  readTopic,
	{3, 2}:  readPartition,
	{4, 0}:  readConfig,
	{5, 2}:  readPartitionChange,
	{12, 0}: readFeatureLevel,
	{15, 0}: readProducerIDs,
	{17, 0}: readBrokerRegistrationChange,
	{17, 1}: readBrokerRegistrationChange,
	{17, 2}: readBrokerRegistrationChange,
	{20, 0}: readNoOp,
	{28, 0}: readClearELR,
}
