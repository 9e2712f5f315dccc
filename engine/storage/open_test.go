package storage

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/kafka"
	"loglab/engine/simdisk"
)

// tenRecords is the run of §2.3: ten single-record batches of 70 bytes, index.interval.bytes 200.
func tenRecords(t *testing.T, change func(*Config)) *Log {
	l := newLog(func(c *Config) {
		c.IndexIntervalBytes = 200
		if change != nil {
			change(c)
		}
	})
	for offset := range kafka.Offset(10) {
		mustAppend(t, l, sent(7, 0, kafka.Sequence(offset), 1, "v"), kafka.LeaderEpoch(offset/4), startTime)
	}
	return l
}

// contents is every file of the disk.
func contents(disk *simdisk.Disk) map[string]string {
	files := map[string]string{}
	for _, path := range disk.List("") {
		f, _ := disk.Open(path)
		files[path] = string(disk.Bytes(f))
	}
	return files
}

// §2.1: a clean close adds a snapshot at the log end offset; opened again, the log is as it was, and nothing is
// read batch by batch.
func TestCleanStop(t *testing.T) {
	l := tenRecords(t, func(c *Config) { c.SegmentBytes = 280 })
	l.Close()
	if l.RecoveryPoint() != 10 || !slices.Equal(snapshots(l.disk), []string{"4", "8", "10"}) {
		t.Errorf("recovery point %d, snapshots %v", l.RecoveryPoint(), snapshots(l.disk))
	}
	l.disk.LoseUnsynced()
	files := contents(l.disk)
	opened, recovered := Open(l.disk, "orders-0", l.config, startTime, true, 0)
	if diff := cmp.Diff(files, contents(opened.disk)); diff != "" || recovered != (Recovered{}) {
		t.Errorf("recovered %+v, files (-closed +opened):\n%s", recovered, diff)
	}
	before, after := stateOf(l), stateOf(opened)
	before.Producers[0].Batches = before.Producers[0].Batches[4:] // a snapshot has only the last
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("(-closed +opened):\n%s", diff)
	}
	if opened.RecoveryPoint() != 10 || opened.Producers()[0].LastSequence() != 9 || len(opened.Producers()[0].Batches) != 1 {
		t.Errorf("recovery point %d, producers %+v", opened.RecoveryPoint(), opened.Producers())
	}
	if appended := mustAppend(t, opened, sent(7, 0, 10, 1, "v"), 3, startTime); appended.BaseOffset != 10 || appended.SegmentBase != 8 {
		t.Errorf("%+v", appended)
	}
}

// §2.3: recovery rebuilds the indexes with the append's rule. A killed process loses nothing, but of
// the producer's batches only the last is known: recovery ends with a snapshot, and that is what is loaded.
func TestRecoveryRebuildsTheIndexes(t *testing.T) {
	l := tenRecords(t, nil)
	for _, suffix := range []string{OffsetIndexSuffix, TimeIndexSuffix} {
		f, _ := l.disk.Open("orders-0/" + SegmentFileName(0, suffix))
		l.disk.Truncate(f, 4) // what is in them is not looked at
	}
	opened, recovered := Open(l.disk, "orders-0", l.config, startTime, false, 0)
	segment := opened.Segments()[0]
	if diff := cmp.Diff([]OffsetEntry{{3, 210}, {6, 420}, {9, 630}}, segment.OffsetEntries()); diff != "" {
		t.Errorf("offset index (-want +got):\n%s", diff)
	}
	if want := (Recovered{Segments: 1, Bytes: l.Size(), Records: 10}); recovered != want {
		t.Errorf("recovered %+v, want %+v", recovered, want)
	}
	if opened.LogEndOffset() != 10 || opened.RecoveryPoint() != 0 || len(opened.Producers()[0].Batches) != 1 || opened.Producers()[0].LastSequence() != 9 {
		t.Errorf("log end offset %d, recovery point %d, producers %+v", opened.LogEndOffset(), opened.RecoveryPoint(), opened.Producers())
	}
	if diff := cmp.Diff(l.LeaderEpochs(), opened.LeaderEpochs()); diff != "" {
		t.Errorf("epochs (-before +after):\n%s", diff)
	}
}

