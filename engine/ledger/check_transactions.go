package ledger

import (
	"fmt"
	"maps"
	"slices"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/txn"
)

// TransactionState is a transactional.id of the run, as a checker sees it.
type TransactionState struct {
	ID        string
	Partition kafka.TopicPartition // of __transaction_state, that keeps it
}

// transactionSeen is what is remembered of a transactional.id.
type transactionSeen struct {
	id        string
	partition kafka.TopicPartition
	states    map[kafka.NodeID]txn.State            // as each coordinator told last
	given     coordinator.Producer                  // the latest that a producer that began was given
	owners    map[coordinator.Producer]process      // that were given a producer id and epoch
	processes map[kafka.NodeID]int                  // of each producer, that have begun
	begun     map[kafka.NodeID]coordinator.Producer // by each producer, its last transaction
	added     map[kafka.TopicPartition]bool         // to the transaction, and its end has not come there
	// emptyAbort is what was last decided in the log if that is an abort without partitions, else nil: who reads it there
	// tells of no markers.
	emptyAbort *decision
	decisions  []*decision // in order
}

// process is one process of a producer.
type process struct {
	node   kafka.NodeID
	number int
}

// decision is the end of a transaction, as the coordinator has decided it.
type decision struct {
	by       kafka.LeaderEpoch // of the coordinator that told of it first
	commit   bool
	data     coordinator.Producer                  // of the transaction's records
	marker   kafka.ProducerEpoch                   // of its markers
	markers  map[kafka.TopicPartition]kafka.Offset // the last marker in each partition; kafka.NoOffset: none yet
	tick     kafka.Tick                            // when it was seen first
	complete bool                                  // it was told
	written  bool                                  // that it is complete stands in the log, told or not
	toldTo   kafka.NodeID                          // the producer that was told of its commit
	number   int                                   // which transaction it was for that
}

// last gives the last decision, nil for none.
func (t *transactionSeen) last() *decision {
	if len(t.decisions) == 0 {
		return nil
	}
	return t.decisions[len(t.decisions)-1]
}

// startsFrom lists the states from which a transaction can come to each.
//
// Source: TransactionState.VALID_PREVIOUS_STATES.
var startsFrom = map[txn.State][]txn.State{
	txn.Empty:          {txn.Empty, txn.CompleteCommit, txn.CompleteAbort},
	txn.Ongoing:        {txn.Ongoing, txn.Empty, txn.CompleteCommit, txn.CompleteAbort},
	txn.PrepareCommit:  {txn.Ongoing},
	txn.PrepareAbort:   {txn.Ongoing, txn.Empty, txn.CompleteCommit, txn.CompleteAbort},
	txn.CompleteCommit: {txn.PrepareCommit},
	txn.CompleteAbort:  {txn.PrepareAbort},
}

// takeTransactionEvent keeps what is about transactions until the logs are known.
func (k *Checker) takeTransactionEvent(e journal.Event) {
	switch e.Body.(type) {
	case journal.TransactionalIDInitialised, journal.PartitionsAddedToTransaction, journal.TransactionStateChanged, journal.TransactionMarkersQueued, journal.TransactionCompleted,
		journal.TransactionalIDExpired, journal.TransactionsLoaded, journal.TransactionsReady, journal.ProducerTransactionBegun, journal.ProducerTransactionEnded,
		journal.CoordinatorElected, journal.BatchAppended, journal.RecordsRead:
		k.transacted = append(k.transacted, e)
	}
}

// checkTransactions goes through what happened since the last observation, in order, with the logs as they are now.
func (k *Checker) checkTransactions(o *Observation) {
	for i := range o.Transactions {
		if t := &o.Transactions[i]; k.transactions[t.ID] == nil {
			if k.transactions == nil {
				k.transactions, k.producers = map[string]*transactionSeen{}, map[kafka.ProducerID]*transactionSeen{}
			}
			k.transactions[t.ID] = &transactionSeen{
				id: t.ID, partition: t.Partition, states: map[kafka.NodeID]txn.State{}, owners: map[coordinator.Producer]process{}, processes: map[kafka.NodeID]int{},
				begun: map[kafka.NodeID]coordinator.Producer{}, added: map[kafka.TopicPartition]bool{}, given: coordinator.Producer{ID: -1, Epoch: -1},
			}
		}
	}
	for _, e := range k.transacted {
		k.checkTransactionEvent(o, e)
	}
	k.transacted = k.transacted[:0]
}

