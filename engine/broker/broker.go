package broker

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/group"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/replication"
	"loglab/engine/simdisk"
	"loglab/engine/simnet"
	"loglab/engine/storage"
	"loglab/engine/txn"
)

// Broker is one node: a machine with a disk, and a process that runs on it or not.
type Broker struct {
	config Config        // only read
	groups *group.Config // its config.Group, shared by clones
	txns   *txn.Config   // its config.Txn, shared by clones
	node   kafka.NodeID
	disk   *simdisk.Disk
	delay  kafka.Millis // of each write, while the disk is slow
	starts uint64       // of the process so far
	step   turn         // the one that is under way, if any
	process
}

// process is what is lost when the process ends.
type process struct {
	state       State
	incarnation [16]byte
	epoch       int64 // broker epoch; -1 until the controller has given one
	correlation int32

	image    metadata.Image
	replicas []*replication.Replica // sorted by topic and partition
	fetchers []fetcher              // sorted by leader

	parkedFetches  []parkedFetch   // in the order they came
	parkedProduces []parkedProduce // in the order they came
	parkedDeletes  []parkedDelete  // in the order they came
	writes         []*pendingWrite // that wait for a slow disk, in order

	coordinators      []hostedCoordinator // sorted by partition
	coordinatorWrites []coordinatorWrite  // appended, not on every in-sync replica, in order
	parkedMarkers     []parkedMarkers     // in the order they came
	verifications     []verification      // in the order they began; never written
	additions         []addition          // writes that wait for a transaction coordinator, in the order they came
	outgoing          []outgoingMarker    // that leaders have still to write, in the order coordinators wanted them
	markerCalls       []call              // WriteTxnMarkers under way, at most one to a leader
	errands           []errand            // requests that coordinators have in parts, in the order they came

	lifecycle  lifecycle
	metadata   metadataFetcher
	isr        isrManager
	ids        producerIDs
	creation   call         // CreateTopics of __consumer_offsets
	checkpoint kafka.Millis // when the high watermarks are written next
	shrink     kafka.Millis // when the in-sync replicas are looked at next
	expire     kafka.Millis // when producers that have long been silent are looked for next
	upkeep     upkeep
	recovery   recovery
	clean      bool  // the process before this one had ended in an orderly way
	previous   int64 // its broker epoch; -1: not known
}

// State says how far a broker's process is.
type State string

// The states.
const (
	Down         State = "down"
	PowerOff     State = "power off" // down, and the machine does not answer
	Starting     State = "starting"  // registered at most; clients cannot connect yet
	Running      State = "running"
	ShuttingDown State = "shutting down" // it waits for the controller to move its leaders
)

// New makes a broker with an empty disk whose process does not run yet.
func New(config Config) *Broker {
	b := &Broker{config: config, node: NodeID(config.ID), disk: &simdisk.Disk{}}
	groups := config.Group
	groups.Node, groups.Start, groups.Sabotage = b.node, config.Start, config.Sabotage
	b.groups = &groups
	txns := config.Txn
	txns.Node, txns.Start, txns.Sabotage = b.node, config.Start, config.Sabotage
	txns.OffsetsPartitions = config.OffsetsTopicPartitions
	b.txns = &txns
	b.state = Down
	return b
}

// NodeID gives the name of a broker on the network: "b1" for broker 1.
func NodeID(id kafka.BrokerID) kafka.NodeID { return kafka.NodeID(fmt.Sprintf("b%d", id)) }

// Node gives the broker's name on the network.
func (b *Broker) Node() kafka.NodeID { return b.node }

// State gives how far the process is.
func (b *Broker) State() State { return b.state }

// Up says whether a process runs.
func (b *Broker) Up() bool { return b.state != Down && b.state != PowerOff }

// clock gives the wall clock at now.
func (b *Broker) clock(now kafka.Millis) kafka.Timestamp {
	return b.config.Start + kafka.Timestamp(now)
}

