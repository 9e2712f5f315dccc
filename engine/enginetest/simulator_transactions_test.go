package enginetest

import (
	"fmt"
	"strings"

	"loglab/engine"
	"loglab/engine/client"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/txn"
)

// ambush is a fault that waits for a transactional.id to be in a state: what its coordinator leads to then is known only
// while the run is played.
type ambush struct {
	from  int // the first tick at which it is looked for
	id    string
	state txn.State
	do    string // with %s for the coordinator's broker
	then  string // so many ticks later, in the same way
	after int
}

// drawTransactions gives three of five runs producers with a transactional.id besides the others, some of them two with
// the same one, readers of committed records, and faults where they hurt transactions.
func (s *simulation) drawTransactions(c chance) {
	if c.IntN(5) < 2 {
		return
	}
	spec := s.spec
	settings := &spec.Cluster.Transactions
	settings.ReplicationFactor = c.between(1, spec.Cluster.Brokers)
	settings.MinISR = c.between(1, settings.ReplicationFactor)
	settings.Version = pickOne[int16](c, 1, 2, 2, 2)
	settings.AbortInterval = pickOne[kafka.Millis](c, 1000, 2000, 10_000)
	s.set("txn", fmt.Sprintf("rf:%d,min.isr:%d,version:%d,abort.interval:%d", settings.ReplicationFactor, settings.MinISR, settings.Version, settings.AbortInterval))
	if c.oneIn(2) {
		spec.Group.Config.IsolationLevel = client.ReadCommitted
	}
	s.set("isolation", spec.Group.Config.IsolationLevel)
	for i := range spec.Groups {
		for j := range spec.Groups[i].Members {
			if c.oneIn(2) {
				spec.Groups[i].Members[j].Config.IsolationLevel = client.ReadCommitted
				s.set(fmt.Sprintf("%s-%d.isolation", spec.Groups[i].ID, j+1), client.ReadCommitted)
			}
		}
	}
	first := len(spec.Producers)
	for range c.between(1, 4) {
		s.drawTransactional(c, first)
	}
	for range c.between(0, 40) {
		s.command(c.IntN(s.ticks), s.drawTransactionOrder(c, first))
	}
	for range c.between(0, 12) {
		p := c.between(first, len(spec.Producers)-1)
		s.ambushes = append(s.ambushes, s.drawAmbush(c, fmt.Sprintf("p%d", p), spec.Producers[p].Config.TransactionalID))
	}
}

// transactional lists the producers with a transactional.id.
func (s *simulation) transactional() (list []engine.ProducerSpec) {
	for _, p := range s.spec.Producers {
		if p.Config.TransactionalID != "" {
			list = append(list, p)
		}
	}
	return list
}

// withoutTransactions takes them out of a run that was drawn.
func (s *simulation) withoutTransactions() {
	s.ambushes = nil
	s.withoutApplications()
	s.spec.Producers = s.spec.Producers[:len(s.spec.Producers)-len(s.transactional())]
}

