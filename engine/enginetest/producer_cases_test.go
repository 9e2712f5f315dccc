package enginetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// overtaken lets A meet a retriable error while B and C are on their way: NOT_ENOUGH_REPLICAS, because
// min.insync.replicas is 2 when A arrives and 1 when B and C do. The case has one broker and says
// NOT_LEADER_OR_FOLLOWER as an example; two brokers make the error last for A alone. First is written before.
func overtaken(t *testing.T, maxInFlight int, idempotence engine.Idempotence, first ...string) *engine.Cluster {
	t.Helper()
	spec := replicated(2, 2)
	spec.TickMillis = 5
	spec.Producers[0].Config.MaxInFlight, spec.Producers[0].Config.EnableIdempotence = maxInFlight, idempotence
	c := start(t, spec)
	for _, value := range first {
		give(t, c, "produce p0 - "+value, "wait 100ms")
	}
	give(t, c, "shut-down b2", fenced, "alter-config orders min.insync.replicas 1", "produce p0 - A")
	tick(t, c, 3)
	if refused := all[journal.ProduceRefused](c, "b1"); len(refused) != 1 || refused[0].Error != "NOT_ENOUGH_REPLICAS" {
		t.Fatalf("refused %+v, want A, by NOT_ENOUGH_REPLICAS", refused)
	}
	if n := len(all[journal.BatchRetried](c, "p0")); n > 0 {
		t.Fatalf("p0 knows of %d errors before it sends B and C", n)
	}
	give(t, c, "produce p0 - B", "produce p0 - C", "wait 5s")
	return c
}

// PART-10: without idempotence a retry is overtaken when several requests are in flight.
func TestPART10(t *testing.T) {
	c := overtaken(t, 5, engine.IdempotenceOff)
	if diff := cmp.Diff([]string{"0:B", "1:C", "2:A"}, contents(t, c, 0)); diff != "" {
		t.Errorf("5 in flight (-want +got):\n%s", diff)
	}
	c = overtaken(t, 1, engine.IdempotenceOff)
	if diff := cmp.Diff([]string{"0:A", "1:B", "2:C"}, contents(t, c, 0)); diff != "" {
		t.Errorf("1 in flight (-want +got):\n%s", diff)
	}
}

// PART-10, idempotent: B and C are refused until A is in. A record stands before A so that the leader knows the
// producer: one that it knows nothing of may begin with any sequence (see the test after this one).
func TestPART10Idempotent(t *testing.T) {
	c := overtaken(t, 5, engine.IdempotenceOn, "before")
	if diff := cmp.Diff([]string{"0:before", "1:A", "2:B", "3:C"}, contents(t, c, 0)); diff != "" {
		t.Errorf("5 in flight (-want +got):\n%s", diff)
	}
	type attempt struct {
		error    string
		sequence kafka.Sequence
	}
	var first []attempt
	for _, retried := range all[journal.BatchRetried](c, "p0") {
		if retried.Attempt == 1 {
			first = append(first, attempt{retried.Error, retried.BaseSequence})
		}
	}
	want := []attempt{{"NOT_ENOUGH_REPLICAS", 1}, {"OUT_OF_ORDER_SEQUENCE_NUMBER", 2}, {"OUT_OF_ORDER_SEQUENCE_NUMBER", 3}}
	if !slices.Equal(first, want) {
		t.Errorf("first attempts of A, B and C: %v, want %v", first, want)
	}
}

// PART-10, idempotent, and A is the first that the producer writes: the leader has no state of it, takes B and C with
// the sequences 1 and 2 (facts §5.2, rule 5), and refuses A until delivery.timeout.ms = 120,000 ms are over.
func TestPART10IdempotentWithoutState(t *testing.T) {
	c := overtaken(t, 5, engine.IdempotenceOn)
	give(t, c, "wait 2m")
	if diff := cmp.Diff([]string{"0:B", "1:C"}, contents(t, c, 0)); diff != "" {
		t.Errorf("the log (-want +got):\n%s", diff)
	}
	if got, want := errorsOf(c, "p0"), []string{"NOT_ENOUGH_REPLICAS", "OUT_OF_ORDER_SEQUENCE_NUMBER"}; !slices.Equal(got, want) {
		t.Errorf("errors of A: %v, want %v", got, want)
	}
	if expired := last[journal.BatchExpired](t, c, "p0"); expired.Records != 1 || expired.Timeout != 120000 {
		t.Errorf("%+v, want A to expire", expired)
	}
}

