package broker

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/simnet"
	"loglab/engine/txn"
)

// transactionalID is the id of the tests, and where it lives.
const transactionalID = "t1"

func stateOf() kafka.TopicPartition {
	return kafka.TopicPartition{Topic: txn.Topic, Partition: coordinator.PartitionFor(transactionalID, 50)}
}

// newTransactions starts brokers with a topic "orders" of one partition. Of several brokers its leader is not the
// transaction coordinator, and third is neither.
func newTransactions(t *testing.T, brokers int) (c *cluster, leader, coordinator, third kafka.NodeID) {
	t.Helper()
	c = newCluster(t, brokers, nil, func(c *Config) {
		c.InUse = append(c.InUse, stateOf())
		c.TransactionsTopicReplicationFactor, c.TransactionsTopicMinISR = min(brokers, 3), 1
	})
	for coordinator == "" {
		r := kmsg.NewPtrFindCoordinatorRequest()
		r.Version, r.CoordinatorType, r.CoordinatorKeys = 6, transactionCoordinatorType, []string{transactionalID}
		if found := ask[*kmsg.FindCoordinatorResponse](c, "b1", r).Coordinators[0]; found.ErrorCode == 0 {
			coordinator = kafka.NodeID(found.Host)
		}
		c.run(100)
	}
	leader = coordinator
	var replicas []int32
	for _, b := range c.brokers {
		if b.node != coordinator {
			replicas = append(replicas, int32(b.config.ID))
		}
	}
	if brokers == 3 {
		leader, third = NodeID(kafka.BrokerID(replicas[0])), NodeID(kafka.BrokerID(replicas[1]))
	}
	c.create("orders", append(replicas, int32(c.broker(coordinator).config.ID)))
	return c, leader, coordinator, third
}

// producer is what a producer is known by, and its next sequence.
type producer struct {
	id       int64
	epoch    int16
	sequence kafka.Sequence
}

// initialise asks for a producer id until there is one.
func (c *cluster) initialise(coordinator kafka.NodeID) producer {
	c.t.Helper()
	for range 100 {
		r := kmsg.NewPtrInitProducerIDRequest()
		id := transactionalID
		r.Version, r.TransactionalID, r.TransactionTimeoutMillis = 5, &id, 60_000
		if a := ask[*kmsg.InitProducerIDResponse](c, coordinator, r); a.ErrorCode == 0 {
			return producer{a.ProducerID, a.ProducerEpoch, 0}
		}
		c.run(100)
	}
	c.t.Fatal("no producer id")
	return producer{}
}

// transactional makes a Produce request of one record in a transaction.
func (c *cluster) transactional(p producer, version int16) *kmsg.ProduceRequest {
	c.t.Helper()
	builder := record.NewBuilder(record.Options{Transactional: true, Producer: &record.Producer{
		ID: kafka.ProducerID(p.id), Epoch: kafka.ProducerEpoch(p.epoch), BaseSequence: p.sequence,
	}})
	builder.Append(startTime, nil, []byte("value"))
	batch, err := builder.Build()
	if err != nil {
		c.t.Fatal(err)
	}
	r := c.produceRequest("orders", startTime, -1)
	id := transactionalID
	r.Version, r.TransactionID = version, &id
	r.Topics[0].Partitions[0].Records = batch
	if version <= namesUntil {
		r.Topics[0].Topic = "orders"
	}
	return r
}

func (c *cluster) writes(leader kafka.NodeID, p producer, version int16) string {
	c.t.Helper()
	result := ask[*kmsg.ProduceResponse](c, leader, c.transactional(p, version)).Topics[0].Partitions[0]
	return errorName(result.ErrorCode)
}

// ends ends the transaction and gives the error.
func (c *cluster) ends(coordinator kafka.NodeID, p *producer, commit bool, version int16) string {
	c.t.Helper()
	r := kmsg.NewPtrEndTxnRequest()
	r.Version, r.TransactionalID, r.ProducerID, r.ProducerEpoch, r.Commit = version, transactionalID, p.id, p.epoch, commit
	a := ask[*kmsg.EndTxnResponse](c, coordinator, r)
	if a.ErrorCode == 0 && version >= 5 {
		p.id, p.epoch, p.sequence = a.ProducerID, a.ProducerEpoch, 0
	}
	return errorName(a.ErrorCode)
}

