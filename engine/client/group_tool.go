package client

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/command"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// The versions of the tool's requests.
const (
	describeGroupsVersion        = 6
	consumerGroupDescribeVersion = 1
)

// The tool tries for toolTimeout, which is default.api.timeout.ms; a replay looks every emptyCheck whether the group is
// empty, for as long as that takes.
const (
	toolTimeout kafka.Millis = 60_000
	emptyCheck  kafka.Millis = 500
)

// resetTask is what kafka-consumer-groups --reset-offsets does for one group, a request after the other: metadata,
// coordinator, state of the group, what is committed, the ends of the logs, and the commit. Slices in it are made anew,
// never written.
//
// Simplified: the tool asks first for the state of a classic group, and if there is none for that of a group of the
// consumer protocol; Kafka's asks the other way round.
type resetTask struct {
	group    string
	topics   []string
	to       command.ResetTo
	waits    bool           // a replay: until the group is empty
	members  []kafka.NodeID // that a replay starts afterwards
	cause    uint64
	deadline kafka.Millis
	retryAt  kafka.Millis // it begins, or begins anew
	attempt  int
	running  bool
	first    int32 // correlation id of the attempt's first request: answers to earlier ones are ignored
	awaited  int   // requests without an answer of the step

	coordinator kafka.NodeID
	brokers     []clusterNode
	places      []resetPlace // sorted
}

// resetPlace is one partition of a reset.
type resetPlace struct {
	tp                                 kafka.TopicPartition
	leader                             kafka.NodeID
	leaderEpoch                        kafka.LeaderEpoch
	committed, earliest, latest, found kafka.Offset // -1: none
}

// Reset begins to reset a group's offsets in some topics. For a replay it waits until the group is empty, and then has
// the members to start. Why says why it cannot; empty: it has begun.
func (a *Admin) Reset(now kafka.Millis, group string, topics []string, to command.ResetTo, replay bool, members []kafka.NodeID, cause uint64, j *journal.Journal) (sends []simnet.Send, why string) {
	if a.task != nil {
		return nil, fmt.Sprintf("a reset of group %s is under way", a.task.group)
	}
	a.task = &resetTask{group: group, topics: topics, to: to, waits: replay, members: members, cause: cause, deadline: now + toolTimeout, retryAt: now}
	return a.runTask(now, j), ""
}

// Finished gives the members that a replay has to start now, and the Seq of the event that ended it.
func (a *Admin) Finished() (members []kafka.NodeID, cause uint64) {
	members, cause = a.starts, a.startCause
	a.starts, a.startCause = nil, 0
	return members, cause
}

// runTask begins the task, or begins it anew.
func (a *Admin) runTask(now kafka.Millis, j *journal.Journal) []simnet.Send {
	t := a.task
	if t == nil || t.running || t.retryAt > now {
		return nil
	}
	if now >= t.deadline {
		a.endTask(journal.ResetFailed{
			Group: t.group, Error: "TimeoutException", Why: fmt.Sprintf("it did not succeed within default.api.timeout.ms = %s ms", kafka.Thousands(toolTimeout)),
		}, t.cause, j)
		return nil
	}
	t.running, t.places, t.coordinator, t.first = true, nil, "", a.connections.correlation+1
	to := a.bootstrap[t.attempt%len(a.bootstrap)]
	t.attempt++
	topics := make([]topicMetadata, len(t.topics))
	for i, name := range t.topics {
		topics[i].name = name
	}
	return a.ask(now, to, metadataRequest(topics))
}

func (a *Admin) ask(now kafka.Millis, to kafka.NodeID, request kmsg.Request) []simnet.Send {
	a.task.awaited++
	send := a.connections.send(now, to, request, a.task.cause)
	if list, ok := request.(*kmsg.ListOffsetsRequest); ok {
		a.listing = append(a.listing, listing{to, send.Correlation, list.Topics[0].Partitions[0].Timestamp})
	}
	return []simnet.Send{send}
}

// again begins the task anew a little later.
func (a *Admin) again(now, after kafka.Millis) {
	if t := a.task; t != nil {
		t.running, t.awaited, t.retryAt = false, 0, now+after
		a.listing = nil
	}
}

// endTask ends the task with what came of it.
func (a *Admin) endTask(event journal.Body, cause uint64, j *journal.Journal) {
	a.starts, a.startCause = a.task.members, j.Append(a.node, cause, event)
	a.task, a.listing = nil, nil
}

