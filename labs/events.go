package labs

import (
	"fmt"
	"strings"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs/view"
)

// How many events the log of a page lists: fewer beside an open inspector, and of two runs fewer of each.
const (
	shownEvents      = 20
	besideOthers     = 10
	besideBothOthers = 6
)

// events lists what happened last, newest first. Single messages and waiting fetches are left out: they
// stand in the causes of the others.
func events(f Frame) view.Events {
	j := f.Cluster.Journal()
	var list view.Events
	left, most := 0, shownEvents
	open := f.Address.Shown() != Target{} || f.Address.Why != 0 || f.Address.Vs.Why != 0
	switch two := f.Beside != nil; {
	case open && two:
		most = besideBothOthers
	case open || two:
		most = besideOthers
	}
	for e := range j.Backward() {
		if isTraffic(e.Body) {
			left++
			continue
		}
		if len(list.Lines) == most {
			left += int(e.Seq)
			break
		}
		list.Lines = append(list.Lines, EventLine(f.Address, e))
	}
	if left > 0 {
		list.More = fmt.Sprintf("%s more, messages and waiting fetches among them; loglab run '%s' prints all.", kafka.Thousands(left), f.Address.Alone())
	}
	return list
}

// isTraffic says whether an event is one of the many that only carry others, or fail to.
func isTraffic(b journal.Body) bool {
	switch b := b.(type) {
	case journal.MessageSent, journal.MessageDelivered, journal.FetchParked, journal.MetadataFetchParked:
		return true
	case journal.MessageLost:
		return !b.ByLink // a connection that was closed, or a process that is gone, is told of by its own event
	}
	return false
}

// isInternal says whether a partition is one of the cluster's own.
func isInternal(tp kafka.TopicPartition) bool { return strings.HasPrefix(tp.Topic, "__") }

// EventLine draws one event with the link to its causes.
func EventLine(a Address, e journal.Event) view.EventLine {
	line := view.EventLine{
		Seq: e.Seq, Tick: int(e.Tick), Node: string(e.Node), Text: e.Body.Sentence(), Fresh: e.Tick == a.tick(),
		Why: Replace(fmt.Sprintf("why-%d", e.Seq), "why?", a.WithWhy(e.Seq)),
	}
	line.Term = termOfKind[e.Body.Kind()]
	line.Why.Label = fmt.Sprintf("Why did event %d happen?", e.Seq)
	switch e.Body.(type) {
	case journal.CommandRejected, journal.ProduceRefused, journal.ProduceFailed, journal.FetchFailed,
		journal.BatchExpired, journal.ProducerMemoryLost, journal.LogTruncationDetected, journal.ConnectionLost, journal.RequestTimedOut,
		journal.RequestFailed, journal.ProcessKilled, journal.PowerLost, journal.DiskWiped, journal.BrokerFenced, journal.LeaderLost,
		journal.ProduceTimedOut, journal.RegistrationFailed, journal.CleaningFailed, journal.AlterPartitionRefused,
		journal.CoordinatorLost, journal.PartitionsLost, journal.MembershipLost, journal.PollIntervalExceeded, journal.ConsumerFailed, journal.ProcessingFailed,
		journal.CommitFailed, journal.ConsumerCrashed, journal.ResetRefused, journal.MemberRemoved, journal.GroupRequestRefused, journal.GroupAppendFailed, journal.CoordinatorNotFound, journal.OffsetsTopicRefused:
		line.Warn = true
	}
	switch b := e.Body.(type) {
	case journal.LeaderElected:
		line.Warn = !b.Clean
	case journal.LogTruncated:
		line.Warn = b.Records > 0
	}
	return line
}

// why shows the causes of the event that the address asks about.
func why(f Frame) *view.Inspector {
	a := f.Address
	in := &view.Inspector{Title: fmt.Sprintf("Why event %d happened", a.Why), Close: CloseInspector(a)}
	chain := f.Cluster.Journal().Causes(a.Why)
	if len(chain) == 0 {
		in.Facts = []view.Fact{{Name: "Not there", Value: fmt.Sprintf("At tick %d the journal has no event %d.", a.T, a.Why)}}
		return in
	}
	in.Chain = Causes(f, a.Why, 40)
	first := chain[len(chain)-1]
	end := "It began with a timer of " + string(first.Node) + "."
	if first.Node == journal.You {
		end = "It began with a command of yours."
	} else if first.Tick == 0 {
		end = "It began with the set-up before tick 0."
	}
	in.Facts = []view.Fact{{Name: "Chain", Value: fmt.Sprintf("%d events, the last first. %s", len(chain), end)}}
	return in
}

// Causes draws the chain of causes of an event, the event itself first. Of a chain with more than most
// events the middle is left out: a consumer that always finds data asks again because it was answered.
func Causes(f Frame, seq uint64, most int) []view.EventLine {
	var lines []view.EventLine
	chain := f.Cluster.Journal().Causes(seq)
	const last = 5
	for i, e := range chain {
		if left := len(chain) - most; left > 0 && i >= most-last && i < len(chain)-last {
			if i == most-last {
				lines = append(lines, view.EventLine{Seq: e.Seq, Tick: int(e.Tick), Node: "…", Text: fmt.Sprintf("and so on: %s more, down to those below", kafka.Count(left, "event"))})
			}
			continue
		}
		line := EventLine(f.Address, e)
		line.Why.ID = fmt.Sprintf("cause-%d", e.Seq) // the event log may hold the same event
		lines = append(lines, line)
	}
	return lines
}

// CloseInspector makes the control that selects nothing.
func CloseInspector(a Address) view.Link {
	return Replace("close", "Close", a.WithTarget(Target{}))
}

// changes says in a few words what the tick shown brought.
func changes(f Frame) string {
	j := f.Cluster.Journal()
	var written, read, rolled, commands int
	for e := range j.Of(f.Address.tick()) {
		switch b := e.Body.(type) {
		case journal.BatchAppended:
			if !isInternal(b.TopicPartition) {
				written += b.Records()
			}
		case journal.RecordsRead:
			read += b.Records
		case journal.SegmentRolled:
			rolled++
		case journal.CommandGiven:
			commands++
		}
	}
	var parts []string
	add := func(n int, noun, verb string) {
		if n > 0 {
			parts = append(parts, kafka.Count(n, noun)+" "+verb)
		}
	}
	add(commands, "command", "given")
	add(written, "record", "written")
	add(read, "record", "read")
	add(rolled, "segment", "begun")
	if len(parts) == 0 {
		return "nothing was written or read"
	}
	return strings.Join(parts, ", ")
}
