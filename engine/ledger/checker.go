package ledger

import (
	"fmt"
	"slices"

	"loglab/engine/assignor"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/txn"
)

// Checker watches one run. Hand it the run after every command and every tick, from tick 0 on; it remembers what
// it has seen. The zero Checker has seen nothing.
//
// What it costs grows with what came since the last time, not with the run. Every [sweepEvery] observations it
// looks at all logs from their beginning again, in case one changed behind its back.
type Checker struct {
	observations int
	events       uint64 // of the journal that were looked at
	promises     int    // outcomes that were looked at, by whom feeds the checker
	out          []Violation
	tick         kafka.Tick

	brokers    map[kafka.BrokerID]*brokerSeen
	partitions map[kafka.TopicPartition]*partitionSeen
	order      []kafka.TopicPartition // the partitions, sorted
	unclean    map[string]string      // what was set for unclean.leader.election.enable, by resource
	changed    kafka.Offset           // of the metadata log, exclusive: who knows less does not know the last change of min.insync.replicas
	assigned   []Assigned             // the last that was checked
	groups     map[string]*groupSeen
	undone     []undone // since the last observation

	transactions map[string]*transactionSeen
	producers    map[kafka.ProducerID]*transactionSeen // that have or had the producer id
	transacted   []journal.Event                       // about transactions, since the last observation

	chosen  map[chosenBy]kafka.Offset // the highest place that a seek or a committed offset gave a consumer
	divided int32                     // partitions at that time
}

// sweepEvery is how many observations pass between two looks at whole logs.
const sweepEvery = 128

// uncleanSetting lets a replica lead that may lack records.
const uncleanSetting = "unclean.leader.election.enable"

// brokerSeen is what is remembered of a broker.
type brokerSeen struct {
	lost    kafka.Tick // when it last lost data: power or disk; valid if hasLost
	hasLost bool
	started bool         // since the last observation
	knows   kafka.Offset // of the metadata log, exclusive
}

// partitionSeen is what is remembered of a partition.
type partitionSeen struct {
	tp        kafka.TopicPartition
	state     metadata.Partition // the controller's, last time
	known     bool               // state is there
	last      kafka.BrokerID     // the last leader before the partition had none
	leaders   map[kafka.LeaderEpoch]kafka.BrokerID
	elected   map[kafka.NodeID]kafka.LeaderEpoch // of each broker that has coordinated, in which it did last
	highest   kafka.Offset                       // high watermark of any replica so far
	stable    kafka.Offset                       // last stable offset of any replica so far
	unclean   kafka.LeaderEpoch                  // that the last unclean election began; valid if isUnclean
	asked     bool                               // someone ordered an unclean election
	replicas  map[kafka.BrokerID]*replicaSeen
	promises  []promise
	committed kafka.Offset // exclusive: batches below are among the promises
	start     kafka.Offset // the latest at which any replica let its log begin
	cleaned   kafka.Offset // how far any replica was cleaned, exclusive
	// isUnclean says that there was an unclean election, disturbed that there was one or that a replica lost data:
	// logs that have not met the leader yet may differ from its own below a high watermark.
	isUnclean, disturbed bool
	unseen               kafka.Tick // when something was appended and gone before it was seen; valid if hasUnseen
	hasUnseen            bool
	lost                 bool // something that was committed is not there any more, and the run excuses it
	// loaded is the log end offset up to which any coordinator of transactions has loaded its log, retold says that a later
	// one found less there, or was eligible and not in sync, so that it may find something else. In Kafka too a coordinator
	// loads its log up to the end and acts on a decision that is not committed, which the next leader can lack.
	loaded kafka.Offset
	retold bool
	// emptied is when a broker lost data that was elected since, alone in sync; valid if hasEmptied. Whoever has joined it
	// by the time that the checker looks has made its log the leader's.
	emptied    kafka.Tick
	hasEmptied bool
	// thin is what a leader committed by a min.insync.replicas that the controller had changed already: replicas that
	// the controller holds eligible since may lack it.
	thin offsets
	// gone is what a leader that did not know that it was none had below its high watermark and has cut off, after an unclean
	// election or a loss of data: readers may have it.
	gone offsets
	// givenUp are the producers that gave up a batch, repeated the places of batches that a leader has taken for duplicates
	// since the first did.
	givenUp  map[kafka.NodeID]bool
	repeated []offsets
}

