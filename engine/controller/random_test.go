package controller

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/kafka"
	"loglab/engine/prng"
)

// Random runs: brokers come and go, leaders ask for ISRs, time passes. After every step the log adds up to the
// image and the invariants hold (run.check); the same draws give the same journal, also over a clone.
func TestRandomRuns(t *testing.T) {
	for seed := range uint64(10) {
		whole := randomRun(t, seed, -1)
		if cloned := randomRun(t, seed, 60); cloned != whole {
			t.Fatalf("seed %d: with a clone in between the journal is\n%s\nwithout\n%s", seed, cloned, whole)
		}
	}
}

// randomRun gives the journal of 120 drawn steps. Before step cloneAt the run goes on with a clone, and what it
// was goes on by itself for a while.
func randomRun(t *testing.T, seed uint64, cloneAt int) string {
	rnd := prng.New(seed)
	r := newRun(t, func(c *Config) {
		c.EligibleLeaderReplicas = int16(rnd.IntN(2))
		c.UncleanLeaderElection = rnd.IntN(3) == 0
		c.MinInSyncReplicas = 1 + rnd.IntN(2)
	})
	r.start(1, 2, 3, 4)
	r.create("t", [][]int32{{1, 2, 3}})
	r.create("u", [][]int32{{2, 3, 4}, {4, 1, 2}})
	r.create("v", [][]int32{{3}})
	alive := []kafka.BrokerID{1, 2, 3, 4}
	for step := range 120 {
		if step == cloneAt {
			other := *r
			other.j, other.epochs = r.j.Clone(), map[kafka.BrokerID]int64{}
			r.c = r.c.Clone()
			other.pass(30_000) // everybody dies there
		}
		id := kafka.BrokerID(1 + rnd.IntN(4))
		switch rnd.IntN(6) {
		case 0: // it dies, or is forgotten for a while
			alive = without(alive, id)
		case 1: // it starts, after a clean shutdown or not
			previous := int64(-1)
			if rnd.IntN(2) == 0 {
				previous = r.epochs[id]
			}
			if response := ask[*kmsg.BrokerRegistrationResponse](r, r.request(id, previous)); response.ErrorCode == 0 {
				r.epochs[id] = response.BrokerEpoch
				r.beat(id)
				alive = append(without(alive, id), id)
			}
		case 2:
			if p, _ := r.c.Image().Partition(kafka.TopicPartition{Topic: "t"}); p.Leader >= 0 {
				isr := []kafka.BrokerID{p.Leader}
				for _, replica := range p.Replicas {
					if replica != p.Leader && rnd.IntN(2) == 0 {
						isr = append(isr, replica)
					}
				}
				r.alter(isr, nil)
			}
		case 3:
			request := kmsg.NewPtrElectLeadersRequest()
			request.ElectionType = int8(rnd.IntN(2))
			r.send(request)
		case 4: // a controlled shutdown, perhaps not to its end
			for range 1 + rnd.IntN(3) {
				r.heartbeat(id, func(q *kmsg.BrokerHeartbeatRequest) { q.WantShutdown = true })
				r.beat(without(alive, id)...)
			}
			alive = without(alive, id)
		default:
			r.pass(kafka.Millis(rnd.IntN(8000)), alive...)
		}
	}
	text := ""
	for e := range r.j.All() {
		text += e.Line() + "\n"
	}
	return text + fmt.Sprintf("%+v", r.c.View())
}

func without(list []kafka.BrokerID, id kafka.BrokerID) []kafka.BrokerID {
	var rest []kafka.BrokerID
	for _, other := range list {
		if other != id {
			rest = append(rest, other)
		}
	}
	return rest
}
