//go:build judge

package judge

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"strings"

	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/record"
	"loglab/engine/simdisk"
	"loglab/engine/storage"
)

// cleanRun drives our log as a broker does that cleans it and deletes its old segments, and notes what Kafka's is to
// be asked and what ours said. Batches come as a follower gets them, so that transactions can end.
type cleanRun struct {
	script
	disk       simdisk.Disk
	log        *storage.Log
	now        kafka.Timestamp
	mark       kafka.Offset // the high watermark, which only rises
	placed     bool         // Kafka knows where in the files the high watermark is
	checkpoint kafka.Offset
	bounds     []kafka.Offset // between the batches
	producers  map[kafka.ProducerID]*writer
	decided    []decidedTransaction // whose markers are at the high watermark or above
	codecs     int                  // the number of codecs that are drawn
	keys       int
	failed     bool           // a cleaning did, and Kafka leaves the log alone from then on
	done       map[string]int // how often each thing happened
}

// writer is a producer as the run knows it.
type writer struct {
	epoch    kafka.ProducerEpoch
	sequence kafka.Sequence
	open     bool // it has a transaction open
}

type decidedTransaction struct{ first, marker kafka.Offset }

func newCleanRun(rnd prng.Rand, dir string, codecs int) *cleanRun {
	r := &cleanRun{script: script{rnd: rnd}, now: startTime, checkpoint: kafka.NoOffset, bounds: []kafka.Offset{0}, codecs: codecs, done: map[string]int{}}
	r.keys = r.oneOf(2, 5, 30, 200)
	r.producers = map[kafka.ProducerID]*writer{}
	for id := range kafka.ProducerID(4) {
		r.producers[id] = &writer{}
	}
	config := r.drawConfig()
	r.log = storage.New(&r.disk, "orders-0", config, r.now)
	r.ask("ok", "open %s %d %s", dir, r.now, cleanSettingsOf(config))
	return r
}

// drawConfig draws settings under which segments roll often and retention and cleaning find something to do.
func (r *cleanRun) drawConfig() storage.Config {
	c := storage.DefaultConfig()
	c.SegmentBytes = r.oneOf(800+r.rnd.IntN(1000), 1000+r.rnd.IntN(4000), 20_000)
	c.SegmentMillis = kafka.Millis(r.oneOf(50, 500, int(c.SegmentMillis)))
	c.SegmentIndexBytes = r.oneOf(48+r.rnd.IntN(80), 1<<16, 1<<16)
	c.IndexIntervalBytes = r.oneOf(0, r.rnd.IntN(500), c.IndexIntervalBytes)
	c.MessageTimestampType = record.CreateTime
	policy := r.rnd.IntN(8)
	c.Compact, c.Delete = policy != 0 && policy != 7, policy != 1 && policy != 2 && policy != 3 && policy != 7
	c.RetentionBytes = r.oneOf(-1, -1, 0, r.rnd.IntN(3000), r.rnd.IntN(20_000))
	c.RetentionMillis = kafka.Millis(r.oneOf(-1, 0, r.rnd.IntN(500), r.rnd.IntN(5000), int(c.RetentionMillis)))
	c.FileDeleteDelayMillis = kafka.Millis(r.oneOf(1, 50, 60_000))
	c.MinCleanableDirtyRatio = []float64{0, 0.1, 0.5, 0.9, 1}[r.rnd.IntN(5)]
	c.MinCompactionLagMillis = kafka.Millis(r.oneOf(0, 0, 1+r.rnd.IntN(300)))
	c.MaxCompactionLagMillis = c.MinCompactionLagMillis + kafka.Millis(r.oneOf(math.MaxInt64-300, 1+r.rnd.IntN(500)))
	c.DeleteRetentionMillis = kafka.Millis(r.oneOf(0, r.rnd.IntN(200), r.rnd.IntN(2000), int(c.DeleteRetentionMillis)))
	c.DedupeBufferBytes = 24 * r.oneOf(2, 2+r.rnd.IntN(20), 1000, 1000, 1000)
	return c
}

