//go:build judge

package judge

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/simnet"
	"loglab/engine/txn"
)

const (
	txnWorlds = 1000
	txnSteps  = 200
	txnStart  = 1_700_000_000_000
)

// txnWorld is a transaction coordinator, and a script of what it was asked.
type txnWorld struct {
	script
	config   *txn.Config
	c        *txn.Coordinator
	j        journal.Journal
	now      kafka.Millis
	epoch    int32
	requests int
	numbers  map[*simnet.Message]int
	ids      bool
	nextID   kafka.ProducerID
	log      []coordinator.Record
	writes   []txnWrite
	markers  []coordinator.Marker // that are asked for and not written
	said     []string             // in this step
	wrote    []string
	asked    []string
	clients  []*txnClient
	seen     map[string]int
}

// txnWrite is a write that nobody has told of.
type txnWrite struct {
	id      uint64
	name    string // the first of its transactional ids
	records []coordinator.Record
	due     kafka.Millis // when the coordinator gives it up
}

// txnClient is what a producer knows.
type txnClient struct {
	id      string
	timeout int32
	coordinator.Producer
	old    bool // of before version 2 of transactions
	fenced bool
	waits  *simnet.Message
}

func newTxnWorld(rnd prng.Rand) *txnWorld {
	config := txn.DefaultConfig()
	config.Start = txnStart
	config.TransactionVersion = int16([]int{2, 2, 2, 2, 1, 0}[rnd.IntN(6)])
	config.MaxTimeout = kafka.Millis(10_000 + rnd.IntN(50_000))
	config.IDExpiration, config.ExpirationCheckInterval = kafka.Millis(20_000+rnd.IntN(200_000)), kafka.Millis(5000+rnd.IntN(50_000))
	config.AbortInterval, config.RequestTimeout = kafka.Millis(500+rnd.IntN(15_000)), kafka.Millis(1000+rnd.IntN(20_000))
	w := &txnWorld{script: script{rnd: rnd}, config: &config, epoch: 5, numbers: map[*simnet.Message]int{}, ids: true, nextID: 1000, seen: map[string]int{}}
	w.ask("ok", "world %d %d %d %d %d %d", config.TransactionVersion, config.MaxTimeout, config.IDExpiration, config.AbortInterval, config.ExpirationCheckInterval, config.RequestTimeout)
	w.load()
	names := []string{"t0", "t1", "t2"}
	if w.rnd.IntN(4) == 0 {
		names = []string{"t0"} // near the end of its epochs
		w.nearTheEnd()
	}
	for i := range 5 {
		w.clients = append(w.clients, &txnClient{
			id: names[i%len(names)], timeout: int32(1000 + w.rnd.IntN(int(config.MaxTimeout)-500)), Producer: coordinator.Producer{ID: -1, Epoch: -1},
			old: w.rnd.IntN(3) == 0 || config.TransactionVersion < 2, // a client goes by the cluster
		})
		if len(names) == 1 && i == 0 {
			w.clients[0].Producer = w.view(names[0])
		}
	}
	return w
}

func (w *txnWorld) view(id string) coordinator.Producer {
	for _, v := range w.c.View() {
		if v.TransactionalID == id {
			return coordinator.Producer{ID: v.ProducerID, Epoch: v.ProducerEpoch}
		}
	}
	return coordinator.Producer{ID: -1, Epoch: -1}
}

func (w *txnWorld) load() {
	w.c = txn.New(w.config)
	w.perform(w.c.Load(w.now, func(yield func(coordinator.Logged) bool) {
		for _, r := range w.log {
			if !yield(coordinator.Logged{Record: r}) {
				return
			}
		}
	}, w.epoch, 0, &w.j))
}

// nearTheEnd puts a producer id with one of the last epochs into the log.
func (w *txnWorld) nearTheEnd() {
	v := txn.Value{
		Version: 1, TransactionalID: "t0", ProducerID: 7, ProducerEpoch: kafka.ProducerEpoch(32763 + w.rnd.IntN(5)), Timeout: 8000,
		State:      []txn.State{txn.Empty, txn.Ongoing, txn.PrepareCommit, txn.PrepareAbort, txn.CompleteCommit, txn.CompleteAbort}[w.rnd.IntN(6)],
		LastUpdate: txnStart, Start: txnStart, PreviousProducerID: -1, NextProducerID: -1, NextProducerEpoch: -1, ClientTransactionVersion: int16(w.rnd.IntN(3)),
	}
	if w.config.TransactionVersion < 2 {
		v.ClientTransactionVersion = 0
	}
	switch {
	case v.State == txn.Empty:
		v.Start = -1
	case v.State == txn.Ongoing || v.State == txn.PrepareCommit || v.State == txn.PrepareAbort:
		v.Partitions = []kafka.TopicPartition{{Topic: "orders", Partition: 0}, {Topic: "payments", Partition: 3}}
	}
	if w.rnd.IntN(3) == 0 {
		v.PreviousProducerID, v.NextProducerID = 6, 8
	}
	r := v.Encode()
	w.log = append(w.log, r)
	w.step(func() {}, "log %x %x", r.Key, r.Value)
	w.failOver()
}

