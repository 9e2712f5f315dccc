package browsertest

import (
	"testing"
	"time"
)

func TestBackAndForward(t *testing.T) {
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

// A step moves the entry that a command made; Back leads to before the command, at once.
func TestBackRightAfterStep(t *testing.T) {
	b := newTab(t, serve(t).url)
	b.open(explorer + "&t=3")
	b.click("#do-pause-c1")
	b.waitAddress(explorer + "&do=3:pause+c1&t=3")
	b.click("#step")
	b.waitTick(4)
	b.back()
	b.waitAddress(explorer + "&t=3")
	b.waitTick(3)
	b.waitFor("!document.querySelector('.given li')")
}

// To act in the past is to fork: later commands go, and a second control keeps them.
func TestFork(t *testing.T) {
	b := newTab(t, serve(t).url)
	b.open(explorer + "&do=3:pause+c1&do=9:resume+c1&t=6")
	b.waitText("#actions .given .ahead", "resume c1")
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
