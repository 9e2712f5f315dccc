package ledger

import (
	"fmt"
	"strings"
	"testing"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/simdisk"
	"loglab/engine/storage"
	"loglab/engine/txn"
)

var orders0 = kafka.TopicPartition{Topic: "orders"}

// spansText gives the transactions of a log, as "producer first..last→marker"; "open" for one that has none.
func spansText(r *replicaSeen) string {
	var list []string
	for _, s := range r.spans {
		end := "open"
		if s.marker != kafka.NoOffset {
			end = fmt.Sprintf("%d commit=%t", s.marker, s.commit)
		}
		list = append(list, fmt.Sprintf("%d %d..%d→%s", s.producer, s.first, s.last, end))
	}
	return strings.Join(list, ", ")
}

// txnLog is a log with transactions, of the broker b1.
type txnLog struct {
	t    *testing.T
	disk simdisk.Disk
	log  *storage.Log
	k    Checker
	next map[kafka.ProducerID]kafka.Sequence
}

func newTxnLog(t *testing.T) *txnLog {
	l := &txnLog{t: t, next: map[kafka.ProducerID]kafka.Sequence{}}
	l.log = storage.New(&l.disk, "orders-0", storage.DefaultConfig(), 1000)
	l.k.partitions, l.k.brokers = map[kafka.TopicPartition]*partitionSeen{}, map[kafka.BrokerID]*brokerSeen{1: {}}
	l.k.transactions, l.k.producers = map[string]*transactionSeen{}, map[kafka.ProducerID]*transactionSeen{}
	return l
}

// writes appends a batch of a transaction.
func (l *txnLog) writes(id kafka.ProducerID, epoch kafka.ProducerEpoch, records int) {
	l.t.Helper()
	l.append(record.Options{Transactional: true, Producer: &record.Producer{ID: id, Epoch: epoch, BaseSequence: l.next[id]}}, records)
	l.next[id] += kafka.Sequence(records)
}

// append appends a batch.
func (l *txnLog) append(options record.Options, records int) {
	l.t.Helper()
	b := record.NewBuilder(options)
	for range records {
		b.Append(1000, []byte("k"), []byte("v"))
	}
	batch, err := b.Build()
	if err != nil {
		l.t.Fatal(err)
	}
	if _, err := l.log.Append(batch, 0, 1000); err != nil {
		l.t.Fatal(err)
	}
}

// ends appends a marker.
func (l *txnLog) ends(id kafka.ProducerID, epoch kafka.ProducerEpoch, how record.ControlType) {
	l.t.Helper()
	if _, err := l.log.AppendEndTxnMarker(storage.TransactionMarker{EndTxnMarker: record.EndTxnMarker{Type: how}, ProducerID: id, ProducerEpoch: epoch}, 0, 1000); err != nil {
		l.t.Fatal(err)
	}
}

// look lets the checker see the log.
func (l *txnLog) look() *replicaSeen {
	p := l.k.of(orders0)
	l.k.follow(p, 1, p.replicaOf(1), &ReplicaState{TopicPartition: orders0, Open: true, LogEndOffset: l.log.LogEndOffset(), Segments: l.log.Segments()})
	p.highest = l.log.LogEndOffset()
	return p.replicaOf(1)
}

