//go:build judge

package judge

import (
	"encoding/hex"
	"fmt"
	"strings"

	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/record"
	"loglab/engine/storage"
)

// replicaRun drives our log as a broker does that leads and follows by turns, is stopped and started again.
type replicaRun struct {
	*logRun
	firstTransactional kafka.ProducerID // this of the producers 0, 1 and 2 and those after it have transactions
	markerIn           int              // one batch in so many that a follower gets is a marker
	done               map[string]int   // how often each kind of step was done
}

// newReplicaRun makes an empty log. Its indexes have room: what a follower appends at once may be more entries
// than a nearly full one takes, and Kafka's fails then.
func newReplicaRun(rnd prng.Rand, dir string, change ...func(*storage.Config)) *replicaRun {
	expiration := kafka.Millis(100 + 100_000*rnd.IntN(3))
	roomy := func(c *storage.Config) { c.SegmentIndexBytes, c.ProducerIDExpirationMillis = 1<<16, expiration }
	return &replicaRun{logRun: newLogRun(rnd, dir, append(change, roomy)...), firstTransactional: 2, markerIn: 8, done: map[string]int{}}
}

// step does one thing to the log and compares what is known of it.
func (r *replicaRun) step() {
	r.now += kafka.Timestamp(r.rnd.IntN(r.pace))
	switch draw := r.rnd.IntN(40); {
	case draw < 14:
		r.produce()
	case draw < 24:
		r.follow()
	case draw < 29:
		r.truncate()
	case draw < 30:
		r.restartAt()
	case draw < 31:
		offset := r.log.LogStartOffset() + kafka.Offset(r.rnd.IntN(4))
		if offset > r.log.LogEndOffset() {
			return
		}
		r.note("log-start", fmt.Sprint(r.log.IncrementLogStartOffset(offset)), "log-start %d", offset)
	case draw < 32:
		r.log.ExpireProducers(r.now)
		r.note("expire", "ok", "expire %d", r.now)
	case draw < 33:
		offset := kafka.Offset(r.rnd.IntN(int(r.log.LogEndOffset()) + 1))
		r.log.Flush(offset)
		r.note("flush", "ok", "flush %d", offset)
	case draw < 35:
		r.becomeLeader(max(r.epoch, r.latestEpoch()) + kafka.LeaderEpoch(1+r.rnd.IntN(2)))
	case draw < 37:
		r.restart()
	case draw < 38:
		r.lookUp()
		r.epochEnd()
	default:
		r.bounds = r.betweenBatches()
		r.read()
	}
	r.state()
}

// betweenBatches lists where a high watermark can be.
func (r *replicaRun) betweenBatches() []kafka.Offset {
	bounds := []kafka.Offset{r.log.LogEndOffset()}
	for _, s := range r.log.Segments() {
		for bytes := s.Bytes; len(bytes) > 0; {
			b, err := record.Parse(bytes)
			if err != nil {
				panic(err)
			}
			if b.BaseOffset >= r.log.LogStartOffset() {
				bounds = append(bounds, b.BaseOffset)
			}
			bytes = bytes[b.Size():]
		}
	}
	return bounds
}

// note counts a step and notes question and answer.
func (r *replicaRun) note(kind, ours, question string, args ...any) {
	r.done[kind]++
	r.ask(ours, question, args...)
}

func (r *replicaRun) latestEpoch() kafka.LeaderEpoch {
	epoch, _ := r.log.LatestEpoch()
	return epoch
}

// drawBatch is a batch of a producer, mostly the one that is due, sometimes an old or a wrong one.
func (r *replicaRun) drawBatch() []byte {
	options := record.Options{Codec: record.Codec(r.rnd.IntN(int(record.Zstd) + 1))}
	records := drawRecords(&r.rnd, 3, r.now, 20)
	if id := r.rnd.IntN(5); id < 3 {
		producer := &record.Producer{ID: kafka.ProducerID(id), Epoch: 1}
		for _, known := range r.log.Producers() {
			if known.ProducerID != producer.ID {
				continue
			}
			producer.Epoch, producer.BaseSequence = known.ProducerEpoch, record.IncrementSequence(known.LastSequence(), 1)
			switch n := len(known.Batches); r.rnd.IntN(12) {
			case 0, 1: // once more, or what was sent long ago
				if n > 0 {
					again := known.Batches[r.rnd.IntN(n)]
					producer.BaseSequence = again.BaseSequence
					records = drawRecords(&r.rnd, 1, r.now, 20)
					for len(records) < int(again.LastOffset-again.BaseOffset)+1 {
						records = append(records, records[0])
					}
				}
			case 2: // a gap, or back
				producer.BaseSequence = kafka.Sequence(r.rnd.IntN(int(producer.BaseSequence) + 4))
			case 3: // a new or an old epoch
				producer.Epoch = max(0, producer.Epoch+kafka.ProducerEpoch(r.oneOf(-1, 1, 2)))
				producer.BaseSequence = kafka.Sequence(r.oneOf(0, 0, 1))
			case 4: // near the greatest sequence
				producer.BaseSequence = 1<<31 - 2
			}
		}
		options.Producer, options.Transactional = producer, producer.ID >= r.firstTransactional && r.rnd.IntN(6) > 0
	}
	return build(records, options)
}