// unsure says whether the partition of a transactional.id has lost what was committed, or may have: then nothing holds.
func (k *Checker) unsure(t *transactionSeen) bool {
	return k.Unsure(t.partition)
}

// transaction gives what is remembered of a transactional.id; nil: nothing holds of it.
func (k *Checker) transaction(id string) *transactionSeen {
	if t := k.transactions[id]; t != nil && !k.unsure(t) {
		return t
	}
	return nil
}

func (k *Checker) checkTransactionEvent(o *Observation, e journal.Event) {
	switch body := e.Body.(type) {
	case journal.TransactionalIDInitialised:
		k.producers[body.ProducerID] = k.transactions[body.TransactionalID]
		if t := k.transaction(body.TransactionalID); t != nil {
			k.checkMove(t, e.Node, body.From, txn.Empty)
			t.given = coordinator.Producer{ID: body.ProducerID, Epoch: body.ProducerEpoch}
		}
	case journal.PartitionsAddedToTransaction:
		if t := k.transaction(body.TransactionalID); t != nil {
			k.checkMove(t, e.Node, body.From, txn.Ongoing)
		}
	case journal.TransactionStateChanged:
		if t := k.transaction(body.TransactionalID); t != nil {
			k.checkMove(t, e.Node, body.From, txn.State(body.To))
			d := decision{
				by: k.of(t.partition).elected[e.Node], commit: body.To == string(txn.PrepareCommit), data: coordinator.Producer{ID: body.ProducerID, Epoch: body.OldProducerEpoch}, marker: body.ProducerEpoch,
			}
			if !k.isLate(t, e.Node, &d) {
				k.decide(t, d, true)
			}
		}
	case journal.TransactionMarkersQueued:
		if t := k.transaction(body.TransactionalID); t != nil {
			k.takeQueued(t, e.Node, body)
		}
	case journal.TransactionCompleted:
		if t := k.transaction(body.TransactionalID); t != nil {
			k.checkMove(t, e.Node, body.From, txn.State(body.To))
			k.checkComplete(t, e.Node, body)
		}
	case journal.CoordinatorElected:
		k.of(body.TopicPartition).elected[e.Node] = body.LeaderEpoch
	case journal.TransactionalIDExpired:
		if t := k.transactions[body.TransactionalID]; t != nil {
			delete(t.states, e.Node)
		}
	case journal.TransactionsLoaded:
		for _, t := range k.transactions { // each by itself: the order does not matter
			delete(t.states, e.Node)
		}
	case journal.TransactionsReady:
		if t := k.transaction(body.TransactionalID); t != nil {
			if !body.Raised {
				t.processes[e.Node]++
			}
			k.checkOwner(t, e.Node, coordinator.Producer{ID: body.ProducerID, Epoch: body.ProducerEpoch})
		}
	case journal.ProducerTransactionBegun:
		if t := k.transaction(body.TransactionalID); t != nil {
			t.begun[e.Node] = coordinator.Producer{ID: body.ProducerID, Epoch: body.ProducerEpoch}
		}
	case journal.ProducerTransactionEnded:
		if t := k.transaction(body.TransactionalID); t != nil && !body.Untold {
			k.checkTold(t, e.Node, body)
		}
	case journal.BatchAppended:
		k.checkAppended(o, e.Node, body)
	case journal.RecordsRead:
		if o.ReadsCommitted(e.Node) {
			k.checkRead(e.Node, body)
		}
	}
}

// checkMove looks at one step of a transactional.id at a coordinator.
func (k *Checker) checkMove(t *transactionSeen, node kafka.NodeID, from string, to txn.State) {
	if told, known := t.states[node]; known && string(told) != from {
		k.violated(TransactionStates, t.partition, "%s moves %s from %s to %s; before it was in state %s there", node, t.id, from, to, told)
	} else if !slices.Contains(startsFrom[to], txn.State(from)) {
		k.violated(TransactionStates, t.partition, "%s moves %s from %s to %s", node, t.id, from, to)
	}
	t.states[node] = to
}

