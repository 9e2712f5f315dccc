//go:build judge

package judge

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/storage"
)

// Kafka's DumpLogSegments reads every partition directory of dumpedDirectories. In a segment it sees what
// "loglab dump --json" prints, in an index the entries that we read there. What it reports are the gaps that cleaning
// has left, and no mismatch but those of emptied batches; "loglab dump --check" finds nothing wrong.
func TestDump(t *testing.T) {
	root := t.TempDir()
	files := dumpedFiles(t, root)
	counts, reported := compareDumps(t, root, files)
	t.Logf("%+v; Kafka reports %d lines:\n%s", counts, len(reported), strings.ReplaceAll(strings.Join(reported, "\n"), root, ""))

	// What a broker checks when it starts.
	indexes := filesWith(files, storage.OffsetIndexSuffix, storage.TimeIndexSuffix)
	want := &strings.Builder{}
	for _, file := range indexes {
		fmt.Fprintf(want, "Dumping %s\n", file)
		if filepath.Ext(file) == storage.OffsetIndexSuffix && len(readFile(t, root, file)) == 0 {
			fmt.Fprintf(want, "%s is empty.\n", file)
		} else {
			fmt.Fprintf(want, "%s passed sanity check.\n", file)
		}
	}
	compareLines(t, dumpLogSegments(t, root, indexes, "--index-sanity-check"), want.String())
}

// compareDumps lets Kafka's tool dump the files, compares that with "loglab dump --json" and with what we read in the
// others, and gives what the tool reports.
func compareDumps(t *testing.T, root string, files []string) (counts dumpCounts, reported []string) {
	t.Helper()
	loglab := buildLoglab(t)
	want := &strings.Builder{}
	for _, file := range files {
		fmt.Fprintf(want, "Dumping %s\n", file)
		switch path := filepath.Join(root, file); filepath.Ext(file) {
		case storage.LogSuffix:
			counts.segments++
			fmt.Fprintf(want, "Log starting offset: %d\n", baseOffsetOf(t, file))
			wantBatches(t, want, output(t, exec.Command(loglab, "dump", "--json", "--check", path)), &counts)
		case storage.OffsetIndexSuffix:
			wantOffsetIndex(t, want, root, file, &counts)
		case storage.TimeIndexSuffix:
			wantTimeIndex(t, want, root, file, &counts)
		case storage.TransactionIndexSuffix:
			wantTransactionIndex(t, want, root, file, &counts)
		case storage.ProducerSnapshotSuffix:
			wantProducerSnapshot(t, want, root, file, &counts)
		}
	}
	theirs := dumpLogSegments(t, root, files, "--deep-iteration", "--print-data-log", "--key-decoder-class", "Dump$Hex", "--value-decoder-class", "Dump$Hex")
	theirs, reported = cutReports(theirs)
	compareLines(t, theirs, want.String())
	if diff := cmp.Diff(wantReports(t, root, files), reported); diff != "" {
		t.Errorf("reports (-want +Kafka):\n%s", diff)
	}
	return counts, reported
}

// buildLoglab gives the path of the command.
func buildLoglab(t *testing.T) string {
	t.Helper()
	loglab := filepath.Join(t.TempDir(), "loglab")
	output(t, exec.Command("go", "build", "-o", loglab, "loglab/cmd/loglab"))
	return loglab
}

// dumpCounts says how much was compared.
type dumpCounts struct {
	segments, batches, transactional, commits, aborts, records, indexEntries, timeEntries int

	abortedTransactions, snapshots, producers int // entries of .txnindex; files .snapshot and their entries
}

// dumpLogSegments runs Kafka's tool in root. Arguments are limited, so it gets some files at a time.
func dumpLogSegments(t *testing.T, root string, files []string, options ...string) string {
	t.Helper()
	const most = 500
	var text strings.Builder
	for len(files) > 0 {
		n := min(len(files), most)
		tool := kafkaProgram(t, "Dump", append(options, "--files", strings.Join(files[:n], ","))...)
		tool.Dir = root
		text.WriteString(output(t, tool))
		files = files[n:]
	}
	return text.String()
}