// chosenBy is a consumer in a partition.
type chosenBy struct {
	node kafka.NodeID
	tp   kafka.TopicPartition
}

// offsets is a range, the end exclusive. The zero value is empty.
type offsets struct{ from, to kafka.Offset }

func (o offsets) overlap(from, to kafka.Offset) bool { return from < o.to && to > o.from }

func (o offsets) with(from, to kafka.Offset) offsets {
	if o.from == o.to {
		return offsets{from, to}
	}
	return offsets{min(o.from, from), max(o.to, to)}
}

// Promises is how many outcomes the checker's feeder has gone through. It is the feeder's to keep.
func (k *Checker) Promises() int { return k.promises }

// Lost says whether a partition lost something that was committed, or may have: as in a run that elects uncleanly or loses
// disks.
func (k *Checker) Lost(tp kafka.TopicPartition) bool { return k.of(tp).lost || k.of(tp).isUnclean }

// Unsure says whether a partition lost what a coordinator may have acted on, committed or not.
func (k *Checker) Unsure(tp kafka.TopicPartition) bool { return k.Lost(tp) || k.of(tp).retold }

// Check looks at the run and says what does not hold. It is not called for two runs.
func (k *Checker) Check(o Observation, outcomes int) []Violation {
	k.out, k.tick, k.promises = nil, o.Tick, outcomes
	if k.brokers == nil {
		k.brokers, k.partitions, k.unclean = map[kafka.BrokerID]*brokerSeen{}, map[kafka.TopicPartition]*partitionSeen{}, map[string]string{}
	}
	k.observations++
	for _, b := range o.Brokers {
		if k.brokers[b.ID] == nil {
			k.brokers[b.ID] = &brokerSeen{}
		}
	}
	k.takeEvents(&o)
	k.checkMetadata(&o)
	k.checkReplicas(&o)
	k.checkPromises(&o)
	k.checkPositions(&o)
	k.checkAssignment(&o)
	k.checkGroups(&o)
	k.checkTransactions(&o)
	for _, b := range k.brokers {
		b.started = false
	}
	return k.out
}

// violated notes a violation.
func (k *Checker) violated(i Invariant, tp kafka.TopicPartition, format string, args ...any) {
	k.out = append(k.out, Violation{i, k.tick, tp, fmt.Sprintf(format, args...)})
}

// of gives what is remembered of a partition.
func (k *Checker) of(tp kafka.TopicPartition) *partitionSeen {
	p := k.partitions[tp]
	if p == nil {
		p = &partitionSeen{tp: tp, leaders: map[kafka.LeaderEpoch]kafka.BrokerID{}, elected: map[kafka.NodeID]kafka.LeaderEpoch{}, replicas: map[kafka.BrokerID]*replicaSeen{}}
		k.partitions[tp] = p
	}
	return p
}

// brokerOf gives what is remembered of the broker with a node's name.
func (k *Checker) brokerOf(node kafka.NodeID) (kafka.BrokerID, *brokerSeen) {
	var id kafka.BrokerID
	if _, err := fmt.Sscanf(string(node), "b%d", &id); err != nil {
		return 0, &brokerSeen{}
	}
	return id, k.brokers[id]
}