// takeForTask takes an answer that the task waits for; ok is false where it is none of the task's.
func (a *Admin) takeForTask(now kafka.Millis, m *simnet.Message, cause uint64, j *journal.Journal) (sends []simnet.Send, ok bool) {
	t := a.task
	if t == nil || !t.running || m.Correlation < t.first {
		return nil, false
	}
	switch response := m.Response.(type) {
	case *kmsg.MetadataResponse:
		t.awaited--
		return a.takePartitions(now, m.From, response), true
	case *kmsg.FindCoordinatorResponse:
		t.awaited--
		if response.Coordinators[0].ErrorCode != 0 {
			a.again(now, retryBackoff)
			return nil, true
		}
		t.coordinator = kafka.NodeID(response.Coordinators[0].Host)
		request := kmsg.NewPtrDescribeGroupsRequest()
		request.Version, request.Groups = describeGroupsVersion, []string{t.group}
		return a.ask(now, t.coordinator, request), true
	case *kmsg.DescribeGroupsResponse:
		t.awaited--
		if group := response.Groups[0]; group.ErrorCode != kerr.GroupIDNotFound.Code {
			return a.takeState(now, group.ErrorCode, group.State, len(group.Members), cause, j), true
		}
		request := kmsg.NewPtrConsumerGroupDescribeRequest()
		request.Version, request.Groups = consumerGroupDescribeVersion, []string{t.group}
		return a.ask(now, t.coordinator, request), true
	case *kmsg.ConsumerGroupDescribeResponse:
		t.awaited--
		group := response.Groups[0]
		return a.takeState(now, group.ErrorCode, group.State, len(group.Members), cause, j), true
	case *kmsg.OffsetFetchResponse:
		t.awaited--
		return a.takeCommitted(now, response), true
	case *kmsg.ListOffsetsResponse:
		t.awaited--
		return a.takeEnds(now, m, response, cause, j), true
	case *kmsg.OffsetCommitResponse:
		t.awaited--
		a.takeReset(now, response, cause, j)
		return nil, true
	}
	return nil, false
}

// takePartitions learns of the partitions and their leaders, and asks for the coordinator.
func (a *Admin) takePartitions(now kafka.Millis, from kafka.NodeID, response *kmsg.MetadataResponse) []simnet.Send {
	t := a.task
	t.brokers = nil
	for _, b := range response.Brokers {
		t.brokers = append(t.brokers, clusterNode{b.NodeID, kafka.NodeID(b.Host)})
	}
	for _, topic := range response.Topics {
		for _, p := range topic.Partitions {
			place := resetPlace{tp: kafka.TopicPartition{Topic: *topic.Topic, Partition: kafka.Partition(p.Partition)}, leaderEpoch: kafka.LeaderEpoch(p.LeaderEpoch), committed: -1, earliest: -1, latest: -1, found: -1}
			for _, b := range t.brokers {
				if b.id == p.Leader {
					place.leader = b.node
				}
			}
			if place.leader == "" {
				a.again(now, retryBackoff)
				return nil
			}
			t.places = append(t.places, place)
		}
	}
	slices.SortFunc(t.places, func(x, y resetPlace) int { return compareTP(x.tp, y.tp) })
	request := kmsg.NewPtrFindCoordinatorRequest()
	request.Version, request.CoordinatorKeys = findCoordinatorVersion, []string{t.group}
	return a.ask(now, from, request)
}

// takeState goes on if the group is empty or not there. Else a reset is refused, and a replay waits.
//
// Source: ConsumerGroupCommand.ConsumerGroupService.resetOffsets.
func (a *Admin) takeState(now kafka.Millis, code int16, state string, members int, cause uint64, j *journal.Journal) []simnet.Send {
	t := a.task
	switch {
	case coordinatorGone(code), code == kerr.CoordinatorLoadInProgress.Code:
		a.again(now, retryBackoff)
		return nil
	case code == kerr.GroupIDNotFound.Code, state == "Empty", state == "Dead":
	case t.waits:
		t.deadline = now + toolTimeout
		a.again(now, emptyCheck)
		return nil
	default:
		a.endTask(journal.ResetRefused{Group: t.group, State: state, Members: members}, cause, j)
		return nil
	}
	request := kmsg.NewPtrOffsetFetchRequest()
	request.Version = offsetFetchVersion
	wanted := kmsg.NewOffsetFetchRequestGroup()
	wanted.Group, wanted.MemberEpoch = t.group, -1
	for name, list := range partitionsByTopic(t.partitions()) {
		topic := kmsg.NewOffsetFetchRequestGroupTopic()
		topic.Topic, topic.Partitions = name, list
		wanted.Topics = append(wanted.Topics, topic)
	}
	request.Groups = append(request.Groups, wanted)
	return a.ask(now, t.coordinator, request)
}

func (t *resetTask) partitions() []kafka.TopicPartition {
	list := make([]kafka.TopicPartition, len(t.places))
	for i, p := range t.places {
		list[i] = p.tp
	}
	return list
}

func (t *resetTask) place(topic string, partition int32) *resetPlace {
	for i := range t.places {
		if p := &t.places[i]; p.tp.Topic == topic && p.tp.Partition == kafka.Partition(partition) {
			return p
		}
	}
	return nil
}

