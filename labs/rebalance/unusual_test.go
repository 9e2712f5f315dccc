package rebalance

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs/labtest"
)

// What the page says where something is down, stands still, is on its way, or hidden by a wait.
func TestReadingInUnusualStates(t *testing.T) {
	for _, c := range []struct {
		query       string
		says, lacks []string
	}{
		{ // the session ends within the wait, and others have the partitions at its end
			"protocol=consumer&do=4:pause+billing-02&do=4:wait+60s&t=8",
			[]string{"At the end of each tick no partition stood still for it. Ticks do not show what passes within a wait, here 1 min in all."}, []string{"went on reading"},
		},
		{
			"do=4:pause+billing-02&do=5:wait+10s&do=20:resume+billing-02&t=21",
			[]string{"5 ticks each.", "Ticks do not show what passes within a wait, here 10 s in all."}, []string{"2.5 s"},
		},
		{ // the answer to its SyncGroup waited for it while others took the partitions
			"do=2:start+billing-04&do=14:pause+billing-01&do=40:resume+billing-01&t=46",
			[]string{"Every partition is read. 6 partitions, read by 3 members."}, []string{"without an owner"},
		},
		{
			"do=2:start+billing-04&do=14:pause+billing-01&do=40:resume+billing-01&t=44",
			[]string{"Every partition is read.", "billing-01 and billing-02 have the same partitions, as they believe: orders-0, orders-1."}, nil,
		},
		{"do=2:start+billing-04&do=11:crash+billing-01&t=13", []string{"The join phase is over: generation 2. Nothing is heard of its leader, billing-01"}, []string{"All have joined", "divides the partitions"}},
		{"do=2:start+billing-04&do=12:cut+billing-01+b1&t=16", []string{"Nothing is heard of its leader, billing-01"}, []string{"are on their way"}},
		{"do=2:start+billing-04&do=12:drop-next+billing-01+b1&t=16", []string{"and the coordinator does not have the assignment."}, []string{"on its way to the coordinator"}},
		{"protocol=consumer&do=2:start+billing-04&do=6:kill+b1&t=9", []string{"No partition stood still for it.", "billing-01’s commit was not answered in tick 8: NETWORK_EXCEPTION: the coordinator can have taken it"}, []string{"Whoever has one reads it"}},
		{"do=5:pause+b1&t=12", []string{"send a heartbeat."}, []string{"learn of a rebalance"}},
		{"do=7:pause+billing-02&t=7", []string{"Its session would end in tick 14 (session.timeout.ms = 6,000), but a request of it is on its way, Heartbeat"}, []string{"Its session ends", "the session of"}},
		{"do=2:start+billing-04&do=11:cut+b1+billing-01&t=16", []string{"Its session ends in tick 22"}, []string{"is on its way, JoinGroup"}},
		{"static=on&poll-interval=4000&slow=1&slow-work=3900&poll-records=5&do=2:start+billing-04&t=18", []string{"billing-01 joins anew, and the group still counts it under its earlier member id."}, []string{"was started again", "in tick 26, unless"}},
		{"static=on&poll-interval=4000&slow=1&slow-work=5000&poll-records=1&t=30", []string{"billing-01 must have polled, or it sends no more heartbeats"}, []string{"or it leaves"}},
		{"members=1&poll-interval=4000&slow=1&slow-work=5000&poll-records=1&t=14", []string{"No other member is there now to take its partitions."}, []string{"go to others"}},
		{"do=4:shut-down+b1&t=6", []string{"b1 shuts down."}, []string{"If billing"}},
		{"do=4:kill+b1&do=6:start+b1&t=8", []string{"b1 is starting"}, []string{"b1 runs"}},
		{"do=4:pause+billing-02&do=8:pause+b1&t=12", []string{"billing-02 stands still, and the group has not noticed. Its session does not end while b1 stands still."}, []string{"ends in tick"}},
		{"do=4:crash+billing-02&do=8:start+billing-02&t=9", []string{"billing-02 was started again, and the group still counts its earlier process as a member. Its session ends in tick 14:"}, nil},
		{"static=on&do=4:crash+billing-02&do=8:start+billing-02&t=10", []string{"Its session ends in tick 12, unless it joins before:"}, nil},
		{"static=on&do=4:crash+billing-02&do=8:start+billing-02&t=11", []string{"Its session would end in tick 12"}, []string{"Its session ends"}},
		{"static=on&members=7&do=4:crash+billing-07&do=6:start+billing-07&t=14", []string{"billing-07 came back in tick 10. It has its group.instance.id, billing-07: it has no partitions, as before"}, []string{"its own again"}},
		{"do=2:start+billing-04&do=11:crash+billing-01&t=14", []string{"billing-01 is gone, and the group has not noticed."}, []string{"The coordinator keeps"}},
		// a rebalance that was forced is not for partitions that nobody knows of yet
		{"do=2:add-partitions+orders+to+9&do=5:rebalance+billing-02&t=12", []string{"It began because billing-02 joined again", "enforceRebalance was called."}, []string{"orders has 9"}},
		{"do=2:add-partitions+orders+to+9&do=5:rebalance+billing-01&t=12", []string{"the leader, billing-01, joined again: enforceRebalance was called."}, []string{"orders has 9", "no longer holds"}},
		{"topics=2&do=2:add-partitions+orders+to+9&do=4:add-partitions+payments+to+9&t=40", []string{"orders has 9 partitions since tick 4, and had 6; payments has 9 partitions since tick 6, and had 6."}, nil},
		// the gap of the rebalance before ends in the tick in which this one begins
		{"do=2:start+billing-04&do=9:pause+b1&do=30:resume+b1&t=60", []string{"The last rebalance: ticks 45 to 53.", "6 of 6 partitions stood still, for 36 ticks in all. Each for 6 ticks, 3 s."}, nil},
		{ // a static member that did not poll in time missed a rebalance
			"protocol=cooperative&static=on&commit=after-batch&poll-interval=4000&slow=1&slow-work=3000&poll-records=3&do=3:crash+billing-02&do=6:leave+billing-03&do=22:start+billing-02&t=40",
			[]string{"No owner reads", "billing-01 and billing-02 have the same partitions, as they believe: orders-1, orders-3, orders-5. What billing-01 reads until"}, []string{"Nobody reads", "no member any more"},
		},
		{"later=cooperative-sticky&assignor=range&t=10", []string{"If billing-04 joined now, it would end with INCONSISTENT_GROUP_PROTOCOL, and the group would go on as it is: "}, []string{"would not be through"}},
		{"do=2:start+billing-04&do=9:pause+b1&t=14", []string{"It waits for b1, which stands still."}, []string{"at the latest"}},
		{"static=on&do=6:crash+billing-02&do=9:start+billing-02&t=9", []string{"billing-02 was started again", "Its session ends in tick 18, unless it joins before:"}, []string{"billing-02 is gone"}},
		{ // a static member that has not joined again stays when the join phase ends
			"static=on&commit=after-batch&poll-interval=4000&slow=1&slow-work=3000&poll-records=1&do=8:start+billing-04&do=8:pause+billing-03&t=19",
			[]string{"Its session ends in tick 20 if the join phase, which ends in tick 20 at the latest, is not over before:"}, nil,
		},
		{ // billing-01 was removed, and reads on
			"protocol=cooperative&commit=after-batch&poll-interval=4000&slow=1&slow-work=9000&poll-records=3&t=27",
			[]string{"No owner reads 2 of 6 partitions now: 2 whose new owner has no position yet."}, []string{"Nobody reads"},
		},
		{"members=1&do=2:leave+billing-01&t=10", []string{"If billing-01 joined now, the 6 partitions that nobody reads would be read, all of them "}, []string{"would move"}},
	} {
		_, p := frame(t, c.query)
		labtest.CheckText(t, c.query, labtest.Reading(p), c.says, c.lacks)
	}
}

