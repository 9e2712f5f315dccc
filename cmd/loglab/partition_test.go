package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// partitionArgs is a command line of loglab partition.
func partitionArgs(name string, n int, more ...string) []string {
	return append([]string{"partition", "--partitioner", name, "--partitions", fmt.Sprint(n)}, more...)
}

func TestPartitionText(t *testing.T) {
	for _, test := range []struct {
		name  string
		args  []string
		stdin string
		want  string
	}{
		{"PART-01 murmur2", partitionArgs("murmur2", 15, "TT0124"), "", "TT0124\t10\n"},
		{"PART-01 crc32", partitionArgs("crc32-random", 15, "TT0124"), "", "TT0124\t9\n"},
		{"PART-01 fnv1a", partitionArgs("fnv1a", 15, "TT0124"), "", "TT0124\t2\n"},
		{"PART-05", partitionArgs("murmur2", 4, "user-1", "user-3", "user-5", "user-6"), "", "user-1\t0\nuser-3\t3\nuser-5\t2\nuser-6\t1\n"},
		{"empty key", partitionArgs("murmur2", 6, ""), "", "\t3\n"},
		{"empty key is no key", partitionArgs("crc32-random", 6, "", "a"), "", "\t-\tno key by this rule: the client picks a partition\na\t3\n"},
		{"spaces and other scripts as given", partitionArgs("murmur2", 12, "hello world", "日本"), "", "hello world\t7\n日本\t3\n"},
		{"what would be ambiguous is quoted", partitionArgs("crc32", 1, "a\tb", "a\nb", `"a"`, `a"b`), "", "\"a\\tb\"\t0\n\"a\\nb\"\t0\n\"\\\"a\\\"\"\t0\na\"b\t0\n"},
		{"hex", partitionArgs("murmur2", 12, "--hex", "6b6579", "E697A5E69CAC", ""), "", "6b6579\t1\nE697A5E69CAC\t3\n\t9\n"},
		{"keys after --", partitionArgs("murmur2", 1, "--", "-k", "--json"), "", "-k\t0\n--json\t0\n"},
		{"standard input", partitionArgs("murmur2", 12, "-"), "a\nkey\n", "a\t4\nkey\t1\n"},
		{"blank line is an empty key, the last line may lack its end", partitionArgs("murmur2", 12, "-"), "\na\n\nkey", "\t9\na\t4\n\t9\nkey\t1\n"},
		{"CR LF ends a line, other CRs belong to the key", partitionArgs("crc32", 1, "-"), "a\r\nb\r\r\nc\rd\n", "a\t0\n\"b\\r\"\t0\n\"c\\rd\"\t0\n"},
		{"bytes that are not UTF-8", partitionArgs("crc32", 1, "-"), "\xff\n", "\"\\xff\"\t0\n"},
		{"nothing on standard input", partitionArgs("murmur2", 12, "-"), "", ""},
		{"one partition", partitionArgs("murmur2", 1, "a"), "", "a\t0\n"},
		{"1,000,000 partitions", partitionArgs("murmur2", 1_000_000, "a", "abc"), "", "a\t102524\nabc\t470107\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := runWith(strings.NewReader(test.stdin), test.args...)
			if diff := cmp.Diff(outcome{out: test.want}, got, cmp.AllowUnexported(outcome{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPartitionJSON(t *testing.T) {
	type row struct {
		Key       string `json:"key"`
		Partition *int   `json:"partition"`
	}
	number := func(n int) *int { return &n }
	for _, test := range []struct {
		name  string
		args  []string
		stdin string
		want  []row
	}{
		{"keys as given", partitionArgs("crc32", 1, "--json", "a", "<&>\t\"日本\""), "", []row{{"a", number(0)}, {"<&>\t\"日本\"", number(0)}}},
		{"no key is null", partitionArgs("crc32-random", 12, "--json", "", "a"), "", []row{{"", nil}, {"a", number(3)}}},
		{"hex as given", partitionArgs("murmur2", 12, "--json", "--hex", "6B6579"), "", []row{{"6B6579", number(1)}}},
		{"standard input", partitionArgs("murmur2", 12, "--json", "-"), "a\n\n", []row{{"a", number(4)}, {"", number(9)}}},
		{"nothing", partitionArgs("murmur2", 12, "--json", "-"), "", []row{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := runWith(strings.NewReader(test.stdin), test.args...)
			if got.code != exitOK || got.err != "" {
				t.Fatalf("status %d, err %q", got.code, got.err)
			}
			var rows []row
			if err := json.Unmarshal([]byte(got.out), &rows); err != nil {
				t.Fatalf("%v in %s", err, got.out)
			}
			if diff := cmp.Diff(test.want, rows); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	got := runWith(strings.NewReader(""), partitionArgs("murmur2", 12, "--json", "a")...)
	if want := `[{"key": "a", "partition": 4}]` + "\n"; got.out != want {
		t.Errorf("got %q, want %q", got.out, want)
	}
}

func TestPartitionBadInput(t *testing.T) {
	for _, test := range []struct {
		name  string
		args  []string
		stdin string
		want  string
	}{
		{"unknown partitioner", partitionArgs("murmur", 3, "a"), "", `--partitioner: partitioner "murmur" is unknown: allowed are crc32, crc32-random,`},
		{"no partitions", partitionArgs("murmur2", 0, "a"), "", "--partitions: 0 is out of range: allowed are 1 to 1,000,000"},
		{"negative partitions", []string{"partition", "--partitioner=murmur2", "--partitions=-1", "a"}, "", "--partitions: -1 is out of range"},
		{"too many partitions", partitionArgs("murmur2", 1_000_001, "a"), "", "--partitions: 1000001 is out of range"},
		{"not hex", partitionArgs("murmur2", 3, "--hex", "00", "0g"), "", `key 2: "0g" is not hexadecimal bytes`},
		{"half a byte on standard input", partitionArgs("murmur2", 3, "--hex", "-"), "00\n\n123\n", `standard input, line 3: "123" is not hexadecimal bytes`},
		{"not UTF-8 in JSON", partitionArgs("murmur2", 3, "--json", "-"), "a\n\xff\n", `standard input, line 2: "\xff" is not UTF-8`},
		{"standard input beside keys", partitionArgs("murmur2", 3, "a", "-"), "", "key 2: - is standard input and must be the only key"},
		{"endless line", partitionArgs("murmur2", 3, "-"), "a\n" + strings.Repeat("x", 2<<20), "standard input, line 2: longer than 1,048,576 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := runWith(strings.NewReader(test.stdin), test.args...)
			checkBadInput(t, got, test.want)
		})
	}
}

// What came before the bad key is printed, and as JSON it parses.
func TestPartitionPrintsWhatCameBeforeAnError(t *testing.T) {
	got := runWith(strings.NewReader("a\n\xff\n"), partitionArgs("murmur2", 12, "--json", "-")...)
	if want := `[{"key": "a", "partition": 4}]` + "\n"; got.out != want {
		t.Errorf("got %q, want %q", got.out, want)
	}
}

func TestPartitionTakesTheLongestLine(t *testing.T) {
	line := strings.Repeat("x", 1<<20)
	for _, end := range []string{"", "\n", "\r\n"} {
		got := runWith(strings.NewReader(line+end), partitionArgs("crc32", 1, "-")...)
		if got.code != exitOK || got.out != line+"\t0\n" {
			t.Errorf("end %q: status %d, %d bytes, err %q", end, got.code, len(got.out), got.err)
		}
	}
}
