package group

import (
	"bytes"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/kafka"
	"loglab/engine/partitioner"
	"loglab/engine/simnet"
)

// State is the state of a group, spelled as Kafka does.
type State string

// The states.
//
// Source: ClassicGroupState, ConsumerGroup.ConsumerGroupState. PreparingRebalance and CompletingRebalance are of classic
// groups only, Assigning and Reconciling of groups of the consumer protocol.
const (
	Empty               State = "Empty"
	PreparingRebalance  State = "PreparingRebalance"
	CompletingRebalance State = "CompletingRebalance"
	Assigning           State = "Assigning"   // the group epoch is ahead of the target assignment
	Reconciling         State = "Reconciling" // a member has not come to its target assignment
	Stable              State = "Stable"
	Dead                State = "Dead"
)

// Type is the kind of a group, spelled as Kafka does.
type Type string

// The types.
//
// Source: Group.GroupType.
const (
	Classic  Type = "classic"
	Consumer Type = "consumer"
)

// MemberState says how far a member of a group of the consumer protocol is with its target assignment.
type MemberState string

// The states of a member.
//
// Source: MemberState.
const (
	MemberStable         MemberState = "STABLE"
	UnrevokedPartitions  MemberState = "UNREVOKED_PARTITIONS"  // it has to give partitions up
	UnreleasedPartitions MemberState = "UNRELEASED_PARTITIONS" // it waits for partitions that others have not given up
)

// consumerType is the protocol type of consumers; a subscription can be read in groups of this type only.
const consumerType = "consumer"

// timer is a deadline that may be set.
type timer struct {
	due kafka.Millis
	set bool
}

func (t timer) isDue(now kafka.Millis) bool { return t.set && t.due <= now }

// parked is a request whose answer waits. Answered says that it was answered with an error meanwhile: the member
// counts as waiting all the same, as in Kafka, where the completed future stays.
type parked struct {
	request  *simnet.Message
	answered bool
}

// member is a member of a classic group.
//
// Source: ClassicGroupMember.
type member struct {
	id               string
	instance         string // group.instance.id; empty: a dynamic member
	client           string // client.id
	host             string // "/c1"
	rebalanceTimeout kafka.Millis
	sessionTimeout   kafka.Millis
	protocols        []kmsg.JoinGroupRequestProtocol // the one it prefers first; shared with its request, never written
	assignment       []byte                          // shared, never written
	join             parked                          // its JoinGroup, while it waits for the end of the join phase
	sync             parked                          // its SyncGroup, while it waits for the assignment
	isNew            bool                            // has not seen the end of a join phase yet
	session          timer
}

func (m *member) awaitsJoin() bool { return m.join.request != nil }
func (m *member) awaitsSync() bool { return m.sync.request != nil }

// subscription gives what the member sent for an assignor.
func (m *member) subscription(protocol string) []byte {
	for _, p := range m.protocols {
		if p.Name == protocol {
			return p.Metadata
		}
	}
	return nil
}

func (m *member) supports(protocol string) bool {
	return slices.ContainsFunc(m.protocols, func(p kmsg.JoinGroupRequestProtocol) bool { return p.Name == protocol })
}

// matches says whether a JoinGroup brings the same assignors with the same subscriptions in the same order.
func (m *member) matches(protocols []kmsg.JoinGroupRequestProtocol) bool {
	return slices.EqualFunc(m.protocols, protocols, func(a, b kmsg.JoinGroupRequestProtocol) bool {
		return a.Name == b.Name && bytes.Equal(a.Metadata, b.Metadata)
	})
}

// pendingID is a member id that was given out and has not joined yet.
type pendingID struct {
	id      string
	client  string
	expires kafka.Millis
}

// group is a classic group. Its members are in the order in which they joined.
//
// Source: ClassicGroup.
type group struct {
	id             string
	state          State
	previous       State           // before the last change
	since          kafka.Timestamp // of the last change; -1: not known
	generation     kafka.GenerationID
	protocolType   string // empty: none, a simple group
	protocol       string // the assignor; empty: none
	leader         string
	members        []*member
	pending        []pendingID
	newMemberAdded bool // in this window of the initial delay
	topics         []string
	topicsKnown    bool         // topics is what the members subscribe to
	joinEnds       timer        // the join phase, at the latest
	initial        bool         // joinEnds is a window of the initial delay
	window         kafka.Millis // its length
	remaining      kafka.Millis // for windows after it
	syncEnds       timer        // who has not sent SyncGroup then is removed
	owesSync       []string     // ids that were told of the generation and have not sent SyncGroup
	written        bool         // a record of it is on every in-sync replica: who reads sees the group
}

func (g *group) clone() *group {
	n := *g
	n.members = make([]*member, len(g.members))
	backing := make([]member, len(g.members))
	for i, m := range g.members {
		backing[i] = *m
		n.members[i] = &backing[i]
	}
	n.pending = slices.Clone(g.pending)
	n.owesSync = slices.Clone(g.owesSync)
	return &n
}

func (g *group) member(id string) *member {
	for _, m := range g.members {
		if m.id == id {
			return m
		}
	}
	return nil
}

func (g *group) static(instance string) *member {
	for _, m := range g.members {
		if m.instance == instance && instance != "" {
			return m
		}
	}
	return nil
}

func (g *group) isPending(id string) bool {
	return slices.ContainsFunc(g.pending, func(p pendingID) bool { return p.id == id })
}

// add makes m a member; the first one gives the group its protocol type and leads it.
func (g *group) add(m *member, protocolType string) {
	if len(g.members) == 0 {
		g.protocolType = protocolType
	}
	if g.leader == "" {
		g.leader = m.id
	}
	g.members = append(g.members, m)
	g.dropPending(m.id)
}

