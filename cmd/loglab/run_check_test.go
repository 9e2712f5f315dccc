package main

import (
	"bufio"
	"bytes"
	"strings"
	"testing"

	"loglab/engine"
	"loglab/engine/sabotage"
	"loglab/labs/all"
)

func TestRunCheck(t *testing.T) {
	got := runWith(strings.NewReader(""), "run", "--check", "/lab/partitions?v=1&do=4:produce+p0+k&do=5:pause+b1&do=9:resume+b1&t=30")
	if got.code != 0 || got.err != "" || !strings.Contains(got.out, "ledger sent=") || strings.Contains(got.out, "violation") {
		t.Errorf("status %d, standard error %q, output %s", got.code, got.err, got.out)
	}
}

// A run that breaks a rule: no address leads to one.
func TestRunCheckFindsABrokenRule(t *testing.T) {
	lab, _ := all.ByName("partitions")
	address, err := parseAddress("/lab/partitions?v=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := lab.Spec(address.Values)
	if err != nil {
		t.Fatal(err)
	}
	spec.Sabotage = sabotage.ReadsBeyondMark
	spec.Cluster, spec.Topic.ReplicationFactor = engine.DefaultCluster(2), 2
	c, err := engine.New(spec, 1)
	if err != nil {
		t.Fatal(err)
	}
	var found violations
	for range 40 {
		if err := c.Tick(); err != nil {
			t.Fatal(err)
		}
		found.look(c)
	}
	if err, ok := found.err().(exitError); !ok || err.Code != exitNo || !strings.Contains(err.Error(), "positions-below-mark") {
		t.Errorf("%v, want status %d and the invariant", found.err(), exitNo)
	}
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	if err := printJSON(w, c, found.list[:1]); err != nil {
		t.Fatal(err)
	}
	w.Flush()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if want := `{"violation":{"invariant":"positions-below-mark","tick":`; !strings.HasPrefix(lines[len(lines)-2], want) {
		t.Errorf("the line before the last is %.200s, want %s…", lines[len(lines)-2], want)
	}
}
