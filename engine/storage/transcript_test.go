package storage

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/simdisk"
)

// The files in testdata are stories; run one with -v -run TestTranscripts/roll to read along. Time is
// T+n: n milliseconds after 1700000000000. The commands:
//
//	new segment.bytes=280 segment.ms=1000 …        an empty log, settings by their Kafka names
//	append epoch=0 now=+0 codec=gzip               one batch; a line "+ts key value" for each record,
//	                                               "-" for a null key; without lines: one of k=v at now
//	epoch epoch=3                                  a leader takes office
//	read from=3 max=1000 upto=10 min-one           a fetch; upto is the log end offset if left out
//	timestamp at=+5                                a ListOffsets by time
//	log-start offset=3                             a DeleteRecords
//	retain hw=6 now=+100                           a check of old segments; hw is the log end offset if left out
//	clean stable=6 now=+100                        the cleaner looks at the log; stable is the last stable offset
//	remove now=+100                                files that were deleted long enough ago go
//	records                                        what is left in each segment
//	segments, files, checkpoint, power-loss        what is there
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		story := transcript{cleaned: kafka.NoOffset}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			commands := map[string]func(*testing.T, *datadriven.TestData) error{
				"new":        story.new,
				"append":     story.append,
				"epoch":      story.epoch,
				"read":       story.read,
				"timestamp":  story.timestamp,
				"segments":   story.segments,
				"files":      story.files,
				"checkpoint": story.checkpoint,
				"power-loss": story.powerLoss,
				"log-start":  story.logStart,
				"retain":     story.retain,
				"clean":      story.clean,
				"remove":     story.remove,
				"records":    story.records,
			}
			command, known := commands[d.Cmd]
			if !known {
				d.Fatalf(t, "unknown command %s", d.Cmd)
			}
			story.out.Reset()
			if err := command(t, d); err != nil {
				story.say("%v", err)
			}
			return story.out.String()
		})
	})
}

// transcript is the log that a story is about.
type transcript struct {
	disk    *simdisk.Disk
	log     *Log
	cleaned kafka.Offset // the cleaner checkpoint
	out     strings.Builder
}

func (s *transcript) say(format string, args ...any) { fmt.Fprintf(&s.out, format+"\n", args...) }

// at gives the time of a story.
func at(ts kafka.Timestamp) string {
	if ts == kafka.NoTimestamp {
		return "no timestamp"
	}
	return fmt.Sprintf("T%+d", ts-startTime)
}

func parseTime(t *testing.T, d *datadriven.TestData, text string) kafka.Timestamp {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		d.Fatalf(t, "time %q: %v", text, err)
	}
	return startTime + kafka.Timestamp(n)
}

// argument reads name=value, or leaves the default.
func argument[V int | int64 | string | bool](t *testing.T, d *datadriven.TestData, name string, value V) V {
	d.MaybeScanArgs(t, name, &value)
	return value
}

func (s *transcript) new(t *testing.T, d *datadriven.TestData) error {
	config := DefaultConfig()
	config.SegmentBytes = argument(t, d, "segment.bytes", config.SegmentBytes)
	config.SegmentMillis = kafka.Millis(argument(t, d, "segment.ms", int64(config.SegmentMillis)))
	config.SegmentIndexBytes = argument(t, d, "segment.index.bytes", config.SegmentIndexBytes)
	config.IndexIntervalBytes = argument(t, d, "index.interval.bytes", config.IndexIntervalBytes)
	config.MaxMessageBytes = argument(t, d, "max.message.bytes", config.MaxMessageBytes)
	policy := argument(t, d, "cleanup.policy", "delete")
	config.Compact, config.Delete = strings.Contains(policy, "compact"), strings.Contains(policy, "delete")
	config.RetentionBytes = argument(t, d, "retention.bytes", config.RetentionBytes)
	config.RetentionMillis = kafka.Millis(argument(t, d, "retention.ms", int64(config.RetentionMillis)))
	config.MinCompactionLagMillis = kafka.Millis(argument(t, d, "min.compaction.lag.ms", int64(config.MinCompactionLagMillis)))
	config.DeleteRetentionMillis = kafka.Millis(argument(t, d, "delete.retention.ms", int64(config.DeleteRetentionMillis)))
	if ratio, err := strconv.ParseFloat(argument(t, d, "min.cleanable.dirty.ratio", "0.5"), 64); err == nil {
		config.MinCleanableDirtyRatio = ratio
	}
	if argument(t, d, "message.timestamp.type", "CreateTime") == "LogAppendTime" {
		config.MessageTimestampType = record.LogAppendTime
	}
	s.disk, s.cleaned = new(simdisk.Disk), kafka.NoOffset
	s.log = New(s.disk, "orders-0", config, startTime)
	return nil
}

func (s *transcript) append(t *testing.T, d *datadriven.TestData) error {
	now := parseTime(t, d, argument(t, d, "now", "+0"))
	codec, err := record.ParseCodec(argument(t, d, "codec", "none"))
	if err != nil {
		return err
	}
	entries := []entry{{now, "k", "v"}}
	if d.Input != "" {
		entries = nil
		for _, line := range strings.Split(d.Input, "\n") {
			fields := strings.Fields(line)
			if len(fields) != 3 {
				d.Fatalf(t, "record %q: want +ts key value", line)
			}
			entries = append(entries, entry{parseTime(t, d, fields[0]), fields[1], fields[2]})
		}
	}
	epoch := kafka.LeaderEpoch(argument(t, d, "epoch", 0))
	a, err := s.log.Append(buildBatch(record.Options{Codec: codec}, entries...), epoch, now)
	if err != nil {
		return err
	}
	if a.Roll != nil {
		s.say("rolled by %v: %s", a.Roll.Reason, a.Roll.Why)
		if e := a.Roll.TimeEntry; e != nil {
			s.say("time index closed with %s@%d", at(e.Timestamp), e.Offset)
		}
	}
	s.say("offsets %d to %d: %d bytes at %d of segment %d", a.BaseOffset, a.LastOffset, a.Bytes, a.Position, a.SegmentBase)
	if a.LogAppendTime != kafka.NoTimestamp {
		s.say("timestamps became %s", at(a.LogAppendTime))
	}
	if a.IndexEntry != nil {
		s.say("offset index: %d@%d", a.IndexEntry.Offset, a.IndexEntry.Position)
	}
	if a.TimeEntry != nil {
		s.say("time index: %s@%d", at(a.TimeEntry.Timestamp), a.TimeEntry.Offset)
	}
	return nil
}

