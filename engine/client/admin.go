package client

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// The versions of an administrator's requests: the newest of Kafka 4.2.
const (
	createTopicsVersion            = 7
	createPartitionsVersion        = 3
	electLeadersVersion            = 2
	incrementalAlterConfigsVersion = 1
	deleteRecordsVersion           = 2
)

// Admin is the client behind kafka-topics and its like: it sends what a person asks for and tells how it
// was answered.
//
// Simplified: it asks the controller; Kafka's asks any broker, which forwards the request to the controller.
// A request that fails is not tried again; Kafka's client tries until default.api.timeout.ms = 60,000 ms are
// over.
type Admin struct {
	node        kafka.NodeID
	controller  kafka.NodeID
	bootstrap   []kafka.NodeID  // brokers
	start       kafka.Timestamp // wall clock at virtual time 0
	connections connections
	task        *resetTask     // under way; nil: none
	starts      []kafka.NodeID // members that a replay has to start
	startCause  uint64
	listing     []listing
}

// listing is a ListOffsets request without an answer.
type listing struct {
	to          kafka.NodeID
	correlation int32
	timestamp   int64
}

// NewAdmin makes an admin client that talks to the controller of that name, and about groups to brokers.
func NewAdmin(node, controller kafka.NodeID, bootstrap []kafka.NodeID, start kafka.Timestamp) *Admin {
	return &Admin{node: node, controller: controller, bootstrap: bootstrap, start: start, connections: connections{node: node, timeout: 30000}}
}

// Node gives the client's name on the network.
func (a *Admin) Node() kafka.NodeID { return a.node }

func (a *Admin) send(now kafka.Millis, request kmsg.Request, cause uint64) simnet.Send {
	return a.connections.send(now, a.controller, request, cause)
}

// Setting is one setting of a topic or broker; a nil Value takes it away, so that the default holds.
type Setting struct {
	Name  string
	Value *string
}

// CreateTopic asks for a topic. Partitions and replicas may be -1, which leaves them to the cluster's
// defaults; placement, where it is not nil, names the brokers of each partition instead.
func (a *Admin) CreateTopic(now kafka.Millis, topic string, partitions int32, replicas int16, placement [][]kafka.BrokerID, settings []Setting, cause uint64) simnet.Send {
	request := kmsg.NewPtrCreateTopicsRequest()
	request.Version, request.TimeoutMillis = createTopicsVersion, int32(a.connections.timeout)
	rt := kmsg.NewCreateTopicsRequestTopic()
	rt.Topic, rt.NumPartitions, rt.ReplicationFactor = topic, partitions, replicas
	for i, ids := range placement {
		rt.NumPartitions, rt.ReplicationFactor = -1, -1
		ra := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
		ra.Partition = int32(i)
		for _, id := range ids {
			ra.Replicas = append(ra.Replicas, int32(id))
		}
		rt.ReplicaAssignment = append(rt.ReplicaAssignment, ra)
	}
	for _, s := range settings {
		rc := kmsg.NewCreateTopicsRequestTopicConfig()
		rc.Name, rc.Value = s.Name, s.Value
		rt.Configs = append(rt.Configs, rc)
	}
	request.Topics = append(request.Topics, rt)
	return a.send(now, request, cause)
}

// CreatePartitions asks for a topic to have count partitions in all.
func (a *Admin) CreatePartitions(now kafka.Millis, topic string, count int, cause uint64) simnet.Send {
	request := kmsg.NewPtrCreatePartitionsRequest()
	request.Version, request.TimeoutMillis = createPartitionsVersion, int32(a.connections.timeout)
	rt := kmsg.NewCreatePartitionsRequestTopic()
	rt.Topic, rt.Count = topic, int32(count)
	request.Topics = append(request.Topics, rt)
	return a.send(now, request, cause)
}

// ElectLeaders asks for leader elections: of the preferred leader, or unclean of any replica that is alive where
// there is no leader.
func (a *Admin) ElectLeaders(now kafka.Millis, partitions []kafka.TopicPartition, unclean bool, cause uint64) simnet.Send {
	request := kmsg.NewPtrElectLeadersRequest()
	request.Version, request.TimeoutMillis = electLeadersVersion, int32(a.connections.timeout)
	if unclean {
		request.ElectionType = 1
	}
	for _, tp := range partitions {
		if n := len(request.Topics); n == 0 || request.Topics[n-1].Topic != tp.Topic {
			rt := kmsg.NewElectLeadersRequestTopic()
			rt.Topic = tp.Topic
			request.Topics = append(request.Topics, rt)
		}
		rt := &request.Topics[len(request.Topics)-1]
		rt.Partitions = append(rt.Partitions, int32(tp.Partition))
	}
	return a.send(now, request, cause)
}

// AlterConfigs asks for settings of a topic or broker to be set or taken away. The name of a broker is its id;
// an empty one stands for all brokers.
func (a *Admin) AlterConfigs(now kafka.Millis, resource kmsg.ConfigResourceType, name string, settings []Setting, cause uint64) simnet.Send {
	request := kmsg.NewPtrIncrementalAlterConfigsRequest()
	request.Version = incrementalAlterConfigsVersion
	rr := kmsg.NewIncrementalAlterConfigsRequestResource()
	rr.ResourceType, rr.ResourceName = resource, name
	for _, s := range settings {
		rc := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		rc.Name, rc.Value = s.Name, s.Value
		if s.Value == nil {
			rc.Op = kmsg.IncrementalAlterConfigOpDelete
		}
		rr.Configs = append(rr.Configs, rc)
	}
	request.Resources = append(request.Resources, rr)
	return a.send(now, request, cause)
}

