package enginetest

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// kept makes a broker that looks after its logs, with one partition whose records have 70 bytes in a batch of its
// own: each segment takes that many records.
func kept(recordsPerSegment int) *engine.Spec {
	spec := orders(1, 0)
	spec.TickMillis, spec.Latency, spec.Group = 1000, 1, engine.GroupSpec{}
	spec.Cluster.Logs = engine.DefaultLogSettings()
	spec.Topic.Config.SegmentBytes = recordsPerSegment * 70
	spec.Producers[0].Config.Linger = 0
	return spec
}

// segments gives the base offsets of partition 0's segments.
func segments(c *engine.Cluster) (list []kafka.Offset) {
	for _, s := range c.View().Partitions[0].Log.Segments {
		list = append(list, s.BaseOffset)
	}
	return list
}

// OFF-11: a group was away longer than retention. Its commit is out of range; where it goes on is auto.offset.reset's word.
func TestOFF11(t *testing.T) {
	for _, test := range []struct {
		policy   string
		position kafka.Offset
		unseen   []int
	}{{"earliest", 7, span(5, 6)}, {"latest", 10, span(5, 9)}, {"none", 5, span(5, 9)}} {
		spec := kept(7)
		spec.Topic.Config.RetentionMillis = 28 * 60_000
		addGroup(spec, "b", 2)
		everyMember(spec, func(c *engine.ConsumerConfig) { c.AutoOffsetReset, c.Group.AutoCommit = "earliest", true })
		spec.Groups[0].Members[1].Config.AutoOffsetReset, spec.Groups[0].Members[1].Off = test.policy, true
		c := start(t, spec)
		produce(t, c, 5)
		give(t, c, "wait 6s", "leave b-1", "wait 5s")
		produce(t, c, 2)
		expectCommitted(t, c, "b", "orders-0", "away", 5, 2)
		give(t, c, "wait 40m")
		produce(t, c, 3)
		if v := c.View().Partitions[0].Log; v.LogStartOffset != 7 || v.LogEndOffset != 10 {
			t.Fatalf("%s: the log is %d to %d, want 7 to 10", test.policy, v.LogStartOffset, v.LogEndOffset)
		}
		expectCommitted(t, c, "b", "orders-0", "before it starts again", 5, 5)
		from := c.Journal().Len()
		give(t, c, "start b-2", "wait 4s")
		failed := since[journal.FetchFailed](c, from, "b-2")
		if len(failed) != 1 || failed[0].Error != "OFFSET_OUT_OF_RANGE" {
			t.Errorf("%s: failed fetches %+v, want one with OFFSET_OUT_OF_RANGE", test.policy, failed)
		}
		moved, ended := since[journal.PositionReset](c, from, "b-2"), since[journal.ConsumerFailed](c, from, "b-2")
		if test.policy == "none" {
			if len(moved) != 0 || len(ended) != 1 || !strings.Contains(ended[0].Error, "OffsetOutOfRangeException") {
				t.Errorf("none: moved %+v, ended %+v; want an OffsetOutOfRangeException", moved, ended)
			}
		} else if len(moved) != 1 || moved[0].To != test.position {
			t.Errorf("%s: moved %+v, want to %d", test.policy, moved, test.position)
		}
		expectFate(t, c, "b", "orders-0", "never seen", undone, test.unseen)
	}
}

// produce hands in records of 70 bytes one after another, each in a batch of its own.
func produce(t *testing.T, c *engine.Cluster, records int) {
	t.Helper()
	for range records {
		give(t, c, "produce p0 k v", "wait 50ms")
	}
}

