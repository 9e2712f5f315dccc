//go:build judge

package judge

import (
	"encoding/hex"
	"errors"
	"os"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/record"
	"loglab/engine/simdisk"
	"loglab/engine/storage"
)

// How much TestLog asks.
const (
	logRuns     = 400
	appendsARun = 60
)

// Kafka's UnifiedLog and ours get the same batches at the same times under the same settings. They give the
// same offsets or refuse with the same error, answer the same lookups and reads, and end with the same
// bytes in .log, .index, .timeindex and leader-epoch-checkpoint.
func TestLog(t *testing.T) {
	rnd := draws(t)
	root := t.TempDir()
	var runs []*logRun
	var questions []string
	for i := range logRuns {
		run := newLogRun(rnd.Split(fmt.Sprint("run ", i)), filepath.Join(root, fmt.Sprint(i), "orders-0"))
		for range appendsARun {
			run.step()
		}
		run.compareFiles()
		runs = append(runs, run)
		questions = append(questions, run.questions...)
	}
	theirs := answers(t, kafkaProgram(t, "Log"), questions)

	var total logCounts
	wrong := 0
	for i, run := range runs {
		n := len(run.ours)
		if at := firstDifference(run.ours, theirs[:n]); at >= 0 && wrong < 100 {
			wrong++
			t.Errorf("XX %s log=%t comp=%t   [%.60s]  [%.60s]", run.label[at],run.log.Config().MessageTimestampType != 0, run.log.Config().Compact, theirs[at], run.ours[at])
			if os.Getenv("HIST") != "" && strings.HasPrefix(run.questions[at],"time") { for q := range at { f := strings.Fields(run.questions[q]); if f[0]=="append" { b,_ := record.Parse(must(hex.DecodeString(f[1]))); t.Logf("  %d rec max %d now %s -> %s | %s", b.RecordsCount, b.MaxTimestamp, f[3], run.ours[q], theirs[q]) } else { t.Logf("  %.200s -> %.50s", run.questions[q], theirs[q]) } } }
			if os.Getenv("FULL") != "" {
			t.Errorf("seed %d, run %d, question %d: %.600s\nof %s\n(-Kafka +ours):\n%s", *seed, i, at, run.questions[at],
				run.questions[0], cmp.Diff(strings.Fields(theirs[at]), strings.Fields(run.ours[at])))
				}
		}
		theirs = theirs[n:]
		total.add(run.counts)
	}
	t.Logf("%d runs, %+v", logRuns, total)
}

func firstDifference(a, b []string) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

// logCounts says what a run has met.
type logCounts struct {
	appends, refused, segments, indexEntries, timeEntries, lookups, reads int
}

func (c *logCounts) add(d logCounts) {
	c.appends, c.refused, c.segments = c.appends+d.appends, c.refused+d.refused, c.segments+d.segments
	c.indexEntries, c.timeEntries = c.indexEntries+d.indexEntries, c.timeEntries+d.timeEntries
	c.lookups, c.reads = c.lookups+d.lookups, c.reads+d.reads
}

// logRun drives our log and notes what Kafka's is to be asked and what ours said.
type logRun struct {
	rnd       prng.Rand
	disk      simdisk.Disk
	log       *storage.Log
	now       kafka.Timestamp
	epoch     kafka.LeaderEpoch
	producers []record.Options // with the sequence of their next batch
	bounds    []kafka.Offset   // between the batches, where a high watermark can be
	counts    logCounts
	questions []string
	label []string
	spoiled int
	ours      []string
}

const startTime kafka.Timestamp = 1_700_000_000_000