// DeleteRecords asks the leader of a partition to let the log begin at an offset.
//
// Simplified: it knows which broker leads; Kafka's asks a broker for the metadata first.
func (a *Admin) DeleteRecords(now kafka.Millis, leader kafka.NodeID, tp kafka.TopicPartition, offset kafka.Offset, cause uint64) simnet.Send {
	request := kmsg.NewPtrDeleteRecordsRequest()
	request.Version, request.TimeoutMillis = deleteRecordsVersion, int32(a.connections.timeout)
	rt := kmsg.NewDeleteRecordsRequestTopic()
	rt.Topic = tp.Topic
	rp := kmsg.NewDeleteRecordsRequestTopicPartition()
	rp.Partition, rp.Offset = int32(tp.Partition), int64(offset)
	rt.Partitions = append(rt.Partitions, rp)
	request.Topics = append(request.Topics, rt)
	return a.connections.send(now, leader, request, cause)
}

// Receive handles one response: what was refused is told.
func (a *Admin) Receive(now kafka.Millis, m *simnet.Message, cause uint64, j *journal.Journal) []simnet.Send {
	if !a.connections.answered(m, cause, j) {
		return nil
	}
	if sends, ok := a.takeForTask(now, m, cause, j); ok {
		return sends
	}
	tell := func(code int16, why *string) { a.tell(m.API(), code, why, cause, j) }
	switch response := m.Response.(type) {
	case *kmsg.CreateTopicsResponse:
		for _, result := range response.Topics {
			tell(result.ErrorCode, result.ErrorMessage)
		}
	case *kmsg.CreatePartitionsResponse:
		for _, result := range response.Topics {
			tell(result.ErrorCode, result.ErrorMessage)
		}
	case *kmsg.ElectLeadersResponse:
		tell(response.ErrorCode, nil)
		for _, topic := range response.Topics {
			for _, result := range topic.Partitions {
				tell(result.ErrorCode, result.ErrorMessage)
			}
		}
	case *kmsg.DeleteRecordsResponse:
		for _, topic := range response.Topics {
			for _, result := range topic.Partitions {
				tell(result.ErrorCode, nil)
			}
		}
	case *kmsg.IncrementalAlterConfigsResponse:
		for _, result := range response.Resources {
			tell(result.ErrorCode, result.ErrorMessage)
		}
	default: // of a reset that has begun anew since
	}
	return nil
}

// tell journals an error that a request was answered with.
func (a *Admin) tell(api string, code int16, why *string, cause uint64, j *journal.Journal) {
	if code == 0 {
		return
	}
	event := journal.RequestRefused{API: api, Error: errorName(code)}
	if why != nil {
		event.Why = *why
	}
	j.Append(a.node, cause, event)
}

// Disconnected handles the news that the connection to a server is gone: requests that were in flight on it
// have failed.
func (a *Admin) Disconnected(now kafka.Millis, server kafka.NodeID, cause uint64, j *journal.Journal) []simnet.Send {
	a.lose(now, server, kerr.NetworkException.Code, cause, j)
	return a.runTask(now, j)
}

func (a *Admin) lose(now kafka.Millis, server kafka.NodeID, code int16, cause uint64, j *journal.Journal) {
	failed, seq := a.connections.lost(now, server, cause, j)
	for _, r := range failed {
		j.Append(a.node, seq, journal.RequestFailed{API: kmsg.NameForKey(r.key), Error: errorName(code)})
	}
	if a.task != nil && a.task.running && len(failed) > 0 {
		a.again(now, retryBackoff)
	}
}

// NextDue is when the first request has waited request.timeout.ms for its answer, or a reset goes on; ok is false
// when nothing waits.
func (a *Admin) NextDue() (due kafka.Millis, ok bool) {
	due, ok = a.connections.nextTimeout()
	if a.task != nil && !a.task.running && (!ok || a.task.retryAt < due) {
		due, ok = a.task.retryAt, true
	}
	return due, ok
}

// NextTimer is when the admin client's next timer fires and what it then does, in words; ok is false when none
// is set.
func (a *Admin) NextTimer() (due kafka.Millis, does string, ok bool) {
	if due, ok = a.NextDue(); !ok {
		return 0, "", false
	}
	if a.task != nil && !a.task.running && due == a.task.retryAt {
		return due, fmt.Sprintf("looks again whether group %s is empty", a.task.group), true
	}
	return due, fmt.Sprintf("a request has waited request.timeout.ms = %s for its answer and the connection is closed", kafka.Thousands(a.connections.timeout)), true
}

// Tick closes the connections on which a request has waited too long.
func (a *Admin) Tick(now kafka.Millis, j *journal.Journal) []simnet.Send {
	var sends []simnet.Send
	for {
		server, seq, any := a.connections.timedOut(now, j)
		if !any {
			return append(sends, a.runTask(now, j)...)
		}
		sends = append(sends, simnet.Send{To: server, Close: simnet.CloseOwn, Cause: seq})
		a.lose(now, server, kerr.RequestTimedOut.Code, seq, j)
	}
}

// AdminView is what can be seen of an admin client from outside: an immutable value.
type AdminView struct {
	Node     kafka.NodeID
	InFlight int // requests without an answer
}

// View gives the admin client's state.
func (a *Admin) View() AdminView {
	return AdminView{Node: a.node, InFlight: a.connections.unanswered(a.controller)}
}

// Clone gives an admin client in the same state.
func (a *Admin) Clone() *Admin {
	c := *a
	c.connections, c.listing = a.connections.clone(), slices.Clone(a.listing)
	if a.task != nil {
		task := *a.task
		c.task = &task
	}
	return &c
}