func (g *group) dropPending(id string) {
	g.pending = slices.DeleteFunc(g.pending, func(p pendingID) bool { return p.id == id })
}

// remove takes a member or a pending id out. When it led, the member that has been there longest leads.
func (g *group) remove(id string) {
	g.members = slices.DeleteFunc(g.members, func(m *member) bool { return m.id == id })
	if g.leader == id {
		g.leader = ""
		if len(g.members) > 0 {
			g.leader = g.members[0].id
		}
	}
	g.dropPending(id)
	g.synced(id)
}

// synced says that a member has sent SyncGroup, or is gone.
func (g *group) synced(id string) {
	g.owesSync = slices.DeleteFunc(g.owesSync, func(owes string) bool { return owes == id })
}

func (g *group) joined() (n int) {
	for _, m := range g.members {
		if m.awaitsJoin() {
			n++
		}
	}
	return n
}

func (g *group) allJoined() bool { return g.joined() == len(g.members) && len(g.pending) == 0 }

// electJoinedLeader keeps the leader if it has joined, or makes the first member that has joined lead. It is false
// when no member has.
func (g *group) electJoinedLeader() bool {
	if m := g.member(g.leader); m != nil && m.awaitsJoin() {
		return true
	}
	if g.leader == "" {
		return false
	}
	for _, m := range g.members {
		if m.awaitsJoin() {
			g.leader = m.id
			return true
		}
	}
	return false
}

// rebalanceTimeout is the longest of the members'.
func (g *group) rebalanceTimeout() (longest kafka.Millis) {
	for _, m := range g.members {
		longest = max(longest, m.rebalanceTimeout)
	}
	return longest
}

// supportsProtocols says whether a client may join: in a group with members it must be of their type and have an
// assignor that all of them have.
func (g *group) supportsProtocols(protocolType string, protocols []kmsg.JoinGroupRequestProtocol) bool {
	if g.state == Empty {
		return protocolType != "" && len(protocols) > 0
	}
	return g.protocolType != "" && g.protocolType == protocolType &&
		slices.ContainsFunc(protocols, func(p kmsg.JoinGroupRequestProtocol) bool { return g.allSupport(p.Name) })
}

func (g *group) allSupport(protocol string) bool {
	return !slices.ContainsFunc(g.members, func(m *member) bool { return !m.supports(protocol) })
}

// ballot is how many members vote for an assignor.
type ballot struct {
	protocol string
	votes    int
}

// vote lets each member vote for the first of its assignors that all support. There is a member.
func (g *group) vote() (protocol string, ballots []ballot) {
	for _, m := range g.members {
		for _, p := range m.protocols {
			if !g.allSupport(p.Name) {
				continue
			}
			i := slices.IndexFunc(ballots, func(b ballot) bool { return b.protocol == p.Name })
			if i < 0 {
				i = len(ballots)
				ballots = append(ballots, ballot{protocol: p.Name})
			}
			ballots[i].votes++
			break
		}
	}
	won := winner(ballots)
	if won < 0 {
		return "", nil
	}
	return ballots[won].protocol, ballots
}

// winner gives the place of the assignor with most votes, -1 if there is none.
func winner(ballots []ballot) int {
	won := -1
	for i, b := range ballots {
		if won < 0 || b.votes > ballots[won].votes || b.votes == ballots[won].votes && bucketOf(b.protocol) < bucketOf(ballots[won].protocol) {
			won = i
		}
	}
	return won
}

// bucketOf is where a Java HashMap of up to 12 entries keeps a name. Of assignors with equally many votes Kafka takes
// the one that it meets first on its way through the map of votes.
func bucketOf(name string) uint32 {
	hash := uint32(partitioner.JavaStringHashCode(name))
	return (hash ^ hash>>16) & 15
}

// setTopics finds out what the members subscribe to.
//
// Source: ClassicGroup.computeSubscribedTopics.
func (g *group) setTopics() {
	g.topics, g.topicsKnown = nil, false
	if g.protocolType != consumerType {
		return
	}
	if len(g.members) > 0 && g.protocol == "" {
		return
	}
	var topics []string
	for _, m := range g.members {
		of, ok := subscribed(m.subscription(g.protocol))
		if !ok {
			return
		}
		topics = append(topics, of...)
	}
	slices.Sort(topics)
	g.topics, g.topicsKnown = slices.Compact(topics), true
}

// subscribes says whether a member may subscribe to the topic; where the subscriptions of consumers are not known,
// any topic may be one.
func (g *group) subscribes(topic string) bool {
	if !g.topicsKnown {
		return g.protocolType == consumerType
	}
	_, found := slices.BinarySearch(g.topics, topic)
	return found
}

// record gives the group's record, with an assignment for each member.
func (g *group) record(assignment func(*member) []byte) GroupMetadataRecord {
	r := GroupMetadataRecord{
		Group: g.id, ProtocolType: g.protocolType, Generation: g.generation, Protocol: g.protocol, Leader: kafka.MemberID(g.leader), StateTimestamp: g.since,
	}
	for _, m := range g.members {
		r.Members = append(r.Members, MemberRecord{
			ID: kafka.MemberID(m.id), InstanceID: kafka.GroupInstanceID(m.instance), ClientID: m.client, ClientHost: m.host,
			RebalanceTimeout: m.rebalanceTimeout, SessionTimeout: m.sessionTimeout, Subscription: m.subscription(g.protocol), Assignment: assignment(m),
		})
	}
	return r
}
