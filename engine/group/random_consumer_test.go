package group

import (
	"fmt"
	"slices"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/simnet"
)

// modernAgent is a client of the consumer protocol, with crashes, restarts and delays.
type modernAgent struct {
	*modern
	waits  *simnet.Message // its heartbeat that has no answer
	away   bool
	starts int // so many member ids it has made
	told   bool
}

func newModernAgents(rnd *prng.Rand) (agents []*modernAgent) {
	for i := range 5 {
		c := newModern(kafka.NodeID(fmt.Sprint("m", i)))
		c.group = []string{"g", "h", "k"}[rnd.IntN(3)]
		c.timeout = int32(5000 + rnd.IntN(30_000))
		if rnd.IntN(3) == 0 {
			c.instance = fmt.Sprint("i", i%4)
		}
		c.assignor = []string{"", "", "uniform", "range"}[rnd.IntN(4)]
		agents = append(agents, &modernAgent{modern: c, away: true})
	}
	return agents
}

// actModern lets a client of the consumer protocol do something.
func (r *randomRun) actModern(a *modernAgent) {
	r.collectModern(a)
	leave := func(epoch int32) {
		q := a.beat()
		q.MemberEpoch = epoch
		a.waits, a.away, a.epoch = r.send(a.node, q), true, 0
	}
	switch roll := r.rnd.IntN(100); {
	case a.waits != nil && roll > 1:
	case roll < 2: // crash
		a.waits, a.away = nil, true
	case a.away && roll < 40:
		a.starts++
		a.id, a.away, a.owns, a.epoch = fmt.Sprintf("%s.%d", a.node, a.starts), false, nil, 0
		a.waits = r.send(a.node, a.full(0))
	case a.away:
	case roll < 5:
		leave(int32(leaves))
	case roll < 8 && a.instance != "":
		leave(int32(leavesToReturn))
	case roll < 12:
		a.topics, a.regex = [][]string{{"orders"}, {"orders", "payments"}, {"nothing"}, nil}[r.rnd.IntN(4)], ""
		if a.topics == nil || r.rnd.IntN(3) == 0 {
			a.regex = []string{"pay.*", ".*s", "orders"}[r.rnd.IntN(3)]
		}
		q := a.full(a.epoch)
		q.SubscribedTopicRegex = &a.regex
		a.waits = r.send(a.node, q)
	case roll < 15:
		r.publish([]string{"orders:6", "orders:7", "orders:9"}[r.rnd.IntN(3)], []string{"payments:2", "payments:3"}[r.rnd.IntN(2)])
	case roll < 30 && a.epoch > 0:
		c := &consumer{node: a.node, group: a.group, member: a.id, instance: a.instance, generation: a.epoch}
		r.commitsAny(c)
	default:
		q := a.beat()
		if a.told && r.rnd.IntN(3) > 0 {
			a.told = false
			if q.Topics = a.owns; q.Topics == nil {
				q.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
			}
		}
		a.waits = r.send(a.node, q)
	}
	r.collectModern(a)
}

// collectModern takes what such a client was answered.
func (r *randomRun) collectModern(a *modernAgent) {
	if a.waits == nil || r.answers[a.waits] == nil {
		return
	}
	m := a.waits
	a.waits = nil
	answer := r.answers[m].(*kmsg.ConsumerGroupHeartbeatResponse)
	switch {
	case a.away:
	case answer.ErrorCode == 0:
		a.told = a.told || answer.Assignment != nil
		r.told(a.modern, m)
	case answer.ErrorCode == kerr.FencedMemberEpoch.Code || answer.ErrorCode == kerr.UnknownMemberID.Code:
		a.owns, a.epoch = nil, 0
		a.waits = r.send(a.node, a.full(0))
	default:
		a.away = true
	}
}

// look takes note of what has happened to groups since it looked last.
func (r *randomRun) look() {
	for ; r.looked < r.j.Len(); r.looked++ {
		switch e, _ := r.j.At(uint64(r.looked + 1)); b := e.Body.(type) {
		case journal.GroupDeleted:
			r.ended[b.Group]++
		case journal.GroupConverted:
			r.ended[b.Group]++
		case journal.GroupRequestRefused:
			if b.API == "ConsumerGroupHeartbeat" && (b.Error == kerr.UnknownServerError.Message || b.Error == kerr.GroupMaxSizeReached.Message) {
				r.unsure[b.Group] = true
			}
		}
	}
}

