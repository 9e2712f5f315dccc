//go:build judge

package judge

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine"
	"loglab/engine/group"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/storage"
)

// Kafka's DumpLogSegments reads every file of every broker of runs with transactions, in their middle and at their end, and
// sees what "loglab dump --json" prints and what we read in indexes and snapshots. By what it decodes, the coordinators
// had the states that they showed, each transaction whose end is written has its markers in its partitions and there are
// no others, .txnindex has the transactions that these aborted, the last stable offset is where the first open transaction
// begins, and groups have the offsets that were committed.
func TestDumpTransactions(t *testing.T) {
	root := memoryDir(t)
	runs := txnRuns(t, root)
	var files []string
	for _, run := range runs {
		files = append(files, run.files...)
	}
	counts, reported := compareDumps(t, root, files)
	t.Logf("%d runs, %d files; %+v; Kafka reports %d lines", len(runs), len(files), counts, len(reported))

	found := map[string]int{}
	printed := decodedFiles(t, root, files)
	for _, run := range runs {
		run.printed = printed
		run.judge(found)
	}
	t.Logf("by Kafka's decoders: %v", found)
	for _, kind := range []string{
		"state Empty", "state Ongoing", "state PrepareCommit", "state PrepareAbort", "state CompleteCommit", "state CompleteAbort",
		"state of client 0", "state of client 2", "epochs raised to fence", "ended transactions", "COMMIT markers", "ABORT markers",
		"markers of a later coordinator", "aborted in .txnindex", "last stable offsets below the high watermark",
		"committed offsets", "offsets in open transactions", "offsets of aborted transactions",
	} {
		if found[kind] == 0 {
			t.Errorf("seed %d: no %s", *seed, kind)
		}
	}
}

// printedBatch is a batch as Kafka's tool prints it.
type printedBatch struct {
	base, last, producer int64
	producerEpoch        int64
	transactional        bool
	control              bool
	records              []printedRecord
}

type printedRecord struct {
	offset           int64
	marker           string // COMMIT or ABORT
	coordinatorEpoch int64
	key, payload     string
}

var (
	batchLine = regexp.MustCompile(`^baseOffset: (\d+) lastOffset: (\d+) .* producerId: (-?\d+) producerEpoch: (-?\d+) ` +
		`partitionLeaderEpoch: (\d+) isTransactional: (\w+) isControl: (\w+) `)
	recordLine = regexp.MustCompile(`^\| offset: (\d+) .* headerKeys: \[\](?: endTxnMarker: (\w+) coordinatorEpoch: (\d+))?` +
		`(?: key: (.*?))?(?: payload: (.*))?$`)
)

// decodedFiles lets Kafka's tool decode the .log files, those of the coordinators as what they are, and the transaction
// indexes. It gives the lines that it prints of each file.
func decodedFiles(t *testing.T, root string, files []string) map[string][]string {
	t.Helper()
	kinds := map[string][]string{} // by decoder
	for _, file := range filesWith(files, storage.LogSuffix, storage.TransactionIndexSuffix) {
		decoder := ""
		switch dir := filepath.Base(filepath.Dir(file)); {
		case strings.HasPrefix(dir, kafka.OffsetsTopic):
			decoder = "--offsets-decoder"
		case strings.HasPrefix(dir, kafka.TransactionsTopic):
			decoder = "--transaction-log-decoder"
		}
		kinds[decoder] = append(kinds[decoder], file)
	}
	printed := map[string][]string{}
	for decoder, list := range kinds {
		options := []string{"--deep-iteration", "--print-data-log"}
		if decoder != "" {
			options = append(options, decoder)
		}
		text, _ := cutReports(dumpLogSegments(t, root, list, options...))
		file := ""
		for _, line := range strings.Split(text, "\n") {
			if name, is := strings.CutPrefix(line, "Dumping "); is {
				file = name
			} else if line != "" {
				printed[file] = append(printed[file], line)
			}
		}
	}
	return printed
}

