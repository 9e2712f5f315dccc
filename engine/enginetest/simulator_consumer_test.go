package enginetest

import (
	"fmt"
	"strings"

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
		s.doublesNoHeartbeat(g.ID)
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

// doublesNoHeartbeat loses what was to be doubled on the way from a group's members. A connection gives no request
// twice. If one did with the heartbeat by which a member joins, the second answer, which the member ignores, could be the
// only one with its assignment: a heartbeat that changes nothing is answered without one. Kafka's coordinator has no
// remedy for that, as it needs none.
func (s *simulation) doublesNoHeartbeat(group string) {
	for at, list := range s.commands {
		for i, text := range list {
			if rest, ok := strings.CutPrefix(text, "double-next "+group+"-"); ok {
				s.commands[at][i] = "drop-next " + group + "-" + rest
			}
		}
	}
}
