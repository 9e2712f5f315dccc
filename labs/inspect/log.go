package inspect

import (
	"errors"
	"fmt"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/storage"
	"loglab/labs"
	"loglab/labs/view"
)

// Bounds of the inspector, so that a page stays small.
const (
	RowsShown   = 12 // in a table
	CausesShown = 14 // in a chain of causes
)

// Frame is a frame with what a lab's runs have in common.
type Frame struct {
	labs.Frame
	Topic, Group string
	Config       storage.Config // of the topic
}

// Log is one log: a partition's on the broker that clients are served from, or on any other.
type Log struct {
	Frame
	Partition kafka.TopicPartition
	Broker    kafka.NodeID // whose log it is; empty: that of the broker which clients are served from
	engine.LogView
}

// Target names something in the log.
func (l Log) Target(kind labs.TargetKind, offset kafka.Offset) labs.Target {
	return labs.Target{Kind: kind, Partition: l.Partition, Number: int64(offset), Node: l.Broker}
}

// open makes a control that opens something in the log.
func (l Log) open(id, text string, kind labs.TargetKind, offset kafka.Offset) view.Link {
	return labs.Open(l.Address, id, text, l.Target(kind, offset))
}

// Location is where a record stands in a log.
type Location struct {
	Segment  storage.Segment
	Batch    record.Batch
	Position int // of the batch in the segment
	Record   record.Record
	Index    int // of the record in the batch
}

// Locate finds the record with that offset; ok is false when there is none.
func (l Log) Locate(offset kafka.Offset) (at Location, ok bool) {
	found, ok, err := storage.Find(l.Segments, offset)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", l.Partition, err))
	}
	if !ok {
		return Location{}, false
	}
	at = Location{Segment: l.Segments[found.Segment], Batch: found.Scanned[len(found.Scanned)-1], Position: found.Lookup.Position}
	scanner := at.Batch.Scan()
	for ; scanner.Next(); at.Index++ {
		if at.Record = scanner.Record(); at.Record.Offset == offset {
			return at, true
		}
	}
	if err := scanner.Err(); err != nil {
		panic(fmt.Sprintf("%s: %v", l.Partition, err))
	}
	return Location{}, false
}

// LocateBatch finds the batch among whose offsets an offset is, with the record of that offset, or else its first one;
// Index is -1 where it has none any more. Ok is false when there is no such batch.
func (l Log) LocateBatch(offset kafka.Offset) (at Location, ok bool) {
	if at, ok = l.Locate(offset); ok {
		return at, true
	}
	found, ok, err := storage.Find(l.Segments, offset)
	if err != nil || !ok {
		return Location{}, false
	}
	batch := found.Scanned[len(found.Scanned)-1]
	at = Location{Segment: l.Segments[found.Segment], Batch: batch, Position: found.Lookup.Position, Index: -1}
	if scanner := batch.Scan(); scanner.Next() {
		at.Record, at.Index = scanner.Record(), 0
	}
	return at, batch.BaseOffset <= offset
}

// batches gives the batches of a segment.
func batches(s storage.Segment) []record.Batch {
	var list []record.Batch
	for data := s.Bytes; ; {
		b, err := record.Parse(data)
		if errors.Is(err, record.ErrEnd) {
			return list
		}
		if err != nil {
			panic(fmt.Sprintf("segment %d: %v", s.BaseOffset, err))
		}
		list = append(list, b)
		data = data[b.Size():]
	}
}

// AppendEvent gives the Seq of the event with which the batch of that base offset came into the log last; 0: none.
func (l Log) AppendEvent(base kafka.Offset) uint64 {
	for e := range l.Cluster.Journal().Backward() {
		switch b := e.Body.(type) {
		case journal.BatchAppended:
			if b.TopicPartition == l.Partition && b.BaseOffset == base && (l.Broker == "" || l.Broker == e.Node) {
				return e.Seq
			}
		case journal.BatchReplicated:
			if b.TopicPartition == l.Partition && b.BaseOffset == base && l.Broker == e.Node {
				return e.Seq
			}
		}
	}
	return 0
}

// around gives the range of at most RowsShown rows out of n that holds row at.
func around(n, at int) (from, to int) {
	from = max(min(at-RowsShown/2, n-RowsShown), 0)
	return from, min(from+RowsShown, n)
}

// RowsLeft says which rows of a table are shown, where not all are.
func RowsLeft(from, to, n int, noun string) string {
	if to-from == n {
		return ""
	}
	return fmt.Sprintf("%s; %s to %s are shown.", kafka.Count(n, noun), kafka.Thousands(from+1), kafka.Thousands(to))
}

// Offsets writes a range of offsets: "17" or "17 to 19".
func Offsets(first, last kafka.Offset) string {
	if first == last {
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d to %d", first, last)
}

// Cells makes a table's row of plain texts.
func Cells(texts ...string) view.Row {
	var row view.Row
	for _, text := range texts {
		row.Items = append(row.Items, view.Plain(text))
	}
	return row
}
