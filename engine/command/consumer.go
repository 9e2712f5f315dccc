package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"loglab/engine/kafka"
)

// CrashWhen names a kind of point in an application's loop.
type CrashWhen string

// The points.
const (
	AfterPoll        CrashWhen = "after poll"        // poll has returned records, none of which is processed
	BeforeProcessing CrashWhen = "before processing" // a record is the next to be processed
	AfterProcessing  CrashWhen = "after processing"  // a record's effect is in the sink
	BeforeCommit     CrashWhen = "before commit"     // the commit is the next that would be sent
	AfterCommit      CrashWhen = "after commit"      // the commit has been answered

	// Of an application that writes to another topic.
	AfterProduce CrashWhen = "after produce" // what it has written is acknowledged; no offset is sent or committed
	AfterOffsets CrashWhen = "after offsets" // sendOffsetsToTransaction has been answered; EndTxn is not sent
	DuringCommit CrashWhen = "during commit" // EndTxn is sent; its answer is not there
)

// crashPoints lists the points, and whether they may name a record.
var crashPoints = [...]struct {
	when   CrashWhen
	record bool
}{{AfterPoll, false}, {BeforeProcessing, true}, {AfterProcessing, true}, {BeforeCommit, false}, {AfterCommit, false}, {AfterProduce, false}, {AfterOffsets, false}, {DuringCommit, false}}

// CrashPoint is a point in an application's loop: that of one record, or the next of its kind. The zero value is none.
type CrashPoint struct {
	When           CrashWhen
	TopicPartition kafka.TopicPartition // with BeforeProcessing and AfterProcessing; zero: any record
	Offset         kafka.Offset
}

// String gives the canonical text, "after processing orders-0 @6".
func (p CrashPoint) String() string {
	if p.TopicPartition == (kafka.TopicPartition{}) {
		return string(p.When)
	}
	return fmt.Sprintf("%s %s @%d", p.When, p.TopicPartition, p.Offset)
}

// Crash ends a consumer's process at once, or when its application comes to a point.
type Crash struct {
	Node kafka.NodeID
	At   CrashPoint
}

// parseCrash takes "CONSUMER", "CONSUMER after poll", "CONSUMER after processing PARTITION @OFFSET" and the like.
func parseCrash(words []word) (Command, error) {
	if len(words) == 0 || slices.ContainsFunc(words, func(w word) bool { return w.quoted }) {
		return nil, errUsage
	}
	c := Crash{Node: kafka.NodeID(words[0].text)}
	if len(words) == 1 {
		return c, nil
	}
	if len(words) != 3 && len(words) != 5 {
		return nil, errUsage
	}
	when := CrashWhen(words[1].text + " " + words[2].text)
	for _, p := range crashPoints {
		if p.when != when {
			continue
		}
		c.At.When = when
		if len(words) == 3 {
			return c, nil
		}
		if !p.record {
			return nil, errUsage
		}
		var err error
		c.At.TopicPartition, c.At.Offset, err = parsePlace(words[3].text, words[4].text)
		return c, err
	}
	return nil, errUsage
}

// parsePlace reads "orders-0" and "@6".
func parsePlace(partition, at string) (tp kafka.TopicPartition, offset kafka.Offset, err error) {
	if tp, err = parsePartition(partition); err != nil {
		return tp, 0, err
	}
	digits, ok := strings.CutPrefix(at, "@")
	offset, err = parseOffset(digits)
	if !ok {
		err = errUsage
	}
	return tp, offset, err
}

// parsePartition reads "orders-0": a topic, a hyphen and a number.
func parsePartition(text string) (tp kafka.TopicPartition, err error) {
	at := strings.LastIndexByte(text, '-')
	if at < 1 {
		return tp, errUsage
	}
	n, err := strconv.ParseUint(text[at+1:], 10, 31)
	if err != nil || strconv.FormatUint(n, 10) != text[at+1:] {
		return tp, errUsage
	}
	return kafka.TopicPartition{Topic: text[:at], Partition: kafka.Partition(n)}, nil
}

// MaxOffset is the greatest offset or timestamp that a command may name.
const MaxOffset = 1_000_000_000_000_000

// parseOffset reads an offset from 0 on.
func parseOffset(digits string) (kafka.Offset, error) {
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, errUsage
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || n > MaxOffset {
		return 0, fmt.Errorf("%.40q is not between 0 and %d", digits, int64(MaxOffset))
	}
	return kafka.Offset(n), nil
}