// A log is cut into transactions as it grows, and as it is cut off.
func TestSpans(t *testing.T) {
	l := newTxnLog(t)
	is := func(want string) {
		t.Helper()
		if got := spansText(l.look()); got != want {
			t.Errorf("%s; want %s", got, want)
		}
	}
	l.writes(1, 0, 2)
	l.writes(2, 0, 1)
	l.writes(1, 0, 1)
	is("1 0..3→open, 2 2..2→open")
	l.ends(2, 0, record.Abort)
	l.ends(1, 0, record.Commit)
	l.ends(1, 0, record.Commit) // once more
	l.writes(1, 0, 1)
	is("1 0..3→5 commit=true, 2 2..2→4 commit=false, 1 7..7→open")
	if first, open := l.look().firstOpen(8, 0); first != 7 || !open {
		t.Errorf("the first that is open begins at %d (%t)", first, open)
	}
	if first, open := l.look().firstOpen(5, 0); first != 0 || !open {
		t.Errorf("with the marker above the high watermark the first that is open begins at %d (%t)", first, open)
	}
	for start, want := range map[kafka.Offset]kafka.Offset{0: 0, 1: 1, 2: 3, 4: 7, 8: 8} {
		if left := l.look().firstLeft(5, 0, start); left != want {
			t.Errorf("of what is open below offset 5 the first record left from %d on is at %d, want %d", start, left, want)
		}
	}
	if _, err := l.log.TruncateTo(5); err != nil {
		t.Fatal(err)
	}
	is("1 0..3→open, 2 2..2→4 commit=false")
	if _, err := l.log.TruncateTo(3); err != nil {
		t.Fatal(err)
	}
	is("1 0..1→open, 2 2..2→open")
	if len(l.k.out) > 0 {
		t.Errorf("%v", l.k.out)
	}
}

// A reader of committed records is held to what the log has.
func TestCommittedReads(t *testing.T) {
	l := newTxnLog(t)
	l.writes(1, 0, 2)
	l.ends(1, 0, record.Commit) // 2
	l.writes(1, 0, 3)
	l.ends(1, 0, record.Abort) // 6
	l.writes(1, 0, 1)
	l.look()
	for _, tc := range []struct {
		from, to         kafka.Offset
		records, aborted int
		wrong            bool
	}{
		{0, 3, 2, 0, false}, {0, 7, 2, 3, false}, {1, 5, 1, 2, false}, {3, 3, 0, 0, false},
		{0, 3, 1, 0, true}, {0, 7, 5, 0, true}, {0, 7, 2, 2, true}, {0, 8, 3, 3, true}, {7, 8, 1, 0, true},
	} {
		l.k.out = nil
		l.k.checkRead("c0", journal.RecordsRead{TopicPartition: orders0, From: tc.from, To: tc.to, Records: tc.records, Aborted: tc.aborted})
		if (len(l.k.out) == 1) != tc.wrong {
			t.Errorf("%+v: %v", tc, l.k.out)
		}
	}
}

// A leader that does not know that it is none commits what its successor's log has otherwise, and readers get it, after an
// unclean election alone: as long as it stands in the old log, and when that was cut.
func TestReadsFromADeposedLeader(t *testing.T) {
	for _, tc := range []struct {
		what           string
		unclean, cut   bool
		records, wrong int
	}{
		{"still in the old log", true, false, 1, 0},
		{"cut off since", true, true, 1, 0},
		{"in neither log", true, false, 2, 1},
		{"without an unclean election", false, false, 1, 1},
		{"without an unclean election, and cut off", false, true, 1, 1},
	} {
		l, next := newTxnLog(t), newTxnLog(t)
		p := l.k.of(orders0)
		p.isUnclean, p.disturbed = tc.unclean, tc.unclean
		l.append(record.Options{}, 1)
		l.look()
		l.k.takeEvents(&Observation{Journal: journalOf("b1", journal.HighWatermarkAdvanced{TopicPartition: orders0, To: 1})})
		next.ends(1, 1, record.Abort)
		l.k.brokers[2] = &brokerSeen{}
		l.k.follow(p, 2, p.replicaOf(2), &ReplicaState{TopicPartition: orders0, Open: true, LogEndOffset: 1, Segments: next.log.Segments()})
		p.state.Leader = 2
		if tc.cut {
			l.k.takeUpkeep(journal.Event{Node: "b1", Body: journal.LogTruncated{TopicPartition: orders0, From: 1}})
			p.replicaOf(1).forget(0)
		}
		l.k.checkRead("c0", journal.RecordsRead{TopicPartition: orders0, To: 1, Records: tc.records})
		if len(l.k.out) != tc.wrong {
			t.Errorf("%s: %v, want %d violations", tc.what, l.k.out, tc.wrong)
		}
	}
}

