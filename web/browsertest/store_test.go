package browsertest

import (
	"fmt"
	"strings"
	"testing"
)

// customers are 500 keys, a line each: too many for an address.
func customers() string {
	var lines []string
	for i := range 500 {
		lines = append(lines, fmt.Sprintf("customer-%d@example.com", i*7919))
	}
	return strings.Join(lines, "\n")
}

// choose puts a file into a field.
func (b *tab) chooseFile(selector, text string) {
	b.t.Helper()
	eval[bool](b, fmt.Sprintf(`(() => {
		const chosen = new DataTransfer()
		chosen.items.add(new File([%s], 'chosen.txt'))
		document.querySelector(%s).files = chosen.files
		return true
	})()`, quote(text), quote(selector)))
}

// 500 keys are pasted, stepped through, saved as a file and opened on another server, with JavaScript and
// without.
func TestFiveHundredOwnKeys(t *testing.T) {
	t.Parallel()
	for _, scripts := range []bool{true, false} {
		t.Run(fmt.Sprintf("scripts %v", scripts), func(t *testing.T) {
			t.Parallel()
			here, there := serve(t), serve(t)
			b := newTab(t, here.url)
			open := b.open
			if !scripts {
				b.withoutScripts()
				open = b.openPlain
			}
			open(explorer + "&partitions=6")
			b.paste("#set-own-keys", customers())
			b.click("#own-keys button")
			b.waitFor("location.search.startsWith('?v=1&from=')")
			b.waitText(".notice", "this server keeps a part of it")
			if got := eval[string](b, "document.querySelector('#set-own-keys').value"); got != customers() {
				t.Errorf("the field holds %.80q", got)
			}
			kept := b.address()
			b.click("#step")
			b.waitAddress(kept + "&t=1")
			b.click("#do-pause-p0")
			b.waitAddress(kept + "&do=1:pause+p0&t=1")
			if scripts {
				b.shot("own-keys-500")
			}

			file := get(t, here.url+eval[string](b, "document.querySelector('#save-file').getAttribute('href')"))
			other := newTab(t, there.url)
			if !scripts {
				other.withoutScripts()
			}
			other.openPlain(explorer)
			other.chooseFile("#open-file-file", file)
			other.click("#open-file button")
			other.waitFor("location.search.startsWith('?v=1&from=') && location.search.endsWith('&t=1')")
			other.waitText(".given", "pause p0")
			if got := get(t, there.url+"/file"+other.address()); got != file {
				t.Errorf("there the run is %.200q, here %.200q", got, file)
			}
			b.click("#made-keys")
			b.waitAddress(explorer + "&partitions=6&do=1:pause+p0&t=1") // and needs no server's store any more
		})
	}
}

// A file that has been chosen stays chosen while frames come, until its form is sent.
func TestAChosenFileStays(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(explorer)
	b.chooseFile("#own-keys-file", "lemon\nlime\n")
	b.click("#step")
	b.waitTick(1)
	b.click("#step")
	b.waitTick(2)
	b.click("#own-keys button")
	b.waitAddress(explorer + "&keys=lemon%0Alime&t=2")
}

// A link whose head is on another server says so and takes the file; one that is too long can be kept.
func TestLinksThatNeedAStore(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.openPlain(explorer + "&from=" + strings.Repeat("A", 43))
	b.expect("404 (Not Found)")
	b.waitText("h1", "not on this server")
	b.chooseFile("#open-file-file", "path=/lab/partitions\nkeys=lemon%0Alime\nt=3\n")
	b.click("#open-file button")
	b.waitAddress(explorer + "&keys=lemon%0Alime&t=3")

	b.openPlain(explorer + "&keys=" + strings.ReplaceAll(customers()[:4500], "\n", "%0A") + "&t=4")
	b.expect("414 (")
	b.waitText("h1", "too long")
	b.click("#keep-run button")
	b.waitFor("location.search.startsWith('?v=1&from=') && location.search.endsWith('&t=4')")
}
