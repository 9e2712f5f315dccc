package storage

import "loglab/engine/simdisk"

// Peek gives what the .log files of a directory hold, by base offset, without opening the log: each segment has only
// BaseOffset and Bytes, and the last batch may be torn.
func Peek(disk *simdisk.Disk, dir string) []Segment {
	l := Log{disk: disk, dir: dir}
	var list []Segment
	for _, path := range disk.List(dir) {
		if base, is := l.offsetInName(path, LogSuffix); is {
			f, _ := disk.Open(path)
			list = append(list, Segment{BaseOffset: base, Bytes: disk.Bytes(f)})
		}
	}
	return list
}