// printedBatches gives the batches of a directory as Kafka's tool prints them.
func (r *txnRun) printedBatches(when string, id kafka.BrokerID, tp kafka.TopicPartition) (batches []printedBatch) {
	r.t.Helper()
	number := func(text string) (n int64) {
		fmt.Sscan(text, &n)
		return n
	}
	for _, file := range filesWith(r.filesOf(when, id, tp), storage.LogSuffix) {
		for _, line := range r.printed[file] {
			if m := batchLine.FindStringSubmatch(line); m != nil {
				batches = append(batches, printedBatch{
					base: number(m[1]), last: number(m[2]), producer: number(m[3]), producerEpoch: number(m[4]),
					transactional: m[6] == "true", control: m[7] == "true",
				})
			} else if m := recordLine.FindStringSubmatch(line); m != nil {
				b := &batches[len(batches)-1]
				b.records = append(b.records, printedRecord{number(m[1]), m[2], number(m[3]), m[4], m[5]})
			} else if !strings.HasPrefix(line, "Log starting ") {
				r.t.Fatalf("%s: the tool prints %q", file, line)
			}
		}
	}
	return batches
}

// filesOf lists the files of a partition's directory on a broker.
func (r *txnRun) filesOf(when string, id kafka.BrokerID, tp kafka.TopicPartition) (files []string) {
	dir := filepath.Join(r.name, when, fmt.Sprint("b", id), tp.String()) + "/"
	for _, file := range r.files {
		if strings.HasPrefix(file, dir) {
			files = append(files, file)
		}
	}
	return files
}

// judge holds what Kafka's tool decodes in the directories of a run at its end against the cluster, and counts what it found.
func (r *txnRun) judge(found map[string]int) {
	r.t.Helper()
	v := r.views["end"]
	markers := map[string]int{} // of each partition, by text
	var ends []endedTransaction
	newest := map[int64]int64{} // by producer id: the epoch of the coordinator that leads
	for _, p := range v.TransactionStates {
		ended := r.judgeStates(p, found)
		for _, e := range ended {
			newest[e.producer] = int64(p.LeaderEpoch)
		}
		ends = append(ends, ended...)
	}
	for _, p := range append(v.Partitions, v.Offsets...) {
		for _, b := range r.printedBatches("end", p.Leader, p.TopicPartition) {
			if b.control {
				m := b.records[0]
				markers[fmt.Sprintf("%s of %d/%d in %s", m.marker, b.producer, b.producerEpoch, p.TopicPartition)]++
				found[m.marker+" markers"]++
				if m.coordinatorEpoch > newest[b.producer] {
					r.t.Errorf("%s: %s at %d is of coordinator %d, the newest is %d", r.name, p.TopicPartition, m.offset,
						m.coordinatorEpoch, newest[b.producer])
				}
				if m.coordinatorEpoch > 0 {
					found["markers of a later coordinator"]++
				}
			}
		}
	}
	for when, v := range r.views {
		for _, p := range append(v.Partitions, v.Offsets...) {
			if p.Topic == kafka.OffsetsTopic && p.Leader >= 0 {
				r.judgeOffsets(when, p, v.Groups, found)
			}
			if r.name != "compacted" {
				for _, replica := range p.Replicas {
					r.judgeAborted(when, p.TopicPartition, replica, found)
				}
			}
		}
	}
	wanted := map[string]int{}
	for _, e := range ends {
		found["ended transactions"]++
		for _, tp := range e.partitions {
			wanted[fmt.Sprintf("%s of %d/%d in %s", e.kind, e.producer, e.epoch, tp)]++
		}
	}
	for text, n := range wanted {
		if markers[text] < n && r.name != "compacted" { // where markers may be gone
			r.t.Errorf("%s: %d times %s, by __transaction_state %d", r.name, markers[text], text, n)
		}
	}
	for text, n := range markers {
		if wanted[text] == 0 {
			r.t.Errorf("%s: %d times %s, by __transaction_state none", r.name, n, text)
		}
	}
}

// endedTransaction is a transaction whose end is written.
type endedTransaction struct {
	kind            string // of the marker
	producer, epoch int64
	partitions      []kafka.TopicPartition
}

// printedTxnValue is what Kafka's tool prints of a value of __transaction_state. Tagged fields are printed if they are
// there.
type printedTxnValue struct {
	Version string
	Data    struct {
		ProducerID            int64 `json:"producerId"`
		ProducerEpoch         int16
		TransactionTimeoutMs  int32
		TransactionStatus     int8
		TransactionPartitions []struct {
			Topic        string
			PartitionIds []int32
		}
		LastUpdate         int64  `json:"transactionLastUpdateTimestampMs"`
		Start              int64  `json:"transactionStartTimestampMs"`
		Client             int16  `json:"clientTransactionVersion"`
		PreviousProducerID *int64 `json:"previousProducerId"`
		NextProducerID     *int64 `json:"nextProducerId"`
		NextProducerEpoch  *int16 `json:"nextProducerEpoch"`
	}
}

