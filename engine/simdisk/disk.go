package simdisk

import (
	"fmt"
	"slices"
	"strings"

	"loglab/engine/kafka"
)

// File is a handle: the number of a file on its disk and on every clone of that disk. It is valid
// from Create or Open to Remove, or until another file is renamed onto it; after that the number may
// be given to a new file.
type File int32

// slot holds one file, or none.
type slot struct {
	path   string // "" if the slot is free
	bytes  []byte
	synced int32 // bytes[:synced] survive a power loss
	dirty  int32 // 1 + the place in Disk.dirty; 0 if all bytes are synced
}

// Disk holds files by path. The zero value is an empty disk. Methods panic when they are given a
// handle that is not valid, because that is a fault of the caller and never of the content.
type Disk struct {
	// Now is the time that Append notes for WriteBack. Whoever writes sets it before.
	Now kafka.Millis

	files  []slot
	byPath []File      // sorted by path; replaced, never changed in place, because clones share it
	dirty  []dirtyFile // the files with bytes that are not synced, in no order that can be seen
}

// Create makes an empty file and returns its handle. It panics if there is a file at path or if path
// is empty.
func (d *Disk) Create(path string) File {
	if path == "" {
		panic("simdisk: create: empty path")
	}
	at, exists := d.find(path)
	if exists {
		panic(fmt.Sprintf("simdisk: create: %s exists", path))
	}
	f := d.freeSlot()
	d.files[f] = slot{path: path}
	d.byPath = slices.Insert(slices.Clip(d.byPath), at, f)
	return f
}

// freeSlot returns the number of a slot that holds no file, the lowest one.
func (d *Disk) freeSlot() File {
	if len(d.byPath) < len(d.files) {
		return File(slices.IndexFunc(d.files, func(s slot) bool { return s.path == "" }))
	}
	d.files = append(d.files, slot{})
	return File(len(d.files) - 1)
}

// find returns where path stands, or belongs, in byPath.
func (d *Disk) find(path string) (at int, exists bool) {
	return slices.BinarySearchFunc(d.byPath, path, func(f File, path string) int {
		return strings.Compare(d.files[f].path, path)
	})
}

// Open returns the handle of the file at path, and whether there is one.
func (d *Disk) Open(path string) (File, bool) {
	at, exists := d.find(path)
	if !exists {
		return 0, false
	}
	return d.byPath[at], true
}

// List returns the paths of all files in directory dir and below it, sorted; "" means the whole
// disk. The caller owns the slice.
func (d *Disk) List(dir string) []string {
	var paths []string
	for _, f := range d.byPath {
		path := d.files[f].path
		if rest, inside := strings.CutPrefix(path, dir); inside && (dir == "" || strings.HasPrefix(rest, "/")) {
			paths = append(paths, path)
		}
	}
	return paths
}

// Files is the number of files.
func (d *Disk) Files() int { return len(d.byPath) }

// Append adds a copy of b at the end of f. It returns that copy, which the caller may still change
// until it gives anybody else the chance to read or clone the disk: this is how a leader stamps a
// batch without writing to the frozen message that it came in.
func (d *Disk) Append(f File, b []byte) []byte {
	file := d.live(f)
	size := len(file.bytes)
	if need := size + len(b); need > cap(file.bytes) { // a quarter more: most clones append little
		file.bytes = append(make([]byte, 0, need+need/4), file.bytes...)
	}
	file.bytes = append(file.bytes, b...)
	d.noteWrite(f, file, size)
	return slices.Clip(file.bytes[size:])
}

// Reserve makes room for size bytes more at the end of f, so that appending them moves nothing. It
// changes nothing that can be seen.
func (d *Disk) Reserve(f File, size int) {
	file := d.live(f)
	file.bytes = slices.Grow(file.bytes, size)
}

// Bytes returns the content of f. The slice is shared and must not be changed; what is appended
// later does not show in it.
func (d *Disk) Bytes(f File) []byte { return slices.Clip(d.live(f).bytes) }

// Size is the number of bytes in f.
func (d *Disk) Size(f File) int { return len(d.live(f).bytes) }

// Path is the path of f.
func (d *Disk) Path(f File) string { return d.live(f).path }

// Synced is the number of bytes at the start of f that would survive a power loss.
func (d *Disk) Synced(f File) int { return int(d.live(f).synced) }

// Sync makes all bytes of f survive a power loss.
//
// Source: fsync(2), which Kafka calls through FileChannel.force.
func (d *Disk) Sync(f File) {
	file := d.live(f)
	file.synced = int32(len(file.bytes))
	d.clean(file)
}

// Truncate cuts f to its first size bytes. It panics if f has fewer.
func (d *Disk) Truncate(f File, size int) {
	file := d.live(f)
	file.bytes = file.bytes[:size:size]
	file.synced = min(file.synced, int32(size))
	d.cutWrites(file, size)
}

// Rename gives f another path. A file that is there already is removed, its handle included. It
// panics if path is empty.
//
// Source: rename(2); Kafka's Utils.atomicMoveWithFallback.
func (d *Disk) Rename(f File, path string) {
	file := d.live(f)
	if path == "" {
		panic("simdisk: rename: empty path")
	}
	if file.path == path {
		return
	}
	if other, exists := d.Open(path); exists {
		d.Remove(other)
	}
	d.unlist(file.path)
	at, _ := d.find(path)
	d.byPath = slices.Insert(slices.Clip(d.byPath), at, f)
	file.path = path
}

// Remove deletes f.
func (d *Disk) Remove(f File) {
	file := d.live(f)
	d.unlist(file.path)
	d.clean(file)
	d.files[f] = slot{}
}

// unlist takes path out of byPath.
func (d *Disk) unlist(path string) {
	at, _ := d.find(path)
	d.byPath = slices.Concat(d.byPath[:at], d.byPath[at+1:])
}

// Wipe removes every file, as if the disk had been replaced. What was read before keeps its bytes.
func (d *Disk) Wipe() { *d = Disk{Now: d.Now} }

// Clone returns a disk with the same files and handles that goes its own way from here. It copies a
// few dozen bytes a file and no content; see the package comment for the rules.
func (d *Disk) Clone() *Disk {
	files := slices.Clone(d.files)
	for i := range files {
		files[i].bytes = slices.Clip(files[i].bytes)
	}
	dirty := slices.Clone(d.dirty)
	for i := range dirty {
		dirty[i].earlier = slices.Clip(dirty[i].earlier)
	}
	return &Disk{Now: d.Now, files: files, byPath: d.byPath, dirty: dirty}
}

// live returns the slot of f, which must hold a file.
func (d *Disk) live(f File) *slot {
	file := &d.files[f]
	if file.path == "" {
		panic(fmt.Sprintf("simdisk: file %d was removed", f))
	}
	return file
}
