//go:build judge

package judge

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"

	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/record"
	"loglab/engine/simdisk"
	"loglab/engine/storage"
)

// startTime is the leader's clock when a run begins.
const startTime kafka.Timestamp = 1_700_000_000_000

// logRun drives our log, and notes what Kafka's is to be asked and what ours said.
type logRun struct {
	script
	disk       simdisk.Disk
	log        *storage.Log
	now        kafka.Timestamp
	pace       int // how far the clock moves at most from one batch to the next
	epoch      kafka.LeaderEpoch
	producers  []record.Options // each with the sequence of its next batch
	bounds     []kafka.Offset   // between the batches: where a high watermark can be
	rolls      []storage.RollReason
	refusals   map[string]int // by error code
	duplicates int
}

// newLogRun makes an empty log with drawn settings, in which change may still change something.
func newLogRun(rnd prng.Rand, dir string, change ...func(*storage.Config)) *logRun {
	r := &logRun{script: script{rnd: rnd}, now: startTime, bounds: []kafka.Offset{0}, refusals: map[string]int{}}
	config := r.drawConfig()
	for _, f := range change {
		f(&config)
	}
	r.pace = r.oneOf(1, 30, 30) // a clock that stands still lets the offset index fill up first
	r.log = storage.New(&r.disk, "orders-0", config, r.now)
	r.ask("ok", "open %s %d %s", dir, r.now, settingsOf(config))
	r.becomeLeader(0)
	for id := range 3 {
		r.producers = append(r.producers, record.Options{
			Producer: &record.Producer{ID: kafka.ProducerID(id), Epoch: 1, BaseSequence: 0}, Transactional: id == 2,
		})
	}
	return r
}

// drawConfig draws settings under which segments roll for every reason but the offset range.
func (r *logRun) drawConfig() storage.Config {
	c := storage.DefaultConfig()
	c.SegmentBytes = r.oneOf(1+r.rnd.IntN(1000), 200+r.rnd.IntN(5000), 100_000)
	c.SegmentMillis = kafka.Millis(r.oneOf(1, 100, int(c.SegmentMillis), int(c.SegmentMillis)))
	c.SegmentIndexBytes = r.oneOf(12+r.rnd.IntN(80), 1<<16, 1<<16)
	c.IndexIntervalBytes = r.oneOf(0, r.rnd.IntN(500), c.IndexIntervalBytes)
	c.MaxMessageBytes = r.oneOf(c.MaxMessageBytes, c.MaxMessageBytes, c.MaxMessageBytes, 500)
	c.TimestampBeforeMaxMillis = kafka.Millis(r.oneOf(math.MaxInt64, math.MaxInt64, math.MaxInt64, 18))
	c.TimestampAfterMaxMillis = kafka.Millis(r.oneOf(int(c.TimestampAfterMaxMillis), int(c.TimestampAfterMaxMillis), 18))
	c.Compact = r.oneOf(0, 0, 0, 1) == 1
	c.MaxCompactionLagMillis = kafka.Millis(r.oneOf(math.MaxInt64, 5, 50))
	c.MessageTimestampType = record.TimestampType(r.oneOf(int(record.CreateTime), int(record.CreateTime), int(record.LogAppendTime)))
	return c
}

// settingsOf writes the settings as Kafka has them. internal.segment.bytes may be small, segment.bytes not.
func settingsOf(c storage.Config) string {
	policy := "delete"
	if c.Compact {
		policy = "compact"
	}
	return fmt.Sprintf("internal.segment.bytes=%d segment.ms=%d segment.index.bytes=%d index.interval.bytes=%d max.message.bytes=%d "+
		"message.timestamp.type=%s message.timestamp.before.max.ms=%d message.timestamp.after.max.ms=%d cleanup.policy=%s max.compaction.lag.ms=%d "+
		"producer.id.expiration.ms=%d",
		c.SegmentBytes, c.SegmentMillis, c.SegmentIndexBytes, c.IndexIntervalBytes, c.MaxMessageBytes,
		c.MessageTimestampType, c.TimestampBeforeMaxMillis, c.TimestampAfterMaxMillis, policy, c.MaxCompactionLagMillis,
		c.ProducerIDExpirationMillis)
}

