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

// goneTold is how many members that the group will hear of no more are told of.
const goneTold = 3

// readGone tells of members of whom the coordinator hears nothing, though it counts them.
func (l *layout) readGone() (list []view.Paragraph) {
	if l.group.Held == nil || !l.history.broker.up {
		return nil
	}
	for k := range l.group.Held.Members {
		m := &l.group.Held.Members[k]
		if !l.silent(m) || len(list) == goneTold {
			continue
		}
		head := l.goneHead(m)
		has := ""
		if n := len(m.Assignment); n > 0 && l.history.now.state != group.CompletingRebalance { // in the sync phase it is that of the generation before
			has = fmt.Sprintf("The coordinator keeps %s for it meanwhile.", kafka.Count(n, "partition"))
			if n <= movesTold {
				has = fmt.Sprintf("The coordinator keeps %s for it meanwhile.", partitionsText(m.Assignment))
			}
		}
		if m.SessionEnds == 0 {
			list = append(list, say(head, "%s", has))
			continue
		}
		if l.history.broker.paused {
			list = append(list, say(head, "Its session does not end while %s stands still. %s", brokerNode, has))
			continue
		}
		at := l.tickAt(m.SessionEnds)
		if api := l.heard(m); api != "" {
			list = append(list, say(head, "Its session would end in tick %d (%s = %s), but a request of it is on its way, %s, which %s if it is taken. %s",
				at, l.sessionSetting(), kafka.Thousands(m.SessionTimeout), api, map[bool]string{false: "begins the session anew", true: "ends its membership"}[leaves(api)], has))
			continue
		}
		p := say(head, "Its session ends in tick %d%s: %s = %s. %s ", at, l.unless(m), l.sessionSetting(), kafka.Thousands(m.SessionTimeout), has)
		list = append(list, append(p, labs.TryIt(fmt.Sprintf("tick %d", at), l.Address.WithTick(at)), view.Span{Text: "."}))
	}
	return list
}

// unless is what comes before the end of a member's session as things stand, or can come before it; empty: nothing.
func (l *layout) unless(m *group.MemberView) string {
	held := l.group.Held
	switch s, runs := l.history.seats[l.history.holders[m.ID]], l.runs(m.ID); {
	case runs && m.InstanceID != "" && (s.id != m.ID || !s.alive):
		return ", unless it joins before"
	case runs && (s.beatless || m.Epoch == awayEpoch):
		return ", unless it polls before"
	}
	switch {
	case held.JoinEnds > 0 && !m.WaitsInJoin && held.JoinEnds <= m.SessionEnds:
		return fmt.Sprintf(" if the join phase, which ends in tick %d at the latest, is not over before", l.tickAt(held.JoinEnds))
	case held.SyncEnds > 0 && m.OwesSync && held.SyncEnds <= m.SessionEnds:
		return fmt.Sprintf(" if it is not removed before, in tick %d, as it has not sent SyncGroup", l.tickAt(held.SyncEnds))
	case !l.remote() && m.RebalanceTimeout < m.SessionTimeout:
		return ", unless a join phase ends before without it"
	}
	return ""
}

// runs says whether the process of the member behind an id runs, or another of that member does.
func (l *layout) runs(id kafka.MemberID) bool {
	i, ok := l.history.holders[id]
	return ok && i < len(l.group.Members) && l.group.Members[i].Alive
}

// heard names the request of a member that is on its way and counts as a sign of life, or ends its membership; empty: none.
func (l *layout) heard(m *group.MemberView) string {
	i, ok := l.history.holders[m.ID]
	if !ok {
		return ""
	}
	s := l.history.seats[i]
	other := s.id != m.ID && s.alive // what is on its way is of another process, which takes the place only of a static member
	if other && m.InstanceID == "" || s.cutTo || s.cutFrom {
		return ""
	}
	for _, u := range l.View.UnderWay {
		if joins := u.API == "JoinGroup" || u.API == "ConsumerGroupHeartbeat"; other && !joins {
			continue
		}
		if !u.Answer && u.From == s.node && (signs[u.API] || u.API == "OffsetCommit" && !l.remote()) {
			return u.API
		}
	}
	return ""
}

