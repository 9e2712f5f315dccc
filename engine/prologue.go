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
)

// bootSpan is how long before the clients the brokers start.
func (c *Cluster) bootSpan() kafka.Millis { return (registrationHops + creationHops) * c.spec.Latency }

// clientSpan is how long before tick 0 the clients start. An idempotent producer asks twice for its id: the first
// broker that it asks has to get a block of ids first.
func (c *Cluster) clientSpan() kafka.Millis {
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
	t := &c.spec.Topic
	c.send(adminNode, []simnet.Send{c.admin.CreateTopic(c.now, t.Name, int32(t.Partitions), int16(t.replicationFactor()), t.Replicas, topicSettings(t), 0)})
	if err := c.runUntil(c.now + creationHops*c.spec.Latency); err != nil {
		return err
	}
	for _, b := range c.brokers {
		if b.State() != broker.Running || !b.Knows(c.spec.Topic.Name, c.spec.Topic.Partitions) {
			return fmt.Errorf("%s cannot start under these settings: within %d ms it was not registered, unfenced and told of topic %s",
				b.Node(), c.bootSpan(), c.spec.Topic.Name)
		}
	}
	return nil
}

// topicSettings gives what the topic of a spec sets itself.
func topicSettings(s *TopicSpec) []client.Setting {
	if s.MinInsyncReplicas == 0 {
		return nil
	}
	value := strconv.Itoa(s.MinInsyncReplicas)
	return []client.Setting{{Name: metadata.MinInSyncReplicas, Value: &value}}
}

// prologue lets the clients find their topic and positions in the time before 0, then starts the
// workloads at 0.
func (c *Cluster) prologue() error {
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
		return n.producer.Ready()
	}
	return n.consumer.Ready()
}
