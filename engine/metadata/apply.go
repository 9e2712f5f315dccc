package metadata

import (
	"fmt"
	"slices"

	"loglab/engine/kafka"
)

// Apply gives the image after one more record, which stands at offset. The image itself is not changed, and
// neither is the record. It panics if the record speaks of a topic, partition or broker that is not there, and
// at an offset below the image's: then the log is not one that a controller wrote.
//
// Source: MetadataDelta.replay, PartitionRegistration.merge.
func (im Image) Apply(r Record, offset kafka.Offset) Image {
	if offset < im.Offset {
		panic(fmt.Sprintf("metadata: record at offset %d for an image of offset %d", offset, im.Offset))
	}
	im.Offset = offset + 1
	switch m := r.(type) {
	case RegisterBrokerRecord:
		im.Brokers = withBroker(im.Brokers, brokerOf(m))
	case UnregisterBrokerRecord:
		im.mustBroker(m.BrokerID, m.BrokerEpoch)
		im.Brokers = slices.DeleteFunc(slices.Clone(im.Brokers), func(b Broker) bool { return b.ID == m.BrokerID })
	case BrokerRegistrationChangeRecord:
		im.Brokers = withBroker(im.Brokers, im.mustBroker(m.BrokerID, m.BrokerEpoch).changed(m))
	case TopicRecord:
		at, found := slices.BinarySearchFunc(im.Topics, m.Name, compareTopic)
		if found {
			panic("metadata: a second topic " + m.Name)
		}
		im.Topics = slices.Insert(slices.Clip(im.Topics), at, Topic{Name: m.Name, ID: m.TopicID})
	case PartitionRecord:
		im.Topics = im.withNewPartition(m)
	case PartitionChangeRecord:
		im.Topics = im.withChangedPartition(m)
	case ClearELRRecord:
		im.Topics = im.withoutELR(m.TopicName)
	case ConfigRecord:
		im = im.withConfig(m)
	case FeatureLevelRecord:
		im.Features = withFeature(im.Features, Feature{m.Name, m.FeatureLevel})
	case ProducerIDsRecord:
		im.NextProducerID = m.NextProducerID
	case NoOpRecord:
	default:
		panic(fmt.Sprintf("metadata: no rule for %T", r))
	}
	return im
}

func brokerOf(m RegisterBrokerRecord) Broker {
	b := Broker{
		ID: m.BrokerID, Epoch: m.BrokerEpoch, IncarnationID: m.IncarnationID, Rack: m.Rack, Fenced: m.Fenced,
		InControlledShutdown: m.InControlledShutdown, LogDirs: m.LogDirs,
	}
	if len(m.EndPoints) > 0 {
		b.Node = kafka.NodeID(m.EndPoints[0].Host)
	}
	return b
}

// withBroker gives brokers with b in its place.
func withBroker(brokers []Broker, b Broker) []Broker {
	at, found := slices.BinarySearchFunc(brokers, b.ID, compareBroker)
	if !found {
		return slices.Insert(slices.Clip(brokers), at, b)
	}
	brokers = slices.Clone(brokers)
	brokers[at] = b
	return brokers
}

// mustBroker gives the broker with that id and epoch.
func (im Image) mustBroker(id kafka.BrokerID, epoch int64) Broker {
	b, ok := im.Broker(id)
	if !ok || b.Epoch != epoch {
		panic(fmt.Sprintf("metadata: a record for broker %d, epoch %d; registered is epoch %d", id, epoch, b.Epoch))
	}
	return b
}

func (b Broker) changed(m BrokerRegistrationChangeRecord) Broker {
	if m.Fenced != 0 {
		b.Fenced = m.Fenced == Fence
	}
	if m.InControlledShutdown {
		b.InControlledShutdown = true
	}
	if len(m.LogDirs) > 0 {
		b.LogDirs = m.LogDirs
	}
	return b
}

// withTopic gives the topics with the one at that place changed.
func (im Image) withTopic(at int, change func(*Topic)) []Topic {
	topics := slices.Clone(im.Topics)
	change(&topics[at])
	return topics
}

func (im Image) mustTopic(id [16]byte) int {
	at := im.indexOf(id)
	if at < 0 {
		panic(fmt.Sprintf("metadata: a record for a topic with id %x, which is not there", id))
	}
	return at
}