// signs are the requests that keep a member's session, or end it.
var signs = map[string]bool{"JoinGroup": true, "SyncGroup": true, "Heartbeat": true, "LeaveGroup": true, "ConsumerGroupHeartbeat": true}

// leaves says whether a request ends a membership. A ConsumerGroupHeartbeat can do that too.
func leaves(api string) bool { return api == "LeaveGroup" }

// goneHead says what has become of a member of whom the coordinator hears nothing.
func (l *layout) goneHead(m *group.MemberView) string {
	i := l.history.holders[m.ID]
	s := l.history.seats[i]
	switch {
	case m.Epoch == awayEpoch && m.State != "":
		return fmt.Sprintf("%s is away. It left with member epoch −2: its partitions wait for it. ", s.node)
	case s.alive && s.id != m.ID && !s.begun && !slices.Contains(s.ghosts, m.ID):
		return fmt.Sprintf("%s joins anew, and the group still counts it under its earlier member id. ", s.node)
	case slices.Contains(s.ghosts, m.ID) || s.alive && s.id != m.ID || !s.alive && l.runs(m.ID):
		return fmt.Sprintf("%s was started again, and the group still counts its earlier process as a member. ", s.node)
	case s.alive && s.paused:
		return fmt.Sprintf("%s stands still, and the group has not noticed. ", s.node)
	case s.alive && s.beatless:
		return fmt.Sprintf("%s sends no more heartbeats, as its application has not polled in time. ", s.node)
	case s.alive:
		return fmt.Sprintf("Nothing passes between %s and %s, and the group has not noticed. ", s.node, brokerNode)
	}
	return fmt.Sprintf("%s is gone, and the group has not noticed. ", s.node)
}

// readOutsiders tells of applications that have ended and of processes that have partitions and are no members.
func (l *layout) readOutsiders() (list []view.Paragraph) {
	for _, i := range l.present() {
		s := l.history.seats[i]
		switch {
		case s.failed:
			list = append(list, l.because(say(fmt.Sprintf("%s has ended with %s. ", s.node, s.error), "No retry mends that: poll throws it, and the application ends."), s.since))
		case s.alive && s.in == "" && s.owned > 0 && l.group.Held != nil:
			if head, text := s.outsider(); head != "" {
				list = append(list, say(head, "%s", text))
			}
		}
	}
	return list
}

// outsider says how a process that has partitions is no member; the head is empty where that is told already.
func (s *seat) outsider() (head, text string) {
	has := fmt.Sprintf("It has %s until its application polls, and gives %s up then.", kafka.Count(s.owned, "partition"), labs.Verb(s.owned, "it", "them"))
	switch {
	case s.leaving == closes:
		return fmt.Sprintf("%s has left and ends. ", s.node), "It commits nothing more."
	case s.leaving == overdue:
		return fmt.Sprintf("%s has left by itself. ", s.node), has + " What it commits until then is not taken."
	case s.leaving == answered:
		return fmt.Sprintf("%s is no member any more and knows it. ", s.node), has + " What it commits until then is not taken."
	case s.doing == joins:
		return "", ""
	case s.cutTo || s.cutFrom:
		return fmt.Sprintf("%s is no member any more and does not know it: nothing passes between it and %s. ", s.node, brokerNode), fmt.Sprintf("It has %s by its own belief.", kafka.Count(s.owned, "partition"))
	}
	return fmt.Sprintf("%s is no member any more and does not know it. ", s.node), fmt.Sprintf("It has %s by its own belief; what it commits for %s will be refused.", kafka.Count(s.owned, "partition"), labs.Verb(s.owned, "it", "them"))
}

