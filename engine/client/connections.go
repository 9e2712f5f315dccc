package client

import (
	"math"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// The defaults of reconnect.backoff.ms and reconnect.backoff.max.ms.
const (
	reconnectBackoff    kafka.Millis = 50
	reconnectBackoffMax kafka.Millis = 1000
)

// connections is what a client knows of its connections: which requests have no answer yet, and to which
// servers it may not connect for now.
//
// Source: NetworkClient, InFlightRequests, ClusterConnectionStates.
//
// Simplified: waits before a retry or a new connection have no jitter; Kafka's vary by up to 20 %.
//
// Simplified: a connection is open as soon as a request is sent on it. Where the server refuses it, the request
// counts as sent and failed; Kafka's client keeps a batch back until the connection is there, and that is no
// attempt. A server that is silent is noticed after request.timeout.ms, also where Kafka's client would give up
// connecting after socket.connection.setup.timeout.ms = 10,000 ms.
type connections struct {
	node        kafka.NodeID // the client
	timeout     kafka.Millis // request.timeout.ms
	correlation int32
	servers     []server // in the order they were first sent to
}

// server is a client's side of its connection to one server.
type server struct {
	node       kafka.NodeID
	failures   int          // connections lost since the last answer
	openAt     kafka.Millis // it may connect from then on
	inFlight   []request    // oldest first
	drainIndex int          // of a producer: the place, in the list of partitions led here, where draining goes on
}

// request is a request without an answer yet.
type request struct {
	correlation int32
	key         int16 // of the API
	sentAt      kafka.Millis
	within      kafka.Millis // the time that it may take
	cause       uint64       // Seq of the event that led to it
}

// backoff gives base × 2^n, at most limit.
//
// Source: class ExponentialBackoff.
func backoff(base, limit kafka.Millis, n int) kafka.Millis {
	for ; n > 0 && base < limit; n-- {
		base *= 2
	}
	return min(base, limit)
}

func (c *connections) clone() connections {
	n := *c
	n.servers = slices.Clone(c.servers)
	for i := range n.servers {
		n.servers[i].inFlight = slices.Clone(n.servers[i].inFlight)
	}
	return n
}

// find gives the state of a server, nil if nothing was ever sent to it. It holds until the next send.
func (c *connections) find(node kafka.NodeID) *server {
	for i := range c.servers {
		if c.servers[i].node == node {
			return &c.servers[i]
		}
	}
	return nil
}

// open gives the state of a server, which is new if nothing was ever sent to it.
func (c *connections) open(node kafka.NodeID) *server {
	if c.find(node) == nil {
		c.servers = append(c.servers, server{node: node, openAt: math.MinInt64})
	}
	return c.find(node)
}

// send makes a request that expects an answer within request.timeout.ms.
func (c *connections) send(now kafka.Millis, to kafka.NodeID, r kmsg.Request, cause uint64) simnet.Send {
	return c.sendWithin(now, to, r, cause, c.timeout)
}

// sendWithin makes a request whose answer may take a time of its own.
func (c *connections) sendWithin(now kafka.Millis, to kafka.NodeID, r kmsg.Request, cause uint64, within kafka.Millis) simnet.Send {
	s := c.sendOnly(to, r, cause)
	at := c.open(to)
	at.inFlight = append(at.inFlight, request{correlation: s.Correlation, key: r.Key(), sentAt: now, within: within, cause: cause})
	return s
}

// sendOnly makes a request that gets no answer.
func (c *connections) sendOnly(to kafka.NodeID, r kmsg.Request, cause uint64) simnet.Send {
	c.correlation++
	return simnet.Send{To: to, Request: r, Correlation: c.correlation, Cause: cause}
}

// answered takes the request that a response answers off the list; false, with an event: there is none.
func (c *connections) answered(m *simnet.Message, cause uint64, j *journal.Journal) bool {
	if s := c.find(m.From); s != nil {
		at := slices.IndexFunc(s.inFlight, func(r request) bool { return r.correlation == m.Correlation })
		if at >= 0 {
			s.inFlight = slices.Delete(s.inFlight, at, at+1)
			s.failures = 0
			return true
		}
	}
	j.Append(c.node, cause, journal.ResponseIgnored{Server: m.From, API: m.API(), Correlation: m.Correlation})
	return false
}

// lost notes that the connection to a server is gone, gives the requests that were in flight on it, oldest
// first, and the event that says so.
func (c *connections) lost(now kafka.Millis, node kafka.NodeID, cause uint64, j *journal.Journal) ([]request, uint64) {
	s := c.open(node)
	failed := s.inFlight
	wait := backoff(reconnectBackoff, reconnectBackoffMax, s.failures)
	s.inFlight, s.openAt = nil, now+wait
	s.failures++
	return failed, j.Append(c.node, cause, journal.ConnectionLost{Server: node, Requests: len(failed), Backoff: wait, Lost: s.failures})
}

// timedOut gives the first server that has not answered a request within request.timeout.ms and journals
// that; ok is false when there is none.
func (c *connections) timedOut(now kafka.Millis, j *journal.Journal) (node kafka.NodeID, seq uint64, ok bool) {
	for _, s := range c.servers {
		for _, r := range s.inFlight {
			if now >= r.sentAt+r.within {
				seq = j.Append(c.node, r.cause, journal.RequestTimedOut{Server: s.node, API: kmsg.NameForKey(r.key), Timeout: r.within})
				return s.node, seq, true
			}
		}
	}
	return "", 0, false
}

// nextTimeout is when the next request has waited too long.
func (c *connections) nextTimeout() (due kafka.Millis, ok bool) {
	for _, s := range c.servers {
		for _, r := range s.inFlight {
			if at := r.sentAt + r.within; !ok || at < due {
				due, ok = at, true
			}
		}
	}
	return due, ok
}

// openAt is when the client may connect to a server.
func (c *connections) openAt(node kafka.NodeID) kafka.Millis {
	if s := c.find(node); s != nil {
		return s.openAt
	}
	return math.MinInt64
}

// unanswered is the number of requests to a server without an answer.
func (c *connections) unanswered(node kafka.NodeID) int {
	if s := c.find(node); s != nil {
		return len(s.inFlight)
	}
	return 0
}

// count is the number of requests of one API to a server without an answer.
func (c *connections) count(node kafka.NodeID, key kmsg.Key) (n int) {
	if s := c.find(node); s != nil {
		for _, r := range s.inFlight {
			if r.key == int16(key) {
				n++
			}
		}
	}
	return n
}

// leastLoaded gives the server with the fewest requests in flight among those that the client may connect to by
// now; of equal ones that to which a connection was lost the longest ago or never, then the first.
//
// Source: NetworkClient.leastLoadedNode, which begins at a random one.
func (c *connections) leastLoaded(now kafka.Millis, nodes []kafka.NodeID) (best kafka.NodeID, ok bool) {
	for _, node := range nodes {
		n, open := c.unanswered(node), c.openAt(node)
		if open > now {
			continue
		}
		if !ok || n < c.unanswered(best) || n == c.unanswered(best) && open < c.openAt(best) {
			best, ok = node, true
		}
	}
	return best, ok
}

// firstOpen is when the client may connect to the first of some servers, as far as waits go; there is one at
// least.
func (c *connections) firstOpen(nodes []kafka.NodeID) (at kafka.Millis) {
	at = c.openAt(nodes[0])
	for _, node := range nodes[1:] {
		at = min(at, c.openAt(node))
	}
	return at
}
