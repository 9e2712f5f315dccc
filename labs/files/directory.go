package files

import (
	"strconv"
	"strings"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/engine/storage"
)

// Directory is the files of one partition as they were at one moment.
type Directory struct {
	Name  string // "orders-0"
	Files []File // sorted by name, so that segments stand in the order of their offsets
	// LogStartOffset is the first offset that the log still has. Zero where nobody tells: then it is the first segment's
	// base offset.
	LogStartOffset kafka.Offset
}

// File is one file of a partition's directory. Its bytes may be anything and are never changed.
type File struct {
	Name  string // "00000000000000000000.log"
	Bytes []byte
}

// Of makes a directory of files on a simulated disk.
func Of(name string, list []engine.DiskFile) Directory {
	d := Directory{Name: name}
	for _, f := range list {
		d.Files = append(d.Files, File{f.Name, f.Bytes})
	}
	return d
}

// file gives the file of that name.
func (d Directory) file(name string) (File, bool) {
	for _, f := range d.Files {
		if f.Name == name {
			return f, true
		}
	}
	return File{}, false
}

// kind is what a file holds. It is a suffix of storage's, or the name of a checkpoint.
type kind string

// The kinds that are not suffixes.
const (
	checkpoint kind = "checkpoint" // leader epochs
	unknown    kind = "unknown"
)

// kindOf goes by the name; a file that waits for its deletion, or that the cleaner writes, is of its kind still.
func kindOf(name string) kind {
	for _, suffix := range []string{storage.DeletedSuffix, storage.SwapSuffix, storage.CleanedSuffix} {
		name = strings.TrimSuffix(name, suffix)
	}
	if name == storage.LeaderEpochCheckpoint {
		return checkpoint
	}
	for _, suffix := range []string{storage.LogSuffix, storage.OffsetIndexSuffix, storage.TimeIndexSuffix, storage.TransactionIndexSuffix, storage.ProducerSnapshotSuffix} {
		if strings.HasSuffix(name, suffix) {
			return kind(suffix)
		}
	}
	return unknown
}

// baseDigits is how many digits of a base offset a segment's files are named after.
const baseDigits = 20

// BaseOffset reads the base offset in the name of one of a segment's files; ok is false if it has none.
func BaseOffset(name string) (base kafka.Offset, ok bool) {
	digits, _, _ := strings.Cut(name, ".")
	if len(digits) != baseDigits || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return kafka.Offset(n), err == nil
}

// describe says in a few words what a file is.
func describe(name string) string {
	switch kindOf(name) {
	case storage.LogSuffix:
		return "record batches, one after another"
	case storage.OffsetIndexSuffix:
		return "offset index: offset → position in the .log"
	case storage.TimeIndexSuffix:
		return "time index: timestamp → offset"
	case storage.TransactionIndexSuffix:
		return "aborted transactions"
	case storage.ProducerSnapshotSuffix:
		return "what was known of the producers before that offset"
	case checkpoint:
		return "where each leader epoch began, as text"
	}
	return "not a file whose fields are known here"
}
