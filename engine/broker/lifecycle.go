package broker

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
	"loglab/engine/storage"
)

// lifecycle is the broker's talk with the controller about itself: it registers, then tells every
// broker.heartbeat.interval.ms that it lives and how much of the metadata it has.
//
// Source: BrokerLifecycleManager.
type lifecycle struct {
	call     call
	next     kafka.Millis // when it talks next
	failures int          // in a row
	ready    bool         // it has the metadata and its logs: it wants to be unfenced
	fenced   bool         // as the controller last said
	giveUp   kafka.Millis // a controlled shutdown ends then whatever the controller says
}

func (l *lifecycle) due() kafka.Millis {
	if l.call.open() {
		return min(l.call.deadline, l.giveUp)
	}
	return min(l.next, l.giveUp)
}

// Back-off of registrations and heartbeats that fail, and how long a controlled shutdown waits for the
// controller at most.
const (
	resendBackoff          kafka.Millis = 100
	controlledShutdownMost kafka.Millis = 300_000
)

// Start starts the process. What it finds on its disk it recovers once it knows the metadata.
//
// Source: BrokerServer.startup.
func (b *Broker) Start(now kafka.Millis, cause uint64, j *journal.Journal) []simnet.Send {
	t := b.turn(now, j)
	b.starts++
	b.process = process{state: Starting, epoch: -1}
	b.incarnation = b.drawID("incarnation", b.starts)
	previous := int64(-1)
	if f, ok := b.disk.Open(storage.CleanShutdownFile); ok {
		previous, b.clean = storage.ParseCleanShutdown(b.disk.Bytes(f))
		b.disk.Remove(f)
	}
	b.lifecycle = lifecycle{next: never, giveUp: never, fenced: true}
	b.metadata.open(b, now)
	b.checkpoint, b.shrink, b.expire = now+b.config.CheckpointInterval, now+b.config.ReplicaLagTimeMax/2, now+producerExpirationCheck
	b.isr.retry = -never
	b.startUpkeep(now)
	seq := t.note(cause, journal.BrokerStarted{Clean: b.clean, Logs: len(b.logDirectories())})
	b.register(t, previous, seq)
	b.ask(t)
	return t.sends
}

// register asks the controller for a broker epoch.
func (b *Broker) register(t *turn, previous int64, cause uint64) {
	request := kmsg.NewPtrBrokerRegistrationRequest()
	request.Version, request.BrokerID, request.ClusterID = registrationVersion, int32(b.config.ID), b.config.ClusterID
	request.IncarnationID, request.PreviousBrokerEpoch = b.incarnation, previous
	if b.config.Rack != "" {
		request.Rack = &b.config.Rack
	}
	listener := kmsg.NewBrokerRegistrationRequestListener()
	listener.Name, listener.Host, listener.Port = "PLAINTEXT", string(b.node), port
	request.Listeners = append(request.Listeners, listener)
	request.LogDirs = [][16]byte{b.drawID("log directory", 1)}
	b.previous = previous
	b.lifecycle.call = b.request(t, b.config.Controller, request, b.sessionTimeout(), cause)
}

// The versions of the requests to the controller.
const (
	registrationVersion     = 4
	heartbeatVersion        = 1
	alterPartitionVersion   = 3
	allocateProducerVersion = 0
)

// registered takes the controller's answer to a registration.
func (b *Broker) registered(t *turn, response *kmsg.BrokerRegistrationResponse, cause uint64) {
	if response.ErrorCode != 0 {
		wait := b.lifecycleFailed(t)
		t.note(cause, journal.RegistrationFailed{Error: kerr.TypedErrorForCode(response.ErrorCode).Message, Retry: wait})
		return
	}
	b.epoch = response.BrokerEpoch
	b.lifecycle.failures, b.lifecycle.next = 0, t.now
	b.publish(t, cause)
}

// keepAlive registers or sends a heartbeat when it is time.
func (b *Broker) keepAlive(t *turn) {
	l := &b.lifecycle
	if l.call.open() || l.next > t.now {
		return
	}
	if b.epoch == -1 {
		b.register(t, b.previous, 0)
		return
	}
	request := kmsg.NewPtrBrokerHeartbeatRequest()
	request.Version, request.BrokerID, request.BrokerEpoch = heartbeatVersion, int32(b.config.ID), b.epoch
	request.CurrentMetadataOffset = int64(b.image.Offset) - 1
	request.WantFence, request.WantShutdown = !l.ready, b.state == ShuttingDown
	l.call = b.request(t, b.config.Controller, request, b.sessionTimeout(), 0)
}

