//go:build judge

package judge

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/prng"
)

// mostShown is how many disagreements a test shows.
const mostShown = 5

// script is one drawn run: what Kafka is to be asked in it, and what we said.
type script struct {
	rnd       prng.Rand
	questions []string
	ours      []string
}

// ask notes a question and our answer.
func (s *script) ask(ours, question string, args ...any) {
	s.questions = append(s.questions, fmt.Sprintf(question, args...))
	s.ours = append(s.ours, ours)
}

// oneOf draws one of the values.
func (s *script) oneOf(values ...int) int { return values[s.rnd.IntN(len(values))] }

// compareScripts asks Kafka all that the scripts ask, and shows the first disagreement of each.
func compareScripts(t *testing.T, program string, scripts []*script) {
	t.Helper()
	var questions []string
	for _, s := range scripts {
		questions = append(questions, s.questions...)
	}
	theirs := answers(t, kafkaProgram(t, program), questions)
	wrong := 0
	for i, s := range scripts {
		n := len(s.ours)
		if at := firstDifference(s.ours, theirs[:n]); at >= 0 {
			if wrong++; wrong <= mostShown {
				history := ""
				for j := max(1, at-12); j <= at; j++ {
					history += fmt.Sprintf("  %.400s → %.200s\n", s.questions[j], s.ours[j])
				}
				t.Errorf("seed %d, run %d, question %d in %s\n%s(-Kafka +ours):\n%s", *seed, i, at,
					s.questions[0], history, cmp.Diff(fields(theirs[at]), fields(s.ours[at])))
			}
		}
		theirs = theirs[n:]
	}
	if wrong > 0 {
		t.Errorf("%d of %d runs disagree; a run ends with its first disagreement", wrong, len(scripts))
	}
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