func newLogRun(rnd prng.Rand, dir string) *logRun {
	r := &logRun{rnd: rnd, now: startTime, bounds: []kafka.Offset{0}}
	config := r.drawConfig()
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

// ask notes a question and our answer.
func (r *logRun) ask(ours, question string, args ...any) {
	r.questions = append(r.questions, fmt.Sprintf(question, args...))
	r.ours = append(r.ours, ours)
	r.label = append(r.label, fmt.Sprint(strings.Fields(question)[0], r.now, " spoil ", r.spoiled))
	r.spoiled = -1
}

// drawConfig draws settings under which segments roll for every reason.
func (r *logRun) drawConfig() storage.Config {
	oneOf := func(values ...int) int { return values[r.rnd.IntN(len(values))] }
	c := storage.DefaultConfig()
	c.SegmentBytes = oneOf(1+r.rnd.IntN(1000), 200+r.rnd.IntN(5000), 100_000)
	c.SegmentMillis = kafka.Millis(oneOf(1, 10, 200, int(c.SegmentMillis)))
	c.SegmentIndexBytes = oneOf(12, 12+r.rnd.IntN(80), 1<<16)
	c.IndexIntervalBytes = oneOf(0, r.rnd.IntN(500), c.IndexIntervalBytes)
	c.MaxMessageBytes = oneOf(c.MaxMessageBytes, c.MaxMessageBytes, 500)
	c.TimestampBeforeMaxMillis = kafka.Millis(oneOf(math.MaxInt64, math.MaxInt64, 15))
	c.TimestampAfterMaxMillis = kafka.Millis(oneOf(int(c.TimestampAfterMaxMillis), 15))
	c.Compact = oneOf(0, 0, 1) == 1
	c.MaxCompactionLagMillis = kafka.Millis(oneOf(math.MaxInt64, 5, 50))
	if oneOf(0, 0, 1) == 1 {
		c.MessageTimestampType = record.LogAppendTime
	}
	return c
}

// settingsOf writes the settings as Kafka has them. internal.segment.bytes may be small, segment.bytes not.
func settingsOf(c storage.Config) string {
	policy := "delete"
	if c.Compact {
		policy = "compact"
	}
	return fmt.Sprintf("internal.segment.bytes=%d segment.ms=%d segment.index.bytes=%d index.interval.bytes=%d max.message.bytes=%d "+
		"message.timestamp.type=%s message.timestamp.before.max.ms=%d message.timestamp.after.max.ms=%d cleanup.policy=%s max.compaction.lag.ms=%d",
		c.SegmentBytes, c.SegmentMillis, c.SegmentIndexBytes, c.IndexIntervalBytes, c.MaxMessageBytes,
		c.MessageTimestampType, c.TimestampBeforeMaxMillis, c.TimestampAfterMaxMillis, policy, c.MaxCompactionLagMillis)
}

// step lets some time pass, appends a batch, and now and then looks something up.
func (r *logRun) step() {
	r.now += kafka.Timestamp(r.rnd.IntN(30))
	if r.rnd.IntN(20) == 0 {
		r.becomeLeader(r.epoch + kafka.LeaderEpoch(1+r.rnd.IntN(3)))
	}
	options := record.Options{}
	if producer := r.rnd.IntN(2 * len(r.producers)); producer < len(r.producers) {
		options = r.producers[producer]
	}
	options.Codec = record.Codec(r.rnd.IntN(int(record.Zstd) + 1))
	records := drawRecords(&r.rnd, 5, r.now, 20)
	if r.rnd.IntN(15) == 0 {
		records[0].timestamp = kafka.NoTimestamp
	}
	batch := build(records, options)
	if r.rnd.IntN(8) == 0 {
		batch = r.spoil(batch)
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

// becomeLeader begins an epoch at the log end offset, as Partition.makeLeader does.
func (r *logRun) becomeLeader(epoch kafka.LeaderEpoch) {
	r.epoch = epoch
	r.log.AssignEpochStartOffset(epoch, r.log.LogEndOffset())
	r.ask("ok", "lead %d", epoch)
}

// append gives the batch to our log and asks Kafka to do the same.
func (r *logRun) append(batch []byte) (taken bool) {
	r.counts.appends++
	appended, err := r.log.Append(batch, r.epoch, r.now)
	said := fmt.Sprintf("%d %d %d", appended.BaseOffset, appended.LastOffset, appended.LogAppendTime)
	if err != nil {
		r.counts.refused++
		said = codeOf(err)
	}
	if err == nil {
		r.bounds = append(r.bounds, r.log.LogEndOffset())
	}
	r.ask(said, "append %x %d %d", batch, r.epoch, r.now)
	return err == nil
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
	r.counts.lookups++
	target := startTime + kafka.Timestamp(r.rnd.IntN(int(r.now-startTime)+40)-20)
	found, err := r.log.OffsetForTimestamp(target)
	said := fmt.Sprintf("%d %d %d", found.Offset, found.Timestamp, found.LeaderEpoch)
	if err != nil {
		said = err.Error()
	}
	r.ask(said, "time %d", target)
}

// read fetches from somewhere, sometimes beyond the end, up to some high watermark.
func (r *logRun) read() {
	r.counts.reads++
	end := int(r.log.LogEndOffset())
	from := r.rnd.IntN(end + 2)
	highWatermark := r.bounds[r.rnd.IntN(len(r.bounds))]
	maxBytes, minOneMessage := r.rnd.IntN(3000), r.rnd.IntN(2) == 0
	read, err := r.log.Read(kafka.Offset(from), maxBytes, highWatermark, minOneMessage)
	said := fmt.Sprintf("%x %t", read.Bytes, read.FirstEntryIncomplete)
	if err != nil {
		said = codeOf(err)
	}
	r.ask(said, "read %d %d %d %t", from, maxBytes, highWatermark, minOneMessage)
}

// compareFiles asks for the bytes of all files.
func (r *logRun) compareFiles() {
	r.ask(segmentsText(r.log), "segments")
	checkpoint, _ := r.disk.Open("orders-0/" + storage.LeaderEpochCheckpoint)
	r.ask(strings.ReplaceAll(string(r.disk.Bytes(checkpoint)), "\n", "/"), "epochs")
	for _, s := range r.log.Segments() {
		r.counts.segments++
		r.counts.indexEntries += len(s.OffsetEntries())
		r.counts.timeEntries += len(s.TimeEntries())
	}
}

// segmentsText is the log end offset and every segment's files.
func segmentsText(l *storage.Log) string {
	text := fmt.Sprint(l.LogEndOffset())
	for _, s := range l.Segments() {
		text += fmt.Sprintf(" %d:%s:%s:%s", s.BaseOffset, hex.EncodeToString(s.Bytes), hex.EncodeToString(s.OffsetIndex), hex.EncodeToString(s.TimeIndex))
	}
	return text
}

func must(b []byte, err error) []byte { return b }
