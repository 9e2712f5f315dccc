package group

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/record"
	"loglab/engine/simnet"
)

// agent is a consumer that behaves as a client does, with crashes, restarts and delays.
type agent struct {
	*consumer
	waits  *simnet.Message // its request that has no answer
	beats  *simnet.Message // a heartbeat or commit of it that has none
	joined bool
	away   bool // it crashed, or has left
}

// randomRun is a coordinator among agents.
type randomRun struct {
	*run
	seed   uint64
	rnd    prng.Rand
	agents []*agent
	left   map[*simnet.Message]bool // requests that Kafka leaves without an answer
	stalls bool                     // writes time out in this run

	moderns []*modernAgent
	failing bool                // writes fail in this run
	epochs  map[string]epochsOf // by group, only looked up
	ended   map[string]int      // so often a group of that id was deleted or has changed its protocol, only looked up
	unsure  map[string]bool     // groups that could not change their protocol: who waited there was answered, only looked up
	looked  int                 // at so many events for that
}

func newRandomRun(t *testing.T, seed uint64) *randomRun {
	rnd := prng.New(seed).Split("random")
	r := &randomRun{run: newRun(t, func(c *Config) {
		c.MaxSize = 4 + rnd.IntN(3)
		c.OffsetsRetention = kafka.Millis(20_000 + rnd.IntN(200_000))
		c.RetentionCheckInterval = kafka.Millis(5000 + rnd.IntN(60_000))
		c.InitialRebalanceDelay = kafka.Millis(rnd.IntN(4000))
		c.ConsumerMaxSize = 3 + rnd.IntN(5)
		c.MigrationPolicy = []MigrationPolicy{Bidirectional, Bidirectional, UpgradeOnly, DowngradeOnly}[rnd.IntN(4)]
	}), seed: seed, rnd: rnd, left: map[*simnet.Message]bool{}, epochs: map[string]epochsOf{}, ended: map[string]int{}, unsure: map[string]bool{}}
	r.publish("orders:6")
	watchOffsets(r.run)
	r.moderns, r.failing = newModernAgents(&r.rnd), rnd.IntN(2) == 0
	r.late, r.stalls = rnd.IntN(2) == 0, rnd.IntN(2) == 0
	for i := range 6 {
		c := newConsumer(kafka.NodeID(fmt.Sprint("c", i)))
		c.group = []string{"g", "h"}[rnd.IntN(2)]
		c.session, c.rebalance = int32(6000+rnd.IntN(20_000)), int32(5000+rnd.IntN(30_000))
		if rnd.IntN(3) == 0 {
			c.instance = fmt.Sprint("i", i%4)
		}
		c.protocols = [][]string{{"range"}, {"range", "sticky"}, {"sticky", "range"}}[rnd.IntN(3)]
		r.agents = append(r.agents, &agent{consumer: c, away: true})
	}
	return r
}

// act lets one agent do something.
func (r *randomRun) act(a *agent) {
	r.collect(a)
	switch roll := r.rnd.IntN(100); {
	case roll < 2: // crash
		if a.waits != nil {
			r.left[a.waits] = true
		}
		*a = agent{consumer: a.consumer, away: true}
		a.member, a.generation = "", -1
	case a.away && roll < 40:
		a.away = false
		a.join(r)
	case a.away:
	case roll < 5 && a.instance == "" && a.waits == nil && a.member != "":
		r.leaves(a.consumer)
		*a = agent{consumer: a.consumer, away: true}
		a.member, a.generation = "", -1
	case roll < 7: // its time-out: it sends the request anew
		if a.waits != nil {
			r.left[a.waits] = true
			a.join(r)
		}
	case roll < 9 && a.waits == nil:
		a.topics = [][]string{{"orders"}, {"orders", "payments"}}[r.rnd.IntN(2)]
		a.join(r)
	case roll < 12:
		r.administer()
	case a.joined && a.waits == nil && a.beats == nil && roll < 60:
		a.beats = r.beats(a.consumer)
	case a.joined && a.waits == nil && a.beats == nil && roll < 90:
		a.beats = r.commitsAny(a.consumer)
	}
	r.collect(a)
}