// With transactions of version 2 the leader adds the partition before it appends the first batch, and only then.
func TestLeaderAddsPartition(t *testing.T) {
	c, leader, coordinator, _ := newTransactions(t, 3)
	p := c.initialise(coordinator)
	for ; p.sequence < 3; p.sequence++ {
		if got := c.writes(leader, p, 13); got != "ok" {
			t.Fatalf("sequence %d: %s", p.sequence, got)
		}
	}
	if asked := events[journal.TransactionVerificationAsked](c); len(asked) != 1 {
		t.Errorf("the coordinator was asked %d times: %v", len(asked), asked)
	}
	replica := c.broker(leader).Replica(kafka.TopicPartition{Topic: "orders"})
	if hw, lso := replica.HighWatermark(), replica.LastStableOffset(); hw != 3 || lso != 0 {
		t.Errorf("high watermark %d, last stable offset %d, want 3 and 0", hw, lso)
	}
	if got := c.ends(coordinator, &p, true, 5); got != "ok" || p.epoch != 1 {
		t.Errorf("EndTxn: %s, epoch %d", got, p.epoch)
	}
	c.run(2000)
	if hw, lso := replica.HighWatermark(), replica.LastStableOffset(); hw != 4 || lso != 4 {
		t.Errorf("after the marker: high watermark %d, last stable offset %d, want 4 and 4", hw, lso)
	}
}

// Before version 2 the producer adds partitions, and the leader asks whether it has.
func TestLeaderVerifiesPartition(t *testing.T) {
	c, leader, coordinator, _ := newTransactions(t, 1)
	p := c.initialise(coordinator)
	if got := c.writes(leader, p, 11); got != "TRANSACTION_ABORTABLE" {
		t.Errorf("a partition that is in no transaction: %s", got)
	}
	r := kmsg.NewPtrAddPartitionsToTxnRequest()
	r.Version, r.TransactionalID, r.ProducerID, r.ProducerEpoch = 3, transactionalID, p.id, p.epoch
	r.Topics = []kmsg.AddPartitionsToTxnRequestTopic{{Topic: "orders", Partitions: []int32{0}}}
	if code := ask[*kmsg.AddPartitionsToTxnResponse](c, coordinator, r).Topics[0].Partitions[0].ErrorCode; code != 0 {
		t.Fatalf("AddPartitionsToTxn: %s", errorName(code))
	}
	if got := c.writes(leader, p, 11); got != "ok" {
		t.Errorf("after the partition was added: %s", got)
	}
	if got := c.ends(coordinator, &p, true, 4); got != "ok" || p.epoch != 0 {
		t.Errorf("EndTxn: %s, epoch %d", got, p.epoch)
	}
}

// The leader looks at the epoch before it asks, and without an answer of the coordinator nothing is appended.
func TestRefusedTransactionalWrites(t *testing.T) {
	c, leader, coordinator, _ := newTransactions(t, 1)
	p := c.initialise(coordinator)
	if got := c.writes(leader, p, 13); got != "ok" {
		t.Fatal(got)
	}
	old := p
	if got := c.ends(coordinator, &p, true, 5); got != "ok" {
		t.Fatal(got)
	}
	c.run(1000)
	asked := len(events[journal.TransactionVerificationAsked](c))
	old.sequence = 1
	if got := c.writes(leader, old, 13); got != "INVALID_PRODUCER_EPOCH" {
		t.Errorf("an old epoch: %s", got)
	}
	if n := len(events[journal.TransactionVerificationAsked](c)); n != asked {
		t.Error("the coordinator was asked about an old epoch")
	}
	ahead := p
	ahead.epoch++
	if got := c.writes(leader, ahead, 13); got != "INVALID_PRODUCER_EPOCH" {
		t.Errorf("an epoch that the coordinator does not know: %s", got)
	}
	stranger := producer{id: p.id + 700}
	if got := c.writes(leader, stranger, 13); got != "INVALID_PRODUCER_ID_MAPPING" {
		t.Errorf("a producer id that the coordinator does not know: %s", got)
	}
	skips := p
	skips.sequence = 1
	if got := c.writes(leader, skips, 13); got != "OUT_OF_ORDER_SEQUENCE_NUMBER" {
		t.Errorf("a new epoch that begins with sequence 1: %s", got)
	}
	plain := c.produceRequest("orders", startTime, -1)
	if got := c.writes(leader, p, 13); got != "ok" {
		t.Fatalf("the next transaction: %s", got)
	}
	if code := ask[*kmsg.ProduceResponse](c, leader, plain).Topics[0].Partitions[0].ErrorCode; code != 0 {
		t.Errorf("a producer without an id: %s", errorName(code))
	}
}

