package files

import (
	"fmt"
	"math"

	"loglab/engine/kafka"
	"loglab/engine/storage"
	"loglab/labs/inspect"
	"loglab/labs/view"
)

// ShowLookup shows how a read finds an offset, or ListOffsets a time, in the sound part of the segments. Without a target
// it shows the forms alone. It reports false where the directory has no segment.
func (d Directory) ShowLookup(in *view.Inspector, s Shown, w Ways) bool {
	list := d.segments()
	if len(list) == 0 {
		return false
	}
	ends := kafka.NoOffset
	largest := kafka.NoTimestamp
	for _, segment := range list {
		ends, largest = max(ends, segment.LastOffset), max(largest, segment.LargestTimestamp)
		if segment.fault != nil {
			in.AddFact("At fault", "%s, %v", segment.log.Name, segment.fault)
		}
		segment.addUnused(in)
	}
	start := max(d.LogStartOffset, list[0].BaseOffset)
	offset, moment := s, s
	offset.Time, moment.Offset = kafka.NoTimestamp, kafka.NoOffset
	in.Forms = append(in.Forms,
		w.ask("find", "offset", "Offset", "Find offset", offset, int64(first(s.Offset, start)), math.MaxInt64),
		w.ask("find-when", "time", "Time, ms since 1970", "Find time", moment, int64(first(s.Time, max(largest, 0))), math.MaxInt64))
	search := d.search(list, start, w)
	switch {
	case s.Time >= 0:
		search.Time(in, s.Time)
	case s.Offset < 0:
	case ends < 0:
		in.AddFact("Answer", "no bytes: no batch can be read")
	case s.Offset < start:
		in.AddFact("Answer", "OFFSET_OUT_OF_RANGE: offset %d < log start offset %d", s.Offset, start)
	case s.Offset > ends:
		in.AddFact("Answer", "no bytes: the last offset that can be read is %d", ends)
	default:
		search.Offset(in, s.Offset)
	}
	return true
}

// first is the target, or what stands in the form without one.
func first[N ~int64](target, otherwise N) N {
	if target >= 0 {
		return target
	}
	return otherwise
}

// search is what is searched, with the ways to what is found.
func (d Directory) search(list []*segment, start kafka.Offset, w Ways) inspect.Search {
	bytesOf := func(s storage.Segment, at int) Shown {
		shown := NoTarget
		shown.View, shown.File, shown.Byte = Bytes, logName(s.BaseOffset), at
		return shown
	}
	return inspect.Search{
		Name: d.Name, Segments: sound(list), LogStartOffset: start,
		Batch: func(text string, b inspect.Found) view.Item {
			return w.item(fmt.Sprintf("scan-%d", b.Position), text, "Bytes of the batch of offsets "+text, bytesOf(b.Segment, b.Position))[0]
		},
		Segment: func(text string, s storage.Segment) view.Item {
			shown := NoTarget
			shown.Segment = s.BaseOffset
			return w.item(fmt.Sprintf("segment-%d", s.BaseOffset), text, "Batches of segment "+text, shown)[0]
		},
		Links: func(offset kafka.Offset, s storage.Segment) []view.Link {
			found, ok, err := storage.Find([]storage.Segment{s}, offset)
			if err != nil || !ok {
				return nil
			}
			shown := NoTarget
			shown.Segment, shown.Batch = s.BaseOffset, found.Lookup.Position
			return []view.Link{w.link("found-bytes", "the bytes of the batch found", "", bytesOf(s, found.Lookup.Position)), w.link("found-records", "its records", "", shown)}
		},
	}
}
