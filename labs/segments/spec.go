package segments

import (
	"fmt"
	"strconv"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/storage"
	"loglab/labs"
)

// codecs lists the names of compression.type.
func codecs() (names []string) {
	for c := record.None; c <= record.Zstd; c++ {
		names = append(names, c.String())
	}
	return names
}

// codec gives the one of a name of [codecs].
func codec(name string) record.Codec {
	for c := record.None; c <= record.Zstd; c++ {
		if c.String() == name {
			return c
		}
	}
	return record.None
}

// keyName gives the keys their names: A to Z, then A1 to Z1, A2, ….
func keyName(i int) string {
	name := string(rune('A' + i%26))
	if i >= 26 {
		name += strconv.Itoa(i / 26)
	}
	return name
}

// logConfig gives the settings of the topic’s log.
func logConfig(v labs.Values) storage.Config {
	c := storage.DefaultConfig()
	c.SegmentBytes, c.SegmentMillis, c.IndexIntervalBytes = v.Int("segment-bytes"), kafka.Millis(v.Int("segment-ms")), v.Int("index-interval")
	if v.Text("ts-type") == appendTime {
		c.MessageTimestampType = record.LogAppendTime
	}
	c.TimestampAfterMaxMillis = kafka.Millis(v.Int("ts-after"))
	policy := v.Text("policy")
	c.Compact, c.Delete = policy == compacts || policy == both, policy == deletes || policy == both
	c.RetentionBytes, c.RetentionMillis, c.FileDeleteDelayMillis = v.Int("retention-bytes"), kafka.Millis(v.Int("retention-ms")), kafka.Millis(v.Int("file-delay"))
	ratio, err := strconv.ParseFloat(v.Text("dirty-ratio"), 64)
	if err != nil {
		panic(err) // canonicalRatio wrote it
	}
	c.MinCleanableDirtyRatio = ratio
	c.MinCompactionLagMillis, c.MaxCompactionLagMillis = kafka.Millis(v.Int("min-lag")), kafka.Millis(v.Int("max-lag"))
	c.DeleteRetentionMillis = kafka.Millis(v.Int("delete-retention"))
	return c
}

// spec says what runs. Its errors are [*labs.AddressError]s.
func spec(v labs.Values) (*engine.Spec, error) {
	if err := check(v); err != nil {
		return nil, err
	}
	tick := kafka.Millis(v.Int(labs.TickSetting))
	s := &engine.Spec{
		TickMillis: tick,
		Latency:    latencyMillis,
		MaxFiles:   maxFiles,
		Cluster:    engine.DefaultCluster(1),
		Topic:      engine.TopicSpec{Name: topic, Partitions: 1, ReplicationFactor: 1, Config: logConfig(v)},
		Producers:  []engine.ProducerSpec{{Config: producerConfig(v), Workload: workload(v)}},
	}
	c := &s.Cluster
	c.Logs, c.Groups.InitialRebalanceDelay = engine.DefaultLogSettings(), 0
	c.HeartbeatInterval, c.MetadataFetchWait = seldom(2000, tick), seldom(500, tick)
	c.SessionTimeout = 4*c.HeartbeatInterval + 1000
	if mode := v.Text("reader"); mode != off {
		s.Groups = []engine.ConsumerGroupSpec{{ID: readers, Members: []engine.MemberSpec{{Config: readerConfig(v), Off: true}}}}
		s.PrologueSpan = 2 * resetMillis
		s.Prologue = []command.Command{command.Reset{Group: readers, To: command.ResetTo{Rule: command.ToEarliest}}}
		if mode == on {
			s.Prologue = append(s.Prologue, command.Wait{Span: resetMillis}, command.Start{Node: reader})
		}
	}
	return s, nil
}

// maxFiles bounds what thousands of tiny segments cost.
const maxFiles = 10_000

// resetMillis is time for the first commit of the group: its coordinator has to be found, and its topic created.
const resetMillis = 1000

// check refuses values that cannot go together.
func check(v labs.Values) error {
	tick, rate, every := v.Int(labs.TickSetting), v.Int("rate"), v.Int("every")
	bursts := max(tick/every, 1)
	switch least, most := v.Int("min-lag"), v.Int("max-lag"); {
	case rate*bursts > engine.MaxRecordsPerTick:
		return &labs.AddressError{
			Param: "every", Found: fmt.Sprintf("%d, which makes %s of %d in a tick of %d ms", every, kafka.Count(bursts, "burst"), rate, tick),
			Allowed: fmt.Sprintf("at most %s a tick: at least %d ms between bursts", kafka.Count(engine.MaxRecordsPerTick, "record"), leastEvery(tick, rate)),
		}
	case least > most:
		return &labs.AddressError{Param: "min-lag", Found: strconv.Itoa(least), Allowed: fmt.Sprintf("at most max.compaction.lag.ms = %d", most)}
	}
	return nil
}

// leastEvery gives the least time between bursts that keeps a tick within the bound.
func leastEvery(tick, rate int) int { return tick/(engine.MaxRecordsPerTick/rate+1) + 1 }

// seldom gives how often something is done that costs messages while nothing happens: every so many ms as Kafka's
// default says, and twice a tick where that is less often.
func seldom(standard, tick kafka.Millis) kafka.Millis { return max(standard, tick/2) }

// producerConfig gives the settings of the producer.
func producerConfig(v labs.Values) engine.ProducerConfig {
	c := engine.DefaultProducerConfig(topic)
	c.Linger, c.BatchSize, c.Compression = kafka.Millis(v.Int("linger")), v.Int("batch-size"), codec(v.Text("compression"))
	c.MetadataMaxAge = seldom(c.MetadataMaxAge, kafka.Millis(v.Int(labs.TickSetting)))
	return c
}

// workload is what the producer’s application sends.
func workload(v labs.Values) engine.Workload {
	w := engine.Workload{Rate: v.Int("rate"), Every: kafka.Millis(v.Int("every")), ValueBytes: v.Int("value-bytes"), DeleteEvery: v.Int("deletions")}
	for i := range v.Int("keys") {
		w.Entities = append(w.Entities, keyName(i))
	}
	return w
}

// readerConfig gives the settings of the reader.
func readerConfig(v labs.Values) engine.ConsumerConfig {
	tick := kafka.Millis(v.Int(labs.TickSetting))
	c := engine.DefaultConsumerConfig(topic)
	c.AutoOffsetReset, c.Group = v.Text("reset"), engine.DefaultGroupConfig(readers)
	c.FetchMaxWait, c.MetadataMaxAge = seldom(c.FetchMaxWait, tick), seldom(c.MetadataMaxAge, tick)
	c.RequestTimeout += c.FetchMaxWait
	g := &c.Group
	g.HeartbeatInterval = min(seldom(g.HeartbeatInterval, tick), maxHeartbeat)
	g.SessionTimeout, g.AutoCommitInterval = max(g.SessionTimeout, 3*g.HeartbeatInterval), seldom(g.AutoCommitInterval, tick)
	g.MaxPollInterval = max(g.MaxPollInterval, 2*c.FetchMaxWait)
	return c
}

// maxHeartbeat keeps a session of three of them within group.max.session.timeout.ms = 1,800,000.
const maxHeartbeat = 600_000
