package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"loglab/labs"
)

// SavedName is the name of the file that an address is saved as; its author gives it another.
func SavedName(a labs.Address) string { return "my-" + a.Lab.Name + ".yaml" }

// Save writes the run of an address as a scenario for its author to go on with: its settings and commands, a place for
// words at each command, and what the engine's ledger says at the end as an expectation. What it gives can be shown as
// it is. The error is a [Problems] where the run is no scenario, since it is too long for one.
func Save(a labs.Address, known Known) ([]byte, error) {
	end := max(a.T, 1)
	for _, do := range a.Do {
		end = max(end, do.Tick)
	}
	text := written(a, end, nil)
	s, err := Parse(SavedName(a), text, known)
	if err != nil {
		return nil, err
	}
	p := &player{runs: labs.NewRuns(playBytes), address: s.run}
	state, err := p.at(end)
	if err != nil {
		return nil, err
	}
	text = written(a, end, state)
	if s, err = Parse(SavedName(a), text, known); err == nil {
		err = s.Check(SavedName(a))
	}
	var problems Problems
	if err != nil && !errors.As(err, &problems) {
		return nil, err
	}
	return text, err
}

// written writes the file; without a state, without an expectation.
func written(a labs.Address, end int, state *State) []byte {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# A scenario of Log Lab. Fill in what is said, add questions, and look with: loglab scenario check %s", SavedName(a))
	line("title: My %s story", a.Lab.Name)
	line("summary: What it shows, in one sentence.")
	line("group: %s", groupOf(a.Lab.Name))
	line("lab: %s", a.Lab.Name)
	first := labs.Start(a.Lab, labs.Pages)
	values := map[string]string{}
	for _, s := range a.Lab.Settings {
		if text := a.Values.Text(s.Name); text != first.Values.Text(s.Name) {
			values[s.Name] = text
		}
	}
	if len(values) > 0 {
		line("settings:")
		for _, name := range slices.Sorted(maps.Keys(values)) {
			line("  %s: %s", name, quoted(values[name]))
		}
	}
	if a.Seed != first.Seed {
		line("seed: %d", a.Seed)
	}
	if a.HasTwin() {
		line("vs: {%s: %s}", a.Vs.Setting, quoted(a.Vs.Value))
	}
	line("end: %d", end)
	if len(a.Do) > 0 {
		line("commands:")
	}
	ticks := []int{}
	for _, do := range a.Do {
		line("  - {at: %d, do: %s}", do.Tick, quoted(do.Command.String()))
		if n := len(ticks); do.Tick > 0 && (n == 0 || ticks[n-1] != do.Tick) && n < maxSaid {
			ticks = append(ticks, do.Tick)
		}
	}
	line("say:")
	line("  - {at: 0, text: \"How it begins.\"}")
	for _, tick := range ticks {
		line("  - {at: %d, text: \"What happens at tick %d.\"}", tick, tick)
	}
	if state != nil {
		l := state.Ledger
		line("expect:")
		line("  - {at: %d, that: ledger.sent == %d && ledger.acknowledged == %d && ledger.lost == %d && ledger.duplicated == %d}", end, l.Sent, l.Acknowledged, l.Lost, l.Duplicated)
	}
	return []byte(b.String())
}

// maxSaid is how many of the commands have a place for words: a file has at most 25 in all.
const maxSaid = 24

// groupOf gives the heading under which stories of a lab mostly stand.
func groupOf(lab string) string {
	heading, ok := map[string]string{
		"partitions": "partitions and keys", "rebalance": "groups", "offsets": "offsets and crashes", "replication": "replication", "segments": "storage", "delivery": "delivery",
	}[lab]
	if !ok {
		return Groups()[0]
	}
	return heading
}

// quoted writes a text as YAML: plain where it is a number, else in quotes, which are those of JSON.
func quoted(text string) string {
	if n, err := strconv.Atoi(text); err == nil && strconv.Itoa(n) == text {
		return text
	}
	q, err := json.Marshal(text)
	if err != nil {
		panic(err) // it is a text
	}
	return string(q)
}
