//go:build judge

package judge

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/client"
	"loglab/engine/command"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/record"
	"loglab/engine/simnet"
)

const (
	runsARule  = 300
	stepsARun  = 120
	runsTopic  = "orders"
	runsBroker = "b1"
)

// Kafka's RecordAccumulator with its BuiltInPartitioner puts every record where engine/client does, and
// drains the same batches into the same requests.
func TestStickyRuns(t *testing.T) {
	judgeRuns(t, "sticky", "Sticky", kafkaJars(t, "kafka-4.2.0", "kafka.xml"))
}

// Kafka 3.2's RecordAccumulator with its DefaultPartitioner does so too. Only the order of the batches in a
// request is not compared: it began the next request elsewhere.
func TestSticky480Runs(t *testing.T) {
	judgeRuns(t, "sticky-480", "Sticky480", kafkaJars(t, "kafka-clients-3.2.3", "kafka-clients.xml"))
}

// judgeRuns runs producers with small batches: records with and without a key, clock ticks and answers of
// the broker in any order.
func judgeRuns(t *testing.T, rule, judge, jars string) {
	t.Helper()
	rnd := draws(t)
	var d dialogue
	seen := tally{}
	for range runsARule {
		r := newProducerRun(t, &rnd, rule, &d)
		// The first record has no key, so that it is known between how many partitions the first draw was.
		r.produce(nil, rnd.IntN(100))
		for range stepsARun {
			r.now += kafka.Millis(rnd.IntN(4))
			switch {
			case rnd.IntN(6) == 0:
				r.tick()
			case len(r.unanswered) > 0 && rnd.IntN(5) == 0:
				r.answer()
			default:
				var key []byte
				if rnd.IntN(4) == 0 {
					key = []byte{byte(rnd.IntN(256))}
				}
				r.produce(key, drawValueSize(&rnd, r.config.BatchSize))
			}
		}
		for what, n := range r.seen {
			seen[what] += n
		}
	}
	d.compare(t, answers(t, producerProgram(t, judge, jars), d.questions))
	t.Logf("%d runs, %d steps: %v", runsARule, len(d.questions), seen)
}

// drawValueSize draws small values, and some larger than a batch.
func drawValueSize(rnd *prng.Rand, batchSize int) int {
	if rnd.IntN(20) == 0 {
		return batchSize + rnd.IntN(batchSize)
	}
	return rnd.IntN(1 + batchSize/4)
}

type tally map[string]int

// producerRun is one producer of ours and what it did, for the judge to be asked about.
type producerRun struct {
	t          *testing.T
	producer   *client.Producer
	config     client.ProducerConfig
	journal    journal.Journal
	outside    client.Outside
	read       uint64 // Seq of the last event looked at
	now        kafka.Millis
	draws      prng.Rand // the producer's stream, as far as it has been followed
	partitions int
	first      bool // the first record is still to come
	unanswered []simnet.Send
	dialogue   *dialogue
	seen       tally
}

func newProducerRun(t *testing.T, rnd *prng.Rand, rule string, d *dialogue) *producerRun {
	t.Helper()
	config := client.DefaultProducerConfig(runsTopic)
	config.EnableIdempotence = client.IdempotenceOff
	config.Keyless = rule
	config.BatchSize = 100 + rnd.IntN(900)
	config.Linger = kafka.Millis(rnd.IntN(12))
	config.MaxRequestSize = 5000 + rnd.IntN(5000)
	config.MaxInFlight = 1 + rnd.IntN(3)
	if rule == "sticky-480" {
		config.MaxRequestSize = 1 << 20 // all fit, in any order
	}
	r := &producerRun{
		t: t, config: config, now: 1000, draws: rnd.Split(fmt.Sprint("run", len(d.questions))),
		partitions: 1 + rnd.IntN(6), first: true, dialogue: d, seen: tally{},
	}
	var err error
	r.producer, err = client.NewProducer("p0", []kafka.NodeID{runsBroker}, 0, config, client.Workload{}, r.draws, r.draws)
	if err != nil {
		t.Fatal(err)
	}
	ask := r.producer.Tick(r.now, &r.outside, &r.journal)
	metadata := kmsg.NewPtrMetadataResponse()
	metadata.Version = 13
	metadata.Brokers = []kmsg.MetadataResponseBroker{{NodeID: 1, Host: runsBroker}}
	topic := kmsg.NewMetadataResponseTopic()
	topic.Topic = kmsg.StringPtr(runsTopic)
	for p := range r.partitions {
		partition := kmsg.NewMetadataResponseTopicPartition()
		partition.Partition, partition.Leader = int32(p), 1
		topic.Partitions = append(topic.Partitions, partition)
	}
	metadata.Topics = append(metadata.Topics, topic)
	r.producer.Receive(r.now, &simnet.Message{From: runsBroker, To: "p0", Response: metadata, Correlation: ask[0].Correlation}, 0, &r.outside, &r.journal)
	d.ask("ok", "producer %d %d %d %d %d", config.BatchSize, config.Linger, config.MaxRequestSize, config.MaxInFlight, r.partitions)
	return r
}