// takeEvents learns from the journal what a look at states between two ticks can miss.
func (k *Checker) takeEvents(o *Observation) {
	for ; k.events < uint64(o.Journal.Len()); k.events++ {
		e, _ := o.Journal.At(k.events + 1)
		k.takeUpkeep(e)
		if len(o.Transactions) > 0 {
			k.takeTransactionEvent(e)
		}
		if len(o.Groups) > 0 {
			k.takeGroupEvent(o, e)
		}
		switch body := e.Body.(type) {
		case journal.HighWatermarkAdvanced:
			p := k.of(body.TopicPartition)
			p.highest = max(p.highest, body.To)
			p.settle(k.idOf(e.Node), body.To)
			if _, b := k.brokerOf(e.Node); b.knows < k.changed {
				p.thin = p.thin.with(body.From, body.To)
			}
		case journal.MetadataFollowed:
			_, b := k.brokerOf(e.Node)
			b.knows = body.To
		case journal.HighWatermarkFollowed:
			p := k.of(body.TopicPartition)
			p.highest = max(p.highest, body.To)
			p.settle(k.idOf(e.Node), body.To)
		case journal.ProduceFailed:
			k.of(body.TopicPartition).gaveUp(e.Node)
		case journal.DuplicateRecognised:
			k.of(body.TopicPartition).recognised(body)
		case journal.LeadershipTaken:
			id, _ := k.brokerOf(e.Node)
			k.leads(k.of(body.TopicPartition), body.LeaderEpoch, id, string(e.Node))
		case journal.BrokerStarted:
			_, b := k.brokerOf(e.Node)
			b.started = true
		case journal.PowerLost, journal.DiskWiped:
			k.lostData(o, e)
		case journal.ProcessKilled:
			if body.Wiped {
				k.lostData(o, e)
			}
		case journal.CommandGiven:
			k.takeCommand(o, body.Command)
		case journal.ConfigChanged:
			switch body.Name {
			case uncleanSetting:
				k.unclean[body.Resource] = body.To
			case metadata.MinInSyncReplicas:
				if cause, ok := o.Journal.At(e.Cause); ok { // the controller's append of its record
					k.changed = cause.Body.(journal.BatchAppended).LastOffset + 1
				}
			}
		case journal.LeaderLost:
			k.of(body.TopicPartition).last = body.From
		case journal.LeaderElected:
			k.takeElection(o, body)
		case journal.CoordinatorElected:
			if p := k.of(body.TopicPartition); body.TopicPartition.Topic == txn.Topic {
				p.retold = p.retold || body.LogEndOffset < p.loaded
				p.loaded = max(p.loaded, body.LogEndOffset)
			}
		}
	}
}

// lostData notes that a broker's disk lost bytes.
func (k *Checker) lostData(o *Observation, e journal.Event) {
	id, b := k.brokerOf(e.Node)
	b.lost, b.hasLost = e.Tick, true
	for _, t := range o.Image.Topics {
		for i := range t.Partitions {
			if !slices.Contains(t.Partitions[i].Replicas, id) {
				continue
			}
			p := k.of(kafka.TopicPartition{Topic: t.Name, Partition: kafka.Partition(i)})
			p.disturbed = true
			// What a leader has committed that is none any more, for the controller, nobody else need have.
			if r := p.replicas[id]; r != nil && r.leads && p.known && p.state.Leader != id {
				p.lost = true
			}
		}
	}
}

// takeCommand notes an order to elect uncleanly.
func (k *Checker) takeCommand(o *Observation, text string) {
	for _, t := range o.Image.Topics {
		for i := range t.Partitions {
			if text == fmt.Sprintf("elect-unclean %s %d", t.Name, i) {
				k.of(kafka.TopicPartition{Topic: t.Name, Partition: kafka.Partition(i)}).asked = true
			}
		}
	}
}

