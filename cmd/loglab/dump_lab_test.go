package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/record"
	"loglab/engine/storage"
	"loglab/labs"
	"loglab/labs/segments"
)

// The directory that the segment lab lets its reader keep: franz-go and Sarama read the same batches and records in it,
// deletions among them, as dump --json prints, with every codec.
func TestClientsReadTheLabsDirectory(t *testing.T) {
	lab := segments.Lab()
	for codec := record.None; codec <= record.Zstd; codec++ {
		a, err := labs.Parse(lab, labs.Pages, "rate=7&keys=3&deletions=3&value-bytes=40&segment-bytes=1200&compression="+codec.String()+"&t=25")
		if err != nil {
			t.Fatal(err)
		}
		c, err := labs.Replay(a)
		if err != nil {
			t.Fatal(err)
		}
		k := newKeeper(t)
		_, files := lab.Disk(c)
		logs := 0
		for _, f := range files {
			if strings.HasSuffix(f.Name, storage.LogSuffix) {
				k.log = append(k.log, f.Bytes...)
				logs++
			}
		}
		dumped := readDump(t, dumpLine(t, segmentOf(t, k.log), "--json"))
		records, nulls := 0, 0
		for _, b := range dumped {
			records += len(b.Records)
			for _, r := range b.Records {
				if r.Value == nil {
					nulls++
				}
			}
		}
		if logs < 3 || records != 25*7 || nulls == 0 {
			t.Errorf("%v: %d segments, %d records, %d without a value; want 3 segments at least, 175 records, some without a value", codec, logs, records, nulls)
		}
		last := dumped[len(dumped)-1]
		k.next = last.BaseOffset + int64(last.LastOffsetDelta) + 1
		if diff := cmp.Diff(readFranzGo(t, k.log), dumped); diff != "" {
			t.Errorf("%v: (-franz-go +dump)\n%s", codec, diff)
		}
		if diff := cmp.Diff(k.readSarama(t, dumped), dumped); diff != "" {
			t.Errorf("%v: (-sarama +dump)\n%s", codec, diff)
		}
	}
}