// PART-11: the acknowledgement is lost, and the producer sends the record again.
func TestPART11(t *testing.T) {
	resend := func(idempotence engine.Idempotence) *engine.Cluster {
		spec := replicated(3, 1)
		spec.Producers[0].Config.EnableIdempotence = idempotence
		c := start(t, spec)
		give(t, c, "drop-next b1 p0", "produce p0 - m1", "wait 3s")
		return c
	}
	c := resend(engine.IdempotenceOff)
	if diff := cmp.Diff([]string{"0:m1", "1:m1"}, contents(t, c, 0)); diff != "" {
		t.Errorf("not idempotent (-want +got):\n%s", diff)
	}
	expect(t, c, "not idempotent", "leader=1 epoch=0 isr=[1 2 3] elr=[] b1=2/2 b2=2/2 b3=2/2")

	c = resend(engine.IdempotenceOn)
	expect(t, c, "idempotent", "leader=1 epoch=0 isr=[1 2 3] elr=[] b1=1/1 b2=1/1 b3=1/1")
	if d := last[journal.DuplicateRecognised](t, c, "b1"); d.BaseOffset != 0 {
		t.Errorf("the duplicate is at %d, want 0", d.BaseOffset)
	}
	expectAcknowledged(t, c, "the second send returns the old offset", []int{0})

	// The application starts anew and sends again.
	before := last[journal.ProducerIDAssigned](t, c, "p0").ProducerID
	give(t, c, "kill p0", "start p0", "wait 3s", "produce p0 - m1", "wait 1s")
	expect(t, c, "the application sends again", "leader=1 epoch=0 isr=[1 2 3] elr=[] b1=2/2 b2=2/2 b3=2/2")
	if after := last[journal.ProducerIDAssigned](t, c, "p0").ProducerID; after == before {
		t.Errorf("the new process has producer id %d, as the one before", after)
	}
}

// PART-11, the thread: 25 answers are lost, and 25 records stand twice. There 3,055,578 were produced and 3,055,603
// stood in Kafka; here 50 are enough.
func TestPART11Thread(t *testing.T) {
	const thread = 3_055_603 - 3_055_578
	c := start(t, replicated(3, 1))
	for i := range 2 * thread {
		if i%2 == 0 {
			give(t, c, "drop-next b1 p0")
		}
		give(t, c, fmt.Sprintf("produce p0 - m%d", i), "wait 1s")
	}
	if got := len(contents(t, c, 0)); got != 3*thread {
		t.Errorf("%d records were produced and %d are in the log, want %d: %d duplicates", 2*thread, got, 3*thread, thread)
	}
	if got := c.View().Producers[0].Acknowledged; got != 2*thread {
		t.Errorf("%d are acknowledged, want %d", got, 2*thread)
	}
}

// idle lets an idempotent producer write count records, pause for longer than its log remembers it, and write 8
// more. Expiration is producer.id.expiration.ms; the pause is short of it first, then longer.
func idle(t *testing.T, count int, expiration kafka.Millis, short, longer string) {
	spec := replicated(1, 1)
	spec.Group.Consumers = 0
	spec.Cluster.HeartbeatInterval, spec.Cluster.SessionTimeout = 60_000, 270_000 // fewer events in a day
	spec.Topic.Config.ProducerIDExpirationMillis = expiration
	spec.Producers[0].Config.EnableIdempotence, spec.Producers[0].Config.Linger = engine.IdempotenceOn, 5
	c := start(t, spec)
	write := func(n int) {
		for range n {
			give(t, c, "produce p0 - r")
		}
		give(t, c, "wait 1s")
	}
	write(count)
	known := replica(t, c, 1).Replica.Producers
	if len(known) != 1 || int(known[0].LastSequence()) != count-1 {
		t.Errorf("the leader knows %+v, want one producer with the last sequence %d", known, count-1)
	}
	give(t, c, short)
	if known := replica(t, c, 1).Replica.Producers; len(known) != 1 {
		t.Errorf("after %q the leader knows %+v, want the producer", short, known)
	}
	give(t, c, longer)
	if known := replica(t, c, 1).Replica.Producers; len(known) != 0 {
		t.Errorf("after %q and %q the leader knows %+v, want nothing", short, longer, known)
	}
	expired := last[journal.ProducerStateExpired](t, c, "b1")
	if int(expired.LastSequence) != count-1 || expired.Expiration != expiration || expired.Idle < expiration || expired.Idle > expiration+600_000 {
		t.Errorf("%+v, want last sequence %d, and at most 10 minutes more than %d ms", expired, count-1, expiration)
	}
	write(8)
	expectAcknowledged(t, c, "after the pause", span(0, count+7))
	if failed := errorsOf(c, "p0"); len(failed) > 0 {
		t.Errorf("errors %v, want none", failed)
	}
	state := replica(t, c, 1).Replica.Producers[0]
	if first := state.Batches[0].BaseSequence; int(first) != count || int(state.LastSequence()) != count+7 {
		t.Errorf("the leader has sequences %d to %d, want %d to %d", first, state.LastSequence(), count, count+7)
	}
}

