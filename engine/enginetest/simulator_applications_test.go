package enginetest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"loglab/engine"
	"loglab/engine/client"
	"loglab/engine/kafka"
	"loglab/engine/record"
)

// bills is the topic that the applications write to, and the name of their group.
const bills = "bills"

// drawApplications gives every other run with transactions a group of applications that read orders and write bills, in
// transactions with their offsets, and faults where they hurt these.
func (s *simulation) drawApplications(c chance) {
	if len(s.transactional()) == 0 || c.oneIn(2) {
		return
	}
	spec := s.spec
	config := spec.Topic.Config
	config.Compact, config.Delete, config.RetentionMillis, config.RetentionBytes = false, true, 604_800_000, -1
	topic := engine.TopicSpec{Name: bills, Partitions: c.between(1, 2), ReplicationFactor: c.between(1, spec.Cluster.Brokers), Config: config}
	topic.MinInsyncReplicas = c.between(1, topic.ReplicationFactor)
	spec.Topics = append(spec.Topics, topic)
	if len(spec.Groups) == 0 {
		spec.Cluster.Groups.OffsetsReplicationFactor = c.between(1, spec.Cluster.Brokers)
	}
	s.set(bills, fmt.Sprintf("partitions:%d,rf:%d,min.isr:%d,offsets.rf:%d", topic.Partitions, topic.ReplicationFactor, topic.MinInsyncReplicas, spec.Cluster.Groups.OffsetsReplicationFactor))
	g := engine.ConsumerGroupSpec{ID: bills, Sink: engine.SinkConfig{Kind: engine.SinkPlain}}
	consumer, static := c.oneIn(2), c.oneIn(4)
	assignor := pickOne(c, "range", "roundrobin", "sticky", "cooperative-sticky")
	for i := range c.between(1, 3) {
		g.Members = append(g.Members, engine.MemberSpec{Config: s.drawApplication(c, i, consumer, static, assignor), Off: c.oneIn(6)})
	}
	spec.Groups = append(spec.Groups, g)
	for range c.between(0, 40) {
		s.command(c.IntN(s.ticks), s.drawApplicationOrder(c, len(g.Members)))
	}
	for range c.between(0, 12) {
		n := c.between(1, len(g.Members))
		s.ambushes = append(s.ambushes, s.drawAmbush(c, fmt.Sprintf("%s-%d", bills, n), g.Members[n-1].Config.Group.App.Transform.Producer.TransactionalID))
	}
}

// hasApplications says whether a run has applications that read and write.
func (s *simulation) hasApplications() bool {
	return slices.ContainsFunc(s.spec.Groups, func(g engine.ConsumerGroupSpec) bool { return g.ID == bills })
}

// withoutApplications takes them out of a run that was drawn.
func (s *simulation) withoutApplications() {
	s.spec.Groups = slices.DeleteFunc(s.spec.Groups, func(g engine.ConsumerGroupSpec) bool { return g.ID == bills })
}

// manyAnswers times the latency is enough for all that an application sends in a transaction, a record a batch and one in
// flight, with the coordinator's word before each: in less it would begin anew for ever.
const manyAnswers = 200