// Verb gives "crash".
func (Crash) Verb() string { return "crash" }

// String gives the canonical text.
func (c Crash) String() string {
	if c.At.When == "" {
		return "crash " + string(c.Node)
	}
	return "crash " + string(c.Node) + " " + c.At.String()
}

// Leave closes a consumer in an orderly way.
type Leave struct{ Node kafka.NodeID }

// Rebalance makes a member join its group again, as enforceRebalance does.
type Rebalance struct{ Node kafka.NodeID }

// Process lets an application that processes by hand process some records.
type Process struct {
	Node  kafka.NodeID
	Count int
}

// MaxProcess is the greatest Count of [Process].
const MaxProcess = 1000

// Commit makes a consumer's application commit what it is done with, or one offset.
type Commit struct {
	Node           kafka.NodeID
	TopicPartition kafka.TopicPartition // zero: what it is done with
	Offset         kafka.Offset
}

// Seek moves a consumer's position in a partition.
type Seek struct {
	Node           kafka.NodeID
	TopicPartition kafka.TopicPartition
	Offset         kafka.Offset
}

func parseLeave(words []word) (Command, error) {
	return ofNode(words, func(n kafka.NodeID) Command { return Leave{n} })
}

func parseRebalance(words []word) (Command, error) {
	return ofNode(words, func(n kafka.NodeID) Command { return Rebalance{n} })
}

// parseProcess takes "CONSUMER" or "CONSUMER COUNT"; 1 is not written.
func parseProcess(words []word) (Command, error) {
	if len(words) == 1 {
		return ofNode(words, func(n kafka.NodeID) Command { return Process{n, 1} })
	}
	if len(words) != 2 || words[0].quoted || words[1].quoted {
		return nil, errUsage
	}
	n, err := strconv.ParseUint(words[1].text, 10, 31)
	if err != nil || n < 1 || n > MaxProcess {
		return nil, fmt.Errorf("%q is not a number of records from 1 to %d", words[1].text, MaxProcess)
	}
	return Process{kafka.NodeID(words[0].text), int(n)}, nil
}

// parseCommit takes "CONSUMER" or "CONSUMER PARTITION @OFFSET".
func parseCommit(words []word) (Command, error) {
	if len(words) == 1 {
		return ofNode(words, func(n kafka.NodeID) Command { return Commit{Node: n} })
	}
	if len(words) != 3 || words[0].quoted || words[1].quoted || words[2].quoted {
		return nil, errUsage
	}
	tp, offset, err := parsePlace(words[1].text, words[2].text)
	return Commit{kafka.NodeID(words[0].text), tp, offset}, err
}

// parseSeek takes "CONSUMER PARTITION @OFFSET".
func parseSeek(words []word) (Command, error) {
	if len(words) != 3 || words[0].quoted || words[1].quoted || words[2].quoted {
		return nil, errUsage
	}
	tp, offset, err := parsePlace(words[1].text, words[2].text)
	return Seek{kafka.NodeID(words[0].text), tp, offset}, err
}

// Verb gives "leave".
func (Leave) Verb() string { return "leave" }

// String gives the canonical text.
func (c Leave) String() string { return "leave " + string(c.Node) }

// Verb gives "rebalance".
func (Rebalance) Verb() string { return "rebalance" }

// String gives the canonical text.
func (c Rebalance) String() string { return "rebalance " + string(c.Node) }

// Verb gives "process".
func (Process) Verb() string { return "process" }

// String gives the canonical text.
func (c Process) String() string {
	if c.Count == 1 {
		return "process " + string(c.Node)
	}
	return fmt.Sprintf("process %s %d", c.Node, c.Count)
}

// Verb gives "commit".
func (Commit) Verb() string { return "commit" }

// String gives the canonical text.
func (c Commit) String() string {
	if c.TopicPartition == (kafka.TopicPartition{}) {
		return "commit " + string(c.Node)
	}
	return fmt.Sprintf("commit %s %s @%d", c.Node, c.TopicPartition, c.Offset)
}

// Verb gives "seek".
func (Seek) Verb() string { return "seek" }

// String gives the canonical text.
func (c Seek) String() string {
	return fmt.Sprintf("seek %s %s @%d", c.Node, c.TopicPartition, c.Offset)
}
