package rebalance

import (
	"fmt"
	"strings"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// How many events the log of a page lists, as on the other labs' pages.
const (
	eventsShown  = 20
	eventsBeside = 10
	eventsOfBoth = 4
)

// events lists what happened to the group last, newest first. That records were written, read and processed is left out:
// the timeline has it.
func (l *layout) events() (list view.Events) {
	most, left := eventsShown, 0
	open := l.opens()
	switch two := l.Beside != nil; {
	case open && two:
		most = eventsOfBoth
	case open || two:
		most = eventsBeside
	}
	for e := range l.Cluster.Journal().Backward() {
		if _, message := e.Body.(journal.MessageSent); message || !ofTheGroup(e.Body) {
			left++
			continue
		}
		if len(list.Lines) == most {
			left += int(e.Seq)
			break
		}
		line := labs.EventLine(l.Address, e)
		line.Text = l.named(line.Text)
		list.Lines = append(list.Lines, line)
	}
	if left > 0 {
		list.More = fmt.Sprintf("%s more, of messages and records among them; loglab run '%s' prints all.", kafka.Thousands(int64(left)), l.Address.Alone())
	}
	return list
}

// change says what the tick shown brought, for those who hear the page; empty where the page's own words do.
func (l *layout) change() string {
	if l.Address.T == 0 {
		return "" // all of the set-up belongs to tick 0
	}
	var parts []string
	joined, taken, revoked := 0, 0, 0
	for e := range l.Cluster.Journal().Of(l.tick()) {
		switch b := e.Body.(type) {
		case journal.MemberJoined:
			joined++
		case journal.PartitionsTaken:
			taken += len(b.Added)
		case journal.PartitionsRevoked:
			revoked += len(b.Partitions)
		case journal.PartitionsLost:
			revoked += len(b.Partitions)
		case journal.RebalanceStarted:
			parts = append(parts, "a rebalance begins: "+l.named(b.Why))
		case journal.JoinPhaseEnded:
			parts = append(parts, fmt.Sprintf("the join phase is over, generation %d", b.Generation))
		case journal.AssignmentComputed:
			parts = append(parts, fmt.Sprintf("%s has divided the partitions by %s", e.Node, b.Assignor))
		case journal.GroupEpochBumped:
			parts = append(parts, fmt.Sprintf("group epoch %d: %s", b.Epoch, l.named(b.Why)))
		case journal.TargetAssigned:
			parts = append(parts, fmt.Sprintf("the coordinator has divided the partitions by %s", b.Assignor))
		case journal.GroupStable:
			parts = append(parts, fmt.Sprintf("the group is stable in generation %d", b.Generation))
		case journal.GroupEmpty:
			parts = append(parts, "the group is empty")
		case journal.MemberRemoved:
			if !b.Pending {
				parts = append(parts, l.nameOf(b.Member)+" is no member any more")
			}
		case journal.ConsumerCrashed, journal.ProcessKilled:
			parts = append(parts, fmt.Sprintf("%s crashed", e.Node))
		case journal.PollIntervalExceeded:
			parts = append(parts, fmt.Sprintf("%s has not polled in time", e.Node))
		case journal.CommitFailed:
			parts = append(parts, fmt.Sprintf("a commit of %s failed: %s", e.Node, b.Error))
		case journal.ConsumerFailed:
			parts = append(parts, fmt.Sprintf("%s ended with %s", e.Node, b.Error))
		}
	}
	for _, count := range []struct {
		n    int
		verb string
	}{{revoked, "given up"}, {taken, "taken over"}} {
		if count.n > 0 {
			parts = append(parts, kafka.Count(count.n, "partition")+" "+count.verb)
		}
	}
	if joined > 0 {
		parts = append(parts, kafka.Count(joined, "member")+" joined")
	}
	if len(parts) == 0 {
		return ""
	}
	const most = 4
	if len(parts) > most {
		parts = append(parts[:most], fmt.Sprintf("%d changes more", len(parts)-most))
	}
	return fmt.Sprintf("Tick %d: %s.", l.Address.T, strings.Join(parts, "; "))
}
