package simdisk

import "loglab/engine/kafka"

// dirtyFile says when the bytes of a file were written that are not synced yet. There is one for each file
// that has such bytes.
type dirtyFile struct {
	file    File
	earlier []write // times rise; appended behind what clones see, never changed
	last    kafka.Millis
}

// write says that the bytes below end, exclusive, had been written by the time at.
type write struct {
	end int
	at  kafka.Millis
}

// noteWrite notes the time of a write that found size bytes in the file.
func (d *Disk) noteWrite(f File, file *slot, size int) {
	if file.dirty == 0 {
		if size == len(file.bytes) {
			return // nothing was written
		}
		d.dirty = append(d.dirty, dirtyFile{file: f, last: d.Now})
		file.dirty = int32(len(d.dirty))
		return
	}
	if w := &d.dirty[file.dirty-1]; w.last != d.Now {
		w.earlier = append(w.earlier, write{size, w.last})
		w.last = d.Now
	}
}

// clean forgets the times of a file that has no unsynced bytes any more.
func (d *Disk) clean(file *slot) {
	if file.dirty == 0 {
		return
	}
	at, last := file.dirty-1, len(d.dirty)-1
	d.dirty[at] = d.dirty[last]
	d.files[d.dirty[at].file].dirty = at + 1
	d.dirty = d.dirty[:last]
	file.dirty = 0
}

// cutWrites forgets the times of bytes that are gone, now that the file has size bytes.
func (d *Disk) cutWrites(file *slot, size int) {
	if int(file.synced) == size {
		d.clean(file)
		return
	}
	w := &d.dirty[file.dirty-1]
	for n := len(w.earlier); n > 0 && w.earlier[n-1].end >= size; n-- {
		w.last = w.earlier[n-1].at
		w.earlier = w.earlier[: n-1 : n-1]
	}
}

// WriteBack syncs what was written age or longer ago, as the operating system does without being asked. A
// broker calls it by a timer with os.writeback.ms. It looks once at each file that is not synced.
//
// Simplified: os.writeback.ms, 30 s, is the lab's name for what Linux calls vm.dirty_expire_centisecs, and
// all bytes of a file that are that old are synced at the same moment, from its start. A real system wakes
// every 5 s, writes pages of 4 KiB, and sooner if memory is short.
//
// Source: Linux, Documentation/admin-guide/sysctl/vm.rst.
func (d *Disk) WriteBack(now, age kafka.Millis) {
	for i := len(d.dirty) - 1; i >= 0; i-- { // from the end: clean moves the last one to its place
		w := &d.dirty[i]
		file := &d.files[w.file]
		if w.last <= now-age {
			file.synced = int32(len(file.bytes))
			d.clean(file)
			continue
		}
		old := 0
		for old < len(w.earlier) && w.earlier[old].at <= now-age {
			file.synced = max(file.synced, int32(w.earlier[old].end))
			old++
		}
		w.earlier = w.earlier[old:]
	}
}

// Unsynced is how many bytes LoseUnsynced would take.
func (d *Disk) Unsynced() int {
	bytes := 0
	for i := range d.dirty {
		file := &d.files[d.dirty[i].file]
		bytes += len(file.bytes) - int(file.synced)
	}
	return bytes
}

// LoseUnsynced cuts every file to its synced bytes, as a power loss does.
//
// Simplified: all unsynced bytes go. A real disk may keep some of them, in any order.
func (d *Disk) LoseUnsynced() {
	for i := range d.dirty {
		file := &d.files[d.dirty[i].file]
		file.bytes = file.bytes[:file.synced:file.synced]
		file.dirty = 0
	}
	d.dirty = nil
}