// Receive handles one delivered message. Cause is the Seq of the event that says it was delivered.
func (b *Broker) Receive(now kafka.Millis, m *simnet.Message, cause uint64, j *journal.Journal) []simnet.Send {
	t := b.turn(now, j)
	if b.delay > 0 && writes(m) {
		b.delayWrite(t, pendingWrite{message: m, cause: cause})
		return t.sends
	}
	b.receive(t, m, cause)
	return t.sends
}

func (b *Broker) receive(t *turn, m *simnet.Message, cause uint64) {
	switch {
	case m.IsReset():
		b.disconnected(t, m.From, cause)
	case m.IsResponse():
		b.takeResponse(t, m, cause)
	default:
		b.serve(t, m, cause)
	}
	b.ask(t)
}

// serve answers a request.
func (b *Broker) serve(t *turn, m *simnet.Message, cause uint64) {
	switch request := m.Request.(type) {
	case *kmsg.ProduceRequest:
		b.produce(t, m, request, cause)
	case *kmsg.FetchRequest:
		b.fetch(t, m, request, cause)
	case *kmsg.ListOffsetsRequest:
		t.answer(m, b.listOffsets(request), cause)
	case *kmsg.DeleteRecordsRequest:
		b.deleteRecords(t, m, request, cause)
	case *kmsg.OffsetForLeaderEpochRequest:
		t.answer(m, b.offsetForLeaderEpoch(request), cause)
	case *kmsg.MetadataRequest:
		t.answer(m, b.describeCluster(request), cause)
	case *kmsg.InitProducerIDRequest:
		b.initProducerID(t, m, request, cause)
	case *kmsg.WriteTxnMarkersRequest:
		b.writeMarkers(t, m, request, cause)
	case *kmsg.FindCoordinatorRequest:
		b.findCoordinator(t, m, request, cause)
	default:
		if !b.serveGroups(t, m, cause) && !b.serveTransactions(t, m, cause) {
			panic(fmt.Sprintf("broker %d: no handler for %s", b.config.ID, m.API()))
		}
	}
}

// serveGroups answers a request about consumer groups, or lets their coordinators do so; false: it is none.
func (b *Broker) serveGroups(t *turn, m *simnet.Message, cause uint64) bool {
	switch request := m.Request.(type) {
	case *kmsg.JoinGroupRequest:
		b.coordinate(t, m, request.Group, cause)
	case *kmsg.SyncGroupRequest:
		b.coordinate(t, m, request.Group, cause)
	case *kmsg.HeartbeatRequest:
		b.coordinate(t, m, request.Group, cause)
	case *kmsg.LeaveGroupRequest:
		b.coordinate(t, m, request.Group, cause)
	case *kmsg.OffsetDeleteRequest:
		b.coordinate(t, m, request.Group, cause)
	case *kmsg.TxnOffsetCommitRequest:
		if !b.addForCommit(t, m, request, cause) {
			b.coordinate(t, m, request.Group, cause)
		}
	case *kmsg.OffsetCommitRequest:
		b.commitOffsets(t, m, request, cause)
	case *kmsg.OffsetFetchRequest:
		b.fetchOffsets(t, m, request, cause)
	case *kmsg.DescribeGroupsRequest:
		b.divide(t, m, request.Groups, func(groups []string) kmsg.Request {
			one := *request
			one.Groups = groups
			return &one
		}, cause)
	case *kmsg.DeleteGroupsRequest:
		b.divide(t, m, request.Groups, func(groups []string) kmsg.Request {
			one := *request
			one.Groups = groups
			return &one
		}, cause)
	case *kmsg.ConsumerGroupHeartbeatRequest:
		b.coordinate(t, m, request.Group, cause)
	case *kmsg.ConsumerGroupDescribeRequest:
		b.divide(t, m, request.Groups, func(groups []string) kmsg.Request {
			one := *request
			one.Groups = groups
			return &one
		}, cause)
	default:
		return false
	}
	return true
}

