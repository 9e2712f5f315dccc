package controller

import (
	"fmt"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/prng"
	"loglab/engine/record"
	"loglab/engine/simnet"
)

// run drives one controller with messages.
type run struct {
	t          *testing.T
	c          *Controller
	j          journal.Journal
	now        kafka.Millis
	epochs     map[kafka.BrokerID]int64
	incarnated byte
}

func newRun(t *testing.T, change func(*Config)) *run {
	t.Helper()
	config := DefaultConfig()
	config.Node, config.ClusterID, config.Rand = "k1", "cluster", *prng.New(1)
	if change != nil {
		change(&config)
	}
	return &run{t: t, c: New(config), epochs: map[kafka.BrokerID]int64{}}
}

// elrOff is a cluster without eligible leader replicas.
func elrOff(c *Config) { c.EligibleLeaderReplicas = 0 }

// send delivers a request and gives the sends that it led to.
func (r *run) send(request kmsg.Request) []simnet.Send {
	r.t.Helper()
	request.SetVersion(request.MaxVersion())
	sends := r.c.Receive(r.now, &simnet.Message{From: "b1", To: "k1", Request: request, Correlation: 7}, 0, &r.j)
	r.check()
	return sends
}

// ask delivers a request and gives its answer.
func ask[T kmsg.Response](r *run, request kmsg.Request) T {
	r.t.Helper()
	sends := r.send(request)
	if len(sends) == 0 || sends[0].To != "b1" || sends[0].Correlation != 7 {
		r.t.Fatalf("no answer to %T: %v", request, sends)
	}
	return sends[0].Response.(T)
}

// check wants the log to add up to the image, and the invariants of the package.
func (r *run) check() {
	r.t.Helper()
	var image metadata.Image
	log := r.c.Log()
	for image.Offset < log.LogEndOffset() {
		read, err := log.Read(image.Offset, 1<<20, log.LogEndOffset(), true)
		if err != nil {
			r.t.Fatal(err)
		}
		for rest := read.Bytes; len(rest) > 0; {
			batch, err := record.Parse(rest)
			if err != nil {
				r.t.Fatal(err)
			}
			records, err := batch.Records()
			if err != nil {
				r.t.Fatal(err)
			}
			for i, rec := range records {
				m, err := metadata.Decode(rec.Value)
				if err != nil {
					r.t.Fatal(err)
				}
				image = image.Apply(m, batch.BaseOffset+kafka.Offset(i))
			}
			rest = rest[batch.Size():]
		}
	}
	if fmt.Sprint(image) != fmt.Sprint(r.c.Image()) {
		r.t.Fatalf("the log adds up to\n%v\nbut the image is\n%v", image, r.c.Image())
	}
	for _, topic := range image.Topics {
		for i, p := range topic.Partitions {
			for _, id := range p.ELR {
				if slices.Contains(p.ISR, id) {
					r.t.Fatalf("%s-%d: broker %d is in ISR and ELR", topic.Name, i, id)
				}
			}
			if p.Leader >= 0 && (!slices.Contains(p.ISR, p.Leader) || r.fenced(p.Leader)) {
				r.t.Fatalf("%s-%d: leader %d, ISR %v, fenced %t", topic.Name, i, p.Leader, p.ISR, r.fenced(p.Leader))
			}
		}
	}
}

func (r *run) fenced(id kafka.BrokerID) bool {
	b, _ := r.c.Image().Broker(id)
	return b.Fenced
}

// request makes the registration of a new process of a broker.
func (r *run) request(id kafka.BrokerID, previous int64) *kmsg.BrokerRegistrationRequest {
	r.incarnated++
	request := kmsg.NewPtrBrokerRegistrationRequest()
	request.BrokerID, request.ClusterID, request.PreviousBrokerEpoch = int32(id), "cluster", previous
	request.IncarnationID = [16]byte{1, r.incarnated}
	request.LogDirs = [][16]byte{{2, byte(id)}}
	listener := kmsg.NewBrokerRegistrationRequestListener()
	listener.Name, listener.Host, listener.Port = "PLAINTEXT", fmt.Sprint("b", id), 9092
	request.Listeners = append(request.Listeners, listener)
	return request
}

// register starts a process of a broker; previous is the epoch before a clean shutdown, or -1.
func (r *run) register(id kafka.BrokerID, previous int64) {
	r.t.Helper()
	response := ask[*kmsg.BrokerRegistrationResponse](r, r.request(id, previous))
	if response.ErrorCode != 0 {
		r.t.Fatalf("registration of %d: %v", id, kerr.ErrorForCode(response.ErrorCode))
	}
	r.epochs[id] = response.BrokerEpoch
}

