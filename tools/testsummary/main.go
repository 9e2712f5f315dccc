package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

func main() {
	s := newSummary(os.Stdout)
	if err := s.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "testsummary:", err)
		os.Exit(1)
	}
	if ok := s.finish(); !ok {
		os.Exit(1)
	}
}

// event is one line of `go test -json`, as `go doc test2json` and `go help buildjson` describe it.
type event struct {
	Action  string
	Package string
	Test    string // empty: the package itself
	Output  string
}

// id is a test of a package; its test is empty for what the package prints outside its tests.
type id struct{ pkg, test string }

// summary is what was read so far.
type summary struct {
	out            io.Writer
	output         map[id][]string // of tests under way, and of packages
	failedPackages map[string]bool // packages with a failed test
	skips          []string
	passed, failed int
}

func newSummary(out io.Writer) *summary {
	return &summary{out: out, output: map[id][]string{}, failedPackages: map[string]bool{}}
}

func (s *summary) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) == nil {
				s.add(e)
			} else {
				io.WriteString(s.out, line)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *summary) add(e event) {
	this := id{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		io.WriteString(s.out, e.Output)
	case "output":
		s.output[this] = append(s.output[this], e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			s.endPackage(e)
		} else {
			s.endTest(e)
		}
		delete(s.output, this)
	}
}

func (s *summary) endTest(e event) {
	output := s.output[id{e.Package, e.Test}]
	switch e.Action {
	case "pass":
		s.passed++
	case "fail":
		s.failed++
		s.failedPackages[e.Package] = true
		s.print(output)
	case "skip":
		// The last line is "--- SKIP", the one before it the reason.
		reason := "no reason given"
		if n := len(output); n >= 2 && !strings.HasPrefix(output[n-2], "=== ") {
			reason = strings.TrimSpace(output[n-2])
		}
		s.skips = append(s.skips, fmt.Sprintf("skipped %s %s: %s", e.Package, e.Test, reason))
	}
}

// endPackage prints the package's own lines and, if it ended in the middle of tests, theirs.
func (s *summary) endPackage(e event) {
	if e.Action == "fail" {
		if !s.failedPackages[e.Package] {
			s.failed++
		}
		var open []id
		for under := range s.output {
			if under.pkg == e.Package && under.test != "" {
				open = append(open, under)
			}
		}
		slices.SortFunc(open, func(a, b id) int { return strings.Compare(a.test, b.test) })
		for _, under := range open {
			s.print(s.output[under])
			delete(s.output, under)
		}
	}
	if e.Action != "skip" { // a package without tests
		s.print(s.output[id{e.Package, ""}])
	}
}

// print leaves out the lines that only repeat what the rest says.
func (s *summary) print(lines []string) {
	for _, line := range lines {
		if line != "PASS\n" && line != "FAIL\n" && !strings.HasPrefix(line, "=== ") {
			io.WriteString(s.out, line)
		}
	}
}

// finish prints the end of the summary and tells whether all went well.
func (s *summary) finish() bool {
	for _, skip := range s.skips {
		fmt.Fprintln(s.out, skip)
	}
	fmt.Fprintf(s.out, "%d passed, %d failed", s.passed, s.failed)
	if len(s.skips) > 0 {
		fmt.Fprintf(s.out, ", %d skipped", len(s.skips))
	}
	fmt.Fprintln(s.out)
	return s.failed == 0 && s.passed > 0
}
