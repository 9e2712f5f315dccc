package main

import (
	"errors"
	"fmt"
	"os"

	"loglab/content"
	"loglab/labs/all"
	"loglab/labs/lesson"
	"loglab/labs/scenario"
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

// knownToScenarios is what scenarios can refer to.
func knownToScenarios() (scenario.Known, error) {
	terms, err := lesson.LoadGlossary(content.FS)
	if err != nil {
		return scenario.Known{}, err
	}
	has := func(slug string) bool { _, ok := terms.Term(slug); return ok }
	return scenario.Known{Labs: all.Labs(), Term: has}, nil
}
