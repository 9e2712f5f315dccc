package labs

import (
	"fmt"

	"loglab/engine/kafka"
	"loglab/labs/view"
)

// Shift adds to a strip the controls that move its window over a partition's log, from start to end: it shows the
// places from its First up to last. They open a record, and a window always shows what is open.
func Shift(a Address, s *view.Strip, tp kafka.TopicPartition, start, last, end kafka.Offset) {
	first, half := kafka.Offset(s.First), kafka.Offset(s.Columns/2)
	link := func(id, text string, to kafka.Offset) *view.Link {
		l := Open(a, id+tp.String(), text, Target{Kind: RecordTarget, Partition: tp, Number: int64(to)})
		l.Label = fmt.Sprintf("%s records of %s", text, tp)
		return &l
	}
	if first > start {
		s.Before = link("before-", fmt.Sprintf("%d earlier", first-start), max(start, first-half))
	}
	if last < end {
		s.After = link("after-", fmt.Sprintf("%d later", end-last), min(end-1, last+half))
	}
}

// StripPages links to the parts of the list of a topic's partitions, where only some are drawn, from first on. Each
// opens what target names of its first partition.
func StripPages(a Address, partitions, shown, first int, target func(kafka.Partition) Target) (list []view.Link) {
	for from := 0; partitions > shown && from < partitions; from += shown {
		link := Open(a, fmt.Sprintf("strips-%d", from), fmt.Sprintf("%d to %d", from, min(from+shown, partitions)-1), target(kafka.Partition(from)))
		link.Label = "Partitions " + link.Text
		link.Inactive = from == first
		list = append(list, link)
	}
	return list
}
