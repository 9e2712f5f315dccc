package command

import (
	"fmt"

	"loglab/engine/kafka"
)

// Kill ends a process at once, as SIGKILL does. What a broker had written stays: it is in the machine's page
// cache. What a client had not sent is gone.
type Kill struct{ Node kafka.NodeID }

// PowerLoss takes the power of a broker's machine: what was not written to its disk yet is gone.
type PowerLoss struct{ Node kafka.NodeID }

// Wipe empties a broker's disk. If its process runs, it ends.
type Wipe struct{ Node kafka.NodeID }

// Start starts a process that does not run, with the disk that it had.
type Start struct{ Node kafka.NodeID }

// ShutDown asks a broker to stop in an orderly way, its leaders moved first.
type ShutDown struct{ Node kafka.NodeID }

// SlowDisk makes each write of a broker take that long; 0 makes it as fast as it was.
type SlowDisk struct {
	Node  kafka.NodeID
	Delay kafka.Millis
}

func parseKill(words []word) (Command, error) {
	return ofNode(words, func(n kafka.NodeID) Command { return Kill{n} })
}
func parsePowerLoss(words []word) (Command, error) {
	return ofNode(words, func(n kafka.NodeID) Command { return PowerLoss{n} })
}
func parseWipe(words []word) (Command, error) {
	return ofNode(words, func(n kafka.NodeID) Command { return Wipe{n} })
}
func parseStart(words []word) (Command, error) {
	return ofNode(words, func(n kafka.NodeID) Command { return Start{n} })
}
func parseShutDown(words []word) (Command, error) {
	return ofNode(words, func(n kafka.NodeID) Command { return ShutDown{n} })
}

// ofNode makes a command of the one word that names a node.
func ofNode(words []word, build func(kafka.NodeID) Command) (Command, error) {
	node, err := parseNode(words)
	if err != nil {
		return nil, err
	}
	return build(node), nil
}

// MaxDelay is the longest delay of a disk or a link: an hour.
const MaxDelay = 3600 * 1000

func parseSlowDisk(words []word) (Command, error) {
	if len(words) != 2 {
		return nil, errUsage
	}
	node, err := parseNode(words[:1])
	if err != nil {
		return nil, err
	}
	delay, err := parseDelay(words[1])
	return SlowDisk{node, delay}, err
}

// parseDelay reads a duration from 0ms on.
func parseDelay(w word) (kafka.Millis, error) {
	if w.quoted {
		return 0, errUsage
	}
	delay, ok := parseDuration(w.text)
	if !ok {
		return 0, errUsage
	}
	if delay > MaxDelay {
		return 0, fmt.Errorf("%s is not between 0ms and %dh", w.text, MaxDelay/3600/1000)
	}
	return delay, nil
}

// Verb gives "kill".
func (Kill) Verb() string { return "kill" }

// String gives the canonical text.
func (c Kill) String() string { return "kill " + string(c.Node) }

// Verb gives "power-loss".
func (PowerLoss) Verb() string { return "power-loss" }

// String gives the canonical text.
func (c PowerLoss) String() string { return "power-loss " + string(c.Node) }

// Verb gives "wipe".
func (Wipe) Verb() string { return "wipe" }

// String gives the canonical text.
func (c Wipe) String() string { return "wipe " + string(c.Node) }

// Verb gives "start".
func (Start) Verb() string { return "start" }

// String gives the canonical text.
func (c Start) String() string { return "start " + string(c.Node) }

// Verb gives "shut-down".
func (ShutDown) Verb() string { return "shut-down" }

// String gives the canonical text.
func (c ShutDown) String() string { return "shut-down " + string(c.Node) }

// Verb gives "slow-disk".
func (SlowDisk) Verb() string { return "slow-disk" }

// String gives the canonical text.
func (c SlowDisk) String() string {
	return "slow-disk " + string(c.Node) + " " + formatDuration(c.Delay)
}