// PART-13: a log has forgotten an idle producer and takes its next batch, sequences 7-14, all the same. The producer
// has another id than the case's 104.
func TestPART13(t *testing.T) { idle(t, 7, 86_400_000, "wait 23h", "wait 2h") }

// A producer whose leader is gone asks the other brokers that it knows of; one that knows of no other, because its
// metadata is from when that one was alone, asks its bootstrap servers.
func TestProducerFindsAnotherBroker(t *testing.T) {
	for _, alone := range []string{fenced, "wait 310s"} { // metadata.max.age.ms = 300,000 ms
		spec := replicated(3, 1)
		spec.Cluster.UncleanElection = true
		c := start(t, spec)
		give(t, c, "kill b2", "kill b3", alone)
		send(t, c, 0, 9)
		give(t, c, "kill b1", fenced, "start b2", "start b3", "wait 3s")
		expect(t, c, "1 is gone", "leader=2 epoch=2 isr=[2 3] elr=[] b1=down b2=0/0 b3=0/0")
		give(t, c, "produce p0 - r10", "wait 3s")
		if got := acknowledged(c, "p0"); len(got) != 11 {
			t.Errorf("2 and 3 had been gone, %s: %d records are acknowledged, want 11", alone, len(got))
		}
	}
}

// PART-13, a producer without state and sequence 100; an hour is as good as a day here.
func TestPART13Sequence100(t *testing.T) { idle(t, 100, 3_600_000, "wait 55m", "wait 20m") }

// PART-14: what rules idempotence out turns it off without a word, unless it was asked for. More than five requests
// in flight are an error in any case since Kafka 4.0; the case's "not idempotent" is that of 3.2 to 3.9.
func TestPART14(t *testing.T) {
	for _, test := range []struct {
		name       string
		set        func(*engine.ProducerConfig)
		idempotent bool
		refused    bool // ConfigException
	}{
		{"nothing set", func(*engine.ProducerConfig) {}, true, false},
		{"acks=1", func(c *engine.ProducerConfig) { c.Acks = 1 }, false, false},
		{"retries=0", func(c *engine.ProducerConfig) { c.Retries = 0 }, false, false},
		{"max.in.flight=6", func(c *engine.ProducerConfig) { c.MaxInFlight = 6 }, false, true},
		{"enable.idempotence=true and acks=1", func(c *engine.ProducerConfig) { c.EnableIdempotence, c.Acks = engine.IdempotenceOn, 1 }, false, true},
		{"enable.idempotence=true and max.in.flight=6", func(c *engine.ProducerConfig) { c.EnableIdempotence, c.MaxInFlight = engine.IdempotenceOn, 6 }, false, true},
	} {
		spec := replicated(3, 1)
		spec.Producers[0].Config = engine.DefaultProducerConfig("orders")
		test.set(&spec.Producers[0].Config)
		c, err := engine.New(spec, 1)
		if (err != nil) != test.refused {
			t.Errorf("%s: error %v, want one: %t", test.name, err, test.refused)
		}
		if err != nil {
			continue
		}
		if got := len(all[journal.ProducerIDAssigned](c, "p0")) > 0; got != test.idempotent {
			t.Errorf("%s: idempotent %t, want %t", test.name, got, test.idempotent)
		}
	}
}

// Trap 16: sequences count records, not batches; the five batches that may be in flight are those that a leader
// knows again.
func TestFiveBatchesAreKnownAgain(t *testing.T) {
	spec := replicated(1, 1)
	spec.Producers[0].Config.EnableIdempotence, spec.Producers[0].Config.Linger = engine.IdempotenceOn, 5
	c := start(t, spec)
	give(t, c, "produce p0 - r0", "produce p0 - r1", "produce p0 - r2", "wait 100ms")
	if state := replica(t, c, 1).Replica.Producers[0]; state.Batches[0].BaseSequence != 0 || state.LastSequence() != 2 {
		t.Errorf("one batch of three records has sequences %d to %d, want 0 to 2", state.Batches[0].BaseSequence, state.LastSequence())
	}
	give(t, c, "delay p0 b1 200ms", "drop-next b1 p0")
	for i := 3; i < 8; i++ {
		give(t, c, fmt.Sprintf("produce p0 - r%d", i))
		tick(t, c, 1)
	}
	give(t, c, "wait 5s")
	if got := len(all[journal.DuplicateRecognised](c, "b1")); got != 5 {
		t.Errorf("%d batches were known again, want 5", got)
	}
	expectLog(t, c, 1, "five batches were sent twice", values(0, 7))
	expectAcknowledged(t, c, "five batches were sent twice", span(0, 7))
}
