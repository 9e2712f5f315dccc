package storage

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/kafka"
)

// The numbers are those of runs of Kafka 4.2's own UnifiedLog.

// retain checks with everything replicated.
func retain(l *Log, now kafka.Timestamp) Retention { return l.DeleteOldSegments(l.LogEndOffset(), now) }

// verdicts gives what a rule said of each segment.
func verdicts(r Retention, rule RetentionRule) []SegmentVerdict {
	var list []SegmentVerdict
	for _, s := range r.Checks[rule-1].Segments {
		list = append(list, s.Verdict)
	}
	return list
}

// sevenBatches holds 70 bytes each in segments of 140: 3 × 140 + 70.
func sevenBatches(t *testing.T, change func(*Config)) *Log {
	l := newLog(func(c *Config) {
		c.SegmentBytes = 140
		change(c)
	})
	for ts := range kafka.Timestamp(7) {
		mustAppend(t, l, oneRecord(startTime+ts), 0, startTime+ts)
	}
	return l
}

// §2.6, run of size: 490 bytes, retention.bytes 300: only one segment goes, as without a second one only 210 would be left.
func TestRetentionBySize(t *testing.T) {
	l := sevenBatches(t, func(c *Config) { c.RetentionBytes = 300 })
	r := retain(l, startTime+7)
	if diff := cmp.Diff([]SegmentVerdict{SegmentGoes, SegmentStays, SegmentBehind, SegmentBehind}, verdicts(r, RetentionSize)); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	if l.Size() != 350 || r.LogStartFrom != 0 || r.LogStartTo != 2 || l.LogStartOffset() != 2 {
		t.Errorf("%d bytes from offset %d, want 350 from 2", l.Size(), l.LogStartOffset())
	}
	size := r.Checks[1].Segments
	for i, want := range []string{
		"size 490 - retention.bytes 300 = 190 ≥ 140 bytes of the segment",
		"size 350 - retention.bytes 300 = 50 < 140 bytes of the segment",
		"segment 2 stays, and older ones go first",
	} {
		if size[i].Why != want {
			t.Errorf("segment %d: %s, want %s", size[i].BaseOffset, size[i].Why, want)
		}
	}
	if r.Checks[2].Segments[0].Why != "largest timestamp 4 ms ago ≤ retention.ms 604,800,000" {
		t.Error(r.Checks[2].Segments[0].Why)
	}
}

// retention.bytes=0 is the only limit by which the active segment goes for its size.
func TestRetentionBytesZero(t *testing.T) {
	l := sevenBatches(t, func(c *Config) { c.RetentionBytes = 0 })
	r := retain(l, startTime+7)
	if r.Checks[1].RolledAt != 7 || r.Deleted != 4 || l.LogStartOffset() != 7 || l.Size() != 0 {
		t.Errorf("rolled at %d, %d deleted, log start offset %d", r.Checks[1].RolledAt, r.Deleted, l.LogStartOffset())
	}
	if r := retain(l, startTime+8); r.Deleted != 0 || r.Checks[1].Segments[0].Verdict != SegmentLast {
		t.Errorf("the empty segment: %+v", r)
	}
}

// §2.6, run of time: largest timestamp T+10, retention.ms 1000: at T+1010 the segment stays, at T+1011 it goes,
// although it is the active one: a new one is rolled first and the log begins at its end. Below the log end offset the
// high watermark blocks it.
func TestRetentionByTime(t *testing.T) {
	l := newLog(func(c *Config) { c.RetentionMillis = 1000 })
	mustAppend(t, l, oneRecord(startTime+10), 0, startTime)
	mustAppend(t, l, oneRecord(startTime+5), 0, startTime)
	if r := retain(l, startTime+1010); r.Deleted != 0 || r.Checks[2].Segments[0].Why != "largest timestamp 1,000 ms ago ≤ retention.ms 1,000" {
		t.Fatalf("at T+1010: %+v", r)
	}
	if r := l.DeleteOldSegments(1, startTime+1011); r.Deleted != 0 || r.Checks[2].Segments[0].Why != "reaches up to 2 > high watermark 1" {
		t.Fatalf("high watermark 1: %+v", r)
	}
	r := retain(l, startTime+1011)
	if r.Deleted != 1 || r.Checks[2].RolledAt != 2 || r.Checks[2].Segments[0].Why != "largest timestamp 1,001 ms ago > retention.ms 1,000" {
		t.Errorf("at T+1011: %+v", r)
	}
	if l.LogStartOffset() != 2 || l.LogEndOffset() != 2 || !slices.Equal(bases(l), []kafka.Offset{2}) {
		t.Errorf("offsets %d to %d in segments %v", l.LogStartOffset(), l.LogEndOffset(), bases(l))
	}
	if _, err := l.Read(1, 100, 2, true); codeOf(err) != kerr.OffsetOutOfRange.Code {
		t.Errorf("read below the log start offset: %v", err)
	}
	if a := mustAppend(t, l, oneRecord(startTime+2000), 0, startTime+2000); a.BaseOffset != 2 {
		t.Errorf("the next record has offset %d", a.BaseOffset)
	}
}

