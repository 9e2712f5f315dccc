package client

import (
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// PART-10: a retry overtakes, unless one request is in flight at a time or batches carry sequences.
func TestPART10(t *testing.T) {
	for name, tc := range map[string]struct {
		idempotence Idempotence
		inFlight    int
		log         string
		codes       string
	}{
		"5 in flight without idempotence": {IdempotenceOff, 5, "B C A", "A:6 B:0 C:0 A:0"},
		"1 in flight without idempotence": {IdempotenceOff, 1, "A B C", "A:6 A:0 B:0 C:0"},
		"5 in flight with idempotence":    {IdempotenceUnset, 5, "A B C", "A:6 B:45 C:45 A:0 B:0 C:0"},
	} {
		t.Run(name, func(t *testing.T) {
			config := single(tc.idempotence)
			config.MaxInFlight = tc.inFlight
			f := newFake(t, config, 1)
			f.refuse = once(1, kerr.NotLeaderForPartition)
			f.produce(0, "A", "B", "C")
			f.run(2*hop + 100) // until A goes out again
			if v := f.producer.View(); v.InFlight != 1 {
				t.Errorf("%d requests in flight while A is tried again", v.InFlight)
			}
			f.run(2000)
			f.holds(0, tc.log)
			if got := strings.Join(f.codes, " "); got != tc.codes {
				t.Errorf("answers %q, want %q", got, tc.codes)
			}
			if v := f.producer.View(); v.Acknowledged != 3 || v.ProducerEpoch > 0 {
				t.Errorf("%d acknowledged, producer epoch %d", v.Acknowledged, v.ProducerEpoch)
			}
		})
	}
}

// PART-11: the acknowledgement is lost and the batch is sent again. A leader knows the copy by its sequence only;
// of a new process nobody knows that it repeats what another one has sent.
func TestPART11(t *testing.T) {
	for _, tc := range []struct {
		idempotence Idempotence
		log, ends   string
	}{{IdempotenceOff, "m1 m1", "m1@1"}, {IdempotenceOn, "m1", "m1@0"}} {
		f := newFake(t, single(tc.idempotence), 1)
		f.lose = func(n int) bool { return n == 1 }
		f.produce(0, "m1")
		f.run(2000)
		f.holds(0, tc.log)
		f.ends(tc.ends)
		if got := f.texts("ConnectionLost"); !slices.Equal(got, []string{"b1 requests=1 backoff=50ms"}) {
			t.Errorf("connections lost: %q", got)
		}
	}
	f := newFake(t, single(IdempotenceOn), 1)
	f.silent = true
	f.produce(0, "m1")
	f.logs[0] = append(f.logs[0], "m1") // it was written, and nobody knows
	f.producer.Kill(0, &f.out, &f.journal)
	f.silent, f.way = false, nil
	f.run(1000)
	f.ends("m1-")
	if !f.producer.Start(f.now) || f.producer.Start(f.now) {
		t.Error("a dead process starts once")
	}
	f.run(5 * hop)
	f.produce(0, "m1")
	f.run(1000)
	f.holds(0, "m1 m1")
	f.ends("m1- m1@1")
	if v := f.producer.View(); v.ProducerID != 1001 {
		t.Errorf("the new process has producer id %d, want 1001", v.ProducerID)
	}
}

// PART-14: what is not set gives way, what is set does not. More than five requests in flight are an error even
// when nothing is set, since Kafka 4.0.
func TestPART14(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*ProducerConfig)
		want   string
	}{
		{"nothing set", func(*ProducerConfig) {}, "idempotent"},
		{"acks=1", func(c *ProducerConfig) { c.Acks = 1 }, "not idempotent"},
		{"acks=0", func(c *ProducerConfig) { c.Acks = 0 }, "not idempotent"},
		{"retries=0", func(c *ProducerConfig) { c.Retries = 0 }, "not idempotent"},
		{"max.in.flight=6", func(c *ProducerConfig) { c.MaxInFlight = 6 }, "max.in.flight.requests.per.connection = 6"},
		{"acks=1, max.in.flight=6", func(c *ProducerConfig) { c.Acks, c.MaxInFlight = 1, 6 }, "max.in.flight.requests.per.connection = 6"},
		{"false, max.in.flight=6", func(c *ProducerConfig) { c.EnableIdempotence, c.MaxInFlight = IdempotenceOff, 6 }, "not idempotent"},
		{"true, acks=1", func(c *ProducerConfig) { c.EnableIdempotence, c.Acks = IdempotenceOn, 1 }, "acks = 1"},
		{"true, retries=0", func(c *ProducerConfig) { c.EnableIdempotence, c.Retries = IdempotenceOn, 0 }, "retries = 0"},
		{"true, max.in.flight=6", func(c *ProducerConfig) { c.EnableIdempotence, c.MaxInFlight = IdempotenceOn, 6 }, "max.in.flight.requests.per.connection = 6"},
		{"delivery.timeout.ms=30000", func(c *ProducerConfig) { c.DeliveryTimeout = 30000 }, "delivery.timeout.ms = 30000"},
	} {
		config := DefaultProducerConfig("orders")
		tc.change(&config)
		resolved, err := config.Resolve()
		got := "not idempotent"
		if resolved.EnableIdempotence == IdempotenceOn {
			got = "idempotent"
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
	long := DefaultProducerConfig("orders")
	long.RequestTimeout = 200000
	if resolved, err := long.Resolve(); err != nil || resolved.DeliveryTimeout != 200005 {
		t.Errorf("delivery.timeout.ms that is not set becomes %d, want linger.ms + request.timeout.ms = 200005: %v", resolved.DeliveryTimeout, err)
	}
}

// A batch waits 100 ms × 2^n, at most 1,000 ms, between attempts, and delivery.timeout.ms ends them.
func TestBackoffAndExpiry(t *testing.T) {
	config := single(IdempotenceOff)
	f := newFake(t, config, 1)
	f.refuse = func(int, int32) int16 { return kerr.NotEnoughReplicas.Code }
	begun := f.now
	f.produce(0, "A")
	var sent []kafka.Millis
	for f.now < begun+config.DeliveryTimeout {
		before := f.requests
		f.run(1)
		if f.requests > before {
			sent = append(sent, f.now)
		}
	}
	var waits []kafka.Millis
	for i := 1; i < 8; i++ {
		waits = append(waits, sent[i]-sent[i-1]-2*hop)
	}
	if !slices.Equal(waits, []kafka.Millis{100, 200, 400, 800, 1000, 1000, 1000}) {
		t.Errorf("waits of %v ms", waits)
	}
	f.ends("A!REQUEST_TIMED_OUT")
	if got := f.texts("BatchExpired"); len(got) != 1 || !strings.Contains(got[0], "delivery.timeout.ms=120000") {
		t.Errorf("expired: %q", got)
	}
}

// With a bound on retries the error of the last attempt is the outcome.
func TestRetriesEnd(t *testing.T) {
	config := single(IdempotenceOff)
	config.Retries = 2
	f := newFake(t, config, 1)
	f.refuse = func(int, int32) int16 { return kerr.NotEnoughReplicasAfterAppend.Code }
	f.produce(0, "A")
	f.run(2000)
	f.ends("A!NOT_ENOUGH_REPLICAS_AFTER_APPEND")
	if f.requests != 3 {
		t.Errorf("sent %d times, want 3", f.requests)
	}
}

// Records for a partition without a leader wait for metadata, as long as delivery.timeout.ms allows.
func TestNoLeader(t *testing.T) {
	f := newFake(t, single(IdempotenceOff), 1, -1)
	f.produce(1, "A")
	f.run(1000)
	if f.requests != 0 {
		t.Error("sent to nobody")
	}
	f.leaders[1], f.epochs[1] = 2, 1
	f.run(1100)
	f.holds(1, "A")
	f.leaders[1], f.epochs[1] = -1, 2
	f.refuse = func(int, int32) int16 { return kerr.NotLeaderForPartition.Code }
	f.produce(1, "B")
	f.run(121000)
	f.ends("A@0 B!REQUEST_TIMED_OUT")
}

// An error that asks for metadata leads to the new leader, without a wait once that is known; a response that
// names the leader (KIP-951) saves the question.
func TestNewLeader(t *testing.T) {
	for _, names := range []bool{false, true} {
		f := newFake(t, single(IdempotenceOn), 1)
		f.run(1000)
		f.leaders[0], f.epochs[0] = 2, 5
		if names {
			f.answer = func(r *kmsg.ProduceResponse) {
				result := &r.Topics[0].Partitions[0]
				if result.ErrorCode != 0 {
					result.CurrentLeader.LeaderID, result.CurrentLeader.LeaderEpoch = 2, 5
				}
			}
		}
		f.produce(0, "A")
		took := 6 * hop // Produce, Metadata, Produce, there and back
		api := "Metadata"
		if names {
			took, api = 4*hop, "Produce"
		}
		f.run(took)
		f.ends("A@0")
		if got := f.texts("LeaderLearned"); !slices.Equal(got, []string{"orders-0 b1→b2 epoch=5 by " + api}) {
			t.Errorf("leaders learned: %q\n%s", got, f.told())
		}
	}
	f := newFake(t, single(IdempotenceOn), 1)
	f.leaders[0], f.epochs[0] = 2, 5
	f.run(f.producer.config.MetadataMaxAge)
	f.leaders[0], f.epochs[0] = 1, 4 // a broker that is behind answers
	f.run(f.producer.config.MetadataMaxAge + 100)
	if l := f.producer.metadata.leaderOf(f.producer.name(0)); l.node != "b2" || l.epoch != 5 {
		t.Errorf("an older leader epoch was believed: %v", l)
	}
}

// A request without an answer makes the producer close its connection; an answer that comes twice is ignored.
func TestTimeoutAndDoubledAnswer(t *testing.T) {
	f := newFake(t, single(IdempotenceOn), 1)
	f.silent = true
	f.produce(0, "A")
	f.run(30000)
	f.silent = false
	if !slices.Equal(f.closed, []kafka.NodeID{"b1"}) {
		t.Fatalf("closed %v", f.closed)
	}
	if got := f.texts("BatchRetried"); len(got) != 1 || !strings.Contains(got[0], "REQUEST_TIMED_OUT attempt=1 backoff=100ms sequence=0") {
		t.Errorf("retried: %q", got)
	}
	f.run(1000)
	f.ends("A@0")

	f.produce(0, "B")
	f.run(hop)
	doubled := f.way[len(f.way)-1]
	f.way = append(f.way, doubled)
	f.run(1000)
	f.ends("A@0 B@1")
	if got := f.texts("ResponseIgnored"); len(got) != 1 {
		t.Errorf("ignored: %q", got)
	}
}

// The wait before a new connection grows from 50 ms to 1,000 ms and falls back with the first answer.
func TestReconnectBackoff(t *testing.T) {
	f := newFake(t, single(IdempotenceOff), 1)
	f.lose = func(n int) bool { return n <= 7 }
	f.produce(0, "A")
	f.run(20000)
	var waits []string
	for _, text := range f.texts("ConnectionLost") {
		_, wait, _ := strings.Cut(text, "backoff=")
		waits = append(waits, wait)
	}
	if waits[0] != "50ms" {
		t.Errorf("waits %v", waits)
	}
	var c connections
	for _, want := range []kafka.Millis{50, 100, 200, 400, 800, 1000, 1000} {
		c.lost(0, "b1", 0, &f.journal)
		if got := c.openAt("b1"); got != want {
			t.Errorf("waits %d ms, want %d", got, want)
		}
	}
}

// When a connection with several requests is lost, each batch goes to the front in turn: without sequences their
// order is turned round, with sequences it is kept.
func TestLostConnectionTurnsTheOrderRound(t *testing.T) {
	for idempotence, want := range map[Idempotence]string{IdempotenceOff: "C B A", IdempotenceOn: "A B C"} {
		f := newFake(t, single(idempotence), 1)
		f.silent = true
		f.produce(0, "A", "B", "C")
		f.run(30000)
		f.silent = false
		f.run(5000)
		f.holds(0, want)
	}
}

// A batch that is too large is divided: by batch.size first, then into halves.
func TestSplit(t *testing.T) {
	for idempotence, refused := range map[Idempotence]int{IdempotenceOff: 2, IdempotenceOn: 3} {
		config := DefaultProducerConfig("orders")
		config.EnableIdempotence = idempotence
		f := newFake(t, config, 1)
		f.refuse = func(n int, _ int32) int16 {
			if n <= refused { // the whole, the whole again, and where the order holds all the same the first half
				return kerr.MessageTooLarge.Code
			}
			return 0
		}
		keys := strings.Split("A B C D E F G H", " ")
		f.produce(0, keys...)
		f.run(1000)
		f.holds(0, "A B C D E F G H")
		f.ends("A@0 B@1 C@2 D@3 E@4 F@5 G@6 H@7")
		if len(f.texts("BatchSplit")) != refused {
			t.Errorf("split: %q", f.texts("BatchSplit"))
		}
	}
	f := newFake(t, single(IdempotenceOn), 1)
	f.refuse = once(1, kerr.MessageTooLarge)
	f.produce(0, "A", "B") // A is a record alone: it is given up, and its sequence with it
	f.run(1000)
	f.ends("A!MESSAGE_TOO_LARGE B@0")
	if v := f.producer.View(); v.ProducerEpoch != 1 {
		t.Errorf("producer epoch %d, want 1", v.ProducerEpoch)
	}
}

// acks=0 promises nothing and waits for nothing.
func TestNoPromise(t *testing.T) {
	config := single(IdempotenceUnset)
	config.Acks = 0
	f := newFake(t, config, 1)
	f.silent = true
	f.produce(0, "A", "B", "C", "D", "E", "F", "G")
	f.run(100000)
	f.ends("A? B? C? D? E? F? G?")
	if len(f.closed) != 0 {
		t.Error("a connection was closed for want of an answer")
	}
}

// A real gap: the leader has lost what it had acknowledged and with it the state of the producer. The producer
// raises its epoch and begins at sequence 0.
func TestGapRaisesTheEpoch(t *testing.T) {
	f := newFake(t, single(IdempotenceOn), 1)
	f.produce(0, "A", "B")
	f.run(100)
	f.logs[0] = f.logs[0][:1]
	f.states = map[string]state{"0/1000": {last: []remembered{{0, 0, 0}}}}
	f.produce(0, "C", "D")
	f.run(2000)
	f.holds(0, "A C D")
	f.ends("A@0 B@1 C@1 D@2")
	v := f.producer.View()
	if v.ProducerEpoch != 1 || v.ProducerID != 1000 || v.Partitions[0].NextSequence != 2 {
		t.Errorf("id %d epoch %d next %d, want 1000, 1, 2", v.ProducerID, v.ProducerEpoch, v.Partitions[0].NextSequence)
	}
	if got := f.texts("ProducerEpochBumped"); len(got) != 1 || !strings.HasPrefix(got[0], "id=1000 epoch=0→1 [orders-0]") {
		t.Errorf("bumped: %q", got)
	}
}

// A partition where nothing is wrong goes over to a new epoch when its batches of the old one are settled.
func TestNewEpochWaitsForTheOld(t *testing.T) {
	f := newFake(t, single(IdempotenceOn), 1, 1)
	f.produce(0, "A", "B")
	f.produce(1, "W")
	f.run(100)
	f.states = map[string]state{"0/1000": {last: []remembered{{0, 0, 0}}}, "1/1000": f.states["1/1000"]}
	f.produce(0, "C")
	f.run(15)
	f.produce(1, "X")
	f.run(7) // the answer to C has raised the epoch
	f.produce(1, "Y")
	p := f.producer.View().Partitions[1]
	if len(p.Batches) != 2 || p.Batches[0].State != BatchInFlight || p.Batches[1].State != BatchWaiting || p.NextSequence != 0 {
		t.Errorf("%+v", p)
	}
	f.run(2000)
	f.holds(1, "W X Y")
	if v := f.producer.View(); v.ProducerEpoch != 1 || v.Partitions[1].NextSequence != 1 {
		t.Errorf("producer epoch %d, next sequence %d; want 1 and 1\n%s", v.ProducerEpoch, v.Partitions[1].NextSequence, f.told())
	}
}

// A batch that was sent and then expired leaves it open which sequence comes next: what follows waits, and goes
// out under a new epoch.
func TestExpiredBatchRaisesTheEpoch(t *testing.T) {
	config := single(IdempotenceOn)
	config.RequestTimeout, config.DeliveryTimeout = 1000, 3000
	f := newFake(t, config, 1)
	f.silent = true
	f.produce(0, "A")
	f.run(2500)
	f.produce(0, "B")
	f.silent = false
	f.refuse = func(int, int32) int16 { return kerr.NotEnoughReplicas.Code }
	f.run(600)
	f.refuse = nil
	f.run(4000)
	f.ends("A!REQUEST_TIMED_OUT B@0")
	f.holds(0, "B")
	if v := f.producer.View(); v.ProducerEpoch != 1 {
		t.Errorf("producer epoch %d, want 1\n%s", v.ProducerEpoch, f.told())
	}
}

// Requests go to each leader by itself, each with as many in flight as are allowed.
func TestLeadersGetTheirOwnRequests(t *testing.T) {
	config := single(IdempotenceOff)
	config.MaxInFlight = 2
	f := newFake(t, config, 1, 2, 1)
	f.silent = true
	for range 3 {
		f.produce(0, "A")
		f.produce(1, "B")
		f.produce(2, "C")
	}
	v := f.producer.View()
	if v.InFlight != 4 {
		t.Errorf("%d requests in flight, want two to each of two leaders", v.InFlight)
	}
	states := map[BatchState]int{}
	for _, p := range v.Partitions {
		for _, b := range p.Batches {
			states[b.State]++
			if b.State == BatchInFlight && b.To != p.Leader {
				t.Errorf("partition %d: in flight to %s, led by %s", p.Partition, b.To, p.Leader)
			}
		}
	}
	if states[BatchInFlight] != 4 || states[BatchWaiting] != 5 {
		t.Errorf("states %v", states)
	}
}

// A renewed batch holds the same records.
func TestRewriteKeepsRecords(t *testing.T) {
	for codec := record.None; codec <= record.Zstd; codec++ {
		builder := record.NewBuilder(record.Options{Codec: codec})
		builder.Append(7, []byte("k"), []byte("v"))
		builder.Append(9, nil, []byte("w"), record.Header{Key: "h", Value: []byte("x")})
		bytes, err := builder.Build()
		if err != nil {
			t.Fatal(err)
		}
		renewed, err := rewrite(bytes, record.Options{Codec: codec, Producer: &record.Producer{ID: 3, Epoch: 4, BaseSequence: 5}})
		if err != nil {
			t.Fatal(err)
		}
		a, _ := record.Parse(bytes)
		b, err := record.Parse(renewed)
		if err != nil || b.CheckCRC() != nil {
			t.Fatalf("%v: %v", codec, err)
		}
		if b.ProducerID != 3 || b.ProducerEpoch != 4 || b.BaseSequence != 5 || b.MaxTimestamp != a.MaxTimestamp || b.BaseTimestamp != a.BaseTimestamp || b.RecordsCount != 2 || b.Attributes != a.Attributes {
			t.Errorf("%v: %+v", codec, b)
		}
	}
}
