package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/broker"
	"loglab/engine/client"
	"loglab/engine/command"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// Apply carries out one command at the present tick. A command that cannot apply changes nothing and is
// an event in the journal. The error is a bound that ended the run.
func (c *Cluster) Apply(cmd command.Command) error {
	if c.broken != nil {
		return c.broken
	}
	given := c.journal.Append(journal.You, 0, journal.CommandGiven{Command: cmd.String()})
	if why := c.carryOut(cmd, given); why != "" {
		c.journal.Append(journal.You, given, journal.CommandRejected{Command: cmd.String(), Why: why})
	}
	return c.checkBounds()
}

// carryOut does what a command says, or gives the reason why it cannot.
func (c *Cluster) carryOut(cmd command.Command, given uint64) (why string) {
	switch cmd := cmd.(type) {
	case command.Produce:
		return c.produce(cmd, given)
	case command.StopSending:
		return c.stopSending(cmd.Producer, given)
	case command.StartSending:
		return c.startSending(cmd.Producer, given)
	case command.BeginTransaction, command.CommitTransaction, command.AbortTransaction:
		return c.transact(cmd, given)
	case command.AddPartitions:
		return c.addPartitions(cmd, given)
	case command.CreateTopic:
		return c.createLater(cmd, given)
	case command.AlterConfig:
		c.send(adminNode, []simnet.Send{c.admin.AlterConfigs(c.now, kmsg.ConfigResourceTypeTopic, cmd.Topic, []client.Setting{{Name: cmd.Name, Value: &cmd.Value}}, given)})
		return ""
	case command.Elect:
		c.send(adminNode, []simnet.Send{c.admin.ElectLeaders(c.now, []kafka.TopicPartition{cmd.TopicPartition}, cmd.Unclean, given)})
		return ""
	case command.DeleteRecords:
		return c.deleteRecords(cmd, given)
	case command.CheckRetention:
		return c.upkeep(cmd.Node, func(b *broker.Broker) []simnet.Send { return b.CheckRetention(c.now, given, &c.journal) })
	case command.RunCleaner:
		return c.upkeep(cmd.Node, func(b *broker.Broker) []simnet.Send { return b.RunCleaner(c.now, given, &c.journal) })
	case command.Skew:
		return c.skew(cmd, given)
	case command.Kill:
		return c.kill(cmd.Node, given)
	case command.Crash:
		return c.crash(cmd, given)
	case command.Leave:
		return c.order(cmd.Node, func(n *client.Consumer) ([]simnet.Send, string) { return n.Leave(c.now, given, &c.outside, &c.journal) })
	case command.Rebalance:
		return c.order(cmd.Node, func(n *client.Consumer) ([]simnet.Send, string) {
			return n.EnforceRebalance(c.now, given, &c.outside, &c.journal)
		})
	case command.Process:
		return c.order(cmd.Node, func(n *client.Consumer) ([]simnet.Send, string) {
			return n.Process(c.now, cmd.Count, given, &c.outside, &c.journal)
		})
	case command.Commit:
		return c.order(cmd.Node, func(n *client.Consumer) ([]simnet.Send, string) { return c.commit(n, cmd, given) })
	case command.Seek:
		return c.order(cmd.Node, func(n *client.Consumer) ([]simnet.Send, string) {
			return n.Seek(c.now, cmd.TopicPartition, cmd.Offset, given, &c.outside, &c.journal)
		})
	case command.Reset:
		return c.resetOffsets(cmd, given)
	case command.Replay:
		return c.replay(cmd, given)
	case command.PowerLoss:
		return c.losePower(cmd.Node, given)
	case command.Wipe:
		return c.wipe(cmd.Node, given)
	case command.Start:
		return c.start(cmd.Node, given)
	case command.ShutDown:
		return c.shutDown(cmd.Node, given)
	case command.SlowDisk:
		return c.slowDisk(cmd.Node, cmd.Delay, given)
	case command.Cut:
		return c.cut(cmd, given)
	case command.Heal:
		return c.changeLinks(cmd.A, cmd.B, given, func(f *simnet.Faults) { *f = simnet.Faults{} })
	case command.Delay:
		return c.changeLinks(cmd.A, cmd.B, given, func(f *simnet.Faults) { f.Delay = cmd.Delay })
	case command.DropNext:
		return c.changeLink(cmd.From, cmd.To, given, func(f *simnet.Faults) { f.Drop++ })
	case command.DoubleNext:
		return c.changeLink(cmd.From, cmd.To, given, func(f *simnet.Faults) { f.Double++ })
	case command.Pause:
		return c.pause(cmd.Node, given)
	case command.Resume:
		return c.resume(cmd.Node, given)
	case command.Wait:
		_ = c.runUntil(c.now + cmd.Span) // a bound that is met is kept in c.broken
		c.journal.Append(journal.You, given, journal.TimePassed{Span: cmd.Span})
		return ""
	}
	panic(fmt.Sprintf("engine: no rule for the command %q", cmd))
}

