package command

import "loglab/engine/kafka"

// Pause makes a node's process stand still, as SIGSTOP does: no timer fires and nothing is read, but
// the machine's network goes on, so what arrives waits and is taken in order at [Resume].
type Pause struct{ Node kafka.NodeID }

func parsePause(words []word) (Command, error) {
	node, err := parseNode(words)
	return Pause{node}, err
}

// Verb gives "pause".
func (Pause) Verb() string { return "pause" }

// String gives the canonical text.
func (c Pause) String() string { return "pause " + string(c.Node) }

// Resume lets a paused node's process go on.
type Resume struct{ Node kafka.NodeID }

func parseResume(words []word) (Command, error) {
	node, err := parseNode(words)
	return Resume{node}, err
}

// Verb gives "resume".
func (Resume) Verb() string { return "resume" }

// String gives the canonical text.
func (c Resume) String() string { return "resume " + string(c.Node) }
