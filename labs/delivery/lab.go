package delivery

import (
	"cmp"

	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// Names of what every run of the lab has.
const (
	orders      = "orders"
	bills       = "bills"
	billing     = "billing"     // the group of the application
	committed   = "committed"   // the group of a reader with isolation.level = read_committed
	uncommitted = "uncommitted" // the same with read_uncommitted
)

// What the lab runs with, besides its settings.
const (
	tickMillis    = 100 // one message hop a tick
	latencyMillis = 100
	segmentBytes  = 64 << 10
)

// Lab makes the delivery lab.
func Lab() *labs.Lab {
	lab := &labs.Lab{
		Name:       "delivery",
		Title:      "Delivery and transactions",
		Goal:       "See what at most once, at least once and exactly once mean, for whom they hold, and the line at which each stops.",
		Summary:    "Lose an answer, crash between two steps, wake a zombie, one tick at a time, and count for each record how often its effect is there: in a topic, in a database, in an e-mail.",
		TickMillis: tickMillis,
		Horizon:    60,
		Settings:   allSettings(),
		Packages: []string{
			"engine", "engine/broker", "engine/client", "engine/controller", "engine/group", "engine/ledger", "engine/metadata", "engine/partitioner", "engine/record",
			"engine/replication", "engine/simdisk", "engine/simnet", "engine/storage", "engine/txn", "labs/delivery", "labs/inspect",
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
	p.Change = cmp.Or(l.change(), p.Change)
}

// partition is the one partition of a topic.
func partition(topic string) kafka.TopicPartition { return kafka.TopicPartition{Topic: topic} }
