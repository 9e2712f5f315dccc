package storage

import (
	"strings"

	"loglab/engine/kafka"
)

// deletion is a file that is to be removed. It is known by its path: another file may have been given the same
// one since.
type deletion struct {
	path string
	at   kafka.Timestamp
}

// DeletedFile is a file on the disk that is no more part of the log.
type DeletedFile struct {
	// Path ends in DeletedSuffix.
	Path string
	// Bytes is its size.
	Bytes int
	// RemovedAt is when file.delete.delay.ms will have passed.
	RemovedAt kafka.Timestamp
}

// DeletedFiles lists the files that wait to be removed, in the order in which they were given up. The caller owns
// the slice.
func (l *Log) DeletedFiles() []DeletedFile {
	var list []DeletedFile
	for _, d := range l.deletions {
		if file, exists := l.disk.Open(d.path); exists {
			list = append(list, DeletedFile{d.path, l.disk.Size(file), d.at})
		}
	}
	return list
}

// NextFileRemoval is the time from which RemoveDeletedFiles has something to do; ok is false if no file waits.
func (l *Log) NextFileRemoval() (at kafka.Timestamp, ok bool) {
	for i, d := range l.deletions {
		if i == 0 || d.at < at {
			at = d.at
		}
	}
	return at, len(l.deletions) > 0
}

// RemoveDeletedFiles removes the files whose time has come, and gives their paths. A segment that is cleaned twice
// within file.delete.delay.ms leaves two files of one name, the newer in place of the older; it goes when the
// older was to go, as in Kafka.
//
// Source: LocalLog.deleteSegmentFiles, task delete-file; SnapshotFile.deleteIfExists.
func (l *Log) RemoveDeletedFiles(now kafka.Timestamp) (removed []string) {
	var left []deletion
	for _, d := range l.deletions {
		if d.at > now {
			left = append(left, d)
			continue
		}
		if file, exists := l.disk.Open(d.path); exists {
			l.disk.Remove(file)
			removed = append(removed, d.path)
		}
	}
	l.deletions = left
	return removed
}

// giveUpSegment gives the files of a segment the suffix .deleted, and notes when they are to be removed: also a
// .txnindex that is not there, as another one may come to have that name.
//
// Source: LocalLog.deleteSegmentFiles, LogSegment.changeFileSuffixes and deleteIfExists.
func (l *Log) giveUpSegment(base kafka.Offset, now kafka.Timestamp) {
	for _, suffix := range []string{LogSuffix, OffsetIndexSuffix, TimeIndexSuffix, TransactionIndexSuffix} {
		l.giveUp(base, suffix, now)
	}
}

// giveUpSnapshot does so with the snapshot of the producers at the base offset of a segment that is gone, if there is
// one.
//
// Source: UnifiedLog.deleteProducerSnapshots, ProducerStateManager.removeAndMarkSnapshotForDeletion.
func (l *Log) giveUpSnapshot(base kafka.Offset, now kafka.Timestamp) {
	if _, exists := l.disk.Open(l.dir + "/" + SegmentFileName(base, ProducerSnapshotSuffix)); exists {
		l.giveUp(base, ProducerSnapshotSuffix, now)
	}
}

func (l *Log) giveUp(base kafka.Offset, suffix string, now kafka.Timestamp) {
	path := l.dir + "/" + SegmentFileName(base, suffix)
	if file, exists := l.disk.Open(path); exists {
		l.disk.Rename(file, path+DeletedSuffix)
	}
	l.deletions = append(l.deletions, deletion{path + DeletedSuffix, now + kafka.Timestamp(l.config.FileDeleteDelayMillis)})
}

// removeLeftovers removes what a broker that stopped had given up or not finished.
//
// Simplified: cleaned segments take the place of others in one step. Kafka does it file by file and finishes, when
// it starts, what it finds half done.
//
// Source: LogLoader.removeTempFilesAndCollectSwapFiles.
func (l *Log) removeLeftovers() {
	for _, path := range l.disk.List(l.dir) {
		if strings.HasSuffix(path, DeletedSuffix) || strings.HasSuffix(path, CleanedSuffix) {
			file, _ := l.disk.Open(path)
			l.disk.Remove(file)
		}
	}
}
