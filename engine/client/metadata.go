package client

import (
	"math"
	"regexp"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// The defaults of retry.backoff.ms and retry.backoff.max.ms.
const (
	retryBackoff    kafka.Millis = 100
	retryBackoffMax kafka.Millis = 1000
)

// metadata is what a client knows of the cluster and of its topics, and when it asks: at its start, when it
// misses something, and again when what it has is metadata.max.age.ms old. Its slices are shared by clones
// and replaced, never written.
//
// Source: classes Metadata and MetadataSnapshot.
type metadata struct {
	topics    []topicMetadata // in the order in which the client came to want them; a producer has one
	bootstrap []kafka.NodeID  // bootstrap.servers
	brokers   []clusterNode   // sorted by id; empty until the first answer
	names     []kafka.NodeID  // of the same

	pattern *regexp.Regexp // topics are subscribed to by it: all are asked for; nil: by name
	byID    bool           // topics are asked for by their ids
	ids     [][16]byte     // of those; never written once made

	maxAge    kafka.Millis
	answered  kafka.Millis // when the last answer came
	refreshed kafka.Millis // when the last answer or failure came
	known     bool         // an answer has come
	wanted    bool         // something is missing
	waiting   bool         // for an answer
	failures  int          // requests without an answer, in a row
	unchanged int          // answers without news, in a row
}

// topicMetadata is what a client knows of one topic.
type topicMetadata struct {
	name     string
	id       [16]byte          // zero: no answer has told of the topic yet
	named    bool              // it is asked for by its name
	internal bool              // it is one of the cluster's own
	leaders  []leader          // by partition
	led      []kafka.Partition // those that have a leader, sorted
}

// clusterNode is a broker as metadata has it.
type clusterNode struct {
	id   int32
	node kafka.NodeID
}

// leader is who leads a partition as far as a client knows.
type leader struct {
	node  kafka.NodeID // empty: nobody
	epoch kafka.LeaderEpoch
}

func newMetadata(topics []string, bootstrap []kafka.NodeID, maxAge kafka.Millis) metadata {
	m := metadata{bootstrap: bootstrap, maxAge: maxAge}
	for _, name := range topics {
		m.topics = append(m.topics, topicMetadata{name: name, named: true})
	}
	return m
}

// restarted gives the metadata of a new process: it knows the bootstrap servers and which topics it wants.
func (m *metadata) restarted(topics ...string) metadata {
	n := newMetadata(topics, m.bootstrap, m.maxAge)
	n.pattern, n.byID = m.pattern, m.byID
	return n
}

// first is the topic of a client that has one.
func (m *metadata) first() *topicMetadata { return &m.topics[0] }

// firstCount is how many partitions the first topic has, 0 while none is known.
func (m *metadata) firstCount() int {
	if len(m.topics) == 0 {
		return 0
	}
	return len(m.first().leaders)
}

// topic gives what is known of a topic, nil if the client does not want it.
func (m *metadata) topic(name string) *topicMetadata {
	for i := range m.topics {
		if m.topics[i].name == name {
			return &m.topics[i]
		}
	}
	return nil
}

// nameOf gives the name of a topic by its id; empty if none has it.
func (m *metadata) nameOf(id [16]byte) string {
	for i := range m.topics {
		if m.topics[i].id == id {
			return m.topics[i].name
		}
	}
	return ""
}

// want adds topics to those that are asked for; it says whether one was new.
func (m *metadata) want(names []string) (added bool) {
	for _, name := range names {
		if m.topic(name) == nil {
			m.topics = append(slices.Clip(m.topics), topicMetadata{name: name, named: true})
			m.wanted, added = true, true
		}
	}
	return added
}

// complete says whether every topic that is asked for is there.
func (m *metadata) complete() bool {
	return !slices.ContainsFunc(m.topics, func(t topicMetadata) bool { return len(t.leaders) == 0 })
}

// next is when the client asks, if it waits for no answer. Failures, and answers that bring nothing new, make
// it wait twice as long each time.
//
// Source: Metadata.timeToNextUpdate, timeToAllowUpdate.
//
// Simplified: metadata.max.age.ms holds also below retry.backoff.ms = 100 ms; Kafka's clients never ask for
// metadata more often than that.
func (m *metadata) next() kafka.Millis {
	if !m.known && m.failures == 0 {
		return atOnce
	}
	asked := m.refreshed + backoff(retryBackoff, retryBackoffMax, max(m.failures, m.unchanged)-1)
	switch {
	case !m.known || m.failures > 0:
		return asked
	case m.wanted:
		return min(asked, m.answered+m.maxAge)
	}
	return m.answered + m.maxAge
}

// request makes the client ask sooner, because something is missing.
func (m *metadata) request() { m.wanted = true }

// failed notes that a request got no answer.
func (m *metadata) failed(now kafka.Millis) {
	m.waiting, m.wanted, m.refreshed = false, true, now
	m.failures++
}

// nextDue is when the client asks; ok is false while it waits for an answer.
func (m *metadata) nextDue(c *connections) (due kafka.Millis, ok bool) {
	return max(m.next(), m.reachableAt(c)), !m.waiting
}

// ask makes the request that is due, to the least loaded broker that can be reached; nil when none is.
//
// Source: NetworkClient.DefaultMetadataUpdater; metadata.recovery.strategy = rebootstrap.
func (m *metadata) ask(now kafka.Millis, c *connections) []simnet.Send {
	if m.waiting || m.next() > now {
		return nil
	}
	to, ok := m.anyBroker(now, c)
	if !ok {
		return nil
	}
	m.waiting = true
	return []simnet.Send{c.send(now, to, m.topicsRequest(), 0)}
}

// anyBroker gives the least loaded of the known brokers that can be reached, or of the bootstrap servers if
// none is.
//
// A known broker whose wait ends at this very moment comes after the bootstrap servers: the waits of a broker
// that is gone and of the next metadata request both grow to 1,000 ms and would end together for ever. Kafka's
// jitter makes one of them end first.
func (m *metadata) anyBroker(now kafka.Millis, c *connections) (kafka.NodeID, bool) {
	if node, ok := c.leastLoaded(now-1, m.names); ok {
		return node, true
	}
	if node, ok := c.leastLoaded(now, m.bootstrap); ok {
		return node, true
	}
	return c.leastLoaded(now, m.names)
}

// reachableAt is when any broker can be sent to.
func (m *metadata) reachableAt(c *connections) kafka.Millis {
	at := c.firstOpen(m.bootstrap)
	if len(m.names) > 0 {
		at = min(at, c.firstOpen(m.names))
	}
	return at
}

// nodes gives the known brokers, sorted by id. The slice is only read.
func (m *metadata) nodes() []kafka.NodeID { return m.names }

// setBrokers takes brokers in any order; the list is its own from then on.
func (m *metadata) setBrokers(list []clusterNode) {
	slices.SortFunc(list, func(a, b clusterNode) int { return int(a.id) - int(b.id) })
	m.brokers, m.names = list, make([]kafka.NodeID, len(list))
	for i, b := range list {
		m.names[i] = b.node
	}
}

// nodeOf gives the name of a broker; empty when it is not known.
func (m *metadata) nodeOf(id int32) kafka.NodeID {
	for _, b := range m.brokers {
		if b.id == id {
			return b.node
		}
	}
	return ""
}

// leaderOf gives the leader of a partition; its node is empty when none is known.
func (m *metadata) leaderOf(tp kafka.TopicPartition) leader {
	t := m.topic(tp.Topic)
	if t == nil || int(tp.Partition) >= len(t.leaders) {
		return leader{epoch: kafka.NoLeaderEpoch}
	}
	return t.leaders[tp.Partition]
}

// take learns from a Metadata response. What it says of a partition is not believed if its leader epoch is
// older than the one known.
//
// Source: Metadata.update, updateLatestMetadata.
//
// Simplified: a topic that a response does not know is kept as it was known, for topics are never deleted
// here.
func (m *metadata) take(now kafka.Millis, response *kmsg.MetadataResponse, node kafka.NodeID, cause uint64, j *journal.Journal) {
	expired := m.known && now >= m.answered+m.maxAge
	m.waiting, m.wanted, m.failures = false, false, 0
	m.known, m.answered, m.refreshed = true, now, now
	changed := m.takeBrokers(response)
	m.topics = slices.Clone(m.topics)
	for _, topic := range response.Topics {
		t := m.wanting(topic)
		switch {
		case topic.Topic == nil:
			m.wanted = true // UNKNOWN_TOPIC_ID
		case t == nil:
		case topic.ErrorCode != 0:
			m.wanted = true
		default:
			changed = m.takeTopic(t, topic, node, cause, j) || changed
		}
	}
	m.forgetGone()
	m.unchanged++
	if changed || expired {
		m.unchanged = 0
	}
}

// takeBrokers learns which brokers there are; it says whether they are others than before.
func (m *metadata) takeBrokers(response *kmsg.MetadataResponse) (changed bool) {
	var list []clusterNode
	for _, b := range response.Brokers {
		list = append(list, clusterNode{b.NodeID, kafka.NodeID(b.Host)})
	}
	before := m.brokers
	m.setBrokers(list)
	return !slices.Equal(before, m.brokers)
}

// takeTopic learns of a topic's partitions; it says whether anything is new.
func (m *metadata) takeTopic(t *topicMetadata, topic kmsg.MetadataResponseTopic, node kafka.NodeID, cause uint64, j *journal.Journal) (changed bool) {
	old := t.leaders
	t.internal = topic.IsInternal
	if topic.TopicID != t.id {
		t.id, old, changed = topic.TopicID, nil, true
	}
	leaders := make([]leader, max(len(t.leaders), len(topic.Partitions)))
	copy(leaders, old)
	for _, p := range topic.Partitions {
		now := leader{m.nodeOf(p.Leader), kafka.LeaderEpoch(p.LeaderEpoch)}
		if int(p.Partition) >= len(old) {
			leaders[p.Partition], changed = now, true
		} else if before := old[p.Partition]; before != now && now.epoch >= before.epoch {
			leaders[p.Partition], changed = now, true
			tell(kafka.TopicPartition{Topic: t.name, Partition: kafka.Partition(p.Partition)}, before, now, "Metadata", node, cause, j)
		}
		if now.node == "" {
			m.wanted = true // LEADER_NOT_AVAILABLE
		}
	}
	t.setLeaders(leaders)
	return changed
}

// forgetGone takes leaders away that are not among the brokers any more.
func (m *metadata) forgetGone() {
	gone := func(l leader) bool {
		return l.node != "" && !slices.ContainsFunc(m.brokers, func(b clusterNode) bool { return b.node == l.node })
	}
	for i := range m.topics {
		t := &m.topics[i]
		if !slices.ContainsFunc(t.leaders, gone) {
			continue
		}
		m.wanted = true
		leaders := slices.Clone(t.leaders)
		for i, l := range leaders {
			if gone(l) {
				leaders[i].node = ""
			}
		}
		t.setLeaders(leaders)
	}
}

func (t *topicMetadata) setLeaders(leaders []leader) {
	t.leaders, t.led = leaders, nil
	for i, l := range leaders {
		if l.node != "" {
			t.led = append(t.led, kafka.Partition(i))
		}
	}
}

func tell(tp kafka.TopicPartition, before, now leader, api string, node kafka.NodeID, cause uint64, j *journal.Journal) {
	j.Append(node, cause, journal.LeaderLearned{TopicPartition: tp, Before: before.node, Leader: now.node, LeaderEpoch: now.epoch, API: api})
}

// moved learns from a Produce or Fetch response who leads a partition now; host is the node endpoint that came
// along, if one did. False: it says nothing that is newer.
//
// Source: KIP-951; Metadata.updatePartitionLeadership.
func (m *metadata) moved(tp kafka.TopicPartition, id, epoch int32, host kafka.NodeID, api string, node kafka.NodeID, cause uint64, j *journal.Journal) bool {
	before, t := m.leaderOf(tp), m.topic(tp.Topic)
	if id < 0 || epoch < 0 || t == nil || int(tp.Partition) >= len(t.leaders) || kafka.LeaderEpoch(epoch) <= before.epoch {
		return false
	}
	if m.nodeOf(id) == "" {
		if host == "" {
			return false
		}
		m.setBrokers(append(slices.Clone(m.brokers), clusterNode{id, host}))
	}
	now := leader{m.nodeOf(id), kafka.LeaderEpoch(epoch)}
	leaders := slices.Clone(t.leaders)
	leaders[tp.Partition] = now
	m.topics = slices.Clone(m.topics)
	m.topic(tp.Topic).setLeaders(leaders)
	m.unchanged = 0
	tell(tp, before, now, api, node, cause, j)
	return true
}

// atOnce is a due time before any other.
const atOnce kafka.Millis = math.MinInt64

// wantsMetadata says whether an error means that the client's metadata may be old.
//
// Source: class InvalidMetadataException; FetchCollector.handleInitializeErrors for UNKNOWN_LEADER_EPOCH.
func wantsMetadata(code int16) bool {
	switch code {
	case kerr.UnknownTopicOrPartition.Code, kerr.LeaderNotAvailable.Code, kerr.NotLeaderForPartition.Code, kerr.ReplicaNotAvailable.Code,
		kerr.NetworkException.Code, kerr.KafkaStorageError.Code, kerr.ListenerNotFound.Code, kerr.FencedLeaderEpoch.Code,
		kerr.UnknownLeaderEpoch.Code, kerr.UnknownTopicID.Code, kerr.InconsistentTopicID.Code, kerr.OffsetNotAvailable.Code:
		return true
	}
	return false
}