// The check of retention comes 30 s after a broker's start and every 5 minutes from then on; a segment that is
// deleted leaves the disk 60 s later. STO-03's records, one every 5 s with 10 minutes for segment.ms and retention.ms.
func TestRetentionTimers(t *testing.T) {
	spec := kept(1 << 20)
	spec.TickMillis = 5000
	spec.Topic.Config.SegmentMillis, spec.Topic.Config.RetentionMillis = 600_000, 600_000
	spec.Producers[0].Workload = engine.Workload{Entities: []string{"k"}, Rate: 1, Every: 5000}
	c := start(t, spec)
	tick(t, c, 320) // 1,600 s
	deleted := since[journal.SegmentsDeleted](c, 0, "")
	if len(deleted) != 1 || !slices.Equal(deleted[0].Segments, []kafka.Offset{0}) || deleted[0].LogStartTo != 121 || deleted[0].Rule != "retention.ms" {
		t.Fatalf("deleted %+v, want segment 0 by retention.ms and the log to begin at 121", deleted)
	}
	if got := segments(c); got[0] != 121 {
		t.Errorf("the segments begin at %d, want 121", got[0])
	}
	removed := since[journal.FilesRemoved](c, 0, "")
	if want := []string{"00000000000000000000.log.deleted", "00000000000000000000.index.deleted", "00000000000000000000.timeindex.deleted"}; len(removed) != 1 || !slices.Equal(removed[0].Files, want) {
		t.Errorf("removed %+v, want %v", removed, want)
	}
}

// What a check finds that deletes nothing is told once, with the reason.
func TestNothingToDelete(t *testing.T) {
	spec := kept(2)
	spec.Topic.Config.RetentionBytes = 1000
	c := start(t, spec)
	produce(t, c, 5)
	give(t, c, "wait 30m")
	told := since[journal.SegmentsKept](c, 0, "")
	last := told[len(told)-1]
	if len(told) != 1 || len(last.Why) != 3 || last.Why[1] != "size 350 < retention.bytes 1,000" || !strings.HasSuffix(last.Why[2], "ms ago ≤ retention.ms 604,800,000") {
		t.Errorf("told %+v", told)
	}
}

// compacted makes a compacted partition that is cleaned as soon as anything is dirty, in segments of six records.
func compacted() *engine.Spec {
	spec := kept(6)
	spec.Topic.Config.Compact, spec.Topic.Config.Delete = true, false
	spec.Topic.Config.MinCleanableDirtyRatio, spec.Topic.Config.DeleteRetentionMillis = 0, 1000
	return spec
}

// STO-06 and -07 on a broker: the cleaner wakes up by itself, leaves the active segment, and takes a tombstone a
// second after it has met it.
func TestCleanerTimer(t *testing.T) {
	spec := compacted()
	spec.Topic.Config.SegmentBytes = 6*70 - 1 // the tombstone has a byte less
	c := start(t, spec)
	for _, text := range []string{"produce p0 A 1", "produce p0 B 1", "produce p0 A 2", "produce p0 C 1", "tombstone p0 B", "produce p0 A 3"} {
		give(t, c, text, "wait 50ms")
	}
	six := []string{"0:1", "1:1", "2:2", "3:1", "4:", "5:3"}
	give(t, c, "wait 20s")
	if got := contents(t, c, 0); !slices.Equal(got, six) {
		t.Errorf("all in the active segment: %v, want %v", got, six)
	}
	left := since[journal.LogNotCleaned](c, 0, "")
	if len(left) != 1 || !strings.Contains(left[0].Why, "no dirty bytes below offset 0") {
		t.Errorf("told %+v, want once that there is nothing below offset 0", left)
	}
	give(t, c, "produce p0 A 4", "wait 50ms", "run-cleaner b1")
	if got, want := contents(t, c, 0), []string{"3:1", "4:", "5:3", "6:4"}; !slices.Equal(got, want) {
		t.Errorf("after the first cleaning: %v, want %v", got, want)
	}
	cleaned := last[journal.LogCleaned](t, c, "b1")
	if cleaned.FirstDirtyOffset != 0 || cleaned.Checkpoint != 6 || !slices.Equal(cleaned.Tombstones, []kafka.Offset{4}) || cleaned.Keys != 3 ||
		!slices.Equal(cleaned.Removed, []journal.RemovedRecord{{Offset: 0, Reason: "superseded", By: 5}, {Offset: 1, Reason: "superseded", By: 4}, {Offset: 2, Reason: "superseded", By: 5}}) {
		t.Errorf("cleaned %+v", cleaned)
	}
	produce(t, c, 6) // offsets 7 to 12: another segment becomes dirty
	give(t, c, "wait 20s")
	if got := contents(t, c, 0); slices.Contains(got, "4:") {
		t.Errorf("a second after its horizon the tombstone is still there: %v", got)
	}
	done := last[journal.LogCleaned](t, c, "b1").Checkpoint
	from := c.Journal().Len()
	give(t, c, "kill b1", "start b1", "wait 20s") // the file cleaner-offset-checkpoint says how far it had come
	produce(t, c, 6)
	give(t, c, "wait 20s")
	if again := since[journal.LogCleaned](c, from, "b1"); len(again) != 1 || again[0].FirstDirtyOffset != done {
		t.Errorf("after a restart the cleaner begins with %+v, want at %d", again, done)
	}
}

