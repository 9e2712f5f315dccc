package engine

import (
	"fmt"
	"strconv"

	"loglab/engine/broker"
	"loglab/engine/client"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/simnet"
)

// The spans of the prologue, in latencies. The brokers register, read the metadata log up to their own
// registration and are unfenced; then the topic is created and every replica finds its leader. The clients
// ask for metadata and offsets, which takes four, and consumers send their first fetch.
const (
	registrationHops = 10
	creationHops     = 8
	clientHops       = 6
	identityHops     = 6 // of an idempotent producer, beside retry.backoff.ms
	groupHops        = 60
	settleHops       = 12  // of the prologue's commands
	groupBackoff     = 100 // retry.backoff.ms
)

// prologueSpan is how long before tick 0 the commands of the prologue are carried out.
func (c *Cluster) prologueSpan() kafka.Millis {
	if len(c.spec.Prologue) == 0 {
		return 0
	}
	linger := kafka.Millis(0)
	for _, p := range c.spec.Producers {
		linger = max(linger, p.Config.Linger)
	}
	return max(settleHops*c.spec.Latency+linger, c.spec.PrologueSpan)
}

// bootSpan is how long before the clients the brokers start.
func (c *Cluster) bootSpan() kafka.Millis { return (registrationHops + creationHops) * c.spec.Latency }

// clientSpan is how long before tick 0, or before the commands of the prologue, the clients start. An idempotent
// producer asks twice for its id: the first broker that it asks has to get a block of ids first. The members of
// groups find their coordinator, for which its topic has to be created, and join. A member that is not the first of
// its group comes within the initial delay, and so there is a second window, in which nobody comes. Transactional producers
// find their coordinator in the same way.
func (c *Cluster) clientSpan() kafka.Millis {
	if len(c.spec.Groups) > 0 {
		return groupHops*c.spec.Latency + 10*groupBackoff + 2*c.spec.Cluster.Groups.InitialRebalanceDelay
	}
	if len(c.spec.transactionalIDs()) > 0 {
		return groupHops*c.spec.Latency + 10*groupBackoff
	}
	for _, p := range c.spec.Producers {
		if config, err := p.Config.Resolve(); err == nil && config.EnableIdempotence == client.IdempotenceOn {
			return (clientHops+identityHops)*c.spec.Latency + 2*config.RetryBackoff
		}
	}
	return clientHops * c.spec.Latency
}

// boot starts the brokers and creates the topic.
func (c *Cluster) boot() error {
	for _, b := range c.brokers {
		c.send(b.Node(), b.Start(c.now, 0, &c.journal))
	}
	if err := c.runUntil(c.now + registrationHops*c.spec.Latency); err != nil {
		return err
	}
	for _, t := range c.spec.topics() {
		if !t.Later {
			c.createTopic(&t, 0)
		}
	}
	if err := c.runUntil(c.now + creationHops*c.spec.Latency); err != nil {
		return err
	}
	for _, b := range c.brokers {
		for _, t := range c.spec.topics() {
			if b.State() != broker.Running || !t.Later && !b.Knows(t.Name, t.Partitions) {
				return fmt.Errorf("%s cannot start under these settings: within %d ms it was not registered, unfenced and told of topic %s",
					b.Node(), c.bootSpan(), t.Name)
			}
		}
	}
	return nil
}

// createTopic lets the administrator ask for a topic of the spec.
func (c *Cluster) createTopic(t *TopicSpec, cause uint64) {
	c.send(adminNode, []simnet.Send{c.admin.CreateTopic(c.now, t.Name, int32(t.Partitions), int16(t.replicationFactor()), t.Replicas, topicSettings(t), cause)})
}

// topicSettings gives what the topic of a spec sets itself.
func topicSettings(s *TopicSpec) []client.Setting {
	if s.MinInsyncReplicas == 0 {
		return nil
	}
	value := strconv.Itoa(s.MinInsyncReplicas)
	return []client.Setting{{Name: metadata.MinInSyncReplicas, Value: &value}}
}

// prologue lets the clients find their topic and positions, and groups form, in the time before 0, carries out the
// spec's commands, and starts the workloads at 0.
func (c *Cluster) prologue() error {
	if err := c.runUntil(-c.prologueSpan()); err != nil {
		return err
	}
	for _, cmd := range c.spec.Prologue {
		if err := c.Apply(cmd); err != nil {
			return err
		}
	}
	if err := c.runUntil(0); err != nil {
		return err
	}
	for _, n := range c.clients {
		if !n.ready() {
			return fmt.Errorf("%s cannot start under these settings: within %d ms it did not find topic %s", n.id(), c.clientSpan(), c.spec.Topic.Name)
		}
		if n.producer != nil {
			n.producer.StartSending(c.now)
		}
	}
	return nil
}

func (n *clientNode) ready() bool {
	if n.producer != nil {
		return n.producer.Ready() || !n.producer.Alive() // a coordinator may refuse it
	}
	return n.consumer.IsMember() || n.consumer.Ready() // a group may never form
}