// commitsAny commits some offset, in a transaction or in none.
func (r *randomRun) commitsAny(c *consumer) *simnet.Message {
	topic, partition, offset := []string{"orders", "payments"}[r.rnd.IntN(2)], int32(r.rnd.IntN(3)), int64(r.rnd.IntN(1000))
	if r.rnd.IntN(3) > 0 {
		return r.send(c.node, commit(c, topic, partition, offset))
	}
	return r.send(c.node, txnCommit(c, int64(r.rnd.IntN(3)), topic, partition, offset))
}

// endsAny ends the transaction of some producer, if it has one or not.
func (r *randomRun) endsAny() {
	r.ends(kafka.ProducerID(r.rnd.IntN(3)), []record.ControlType{record.Commit, record.Commit, record.Abort}[r.rnd.IntN(3)])
}

func (r *randomRun) administer() {
	id := []string{"g", "h"}[r.rnd.IntN(2)]
	switch r.rnd.IntN(6) {
	case 0:
		q := kmsg.NewPtrDeleteGroupsRequest()
		q.Groups = []string{id}
		r.send("admin", q)
	case 1:
		q := kmsg.NewPtrOffsetDeleteRequest()
		q.Group = id
		q.Topics = []kmsg.OffsetDeleteRequestTopic{{Topic: "payments", Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: 0}, {Partition: 1}}}}
		r.send("admin", q)
	case 2:
		c := newConsumer("admin")
		c.group = id
		r.send("admin", commit(c, "orders", 0, int64(r.rnd.IntN(100))))
	case 5:
		c := newConsumer("admin")
		c.group = id
		r.commitsAny(c)
	case 3:
		q := fetchRequest(id, 0)
		q.RequireStable = r.rnd.IntN(2) == 0
		r.send("admin", q)
	case 4:
		q := kmsg.NewPtrLeaveGroupRequest()
		q.Group = id
		instance := fmt.Sprint("i", r.rnd.IntN(4))
		q.Members = []kmsg.LeaveGroupRequestMember{{InstanceID: &instance}}
		for _, a := range r.agents { // what Kafka leaves without an answer
			if a.group == id && a.instance == instance && a.waits != nil && a.waits.API() == "SyncGroup" {
				r.left[a.waits] = true
			}
		}
		r.send("admin", q)
	}
}

func (a *agent) join(r *randomRun) {
	a.joined = false
	a.waits = r.joinsOnce(a.consumer)
}

// collect takes what an agent was answered.
func (r *randomRun) collect(a *agent) {
	for a.waits != nil && r.answers[a.waits] != nil {
		answer := r.answers[a.waits]
		sent := a.waits
		a.waits = nil
		switch answer := answer.(type) {
		case *kmsg.JoinGroupResponse:
			r.afterJoin(a, answer)
		case *kmsg.SyncGroupResponse:
			a.joined = answer.ErrorCode == 0
			if !a.joined {
				r.refused(a, answer.ErrorCode)
			}
		}
		if a.waits == sent {
			return
		}
	}
	if a.beats == nil || r.answers[a.beats] == nil {
		return
	}
	code := int16(0)
	switch answer := r.answers[a.beats].(type) {
	case *kmsg.HeartbeatResponse:
		code = answer.ErrorCode
	case *kmsg.OffsetCommitResponse:
		code = answer.Topics[0].Partitions[0].ErrorCode
	case *kmsg.TxnOffsetCommitResponse:
		code = answer.Topics[0].Partitions[0].ErrorCode
	}
	a.beats = nil
	if code != 0 && a.waits == nil && code != kerr.CoordinatorNotAvailable.Code {
		r.refused(a, code)
	}
}

func (r *randomRun) afterJoin(a *agent, answer *kmsg.JoinGroupResponse) {
	switch {
	case answer.ErrorCode == kerr.MemberIDRequired.Code:
		a.member = answer.MemberID
		a.waits = r.joinsOnce(a.consumer)
	case answer.ErrorCode != 0:
		r.refused(a, answer.ErrorCode)
	default:
		a.member, a.generation = answer.MemberID, answer.Generation
		assignments := map[*consumer][]byte{}
		if answer.LeaderID == a.member && !answer.SkipAssignment {
			for i, m := range answer.Members {
				assignments[&consumer{member: m.MemberID}] = assignment("orders", int32(i))
			}
		}
		a.waits = r.syncs(a.consumer, assignments)
	}
}

