package rebalance

import (
	"fmt"
	"strings"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/engine/partitioner"
	"loglab/engine/storage"
	"loglab/labs"
)

// Names and numbers of what every run of the lab has.
const (
	billing     = "billing"
	brokerNode  = kafka.NodeID("b1") // the only one
	memberCount = 16                 // that exist; those above the number at the start do not run

	partitionsInAll = 256 // of all topics, at the start
)

// memberName names a member by its place. Names sort as the places do.
func memberName(i int) string { return fmt.Sprintf("%s-%02d", billing, i+1) }

// memberPlace gives the place of a member; ok is false if the node is none.
func memberPlace(node kafka.NodeID) (i int, ok bool) {
	digits, is := strings.CutPrefix(string(node), billing+"-")
	if !is || len(digits) != 2 {
		return 0, false
	}
	i = int(digits[0]-'0')*10 + int(digits[1]-'0') - 1
	return i, i >= 0 && i < memberCount
}

// spec says what runs. Its errors are [*labs.AddressError]s.
func spec(v labs.Values) (*engine.Spec, error) {
	if err := checkAssignor(v); err != nil {
		return nil, err
	}
	if err := checkSubscriptions(v); err != nil {
		return nil, err
	}
	if topics := v.Int("topics"); topics*v.Int("partitions") > partitionsInAll {
		return nil, &labs.AddressError{Param: "partitions", Found: v.Text("partitions"), Allowed: fmt.Sprintf("with topics = %d: at most %d, %d in all", topics, partitionsInAll/topics, partitionsInAll)}
	}
	if topics := v.Int("topics"); topics*v.Int("rate") > engine.MaxRecordsPerTick {
		return nil, &labs.AddressError{Param: "rate", Found: v.Text("rate"), Allowed: fmt.Sprintf("with topics = %d: at most %d, %d in all", topics, engine.MaxRecordsPerTick/topics, engine.MaxRecordsPerTick)}
	}
	if heartbeat := v.Int("heartbeat"); heartbeat >= v.Int("session-timeout") {
		return nil, &labs.AddressError{Param: "heartbeat", Found: v.Text("heartbeat"), Allowed: fmt.Sprintf("less than session.timeout.ms = %s", v.Text("session-timeout"))}
	}
	s := &engine.Spec{TickMillis: tickMillis, Latency: latencyMillis, Cluster: engine.DefaultCluster(1)}
	s.Cluster.Groups.ConsumerSessionTimeout, s.Cluster.Groups.ConsumerHeartbeatInterval = kafka.Millis(v.Int("consumer-session")), kafka.Millis(v.Int("consumer-heartbeat"))
	s.Cluster.Groups.InitialRebalanceDelay = kafka.Millis(v.Int("initial-delay"))
	for i, name := range topicsOf(v) {
		t := engine.TopicSpec{Name: name, Partitions: v.Int("partitions"), ReplicationFactor: 1, Config: logConfig()}
		if i == 0 {
			s.Topic = t
		} else {
			s.Topics = append(s.Topics, t)
		}
		p := engine.ProducerSpec{Config: engine.DefaultProducerConfig(name), Workload: engine.Workload{Rate: v.Int("rate"), Every: tickMillis, Entities: keysInTurn(name, v.Int("partitions"))}}
		s.Producers = append(s.Producers, p)
	}
	g := engine.ConsumerGroupSpec{ID: billing}
	for i := range memberCount {
		g.Members = append(g.Members, member(v, i))
	}
	s.Groups = []engine.ConsumerGroupSpec{g}
	return s, nil
}

// keysInTurn gives a key for each partition of a topic, in their order: records with these keys in turn go to the
// partitions in turn, and to others once there are more partitions.
func keysInTurn(topic string, partitions int) []string {
	rule, err := partitioner.ByName(engine.DefaultProducerConfig(topic).Partitioner)
	if err != nil {
		panic(err)
	}
	keys := make([]string, partitions)
	for i, left := 1, partitions; left > 0; i++ {
		key := fmt.Sprintf("%s-%d", topic[:len(topic)-1], i)
		if p, _ := rule.Partition([]byte(key), int32(partitions)); keys[p] == "" {
			keys[p], left = key, left-1
		}
	}
	return keys
}

// member makes a member of the group by its place.
func member(v labs.Values, i int) engine.MemberSpec {
	c := engine.DefaultConsumerConfig("")
	c.Topics = subscriptionOf(v, i)
	c.AutoOffsetReset, c.MaxPollRecords, c.MetadataMaxAge = "earliest", v.Int("poll-records"), kafka.Millis(v.Int("metadata-age"))
	m := &c.Group
	if protocolOf(v).remote {
		c.Group = engine.DefaultConsumerGroupConfig(billing)
		m.RemoteAssignor = strings.Join(strategy(v), "")
	} else {
		c.Group = engine.DefaultGroupConfig(billing)
		m.Assignors, m.SessionTimeout, m.HeartbeatInterval = strategyOf(v, i), kafka.Millis(v.Int("session-timeout")), kafka.Millis(v.Int("heartbeat"))
	}
	m.MaxPollInterval = kafka.Millis(v.Int("poll-interval"))
	m.AutoCommit, m.AutoCommitInterval = v.Text("commit") == automatic, kafka.Millis(v.Int("auto-interval"))
	m.InstanceID = instanceFor(v, i)
	m.App = engine.AppConfig{StartAt: 1, Work: kafka.Millis(tickMillis / v.Int("process"))}
	switch v.Text("commit") {
	case perBatch:
		m.App.Commit = engine.CommitBatch
	case perRecord:
		m.App.Commit = engine.CommitRecord
	}
	if v.Int("slow") == i+1 {
		m.App.Work = kafka.Millis(v.Int("slow-work"))
	}
	return engine.MemberSpec{Config: c, Off: i >= v.Int("members")}
}

// instanceFor gives a member's group.instance.id; empty: it is a dynamic member.
func instanceFor(v labs.Values, i int) kafka.GroupInstanceID {
	switch v.Text("static") {
	case on:
		return kafka.GroupInstanceID(memberName(i))
	case clash:
		return kafka.GroupInstanceID(memberName(i % (memberCount - 1)))
	}
	return ""
}

// logConfig gives the settings of the topics' logs.
func logConfig() storage.Config {
	config := storage.DefaultConfig()
	config.SegmentBytes = segmentBytes
	return config
}

// segmentBytes keeps a long run small.
const segmentBytes = 64 << 10
