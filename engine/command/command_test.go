package command

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/kafka"
)

var orders0 = kafka.TopicPartition{Topic: "orders"}

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		text      string
		want      Command
		canonical string
	}{
		{"produce p0", Produce{Producer: "p0", Keyless: true, Default: true}, "produce p0"},
		{"produce p0 -", Produce{Producer: "p0", Keyless: true, Default: true}, "produce p0"},
		{"produce p0 order-7", Produce{Producer: "p0", Key: "order-7", Default: true}, "produce p0 order-7"},
		{`produce p0 "order-7"`, Produce{Producer: "p0", Key: "order-7", Default: true}, "produce p0 order-7"},
		{`produce p0 "" paid`, Produce{Producer: "p0", Key: "", Value: "paid"}, `produce p0 "" paid`},
		{"produce p0 - paid", Produce{Producer: "p0", Keyless: true, Value: "paid"}, "produce p0 - paid"},
		{`produce p1 "-"`, Produce{Producer: "p1", Key: "-", Default: true}, `produce p1 "-"`},
		{`produce p0 "a b" "c\nd"`, Produce{Producer: "p0", Key: "a b", Value: "c\nd"}, `produce p0 "a b" "c\nd"`},
		{"produce p0 日本", Produce{Producer: "p0", Key: "日本", Default: true}, "produce p0 日本"},
		{"produce-to p0 2", Produce{Producer: "p0", Named: true, To: 2, Keyless: true, Default: true}, "produce-to p0 2"},
		{`produce-to p0 2 "order-7" paid`, Produce{Producer: "p0", Named: true, To: 2, Key: "order-7", Value: "paid"}, "produce-to p0 2 order-7 paid"},
		{"produce-to p0 02 - paid", Produce{Producer: "p0", Named: true, To: 2, Keyless: true, Value: "paid"}, "produce-to p0 2 - paid"},
		{"add-partitions orders to 6", AddPartitions{Topic: "orders", Count: 6}, "add-partitions orders to 6"},
		{"create-topic payments", CreateTopic{"payments"}, "create-topic payments"},
		{"stop-sending p0", StopSending{"p0"}, "stop-sending p0"},
		{"start-sending p0", StartSending{"p0"}, "start-sending p0"},
		{"begin-transaction p0", BeginTransaction{"p0"}, "begin-transaction p0"},
		{"commit-transaction p0", CommitTransaction{"p0"}, "commit-transaction p0"},
		{"abort-transaction p0", AbortTransaction{"p0"}, "abort-transaction p0"},
		{"pause c1", Pause{"c1"}, "pause c1"},
		{"resume b1", Resume{"b1"}, "resume b1"},
		{"kill b1", Kill{"b1"}, "kill b1"},
		{"power-loss b2", PowerLoss{"b2"}, "power-loss b2"},
		{"wipe b2", Wipe{"b2"}, "wipe b2"},
		{"start b2", Start{"b2"}, "start b2"},
		{"shut-down b2", ShutDown{"b2"}, "shut-down b2"},
		{"slow-disk b1 1000ms", SlowDisk{"b1", 1000}, "slow-disk b1 1s"},
		{"slow-disk b1 0s", SlowDisk{"b1", 0}, "slow-disk b1 0ms"},
		{"cut b1 b2", Cut{A: "b1", B: "b2"}, "cut b1 b2"},
		{"cut-one-way b1 controller", Cut{A: "b1", B: "controller", OneWay: true}, "cut-one-way b1 controller"},
		{"heal b1 b2", Heal{"b1", "b2"}, "heal b1 b2"},
		{"delay p0 b1 60s", Delay{"p0", "b1", 60000}, "delay p0 b1 1m"},
		{"drop-next b1 p0", DropNext{"b1", "p0"}, "drop-next b1 p0"},
		{"double-next p0 b1", DoubleNext{"p0", "b1"}, "double-next p0 b1"},
		{"check-retention b1", CheckRetention{"b1"}, "check-retention b1"},
		{"run-cleaner b2", RunCleaner{"b2"}, "run-cleaner b2"},
		{"delete-records orders-0 @012", DeleteRecords{orders0, 12}, "delete-records orders-0 @12"},
		{"skew p0 86400s", Skew{"p0", 86_400_000}, "skew p0 24h"},
		{"skew p0 -90s", Skew{"p0", -90_000}, "skew p0 -90s"},
		{"skew p0 -0s", Skew{"p0", 0}, "skew p0 0ms"},
		{`tombstone p0 "a b"`, Produce{Producer: "p0", Key: "a b", Tombstone: true}, `tombstone p0 "a b"`},
		{`tombstone p0 -`, Produce{Producer: "p0", Key: "-", Tombstone: true}, "tombstone p0 -"},
		{"elect-preferred orders 0", Elect{orders0, false}, "elect-preferred orders 0"},
		{"elect-unclean orders 00", Elect{orders0, true}, "elect-unclean orders 0"},
		{"alter-config orders min.insync.replicas 2", AlterConfig{"orders", "min.insync.replicas", "2"}, "alter-config orders min.insync.replicas 2"},
		{"crash billing-1", Crash{Node: "billing-1"}, "crash billing-1"},
		{"crash billing-1 before commit", Crash{"billing-1", CrashPoint{When: BeforeCommit}}, "crash billing-1 before commit"},
		{"crash billing-1 after processing", Crash{"billing-1", CrashPoint{When: AfterProcessing}}, "crash billing-1 after processing"},
		{"crash billing-1 after processing orders-0 @06", Crash{"billing-1", CrashPoint{AfterProcessing, orders0, 6}}, "crash billing-1 after processing orders-0 @6"},
		{"crash billing-1 after produce", Crash{"billing-1", CrashPoint{When: AfterProduce}}, "crash billing-1 after produce"},
		{"crash billing-1 after offsets", Crash{"billing-1", CrashPoint{When: AfterOffsets}}, "crash billing-1 after offsets"},
		{"crash billing-1 during commit", Crash{"billing-1", CrashPoint{When: DuringCommit}}, "crash billing-1 during commit"},
		{"leave billing-1", Leave{"billing-1"}, "leave billing-1"},
		{"rebalance billing-1", Rebalance{"billing-1"}, "rebalance billing-1"},
		{"process billing-1", Process{"billing-1", 1}, "process billing-1"},
		{"process billing-1 1", Process{"billing-1", 1}, "process billing-1"},
		{"process billing-1 12", Process{"billing-1", 12}, "process billing-1 12"},
		{"commit billing-1", Commit{Node: "billing-1"}, "commit billing-1"},
		{"commit billing-1 my-orders-3 @5", Commit{"billing-1", kafka.TopicPartition{Topic: "my-orders", Partition: 3}, 5}, "commit billing-1 my-orders-3 @5"},
		{"seek billing-1 orders-0 @0", Seek{"billing-1", orders0, 0}, "seek billing-1 orders-0 @0"},
		{"reset billing to earliest", Reset{"billing", ResetTo{Rule: ToEarliest}}, "reset billing to earliest"},
		{"reset billing to shift -3", Reset{"billing", ResetTo{ShiftBy, -3}}, "reset billing to shift -3"},
		{"reset billing to timestamp 1767225600000", Reset{"billing", ResetTo{ToTimestamp, 1767225600000}}, "reset billing to timestamp 1767225600000"},
		{`replay "my group" from duration 60s`, Replay{"my group", ResetTo{ByDuration, 60_000}}, `replay "my group" from duration 1m`},
		{"replay billing from offset 2", Replay{"billing", ResetTo{ToOffset, 2}}, "replay billing from offset 2"},
		{"wait 45s", Wait{45000}, "wait 45s"},
		{"wait 60s", Wait{60000}, "wait 1m"},
		{"wait 1500ms", Wait{1500}, "wait 1500ms"},
		{"wait 2h", Wait{7200000}, "wait 2h"},
	} {
		got, err := Parse(tc.text)
		if err != nil {
			t.Errorf("Parse(%q): %v", tc.text, err)
			continue
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("Parse(%q) (-want +got):\n%s", tc.text, diff)
		}
		if got.String() != tc.canonical {
			t.Errorf("Parse(%q).String() = %q, want %q", tc.text, got.String(), tc.canonical)
		}
		if !strings.HasPrefix(tc.canonical, got.Verb()) {
			t.Errorf("%q: Verb() = %q", tc.canonical, got.Verb())
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tc := range []struct{ text, says string }{
		{"", "must stand in double quotes"},
		{"explode b1", "produce PRODUCER [KEY [VALUE]]"},
		{"Pause c1", "pause NODE"},
		{"pause", "pause NODE"},
		{"kill", "kill NODE"},
		{"kill b1 b2", "kill NODE"},
		{"slow-disk b1", "slow-disk BROKER DURATION"},
		{"slow-disk b1 2h", "between 0ms and 1h"},
		{"cut b1", "cut NODE NODE"},
		{"cut b1 b1", "cut NODE NODE"},
		{"delay b1 b2 -1ms", "delay NODE NODE DURATION"},
		{"elect-unclean orders x", "not the number of a partition"},
		{"elect-unclean orders", "elect-unclean TOPIC PARTITION"},
		{"alter-config orders min.insync.replicas", "alter-config TOPIC SETTING VALUE"},
		{"pause c1 c2", "pause NODE"},
		{`pause "c1"`, "pause NODE"},
		{"produce", "produce PRODUCER"},
		{"produce p0 a b c", "produce PRODUCER"},
		{"produce  p0", "must stand in double quotes"},
		{"produce p0 ", "must stand in double quotes"},
		{"produce-to p0", "produce-to PRODUCER PARTITION"},
		{"produce-to p0 x", "produce-to PRODUCER PARTITION"},
		{"produce-to p0 -1", "produce-to PRODUCER PARTITION"},
		{"produce-to p0 1 a b c", "produce-to PRODUCER PARTITION"},
		{"begin-transaction", "begin-transaction PRODUCER"},
		{"commit-transaction p0 p1", "commit-transaction PRODUCER"},
		{`abort-transaction "p0"`, "abort-transaction PRODUCER"},
		{"crash", "crash CONSUMER"},
		{"crash billing-1 after lunch", "after poll | before processing"},
		{"crash billing-1 after poll orders-0 @6", "crash CONSUMER"},
		{"crash billing-1 after processing orders @6", "crash CONSUMER"},
		{"crash billing-1 after processing orders-0 6", "crash CONSUMER"},
		{"process billing-1 0", "from 1 to 1000"},
		{"process billing-1 1001", "from 1 to 1000"},
		{"commit billing-1 orders-0", "commit CONSUMER [PARTITION @OFFSET]"},
		{"seek billing-1 orders-0", "seek CONSUMER PARTITION @OFFSET"},
		{"seek billing-1 orders-0 @-1", "seek CONSUMER PARTITION @OFFSET"},
		{"seek billing-1 orders-0 @9223372036854775807", "between 0 and 1000000000000000"},
		{"seek billing-1 orders-99999999999 @1", "seek CONSUMER PARTITION @OFFSET"},
		{"reset billing", "reset GROUP to earliest"},
		{"reset billing to", "reset GROUP to earliest"},
		{"reset billing to earliest 3", "reset GROUP to earliest"},
		{"reset billing to middle", "reset GROUP to earliest"},
		{"reset billing to shift 0", "without 0"},
		{"replay billing to earliest", "replay GROUP from earliest"},
		{"replay billing from offset x", "replay GROUP from earliest"},
		{"add-partitions orders", "add-partitions TOPIC to COUNT"},
		{"add-partitions orders 6", "add-partitions TOPIC to COUNT"},
		{"add-partitions orders to 0", "from 1 to 1000000"},
		{"add-partitions orders to 99999999999", "from 1 to 1000000"},
		{"stop-sending", "stop-sending PRODUCER"},
		{"start-sending p0 p1", "start-sending PRODUCER"},
		{`produce p0 "a`, "no end"},
		{`produce p0 "a"b`, "a space is missing"},
		{`produce p0 "\xff"`, "not valid UTF-8"},
		{"produce p0 a\xff", "not valid UTF-8"},
		{"produce p0 a\rb", "must stand in double quotes"},
		{"wait", "wait DURATION"},
		{"wait 5", "wait DURATION"},
		{"wait 5d", "wait DURATION"},
		{"wait -5s", "wait DURATION"},
		{"wait 0s", "between 1ms and 168h"},
		{"wait 169h", "between 1ms and 168h"},
		{"wait 99999999999s", "wait DURATION"},
		{"produce p0 " + strings.Repeat("k", MaxText), "at most 2048"},
	} {
		c, err := Parse(tc.text)
		if err == nil {
			t.Errorf("Parse(%q) = %#v, want an error that says %q", tc.text, c, tc.says)
		} else if !strings.Contains(err.Error(), tc.says) {
			t.Errorf("Parse(%q): %v, want it to say %q", tc.text, err, tc.says)
		}
	}
}

// FuzzParse: what parses has one canonical spelling that parses back to the same command.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"produce p0", `produce p0 "a b" "-"`, "pause c1", "wait 45s", `resume "x`, "wait 60s", "produce-to p0 2 - v", "add-partitions orders to 6", "stop-sending p0", `produce p0 "-" -`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse(text)
		if err != nil {
			return
		}
		canonical := c.String()
		again, err := Parse(canonical)
		if err != nil {
			if len(canonical) > MaxText { // quoting may lengthen a text that just fitted
				return
			}
			t.Fatalf("%q parsed, its canonical text %q does not: %v", text, canonical, err)
		}
		if diff := cmp.Diff(c, again); diff != "" {
			t.Fatalf("%q → %q (-first +second):\n%s", text, canonical, diff)
		}
		if again.String() != canonical {
			t.Fatalf("%q has two canonical texts: %q and %q", text, canonical, again.String())
		}
	})
}
