package storage

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/simdisk"
)

// §1.4: the batches that Kafka's own code wrote.
var (
	v1 = unhex(`0000000000000000 0000003a ffffffff 02 e99b8dd8 0000 00000000 0000018bcfe56800 0000018bcfe56800
		ffffffffffffffff ffff ffffffff 00000001 10000000026b027600`)
	v1b = unhex(`000000000000002a 0000003a 00000003 02 24f5855f 0008 00000000 0000018bcfe56800 0000018bcfe56be8
		ffffffffffffffff ffff ffffffff 00000001 10000000026b027600`)
	v2 = unhex(`0000000000000000 0000005c ffffffff 02 a7359323 0010 00000002 0000018bcfe56800 0000018bcfe56805
		00000000000003e8 0002 00000005 00000003
		1a0000000c757365722d31026100 2a000a020c757365722d3101 04 046831 0278 046832 01 0c000504010000`)
)

// V1b: under LogAppendTime the leader writes type, maxTimestamp and CRC anew; the base timestamp stays.
func TestAppendLogAppendTimeV1b(t *testing.T) {
	l := newLog(func(c *Config) { c.MessageTimestampType = record.LogAppendTime })
	for range 42 {
		mustAppend(t, l, v1, 3, startTime)
	}
	message := bytes.Clone(v1)
	appended := mustAppend(t, l, message, 3, startTime+1000)
	if appended.LogAppendTime != startTime+1000 {
		t.Errorf("LogAppendTime is %d, want T+1000", appended.LogAppendTime)
	}
	if diff := cmp.Diff(v1b, l.Segments()[0].Bytes[appended.Position:]); diff != "" {
		t.Errorf("stored batch (-V1b +got):\n%s", diff)
	}
	if !bytes.Equal(message, v1) {
		t.Error("the producer's message was written")
	}
}

// V2b: the leader changes the first 16 bytes, nothing from magic on.
func TestAppendStampsOffsetAndEpochV2b(t *testing.T) {
	l := newLog(nil)
	for range 100 {
		mustAppend(t, l, v1, 6, startTime)
	}
	message := bytes.Clone(v2)
	appended := mustAppend(t, l, message, 7, startTime)
	if appended.BaseOffset != 100 || appended.LastOffset != 102 || appended.LogAppendTime != kafka.NoTimestamp {
		t.Errorf("appended %+v, want offsets 100 to 102 and no LogAppendTime", appended)
	}
	want := append(unhex("0000000000000064 0000005c 00000007"), v2[16:]...)
	if diff := cmp.Diff(want, l.Segments()[0].Bytes[appended.Position:]); diff != "" {
		t.Errorf("stored batch (-V2b +got):\n%s", diff)
	}
	if !bytes.Equal(message, v2) {
		t.Error("the producer's message was written")
	}
}

// §2.1: a fresh partition's files; §2.2: leader-epoch-checkpoint is empty until an epoch begins.
func TestFilesOfAFreshPartition(t *testing.T) {
	var disk simdisk.Disk
	New(&disk, "orders-0", DefaultConfig(), startTime)
	want := []string{
		"orders-0/00000000000000000000.index",
		"orders-0/00000000000000000000.log",
		"orders-0/00000000000000000000.timeindex",
		"orders-0/leader-epoch-checkpoint",
	}
	if diff := cmp.Diff(want, disk.List("orders-0")); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for _, path := range want {
		if f, _ := disk.Open(path); disk.Size(f) != 0 {
			t.Errorf("%s has %d bytes, want 0", path, disk.Size(f))
		}
	}
}

// §2.2, base 100: (102@0), (150@4200).
func TestOffsetIndexBytesAndLookups(t *testing.T) {
	entries := []OffsetEntry{{102, 0}, {150, 4200}}
	var b []byte
	for _, e := range entries {
		b = appendOffsetEntry(b, 100, e)
	}
	if want := unhex("00000002 00000000 00000032 00001068"); !bytes.Equal(b, want) {
		t.Fatalf("bytes are %x, want %x", b, want)
	}
	parsed, err := ParseOffsetIndex(b, 100)
	if diff := cmp.Diff(entries, parsed); diff != "" || err != nil {
		t.Errorf("parsed: %v (-want +got):\n%s", err, diff)
	}
	lookups := []struct {
		target kafka.Offset
		want   OffsetEntry
		number int
	}{
		{101, OffsetEntry{100, 0}, -1},
		{102, OffsetEntry{102, 0}, 0},
		{149, OffsetEntry{102, 0}, 0},
		{999, OffsetEntry{150, 4200}, 1},
	}
	for _, l := range lookups {
		if got, number := lookupOffset(b, 100, l.target, nil); got != l.want || number != l.number {
			t.Errorf("lookup %d: %v number %d, want %v number %d", l.target, got, number, l.want, l.number)
		}
	}
}