// checkOwner looks whether a producer id and epoch are given to one process alone.
func (k *Checker) checkOwner(t *transactionSeen, node kafka.NodeID, p coordinator.Producer) {
	now := process{node, t.processes[node]}
	if had, given := t.owners[p]; given && had != now {
		k.violated(OneProducerAnEpoch, t.partition, "process %d of %s has producer id %d and epoch %d of %s, which process %d of %s was given", now.number, node, p.ID, p.Epoch, t.id, had.number, had.node)
	}
	t.owners[p] = now
}

// decide takes a decision in; fresh says that a producer or a timeout has just asked for it. One that stands cannot be taken
// back, and whoever was fenced commits nothing.
func (k *Checker) decide(t *transactionSeen, d decision, fresh bool) {
	if last := t.last(); last != nil && !last.complete {
		if d.isAs(last) && !(last.written && (fresh || len(t.added) > 0)) {
			return // by the next coordinator again; of version 1 the next transaction can have the same epoch, and has begun then
		}
		if !last.written {
			k.violated(AllOrNothing, t.partition, "%s is to end with commit=%t, producer id %d and epoch %d, before it was with commit=%t, producer id %d and epoch %d",
				t.id, d.commit, d.data.ID, d.marker, last.commit, last.data.ID, last.marker)
		}
	}
	if d.commit && t.given.ID == d.data.ID && t.given.Epoch > d.data.Epoch {
		k.violated(FencedStayOut, t.partition, "%s commits with producer id %d and epoch %d; the producer that began last was given epoch %d", t.id, d.data.ID, d.data.Epoch, t.given.Epoch)
	}
	d.markers, d.tick = map[kafka.TopicPartition]kafka.Offset{}, k.tick
	t.decisions = append(t.decisions, &d)
	k.producers[d.data.ID] = t
}

// isAs says whether another decision ends a transaction in the same way.
func (d *decision) isAs(other *decision) bool {
	return other.marker == d.marker && other.commit == d.commit && other.data.ID == d.data.ID
}

// coordinates says whether a node coordinates a transactional.id in the epoch that the controller has.
func (k *Checker) coordinates(t *transactionSeen, node kafka.NodeID) bool {
	p := k.of(t.partition)
	return k.idOf(node) == p.state.Leader && p.elected[node] == p.state.LeaderEpoch
}

// isLate says whether a decision is word of a coordinator that is none any more, as the controller has it, of what the next one
// has told already: it can learn late that what it had written is on every in-sync replica. The epoch of a producer of version
// 1 stays, so that its decisions are told apart by who took them, and by whether a transaction has begun since. Once a
// later coordinator has decided anything, all that the earlier one tells is late.
func (k *Checker) isLate(t *transactionSeen, node kafka.NodeID, d *decision) bool {
	if k.coordinates(t, node) {
		return false
	}
	if d.marker != d.data.Epoch {
		return slices.ContainsFunc(t.decisions, d.isAs)
	}
	last := t.last()
	return last != nil && (last.by > d.by || last.by < d.by && d.isAs(last) && len(t.added) == 0)
}

// takeQueued learns where a decision needs markers. One of which no coordinator has told before stood in the log of the one
// that asks.
func (k *Checker) takeQueued(t *transactionSeen, node kafka.NodeID, body journal.TransactionMarkersQueued) {
	d := decision{by: k.of(t.partition).elected[node], commit: body.Marker == record.Commit.String(), data: coordinator.Producer{ID: body.ProducerID, Epoch: body.ProducerEpoch}, marker: body.ProducerEpoch}
	if body.TransactionVersion >= 2 {
		d.data.Epoch--
	}
	if k.isLate(t, node, &d) {
		return
	}
	k.decide(t, d, false)
	for _, tp := range body.Partitions {
		if _, known := t.last().markers[tp]; !known {
			t.last().markers[tp] = kafka.NoOffset
		}
	}
}

