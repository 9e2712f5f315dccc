package segments

import (
	"fmt"

	"loglab/engine/command"
	"loglab/labs"
	"loglab/labs/view"
)

// clockAhead is by how much a button sets the producer’s clock ahead.
const clockAhead = 240 * 3_600_000

// actions adds the commands that make sense now.
func (l *layout) actions(p *view.Page) {
	add := func(id, text string, cmd command.Command, warn bool) {
		labs.AddAction(p, l.Address, id, text, cmd, warn)
	}
	labs.AddActionGroup(p, "Producer "+string(producer))
	l.producerActions(add)
	labs.AddActionGroup(p, "Broker "+string(server))
	l.brokerActions(add)
	if r, ok := l.away(); ok {
		labs.AddActionGroup(p, "Reader "+string(reader))
		switch {
		case !r.alive:
			add("do-start-reader", "The reader starts", startReader, false)
		case r.takesOrders:
			add("do-leave", "The reader leaves", command.Leave{Node: reader}, false)
		default: // it stands still, leaves already, or its application has ended
			add("do-crash-reader", "The reader’s process ends", command.Crash{Node: reader}, true)
		}
	}
	labs.AddActionGroup(p, "Time")
	labs.WaitActions(add, 60_000, 300_000, 3_600_000)
	p.Actions.Forms = append(l.forms(), p.Actions.Forms...)
}

// producerActions are the commands for the producer in its state.
func (l *layout) producerActions(add labs.Adder) {
	p := l.View.Producers[0]
	if !p.Alive || p.Paused {
		return
	}
	add("do-produce", "Produce A", command.Produce{Producer: p.ID, Key: keyName(0), Default: true}, false)
	add("do-tombstone", "Delete A", command.Produce{Producer: p.ID, Key: keyName(0), Tombstone: true}, false)
	if l.Address.Values.Int("rate") > 0 {
		if p.Sending {
			add("do-stop-sending", "Stop writing", command.StopSending{Producer: p.ID}, false)
		} else {
			add("do-start-sending", "Go on writing", command.StartSending{Producer: p.ID}, false)
		}
	}
	if p.Skew == 0 {
		add("do-skew", "Clock 10 days ahead", command.Skew{Node: p.ID, Skew: clockAhead}, true)
	} else {
		add("do-skew", "Clock right", command.Skew{Node: p.ID}, false)
	}
}

// brokerActions are the commands for the broker in its state.
func (l *layout) brokerActions(add labs.Adder) {
	if l.up() && !l.broker.Paused {
		add("do-check", "Check retention now", checkRetention, false)
		add("do-clean", "Run the cleaner now", runCleaner, false)
	}
	labs.BrokerActions(add, l.broker)
}

// forms are the commands with something to choose.
func (l *layout) forms() []view.Form {
	line := func(id, label, value, help string) view.Field {
		return view.Field{ID: id, Name: "do", Label: label, Kind: view.Line, Value: value, Help: help}
	}
	const quoted = "with spaces in double quotes"
	form := func(id, title, submit, text string, fields ...view.Field) view.Form {
		f := labs.CommandForm(l.Address, id, title, submit, fields...)
		f.Hidden = append(f.Hidden, view.Param{Name: "do", Value: text})
		return f
	}
	return []view.Form{
		form("produce", "A record of your own", "Produce", "produce p0 * *", line("produce-key", "Key", keyName(0), quoted), line("produce-value", "Value", "1", quoted)),
		form("tombstone", "Delete a key", "Delete", "tombstone p0 *", line("tombstone-key", "Key", keyName(0), quoted)),
		form("delete-records", "Delete records", "Delete", "delete-records "+partition.String()+" @*", view.Field{
			ID: "delete-offset", Name: "do", Label: "Below offset", Kind: view.Number, Value: fmt.Sprint(l.log.HighWatermark), Max: int(max(l.log.HighWatermark, 1)),
			Help: "the log begins there at once",
		}),
	}
}