// txnStateNames are the states by number. Source: TransactionState.
var txnStateNames = []string{"Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead", "PrepareEpochFence"}

func (v *printedTxnValue) state() string { return txnStateNames[v.Data.TransactionStatus] }

func (v *printedTxnValue) partitions() (list []kafka.TopicPartition) {
	for _, topic := range v.Data.TransactionPartitions {
		for _, id := range topic.PartitionIds {
			list = append(list, kafka.TopicPartition{Topic: topic.Topic, Partition: kafka.Partition(id)})
		}
	}
	slices.SortFunc(list, kafka.TopicPartition.Compare)
	return list
}

func (v *printedTxnValue) text() string {
	d := &v.Data
	return txnStateText(v.state(), d.ProducerID, d.ProducerEpoch, d.TransactionTimeoutMs, v.partitions(), d.Start, d.LastUpdate, d.Client)
}

// failedWrites counts the writes of each transactional id that failed, as those that took too long. Their records may be in
// the log all the same.
func (r *txnRun) failedWrites() map[string]int {
	failed := map[string]int{}
	for seq := uint64(1); ; seq++ {
		e, ok := r.cluster.Journal().At(seq)
		if !ok {
			return failed
		}
		if body, is := e.Body.(journal.TransactionWriteFailed); is {
			failed[body.TransactionalID]++
		}
	}
}

// judgeStates holds what Kafka's tool decodes of a partition of __transaction_state against what the coordinator showed: at
// the end it has the last state of each transactional id, and each state was seen, in no other order than Kafka allows. It
// gives the transactions that have ended.
func (r *txnRun) judgeStates(p engine.PartitionView, found map[string]int) (ended []endedTransaction) {
	r.t.Helper()
	last := map[string]*printedTxnValue{}
	failed := r.failedWrites()
	logged, raised := map[string]map[string]bool{}, map[string]map[string]bool{}
	for _, b := range r.printedBatches("end", p.Leader, p.TopicPartition) {
		for _, record := range b.records {
			var key struct {
				Type string
				Data struct{ TransactionalID string }
			}
			value := &printedTxnValue{}
			if err := json.Unmarshal([]byte(record.key), &key); err != nil || key.Type != "0" {
				r.t.Fatalf("%s: %s at %d: key %s: %v", r.name, p.TopicPartition, record.offset, record.key, err)
			}
			if err := json.Unmarshal([]byte(record.payload), value); err != nil || value.Version != "1" {
				r.t.Fatalf("%s: %s at %d: payload %s: %v", r.name, p.TopicPartition, record.offset, record.payload, err)
			}
			if d := value.Data; d.PreviousProducerID != nil || d.NextProducerID != nil || d.NextProducerEpoch != nil {
				r.t.Errorf("%s: %s at %d has what Kafka 4.2 does not write: %s", r.name, p.TopicPartition, record.offset, record.payload)
			}
			id := key.Data.TransactionalID
			found["state "+value.state()]++
			found[fmt.Sprint("state of client ", value.Data.Client)]++
			if logged[id] == nil {
				logged[id], raised[id] = map[string]bool{}, map[string]bool{}
			}
			logged[id][value.text()] = true
			if value.state() == "Ongoing" { // before it is aborted, the coordinator raises the epoch, and does not write that
				fenced := *value
				fenced.Data.ProducerEpoch++
				raised[id][fenced.text()] = true
			}
			if !r.states[id][value.text()] {
				if found["records of writes that failed"]++; failed[id] == 0 {
					r.t.Errorf("%s: no view showed that %s is %s", r.name, id, value.text())
				}
				failed[id]--
				continue // the coordinator never came to know that it is in the log
			}
			before := last[id]
			switch {
			case before != nil && before.text() == value.text() && failed[id] > 0:
				failed[id]-- // the end of a transaction is written again if that failed
				found["records of writes that failed"]++
			case strings.HasPrefix(value.state(), "Prepare"):
				if before == nil || before.state() != "Ongoing" && value.state() == "PrepareCommit" {
					r.t.Errorf("%s: %s at %d: %s after %v", r.name, id, record.offset, value.text(), before)
				} else if diff := cmp.Diff(before.partitions(), value.partitions()); diff != "" {
					r.t.Errorf("%s: %s at %d has other partitions than before:\n%s", r.name, id, record.offset, diff)
				}
			case strings.HasPrefix(value.state(), "Complete"):
				kind := strings.TrimPrefix(value.state(), "Complete")
				if before == nil || before.state() != "Prepare"+kind {
					r.t.Errorf("%s: %s at %d: %s after %v", r.name, id, record.offset, value.text(), before)
					break
				}
				ended = append(ended, endedTransaction{
					strings.ToUpper(kind), before.Data.ProducerID, int64(before.Data.ProducerEpoch), before.partitions(),
				})
			}
			last[id] = value
		}
	}
	for _, held := range r.views["end"].Transactions {
		if held.Partition != p.TopicPartition {
			continue
		}
		id := held.TransactionalID
		if held.Held == nil || last[id] == nil || heldText(held.Held) != last[id].text() ||
			!slices.Equal(held.Held.Partitions, last[id].partitions()) {
			r.t.Errorf("%s: the coordinator has of %s %+v, the last record %v", r.name, id, held.Held, last[id])
		}
		for text := range r.states[id] {
			switch {
			case logged[id][text]:
				found["states seen and logged"]++
			case strings.Contains(text, "producer -1/") || strings.Contains(text, "/-1 "):
				found["states seen before the first was written"]++
			case raised[id][text]:
				found["epochs raised to fence"]++
			default:
				r.t.Errorf("%s: %s was seen, but not logged: %s", r.name, id, text)
			}
		}
	}
	return ended
}

