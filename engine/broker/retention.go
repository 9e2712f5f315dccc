package broker

import (
	"slices"
	"strings"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/replication"
	"loglab/engine/simnet"
	"loglab/engine/storage"
)

// upkeep is what the broker does to its logs by itself: old segments go, compacted logs are cleaned, and the files
// that this leaves behind are removed.
type upkeep struct {
	retention kafka.Millis // when old segments are looked for next; never: they are not
	cleaner   kafka.Millis // when the cleaner looks at the logs next; never: it does not
	removal   kafka.Millis // when the first deleted file is to be removed
	told      []finding    // the last of each log and task
	cleaned   []storage.PartitionOffset
	spoiled   []kafka.TopicPartition // logs that the cleaner leaves alone
}

// finding is what a task that found nothing to do has told of a log.
type finding struct {
	tp      kafka.TopicPartition
	cleaner bool // it was the cleaner; false: the check of retention
	what    string
}

func (u *upkeep) due() kafka.Millis { return min(u.retention, u.cleaner, u.removal) }

// initialTaskDelay is log.initial.task.delay.ms: how long after the start the first check of retention is.
const initialTaskDelay kafka.Millis = 30_000

// startUpkeep sets the timers of a process that starts, and reads how far the cleaner had come.
//
// Source: LogManager.startup, LogCleaner.startup.
func (b *Broker) startUpkeep(now kafka.Millis) {
	b.upkeep = upkeep{retention: never, cleaner: never, removal: never}
	if b.config.RetentionCheckInterval > 0 {
		b.upkeep.retention = now + initialTaskDelay
	}
	if b.config.CleanerBackoff > 0 {
		b.upkeep.cleaner = now
		b.upkeep.cleaned = readCheckpoint(b.disk, storage.CleanerOffsetCheckpoint)
	}
}

// keepUp does what is due.
func (b *Broker) keepUp(t *turn) {
	if b.upkeep.retention <= t.now {
		b.upkeep.retention = t.now + b.config.RetentionCheckInterval
		b.checkRetention(t, 0)
	}
	if b.upkeep.cleaner <= t.now {
		b.upkeep.cleaner = t.now + b.config.CleanerBackoff
		b.runCleaner(t, 0)
	}
	if b.upkeep.removal <= t.now {
		b.removeFiles(t)
	}
}

// CheckRetention lets the check of retention run now, beside its timer. Cause is the Seq of the command.
//
// Simplified: Kafka's brokers have no request that runs the check of retention or the cleaner; people wait for the
// timer, or lower its interval and start the broker anew.
func (b *Broker) CheckRetention(now kafka.Millis, cause uint64, j *journal.Journal) []simnet.Send {
	t := b.turn(now, j)
	b.checkRetention(t, cause)
	return t.sends
}

// checkRetention holds the segments of each log without compact in cleanup.policy against the rules of retention.
//
// Source: LogManager.cleanupLogs.
func (b *Broker) checkRetention(t *turn, cause uint64) {
	for _, r := range b.replicas {
		if !r.Log.Config().Compact {
			b.deleteOldSegments(t, r, cause)
		}
	}
}

