package inspect

import (
	"fmt"

	"loglab/engine"
	"loglab/labs"
	"loglab/labs/view"
)

// Copies lists what each replica of a partition has at a record's offset.
func Copies(p engine.PartitionView, at Location) view.Table {
	t := view.Table{ID: "copies", Caption: fmt.Sprintf("Offset %d on each replica", at.Record.Offset), Head: []string{"Broker", "Record", "Leader epoch"}}
	for _, r := range p.Replicas {
		text, epoch := "none", ""
		if found := labs.RecordsFrom(labs.SegmentsOf(r), at.Record.Offset, 1); len(found) > 0 && found[0].Offset == at.Record.Offset {
			text, epoch = shortValue(found[0]), fmt.Sprint(found[0].LeaderEpoch)
			if string(found[0].Value) != string(at.Record.Value) || found[0].LeaderEpoch != at.Batch.PartitionLeaderEpoch {
				text += ", another record"
			}
		}
		t.Rows = append(t.Rows, Cells(fmt.Sprintf("b%d", r.Broker), text, epoch))
	}
	return t
}

// shortValue is what a record holds, in short.
func shortValue(r labs.StoredRecord) string {
	switch {
	case r.Control:
		return "a transaction’s marker"
	case r.Value == nil:
		return "null"
	}
	return labs.Narrow(string(r.Value), 40)
}
