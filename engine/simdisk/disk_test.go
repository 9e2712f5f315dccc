package simdisk

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/kafka"
)

func TestListIsSortedAndStaysInsideTheDirectory(t *testing.T) {
	var d Disk
	for _, path := range []string{"orders-1/b", "orders-10/a", "orders-1/a", "meta.properties"} {
		d.Create(path)
	}
	tests := []struct {
		dir  string
		want []string
	}{
		{"", []string{"meta.properties", "orders-1/a", "orders-1/b", "orders-10/a"}},
		{"orders-1", []string{"orders-1/a", "orders-1/b"}},
		{"orders", nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, d.List(tt.dir)); diff != "" {
			t.Errorf("List(%q) (-want +got):\n%s", tt.dir, diff)
		}
	}
}

func TestLoseUnsynced(t *testing.T) {
	var d Disk
	log := d.Create("log")
	d.Append(log, []byte("synced"))
	d.Sync(log)
	d.Append(log, []byte(" and not"))
	never := d.Create("never")
	d.Append(never, []byte("x"))
	cut := d.Create("cut")
	d.Append(cut, []byte("abcdef"))
	d.Sync(cut)
	d.Truncate(cut, 2)
	d.Append(cut, []byte("XYZ"))

	d.LoseUnsynced()
	for f, want := range map[File]string{log: "synced", never: "", cut: "ab"} {
		if got := string(d.Bytes(f)); got != want {
			t.Errorf("%s after power loss: %q, want %q", d.Path(f), got, want)
		}
		if d.Synced(f) != len(want) {
			t.Errorf("%s: Synced is %d, want %d", d.Path(f), d.Synced(f), len(want))
		}
	}
}

// What was written 30 s ago or earlier survives, file by file.
func TestWriteBack(t *testing.T) {
	var d Disk
	log, index := d.Create("log"), d.Create("index")
	for _, at := range []kafka.Millis{0, 10_000, 10_000, 40_000} {
		d.Now = at
		d.Append(log, []byte("ab"))
	}
	d.Append(index, []byte("i"))
	clone := d.Clone()
	for _, tt := range []struct {
		now        kafka.Millis
		log, index int
	}{{29_999, 0, 0}, {30_000, 2, 0}, {39_999, 2, 0}, {40_000, 6, 0}, {69_999, 6, 0}, {70_000, 8, 1}} {
		d.WriteBack(tt.now, 30_000)
		if d.Synced(log) != tt.log || d.Synced(index) != tt.index {
			t.Errorf("at %d ms: %d bytes of the log and %d of the index are synced, want %d and %d", tt.now, d.Synced(log), d.Synced(index), tt.log, tt.index)
		}
	}
	if clone.WriteBack(45_000, 30_000); clone.Synced(log) != 6 || clone.Synced(index) != 0 {
		t.Errorf("the clone: %d and %d bytes", clone.Synced(log), clone.Synced(index))
	}
	if clone.LoseUnsynced(); string(clone.Bytes(log)) != "ababab" || clone.Size(index) != 0 {
		t.Errorf("the clone after a power loss: %q, %q", clone.Bytes(log), clone.Bytes(index))
	}
	clone.Wipe()
	if clone.Files() != 0 || clone.List("") != nil || string(d.Bytes(log)) != "abababab" {
		t.Errorf("wiped: %v; the original holds %q", clone.List(""), d.Bytes(log))
	}
}

func TestRenameReplacesTheFileThatIsThere(t *testing.T) {
	var d Disk
	d.Append(d.Create("checkpoint"), []byte("old"))
	tmp := d.Create("checkpoint.tmp")
	d.Append(tmp, []byte("new"))
	d.Rename(tmp, "checkpoint")
	d.Rename(tmp, "checkpoint") // onto itself: nothing happens

	f, exists := d.Open("checkpoint")
	if !exists || string(d.Bytes(f)) != "new" {
		t.Errorf("checkpoint holds %q (exists: %v), want new", d.Bytes(f), exists)
	}
	if diff := cmp.Diff([]string{"checkpoint"}, d.List("")); diff != "" {
		t.Errorf("List (-want +got):\n%s", diff)
	}
}

func TestMisusePanics(t *testing.T) {
	var d Disk
	f := d.Create("a")
	gone := d.Create("gone")
	d.Remove(gone)
	tests := map[string]func(){
		"a exists":      func() { d.Create("a") },
		"empty path":    func() { d.Create("") },
		"was removed":   func() { d.Bytes(gone) },
		"out of range":  func() { d.Truncate(f, 1) },
		"out of range ": func() { d.Truncate(f, -1) },
	}
	for want, misuse := range tests {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, strings.TrimSpace(want)) {
					t.Errorf("panic says %q, want it to say %q", got, want)
				}
			}()
			misuse()
		}()
	}
}