// Of a group that nobody coordinates, and of partitions that nobody leads, the inspector does not say that there is nothing.
func TestInspectorWithoutCoordinator(t *testing.T) {
	const down = "do=5:kill+b1&t=12&at="
	for query, want := range map[string]string{
		down + "group:billing":                            "State nobody can be asked",
		down + "node:billing-01":                          "The group nobody can be asked whether it is a member",
		down + "tick:9":                                   "Group no broker is known to coordinate the group",
		down + "partition:orders-0":                       "Committed nobody can be asked",
		down + "node:b1":                                  "State down",
		"do=10:add-partitions+orders+to+9&t=13&at=tick:5": "Not read 0 of 6 partitions",
		"do=4:pause+billing-02&do=8:pause+b1&t=30&at=group:billing":   "State nobody can be asked",
		"do=4:pause+billing-02&do=8:pause+b1&t=12&at=node:billing-02": "Session does not end while b1 stands still",
		"do=4:cut+b1+controller&do=5:wait+30s&t=10&at=group:billing":  "State nobody can be asked",
		"do=4:shut-down+b1&t=6&at=group:billing":                      "State nobody can be asked",
	} {
		l, _ := frame(t, query)
		in := l.inspectAt()
		text := ""
		for _, f := range in.Facts {
			text += f.Name + " " + f.Value + "\n"
		}
		for _, table := range in.Tables {
			text += table.More + "\n"
		}
		if !strings.Contains(text, want) {
			t.Errorf("%s: lacks %q:\n%s", query, want, text)
		}
		for _, words := range []string{"knows of no such group", "does not count", "high watermark 0", "it coordinates", "Group ,"} {
			if strings.Contains(text, words) {
				t.Errorf("%s: says %q:\n%s", query, words, text)
			}
		}
		if strings.Contains(query, down) && strings.Contains(text, "the members read") {
			t.Errorf("%s: the members read from a broker that is down", query)
		}
	}
}

