package broker

import (
	"strings"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/storage"
)

// recovery is what a start after an unclean end has to do before the broker can take part: each segment is read from
// its beginning and its indexes are written anew. A fast disk does it in no time.
//
// Simplified: one segment after another takes as long as a write of the slow disk; Kafka recovers two logs of a
// directory at a time (num.recovery.threads.per.data.dir), and how long that takes depends on the bytes.
//
// Source: LogManager.loadLogs, LogLoader.recoverLog.
type recovery struct {
	until kafka.Millis // when it is done; 0: it has not begun
	cause uint64       // Seq of the event that says that it has
}

// recovered says whether the logs can be opened; it begins their recovery where that takes time.
func (b *Broker) recovered(t *turn, cause uint64) bool {
	if b.clean || b.delay == 0 {
		return true
	}
	if b.recovery.until == 0 {
		segments := b.segmentsOnDisk()
		span := b.delay * kafka.Millis(segments)
		b.recovery = recovery{until: t.now + span, cause: cause}
		if segments > 0 {
			b.recovery.cause = t.note(cause, journal.RecoveryBegun{Logs: len(b.logDirectories()), Segments: segments, Span: span})
		}
	}
	return b.recovery.until <= t.now
}

// segmentsOnDisk counts the segments of all partitions, the metadata log's apart.
func (b *Broker) segmentsOnDisk() (count int) {
	for _, path := range b.disk.List("") {
		if strings.HasSuffix(path, storage.LogSuffix) && !strings.HasPrefix(path, metadata.LogPartition().String()+"/") {
			count++
		}
	}
	return count
}

// recoveryDue is when the recovery of the logs is done, never if none is under way.
func (b *Broker) recoveryDue() kafka.Millis {
	if b.lifecycle.ready || b.recovery.until == 0 {
		return never
	}
	return b.recovery.until
}