// journalOf is a journal with what one node told.
func journalOf(node kafka.NodeID, bodies ...journal.Body) *journal.Journal {
	j := new(journal.Journal)
	for _, b := range bodies {
		j.Append(node, 0, b)
	}
	return j
}

// A marker that comes again does no harm; one that ends records of the next transaction, or ends a transaction otherwise
// than was decided, is found.
func TestMarkersOfDecisions(t *testing.T) {
	for _, tc := range []struct {
		what    string
		play    func(l *txnLog)
		highest kafka.Offset // high watermark
		wanted  Invariant    // empty: nothing is found
	}{
		{"as decided", func(l *txnLog) { l.ends(1, 1, record.Commit) }, 3, ""},
		{"not replicated", func(l *txnLog) { l.ends(1, 1, record.Commit) }, 2, AllOrNothing},
		{"twice", func(l *txnLog) { l.ends(1, 1, record.Commit); l.ends(1, 1, record.Commit) }, 4, ""},
		{"twice, the second not replicated", func(l *txnLog) { l.ends(1, 1, record.Commit); l.ends(1, 1, record.Commit) }, 3, ""},
		{"aborted", func(l *txnLog) { l.ends(1, 1, record.Abort) }, 3, AllOrNothing},
		{"of an earlier epoch", func(l *txnLog) { l.ends(1, 0, record.Commit) }, 3, AllOrNothing},
		{"not written", func(*txnLog) {}, 2, AllOrNothing},
	} {
		l := newTxnLog(t)
		seen := &transactionSeen{
			id: "t", partition: kafka.TopicPartition{Topic: txn.Topic}, states: map[kafka.NodeID]txn.State{}, owners: map[coordinator.Producer]process{},
			processes: map[kafka.NodeID]int{}, begun: map[kafka.NodeID]coordinator.Producer{}, added: map[kafka.TopicPartition]bool{orders0: true},
		}
		l.k.transactions["t"], l.k.producers[1] = seen, seen
		l.k.of(seen.partition).state.Leader = 1
		l.writes(1, 0, 2)
		l.k.decide(seen, decision{commit: true, data: coordinator.Producer{ID: 1}, marker: 1}, true)
		l.k.takeQueued(seen, "b1", journal.TransactionMarkersQueued{TransactionalID: "t", Marker: "COMMIT", ProducerID: 1, ProducerEpoch: 1, TransactionVersion: 2, Partitions: []kafka.TopicPartition{orders0}})
		tc.play(l)
		for _, b := range l.look().batches {
			l.k.checkAppended(&Observation{}, "b1", journal.BatchAppended{TopicPartition: orders0, BaseOffset: b.base, LastOffset: b.last})
		}
		l.k.of(orders0).highest = tc.highest
		l.k.checkComplete(seen, "b1", journal.TransactionCompleted{TransactionalID: "t", To: "CompleteCommit"})
		if tc.wanted == "" && len(l.k.out) > 0 || tc.wanted != "" && (len(l.k.out) == 0 || l.k.out[0].Invariant != tc.wanted) {
			t.Errorf("%s: %v", tc.what, l.k.out)
		}
	}
}

