package group

import (
	"iter"

	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/simnet"
)

// Coordinator has the groups of one partition of __consumer_offsets.
type Coordinator struct {
	config *Config // only read
}

// New makes the coordinator of a partition with nothing in it. Rnd draws the ids of members.
func New(config *Config, rnd prng.Rand) *Coordinator {
	return &Coordinator{config: config}
}

// Load replays the partition's log, oldest record first, and starts the sessions of the members found there.
func (c *Coordinator) Load(now kafka.Millis, records iter.Seq[Record], cause uint64, j *journal.Journal) Effects {
	return Effects{}
}

// Resign ends the coordinator: its broker does not lead the partition any more. Whoever waits is answered
// NOT_COORDINATOR.
func (c *Coordinator) Resign(now kafka.Millis, cause uint64, j *journal.Journal) Effects {
	return Effects{}
}

// Receive handles one request of a group of this partition. Cause is the Seq of the event that says it was delivered.
func (c *Coordinator) Receive(now kafka.Millis, m *simnet.Message, cause uint64, j *journal.Journal) Effects {
	return Effects{}
}

// Written tells what became of a write: it is on every in-sync replica, or err says why not.
func (c *Coordinator) Written(now kafka.Millis, id uint64, err *kerr.Error, cause uint64, j *journal.Journal) Effects {
	return Effects{}
}

// Tick lets the timers that are due fire.
func (c *Coordinator) Tick(now kafka.Millis, j *journal.Journal) Effects { return Effects{} }

// NextDue is when the next timer fires; ok is false when none is set.
func (c *Coordinator) NextDue() (due kafka.Millis, ok bool) { return 0, false }

// Clone gives a coordinator in the same state.
func (c *Coordinator) Clone() *Coordinator {
	n := *c
	return &n
}