// refused lets an agent do what its client does about an error.
func (r *randomRun) refused(a *agent, code int16) {
	a.joined = false
	switch code {
	case kerr.UnknownMemberID.Code, kerr.IllegalGeneration.Code:
		a.member, a.generation = "", -1
		a.away = true
	case kerr.FencedInstanceID.Code, kerr.GroupMaxSizeReached.Code, kerr.InconsistentGroupProtocol.Code:
		a.member, a.generation, a.away = "", -1, true
	case kerr.RebalanceInProgress.Code:
		a.away = false
		a.waits = r.joinsOnce(a.consumer)
	default:
		a.away = true
	}
}

// play lets the agents act for some virtual minutes and checks after each step.
func (r *randomRun) play(steps int) {
	for range steps {
		r.fail = nil
		if r.failing && r.rnd.IntN(30) == 0 {
			r.fail = []*kerr.Error{kerr.NotEnoughReplicas, kerr.MessageTooLarge}[r.rnd.IntN(2)]
		}
		if r.rnd.IntN(40) == 0 {
			r.delay = []kafka.Millis{0, 0, 5, 200, 3000}[r.rnd.IntN(5)]
		}
		r.stuck = r.stalls && (r.stuck && r.rnd.IntN(10) > 0 || r.rnd.IntN(100) == 0)
		if i := r.rnd.IntN(len(r.agents) + len(r.moderns)); i < len(r.agents) {
			r.act(r.agents[i])
		} else {
			r.actModern(r.moderns[i-len(r.agents)])
		}
		if r.rnd.IntN(12) == 0 {
			r.endsAny()
		}
		if r.rnd.IntN(2) == 0 {
			r.pass(kafka.Millis(r.rnd.IntN(2000)))
		}
		r.check()
		if r.t.Failed() {
			r.t.Fatalf("seed %d\n%s", r.seed, tailOf(r.dump()))
		}
	}
}

func tailOf(text string) string { return text[max(0, len(text)-6000):] }

// check holds the coordinator to the package's invariants.
func (r *randomRun) check() {
	r.look()
	for _, g := range r.c.groups {
		ids, instances := map[string]bool{}, map[string]bool{}
		for _, m := range g.members {
			if ids[m.id] || m.instance != "" && instances[m.instance] {
				r.t.Errorf("group %s has %s, %s twice", g.id, m.id, m.instance)
			}
			ids[m.id], instances[m.instance] = true, true
			if g.state == CompletingRebalance && m.awaitsJoin() {
				r.t.Errorf("%s waits in Join in state %s", m.id, g.state)
			}
			if (g.state == Stable || g.state == PreparingRebalance) && m.awaitsSync() {
				r.t.Errorf("%s waits in Sync in state %s", m.id, g.state)
			}
			if !m.session.set && !m.awaitsJoin() && !m.awaitsSync() && !r.unsure[g.id] {
				r.t.Errorf("the session of %s has no end", m.id)
			}
		}
		for _, p := range g.pending {
			if ids[p.id] {
				r.t.Errorf("%s is pending and a member", p.id)
			}
		}
		if len(g.members) > 0 != (g.state != Empty) && g.state != PreparingRebalance || len(g.members) > 0 && !ids[g.leader] {
			r.t.Errorf("group %s in state %s has %d members, leader %q", g.id, g.state, len(g.members), g.leader)
		}
		if g.joinEnds.set != (g.state == PreparingRebalance) {
			r.t.Errorf("group %s in state %s: a join phase with a timer %t", g.id, g.state, g.joinEnds.set)
		}
	}
	r.checkConsumers()
	r.checkOffsetsHaveGroups()
	if len(r.sent)%8 == 0 {
		r.checkLoad()
	}
}

