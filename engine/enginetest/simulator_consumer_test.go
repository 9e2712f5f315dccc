package enginetest

import (
	"fmt"

	"loglab/engine"
)

// drawProtocols makes the groups of half of the runs use the consumer protocol, some with members of the classic one
// among them. Some groups subscribe by a pattern.
func (s *simulation) drawProtocols(c chance) {
	consumer := c.oneIn(2)
	for i := range s.spec.Groups {
		g := &s.spec.Groups[i]
		if c.oneIn(4) {
			s.set(g.ID, "pattern")
			for j := range g.Members {
				g.Members[j].Config.Topics, g.Members[j].Config.Group.Pattern = nil, "ord[a-z]*"
			}
		}
		if !consumer {
			continue
		}
		// A member of the consumer protocol that joins while a classic group has not come together yet ends with an error,
		// and starts that over.
		s.restarts = 20_000
		assignor, mixed := pickOne(c, "", "uniform", "server-range"), c.oneIn(3)
		s.set(g.ID, fmt.Sprintf("consumer/%s/mixed:%t", assignor, mixed))
		for j := range g.Members {
			had := g.Members[j].Config.Group
			if mixed && c.oneIn(2) {
				continue
			}
			config := engine.DefaultConsumerGroupConfig(g.ID)
			config.RemoteAssignor, config.InstanceID, config.App, config.Pattern = assignor, had.InstanceID, had.App, had.Pattern
			config.MaxPollInterval, config.AutoCommit, config.AutoCommitInterval = had.MaxPollInterval, had.AutoCommit, had.AutoCommitInterval
			g.Members[j].Config.Group = config
		}
	}
}
