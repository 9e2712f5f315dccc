package inspect

import (
	"fmt"
	"strings"

	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// New gives an inspector of what the address points at, still empty; nil when it points at nothing.
func New(a labs.Address) *view.Inspector {
	if a.At.Kind == "" {
		return nil
	}
	return &view.Inspector{Title: titleOf(a.At), Close: labs.CloseInspector(a)}
}

// titleOf is a target as a title.
func titleOf(at labs.Target) string {
	if at.Kind == labs.FindTarget {
		return fmt.Sprintf("Find offset %d in %s%s", at.Number, at.Partition, on(at))
	}
	node := at.Node
	if !isNode(at) {
		at.Node = ""
	}
	title := strings.ReplaceAll(at.String(), ":", " ")
	at.Node = node
	return strings.ToUpper(title[:1]) + title[1:] + on(at)
}

// isNode says whether a target is a node or a group, and so no part of a log.
func isNode(at labs.Target) bool { return at.Kind == labs.NodeTarget || at.Kind == labs.GroupTarget }

// on says whose log a target is in, where it says so itself.
func on(at labs.Target) string {
	if at.Node == "" || isNode(at) {
		return ""
	}
	return " on " + string(at.Node)
}

// NotThere says that there is nothing of what the address points at.
func NotThere(in *view.Inspector, a labs.Address) {
	what := strings.ReplaceAll(a.At.String(), ":", " ")
	if a.At.Kind == labs.FindTarget {
		what = "partition " + a.At.Partition.String()
	}
	in.Facts = []view.Fact{{Name: "Not there", Value: fmt.Sprintf("At tick %d there is no %s.", a.T, what)}}
}

// Show shows what a target of the log names, a record by the function given; ok is false if it is not there.
func (l Log) Show(in *view.Inspector, at labs.Target, record func(Location)) (ok bool) {
	switch at.Kind {
	case labs.FindTarget:
		l.Find(in, kafka.Offset(at.Number))
		return true
	case labs.SegmentTarget:
		for i, segment := range l.Segments {
			if segment.BaseOffset == kafka.Offset(at.Number) {
				l.Segment(in, i)
				return true
			}
		}
		return false
	}
	found, ok := l.Locate(kafka.Offset(at.Number))
	switch {
	case !ok:
	case at.Kind == labs.BatchTarget:
		l.Batch(in, found)
	default:
		record(found)
	}
	return ok
}