// judgeAborted works out from the printed batches of a replica which transactions were aborted, where they begin and where
// the last stable offset is.
func (r *txnRun) judgeAborted(when string, tp kafka.TopicPartition, replica engine.ReplicaView, found map[string]int) {
	r.t.Helper()
	open := map[int64]int64{} // by producer id: the first offset
	type begun struct{ producer, first int64 }
	type aborted struct{ producer, first, last, stable int64 }
	var begins []begun
	var want []aborted
	firstUnstable := func(mark int64) int64 {
		stable := mark
		for _, first := range open {
			stable = min(stable, first)
		}
		return stable
	}
	type span struct{ first, last int64 }
	var ended []span
	for _, b := range r.printedBatches(when, replica.Broker, tp) {
		switch first, is := open[b.producer]; {
		case b.control && is:
			delete(open, b.producer)
			ended = append(ended, span{first, b.last})
			if b.records[0].marker == "ABORT" {
				want = append(want, aborted{b.producer, first, b.last, firstUnstable(b.last + 1)})
			}
		case b.transactional && !b.control && !is:
			open[b.producer] = b.base
			begins = append(begins, begun{b.producer, b.base})
		}
	}
	var got []aborted
	for _, file := range filesWith(r.filesOf(when, replica.Broker, tp), storage.TransactionIndexSuffix) {
		for _, line := range r.printed[file] {
			var a aborted
			_, err := fmt.Sscanf(line, "version: 0 producerId: %d firstOffset: %d lastOffset: %d lastStableOffset: %d",
				&a.producer, &a.first, &a.last, &a.stable)
			if err != nil {
				r.t.Fatalf("%s: %s: %v", file, line, err)
			}
			got = append(got, a)
		}
	}
	// Who appends several batches at once knows of transactions that begin behind the marker.
	for i := range min(len(want), len(got)) {
		for _, b := range begins {
			if w := &want[i]; w.stable == w.last+1 && b.first > w.last && b.producer != w.producer {
				if got[i].stable == b.first && got[i].stable != w.stable {
					w.stable = b.first
					found["last stable offsets in .txnindex behind the marker"]++
				}
				break
			}
		}
	}
	found["aborted in .txnindex"] += len(got)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(aborted{})); diff != "" {
		r.t.Errorf("%s, %s: %s of broker %d: .txnindex (-by the batches +Kafka):\n%s", r.name, when, tp, replica.Broker, diff)
	}
	if !replica.Online {
		return
	}
	mark := int64(replica.HighWatermark)
	stable := firstUnstable(mark)
	for _, e := range ended {
		if e.last >= mark {
			stable = min(stable, e.first)
		}
	}
	if found["last stable offsets"]++; stable < mark {
		found["last stable offsets below the high watermark"]++
	}
	if int64(replica.LastStableOffset) != stable {
		r.t.Errorf("%s, %s: %s of broker %d has the last stable offset %d, by the batches %d", r.name, when, tp, replica.Broker,
			replica.LastStableOffset, stable)
	}
}