// §2.2, base 100: (T+5,102), (T+5,150) which is ignored, (T+900,151).
func TestTimeIndexBytes(t *testing.T) {
	var disk simdisk.Disk
	s := segment{base: 100, timeIndex: disk.Create("timeindex"), lastTimeIndexed: kafka.NoTimestamp}
	for _, e := range []TimeEntry{{startTime + 5, 102}, {startTime + 5, 150}, {startTime + 900, 151}} {
		s.largest = e
		s.maybeAppendTimeEntry(&disk)
	}
	b := disk.Bytes(s.timeIndex)
	if want := unhex("0000018bcfe5680500000002 0000018bcfe56b8400000033"); !bytes.Equal(b, want) {
		t.Fatalf("bytes are %x, want %x", b, want)
	}
	parsed, err := ParseTimeIndex(b, 100)
	if diff := cmp.Diff([]TimeEntry{{startTime + 5, 102}, {startTime + 900, 151}}, parsed); diff != "" || err != nil {
		t.Errorf("parsed: %v (-want +got):\n%s", err, diff)
	}
	lookups := []struct {
		target kafka.Timestamp
		want   TimeEntry
		number int
	}{
		{startTime + 4, TimeEntry{kafka.NoTimestamp, 100}, -1},
		{startTime + 5, TimeEntry{startTime + 5, 102}, 0},
		{startTime + 899, TimeEntry{startTime + 5, 102}, 0},
		{startTime + 900, TimeEntry{startTime + 900, 151}, 1},
	}
	for _, l := range lookups {
		if got, number := lookupTime(b, 100, l.target, nil); got != l.want || number != l.number {
			t.Errorf("lookup %d: %v number %d, want %v number %d", l.target, got, number, l.want, l.number)
		}
	}
}

// §2.2: the text of leader-epoch-checkpoint; the rest is the rule of LeaderEpochFileCache.assign.
func TestLeaderEpochCheckpoint(t *testing.T) {
	tests := []struct {
		name   string
		assign []EpochEntry
		want   string
	}{
		{"the example of §2.2", []EpochEntry{{0, 0}, {2, 2}, {5, 5}, {6, 6}}, "0\n4\n0 0\n2 2\n5 5\n6 6\n"},
		{"the latest epoch again", []EpochEntry{{3, 10}, {3, 12}}, "0\n1\n3 10\n"},
		{"an epoch that appended nothing gives way", []EpochEntry{{3, 10}, {4, 20}, {5, 20}}, "0\n2\n3 10\n5 20\n"},
		{"a lower start takes the entries above it away", []EpochEntry{{3, 10}, {4, 20}, {5, 30}, {6, 15}}, "0\n2\n3 10\n6 15\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newLog(nil)
			for _, e := range tt.assign {
				l.AssignEpochStartOffset(e.Epoch, e.StartOffset)
			}
			f, _ := l.disk.Open("orders-0/leader-epoch-checkpoint")
			if got := string(l.disk.Bytes(f)); got != tt.want {
				t.Errorf("checkpoint is %q, want %q", got, tt.want)
			}
			if l.disk.Synced(f) != l.disk.Size(f) {
				t.Errorf("%d of %d bytes are synced", l.disk.Synced(f), l.disk.Size(f))
			}
		})
	}
}