// cleanSettingsOf writes the settings as Kafka has them.
func cleanSettingsOf(c storage.Config) string {
	var policy []string
	if c.Compact {
		policy = append(policy, "compact")
	}
	if c.Delete {
		policy = append(policy, "delete")
	}
	return fmt.Sprintf("internal.segment.bytes=%d segment.ms=%d segment.index.bytes=%d index.interval.bytes=%d cleanup.policy=%s "+
		"retention.bytes=%d retention.ms=%d file.delete.delay.ms=%d min.cleanable.dirty.ratio=%v min.compaction.lag.ms=%d max.compaction.lag.ms=%d "+
		"delete.retention.ms=%d log.cleaner.dedupe.buffer.size=%d",
		c.SegmentBytes, c.SegmentMillis, c.SegmentIndexBytes, c.IndexIntervalBytes, strings.Join(policy, ","),
		c.RetentionBytes, c.RetentionMillis, c.FileDeleteDelayMillis, c.MinCleanableDirtyRatio, c.MinCompactionLagMillis, c.MaxCompactionLagMillis,
		c.DeleteRetentionMillis, c.DedupeBufferBytes)
}

// step does one thing to the log.
func (r *cleanRun) step() {
	r.now += kafka.Timestamp(r.rnd.IntN(40))
	switch draw := r.rnd.IntN(34); {
	case draw < 20:
		r.follow()
	case draw < 21:
		r.advance(r.bounds[r.rnd.IntN(len(r.bounds))])
	case draw < 23:
		r.advance(r.log.LogEndOffset())
	case draw < 24:
		if offset := r.log.LogStartOffset() + kafka.Offset(r.rnd.IntN(10)); offset <= r.mark {
			r.done["log start moved"]++
			r.ask(fmt.Sprint(r.log.IncrementLogStartOffset(offset)), "log-start %d", offset)
		}
	case draw < 26:
		r.retain()
	case draw < 28:
		r.clean()
	case draw < 29:
		r.log.RemoveDeletedFiles(r.now)
		r.ask("ok", "remove %d", r.now)
	case draw < 32:
		r.read()
	case draw < 33:
		target := r.now - kafka.Timestamp(r.rnd.IntN(1000))
		found, err := r.log.OffsetForTimestamp(target)
		if err != nil {
			panic(err)
		}
		r.done["lookup by time"]++
		r.ask(fmt.Sprint(found.Offset, found.Timestamp), "time %d", target)
	default:
		if r.rnd.IntN(4) == 0 {
			r.restart()
		}
	}
}

// follow appends a batch of records, or the marker of a transaction.
func (r *cleanRun) follow() {
	id := kafka.ProducerID(r.rnd.IntN(8)) - 4 // negative: no producer; 0 and 1 idempotent, 2 and 3 transactional
	w := r.producers[id]
	options := record.Options{Codec: record.Codec(r.rnd.IntN(r.codecs))}
	next := r.log.LogEndOffset() + kafka.Offset(r.oneOf(0, 0, 0, 0, 0, 0, 0, 0, 0, r.rnd.IntN(5)))
	var batch []byte
	marker := w != nil && id >= 2 && r.rnd.IntN(3) == 0
	if marker {
		w.epoch += kafka.ProducerEpoch(r.rnd.IntN(2)) // since transactions of version 2 a marker has a new epoch
		batch = r.drawMarker(id, w.epoch)
	} else {
		records := r.drawRecords()
		if w != nil {
			if r.rnd.IntN(30) == 0 && !w.open {
				w.epoch, w.sequence = w.epoch+1, 0
			}
			options.Producer = &record.Producer{ID: id, Epoch: w.epoch, BaseSequence: w.sequence}
			options.Transactional = id >= 2
			w.sequence += kafka.Sequence(len(records))
			w.open = id >= 2
		}
		batch = build(records, options)
		if r.rnd.IntN(10) == 0 {
			record.StampLogAppendTime(batch, r.now)
		}
	}
	if r.rnd.IntN(30) == 0 { // bits that mean nothing are cleared when the batch is written anew
		batch[21] |= 0x80
		binary.BigEndian.PutUint32(batch[17:], crc32.Checksum(batch[21:], crc32.MakeTable(crc32.Castagnoli)))
	}
	record.Stamp(batch, next, 0)
	began, open := openTransactions(r.log)[id]
	answers, err := r.log.AppendAsFollower(batch, r.now)
	if err != nil {
		panic(err)
	}
	if answers[0].Roll != nil {
		r.done["rolled"]++
	}
	r.ask(fmt.Sprint(answers[0].LastOffset), "follow x%x %d", batch, r.now)
	if marker && open {
		r.decided = append(r.decided, decidedTransaction{began, next})
	}
	if marker {
		w.open, w.sequence = false, 0
		w.epoch++
	}
	r.bounds = append(r.bounds, r.log.LogEndOffset())
}

