package inspect

import (
	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/kafka"
	"loglab/engine/storage"
	"loglab/labs"
	"loglab/labs/view"
)

// Find shows how a read finds an offset: the segment, the index entry, the batches from there.
func (l Log) Find(in *view.Inspector, offset kafka.Offset) {
	in.Forms = append(in.Forms, l.wayForms(offset)...)
	start, end := l.LogStartOffset, l.LogEndOffset
	switch {
	case offset < start:
		in.AddFact("Answer", "%s: offset %d < log start offset %d", kerr.OffsetOutOfRange.Message, offset, start)
		return
	case offset > end:
		in.AddFact("Answer", "%s: offset %d > log end offset %d", kerr.OffsetOutOfRange.Message, offset, end)
		return
	case offset == end:
		in.AddFact("Answer", "no bytes: %d is the log end offset, the record that gets it has not come yet", offset)
		return
	}
	l.search().Offset(in, offset)
}

// search is what is searched in a log, and how its batches and segments are opened.
func (l Log) search() Search {
	return Search{
		Name: l.Partition.String(), Segments: l.Segments, LogStartOffset: l.LogStartOffset, Clock: sinceStart,
		Batch: func(text string, b Found) view.Item {
			return view.Item{Text: text, At: l.Target(labs.BatchTarget, b.Batch.BaseOffset).String()}
		},
		Segment: func(text string, s storage.Segment) view.Item {
			return view.Item{Text: text, At: l.Target(labs.SegmentTarget, s.BaseOffset).String()}
		},
		Links: func(offset kafka.Offset, s storage.Segment) []view.Link {
			return []view.Link{l.open("open-batch", "the batch found", labs.BatchTarget, offset), l.open("open-segment", "the segment", labs.SegmentTarget, s.BaseOffset)}
		},
	}
}
