package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/simdisk"
	"loglab/engine/storage"
)

// partitionDirectory writes a partition that the engine has filled, 40 batches in several segments, as files.
func partitionDirectory(t *testing.T, codec record.Codec, interval int) (dir string, bases []kafka.Offset) {
	t.Helper()
	config := storage.DefaultConfig()
	config.SegmentBytes, config.IndexIntervalBytes = 1500, interval
	var disk simdisk.Disk
	l := storage.New(&disk, "orders-0", config, 1700000000000)
	options := record.Options{Codec: codec, Producer: &record.Producer{ID: 1000}}
	for i := range 40 {
		b := record.NewBuilder(options)
		b.Append(kafka.Timestamp(1700000000000+i), []byte("k"), []byte("value"), record.Header{Key: "h"})
		b.Append(kafka.Timestamp(1700000000000+i), []byte("k"), nil)
		raw, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Append(raw, 0, kafka.Timestamp(1700000000000+i)); err != nil {
			t.Fatal(err)
		}
		options.Producer.BaseSequence += 2
	}
	dir = t.TempDir()
	for _, path := range disk.List("orders-0") {
		file, _ := disk.Open(path)
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(path)), disk.Bytes(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range l.Segments() {
		bases = append(bases, s.BaseOffset)
	}
	return dir, bases
}

// Of files that agree, --check prints no more than without it.
func TestDumpCheckOfOurFiles(t *testing.T) {
	for codec := record.None; codec <= record.Zstd; codec++ {
		for _, interval := range []int{0, 300, 4096} {
			dir, bases := partitionDirectory(t, codec, interval)
			if len(bases) < 3 {
				t.Fatalf("%d segments, want 3 or more", len(bases))
			}
			for _, base := range bases {
				name := filepath.Join(dir, storage.SegmentFileName(base, storage.LogSuffix))
				for _, format := range []string{"--json", "--anatomy"} {
					if diff := cmp.Diff(dumpLine(t, name, format), dumpLine(t, name, format, "--check")); diff != "" {
						t.Errorf("%v, interval %d, %d: (-without +with --check)\n%s", codec, interval, base, diff)
					}
				}
			}
		}
	}
}

// Each batch has 85 bytes, so of index.interval.bytes 300 every fourth is indexed, first the one at byte 340.
// Each disagreement is a line behind the batches, or an object, and one line on standard error names the first.
func TestDumpCheckFindsWhatIsSpoiled(t *testing.T) {
	const first, index, times = "00000000000000000000.log", "00000000000000000000.index", "00000000000000000000.timeindex"
	change := func(file string, at int, value byte) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			b, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				t.Fatal(err)
			}
			b[at] = value
			if err := os.WriteFile(filepath.Join(dir, file), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tc := range []struct {
		name       string
		spoil      func(t *testing.T, dir string)
		log        string
		text, json string
	}{
		{"offset index", change(index, 7, 200), first,
			index + ": entry 0: byte 0: offset 9: found position 456, expected the first byte of a batch, as 425 of the one that ends with offset 11",
			`{"kind":"position","file":"` + index + `","entry":0,"byte":0,"offset":9,"found":"position 456","expected":"the first byte of a batch, as 425 of the one that ends with offset 11"}`},
		{"time index", change(times, 7, 0), first,
			times + ": entry 0: byte 0: offset 9: found timestamp 1700000000000, expected 1700000000004, the largest of the batch at byte 340",
			`{"kind":"timestamp","file":"` + times + `","entry":0,"byte":0,"offset":9,"found":"timestamp 1700000000000","expected":"1700000000004, the largest of the batch at byte 340"}`},
		{"a segment between", func(t *testing.T, dir string) { writeEmpty(t, dir, "00000000000000000020.log") }, first,
			first + ": byte 850: offset 20: found last offset 21, expected below 20, where the next segment begins",
			`{"kind":"next-segment","file":"` + first + `","entry":null,"byte":850,"offset":20,"found":"last offset 21","expected":"below 20, where the next segment begins"}`},
		{"name", func(t *testing.T, dir string) { rename(t, dir, first, "0.log") }, "0.log",
			`0.log: found the name "0.log", expected the base offset in 20 digits and .log`,
			`{"kind":"name","file":"0.log","entry":null,"byte":null,"offset":null,"found":"the name \"0.log\"","expected":"the base offset in 20 digits and .log"}`},
		{"checksum", change(first, 84, 1), first,
			first + ": byte 0: found corrupt batch: at its byte 17: crc is",
			`{"kind":"batch","file":"` + first + `","entry":null,"byte":0,"offset":null,"found":"corrupt batch: at its byte 17: crc is`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir, _ := partitionDirectory(t, record.None, 300)
			tc.spoil(t, dir)
			name := filepath.Join(dir, tc.log)
			for _, format := range []struct{ flag, prefix, want string }{{"--anatomy", "problem: ", tc.text}, {"--json", `{"problem":`, tc.json}} {
				got := runWith(nil, "dump", "--check", format.flag, name)
				plain := runWith(nil, "dump", format.flag, name)
				line, only := strings.CutPrefix(got.out, plain.out)
				if got.code != exitNo || !only || strings.Count(line, "\n") != 1 || !strings.HasPrefix(line, format.prefix+format.want) {
					t.Errorf("%s: status %d, behind the batches stands %q, want status %d and %q", format.flag, got.code, line, exitNo, format.prefix+format.want)
				}
				if format.flag == "--json" && !json.Valid([]byte(line)) {
					t.Errorf("no JSON: %s", line)
				}
				if want := "loglab dump: " + filepath.Join(dir, tc.text); !strings.HasPrefix(got.err, want) || strings.Count(got.err, "\n") != 1 {
					t.Errorf("%s: standard error is %q, want %q", format.flag, got.err, want)
				}
			}
		})
	}
}

