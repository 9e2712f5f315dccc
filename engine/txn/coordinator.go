package txn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/simnet"
)

// Coordinator has the transactional ids of one partition of __transaction_state.
type Coordinator struct {
	config *Config         // only read
	image  *metadata.Image // of the cluster, as the broker knows it; nil: not known; only read
	epoch  int32           // the coordinator epoch: the leader epoch of the partition

	transactions []*transaction // by transactional id
	writes       []pendingWrite // oldest first
	additions    []addition     // requests that wait for some of their transactions, oldest first
	lastWrite    uint64
	lastAddition uint64

	resigned bool
	started  bool         // the checks are set
	abort    kafka.Millis // when the next check of timed-out transactions is
	expire   kafka.Millis // when the next check of expired transactional ids is
	next     timer        // the first of all timers
}

// New makes the coordinator of a partition with nothing in it.
func New(config *Config) *Coordinator { return &Coordinator{config: config} }

// Clone gives a coordinator in the same state. Lists of partitions are shared, as nobody writes them.
func (c *Coordinator) Clone() *Coordinator {
	n := *c
	n.transactions = make([]*transaction, len(c.transactions))
	for i, t := range c.transactions {
		n.transactions[i] = t.clone()
	}
	n.writes = slices.Clone(c.writes)
	n.additions = slices.Clone(c.additions)
	for i := range n.additions {
		n.additions[i].codes = slices.Clone(n.additions[i].codes)
	}
	return &n
}

// Publish tells which partitions there are. Before, each counts as being there.
func (c *Coordinator) Publish(image *metadata.Image) { c.image = image }

// ProducerIDs gives the next producer id; false: none is at hand, and the broker has to ask the controller for more.
type ProducerIDs func() (kafka.ProducerID, bool)

// step is one call from outside: what it does is gathered here.
type step struct {
	c       *Coordinator
	now     kafka.Millis
	cause   uint64 // the event that leads to what comes next
	j       *journal.Journal
	ids     ProducerIDs
	effects coordinator.Effects
}

func (c *Coordinator) begin(now kafka.Millis, cause uint64, j *journal.Journal) *step {
	if !c.started {
		c.started, c.abort, c.expire = true, now+c.config.AbortInterval, now+c.config.ExpirationCheckInterval
	}
	c.skipChecks(now)
	return &step{c: c, now: now, cause: cause, j: j}
}

// end gives what the step wants done, and finds the next timer.
func (s *step) end() coordinator.Effects {
	s.c.setNext()
	return s.effects
}

// journal appends an event. What comes next in this step has the same cause.
func (s *step) journal(body journal.Body) uint64 { return s.j.Append(s.c.config.Node, s.cause, body) }

// then appends an event that leads to what comes next in this step.
func (s *step) then(body journal.Body) { s.cause = s.journal(body) }

// at makes the wall clock of now.
func (s *step) at() kafka.Timestamp { return s.c.config.Start + kafka.Timestamp(s.now) }

// answer answers a request; nil: a timer did what it asks for.
func (s *step) answer(m *simnet.Message, response kmsg.Response) {
	if m == nil {
		return
	}
	response.SetVersion(m.Version())
	s.effects.Answers = append(s.effects.Answers, coordinator.Answer{Request: m, Response: response, Cause: s.cause})
}

// refusal is an error with the rule that gives it.
type refusal struct {
	id  string
	err *kerr.Error
	why string
}

// noteRefusal says that a request is answered with an error.
func (s *step) noteRefusal(m *simnet.Message, r refusal) {
	s.then(journal.TransactionRequestRefused{
		API: m.API(), TransactionalID: r.id, From: m.From, Error: knownAs(m.Request, r.err).Message, Why: r.why,
	})
}

// refuse answers a request with an error, and says so.
func (s *step) refuse(m *simnet.Message, r refusal) {
	s.noteRefusal(m, r)
	s.answer(m, errorResponse(m.Request, r.err))
}

// Receive handles one request about a transactional id of this partition. Cause is the Seq of the event that says it was
// delivered; ids is asked when a producer id is needed.
//
// A request that names several transactional ids is handled for all of them: its sender, or the broker, has divided it
// by coordinator. A request with which this package has nothing to do panics, and so does an InitProducerID without a
// transactional id, which any broker serves.
func (c *Coordinator) Receive(now kafka.Millis, m *simnet.Message, ids ProducerIDs, cause uint64, j *journal.Journal) coordinator.Effects {
	s := c.begin(now, cause, j)
	s.ids = ids
	if c.resigned {
		s.refuse(m, refusal{idIn(m.Request), kerr.NotCoordinator, "this broker leads the partition of __transaction_state no longer"})
		return s.effects
	}
	switch request := m.Request.(type) {
	case *kmsg.InitProducerIDRequest:
		s.initProducerID(m, request)
	case *kmsg.AddPartitionsToTxnRequest:
		s.addPartitions(m, request)
	case *kmsg.AddOffsetsToTxnRequest:
		s.addOffsets(m, request)
	case *kmsg.EndTxnRequest:
		s.endTransaction(m, request)
	case *kmsg.DescribeTransactionsRequest:
		s.describe(m, request)
	case *kmsg.ListTransactionsRequest:
		s.answer(m, List(s.at(), request, c))
	default:
		panic(fmt.Sprintf("txn: %s is not for a transaction coordinator", m.API()))
	}
	return s.end()
}

func (c *Coordinator) index(id string) (int, bool) {
	return slices.BinarySearchFunc(c.transactions, id, func(t *transaction, id string) int { return strings.Compare(t.id, id) })
}

// transaction finds a transactional id; nil: it is not known.
func (c *Coordinator) transaction(id string) *transaction {
	if i, found := c.index(id); found {
		return c.transactions[i]
	}
	return nil
}

// put makes a transactional id known, in the place of what was known of it.
func (c *Coordinator) put(t *transaction) {
	i, found := c.index(t.id)
	if found {
		c.transactions[i] = t
		return
	}
	c.transactions = slices.Insert(c.transactions, i, t)
}

func (c *Coordinator) drop(id string) {
	if i, found := c.index(id); found {
		c.transactions = slices.Delete(c.transactions, i, i+1)
	}
}

// bumpsEpochs says whether the coordinator ends transactions by itself in the way that raises the epoch.
func (c *Coordinator) bumpsEpochs() bool { return c.config.TransactionVersion >= epochBump }
