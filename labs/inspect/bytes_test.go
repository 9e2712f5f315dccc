package inspect

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"loglab/labs/view"
)

// Long fields are cut in the middle, and many fields at the end; both are said.
func TestAnatomyIsBounded(t *testing.T) {
	d := newDissector("x", "x")
	long := make([]byte, 500)
	for i := range long {
		long[i] = byte(i)
	}
	d.field(0, []byte{1, 2, 3}, view.ByteField{Name: "a"})
	d.field(3, long, view.ByteField{Name: "b"})
	for i := range 100 {
		d.field(503+i, []byte{7}, view.ByteField{Name: "c"})
	}
	a := d.done()
	digits, fields := "", map[int]string{}
	for _, line := range a.Lines {
		for _, part := range line.Parts {
			text := strings.ReplaceAll(part.Text, " ", "")
			if part.Gap {
				text = "…"
			}
			digits += text
			fields[part.Field] += text
		}
	}
	if len(a.Fields) != fieldsShown || a.More != fmt.Sprintf("%d fields more, not shown.", 102-fieldsShown) {
		t.Errorf("%d fields, %q", len(a.Fields), a.More)
	}
	if want := hex.EncodeToString(long[:fieldHead]) + "…" + hex.EncodeToString(long[500-fieldTail:]); fields[1] != want {
		t.Errorf("the long field is %s, want %s", fields[1], want)
	}
	if !strings.HasPrefix(digits, "010203"+"000102") || a.Fields[1].At != "3–502" || a.Lines[1].At != "0010" {
		t.Errorf("the bytes are %s, at %q; the second line begins at %s", digits, a.Fields[1].At, a.Lines[1].At)
	}
}
