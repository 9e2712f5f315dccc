package controller

import (
	"fmt"
	"slices"

	"loglab/engine/kafka"
)

// session is one process of a broker with the time of its last heartbeat. A process has a session from its first
// heartbeat on, not from its registration.
//
// Source: BrokerHeartbeatTracker.
type session struct {
	broker      kafka.BrokerID
	brokerEpoch int64
	contact     kafka.Millis
}

func compareSession(a, b session) int {
	if a.broker != b.broker {
		return int(a.broker) - int(b.broker)
	}
	return int(a.brokerEpoch - b.brokerEpoch)
}

// touchSession notes a heartbeat.
func (c *Controller) touchSession(broker kafka.BrokerID, brokerEpoch int64, now kafka.Millis) {
	s := session{broker, brokerEpoch, now}
	at, found := slices.BinarySearchFunc(c.sessions, s, compareSession)
	if !found {
		c.sessions = slices.Insert(c.sessions, at, s)
	}
	c.sessions[at].contact = now
}

// expired says whether a session is over: its last heartbeat is more than broker.session.timeout.ms ago.
func (c *Controller) expired(s session, now kafka.Millis) bool {
	return s.contact+c.config.BrokerSessionTimeout < now
}

// hasValidSession says whether a process has a session that is not over.
func (c *Controller) hasValidSession(broker kafka.BrokerID, brokerEpoch int64, now kafka.Millis) bool {
	at, found := slices.BinarySearchFunc(c.sessions, session{broker: broker, brokerEpoch: brokerEpoch}, compareSession)
	return found && !c.expired(c.sessions[at], now)
}

// maybeFenceOneStaleBroker forgets the first session that is over and fences its broker, unless that has
// registered anew since. Brokers are fenced one at a time, so that what the first fencing did is known to the
// next. A broker that was fenced before, as one is that shut down, is fenced once more: its session had gone on.
//
// Source: ReplicationControlManager.maybeFenceOneStaleBroker.
func (c *Controller) maybeFenceOneStaleBroker(now kafka.Millis) (op operation, again bool) {
	at := slices.IndexFunc(c.sessions, func(s session) bool { return c.expired(s, now) })
	if at < 0 {
		return operation{}, false
	}
	s := c.sessions[at]
	c.sessions = slices.Delete(c.sessions, at, at+1)
	b, registered := c.image.Broker(s.broker)
	if !registered || b.Epoch != s.brokerEpoch {
		return operation{}, true
	}
	why := fmt.Sprintf("no heartbeat came for %s ms, longer than broker.session.timeout.ms = %s",
		kafka.Thousands(now-s.contact), kafka.Thousands(c.config.BrokerSessionTimeout))
	if b.Fenced {
		why += "; it was fenced already"
	}
	c.handleBrokerFenced(&op, b, why)
	return op, true
}

// fencingOrder gives the order in which brokers of whom no more heartbeat comes are fenced; those without a session
// are left out.
func (c *Controller) fencingOrder(silent []kafka.BrokerID) (order []kafka.BrokerID) {
	var left []session
	for _, s := range c.sessions {
		if b, ok := c.image.Broker(s.broker); ok && b.Epoch == s.brokerEpoch && slices.Contains(silent, s.broker) {
			left = append(left, s)
		}
	}
	for check := c.timers[fenceTimer]; len(left) > 0; {
		at := slices.IndexFunc(left, func(s session) bool { return c.expired(s, check) })
		if at < 0 {
			check += c.period(fenceTimer)
			continue
		}
		order = append(order, left[at].broker)
		left = slices.Delete(left, at, at+1)
		check += immediatePeriod
	}
	return order
}
