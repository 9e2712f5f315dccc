package offsets

import (
	"cmp"

	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// Names of what every run of the lab has.
const (
	topic       = "orders"
	deadLetters = "orders-dead"
	billing     = "billing"
	audit       = "audit"
	producer    = kafka.NodeID("p0")
)

// What the lab runs with, besides its settings.
const (
	tickMillis    = 1000
	latencyMillis = 50
	heartbeat     = 2000 // heartbeat.interval.ms
)

// Lab makes the offset and commit playground.
func Lab() *labs.Lab {
	return &labs.Lab{
		Name:       "offsets",
		Title:      "Offset and commit playground",
		Goal:       "See that position and committed offset are two numbers, and that the gap between them is what a crash repeats or loses.",
		Summary:    "Read, process and commit one tick at a time, crash a consumer between any two of them, and see which records are processed twice and which never.",
		TickMillis: tickMillis,
		Horizon:    20,
		Settings:   allSettings(),
		Ready:      readyRuns(),
		Packages: []string{
			"engine", "engine/assignor", "engine/broker", "engine/client", "engine/controller", "engine/group", "engine/metadata", "engine/partitioner", "engine/record",
			"engine/replication", "engine/simdisk", "engine/simnet", "engine/storage", "labs/inspect", "labs/offsets",
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
	p.Reading = l.reading()
	p.Inspector = cmp.Or(l.inspectAt(), p.Inspector)
	p.Change = cmp.Or(l.change(), p.Change)
}
