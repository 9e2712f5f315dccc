package browsertest

import (
	"fmt"
	"path/filepath"
	"testing"
)

// A folder that was written opens from the disk, and everything works by links.
func TestExportedFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "crash")
	loglab(t, "export", "crash-before-commit", "--out", dir)
	b := newTab(t, "file://"+dir)
	b.withoutScripts()
	b.openPlain("/index.html")
	b.waitTick(0)
	if got := eval[string](b, "getComputedStyle(document.querySelector('.cell')).borderTopStyle"); got == "none" {
		t.Error("the stylesheet is not there")
	}
	b.click("#step")
	b.waitTick(1)
	b.click("#back")
	b.waitTick(0)
	for range 30 {
		if eval[bool](b, "!!document.querySelector('.choices a')") {
			break
		}
		at := eval[int](b, shownTick)
		b.click("#next-stop")
		b.waitFor(fmt.Sprintf("%s > %d", shownTick, at))
	}
	b.shot("export-question")
	b.click(".choices a")
	b.waitFor("document.querySelector('#ask').textContent.includes('What happened')")
	b.click(".ticks li:last-child a")
	b.waitTick(24)
	b.shot("export")
}
