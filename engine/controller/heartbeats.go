package controller

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/simnet"
)

// brokerState is what a broker may do.
//
// Source: BrokerControlState.
type brokerState int

const (
	fenced brokerState = iota
	unfenced
	controlledShutdown
	shutdownNow
)

// heartbeat notes that a broker is alive and decides what it may do from now on. The answer tells it; what
// changes goes into the metadata log. A heartbeat reports the offset of the last metadata record that the broker
// has applied.
//
// Source: QuorumController.processBrokerHeartbeat, ReplicationControlManager.processBrokerHeartbeat.
func (c *Controller) heartbeat(now kafka.Millis, m *simnet.Message, r *kmsg.BrokerHeartbeatRequest, cause uint64, j *journal.Journal) []simnet.Send {
	response := r.ResponseKind().(*kmsg.BrokerHeartbeatResponse)
	response.IsFenced = true // the schema's default, which an error leaves
	id := kafka.BrokerID(r.BrokerID)
	c.touchSession(id, r.BrokerEpoch, now)
	if err := c.checkBrokerEpoch(id, r.BrokerEpoch); err != nil {
		response.ErrorCode = err.Code
		return answer(m, response, cause)
	}
	entry := c.registrationOf(id)
	current := entry.state()
	next, why := c.nextState(entry, r)
	var op operation
	b, _ := c.image.Broker(id)
	if current != next {
		switch next {
		case fenced, shutdownNow:
			c.handleBrokerFenced(&op, b, why)
		case unfenced:
			c.handleBrokerUnfenced(&op, b, journal.BrokerUnfenced{
				Broker: id, BrokerEpoch: b.Epoch, MetadataOffset: kafka.Offset(r.CurrentMetadataOffset), RegistrationOffset: entry.recordOffset,
			})
		case controlledShutdown:
			c.handleControlledShutdown(&op, b)
		}
	}
	entry.touch(next == fenced || next == shutdownNow, kafka.Offset(r.CurrentMetadataOffset))
	last, fetched := c.commit(now, op, cause, j)
	if next == controlledShutdown && !entry.shuttingDown() {
		entry.shutdownOffset = c.log.LogEndOffset() - 1
	}
	response.IsCaughtUp = r.CurrentMetadataOffset >= int64(entry.recordOffset)
	response.IsFenced = next == fenced || next == shutdownNow
	response.ShouldShutdown = next == shutdownNow
	return append(answer(m, response, last), fetched...)
}

// state gives what the broker may do now.
//
// Source: BrokerHeartbeatManager.currentBrokerState.
func (r *registration) state() brokerState {
	switch {
	case r.shuttingDown():
		return controlledShutdown
	case r.fenced:
		return fenced
	}
	return unfenced
}

// nextState decides what a broker may do after a heartbeat; why is the reason to fence it.
//
// Source: BrokerHeartbeatManager.calculateNextBrokerState.
func (c *Controller) nextState(entry *registration, r *kmsg.BrokerHeartbeatRequest) (next brokerState, why string) {
	leads := c.leads(entry.broker)
	switch entry.state() {
	case fenced:
		switch {
		case r.WantShutdown:
			return shutdownNow, "it asked to shut down while it was fenced"
		case !r.WantFence && r.CurrentMetadataOffset >= int64(entry.recordOffset):
			return unfenced, ""
		}
		return fenced, ""
	case unfenced:
		switch {
		case r.WantFence && r.WantShutdown:
			return shutdownNow, "it asked to be fenced and to shut down"
		case r.WantFence:
			return fenced, "it asked to be fenced"
		case r.WantShutdown && leads > 0:
			return controlledShutdown, ""
		case r.WantShutdown:
			return shutdownNow, "it asked to shut down and leads no partition, so it may stop at once"
		}
		return unfenced, ""
	}
	lowest := c.lowestActiveOffset()
	if leads > 0 || entry.shutdownOffset > lowest {
		return controlledShutdown, ""
	}
	return shutdownNow, fmt.Sprintf("its controlled shutdown is done: it leads no partition and every active broker has read the metadata log up to offset %d, where it began", entry.shutdownOffset)
}