// compareLines fails the test with the first line that differs and the file that it is about.
func compareLines(t *testing.T, theirs, ours string) {
	t.Helper()
	theirLines, ourLines := strings.Split(theirs, "\n"), strings.Split(ours, "\n")
	file := ""
	for i := range min(len(theirLines), len(ourLines)) {
		if theirLines[i] != ourLines[i] {
			t.Fatalf("after %q\n(-Kafka +ours):\n%s", file, cmp.Diff(theirLines[i], ourLines[i]))
		}
		if strings.HasPrefix(ourLines[i], "Dumping ") {
			file = ourLines[i]
		}
	}
	if len(theirLines) != len(ourLines) {
		t.Fatalf("Kafka prints %d lines, we expect %d", len(theirLines), len(ourLines))
	}
}

func filesWith(files []string, suffixes ...string) []string {
	var with []string
	for _, file := range files {
		for _, suffix := range suffixes {
			if filepath.Ext(file) == suffix {
				with = append(with, file)
			}
		}
	}
	return with
}

func readFile(t *testing.T, root, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func baseOffsetOf(t *testing.T, file string) (base int64) {
	t.Helper()
	if _, err := fmt.Sscanf(filepath.Base(file), "%020d.", &base); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return base
}

// batchDump is a line of "loglab dump --json".
type batchDump struct {
	BaseOffset           int64        `json:"base_offset"`
	BatchLength          int64        `json:"batch_length"`
	PartitionLeaderEpoch int32        `json:"partition_leader_epoch"`
	Magic                int8         `json:"magic"`
	CRC32C               uint32       `json:"crc32c"`
	CRCValid             bool         `json:"crc_valid"`
	Attributes           int16        `json:"attributes"`
	Compression          string       `json:"compression"`
	Transactional        bool         `json:"transactional"`
	Control              bool         `json:"control"`
	LastOffsetDelta      int32        `json:"last_offset_delta"`
	BaseTimestamp        int64        `json:"base_timestamp"`
	MaxTimestamp         int64        `json:"max_timestamp"`
	ProducerID           int64        `json:"producer_id"`
	ProducerEpoch        int16        `json:"producer_epoch"`
	BaseSequence         int32        `json:"base_sequence"`
	NumRecords           int          `json:"num_records"`
	Records              []recordDump `json:"records"`
}

type recordDump struct {
	Offset    int64   `json:"offset"`
	Timestamp int64   `json:"timestamp"`
	KeyHex    *string `json:"key_hex"`
	ValueHex  *string `json:"value_hex"`
	Headers   []struct {
		Key string `json:"key"`
	} `json:"headers"`
}

// wantBatches writes a dump of ours as Kafka's tool writes it.
func wantBatches(t *testing.T, want *strings.Builder, dump string, counts *dumpCounts) {
	t.Helper()
	position := int64(0)
	for decoder := json.NewDecoder(strings.NewReader(dump)); decoder.More(); {
		var b batchDump
		if err := decoder.Decode(&b); err != nil {
			t.Fatal(err)
		}
		counts.batches++
		counts.records += len(b.Records)
		counts.count(b)
		timestampType, horizon := "CreateTime", "OptionalLong.empty"
		if b.Attributes&0x08 != 0 {
			timestampType = "LogAppendTime"
		}
		if b.Attributes&0x40 != 0 {
			horizon = fmt.Sprintf("OptionalLong[%d]", b.BaseTimestamp)
		}
		fmt.Fprintf(want, "baseOffset: %d lastOffset: %d count: %d baseSequence: %d lastSequence: %d producerId: %d producerEpoch: %d "+
			"partitionLeaderEpoch: %d isTransactional: %t isControl: %t deleteHorizonMs: %s position: %d %s: %d size: %d magic: %d "+
			"compresscodec: %s crc: %d isvalid: %t\n",
			b.BaseOffset, b.BaseOffset+int64(b.LastOffsetDelta), b.NumRecords, b.BaseSequence, b.sequence(b.LastOffsetDelta), b.ProducerID,
			b.ProducerEpoch, b.PartitionLeaderEpoch, b.Transactional, b.Control, horizon, position, timestampType, b.MaxTimestamp,
			b.BatchLength+12, b.Magic, b.Compression, b.CRC32C, b.CRCValid)
		for _, r := range b.Records {
			fmt.Fprintf(want, "| offset: %d %s: %d keySize: %d valueSize: %d sequence: %d headerKeys: [%s]%s\n", r.Offset, timestampType,
				r.Timestamp, size(r.KeyHex), size(r.ValueHex), b.sequence(int32(r.Offset-b.BaseOffset)), r.headerKeys(), b.content(r))
		}
		position += b.BatchLength + 12
	}
}

func (c *dumpCounts) count(b batchDump) {
	if b.Transactional && !b.Control {
		c.transactional++
	}
	for _, r := range b.Records {
		switch text := b.content(r); {
		case b.Control && strings.Contains(text, "COMMIT"):
			c.commits++
		case b.Control:
			c.aborts++
		}
	}
}

// sequence is the base sequence moved on, if there is one. After 2147483647 comes 0.
func (b batchDump) sequence(delta int32) int64 {
	if b.BaseSequence < 0 {
		return -1
	}
	return (int64(b.BaseSequence) + int64(delta)) % (math.MaxInt32 + 1)
}

// content is a record's key and value, or what a marker says.
func (b batchDump) content(r recordDump) string {
	if b.Control {
		kind := map[string]string{"00000000": "ABORT", "00000001": "COMMIT"}[*r.KeyHex]
		var version, coordinatorEpoch int
		fmt.Sscanf(*r.ValueHex, "%04x%08x", &version, &coordinatorEpoch)
		return fmt.Sprintf(" endTxnMarker: %s coordinatorEpoch: %d", kind, coordinatorEpoch)
	}
	content := ""
	if r.KeyHex != nil {
		content += " key: " + *r.KeyHex
	}
	if r.ValueHex != nil {
		content += " payload: " + *r.ValueHex
	}
	return content
}

func (r recordDump) headerKeys() string {
	var keys []string
	for _, h := range r.Headers {
		keys = append(keys, h.Key)
	}
	return strings.Join(keys, ",")
}

func size(hex *string) int {
	if hex == nil {
		return -1
	}
	return len(*hex) / 2
}

// wantOffsetIndex writes the entries that we read in an offset index as Kafka's tool writes them.
func wantOffsetIndex(t *testing.T, want *strings.Builder, root, file string, counts *dumpCounts) {
	t.Helper()
	content := readFile(t, root, file)
	if len(content) == 0 {
		fmt.Fprintf(want, "%s is empty.\n", file)
	}
	entries, err := storage.ParseOffsetIndex(content, kafka.Offset(baseOffsetOf(t, file)))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	counts.indexEntries += len(entries)
	for _, e := range entries {
		fmt.Fprintf(want, "offset: %d position: %d\n", e.Offset, e.Position)
	}
}

// wantTimeIndex does the same for a time index.
func wantTimeIndex(t *testing.T, want *strings.Builder, root, file string, counts *dumpCounts) {
	t.Helper()
	entries, err := storage.ParseTimeIndex(readFile(t, root, file), kafka.Offset(baseOffsetOf(t, file)))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	counts.timeEntries += len(entries)
	for _, e := range entries {
		fmt.Fprintf(want, "timestamp: %d offset: %d\n", e.Timestamp, e.Offset)
	}
}

// wantTransactionIndex does the same for a transaction index.
func wantTransactionIndex(t *testing.T, want *strings.Builder, root, file string, counts *dumpCounts) {
	t.Helper()
	entries, err := storage.ParseTransactionIndex(readFile(t, root, file))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	counts.abortedTransactions += len(entries)
	for _, e := range entries {
		fmt.Fprintf(want, "version: 0 producerId: %d firstOffset: %d lastOffset: %d lastStableOffset: %d\n", e.ProducerID, e.FirstOffset, e.LastOffset, e.LastStableOffset)
	}
}

// wantProducerSnapshot does the same for a snapshot of producers.
func wantProducerSnapshot(t *testing.T, want *strings.Builder, root, file string, counts *dumpCounts) {
	t.Helper()
	entries, err := storage.ParseProducerSnapshot(readFile(t, root, file))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	counts.snapshots++
	counts.producers += len(entries)
	for _, e := range entries {
		open := "OptionalLong.empty"
		if e.TransactionFirstOffset >= 0 {
			open = fmt.Sprintf("OptionalLong[%d]", e.TransactionFirstOffset)
		}
		fmt.Fprintf(want, "producerId: %d producerEpoch: %d coordinatorEpoch: %d currentTxnFirstOffset: %s lastTimestamp: %d ", e.ProducerID, e.ProducerEpoch,
			e.CoordinatorEpoch, open, e.Timestamp)
		if e.LastOffset >= 0 {
			first := e.LastSequence - kafka.Sequence(e.OffsetDelta)
			fmt.Fprintf(want, "firstSequence: %d lastSequence: %d lastOffset: %d offsetDelta: %d timestamp: %d", first, e.LastSequence, e.LastOffset, e.OffsetDelta, e.Timestamp)
		}
		want.WriteString("\n")
	}
}

// cutReports parts what the tool prints on the way from what it reports at its end, which it has in no order.
func cutReports(text string) (rest string, reports []string) {
	var kept []string
	for _, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "  "), strings.HasPrefix(line, "Non-consecutive"), strings.HasPrefix(line, "Found "), strings.HasPrefix(line, "Mismatches"), strings.HasPrefix(line, "The following"):
			reports = append(reports, line)
		default:
			kept = append(kept, line)
		}
	}
	slices.Sort(reports)
	return strings.Join(kept, "\n"), reports
}