// An abort without partitions has no markers of which a coordinator could tell. If the one that has taken it is deposed before
// it tells, the log alone knows.
func TestEmptyAbortIsKnownFromTheLog(t *testing.T) {
	for _, tc := range []struct {
		what   string
		states []txn.Value // in the log
		wanted Invariant   // of what the producer was told; empty: nothing is found
	}{
		{"in the log", []txn.Value{{State: txn.PrepareAbort, ProducerEpoch: 4}, {State: txn.CompleteAbort, ProducerEpoch: 4}}, ""},
		{"written again by the next one", []txn.Value{{State: txn.PrepareAbort, ProducerEpoch: 4}, {State: txn.CompleteAbort, ProducerEpoch: 4}, {State: txn.CompleteAbort, ProducerEpoch: 4}}, ""},
		{"not complete", []txn.Value{{State: txn.PrepareAbort, ProducerEpoch: 4}}, EndsAsTold},
		{"with partitions", []txn.Value{{State: txn.PrepareAbort, ProducerEpoch: 4, Partitions: []kafka.TopicPartition{orders0}}, {State: txn.CompleteAbort, ProducerEpoch: 4}}, EndsAsTold},
		{"of another epoch", []txn.Value{{State: txn.PrepareAbort, ProducerEpoch: 3}, {State: txn.CompleteAbort, ProducerEpoch: 3}}, EndsAsTold},
		{"an earlier one, before a commit", []txn.Value{{State: txn.PrepareAbort, ProducerEpoch: 3}, {State: txn.CompleteAbort, ProducerEpoch: 3}, {State: txn.PrepareCommit, ProducerEpoch: 4}, {State: txn.CompleteCommit, ProducerEpoch: 4}}, EndsAsTold},
	} {
		l := newTxnLog(t)
		seen := &transactionSeen{
			id: "t", partition: kafka.TopicPartition{Topic: txn.Topic}, owners: map[coordinator.Producer]process{}, processes: map[kafka.NodeID]int{"p0": 1},
			begun: map[kafka.NodeID]coordinator.Producer{"p0": {ID: 7, Epoch: 3}}, added: map[kafka.TopicPartition]bool{},
		}
		l.k.transactions["t"] = seen
		for _, v := range tc.states {
			v.Version, v.TransactionalID, v.ProducerID = 1, "t", 7
			one := v.Encode()
			b := record.NewBuilder(record.Options{})
			b.Append(1000, one.Key, one.Value)
			bytes, err := b.Build()
			if err != nil {
				t.Fatal(err)
			}
			l.k.takeStates(&batchSeen{bytes: bytes})
		}
		l.k.checkTold(seen, "p0", journal.ProducerTransactionEnded{TransactionalID: "t", Number: 1})
		if tc.wanted == "" && len(l.k.out) > 0 || tc.wanted != "" && (len(l.k.out) == 0 || l.k.out[0].Invariant != tc.wanted) {
			t.Errorf("%s: %v, want %q", tc.what, l.k.out, tc.wanted)
		}
	}
}

// A coordinator acts on all of its log. If the next one has less, nothing is sure of what it keeps.
func TestUnsureAfterACoordinatorWithLess(t *testing.T) {
	states := kafka.TopicPartition{Topic: txn.Topic, Partition: 46}
	for _, tc := range []struct {
		ends   []kafka.Offset // of the logs of its coordinators, when they load them
		unsure bool
	}{{[]kafka.Offset{71, 70}, true}, {[]kafka.Offset{71, 71, 80}, false}, {[]kafka.Offset{71, 80, 72}, true}, {[]kafka.Offset{71}, false}} {
		k := Checker{partitions: map[kafka.TopicPartition]*partitionSeen{}, brokers: map[kafka.BrokerID]*brokerSeen{}}
		j := new(journal.Journal)
		for _, end := range tc.ends {
			j.Append("b1", 0, journal.CoordinatorElected{TopicPartition: states, LogEndOffset: end})
			j.Append("b1", 0, journal.CoordinatorElected{TopicPartition: kafka.TopicPartition{Topic: kafka.OffsetsTopic}, LogEndOffset: end})
		}
		k.takeEvents(&Observation{Journal: j})
		if k.Unsure(states) != tc.unsure || k.Unsure(kafka.TopicPartition{Topic: kafka.OffsetsTopic}) {
			t.Errorf("logs that end at %d: unsure %t, want %t", tc.ends, k.Unsure(states), tc.unsure)
		}
	}
}

