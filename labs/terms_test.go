package labs

import (
	"io/fs"
	"testing"

	"loglab/content"
	"loglab/engine/journal"
)

// Every kind of event has a term in the glossary.
func TestEveryKindHasATerm(t *testing.T) {
	for _, kind := range journal.Kinds() {
		if _, err := fs.Stat(content.FS, "glossary/"+termOfKind[kind]+".md"); err != nil {
			t.Errorf("%s: the glossary has no term %q", kind, termOfKind[kind])
		}
	}
	if len(termOfKind) != len(journal.Kinds()) {
		t.Errorf("%d kinds have a term, %d exist", len(termOfKind), len(journal.Kinds()))
	}
}