// checkComplete looks whether each partition of a transaction has its marker when it is told to be complete.
func (k *Checker) checkComplete(t *transactionSeen, node kafka.NodeID, body journal.TransactionCompleted) {
	told := func(d *decision) bool {
		return d.written && d.commit == (body.To == string(txn.CompleteCommit)) && d.data.ID == body.OldProducerID && d.marker == body.ProducerEpoch
	}
	if !k.coordinates(t, node) && slices.ContainsFunc(t.decisions, told) {
		return // late, as with isLate
	}
	d := t.last()
	if d == nil || d.complete || d.commit != (body.To == string(txn.CompleteCommit)) {
		k.violated(AllOrNothing, t.partition, "%s comes to %s, which was not decided", t.id, body.To)
		return
	}
	d.complete = true
	for _, tp := range slices.SortedFunc(maps.Keys(d.markers), kafka.TopicPartition.Compare) {
		switch p, at := k.of(tp), d.markers[tp]; {
		case p.lost, p.hasUnseen && p.unseen >= d.tick:
		case at == kafka.NoOffset:
			k.violated(AllOrNothing, tp, "%s is in state %s, and no marker of producer id %d and epoch %d was written here", t.id, body.To, d.data.ID, d.marker)
		case at >= p.highest:
			k.violated(AllOrNothing, tp, "%s is in state %s, and the marker at offset %d is not below the high watermark %d", t.id, body.To, at, p.highest)
		}
	}
}

// checkTold looks whether a transaction ends as its producer was told. Only of a commit is it one decision for one
// transaction: a producer of version 1 that aborts what the coordinator does not know of is told of the abort before.
func (k *Checker) checkTold(t *transactionSeen, node kafka.NodeID, body journal.ProducerTransactionEnded) {
	began := t.begun[node]
	var of *decision
	for _, d := range t.decisions {
		if d.data == began {
			of = d
		}
	}
	switch {
	case of == nil:
		k.violated(EndsAsTold, t.partition, "%s was told that its transaction %d, of producer id %d and epoch %d, has ended, which no coordinator decided", node, body.Number, began.ID, began.Epoch)
	case of.commit != body.Commit:
		k.violated(EndsAsTold, t.partition, "%s was told commit=%t of its transaction %d, of producer id %d and epoch %d; the coordinator decided otherwise", node, body.Commit, body.Number, began.ID, began.Epoch)
	case of.commit && of.toldTo != "" && (of.toldTo != node || of.number != body.Number):
		k.violated(EndsAsTold, t.partition, "%s was told that its transaction %d is committed; that was decided for transaction %d of %s", node, body.Number, of.number, of.toldTo)
	}
	if of != nil && of.commit {
		of.toldTo, of.number = node, body.Number
	}
	if body.Raised {
		k.checkOwner(t, node, coordinator.Producer{ID: body.ProducerID, Epoch: body.ProducerEpoch})
	}
}

// checkAppended looks at what a leader or a coordinator has appended. What is not there any more was cut off in the same
// tick, and another leader's may stand in its place, or cleaned; of the last batch of a producer cleaning leaves one without
// records.
func (k *Checker) checkAppended(o *Observation, node kafka.NodeID, body journal.BatchAppended) {
	id, _ := k.brokerOf(node)
	p := k.partitions[body.TopicPartition]
	if p == nil || p.lost && p.tp.Topic != txn.Topic {
		return
	}
	r := p.replicas[id]
	if r == nil {
		return
	}
	at := r.find(body.BaseOffset)
	if at == len(r.batches) || r.batches[at].base != body.BaseOffset || r.batches[at].records == 0 || !p.ledIn(r.batches[at].leaderEpoch(), id) {
		p.unseen, p.hasUnseen = k.tick, true
		return
	}
	switch b := &r.batches[at]; {
	case p.tp.Topic == txn.Topic:
		k.takeStates(b)
	case !b.transactional:
	case b.isMarker:
		k.checkMarker(o, p, r, at)
	default:
		k.checkTransactional(p, r, at)
	}
}

