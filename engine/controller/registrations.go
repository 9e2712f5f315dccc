package controller

import (
	"cmp"
	"math"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
)

// registration is what only the active controller knows of a registered broker.
//
// Source: BrokerHeartbeatManager.BrokerHeartbeatState, ClusterControlManager.registerBrokerRecordOffsets.
type registration struct {
	broker         kafka.BrokerID
	recordOffset   kafka.Offset // of its RegisterBrokerRecord
	fenced         bool
	metadataOffset kafka.Offset // that it last said it has read, inclusive; -1 for none
	shutdownOffset kafka.Offset // every active broker must have read this before it may stop; -1: no controlled shutdown
}

func compareRegistration(r registration, broker kafka.BrokerID) int {
	return cmp.Compare(r.broker, broker)
}

// registrationOf gives a broker's entry, nil for none.
func (c *Controller) registrationOf(broker kafka.BrokerID) *registration {
	at, found := slices.BinarySearchFunc(c.registrations, broker, compareRegistration)
	if !found {
		return nil
	}
	return &c.registrations[at]
}

func (r *registration) shuttingDown() bool { return r.shutdownOffset >= 0 }

// touch notes what a heartbeat said. A fenced broker is in no controlled shutdown: at its next heartbeat it may
// stop at once.
//
// Source: BrokerHeartbeatManager.touch.
func (r *registration) touch(fenced bool, metadataOffset kafka.Offset) {
	r.fenced, r.metadataOffset = fenced, metadataOffset
	if fenced {
		r.shutdownOffset = -1
	}
}

// replay keeps the entries in step with a record that was just written at offset.
//
// Source: ClusterControlManager.replay, BrokerHeartbeatManager.register.
func (c *Controller) replay(r metadata.Record, offset kafka.Offset) {
	switch m := r.(type) {
	case metadata.RegisterBrokerRecord:
		at, found := slices.BinarySearchFunc(c.registrations, m.BrokerID, compareRegistration)
		if !found {
			c.registrations = slices.Insert(c.registrations, at, registration{})
		}
		c.registrations[at] = registration{broker: m.BrokerID, recordOffset: offset, fenced: m.Fenced, metadataOffset: -1, shutdownOffset: -1}
	case metadata.BrokerRegistrationChangeRecord:
		b, _ := c.image.Broker(m.BrokerID)
		entry := c.registrationOf(m.BrokerID)
		read := kafka.NoOffset
		if entry.fenced != b.Fenced {
			read = entry.metadataOffset
		}
		entry.touch(b.Fenced, read)
	}
}

// lowestActiveOffset is the lowest offset of the metadata log that an active broker has said it has read.
//
// Source: BrokerHeartbeatManager.lowestActiveOffset.
func (c *Controller) lowestActiveOffset() kafka.Offset {
	lowest := kafka.Offset(math.MaxInt64)
	for _, r := range c.registrations {
		if !r.fenced && !r.shuttingDown() {
			lowest = min(lowest, r.metadataOffset)
		}
	}
	return lowest
}

// checkBrokerEpoch says whether a request comes from the process that is registered.
//
// Source: ClusterControlManager.checkBrokerEpoch.
func (c *Controller) checkBrokerEpoch(broker kafka.BrokerID, brokerEpoch int64) *kerr.Error {
	if b, ok := c.image.Broker(broker); !ok || b.Epoch != brokerEpoch {
		return kerr.StaleBrokerEpoch
	}
	return nil
}

// registerBroker takes a broker's process into the cluster, fenced. While the process before it still has a
// session it is refused with DUPLICATE_BROKER_REGISTRATION. What that process was in, it leaves: if it did not
// shut down cleanly and the cluster keeps eligible leader replicas, it also leaves those.
//
// The broker epoch is the log end offset when the request was taken: the offset of the registration's own record,
// unless records that clean up after the last process come before it.
//
// Simplified: features that a broker supports are written down but not checked against the cluster's.
//
// Source: ClusterControlManager.registerBroker.
func (c *Controller) registerBroker(now kafka.Millis, r *kmsg.BrokerRegistrationRequest) (kmsg.Response, operation) {
	response := r.ResponseKind().(*kmsg.BrokerRegistrationResponse)
	response.BrokerEpoch = -1
	id := kafka.BrokerID(r.BrokerID)
	existing, exists := c.image.Broker(id)
	same := exists && existing.IncarnationID == r.IncarnationID
	switch {
	case r.ClusterID != c.config.ClusterID:
		response.ErrorCode = kerr.InconsistentClusterID.Code
		return response, operation{}
	case exists && !same && c.hasValidSession(id, existing.Epoch, now):
		response.ErrorCode = kerr.DuplicateBrokerRegistration.Code
		return response, operation{}
	case !validLogDirs(r.LogDirs):
		response.ErrorCode = kerr.InvalidRegistration.Code
		return response, operation{}
	}
	event := journal.BrokerRegistered{Broker: id, Previous: -1, Same: same, Asked: r.PreviousBrokerEpoch}
	record := registerRecord(r)
	var op operation
	if same {
		record.BrokerEpoch, record.Fenced, record.InControlledShutdown = existing.Epoch, existing.Fenced, existing.InControlledShutdown
	} else {
		record.BrokerEpoch, record.Fenced = int64(c.log.LogEndOffset()), true
		event.Clean = exists && r.PreviousBrokerEpoch == existing.Epoch
		c.handleBrokerShutdown(&op, id, event.Clean)
	}
	if exists {
		event.Previous = existing.Epoch
	}
	event.BrokerEpoch, event.Rack = record.BrokerEpoch, record.Rack
	op.records = append(op.records, record)
	op.trigger = event
	response.BrokerEpoch = record.BrokerEpoch
	return response, op
}

// validLogDirs says whether a registration names at least one log directory and none twice or by a reserved id.
//
// Source: ClusterControlManager.registerBroker, DirectoryId.reserved.
func validLogDirs(dirs [][16]byte) bool {
	for i, dir := range dirs {
		if slices.Contains(dirs[:i], dir) || [15]byte(dir[:15]) == [15]byte{} && dir[15] < 100 {
			return false
		}
	}
	return len(dirs) > 0
}

func registerRecord(r *kmsg.BrokerRegistrationRequest) metadata.RegisterBrokerRecord {
	record := metadata.RegisterBrokerRecord{BrokerID: kafka.BrokerID(r.BrokerID), IncarnationID: r.IncarnationID, LogDirs: r.LogDirs}
	if r.Rack != nil {
		record.Rack = *r.Rack
	}
	for _, l := range r.Listeners {
		record.EndPoints = append(record.EndPoints, metadata.EndPoint{Name: l.Name, Host: l.Host, Port: l.Port, SecurityProtocol: l.SecurityProtocol})
	}
	for _, f := range r.Features {
		record.Features = append(record.Features, metadata.SupportedFeature{Name: f.Name, MinSupportedVersion: f.MinSupportedVersion, MaxSupportedVersion: f.MaxSupportedVersion})
	}
	return record
}