// heard takes the controller's answer to a heartbeat.
func (b *Broker) heard(t *turn, response *kmsg.BrokerHeartbeatResponse, cause uint64) {
	if response.ErrorCode != 0 {
		b.lifecycleFailed(t)
		return
	}
	l := &b.lifecycle
	l.failures, l.fenced = 0, response.IsFenced
	again := l.next == atOnce
	l.next = t.now + b.config.HeartbeatInterval
	if again {
		l.next = t.now
	}
	if b.state == ShuttingDown && response.ShouldShutdown {
		b.exit(t, cause)
	}
}

// atOnce as the time of the next heartbeat means: as soon as the one under way is answered.
const atOnce = -never

// lifecycleFailed talks again after a back-off that doubles each time, which it returns.
func (b *Broker) lifecycleFailed(t *turn) (wait kafka.Millis) {
	l := &b.lifecycle
	l.call = call{}
	wait = b.config.SessionTimeout
	if l.failures < 16 {
		wait = min(resendBackoff<<l.failures, b.config.SessionTimeout)
	}
	l.failures++
	l.next = t.now + wait
	return wait
}

// ShutDown begins a controlled shutdown: the controller moves the broker's leaders first. It returns why it
// cannot, in words.
//
// Source: BrokerServer.shutdown, BrokerLifecycleManager.beginControlledShutdown.
func (b *Broker) ShutDown(now kafka.Millis, cause uint64, j *journal.Journal) (sends []simnet.Send, why string) {
	switch {
	case !b.Up():
		return nil, string(b.node) + " does not run"
	case b.state == ShuttingDown:
		return nil, string(b.node) + " is shutting down already"
	}
	t := b.turn(now, j)
	b.state = ShuttingDown
	seq := t.note(cause, journal.ShutdownBegun{})
	b.lifecycle.giveUp = now + controlledShutdownMost
	if b.epoch == -1 { // it never registered
		b.exit(t, seq)
		return t.sends, ""
	}
	b.heartbeatNow(t)
	b.ask(t)
	return t.sends, ""
}

// heartbeatNow makes the next heartbeat go out at once, or right after the one under way.
func (b *Broker) heartbeatNow(t *turn) {
	if b.lifecycle.call.open() {
		b.lifecycle.next = atOnce
	} else {
		b.lifecycle.next = t.now
	}
}

// shutDownTimeOut ends a controlled shutdown that the controller does not answer.
func (b *Broker) shutDownTimeOut(t *turn) {
	if b.state == ShuttingDown && b.lifecycle.giveUp <= t.now {
		b.exit(t, 0)
	}
}

// exit ends the process in an orderly way: logs are closed, checkpoints written, and a file says so, unless the logs
// need recovery and it has not come to that.
//
// Source: LogManager.shutdown.
func (b *Broker) exit(t *turn, cause uint64) {
	for _, r := range b.replicas {
		r.Log.Close()
	}
	b.metadata.log.Close()
	b.writeCheckpoints()
	sound := b.clean || b.lifecycle.ready
	if sound {
		f := b.disk.Create(storage.CleanShutdownFile)
		b.disk.Append(f, storage.FormatCleanShutdown(b.epoch))
		b.disk.Sync(f)
	}
	b.stop(Down)
	t.note(cause, journal.BrokerStopped{Unrecovered: !sound})
}

// stop ends the process; its memory is gone.
func (b *Broker) stop(state State) { b.process = process{state: state, epoch: -1} }

// Kill ends the process at once. The page cache is the machine's and stays, but the next start finds no sign of
// an orderly end.
func (b *Broker) Kill() { b.stop(Down) }

// LosePower ends the process and takes every byte that was not written back; it returns how many, and
// os.writeback.ms. The machine answers nothing until the broker is started.
func (b *Broker) LosePower(now kafka.Millis) (lost int, writeback kafka.Millis) {
	b.writeBack(now)
	lost = b.disk.Unsynced()
	b.disk.LoseUnsynced()
	b.stop(PowerOff)
	return lost, b.config.WritebackAge
}

// Wipe empties the disk. A process that runs ends with it, as one does whose only log directory is gone.
//
// Simplified: the next start formats the disk; Kafka wants kafka-storage format for that.
func (b *Broker) Wipe() {
	b.disk.Wipe()
	if b.Up() {
		b.stop(Down)
	}
}

// SetDelay makes each write take that long; 0: none.
func (b *Broker) SetDelay(delay kafka.Millis) { b.delay = delay }

// Delay is how long each write takes while the disk is slow.
func (b *Broker) Delay() kafka.Millis { return b.delay }