// drawRecords gives records with few keys; some have no value, and seldom one no key.
func (r *cleanRun) drawRecords() []drawnRecord {
	records := drawRecords(&r.rnd, 5, r.now, 20)
	for i := range records {
		d := &records[i]
		d.key = fmt.Appendf(nil, "key-%d", r.rnd.IntN(r.keys))
		if r.rnd.IntN(40) == 0 {
			d.key = nil
		}
		d.value = d.value[:min(len(d.value), 40)] // 5 of them fit into every segment
		for h := range d.headers {
			d.headers[h].Value = d.headers[h].Value[:min(len(d.headers[h].Value), 4)]
		}
		if r.rnd.IntN(3) == 0 {
			d.value = nil
		}
	}
	if r.rnd.IntN(40) == 0 {
		records[r.rnd.IntN(len(records))].timestamp = kafka.Timestamp(r.oneOf(-1, -1, int(r.now)+3000))
	}
	return records
}

// drawMarker ends a transaction one way or the other.
func (r *cleanRun) drawMarker(id kafka.ProducerID, epoch kafka.ProducerEpoch) []byte {
	kind := []record.ControlType{record.Abort, record.Commit}[r.rnd.IntN(2)]
	r.done[kind.String()]++
	batch, err := record.EndTxnMarker{Type: kind, CoordinatorEpoch: 1}.Build(r.now, id, epoch)
	if err != nil {
		panic(err)
	}
	return batch
}

// advance moves the high watermark up.
func (r *cleanRun) advance(to kafka.Offset) {
	r.mark = max(r.mark, to)
	r.placed = r.mark == r.log.LogEndOffset()
	var left []decidedTransaction
	for _, d := range r.decided {
		if d.marker >= r.mark {
			left = append(left, d)
		}
	}
	r.decided = left
	r.log.OnHighWatermarkUpdated(r.mark)
	r.ask(fmt.Sprint(r.stable()), "mark %d", r.mark)
}

// openTransactions says where the transactions began that the log knows to be open.
func openTransactions(log *storage.Log) map[kafka.ProducerID]kafka.Offset {
	open := map[kafka.ProducerID]kafka.Offset{}
	for _, p := range log.Producers() {
		if p.TransactionFirstOffset >= 0 {
			open[p.ProducerID] = p.TransactionFirstOffset
		}
	}
	return open
}

// stable is the last stable offset. If the log begins behind where a transaction does, Kafka takes the batch there.
func (r *cleanRun) stable() kafka.Offset {
	stable := r.mark
	for _, began := range openTransactions(r.log) {
		stable = min(stable, began)
	}
	for _, d := range r.decided {
		stable = min(stable, d.first)
	}
	start := r.log.LogStartOffset()
	if got, want := r.log.LastStableOffset(r.mark), min(max(stable, start), r.mark); got != want {
		panic(fmt.Sprintf("last stable offset %d, want %d", got, want))
	}
	if stable < start {
		return min(r.batchAt(start), r.mark)
	}
	return stable
}

// batchAt is the base offset of the batch that holds an offset or is the next behind it.
func (r *cleanRun) batchAt(offset kafka.Offset) kafka.Offset {
	read, err := r.log.Read(offset, 0, r.log.LogEndOffset(), true)
	if err != nil {
		panic(err)
	}
	if first, err := record.Parse(read.Bytes); err == nil {
		return first.BaseOffset
	}
	return r.log.LogEndOffset()
}

// read fetches up to the high watermark, sometimes from outside the log. If the high watermark lies in a gap, Kafka
// moves it to the batch behind when it first looks where that is.
func (r *cleanRun) read() {
	if !r.placed {
		r.mark, r.placed = r.batchAt(r.mark), true
	}
	start := r.log.LogStartOffset()
	from := max(0, start-2+kafka.Offset(r.rnd.IntN(int(r.log.LogEndOffset()-start)+4)))
	maxBytes, minOneMessage := r.oneOf(0, 200, r.rnd.IntN(3000)), r.rnd.IntN(2) == 0
	read, err := r.log.Read(from, maxBytes, r.mark, minOneMessage)
	said := fmt.Sprintf("x%x", read.Bytes)
	if err != nil {
		said = codeOf(err)
	}
	r.done["read"]++
	r.ask(said, "read %d %d %t", from, maxBytes, minOneMessage)
}

// retain deletes old segments.
func (r *cleanRun) retain() {
	for range r.rnd.IntN(2) {
		r.now += kafka.Timestamp(r.rnd.IntN(500))
	}
	result := r.log.DeleteOldSegments(r.mark, r.now)
	for _, check := range result.Checks {
		if check.Deleted > 0 {
			r.done["deleted by "+check.Rule.String()] += check.Deleted
		}
		if check.RolledAt >= 0 {
			r.done["rolled to delete"]++
		}
	}
	r.ask(fmt.Sprint(result.Deleted, result.LogStartTo), "retain %d", r.now)
}

