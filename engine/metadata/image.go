package metadata

import (
	"slices"
	"strings"

	"loglab/engine/kafka"
)

// Image is what a node knows of the cluster: the sum of the records up to an offset. It is a value that never
// changes; Apply gives another one. The zero Image is that of an empty log. Callers only read its slices.
//
// Source: MetadataImage.
type Image struct {
	// Offset is the offset of the record that comes next, exclusive: the last one applied plus 1. A
	// BrokerHeartbeat reports Offset-1.
	Offset         kafka.Offset
	Brokers        []Broker  // sorted by id
	Topics         []Topic   // sorted by name
	ClusterConfig  []Setting // of all brokers, sorted by name
	Features       []Feature // sorted by name
	NextProducerID kafka.ProducerID
}

// Broker is one registered broker.
//
// Source: BrokerRegistration.
type Broker struct {
	ID                   kafka.BrokerID
	Epoch                int64 // a new process has a higher one
	IncarnationID        [16]byte
	Node                 kafka.NodeID // where it listens
	Rack                 string       // "": none
	Fenced               bool         // it may not lead and is in no ISR
	InControlledShutdown bool
	LogDirs              [][16]byte
}

// Active says that the broker may lead and be in an ISR: it is neither fenced nor shutting down.
//
// Source: ClusterControlManager.isActive.
func (b Broker) Active() bool { return !b.Fenced && !b.InControlledShutdown }

// Topic is one topic.
type Topic struct {
	Name       string
	ID         [16]byte
	Config     []Setting   // what was set on the topic itself, sorted by name
	Partitions []Partition // by index
}

// Partition is one partition's state.
//
// Source: PartitionRegistration.
type Partition struct {
	Replicas       []kafka.BrokerID // the first is preferred as the leader
	ISR            []kafka.BrokerID // the in-sync replicas, in the order in which their record has them
	ELR            []kafka.BrokerID // the eligible leader replicas, sorted
	LastKnownELR   []kafka.BrokerID // the last leader of a partition without one
	Leader         kafka.BrokerID   // NoLeader for none
	LeaderEpoch    kafka.LeaderEpoch
	PartitionEpoch int32
	Recovering     bool // the leader was elected uncleanly and has not said yet that it recovered
}

// PreferredLeader is the first replica.
func (p Partition) PreferredLeader() kafka.BrokerID { return p.Replicas[0] }

// Setting is one setting with its value.
type Setting struct{ Name, Value string }

// Feature is one feature with the level at which the cluster uses it.
type Feature struct {
	Name  string
	Level int16
}

// ELRFeature is the name of the feature whose level 1 turns eligible leader replicas on.
const ELRFeature = "eligible.leader.replicas.version"

// MinInSyncReplicas is the name of the setting that the eligible leader replicas depend on.
const MinInSyncReplicas = "min.insync.replicas"

// Broker finds a broker by id.
func (im Image) Broker(id kafka.BrokerID) (b Broker, ok bool) {
	at, ok := slices.BinarySearchFunc(im.Brokers, id, compareBroker)
	if !ok {
		return Broker{}, false
	}
	return im.Brokers[at], true
}

func compareBroker(b Broker, id kafka.BrokerID) int { return int(b.ID) - int(id) }

// Active says whether there is a broker with that id which may lead.
func (im Image) Active(id kafka.BrokerID) bool {
	b, ok := im.Broker(id)
	return ok && b.Active()
}

// Topic finds a topic by name.
func (im Image) Topic(name string) (t Topic, ok bool) {
	at, ok := slices.BinarySearchFunc(im.Topics, name, compareTopic)
	if !ok {
		return Topic{}, false
	}
	return im.Topics[at], true
}

func compareTopic(t Topic, name string) int { return strings.Compare(t.Name, name) }

// TopicByID finds a topic by id.
func (im Image) TopicByID(id [16]byte) (t Topic, ok bool) {
	at := im.indexOf(id)
	if at < 0 {
		return Topic{}, false
	}
	return im.Topics[at], true
}

// indexOf gives the place of a topic in Topics, -1 for none.
func (im Image) indexOf(id [16]byte) int {
	return slices.IndexFunc(im.Topics, func(t Topic) bool { return t.ID == id })
}

// Partition finds a partition by topic name and index.
func (im Image) Partition(tp kafka.TopicPartition) (p Partition, ok bool) {
	t, ok := im.Topic(tp.Topic)
	if !ok {
		return Partition{}, false
	}
	return t.Partition(tp.Partition)
}

// Partition finds a partition by index.
func (t Topic) Partition(index kafka.Partition) (p Partition, ok bool) {
	if index < 0 || int(index) >= len(t.Partitions) {
		return Partition{}, false
	}
	return t.Partitions[index], true
}

// Feature gives the level of a feature, 0 if the cluster does not use it.
func (im Image) Feature(name string) int16 {
	for _, f := range im.Features {
		if f.Name == name {
			return f.Level
		}
	}
	return 0
}

// ELREnabled says whether the cluster keeps eligible leader replicas.
func (im Image) ELREnabled() bool { return im.Feature(ELRFeature) >= 1 }

// TopicSetting gives a setting of a topic: the topic's own, else that of all brokers. ok is false when neither
// is set; then the node's own configuration or Kafka's default holds.
func (im Image) TopicSetting(topic, name string) (value string, ok bool) {
	if t, found := im.Topic(topic); found {
		if value, ok = Lookup(t.Config, name); ok {
			return value, true
		}
	}
	return Lookup(im.ClusterConfig, name)
}

// Lookup finds a setting by name in sorted ones.
func Lookup(settings []Setting, name string) (value string, ok bool) {
	at, ok := slices.BinarySearchFunc(settings, name, compareSetting)
	if !ok {
		return "", false
	}
	return settings[at].Value, true
}

func compareSetting(s Setting, name string) int { return strings.Compare(s.Name, name) }
