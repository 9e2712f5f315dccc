package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"loglab/engine/assignor"
	"loglab/engine/kafka"
)

// groupJSON is the form of group.json.
type groupJSON struct {
	Topics  map[string]int32 `json:"topics"`
	Members []memberJSON     `json:"members"`
}

// memberJSON is one member in group.json; only its id and topics must be there.
type memberJSON struct {
	ID         kafka.MemberID               `json:"id"`
	InstanceID kafka.GroupInstanceID        `json:"instance_id"`
	Topics     []string                     `json:"topics"`
	Owned      map[string][]kafka.Partition `json:"owned"`
	Generation *kafka.GenerationID          `json:"generation"`
}

// readGroup reads a group and checks it. An error says where in the file, what was found and what is
// allowed.
func readGroup(in io.Reader) (assignor.Group, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxGroupBytes+1))
	if err != nil {
		return assignor.Group{}, err
	}
	if len(text) > maxGroupBytes {
		return assignor.Group{}, fmt.Errorf("longer than %d bytes", maxGroupBytes)
	}
	var file groupJSON
	if err := json.Unmarshal(text, &file, json.RejectUnknownMembers(true)); err != nil {
		return assignor.Group{}, describeJSONError(err)
	}
	group := file.group()
	return group, group.Check()
}

// group turns the file into the assignor's input, with everything sorted.
func (file groupJSON) group() assignor.Group {
	var group assignor.Group
	for _, name := range slices.Sorted(maps.Keys(file.Topics)) {
		group.Topics = append(group.Topics, assignor.Topic{Name: name, PartitionCount: file.Topics[name]})
	}
	for _, m := range file.Members {
		member := assignor.Member{ID: m.ID, InstanceID: m.InstanceID, Topics: m.Topics, Generation: -1}
		if m.Generation != nil {
			member.Generation = *m.Generation
		}
		for _, name := range slices.Sorted(maps.Keys(m.Owned)) {
			slices.Sort(m.Owned[name])
			if partitions := slices.Compact(m.Owned[name]); len(partitions) > 0 {
				member.Owned = append(member.Owned, assignor.TopicPartitions{Topic: name, Partitions: partitions})
			}
		}
		group.Members = append(group.Members, member)
	}
	return group
}

// describeJSONError says in the words of JSON what is wrong and where; the place is a JSON pointer such
// as /members/0/id.
func describeJSONError(err error) error {
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		return fmt.Errorf("%sbyte %d: %w", pointerText(syntactic.JSONPointer), syntactic.ByteOffset, syntactic.Err)
	}
	var semantic *json.SemanticError
	if !errors.As(err, &semantic) {
		return err
	}
	where := pointerText(semantic.JSONPointer)
	if errors.Is(semantic.Err, json.ErrUnknownName) {
		allowed := "topics and members"
		if strings.HasPrefix(where, "/members/") {
			allowed = "id, instance_id, topics, owned and generation"
		}
		return fmt.Errorf("%sunknown name, allowed are %s", where, allowed)
	}
	found := foundText(semantic.JSONKind)
	if len(semantic.JSONValue) > 0 {
		found = fmt.Sprintf("%.80s", semantic.JSONValue)
	}
	return fmt.Errorf("%sfound %s, allowed is %s", where, found, allowedText(semantic.GoType))
}

// pointerText is a place in a JSON file before a message; nothing for the whole file.
func pointerText(pointer jsontext.Pointer) string {
	if pointer == "" {
		return ""
	}
	return fmt.Sprintf("%.200s: ", pointer)
}

// foundText names a kind of JSON value.
func foundText(kind jsontext.Kind) string {
	switch kind {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 'n':
		return "null"
	default:
		return "a boolean"
	}
}

// allowedText names the JSON that a Go type is read from.
func allowedText(goType reflect.Type) string {
	switch goType.Kind() {
	case reflect.Int32:
		return "an integer of 32 bits"
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "an array"
	default:
		return "an object"
	}
}
