package controller

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
)

// alterPartition changes the in-sync replicas of partitions as their leader asks. A leader that knows less than
// the controller is refused and has to learn first. The answer carries the partition as it is now, also when
// nothing had to change.
//
// Source: ReplicationControlManager.alterPartition.
func (c *Controller) alterPartition(r *kmsg.AlterPartitionRequest) (kmsg.Response, operation) {
	response := r.ResponseKind().(*kmsg.AlterPartitionResponse)
	var op operation
	broker := kafka.BrokerID(r.BrokerID)
	stale := c.checkBrokerEpoch(broker, r.BrokerEpoch)
	if stale != nil {
		response.ErrorCode = stale.Code
	}
	for _, topic := range r.Topics {
		t, known := c.image.TopicByID(topic.TopicID)
		if !known {
			t.Name = fmt.Sprintf("%x", topic.TopicID)
		}
		rt := kmsg.NewAlterPartitionResponseTopic()
		rt.TopidID = topic.TopicID // the library's spelling
		for _, rp := range topic.Partitions {
			var refused *Refusal
			switch {
			case stale != nil:
				refused = refuse(stale, "its broker epoch is not %d", r.BrokerEpoch)
			case !known:
				refused = refuse(kerr.UnknownTopicID, "there is no topic with that id")
			default:
				refused = c.validateAlterPartition(broker, t, rp)
			}
			result := kmsg.NewAlterPartitionResponseTopicPartition()
			result.Partition = rp.Partition
			if refused != nil {
				result.ErrorCode = refused.Err.Code
				op.events = append(op.events, journal.AlterPartitionRefused{
					TopicPartition: kafka.TopicPartition{Topic: t.Name, Partition: kafka.Partition(rp.Partition)},
					Broker:         broker, ISR: wantedISR(rp), Error: refused.Err.Message, Why: refused.Message,
				})
			} else {
				c.alter(&op, t, rp, &result)
			}
			rt.Partitions = append(rt.Partitions, result)
		}
		if stale == nil {
			response.Topics = append(response.Topics, rt)
		}
	}
	return response, op
}

// alter changes one partition and fills in its part of the answer.
func (c *Controller) alter(op *operation, t metadata.Topic, rp kmsg.AlterPartitionRequestTopicPartition, result *kmsg.AlterPartitionResponseTopicPartition) {
	b := c.change(t, kafka.Partition(rp.Partition))
	b.ISR = wantedISR(rp)
	b.Recovered = metadata.LeaderRecoveryState(rp.LeaderRecoveryState) == metadata.Recovered
	after, _ := op.apply(t.Name, &b, fmt.Sprintf("its leader, broker %d, asked", b.Partition.Leader))
	result.LeaderID, result.LeaderEpoch, result.PartitionEpoch = int32(after.Leader), int32(after.LeaderEpoch), after.PartitionEpoch
	if after.Recovering {
		result.LeaderRecoveryState = int8(metadata.Recovering)
	}
	result.ISR = make([]int32, len(after.ISR))
	for i, id := range after.ISR {
		result.ISR[i] = int32(id)
	}
}

func wantedISR(rp kmsg.AlterPartitionRequestTopicPartition) []kafka.BrokerID {
	isr := make([]kafka.BrokerID, len(rp.NewEpochISR))
	for i, state := range rp.NewEpochISR {
		isr[i] = kafka.BrokerID(state.BrokerID)
	}
	return isr
}

// validateAlterPartition checks one partition of a request; nil says that it may be done. The first rule that is
// broken decides.
//
// NEW_LEADER_ELECTED is never answered: only a reassignment that the change completes can move the leader.
//
// Source: ReplicationControlManager.validateAlterPartitionData.
func (c *Controller) validateAlterPartition(broker kafka.BrokerID, t metadata.Topic, rp kmsg.AlterPartitionRequestTopicPartition) *Refusal {
	p, ok := t.Partition(kafka.Partition(rp.Partition))
	if !ok {
		return refuse(kerr.UnknownTopicOrPartition, "there is no such partition")
	}
	leaderEpoch, isr := kafka.LeaderEpoch(rp.LeaderEpoch), wantedISR(rp)
	switch {
	case leaderEpoch > p.LeaderEpoch:
		return refuse(kerr.NotController, "it knows leader epoch %d, this controller only %d", leaderEpoch, p.LeaderEpoch)
	case rp.PartitionEpoch > p.PartitionEpoch:
		return refuse(kerr.NotController, "it knows partition epoch %d, this controller only %d", rp.PartitionEpoch, p.PartitionEpoch)
	case leaderEpoch < p.LeaderEpoch:
		return refuse(kerr.FencedLeaderEpoch, "it names leader epoch %d, and it is %d now", leaderEpoch, p.LeaderEpoch)
	case broker != p.Leader:
		return refuse(kerr.InvalidRequest, "the leader is broker %d", p.Leader)
	case rp.PartitionEpoch < p.PartitionEpoch:
		return refuse(kerr.InvalidUpdateVersion, "it names partition epoch %d, and it is %d now", rp.PartitionEpoch, p.PartitionEpoch)
	case !validISR(p.Replicas, isr):
		return refuse(kerr.InvalidRequest, "an ISR has replicas of the partition, each once, and at least one")
	case !slices.Contains(isr, p.Leader):
		return refuse(kerr.InvalidRequest, "the leader is not among them")
	}
	recovering := metadata.LeaderRecoveryState(rp.LeaderRecoveryState) == metadata.Recovering
	switch {
	case recovering && len(isr) > 1:
		return refuse(kerr.InvalidRequest, "a leader that recovers from an unclean election is alone in its ISR")
	case recovering && !p.Recovering:
		return refuse(kerr.InvalidRequest, "a leader that has recovered does not recover again")
	}
	for _, state := range rp.NewEpochISR {
		if why := c.ineligible(state); why != "" {
			return refuse(kerr.IneligibleReplica, "broker %d %s", state.BrokerID, why)
		}
	}
	return nil
}

// validISR says whether an ISR has only replicas, none twice, and at least one.
//
// Source: Replicas.validateIsr.
func validISR(replicas, isr []kafka.BrokerID) bool {
	for i, id := range isr {
		if slices.Contains(isr[:i], id) || !slices.Contains(replicas, id) {
			return false
		}
	}
	return len(isr) > 0
}

// ineligible says why a broker may not be in an ISR; "" says that it may. A broker epoch of -1 is not compared.
//
// Source: ReplicationControlManager.ineligibleReplicasForIsr.
func (c *Controller) ineligible(state kmsg.AlterPartitionRequestTopicPartitionNewEpochISR) string {
	b, registered := c.image.Broker(kafka.BrokerID(state.BrokerID))
	switch {
	case !registered:
		return "is not registered"
	case b.InControlledShutdown:
		return "is shutting down"
	case b.Fenced:
		return "is fenced"
	case state.BrokerEpoch != -1 && state.BrokerEpoch != b.Epoch:
		return fmt.Sprintf("has broker epoch %d, and its fetches came with %d", b.Epoch, state.BrokerEpoch)
	}
	return ""
}