// EndTxn is answered before the markers are on every in-sync replica. While they are missing the next transaction cannot
// begin: the leader asks every 20 ms for 100 ms; then it is the producer's turn.
func TestConcurrentTransactions(t *testing.T) {
	c, leader, coordinator, third := newTransactions(t, 3)
	p := c.initialise(coordinator)
	if got := c.writes(leader, p, 13); got != "ok" {
		t.Fatal(got)
	}
	c.cut(leader, third, true)
	if got := c.ends(coordinator, &p, true, 5); got != "ok" {
		t.Fatalf("EndTxn: %s", got)
	}
	c.run(100)
	refused, began := len(events[journal.TransactionRequestRefused](c)), c.now
	if got := c.writes(leader, p, 13); got != "CONCURRENT_TRANSACTIONS" {
		t.Errorf("while the marker is missing: %s", got)
	}
	if n := len(events[journal.TransactionRequestRefused](c)) - refused; n != 5 { // a round takes two hops of 1 ms
		t.Errorf("the coordinator was asked %d times in %d ms", n, c.now-began)
	}
	c.cut(leader, third, false)
	c.run(5000)
	if got := c.writes(leader, p, 13); got != "ok" {
		t.Errorf("once the marker is written: %s", got)
	}
}

// A leader that cannot write a marker in time is asked again, and one that is gone has a successor that is asked.
func TestMarkersAreAskedForUntilWritten(t *testing.T) {
	c, leader, coordinator, _ := newTransactions(t, 3)
	p := c.initialise(coordinator)
	if got := c.writes(leader, p, 13); got != "ok" {
		t.Fatal(got)
	}
	c.cut(coordinator, leader, true)
	r := kmsg.NewPtrEndTxnRequest()
	r.Version, r.TransactionalID, r.ProducerID, r.ProducerEpoch, r.Commit = 5, transactionalID, p.id, p.epoch, true
	asked := c.begin(coordinator, r)
	c.run(45_000) // the leader of orders leaves the in-sync replicas of the coordinator's log first
	if a := answer[*kmsg.EndTxnResponse](c, asked); a.ErrorCode != 0 {
		t.Fatalf("EndTxn: %s", errorName(a.ErrorCode))
	}
	c.kill(leader)
	c.run(60_000)
	if written := events[journal.TransactionEnded](c); len(written) != 1 || strings.HasPrefix(written[0], string(leader)) {
		t.Errorf("markers: %v", written)
	}
	if done := events[journal.TransactionCompleted](c); len(done) != 1 {
		t.Errorf("completed: %v", done)
	}
}

// What the coordinator has for the brokers' words.
func TestTransactionAdditionErrors(t *testing.T) {
	a := addition{id: "t1", message: &simnet.Message{Request: kmsg.NewPtrProduceRequest()}}
	var got []string
	for _, name := range []string{"NETWORK_EXCEPTION", "COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR", "CONCURRENT_TRANSACTIONS", "PRODUCER_FENCED", "INVALID_TXN_STATE", "TRANSACTION_ABORTABLE"} {
		for _, verifyOnly := range []bool{false, true} {
			a.verifyOnly = verifyOnly
			got = append(got, strings.Join([]string{name, a.failure(kafka.TopicPartition{}, byName[name]).err.Message}, " "))
		}
	}
	want := []string{
		"NETWORK_EXCEPTION NOT_ENOUGH_REPLICAS", "NETWORK_EXCEPTION NOT_ENOUGH_REPLICAS",
		"COORDINATOR_LOAD_IN_PROGRESS NOT_ENOUGH_REPLICAS", "COORDINATOR_LOAD_IN_PROGRESS NOT_ENOUGH_REPLICAS",
		"COORDINATOR_NOT_AVAILABLE NOT_ENOUGH_REPLICAS", "COORDINATOR_NOT_AVAILABLE NOT_ENOUGH_REPLICAS",
		"NOT_COORDINATOR NOT_ENOUGH_REPLICAS", "NOT_COORDINATOR NOT_ENOUGH_REPLICAS",
		"CONCURRENT_TRANSACTIONS CONCURRENT_TRANSACTIONS", "CONCURRENT_TRANSACTIONS NOT_ENOUGH_REPLICAS",
		"PRODUCER_FENCED INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED INVALID_PRODUCER_EPOCH",
		"INVALID_TXN_STATE INVALID_TXN_STATE", "INVALID_TXN_STATE INVALID_TXN_STATE",
		"TRANSACTION_ABORTABLE TRANSACTION_ABORTABLE", "TRANSACTION_ABORTABLE TRANSACTION_ABORTABLE",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

var byName = map[string]*kerr.Error{
	"NETWORK_EXCEPTION": kerr.NetworkException, "COORDINATOR_LOAD_IN_PROGRESS": kerr.CoordinatorLoadInProgress,
	"COORDINATOR_NOT_AVAILABLE": kerr.CoordinatorNotAvailable, "NOT_COORDINATOR": kerr.NotCoordinator, "CONCURRENT_TRANSACTIONS": kerr.ConcurrentTransactions,
	"PRODUCER_FENCED": kerr.ProducerFenced, "INVALID_TXN_STATE": kerr.InvalidTxnState, "TRANSACTION_ABORTABLE": kerr.TransactionAbortable,
}