// wantReports gives what the tool is to report: where a record's offset is not one more than the last one's, and time
// index entries of emptied batches. It takes a batch's largest timestamp from its records, and those have none.
func wantReports(t *testing.T, root string, files []string) (reports []string) {
	t.Helper()
	for _, file := range filesWith(files, storage.LogSuffix) {
		var gaps, mismatches []string
		emptied, last := map[kafka.Offset]bool{}, kafka.NoOffset
		log := readFile(t, root, file)
		for b, err := record.Parse(log); err == nil; b, err = record.Parse(log) {
			emptied[b.LastOffset()] = b.RecordsCount == 0
			records, err := b.Records()
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range records {
				if last >= 0 && r.Offset != last+1 {
					gaps = append(gaps, fmt.Sprintf("  %d is followed by %d", last, r.Offset))
				}
				last = r.Offset
			}
			log = log[b.Size():]
		}
		if len(gaps) > 0 {
			reports = append(append(reports, "Non-consecutive offsets in "+filepath.Join(root, file)), gaps...)
		}
		times := strings.TrimSuffix(file, storage.LogSuffix) + storage.TimeIndexSuffix
		entries, err := storage.ParseTimeIndex(readFile(t, root, times), kafka.Offset(baseOffsetOf(t, times)))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if emptied[e.Offset] {
				mismatches = append(mismatches, fmt.Sprintf("  Index timestamp: %d, log timestamp: %d", e.Timestamp, kafka.NoTimestamp))
			}
		}
		if len(mismatches) > 0 {
			reports = append(append(reports, "Found timestamp mismatch in :"+filepath.Join(root, times)), mismatches...)
		}
	}
	slices.Sort(reports)
	return reports
}
