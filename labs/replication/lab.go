package replication

import (
	"cmp"
	"fmt"
	"strconv"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/engine/storage"
	"loglab/labs"
	"loglab/labs/view"
)

// Names of what every run of the lab has.
const (
	topic    = "orders"
	group    = "billing"
	producer = kafka.NodeID("p0")
)

// What the lab runs with, besides its settings.
const (
	tickMillis    = 100 // one message hop a tick
	latencyMillis = 100
)

// Lab makes the replication lab.
func Lab() *labs.Lab {
	return &labs.Lab{
		Name:       "replication",
		Title:      "Replication lab",
		Goal:       "See what an acknowledgement is worth: which replicas have the record by then, and which failures it survives.",
		Summary:    "Kill brokers, cut links and take the power away, one tick at a time, and see who leads, who is in sync, and which acknowledged records are lost.",
		TickMillis: tickMillis,
		Horizon:    200,
		Settings:   append(clusterSettings(), producerSettings()...),
		Ready:      readyRuns(),
		Packages: []string{
			"engine", "engine/broker", "engine/client", "engine/controller", "engine/ledger", "engine/metadata", "engine/record", "engine/replication",
			"engine/simdisk", "engine/simnet", "engine/storage", "labs/inspect", "labs/replication",
		},
		Spec:  spec,
		Build: build,
	}
}

// The choices of the settings.
const (
	inOrder   = "in-order"
	byKafka   = "kafka"
	unset     = "unset"
	on, off   = "on", "off"
	yes, no   = "true", "false"
	acksAll   = "all"
	maxMillis = 3_600_000
)

// clusterSettings are those of brokers, topic and controller.
func clusterSettings() []labs.Setting {
	return []labs.Setting{
		{Name: "brokers", Label: "Brokers", Default: "3", Min: 1, Max: engine.MaxBrokers},
		{Name: "rf", Label: "Replication factor", Default: "3", Min: 1, Max: engine.MaxBrokers},
		{Name: "min-isr", Label: "min.insync.replicas", Default: "1", Min: 1, Max: engine.MaxBrokers},
		{Name: "partitions", Label: "Partitions", Default: "1", Min: 1, Max: 6},
		{Name: "placement", Label: "Placement", Default: inOrder, Options: []string{inOrder, byKafka}, Help: "in order: partition p has replicas on brokers p+1, p+2, …; kafka: the controller draws a beginning"},
		{Name: "racks", Label: "Racks", Default: "0", Min: 0, Max: engine.MaxBrokers, Help: "0: none; the controller spreads replicas over them"},
		{Name: "unclean", Label: "unclean.leader.election.enable", Default: no, Options: []string{no, yes}},
		{Name: "elr", Label: "eligible.leader.replicas", Default: on, Options: []string{on, off}},
		{Name: "lag-time", Label: "replica.lag.time.max.ms", Default: "30000", Min: 100, Max: maxMillis},
		{Name: "session-timeout", Label: "broker.session.timeout.ms", Default: "9000", Min: 3000, Max: maxMillis, Help: "a broker sends a heartbeat every 2,000 ms"},
	}
}

// producerSettings are those of the producer and of who reads.
func producerSettings() []labs.Setting {
	return []labs.Setting{
		{Name: "acks", Label: "acks", Default: acksAll, Options: []string{acksAll, "1", "0"}},
		{Name: "idempotence", Label: "enable.idempotence", Default: unset, Options: []string{unset, yes, no}},
		{Name: "retries", Label: "retries", Default: "2147483647", Min: 0, Max: 2147483647},
		{Name: "in-flight", Label: "max.in.flight.requests.per.connection", Default: "5", Min: 1, Max: 100},
		{Name: "request-timeout", Label: "request.timeout.ms", Default: "30000", Min: 100, Max: maxMillis},
		{Name: "delivery-timeout", Label: "delivery.timeout.ms", Default: "120000", Min: 100, Max: maxMillis},
		{Name: "rate", Label: "Records at once", Default: "1", Min: 0, Max: 10, Help: "0: only what you produce"},
		{Name: "every", Label: "Every … ticks", Default: "5", Min: 1, Max: 100},
		{Name: "consumers", Label: "Consumers", Default: "1", Min: 0, Max: 1},
	}
}