// clean cleans the log if it is eligible, as the cleaner's thread does.
func (r *cleanRun) clean() {
	r.advance(r.mark)
	c := r.log.Cleanable(r.checkpoint, r.stable(), r.now)
	text := fmt.Sprintf("%d %d %t %d %d ", c.FirstDirtyOffset, c.FirstUncleanableOffset, c.CheckpointReset, c.CleanBytes, c.CleanableBytes)
	if c.CheckpointReset && r.log.Config().Compact {
		r.checkpoint = c.FirstDirtyOffset
	}
	r.done[c.Verdict.String()]++
	if !c.Eligible() {
		r.ask(text+"none", "clean %d", r.now)
		return
	}
	done, err := r.log.Clean(c, r.now)
	if errors.Is(err, storage.ErrIndexFull) {
		r.done["index full"]++
		r.failed = true
		r.ask(text+"index full", "clean %d", r.now)
		return
	}
	if err != nil {
		panic(err)
	}
	r.checkpoint = done.Checkpoint
	r.count(&done)
	r.ask(text+fmt.Sprint(done.Checkpoint), "clean %d", r.now)
	r.ask(fmt.Sprint(done.Checkpoint), "checkpoint")
}

// count notes what a cleaning met.
func (r *cleanRun) count(done *storage.Cleaned) {
	r.done["cleaned"]++
	r.done["records read"] += done.RecordsRead
	if done.MapFull {
		r.done["map full"]++
	}
	for _, g := range done.Groups {
		r.done["segments in"] += len(g.From)
		r.done["segments out"]++
	}
	for _, b := range done.Batches {
		r.done["batch "+b.Fate.String()]++
		if b.HorizonSet {
			r.done["horizons set"]++
		}
	}
	for _, removed := range done.Removed {
		r.done["record "+removed.Reason.String()]++
	}
}

// restart stops the broker cleanly and starts it again, with everything replicated.
func (r *cleanRun) restart() {
	r.advance(r.log.LogEndOffset())
	r.log.Close()
	checkpointed := r.log.LogStartOffset()
	r.log, _ = storage.Open(&r.disk, "orders-0", r.log.Config(), r.now, true, r.log.RecoveryPoint())
	r.done["restart"]++
	r.ask("ok", "restart %d", r.now)
	if checkpointed > r.log.LogStartOffset() {
		r.log.IncrementLogStartOffset(checkpointed)
		r.ask("true", "log-start %d", checkpointed)
	}
}

// files gives the name and the bytes of every file.
func (r *cleanRun) files() {
	text := fmt.Sprint(r.log.LogStartOffset(), r.log.LogEndOffset())
	for _, path := range r.disk.List("orders-0") {
		f, _ := r.disk.Open(path)
		text += " " + strings.TrimPrefix(path, "orders-0/") + ":" + hex.EncodeToString(r.disk.Bytes(f))
	}
	r.ask(text, "files")
}

// records gives the batches and records of every segment, decompressed.
func (r *cleanRun) records() {
	var out strings.Builder
	fmt.Fprint(&out, r.log.LogStartOffset(), " ", r.log.LogEndOffset())
	for _, s := range r.log.Segments() {
		fmt.Fprint(&out, " ", s.BaseOffset)
		for bytes := s.Bytes; len(bytes) > 0; {
			b, err := record.Parse(bytes)
			if err != nil {
				panic(err)
			}
			fmt.Fprintf(&out, " %d/%d/%d/%d/%d/%d/%d/%d/%d/%d", b.BaseOffset, b.LastOffset(), b.PartitionLeaderEpoch, b.Attributes, b.BaseTimestamp,
				b.MaxTimestamp, b.ProducerID, b.ProducerEpoch, b.BaseSequence, b.RecordsCount)
			records, err := b.Records()
			if err != nil {
				panic(err)
			}
			for _, d := range records {
				fmt.Fprintf(&out, ":%d/%d/%s/%s", d.Offset, d.Timestamp, hexOrNull(d.Key), hexOrNull(d.Value))
				for _, h := range d.Headers {
					fmt.Fprintf(&out, "/%s=%s", h.Key, hexOrNull(h.Value))
				}
			}
			bytes = bytes[b.Size():]
		}
	}
	r.ask(out.String(), "records")
}