// §2.3: ten batches of one record, 70 bytes each, offset i with timestamp T+i.
func TestIndexEntries(t *testing.T) {
	tests := []struct {
		interval int
		offsets  []OffsetEntry
		times    []TimeEntry
	}{
		{
			200,
			[]OffsetEntry{{3, 210}, {6, 420}, {9, 630}},
			[]TimeEntry{{startTime + 3, 3}, {startTime + 6, 6}, {startTime + 9, 9}},
		},
		{
			0,
			[]OffsetEntry{{1, 70}, {2, 140}, {3, 210}, {4, 280}, {5, 350}, {6, 420}, {7, 490}, {8, 560}, {9, 630}},
			[]TimeEntry{
				{startTime + 1, 1}, {startTime + 2, 2}, {startTime + 3, 3}, {startTime + 4, 4}, {startTime + 5, 5},
				{startTime + 6, 6}, {startTime + 7, 7}, {startTime + 8, 8}, {startTime + 9, 9},
			},
		},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("interval %d", tt.interval), func(t *testing.T) {
			l := newLog(func(c *Config) { c.IndexIntervalBytes = tt.interval })
			var offsets []OffsetEntry
			var times []TimeEntry
			for i := range kafka.Timestamp(10) {
				appended := mustAppend(t, l, oneRecord(startTime+i), 0, startTime)
				if appended.Bytes != 70 {
					t.Fatalf("the batch has %d bytes, want 70", appended.Bytes)
				}
				if appended.IndexEntry != nil {
					offsets = append(offsets, *appended.IndexEntry)
				}
				if appended.TimeEntry != nil {
					times = append(times, *appended.TimeEntry)
				}
			}
			s := l.Segments()[0]
			for _, got := range [][]OffsetEntry{offsets, s.OffsetEntries()} {
				if diff := cmp.Diff(tt.offsets, got); diff != "" {
					t.Errorf("offset index (-want +got):\n%s", diff)
				}
			}
			for _, got := range [][]TimeEntry{times, s.TimeEntries()} {
				if diff := cmp.Diff(tt.times, got); diff != "" {
					t.Errorf("time index (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// §2.3: an entry is due when strictly more than the interval has been appended.
func TestIndexIntervalIsStrict(t *testing.T) {
	for interval, want := range map[int]kafka.Offset{209: 3, 210: 4} {
		l := newLog(func(c *Config) { c.IndexIntervalBytes = interval })
		for range 5 {
			mustAppend(t, l, v1, 0, startTime)
		}
		if entries := l.Segments()[0].OffsetEntries(); len(entries) != 1 || entries[0].Offset != want {
			t.Errorf("interval %d: entries %v, want one for offset %d", interval, entries, want)
		}
	}
}

// §2.5, vector of rule 1: four batches of 70 bytes fit into 280; and the extra time entry of §2.3.
func TestRollBySize(t *testing.T) {
	l := newLog(func(c *Config) { c.SegmentBytes = 280 })
	for i := range kafka.Timestamp(4) {
		if roll := mustAppend(t, l, oneRecord(startTime+i), 0, startTime).Roll; roll != nil {
			t.Errorf("batch %d rolled: %s", i, roll.Why)
		}
	}
	fifth := mustAppend(t, l, oneRecord(startTime), 0, startTime)
	want := &Roll{
		Base:      4,
		Reason:    RollSize,
		Why:       "size 280 + 70 > segment.bytes 280",
		TimeEntry: &TimeEntry{startTime + 3, 3},
	}
	if diff := cmp.Diff(want, fifth.Roll); diff != "" {
		t.Errorf("roll of batch 4 (-want +got):\n%s", diff)
	}
	if fifth.SegmentBase != 4 || fifth.Position != 0 {
		t.Errorf("batch 4 is at byte %d of segment %d, want 0 of 4", fifth.Position, fifth.SegmentBase)
	}
	if diff := cmp.Diff([]TimeEntry{{startTime + 3, 3}}, l.Segments()[0].TimeEntries()); diff != "" {
		t.Errorf("time index of the sealed segment (-want +got):\n%s", diff)
	}
}

// §2.5, rule 2: time is told by timestamps at the append, not by the clock (trap 9).
func TestRollByTime(t *testing.T) {
	thousand := func(c *Config) { c.SegmentMillis = 1000 }
	tests := []struct {
		name   string
		change func(*Config)
		first  kafka.Timestamp
		next   kafka.Timestamp
		now    kafka.Timestamp // clock of the second append; the first and New have T
		why    string          // "" for no roll
	}{
		{"T+1000 does not roll", thousand, startTime, startTime + 1000, startTime, ""},
		{"T+1001 rolls", thousand, startTime, startTime + 1001, startTime, "1,001 ms after the segment's first batch > segment.ms 1,000"},
		{"an idle partition does not roll", thousand, startTime, startTime + 1000, startTime + 100_000, ""},
		{"100 s of clock and the same timestamp do not roll", thousand, startTime + 3001, startTime + 3001, startTime + 100_000, ""},
		{"an older timestamp does not roll", thousand, startTime, startTime - 5000, startTime + 100_000, ""},
		{"without timestamps the clock counts: 1000 ms", thousand, kafka.NoTimestamp, kafka.NoTimestamp, startTime + 1000, ""},
		{"without timestamps the clock counts: 1001 ms", thousand, kafka.NoTimestamp, kafka.NoTimestamp, startTime + 1001,
			"1,001 ms since the segment was created > segment.ms 1,000"},
		{"compaction lag", func(c *Config) { c.Compact, c.MaxCompactionLagMillis = true, 500 }, startTime, startTime + 501, startTime,
			"501 ms after the segment's first batch > max.compaction.lag.ms 500"},
		{"compaction lag without compaction", func(c *Config) { c.MaxCompactionLagMillis = 500 }, startTime, startTime + 501, startTime, ""},
		{"compaction lag above segment.ms", func(c *Config) { c.Compact, c.MaxCompactionLagMillis, c.SegmentMillis = true, 2000, 1000 },
			startTime, startTime + 1001, startTime, "1,001 ms after the segment's first batch > segment.ms 1,000"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newLog(tt.change)
			mustAppend(t, l, oneRecord(tt.first), 0, startTime)
			roll := mustAppend(t, l, oneRecord(tt.next), 0, tt.now).Roll
			if (roll != nil) != (tt.why != "") || roll != nil && (roll.Reason != RollTime || roll.Why != tt.why) {
				t.Errorf("roll is %+v, want %q", roll, tt.why)
			}
		})
	}
}

// §2.5, rules 3 and 4: an index that is full; the time index keeps one slot for the roll.
func TestRollByFullIndex(t *testing.T) {
	tests := []struct {
		name       string
		indexBytes int
		step       kafka.Timestamp // between timestamps; 0 writes one time entry only
		reason     RollReason
		why        string
		base       kafka.Offset // where the second segment begins
	}{
		// 36 bytes are 4 slots in the offset index and 3 - 1 in the time index. Batch 0 has no entry;
		// with one timestamp for all, batches 1 to 4 fill the offset index and batch 5 rolls.
		{"offset index", 36, 0, RollOffsetIndexFull, "offset index has 4 entries ≥ segment.index.bytes 36 / 8", 5},
		{"time index", 36, 1, RollTimeIndexFull, "time index has 2 entries ≥ segment.index.bytes 36 / 12 - 1", 3},
		// The smallest index has no slot at all: every batch has a segment of its own.
		{"no slot", 4, 0, RollOffsetIndexFull, "offset index has 0 entries ≥ segment.index.bytes 4 / 8", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newLog(func(c *Config) { c.IndexIntervalBytes, c.SegmentIndexBytes = 0, tt.indexBytes })
			var rolls []Roll
			for i := range kafka.Timestamp(6) {
				if roll := mustAppend(t, l, oneRecord(startTime+i*tt.step), 0, startTime).Roll; roll != nil {
					rolls = append(rolls, *roll)
				}
			}
			if len(rolls) == 0 || rolls[0].Reason != tt.reason || rolls[0].Why != tt.why || rolls[0].Base != tt.base {
				t.Errorf("rolls are %+v, want %q at %d", rolls, tt.why, tt.base)
			}
			for _, s := range l.Segments() {
				if len(s.OffsetIndex) > tt.indexBytes || len(s.TimeIndex) > max(tt.indexBytes, timeEntrySize) {
					t.Errorf("segment %d: indexes have %d and %d bytes, allowed are %d", s.BaseOffset, len(s.OffsetIndex), len(s.TimeIndex), tt.indexBytes)
				}
			}
		})
	}
}

// §2.5, rule 5: an index entry holds an int32.
func TestRollByOffsetRange(t *testing.T) {
	for end, rolls := range map[kafka.Offset]bool{math.MaxInt32: false, math.MaxInt32 + 1: true} {
		l := newLog(nil)
		mustAppend(t, l, v1, 0, startTime)
		l.logEndOffset = end
		roll := mustAppend(t, l, v1, 0, startTime).Roll
		if (roll != nil) != rolls || roll != nil && roll.Why != "last offset 2,147,483,648 - base offset 0 > 2,147,483,647, the greatest int32" {
			t.Errorf("offset %d: roll is %+v, want one: %v", end, roll, rolls)
		}
	}
}

// STO-03: a record every 5 s, segment.ms 600000.
func TestRollSTO03(t *testing.T) {
	l := newLog(func(c *Config) { c.SegmentMillis = 600_000 })
	for at := kafka.Timestamp(0); ; at += 5000 {
		if roll := mustAppend(t, l, oneRecord(startTime+at), 0, startTime+at).Roll; roll != nil {
			if first := l.Segments()[0]; at != 605_000 || first.BaseOffset != 0 || first.LastOffset != 120 {
				t.Errorf("rolled at %d ms, offsets %d to %d; want 605000, 0 to 120", at, first.BaseOffset, first.LastOffset)
			}
			return
		}
	}
}

// STO-04: now, now+10 days, now. The far timestamp is refused by default; allowed, it makes the log
// roll.
func TestRollSTO04(t *testing.T) {
	tenDays := startTime + 10*24*60*60*1000
	byDefault := newLog(nil)
	mustAppend(t, byDefault, oneRecord(startTime), 0, startTime)
	if _, err := byDefault.Append(oneRecord(tenDays), 0, startTime); codeOf(err) != 32 {
		t.Errorf("by default: %v, want INVALID_TIMESTAMP (32)", err)
	}
	unlimited := newLog(func(c *Config) { c.TimestampAfterMaxMillis = math.MaxInt64 })
	for _, ts := range []kafka.Timestamp{startTime, tenDays, startTime} {
		mustAppend(t, unlimited, oneRecord(ts), 0, startTime)
	}
	if diff := cmp.Diff([]kafka.Offset{0, 1}, bases(unlimited)); diff != "" {
		t.Errorf("segments (-want +got):\n%s", diff)
	}
}

// A sealed segment survives a power loss; the active one, which nobody has synced, does not.
func TestRollSyncsTheOldSegment(t *testing.T) {
	l := newLog(func(c *Config) { c.SegmentBytes = 140 })
	for range 3 {
		mustAppend(t, l, v1, 0, startTime)
	}
	l.disk.LoseUnsynced()
	sizes := map[string]int{}
	for _, path := range l.disk.List("orders-0") {
		f, _ := l.disk.Open(path)
		sizes[path] = l.disk.Size(f)
	}
	want := map[string]int{
		"orders-0/00000000000000000000.index":     0,
		"orders-0/00000000000000000000.log":       140,
		"orders-0/00000000000000000000.timeindex": 12,
		"orders-0/00000000000000000002.index":     0,
		"orders-0/00000000000000000002.log":       0,
		"orders-0/00000000000000000002.snapshot":  10,
		"orders-0/00000000000000000002.timeindex": 0,
		"orders-0/leader-epoch-checkpoint":        len("0\n1\n0 0\n"),
	}
	if diff := cmp.Diff(want, sizes); diff != "" {
		t.Errorf("file sizes after a power loss (-want +got):\n%s", diff)
	}
}

// §2.8: the defaults of Kafka 4.2.
func TestDefaultConfig(t *testing.T) {
	want := Config{
		SegmentBytes: 1073741824, SegmentMillis: 604800000, SegmentIndexBytes: 10485760, IndexIntervalBytes: 4096,
		MaxMessageBytes: 1048588, MessageTimestampType: record.CreateTime,
		TimestampBeforeMaxMillis: math.MaxInt64, TimestampAfterMaxMillis: 3600000,
		Delete: true, RetentionBytes: -1, RetentionMillis: 604800000, FileDeleteDelayMillis: 60000,
		MinCleanableDirtyRatio: 0.5, MaxCompactionLagMillis: math.MaxInt64, DeleteRetentionMillis: 86400000, DedupeBufferBytes: 134217728,
		ProducerIDExpirationMillis: 86400000,
	}
	if diff := cmp.Diff(want, DefaultConfig()); diff != "" {
		t.Errorf("defaults (-§2.8 +got):\n%s", diff)
	}
	if err := DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
}
