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

var nextBeat = regexp.MustCompile(`The next timer, in tick (\d+): ((?:billing-\d\d(?:, )?)+) sends? a heartbeat`)

// The heartbeats that the page foretells are sent in the tick that it says.
func TestForetoldHeartbeatsAreSent(t *testing.T) {
	const seed, runs = 17, 200
	r := rand.New(rand.NewPCG(seed, 0))
	told := 0
	for range runs {
		query := randomQuery(r)
		_, p := frame(t, query)
		found := nextBeat.FindStringSubmatch(labtest.Reading(p))
		if found == nil {
			continue
		}
		told++
		at := atoi(found[1])
		a := labtest.Replay(t, Lab(), query[:strings.LastIndex(query, "&t=")]+fmt.Sprintf("&t=%d", at))
		sent := map[kafka.NodeID]bool{}
		for e := range a.Cluster.Journal().Of(kafka.Tick(at)) {
			if m, is := e.Body.(journal.MessageSent); is && !m.Response && (m.API == "Heartbeat" || m.API == "ConsumerGroupHeartbeat") {
				sent[e.Node] = true
			}
		}
		for _, name := range strings.Split(found[2], ", ") {
			if !sent[kafka.NodeID(name)] {
				t.Errorf("%s: %s sends no heartbeat in tick %d", query, name, at)
			}
		}
	}
	if t.Logf("%d foretold", told); told < 60 {
		t.Error("too few")
	}
}
