//go:build judge

package judge

import (
	"fmt"
	"path/filepath"
	"testing"
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
	var scripts []*script
	for i := range replicaRuns {
		run := newReplicaRun(rnd.Split(fmt.Sprint("run ", i)), filepath.Join(root, fmt.Sprint(i), "orders-0"))
		for step := range replicaSteps {
			if run.step(); step%20 == 19 {
				run.compareFiles()
			}
		}
		runs = append(runs, run)
		scripts = append(scripts, &run.script)
	}
	compareScripts(t, "Log", scripts)

	done, refusals, duplicates := map[string]int{}, map[string]int{}, 0
	for _, run := range runs {
		for kind, count := range run.done {
			done[kind] += count
		}
		for code, count := range run.refusals {
			refusals[code] += count
		}
		duplicates += run.duplicates
	}
	t.Logf("%d runs of %v; refused %v, %d duplicates", replicaRuns, done, refusals, duplicates)
}