// takeResponse takes the answer to one of the broker's own requests.
func (b *Broker) takeResponse(t *turn, m *simnet.Message, cause uint64) {
	c := b.callWith(func(c *call) bool { return c.answers(m) })
	if c == nil {
		t.note(cause, journal.ResponseIgnored{Server: m.From, API: m.API(), Correlation: m.Correlation})
		return
	}
	answered := *c
	*c = call{}
	switch response := m.Response.(type) {
	case *kmsg.BrokerRegistrationResponse:
		b.registered(t, response, cause)
	case *kmsg.BrokerHeartbeatResponse:
		b.heard(t, response, cause)
	case *kmsg.AlterPartitionResponse:
		b.isrAnswered(t, response, cause)
	case *kmsg.AllocateProducerIDsResponse:
		b.idsAllocated(response)
	case *kmsg.CreateTopicsResponse:
		b.topicCreated(t, response, cause)
	case *kmsg.AddPartitionsToTxnResponse:
		at := slices.IndexFunc(b.additions, func(a addition) bool { return a.asked == answered.correlation })
		b.additionAnswered(t, at, response, cause)
	case *kmsg.WriteTxnMarkersResponse:
		b.markersAnswered(t, answered.correlation, response, cause)
	case *kmsg.ListOffsetsResponse:
		b.leaderEndLearned(t, m.From, response, cause)
	case *kmsg.FetchResponse:
		if m.From == b.config.Controller {
			b.metadataFetched(t, response, cause)
		} else {
			b.fetched(t, m.From, response, cause)
		}
	default:
		panic(fmt.Sprintf("broker %d: no handler for a response of %s", b.config.ID, m.API()))
	}
}

// ask sends the requests of the broker's own that can be sent now.
func (b *Broker) ask(t *turn) {
	if !b.Up() {
		return
	}
	b.keepAlive(t)
	b.fetchMetadata(t)
	b.sendProposals(t)
	for i := range b.fetchers {
		b.fetchFrom(t, &b.fetchers[i])
	}
	b.askForAdditions(t)
	b.sendMarkers(t)
}

// Tick lets the timers that are due fire.
func (b *Broker) Tick(now kafka.Millis, j *journal.Journal) []simnet.Send {
	t := b.turn(now, j)
	b.timeOut(t)
	b.finishWrites(t)
	b.expireParked(t)
	b.tickCoordinators(t)
	if b.shrink <= now {
		b.shrink = now + b.config.ReplicaLagTimeMax/2
		b.shrinkISRs(t)
	}
	if b.checkpoint <= now {
		b.checkpoint = now + b.config.CheckpointInterval
		b.writeBack(now)
		b.writeCheckpoints()
	}
	if b.expire <= now {
		b.expire = now + producerExpirationCheck
		b.expireProducers(t)
	}
	if b.recoveryDue() <= now {
		b.publish(t, b.recovery.cause)
	}
	b.keepUp(t)
	b.shutDownTimeOut(t)
	b.ask(t)
	return t.sends
}

// NextDue is when the next timer fires; ok is false when none is set.
func (b *Broker) NextDue() (due kafka.Millis, ok bool) {
	if !b.Up() {
		return 0, false
	}
	due = min(b.checkpoint, b.shrink, b.expire, b.upkeep.due(), b.recoveryDue(), b.lifecycle.due(), b.metadata.due(), b.isrDue(), b.fetchersDue(), b.parkedDue(), b.writesDue(), b.coordinatorsDue(), b.additionsDue(), b.markersDue())
	for _, c := range [...]call{b.lifecycle.call, b.metadata.call, b.isr.call, b.ids.call, b.creation} {
		if c.open() {
			due = min(due, c.deadline)
		}
	}
	return due, due != never
}

// find gives the replica that a request names by topic id, or the protocol's error for one that is not here.
//
// Source: ReplicaManager.getPartitionOrError.
func (b *Broker) find(topicID [16]byte, index int32) (*replication.Replica, *kerr.Error) {
	topic, ok := b.image.TopicByID(topicID)
	if !ok {
		return nil, kerr.UnknownTopicID
	}
	return b.findIn(topic, index)
}

// findNamed gives the replica that a request names by topic name.
func (b *Broker) findNamed(name string, index int32) (*replication.Replica, *kerr.Error) {
	topic, ok := b.image.Topic(name)
	if !ok {
		return nil, kerr.UnknownTopicOrPartition
	}
	return b.findIn(topic, index)
}

