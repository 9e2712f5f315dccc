package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// Batches that Kafka 4.2's own code wrote; the names are those of engine/record's tests.
const (
	dumpV2b = "00000000000000640000005c0000000702a73593230010000000020000018bcfe568000000018bcfe5680500000000000003e800020000000500000003" +
		"1a0000000c757365722d31026100" + "2a000a020c757365722d310104046831027804683201" + "0c000504010000"
	dumpV3  = "0000000000000067000000420000000702a9da8aae0030000000000000018bcfe5680a0000018bcfe5680a00000000000003e80003ffffffff000000012000000008000000010c00000000000400"
	dumpV5  = "000000000000006400000031000000070264105aa0001000000002ffffffffffffffff0000018bcfe5680500000000000003e800020000000500000000"
	dumpV1b = "000000000000002a0000003a000000030224f5855f0008000000000000018bcfe568000000018bcfe56be8ffffffffffffffffffffffffffff0000000110000000026b027600"
	// Three records that the Java client compressed with lz4.
	dumpLZ4 = "00000000000000000000006dffffffff029f5782de0003000000020000018bcfe568000000018bcfe56805ffffffffffffffffffffffffffff0000000304224d186040822d000000df580000000c757365722d31406101000c53002a000a022d00f00301040468310278046832010c00050401000000000000"
)

// segment writes batches given in hex to a file and returns its name and bytes.
func segment(t *testing.T, batches ...string) (string, []byte) {
	t.Helper()
	raw, err := hex.DecodeString(strings.Join(batches, ""))
	if err != nil {
		t.Fatal(err)
	}
	return segmentOf(t, raw), raw
}

