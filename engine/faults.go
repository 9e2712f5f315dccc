package engine

import (
	"fmt"

	"loglab/engine/command"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// kill ends a process at once.
func (c *Cluster) kill(node kafka.NodeID, given uint64) (why string) {
	if node == controllerNode {
		return "the controller stays: its quorum is not modelled yet"
	}
	if why := c.running(node); why != "" {
		return why
	}
	cause := c.journal.Append(node, given, journal.ProcessKilled{})
	if b := c.broker(node); b != nil {
		b.Kill()
	} else if n := c.client(node); n.producer != nil {
		n.producer.Kill(cause, &c.outside, &c.journal)
	} else {
		n.consumer.Kill(cause, &c.outside, &c.journal)
	}
	c.die(node, cause, true)
	return ""
}

// losePower takes the power of a broker's machine.
func (c *Cluster) losePower(node kafka.NodeID, given uint64) (why string) {
	b := c.broker(node)
	switch {
	case b == nil:
		return fmt.Sprintf("%s is not a broker", node)
	case !b.Up():
		return fmt.Sprintf("%s does not run", node)
	}
	lost, age := b.LosePower(c.now)
	cause := c.journal.Append(node, given, journal.PowerLost{Bytes: lost, Age: age})
	c.die(node, cause, false)
	c.forget(node, cause)
	return ""
}

// forget lets go what cut links hold of a machine without power.
func (c *Cluster) forget(node kafka.NodeID, cause uint64) {
	for _, m := range c.net.Forget(node) {
		c.lost(m, cause, "a cut link held it, and its sender has no power to send it again")
	}
}

// wipe empties a broker's disk.
func (c *Cluster) wipe(node kafka.NodeID, given uint64) (why string) {
	b := c.broker(node)
	if b == nil {
		return fmt.Sprintf("%s is not a broker", node)
	}
	if !b.Up() {
		b.Wipe()
		c.journal.Append(node, given, journal.DiskWiped{})
		return ""
	}
	b.Wipe()
	c.die(node, c.journal.Append(node, given, journal.ProcessKilled{Wiped: true}), true)
	return ""
}

// start starts a process that does not run.
func (c *Cluster) start(node kafka.NodeID, given uint64) (why string) {
	b, n := c.broker(node), c.client(node)
	switch {
	case b == nil && n == nil:
		return fmt.Sprintf("there is no broker or client %s", node)
	case c.running(node) == "":
		return fmt.Sprintf("%s runs already", node)
	case b != nil:
		for _, m := range c.net.Revive(c.now, node) {
			c.note(m, given)
		}
		c.act(b, b.Start(c.now, given, &c.journal))
	case n.producer != nil:
		n.producer.Start(c.now)
	default:
		n.consumer.Start(c.now)
	}
	return ""
}

// shutDown asks a broker to stop.
func (c *Cluster) shutDown(node kafka.NodeID, given uint64) (why string) {
	b := c.broker(node)
	if b == nil {
		return fmt.Sprintf("%s is not a broker", node)
	}
	if c.inboxOf(node) != nil {
		return fmt.Sprintf("%s is paused", node)
	}
	sends, why := b.ShutDown(c.now, given, &c.journal)
	if why == "" {
		c.act(b, sends)
	}
	return why
}

// slowDisk makes each write of a broker take some time.
func (c *Cluster) slowDisk(node kafka.NodeID, delay kafka.Millis, given uint64) (why string) {
	b := c.broker(node)
	if b == nil {
		return fmt.Sprintf("%s is not a broker", node)
	}
	b.SetDelay(delay)
	c.journal.Append(node, given, journal.DiskSpeedChanged{Delay: delay})
	return ""
}

// cut lets nothing pass any more.
func (c *Cluster) cut(cmd command.Cut, given uint64) (why string) {
	change := func(f *simnet.Faults) { f.Cut = true }
	if cmd.OneWay {
		return c.changeLink(cmd.A, cmd.B, given, change)
	}
	return c.changeLinks(cmd.A, cmd.B, given, change)
}

// changeLinks changes both links between two nodes.
func (c *Cluster) changeLinks(a, b kafka.NodeID, given uint64, change func(*simnet.Faults)) (why string) {
	if why := c.changeLink(a, b, given, change); why != "" {
		return why
	}
	return c.changeLink(b, a, given, change)
}

// changeLink changes the link from one node to another.
func (c *Cluster) changeLink(from, to kafka.NodeID, given uint64, change func(*simnet.Faults)) (why string) {
	for _, node := range [...]kafka.NodeID{from, to} {
		if !c.onNetwork(node) {
			return fmt.Sprintf("there is no node %s", node)
		}
	}
	faults := c.net.Faults(from, to)
	change(&faults)
	c.net.SetFaults(c.now, from, to, faults)
	c.journal.Append(from, given, journal.LinkChanged{From: from, To: to, Cut: faults.Cut, Delay: faults.Delay, Drop: faults.Drop, Double: faults.Double})
	return ""
}
