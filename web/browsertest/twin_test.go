package browsertest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// two is a run of which the twin's consumers need 20 ms for a record; they differ from tick 3 on.
const two = explorer + "&vs=work:20"

// twoAt is two at a tick.
func twoAt(tick int) string { return fmt.Sprintf("%s&t=%d&vs=work:20", explorer, tick) }

// marked lists the offsets marked in a strip.
func marked(b *tab, strip string) []string {
	b.t.Helper()
	return eval[[]string](b, fmt.Sprintf("[...document.querySelectorAll('#%s .cell.differs')].map(c => c.dataset.offset)", strip))
}

// checkIDs fails where an id is there twice.
func checkIDs(b *tab) {
	b.t.Helper()
	twice := eval[[]string](b, "[...document.querySelectorAll('[id]')].map(e => e.id).filter((id, i, all) => all.indexOf(id) !== i)")
	if len(twice) > 0 {
		b.t.Errorf("at %s ids are there twice: %q", b.address(), twice)
	}
}

// Two runs are stepped together, by buttons, keys and the scrubber, and both pictures follow.
func TestTwoRunsSideBySide(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(two)
	b.waitText("#picture-title", "work = 0")
	b.waitText("#vs-picture-title", "work = 20")
	b.waitText(".apart", "No difference up to tick 0.")
	for tick := 1; tick <= 14; tick++ {
		b.click("#step")
		b.waitTick(tick)
		b.waitText("#say", fmt.Sprintf("Tick %d", tick))
		if differ := b.count(".differ-mark") == 1; differ != (tick >= 3) {
			t.Errorf("at tick %d the first difference is marked: %v", tick, differ)
		}
	}
	b.waitAddress(twoAt(14))
	checkIDs(b)
	for strip, want := range map[string][]string{"strip-orders-0": {}, "strip-orders-1": {"4", "5", "6", "7", "8"}} {
		if got := marked(b, strip); !slices.Equal(got, want) {
			t.Errorf("%s: marked are %v, want %v", strip, got, want)
		}
		if got := marked(b, "vs-"+strip); !slices.Equal(got, want) {
			t.Errorf("%s of the twin: marked are %v, want %v", strip, got, want)
		}
	}
	b.waitText("#strip-orders-1", "c1 at 9")
	b.waitText("#vs-strip-orders-1", "c1 at 4")
	b.waitText("#say", "With work = 20:")

	b.press(kb.ArrowLeft)
	b.waitTick(13)
	b.press(kb.ArrowRight)
	b.waitTick(14)
	b.click("#first-difference")
	b.waitAddress(twoAt(3))
	b.waitText("#say", "Here they begin to differ.")
	b.press(kb.Home)
	b.waitAddress(two)
	b.press(kb.End)
	b.waitTick(20)
	b.click("#do-pause-p0") // a command goes to both
	b.waitAddress(explorer + "&do=20:pause+p0&t=20&vs=work:20")
	b.waitFor("document.querySelector('#node-p0').classList.contains('paused') && document.querySelector('#vs-node-p0').classList.contains('paused')")
	b.back()
	b.waitAddress(twoAt(20))

	b.click("#one-run")
	b.waitAddress(explorer + "&t=20")
	if n := b.count("#vs-picture, .differs, .apart"); n > 0 {
		t.Errorf("%d parts of the twin are left", n)
	}
	b.back()
	b.waitAddress(twoAt(20))
	b.waitText("#vs-picture-title", "work = 20")
}

func TestTwoRunsPlay(t *testing.T) {
	t.Parallel()
	site := serve(t)
	b := newTab(t, site.url)
	b.open(explorer + "&horizon=9&vs=work:20&pace=10")
	b.watchTicks()
	b.press(" ")
	b.waitTick(9)
	b.waitFor("document.querySelector('#play').textContent === 'Play'")
	waitNoStream(b, site)
	b.waitAddress(explorer + "&t=9&horizon=9&vs=work:20&pace=10")
	if ticks := b.ticksShown(); !slices.IsSorted(ticks) || len(ticks) < 3 {
		t.Errorf("the ticks shown are %v, want them to rise from 0 to 9", ticks)
	}
	checkIDs(b)
	b.click("#back")
	b.waitTick(8)
}

