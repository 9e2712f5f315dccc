package sandbox

import (
	"cmp"

	"loglab/labs"
	"loglab/labs/view"
)

// Names of what every run of the lab has.
const (
	topic   = "orders"
	billing = "billing"
	audit   = "audit"
)

// latencyMillis is how long every message takes: a tick, at the shortest.
const latencyMillis = 100

// Lab makes the sandbox.
func Lab() *labs.Lab {
	lab := &labs.Lab{
		Name:     "sandbox",
		Title:    "Sandbox",
		Goal:     "See how brokers, producers, transactions, groups, retention and compaction act on the same log.",
		Summary:  "What the other labs show one by one, in one place: one topic, up to five brokers, three producers and two groups, and every command on all of them.",
		Horizon:  60,
		Settings: allSettings(),
		Packages: []string{
			"engine", "engine/assignor", "engine/broker", "engine/client", "engine/controller", "engine/group", "engine/ledger", "engine/metadata", "engine/partitioner", "engine/record",
			"engine/replication", "engine/simdisk", "engine/simnet", "engine/storage", "engine/txn", "labs/inspect", "labs/sandbox",
		},
		Spec:  spec,
		Build: build,
	}
	lab.SetReady(readyRuns())
	return lab
}

// build draws the frame.
func build(f labs.Frame, p *view.Page) {
	l := newLayout(f)
	p.Settings = settingsForms(f.Address)
	l.actions(p)
	p.Picture = l.picture()
	p.Reading = l.reading()
	p.Inspector = cmp.Or(l.inspectAt(), p.Inspector)
}
