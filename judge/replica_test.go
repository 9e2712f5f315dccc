//go:build judge

package judge

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// How much TestReplica asks.
const (
	replicaRuns  = 200
	replicaSteps = 80
)

// Kafka's UnifiedLog and ours do the same: append as leader and as follower, with producers that send twice,
// too early or with an old epoch; truncate; are stopped cleanly or killed, with a piece of the last segment
// lost; and are loaded again. After each step they have the same offsets and know the same of the producers,
// and now and then the same bytes in every file.
func TestReplica(t *testing.T) {
	rnd := draws(t)
	root := memoryDir(t)
	var runs []*replicaRun
	var questions []string
	for i := range replicaRuns {
		run := newReplicaRun(rnd.Split(fmt.Sprint("run ", i)), filepath.Join(root, fmt.Sprint(i), "orders-0"))
		for step := range replicaSteps {
			if run.step(); step%20 == 19 {
				run.compareFiles()
			}
		}
		runs = append(runs, run)
		questions = append(questions, run.questions...)
	}
	theirs := answers(t, kafkaProgram(t, "Log"), questions)

	wrong := 0
	done, refusals, duplicates := map[string]int{}, map[string]int{}, 0
	for i, run := range runs {
		n := len(run.ours)
		if at := firstDifference(run.ours, theirs[:n]); at >= 0 {
			if wrong++; wrong <= mostShown {
				history := ""
				for j := max(1, at-12); j <= at; j++ {
					history += fmt.Sprintf("  %.150s → %.200s\n", run.questions[j], run.ours[j])
				}
				t.Errorf("seed %d, run %d, question %d in %s\n%s(-Kafka +ours):\n%s", *seed, i, at,
					run.questions[0], history, cmp.Diff(fields(theirs[at]), fields(run.ours[at])))
			}
		}
		theirs = theirs[n:]
		for kind, count := range run.done {
			done[kind] += count
		}
		for code, count := range run.refusals {
			refusals[code] += count
		}
		duplicates += run.duplicates
	}
	if wrong > 0 {
		t.Errorf("%d of %d runs disagree; a run ends with its first disagreement", wrong, replicaRuns)
	}
	t.Logf("%d runs of %v; refused %v, %d duplicates", replicaRuns, done, refusals, duplicates)
}