func offsetText(offset int64, epoch int32, metadata string, at int64) string {
	return fmt.Sprintf("%d epoch %d [%s] at %d", offset, epoch, metadata, at)
}

// judgeOffsets works out from what Kafka's tool decodes of a partition of __consumer_offsets what its groups have
// committed.
func (r *txnRun) judgeOffsets(when string, p engine.PartitionView, groups []engine.GroupView, found map[string]int) {
	r.t.Helper()
	type at struct{ group, partition string }
	type written struct {
		at
		text string
	}
	committed := map[at]string{}
	pending := map[int64][]written{}
	generations := map[string]int32{}
	for _, b := range r.printedBatches(when, p.Leader, p.TopicPartition) {
		if b.last >= int64(p.Log.HighWatermark) { // not written yet, to the coordinator
			break
		}
		for _, record := range b.records {
			switch record.marker {
			case "COMMIT":
				for _, w := range pending[b.producer] {
					committed[w.at] = w.text
				}
				delete(pending, b.producer)
				continue
			case "ABORT":
				found["offsets of aborted transactions"] += len(pending[b.producer])
				delete(pending, b.producer)
				continue
			}
			var key struct {
				Type string
				Data struct {
					Group, Topic string
					Partition    int32
				}
			}
			var value struct {
				Version string
				Data    struct {
					Offset, CommitTimestamp int64
					LeaderEpoch, Generation int32
					Metadata                string
				}
			}
			if err := json.Unmarshal([]byte(record.key), &key); err != nil {
				r.t.Fatalf("%s: %s at %d: key %s: %v", r.name, p.TopicPartition, record.offset, record.key, err)
			}
			gone := record.payload == "<DELETE>"
			if err := json.Unmarshal([]byte(record.payload), &value); err != nil && !gone {
				r.t.Fatalf("%s: %s at %d: payload %s: %v", r.name, p.TopicPartition, record.offset, record.payload, err)
			}
			where := at{key.Data.Group, fmt.Sprintf("%s-%d", key.Data.Topic, key.Data.Partition)}
			d := &value.Data
			text := offsetText(d.Offset, d.LeaderEpoch, d.Metadata, d.CommitTimestamp)
			found["records of __consumer_offsets of type "+key.Type]++
			switch {
			case key.Type == fmt.Sprint(group.TypeGroupMetadata):
				generations[key.Data.Group] = value.Data.Generation
			case gone:
				delete(committed, where)
			case b.transactional:
				pending[b.producer] = append(pending[b.producer], written{where, text})
			default:
				committed[where] = text
			}
		}
	}
	theirs := map[at]string{}
	open := 0
	for _, g := range groups {
		if g.Held == nil || g.OffsetsPartition != p.Partition {
			continue
		}
		for _, o := range g.Held.Offsets {
			where := at{g.ID, o.TopicPartition.String()}
			theirs[where] = offsetText(int64(o.Offset), int32(o.LeaderEpoch), o.Metadata, int64(o.CommittedAt))
		}
		open += len(g.Held.PendingOffsets)
		// A generation is written when its leader has assigned.
		if g.State == group.Stable && int32(g.Held.Generation) != generations[g.ID] {
			r.t.Errorf("%s, %s: %s is in generation %d, by the records %d", r.name, when, g.ID, g.Held.Generation, generations[g.ID])
		}
	}
	found["committed offsets"] += len(committed)
	for _, list := range pending {
		open -= len(list)
		found["offsets in open transactions"] += len(list)
	}
	if diff := cmp.Diff(committed, theirs); diff != "" || open != 0 {
		r.t.Errorf("%s, %s: %s: %d more pending offsets; committed offsets (-by the records +loglab):\n%s", r.name, when,
			p.TopicPartition, open, diff)
	}
}