// A consumer that reads a cleaned log steps over the gaps, and over batches that are empty.
func TestReadsOverGaps(t *testing.T) {
	spec := compacted()
	addGroup(spec, "b", 1)
	spec.Groups[0].Members[0].Off = true
	spec.Groups[0].Members[0].Config.AutoOffsetReset = "earliest"
	spec.Producers[0].Config.EnableIdempotence = engine.IdempotenceOn
	c := start(t, spec)
	produce(t, c, 20)
	give(t, c, "run-cleaner b1", "start b-1", "wait 10s")
	have := contents(t, c, 0)
	if len(have) >= 20 {
		t.Fatalf("nothing was cleaned: %v", have)
	}
	read := 0
	for _, m := range group(t, c, "b").Members {
		for _, a := range m.Assignment {
			read += a.Read
			if a.Position != 20 {
				t.Errorf("the member is at %d, want 20", a.Position)
			}
		}
	}
	if read != len(have) {
		t.Errorf("the member has read %d records, the log has %v", read, have)
	}
}

// DeleteRecords moves the log start offset at once, to the middle of a segment too; the segments below it go with the
// next check, and only then.
func TestDeleteRecords(t *testing.T) {
	c := start(t, kept(2))
	produce(t, c, 7)
	give(t, c, "delete-records orders-0 @5", "wait 1s")
	if v := c.View().Partitions[0].Log; v.LogStartOffset != 5 || !slices.Equal(segments(c), []kafka.Offset{0, 2, 4, 6}) {
		t.Errorf("the log begins at %d with the segments %v, want 5 and 0, 2, 4, 6", v.LogStartOffset, segments(c))
	}
	give(t, c, "check-retention b1")
	if got := segments(c); !slices.Equal(got, []kafka.Offset{4, 6}) {
		t.Errorf("after the check the segments are %v, want 4, 6", got)
	}
	give(t, c, "delete-records orders-0 @8", "wait 1s")
	refused := last[journal.RequestRefused](t, c, "admin")
	if refused.Error != "OFFSET_OUT_OF_RANGE" {
		t.Errorf("above the high watermark: %+v, want OFFSET_OUT_OF_RANGE", refused)
	}
}

// The followers take the log start offset from the leader and clean and delete by themselves; a new one begins where the
// leader's log does.
func TestRetentionOfReplicas(t *testing.T) {
	spec := kept(2)
	spec.Cluster = engine.DefaultCluster(3)
	spec.Cluster.Logs = engine.DefaultLogSettings()
	spec.Topic.ReplicationFactor, spec.Topic.Config.RetentionMillis = 3, 60_000
	c := start(t, spec)
	produce(t, c, 7)
	give(t, c, "kill b3", "wait 15s", "wipe b3", "wait 10m")
	produce(t, c, 2)
	give(t, c, "start b3", "wait 1m")
	v := c.View().Partitions[0]
	for _, r := range v.Replicas {
		if !r.Online || r.LogStartOffset != 7 || r.LogEndOffset != 9 {
			t.Errorf("replica of broker %d: %d to %d, online %t; want 7 to 9", r.Broker, r.LogStartOffset, r.LogEndOffset, r.Online)
		}
	}
}

