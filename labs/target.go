package labs

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"loglab/engine/kafka"
)

// Target names something that the inspector can show. The zero Target names nothing.
type Target struct {
	Kind      TargetKind
	Partition kafka.TopicPartition // of a record, batch, segment, replica or partition
	Number    int64                // offset, base offset of a segment, offset or time to find, byte of a file, number of a message, of a tick or of a replica's broker
	Name      string               // of a file or a mark
	Node      kafka.NodeID         // of a node; a group's id; of a record, batch, segment or offset to find: the broker whose log is meant, empty: the one that clients are served from
}

// TargetKind is what a target is.
type TargetKind string

// The kinds of target.
const (
	RecordTarget  TargetKind = "record"  // record:orders-0:5
	BatchTarget   TargetKind = "batch"   // batch:orders-0:5, the batch that holds offset 5
	SegmentTarget TargetKind = "segment" // segment:orders-0:0, by base offset
	FindTarget    TargetKind = "find"    // find:orders-0:17, how a read finds offset 17
	MessageTarget TargetKind = "message" // message:17
	NodeTarget    TargetKind = "node"    // node:c1

	ReplicaTarget   TargetKind = "replica"   // replica:orders-0:2, that on broker 2
	PartitionTarget TargetKind = "partition" // partition:orders-0, as every node has it in its metadata
	GroupTarget     TargetKind = "group"     // group:billing, a consumer group as its coordinator has it
	TickTarget      TargetKind = "tick"      // tick:12, what happened in it

	TimeTarget TargetKind = "time" // time:orders-0:5000, how ListOffsets finds the first record from 5,000 ms into the run on
	FileTarget TargetKind = "file" // file:orders-0:00000000000000000000.index:16, a file of a partition's directory, from a byte on
	MarkTarget TargetKind = "mark" // mark:orders-0:log-start, a place in a log that has a name
)

// errTarget says what may stand in "at".
var errTarget = errors.New("allowed are record:PARTITION:OFFSET, batch:PARTITION:OFFSET, segment:PARTITION:OFFSET, find:PARTITION:OFFSET, each with @BROKER behind it for the log of that broker, " +
	"replica:PARTITION:BROKER, time:PARTITION:MS, file:PARTITION:NAME, file:PARTITION:NAME:BYTE, mark:PARTITION:NAME, partition:PARTITION, message:NUMBER, tick:NUMBER, node:NAME and group:ID, as in record:orders-0:5 and record:orders-0:5@b2, after vs: where it is in a twin run")

// String gives the text in an address; empty for the zero Target.
func (t Target) String() string {
	switch t.Kind {
	case "":
		return ""
	case MessageTarget, TickTarget:
		return fmt.Sprintf("%s:%d", t.Kind, t.Number)
	case NodeTarget, GroupTarget:
		return fmt.Sprintf("%s:%s", t.Kind, t.Node)
	case PartitionTarget:
		return fmt.Sprintf("%s:%s", t.Kind, t.Partition)
	case FileTarget, MarkTarget:
		text := fmt.Sprintf("%s:%s:%s", t.Kind, t.Partition, t.Name)
		if t.Number > 0 {
			text += fmt.Sprintf(":%d", t.Number)
		}
		return text
	}
	text := fmt.Sprintf("%s:%s:%d", t.Kind, t.Partition, t.Number)
	if t.Node != "" {
		text += "@" + string(t.Node)
	}
	return text
}

// parseTarget reads the text in an address.
func parseTarget(text string) (Target, error) {
	if text == "" {
		return Target{}, nil
	}
	kind, rest, _ := strings.Cut(text, ":")
	t := Target{Kind: TargetKind(kind)}
	var err error
	switch t.Kind {
	case NodeTarget, GroupTarget:
		if rest == "" || len(rest) > 64 {
			return t, errTarget
		}
		t.Node = kafka.NodeID(rest)
	case MessageTarget, TickTarget:
		t.Number, err = offset(rest)
	case PartitionTarget:
		t.Partition, err = topicPartition(rest)
	case FileTarget, MarkTarget:
		dir, name, _ := strings.Cut(rest, ":")
		if before, byte, ok := strings.Cut(name, ":"); ok && t.Kind == FileTarget {
			if t.Number, err = offset(byte); err != nil {
				return t, err
			}
			name = before
		}
		if !isName(name) {
			return t, errTarget
		}
		t.Name = name
		t.Partition, err = topicPartition(dir)
	case RecordTarget, BatchTarget, SegmentTarget, FindTarget, ReplicaTarget, TimeTarget:
		name, number, _ := strings.Cut(rest, ":")
		if before, broker, ok := strings.Cut(name, "@"); ok && broker != "" { // as a form sends it
			name, number = before, number+"@"+broker
		}
		if digits, broker, ok := strings.Cut(number, "@"); ok && t.Kind != ReplicaTarget && t.Kind != TimeTarget {
			if broker == "" || len(broker) > 64 {
				return t, errTarget
			}
			number, t.Node = digits, kafka.NodeID(broker)
		}
		if t.Partition, err = topicPartition(name); err == nil {
			t.Number, err = offset(number)
		}
	default:
		return t, errTarget
	}
	return t, err
}

// isName says whether a text can name a file or a mark.
func isName(s string) bool {
	const most = 64
	other := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '.' && r != '-' && r != '_'
	}
	return s != "" && len(s) <= most && strings.IndexFunc(s, other) < 0
}

// topicPartition reads "orders-0".
func topicPartition(s string) (tp kafka.TopicPartition, err error) {
	dash := strings.LastIndexByte(s, '-')
	if dash < 1 || len(s) > 260 {
		return tp, errTarget
	}
	index, err := strconv.ParseUint(s[dash+1:], 10, 16)
	if err != nil {
		return tp, errTarget
	}
	return kafka.TopicPartition{Topic: s[:dash], Partition: kafka.Partition(index)}, nil
}

// offset reads a number that is not negative.
func offset(s string) (int64, error) {
	n, err := strconv.ParseUint(s, 10, 62)
	if err != nil {
		return 0, errTarget
	}
	return int64(n), nil
}
