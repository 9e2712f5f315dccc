package offsets

import (
	"fmt"
	"strconv"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/engine/kafka"
	"loglab/engine/partitioner"
	"loglab/engine/storage"
	"loglab/labs"
)

// keyCount is how many keys the records have.
const keyCount = 24

// keysAtStart is how many keys the records of one partition have that are there at the start.
const keysAtStart = 2

// recordsAtStart is how many records there may be at the start, in all partitions.
const recordsAtStart = 1000

// spec says what runs. Its errors are [*labs.AddressError]s.
func spec(v labs.Values) (*engine.Spec, error) {
	if heartbeat >= v.Int("session-timeout") {
		return nil, &labs.AddressError{Param: "session-timeout", Found: v.Text("session-timeout"), Allowed: fmt.Sprintf("more than heartbeat.interval.ms = %d", heartbeat)}
	}
	if v.Int("threads") > 0 && v.Int("process") == 0 {
		return nil, &labs.AddressError{Param: "threads", Found: v.Text("threads") + ", with process = 0", Allowed: "threads work by themselves: process has to be at least 1"}
	}
	if partitions := v.Int("partitions"); partitions*v.Int("records") > recordsAtStart {
		return nil, &labs.AddressError{Param: "records", Found: v.Text("records"), Allowed: fmt.Sprintf("with partitions = %d: at most %d, %s in all", partitions, recordsAtStart/partitions, kafka.Thousands(recordsAtStart))}
	}
	brokers := v.Int("brokers")
	s := &engine.Spec{
		TickMillis: tickMillis,
		Latency:    latencyMillis,
		Cluster:    engine.DefaultCluster(brokers),
		Topic:      engine.TopicSpec{Name: topic, Partitions: v.Int("partitions"), ReplicationFactor: brokers, Config: logConfig()},
		Producers:  []engine.ProducerSpec{{Config: engine.DefaultProducerConfig(topic), Workload: workload(v)}},
	}
	groups := &s.Cluster.Groups
	groups.InitialRebalanceDelay, groups.OffsetsReplicationFactor = 0, min(brokers, v.Int("offsets-replicas"))
	groups.OffsetsRetention = kafka.Millis(v.Int("offsets-retention")) * 60_000
	if deadLettered(v) {
		s.Topics = []engine.TopicSpec{{Name: deadLetters, Partitions: 1, ReplicationFactor: brokers, Config: logConfig()}}
	}
	s.Groups = []engine.ConsumerGroupSpec{groupSpec(v, billing, v.Int("consumers"), v.Text("reset"), false)}
	if second := v.Text("second"); second != off {
		s.Groups = append(s.Groups, groupSpec(v, audit, v.Int("audit-consumers"), v.Text("audit-reset"), second == isNew))
	}
	s.Prologue = prologue(v)
	return s, nil
}

// workload is what the producer's application sends.
func workload(v labs.Values) engine.Workload {
	w := engine.Workload{Rate: v.Int("rate"), Every: tickMillis}
	for i := range keyCount {
		w.Entities = append(w.Entities, keyName(i))
	}
	return w
}

func keyName(i int) string { return fmt.Sprintf("order-%d", i+1) }

// prologue writes the records that are there at the start. Each has a key of its partition.
func prologue(v labs.Values) (list []command.Command) {
	partitions := v.Int("partitions")
	keys := make([][]string, partitions)
	rule, err := partitioner.ByName(engine.DefaultProducerConfig(topic).Partitioner)
	if err != nil {
		panic(err)
	}
	for i := 0; i < 100*partitions; i++ {
		if p, _ := rule.Partition([]byte(keyName(i)), int32(partitions)); len(keys[p]) < keysAtStart {
			keys[p] = append(keys[p], keyName(i))
		}
	}
	for i := range v.Int("records") {
		for p := range partitions {
			list = append(list, command.Produce{Producer: producer, Named: true, To: kafka.Partition(p), Key: keys[p][i%len(keys[p])], Default: true})
		}
	}
	return list
}

// groupSpec makes a group; later means that its consumers do not run before they are started.
func groupSpec(v labs.Values, id string, consumers int, reset string, later bool) engine.ConsumerGroupSpec {
	g := engine.ConsumerGroupSpec{ID: id, Sink: engine.SinkConfig{Kind: engine.SinkKind(v.Text("sink")), Capacity: v.Int("capacity"), Window: tickMillis}}
	for i := range consumers {
		c := engine.DefaultConsumerConfig(topic)
		c.AutoOffsetReset, c.MaxPollRecords, c.Group = reset, v.Int("poll-records"), engine.DefaultGroupConfig(id)
		m := &c.Group
		m.Assignors = []string{v.Text("assignor")}
		m.SessionTimeout, m.HeartbeatInterval, m.MaxPollInterval = kafka.Millis(v.Int("session-timeout")), heartbeat, kafka.Millis(v.Int("poll-interval"))
		m.HeartbeatInLoop = v.Text("heartbeats") == inLoop
		m.AutoCommit, m.AutoCommitInterval = v.Text("commit") == automatic, kafka.Millis(v.Int("auto-interval"))
		if v.Text("static") == on {
			m.InstanceID = kafka.GroupInstanceID(id + "-" + strconv.Itoa(i+1))
		}
		m.App = application(v)
		g.Members = append(g.Members, engine.MemberSpec{Config: c, Off: later})
	}
	return g
}

// application is what runs around each consumer.
func application(v labs.Values) engine.AppConfig {
	app := engine.AppConfig{
		StartAt: 1, Workers: v.Int("threads"), Commit: commitWhen(v), What: engine.CommitWhat(v.Text("commits")), CommitOnRevoke: v.Text("on-revoke") == on,
	}
	if rate := v.Int("process"); rate > 0 {
		app.Work = kafka.Millis(tickMillis / rate)
	} else {
		app.ByHand = true
	}
	if every := v.Int("slow-every"); every > 0 && !app.ByHand {
		app.SlowEvery, app.SlowWork = every, 4*app.Work
	}
	if rule := v.Text("handler"); rule != handlerOK {
		app.Poison = []engine.Poison{{TopicPartition: kafka.TopicPartition{Topic: topic}, Offset: kafka.Offset(v.Int("fails-at"))}}
		app.OnFailure = engine.FailureRule(rule)
		if rule == handlerBack {
			app.OnFailure = engine.SeekBack
		}
		if rule == handlerSkip || deadLettered(v) {
			app.Attempts = v.Int("attempts")
		}
		if deadLettered(v) {
			app.DeadLetterTopic = deadLetters
		}
	}
	return app
}

// deadLettered says whether a record that fails goes to a topic of its own in the end.
func deadLettered(v labs.Values) bool {
	return v.Text("handler") == handlerDead || v.Text("handler") == handlerBack
}

// logConfig gives the settings of the topic's logs.
func logConfig() storage.Config {
	config := storage.DefaultConfig()
	config.SegmentBytes = segmentBytes
	return config
}

// segmentBytes keeps a long run small.
const segmentBytes = 64 << 10
