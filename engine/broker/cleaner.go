package broker

import (
	"slices"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/replication"
	"loglab/engine/simnet"
	"loglab/engine/storage"
)

// RunCleaner lets the cleaner look at the logs now, beside its timer. Cause is the Seq of the command.
func (b *Broker) RunCleaner(now kafka.Millis, cause uint64, j *journal.Journal) []simnet.Send {
	t := b.turn(now, j)
	b.runCleaner(t, cause)
	return t.sends
}

// runCleaner cleans the log that is most worth it, and then the next one, until none is. After each round the
// compacted logs are held against the rules of retention too.
//
// Source: LogCleaner.CleanerThread.doWork, cleanFilthiestLog.
func (b *Broker) runCleaner(t *turn, cause uint64) {
	for cleaned := true; cleaned; {
		cleaned = b.cleanFilthiest(t, cause)
		for _, r := range b.replicas {
			if b.compacts(r) {
				b.deleteOldSegments(t, r, cause)
			}
		}
	}
}

// compacts says whether the cleaner looks after a log.
func (b *Broker) compacts(r *replication.Replica) bool {
	return r.Log.Config().Compact && !b.spoiled(r.TopicPartition)
}

// cleanFilthiest cleans one log; false: none is worth it. A log is looked at from where it was cleaned last.
//
// Source: LogCleanerManager.grabFilthiestCompactedLog.
func (b *Broker) cleanFilthiest(t *turn, cause uint64) bool {
	var logs []*replication.Replica
	var found []storage.Cleanable
	for _, r := range b.replicas {
		if b.compacts(r) {
			c := b.cleanable(t.now, r)
			if c.CheckpointReset {
				b.setCleaned(r.TopicPartition, c.FirstDirtyOffset)
			}
			logs, found = append(logs, r), append(found, c)
		}
	}
	at := storage.Filthiest(found)
	if at < 0 {
		for i, r := range logs {
			b.tellOnce(t, cause, finding{tp: r.TopicPartition, cleaner: true, what: found[i].Why}, journal.LogNotCleaned{
				TopicPartition: r.TopicPartition, Why: found[i].Why, Backoff: b.config.CleanerBackoff,
			})
		}
		return false
	}
	b.cleanLog(t, logs[at], found[at], cause)
	return true
}

// cleanable says what the cleaner could do with a log.
func (b *Broker) cleanable(now kafka.Millis, r *replication.Replica) storage.Cleanable {
	return r.Log.Cleanable(b.cleanedTo(r.TopicPartition), r.LastStableOffset(), b.clock(now))
}

// cleanLog cleans one log and keeps how far it came.
//
// Source: LogCleaner.CleanerThread.cleanLog, LogCleanerManager.doneCleaning.
func (b *Broker) cleanLog(t *turn, r *replication.Replica, c storage.Cleanable, cause uint64) {
	done, err := r.Log.Clean(c, b.clock(t.now))
	if err != nil {
		b.upkeep.spoiled = append(b.upkeep.spoiled, r.TopicPartition)
		t.note(cause, journal.CleaningFailed{TopicPartition: r.TopicPartition, Error: err.Error()})
		return
	}
	b.setCleaned(r.TopicPartition, done.Checkpoint)
	b.forgetFinding(r.TopicPartition)
	b.noteRemoval(r)
	t.note(cause, cleanedEvent(r, c, done))
}

// cleanedEvent tells of a cleaning.
func cleanedEvent(r *replication.Replica, c storage.Cleanable, done storage.Cleaned) journal.LogCleaned {
	e := journal.LogCleaned{
		TopicPartition: r.TopicPartition, FirstDirtyOffset: done.FirstDirtyOffset, Checkpoint: done.Checkpoint, Keys: done.Keys, RecordsRead: done.RecordsRead,
		BytesBefore: done.BytesBefore(), BytesAfter: done.BytesAfter(), Why: c.Why, DeleteRetention: r.Log.Config().DeleteRetentionMillis,
		Removed: []journal.RemovedRecord{}, Tombstones: []kafka.Offset{},
	}
	for _, g := range done.Groups {
		e.SegmentsBefore, e.SegmentsAfter = append(e.SegmentsBefore, g.From...), append(e.SegmentsAfter, g.From[0])
	}
	for _, gone := range done.Removed {
		e.Removed = append(e.Removed, journal.RemovedRecord{Offset: gone.Offset, Reason: gone.Reason.String(), By: gone.By})
	}
	for _, batch := range done.Batches {
		if batch.HorizonSet {
			e.Tombstones = append(e.Tombstones, batch.BaseOffset)
		}
	}
	return e
}

// cleanedTo is where the part of a log begins that was never cleaned; NoOffset: the cleaner has not been there.
func (b *Broker) cleanedTo(tp kafka.TopicPartition) kafka.Offset {
	return offsetIn(b.upkeep.cleaned, tp, kafka.NoOffset)
}

// setCleaned keeps how far a log is cleaned, in memory and on the disk.
//
// Source: LogCleanerManager.updateCheckpoints.
func (b *Broker) setCleaned(tp kafka.TopicPartition, to kafka.Offset) {
	at := slices.IndexFunc(b.upkeep.cleaned, func(c storage.PartitionOffset) bool { return c.TopicPartition == tp })
	if at < 0 {
		b.upkeep.cleaned = append(b.upkeep.cleaned, storage.PartitionOffset{TopicPartition: tp, Offset: to})
	} else {
		b.upkeep.cleaned[at].Offset = to
	}
	b.writeCheckpoint(storage.CleanerOffsetCheckpoint, b.upkeep.cleaned)
}

// cutCleaned sets back how far a log is cleaned when it was truncated.
//
// Source: LogManager.truncateTo, LogCleanerManager.maybeTruncateCheckpoint.
func (b *Broker) cutCleaned(r *replication.Replica) {
	segments := r.Log.Segments()
	if active := segments[len(segments)-1].BaseOffset; b.cleanedTo(r.TopicPartition) > active {
		b.setCleaned(r.TopicPartition, active)
	}
}

func (b *Broker) spoiled(tp kafka.TopicPartition) bool { return slices.Contains(b.upkeep.spoiled, tp) }
