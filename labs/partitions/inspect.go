package partitions

import (
	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/inspect"
	"loglab/labs/view"
)

// inspectAt shows what the address points at; nil when it points at nothing.
func inspectAt(l *layout) *view.Inspector {
	in, at := inspect.New(l.Address), l.Address.At
	if in == nil {
		return nil
	}
	var ok bool
	switch at.Kind {
	case labs.MessageTarget:
		ok = inspectFrame(l.Frame).Message(in, uint64(at.Number))
	case labs.NodeTarget:
		ok = inspectNode(l.Frame, in, at.Node)
	case labs.RecordTarget, labs.BatchTarget, labs.SegmentTarget, labs.FindTarget, labs.TimeTarget:
		index := int(at.Partition.Partition)
		if at.Partition.Topic == topic && index < len(l.View.Partitions) && at.Node == "" {
			log := inspectLog(l.Frame, l.View.Partitions[index])
			ok = log.Show(in, at, func(found inspect.Location) { inspectRecord(l, log, in, found) })
		}
	}
	if !ok {
		inspect.NotThere(in, l.Address)
	}
	return in
}

// inspectFrame is the frame as the parts of the inspector take it that all labs share.
func inspectFrame(f labs.Frame) inspect.Frame {
	return inspect.Frame{Frame: f, Topic: topic, Group: group, Config: logConfig(f.Address.Values)}
}

func inspectLog(f labs.Frame, p engine.PartitionView) inspect.Log {
	return inspect.Log{Frame: inspectFrame(f), Partition: p.TopicPartition, LogView: p.Log}
}

// logTarget names a record, a batch, a segment or an offset to find in a partition's log.
func logTarget(kind labs.TargetKind, tp kafka.TopicPartition, offset kafka.Offset) labs.Target {
	return labs.Target{Kind: kind, Partition: tp, Number: int64(offset)}
}