// takeElection looks at where a new leader comes from.
func (k *Checker) takeElection(o *Observation, e journal.LeaderElected) {
	p := k.of(e.TopicPartition)
	if b := k.brokers[e.To]; len(e.ISR) == 1 && b != nil && b.hasLost {
		p.emptied, p.hasEmptied = b.lost, true
		// It was the last in sync when it went, and comes back without what it lost.
		p.lost = p.lost || e.From == metadata.NoLeader && slices.Equal(e.ISRBefore, e.ISR)
	}
	if slices.Contains(e.ISRBefore, e.To) {
		return
	}
	if slices.Contains(e.ELRBefore, e.To) {
		p.retold = p.retold || e.TopicPartition.Topic == txn.Topic
		return
	}
	p.unclean, p.isUnclean, p.disturbed = e.LeaderEpoch, true, true
	// The last leader leads again when nobody is left, as KIP-966 has it, allowed or not. The broker whose unclean
	// shutdown is noticed with the election may have been the last that was eligible.
	last := len(e.ELRBefore) <= 1 && len(e.ISRBefore) == 0 && p.last == e.To
	value := k.unclean["topic "+e.TopicPartition.Topic]
	if value == "" {
		value = k.unclean["all brokers"]
	}
	if allowed := o.Unclean && value == "" || value == "true" || p.asked; !allowed && !last {
		k.violated(CleanElection, e.TopicPartition, "broker %d was elected, which was in neither the ISR %d nor the ELR %d, and unclean elections are not allowed", e.To, e.ISRBefore, e.ELRBefore)
	}
}

// leads notes that a broker leads in an epoch.
func (k *Checker) leads(p *partitionSeen, epoch kafka.LeaderEpoch, id kafka.BrokerID, says string) {
	if before, known := p.leaders[epoch]; known && before != id {
		k.violated(OneLeaderAnEpoch, p.tp, "%s: broker %d leads in epoch %d, in which broker %d led", says, id, epoch, before)
		return
	}
	p.leaders[epoch] = id
}

// ledIn says whether a broker led in an epoch, as far as is known.
func (p *partitionSeen) ledIn(epoch kafka.LeaderEpoch, id kafka.BrokerID) bool {
	leader, known := p.leaders[epoch]
	return !known || leader == id
}

// checkPositions compares the consumers with the high watermarks. A place that was chosen by seek or by a commit may lie
// above them; nothing is read there.
func (k *Checker) checkPositions(o *Observation) {
	for _, c := range o.Positions {
		if p := k.of(c.TopicPartition); c.Offset > max(p.highest, k.chosen[chosenBy{c.Node, c.TopicPartition}]) {
			k.violated(PositionsBelowMark, c.TopicPartition, "%s is at offset %d; no replica's high watermark has been above %d", c.Node, c.Offset, p.highest)
		}
	}
}

// checkAssignment works the assignment out again, with the members in another order.
func (k *Checker) checkAssignment(o *Observation) {
	if len(o.Assigned) == 0 {
		return
	}
	partitions := o.Group.Topics[0].PartitionCount
	same := func(a, b Assigned) bool { return a.Member == b.Member && slices.Equal(a.Partitions, b.Partitions) }
	if k.divided == partitions && slices.EqualFunc(k.assigned, o.Assigned, same) {
		return
	}
	k.assigned, k.divided = o.Assigned, partitions
	rule, err := assignor.ClientByName(o.Assignor)
	if err != nil {
		panic(err) // the spec was checked
	}
	again := o.Group
	again.Members = slices.Clone(o.Group.Members)
	slices.Reverse(again.Members)
	for _, m := range rule.Assign(again).Members {
		var got, want []kafka.Partition
		for _, list := range m.Topics {
			want = append(want, list.Partitions...)
		}
		for _, a := range o.Assigned {
			if a.Member == m.Member {
				got = a.Partitions
			}
		}
		if !slices.Equal(got, want) {
			k.violated(AssignmentRepeats, kafka.TopicPartition{}, "%s has the partitions %d; %s gives it %d", m.Member, got, o.Assignor, want)
		}
	}
}