// The stored copy may be finished by whoever appended it; the message it came from stays as it was.
func TestAppendReturnsTheStoredCopy(t *testing.T) {
	var d Disk
	f := d.Create("log")
	message := []byte("batch")
	stored := d.Append(f, message)
	stored[0] = 'B'
	if got := string(d.Bytes(f)); got != "Batch" {
		t.Errorf("file holds %q, want Batch", got)
	}
	if string(message) != "batch" {
		t.Errorf("the message became %q", message)
	}
}

// model is a disk without any sharing.
type model map[string]modelFile

type modelFile struct {
	content string
	synced  int
	at      []kafka.Millis // when each byte was written; never changed in place
}

// seen is the model without what the disk does not show.
func (m model) seen() model {
	seen := model{}
	for path, file := range m {
		file.at = nil
		seen[path] = file
	}
	return seen
}

// describe gives the whole content of a disk in the model's terms.
func describe(d *Disk) model {
	m := model{}
	for _, path := range d.List("") {
		f, _ := d.Open(path)
		m[path] = modelFile{content: string(d.Bytes(f)), synced: d.Synced(f)}
	}
	return m
}

// A disk and its clones, all written at random, each end as a disk without shared bytes would.
func TestClonesAreIndependent(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		disks, models := []*Disk{{}}, []model{{}}
		for step := range 300 {
			at := r.IntN(len(disks))
			if len(disks) < 8 && r.IntN(20) == 0 {
				disks, models = append(disks, disks[at].Clone()), append(models, maps.Clone(models[at]))
				continue
			}
			mutate(r, disks[at], models[at], step)
		}
		for i := range disks {
			if diff := cmp.Diff(models[i].seen(), describe(disks[i]), cmp.AllowUnexported(modelFile{})); diff != "" {
				t.Fatalf("seed %d: disk %d (-want +got):\n%s", seed, i, diff)
			}
		}
	}
}

// mutate does one random thing to a disk and to its model.
func mutate(r *rand.Rand, d *Disk, m model, step int) {
	path := fmt.Sprintf("f%d", r.IntN(5))
	f, exists := d.Open(path)
	file := m[path]
	d.Now += kafka.Millis(r.IntN(3))
	switch op := r.IntN(23); {
	case !exists:
		d.Create(path)
	case op < 12:
		text := fmt.Sprintf("<%d>", step)
		d.Append(f, []byte(text))
		file.content += text
		file.at = slices.Concat(file.at, slices.Repeat([]kafka.Millis{d.Now}, len(text)))
	case op < 13:
		d.Reserve(f, r.IntN(100))
	case op < 14:
		size := r.IntN(len(file.content) + 1)
		d.Truncate(f, size)
		file.content, file.synced = file.content[:size], min(file.synced, size)
		file.at = file.at[:size]
	case op < 16:
		d.Sync(f)
		file.synced = len(file.content)
	case op < 17:
		d.Remove(f)
		delete(m, path)
		return
	case op < 18:
		to := fmt.Sprintf("f%d", r.IntN(5))
		d.Rename(f, to)
		delete(m, path)
		path = to
	case op < 19:
		d.LoseUnsynced()
		for p, other := range m {
			other.content, other.at = other.content[:other.synced], other.at[:other.synced]
			m[p] = other
		}
		return
	case op < 22:
		age := kafka.Millis(r.IntN(40))
		d.WriteBack(d.Now, age)
		for p, other := range m {
			for other.synced < len(other.at) && other.at[other.synced] <= d.Now-age {
				other.synced++
			}
			m[p] = other
		}
		return
	case r.IntN(10) == 0:
		d.Wipe()
		clear(m)
		return
	}
	m[path] = file
}

// A frozen disk is cloned by many at once, each clone is written, and the disk that it was frozen
// from goes on. Run with -race.
func TestConcurrentClonesOfAFrozenDisk(t *testing.T) {
	var original Disk
	f := original.Create("log")
	original.Append(f, []byte("start"))
	frozen := original.Clone()

	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			clone := frozen.Clone().Clone()
			clone.Append(f, fmt.Append(nil, i))
			clone.Create("own")
			if got, want := string(clone.Bytes(f)), fmt.Sprint("start", i); got != want {
				t.Errorf("clone %d holds %q, want %q", i, got, want)
			}
		})
	}
	for range 1000 {
		original.Append(f, []byte("."))
	}
	wait.Wait()
	if got := string(frozen.Bytes(f)); got != "start" {
		t.Errorf("the frozen disk holds %q, want start", got)
	}
	if got, want := string(original.Bytes(f)), "start"+strings.Repeat(".", 1000); got != want {
		t.Errorf("the original holds %d bytes, want %d", len(got), len(want))
	}
}

func BenchmarkClone192Files(b *testing.B) {
	var d Disk
	for partition := range 64 {
		for _, suffix := range []string{"log", "index", "timeindex"} {
			f := d.Create(fmt.Sprintf("orders-%d/00000000000000000000.%s", partition, suffix))
			d.Append(f, slices.Repeat([]byte("x"), 1000))
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		d.Clone()
	}
}