// takeCommitted learns what is committed, and asks the leaders for the ends of their logs, and for a time if the rule
// has one.
func (a *Admin) takeCommitted(now kafka.Millis, response *kmsg.OffsetFetchResponse) (sends []simnet.Send) {
	t := a.task
	group := response.Groups[0]
	if group.ErrorCode != 0 {
		a.again(now, retryBackoff)
		return nil
	}
	t.places = slices.Clone(t.places)
	for _, topic := range group.Topics {
		for _, p := range topic.Partitions {
			if place := t.place(topic.Topic, p.Partition); place != nil && p.ErrorCode == 0 {
				place.committed = kafka.Offset(p.Offset)
			}
		}
	}
	times := []int64{-2, -1}
	switch t.to.Rule {
	case command.ToTimestamp:
		times = append(times, t.to.Value)
	case command.ByDuration:
		times = append(times, int64(a.start)+int64(now)-t.to.Value)
	}
	for _, b := range t.brokers {
		for _, at := range times {
			if request := t.listOffsets(b.node, at); request != nil {
				sends = append(sends, a.ask(now, b.node, request)...)
			}
		}
	}
	return sends
}

func (t *resetTask) listOffsets(leader kafka.NodeID, at int64) kmsg.Request {
	request := kmsg.NewPtrListOffsetsRequest()
	request.Version, request.ReplicaID = listOffsetsVersion, -1
	for _, p := range t.places {
		if p.leader != leader {
			continue
		}
		if n := len(request.Topics); n == 0 || request.Topics[n-1].Topic != p.tp.Topic {
			topic := kmsg.NewListOffsetsRequestTopic()
			topic.Topic = p.tp.Topic
			request.Topics = append(request.Topics, topic)
		}
		part := kmsg.NewListOffsetsRequestTopicPartition()
		part.Partition, part.CurrentLeaderEpoch, part.Timestamp = int32(p.tp.Partition), int32(p.leaderEpoch), at
		topic := &request.Topics[len(request.Topics)-1]
		topic.Partitions = append(topic.Partitions, part)
	}
	if len(request.Topics) == 0 {
		return nil
	}
	return request
}

// takeEnds learns the offsets of one answer; with the last of them it commits.
func (a *Admin) takeEnds(now kafka.Millis, m *simnet.Message, response *kmsg.ListOffsetsResponse, cause uint64, j *journal.Journal) []simnet.Send {
	t := a.task
	at := slices.IndexFunc(a.listing, func(l listing) bool { return l.to == m.From && l.correlation == m.Correlation })
	asked := a.listing[at].timestamp
	t.places = slices.Clone(t.places)
	for _, topic := range response.Topics {
		for _, p := range topic.Partitions {
			place := t.place(topic.Topic, p.Partition)
			if place == nil || p.ErrorCode != 0 {
				a.again(now, retryBackoff)
				return nil
			}
			switch asked {
			case -2:
				place.earliest = kafka.Offset(p.Offset)
			case -1:
				place.latest = kafka.Offset(p.Offset)
			default:
				place.found = kafka.Offset(p.Offset)
			}
		}
	}
	if t.awaited > 0 {
		return nil
	}
	if at := slices.IndexFunc(t.places, func(p resetPlace) bool { return p.committed < 0 }); at >= 0 && t.to.Rule == command.ShiftBy {
		a.endTask(journal.ResetFailed{
			Group: t.group, Error: "IllegalArgumentException",
			Why: fmt.Sprintf("nothing is committed for %s, so there is nothing to shift from", t.places[at].tp),
		}, cause, j)
		return nil
	}
	offsets := make([]commitOffset, len(t.places))
	for i, p := range t.places {
		offsets[i] = commitOffset{tp: p.tp, offset: p.target(t.to), epoch: -1}
	}
	return a.ask(now, t.coordinator, offsetCommitRequest(t.group, offsets))
}

// target is the offset that a partition is set to, within its log.
//
// Source: OffsetsUtils.checkOffsetsRange.
func (p *resetPlace) target(to command.ResetTo) kafka.Offset {
	at := p.latest
	switch to.Rule {
	case command.ToEarliest:
		at = p.earliest
	case command.ToOffset:
		at = kafka.Offset(to.Value)
	case command.ShiftBy:
		at = p.committed + kafka.Offset(to.Value)
	case command.ToTimestamp, command.ByDuration:
		if p.found >= 0 {
			at = p.found
		}
	}
	return max(min(at, p.latest), p.earliest)
}

// takeReset takes the answer to the commit.
func (a *Admin) takeReset(now kafka.Millis, response *kmsg.OffsetCommitResponse, cause uint64, j *journal.Journal) {
	t := a.task
	for _, topic := range response.Topics {
		for _, p := range topic.Partitions {
			switch {
			case p.ErrorCode == 0:
			case kerr.IsRetriable(kerr.ErrorForCode(p.ErrorCode)):
				a.again(now, retryBackoff)
				return
			case p.ErrorCode == kerr.UnknownMemberID.Code && t.waits: // somebody has joined meanwhile
				a.again(now, emptyCheck)
				return
			default:
				a.endTask(journal.ResetFailed{Group: t.group, Error: errorName(p.ErrorCode), Why: "OffsetCommit was answered with that error"}, cause, j)
				return
			}
		}
	}
	event := journal.OffsetsReset{Group: t.group, Rule: t.to.String()}
	for _, p := range t.places {
		event.Offsets = append(event.Offsets, journal.OffsetChange{TopicPartition: p.tp, From: p.committed, To: p.target(t.to)})
	}
	a.endTask(event, cause, j)
}