const segmentBytes = 16 << 10

// spec says what runs. Its errors are [*labs.AddressError]s.
func spec(v labs.Values) (*engine.Spec, error) {
	brokers, rf := v.Int("brokers"), v.Int("rf")
	if err := labs.CheckReplicas(rf, brokers); err != nil {
		return nil, err
	}
	config, err := producerConfig(v)
	if err != nil {
		return nil, err
	}
	log := storage.DefaultConfig()
	log.SegmentBytes = segmentBytes
	cluster := engine.DefaultCluster(brokers)
	cluster.ReplicaLagTimeMax, cluster.SessionTimeout = kafka.Millis(v.Int("lag-time")), kafka.Millis(v.Int("session-timeout"))
	cluster.UncleanElection, cluster.ELR = v.Text("unclean") == yes, v.Text("elr") == on
	if racks := v.Int("racks"); racks > 0 {
		for i := range brokers {
			cluster.Racks = append(cluster.Racks, fmt.Sprintf("rack%d", i%racks+1))
		}
	}
	s := &engine.Spec{
		TickMillis: tickMillis,
		Latency:    latencyMillis,
		Cluster:    cluster,
		Topic:      engine.TopicSpec{Name: topic, Partitions: v.Int("partitions"), ReplicationFactor: rf, MinInsyncReplicas: v.Int("min-isr"), Config: log},
		Producers:  []engine.ProducerSpec{{Config: config, Workload: engine.Workload{Rate: v.Int("rate"), Every: kafka.Millis(tickMillis * v.Int("every"))}}},
		Group:      engine.GroupSpec{Name: group, Consumers: v.Int("consumers"), Assignor: "range", Config: engine.DefaultConsumerConfig(topic)},
	}
	if v.Text("placement") == inOrder {
		s.Topic.Replicas = labs.PlaceInOrder(v.Int("partitions"), rf, brokers)
	}
	return s, nil
}

// producerConfig gives the producer's settings as they were chosen. The error is one for which Kafka's producer does
// not start.
func producerConfig(v labs.Values) (engine.ProducerConfig, error) {
	c := engine.DefaultProducerConfig(topic)
	c.Keyless = "round-robin"
	c.Acks = labs.AcksNumber(v.Text("acks"))
	c.EnableIdempotence = map[string]engine.Idempotence{unset: engine.IdempotenceUnset, yes: engine.IdempotenceOn, no: engine.IdempotenceOff}[v.Text("idempotence")]
	c.Retries, c.MaxInFlight = v.Int("retries"), v.Int("in-flight")
	c.RequestTimeout, c.DeliveryTimeout = kafka.Millis(v.Int("request-timeout")), kafka.Millis(v.Int("delivery-timeout"))
	_, err := c.Resolve()
	if err == nil {
		return c, nil
	}
	param := "in-flight"
	switch {
	case c.EnableIdempotence == engine.IdempotenceOn && (c.Retries == 0 || c.Acks != -1):
		param = "idempotence"
	case c.MaxInFlight <= mostInFlight || c.EnableIdempotence == engine.IdempotenceOff:
		param = "delivery-timeout"
	}
	return c, &labs.AddressError{Param: param, Found: strconv.Quote(v.Text(param)), Allowed: "Kafka’s producer does not start: " + err.Error()}
}

// mostInFlight is how many requests an idempotent producer may have in flight.
const mostInFlight = 5

// build draws the frame.
func build(f labs.Frame, p *view.Page) {
	l := newLayout(f)
	p.Settings = settings(f.Address)
	l.actions(p)
	p.Picture = l.picture()
	p.Reading = l.reading()
	p.Inspector = cmp.Or(l.inspectAt(), p.Inspector)
	p.Change = cmp.Or(l.change(), p.Change)
}