// §2.6: a timestamp in the future in the oldest segment keeps all behind it.
func TestFutureTimestampBlocks(t *testing.T) {
	l := newLog(func(c *Config) { c.SegmentBytes, c.RetentionMillis = 70, 1000 })
	mustAppend(t, l, oneRecord(startTime+3_600_000), 0, startTime)
	mustAppend(t, l, oneRecord(startTime), 0, startTime)
	mustAppend(t, l, oneRecord(startTime), 0, startTime)
	r := retain(l, startTime+100_000)
	if r.Deleted != 0 || r.Checks[2].Segments[0].Why != "largest timestamp 3,500,000 ms in the future, retention.ms 1,000" {
		t.Errorf("%+v", r)
	}
	if diff := cmp.Diff([]SegmentVerdict{SegmentStays, SegmentBehind, SegmentBehind}, verdicts(r, RetentionTime)); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
}

// Segments without timestamps count from when they were last written.
func TestRetentionWithoutTimestamps(t *testing.T) {
	l := newLog(func(c *Config) { c.RetentionMillis = 1000 })
	mustAppend(t, l, oneRecord(kafka.NoTimestamp), 0, startTime+50)
	if r := retain(l, startTime+1050); r.Deleted != 0 || r.Checks[2].Segments[0].Why != "no timestamps, last written 1,000 ms ago ≤ retention.ms 1,000" {
		t.Errorf("%+v", r)
	}
	if r := retain(l, startTime+1051); r.Deleted != 1 {
		t.Errorf("%+v", r)
	}
}

// Which rules are asked depends on cleanup.policy and the limits. The log start offset counts always.
func TestRetentionRulesOff(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Config)
		off    []string
		bases  []kafka.Offset
	}{
		"delete":             {func(c *Config) {}, []string{"", "", ""}, []kafka.Offset{7}},
		"compact":            {func(c *Config) { c.Compact, c.Delete = true, false }, []string{"", "cleanup.policy does not contain delete", "cleanup.policy does not contain delete"}, []kafka.Offset{2, 4, 6}},
		"the empty policy":   {func(c *Config) { c.Delete = false }, []string{"", "cleanup.policy does not contain delete", "cleanup.policy does not contain delete"}, []kafka.Offset{2, 4, 6}},
		"compact and delete": {func(c *Config) { c.Compact, c.RetentionMillis = true, -1 }, []string{"", "", "retention.ms is -1: no limit"}, []kafka.Offset{7}},
		"no limit":           {func(c *Config) { c.RetentionMillis, c.RetentionBytes = -1, -1 }, []string{"", "retention.bytes is -1: no limit", "retention.ms is -1: no limit"}, []kafka.Offset{2, 4, 6}},
	} {
		l := sevenBatches(t, func(c *Config) {
			c.RetentionBytes, c.RetentionMillis = 0, 0
			tc.change(c)
		})
		l.IncrementLogStartOffset(3)
		r := retain(l, startTime+100)
		var off []string
		for _, c := range r.Checks {
			off = append(off, c.Off)
		}
		if diff := cmp.Diff(tc.off, off); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if !slices.Equal(bases(l), tc.bases) {
			t.Errorf("%s: segments %v, want %v", name, bases(l), tc.bases)
		}
		if first := r.Checks[0].Segments; first[0].Why != "next segment 2 ≤ log start offset 3" || first[1].Why != "next segment 4 > log start offset 3" {
			t.Errorf("%s: %v", name, first)
		}
	}
}