// drawApplication draws one member of the group.
func (s *simulation) drawApplication(c chance, i int, consumer, static bool, assignor string) engine.ConsumerConfig {
	config := engine.DefaultConsumerConfig("orders")
	config.AutoOffsetReset = "earliest"
	config.MaxPollRecords = c.between(1, 20)
	config.MetadataMaxAge = kafka.Millis(c.between(500, 30_000))
	config.RequestTimeout = pickOne[kafka.Millis](c, 3000, 10_000, 30_000)
	if c.oneIn(2) {
		config.IsolationLevel = client.ReadCommitted
	}
	g := engine.DefaultGroupConfig(bills)
	if consumer {
		g = engine.DefaultConsumerGroupConfig(bills)
	} else {
		g.Assignors = []string{assignor}
		g.SessionTimeout = pickOne[kafka.Millis](c, 6000, 10_000)
		g.HeartbeatInterval = g.SessionTimeout / 3
	}
	if static {
		g.InstanceID = kafka.GroupInstanceID(fmt.Sprintf("i%d", i))
	}
	g.AutoCommit, g.MaxPollInterval = false, pickOne[kafka.Millis](c, 30_000, 60_000)
	app := &g.App
	app.Work, app.Commit = pickOne[kafka.Millis](c, 0, 1, 20, 100), pickOne(c, engine.CommitBatch, engine.CommitBatch, engine.CommitBatchAsync)
	if c.oneIn(2) {
		app.What = engine.CommitPosition
	}
	p := engine.DefaultProducerConfig(bills)
	p.TransactionalID = fmt.Sprintf("%s-%d", bills, i+1)
	p.TransactionVersion = pickOne(c, 1, 2, 2)
	if s.spec.Cluster.Transactions.Version == 1 {
		p.TransactionVersion = 1
	}
	p.TransactionTimeout = max(pickOne[kafka.Millis](c, 3000, 10_000, 60_000), manyAnswers*s.spec.Latency)
	p.MaxInFlight, p.BatchSize, p.Linger = c.between(1, 5), c.between(80, 400), kafka.Millis(c.between(0, 50))
	p.BatchSize = min(p.BatchSize, s.spec.Topic.Config.SegmentBytes) // a batch that no segment holds is refused, and tried anew for ever
	p.RequestTimeout = pickOne[kafka.Millis](c, 1000, 3000, 10_000, 30_000)
	p.DeliveryTimeout = max(p.RequestTimeout+p.Linger+kafka.Millis(c.between(0, 40_000)), manyAnswers*s.spec.Latency)
	p.MetadataMaxAge = kafka.Millis(c.between(500, 60_000))
	app.Transform = &engine.Transform{Topic: bills, Producer: p}
	config.Group = g
	s.set(p.TransactionalID, fmt.Sprintf("v%d/%d,consumer:%t,static:%t,%s,session:%d,max.poll:%d,poll:%d,%s,work:%d,commit:%s/%s,in.flight:%d,batch.size:%d,linger:%d,request.timeout:%d,delivery.timeout:%d",
		p.TransactionVersion, p.TransactionTimeout, consumer, static, assignor, g.SessionTimeout, g.MaxPollInterval, config.MaxPollRecords, config.IsolationLevel, app.Work, app.Commit, app.What,
		p.MaxInFlight, p.BatchSize, p.Linger, p.RequestTimeout, p.DeliveryTimeout))
	return config
}

// drawApplicationOrder draws one command for an application or the way to it.
func (s *simulation) drawApplicationOrder(c chance, members int) string {
	m, b := fmt.Sprintf("%s-%d", bills, c.between(1, members)), fmt.Sprintf("b%d", c.between(1, s.spec.Cluster.Brokers))
	step := pickOne(c, "after poll", "before processing", "after processing", "after produce", "after offsets", "during commit", "after commit")
	return pickOne(c,
		"crash "+m+" "+step, "crash "+m+" "+step, "crash "+m+" "+step, "crash "+m, "kill "+m, "leave "+m, "start "+m, "start "+m, "start "+m, "start "+m, "start "+m,
		"pause "+m, "pause "+m, "resume "+m, "resume "+m, "rebalance "+m, "cut "+m+" "+b, "cut-one-way "+b+" "+m, "cut-one-way "+m+" "+b, "heal "+m+" "+b, "heal "+m+" "+b, "heal "+m+" "+b,
		"drop-next "+m+" "+b, "drop-next "+b+" "+m, fmt.Sprintf("delay %s %s %dms", m, b, c.IntN(1500)),
	)
}

// written is what a run has of the output for one input: where those stand that are committed.
type written map[input][]string

