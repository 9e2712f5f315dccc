package enginetest

import (
	"fmt"

	"loglab/engine"
	"loglab/engine/kafka"
)

// drawUpkeep lets the brokers of every other run delete old segments and clean, by short intervals, and adds commands
// about that.
func (s *simulation) drawUpkeep(c chance) {
	if c.oneIn(2) {
		return
	}
	spec, topic := s.spec, &s.spec.Topic.Config
	spec.Cluster.Logs = engine.LogSettings{RetentionCheckInterval: pickOne[kafka.Millis](c, 1000, 5000, 20000), CleanerBackoff: pickOne[kafka.Millis](c, 500, 2000, 15000)}
	spec.Cluster.Groups.OffsetsSegmentBytes = pickOne(c, 0, 2000, 5000) // a write of a group with four members takes up to a thousand bytes
	topic.Compact = c.oneIn(2)
	topic.Delete = !topic.Compact || c.oneIn(3)
	topic.RetentionMillis = pickOne[kafka.Millis](c, 3000, 10000, 60000, 604_800_000)
	topic.RetentionBytes = pickOne(c, -1, -1, 0, 2000, 5000)
	topic.SegmentMillis = pickOne[kafka.Millis](c, 2000, 10000, 604_800_000)
	topic.FileDeleteDelayMillis = pickOne[kafka.Millis](c, 0, 1000, 60000)
	topic.MinCleanableDirtyRatio = pickOne(c, 0, 0.1, 0.5)
	topic.MinCompactionLagMillis = pickOne[kafka.Millis](c, 0, 0, 2000)
	topic.MaxCompactionLagMillis = pickOne[kafka.Millis](c, 5000, topic.MaxCompactionLagMillis)
	topic.DeleteRetentionMillis = pickOne[kafka.Millis](c, 500, 10000, 86_400_000)
	every := pickOne(c, 0, 2, 5)
	for i := range spec.Producers {
		w := &spec.Producers[i].Workload
		w.DeleteEvery = every
		if topic.Compact && len(w.Entities) == 0 {
			w.Entities = []string{"k0"} // a compacted topic refuses records without a key
		}
	}
	s.set("logs", fmt.Sprintf("check:%d,backoff:%d,offsets.segment:%d", spec.Cluster.Logs.RetentionCheckInterval, spec.Cluster.Logs.CleanerBackoff, spec.Cluster.Groups.OffsetsSegmentBytes))
	s.set("policy", fmt.Sprintf("compact:%t,delete:%t,retention:%d/%d,segment.ms:%d,file.delay:%d,ratio:%v,lag:%d/%d,delete.retention:%d,deletions:%d", topic.Compact, topic.Delete,
		topic.RetentionMillis, topic.RetentionBytes, topic.SegmentMillis, topic.FileDeleteDelayMillis, topic.MinCleanableDirtyRatio, topic.MinCompactionLagMillis, topic.MaxCompactionLagMillis,
		topic.DeleteRetentionMillis, every))
	for range c.between(0, 20) {
		b := fmt.Sprintf("b%d", c.between(1, spec.Cluster.Brokers))
		s.command(c.IntN(s.ticks), pickOne(c,
			"check-retention "+b, "run-cleaner "+b, "run-cleaner "+b, fmt.Sprintf("delete-records orders-%d @%d", c.IntN(spec.Topic.Partitions), c.IntN(60)),
			fmt.Sprintf("tombstone p0 k%d", c.IntN(4)), fmt.Sprintf("skew p0 %ds", c.IntN(4000)), "skew p1 -20s", "skew p0 0ms",
		))
	}
}
