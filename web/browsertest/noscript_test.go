package browsertest

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// Everything works by links and forms alone.
func TestWithoutJavaScript(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.withoutScripts()
	b.openPlain("/")
	b.click("main .cards a[href*=partitions]")
	b.waitTick(0)
	if eval[bool](b, "document.documentElement.classList.contains('js')") {
		t.Fatal("a script ran")
	}
	if eval[bool](b, "document.querySelector('#copy').checkVisibility()") {
		t.Error("the controls that need JavaScript are shown without it")
	}

	b.click("#share summary") // link and code are in fields, to be copied by hand
	if got, want := eval[string](b, "document.querySelector('#share-link').checkVisibility() && document.querySelector('#share-link').value"), b.site+explorer; got != want {
		t.Errorf("the link to copy is %q, want %q", got, want)
	}
	if got := eval[string](b, "document.querySelector('#share-embed').value"); !strings.Contains(got, ` src="`+b.site+"/embed"+explorer+`"`) {
		t.Errorf("the code to copy is %s", got)
	}

	b.click("#step")
	b.waitAddress(explorer + "&t=1")
	b.click("#step")
	b.waitTick(2)
	b.click("#back")
	b.waitTick(1)
	b.click("#play") // without a stream it leads to the horizon
	b.waitTick(20)

	// Go to a tick: the scrubber and its button.
	b.click("#jump-t")
	b.press(kb.Home)
	for range 5 {
		b.press(kb.ArrowRight)
	}
	b.click("#jump button")
	b.waitAddress(explorer + "&t=5")
	b.waitTick(5)

	b.click("#do-pause-c1")
	b.waitAddress(explorer + "&do=5:pause+c1&t=5")
	b.waitText(".given", "pause c1")

	b.paste("#command-do", "5:produce p0 lemon")
	b.click("#command button")
	b.waitAddress(explorer + "&do=5:pause+c1&do=5:produce+p0+lemon&t=5")
	b.waitText(".given", "produce p0 lemon")

	b.paste("#set-partitions", "3")
	b.press(kb.Enter)
	b.waitAddress(explorer + "&partitions=3&do=5:pause+c1&do=5:produce+p0+lemon&t=5")
	b.waitText("#picture-title", "3 partitions")

	b.click("#strip-orders-0 .cell[data-offset='0']")
	b.waitAddress(explorer + "&partitions=3&do=5:pause+c1&do=5:produce+p0+lemon&t=5&at=record:orders-0:0")
	b.waitText("#inspector-title", "Record orders-0 0")
	b.waitFor("document.querySelector('#inspector').getBoundingClientRect().top < innerHeight")
	b.click("#close")
	b.waitText("#inspector-title", "Inspector")

	b.click("#events .log li a")
	b.waitText("#inspector-title", "Why event ")
}

func TestOwnKeysWithoutJavaScript(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.withoutScripts()
	b.openPlain(explorer)
	b.paste("#set-own-keys", pasted)
	b.click("#own-keys button")
	b.waitAddress(ownKeysAddress) // the same as with JavaScript
	checkKeyTable(t, b, "murmur2", 4)
	if got := eval[string](b, "document.querySelector('#set-own-keys').value"); got != strings.Join(pastedKeys, "\n") {
		t.Errorf("the field holds %q, want %q", got, strings.Join(pastedKeys, "\n"))
	}
}

// A wrong entry gives a page that names it and leads back.
func TestErrorPageWithoutJavaScript(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.withoutScripts()
	b.openPlain(explorer)
	b.paste("#command-do", "0:fly p0")
	b.click("#command button")
	b.waitText("h1", "This address cannot be shown")
	b.waitText("main", "fly p0")
	b.expect("400 (Bad Request)")
	b.click("main .ways a")
	b.waitTick(0)
}