// takeStates reads what a coordinator writes of its transactions.
func (k *Checker) takeStates(b *batchSeen) {
	batch, err := record.Parse(b.bytes)
	if err != nil {
		return
	}
	for scan := batch.Scan(); scan.Next(); {
		id, err := txn.DecodeKey(scan.Record().Key)
		t := k.transactions[id]
		if err != nil || t == nil {
			continue
		}
		value, err := txn.DecodeValue(id, scan.Record().Value)
		if err != nil {
			continue
		}
		k.producers[value.ProducerID] = t
		last := t.last()
		switch value.State {
		case txn.Ongoing:
			t.emptyAbort = nil
			for _, tp := range value.Partitions {
				t.added[tp] = true
			}
		case txn.PrepareCommit:
			t.emptyAbort = nil
		case txn.PrepareAbort:
			t.emptyAbort = nil
			if len(value.Partitions) == 0 {
				t.emptyAbort = &decision{data: coordinator.Producer{ID: value.ProducerID, Epoch: value.ProducerEpoch - 1}, marker: value.ProducerEpoch, written: true}
			}
		case txn.CompleteCommit, txn.CompleteAbort:
			if untold := t.emptyAbort; untold != nil && (last == nil || last.written && !last.isAs(untold)) {
				t.decisions = append(t.decisions, untold)
			} else if last != nil {
				last.written = true
			}
		}
	}
}

// checkMarker looks whether a marker ends a transaction as it was decided. One that ends nothing does no harm: it is one
// that was sent again.
func (k *Checker) checkMarker(o *Observation, p *partitionSeen, r *replicaSeen, at int) {
	b := &r.batches[at]
	t := k.producers[b.producer]
	if t == nil {
		k.violated(AllOrNothing, p.tp, "a marker of producer id %d stands at offset %d, which no coordinator knows", b.producer, b.base)
		return
	}
	if k.unsure(t) {
		return
	}
	d := t.last()
	meant := d != nil && d.data.ID == b.producer && d.marker == b.epoch && d.commit == b.marker.commit
	if b.span != noSpan && (!meant || d.complete) {
		if b.leaderEpoch() < p.state.LeaderEpoch {
			return // in the log of a leader that does not know yet that it is none
		}
		k.violated(AllOrNothing, p.tp, "the marker at offset %d with commit=%t, producer id %d and epoch %d ends the transaction of %s that begins at %d; that was not decided",
			b.base, b.marker.commit, b.producer, b.epoch, t.id, r.spans[b.span].first)
		return
	}
	if !meant || d.complete {
		return
	}
	if known, ok := d.markers[p.tp]; ok && known != kafka.NoOffset && b.leaderEpoch() < p.state.LeaderEpoch {
		return // by a leader that does not know yet that it is none, of what stands in the log of the next one
	}
	if !r.hasMarker(d.markers[p.tp], b) {
		d.markers[p.tp] = b.base
	}
	delete(t.added, p.tp)
	if b.span == noSpan || !d.commit {
		return
	}
	for i := r.find(r.spans[b.span].first); i < at; i++ {
		if other := &r.batches[i]; other.span == b.span && other.epoch != d.data.Epoch {
			k.violated(FencedStayOut, p.tp, "the batch at offset %d of producer id %d has epoch %d, and is committed with those of epoch %d", other.base, other.producer, other.epoch, d.data.Epoch)
		}
	}
	k.checkOutputs(o, p, r, at)
}

// hasMarker says whether a marker of the same end stands at an offset already: one that was sent again comes behind it.
func (r *replicaSeen) hasMarker(offset kafka.Offset, as *batchSeen) bool {
	at := r.find(offset)
	if offset == kafka.NoOffset || at == len(r.batches) {
		return false
	}
	b := &r.batches[at]
	return b.base == offset && b.isMarker && b.producer == as.producer && b.epoch == as.epoch && b.marker.commit == as.marker.commit
}

