package controller

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// REP-13 with eligible leader replicas: the last replica standing loses records, and another eligible one leads.
func TestLastReplicaStandingWithELR(t *testing.T) {
	r := newRun(t, nil)
	r.start(1, 2, 3)
	r.create("t", [][]int32{{3, 1, 2}}, "min.insync.replicas", "2")
	r.want("leader=3 epoch=0/0 isr=[3 1 2] elr=[] last=[]")
	r.pass(12_000, 1, 2) // 3 drops out
	r.want("leader=1 epoch=1/1 isr=[1 2] elr=[] last=[]")
	r.pass(12_000, 2) // 1 drops out
	r.want("leader=2 epoch=2/2 isr=[2] elr=[1] last=[]")
	r.pass(12_000) // 2 dies
	r.want("leader=-1 epoch=3/3 isr=[] elr=[1 2] last=[2]")
	r.register(2, -1) // after an unclean shutdown
	r.want("leader=-1 epoch=3/4 isr=[] elr=[1] last=[2]")
	r.beat(2)
	r.register(3, r.epochs[3])
	r.beat(3)
	r.want("leader=-1 epoch=3/4 isr=[] elr=[1] last=[2]") // neither may lead
	r.register(1, r.epochs[1])
	r.beat(1)
	r.want("leader=1 epoch=4/5 isr=[1] elr=[] last=[]")
	lost, elected := events[journal.LeaderLost](r), events[journal.LeaderElected](r)
	if len(lost) != 1 || lost[0].From != 2 {
		t.Errorf("leaders lost: %+v", lost)
	}
	if last := elected[len(elected)-1]; !last.Clean || last.From != -1 || last.To != 1 || !strings.Contains(last.Why, "eligible leader replica") {
		t.Errorf("the last election: %+v", last)
	}
	r.alter([]kafka.BrokerID{1, 2}, nil)
	r.want("leader=1 epoch=4/6 isr=[1 2] elr=[] last=[]")
}

// REP-13 without: the last member stays in the ISR and leads again, whatever it lost.
func TestLastReplicaStandingWithoutELR(t *testing.T) {
	r := newRun(t, elrOff)
	r.start(0, 1, 2)
	r.create("t", [][]int32{{0, 1, 2}}, "min.insync.replicas", "2")
	r.pass(12_000, 1, 2)
	r.pass(12_000, 2)
	r.want("leader=2 epoch=2/2 isr=[2] elr=[] last=[]")
	r.pass(12_000)
	r.want("leader=-1 epoch=3/3 isr=[2] elr=[] last=[]")
	r.register(0, -1)
	r.beat(0)
	r.want("leader=-1 epoch=3/3 isr=[2] elr=[] last=[]")
	r.register(2, -1)
	r.beat(2)
	r.want("leader=2 epoch=4/4 isr=[2] elr=[] last=[]")
}

// REP-07: the first live replica in the replica list becomes the leader.
func TestUncleanElection(t *testing.T) {
	r := newRun(t, elrOff)
	r.start(1, 2, 3)
	r.create("t", [][]int32{{1, 2, 3}}, "unclean.leader.election.enable", "true")
	r.pass(12_000, 1) // 2 and 3 stop
	r.want("leader=1 epoch=0/2 isr=[1] elr=[] last=[]")
	r.pass(12_000)
	r.want("leader=-1 epoch=1/3 isr=[1] elr=[] last=[]")
	r.register(3, -1)
	r.register(2, -1)
	r.beat(3)
	r.want("leader=3 epoch=2/4 isr=[3] elr=[] last=[] recovering")
	if e := events[journal.LeaderElected](r); len(e) != 1 || e[0].Clean || e[0].To != 3 {
		t.Errorf("elections %+v, want one unclean of 3", e)
	}
	r.beat(2)
	response := r.alter([]kafka.BrokerID{3, 2}, nil) // says that it has recovered
	r.want("leader=3 epoch=2/5 isr=[3 2] elr=[] last=[]")
	if got := response.Topics[0].Partitions[0]; got.PartitionEpoch != 5 || got.LeaderEpoch != 2 || got.LeaderRecoveryState != 0 || len(got.ISR) != 2 {
		t.Errorf("answer %+v", got)
	}
}

// REP-08: the same with unclean elections off, without eligible leader replicas and with them.
func TestNoUncleanElection(t *testing.T) {
	for _, test := range []struct {
		name          string
		change        func(*Config)
		offline, back string
	}{
		{"elr off", elrOff, "leader=-1 epoch=1/3 isr=[1] elr=[] last=[]", "leader=1 epoch=2/4 isr=[1] elr=[] last=[]"},
		{"elr on", nil, "leader=-1 epoch=1/3 isr=[] elr=[1] last=[1]", "leader=1 epoch=2/4 isr=[1] elr=[] last=[]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRun(t, test.change)
			r.start(1, 2, 3)
			r.create("t", [][]int32{{1, 2, 3}})
			r.pass(12_000, 1)
			r.pass(12_000)
			r.register(2, -1)
			r.register(3, -1)
			r.beat(2, 3)
			r.want(test.offline)
			r.register(1, r.epochs[1])
			r.beat(1)
			r.want(test.back)
		})
	}
}