// The files stay as .deleted until file.delete.delay.ms has passed; a broker that starts removes what is left.
func TestDeletedFiles(t *testing.T) {
	l := sevenBatches(t, func(c *Config) { c.RetentionBytes = 300 })
	retain(l, startTime+7)
	var paths []string
	for _, f := range l.DeletedFiles() {
		paths = append(paths, fmt.Sprintf("%s %d at %s", strings.TrimPrefix(f.Path, "orders-0/00000000000000000000"), f.Bytes, at(f.RemovedAt)))
	}
	want := []string{".log.deleted 140 at T+60007", ".index.deleted 0 at T+60007", ".timeindex.deleted 12 at T+60007"}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if removed := l.RemoveDeletedFiles(startTime + 60006); removed != nil {
		t.Errorf("removed too early: %v", removed)
	}
	if due, ok := l.NextFileRemoval(); due != startTime+60007 || !ok {
		t.Errorf("next removal at %s, %t", at(due), ok)
	}
	clone := l.disk.Clone()
	if removed := l.RemoveDeletedFiles(startTime + 60007); len(removed) != 3 || l.DeletedFiles() != nil {
		t.Errorf("removed %v, left %v", removed, l.DeletedFiles())
	}
	if _, ok := l.NextFileRemoval(); ok {
		t.Error("a removal is due although none is left")
	}
	Open(clone, "orders-0", l.Config(), startTime, false, 0)
	for _, path := range clone.List("") {
		if strings.HasSuffix(path, DeletedSuffix) {
			t.Errorf("%s is left", path)
		}
	}
}

