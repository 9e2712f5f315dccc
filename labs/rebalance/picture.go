package rebalance

import (
	"fmt"
	"strings"

	"loglab/engine/group"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// picture draws the states of the group, the timeline, and what the last change cost.
func (l *layout) picture() view.Picture {
	p := view.Picture{
		Title: fmt.Sprintf("Group %s, %s, %s, %s", billing, l.countedText(), kafka.Count(len(l.history.tracks), "partition"), l.method()),
		Path:  l.Address.Path(), Hidden: labs.HiddenParams(l.Address, "at", "why"),
		Machine: l.machine(), Timeline: l.timeline(), Legend: l.legend(), Pages: l.pages(),
	}
	p.LedgerTitle, p.Ledger = l.costs()
	p.Network = l.network()
	return p
}

// running is how many members' processes run.
func (l *layout) running() (n int) {
	for _, s := range l.history.seats {
		if s.alive {
			n++
		}
	}
	return n
}

// countedText says how many members the coordinator counts.
func (l *layout) countedText() string {
	if l.history.now.state == noCoordinator {
		return "no coordinator"
	}
	n := 0
	for _, s := range l.history.seats {
		if n += len(s.ghosts); s.in != "" {
			n++
		}
	}
	return kafka.Count(n, "member")
}

// method names protocol and assignor.
func (l *layout) method() string {
	v := l.Address.Values
	if v.Text("later") != same {
		return l.methodNow()
	}
	if name := v.Text("assignor"); name != byDefault {
		return v.Text("protocol") + ", " + name
	}
	usual := protocolOf(v).usual
	switch len(usual) {
	case 0:
		return v.Text("protocol") + " (uniform)"
	case 1:
		return v.Text("protocol") + ", " + usual[0]
	}
	return fmt.Sprintf("%s (%s)", v.Text("protocol"), strings.Join(usual, ", "))
}

// methodNow names what a group of members with different lists uses at present.
func (l *layout) methodNow() string {
	way := cooperative
	for _, m := range l.View.Groups[0].Members {
		if m.Alive && !m.Cooperative {
			way = eager
		}
	}
	return way + ", " + orNone(l.View.Groups[0].Assignor)
}

// pages lead to the partitions that are not drawn.
func (l *layout) pages() []view.Link {
	return labs.StripPages(l.Address, len(l.history.tracks), l.size, l.from, func(i kafka.Partition) labs.Target {
		return partitionTarget(l.history.tracks[i].TopicPartition)
	})
}

// legend explains the signs of the timeline.
func (l *layout) legend() []view.Key {
	list := []view.Key{
		{Kind: "bar-read", Text: "read, by the member of that number"},
		{Kind: "bar-nobody", Text: "gap: nobody has the partition; ticks"},
		{Kind: "bar-begins", Text: "gap: its new owner has no position yet"},
		{Kind: "bar-down", Text: "gap: its owner is down, away or stands still, or has nobody to read from"},
	}
	if l.remote() {
		list = append(list, view.Key{Kind: "bar-reconcile", Text: "reconciling: each member comes to its target by itself"},
			view.Key{Kind: "bar-gives", Text: "revoke: told to give up, reads the rest on"}, view.Key{Kind: "bar-waits", Text: "wait: for what others have not given up"})
	} else {
		list = append(list, view.Key{Kind: "bar-join", Text: "join phase: the group waits for its members"}, view.Key{Kind: "bar-sync", Text: "sync phase: it waits for the leader’s assignment"})
	}
	if l.Address.Values.Int("slow") > 0 {
		list = append(list, view.Key{Kind: "bar-busy", Text: "its owner’s application is at one record, and does not poll"})
	}
	return list
}

// machine draws the states of the group.
func (l *layout) machine() *view.Machine {
	m := &view.Machine{Title: "State of the group"}
	texts := map[group.State]string{
		group.Empty: "no members", group.PreparingRebalance: "join: all join anew", group.CompletingRebalance: "sync: the leader divides", group.Stable: "all have their share",
		group.Assigning: "the target is out of date", group.Reconciling: "members come to the target",
	}
	states := []group.State{group.Empty, group.PreparingRebalance, group.CompletingRebalance, group.Stable}
	if l.remote() {
		states = []group.State{group.Empty, group.Assigning, group.Reconciling, group.Stable}
	}
	for _, state := range states {
		m.States = append(m.States, view.MachineState{Name: string(state), Text: texts[state], Now: l.group.State == state || l.group.Held == nil && l.history.now.state == state})
	}
	if l.history.now.state == noCoordinator {
		m.Facts = []view.Fact{{Name: "Coordinator", Value: "no coordinator"}}
		return m
	}
	if l.remote() {
		if held := l.group.Held; held != nil {
			m.Facts = []view.Fact{{Name: "Group epoch", Value: fmt.Sprint(held.Epoch)}, {Name: "Assignment epoch", Value: fmt.Sprint(held.AssignmentEpoch)}, {Name: "Members", Value: fmt.Sprint(len(held.Members))}}
		}
		return m
	}
	m.Facts = append(m.Facts, view.Fact{Name: "Generation", Value: fmt.Sprint(l.history.now.number)})
	if held := l.group.Held; held != nil {
		m.Facts = append(m.Facts, view.Fact{Name: "Members", Value: fmt.Sprint(len(held.Members))})
		if held.Leader != "" {
			m.Facts = append(m.Facts, view.Fact{Name: "Leader", Value: l.processName(held.Leader)})
		}
		if held.State == group.PreparingRebalance {
			joined, pending := l.joinedText()
			m.Facts = append(m.Facts, view.Fact{Name: "Joined", Value: strings.TrimSuffix(joined, " joined") + pending})
		}
	}
	return m
}

// joinedText says how many have joined in a join phase, and how many ids are pending beside.
func (l *layout) joinedText() (joined, pending string) {
	n := 0
	for _, m := range l.group.Held.Members {
		if m.WaitsInJoin {
			n++
		}
	}
	if ids := len(l.group.Held.Pending); ids > 0 {
		pending = fmt.Sprintf(", %s pending", kafka.Count(ids, "id"))
	}
	return fmt.Sprintf("%d of %d joined", n, len(l.group.Held.Members)), pending
}

// costs are the numbers of the last change, and of the whole run.
func (l *layout) costs() (title string, list []view.Count) {
	c := l.history.lastChange()
	if c == nil {
		title = "No rebalance since tick 0"
		c = &change{to: -1}
	} else {
		title = fmt.Sprintf("The rebalance since tick %d", c.from)
		if c.to >= 0 {
			title = "The last rebalance, " + ticksWords(c.from, c.to)
		}
	}
	k := l.costOf(c)
	n := kafka.Count(l.partitionsIn(c), "partition")
	moved := view.Count{Name: "Moved", Number: fmt.Sprint(len(k.moved)), Text: fmt.Sprintf("of %s; the fewest that had to: %d", n, k.fewest)}
	if !c.divided() {
		moved.Number, moved.Text = "–", "of "+n
	}
	stood := view.Count{Name: "Stood still", Number: fmt.Sprint(k.stood), Text: "of " + n, Warn: k.stood > 0}
	if k.stood > 0 {
		stood.Text += fmt.Sprintf(", %s in all; the longest %s", kafka.Count(k.ticks, "tick"), l.lasting(k.longest, k.hidden))
	}
	waited := view.Count{Name: "Waited", Number: kafka.Thousands(int64(k.waited)), Text: labs.Verb(k.waited, "record", "records") + ", written to them meanwhile"}
	ticks, changes := 0, 0
	for _, t := range l.history.tracks {
		ticks += t.standsStill()
	}
	for _, c := range l.history.changes {
		if c.from > 0 {
			changes++
		}
	}
	whole := view.Count{Name: "Since tick 0", Number: kafka.Thousands(int64(ticks)), Text: fmt.Sprintf("ticks without a reader, over all partitions; %s", kafka.Count(changes, "rebalance"))}
	if l.history.waited(0, l.tick()) > 0 {
		whole.Text += "; waits are not counted"
	}
	return title, []view.Count{moved, stood, waited, whole}
}

// lasting writes a number of ticks as a time; where waits lie in them, which they do not count, as their number.
func (l *layout) lasting(ticks int, hidden kafka.Millis) string {
	if hidden > 0 {
		return kafka.Count(ticks, "tick") + ", waits not counted"
	}
	return l.seconds(ticks)
}

// seconds writes a number of ticks as a time.
func (l *layout) seconds(ticks int) string {
	ms := kafka.Millis(ticks) * l.Address.TickMillis()
	if ms%1000 == 0 {
		return fmt.Sprintf("%d s", ms/1000)
	}
	return fmt.Sprintf("%d.%d s", ms/1000, ms%1000/100)
}

// envelopesShown is how many messages of the group are drawn in one direction.
const envelopesShown = 4

// network draws the messages of the group that are on their way: requests to the coordinator and its answers.
func (l *layout) network() view.Network {
	n := view.Network{Title: "On their way between members and coordinator", Stops: []view.Stop{{Name: "Members", More: "members"}, {Name: "Coordinator", More: "coordinator"}}, Lanes: []view.Lane{{Name: "between members and coordinator", Empty: "nothing"}}}
	left := 0
	seen := map[bool]int{}
	for _, m := range l.View.UnderWay {
		if !groupAPIs[m.API] {
			continue
		}
		if seen[m.Answer] == envelopesShown {
			left++
			continue
		}
		seen[m.Answer]++
		n.Lanes[0].Items = append(n.Lanes[0].Items, l.Envelope(m))
	}
	if left > 0 {
		n.Lanes[0].More = fmt.Sprintf("%d more", left)
	}
	return n
}

// groupAPIs are the requests by which members and coordinator talk.
var groupAPIs = map[string]bool{
	"FindCoordinator": true, "JoinGroup": true, "SyncGroup": true, "Heartbeat": true, "LeaveGroup": true, "OffsetCommit": true, "OffsetFetch": true, "ConsumerGroupHeartbeat": true,
}
