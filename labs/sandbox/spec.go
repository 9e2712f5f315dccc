package sandbox

import (
	"strconv"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/engine/storage"
	"loglab/labs"
)

// entities are what the records are about: their keys.
var entities = []string{"a", "b", "c", "d", "e", "f"}

// spec says what runs. Its errors are [*labs.AddressError]s.
func spec(v labs.Values) (*engine.Spec, error) {
	brokers, partitions, rf := v.Int("brokers"), v.Int("partitions"), v.Int("rf")
	if err := labs.CheckReplicas(rf, brokers); err != nil {
		return nil, err
	}
	s := &engine.Spec{
		TickMillis: kafka.Millis(v.Int(labs.TickSetting)), Latency: latencyMillis, Cluster: engine.DefaultCluster(brokers),
		Topic: engine.TopicSpec{
			Name: topic, Partitions: partitions, ReplicationFactor: rf, MinInsyncReplicas: v.Int("min-isr"), Config: logConfig(v),
			Replicas: labs.PlaceInOrder(partitions, rf, brokers),
		},
	}
	s.Cluster.UncleanElection, s.Cluster.Logs, s.Cluster.Groups.InitialRebalanceDelay = v.Text("unclean") == yes, engine.DefaultLogSettings(), 0
	for i := range v.Int("producers") {
		p := engine.ProducerSpec{Config: producerConfig(v, i), Workload: engine.Workload{
			Entities: entities, Rate: v.Int("rate"), Every: kafka.Millis(v.Int("every")), Turn: i, Turns: v.Int("producers"),
		}}
		if _, err := p.Config.Resolve(); err != nil {
			return nil, refused(v, err)
		}
		s.Producers = append(s.Producers, p)
	}
	for _, id := range []string{billing, audit}[:v.Int("groups")] {
		s.Groups = append(s.Groups, groupSpec(v, id))
	}
	return s, nil
}

// transacts says whether a producer has a transactional.id.
func transacts(v labs.Values, i int) bool {
	t := v.Text("transactional")
	return t == everyone || t == first && i == 0
}

// producerConfig gives the settings of a producer as they were chosen.
func producerConfig(v labs.Values, i int) engine.ProducerConfig {
	c := engine.DefaultProducerConfig(topic)
	c.Acks = labs.AcksNumber(v.Text("acks"))
	c.EnableIdempotence = map[string]engine.Idempotence{unset: engine.IdempotenceUnset, yes: engine.IdempotenceOn, no: engine.IdempotenceOff}[v.Text("idempotence")]
	if transacts(v, i) {
		c.TransactionalID = "tx-" + strconv.Itoa(i)
	}
	return c
}

// refused names the setting for which Kafka's producer does not start.
func refused(v labs.Values, err error) error {
	param := "idempotence"
	if v.Text("transactional") != nobody {
		param = "transactional"
	}
	return &labs.AddressError{Param: param, Found: strconv.Quote(v.Text(param)), Allowed: "Kafka’s producer does not start: " + err.Error()}
}

// groupSpec makes a group.
func groupSpec(v labs.Values, id string) engine.ConsumerGroupSpec {
	g := engine.ConsumerGroupSpec{ID: id}
	members := v.Int("members")
	for i := range members {
		c := engine.DefaultConsumerConfig(topic)
		c.AutoOffsetReset, c.IsolationLevel = v.Text("reset"), v.Text("isolation")
		if v.Text("protocol") == consumer {
			c.Group = engine.DefaultConsumerGroupConfig(id)
		} else {
			c.Group = engine.DefaultGroupConfig(id)
			c.Group.Assignors, c.Group.SessionTimeout, c.Group.HeartbeatInterval = []string{v.Text("protocol")}, 6000, 2000
		}
		c.Group.AutoCommit = v.Text("commit") == automatic
		c.Group.App = engine.AppConfig{StartAt: 1, Work: kafka.Millis(v.Int("work")), Commit: commitWhen(v)}
		g.Members = append(g.Members, engine.MemberSpec{Config: c, Off: i >= members-v.Int("off")})
	}
	return g
}

// logConfig gives the settings of the topic's logs.
func logConfig(v labs.Values) storage.Config {
	c := storage.DefaultConfig()
	policy := v.Text("policy")
	c.SegmentBytes, c.RetentionMillis = v.Int("segment-bytes"), kafka.Millis(v.Int("retention-ms"))
	c.Compact, c.Delete = policy != deletes, policy != compacts
	return c
}