func writeEmpty(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func rename(t *testing.T, dir, from, to string) {
	t.Helper()
	if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
		t.Fatal(err)
	}
}

// A lone .log file has nothing beside it to disagree with; a file beside it that can't be read or is too large
// is bad input, and nothing is printed.
func TestDumpCheckFilesBeside(t *testing.T) {
	name, _ := segment(t, dumpV2b)
	dumpLine(t, name, "--check")
	index := strings.TrimSuffix(name, ".log") + ".index"
	if err := os.Mkdir(index, 0o700); err != nil {
		t.Fatal(err)
	}
	checkBadInput(t, runWith(nil, "dump", "--check", name), index)
	if err := os.Remove(index); err != nil {
		t.Fatal(err)
	}
	large, err := os.Create(index)
	if err != nil {
		t.Fatal(err)
	}
	defer large.Close()
	if err := large.Truncate(storage.MaxComparedFile); err != nil {
		t.Fatal(err)
	}
	dumpLine(t, name, "--check")
	if err := large.Truncate(storage.MaxComparedFile + 1); err != nil {
		t.Fatal(err)
	}
	got := runWith(nil, "dump", "--check", name)
	checkBadInput(t, got, index+" has more than 33554432 bytes")
	if got.out != "" {
		t.Errorf("printed %q", got.out)
	}
}

// repeated is a file of so many equal batches, which it makes as they are read.
type repeated struct {
	batch []byte
	left  int64
	at    int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.batch[r.at:])
	r.at += n
	if r.at == len(r.batch) {
		r.at = 0
		r.left--
	}
	return n, nil
}

// A file of 256 MiB is dumped and checked in a few MiB of memory: that is all that was ever allocated.
func TestDumpMemory(t *testing.T) {
	b := record.NewBuilder(record.Options{})
	for i := range 100 {
		b.Append(kafka.Timestamp(i), nil, make([]byte, 10<<10))
	}
	raw, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, asJSON := range []bool{false, true} {
		file := &repeated{batch: raw, left: 256}
		written := 0
		out := &printer{w: writerFunc(func(p []byte) (int, error) { written += len(p); return len(p), nil })}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c := dumpCmd{File: "x.log", JSON: asJSON}
		comparison := storage.NewComparison("00000000000000000000.log", storage.SegmentFiles{Next: kafka.NoOffset})
		if err := c.dump(file, out, comparison); err == nil || !strings.Contains(err.Error(), "255 problems in all") {
			t.Errorf("%v, want 255 problems: all batches have the same offsets", err)
		}
		runtime.ReadMemStats(&after)
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 8<<20 {
			t.Errorf("json %v: %d bytes were allocated, want 8 MiB at most", asJSON, allocated)
		}
		if written < 256*100*20 {
			t.Errorf("json %v: only %d bytes were written", asJSON, written)
		}
	}
}
