package inspect

import (
	"fmt"
	"slices"
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

// Parts shows what only a lab knows of; each says whether it is there. Record shows one that stands in a log.
type Parts struct {
	Node      func(in *view.Inspector, node kafka.NodeID) bool
	Group     func(in *view.Inspector, id string) bool
	Partition func(in *view.Inspector, tp kafka.TopicPartition) bool
	Tick      func(in *view.Inspector, tick int) bool       // nil: the lab shows none
	Named     func(in *view.Inspector, at labs.Target) bool // a file or a mark of a partition; nil: the lab shows none
	Record    func(in *view.Inspector, log Log, at Location)
}

// Open shows what the address points at in a lab of groups; nil when it points at nothing.
func (f Frame) Open(parts Parts) *view.Inspector {
	in, at := New(f.Address), f.Address.At
	if in == nil {
		return nil
	}
	ok := false
	switch at.Kind {
	case labs.MessageTarget:
		ok = f.Message(in, uint64(at.Number))
	case labs.NodeTarget:
		ok = parts.Node(in, at.Node)
	case labs.GroupTarget:
		ok = parts.Group(in, string(at.Node))
	case labs.PartitionTarget:
		ok = parts.Partition(in, at.Partition) || f.internalPartition(in, at.Partition)
	case labs.TickTarget:
		ok = parts.Tick != nil && parts.Tick(in, int(at.Number))
	case labs.FileTarget, labs.MarkTarget:
		ok = parts.Named != nil && at.Partition == kafka.TopicPartition{Topic: f.Topic} && parts.Named(in, at)
	case labs.RecordTarget, labs.BatchTarget, labs.SegmentTarget, labs.FindTarget, labs.TimeTarget:
		if log, found := f.LogOf(at.Partition); found && at.Node == "" {
			ok = log.Show(in, at, func(found Location) {
				switch at.Partition.Topic {
				case kafka.OffsetsTopic:
					log.groupRecord(in, found)
				case kafka.TransactionsTopic:
					log.transactionRecord(in, found)
				default:
					parts.Record(in, log, found)
				}
			})
		}
	}
	if !ok {
		NotThere(in, f.Address)
	}
	return in
}

// LogOf gives a partition's log: of the topics of the run, or one that coordinators write. Ok is false if it has no segment.
func (f Frame) LogOf(tp kafka.TopicPartition) (log Log, ok bool) {
	for _, p := range slices.Concat(f.View.Partitions, f.View.Offsets, f.View.TransactionStates) {
		if p.TopicPartition == tp {
			f.Topic = tp.Topic
			return Log{Frame: f, Partition: tp, LogView: p.Log}, len(p.Log.Segments) > 0
		}
	}
	return Log{}, false
}

// internalPartition shows a partition of a topic that only coordinators write.
func (f Frame) internalPartition(in *view.Inspector, tp kafka.TopicPartition) bool {
	log, ok := f.LogOf(tp)
	if !ok || !kafka.IsInternal(tp.Topic) {
		return false
	}
	in.Title = "The log of " + tp.String()
	in.AddFact("Log", "from %d, exclusive of its end %d", log.LogStartOffset, log.LogEndOffset)
	in.AddFact("High watermark", "%d: what lies below it is on every in-sync replica", log.HighWatermark)
	if tp.Topic == kafka.TransactionsTopic {
		in.Tables = append(in.Tables, log.transactionRecords())
	} else {
		in.Tables = append(in.Tables, log.GroupRecords())
	}
	return true
}

// titleOf is a target as a title.
func titleOf(at labs.Target) string {
	switch at.Kind {
	case labs.FindTarget:
		return fmt.Sprintf("Find offset %d in %s%s", at.Number, at.Partition, on(at))
	case labs.TimeTarget:
		return fmt.Sprintf("Find the first record from %s ms into the run on, in %s", kafka.Thousands(at.Number), at.Partition)
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
	if a.At.Kind == labs.FindTarget || a.At.Kind == labs.TimeTarget {
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
	case labs.TimeTarget:
		l.FindTime(in, kafka.Millis(at.Number))
		return true
	case labs.BatchTarget:
		found, ok := l.LocateBatch(kafka.Offset(at.Number))
		if ok {
			l.Batch(in, found)
		}
		return ok
	case labs.SegmentTarget:
		for i, segment := range l.Segments {
			if segment.BaseOffset == kafka.Offset(at.Number) {
				l.Segment(in, i)
				return true
			}
		}
		return false
	}
	if at.Kind != labs.RecordTarget {
		return false
	}
	found, ok := l.Locate(kafka.Offset(at.Number))
	if ok {
		record(found)
	}
	return ok
}