// __consumer_offsets is compacted: of the commits of a partition only the last stays, and who takes over the group
// loads it.
func TestOffsetsTopicIsCleaned(t *testing.T) {
	spec := kept(1 << 20)
	spec.Cluster = engine.DefaultCluster(3)
	spec.Cluster.Logs, spec.Cluster.Groups.OffsetsSegmentBytes = engine.DefaultLogSettings(), 2000
	spec.Topic.ReplicationFactor = 3
	addGroup(spec, "b", 1)
	member := &spec.Groups[0].Members[0].Config
	member.AutoOffsetReset, member.Group.AutoCommit, member.Group.AutoCommitInterval = "earliest", true, 1000
	spec.Producers[0].Workload = engine.Workload{Entities: []string{"k"}, Rate: 1, Every: 500}
	c := start(t, spec)
	tick(t, c, 120)
	v := c.View().Offsets[0]
	cleaned := since[journal.LogCleaned](c, 0, "")
	if len(cleaned) == 0 {
		t.Fatal("__consumer_offsets was not cleaned in 120 s")
	}
	end := cleaned[len(cleaned)-1].Checkpoint
	clean := slices.DeleteFunc(recordsIn(t, v.Log.Segments), func(r string) bool {
		o, _ := strconv.Atoi(r[:strings.IndexByte(r, ':')])
		return kafka.Offset(o) >= end
	})
	if len(clean) > 2 { // of the group's metadata and of its commit the last each
		t.Errorf("below offset %d %s has %d records: %q", end, v.TopicPartition, len(clean), clean)
	}
	before := offset(t, c, "b", "orders-0").Committed
	give(t, c, "stop-sending p0", "kill "+string(c.View().Brokers[v.Leader-1].Node), "wait 30s")
	if after := offset(t, c, "b", "orders-0").Committed; after < before {
		t.Errorf("committed %d, after the failover %d", before, after)
	}
	if now := c.View().Offsets[0]; now.Leader == v.Leader {
		t.Error("the coordinator has not moved")
	}
}

// After an unclean end a slow disk takes its time: each segment is read and its indexes are written anew before the broker
// opens its logs. After an orderly one there is nothing to do.
func TestRecoveryOnASlowDisk(t *testing.T) {
	c := start(t, kept(2))
	produce(t, c, 5) // segments 0, 2, 4
	give(t, c, "wait 1m", "power-loss b1", "wait 15s", "slow-disk b1 700ms", "start b1", "wait 1s")
	if b := c.View().Brokers[0]; b.State != engine.BrokerStarting {
		t.Errorf("a second after its start b1 is %s, want it to recover", b.State)
	}
	if begun := last[journal.RecoveryBegun](t, c, "b1"); begun.Segments != 3 || begun.Span != 2100 {
		t.Errorf("recovery of %d segments takes %d ms, want 3 and 2,100", begun.Segments, begun.Span)
	}
	give(t, c, "wait 2s")
	if got := contents(t, c, 0); c.View().Brokers[0].State != engine.BrokerRunning || len(got) != 5 {
		t.Errorf("3 s after its start b1 is %s with %v, want it to run with 5 records", c.View().Brokers[0].State, got)
	}
	give(t, c, "shut-down b1", "wait 5s", "start b1", "wait 10s")
	if b := c.View().Brokers[0]; b.State != engine.BrokerRunning || len(since[journal.RecoveryBegun](c, 0, "")) != 1 {
		t.Errorf("after an orderly end and a start b1 is %s; recovered: %+v", b.State, since[journal.RecoveryBegun](c, 0, ""))
	}
}

// STO-04 on a broker: the clock of a producer is ten days ahead. By default its record is refused.
func TestClockAhead(t *testing.T) {
	c := start(t, kept(100))
	give(t, c, "produce p0 k v", "wait 1s", "skew p0 240h", "produce p0 k v", "wait 1s", "skew p0 0ms", "produce p0 k v", "wait 1s")
	if got := counts(c); got[0] != 2 {
		t.Errorf("%d records are in the log, want 2", got[0])
	}
	if refused := last[journal.ProduceRefused](t, c, "b1"); refused.Error != "INVALID_TIMESTAMP" {
		t.Errorf("refused with %+v, want INVALID_TIMESTAMP", refused)
	}
	spec := kept(100)
	spec.Topic.Config.TimestampAfterMaxMillis = 1 << 60
	c = start(t, spec)
	give(t, c, "produce p0 k v", "wait 1s", "skew p0 240h", "produce p0 k v", "wait 1s", "skew p0 0ms", "produce p0 k v", "wait 1s")
	if got := segments(c); !slices.Equal(got, []kafka.Offset{0, 1}) {
		t.Errorf("segments %v, want 0, 1: a record ten days ahead rolls by segment.ms", got)
	}
}