// A record of either picture opens in the inspector, and is selected in its own picture alone.
func TestTheInspectorOfTwoRuns(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(twoAt(14))
	b.click("#vs-strip-orders-1 .cell[data-offset='3']")
	b.waitAddress(twoAt(14) + "&at=vs:record:orders-1:3")
	b.waitText("#inspector-title", "Record orders-1 3, with work = 20")
	b.waitFor("document.querySelectorAll('.cell.selected').length === 1 && document.querySelector('#vs-strip-orders-1 .selected')")
	b.click("#step")
	b.waitTick(15)
	b.waitText("#inspector-title", "with work = 20")
	b.click("#strip-orders-1 .cell[data-offset='3']")
	b.waitText("#inspector-title", "Record orders-1 3, with work = 0")
	b.click("#vs-member-c1")
	b.waitText("#inspector-title", "Node c1, with work = 20")
	b.click("#vs-events .event a")
	b.waitFor("new URL(location).searchParams.get('why')?.startsWith('vs:')")
	b.waitText("#inspector-title", "with work = 20")
	checkIDs(b)
	b.click("#close")
	b.waitAddress(twoAt(15))
}

// The form of the set-up leads to two runs with a script and without one.
func TestCompareByForm(t *testing.T) {
	t.Parallel()
	site := serve(t)
	for name, open := range map[string]func(*tab){
		"with a script": func(b *tab) { b.open(explorer + "&t=5"); b.click("#step"); b.waitTick(6) },
		"without one":   func(b *tab) { b.withoutScripts(); b.openPlain(explorer + "&t=5"); b.click("#step"); b.waitTick(6) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newTab(t, site.url)
			open(b)
			b.pick("#set-assignor", "roundrobin")
			b.click("#setup button[name=beside]")
			b.waitAddress(explorer + "&t=6&vs=assignor:roundrobin")
			b.waitText("#vs-picture-title", "assignor = roundrobin")
			b.click("#step")
			b.waitTick(7)
			b.click("#vs-strip-orders-3 .name")
			b.waitText("#inspector-title", "with assignor = roundrobin")
			if got := eval[string](b, "document.querySelector('#set-assignor').value"); got != "range" {
				t.Errorf("the form of the run shown says %q", got)
			}
			b.click("#one-run")
			b.waitAddress(explorer + "&t=7")
			b.click("#setup button[name=beside]") // nothing was changed
			b.waitText("h1", "This address cannot be shown")
			b.expect("400 (Bad Request)")
		})
	}
}

// The pictures stand beside each other where there is room, the same strip of both at the same height, and
// one under the other where there is none.
func TestWhereTwoRunsStand(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	type box struct{ X, Y, Right, Bottom float64 }
	boxOf := func(selector string) box {
		return eval[box](b, fmt.Sprintf("(({ x, y, right, bottom }) => ({ X: x, Y: y, Right: right, Bottom: bottom }))(document.querySelector(%s).getBoundingClientRect())", quote(selector)))
	}
	for _, look := range []string{"", "&size=projector"} {
		for _, width := range []int{320, 640, 1024, 1280, 1920} {
			b.size(width, 900)
			b.open(explorer + "&consumers=9&t=14&vs=consumers:2" + look)
			own, twin := boxOf("#picture"), boxOf("#vs-picture")
			if beside := twin.X >= own.Right && twin.Y == own.Y; beside != (width >= 1024) {
				t.Errorf("%d px%s: the pictures stand at %+v and %+v", width, look, own, twin)
			} else if a, z := boxOf("#strip-orders-3 .strip"), boxOf("#vs-strip-orders-3 .strip"); beside && a.Y != z.Y {
				t.Errorf("%d px%s: a strip stands at %v and at %v", width, look, a.Y, z.Y)
			} else if !beside && twin.Y < own.Bottom {
				t.Errorf("%d px%s: the pictures stand at %+v and %+v", width, look, own, twin)
			}
			b.shot(fmt.Sprintf("two-%d%s", width, look))
		}
	}
}

// In another site's page the two are stepped and played as one is.
func TestTwoRunsEmbedded(t *testing.T) {
	t.Parallel()
	h := host(t, func(app string) string {
		return iframe("lab", app+embedded+"&horizon=6&vs=work:20&pace=10&chrome=minimal", "allow-scripts allow-forms")
	})
	f := h.frame("lab")
	f.ready()
	f.click("#step")
	f.untilTick(1)
	f.click("#play")
	f.untilTick(6)
	f.until("document.querySelector('#play').textContent === 'Play'")
	f.untilAddress(embedded + "&t=6&horizon=6&vs=work:20&pace=10&chrome=minimal")
	f.until("document.querySelector('#vs-picture-title').textContent.includes('work = 20') && document.querySelector('.differ-mark')")
}