// step does one thing, and notes it with what came of it.
func (w *txnWorld) step(do func(), question string, args ...any) {
	w.said, w.wrote, w.asked = nil, nil, nil
	do()
	slices.Sort(w.said)
	slices.Sort(w.wrote)
	slices.Sort(w.asked)
	var states []string
	for _, v := range w.c.View() {
		pending := string(v.PendingState)
		states = append(states, fmt.Sprintf("%s %s %d %d %d [%s] %d %d %d %s %d %d %d", v.TransactionalID, v.State, v.ProducerID, v.ProducerEpoch, v.Timeout, partitionsText(v.Partitions),
			v.Start, v.LastUpdate, v.ClientTransactionVersion, orDash(pending), v.PreviousProducerID, v.NextProducerID, v.LastProducerEpoch))
	}
	for _, line := range w.said {
		words := strings.Fields(line)
		w.seen[words[1]+" "+strings.SplitN(words[2], "=", 2)[0]]++
	}
	w.ask(strings.Join(slices.Concat(w.said, w.wrote, w.asked), "; ")+" | "+strings.Join(states, "; "), "%d "+question, append([]any{w.now}, args...)...)
}

func partitionsText(list []kafka.TopicPartition) string {
	words := make([]string, len(list))
	for i, tp := range list {
		words[i] = tp.String()
	}
	slices.Sort(words)
	return strings.Join(words, ",")
}

// perform does what the coordinator wants done, as far as the script does not decide it.
func (w *txnWorld) perform(e coordinator.Effects) {
	for _, write := range e.Writes {
		w.log = append(w.log, write.Records...)
		var names []string
		due := w.now + w.config.RequestTimeout
		for _, r := range write.Records {
			id, err := txn.DecodeKey(r.Key)
			if err != nil {
				panic(err)
			}
			names = append(names, id)
			if r.Value == nil {
				w.wrote = append(w.wrote, "write "+id+" gone")
				continue
			}
			v, err := txn.DecodeValue(id, r.Value)
			if err != nil {
				panic(err)
			}
			due = w.now + v.Timeout
			w.wrote = append(w.wrote, fmt.Sprintf("write %s %s %d %d %d [%s] %d %d %d", id, v.State, v.ProducerID, v.ProducerEpoch, v.Timeout, partitionsText(v.Partitions), v.Start, v.LastUpdate, v.ClientTransactionVersion))
		}
		w.writes = append(w.writes, txnWrite{write.ID, slices.Min(names), write.Records, due})
	}
	for _, a := range e.Answers {
		w.said = append(w.said, w.text(a.Request, a.Response))
	}
	for _, m := range e.Markers {
		var gone, there []kafka.TopicPartition
		for _, tp := range m.Partitions {
			if tp.Partition >= 9 {
				gone = append(gone, tp)
			} else {
				there = append(there, tp)
			}
		}
		if len(there) > 0 {
			w.asked = append(w.asked, fmt.Sprintf("marker %s %s %d %d %d %d %s", m.TransactionalID, m.Type, m.ProducerID, m.ProducerEpoch, m.CoordinatorEpoch, m.TransactionVersion, partitionsText(there)))
			left := m
			left.Partitions = there
			w.markers = append(w.markers, left)
		}
		if len(gone) > 0 {
			w.perform(w.c.MarkersWritten(w.now, m.TransactionalID, coordinator.Producer{ID: m.ProducerID, Epoch: m.ProducerEpoch}, gone, 0, &w.j))
		}
	}
}

