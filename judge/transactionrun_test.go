//go:build judge

package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/record"
	"loglab/engine/storage"
)

// transactionRun drives our log as a broker does to which producers write transactions and coordinators their markers,
// and from which readers fetch what is committed.
type transactionRun struct {
	*replicaRun
	mark        kafka.Offset // the high watermark
	coordinator int32        // the epoch of the coordinator that writes markers
}

// newTransactionRun makes an empty log. All of its producers have transactions; some logs take no marker at all.
func newTransactionRun(rnd prng.Rand, dir string) *transactionRun {
	small := rnd.IntN(25) == 0
	noMarkers := func(c *storage.Config) {
		if small {
			c.MaxMessageBytes = 77
		}
	}
	r := &transactionRun{replicaRun: newReplicaRun(rnd, dir, noMarkers)}
	r.firstTransactional, r.markerIn = 0, 2
	r.coordinator = 2 // drawMarker gives a follower no newer one
	return r
}

// step does one thing to the log and compares what is known of it.
func (r *transactionRun) step() {
	r.now += kafka.Timestamp(r.rnd.IntN(r.pace))
	switch draw := r.rnd.IntN(40); {
	case draw < 11:
		r.produce()
	case draw < 18:
		r.endTransaction()
	case draw < 24:
		r.follow()
	case draw < 29:
		r.moveMark()
	case draw < 36:
		r.readCommitted()
	case draw < 38:
		r.lose("truncate", r.truncate)
	case draw < 39:
		r.lose("restart", r.restart)
	case r.rnd.IntN(4) == 0:
		r.restartAt()
		r.mark = r.log.LogStartOffset()
	default:
		r.becomeLeader(max(r.epoch, r.latestEpoch()) + 1)
	}
	r.lastStable()
	r.compareNamed("txnindexes", storage.TransactionIndexSuffix)
	r.state()
}

// produce appends as the leader.
func (r *transactionRun) produce() {
	r.lead()
	batch := r.drawBatch()
	parsed, err := record.Parse(batch)
	if err != nil {
		panic(err)
	}
	kind := "plain append"
	if parsed.Attributes.Transactional() {
		kind = "transactional append"
	}
	if r.append(batch) {
		r.done[kind]++
	} else {
		r.done[kind+" refused"]++
	}
}

// endTransaction appends a marker, mostly of a transaction that is open: of the producers 0 to 2, or of 3, which
// writes nothing. Its epoch is mostly that of the data or the next, its coordinator mostly the newest.
func (r *transactionRun) endTransaction() {
	r.lead()
	m := storage.TransactionMarker{
		EndTxnMarker:       record.EndTxnMarker{Type: record.ControlType(r.rnd.IntN(2)), CoordinatorEpoch: r.drawCoordinator()},
		ProducerID:         kafka.ProducerID(r.rnd.IntN(4)),
		TransactionVersion: int16(r.rnd.IntN(3)),
	}
	if open := slices.Sorted(maps.Keys(openTransactions(r.log))); len(open) > 0 && r.rnd.IntN(4) > 0 {
		m.ProducerID = open[r.rnd.IntN(len(open))]
	}
	for _, p := range r.log.Producers() {
		if p.ProducerID == m.ProducerID {
			m.ProducerEpoch = p.ProducerEpoch
		}
	}
	m.ProducerEpoch = max(0, m.ProducerEpoch+kafka.ProducerEpoch(r.oneOf(-1, 0, 0, 0, 1, 1, 1, 1, 2)))
	switch r.rnd.IntN(80) {
	case 0:
		m.ProducerID = -1
	case 1:
		m.ProducerEpoch = -1
	}
	appended, err := r.log.AppendEndTxnMarker(m, r.epoch, r.now)
	switch {
	case err != nil:
		r.done["marker refused, "+codeOf(err)]++
	case appended.Completed == nil:
		r.done["marker that ends nothing"]++
	default:
		r.done[fmt.Sprintf("%v of version %d", m.Type, m.TransactionVersion)]++
	}
	r.appended(appended, err, fmt.Sprintf("marker %v %d %d %d %d %d %d", m.Type, m.ProducerID, m.ProducerEpoch, m.CoordinatorEpoch,
		m.TransactionVersion, r.epoch, r.now))
}

// drawCoordinator is the epoch of the coordinator, which now and then is another one; seldom the one before.
func (r *transactionRun) drawCoordinator() int32 {
	if r.rnd.IntN(10) == 0 {
		r.coordinator++
	}
	return max(0, r.coordinator-int32(r.rnd.IntN(12)/11))
}

