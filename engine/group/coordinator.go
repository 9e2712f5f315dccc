package group

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
	"loglab/engine/prng"
	"loglab/engine/simnet"
)

// Coordinator has the groups of one partition of __consumer_offsets.
type Coordinator struct {
	config *Config // only read
	rnd    prng.Rand

	image     *metadata.Image // of the cluster, as the broker knows it; only read
	newTopics kafka.Offset    // the image's offset when topics were made last

	groups  []*group  // classic ones by id, with what is being written
	slots   []*slot   // groups of the consumer protocol, by id
	offsets []offsets // by group
	writes  []pendingWrite
	lastID  uint64 // of a write
	records uint64 // of offsets, read and written

	resigned bool
	started  bool         // the check of what has expired is set
	check    kafka.Millis // when it comes next
	next     timer        // the first of all timers
}

// New makes the coordinator of a partition with nothing in it. Rnd draws the ids of members.
func New(config *Config, rnd prng.Rand) *Coordinator {
	return &Coordinator{config: config, rnd: rnd, image: &metadata.Image{}, newTopics: -1}
}

// Clone gives a coordinator in the same state. Bytes and lists of offsets are shared, as nobody writes them.
func (c *Coordinator) Clone() *Coordinator {
	n := *c
	n.groups = make([]*group, len(c.groups))
	for i, g := range c.groups {
		n.groups[i] = g.clone()
	}
	n.slots = make([]*slot, len(c.slots))
	for i, sl := range c.slots {
		n.slots[i] = sl.clone()
	}
	n.offsets = slices.Clone(c.offsets)
	n.writes = slices.Clone(c.writes)
	for i := range n.writes {
		n.writes[i].waiting = slices.Clone(n.writes[i].waiting)
		n.writes[i].removed = slices.Clone(n.writes[i].removed)
		for k, g := range n.writes[i].removed {
			n.writes[i].removed[k] = g.clone()
		}
	}
	return &n
}

// step is one call from outside: what it does is gathered here.
type step struct {
	c       *Coordinator
	now     kafka.Millis
	cause   uint64 // the event that leads to what comes next
	j       *journal.Journal
	effects coordinator.Effects
}

func (c *Coordinator) begin(now kafka.Millis, cause uint64, j *journal.Journal) *step {
	if !c.started {
		c.started, c.check = true, now+c.config.RetentionCheckInterval
	}
	return &step{c: c, now: now, cause: cause, j: j}
}

// end gives what the step wants done, and finds the next timer.
func (s *step) end() coordinator.Effects {
	s.c.setNext(s.now)
	return s.effects
}

// journal appends an event. What comes next in this step has the same cause.
func (s *step) journal(body journal.Body) uint64 { return s.j.Append(s.c.config.Node, s.cause, body) }

// then appends an event that leads to what comes next in this step.
func (s *step) then(body journal.Body) { s.cause = s.journal(body) }

// at makes the wall clock of now.
func (s *step) at() kafka.Timestamp { return s.c.config.Start + kafka.Timestamp(s.now) }

// after gives a timer. Of 0 ms it fires at this time still.
func (s *step) after(span kafka.Millis) timer { return timer{s.now + span, true} }

func (s *step) answer(m *simnet.Message, response kmsg.Response) { s.answerBy(s.cause, m, response) }

func (s *step) answerBy(cause uint64, m *simnet.Message, response kmsg.Response) {
	response.SetVersion(m.Version())
	if join, ok := response.(*kmsg.JoinGroupResponse); ok && join.Version < 7 && join.Protocol == nil {
		join.Protocol = new(string) // null only since then
	}
	s.effects.Answers = append(s.effects.Answers, coordinator.Answer{Request: m, Response: response, Cause: cause})
}

// refuse answers a request with an error, and says so.
func (s *step) refuse(m *simnet.Message, response kmsg.Response, r refusal) {
	event := s.journal(journal.GroupRequestRefused{
		API: m.API(), Group: r.group, Member: kafka.MemberID(r.member), From: m.From, Error: r.err.Message, Why: r.why,
	})
	s.answerBy(event, m, response)
}

// refusal is an error with the rule that gives it.
type refusal struct {
	group, member string
	err           *kerr.Error
	why           string
}

// Receive handles one request of a group of this partition. Cause is the Seq of the event that says it was delivered.
//
// A request that names several groups is handled for all of them: its sender, or the broker, has divided it by
// coordinator. A request with which this package has nothing to do panics.
func (c *Coordinator) Receive(now kafka.Millis, m *simnet.Message, cause uint64, j *journal.Journal) coordinator.Effects {
	s := c.begin(now, cause, j)
	if c.resigned {
		s.refuse(m, errorResponse(m.Request, kerr.NotCoordinator), refusal{err: kerr.NotCoordinator, why: notLeader})
		return s.effects
	}
	switch request := m.Request.(type) {
	case *kmsg.JoinGroupRequest:
		s.joinGroup(m, request)
		s.guard(m, request.Group)
	case *kmsg.SyncGroupRequest:
		s.syncGroup(m, request)
		s.guard(m, request.Group)
	case *kmsg.HeartbeatRequest:
		s.heartbeat(m, request)
	case *kmsg.LeaveGroupRequest:
		s.leaveGroup(m, request)
	case *kmsg.ConsumerGroupHeartbeatRequest:
		s.consumerHeartbeat(m, request)
	case *kmsg.OffsetCommitRequest:
		s.commitOffsets(m, offsetCommit{OffsetCommitRequest: request})
	case *kmsg.TxnOffsetCommitRequest:
		s.commitInTransaction(m, request)
	case *kmsg.OffsetFetchRequest:
		s.fetchOffsets(m, request)
	case *kmsg.OffsetDeleteRequest:
		s.deleteOffsets(m, request)
	case *kmsg.DeleteGroupsRequest:
		s.deleteGroups(m, request)
	case *kmsg.DescribeGroupsRequest:
		s.describeGroups(m, request)
	case *kmsg.ConsumerGroupDescribeRequest:
		s.describeConsumerGroups(m, request)
	default:
		panic(fmt.Sprintf("group: %s is not for a group coordinator", m.API()))
	}
	return s.end()
}

const notLeader = "this broker leads the group's partition of __consumer_offsets no longer"

func (c *Coordinator) index(id string) (int, bool) {
	return slices.BinarySearchFunc(c.groups, id, func(g *group, id string) int { return strings.Compare(g.id, id) })
}

// group finds a group; nil: there is none.
func (c *Coordinator) group(id string) *group {
	if i, found := c.index(id); found {
		return c.groups[i]
	}
	return nil
}

// shown finds a group as who only reads sees it: what is being written is not there yet, or still.
func (c *Coordinator) shown(id string) *group {
	for _, w := range c.writes {
		for _, g := range w.removed {
			if g.id == id && g.written {
				return g
			}
		}
	}
	if g := c.group(id); g != nil && g.written {
		return g
	}
	return nil
}

// put makes a group known, in the place of one with the same id.
func (c *Coordinator) put(g *group) {
	i, found := c.index(g.id)
	if found {
		c.groups[i] = g
		return
	}
	c.groups = slices.Insert(c.groups, i, g)
}

func (c *Coordinator) drop(id string) {
	if i, found := c.index(id); found {
		c.groups = slices.Delete(c.groups, i, i+1)
	}
}

// create makes an empty group.
func (s *step) create(id string) *group {
	g := &group{id: id, state: Empty, previous: Dead, since: s.at()}
	s.c.put(g)
	return g
}

// transition changes a group's state.
func (s *step) transition(g *group, to State) {
	g.previous, g.state, g.since = g.state, to, s.at()
}