func (im Image) withNewPartition(m PartitionRecord) []Topic {
	return im.withTopic(im.mustTopic(m.TopicID), func(t *Topic) {
		if int(m.PartitionID) != len(t.Partitions) {
			panic(fmt.Sprintf("metadata: partition %d of %s, which has %d", m.PartitionID, t.Name, len(t.Partitions)))
		}
		t.Partitions = append(slices.Clip(t.Partitions), Partition{
			Replicas: m.Replicas, ISR: m.ISR, ELR: m.EligibleLeaderReplicas, LastKnownELR: m.LastKnownELR, Leader: m.Leader,
			LeaderEpoch: m.LeaderEpoch, PartitionEpoch: m.PartitionEpoch, Recovering: m.LeaderRecoveryState == Recovering,
		})
	})
}

func (im Image) withChangedPartition(m PartitionChangeRecord) []Topic {
	return im.withTopic(im.mustTopic(m.TopicID), func(t *Topic) {
		if _, ok := t.Partition(m.PartitionID); !ok {
			panic(fmt.Sprintf("metadata: a change of partition %d of %s, which has %d", m.PartitionID, t.Name, len(t.Partitions)))
		}
		t.Partitions = slices.Clone(t.Partitions)
		t.Partitions[m.PartitionID] = t.Partitions[m.PartitionID].Merge(m)
	})
}

// Merge gives the partition after a change: the partition epoch goes up by 1, and so does the leader epoch if
// the change names a leader, be it the same one or none. A change of the in-sync replicas alone leaves the
// leader epoch.
//
// Source: PartitionRegistration.merge.
func (p Partition) Merge(m PartitionChangeRecord) Partition {
	for _, f := range [...]struct {
		to   *[]kafka.BrokerID
		from []kafka.BrokerID
	}{{&p.Replicas, m.Replicas}, {&p.ISR, m.ISR}, {&p.ELR, m.EligibleLeaderReplicas}, {&p.LastKnownELR, m.LastKnownELR}} {
		if f.from != nil {
			*f.to = f.from
		}
	}
	if m.Leader != NoLeaderChange {
		p.Leader = m.Leader
		p.LeaderEpoch++
	}
	if m.LeaderRecoveryState != NoRecoveryChange {
		p.Recovering = m.LeaderRecoveryState == Recovering
	}
	p.PartitionEpoch++
	return p
}

// withoutELR forgets the eligible leader replicas of a topic, "" of all. Partitions that have any change.
//
// Source: ReplicationControlManager.removeTopicElrs.
func (im Image) withoutELR(topic string) []Topic {
	topics := slices.Clone(im.Topics)
	for i := range topics {
		if topic != "" && topics[i].Name != topic {
			continue
		}
		topics[i].Partitions = slices.Clone(topics[i].Partitions)
		for k, p := range topics[i].Partitions {
			if len(p.ELR)+len(p.LastKnownELR) > 0 {
				change := NewPartitionChange(topics[i].ID, kafka.Partition(k))
				change.EligibleLeaderReplicas, change.LastKnownELR = []kafka.BrokerID{}, []kafka.BrokerID{}
				topics[i].Partitions[k] = p.Merge(change)
			}
		}
	}
	return topics
}

func (im Image) withConfig(m ConfigRecord) Image {
	switch {
	case m.ResourceType == TopicResource:
		at, found := slices.BinarySearchFunc(im.Topics, m.ResourceName, compareTopic)
		if !found {
			panic("metadata: a setting for the topic " + m.ResourceName + ", which is not there")
		}
		im.Topics = im.withTopic(at, func(t *Topic) { t.Config = withSetting(t.Config, m.Name, m.Value) })
	case m.ResourceType == BrokerResource && m.ResourceName == "":
		im.ClusterConfig = withSetting(im.ClusterConfig, m.Name, m.Value)
	}
	return im
}

// withSetting gives settings with one of them set to value, or without it if value is nil.
func withSetting(settings []Setting, name string, value *string) []Setting {
	at, found := slices.BinarySearchFunc(settings, name, compareSetting)
	settings = slices.Clone(settings)
	switch {
	case value == nil && found:
		return slices.Delete(settings, at, at+1)
	case value == nil:
		return settings
	case !found:
		settings = slices.Insert(settings, at, Setting{Name: name})
	}
	settings[at].Value = *value
	return settings
}

// withFeature gives features with f in its place; level 0 takes it away.
func withFeature(features []Feature, f Feature) []Feature {
	features = slices.DeleteFunc(slices.Clone(features), func(other Feature) bool { return other.Name == f.Name })
	if f.Level == 0 {
		return features
	}
	at := slices.IndexFunc(features, func(other Feature) bool { return other.Name > f.Name })
	if at < 0 {
		at = len(features)
	}
	return slices.Insert(features, at, f)
}
