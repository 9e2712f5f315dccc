package enginetest

import (
	"math/rand/v2"
	"testing"

	"loglab/engine"
)

// drawConsumerSimulation makes a run whose groups use the consumer protocol, with all else that is drawn for a seed.
func drawConsumerSimulation(seed uint64) *simulation {
	s := drawSimulation(seed)
	s.test = "TestSimulateConsumerProtocol"
	c := chance{rand.New(rand.NewPCG(seed, 6))}
	for i := range s.spec.Groups {
		g := &s.spec.Groups[i]
		assignor := pickOne(c, "", "uniform", "server-range")
		s.set(g.ID, "consumer "+assignor)
		for j := range g.Members {
			had := g.Members[j].Config.Group
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
