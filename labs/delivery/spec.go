package delivery

import (
	"fmt"
	"strconv"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/engine/kafka"
	"loglab/engine/storage"
	"loglab/labs"
)

// entities are what orders are about.
var entities = [...]string{"a", "b", "c", "d", "e", "f"}

// producersTransact says whether the producers of orders write in transactions.
func producersTransact(v labs.Values) bool {
	t := v.Text("transactions")
	return t == txnProducers || t == txnBoth
}

// appTransacts says whether the application writes in transactions.
func appTransacts(v labs.Values) bool {
	t := v.Text("transactions")
	return v.Text("output") == on && (t == txnApp || t == txnBoth)
}

// hasApp says whether there is an application.
func hasApp(v labs.Values) bool { return v.Text("output") == on || v.Text("outside") != nothing }

// spec says what runs. Its errors are [*labs.AddressError]s.
func spec(v labs.Values) (*engine.Spec, error) {
	brokers := v.Int("brokers")
	s := &engine.Spec{
		TickMillis: tickMillis, Latency: latencyMillis, Cluster: engine.DefaultCluster(brokers),
		Topic: engine.TopicSpec{Name: orders, Partitions: 1, ReplicationFactor: brokers, Config: logConfig()},
	}
	s.Cluster.Groups.InitialRebalanceDelay = 0
	s.Cluster.Transactions.Version = int16(v.Int("version"))
	if v.Text("output") == on {
		s.Topics = []engine.TopicSpec{{Name: bills, Partitions: 1, ReplicationFactor: brokers, Config: logConfig()}}
	}
	for i := range v.Int("producers") {
		p, err := producerSpec(v, i)
		if err != nil {
			return nil, err
		}
		s.Producers = append(s.Producers, p)
	}
	if v.Text("plain") == on {
		s.Producers = append(s.Producers, engine.ProducerSpec{Config: engine.DefaultProducerConfig(orders)})
	}
	if hasApp(v) {
		app, err := appSpec(v)
		if err != nil {
			return nil, err
		}
		s.Groups = append(s.Groups, app)
	}
	s.Groups = append(s.Groups, readerSpec(v, uncommitted, engine.ReadUncommitted), readerSpec(v, committed, engine.ReadCommitted))
	s.Prologue = prologue(v)
	s.PrologueSpan = prologueSpan
	return s, nil
}

// prologueSpan is how long before tick 0 the orders of the start are written.
const prologueSpan = 3000

// prologue writes the orders that are there at the start, in one transaction where p0 has them.
func prologue(v labs.Values) (list []command.Command) {
	n := v.Int("records")
	if n == 0 {
		return nil
	}
	for i := range n {
		list = append(list, command.Produce{Producer: "p0", Key: entities[i%len(entities)], Default: true})
	}
	if !producersTransact(v) {
		return list
	}
	list = append([]command.Command{command.BeginTransaction{Producer: "p0"}}, list...)
	return append(list, command.CommitTransaction{Producer: "p0"})
}

// idempotences are the values of enable.idempotence.
var idempotences = map[string]engine.Idempotence{unset: engine.IdempotenceUnset, yes: engine.IdempotenceOn, no: engine.IdempotenceOff}

// producerConfig gives the settings of a producer of orders as they were chosen, and whether it does not start.
func producerConfig(v labs.Values, i int) engine.ProducerConfig {
	c := engine.DefaultProducerConfig(orders)
	c.Acks, c.EnableIdempotence = labs.AcksNumber(v.Text("acks")), idempotences[v.Text("idempotence")]
	c.Retries, c.MaxInFlight, c.RequestTimeout = v.Int("retries"), v.Int("in-flight"), kafka.Millis(v.Int("request-timeout"))
	c.TransactionVersion = v.Int("version")
	if producersTransact(v) {
		if v.Text("ids") == sharedIDs {
			i = 0
		}
		c.TransactionalID, c.TransactionTimeout = "tx-"+strconv.Itoa(i), kafka.Millis(v.Int("txn-timeout"))
	}
	return c
}

func producerSpec(v labs.Values, i int) (p engine.ProducerSpec, err error) {
	p.Config = producerConfig(v, i)
	if v.Text("outbox") == on && producersTransact(v) {
		return p, &labs.AddressError{Param: "outbox", Found: strconv.Quote(on), Allowed: "an outbox table is published by a producer without transactions here: transactions has to be off or application"}
	}
	if _, err := p.Config.Resolve(); err != nil {
		return p, refused(v, err)
	}
	p.Off = i > 0 && producersTransact(v) && v.Text("ids") == sharedIDs
	p.Workload = engine.Workload{
		Entities: entities[:], Rate: v.Int("rate"), Every: kafka.Millis(tickMillis * v.Int("every")), Turn: i, Turns: v.Int("producers"),
		TransactionRecords: v.Int("txn-records"), AbortEvery: v.Int("abort-every"), Outbox: v.Text("outbox") == on,
	}
	return p, nil
}

