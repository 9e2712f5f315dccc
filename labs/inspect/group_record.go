package inspect

import (
	"fmt"

	"loglab/engine"
	"loglab/engine/group"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/labs"
	"loglab/labs/view"
)

// GroupRecord shows a record of __consumer_offsets: what its key and value say, field by field.
func (l Log) GroupRecord(in *view.Inspector, at Location) {
	r := at.Record
	key, err := group.DecodeKey(r.Key)
	if err != nil {
		in.AddFact("Key", "%v", err)
		return
	}
	in.AddFact("Key", "%s", keyWords(key))
	in.AddFact("Value", "%s", valueWords(key, r.Value))
	in.AddFact("Kept", "compaction keeps the last record of each key, so the log always ends with what holds")
	in.Links = append(in.Links, l.open("open-batch", "its batch", labs.BatchTarget, r.Offset),
		labs.Open(l.Address, "open-group", "group "+key.Group, labs.Target{Kind: labs.GroupTarget, Node: kafka.NodeID(key.Group)}))
	in.Chain = l.appendChain(at)
	fields, _ := group.KeyAnatomy(r.Key)
	in.Anatomies = append(in.Anatomies, anatomyOf("key", "The key’s bytes", fields))
	if r.Value != nil {
		fields, _ = group.ValueAnatomy(key, r.Value)
		in.Anatomies = append(in.Anatomies, anatomyOf("value", "The value’s bytes", fields))
	}
}

// anatomyOf takes bytes apart that stand by themselves.
func anatomyOf(id, caption string, fields []record.Field) view.Anatomy {
	d := newDissector(id, caption)
	d.fields(fields, 0)
	return d.done()
}

func keyWords(key group.Key) string {
	if key.Type == group.TypeGroupMetadata {
		return fmt.Sprintf("type %d, group metadata: group %s", key.Type, key.Group)
	}
	return fmt.Sprintf("type %d, committed offset: group %s, %s", key.Type, key.Group, key.TopicPartition)
}

func valueWords(key group.Key, value []byte) string {
	decoded, err := group.DecodeValue(key, value)
	if err != nil {
		return err.Error()
	}
	switch v := decoded.(type) {
	case group.OffsetCommitRecord:
		return fmt.Sprintf("version %d: offset %d is the next to read; leader epoch %d; committed %s ms into the run", v.Version, v.Offset, v.LeaderEpoch, kafka.Thousands(v.CommitTimestamp-engine.StartTime))
	case group.GroupMetadataRecord:
		return fmt.Sprintf("version %d: generation %d with %s, assignor %s", v.Version, v.Generation, kafka.Count(len(v.Members), "member"), orNone(v.Protocol))
	}
	return "none: a tombstone, the key does not hold any more"
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// GroupRecords lists the last records of a group's partition of __consumer_offsets, each of which can be opened.
func (l Log) GroupRecords() view.Table {
	t := view.Table{ID: "group-records", Caption: "The last records of " + l.Partition.String(), Head: []string{"Offset", "Key", "Value"}}
	first := max(l.LogStartOffset, l.LogEndOffset-RowsShown)
	for _, r := range labs.RecordsFrom(l.Segments, first, RowsShown) {
		key, err := group.DecodeKey(r.Key)
		if err != nil {
			continue
		}
		t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{
			{{Text: fmt.Sprint(r.Offset), At: l.Target(labs.RecordTarget, r.Offset).String()}}, view.Plain(keyWords(key)), view.Plain(valueWords(key, r.Value)),
		}})
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
		if err == nil && key.Type != group.TypeGroupMetadata && key.Group == id && key.TopicPartition == tp {
			at, ok = r.Offset, r.Value != nil
		}
	}
	return at, ok
}
