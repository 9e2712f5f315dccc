package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"loglab/content"
	"loglab/labs"
	"loglab/labs/lesson"
	"loglab/labs/scenario"
	"loglab/web"
)

// scenarioCmd is for authors of scenarios.
type scenarioCmd struct {
	Schema scenarioSchemaCmd `cmd:"" help:"Print the JSON Schema of a scenario file, with the names that expressions can use."`
	Check  scenarioCheckCmd  `cmd:"" help:"Read scenario files, run them, and say line by line what is wrong."`
}

type scenarioSchemaCmd struct{}

// Run prints the schema.
func (scenarioSchemaCmd) Run(std *stdio) error {
	_, err := std.Out.Write(scenario.Schema())
	return err
}

type scenarioCheckCmd struct {
	Files []string `arg:"" name:"file" help:"Scenario files, NAME.yaml."`
}

// Run prints a line for each thing that is wrong, "FILE:LINE: what, allowed", and ends with status 1 if there is any. A
// file that cannot be read is status 2.
func (c *scenarioCheckCmd) Run(std *stdio) error {
	known, err := knownToScenarios()
	if err != nil {
		return err
	}
	wrong := 0
	for _, file := range c.Files {
		source, err := os.ReadFile(file)
		if err != nil {
			return badInput("%s: %v", file, errors.Unwrap(err))
		}
		s, err := scenario.Parse(file, source, known)
		if err == nil {
			err = s.Check(file)
		}
		var problems scenario.Problems
		switch {
		case errors.As(err, &problems):
			wrong++
			for _, p := range problems {
				fmt.Fprintln(std.Out, oneLine(p.Error()))
			}
		case err != nil:
			return err
		default:
			fmt.Fprintf(std.Out, "%s: right, %d stops, %d expectations\n", file, s.Stops(), len(s.Expect))
		}
	}
	if wrong > 0 {
		return exitError{Code: exitNo}
	}
	return nil
}

// parseScenario reads the name, the address or the file of a scenario; is is false where the text is none of them. A
// text that says no tick means the end.
func parseScenario(text string, heads labs.Heads) (a labs.Address, is bool, err error) {
	before, query, hasQuery := strings.Cut(text, "?")
	at := strings.LastIndex(before, "/scenario/")
	_, isFile := scenario.Name(filepath.Base(before))
	name, isName := scenario.Name(strings.TrimPrefix(before[at+1:], "scenario/") + ".yaml")
	if !isFile && (!isName || at < 0 && strings.Contains(before, "/")) {
		return a, false, nil
	}
	if isFile {
		name = before
	}
	told, err := namedScenario(name)
	if err != nil {
		return a, true, err
	}
	a, err = heads.ParseFrom(labs.StartStory(told.Story, labs.Pages), query)
	if !hasQuery || !slices.ContainsFunc(strings.Split(query, "&"), func(p string) bool { return strings.HasPrefix(p, "t=") }) {
		a = a.WithTick(told.End)
	}
	return a, true, err
}

// namedScenario reads a scenario by its name or its file.
func namedScenario(text string) (*scenario.Scenario, error) {
	known, err := knownToScenarios()
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(text, ".yaml") {
		return shippedScenario(text, known)
	}
	source, err := os.ReadFile(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %v", text, errors.Unwrap(err))
	}
	return scenario.Parse(text, source, known)
}

// shippedScenario gives one of those in the binary.
func shippedScenario(name string, known scenario.Known) (*scenario.Scenario, error) {
	list, err := scenario.Load(content.FS, "scenarios", known)
	var names []string
	for _, s := range list {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	if err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("the scenario %q is not known: allowed are %s, a file NAME.yaml, and addresses of labs", name, strings.Join(names, ", "))
}

// knownToScenarios is what scenarios can refer to.
func knownToScenarios() (scenario.Known, error) {
	terms, err := lesson.LoadGlossary(content.FS)
	if err != nil {
		return scenario.Known{}, err
	}
	return web.KnownToScenarios(terms), nil
}
