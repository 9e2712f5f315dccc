package client

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/assignor"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/simnet"
)

// memberState says how far a member is in a rebalance.
type memberState uint8

const (
	unjoined   memberState = iota
	preparing              // JoinGroup is under way
	completing             // it has joined; SyncGroup is to be answered
	stable
)

// member is a consumer's part in a group, with the application that reads: what the coordinator knows it by, where it
// is in a rebalance, and what it commits.
//
// Of a member of the consumer protocol the fields that are about joining stay unused: see membership.
//
// Source: classes AbstractCoordinator, ConsumerCoordinator, Heartbeat.
type member struct {
	state       memberState
	id          kafka.MemberID     // empty: none yet
	generation  kafka.GenerationID // -1: none
	assignor    string             // of the generation
	leader      bool
	coordinator kafka.NodeID // empty: not known
	finding     int32        // FindCoordinator under way; 0: none
	findAt      kafka.Millis // it is not asked for before

	rejoin    string                  // why it has to join; empty: it has not to
	prepared  bool                    // it has given up what it must before it joins
	preparing bool                    // it has begun to
	joinAt    kafka.Millis            // it does not join before
	joining   int32                   // JoinGroup or SyncGroup under way; 0: none
	roster    []assignor.Member       // of a leader that waits for metadata; never written once made
	given     *[]kafka.TopicPartition // by SyncGroup, not taken over by poll yet; never written
	revoking  []kafka.TopicPartition  // of given: what goes first, once the application has committed
	counted   []topicCount            // what a leader has assigned
	joinedFor []string                // with a pattern: the topics that it has joined for; never written once made
	fresh     freshness               // with a pattern: of the metadata, for the next JoinGroup
	kept      []kafka.TopicPartition  // what it was assigned last; the sticky assignor tells the leader
	keptIn    kafka.GenerationID

	heard    kafka.Millis // the last answer of the coordinator to a heartbeat, or the end of the join
	beatAt   kafka.Millis // the next heartbeat
	beating  int32        // the first Heartbeat of this membership that counts; 0: none was sent yet
	polled   kafka.Millis // when the application was in poll last
	failed   int16        // an error of the heartbeat thread that the next poll throws; 0: none
	failedBy uint64

	looking  int32        // OffsetFetch under way; 0: none
	lookAt   kafka.Millis // it is not asked before
	commitAt kafka.Millis // enable.auto.commit: the next
	sync     *syncCommit  // that the application waits for; never written once made
	commits  []commitUnderWay
	leaving  int32 // LeaveGroup, or the last ConsumerGroupHeartbeat, under way; 0: none

	lastKnown groupMetadata // who it was when it last was a member; group and instance are not set

	membership membership // of the consumer protocol
	app        application
}

// freshness says whether metadata is young enough to join with a pattern.
type freshness uint8

const (
	notAsked freshness = iota
	isAsked
	isFresh
)

// topicCount is how many partitions a topic had.
type topicCount struct {
	topic string
	count int
}

// step is one step of a member: when it is, and what it is told to and writes to.
type step struct {
	now   kafka.Millis
	tick  kafka.Tick
	out   *Outside
	j     *journal.Journal
	sends []simnet.Send
}

// NewMember makes a consumer that subscribes as a member of a group, or, where config names partitions to assign,
// commits for one without being a member. Its ids come from rnd: a member of the consumer protocol makes its own. A
// pattern must be valid.
func NewMember(node kafka.NodeID, bootstrap []kafka.NodeID, start kafka.Timestamp, config ConsumerConfig, rnd prng.Rand) *Consumer {
	c := NewConsumer(node, bootstrap, config, nil)
	c.start, c.rnd = start, rnd
	c.newEmbedded(bootstrap)
	switch g := &c.config.Group; {
	case g.Pattern == "":
	case g.Protocol == ConsumerProtocol:
		c.metadata.byID = true
	default:
		c.metadata.pattern = mustPattern(g.Pattern)
	}
	c.join()
	return c
}

// join makes the state of a new process.
func (c *Consumer) join() {
	c.member = &member{generation: -1, keptIn: -1, findAt: atOnce, joinAt: atOnce, lookAt: atOnce, rejoin: "its process has started"}
	if c.selfAssigned() {
		c.member.rejoin = ""
		c.assign(c.config.Group.Assign)
	}
	c.member.membership = newMembership()
	if c.reconciles() {
		c.member.rejoin, c.member.id = "", drawMemberID(&c.rnd)
	}
	c.member.app.pollAt = c.config.Group.App.StartAt
	c.member.lastKnown.generation = -1
	if c.producer != nil {
		c.member.app.state, c.member.app.failedBefore = appStarting, c.producer.failed
	}
}

// selfAssigned says whether the consumer uses assign() instead of subscribe().
func (c *Consumer) selfAssigned() bool { return len(c.config.Group.Assign) > 0 }

// cooperative says whether the member keeps partitions while it joins: only if every assignor that it lists can do
// that.
//
// Source: ConsumerCoordinator, whose protocol is the highest that all assignors support.
func (c *Consumer) cooperative() bool {
	return !slices.ContainsFunc(c.config.Group.Assignors, func(name string) bool {
		rule, err := assignor.ClientByName(name)
		return err != nil || !slices.Contains(rule.SupportedProtocols(), assignor.Cooperative)
	})
}