func (b *Broker) findIn(topic metadata.Topic, index int32) (*replication.Replica, *kerr.Error) {
	if _, ok := topic.Partition(kafka.Partition(index)); !ok {
		return nil, kerr.UnknownTopicOrPartition
	}
	if r := b.replica(kafka.TopicPartition{Topic: topic.Name, Partition: kafka.Partition(index)}); r != nil {
		return r, nil
	}
	return nil, kerr.NotLeaderForPartition
}

// replica gives the broker's replica of a partition, nil if it has none.
func (b *Broker) replica(tp kafka.TopicPartition) *replication.Replica {
	at, ok := b.placeOf(tp)
	if !ok {
		return nil
	}
	return b.replicas[at]
}

func (b *Broker) placeOf(tp kafka.TopicPartition) (at int, ok bool) {
	return slices.BinarySearchFunc(b.replicas, tp, func(r *replication.Replica, tp kafka.TopicPartition) int {
		switch {
		case r.TopicPartition == tp:
			return 0
		case r.TopicPartition.Less(tp):
			return -1
		}
		return 1
	})
}

// Clone gives a broker in the same state; see storage and simdisk for what is shared.
func (b *Broker) Clone() *Broker {
	c := *b
	c.step = turn{}
	c.disk = b.disk.Clone()
	c.replicas = make([]*replication.Replica, len(b.replicas))
	for i, r := range b.replicas {
		c.replicas[i] = r.Clone(r.Log.Clone(c.disk))
	}
	if b.metadata.log != nil {
		c.metadata.log = b.metadata.log.Clone(c.disk)
	}
	c.fetchers = make([]fetcher, len(b.fetchers))
	for i, f := range b.fetchers {
		f.partitions = slices.Clone(f.partitions)
		c.fetchers[i] = f
	}
	c.parkedFetches = slices.Clone(b.parkedFetches)
	c.parkedProduces = slices.Clone(b.parkedProduces)
	for i, p := range c.parkedProduces {
		c.parkedProduces[i].results = slices.Clone(p.results)
	}
	c.parkedDeletes = slices.Clone(b.parkedDeletes)
	c.upkeep.told, c.upkeep.cleaned, c.upkeep.spoiled = slices.Clone(b.upkeep.told), slices.Clone(b.upkeep.cleaned), slices.Clone(b.upkeep.spoiled)
	c.writes = slices.Clone(b.writes)
	c.coordinators = slices.Clone(b.coordinators)
	for i := range c.coordinators {
		c.coordinators[i] = c.coordinators[i].clone()
	}
	c.coordinatorWrites = slices.Clone(b.coordinatorWrites)
	c.parkedMarkers = slices.Clone(b.parkedMarkers)
	for i := range c.parkedMarkers {
		c.parkedMarkers[i].results = slices.Clone(c.parkedMarkers[i].results)
	}
	c.additions, c.outgoing, c.markerCalls = slices.Clone(b.additions), slices.Clone(b.outgoing), slices.Clone(b.markerCalls)
	c.errands = slices.Clone(b.errands)
	for i := range c.errands {
		c.errands[i].answers = slices.Clone(c.errands[i].answers)
	}
	return &c
}

// code gives the protocol's number of an error; 0 for none.
func code(err *kerr.Error) int16 {
	if err == nil {
		return 0
	}
	return err.Code
}

// refusalOf gives the refusal that an error of storage is. Any other error is a fault of the engine.
func refusalOf(err error) *storage.Refusal {
	refusal, ok := err.(*storage.Refusal)
	if !ok {
		panic(err)
	}
	return refusal
}

// Disconnected tells the broker that its connection to a server is gone. Cause is the Seq of the event that
// says so.
func (b *Broker) Disconnected(now kafka.Millis, server kafka.NodeID, cause uint64, j *journal.Journal) []simnet.Send {
	t := b.turn(now, j)
	b.disconnected(t, server, cause)
	b.ask(t)
	return t.sends
}
