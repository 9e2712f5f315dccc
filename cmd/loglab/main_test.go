package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// outcome is what one command line did.
type outcome struct {
	code     int
	out, err string
}

// runWith runs one command line with the given standard input.
func runWith(in io.Reader, args ...string) outcome {
	var out, err bytes.Buffer
	code := run(args, &stdio{In: in, Out: &out, Err: &err})
	return outcome{code, out.String(), err.String()}
}

// checkBadInput demands status 2 and exactly one line on standard error that holds want.
func checkBadInput(t *testing.T, got outcome, want string) {
	t.Helper()
	if got.code != exitBadInput {
		t.Errorf("status %d, want %d", got.code, exitBadInput)
	}
	if strings.Count(got.err, "\n") != 1 || !strings.HasSuffix(got.err, "\n") {
		t.Errorf("standard error is not exactly one line: %q", got.err)
	}
	if !strings.Contains(got.err, want) {
		t.Errorf("standard error %q does not say %q", got.err, want)
	}
}

func TestUsageErrorsAreOneLineAndStatus2(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"no command", nil, "expected"},
		{"unknown command", []string{"partitoin"}, "unexpected argument partitoin"},
		{"unknown flag", []string{"partition", "--partitoner", "murmur2", "a"}, "unknown flag --partitoner"},
		{"missing flags", []string{"partition", "a"}, "missing flags: --partitioner=NAME, --partitions=N"},
		{"missing key", []string{"partition", "--partitioner", "murmur2", "--partitions", "3"}, "<key>"},
		{"not a number", []string{"partition", "--partitioner", "murmur2", "--partitions", "many", "a"}, "--partitions"},
		{"line end in an argument", []string{"a\nb\r\x1b[31m"}, `a\nb\r\x1b[31m`},
		{"not UTF-8", []string{"partition", "--partitioner", "murmur2", "--partitions", "3", "\xff"}, `argument 6: "\xff" is not UTF-8`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := runWith(strings.NewReader(""), test.args...)
			checkBadInput(t, got, test.want)
			if got.out != "" {
				t.Errorf("standard output is not empty: %q", got.out)
			}
		})
	}
}

func TestHelpIsStatus0(t *testing.T) {
	for _, args := range [][]string{
		{"--help"},
		{"partition", "--help"},
		{"assign", "--help"},
		{"partition", "--partitioner", "nobody", "--help"},
	} {
		got := runWith(strings.NewReader(""), args...)
		if got.code != exitOK || got.err != "" || !strings.Contains(got.out, "Usage: loglab") {
			t.Errorf("%v: status %d, out %q, err %q; want 0 and the help", args, got.code, got.out, got.err)
		}
	}
}

func TestFailedWriteIsAnError(t *testing.T) {
	var err bytes.Buffer
	broken := writerFunc(func([]byte) (int, error) { return 0, errors.New("disk full") })
	code := run([]string{"partition", "--partitioner", "murmur2", "--partitions", "3", "a"},
		&stdio{In: strings.NewReader(""), Out: broken, Err: &err})
	checkBadInput(t, outcome{code: code, err: err.String()}, "disk full")
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