// beat lets brokers send a heartbeat that has read all of the log.
func (r *run) beat(ids ...kafka.BrokerID) {
	r.t.Helper()
	for _, id := range ids {
		if response := r.heartbeat(id, func(*kmsg.BrokerHeartbeatRequest) {}); response.ErrorCode != 0 {
			r.t.Fatalf("heartbeat of %d: %v", id, kerr.ErrorForCode(response.ErrorCode))
		}
	}
}

func (r *run) heartbeat(id kafka.BrokerID, change func(*kmsg.BrokerHeartbeatRequest)) *kmsg.BrokerHeartbeatResponse {
	r.t.Helper()
	request := kmsg.NewPtrBrokerHeartbeatRequest()
	request.BrokerID, request.BrokerEpoch = int32(id), r.epochs[id]
	request.CurrentMetadataOffset = int64(r.c.Image().Offset) - 1
	change(request)
	return ask[*kmsg.BrokerHeartbeatResponse](r, request)
}

// start registers brokers and lets them be unfenced.
func (r *run) start(ids ...kafka.BrokerID) {
	r.t.Helper()
	for _, id := range ids {
		r.register(id, -1)
		r.beat(id)
	}
}

// pass lets time pass: every 1,000 ms the brokers in alive send a heartbeat, and timers fire.
func (r *run) pass(span kafka.Millis, alive ...kafka.BrokerID) {
	r.t.Helper()
	end, beat := r.now+span, r.now
	for {
		due, _ := r.c.NextDue()
		next := min(due, beat, end)
		r.now = max(r.now, next)
		if r.now >= end {
			return
		}
		if beat <= r.now {
			r.beat(alive...)
			beat += 1000
		}
		if due <= r.now {
			r.c.Tick(r.now, &r.j)
			r.check()
		}
	}
}

// create makes a topic with replicas as given, and settings in pairs.
func (r *run) create(topic string, replicas [][]int32, settings ...string) {
	r.t.Helper()
	request := kmsg.NewPtrCreateTopicsRequest()
	rt := kmsg.NewCreateTopicsRequestTopic()
	rt.Topic, rt.NumPartitions, rt.ReplicationFactor = topic, -1, -1
	for i, list := range replicas {
		a := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
		a.Partition, a.Replicas = int32(i), list
		rt.ReplicaAssignment = append(rt.ReplicaAssignment, a)
	}
	for i := 0; i < len(settings); i += 2 {
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name, config.Value = settings[i], &settings[i+1]
		rt.Configs = append(rt.Configs, config)
	}
	request.Topics = append(request.Topics, rt)
	response := ask[*kmsg.CreateTopicsResponse](r, request)
	if code := response.Topics[0].ErrorCode; code != 0 {
		r.t.Fatalf("topic %s: %v %s", topic, kerr.ErrorForCode(code), *response.Topics[0].ErrorMessage)
	}
}

// alter asks for an ISR of t-0 as its leader does; change may spoil the request.
func (r *run) alter(isr []kafka.BrokerID, change func(*kmsg.AlterPartitionRequest, *kmsg.AlterPartitionRequestTopicPartition)) *kmsg.AlterPartitionResponse {
	r.t.Helper()
	topic, _ := r.c.Image().Topic("t")
	p := topic.Partitions[0]
	request := kmsg.NewPtrAlterPartitionRequest()
	request.BrokerID, request.BrokerEpoch = int32(p.Leader), r.epochs[p.Leader]
	rp := kmsg.NewAlterPartitionRequestTopicPartition()
	rp.LeaderEpoch, rp.PartitionEpoch = int32(p.LeaderEpoch), p.PartitionEpoch
	for _, id := range isr {
		rp.NewEpochISR = append(rp.NewEpochISR, kmsg.AlterPartitionRequestTopicPartitionNewEpochISR{BrokerID: int32(id), BrokerEpoch: r.epochs[id]})
	}
	rt := kmsg.NewAlterPartitionRequestTopic()
	rt.TopicID = topic.ID
	if change != nil {
		change(request, &rp)
	}
	rt.Partitions = append(rt.Partitions, rp)
	request.Topics = append(request.Topics, rt)
	return ask[*kmsg.AlterPartitionResponse](r, request)
}

// want compares t-0 with a line: leader, leader epoch, partition epoch, ISR, ELR, last known leader.
func (r *run) want(want string) {
	r.t.Helper()
	p, _ := r.c.Image().Partition(kafka.TopicPartition{Topic: "t"})
	got := fmt.Sprintf("leader=%d epoch=%d/%d isr=%v elr=%v last=%v", p.Leader, p.LeaderEpoch, p.PartitionEpoch, p.ISR, p.ELR, p.LastKnownELR)
	if p.Recovering {
		got += " recovering"
	}
	if got != want {
		r.t.Errorf("t-0 is %s\n   want %s", got, want)
	}
}

// events gives the bodies of one kind.
func events[T journal.Body](r *run) []T {
	var list []T
	for e := range r.j.All() {
		if body, ok := e.Body.(T); ok {
			list = append(list, body)
		}
	}
	return list
}