// readLoops tells of applications that do not poll in time.
func (l *layout) readLoops() view.Paragraph {
	n := len(l.history.loops)
	if n == 0 {
		return nil
	}
	last := l.history.loops[n-1]
	times := 0
	for _, o := range l.history.loops {
		if o.member == last.member {
			times++
		}
	}
	head := fmt.Sprintf("%s has not polled in time, in tick %d. ", memberName(last.member), last.tick)
	if times > 1 {
		head = fmt.Sprintf("%s has not polled in time %s, last in tick %d. ", memberName(last.member), timesText(times), last.tick)
	}
	does := "the client left the group by itself. Its partitions go to others, who begin at what it had committed, unless it polls and joins anew before they are divided. It is given records again then, and the same may follow."
	if l.othersThan(last.member) == 0 {
		does = "the client left the group by itself. No other member is there now to take its partitions. When it polls and joins anew it is given records again, and the same may follow."
	}
	if last.static {
		does = "a static member sends no more heartbeats then"
		if l.remote() {
			does = "a static member says by member epoch −2 that it is away"
		}
		switch s, held := l.history.seats[last.member], l.held(last.member); {
		case held != nil && held.SessionEnds > 0 && !l.history.broker.paused && (s.beatless || held.Epoch == awayEpoch):
			does += fmt.Sprintf(", and is removed when its session ends, in tick %d, unless it polls before.", l.tickAt(held.SessionEnds))
		case s.beatless || s.in == "":
			does += ", and is removed when its session ends."
		default:
			does += ", and is removed when its session ends, unless it polls before."
		}
	}
	return l.because(say(head, "max.poll.interval.ms = %s: %s", kafka.Thousands(int64(l.Address.Values.Int("poll-interval"))), does), last.event)
}

// othersThan counts the other members of the group.
func (l *layout) othersThan(i int) (n int) {
	for j, s := range l.history.seats {
		if j != i && s.in != "" {
			n++
		}
	}
	return n
}

