//go:build judge

package judge

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/storage"
)

// How much TestLog asks, and how many disagreements it shows.
const (
	logRuns     = 400
	appendsARun = 60
	mostShown   = 5
)

// Kafka's UnifiedLog and ours get the same batches at the same times under the same settings. They give the
// same offsets or refuse with the same error, answer the same lookups and reads, and end with the same
// bytes in .log, .index, .timeindex and leader-epoch-checkpoint.
func TestLog(t *testing.T) {
	rnd := draws(t)
	root := memoryDir(t)
	var runs []*logRun
	var questions []string
	for i := range logRuns {
		run := newLogRun(rnd.Split(fmt.Sprint("run ", i)), filepath.Join(root, fmt.Sprint(i), "orders-0"))
		for range appendsARun {
			run.step()
		}
		run.compareFiles()
		runs = append(runs, run)
		questions = append(questions, run.questions...)
	}
	theirs := answers(t, kafkaProgram(t, "Log"), questions)

	wrong := 0
	for i, run := range runs {
		n := len(run.ours)
		if at := firstDifference(run.ours, theirs[:n]); at >= 0 {
			if wrong++; wrong <= mostShown {
				t.Errorf("seed %d, run %d, question %d: %.400s\nin %s\n(-Kafka +ours):\n%s", *seed, i, at, run.questions[at],
					run.questions[0], cmp.Diff(fields(theirs[at]), fields(run.ours[at])))
			}
		}
		theirs = theirs[n:]
	}
	if wrong > 0 {
		t.Errorf("%d of %d runs disagree; a run ends with its first disagreement", wrong, logRuns)
	}
	t.Log(countsOf(runs))
}

// fields cuts an answer into what can be compared one by one.
func fields(answer string) []string {
	return strings.FieldsFunc(answer, func(r rune) bool { return r == ' ' || r == ':' || r == '/' })
}

// firstDifference is the first place where two lists of one length differ, or -1.
func firstDifference(a, b []string) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
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
