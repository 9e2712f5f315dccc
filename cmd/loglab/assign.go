package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"loglab/engine/assignor"
	"loglab/engine/kafka"
)

// maxGroupBytes bounds group.json.
const maxGroupBytes = 256 << 20

// assignCmd is loglab assign: a group in, its assignment out.
type assignCmd struct {
	Assignor string `required:"" placeholder:"NAME" help:"Rule from members and partitions to an assignment, see below."`
	JSON     bool   `name:"json" help:"Print one JSON object."`
}

// Help is the long help of the command.
func (*assignCmd) Help() string {
	return "Assignors of the client: " + strings.Join(assignor.ClientNames(), ", ") + ". Of the broker, for groups of the consumer " +
		"protocol: " + strings.Join(assignor.ServerNames(), ", ") + ".\n\n" +
		"Standard input holds the group:\n\n" +
		`  {"topics": {"orders": 6}, "members": [{"id": "m0", "topics": ["orders"]}]}` + "\n\n" +
		"A member may also have instance_id (a static member), owned (partitions by topic, such as {\"orders\": [0, 1]}) and " +
		"generation. Topics that a member subscribes to or owns and that do not exist are ignored, as are owned partitions that are " +
		"gone and owned topics that it no longer subscribes to. For uniform, owned is the member's current target. At most 10,000 members and 1,000,000 partitions.\n\n" +
		"A line of text is the member, a tab and its partitions: m0, then orders:0,1 payments:2, or - for none. Under " +
		"cooperative-sticky a last line (withheld) has the partitions that nobody gets in this round, because their owner has to " +
		"give them up first."
}

// Run reads the group, assigns and prints.
func (c *assignCmd) Run(std *stdio) error {
	rule, err := assignor.ByName(c.Assignor)
	if err != nil {
		return badInput("--assignor: %v", err)
	}
	group, err := readGroup(std.In)
	if err != nil {
		return badInput("standard input: %v", err)
	}
	assigned := rule.Assign(group)
	out := bufio.NewWriter(std.Out)
	if c.JSON {
		cooperative := slices.Contains(rule.SupportedProtocols(), assignor.Cooperative)
		err = writeAssignmentJSON(out, assigned, cooperative)
	} else {
		writeAssignmentText(out, assigned)
	}
	return errors.Join(err, out.Flush())
}

// writeAssignmentText prints one line a member: its id, a tab, its partitions by topic. What is withheld, if
// anything, comes last.
func writeAssignmentText(out *bufio.Writer, assigned assignor.Assignment) {
	for _, member := range assigned.Members {
		writePartitionsText(out, quoteField(string(member.Member)), member.Topics)
	}
	if len(assigned.Withheld) > 0 {
		writePartitionsText(out, "(withheld)", assigned.Withheld)
	}
}

func writePartitionsText(out *bufio.Writer, whose string, topics []assignor.TopicPartitions) {
	out.WriteString(whose)
	out.WriteByte('\t')
	if len(topics) == 0 {
		out.WriteByte('-')
	}
	for i, owned := range topics {
		if i > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(owned.Topic)
		separator := byte(':')
		for _, partition := range owned.Partitions {
			out.WriteByte(separator)
			out.WriteString(strconv.Itoa(int(partition)))
			separator = ','
		}
	}
	out.WriteByte('\n')
}

// writeAssignmentJSON prints {"assignment": {"m0": {"orders": [0,1]}}}, members and topics sorted, and for
// a cooperative assignor also "withheld": {"orders": [2]}, empty if nothing is.
func writeAssignmentJSON(out io.Writer, assigned assignor.Assignment, cooperative bool) error {
	members := make(map[kafka.MemberID]map[string][]kafka.Partition, len(assigned.Members))
	for _, member := range assigned.Members {
		members[member.Member] = byTopic(member.Topics)
	}
	document := map[string]any{"assignment": members}
	if cooperative {
		document["withheld"] = byTopic(assigned.Withheld)
	}
	if err := json.MarshalWrite(out, document, json.Deterministic(true)); err != nil {
		return fmt.Errorf("the assignment as JSON: %w", err)
	}
	_, err := io.WriteString(out, "\n")
	return err
}

func byTopic(list []assignor.TopicPartitions) map[string][]kafka.Partition {
	topics := make(map[string][]kafka.Partition, len(list))
	for _, owned := range list {
		topics[owned.Topic] = owned.Partitions
	}
	return topics
}
