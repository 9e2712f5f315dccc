//go:build judge

package judge

import (
	"fmt"
	"path/filepath"
	"testing"

	"loglab/engine/record"
)

// How much TestCleaning and TestCleaningCompressed ask.
const (
	cleanRuns  = 600
	cleanSteps = 120
)

// Kafka's UnifiedLog with its LogCleanerManager and Cleaner, and ours, get the same batches and transaction markers,
// delete old segments and clean at the same times under the same settings. They give the same last stable offsets,
// log start offsets, ranges to clean and checkpoints, and after each of the latter two have the same files, byte for
// byte, those that wait to be removed included.
func TestCleaning(t *testing.T) {
	compareCleaning(t, func(run *cleanRun) {
		for step := range cleanSteps {
			asked := len(run.questions)
			if run.step(); run.failed {
				return
			}
			if step%10 == 9 || asked < len(run.questions) && changesFiles(run.questions[asked]) {
				run.files()
			}
		}
	}, 1, cleanRuns)
}

// changesFiles says that a question does more than append.
func changesFiles(question string) bool {
	for _, verb := range []string{"clean", "retain", "remove", "restart"} {
		if len(question) >= len(verb) && question[:len(verb)] == verb {
			return true
		}
	}
	return false
}

// With compression the bytes differ, but a cleaning leaves the same batches with the same records.
func TestCleaningCompressed(t *testing.T) {
	compareCleaning(t, func(run *cleanRun) {
		for range 60 {
			run.now += 7
			run.follow()
		}
		run.advance(run.log.LogEndOffset())
		run.clean()
		run.records()
	}, int(record.Zstd)+1, 200)
}

// compareCleaning makes runs and holds them against Kafka.
func compareCleaning(t *testing.T, do func(*cleanRun), codecs, count int) {
	rnd := draws(t)
	root := memoryDir(t)
	var runs []*cleanRun
	var scripts []*script
	for i := range count {
		run := newCleanRun(rnd.Split(fmt.Sprint("run ", i)), filepath.Join(root, fmt.Sprint(i), "orders-0"), codecs)
		do(run)
		runs = append(runs, run)
		scripts = append(scripts, &run.script)
	}
	compareScripts(t, "Cleaning", scripts)

	asked, done := 0, map[string]int{}
	for _, run := range runs {
		asked += len(run.questions)
		for what, times := range run.done {
			done[what] += times
		}
	}
	t.Logf("%d runs, %d questions: %v", count, asked, done)
}