// What a member of the group believes to have is its own on the page, whatever a process believes that is no member.
func TestMembersHaveWhatTheyBelieve(t *testing.T) {
	const seed, runs = 31, 120
	r, had := rand.New(rand.NewPCG(seed, 0)), 0
	for range runs {
		n := 12 + r.IntN(6)
		query := fmt.Sprintf("do=2:start+billing-04&do=%d:pause+billing-0%d&do=%d:resume+billing-0%d", n, 1+r.IntN(4), n+14+r.IntN(16), 1+r.IntN(4))
		query = fmt.Sprintf("protocol=%s&%s&t=%d", randomProtocols[r.IntN(len(randomProtocols))], query, n+15+r.IntN(30))
		l, _ := frame(t, query)
		for i := range l.group.Members {
			s := l.history.seats[i]
			if !s.alive || s.in == "" || s.in != s.id {
				continue
			}
			for _, a := range l.group.Members[i].Assignment {
				if had++; l.history.byName[a.TopicPartition].owner != i {
					t.Errorf("%s: %s has %s, and the page gives it to %d", query, s.node, a.TopicPartition, l.history.byName[a.TopicPartition].owner)
				}
			}
		}
	}
	if t.Logf("%d partitions of members", had); had < 300 {
		t.Error("too few")
	}
}

// Of a partition that the page calls read somebody believes that it has it, runs and reaches the broker; and where it says that
// nobody reads it, nobody does.
func TestReadAndUnreadAreTrue(t *testing.T) {
	const seed, runs = 41, 150
	r, read := rand.New(rand.NewPCG(seed, 0)), 0
	for range runs {
		query, tick := randomQuery(r), 0
		query = query[:strings.LastIndex(query, "&t=")]
		for range 3 {
			tick += 1 + r.IntN(12)
			query += fmt.Sprintf("&do=%d:%s", tick, []string{"pause+b1", "resume+b1", "kill+b1", "start+b1", "cut+billing-02+b1", "heal+billing-02+b1", "drop-next+b1+billing-01", "double-next+billing-01+b1", "wait+10s"}[r.IntN(9)])
		}
		l, p := frame(t, query+fmt.Sprintf("&t=%d", tick+r.IntN(30)))
		readers := map[kafka.TopicPartition]bool{}
		for i := range l.group.Members {
			m, s := &l.group.Members[i], l.history.seats[i]
			for _, a := range m.Assignment {
				if m.Alive && !m.Paused && !s.failed && a.Position >= 0 && l.history.reaches(s) && l.history.byName[a.TopicPartition].served {
					readers[a.TopicPartition] = true
				}
			}
		}
		nobody := strings.Contains(labtest.Reading(p), "Nobody reads")
		for _, track := range l.history.tracks {
			switch is := track.now(); {
			case !is.gap() && !readers[track.TopicPartition]:
				t.Errorf("%s: nobody reads %s", p.Address, track.TopicPartition)
			case is.gap() && nobody && readers[track.TopicPartition]:
				t.Errorf("%s: %s is read, and the page says: %s", p.Address, track.TopicPartition, standingText(is))
			case !is.gap():
				read++
			}
		}
	}
	if t.Logf("%d partitions read", read); read < 150 {
		t.Error("too few")
	}
}