// input is a record that the applications read.
type input struct {
	tp     kafka.TopicPartition
	offset kafka.Offset
}

// checkOutputs looks whether each record of orders that an application is given has one committed output: wrong is what
// cannot mend, missing what may come yet. It looks at the logs alone. Where what was committed was lost nothing is promised; a record
// without a value has an output that does not say what it is of.
func (s *simulation) checkOutputs(v engine.View) (wrong, missing string) {
	at := slices.IndexFunc(s.spec.Groups, func(g engine.ConsumerGroupSpec) bool { return g.ID == bills })
	if at < 0 || s.excuse != "" || s.anyLost(v) {
		return "", ""
	}
	committed := slices.ContainsFunc(s.spec.Groups[at].Members, func(m engine.MemberSpec) bool { return m.Config.IsolationLevel == client.ReadCommitted })
	have, inputs := written{}, map[input]string{}
	for _, p := range v.Partitions {
		for _, r := range recordsOf(p) {
			switch from, offset, found := client.InputOf(r.value); {
			case p.Topic == bills && found && r.committed:
				of := input{from, offset}
				have[of] = append(have[of], fmt.Sprintf("%s@%d", p.TopicPartition, r.offset))
			case p.Topic == "orders" && r.value != nil && (r.committed || !committed):
				inputs[input{p.TopicPartition, r.offset}] = string(r.value)
			}
		}
	}
	for _, of := range slices.SortedFunc(maps.Keys(have), compareInputs) {
		if list := have[of]; len(list) > 1 {
			return fmt.Sprintf("the record at %s@%d has %d committed outputs: %s", of.tp, of.offset, len(list), strings.Join(list, ", ")), ""
		}
	}
	s.outputs = 0
	for _, of := range slices.SortedFunc(maps.Keys(inputs), compareInputs) {
		s.outputs++
		if len(have[of]) == 0 {
			return "", fmt.Sprintf("the record at %s@%d, %q, has no committed output", of.tp, of.offset, inputs[of])
		}
	}
	return "", ""
}

func compareInputs(a, b input) int {
	return cmp.Or(a.tp.Compare(b.tp), cmp.Compare(a.offset, b.offset))
}

// anyLost says whether a partition lost what was committed, in a way that needs no loss of a disk: by a change of
// min.insync.replicas that a leader knew late.
func (s *simulation) anyLost(v engine.View) bool {
	for _, list := range [][]engine.PartitionView{v.Partitions, v.Offsets, v.TransactionStates} {
		for _, p := range list {
			if s.checker.Unsure(p.TopicPartition) {
				return true
			}
		}
	}
	return false
}

// logRecord is a record of a log; committed says that it is in no transaction, or in one that is committed.
type logRecord struct {
	offset    kafka.Offset
	value     []byte
	committed bool
}

// recordsOf reads the log of a partition's leader from its start on.
func recordsOf(p engine.PartitionView) (list []logRecord) {
	commits := map[kafka.ProducerID]bool{}
	for _, segment := range slices.Backward(p.Log.Segments) {
		var batches []record.Batch
		for data := segment.Bytes; len(data) > 0; {
			b, err := record.Parse(data)
			if err != nil {
				panic(err) // a log holds whole batches
			}
			batches = append(batches, b)
			data = data[b.Size():]
		}
		for _, b := range slices.Backward(batches) {
			records, err := b.Records()
			if err != nil {
				panic(err)
			}
			if b.Attributes.Control() {
				if len(records) > 0 {
					control, err := record.DecodeControl(records[0])
					commits[b.ProducerID] = err == nil && control.Type == record.Commit
				}
				continue
			}
			for _, r := range records {
				if r.Offset >= p.Log.LogStartOffset {
					list = append(list, logRecord{r.Offset, r.Value, !b.Attributes.Transactional() || commits[b.ProducerID]})
				}
			}
		}
	}
	return list
}