// checkConsumers holds groups of the consumer protocol to the package's invariants.
func (r *randomRun) checkConsumers() {
	for _, sl := range r.c.slots {
		r.checkEpochs(sl)
		g := sl.latest
		if g == nil {
			continue
		}
		// As in Kafka, a member stays without a session when its removal cannot be written, or its JoinGroup was written too
		// late to be answered, until it is heard of.
		sure := !r.failing && !r.stalls
		owners := map[idPartition]string{}
		for _, m := range g.members {
			for _, p := range append(slices.Clone(m.assigned), m.revoking...) {
				if other := owners[p]; other != "" && !r.lost() {
					r.t.Errorf("at %d: %v of group %s belongs to %s and to %s", r.now, p, g.id, other, m.id)
				}
				owners[p] = m.id
			}
			i := slices.IndexFunc(sl.timers, func(t memberTimers) bool { return t.member == m.id })
			if sure && len(r.c.writes) == 0 && (i < 0 || !sl.timers[i].session.set) {
				r.t.Errorf("at %d: the session of %s in group %s has no end", r.now, m.id, g.id)
			}
			if sure && m.state == UnrevokedPartitions && m.classic == nil && (i < 0 || !sl.timers[i].revoke.set) {
				r.t.Errorf("at %d: %s in group %s may take as long as it likes to give up %v", r.now, m.id, g.id, m.revoking)
			}
		}
	}
}

// lost says that writes may fail of which others have made use meanwhile.
func (r *randomRun) lost() bool { return r.late && r.failing }

// checkEpochs sees to it that no epoch falls of what is written.
func (r *randomRun) checkEpochs(sl *slot) {
	g := sl.visible
	if g == nil {
		delete(r.epochs, sl.id)
		return
	}
	before := r.epochs[sl.id]
	now := epochsOf{group: g.epoch, assignment: g.assignmentEpoch, members: map[string]kafka.MemberEpoch{}}
	if now.group < before.group && r.ended[sl.id] > 0 {
		r.ended[sl.id]-- // this is another group
		before = epochsOf{}
	}
	if r.lost() {
		return
	}
	if now.group < before.group || now.assignment < before.assignment || now.assignment > now.group {
		r.t.Errorf("at %d: group %s went from epoch %d, assignment %d, to %d, %d", r.now, sl.id, before.group, before.assignment, now.group, now.assignment)
	}
	for _, m := range g.members {
		now.members[m.id] = m.epoch
		if m.epoch > 0 && m.epoch < before.members[m.id] || kafka.GroupEpoch(m.epoch) > now.assignment {
			r.t.Errorf("at %d: %s in group %s went from epoch %d to %d, assignment %d", r.now, m.id, sl.id, before.members[m.id], m.epoch, now.assignment)
		}
	}
	r.epochs[sl.id] = now
}

// epochsOf are the epochs of a group.
type epochsOf struct {
	group, assignment kafka.GroupEpoch
	members           map[string]kafka.MemberEpoch // only looked up
}

// checkLoadConsumers compares what is shown of groups of the consumer protocol with what the log says.
func (r *randomRun) checkLoadConsumers(fresh *Coordinator) {
	ids := map[string]bool{}
	for _, c := range []*Coordinator{fresh, r.c} {
		for _, sl := range c.slots {
			ids[sl.id] = true
		}
	}
	for id := range ids {
		if sameGroup(fresh.shownConsumer(id), r.c.shownConsumer(id)) {
			continue
		}
		diff := cmp.Diff(fresh.shownConsumer(id), r.c.shownConsumer(id), cmp.AllowUnexported(consumerGroup{}, consumerMember{}, target{}, pattern{}, idPartition{}), cmpopts.EquateEmpty())
		r.t.Errorf("at %d: group %s (-log +live):\n%s", r.now, id, diff)
	}
}

// sameGroup says whether cmp.Diff, which takes long, would find nothing.
func sameGroup(a, b *consumerGroup) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.epoch == b.epoch && a.assignmentEpoch == b.assignmentEpoch && a.metadataHash == b.metadataHash &&
		slices.EqualFunc(a.members, b.members, func(m, n *consumerMember) bool { return m.id == n.id && m.sameAs(n) }) &&
		slices.EqualFunc(a.targets, b.targets, func(s, t target) bool { return s.member == t.member && slices.Equal(s.partitions, t.partitions) }) &&
		slices.EqualFunc(a.patterns, b.patterns, func(p, q pattern) bool {
			return p.regex == q.regex && p.version == q.version && p.at == q.at && slices.Equal(p.topics, q.topics)
		})
}