// produce appends as the leader.
func (r *replicaRun) produce() {
	r.lead()
	r.done["append"]++
	r.append(r.drawBatch())
}

// lead goes on as leader in the log's latest epoch. A truncation may have taken that of the run; then it begins anew.
func (r *replicaRun) lead() {
	if latest := r.latestEpoch(); latest < r.epoch {
		r.becomeLeader(r.epoch)
	} else {
		r.epoch = latest
	}
}

// follow appends what a leader might have sent: batches with their offsets and epochs, some of them cut or
// damaged, or from another place in the log. A follower takes over what producers did without a look at their
// sequences; only an older epoch, or what belongs to no transaction while one is open, is never sent.
func (r *replicaRun) follow() {
	next, epoch := r.log.LogEndOffset(), max(r.epoch, r.latestEpoch())
	if r.rnd.IntN(20) == 0 {
		next = max(0, next-kafka.Offset(r.rnd.IntN(3)))
	}
	var batches []byte
	known := r.knownProducers()
	for range 1 + r.rnd.IntN(4) {
		batch := r.drawBatch()
		if r.rnd.IntN(r.markerIn) == 0 {
			batch = r.drawMarker()
		}
		next += kafka.Offset(r.oneOf(0, 0, 0, 0, 0, 0, 0, r.rnd.IntN(5)))
		epoch += kafka.LeaderEpoch(r.oneOf(0, 0, 0, 0, 1))
		record.Stamp(batch, next, epoch)
		b, err := record.Parse(batch)
		if err != nil {
			panic(err)
		}
		producer := known[b.ProducerID]
		if b.ProducerEpoch < producer.epoch || producer.open && !b.Attributes.Transactional() {
			continue
		}
		known[b.ProducerID] = knownProducer{b.ProducerEpoch, b.Attributes.Transactional() && !b.Attributes.Control()}
		if len(batches)+len(batch) > r.log.Config().SegmentBytes {
			break
		}
		batches, next = append(batches, batch...), b.NextOffset()
	}
	switch n := len(batches); {
	case n > 0 && r.rnd.IntN(5) == 0:
		batches = batches[:n-1-r.rnd.IntN(min(n, 100))]
	case n > 0 && r.rnd.IntN(30) == 0:
		batches[n-1] ^= 1
	}
	answers, err := r.log.AppendAsFollower(batches, r.now)
	ours := "-1"
	switch {
	case err != nil:
		ours = codeOf(err)
	case len(answers) > 0:
		ours = fmt.Sprint(answers[len(answers)-1].LastOffset)
		r.countCompleted(answers)
		if roll := answers[0].Roll; roll != nil {
			r.rolls = append(r.rolls, roll.Reason)
		}
	}
	r.note("follow", ours, "follow x%x %d", batches, r.now)
}

// countCompleted notes how many transactions one append ended.
func (r *replicaRun) countCompleted(answers []storage.Appended) {
	ended := 0
	for _, a := range answers {
		if a.Completed != nil {
			ended++
		}
	}
	if ended > 0 {
		r.done[fmt.Sprintf("follow, %d transactions ended", ended)]++
	}
}

// knownProducer is what a follower is never sent the contrary of.
type knownProducer struct {
	epoch kafka.ProducerEpoch
	open  bool // a transaction is
}

func (r *replicaRun) knownProducers() map[kafka.ProducerID]knownProducer {
	known := map[kafka.ProducerID]knownProducer{-1: {epoch: -1}}
	for _, p := range r.log.Producers() {
		known[p.ProducerID] = knownProducer{p.ProducerEpoch, p.TransactionFirstOffset >= 0}
	}
	return known
}

