package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestScenarioSchemaIsJSON(t *testing.T) {
	got := runWith(nil, "scenario", "schema")
	if got.code != exitOK || !json.Valid([]byte(got.out)) || !strings.Contains(got.out, "high_watermark") {
		t.Errorf("status %d: %.300s%s", got.code, got.out, got.err)
	}
}

// check says what is wrong on standard output, a line each, and counts that as an answer of no.
func TestScenarioCheck(t *testing.T) {
	dir := t.TempDir()
	source, err := os.ReadFile("../../content/scenarios/acks-1-leader-dies.yaml")
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	good := write("good.yaml", string(source))
	bad := write("bad.yaml", strings.Replace(string(source), "do: kill b1", "do: explode b1", 1))

	got := runWith(nil, "scenario", "check", good)
	if got.code != exitOK || !strings.HasPrefix(got.out, good+": right, ") {
		t.Errorf("status %d: %s%s", got.code, got.out, got.err)
	}
	got = runWith(nil, "scenario", "check", bad, good)
	if got.code != exitNo || !strings.HasPrefix(got.out, bad+":15: command \"explode b1\": not known; allowed are ") || !strings.Contains(got.out, good+": right") || got.err != "" {
		t.Errorf("status %d: %s%s", got.code, got.out, got.err)
	}
	checkBadInput(t, runWith(nil, "scenario", "check", filepath.Join(dir, "nowhere.yaml")), "no such file")
}

// A scenario runs to its end by its name, its address and its file.
func TestRunScenario(t *testing.T) {
	const file = "../../content/scenarios/acks-1-leader-dies.yaml"
	want := runWith(nil, "run", "acks-1-leader-dies")
	if want.code != exitOK || !strings.Contains(want.out, "state at tick 74") || !strings.Contains(want.out, "lost=2") {
		t.Errorf("status %d: %s", want.code, want.err)
	}
	for _, text := range []string{file, "/scenario/acks-1-leader-dies", "http://localhost:8080/scenario/acks-1-leader-dies?v=1&guess=lost:3", "/embed/scenario/acks-1-leader-dies?v=1&t=74"} {
		if got := runWith(nil, "run", text); got != want {
			t.Errorf("%s: status %d, %s", text, got.code, got.err)
		}
	}
	for _, words := range []string{`the scenario "acks-9" is not known: allowed are `, " acks-1-leader-dies, "} {
		checkBadInput(t, runWith(nil, "run", "acks-9"), words)
	}
	checkBadInput(t, runWith(nil, "run", "nowhere/nothing.yaml"), "no such file")
	checkBadInput(t, runWith(nil, "run", "/scenario/acks-1-leader-dies?v=1&do=1:kill+b1"), "an address of the lab")
	checkBadInput(t, runWith(nil, "serve", "--addr", "127.0.0.1:0", "--scenarios", "/nowhere"), "--scenarios /nowhere: no such file")
}