// moveMark moves the high watermark, mostly up by some batches, sometimes to the end or to anywhere.
func (r *transactionRun) moveMark() {
	before, bounds := r.mark, r.betweenBatches()
	slices.Sort(bounds)
	switch at, _ := slices.BinarySearch(bounds, r.mark); r.rnd.IntN(6) {
	case 0:
		r.mark = bounds[r.rnd.IntN(len(bounds))]
	case 1:
		r.mark = r.log.LogEndOffset()
	default:
		r.mark = bounds[min(at+r.rnd.IntN(5), len(bounds)-1)]
	}
	switch {
	case r.mark > before:
		r.done["high watermark up"]++
	case r.mark < before:
		r.done["high watermark down"]++
	}
}

// lastStable tells the log the high watermark and compares the last stable offset. Where a truncation or a gap has left
// no batch at the high watermark, it is at the next one, as Kafka moves it when it looks where that is.
func (r *transactionRun) lastStable() {
	next := r.log.LogEndOffset()
	for _, bound := range r.betweenBatches() {
		if bound >= r.mark {
			next = min(next, bound)
		}
	}
	r.mark = next
	r.log.OnHighWatermarkUpdated(r.mark)
	stable := r.log.LastStableOffset(r.mark)
	if stable < r.mark {
		kind := "last stable offset held by a marker that is not replicated"
		for _, first := range openTransactions(r.log) {
			if first == stable {
				kind = "last stable offset held by an open transaction"
			}
		}
		r.done[kind]++
	}
	r.note("last stable offset", fmt.Sprint(stable), "last-stable %d", r.mark)
}

// readCommitted fetches up to the last stable offset, sometimes from outside the log.
func (r *transactionRun) readCommitted() {
	start := r.log.LogStartOffset()
	stable := r.log.LastStableOffset(r.mark)
	from := start + kafka.Offset(r.rnd.IntN(int(stable-start)+1))
	if r.rnd.IntN(6) == 0 {
		from = max(0, start-1+kafka.Offset(r.rnd.IntN(int(r.log.LogEndOffset()-start)+3)))
	}
	maxBytes, minOneMessage := r.oneOf(0, 200, r.rnd.IntN(3000)), r.rnd.IntN(2) == 0
	read, err := r.log.Read(from, maxBytes, stable, minOneMessage)
	question := fmt.Sprintf("committed %d %d %d %t", from, maxBytes, r.mark, minOneMessage)
	if err != nil {
		r.note("committed read refused, "+codeOf(err), codeOf(err), "%s", question)
		return
	}
	aborted, err := r.log.AbortedTransactions(from, read)
	if err != nil {
		panic(err)
	}
	r.countRead(read, aborted)
	said := fmt.Sprintf("%x %t", read.Bytes, read.FirstEntryIncomplete)
	for _, a := range aborted {
		said += fmt.Sprintf(" %d@%d", a.ProducerID, a.FirstOffset)
	}
	r.ask(said, "%s", question)
}

// countRead notes what a read of committed records met.
func (r *transactionRun) countRead(read storage.Read, aborted []storage.AbortedTransaction) {
	if len(read.Bytes) == 0 {
		r.done["committed read of nothing"]++
		return
	}
	r.done[fmt.Sprintf("committed read, %d aborted", min(len(aborted), 2))]++
	for _, s := range r.log.Segments() {
		for _, a := range aborted {
			if read.SegmentBase < s.BaseOffset && s.BaseOffset <= a.LastOffset {
				r.done["aborted by a marker in a later segment"]++
				return
			}
		}
	}
}

// lose does what may take batches off the log, and notes what went with them.
func (r *transactionRun) lose(kind string, do func()) {
	entries, open := r.abortedEntries(), openTransactions(r.log)
	do()
	if r.abortedEntries() < entries {
		r.done[kind+", aborted transactions gone"]++
	}
	for id := range openTransactions(r.log) {
		if _, was := open[id]; !was {
			r.done[kind+", transaction open again"]++
			return
		}
	}
}

// abortedEntries counts the entries of all transaction indexes.
func (r *transactionRun) abortedEntries() (count int) {
	for _, path := range r.disk.List("orders-0") {
		if strings.HasSuffix(path, storage.TransactionIndexSuffix) {
			f, _ := r.disk.Open(path)
			entries, err := storage.ParseTransactionIndex(r.disk.Bytes(f))
			if err != nil {
				panic(err)
			}
			count += len(entries)
		}
	}
	return count
}