// A power loss takes what was not synced; a torn batch at the end goes with it, and epochs that began there.
func TestRecoveryAfterPowerLoss(t *testing.T) {
	l := tenRecords(t, func(c *Config) { c.SegmentBytes = 420 })
	size := l.disk.Size(l.active.log)
	if !slices.Equal(bases(l), []kafka.Offset{0, 6}) {
		t.Fatalf("segments %v", bases(l))
	}
	l.disk.Truncate(l.active.log, size-70*2-1) // in the middle of offset 7
	opened, recovered := Open(l.disk, "orders-0", l.config, startTime, false, l.RecoveryPoint())
	if want := (Recovered{Segments: 1, Bytes: 70, Records: 1, DroppedBytes: 69}); recovered != want {
		t.Errorf("recovered %+v, want %+v", recovered, want)
	}
	if opened.LogEndOffset() != 7 || opened.Size() != 490 || len(opened.LeaderEpochs()) != 2 || opened.Producers()[0].LastSequence() != 6 {
		t.Errorf("log end offset %d, %d bytes, epochs %v, producers %+v", opened.LogEndOffset(), opened.Size(), opened.LeaderEpochs(), opened.Producers())
	}
	opened.disk.LoseUnsynced() // the active segment was never synced
	opened, recovered = Open(opened.disk, "orders-0", l.config, startTime, false, 6)
	if opened.LogEndOffset() != 6 || recovered != (Recovered{Segments: 1}) {
		t.Errorf("log end offset %d, recovered %+v", opened.LogEndOffset(), recovered)
	}
}

// os.writeback.ms: of what was written but never synced, a power loss leaves what is 30 s old.
func TestPowerLossAfterWriteBack(t *testing.T) {
	l := newLog(nil)
	for second := range kafka.Millis(60) {
		l.disk.Now = 1000 * second
		mustAppend(t, l, oneRecord(startTime), 0, startTime)
		l.disk.WriteBack(l.disk.Now, 30_000)
	}
	l.disk.LoseUnsynced()
	opened, recovered := Open(l.disk, "orders-0", l.config, startTime, false, l.RecoveryPoint())
	if want := (Recovered{Segments: 1, Bytes: 30 * 70, Records: 30}); recovered != want || opened.LogEndOffset() != 30 {
		t.Errorf("recovered %+v, log end offset %d; want %+v and 30: offsets 0 to 29 were written by second 29", recovered, opened.LogEndOffset(), want)
	}
}

// What stands behind a damaged batch goes, later segments whole.
func TestRecoveryDropsLaterSegments(t *testing.T) {
	l := tenRecords(t, func(c *Config) { c.SegmentBytes = 280 })
	damaged, _ := l.disk.Open("orders-0/" + SegmentFileName(4, LogSuffix))
	bytes := slices.Clone(l.disk.Bytes(damaged))
	bytes[2*70-1] ^= 1 // offset 5
	l.disk.Truncate(damaged, 0)
	l.disk.Append(damaged, bytes)
	clone := l.disk.Clone()

	opened, recovered := Open(l.disk, "orders-0", l.config, startTime, false, 4)
	want := Recovered{Segments: 1, Bytes: 70, Records: 1, DroppedBytes: 5 * 70, DroppedRecords: 5, DroppedSegments: 1}
	if recovered != want || opened.LogEndOffset() != 5 || !slices.Equal(bases(opened), []kafka.Offset{0, 4}) {
		t.Errorf("recovered %+v, want %+v; log end offset %d, segments %v", recovered, want, opened.LogEndOffset(), bases(opened))
	}
	if got := snapshots(l.disk); !slices.Equal(got, []string{"4", "5"}) {
		t.Errorf("snapshots at %v, want 4 and 5", got)
	}
	// Below the recovery point nobody looks.
	opened, recovered = Open(clone, "orders-0", l.config, startTime, false, 8)
	if recovered.Segments != 1 || opened.LogEndOffset() != 10 {
		t.Errorf("recovered %+v, log end offset %d", recovered, opened.LogEndOffset())
	}
}