// What a deposed leader has appended may be cut off before it is looked at, and what its successor wrote stand in its place.
func TestAnotherLeadersBatchIsNotTheOneAppended(t *testing.T) {
	for leader, wrong := range map[kafka.BrokerID]int{1: 1, 2: 0} {
		l := newTxnLog(t)
		l.ends(1, 1, record.Commit) // of a producer id that no coordinator knows
		l.look()
		l.k.leads(l.k.of(orders0), 0, leader, "test")
		l.k.checkAppended(&Observation{}, "b1", journal.BatchAppended{TopicPartition: orders0})
		if len(l.k.out) != wrong {
			t.Errorf("broker 1 has appended a batch, and broker %d led in its epoch: %v", leader, l.k.out)
		}
	}
}

// An eligible replica may have decided otherwise in the past.
func TestUnsureAfterAnEligibleReplica(t *testing.T) {
	states := kafka.TopicPartition{Topic: txn.Topic, Partition: 46}
	for _, tc := range []struct {
		isr, elr []kafka.BrokerID
		unsure   bool
	}{{[]kafka.BrokerID{3}, nil, false}, {nil, []kafka.BrokerID{3}, true}} {
		k := Checker{partitions: map[kafka.TopicPartition]*partitionSeen{}, brokers: map[kafka.BrokerID]*brokerSeen{}}
		k.takeElection(&Observation{}, journal.LeaderElected{TopicPartition: states, To: 3, ISRBefore: tc.isr, ELRBefore: tc.elr})
		if k.Unsure(states) != tc.unsure {
			t.Errorf("in-sync replicas %d, eligible %d, elected 3: unsure %t", tc.isr, tc.elr, k.Unsure(states))
		}
	}
}

// What a coordinator tells after it was deposed is late if a later one has decided, or has told of the same. Who came before it
// says nothing, though it may coordinate again.
func TestLateIsWhatALaterCoordinatorHasDecided(t *testing.T) {
	const firstLeads, secondLeads = 1, 2 // brokers; b1 coordinates in epochs 0 and 2, b2 in epoch 1
	commits := decision{commit: true, data: coordinator.Producer{ID: 7, Epoch: 1}, marker: 1}
	aborts := decision{data: coordinator.Producer{ID: 7, Epoch: 1}, marker: 1}
	for _, tc := range []struct {
		what   string
		last   decision
		by     kafka.LeaderEpoch // that took the last
		node   kafka.NodeID      // tells now
		tells  decision
		in     kafka.LeaderEpoch // of that node, as it was elected last
		leader kafka.BrokerID    // as the controller has it, in epoch 2
		late   bool
	}{
		{"the one that coordinates", commits, 1, "b1", aborts, 2, firstLeads, false},
		{"a deposed one, after a decision of the one before it", commits, 0, "b2", aborts, 1, firstLeads, false},
		{"a deposed one, of what the one before it has decided", commits, 0, "b2", commits, 1, firstLeads, true},
		{"a deposed one, after a decision of its own", commits, 1, "b2", aborts, 1, firstLeads, false},
		{"a deposed one, after a decision of the next", commits, 2, "b2", aborts, 1, firstLeads, true},
		{"one that is to coordinate again and does not know, after a decision of the one between", commits, 1, "b1", aborts, 0, firstLeads, true},
		{"a deposed one, after a decision of one between", commits, 1, "b1", aborts, 0, secondLeads, true},
	} {
		l := newTxnLog(t)
		seen := &transactionSeen{id: "t", partition: kafka.TopicPartition{Topic: txn.Topic}, added: map[kafka.TopicPartition]bool{}}
		p := l.k.of(seen.partition)
		p.state.Leader, p.state.LeaderEpoch = tc.leader, 2
		p.elected[tc.node] = tc.in
		last := tc.last
		last.by, last.written = tc.by, true
		seen.decisions = []*decision{&last}
		tells := tc.tells
		tells.by = tc.in
		if late := l.k.isLate(seen, tc.node, &tells); late != tc.late {
			t.Errorf("%s: late %t, want %t", tc.what, late, tc.late)
		}
	}
}
