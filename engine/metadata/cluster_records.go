package metadata

import (
	"github.com/twmb/franz-go/pkg/kbin"

	"loglab/engine/kafka"
)

// ResourceType is a kind of thing that has settings.
//
// Source: ConfigResource.Type.
type ResourceType int8

// The kinds that are modelled.
const (
	TopicResource  ResourceType = 2
	BrokerResource ResourceType = 4 // with the name "", all brokers
)

// ConfigRecord says that a setting has a value, or has it no longer.
//
// Source: ConfigRecord.json, version 0.
type ConfigRecord struct {
	ResourceType ResourceType
	ResourceName string
	Name         string
	Value        *string // nil: the setting is removed
}

// APIKey is 4.
func (ConfigRecord) APIKey() int16 { return 4 }

// Version is 0.
func (ConfigRecord) Version() int16 { return 0 }

func (m ConfigRecord) appendBody(dst []byte) []byte {
	dst = kbin.AppendInt8(dst, int8(m.ResourceType))
	dst = kbin.AppendCompactString(dst, m.ResourceName)
	dst = kbin.AppendCompactString(dst, m.Name)
	return appendTags(kbin.AppendCompactNullableString(dst, m.Value))
}

func readConfig(r *kbin.Reader) Record {
	m := ConfigRecord{ResourceType(r.Int8()), r.CompactString(), r.CompactString(), r.CompactNullableString()}
	skipTags(r)
	return m
}

// FeatureLevelRecord says at which level the cluster uses a feature.
//
// Source: FeatureLevelRecord.json, version 0.
type FeatureLevelRecord struct {
	Name         string
	FeatureLevel int16 // 0: not used
}

// APIKey is 12.
func (FeatureLevelRecord) APIKey() int16 { return 12 }

// Version is 0.
func (FeatureLevelRecord) Version() int16 { return 0 }

func (m FeatureLevelRecord) appendBody(dst []byte) []byte {
	return appendTags(kbin.AppendInt16(kbin.AppendCompactString(dst, m.Name), m.FeatureLevel))
}

func readFeatureLevel(r *kbin.Reader) Record {
	m := FeatureLevelRecord{r.CompactString(), r.Int16()}
	skipTags(r)
	return m
}

// ProducerIDsRecord says that a broker was given a block of producer ids.
//
// Source: ProducerIdsRecord.json, version 0.
type ProducerIDsRecord struct {
	BrokerID       kafka.BrokerID
	BrokerEpoch    int64
	NextProducerID kafka.ProducerID // the first of the next block
}

// APIKey is 15.
func (ProducerIDsRecord) APIKey() int16 { return 15 }

// Version is 0.
func (ProducerIDsRecord) Version() int16 { return 0 }

func (m ProducerIDsRecord) appendBody(dst []byte) []byte {
	dst = kbin.AppendInt64(kbin.AppendInt32(dst, int32(m.BrokerID)), m.BrokerEpoch)
	return appendTags(kbin.AppendInt64(dst, int64(m.NextProducerID)))
}

func readProducerIDs(r *kbin.Reader) Record {
	m := ProducerIDsRecord{kafka.BrokerID(r.Int32()), r.Int64(), kafka.ProducerID(r.Int64())}
	skipTags(r)
	return m
}

// NoOpRecord says nothing; a controller writes it so that the log moves.
//
// Source: NoOpRecord.json, version 0.
type NoOpRecord struct{}

// APIKey is 20.
func (NoOpRecord) APIKey() int16 { return 20 }

// Version is 0.
func (NoOpRecord) Version() int16 { return 0 }

func (NoOpRecord) appendBody(dst []byte) []byte { return appendTags(dst) }

func readNoOp(r *kbin.Reader) Record {
	skipTags(r)
	return NoOpRecord{}
}