// events gives what the journal has got since the last look.
func (r *producerRun) events() []journal.Body {
	var bodies []journal.Body
	for {
		e, ok := r.journal.At(r.read + 1)
		if !ok {
			return bodies
		}
		bodies = append(bodies, e.Body)
		r.read = e.Seq
	}
}

// sent writes requests as the judge does: partition and number of records of each batch.
func (r *producerRun) sent(sends []simnet.Send) string {
	var b strings.Builder
	for _, send := range sends {
		b.WriteString(" request")
		r.seen["requests"]++
		batches := slices.Clone(send.Request.(*kmsg.ProduceRequest).Topics[0].Partitions)
		if r.config.Keyless == "sticky-480" {
			slices.SortFunc(batches, func(a, b kmsg.ProduceRequestTopicPartition) int { return int(a.Partition - b.Partition) })
		}
		for _, p := range batches {
			batch, err := record.Parse(p.Records)
			if err != nil {
				r.t.Fatal(err)
			}
			fmt.Fprintf(&b, " %d:%d", p.Partition, batch.RecordsCount)
		}
		r.unanswered = append(r.unanswered, send)
	}
	return b.String()
}

func (r *producerRun) tick() {
	r.dialogue.ask(r.sent(r.producer.Tick(r.now, &r.outside, &r.journal)), "tick %d", r.now)
}

// answer acknowledges the oldest request.
func (r *producerRun) answer() {
	send := r.unanswered[0]
	r.unanswered = r.unanswered[1:]
	response := kmsg.NewPtrProduceResponse()
	topic := kmsg.NewProduceResponseTopic()
	for _, p := range send.Request.(*kmsg.ProduceRequest).Topics[0].Partitions {
		partition := kmsg.NewProduceResponseTopicPartition()
		partition.Partition = p.Partition
		topic.Partitions = append(topic.Partitions, partition)
	}
	response.Topics = append(response.Topics, topic)
	message := &simnet.Message{From: runsBroker, To: "p0", Response: response, Correlation: send.Correlation}
	r.dialogue.ask(r.sent(r.producer.Receive(r.now, message, 0, &r.outside, &r.journal)), "answered %d", r.now)
}

func (r *producerRun) produce(key []byte, valueSize int) {
	record := command.Produce{Keyless: key == nil, Key: string(key), Value: string(make([]byte, valueSize))}
	sends, err := r.producer.Produce(r.now, record, 0, &r.outside, &r.journal)
	if err != nil {
		r.t.Fatal(err)
	}
	var pairs []string
	var chosen kafka.Partition
	for _, body := range r.events() {
		switch e := body.(type) {
		case journal.StickyPartitionSwitched:
			pairs = append(pairs, r.follow(e)...)
		case journal.RecordPartitioned:
			chosen = e.TopicPartition.Partition
			if r.first && r.config.Keyless == "sticky" {
				pairs = append(pairs, r.draw(r.partitions))
			}
			r.first = false
		}
	}
	draws, word := noDraws, "-"
	if len(pairs) > 0 {
		draws = strings.Join(pairs, ",")
	}
	if key != nil {
		word = hex.EncodeToString(key)
	}
	r.dialogue.ask(fmt.Sprint(chosen)+r.sent(sends), "produce %d %s %d %s", r.now, word, valueSize, draws)
}

// draw takes one number of n from the producer's stream.
func (r *producerRun) draw(n int) string { return fmt.Sprintf("%d/%d", r.draws.IntN(n), n) }

// follow takes the draws of a switch: one for sticky; for sticky-480 as many as give the partition left, and
// the one that gave another, before the first record also that of the first partition.
func (r *producerRun) follow(e journal.StickyPartitionSwitched) (pairs []string) {
	r.seen["switches"]++
	if e.Rule == "sticky" {
		n := r.partitions
		if len(e.Weights) > 0 {
			r.seen["by weights"]++
			n = 0
			for _, weight := range e.Weights {
				n += weight
			}
		}
		if e.Forced {
			r.seen["forced"]++
		}
		return append(pairs, r.draw(n))
	}
	if r.first {
		pairs = append(pairs, r.draw(r.partitions))
	}
	for len(pairs) < 1000 {
		pairs = append(pairs, r.draw(r.partitions))
		if strings.HasPrefix(pairs[len(pairs)-1], fmt.Sprintf("%d/", e.To)) {
			return pairs
		}
	}
	panic("the stream does not give the partition of the switch")
}