// drawTransactional draws one producer with its application. One of three has the transactional.id of the one before.
func (s *simulation) drawTransactional(c chance, first int) {
	n := len(s.spec.Producers)
	p := engine.ProducerSpec{Config: engine.DefaultProducerConfig("orders")}
	config := &p.Config
	config.TransactionalID = fmt.Sprintf("t%d", n)
	config.TransactionVersion = pickOne(c, 1, 2, 2)
	if s.spec.Cluster.Transactions.Version == 1 {
		config.TransactionVersion = 1
	}
	if n > first && c.oneIn(3) {
		// One of version 2 that was fenced takes the next epoch that one of version 1 was given for its own, as in Kafka.
		before := &s.spec.Producers[n-1].Config
		config.TransactionalID, config.TransactionVersion = before.TransactionalID, before.TransactionVersion
	}
	config.TransactionTimeout = pickOne[kafka.Millis](c, 1000, 3000, 10_000, 60_000)
	config.MaxInFlight, config.BatchSize, config.Linger = c.between(1, 5), c.between(80, 400), kafka.Millis(c.between(0, 50))
	config.RequestTimeout = pickOne[kafka.Millis](c, 1000, 3000, 10_000, 30_000)
	config.DeliveryTimeout = config.RequestTimeout + config.Linger + kafka.Millis(c.between(0, 40_000))
	config.MetadataMaxAge = kafka.Millis(c.between(500, 60_000))
	w := &p.Workload
	w.Rate, w.Every = c.between(1, 3), kafka.Millis(c.between(1, 20))*s.spec.TickMillis
	w.TransactionRecords, w.AbortEvery = c.between(0, 9), pickOne(c, 0, 0, 2, 3, 5)
	for k := range c.IntN(5) {
		w.Entities = append(w.Entities, fmt.Sprintf("x%d", k))
	}
	s.spec.Producers = append(s.spec.Producers, p)
	s.set(fmt.Sprintf("p%d", n), fmt.Sprintf("txn:%s/v%d/%d,in.flight:%d,batch.size:%d,linger:%d,request.timeout:%d,delivery.timeout:%d,rate:%d/%dms,keys:%d,records:%d,abort.every:%d",
		config.TransactionalID, config.TransactionVersion, config.TransactionTimeout, config.MaxInFlight, config.BatchSize, config.Linger, config.RequestTimeout, config.DeliveryTimeout,
		w.Rate, w.Every, len(w.Entities), w.TransactionRecords, w.AbortEvery))
}

// drawTransactionOrder draws one command for a transactional producer or the way to it.
func (s *simulation) drawTransactionOrder(c chance, first int) string {
	p := fmt.Sprintf("p%d", c.between(first, len(s.spec.Producers)-1))
	a, b := c.between(1, s.spec.Cluster.Brokers), c.between(1, s.spec.Cluster.Brokers)
	x, y := fmt.Sprintf("b%d", a), fmt.Sprintf("b%d", b)
	if a == b {
		y = p
	}
	return pickOne(c,
		"kill "+p, "kill "+p, "start "+p, "start "+p, "start "+p, "start "+p, "pause "+p, "pause "+p, "resume "+p, "resume "+p, "stop-sending "+p, "start-sending "+p, "start-sending "+p,
		"begin-transaction "+p, "commit-transaction "+p, "abort-transaction "+p, "produce "+p+" by-hand", "cut "+p+" "+x, "cut-one-way "+x+" "+p, "heal "+p+" "+x, "heal "+p+" "+x,
		"drop-next "+p+" "+x, "drop-next "+x+" "+p, "double-next "+p+" "+x, "double-next "+x+" "+p, "drop-next "+x+" "+y, "drop-next "+y+" "+x, "double-next "+x+" "+y, "double-next "+y+" "+x,
		fmt.Sprintf("delay %s %s %dms", x, y, c.IntN(1500)), fmt.Sprintf("delay %s %s %dms", p, x, c.IntN(1500)), "heal "+x+" "+y, "wait 12s",
	)
}

// drawAmbush draws a fault for the coordinator of a producer's transactional.id in a state, or for the producer's node.
func (s *simulation) drawAmbush(c chance, node, id string) ambush {
	a := ambush{
		from: c.IntN(s.ticks), id: id, after: c.between(1, 15_000/int(s.spec.TickMillis)),
		state: pickOne(c, txn.Empty, txn.Ongoing, txn.Ongoing, txn.PrepareCommit, txn.PrepareCommit, txn.PrepareAbort, txn.PrepareAbort, txn.CompleteCommit, txn.CompleteAbort),
	}
	a.do = pickOne(c, "kill %s", "kill %s", "power-loss %s", "shut-down %s", "pause %s", "pause %s", "cut %s "+node, "cut-one-way %s "+node, "cut-one-way "+node+" %s", "drop-next %s "+node,
		"kill "+node, "kill "+node, "pause "+node)
	switch verb, rest, _ := strings.Cut(a.do, " "); verb {
	case "kill", "power-loss", "shut-down":
		a.then = "start " + rest
	case "pause":
		a.then = "resume " + rest
	case "cut", "cut-one-way":
		a.then = "heal %s " + node
	}
	return a
}

