package rebalance

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"loglab/engine/kafka"
)

// Where the history has the group, and whom it counts as a member, is what the coordinator has, also when members leave
// earlier processes behind and the broker ends and starts.
func TestGroupIsWhatCoordinatorHas(t *testing.T) {
	const seed, runs = 11, 250
	r := rand.New(rand.NewPCG(seed, 0))
	ghosts, none, again := 0, 0, 0
	for range runs {
		query := randomQuery(r)
		if r.IntN(2) == 0 {
			query = brokerFault(r, query)
		}
		l, _ := frame(t, query)
		h := l.history
		if l.group.Held == nil {
			if h.now.state != noCoordinator && h.now.state != "Empty" {
				t.Errorf("%s: the group is %s, and the coordinator has nothing", query, h.now.state)
			}
			if h.now.state == noCoordinator {
				none++
			}
			continue
		}
		if h.broker.before.state != "" {
			again++
		}
		number := int32(l.group.Held.Generation)
		if l.remote() {
			number = int32(l.group.Held.Epoch)
		}
		if h.now.state != l.group.Held.State || h.now.number != number && number > 0 {
			t.Errorf("%s: the group is %s %d, the coordinator has %s %d", query, h.now.state, h.now.number, l.group.Held.State, number)
		}
		counted := map[kafka.MemberID]bool{}
		for _, s := range h.seats {
			if s.in != "" {
				counted[s.in] = true
			}
			for _, id := range s.ghosts {
				counted[id] = true
				ghosts++
			}
		}
		for _, m := range l.group.Held.Members {
			if !counted[m.ID] {
				t.Errorf("%s: %s of %s is not counted", query, m.ID, m.Host)
			}
			delete(counted, m.ID)
		}
		if len(counted) > 0 {
			t.Errorf("%s: %v are counted and no members", query, counted)
		}
	}
	if t.Logf("%d ghosts, %d runs without a coordinator, %d with one again", ghosts, none, again); ghosts < 5 || none < 10 || again < 10 {
		t.Error("too little was compared")
	}
}

// brokerFault puts something that happens to the broker behind the commands of a query, and moves its tick on.
func brokerFault(r *rand.Rand, query string) string {
	at, before := 1, query[:strings.LastIndex(query, "&t=")]
	if i := strings.LastIndex(before, "do="); i >= 0 {
		at = atoi(before[i+len("do="):])
	}
	at += r.IntN(12)
	switch r.IntN(8) {
	case 0:
		return fmt.Sprintf("%s&do=%d:pause+b1&do=%d:resume+b1&t=%d", before, at, at+6, at+3+r.IntN(20))
	case 1:
		return fmt.Sprintf("%s&do=%d:cut+billing-01+b1&t=%d", before, at, at+3+r.IntN(20))
	case 2, 3, 4:
		return fmt.Sprintf("%s&do=%d:crash+billing-02&do=%d:start+billing-02&t=%d", before, at, at+2+r.IntN(8), at+9+r.IntN(20))
	case 5:
		return fmt.Sprintf("%s&do=%d:kill+b1&t=%d", before, at, at+r.IntN(20))
	}
	return fmt.Sprintf("%s&do=%d:kill+b1&do=%d:start+b1&t=%d", before, at, at+r.IntN(8), at+20+r.IntN(40))
}
