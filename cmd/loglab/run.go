package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/labs"
	"loglab/labs/all"
	"loglab/labs/store"
)

// runCmd replays an address without a browser: the journal, then the state.
type runCmd struct {
	Address string  `arg:"" help:"Address of a lab, as the browser shows it: /lab/partitions?v=1&t=12, with or without the server in front. Or a scenario: its name, its address, or its file NAME.yaml."`
	Ticks   *int    `help:"Run to this tick instead of the address's t, from 0 to 20000; without it a scenario runs to its end."`
	Seed    *uint64 `help:"Seed of the run instead of the address's."`
	Data    string  `placeholder:"FILE" help:"File of the server that made the address, where it has a from."`
	JSON    bool    `name:"json" help:"Print one JSON object a line: {\"event\": …} for each event, last {\"state\": …}."`
	Check   bool    `help:"Look after every command and tick whether the invariants of the engine hold; the status is 1 if one does not."`
}

// Run prints the journal and the state. A run that meets one of its bounds prints what it has and ends
// with status 1.
func (c *runCmd) Run(io *stdio) error {
	a, err := c.parse()
	if err != nil {
		return exitError{exitBadInput, err.Error()}
	}
	if c.Ticks != nil {
		if *c.Ticks < 0 || *c.Ticks > labs.MaxTickAlone {
			return exitError{exitBadInput, fmt.Sprintf("--ticks is %d: a whole number from 0 to %d is allowed", *c.Ticks, labs.MaxTickAlone)}
		}
		a.T = *c.Ticks
	}
	if c.Seed != nil {
		a = a.WithSeed(*c.Seed)
	}
	var found violations
	look := func(*engine.Cluster) {}
	if c.Check {
		look = found.look
	}
	cluster, runErr := labs.ReplayWatched(a, look)
	if cluster == nil {
		return exitError{exitBadInput, runErr.Error()}
	}
	out := bufio.NewWriter(io.Out)
	print := printText
	if c.JSON {
		print = printJSON
	}
	if err := print(out, cluster, found.list); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	var broken *labs.BrokenError
	switch {
	case errors.As(runErr, &broken):
		return exitError{exitNo, "an invariant of the engine broke, which is a fault of Log Lab: " + broken.Error()}
	case runErr != nil:
		tick, _ := cluster.Now()
		return exitError{exitNo, fmt.Sprintf("%s: the run ended in tick %d: %v", c.Address, tick, runErr)}
	}
	return found.err()
}

// parse reads the address, with what --data has stored of it.
func (c *runCmd) parse() (labs.Address, error) {
	var heads labs.Heads
	if c.Data != "" {
		if _, err := os.Stat(c.Data); err != nil {
			return labs.Address{}, fmt.Errorf("--data %s: %v", c.Data, errors.Unwrap(err))
		}
		texts, err := store.Open(c.Data)
		if err != nil {
			return labs.Address{}, fmt.Errorf("--data %s: %v", c.Data, err)
		}
		defer texts.Close()
		heads = texts.Get
	}
	a, known, err := parseScenario(c.Address, heads)
	if !known {
		a, err = parseAddress(c.Address, heads)
	}
	var missing *labs.MissingError
	if errors.As(err, &missing) && missing.NoStore {
		err = fmt.Errorf("%w; --data FILE opens the file of the server that made the address", err)
	}
	return a, err
}

// parseAddress reads the address of a lab, with or without scheme and host.
func parseAddress(text string, heads labs.Heads) (labs.Address, error) {
	u, err := url.Parse(text)
	if err != nil {
		return labs.Address{}, fmt.Errorf("the address %q cannot be read: %v", text, errors.Unwrap(err))
	}
	path := "/" + strings.TrimPrefix(u.Path, "/")
	for _, site := range []labs.Site{labs.Pages, labs.Embeds} {
		name, found := strings.CutPrefix(path, string(site))
		if !found {
			continue
		}
		lab, ok := all.ByName(name)
		if !ok {
			return labs.Address{}, fmt.Errorf("the lab %q is not known: allowed are %s", name, all.Names())
		}
		return heads.Parse(lab, site, u.RawQuery)
	}
	return labs.Address{}, fmt.Errorf("the address %q leads to no lab: allowed is /lab/NAME?…, where NAME is one of %s, and /scenario/NAME", text, all.Names())
}

// printJSON prints one object a line.
func printJSON(out *bufio.Writer, cluster *engine.Cluster, found []engine.Violation) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for e := range cluster.Journal().All() {
		err := encoder.Encode(struct {
			Event journal.Event `json:"event"`
		}{e})
		if err != nil {
			return err
		}
	}
	for _, v := range found {
		err := encoder.Encode(struct {
			Violation engine.Violation `json:"violation"`
		}{v})
		if err != nil {
			return err
		}
	}
	type state struct {
		engine.View
		Ledger engine.LedgerReport `json:"ledger"`
	}
	return encoder.Encode(struct {
		State state `json:"state"`
	}{state{cluster.View(), cluster.Ledger()}})
}

// printText prints the journal's lines and the state in a few more.
func printText(out *bufio.Writer, cluster *engine.Cluster, found []engine.Violation) error {
	for e := range cluster.Journal().All() {
		fmt.Fprintln(out, e.Line())
	}
	for _, v := range found {
		fmt.Fprintln(out, "violation", v)
	}
	v := cluster.View()
	fmt.Fprintf(out, "\nstate at tick %d, %d ms\n", v.Tick, v.Now)
	for _, p := range v.Partitions {
		r := p.Replicas[0]
		fmt.Fprintf(out, "  %s leader=b%d epoch=%d start=%d hw=%d leo=%d segments=%d bytes=%d\n",
			p.TopicPartition, p.Leader, p.LeaderEpoch, r.LogStartOffset, r.HighWatermark, r.LogEndOffset, r.Segments, r.Bytes)
	}
	for _, g := range v.Groups {
		fmt.Fprintf(out, "  group %s assignor=%s lag=%d\n", g.ID, g.Assignor, g.Lag)
		for _, m := range g.Members {
			fmt.Fprintf(out, "    %s", m.ID)
			if len(m.Assignment) == 0 {
				fmt.Fprint(out, " idle")
			}
			for _, a := range m.Assignment {
				fmt.Fprintf(out, " %s@%d", a.TopicPartition, a.Position)
			}
			fmt.Fprintln(out)
		}
	}
	for _, p := range v.Producers {
		fmt.Fprintf(out, "  %s produced=%d waiting=%d acknowledged=%d failed=%d\n", p.ID, p.Produced, p.Waiting, p.Acknowledged, p.Failed)
	}
	l := cluster.Ledger()
	fmt.Fprintf(out, "  ledger sent=%d acknowledged=%d failed=%d dropped=%d unpromised=%d waiting=%d visible=%d unavailable=%d lost=%d duplicated=%d reordered=%d processed=%d\n",
		l.Sent, l.Acknowledged, l.Failed, l.Dropped, l.Unpromised, l.Waiting, l.Visible, l.Unavailable, len(l.Lost), len(l.Duplicated), len(l.Reordered), l.Processed)
	return nil // out keeps its first error until it is flushed
}
