package scenario

import (
	"context"

	"loglab/labs"
)

// Lessons ask runs as scenarios do: in the same language, over the same state.

// Compile reads an expression that gives a text, a number or true or false.
func Compile(text string) (*Expression, error) { return compileAs(text, wantPlain) }

// CompileCheck reads an expression that gives true or false.
func CompileCheck(text string) (*Expression, error) { return compileAs(text, wantBool) }

func compileAs(text string, want wanted) (*Expression, error) {
	program, err := compile(text, want)
	if err != nil {
		return nil, err
	}
	return &Expression{Text: text, program: program}, nil
}

// StateAt gives what expressions can name at the tick of an address; the state of a second run is its Vs.
func StateAt(ctx context.Context, runs *labs.Runs, a labs.Address) (*State, error) {
	c, err := runs.Cluster(ctx, a)
	if err != nil {
		return nil, err
	}
	state, err := stateOf(a, c)
	if err != nil || !a.HasTwin() {
		return state, err
	}
	twin, err := runs.Cluster(ctx, a.Other())
	if err != nil {
		return nil, err
	}
	state.Vs, err = stateOf(a.Other(), twin)
	return state, err
}