// The bounds of the settings are Kafka's.
func TestCleanupSettings(t *testing.T) {
	for _, tc := range []struct {
		want   string
		change func(*Config)
	}{
		{"", func(c *Config) {
			c.RetentionBytes, c.RetentionMillis, c.FileDeleteDelayMillis, c.DeleteRetentionMillis = -7, -1, 0, 0
		}},
		{"", func(c *Config) {
			c.MinCleanableDirtyRatio, c.MinCompactionLagMillis, c.MaxCompactionLagMillis = 1, 5, 5
		}},
		{"retention.ms is -2, allowed are -1 to 9223372036854775807", func(c *Config) { c.RetentionMillis = -2 }},
		{"file.delete.delay.ms is -1, allowed are 0 to 9223372036854775807", func(c *Config) { c.FileDeleteDelayMillis = -1 }},
		{"delete.retention.ms is -1, allowed are 0 to 9223372036854775807", func(c *Config) { c.DeleteRetentionMillis = -1 }},
		{"min.compaction.lag.ms is -1, allowed are 0 to 9223372036854775807", func(c *Config) { c.MinCompactionLagMillis = -1 }},
		{"min.compaction.lag.ms is 6, more than max.compaction.lag.ms 5", func(c *Config) { c.MinCompactionLagMillis, c.MaxCompactionLagMillis = 6, 5 }},
		{"min.cleanable.dirty.ratio is 1.5, allowed are 0 to 1", func(c *Config) { c.MinCleanableDirtyRatio = 1.5 }},
		{"min.cleanable.dirty.ratio is NaN, allowed are 0 to 1", func(c *Config) { c.MinCleanableDirtyRatio = math.NaN() }},
		{"log.cleaner.dedupe.buffer.size is 47, allowed are 48 to 9223372036854775807", func(c *Config) { c.DedupeBufferBytes = 47 }},
	} {
		config := DefaultConfig()
		tc.change(&config)
		got := ""
		if err := config.Validate(); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}

// STO-01: retention works on whole segments, by the largest timestamp, and a segment that still receives records
// is always young.
func TestSTO01OldRecordsStay(t *testing.T) {
	type moment struct {
		t, start, end int
		segments      []kafka.Offset
	}
	run := func(change func(*Config)) (moments []moment) {
		l := newLog(func(c *Config) {
			c.RetentionMillis = 60_000
			change(c)
		})
		for s := 0; s <= 350; s += 50 {
			now := startTime + kafka.Timestamp(s)*1000
			mustAppend(t, l, oneRecord(now), 0, now)
			retain(l, now)
			moments = append(moments, moment{s, int(l.LogStartOffset()), int(l.LogEndOffset()), bases(l)})
		}
		return moments
	}
	if got := run(func(c *Config) {})[5]; !cmp.Equal(got, moment{250, 0, 6, []kafka.Offset{0}}, cmp.AllowUnexported(moment{})) {
		t.Errorf("segment.ms 7 days: %v", got)
	}
	got := run(func(c *Config) { c.SegmentMillis = 60_000 })
	want := []moment{
		{0, 0, 1, []kafka.Offset{0}}, {50, 0, 2, []kafka.Offset{0}}, {100, 0, 3, []kafka.Offset{0, 2}}, {150, 2, 4, []kafka.Offset{2}},
		{200, 2, 5, []kafka.Offset{2, 4}}, {250, 4, 6, []kafka.Offset{4}}, {300, 4, 7, []kafka.Offset{4, 6}}, {350, 6, 8, []kafka.Offset{6}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(moment{})); diff != "" {
		t.Errorf("segment.ms 60 s (-want +got):\n%s", diff)
	}
}

// STO-03: with retention.ms of 10 minutes the first record can be read for 25 and its file is there for 26.
func TestSTO03HowLongARecordLives(t *testing.T) {
	l := newLog(func(c *Config) { c.RetentionMillis, c.SegmentMillis = 600_000, 600_000 })
	var rolled, deleted, removed int
	for s := 0; removed == 0 && s < 3600; s += 5 {
		now := startTime + kafka.Timestamp(s)*1000
		if len(l.RemoveDeletedFiles(now)) > 0 {
			removed = s
		}
		if a := mustAppend(t, l, oneRecord(now), 0, now); a.Roll != nil && rolled == 0 {
			rolled = s
		}
		if s%300 == 0 {
			if r := retain(l, now); r.Deleted > 0 && deleted == 0 {
				deleted = s
				if l.LogStartOffset() != 121 {
					t.Errorf("log start offset %d, want 121", l.LogStartOffset())
				}
			}
		}
	}
	if rolled != 605 || deleted != 1500 || removed != 1560 {
		t.Errorf("rolled at %d s, deleted at %d s, file removed at %d s, want 605, 1500, 1560", rolled, deleted, removed)
	}
}

// STO-04: a timestamp in the future is refused; where it is allowed, it makes the log roll and then keeps its
// segment. The case has record 3 in a segment of its own, which takes a roll that no setting of it brings about: by its
// timestamp Kafka 4.2 puts it into segment 1. Either way it stays as long as what is ahead of it.
func TestSTO04FutureTimestamp(t *testing.T) {
	const day = 24 * 60 * 60 * 1000
	setUp := func(change func(*Config)) *Log {
		l := newLog(func(c *Config) {
			c.RetentionMillis = 60_000
			change(c)
		})
		mustAppend(t, l, oneRecord(startTime), 0, startTime)
		return l
	}
	if _, err := setUp(func(*Config) {}).Append(oneRecord(startTime+10*day), 0, startTime); codeOf(err) != kerr.InvalidTimestamp.Code {
		t.Errorf("by default: %v", err)
	}
	for _, segments := range [][]kafka.Offset{{1, 3}, {1}} {
		l := setUp(func(c *Config) { c.TimestampAfterMaxMillis = math.MaxInt64 })
		mustAppend(t, l, oneRecord(startTime+10*day), 0, startTime)
		mustAppend(t, l, oneRecord(startTime), 0, startTime)
		if !slices.Equal(bases(l), []kafka.Offset{0, 1}) {
			t.Errorf("segments %v, want 0 and 1", bases(l))
		}
		now := startTime + 120_000
		if retain(l, now); l.LogStartOffset() != 1 {
			t.Errorf("after 2 minutes: log start offset %d, want 1", l.LogStartOffset())
		}
		if len(segments) == 2 {
			l.roll(3, now)
		}
		mustAppend(t, l, oneRecord(now), 0, now)
		if retain(l, now+60_001); l.LogStartOffset() != 1 || !slices.Equal(bases(l), segments) {
			t.Errorf("after record 3: segments %v from %d, want %v from 1", bases(l), l.LogStartOffset(), segments)
		}
		now = startTime + 10*day + 60_001
		if retain(l, now); l.LogStartOffset() != 4 || l.LogEndOffset() != 4 {
			t.Errorf("after 10 days: offsets %d to %d, want 4 to 4", l.LogStartOffset(), l.LogEndOffset())
		}
	}
}

// What is foreseen of old segments is what then happens to them.
func TestForeseeOldSegments(t *testing.T) {
	for seed := range uint64(20) {
		l := randomLog(t, rand.New(rand.NewPCG(seed, 8)))
		l.config.RetentionBytes, l.config.RetentionMillis, l.config.Delete = int(seed)*200, kafka.Millis(seed)*50, true
		for _, after := range []kafka.Timestamp{0, 500, 10_000} {
			foreseen := l.Clone(l.disk.Clone()).ForeseeOldSegments(l.LogEndOffset(), startTime+after)
			done := l.Clone(l.disk.Clone()).DeleteOldSegments(l.LogEndOffset(), startTime+after)
			if diff := cmp.Diff(done, foreseen); diff != "" {
				t.Errorf("seed %d, T+%d (-done +foreseen):\n%s", seed, after, diff)
			}
		}
	}
}
