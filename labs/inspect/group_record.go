package inspect

import (
	"fmt"
	"strings"

	"loglab/engine/group"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/labs"
	"loglab/labs/view"
)

// groupRecord shows a record of __consumer_offsets: what its key and value say, field by field.
func (l Log) groupRecord(in *view.Inspector, at Location) {
	r := at.Record
	key, err := group.DecodeKey(r.Key)
	if err != nil {
		in.AddFact("Key", "%v", err)
		return
	}
	in.AddFact("Key", "%s", keyWords(key))
	in.AddFact("Value", "%s", valueWords(key, r.Value))
	keyFields, _ := group.KeyAnatomy(r.Key)
	valueFields, _ := group.ValueAnatomy(key, r.Value)
	l.keptRecord(in, at, keyFields, valueFields)
	in.Links = append(in.Links, labs.Open(l.Address, "open-group", "group "+key.Group, labs.Target{Kind: labs.GroupTarget, Node: kafka.NodeID(key.Group)}))
}

// keptRecord adds what holds of every record that a coordinator has written, and its bytes.
func (l Log) keptRecord(in *view.Inspector, at Location, key, value []record.Field) {
	in.AddFact("Kept", "compaction keeps the last record of each key, so the log always ends with what holds")
	in.Links = append(in.Links, l.open("open-batch", "its batch", labs.BatchTarget, at.Record.Offset))
	in.Chain = l.appendChain(at)
	in.Anatomies = append(in.Anatomies, anatomyOf("key", "The key’s bytes", key))
	if at.Record.Value != nil {
		in.Anatomies = append(in.Anatomies, anatomyOf("value", "The value’s bytes", value))
	}
}

// anatomyOf takes bytes apart that stand by themselves.
func anatomyOf(id, caption string, fields []record.Field) view.Anatomy {
	d := newDissector(id, caption)
	d.inside = true
	d.fields(fields, 0)
	return d.done()
}

func keyWords(key group.Key) string {
	switch key.Type {
	case group.TypeOffsetCommitOld, group.TypeOffsetCommit:
		return fmt.Sprintf("type %d, committed offset: group %s, %s", key.Type, key.Group, key.TopicPartition)
	case group.TypeGroupMetadata:
		return fmt.Sprintf("type %d, group metadata: group %s", key.Type, key.Group)
	case group.TypeConsumerGroupMetadata:
		return fmt.Sprintf("type %d, group epoch: group %s", key.Type, key.Group)
	case group.TypeConsumerGroupPartitionMetadata:
		return fmt.Sprintf("type %d, partitions of the subscribed topics: group %s", key.Type, key.Group)
	case group.TypeConsumerGroupMemberMetadata:
		return fmt.Sprintf("type %d, member: group %s, %s", key.Type, key.Group, key.Member)
	case group.TypeTargetAssignmentMetadata:
		return fmt.Sprintf("type %d, assignment epoch: group %s", key.Type, key.Group)
	case group.TypeTargetAssignmentMember:
		return fmt.Sprintf("type %d, target assignment: group %s, %s", key.Type, key.Group, key.Member)
	case group.TypeCurrentMemberAssignment:
		return fmt.Sprintf("type %d, current assignment: group %s, %s", key.Type, key.Group, key.Member)
	case group.TypeRegularExpression:
		return fmt.Sprintf("type %d, topics that match a pattern: group %s, %s", key.Type, key.Group, key.Regex)
	}
	return fmt.Sprintf("type %d, not known", key.Type)
}

// tombstoneWords says what a value says that is not there.
const tombstoneWords = "none: a tombstone, the key does not hold any more"