func timesText(n int) string {
	if n == 2 {
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// readRefused tells of the commits that were not taken, those of several members with the same error together.
func (l *layout) readRefused() (list []view.Paragraph) {
	var errors []string
	by := map[string][]*seat{}
	for _, s := range l.history.seats {
		if r := s.refused; r != nil {
			if by[r.error] == nil {
				errors = append(errors, r.error)
			}
			by[r.error] = append(by[r.error], s)
		}
	}
	for _, name := range errors {
		seats := by[name]
		r := seats[len(seats)-1].refused
		not := "not taken"
		if unanswered(r) {
			not = "not answered"
		}
		head := fmt.Sprintf("%s’s commit was %s in tick %d: ", seats[0].node, not, r.tick)
		if len(seats) > 1 {
			var names []string
			for _, s := range seats {
				names = append(names, string(s.node))
			}
			head = fmt.Sprintf("Commits of %s were %s, the last in tick %d: ", listed(names), not, r.tick)
		}
		after := fmt.Sprintf(": %s.", r.then)
		switch {
		case unanswered(r):
			after = fmt.Sprintf(": the coordinator can have taken it all the same; %s.", r.then)
		case slices.Contains(notMember, strings.TrimPrefix(r.error, "CommitFailedException: ")):
			after = ". Whoever gets the partitions from it begins at what was committed before: what was processed since is processed again."
		}
		list = append(list, view.Paragraph{{Text: head, Strong: true}, {Text: r.error, Href: l.Address.WithWhy(r.event).String(), Go: "replace"}, {Text: after}})
	}
	return list
}

// unanswered says whether a commit failed without an answer of the coordinator: it may have been taken. Written but not
// replicated in time is an answer after which that is not known either.
func unanswered(r *refusal) bool {
	return r.then != "it is not sent" && (r.error == "NETWORK_EXCEPTION" || r.error == "REQUEST_TIMED_OUT" || r.error == "TimeoutException")
}

// notMember are the errors of commits that come from no member of the current generation.
var notMember = []string{"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "FENCED_INSTANCE_ID", "the consumer is not part of an active group"}

// readTwice tells of partitions that a process goes on reading though another has them now.
func (l *layout) readTwice() view.Paragraph {
	for i := range l.group.Members {
		m, s := &l.group.Members[i], l.history.seats[i]
		if !m.Alive || m.Paused || s.failed {
			continue
		}
		var twice []kafka.TopicPartition
		other := 0
		for _, a := range m.Assignment {
			if t := l.history.byName[a.TopicPartition]; t != nil && t.owner >= 0 && t.owner != i && a.Position >= 0 {
				twice, other = append(twice, a.TopicPartition), t.owner
			}
		}
		if len(twice) > 0 {
			text := "What %s reads until it gives them up is processed twice."
			if s.in == "" {
				text = "%s is no member any more; what it reads until it gives them up is processed twice."
			}
			return say(fmt.Sprintf("%s and %s have the same partitions, as they believe: ", s.node, memberName(other)), "%s. "+text, partitionsText(twice), s.node)
		}
	}
	return nil
}

// settled says whether every member has what the last assignment gives it.
func (l *layout) settled() bool {
	if l.history.open() != nil || l.history.now.state != group.Stable {
		return false
	}
	given := map[int]int{}
	for _, i := range l.history.last {
		given[i]++
	}
	for i, s := range l.history.seats {
		if s.in != "" && (s.owned != given[i] || len(s.ghosts) > 0) {
			return false
		}
	}
	return true
}

// readIdle says who has nothing, and why.
func (l *layout) readIdle() view.Paragraph {
	var names []string
	first := -1
	for i, s := range l.history.seats {
		if s.phase().kind == idles && s.in != "" {
			if names = append(names, string(s.node)); first < 0 {
				first = i
			}
		}
	}
	if len(names) == 0 || !l.settled() {
		return nil
	}
	why := "the assignor gives it none"
	members, partitions := 0, 0
	for i, s := range l.history.seats {
		if s.in != "" && sharesTopic(l, i, first) {
			members++
		}
	}
	for _, name := range subscriptionOf(l.Address.Values, first) {
		partitions += l.partitionsOf(name)
	}
	switch most := l.mostPartitions(first); {
	case members > partitions:
		why = fmt.Sprintf("%s share %s, and a partition is never read by two members of a group", kafka.Count(members, "member"), kafka.Count(partitions, "partition"))
	case l.ranges() && members > most:
		why = fmt.Sprintf("%s divides topic by topic: no topic has more than %s, and the first members of %d get them in each", l.assignorName(), kafka.Count(most, "partition"), members)
	}
	return say(listed(names)+" "+labs.Verb(len(names), "is idle: ", "are idle: "), "%s.", why)
}

// sharesTopic says whether two members read a topic in common.
func sharesTopic(l *layout, i, j int) bool {
	for _, name := range subscriptionOf(l.Address.Values, i) {
		if slices.Contains(subscriptionOf(l.Address.Values, j), name) {
			return true
		}
	}
	return false
}

// mostPartitions is how many partitions the largest topic of a member has.
func (l *layout) mostPartitions(i int) (most int) {
	for _, name := range subscriptionOf(l.Address.Values, i) {
		most = max(most, l.partitionsOf(name))
	}
	return most
}

// assignorName is the assignor of the group's last assignment; empty: there is none.
func (l *layout) assignorName() string {
	if r := l.history.lastRound(); r != nil {
		return r.computed.Assignor
	}
	return ""
}

// ranges says whether the last assignment is by the range assignor, the client’s or the broker’s.
func (l *layout) ranges() bool {
	name := l.assignorName()
	return name == "range" || name == "server-range"
}

// readShares tells of uneven shares.
func (l *layout) readShares() view.Paragraph {
	if !l.settled() {
		return nil
	}
	least, most := -1, -1
	for i, s := range l.history.seats {
		if s.in == "" {
			continue
		}
		if least < 0 || s.owned < l.history.seats[least].owned {
			least = i
		}
		if most < 0 || s.owned > l.history.seats[most].owned {
			most = i
		}
	}
	if least < 0 || l.history.seats[most].owned-l.history.seats[least].owned < 2 {
		return nil
	}
	a, b := l.history.seats[most], l.history.seats[least]
	return say("The shares are uneven: ", "%s has %s and %s has %d. The reason: %s.", a.node, kafka.Count(a.owned, "partition"), b.node, b.owned, l.unevenText(most, least))
}

// unevenText says why one member has more than another.
func (l *layout) unevenText(most, least int) string {
	same := slices.Equal(subscriptionOf(l.Address.Values, most), subscriptionOf(l.Address.Values, least))
	switch {
	case l.ranges() && !same:
		return fmt.Sprintf("%s divides each topic by itself among those that subscribe to it, and %s and %s subscribe to different topics", l.assignorName(), memberName(most), memberName(least))
	case l.ranges():
		return fmt.Sprintf("%s divides each topic by itself, and what is left over goes to the first members, in every topic the same ones", l.assignorName())
	case !same:
		return fmt.Sprintf("%s and %s subscribe to different topics", memberName(most), memberName(least))
	}
	return "others subscribe to other topics, and " + l.assignorName() + " divides so"
}
