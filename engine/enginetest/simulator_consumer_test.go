package enginetest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"loglab/engine"
)

// drawConsumerSimulation makes a run whose groups use the consumer protocol, some with members of the classic one among
// them, with all else that is drawn for a seed.
func drawConsumerSimulation(seed uint64) *simulation {
	s := drawSimulation(seed)
	// A member of the consumer protocol that joins while a classic group has not come together yet ends with an error, and
	// starts that over.
	s.test, s.restarts = "TestSimulateConsumerProtocol", 20_000
	c := chance{rand.New(rand.NewPCG(seed, 6))}
	for i := range s.spec.Groups {
		g := &s.spec.Groups[i]
		assignor, mixed := pickOne(c, "", "uniform", "server-range"), c.oneIn(3)
		s.set(g.ID, fmt.Sprintf("consumer/%s/mixed:%t", assignor, mixed))
		for j := range g.Members {
			had := g.Members[j].Config.Group
			if mixed && c.oneIn(2) {
				continue
			}
			config := engine.DefaultConsumerGroupConfig(g.ID)
			config.RemoteAssignor, config.InstanceID, config.App = assignor, had.InstanceID, had.App
			config.MaxPollInterval, config.AutoCommit, config.AutoCommitInterval = had.MaxPollInterval, had.AutoCommit, had.AutoCommitInterval
			g.Members[j].Config.Group = config
		}
	}
	return s
}

// Random clusters whose groups use the consumer protocol: no invariant breaks, and all comes together in the end.
func TestSimulateConsumerProtocol(t *testing.T) {
	var seeds []uint64
	for seed := range uint64(30) {
		seeds = append(seeds, seed)
	}
	if *seedFlag != 0 {
		seeds = []uint64{*seedFlag}
	} else if *seedsFlag > 0 {
		seeds = nil
		for i := range *seedsFlag {
			seeds = append(seeds, *firstFlag+uint64(i))
		}
	}
	reached := simulateAll(t, seeds, drawConsumerSimulation)
	if len(seeds) < 30 {
		return
	}
	for _, kind := range []string{
		"JoinHeartbeatSent", "MemberEpochMoved", "TargetLearned", "AssignmentAcknowledged", "LeaveHeartbeatSent", "PartitionsRevoked", "PartitionsLost",
		"PollIntervalExceeded", "MembershipLost", "CommitFailed", "StaticMemberAway", "StaticMemberReturned", "ConsumerClosed", "ConsumerFailed", "CoordinatorLost",
	} {
		if !reached[kind] {
			t.Errorf("no %s in any run: the simulator does not reach it", kind)
		}
	}
}