var (
	sessionEnds  = regexp.MustCompile(`(billing-\d\d)[^.]*\. (?:It left[^.]*\. )?Its session ends in tick (\d+)`)
	sessionAnew  = regexp.MustCompile(`(billing-\d\d)[^.]*\. Its session would end in tick (\d+) .*begins the session anew`)
	unreadLater  = regexp.MustCompile(`the (\d+) partitions that nobody reads would be read, all of them ([0-9.]+) s later`)
	memberEndsAt = func(t *testing.T, query string, tick int) (gone []string) {
		a := labtest.Replay(t, Lab(), query[:strings.LastIndex(query, "&t=")]+fmt.Sprintf("&t=%d", tick))
		for e := range a.Cluster.Journal().Of(kafka.Tick(tick)) {
			if b, is := e.Body.(journal.MemberRemoved); is {
				gone = append(gone, b.Why)
			}
		}
		return gone
	}
)

// A session ends in the tick that the page says, and not in it where a request is on its way that begins it anew.
func TestSessionsEndWhenForetold(t *testing.T) {
	for query, ends := range map[string]bool{
		"do=4:crash+billing-02&t=10": true, "do=8:pause+billing-02&t=8": true, "do=2:start+billing-04&do=11:cut+b1+billing-01&t=16": true, "do=5:crash+billing-02&do=6:kill+b1&do=8:start+b1&t=36": true,
		"do=7:pause+billing-02&t=7": false, "do=7:crash+billing-03&t=7": false, "protocol=consumer&do=5:pause+billing-02&t=5": false,
	} {
		_, p := frame(t, query)
		found := sessionEnds.FindStringSubmatch(labtest.Reading(p))
		if !ends {
			found = sessionAnew.FindStringSubmatch(labtest.Reading(p))
		}
		if found == nil {
			t.Errorf("%s: nothing is foretold:\n%s", query, labtest.Reading(p))
			continue
		}
		if gone := memberEndsAt(t, query, atoi(found[2])); (len(gone) > 0) != ends {
			t.Errorf("%s: in tick %s the group loses %v", query, found[2], gone)
		}
	}
}

// What nobody reads is read when the page says that it would be.
func TestUnreadIsReadWhenForetold(t *testing.T) {
	for _, query := range []string{"members=1&do=2:leave+billing-01&t=10", "do=4:crash+billing-01&do=4:crash+billing-02&do=4:crash+billing-03&t=30"} {
		l, p := frame(t, query)
		found := unreadLater.FindStringSubmatch(labtest.Reading(p))
		if found == nil {
			t.Errorf("%s: nothing is foretold:\n%s", query, labtest.Reading(p))
			continue
		}
		var seconds float64
		fmt.Sscan(found[2], &seconds)
		at := l.Address.T + int(seconds*1000)/tickMillis
		for tick, all := range map[int]bool{at - 1: false, at: true} {
			_, fork := frame(t, fmt.Sprintf("%s&do=%d:start+billing-01&t=%d", query[:strings.LastIndex(query, "&t=")], l.Address.T, tick))
			if text := labtest.Reading(fork); strings.Contains(text, "Every partition is read.") != all {
				t.Errorf("%s: tick %d of the fork:\n%s", query, tick, text)
			}
		}
	}
}

// A member that the page says would be refused is, where its link leads, and the group has not changed.
func TestRefusedJoinComesTrue(t *testing.T) {
	const query = "later=cooperative-sticky&assignor=range&t=10"
	_, p := frame(t, query)
	for _, paragraph := range p.Reading {
		if !strings.HasPrefix(paragraph[0].Text, "If billing-04 joined now") {
			continue
		}
		l, fork := frame(t, strings.TrimPrefix(paragraph[2].Href, "/lab/rebalance?"))
		if text := labtest.Reading(fork); !strings.Contains(text, "billing-04 has ended with INCONSISTENT_GROUP_PROTOCOL.") || l.history.lastChange() != nil {
			t.Errorf("the link leads to\n%s", text)
		}
		return
	}
	t.Errorf("nothing is foretold:\n%s", labtest.Reading(p))
}