// checkLoad compares the coordinator with one that reads the log as far as it is written.
func (r *randomRun) checkLoad() {
	config := *r.config
	config.MaxSize = 1 << 20 // else a group that is too large is rebalanced
	c, _, _ := loaded(&config, r.now, slices.Values(r.log[:r.durable]))
	live := r.c
	shown := map[string]bool{}
	r.checkLoadConsumers(c)
	r.checkLoadOffsets(c)
	for _, v := range c.View() {
		if v.Type == Consumer {
			continue
		}
		shown[v.ID] = true
		if live.shown(v.ID) == nil {
			r.t.Errorf("at %d: group %s is in the log, and the coordinator does not show it", r.now, v.ID)
		}
	}
	for _, g := range live.groups {
		if g.written && !shown[g.id] && live.shown(g.id) == g {
			r.t.Errorf("at %d: the coordinator shows group %s, which is not in the log", r.now, g.id)
		}
		if g.state != Stable || len(live.writes) > 0 || r.durable != len(r.log) || r.stalls {
			continue // of a returned static member's record that timed out, Kafka takes back what the log will say
		}
		if diff := cmp.Diff(durableView(c, g.id), durableView(live, g.id)); diff != "" {
			r.t.Errorf("at %d: group %s (-log +live):\n%s", r.now, g.id, diff)
		}
	}
}

// durableView is a stable group as its record has it.
func durableView(c *Coordinator, id string) GroupView {
	views := c.View()
	v := views[slices.IndexFunc(views, func(v GroupView) bool { return v.ID == id })]
	v.Since, v.SyncEnds, v.Pending, v.Offsets = 0, 0, nil, nil
	for i := range v.Members {
		v.Members[i].SessionEnds, v.Members[i].OwesSync, v.Members[i].Protocols, v.Members[i].New = 0, false, nil, false
		v.Members[i].SessionTimeout, v.Members[i].RebalanceTimeout = 0, 0
	}
	return v
}

// The runs hold to the invariants, generations rise by one, every request is answered once and, the ones apart that
// Kafka leaves, in bounded time; a clone does the same; after any prefix the log gives what is live.
func TestRandomRuns(t *testing.T) {
	converted := map[string]int{} // groups with members, only looked up
	for seed := range uint64(60) {
		r := newRandomRun(t, seed)
		r.play(400)
		r.finish()
		if t.Failed() {
			t.Fatalf("seed %d\n%s", seed, tailOf(r.dump()))
		}
		for _, e := range events[journal.GroupConverted](r.run) {
			if e.Members > 0 {
				converted[e.To]++
			}
		}
	}
	if converted[string(Consumer)] < 10 || converted[string(Classic)] < 10 {
		t.Errorf("so many groups changed their protocol while they had members: %v", converted)
	}
}

// finish lets everything come to rest and looks at what was left without an answer, and at the generations.
func (r *randomRun) finish() {
	r.fail, r.stuck, r.delay = nil, false, 0
	r.pass(400_000)
	for _, m := range r.sent {
		if r.answers[m] == nil && !r.left[m] {
			r.t.Errorf("%s of %s, sent as message %d, has no answer", m.API(), m.From, m.ID)
		}
	}
	last := map[string]kafka.GenerationID{}
	for e := range r.j.All() {
		generation := kafka.GenerationID(0)
		id := ""
		switch b := e.Body.(type) {
		case journal.JoinPhaseEnded:
			id, generation = b.Group, b.Generation
		case journal.GroupEmpty:
			id, generation = b.Group, b.Generation
		case journal.GroupConverted:
			delete(last, b.Group)
			continue
		case journal.GroupDeleted:
			delete(last, b.Group) // a new one begins at 0
			continue
		default:
			continue
		}
		if before, known := last[id]; known && generation != before+1 && generation != 1 {
			r.t.Errorf("group %s went from generation %d to %d", id, before, generation)
		}
		last[id] = generation
	}
}

// A clone and its original go on alike and apart.
func TestClone(t *testing.T) {
	for seed := range uint64(10) {
		a, b := newRandomRun(t, seed), newRandomRun(t, seed)
		for i := range 300 {
			a.play(1)
			b.play(1)
			if i%10 == 0 {
				kept := b.c
				b.c = b.c.Clone()
				if due, ok := kept.NextDue(); ok {
					scratch := kept.Clone()
					var j journal.Journal
					scratch.Tick(due, &j) // a third one changes nothing of the others
					scratch.Resign(due, 0, &j)
				}
			}
		}
		if got, want := b.dump(), a.dump(); got != want {
			t.Fatalf("seed %d: the journals differ", seed)
		}
		if diff := cmp.Diff(a.c.View(), b.c.View()); diff != "" {
			t.Fatalf("seed %d:\n%s", seed, diff)
		}
		if !reflect.DeepEqual(a.log, b.log) {
			t.Fatalf("seed %d: the logs differ", seed)
		}
	}
}
