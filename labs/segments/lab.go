package segments

import (
	"cmp"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// Names of what every run of the lab has.
const (
	topic    = "orders"
	readers  = "reader" // the group; its member is reader-1
	producer = kafka.NodeID("p0")
	reader   = kafka.NodeID("reader-1")
	server   = kafka.NodeID("b1")
	serverID = kafka.BrokerID(1)
)

// partition is the one that is drawn.
var partition = kafka.TopicPartition{Topic: topic}

// latencyMillis is that of every link: what one request leads to falls into one tick.
const latencyMillis = 1

// Lab makes the segment lab.
func Lab() *labs.Lab {
	lab := &labs.Lab{
		Name:     "segments",
		Title:    "Segment lab",
		Goal:     "See what is on disk, and why “old” data is sometimes still there and sometimes already gone.",
		Summary:  "Write records into segments, let retention and compaction at them, one tick of a second, a minute or an hour at a time, and see which bytes go, when, and by which rule.",
		Horizon:  40,
		Settings: allSettings(),
		Packages: []string{
			"engine", "engine/broker", "engine/client", "engine/controller", "engine/group", "engine/metadata", "engine/record",
			"engine/simdisk", "engine/simnet", "engine/storage", "labs/inspect", "labs/segments",
		},
		Spec: spec,
		Disk: func(c *engine.Cluster) (string, []engine.DiskFile) {
			return partition.String(), c.Files(serverID, partition)
		},
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
