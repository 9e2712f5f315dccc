package labs

import (
	"testing"

	"loglab/content"
	"loglab/engine/journal"
	"loglab/labs/lesson"
)

// Every kind of event has a term in the glossary.
func TestEveryKindHasATerm(t *testing.T) {
	glossary, err := lesson.LoadGlossary(content.FS)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range journal.Kinds() {
		if _, ok := glossary.Term(termOfKind[kind]); !ok {
			t.Errorf("%s: the glossary has no term %q", kind, termOfKind[kind])
		}
	}
	if len(termOfKind) != len(journal.Kinds()) {
		t.Errorf("%d kinds have a term, %d exist", len(termOfKind), len(journal.Kinds()))
	}
}
