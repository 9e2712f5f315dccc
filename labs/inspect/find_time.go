package inspect

import (
	"fmt"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// wayForms ask for the way to an offset, and in the log that clients are served from to the first record from a time on.
func (l Log) wayForms(offset kafka.Offset) []view.Form {
	if l.Broker != "" {
		return []view.Form{l.findForm(offset)}
	}
	return []view.Form{l.findForm(offset), l.timeForm()}
}

// timeForm asks for the way to the first record from a time on.
func (l Log) timeForm() view.Form {
	at := int64(l.View.Now)
	if l.Address.At.Kind == labs.TimeTarget {
		at = l.Address.At.Number
	}
	const most = 1 << 53
	return l.wayForm("find-time", fmt.Sprintf("%s:%s:", labs.TimeTarget, l.Partition), view.Field{Label: "Find ms into the run", Value: fmt.Sprint(at), Max: most})
}

// FindTime shows how ListOffsets finds the first record from a time on, in ms into the run.
func (l Log) FindTime(in *view.Inspector, at kafka.Millis) {
	in.Forms = append(in.Forms, l.wayForms(l.LogStartOffset)...)
	l.search().Time(in, engine.StartTime+kafka.Timestamp(at))
}