// mostInFlight is how many requests an idempotent producer may have in flight.
const mostInFlight = 5

// refused names the setting for which Kafka's producer does not start.
func refused(v labs.Values, err error) error {
	param := "in-flight"
	switch {
	case producersTransact(v) && v.Int("in-flight") <= mostInFlight:
		param = "transactions"
	case v.Text("idempotence") == yes && (v.Int("retries") == 0 || v.Text("acks") != acksAll):
		param = "idempotence"
	case v.Int("in-flight") <= mostInFlight || v.Text("idempotence") == no:
		param = "request-timeout"
	}
	return &labs.AddressError{Param: param, Found: strconv.Quote(v.Text(param)), Allowed: "Kafka’s producer does not start: " + err.Error()}
}

// sinkKinds are what the application writes to outside the cluster.
var sinkKinds = map[string]engine.SinkKind{
	nothing: engine.SinkPlain, toPlain: engine.SinkPlain, toOnce: engine.SinkIdempotent, toOffsets: engine.SinkOffsets,
	toInbox: engine.SinkInbox, toEmail: engine.SinkEmail,
}

// appSpec makes the application.
func appSpec(v labs.Values) (g engine.ConsumerGroupSpec, err error) {
	g = engine.ConsumerGroupSpec{ID: billing, Sink: engine.SinkConfig{Kind: sinkKinds[v.Text("outside")]}}
	for i := range v.Int("instances") {
		c := engine.DefaultConsumerConfig(orders)
		c.IsolationLevel, c.MaxPollRecords, c.Group = v.Text("isolation"), v.Int("poll-records"), engine.DefaultGroupConfig(billing)
		m := &c.Group
		m.Assignors, m.AutoCommit, m.SessionTimeout, m.HeartbeatInterval = []string{"range"}, false, kafka.Millis(v.Int("session-timeout")), 2000
		if v.Text("static") == on {
			m.InstanceID = kafka.GroupInstanceID(fmt.Sprintf("%s-%d", billing, i+1))
		}
		app := &m.App
		app.StartAt, app.Work, app.Commit = 1, kafka.Millis(tickMillis*v.Int("work")), engine.CommitBatch
		if v.Text("commit") == commitFirst {
			app.Commit = engine.CommitBefore
		}
		if v.Text("output") == on {
			app.Transform, app.CallsOut = &engine.Transform{Topic: bills, Producer: appProducer(v, i)}, v.Text("outside") != nothing
		}
		if err := app.CheckTransform(); err != nil {
			param := "app-idempotence"
			if v.Text(param) != no {
				param = "transactions"
			}
			return g, &labs.AddressError{Param: param, Found: strconv.Quote(v.Text(param)), Allowed: err.Error()}
		}
		g.Members = append(g.Members, engine.MemberSpec{Config: c})
	}
	return g, nil
}

// appLinger is linger.ms of the application's producer: what one poll has given goes out together, by the flush.
const appLinger = 5000

// appTransaction is the transactional.id of an instance of the application.
func appTransaction(i int) string { return fmt.Sprintf("tx-%s-%d", billing, i+1) }

// appProducer gives the settings of the producer inside the application.
func appProducer(v labs.Values, i int) engine.ProducerConfig {
	c := engine.DefaultProducerConfig(bills)
	c.Linger, c.EnableIdempotence, c.RequestTimeout = appLinger, idempotences[v.Text("app-idempotence")], kafka.Millis(v.Int("request-timeout"))
	c.TransactionVersion = v.Int("version")
	if appTransacts(v) {
		c.TransactionalID, c.TransactionTimeout = appTransaction(i), kafka.Millis(v.Int("txn-timeout"))
	}
	return c
}

// readTopic is the topic that the two readers read.
func readTopic(v labs.Values) string {
	if v.Text("output") == on {
		return bills
	}
	return orders
}

// readerSpec makes a reader.
func readerSpec(v labs.Values, id, level string) engine.ConsumerGroupSpec {
	topic := readTopic(v)
	c := engine.DefaultConsumerConfig(topic)
	c.IsolationLevel, c.Group = level, engine.DefaultGroupConfig(id)
	c.Group.Assign, c.Group.AutoCommit = []kafka.TopicPartition{partition(topic)}, false
	c.Group.App = engine.AppConfig{Commit: engine.CommitNever}
	switch v.Text("reader-commit") {
	case byLast:
		c.Group.App.Commit = engine.CommitBatch
	case byPosition:
		c.Group.App.Commit, c.Group.App.What = engine.CommitBatch, engine.CommitPosition
	}
	return engine.ConsumerGroupSpec{ID: id, Members: []engine.MemberSpec{{Config: c}}}
}

// logConfig gives the settings of the topics' logs.
func logConfig() storage.Config {
	config := storage.DefaultConfig()
	config.SegmentBytes = segmentBytes
	return config
}