// advance lets the member do what it can now: first the application, then the thread that sends heartbeats. What that
// thread does in the consumer protocol may be news to the application.
func (c *Consumer) advance(s *step) []simnet.Send {
	c.findCoordinator(s)
	for again := true; again && !c.dead; {
		for !c.dead && c.run(s) {
		}
		switch {
		case c.dead:
		case c.reconciles():
			moved := c.reconcile(s, false)
			again = !c.dead && c.groupBeat(s) || moved
		default:
			c.beat(s, false)
			again = false
		}
		if c.producer != nil && !c.dead {
			c.drive(s)
			again = again || c.awaitsProducer()
		}
	}
	if !c.dead {
		c.findCoordinator(s)
	}
	return s.sends
}

// post adds a request to what the step sends, and gives its correlation id.
func (c *Consumer) post(s *step, send simnet.Send) int32 {
	s.sends = append(s.sends, send)
	return send.Correlation
}

// owned lists the partitions that the member reads, sorted.
func (c *Consumer) owned() []kafka.TopicPartition {
	list := make([]kafka.TopicPartition, len(c.partitions))
	for i, a := range c.partitions {
		list[i] = a.tp
	}
	return list
}

// forget gives up partitions: what is buffered and queued of them, and their positions. It gives the number of records
// that poll had returned and nobody had begun with.
func (c *Consumer) forget(gone []kafka.TopicPartition) (dropped int) {
	c.release(gone)
	return c.member.app.drop(func(tp kafka.TopicPartition) bool { return slices.Contains(gone, tp) })
}

// release gives up partitions without a word to the application: it goes on with the records that it has of them.
func (c *Consumer) release(gone []kafka.TopicPartition) {
	is := func(tp kafka.TopicPartition) bool { return slices.Contains(gone, tp) }
	c.partitions = slices.DeleteFunc(slices.Clone(c.partitions), func(a assigned) bool { return is(a.tp) })
	c.order = slices.DeleteFunc(slices.Clone(c.order), is)
	c.buffered = slices.DeleteFunc(slices.Clone(c.buffered), func(f fetched) bool { return is(f.tp) })
}

// reset makes the member one without a generation, because it was told so, or has left.
//
// Source: AbstractCoordinator.resetStateAndGeneration.
func (m *member) reset(why string, keepID bool) {
	m.state, m.generation, m.leader, m.joining, m.beating, m.roster, m.given, m.revoking = unjoined, -1, false, 0, 0, nil, nil, nil
	if !keepID {
		m.id = ""
	}
	m.rejoin, m.preparing, m.prepared = why, false, false
}

// lostConnection lets what was asked of a server fail.
func (c *Consumer) lostConnection(s *step, server kafka.NodeID, failed []request, cause uint64) {
	m := c.member
	for _, r := range failed {
		if kmsg.Key(r.key) == kmsg.Heartbeat && m.beating != 0 && r.correlation >= m.beating {
			m.beatAt = s.now + retryBackoff
			continue
		}
		switch r.correlation {
		case m.finding:
			m.finding, m.findAt = 0, s.now+retryBackoff
		case m.looking:
			m.looking, m.lookAt = 0, s.now+retryBackoff
		case m.membership.beating:
			m.membership.beatFailed(s.now)
		case m.joining:
			m.joinFailed(s.now, "the connection to the coordinator was lost")
		case m.leaving:
			m.leaving = 0
			c.end(s, cause, true)
			return
		default:
			c.commitFailed(s, r.correlation, "NETWORK_EXCEPTION", true, cause)
			c.deadLetterFailed(s, r.correlation)
		}
	}
	if server == m.coordinator {
		c.loseCoordinator(s, "the connection was lost", cause)
	}
}

// joinFailed makes the member join again a little later.
func (m *member) joinFailed(now kafka.Millis, why string) {
	m.joining, m.roster = 0, nil
	m.rejoin, m.joinAt = why, now+retryBackoff
}

// clone gives a member in the same state.
func (m *member) clone() *member {
	if m == nil {
		return nil
	}
	c := *m
	c.membership.clone()
	c.commits = slices.Clone(m.commits)
	c.app = m.app.clone()
	return &c
}

// memberDue considers when the member's timers fire.
func (c *Consumer) memberDue(consider func(kafka.Millis, bool)) {
	consider(c.findDue())
	consider(c.joinDue())
	consider(c.beatDue())
	consider(c.pollDue())
	consider(c.lookDue())
	consider(c.autoCommitDue())
	consider(c.syncDue())
	consider(c.roundDue())
	consider(c.deadLetterDue())
	app := &c.member.app
	consider(app.loop.doneAt, app.state == appWorking && app.loop.busy)
	for i := range app.pool {
		consider(app.pool[i].doneAt, app.pool[i].busy && app.dead == nil && app.state != appFailed && app.state != appClosing)
	}
	switch app.state {
	case appResting:
		consider(app.pollAt, true)
	case appPolling:
		consider(c.nextAsk())
		consider(app.pollAt, len(c.buffered) > 0 && !c.full())
	}
}
