package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/kong"
)

// cli is the command line: one field a command. A command is a struct with its flags and a method
// Run(std *stdio) error.
type cli struct {
	Serve     serveCmd     `cmd:"" help:"Serve the labs to browsers."`
	Run       runCmd       `cmd:"" help:"Replay an address without a browser: the journal, then the state."`
	Partition partitionCmd `cmd:"" help:"Show which partition a key goes to, as each client family does it."`
	Assign    assignCmd    `cmd:"" help:"Assign the partitions of a consumer group to its members."`
	Scenario  scenarioCmd  `cmd:"" help:"For authors of scenarios."`
	Export    exportCmd    `cmd:"" help:"Write a scenario as a folder of plain files, which needs no server and no script."`
	Dump      dumpCmd      `cmd:"" help:"Take a segment file apart, ours or a real broker's."`
}

// stdio is where a command reads and writes, so that a test can stand in for the terminal.
type stdio struct {
	In       io.Reader
	Out, Err io.Writer
}

// Exit statuses of the command line; courses and scripts depend on them.
const (
	exitOK       = 0 // it ran
	exitNo       = 1 // it ran and the answer is no
	exitBadInput = 2 // bad usage or bad input
)

// exitError ends the program with a status and one line on standard error. An empty Msg prints
// nothing.
type exitError struct {
	Code int
	Msg  string
}

// Error returns Msg.
func (e exitError) Error() string { return e.Msg }

// badInput is an exitError with status 2; the message names what was found, where, and what is allowed.
func badInput(format string, args ...any) error {
	return exitError{Code: exitBadInput, Msg: fmt.Sprintf(format, args...)}
}

func main() {
	os.Exit(run(os.Args[1:], &stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}

// run executes one command line, given without the program's name, and returns the exit status.
func run(args []string, std *stdio) int {
	for i, arg := range args {
		// The parser would put U+FFFD in the place of such bytes, and a key would get another partition.
		if !utf8.ValidString(arg) {
			return fail(std, exitBadInput, fmt.Sprintf("loglab: argument %d: %.80q is not UTF-8", i+1, arg))
		}
	}
	helpPrinted := false
	var commands cli
	parser, err := kong.New(&commands,
		kong.Name("loglab"),
		kong.Description("A teaching lab for the distributed log."),
		kong.Writers(std.Out, std.Err),
		kong.Exit(func(int) { helpPrinted = true }),
	)
	if err != nil {
		panic(fmt.Sprintf("loglab: the command line is declared wrongly: %v", err))
	}
	context, err := parser.Parse(args)
	if helpPrinted {
		return exitOK
	}
	if err != nil {
		return fail(std, exitBadInput, "loglab: "+err.Error())
	}
	err = context.Run(std)
	if err == nil {
		return exitOK
	}
	code := exitBadInput
	var exit exitError
	if errors.As(err, &exit) {
		code = exit.Code
	}
	if err.Error() == "" {
		return code
	}
	return fail(std, code, "loglab "+context.Selected().Name+": "+err.Error())
}

// fail prints exactly one line on standard error and returns code.
func fail(std *stdio, code int, message string) int {
	fmt.Fprintln(std.Err, oneLine(message))
	return code
}

// oneLine writes line ends and other unprintable characters as Go's escapes, so that a message which
// quotes its input stays one line and cannot steer a terminal.
func oneLine(message string) string {
	var line strings.Builder
	for _, r := range message {
		if unicode.IsPrint(r) {
			line.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRune(r)
		line.WriteString(quoted[1 : len(quoted)-1])
	}
	return line.String()
}