// checkTransactional looks at a batch of a transaction: its producer is not fenced here, and if it is the first one, the
// coordinator knows of the partition.
func (k *Checker) checkTransactional(p *partitionSeen, r *replicaSeen, at int) {
	b := &r.batches[at]
	for i := at - 1; i >= 0; i-- {
		if before := &r.batches[i]; before.producer == b.producer {
			if before.epoch > b.epoch && before.base >= max(p.cleaned, p.start) {
				k.violated(FencedStayOut, p.tp, "the batch at offset %d of producer id %d has epoch %d, after epoch %d at offset %d", b.base, b.producer, b.epoch, before.epoch, before.base)
				return
			}
			break
		}
	}
	t := k.producers[b.producer]
	if t != nil && k.unsure(t) || b.leaderEpoch() < p.state.LeaderEpoch { // of a leader that is none any more nothing will stay
		return
	}
	if first := r.spans[b.span].first == b.base; first && (t == nil || !t.added[p.tp]) {
		k.violated(TransactionsKnown, p.tp, "a transaction of producer id %d, epoch %d, begins at offset %d, and no coordinator has added the partition", b.producer, b.epoch, b.base)
	}
}

// checkRead looks at what a reader of committed records was given: all records of committed transactions and of none, and
// nothing behind the first record of one that is open. What was cleaned, deleted or cut off since it was read cannot be judged.
// Once an election was unclean or a disk lost data, it may have been read from a leader that does not know yet that it is none.
func (k *Checker) checkRead(node kafka.NodeID, body journal.RecordsRead) {
	p := k.of(body.TopicPartition)
	if body.To <= body.From || p.lost || p.over(body.From) || p.gone.overlap(body.From, body.To) {
		return
	}
	r, _, found := p.at(body.To - 1)
	if !found {
		return
	}
	wrong := p.misread(r, body)
	if wrong == "" {
		return
	}
	if p.disturbed {
		for _, other := range p.replicas { // the order does not matter
			if other.end() >= body.To && p.misread(other, body) == "" {
				return
			}
		}
	}
	k.violated(CommittedOnly, p.tp, "%s has read %s", node, wrong)
}

// misread says what is wrong with what a reader of committed records was given of a log; empty: nothing.
func (p *partitionSeen) misread(r *replicaSeen, body journal.RecordsRead) (wrong string) {
	if first, open := r.firstOpen(p.sure(), p.start); open && first < body.To {
		if body.To > p.stable { // else the only replica lost its marker since it was read, with the power
			return fmt.Sprintf("up to offset %d; a transaction that begins at %d is open", body.To, first)
		}
		return ""
	}
	given, aborted := 0, 0
	for i := r.find(body.From); i < len(r.batches) && r.batches[i].base < body.To; i++ {
		b := &r.batches[i]
		records := int(min(b.last+1, body.To) - max(b.base, body.From))
		switch {
		case b.isMarker:
		case r.isCommitted(b):
			given += records
		default:
			aborted += records
		}
	}
	if given != body.Records || aborted != body.Aborted {
		return fmt.Sprintf("from offset %d to %d: %d records, and skipped %d as aborted; there are %d to be read and %d aborted ones", body.From, body.To, body.Records, body.Aborted, given, aborted)
	}
	return ""
}

// checkStable looks at a replica's last stable offset. A broker does not know any more which transactions count as over only
// because their markers lay below its high watermark once, or because it has started since; and one whose log was cut behind
// its new start takes a transaction for one that begins with its first record that is left: as in Kafka.
func (k *Checker) checkStable(p *partitionSeen, id kafka.BrokerID, was *replicaSeen, now *ReplicaState) {
	if !was.open || k.brokers[id].started {
		was.settled = now.LogEndOffset
	}
	was.settled = max(was.settled, now.HighWatermark)
	least, most := now.HighWatermark, now.HighWatermark
	if first, open := was.firstOpen(now.HighWatermark, 0); open {
		least = min(least, max(first, now.LogStartOffset))
	}
	if first, open := was.firstOpen(was.settled, p.start); open {
		if first < now.LogStartOffset {
			first = was.firstLeft(was.settled, p.start, now.LogStartOffset)
		}
		most = min(most, first)
	}
	p.stable = max(p.stable, now.LastStableOffset)
	if stable := now.LastStableOffset; stable > most || stable < least && p.start == 0 && stable >= p.cleaned {
		k.violated(StableBelowMark, p.tp, "broker %d: the last stable offset is %d; by the log it is %d, with the high watermark %d", id, stable, most, now.HighWatermark)
	}
}