func valueWords(key group.Key, value []byte) string {
	decoded, err := group.DecodeValue(key, value)
	if err != nil {
		return err.Error()
	}
	switch v := decoded.(type) {
	case group.OffsetCommitRecord:
		return fmt.Sprintf("version %d: offset %d is the next to read; leader epoch %d; committed %s", v.Version, v.Offset, v.LeaderEpoch, sinceStart(v.CommitTimestamp))
	case group.GroupMetadataRecord:
		return fmt.Sprintf("version %d: generation %d with %s, assignor %s", v.Version, v.Generation, kafka.Count(len(v.Members), "member"), orNone(v.Protocol))
	case group.ConsumerGroupRecord:
		return fmt.Sprintf("group epoch %d", v.Epoch)
	case group.ConsumerMemberRecord:
		return fmt.Sprintf("from %s; subscribes to %s", v.ClientID, subscriptionWords(v))
	case group.TargetEpochRecord:
		return fmt.Sprintf("the target assignment is that of group epoch %d", v.Epoch)
	case group.TargetMemberRecord:
		return fmt.Sprintf("it is to own %s", partitionsIn(v.Partitions))
	case group.CurrentAssignmentRecord:
		words := fmt.Sprintf("member epoch %d, %s; it owns %s", v.Epoch, v.State, partitionsIn(v.Assigned))
		if len(v.Revoking) > 0 {
			words += fmt.Sprintf(" and is to give up %s", partitionsIn(v.Revoking))
		}
		return words
	case group.RegularExpressionRecord:
		return strings.Join(v.Topics, ", ")
	}
	return tombstoneWords
}

// subscriptionWords says what a member of the consumer protocol subscribes to.
func subscriptionWords(r group.ConsumerMemberRecord) string {
	words := append([]string(nil), r.Topics...)
	if r.Regex != "" {
		words = append(words, "the pattern "+r.Regex)
	}
	return orNone(strings.Join(words, ", "))
}

// partitionsIn counts the partitions of an assignment, which has the ids of topics instead of their names.
func partitionsIn(list []group.AssignedTopic) string {
	n := 0
	for _, t := range list {
		n += len(t.Partitions)
	}
	if len(list) < 2 {
		return kafka.Count(n, "partition")
	}
	return fmt.Sprintf("%s of %s", kafka.Count(n, "partition"), kafka.Count(len(list), "topic"))
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// GroupRecords lists the last records of a group's partition of __consumer_offsets, each of which can be opened.
func (l Log) GroupRecords() view.Table {
	return l.lastRecords("group-records", func(r labs.StoredRecord) (key, value string, ok bool) {
		k, err := group.DecodeKey(r.Key)
		if err != nil {
			return "", "", false
		}
		return keyWords(k), valueWords(k, r.Value), true
	})
}

// lastRecords lists the last records of a coordinator's log in words; ok is false for what has none.
func (l Log) lastRecords(id string, words func(labs.StoredRecord) (key, value string, ok bool)) view.Table {
	t := view.Table{ID: id, Caption: "The last records of " + l.Partition.String(), Head: []string{"Offset", "Key", "Value"}}
	first := max(l.LogStartOffset, l.LogEndOffset-RowsShown)
	for _, r := range labs.RecordsFrom(l.Segments, first, RowsShown) {
		if key, value, ok := words(r); ok {
			t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{
				{{Text: fmt.Sprint(r.Offset), At: l.Target(labs.RecordTarget, r.Offset).String()}}, view.Plain(key), view.Plain(value),
			}})
		}
	}
	if len(t.Rows) == 0 {
		t.More = "None yet."
	}
	return t
}

// CommitRecord finds the offset of the record by which a group has committed in a partition last; ok is false if there
// is none.
func (l Log) CommitRecord(id string, tp kafka.TopicPartition) (at kafka.Offset, ok bool) {
	for _, r := range labs.RecordsFrom(l.Segments, l.LogStartOffset, int(l.LogEndOffset-l.LogStartOffset)) {
		key, err := group.DecodeKey(r.Key)
		if err == nil && key.Type == group.TypeOffsetCommit && key.Group == id && key.TopicPartition == tp {
			at, ok = r.Offset, r.Value != nil
		}
	}
	return at, ok
}
