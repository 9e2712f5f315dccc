package rebalance

import (
	"cmp"

	"loglab/labs"
	"loglab/labs/view"
)

// What the lab runs with, besides its settings: a message takes a tick from node to node.
const (
	tickMillis    = 500
	latencyMillis = 500
)

// Lab makes the rebalance lab.
func Lab() *labs.Lab {
	return &labs.Lab{
		Name:       "rebalance",
		Title:      "Rebalance lab",
		Goal:       "See what it costs when a member comes or goes: which partitions move, which ones nobody reads meanwhile, and for how long.",
		Summary:    "Let members of a consumer group join, leave, crash and stall under each protocol and assignor, and see on a timeline which partitions stand still while the group rebalances.",
		TickMillis: tickMillis,
		Horizon:    40,
		Settings:   allSettings(),
		Ready:      readyRuns(),
		Packages: []string{
			"engine", "engine/assignor", "engine/broker", "engine/client", "engine/controller", "engine/group", "engine/metadata", "engine/partitioner", "engine/record",
			"engine/replication", "engine/simdisk", "engine/simnet", "engine/storage", "labs/inspect", "labs/rebalance",
		},
		Spec:  spec,
		Build: build,
	}
}

// build draws the frame.
func build(f labs.Frame, p *view.Page) {
	l := newLayout(f)
	p.Settings = settingsForms(f.Address)
	l.actions(p)
	p.Picture = l.picture()
	p.Reading, p.Events = l.reading(), l.events()
	p.Inspector = cmp.Or(l.inspectAt(), p.Inspector)
	if p.Inspector != nil {
		for i := range p.Inspector.Chain {
			p.Inspector.Chain[i].Text = l.named(p.Inspector.Chain[i].Text)
		}
	}
	p.Change = cmp.Or(l.change(), p.Change)
}
