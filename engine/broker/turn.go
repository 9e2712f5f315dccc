package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// turn is one step of a broker: the time it happens at, the journal it is told in, and what the broker wants
// sent.
type turn struct {
	now   kafka.Millis
	node  kafka.NodeID
	j     *journal.Journal
	sends []simnet.Send
}

// turn begins a step; what it writes is written at now. What a step wants sent is taken by the caller before the
// next one begins: there is one turn a broker, used again.
func (b *Broker) turn(now kafka.Millis, j *journal.Journal) *turn {
	b.disk.Now = now
	b.step = turn{now: now, node: b.node, j: j, sends: b.step.sends[:0]}
	return &b.step
}

// note journals what happened here.
func (t *turn) note(cause uint64, body journal.Body) uint64 { return t.j.Append(t.node, cause, body) }

// answer sends the one response to a request.
func (t *turn) answer(m *simnet.Message, response kmsg.Response, cause uint64) {
	t.sends = append(t.sends, simnet.Send{To: m.From, Response: response, Correlation: m.Correlation, Connection: m.Connection, Cause: cause})
}

// never is a time at which nothing falls due.
const never = kafka.Millis(1<<63 - 1)

// call is a request of the broker's own without an answer yet. The zero call is none.
type call struct {
	correlation int32 // 0: none is under way
	to          kafka.NodeID
	deadline    kafka.Millis
	sent        uint64 // Seq of the event that led to it
	api         string
	timeout     timeout
}

// timeout is how long an answer may take, with the setting that says so.
type timeout struct {
	span    kafka.Millis
	setting string
}

func (c call) open() bool { return c.correlation != 0 }

// answers says whether a response is the one that the call waits for.
func (c call) answers(m *simnet.Message) bool {
	return c.open() && c.to == m.From && c.correlation == m.Correlation
}

// request sends a request of the broker's own; after most without an answer the connection is closed.
func (b *Broker) request(t *turn, to kafka.NodeID, r kmsg.Request, most timeout, cause uint64) call {
	b.correlation++
	t.sends = append(t.sends, simnet.Send{To: to, Request: r, Correlation: b.correlation, Cause: cause})
	return call{correlation: b.correlation, to: to, deadline: t.now + most.span, sent: cause, api: kmsg.NameForKey(r.Key()), timeout: most}
}

// callWith gives the call under way of which something is true, nil for none.
func (b *Broker) callWith(is func(*call) bool) *call {
	for _, c := range [...]*call{&b.lifecycle.call, &b.metadata.call, &b.isr.call, &b.ids.call, &b.creation} {
		if c.open() && is(c) {
			return c
		}
	}
	for i := range b.fetchers {
		if c := &b.fetchers[i].call; c.open() && is(c) {
			return c
		}
	}
	for i := range b.additions {
		if c := &b.additions[i].call; c.open() && is(c) {
			return c
		}
	}
	for i := range b.markerCalls {
		if c := &b.markerCalls[i]; is(c) {
			return c
		}
	}
	return nil
}

// timeOut closes the connections on which an answer has not come in time.
func (b *Broker) timeOut(t *turn) {
	for {
		c := b.callWith(func(c *call) bool { return c.deadline <= t.now })
		if c == nil {
			return
		}
		late := *c
		seq := t.note(late.sent, journal.RequestTimedOut{Server: late.to, API: late.api, Timeout: late.timeout.span, Setting: late.timeout.setting})
		t.sends = append(t.sends, simnet.Send{To: late.to, Close: simnet.CloseOwn, Cause: seq})
		b.disconnected(t, late.to, seq)
	}
}

// disconnected lets all calls to a server fail: what they asked for is asked again later.
func (b *Broker) disconnected(t *turn, server kafka.NodeID, cause uint64) {
	b.additionsLost(t, server, cause)
	b.markersLost(t, server, cause)
	if server == b.config.Controller {
		b.controllerLost(t)
		return
	}
	for i := range b.fetchers {
		if f := &b.fetchers[i]; f.call.open() && f.call.to == server {
			f.call = call{}
			f.backOff(t.now + b.config.ReplicaFetchBackoff)
			t.note(cause, journal.ReplicaFetchFailed{Leader: f.leader, Error: "NETWORK_EXCEPTION", Retry: b.config.ReplicaFetchBackoff})
		}
	}
}

// controllerLost lets all calls to the controller fail.
func (b *Broker) controllerLost(t *turn) {
	if b.lifecycle.call.open() {
		b.lifecycleFailed(t)
	}
	if b.metadata.call.open() {
		b.metadata.call, b.metadata.retry = call{}, t.now+metadataRetryBackoff
	}
	if b.isr.call.open() {
		b.isr.call = call{}
		b.resendProposals()
		b.isr.retry = t.now + reconnectBackoff
	}
	b.ids.call, b.creation = call{}, call{}
}

// What a broker waits before it asks the controller again after a lost connection.
const (
	metadataRetryBackoff kafka.Millis = 20 // controller.quorum.retry.backoff.ms
	reconnectBackoff     kafka.Millis = 50 // of the channel to the controller
)

// How long the broker waits for an answer: of the controller about itself, of a leader, and of the controller
// about anything else.
func (b *Broker) sessionTimeout() timeout {
	return timeout{b.config.SessionTimeout, "broker.session.timeout.ms"}
}
func (b *Broker) socketTimeout() timeout {
	return timeout{b.config.ReplicaSocketTimeout, "replica.socket.timeout.ms"}
}
func (b *Broker) channelTimeout() timeout {
	return timeout{controllerSocketTimeout, "controller.socket.timeout.ms"}
}

func (b *Broker) requestTimeout() timeout { return timeout{requestTimeout, "request.timeout.ms"} }

const requestTimeout kafka.Millis = 30_000 // of requests to other brokers about transactions
const controllerSocketTimeout kafka.Millis = 30_000