func segmentOf(t *testing.T, raw []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "00000000000000000000.log")
	if err := os.WriteFile(name, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// dumpLine runs dump and wants success.
func dumpLine(t *testing.T, args ...string) string {
	t.Helper()
	got := runWith(nil, append([]string{"dump"}, args...)...)
	if got.code != exitOK || got.err != "" {
		t.Fatalf("status %d, standard error %q", got.code, got.err)
	}
	return got.out
}

// The keys, their order and null are the contract with scripts.
func TestDumpJSON(t *testing.T) {
	tests := []struct{ name, batch, want string }{
		{"V2b", dumpV2b, `{"base_offset":100,"batch_length":92,"partition_leader_epoch":7,"magic":2,"crc32c":2805306147,"crc_valid":true,"attributes":16,` +
			`"compression":"none","transactional":true,"control":false,"last_offset_delta":2,"base_timestamp":1700000000000,"max_timestamp":1700000000005,` +
			`"producer_id":1000,"producer_epoch":2,"base_sequence":5,"num_records":3,"records":[` +
			`{"offset":100,"timestamp":1700000000000,"key_hex":"757365722d31","value_hex":"61","headers":[]},` +
			`{"offset":101,"timestamp":1700000000005,"key_hex":"757365722d31","value_hex":null,"headers":[{"key":"h1","value_hex":"78"},{"key":"h2","value_hex":null}]},` +
			`{"offset":102,"timestamp":1699999999997,"key_hex":null,"value_hex":"","headers":[]}]}`},
		{"V3", dumpV3, `{"base_offset":103,"batch_length":66,"partition_leader_epoch":7,"magic":2,"crc32c":2849671854,"crc_valid":true,"attributes":48,` +
			`"compression":"none","transactional":true,"control":true,"last_offset_delta":0,"base_timestamp":1700000000010,"max_timestamp":1700000000010,` +
			`"producer_id":1000,"producer_epoch":3,"base_sequence":-1,"num_records":1,"records":[` +
			`{"offset":103,"timestamp":1700000000010,"key_hex":"00000001","value_hex":"000000000004","headers":[]}]}`},
		{"V5", dumpV5, `{"base_offset":100,"batch_length":49,"partition_leader_epoch":7,"magic":2,"crc32c":1678793376,"crc_valid":true,"attributes":16,` +
			`"compression":"none","transactional":true,"control":false,"last_offset_delta":2,"base_timestamp":-1,"max_timestamp":1700000000005,` +
			`"producer_id":1000,"producer_epoch":2,"base_sequence":5,"num_records":0,"records":[]}`},
		{"V1b, LogAppendTime", dumpV1b, `{"base_offset":42,"batch_length":58,"partition_leader_epoch":3,"magic":2,"crc32c":620070239,"crc_valid":true,"attributes":8,` +
			`"compression":"none","transactional":false,"control":false,"last_offset_delta":0,"base_timestamp":1700000000000,"max_timestamp":1700000001000,` +
			`"producer_id":-1,"producer_epoch":-1,"base_sequence":-1,"num_records":1,"records":[` +
			`{"offset":42,"timestamp":1700000001000,"key_hex":"6b","value_hex":"76","headers":[]}]}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			name, _ := segment(t, test.batch)
			if diff := cmp.Diff(test.want+"\n", dumpLine(t, name, "--json")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestDumpJSONIsOneLineABatch(t *testing.T) {
	name, _ := segment(t, dumpV5, dumpV3, dumpLZ4)
	lines := strings.Split(strings.TrimSuffix(dumpLine(t, name, "--json"), "\n"), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines, want 3", len(lines))
	}
	for i, want := range []string{`"num_records":0`, `"control":true`, `"compression":"lz4"`} {
		if !json.Valid([]byte(lines[i])) || !strings.Contains(lines[i], want) {
			t.Errorf("line %d lacks %s: %s", i+1, want, lines[i])
		}
	}
	if !strings.Contains(lines[2], `"value_hex":"`+strings.Repeat("61", 32)+`"`) {
		t.Errorf("the value was not decompressed: %s", lines[2])
	}
}

func TestDumpText(t *testing.T) {
	name, _ := segment(t, dumpV2b, dumpV3, dumpLZ4)
	want := `byte 0: offsets 100 to 102, 3 records, 104 bytes, epoch 7, CreateTime 1700000000005, producer 1000 epoch 2 sequences 5 to 7, transactional, crc a7359323 right
  100  1700000000000  "user-1" = "a"
  101  1700000000005  "user-1" = null  "h1": "x"  "h2": null
  102  1699999999997  null = ""
byte 104: offsets 103 to 103, 1 record, 78 bytes, epoch 7, CreateTime 1700000000010, producer 1000 epoch 3, transactional, control, crc a9da8aae right
  103  1700000000010  COMMIT, coordinator epoch 4
byte 182: offsets 0 to 2, 3 records, 121 bytes, epoch -1, CreateTime 1700000000005, lz4, crc 9f5782de right
  0  1700000000000  "user-1" = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
  1  1700000000005  "user-1" = null  "h1": "x"  "h2": null
  2  1699999999997  null = ""
`
	if diff := cmp.Diff(want, dumpLine(t, name)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDumpAnatomy(t *testing.T) {
	name, raw := segment(t, dumpLZ4)
	text := dumpLine(t, name, "--anatomy")
	for _, want := range []string{
		"       0     8  baseOffset           0000000000000000  0 ",
		"      61    60  records              04224d186040822d… 60 bytes       3 records, 74 bytes once decompressed with lz4\n",
		"  decompressed:\n    record 0\n",
		`"user-1"`, "base - 3 ms",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
	var got struct {
		Anatomy []fieldJSON `json:"anatomy"`
		Records []fieldJSON `json:"records_anatomy"`
	}
	if err := json.Unmarshal([]byte(dumpLine(t, name, "--anatomy", "--json")), &got); err != nil {
		t.Fatal(err)
	}
	var all string
	for _, f := range got.Anatomy {
		all += f.Hex
	}
	if all != hex.EncodeToString(raw) {
		t.Errorf("the fields' bytes are %s, want %x", all, raw)
	}
	if len(got.Anatomy) != 14 || len(got.Records) == 0 || got.Records[0].Name != "length" || got.Records[0].Offset != 0 {
		t.Errorf("%d fields, records %+v, want 13 and the block", len(got.Anatomy), got.Records)
	}
}

// What is printed before the fault stays; the fault is one line: file, byte, what. Status 1.
func TestDumpEndsAtABadBatch(t *testing.T) {
	_, good := segment(t, dumpV2b)
	_, second := segment(t, dumpV3)
	both := append(append([]byte(nil), good...), second...)
	change := func(at int, value byte) []byte {
		b := append([]byte(nil), both...)
		b[at] = value
		return b
	}
	resealed := change(104+61, 0x7e) // the record's length, with a CRC that agrees
	record.StampLogAppendTime(resealed[104:], 0)
	old := change(104+16, 1)
	long := binary.BigEndian.AppendUint32(append(append([]byte(nil), good...), make([]byte, 8)...), 1<<30)
	long = append(long, 0, 0, 0, 0, 2, 0, 0, 0, 0)

	tests := []struct {
		name    string
		raw     []byte
		batches int // printed
		want    string
	}{
		{"torn in the records", both[:181], 1, "byte 104: torn batch: the batch has 78 bytes, only 77 are there"},
		{"torn in the header", both[:150], 1, "byte 104: torn batch: the batch has 78 bytes, only 46 are there"},
		{"torn before the length", both[:105], 1, "byte 104: torn batch: base offset and batchLength need 12 bytes, only 1 are there"},
		{"bad crc", change(181, 0xff), 2, "byte 104: corrupt batch: at its byte 17: crc is a9da8aae"},
		{"bad crc in the first", change(40, 0xff), 1, "byte 0: corrupt batch: at its byte 17: crc is a7359323"},
		{"records that can't be decoded", resealed, 2, "byte 104: corrupt batch: at its byte 61: length of record 0 is 63"},
		{"old format", old, 1, "byte 104: corrupt batch: at its byte 16: magic is 1"},
		{"zeroed tail", append(append([]byte(nil), good...), make([]byte, 1000)...), 1, "byte 104: corrupt batch: at its byte 8: batchLength is 0"},
		{"length of 1 GiB", long, 1, "byte 104: corrupt batch: at its byte 8: batchLength is 1073741824, allowed here are up to 67108852"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			name := segmentOf(t, test.raw)
			for _, format := range []string{"--json", "--anatomy"} {
				got := runWith(nil, "dump", name, format)
				if got.code != exitNo {
					t.Errorf("%s: status %d, want %d", format, got.code, exitNo)
				}
				if !strings.HasPrefix(got.err, "loglab dump: "+name+": "+test.want) || strings.Count(got.err, "\n") != 1 {
					t.Errorf("%s: standard error is %q, want %q", format, got.err, test.want)
				}
				if format == "--json" && strings.Count(got.out, "\n") != test.batches {
					t.Errorf("%d batches are printed, want %d: %s", strings.Count(got.out, "\n"), test.batches, got.out)
				}
			}
		})
	}
}

func TestDumpPrintsABatchWithABadCRCWithoutRecords(t *testing.T) {
	_, raw := segment(t, dumpV2b)
	raw[103] ^= 1
	got := runWith(nil, "dump", "--json", "--anatomy", segmentOf(t, raw))
	var batch map[string]any
	if err := json.Unmarshal([]byte(got.out), &batch); err != nil {
		t.Fatal(err)
	}
	if records, found := batch["records"]; found || batch["crc_valid"] != false || batch["num_records"] != 3.0 {
		t.Errorf("records %v, crc_valid %v, num_records %v, want none, false, 3", records, batch["crc_valid"], batch["num_records"])
	}
	if fields := batch["anatomy"].([]any); len(fields) != 13 {
		t.Errorf("%d fields, want the header's 13", len(fields))
	}
}

func TestDumpBadInput(t *testing.T) {
	directory := t.TempDir()
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"no file", []string{"dump"}, "<file>"},
		{"file that is not there", []string{"dump", filepath.Join(directory, "no.log")}, "no.log: no such file"},
		{"directory", []string{"dump", directory}, directory},
		{"two files", []string{"dump", "a", "b"}, "unexpected argument b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			checkBadInput(t, runWith(nil, test.args...), test.want)
		})
	}
}

func TestDumpOfAnEmptyFile(t *testing.T) {
	if out := dumpLine(t, segmentOf(t, nil), "--json"); out != "" {
		t.Errorf("printed %q", out)
	}
}

func TestDumpFailedWrite(t *testing.T) {
	name, _ := segment(t, dumpV2b)
	var errs bytes.Buffer
	code := run([]string{"dump", name}, &stdio{Err: &errs, Out: writerFunc(func([]byte) (int, error) { return 0, fmt.Errorf("disk full") })})
	checkBadInput(t, outcome{code: code, err: errs.String()}, "disk full")
}

// A batch of many records goes through without being gathered; keys can't steer the terminal.
func TestDumpManyRecords(t *testing.T) {
	b := record.NewBuilder(record.Options{Codec: record.Gzip})
	const count = 20_000
	for i := range count {
		b.Append(kafka.Timestamp(i), []byte("\x1b[2J\n"), nil)
	}
	raw, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	text := dumpLine(t, segmentOf(t, raw))
	if strings.Count(text, "\n") != count+1 || strings.Contains(text, "\x1b") {
		t.Errorf("%d lines, want %d, or an escape came through", strings.Count(text, "\n"), count+1)
	}
}
