package browsertest

import (
	"testing"
	"time"
)

func TestBackAndForward(t *testing.T) {
	t.Parallel()
	b := newTab(t, serveSlowly(t, func() time.Duration { return 30 * time.Millisecond }).url)
	b.open(explorer + "&t=3")
	b.click("#do-pause-c1")
	b.waitAddress(explorer + "&do=3:pause+c1&t=3")
	b.click("#step")
	b.click("#step")
	b.waitTick(5)
	b.click("#do-pause-c2")
	b.waitAddress(explorer + "&do=3:pause+c1&do=5:pause+c2&t=5")
	b.click("#step")
	b.waitTick(6)
	b.waitAddress(explorer + "&do=3:pause+c1&do=5:pause+c2&t=6")
	if n := b.entries(); n != 4 { // the empty page a tab begins with, the page opened, two commands
		t.Errorf("the history has %d entries, want 4", n)
	}

	one := func() { // the frame that was left: two steps after the first command
		t.Helper()
		b.waitAddress(explorer + "&do=3:pause+c1&t=5")
		b.waitTick(5)
		b.waitFor("document.querySelectorAll('.given li').length === 1")
	}
	none := func() {
		t.Helper()
		b.waitAddress(explorer + "&t=3")
		b.waitTick(3)
		b.waitFor("!document.querySelector('.given li')")
	}
	both := func() {
		t.Helper()
		b.waitAddress(explorer + "&do=3:pause+c1&do=5:pause+c2&t=6")
		b.waitTick(6)
		b.waitFor("document.querySelectorAll('.given li').length === 2")
	}
	b.back()
	one()
	b.back()
	none()
	b.forward()
	b.forward()
	both()
	b.back()
	b.back()
	none()
	b.forward()
	one()

	// Another page and back again.
	b.click("header nav a[href='/glossary']")
	b.waitFor("document.querySelector('h1').textContent === 'Glossary'")
	b.back()
	one()
	b.click("#step")
	b.waitTick(6)
}

// The address bar may lag behind steps, but an entry of the history never ends with an old address: Back
// leads to the tick that was last shown before the command.
func TestBackToTheLastStep(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(explorer + "&t=3")
	pause := b.pointOf("#do-pause-c1")
	step := b.pointOf("#step")
	b.clickAt(step)
	b.waitAddress(explorer + "&t=4")
	for range 3 {
		b.clickAt(step)
	}
	b.clickAt(pause)
	b.waitAddress(explorer + "&do=7:pause+c1&t=7")
	b.clickAt(step)
	b.waitTick(8)
	b.back()
	b.waitAddress(explorer + "&t=7")
	b.waitTick(7)
	b.waitFor("!document.querySelector('.given li')")
	b.forward()
	b.waitFor("document.querySelector('.given li')")
	b.waitFor(shownTick + " >= 7") // within 400 ms of a step its address may not be written yet
}

// To act in the past is to fork: later commands go, and a second control keeps them.
func TestFork(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(explorer + "&do=3:pause+c1&do=9:resume+c1&t=6")
	b.waitText("#actions .given .ahead", "resume c1")
	b.click("#keep summary")
	b.click("#step")
	b.waitTick(7)
	b.click("#back") // what was opened stays open
	b.waitTick(6)
	b.click("#do-pause-c2-keep")
	b.waitAddress(explorer + "&do=3:pause+c1&do=6:pause+c2&do=9:resume+c1&t=6")
	b.back()
	b.waitAddress(explorer + "&do=3:pause+c1&do=9:resume+c1&t=6")
	b.waitFor("document.querySelectorAll('.given li').length === 2")
	b.click("#do-pause-c2")
	b.waitAddress(explorer + "&do=3:pause+c1&do=6:pause+c2&t=6")
	b.click("#remove-0")
	b.waitAddress(explorer + "&do=6:pause+c2&t=6")
}

// An answer that is no frame becomes the page, and Back leads out of it.
func TestErrorPage(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(explorer + "&t=5")
	b.paste("#command-do", "5:fly p0")
	b.click("#command button")
	b.waitText("h1", "This address cannot be shown")
	b.waitText("main", "fly p0")
	b.waitFor("location.search.includes('fly')")
	b.back()
	b.waitTick(5)
	b.click("#step")
	b.waitTick(6)
	b.expect("400 (Bad Request)") // of the frame and of the page
}

func TestLooks(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.media("prefers-color-scheme", "light", "prefers-reduced-motion", "reduce")
	b.open(explorer + "&t=5")
	entries := b.entries()
	const background = "getComputedStyle(document.body).backgroundColor"
	light := eval[string](b, background)
	b.click("#look-dark")
	b.waitAddress(explorer + "&t=5&theme=dark")
	dark := eval[string](b, background)
	if dark == light {
		t.Errorf("light and dark both have the background %s", dark)
	}
	b.click("#step")
	b.waitAddress(explorer + "&t=6&theme=dark")
	if got := eval[string](b, background); got != dark {
		t.Errorf("after a step the background is %s, want %s", got, dark)
	}
	b.click("#look-light")
	b.waitAddress(explorer + "&t=6&theme=light")
	b.media("prefers-color-scheme", "dark", "prefers-reduced-motion", "reduce")
	if got := eval[string](b, background); got != light {
		t.Errorf("the address asks for light and the system for dark: the background is %s, want %s", got, light)
	}
	b.click("#look-system")
	b.waitAddress(explorer + "&t=6")
	if got := eval[string](b, background); got != dark {
		t.Errorf("the system asks for dark: the background is %s, want %s", got, dark)
	}
	size := eval[float64](b, "parseFloat(getComputedStyle(document.querySelector('h1')).fontSize)")
	b.click("#size-projector") // size and colours are chosen apart
	b.waitAddress(explorer + "&t=6&size=projector")
	if got := eval[float64](b, "parseFloat(getComputedStyle(document.querySelector('h1')).fontSize)"); got <= size {
		t.Errorf("for a projector the title has %g px, before %g", got, size)
	}
	b.click("#look-light")
	b.waitAddress(explorer + "&t=6&theme=light&size=projector")
	b.click("#size-normal")
	b.waitAddress(explorer + "&t=6&theme=light")
	if n := b.entries(); n != entries {
		t.Errorf("the history had %d entries and has %d after changing the look", entries, n)
	}
}