// text gives an answer as the script has it, and tells the producer.
func (w *txnWorld) text(m *simnet.Message, response kmsg.Response) string {
	n := w.numbers[m]
	for _, c := range w.clients {
		if c.waits == m {
			c.waits = nil
			c.take(response)
		}
	}
	switch a := response.(type) {
	case *kmsg.InitProducerIDResponse:
		return fmt.Sprintf("%d init %s %d %d", n, codeText(a.ErrorCode), a.ProducerID, a.ProducerEpoch)
	case *kmsg.EndTxnResponse:
		if a.Version < 5 {
			return fmt.Sprintf("%d end %s", n, codeText(a.ErrorCode))
		}
		return fmt.Sprintf("%d end %s %d %d", n, codeText(a.ErrorCode), a.ProducerID, a.ProducerEpoch)
	case *kmsg.AddPartitionsToTxnResponse:
		if a.Version < 4 {
			return fmt.Sprintf("%d add %s", n, codeText(a.Topics[0].Partitions[0].ErrorCode))
		}
		var codes []string
		for _, topic := range a.Transactions[0].Topics {
			for _, p := range topic.Partitions {
				codes = append(codes, fmt.Sprintf("%s-%d=%s", topic.Topic, p.Partition, codeText(p.ErrorCode)))
			}
		}
		if m.Request.(*kmsg.AddPartitionsToTxnRequest).Transactions[0].VerifyOnly {
			slices.Sort(codes)
			return fmt.Sprintf("%d verify %s", n, strings.Join(codes, ","))
		}
		return fmt.Sprintf("%d add %s", n, strings.SplitN(codes[0], "=", 2)[1])
	case *kmsg.DescribeTransactionsResponse:
		s := a.TransactionStates[0]
		var list []kafka.TopicPartition
		for _, topic := range s.Topics {
			for _, p := range topic.Partitions {
				list = append(list, kafka.TopicPartition{Topic: topic.Topic, Partition: kafka.Partition(p)})
			}
		}
		return fmt.Sprintf("%d describe %s %s %d %d %d %d %s", n, codeText(s.ErrorCode), s.State, s.ProducerID, s.ProducerEpoch, s.TimeoutMillis, s.StartTimestamp, partitionsText(list))
	}
	a := response.(*kmsg.ListTransactionsResponse)
	var list []string
	for _, s := range a.TransactionStates {
		list = append(list, fmt.Sprintf("%s=%d=%s", s.TransactionalID, s.ProducerID, s.TransactionState))
	}
	slices.Sort(list)
	unknown := slices.Sorted(slices.Values(a.UnknownStateFilters))
	return fmt.Sprintf("%d list %s [%s] %s", n, codeText(a.ErrorCode), strings.Join(unknown, ", "), strings.Join(list, ","))
}

// take lets a producer learn from an answer.
func (c *txnClient) take(response kmsg.Response) {
	switch a := response.(type) {
	case *kmsg.InitProducerIDResponse:
		if c.fenced = c.fenced && a.ErrorCode != 0; a.ErrorCode == 0 {
			c.ID, c.Epoch = kafka.ProducerID(a.ProducerID), kafka.ProducerEpoch(a.ProducerEpoch)
		}
	case *kmsg.EndTxnResponse:
		if a.ErrorCode == 0 && a.Version >= 5 {
			c.ID, c.Epoch = kafka.ProducerID(a.ProducerID), kafka.ProducerEpoch(a.ProducerEpoch)
		}
		c.fenced = c.fenced || a.ErrorCode == kerr.ProducerFenced.Code || a.ErrorCode == kerr.InvalidProducerIDMapping.Code
	}
}

// TestTransactionCoordinator: TransactionCoordinator, TransactionStateManager and TransactionMarkerChannelManager answer,
// write, ask for markers and keep in memory what engine/txn does, over drawn scripts of producers of both versions, zombies,
// writes that fail and time out, markers that are written one by one, fail-over, and epochs that are used up.
func TestTransactionCoordinator(t *testing.T) {
	rnd := draws(t)
	var scripts []*script
	seen := map[string]int{}
	for i := range txnWorlds {
		w := newTxnWorld(rnd.Split(fmt.Sprint(i)))
		for range txnSteps {
			w.draw()
		}
		scripts = append(scripts, &w.script)
		for kind, n := range w.seen {
			seen[kind] += n
		}
		for e := range w.j.All() {
			seen[e.Body.Kind()]++
		}
	}
	compareScripts(t, "Transactions", scripts)
	for _, kind := range slices.Sorted(maps.Keys(seen)) {
		t.Logf("%7d × %s", seen[kind], kind)
	}
}