// step lets some time pass, appends a batch, and now and then looks something up.
func (r *logRun) step() {
	r.now += kafka.Timestamp(r.rnd.IntN(r.pace))
	if r.rnd.IntN(20) == 0 {
		r.becomeLeader(r.epoch + kafka.LeaderEpoch(1+r.rnd.IntN(3)))
	}
	options := record.Options{}
	if producer := r.rnd.IntN(2 * len(r.producers)); producer < len(r.producers) {
		options = r.producers[producer]
	}
	options.Codec = record.Codec(r.rnd.IntN(int(record.Zstd) + 1))
	records := drawRecords(&r.rnd, 5, r.now, 20)
	if r.rnd.IntN(20) == 0 {
		odd := r.oneOf(-1, -1, -1, 0, -2, math.MaxInt64, math.MinInt64)
		records[r.rnd.IntN(len(records))].timestamp = kafka.Timestamp(odd)
	}
	batch := build(records, options)
	if r.rnd.IntN(8) == 0 {
		batch = spoil(&r.rnd, batch)
	}
	if r.append(batch) && options.Producer != nil {
		options.Producer.BaseSequence += kafka.Sequence(len(records))
	}
	if r.rnd.IntN(10) == 0 {
		r.lookUp()
	}
	if r.rnd.IntN(10) == 0 {
		r.read()
	}
}

// becomeLeader begins an epoch at the log end offset, as a broker does when it becomes leader.
func (r *logRun) becomeLeader(epoch kafka.LeaderEpoch) {
	r.epoch = epoch
	r.log.AssignEpochStartOffset(epoch, r.log.LogEndOffset())
	r.ask("ok", "lead %d", epoch)
}

// append gives the batch to our log and asks Kafka to do the same.
func (r *logRun) append(batch []byte) (taken bool) {
	appended, err := r.log.Append(batch, r.epoch, r.now)
	return r.appended(appended, err, fmt.Sprintf("append %x %d %d", batch, r.epoch, r.now))
}

// appended notes what came of an append.
func (r *logRun) appended(appended storage.Appended, err error, question string) (taken bool) {
	if err != nil {
		r.refusals[codeOf(err)]++
		r.ask(codeOf(err), "%s", question)
		return false
	}
	if appended.Duplicate {
		r.duplicates++
	}
	r.ask(fmt.Sprintf("%d %d %d", appended.BaseOffset, appended.LastOffset, appended.LogAppendTime), "%s", question)
	r.bounds = append(r.bounds, r.log.LogEndOffset())
	if appended.Roll != nil {
		r.rolls = append(r.rolls, appended.Roll.Reason)
	}
	return true
}

// codeOf is the name of the error code of a refusal.
func codeOf(err error) string {
	var refusal *storage.Refusal
	if !errors.As(err, &refusal) {
		return err.Error()
	}
	return refusal.Err.Message
}

// lookUp asks where a time begins.
func (r *logRun) lookUp() {
	target := startTime + kafka.Timestamp(r.rnd.IntN(int(r.now-startTime)+40)-20)
	found, err := r.log.OffsetForTimestamp(target)
	said := fmt.Sprintf("%d %d %d", found.Offset, found.Timestamp, found.LeaderEpoch)
	if err != nil {
		said = codeOf(err)
	}
	r.ask(said, "time %d", target)
}

// read fetches from somewhere, sometimes beyond the end, up to some high watermark.
func (r *logRun) read() {
	from := kafka.Offset(r.rnd.IntN(int(r.log.LogEndOffset()) + 2))
	highWatermark := r.bounds[r.rnd.IntN(len(r.bounds))]
	maxBytes, minOneMessage := r.oneOf(0, 200, r.rnd.IntN(3000)), r.rnd.IntN(2) == 0
	read, err := r.log.Read(from, maxBytes, highWatermark, minOneMessage)
	said := fmt.Sprintf("%x %t", read.Bytes, read.FirstEntryIncomplete)
	if err != nil {
		said = codeOf(err)
	}
	r.ask(said, "read %d %d %d %t", from, maxBytes, highWatermark, minOneMessage)
}

// compareFiles asks for the bytes of all files.
func (r *logRun) compareFiles() {
	r.ask(segmentsText(r.log.LogEndOffset(), r.log.Segments()), "segments")
	checkpoint, _ := r.disk.Open("orders-0/" + storage.LeaderEpochCheckpoint)
	r.ask(strings.ReplaceAll(string(r.disk.Bytes(checkpoint)), "\n", "/"), "epochs")
}

// segmentsText is the log end offset and every segment's files.
func segmentsText(end kafka.Offset, segments []storage.Segment) string {
	text := fmt.Sprint(end)
	for _, s := range segments {
		text += fmt.Sprintf(" %d:%s:%s:%s", s.BaseOffset, hex.EncodeToString(s.Bytes), hex.EncodeToString(s.OffsetIndex), hex.EncodeToString(s.TimeIndex))
	}
	return text
}