// An unclean election that is allowed only later waits for the timer, 5 minutes apart.
func TestUncleanElectionByTimer(t *testing.T) {
	r := newRun(t, elrOff)
	r.start(1, 2)
	r.create("t", [][]int32{{1, 2}})
	r.pass(12_000, 1)
	r.pass(12_000)
	r.register(2, -1)
	r.beat(2)
	alter := kmsg.NewPtrIncrementalAlterConfigsRequest()
	alter.Resources = []kmsg.IncrementalAlterConfigsRequestResource{setting(kmsg.ConfigResourceTypeTopic, "t", "unclean.leader.election.enable", "true")}
	if response := ask[*kmsg.IncrementalAlterConfigsResponse](r, alter); response.Resources[0].ErrorCode != 0 {
		t.Fatalf("settings: %+v", response.Resources[0])
	}
	r.want("leader=-1 epoch=1/2 isr=[1] elr=[] last=[]")
	r.pass(300_000-r.now, 2)
	r.want("leader=-1 epoch=1/2 isr=[1] elr=[] last=[]")
	r.pass(1, 2)
	r.want("leader=2 epoch=2/3 isr=[2] elr=[] last=[] recovering")
}

func setting(kind kmsg.ConfigResourceType, resource, name, value string) kmsg.IncrementalAlterConfigsRequestResource {
	rr := kmsg.NewIncrementalAlterConfigsRequestResource()
	rr.ResourceType, rr.ResourceName = kind, resource
	config := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	config.Name, config.Value, config.Op = name, &value, kmsg.IncrementalAlterConfigOpSet
	rr.Configs = append(rr.Configs, config)
	return rr
}

// The preferred leader comes back by the timer of leader.imbalance.check.interval.seconds, once it is in the ISR.
func TestPreferredLeaderByTimer(t *testing.T) {
	r := newRun(t, nil)
	r.start(1, 2)
	r.create("t", [][]int32{{1, 2}})
	r.pass(12_000, 2)
	r.want("leader=2 epoch=1/1 isr=[2] elr=[] last=[]")
	r.register(1, r.epochs[1])
	r.beat(1)
	r.pass(100_000, 1, 2)
	r.alter([]kafka.BrokerID{1, 2}, nil)
	r.want("leader=2 epoch=1/2 isr=[1 2] elr=[] last=[]")
	r.pass(300_000-r.now, 1, 2)
	r.want("leader=2 epoch=1/2 isr=[1 2] elr=[] last=[]")
	r.pass(1, 1, 2)
	r.want("leader=1 epoch=2/3 isr=[1 2] elr=[] last=[]")
}

func TestElectLeaders(t *testing.T) {
	r := newRun(t, elrOff)
	r.start(1, 2, 3)
	r.create("t", [][]int32{{1, 2}, {2, 3}, {3, 1}})
	r.pass(12_000, 2, 3) // 1 is gone: t-0 is led by 2
	elect := func(kind int8, topic string, partitions ...int32) []string {
		request := kmsg.NewPtrElectLeadersRequest()
		request.ElectionType = kind
		if topic != "" {
			request.Topics = []kmsg.ElectLeadersRequestTopic{{Topic: topic, Partitions: partitions}}
		}
		response := ask[*kmsg.ElectLeadersResponse](r, request)
		if response.ErrorCode != 0 {
			return []string{kerr.ErrorForCode(response.ErrorCode).(*kerr.Error).Message}
		}
		var got []string
		for _, rt := range response.Topics {
			for _, rp := range rt.Partitions {
				text := "ok"
				if rp.ErrorCode != 0 {
					text = kerr.ErrorForCode(rp.ErrorCode).(*kerr.Error).Message
				}
				got = append(got, text)
			}
		}
		return got
	}
	for _, test := range []struct {
		kind       int8
		topic      string
		partitions []int32
		want       string
	}{
		{0, "t", []int32{0, 1, 9}, "PREFERRED_LEADER_NOT_AVAILABLE ELECTION_NOT_NEEDED UNKNOWN_TOPIC_OR_PARTITION"},
		{0, "none", []int32{0}, "UNKNOWN_TOPIC_OR_PARTITION"},
		{1, "t", []int32{0}, "ELECTION_NOT_NEEDED"},
		{0, "", nil, "PREFERRED_LEADER_NOT_AVAILABLE"}, // those that are as they should be are left out
		{7, "t", []int32{0}, "INVALID_REQUEST"},
	} {
		if got := strings.Join(elect(test.kind, test.topic, test.partitions...), " "); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
	r.pass(12_000, 3) // 2 is gone too: t-0 has no leader
	r.want("leader=-1 epoch=2/2 isr=[2] elr=[] last=[]")
	if got := elect(1, "t", 0); got[0] != "ELIGIBLE_LEADERS_NOT_AVAILABLE" {
		t.Errorf("unclean without a live replica: %s", got)
	}
	r.register(1, -1)
	r.beat(1)
	if got := elect(1, "t", 0); got[0] != "ok" {
		t.Errorf("unclean: %s", got)
	}
	r.want("leader=1 epoch=3/3 isr=[1] elr=[] last=[] recovering")
}