// Utils.abs of String.hashCode names the partition of a transactional id.
func TestTransactionPartitions(t *testing.T) {
	rnd := draws(t)
	ids := []string{"polygenelubricants", "transfers-1", "t", "日本"}
	for range 3000 {
		letters := make([]rune, 1+rnd.IntN(12))
		for i := range letters {
			letters[i] = []rune("aZ09-_.éß日😀")[rnd.IntN(11)]
		}
		ids = append(ids, string(letters))
	}
	var questions []string
	for _, id := range ids {
		questions = append(questions, "partition "+id)
	}
	for i, got := range answers(t, kafkaProgram(t, "Transactions"), questions) {
		if want := fmt.Sprint(coordinator.PartitionFor(ids[i], 50)); got != want {
			t.Errorf("%q: Kafka %s, loglab %s", ids[i], got, want)
		}
	}
}

// TransactionLogKey and TransactionLogValue read our records as they are meant and write the same bytes, and TransactionLog
// reads what they mean; and we read those.
func TestTransactionRecords(t *testing.T) {
	rnd := draws(t)
	var questions, want []string
	var values []txn.Value
	for range 20_000 {
		v := drawTransactionValue(&rnd)
		r := v.Encode()
		questions = append(questions, fmt.Sprintf("record %x %x", r.Key, r.Value))
		text := fmt.Sprintf("%s v%d %d %d %d %s %s %d %d %d %d %d %d", v.TransactionalID, v.Version, v.ProducerID, v.ProducerEpoch, v.Timeout, v.State, partitionsInOrder(v.Partitions),
			v.LastUpdate, v.Start, v.PreviousProducerID, v.NextProducerID, v.ClientTransactionVersion, v.NextProducerEpoch)
		want = append(want, fmt.Sprintf("%s | %x %x", text, r.Key, r.Value))
		values = append(values, v)
	}
	for i, got := range answers(t, kafkaProgram(t, "Transactions"), questions) {
		if got != want[i] {
			t.Fatalf("record %d:\nKafka  %s\nloglab %s", i, got, want[i])
		}
		bytes, err := hex.DecodeString(got[strings.LastIndex(got, " ")+1:])
		if err != nil {
			t.Fatal(err)
		}
		again, err := txn.DecodeValue(values[i].TransactionalID, bytes)
		if fmt.Sprint(again) != fmt.Sprint(values[i]) || err != nil {
			t.Fatalf("record %d: %v\nread    %+v\nwritten %+v", i, err, again, values[i])
		}
	}
}

func partitionsInOrder(list []kafka.TopicPartition) string {
	words := make([]string, len(list))
	for i, tp := range list {
		words[i] = tp.String()
	}
	return "[" + strings.Join(words, ",") + "]"
}

func drawTransactionValue(rnd *prng.Rand) txn.Value {
	states := []txn.State{txn.Empty, txn.Ongoing, txn.PrepareCommit, txn.PrepareAbort, txn.CompleteCommit, txn.CompleteAbort, txn.Dead, txn.PrepareEpochFence}
	v := txn.Value{
		Version: int16(rnd.IntN(2)), TransactionalID: drawText(rnd), ProducerID: kafka.ProducerID(rnd.Uint64() >> 1), ProducerEpoch: kafka.ProducerEpoch(rnd.IntN(1<<15+1) - 1),
		Timeout: kafka.Millis(rnd.IntN(1 << 31)), State: states[rnd.IntN(len(states))], LastUpdate: kafka.Timestamp(rnd.Uint64() >> 1), Start: kafka.Timestamp(rnd.IntN(1<<45)) - 1,
		PreviousProducerID: -1, NextProducerID: -1, NextProducerEpoch: -1,
	}
	if v.State != txn.Empty {
		for i := range rnd.IntN(4) {
			for range 1 + rnd.IntN(4) {
				v.Partitions = append(v.Partitions, kafka.TopicPartition{Topic: fmt.Sprint(drawText(rnd), i), Partition: kafka.Partition(rnd.IntN(1 << 20))})
			}
		}
	}
	if v.Version == 0 {
		return v
	}
	if rnd.IntN(2) == 0 {
		v.PreviousProducerID = kafka.ProducerID(rnd.Uint64() >> 1)
	}
	if rnd.IntN(2) == 0 {
		v.NextProducerID, v.NextProducerEpoch = kafka.ProducerID(rnd.Uint64()>>1), kafka.ProducerEpoch(rnd.IntN(1<<15))
	}
	v.ClientTransactionVersion = int16(rnd.IntN(3))
	return v
}
