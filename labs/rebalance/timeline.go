package rebalance

import (
	"fmt"
	"slices"
	"strings"

	"loglab/engine/group"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// ticksApart is how far the numbers on the axis stand from each other.
const ticksApart = 5

// timeline draws group, members and partitions over time.
func (l *layout) timeline() *view.Timeline {
	t := &view.Timeline{
		ID: "timeline", Label: fmt.Sprintf("Ticks %d to %d", l.first, l.first+columnsShown-1), First: l.first, Columns: columnsShown, Now: l.Address.T - l.first,
	}
	for tick := l.first; tick < l.first+columnsShown; tick += ticksApart {
		mark := view.TickMark{Column: tick - l.first, Text: fmt.Sprint(tick)}
		if tick <= l.Address.T {
			mark.At = labs.Target{Kind: labs.TickTarget, Number: int64(tick)}.String()
		}
		t.Ticks = append(t.Ticks, mark)
	}
	t.Shades = l.shades()
	t.Parts = []view.TimePart{
		{Title: "Group", Rows: []view.TimeRow{l.groupRow()}},
		{Title: "Members", Note: map[bool]string{false: "has", true: "has, epoch"}[l.remote()], Rows: l.memberRows()},
		{Title: "Partitions", Note: "stood still", Rows: l.partitionRows()},
	}
	if _, left := l.drawnMembers(); left > 0 {
		t.Parts[1].More = kafka.Count(left, "more member") + " not drawn"
	}
	if l.first > 0 {
		link := labs.Open(l.Address, "earlier", fmt.Sprintf("ticks before %d", l.first), labs.Target{Kind: labs.TickTarget, Number: int64(max(l.first-columnsShown/2, 0))})
		t.Before = &link
	}
	if l.first+columnsShown <= l.Address.T {
		link := labs.Open(l.Address, "later", fmt.Sprintf("to tick %d", l.Address.T), labs.Target{})
		t.After = &link
	}
	return t
}

// window gives the columns of a stretch; ok is false if it is out of sight.
func (l *layout) window(from, to kafka.Tick) (a, b int, ok bool) {
	a, b = max(int(from)-l.first, 0), min(int(to)-l.first, columnsShown)
	return a, b, a < b
}

// runs draws stretches by what each is.
func runs[T comparable](l *layout, list stretches[T], draw func(T, *view.Run)) (drawn []view.Run) {
	for _, s := range list {
		a, b, ok := l.window(s.From, s.To)
		if !ok {
			continue
		}
		r := view.Run{From: a, To: b}
		if draw(s.Is, &r); r.Kind != "" {
			drawn = append(drawn, r)
		}
	}
	return drawn
}

// shades draw the phases of the group behind all rows.
func (l *layout) shades() []view.Run {
	return runs(l, l.history.group, func(is groupPhase, r *view.Run) {
		switch is.state {
		case group.PreparingRebalance:
			r.Kind = "join"
		case group.CompletingRebalance:
			r.Kind = "sync"
		case group.Assigning, group.Reconciling:
			r.Kind = "reconcile"
		}
	})
}

// groupRow draws the group's states.
func (l *layout) groupRow() view.TimeRow {
	row := view.TimeRow{ID: "row-group", Name: billing, At: groupTarget().String()}
	row.Runs = runs(l, l.history.group, func(is groupPhase, r *view.Run) { r.Kind, r.Text = l.phaseWords(is) })
	row.Label = l.told(row.Runs, func(r view.Run) string {
		return strings.Replace(strings.Replace(r.Text, "gen ", "stable in generation ", 1), "reconcile ", "reconciles to epoch ", 1)
	})
	return row
}

// phaseWords gives the class and the words of a state of the group.
func (l *layout) phaseWords(is groupPhase) (kind, text string) {
	switch is.state {
	case group.Stable:
		if l.remote() {
			return "stable", fmt.Sprintf("epoch %d", is.number)
		}
		return "stable", fmt.Sprintf("gen %d", is.number)
	case group.Assigning:
		return "reconcile", "assign"
	case group.Reconciling:
		return "reconcile", fmt.Sprintf("reconcile %d", is.number)
	case group.PreparingRebalance:
		return "join", "join"
	case group.CompletingRebalance:
		return "sync", "sync"
	case group.Empty:
		return "empty", "empty"
	}
	return "gap", "no coordinator"
}

// told writes runs as words, with their ticks.
func (l *layout) told(list []view.Run, words func(view.Run) string) string {
	var parts []string
	for _, r := range list {
		from, to := l.first+r.From, l.first+r.To-1
		when := fmt.Sprintf("tick %d", from)
		if to > from {
			when = fmt.Sprintf("ticks %d to %d", from, to)
		}
		parts = append(parts, fmt.Sprintf("%s: %s", when, words(r)))
	}
	return strings.Join(parts, "; ")
}

// color is that of a member by its place; the second eight share the first's and have a pattern.
func color(i int) (number int, alt bool) { return i%8 + 1, i >= 8 }

// phaseTexts say what members do.
var phaseTexts = map[phaseKind]string{
	outside: "no member", joins: "join", gives: "revoke", awaits: "wait", syncs: "sync", idles: "idle", isDown: "down", isPaused: "paused", hasFailed: "failed",
}

// memberRows draws what the members do.
func (l *layout) memberRows() (rows []view.TimeRow) {
	list, _ := l.drawnMembers()
	for _, i := range list {
		s := l.history.seats[i]
		row := view.TimeRow{ID: "row-" + string(s.node), Name: string(s.node), At: nodeTarget(i).String()}
		row.Color, row.Alt = color(i)
		row.Runs = runs(l, s.states, func(is phase, r *view.Run) {
			if is.kind == notRunning {
				return
			}
			r.Kind, r.Text, r.Bars = string(is.kind), phaseTexts[is.kind], is.owned
			r.Color, r.Alt = row.Color, row.Alt
			if is.kind == reads {
				r.Text = fmt.Sprint(is.owned)
			}
		})
		row.Runs = append(row.Runs, l.ahead(i)...)
		row.Label = l.told(row.Runs, func(r view.Run) string {
			switch phaseKind(r.Kind) {
			case reads:
				return "has " + kafka.Count(r.Bars, "partition")
			case gives:
				return fmt.Sprintf("has %s and is to give up some", kafka.Count(r.Bars, "partition"))
			case awaits:
				return fmt.Sprintf("has %s and waits for what others have not given up", kafka.Count(r.Bars, "partition"))
			}
			return r.Text
		})
		row.Note = l.memberNote(i)
		rows = append(rows, row)
	}
	return rows
}

// ahead draws the time until the group notices that a member's process is gone.
func (l *layout) ahead(i int) []view.Run {
	held := l.held(i)
	if held == nil || held.SessionEnds == 0 || l.history.broker.paused || !l.silent(held) || l.heard(held) != "" {
		return nil
	}
	a, b, ok := l.window(l.tick()+1, kafka.Tick(l.tickAt(held.SessionEnds)))
	if !ok {
		return nil
	}
	return []view.Run{{From: a, To: b, Kind: "ahead", Text: "session"}}
}

// memberNote says what a member has now.
func (l *layout) memberNote(i int) string {
	epoch := ""
	if s := l.history.seats[i]; l.remote() && s.in != "" {
		epoch = fmt.Sprintf(" e%d", s.epoch)
	}
	switch is := l.history.seats[i].phase(); is.kind {
	case notRunning:
		return "off"
	case reads, joins, syncs, gives, awaits:
		return fmt.Sprint(is.owned) + epoch
	case idles:
		return "idle" + epoch
	case outside:
		return "out"
	default:
		return phaseTexts[is.kind]
	}
}

// drawn gives the tracks that are drawn.
func (l *layout) drawn() []*track {
	return l.history.tracks[l.from:min(l.from+l.size, len(l.history.tracks))]
}

// partitionRows draws who reads each partition.
func (l *layout) partitionRows() (rows []view.TimeRow) {
	tracks := l.drawn()
	thin := l.thin()
	unnamed := 0 // bars since the last row with a name
	for i := 0; i < len(tracks); {
		t, n := tracks[i], 1
		raw := l.trackRuns(t)
		row := view.TimeRow{ID: "row-" + t.TopicPartition.String(), Name: t.TopicPartition.String(), At: partitionTarget(t.TopicPartition).String(), Runs: slices.Clone(raw)}
		for thin && i+n < len(tracks) && tracks[i+n].Topic == t.Topic && slices.Equal(l.trackRuns(tracks[i+n]), raw) && tracks[i+n].standsStill() == t.standsStill() {
			n++
		}
		row.Label = l.told(row.Runs, runWords)
		drawnAs(row.Runs)
		still := t.standsStill()
		if row.Note = fmt.Sprint(still); still == 0 {
			row.Note = "–"
		}
		if thin {
			row.Height = n
			if n > 1 {
				row.Name = fmt.Sprintf("%s–%d", row.Name, tracks[i+n-1].Partition)
				for j := range row.Runs {
					row.Runs[j].Bars = n
				}
				row.Label = fmt.Sprintf("%s, each: %s", kafka.Count(n, "partition"), row.Label)
			}
			if i > 0 && n+unnamed < barsNamed {
				row.Name, row.Note = "", ""
			}
			if unnamed += n; row.Name != "" || n >= barsNamed {
				unnamed = 0
			}
		}
		rows = append(rows, row)
		i += n
	}
	return rows
}

// barsNamed is how many bars the name of a row takes.
const barsNamed = 3

// thin says whether partitions are bars: there are too many for a row of full height each.
func (l *layout) thin() bool { return len(l.drawn()) > partitionsEach }

// trackRuns draws a partition's stretches.
func (l *layout) trackRuns(t *track) []view.Run {
	lengths, states := t.gaps(), t.states
	if l.thin() { // such a gap is drawn as one
		states = nil
		for _, s := range t.states {
			if s.Is.kind == begins {
				s.Is = standing{unowned, -1}
			}
			states.add(s.From, s.To, s.Is, s.Since)
		}
	}
	return runs(l, states, func(is standing, r *view.Run) {
		if is.gap() { // the first part of a gap tells how long all of it is
			from := kafka.Tick(l.first + r.From)
			at := slices.IndexFunc(lengths, func(g stretch[standing]) bool { return g.From <= max(from, 1) && from < g.To })
			if at >= 0 && int(max(lengths[at].From, kafka.Tick(l.first))) == max(int(from), 1) {
				r.Text = fmt.Sprint(lengths[at].To - lengths[at].From)
			}
		}
		if r.Kind = string(is.kind); is.owner >= 0 {
			r.Color, r.Alt = color(is.owner)
		}
		if is.kind == read || is.kind == busy {
			r.Text = fmt.Sprintf("%02d", is.owner+1)
		}
	})
}

// drawnAs gives the runs of a partition the classes of what is drawn alike.
func drawnAs(list []view.Run) {
	for i := range list {
		switch standingKind(list[i].Kind) {
		case away:
			list[i].Kind = string(deserted)
		case unserved:
			list[i].Kind = string(stopped)
		}
	}
}

// now is how it stands with the partition at the end of the tick.
func (t *track) now() standing { return t.states[len(t.states)-1].Is }

// runWords says what a run of a partition is.
func runWords(r view.Run) string {
	switch standingKind(r.Kind) {
	case read:
		return "read by " + billing + "-" + r.Text
	case busy:
		return "its owner, " + billing + "-" + r.Text + ", is at one record"
	case unowned:
		return "nobody has it"
	case begins:
		return "its new owner has no position yet"
	case stopped:
		return "its owner stands still"
	case away:
		return "its owner is away and will be back"
	case unserved:
		return "its owner has nobody to read from"
	}
	return "its owner is gone, and the group has not noticed"
}

// standsStill is for how many ticks in all nobody has read the partition.
func (t *track) standsStill() (n int) {
	for _, gap := range t.gaps() {
		n += int(gap.To - gap.From)
	}
	return n
}

func nodeTarget(i int) labs.Target {
	return labs.Target{Kind: labs.NodeTarget, Node: kafka.NodeID(memberName(i))}
}

func groupTarget() labs.Target { return labs.Target{Kind: labs.GroupTarget, Node: billing} }

func partitionTarget(tp kafka.TopicPartition) labs.Target {
	return labs.Target{Kind: labs.PartitionTarget, Partition: tp}
}
