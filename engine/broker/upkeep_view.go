package broker

import (
	"loglab/engine/kafka"
	"loglab/engine/storage"
)

// UpkeepView is what a broker does to one log by itself, and when: an immutable value.
type UpkeepView struct {
	NextRetention kafka.Millis // when it looks for old segments next; -1: it does not
	NextCleaner   kafka.Millis // when its cleaner looks at the log next; -1: it does not
	CleanedTo     kafka.Offset // as cleaner-offset-checkpoint has it; NoOffset: it has nothing
	Spoiled       bool         // the cleaner leaves the log alone
	Cleanable     storage.Cleanable
	Deleted       []storage.DeletedFile // that are no more part of the log
}

// Upkeep gives that of a partition; ok is false while its log is not open.
func (b *Broker) Upkeep(now kafka.Millis, tp kafka.TopicPartition) (v UpkeepView, ok bool) {
	r := b.replica(tp)
	if r == nil {
		return v, false
	}
	v = UpkeepView{
		NextRetention: orNever(b.upkeep.retention), NextCleaner: orNever(b.upkeep.cleaner), CleanedTo: b.cleanedTo(tp), Spoiled: b.spoiled(tp),
		Cleanable: b.cleanable(now, r), Deleted: r.Log.DeletedFiles(),
	}
	if r.Log.Config().Compact {
		v.NextRetention = v.NextCleaner // the cleaner's thread does both
	} else {
		v.NextCleaner = -1
	}
	return v, true
}

func orNever(at kafka.Millis) kafka.Millis {
	if at == never {
		return -1
	}
	return at
}

// RetentionAt says what a check of retention would do to a log at a time if nothing else happened until then; ok is
// false while the log is not open. Nothing is changed.
func (b *Broker) RetentionAt(at kafka.Millis, tp kafka.TopicPartition) (r storage.Retention, ok bool) {
	held := b.replica(tp)
	if held == nil {
		return r, false
	}
	return held.Log.Clone(b.disk.Clone()).ForeseeOldSegments(held.HighWatermark(), b.clock(at)), true
}

// CleanableAt says what the cleaner would find of a log at a time if nothing else happened until then; ok is false while
// the log is not open.
func (b *Broker) CleanableAt(at kafka.Millis, tp kafka.TopicPartition) (c storage.Cleanable, ok bool) {
	held := b.replica(tp)
	if held == nil {
		return c, false
	}
	return b.cleanable(at, held), true
}

// CleaningAt says what the cleaner would do to a log at a time if nothing else happened until then, whether it is worth
// it or not; ok is false while the log is not open or cannot be cleaned. Nothing is changed.
func (b *Broker) CleaningAt(at kafka.Millis, tp kafka.TopicPartition) (c storage.Cleaned, ok bool) {
	held := b.replica(tp)
	if held == nil || !b.compacts(held) {
		return c, false
	}
	log := held.Log.Clone(b.disk.Clone())
	c, err := log.Clean(b.cleanable(at, held), b.clock(at))
	return c, err == nil
}