// leads counts the partitions that a broker leads.
func (c *Controller) leads(broker kafka.BrokerID) int {
	n := 0
	for _, t := range c.image.Topics {
		for _, p := range t.Partitions {
			if p.Leader == broker {
				n++
			}
		}
	}
	return n
}

// handleBrokerFenced takes a broker out of every ISR and away from the partitions that it leads, and fences it.
//
// Source: ReplicationControlManager.handleBrokerFenced.
func (c *Controller) handleBrokerFenced(op *operation, b metadata.Broker, why string) {
	c.updateLeadersAndISRs(op, update{remove: b.ID, add: metadata.NoLeader, unclean: metadata.NoLeader, cause: fmt.Sprintf("broker %d is fenced", b.ID)}, inISR(b.ID))
	op.records = append(op.records, metadata.BrokerRegistrationChangeRecord{BrokerID: b.ID, BrokerEpoch: b.Epoch, Fenced: metadata.Fence})
	op.trigger = journal.BrokerFenced{Broker: b.ID, BrokerEpoch: b.Epoch, Reason: why}
}

// handleBrokerUnfenced lets a broker lead and gives partitions without a leader one, if it may be that.
//
// Source: ReplicationControlManager.handleBrokerUnfenced.
func (c *Controller) handleBrokerUnfenced(op *operation, b metadata.Broker, event journal.BrokerUnfenced) {
	op.records = append(op.records, metadata.BrokerRegistrationChangeRecord{BrokerID: b.ID, BrokerEpoch: b.Epoch, Fenced: metadata.Unfence})
	op.trigger = event
	c.updateLeadersAndISRs(op, update{remove: metadata.NoLeader, add: b.ID, unclean: metadata.NoLeader, cause: fmt.Sprintf("broker %d is unfenced", b.ID)}, withoutLeader)
}

// handleControlledShutdown takes a broker out of every ISR and away from the partitions that it leads, so that it
// can stop.
//
// Source: ReplicationControlManager.handleBrokerInControlledShutdown.
func (c *Controller) handleControlledShutdown(op *operation, b metadata.Broker) {
	if !b.InControlledShutdown {
		op.records = append(op.records, metadata.BrokerRegistrationChangeRecord{BrokerID: b.ID, BrokerEpoch: b.Epoch, InControlledShutdown: true})
	}
	op.trigger = journal.ControlledShutdownBegun{Broker: b.ID, BrokerEpoch: b.Epoch, Leads: c.leads(b.ID)}
	c.updateLeadersAndISRs(op, update{remove: b.ID, add: metadata.NoLeader, unclean: metadata.NoLeader, cause: fmt.Sprintf("broker %d shuts down", b.ID)}, inISR(b.ID))
}

// handleBrokerShutdown cleans up after a process that is gone. One that shut down cleanly has lost nothing: it
// leaves every ISR as if it were fenced. One that did not may have lost records that it had: with eligible leader
// replicas it leaves those too.
//
// Source: ReplicationControlManager.handleBrokerShutdown.
func (c *Controller) handleBrokerShutdown(op *operation, broker kafka.BrokerID, clean bool) {
	if !c.image.ELREnabled() || clean {
		c.updateLeadersAndISRs(op, update{remove: broker, add: metadata.NoLeader, unclean: metadata.NoLeader, cause: fmt.Sprintf("broker %d started anew", broker)}, inISR(broker))
		return
	}
	u := update{remove: metadata.NoLeader, add: metadata.NoLeader, unclean: broker, cause: fmt.Sprintf("broker %d started anew after an unclean shutdown", broker)}
	c.updateLeadersAndISRs(op, u, inISR(broker))
	c.updateLeadersAndISRs(op, u, inELR(broker))
}
