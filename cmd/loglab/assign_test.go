package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/assignor"
)

func TestAssignText(t *testing.T) {
	for _, test := range []struct {
		name, assignor, group, want string
	}{
		{"§6.3 row #6", "range",
			`{"topics": {"t1": 3, "t0": 4}, "members": [{"id": "m2", "topics": ["t0", "t1"]}, {"id": "m1", "topics": ["t1", "t0"]}, {"id": "m0", "topics": ["t0"]}]}`,
			"m0\tt0:0,1\nm1\tt0:2 t1:0,1\nm2\tt0:3 t1:2\n"},
		{"§6.3 row #6", "roundrobin",
			`{"topics": {"t1": 3, "t0": 4}, "members": [{"id": "m2", "topics": ["t0", "t1"]}, {"id": "m1", "topics": ["t1", "t0"]}, {"id": "m0", "topics": ["t0"]}]}`,
			"m0\tt0:0,3\nm1\tt0:1 t1:0,2\nm2\tt0:2 t1:1\n"},
		{"§6.3 row #7, static members first", "roundrobin",
			`{"topics": {"t0": 5}, "members": [{"id": "m0", "instance_id": "z", "topics": ["t0"]}, {"id": "m1", "instance_id": "a", "topics": ["t0"]}, {"id": "m2", "topics": ["t0"]}]}`,
			"m0\tt0:1,4\nm1\tt0:0,3\nm2\tt0:2\n"},
		{"a member without partitions", "range",
			`{"topics": {"t0": 1}, "members": [{"id": "m0", "topics": ["t0"]}, {"id": "m1", "topics": ["t0"]}, {"id": "m2"}]}`,
			"m0\tt0:0\nm1\t-\nm2\t-\n"},
		{"what does not exist is ignored", "range",
			`{"topics": {"orders": 2, "quiet": 1, "none": 0}, "members": [{"id": "m0", "topics": ["orders", "missing", "none"],
			  "owned": {"orders": [0, 7, -1], "missing": [1], "quiet": [0], "none": []}, "generation": 3}]}`,
			"m0\torders:0,1\n"},
		{"an id with a tab is quoted", "range",
			`{"topics": {"t0": 1}, "members": [{"id": "a\tb", "topics": ["t0"]}]}`,
			"\"a\\tb\"\tt0:0\n"},
		{"§6.3 row S2", "sticky",
			`{"topics": {"t0": 6}, "members": [{"id": "m0", "topics": ["t0"], "owned": {"t0": [2, 1, 0]}, "generation": 1}, {"id": "m2", "topics": ["t0"]}, {"id": "m1", "topics": ["t0"], "owned": {"t0": [3, 4, 5]}, "generation": 1}]}`,
			"m0\tt0:0,1\nm1\tt0:3,4\nm2\tt0:2,5\n"},
		{"§6.3 row S2", "cooperative-sticky",
			`{"topics": {"t0": 6}, "members": [{"id": "m0", "topics": ["t0"], "owned": {"t0": [2, 1, 0]}, "generation": 1}, {"id": "m2", "topics": ["t0"]}, {"id": "m1", "topics": ["t0"], "owned": {"t0": [3, 4, 5]}, "generation": 1}]}`,
			"m0\tt0:0,1\nm1\tt0:3,4\nm2\t-\n(withheld)\tt0:2,5\n"},
		{"nothing is withheld", "cooperative-sticky",
			`{"topics": {"t0": 2}, "members": [{"id": "m0", "topics": ["t0"], "owned": {"t0": [0, 9]}, "generation": 1}, {"id": "m1", "topics": ["t0"]}]}`,
			"m0\tt0:0\nm1\tt0:1\n"},
		{"§6.4, m2 joins", "uniform",
			`{"topics": {"t0": 6}, "members": [{"id": "m0", "topics": ["t0"], "owned": {"t0": [2, 1, 0]}}, {"id": "m2", "topics": ["t0"]}, {"id": "m1", "topics": ["t0"], "owned": {"t0": [3, 4, 5]}}]}`,
			"m0\tt0:0,1\nm1\tt0:3,4\nm2\tt0:2,5\n"},
		{"§6.4, m2 joins", "server-range",
			`{"topics": {"t0": 6}, "members": [{"id": "m0", "topics": ["t0"], "owned": {"t0": [2, 1, 0]}}, {"id": "m2", "topics": ["t0"]}, {"id": "m1", "topics": ["t0"], "owned": {"t0": [3, 4, 5]}}]}`,
			"m0\tt0:0,1\nm1\tt0:2,3\nm2\tt0:4,5\n"},
		{"§6.4, more members than partitions", "uniform",
			`{"topics": {"t0": 2}, "members": [{"id": "m0", "topics": ["t0"]}, {"id": "m1", "topics": ["t0"]}, {"id": "m2", "topics": ["t0"]}]}`,
			"m0\t-\nm1\tt0:0\nm2\tt0:1\n"},
		{"nobody", "uniform", `{"topics": {"t0": 1}, "members": []}`, ""},
		{"nobody", "roundrobin", `{"topics": {"t0": 1}, "members": []}`, ""},
	} {
		t.Run(test.name+" "+test.assignor, func(t *testing.T) {
			got := runWith(strings.NewReader(test.group), "assign", "--assignor", test.assignor)
			if diff := cmp.Diff(outcome{out: test.want}, got, cmp.AllowUnexported(outcome{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAssignJSON(t *testing.T) {
	group := `{"topics": {"orders": 2, "billing": 1}, "members": [
		{"id": "m1", "topics": ["orders"]}, {"id": "m0", "topics": ["orders", "billing"]}, {"id": "m2", "topics": []}]}`
	got := runWith(strings.NewReader(group), "assign", "--assignor", "range", "--json")
	want := `{"assignment":{"m0":{"billing":[0],"orders":[0]},"m1":{"orders":[1]},"m2":{}}}` + "\n"
	if diff := cmp.Diff(outcome{out: want}, got, cmp.AllowUnexported(outcome{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	group = `{"topics": {"t1": 4, "t0": 4}, "members": [{"id": "m0", "topics": ["t0", "t1"], "owned": {"t0": [0, 1, 2, 3], "t1": [0, 1, 2, 3]}},
		{"id": "m1", "topics": ["t0", "t1"]}]}`
	for _, test := range []struct{ assignor, want string }{
		{"sticky", `{"assignment":{"m0":{"t0":[0,1],"t1":[0,1]},"m1":{"t0":[2,3],"t1":[2,3]}}}`},
		{"cooperative-sticky", `{"assignment":{"m0":{"t0":[0,1],"t1":[0,1]},"m1":{}},"withheld":{"t0":[2,3],"t1":[2,3]}}`},
		{"uniform", `{"assignment":{"m0":{"t0":[0,1,2,3]},"m1":{"t1":[0,1,2,3]}}}`},
		{"server-range", `{"assignment":{"m0":{"t0":[0,1],"t1":[0,1]},"m1":{"t0":[2,3],"t1":[2,3]}}}`},
	} {
		got := runWith(strings.NewReader(group), "assign", "--assignor", test.assignor, "--json")
		if diff := cmp.Diff(outcome{out: test.want + "\n"}, got, cmp.AllowUnexported(outcome{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.assignor, diff)
		}
	}
	nothing := runWith(strings.NewReader(`{"members": [{"id": "m0"}]}`), "assign", "--assignor", "cooperative-sticky", "--json")
	if want := `{"assignment":{"m0":{}},"withheld":{}}` + "\n"; nothing.out != want {
		t.Errorf("nothing withheld: got %q, want %q", nothing.out, want)
	}
	empty := runWith(strings.NewReader(`{}`), "assign", "--assignor", "range", "--json")
	if want := `{"assignment":{}}` + "\n"; empty.out != want {
		t.Errorf("no members: got %q, want %q", empty.out, want)
	}
}

func TestAssignBadInput(t *testing.T) {
	for _, test := range []struct{ name, group, want string }{
		{"nothing", ``, "standard input: byte 0: unexpected EOF"},
		{"cut off", `{"topics": {"orders"`, "/topics"},
		{"not an object", `[]`, "found an array, allowed is an object"},
		{"more than one", `{} {}`, "byte 3"},
		{"unknown name", `{"topic": {}}`, "/topic: unknown name, allowed are topics and members"},
		{"another case", `{"Topics": {}}`, "/Topics: unknown name"},
		{"unknown name in a member", `{"members": [{"id": "a", "instanceId": "b"}]}`, "/members/0/instanceId: unknown name, allowed are id, instance_id, topics, owned and generation"},
		{"count as text", `{"topics": {"orders": "6"}}`, "/topics/orders: found a string, allowed is an integer of 32 bits"},
		{"count with a fraction", `{"topics": {"orders": 1.5}}`, "/topics/orders: found 1.5, allowed is an integer of 32 bits"},
		{"count beyond 32 bits", `{"topics": {"orders": 4294967297}}`, "/topics/orders: found 4294967297, allowed is an integer of 32 bits"},
		{"negative count", `{"topics": {"orders": -1}}`, "topics: orders has -1 partitions, allowed are 0 to 1000000"},
		{"too many partitions", `{"topics": {"a": 600000, "b": 600000}}`, "topics: 1200000 partitions in all, allowed are at most 1000000"},
		{"topic twice", `{"topics": {"a": 1, "a": 2}}`, `/topics/a: `},
		{"topic name", `{"topics": {"a b": 1}}`, `topics: "a b" is no topic name`},
		{"id is a number", `{"members": [{"id": 3}]}`, "/members/0/id: found a number, allowed is a string"},
		{"no id", `{"members": [{"topics": ["a"]}]}`, "members[0]: the id is empty"},
		{"id twice", `{"members": [{"id": "a"}, {"id": "a"}]}`, `members[1]: the id "a" is already that of members[0]`},
		{"owned is an array", `{"members": [{"id": "a", "owned": [1]}]}`, "/members/0/owned: found an array, allowed is an object"},
		{"owned partition as text", `{"members": [{"id": "a", "owned": {"t": [0, "1"]}}]}`, "/members/0/owned/t/1: found a string, allowed is an integer of 32 bits"},
		{"not UTF-8", "{\"members\": [{\"id\": \"\xff\"}]}", "/members/0/id: byte 21: invalid UTF-8"},
		{"line ends in a name", `{"a\nb": 1}`, `a\nb`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := runWith(strings.NewReader(test.group), "assign", "--assignor", "range", "--json")
			checkBadInput(t, got, test.want)
			if got.out != "" {
				t.Errorf("standard output is not empty: %q", got.out)
			}
		})
	}
	got := runWith(strings.NewReader(`{}`), "assign", "--assignor", "best")
	checkBadInput(t, got, `--assignor: assignor "best" is unknown: allowed are cooperative-sticky, range, roundrobin, server-range, sticky, uniform`)
}

// 10,000 members and 1,000,000 partitions are allowed; one member more is not.
func TestAssignBounds(t *testing.T) {
	group := func(members int) string {
		var text strings.Builder
		text.WriteString(`{"topics": {"big": 1000000}, "members": [`)
		for i := range members {
			if i > 0 {
				text.WriteByte(',')
			}
			fmt.Fprintf(&text, `{"id": "m%d", "topics": ["big"]}`, i)
		}
		text.WriteString("]}")
		return text.String()
	}
	for _, name := range assignor.Names() {
		got := runWith(strings.NewReader(group(10_000)), "assign", "--assignor", name, "--json")
		var document struct {
			Assignment map[string]map[string][]int `json:"assignment"`
		}
		if err := json.Unmarshal([]byte(got.out), &document); err != nil || got.code != exitOK {
			t.Fatalf("%s: status %d, %v", name, got.code, err)
		}
		if len(document.Assignment) != 10_000 {
			t.Errorf("%s: %d members, want 10,000", name, len(document.Assignment))
		}
		for id, topics := range document.Assignment {
			if len(topics["big"]) != 100 {
				t.Errorf("%s: %s has %d partitions, want 100", name, id, len(topics["big"]))
			}
		}
	}
	got := runWith(strings.NewReader(group(10_001)), "assign", "--assignor", "range")
	checkBadInput(t, got, "members: 10001 are given, allowed are at most 10000")
}
