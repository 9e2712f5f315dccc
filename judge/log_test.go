//go:build judge

package judge

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"loglab/engine/storage"
)

// How much TestLog asks.
const (
	logRuns     = 400
	appendsARun = 60
)

// Kafka's UnifiedLog and ours get the same batches at the same times under the same settings. They give the
// same offsets or refuse with the same error, answer the same lookups and reads, and end with the same
// bytes in .log, .index, .timeindex and leader-epoch-checkpoint.
func TestLog(t *testing.T) {
	rnd := draws(t)
	root := memoryDir(t)
	var runs []*logRun
	var scripts []*script
	for i := range logRuns {
		run := newLogRun(rnd.Split(fmt.Sprint("run ", i)), filepath.Join(root, fmt.Sprint(i), "orders-0"))
		for range appendsARun {
			run.step()
		}
		run.compareFiles()
		runs = append(runs, run)
		scripts = append(scripts, &run.script)
	}
	compareScripts(t, "Log", scripts)
	t.Log(countsOf(runs))
}

// countsOf says how much of each kind the runs have met.
func countsOf(runs []*logRun) string {
	var appends, lookups, reads, segments, indexEntries, timeEntries int
	refusals, rolls := map[string]int{}, map[storage.RollReason]int{}
	for _, run := range runs {
		for i, question := range run.questions {
			verb, _, _ := strings.Cut(question, " ")
			switch verb {
			case "append":
				appends++
				if !strings.Contains(run.ours[i], " ") {
					refusals[run.ours[i]]++
				}
			case "time":
				lookups++
			case "read":
				reads++
			}
		}
		for _, s := range run.log.Segments() {
			segments++
			indexEntries += len(s.OffsetEntries())
			timeEntries += len(s.TimeEntries())
		}
		for _, reason := range run.rolls {
			rolls[reason]++
		}
	}
	return fmt.Sprintf("%d runs, %d appends, refused %v, %d segments, rolled by %v, %d index and %d time index entries, %d lookups by time, %d reads",
		len(runs), appends, refusals, segments, rolls, indexEntries, timeEntries, lookups, reads)
}