// LogLoader.loadSegmentFiles: a segment without its offset index is recovered even after a clean stop; an index
// without a segment goes.
func TestOpenMakesMissingIndexes(t *testing.T) {
	l := tenRecords(t, func(c *Config) { c.SegmentBytes = 280 })
	l.Close()
	files := contents(l.disk)
	for _, path := range []string{SegmentFileName(4, OffsetIndexSuffix), SegmentFileName(4, TimeIndexSuffix)} {
		f, _ := l.disk.Open("orders-0/" + path)
		l.disk.Remove(f)
	}
	l.disk.Create("orders-0/" + SegmentFileName(3, OffsetIndexSuffix))
	_, recovered := Open(l.disk, "orders-0", l.config, startTime, true, 10)
	// The snapshots above the segment were removed on the way; of the last two segments they were taken again.
	if diff := cmp.Diff(files, contents(l.disk)); diff != "" || recovered.Segments != 1 || recovered.Records != 4 {
		t.Errorf("recovered %+v, files (-closed +opened):\n%s", recovered, diff)
	}
}

func TestOpenAnEmptyDirectory(t *testing.T) {
	opened, recovered := Open(new(simdisk.Disk), "orders-0", DefaultConfig(), startTime, false, 0)
	if diff := cmp.Diff(stateOf(newLog(nil)), stateOf(opened)); diff != "" || recovered != (Recovered{}) {
		t.Errorf("recovered %+v (-New +Open):\n%s", recovered, diff)
	}
}

// Flush syncs whole segments; the recovery point moves only up.
func TestFlush(t *testing.T) {
	l := tenRecords(t, func(c *Config) { c.SegmentBytes = 280 })
	if l.RecoveryPoint() != 8 {
		t.Errorf("after two rolls the recovery point is %d, want 8", l.RecoveryPoint())
	}
	l.Flush(8)
	if got := l.disk.Synced(l.active.log); got != 0 {
		t.Errorf("%d bytes of the active segment are synced", got)
	}
	l.Flush(9)
	if got := l.disk.Synced(l.active.log); got != 140 || l.RecoveryPoint() != 9 {
		t.Errorf("%d bytes of the active segment are synced, recovery point %d; want all 140 and 9", got, l.RecoveryPoint())
	}
	l.Flush(3)
	if _, err := l.TruncateTo(5); err != nil || l.RecoveryPoint() != 5 {
		t.Errorf("recovery point %d after the cut at 5, %v", l.RecoveryPoint(), err)
	}
}

// OffsetCheckpointFile, CleanShutdownFileHandler.
func TestCheckpointFiles(t *testing.T) {
	orders := func(p kafka.Partition, o kafka.Offset) PartitionOffset {
		return PartitionOffset{kafka.TopicPartition{Topic: "orders", Partition: p}, o}
	}
	offsets := []PartitionOffset{orders(10, 5), orders(2, 1<<40), {kafka.TopicPartition{Topic: "billing", Partition: 3}, 0}}
	text := "0\n3\nbilling 3 0\norders 2 1099511627776\norders 10 5\n"
	if got := string(FormatOffsetCheckpoint(offsets)); got != text {
		t.Errorf("formatted %q, want %q", got, text)
	}
	got, err := ParseOffsetCheckpoint([]byte(text))
	if diff := cmp.Diff([]PartitionOffset{offsets[2], offsets[1], offsets[0]}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for says, text := range map[string]string{
		`line 1: version is "1"`:              "1\n0\n",
		`line 1: version is ""`:               "",
		"line 2: the number of entries":       "0\n",
		`line 2: "2" entries are declared, 1`: "0\n2\na 0 1\n",
		`line 3: "a 0"`:                       "0\n1\na 0\n",
		"line 4: partition":                   "0\n2\na 0 1\na x 1\n",
		"line 3: offset":                      "0\n1\na 0 x\n",
	} {
		if _, err := ParseOffsetCheckpoint([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want it to say %q", text, err, says)
		}
	}
	if got := string(FormatCleanShutdown(42)); got != `{"version":0,"brokerEpoch":42}` {
		t.Errorf("clean shutdown file is %s", got)
	}
	if epoch, ok := ParseCleanShutdown([]byte(`{"brokerEpoch":42,"version":0,"more":1}`)); epoch != 42 || !ok {
		t.Errorf("broker epoch %d, %v", epoch, ok)
	}
	for _, text := range []string{"", "{}", `{"version":0,"brokerEpoch":null}`} {
		if epoch, ok := ParseCleanShutdown([]byte(text)); ok {
			t.Errorf("%q: broker epoch %d", text, epoch)
		}
	}
}