// spring gives the commands of the ambushes whose time has come. They are in the plan from then on.
func (s *simulation) spring(at int) {
	if len(s.ambushes) == 0 {
		return
	}
	s.followTransactions()
	kept := s.ambushes[:0]
	for _, a := range s.ambushes {
		held, there := s.held[a.id]
		if at < a.from || !there || held.state != a.state {
			kept = append(kept, a)
			continue
		}
		s.command(at, strings.ReplaceAll(a.do, "%s", string(held.coordinator)))
		if a.then != "" && at+a.after <= s.ticks {
			s.command(at+a.after, strings.ReplaceAll(a.then, "%s", string(held.coordinator)))
		}
	}
	s.ambushes = kept
}

// heldState is the state of a transactional.id, as the coordinator told that told last.
type heldState struct {
	coordinator kafka.NodeID
	state       txn.State
}

// followTransactions learns from the journal in which states transactions are. A view of the whole cluster in each tick
// would take longer than the tick.
func (s *simulation) followTransactions() {
	if s.held == nil {
		s.held = map[string]heldState{}
	}
	log := s.cluster.Journal()
	for ; s.followed < uint64(log.Len()); s.followed++ {
		e, _ := log.At(s.followed + 1)
		switch body := e.Body.(type) {
		case journal.TransactionalIDInitialised:
			s.held[body.TransactionalID] = heldState{e.Node, txn.Empty}
		case journal.PartitionsAddedToTransaction:
			s.held[body.TransactionalID] = heldState{e.Node, txn.Ongoing}
		case journal.TransactionStateChanged:
			s.held[body.TransactionalID] = heldState{e.Node, txn.State(body.To)}
		case journal.TransactionCompleted:
			s.held[body.TransactionalID] = heldState{e.Node, txn.State(body.To)}
		}
	}
}

// markersGo says whether cleaning may take a marker before a replica that was away has seen it, for which the transaction
// then stays open, as in Kafka.
func (s *simulation) markersGo() bool {
	return s.spec.Topic.Config.Compact && s.spec.Topic.Config.DeleteRetentionMillis < 86_400_000
}

// pendingTransactions says which transactions have not come to an end, and where readers of committed records are held up.
// What is held up for good is an excuse, in the end: a transaction of which a partition of __transaction_state, or the partition itself,
// has lost what had been committed stays open until an administrator ends it, as in Kafka. So does one that a deposed leader
// has begun, when the log of the next one begins behind where the two differ by the time they meet again.
func (s *simulation) pendingTransactions(v engine.View) (why []string) {
	const enough kafka.Millis = 120_000
	held := func(what string, lost bool) {
		if lost && v.Now-s.healed > enough {
			s.excuse = what
		} else {
			why = append(why, what)
		}
	}
	lost := false
	for _, t := range v.Transactions {
		lost = lost || s.checker.Lost(t.Partition)
		var wrong string
		switch {
		case t.Coordinator == "":
			wrong = fmt.Sprintf("transactional.id %s has no coordinator", t.TransactionalID)
		case t.Held != nil && (t.Held.State == txn.Ongoing || t.Held.State == txn.PrepareCommit || t.Held.State == txn.PrepareAbort || t.Held.PendingState != ""):
			wrong = fmt.Sprintf("transactional.id %s is in state %s, pending %q", t.TransactionalID, t.Held.State, t.Held.PendingState)
		default:
			continue
		}
		held(wrong, s.checker.Lost(t.Partition))
	}
	for _, list := range [][]engine.PartitionView{v.Partitions, v.Offsets, v.TransactionStates} {
		for _, p := range list {
			for _, r := range p.Replicas {
				if !r.Online || r.LastStableOffset == r.HighWatermark {
					continue
				}
				before := r.LogStartOffset > 0 && r.LastStableOffset == r.LogStartOffset // it began before the log does
				held(fmt.Sprintf("%s on broker %d: last stable offset %d, high watermark %d", p.TopicPartition, r.Broker, r.LastStableOffset, r.HighWatermark),
					before || lost || s.checker.Lost(p.TopicPartition) || p.Topic == "orders" && s.markersGo())
			}
		}
	}
	return why
}
