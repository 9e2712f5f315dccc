package storage

import "loglab/engine/kafka"

// RecoveryPoint is the offset below which all of the log is synced, exclusive as an end. After an unclean stop
// only what lies above is looked at. Kafka's broker keeps it in
// recovery-point-offset-checkpoint; ours does not, see package broker.
func (l *Log) RecoveryPoint() kafka.Offset { return l.recoveryPoint }

// Flush syncs the segments that hold something from the recovery point on and begin below upTo, and moves the
// recovery point up to upTo. The log end offset stands for all; a lower recovery point is never set.
//
// Source: UnifiedLog.flush, LocalLog.flush. A roll flushes up to its new segment.
func (l *Log) Flush(upTo kafka.Offset) {
	if upTo <= l.recoveryPoint {
		return
	}
	for i := max(0, l.floorSegment(l.recoveryPoint)); i <= len(l.sealed) && l.segmentAt(i).base < upTo; i++ {
		l.segmentAt(i).sync(l.disk)
	}
	l.recoveryPoint = min(upTo, l.logEndOffset)
}

// Close makes the log ready for a clean stop: it writes the entry that closes the active segment's time index
// and a snapshot of the producers, syncs all files, and sets the recovery point to the log end offset. The log
// may not be used any more; Open it with cleanShutdown.
//
// Source: UnifiedLog.close, LogManager.shutdown.
func (l *Log) Close() {
	l.active.maybeAppendTimeEntry(l.disk)
	l.takeProducerSnapshot(&l.producers)
	for i := range len(l.sealed) + 1 {
		l.segmentAt(i).sync(l.disk)
	}
	l.recoveryPoint = l.logEndOffset
}