// deleteOldSegments does so with one log, and tells what went or why nothing did.
func (b *Broker) deleteOldSegments(t *turn, r *replication.Replica, cause uint64) {
	start := r.Log.LogStartOffset()
	done := r.Log.DeleteOldSegments(r.HighWatermark(), b.clock(t.now))
	if done.Deleted == 0 {
		kept := journal.SegmentsKept{
			TopicPartition: r.TopicPartition, Oldest: r.Log.FirstOffset(), Why: whyKept(done), Interval: b.config.RetentionCheckInterval, Setting: "log.retention.check.interval.ms",
		}
		config := r.Log.Config()
		if config.Compact {
			kept.Interval, kept.Setting = b.config.CleanerBackoff, "log.cleaner.backoff.ms"
		}
		if config.Delete || !config.Compact {
			b.tellOnce(t, cause, finding{tp: r.TopicPartition, what: keptBy(done)}, kept)
		}
		return
	}
	b.forgetFinding(r.TopicPartition)
	for _, check := range done.Checks {
		if check.Deleted == 0 {
			continue
		}
		gone := check.Segments[:check.Deleted]
		e := journal.SegmentsDeleted{
			TopicPartition: r.TopicPartition, Rule: check.Rule.String(), Why: gone[len(gone)-1].Why, RolledAt: check.RolledAt,
			LogStartFrom: start, LogStartTo: max(start, gone[len(gone)-1].UpperBound), FileDelay: r.Log.Config().FileDeleteDelayMillis,
		}
		for _, s := range gone {
			e.Segments, e.Bytes = append(e.Segments, s.BaseOffset), e.Bytes+s.Bytes
		}
		start = e.LogStartTo
		cause = t.note(cause, e)
	}
	b.noteRemoval(r)
	b.wakeUp(t, []wake{{r: r, cause: cause}})
}

// keptBy names what a check found, without the numbers that change by themselves.
func keptBy(done storage.Retention) string {
	var found []string
	for _, check := range done.Checks {
		found = append(found, check.Off)
		if len(check.Segments) > 0 {
			found = append(found, check.Segments[0].Verdict.String(), kafka.Thousands(check.Segments[0].BaseOffset))
		}
	}
	return strings.Join(found, ", ")
}

// whyKept lists what the rules say of the oldest segment. That no rule asks by log start offset goes without saying.
func whyKept(done storage.Retention) (why []string) {
	for _, check := range done.Checks {
		switch {
		case check.Off != "":
			if !slices.Contains(why, check.Off) {
				why = append(why, check.Off)
			}
		case check.Rule != storage.RetentionLogStart || len(check.Segments) > 1:
			why = append(why, check.Segments[0].Why)
		}
	}
	return why
}

// tellOnce journals what a task found if it is not what it found the last time.
func (b *Broker) tellOnce(t *turn, cause uint64, found finding, e journal.Body) {
	at := slices.IndexFunc(b.upkeep.told, func(f finding) bool { return f.tp == found.tp && f.cleaner == found.cleaner })
	switch {
	case at < 0:
		b.upkeep.told = append(b.upkeep.told, found)
	case b.upkeep.told[at].what == found.what && cause == 0: // who asks is answered
		return
	default:
		b.upkeep.told[at] = found
	}
	t.note(cause, e)
}

// forgetFinding makes the tasks tell again what they find of a log: it has changed.
func (b *Broker) forgetFinding(tp kafka.TopicPartition) {
	b.upkeep.told = slices.DeleteFunc(b.upkeep.told, func(f finding) bool { return f.tp == tp })
}

// noteRemoval notes when the first file that a log has given up is to go.
func (b *Broker) noteRemoval(r *replication.Replica) {
	if at, ok := r.Log.NextFileRemoval(); ok {
		b.upkeep.removal = min(b.upkeep.removal, kafka.Millis(at-b.config.Start))
	}
}

// removeFiles removes the files whose file.delete.delay.ms is over.
//
// Source: LocalLog.deleteSegmentFiles, task delete-file.
func (b *Broker) removeFiles(t *turn) {
	b.upkeep.removal = never
	for _, r := range b.replicas {
		waiting := r.Log.DeletedFiles()
		if len(waiting) == 0 {
			continue
		}
		e := journal.FilesRemoved{TopicPartition: r.TopicPartition, Delay: r.Log.Config().FileDeleteDelayMillis}
		for _, path := range r.Log.RemoveDeletedFiles(b.clock(t.now)) {
			at := slices.IndexFunc(waiting, func(f storage.DeletedFile) bool { return f.Path == path })
			e.Files, e.Bytes = append(e.Files, path[strings.LastIndexByte(path, '/')+1:]), e.Bytes+waiting[at].Bytes
		}
		if len(e.Files) > 0 {
			t.note(0, e)
		}
		b.noteRemoval(r)
	}
}
