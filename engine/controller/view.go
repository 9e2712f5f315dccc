package controller

import (
	"loglab/engine/kafka"
	"loglab/engine/metadata"
)

// View is what can be seen of a controller from outside: an immutable value.
type View struct {
	Node          kafka.NodeID
	Image         metadata.Image
	LogEndOffset  kafka.Offset // of the metadata log, exclusive
	Brokers       []BrokerView // sorted by id
	ParkedFetches int
}

// BrokerView is what the controller knows of a broker beside its registration in the image.
type BrokerView struct {
	ID             kafka.BrokerID
	LastHeartbeat  kafka.Millis // of the registered process; valid if HasSession
	HasSession     bool         // a heartbeat came and the session was not found to be over
	MetadataOffset kafka.Offset // that it last said it has read, inclusive; -1 for none
	ShutdownOffset kafka.Offset // every active broker must have read this before it may stop; -1: no controlled shutdown
}

// View gives the controller as it is now.
func (c *Controller) View() View {
	v := View{Node: c.config.Node, Image: c.image, LogEndOffset: c.log.LogEndOffset(), ParkedFetches: len(c.parked)}
	for _, r := range c.registrations {
		b, _ := c.image.Broker(r.broker)
		shown := BrokerView{ID: r.broker, MetadataOffset: r.metadataOffset, ShutdownOffset: r.shutdownOffset}
		for _, s := range c.sessions {
			if s.broker == r.broker && s.brokerEpoch == b.Epoch {
				shown.LastHeartbeat, shown.HasSession = s.contact, true
			}
		}
		v.Brokers = append(v.Brokers, shown)
	}
	return v
}

// LogBytes is the size of the metadata log.
func (c *Controller) LogBytes() int { return c.log.Size() }