// drawMarker ends a transaction.
func (r *replicaRun) drawMarker() []byte {
	id := r.firstTransactional + kafka.ProducerID(r.rnd.IntN(int(3-r.firstTransactional)))
	epoch := kafka.ProducerEpoch(1)
	for _, p := range r.log.Producers() {
		if p.ProducerID == id {
			epoch = p.ProducerEpoch + kafka.ProducerEpoch(r.rnd.IntN(2))
		}
	}
	marker := record.EndTxnMarker{Type: record.ControlType(r.rnd.IntN(2)), CoordinatorEpoch: int32(r.rnd.IntN(3))}
	batch, err := marker.Build(r.now, id, epoch)
	if err != nil {
		panic(err)
	}
	return batch
}

// truncate cuts the log, mostly not far from its end.
func (r *replicaRun) truncate() {
	offset := r.log.LogEndOffset() - kafka.Offset(r.rnd.IntN(8))
	if r.rnd.IntN(6) == 0 {
		offset = kafka.Offset(r.rnd.IntN(int(r.log.LogEndOffset()) + 3))
	}
	offset = max(0, offset)
	if _, err := r.log.TruncateTo(offset); err != nil {
		panic(err)
	}
	r.note("truncate", "ok", "truncate %d", offset)
}

// restartAt empties the log and lets it begin elsewhere, as a follower does whose leader has deleted all it has.
func (r *replicaRun) restartAt() {
	offset := max(0, r.log.LogEndOffset()+kafka.Offset(r.rnd.IntN(20)-10))
	r.log.TruncateFullyAndStartAt(offset)
	r.note("restart-at", "ok", "restart-at %d", offset)
}

// restart stops the log cleanly or kills it, perhaps with a part of the active segment's file lost, and loads
// it again. The log start offset goes back to the first segment, in both.
func (r *replicaRun) restart() {
	clean := r.rnd.IntN(3) == 0
	if clean {
		r.log.Close()
		r.note("stop", "ok", "stop")
	} else {
		segments := r.log.Segments()
		active, _ := r.disk.Open("orders-0/" + storage.SegmentFileName(segments[len(segments)-1].BaseOffset, storage.LogSuffix))
		lost := 0
		if size := r.disk.Size(active); r.rnd.IntN(3) > 0 {
			lost = r.rnd.IntN(min(size, 400) + 1)
			r.disk.Truncate(active, size-lost)
		}
		if lost > 0 {
			r.done["torn tail"]++
		}
		r.note("kill", "ok", "kill %d", lost)
	}
	recoveryPoint := r.log.RecoveryPoint()
	if !clean && r.rnd.IntN(3) == 0 {
		recoveryPoint = kafka.Offset(r.rnd.IntN(int(recoveryPoint) + 1)) // as the checkpoint was some time ago
	}
	r.log, _ = storage.Open(&r.disk, "orders-0", r.log.Config(), r.now, clean, recoveryPoint)
	r.ask("ok", "start %d %t %d", r.now, clean, recoveryPoint)
}

// epochEnd asks where an epoch ended.
func (r *replicaRun) epochEnd() {
	epoch := kafka.LeaderEpoch(r.rnd.IntN(int(r.latestEpoch())+4) - 1)
	said := "none"
	if found, end, ok := r.log.EndOffsetForEpoch(epoch); ok {
		said = fmt.Sprintf("%d %d", found, end)
	}
	r.note("epoch-end", said, "epoch-end %d", epoch)
}

// state compares offsets and producers.
func (r *replicaRun) state() {
	text := fmt.Sprintf("%d %d %d", r.log.LogStartOffset(), r.log.LogEndOffset(), r.log.RecoveryPoint())
	for _, p := range r.log.Producers() {
		text += fmt.Sprintf(" %d/%d/%d/%d/%d", p.ProducerID, p.ProducerEpoch, p.LastTimestamp, p.CoordinatorEpoch, p.TransactionFirstOffset)
		for _, b := range p.Batches {
			text += fmt.Sprintf(":%d-%d@%d-%dT%d", b.BaseSequence, b.LastSequence, b.BaseOffset, b.LastOffset, b.Timestamp)
		}
	}
	r.ask(text, "state")
}

// compareFiles asks for the bytes of all files.
func (r *replicaRun) compareFiles() {
	r.logRun.compareFiles()
	r.compareNamed("snapshots", storage.ProducerSnapshotSuffix)
}

// compareNamed asks for names and bytes of the files whose name ends so.
func (r *replicaRun) compareNamed(question, suffix string) {
	text := question
	for _, path := range r.disk.List("orders-0") {
		if strings.HasSuffix(path, suffix) {
			f, _ := r.disk.Open(path)
			text += fmt.Sprintf(" %s:%s", strings.TrimPrefix(path, "orders-0/"), hex.EncodeToString(r.disk.Bytes(f)))
		}
	}
	r.ask(text, "%s", question)
}