func (s *transcript) epoch(t *testing.T, d *datadriven.TestData) error {
	s.log.AssignEpochStartOffset(kafka.LeaderEpoch(argument(t, d, "epoch", 0)), s.log.LogEndOffset())
	return s.checkpoint(t, d)
}

func (s *transcript) read(t *testing.T, d *datadriven.TestData) error {
	from := kafka.Offset(argument(t, d, "from", int64(0)))
	upTo := kafka.Offset(argument(t, d, "upto", int64(s.log.LogEndOffset())))
	read, err := s.log.Read(from, argument(t, d, "max", 1<<20), upTo, d.HasArg("min-one"))
	if err != nil {
		return err
	}
	if read.SegmentBase == kafka.NoOffset {
		s.say("nothing")
		return nil
	}
	s.say("segment %d, offset index entry %s, headers read: %d, bytes stepped over: %d",
		read.SegmentBase, entryText(read.Lookup.IndexEntry, read.Lookup.IndexEntryNumber), read.Lookup.BatchesScanned, read.Lookup.BytesScanned())
	s.say("%d bytes from %d: %s", len(read.Bytes), read.Lookup.Position, batchesText(read.Bytes))
	if read.FirstEntryIncomplete {
		s.say("the first batch does not fit")
	}
	return nil
}

// entryText gives an offset index entry with its number.
func entryText(e OffsetEntry, number int) string {
	if number < 0 {
		return "none"
	}
	return fmt.Sprintf("%d (%d@%d)", number, e.Offset, e.Position)
}

// batchesText lists the batches in a fetched piece of a log.
func batchesText(b []byte) string {
	words := []string{"batches"}
	for {
		batch, err := record.Parse(b)
		switch {
		case errors.Is(err, record.ErrTorn):
			return strings.Join(append(words, fmt.Sprintf("and %d bytes of another", len(b))), " ")
		case err != nil:
			return strings.Join(words, " ")
		}
		words = append(words, fmt.Sprintf("[%d-%d]", batch.BaseOffset, batch.LastOffset()))
		b = b[batch.Size():]
	}
}

func (s *transcript) timestamp(t *testing.T, d *datadriven.TestData) error {
	found, err := s.log.OffsetForTimestamp(parseTime(t, d, argument(t, d, "at", "+0")))
	if err != nil {
		return err
	}
	if found.SegmentBase == kafka.NoOffset {
		s.say("none: no segment has a timestamp as large")
		return nil
	}
	timeEntry := "none"
	if found.TimeEntryNumber >= 0 {
		timeEntry = fmt.Sprintf("%d (%s@%d)", found.TimeEntryNumber, at(found.TimeEntry.Timestamp), found.TimeEntry.Offset)
	}
	s.say("segment %d, time index entry %s, offset index entry %s, batches looked at: %d",
		found.SegmentBase, timeEntry, entryText(found.IndexEntry, found.IndexEntryNumber), found.BatchesScanned)
	s.say("offset %d has %s, leader epoch %d", found.Offset, at(found.Timestamp), found.LeaderEpoch)
	return nil
}

func (s *transcript) segments(*testing.T, *datadriven.TestData) error {
	for _, segment := range s.log.Segments() {
		s.say("%d: %d bytes, offsets %d to %d, largest %s", segment.BaseOffset, len(segment.Bytes),
			segment.FirstOffset, segment.LastOffset, at(segment.LargestTimestamp))
		var offsets, times []string
		for _, e := range segment.OffsetEntries() {
			offsets = append(offsets, fmt.Sprintf("%d@%d", e.Offset, e.Position))
		}
		for _, e := range segment.TimeEntries() {
			times = append(times, fmt.Sprintf("%s@%d", at(e.Timestamp), e.Offset))
		}
		s.say("  offset index %v, time index %v", offsets, times)
	}
	s.say("log start offset %d, log end offset %d, %d bytes", s.log.LogStartOffset(), s.log.LogEndOffset(), s.log.Size())
	return nil
}

func (s *transcript) files(*testing.T, *datadriven.TestData) error {
	for _, path := range s.disk.List("orders-0") {
		f, _ := s.disk.Open(path)
		s.say("%s: %d bytes, %d synced", path, s.disk.Size(f), s.disk.Synced(f))
	}
	return nil
}

func (s *transcript) checkpoint(*testing.T, *datadriven.TestData) error {
	f, _ := s.disk.Open("orders-0/" + LeaderEpochCheckpoint)
	if s.disk.Size(f) == 0 {
		s.say("empty")
		return nil
	}
	s.say("%s", strings.TrimSuffix(string(s.disk.Bytes(f)), "\n"))
	return nil
}

func (s *transcript) powerLoss(t *testing.T, d *datadriven.TestData) error {
	s.disk.LoseUnsynced()
	return s.files(t, d)
}