func (c *Cluster) produce(cmd command.Produce, given uint64) (why string) {
	return c.tellProducer(cmd.Producer, func(p *client.Producer) ([]simnet.Send, error) {
		return p.Produce(c.now, cmd, given, &c.outside, &c.journal)
	})
}

// transact lets a producer's application begin or end a transaction.
func (c *Cluster) transact(cmd command.Command, given uint64) (why string) {
	switch cmd := cmd.(type) {
	case command.BeginTransaction:
		return c.tellProducer(cmd.Producer, func(p *client.Producer) ([]simnet.Send, error) {
			return p.BeginTransaction(c.now, given, &c.outside, &c.journal)
		})
	case command.CommitTransaction:
		return c.tellProducer(cmd.Producer, func(p *client.Producer) ([]simnet.Send, error) {
			return p.CommitTransaction(c.now, given, &c.outside, &c.journal)
		})
	case command.AbortTransaction:
		return c.tellProducer(cmd.Producer, func(p *client.Producer) ([]simnet.Send, error) {
			return p.AbortTransaction(c.now, given, &c.outside, &c.journal)
		})
	}
	panic(fmt.Sprintf("engine: %q is about no transaction", cmd))
}

// tellProducer lets a producer's application do something.
func (c *Cluster) tellProducer(node kafka.NodeID, do func(*client.Producer) ([]simnet.Send, error)) (why string) {
	p, why := c.producer(node)
	if p == nil {
		return why
	}
	sends, err := do(p)
	if err != nil {
		return err.Error()
	}
	c.sendOf(node, sends)
	return ""
}

// producer gives the running producer of that name, or nil and why there is none.
func (c *Cluster) producer(node kafka.NodeID) (p *client.Producer, why string) {
	at := slices.IndexFunc(c.clients, func(n clientNode) bool { return n.producer != nil && n.id() == node })
	if at < 0 {
		return nil, fmt.Sprintf("there is no producer %s", node)
	}
	if why := c.running(node); why != "" {
		return nil, why
	}
	if c.inboxOf(node) != nil {
		return nil, fmt.Sprintf("%s is paused", node)
	}
	return c.clients[at].producer, ""
}

func (c *Cluster) stopSending(node kafka.NodeID, given uint64) (why string) {
	p, why := c.producer(node)
	if p == nil {
		return why
	}
	if !p.StopSending() {
		return fmt.Sprintf("the application of %s sends nothing already", node)
	}
	c.journal.Append(node, given, journal.SendingStopped{Held: p.View().Waiting})
	return ""
}

func (c *Cluster) startSending(node kafka.NodeID, given uint64) (why string) {
	p, why := c.producer(node)
	if p == nil {
		return why
	}
	if !p.StartSending(c.now) {
		return fmt.Sprintf("the application of %s sends already", node)
	}
	c.journal.Append(node, given, journal.SendingStarted{Partitions: p.View().Known})
	return ""
}

// createLater makes a topic that the run has for later.
func (c *Cluster) createLater(cmd command.CreateTopic, given uint64) (why string) {
	var others []string
	for _, t := range c.spec.topics() {
		if t.Name == cmd.Topic {
			c.createTopic(&t, given)
			return ""
		}
		if t.Later {
			others = append(others, t.Name)
		}
	}
	if others == nil {
		return fmt.Sprintf("this run has no topic %s to make, nor any other", cmd.Topic)
	}
	return fmt.Sprintf("this run has no topic %s to make; it has %s", cmd.Topic, strings.Join(others, ", "))
}

func (c *Cluster) addPartitions(cmd command.AddPartitions, given uint64) (why string) {
	if cmd.Count > MaxPartitions {
		return fmt.Sprintf("%d partitions; a topic may have at most %d here", cmd.Count, MaxPartitions)
	}
	c.send(adminNode, []simnet.Send{c.admin.CreatePartitions(c.now, cmd.Topic, cmd.Count, given)})
	return ""
}

func (c *Cluster) pause(node kafka.NodeID, given uint64) (why string) {
	switch {
	case !c.hasNode(node):
		return fmt.Sprintf("there is no node %s", node)
	case c.running(node) != "":
		return c.running(node)
	case c.inboxOf(node) != nil:
		return fmt.Sprintf("%s is paused already", node)
	}
	c.paused = append(c.paused, pausedNode{node: node})
	c.journal.Append(node, given, journal.NodePaused{})
	return ""
}

func (c *Cluster) resume(node kafka.NodeID, given uint64) (why string) {
	at := slices.IndexFunc(c.paused, func(p pausedNode) bool { return p.node == node })
	if at < 0 {
		if !c.hasNode(node) {
			return fmt.Sprintf("there is no node %s", node)
		}
		return fmt.Sprintf("%s is not paused", node)
	}
	inbox := c.paused[at].inbox
	c.paused = slices.Delete(slices.Clone(c.paused), at, at+1)
	seq := c.journal.Append(node, given, journal.NodeResumed{Waiting: len(inbox)})
	for _, m := range inbox {
		c.handOver(m, max(seq, m.Sent), true)
	}
	c.divideAnew(seq)
	return ""
}
