package browsertest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestPlayToTheHorizon(t *testing.T) {
	t.Parallel()
	site := serve(t)
	b := newTab(t, site.url)
	b.open(explorer + "&horizon=6&pace=10")
	entries := b.entries()
	b.watchTicks()
	b.click("#play")
	b.waitFor("document.querySelector('#play').textContent === 'Pause' && document.querySelector('#arriving')")
	b.waitTick(6)
	b.waitFor("document.querySelector('#play').textContent === 'Play' && !document.querySelector('#arriving')")
	waitNoStream(b, site)
	b.waitAddress(explorer + "&t=6&horizon=6&pace=10")
	if ticks := b.ticksShown(); !slices.IsSorted(ticks) || len(ticks) < 3 {
		t.Errorf("the ticks shown are %v, want them to rise from 0 to 6", ticks)
	}
	if id := b.focused(); id != "play" {
		t.Errorf("the focus is on %q, want play", id)
	}
	if n := b.entries(); n != entries {
		t.Errorf("the history had %d entries and has %d after playing", entries, n)
	}

	// At the end Play has nothing to do, and the rest works on.
	b.click("#play")
	b.click("#back")
	b.waitTick(5)
	b.click("#step")
	b.waitTick(6)
}

func waitNoStream(b *tab, site *server) {
	b.t.Helper()
	b.poll("the stream is closed", func() (bool, error) { return site.streams.Load() == 0, nil })
}

// playing opens a run that plays for long, and waits until it is under way.
func playing(b *tab) {
	b.t.Helper()
	b.open(explorer + "&horizon=2000&pace=10")
	b.press(" ")
	b.waitFor(shownTick + " >= 3")
	// Frames go on arriving, so what was shown at a press is noted at the press.
	eval[bool](b, `addEventListener('click', () => { window.pressedAt = `+shownTick+` }, true) ?? true`)
}

func pressedAt(b *tab) int { b.t.Helper(); return eval[int](b, "window.pressedAt") }

// atRest waits until the frame of a tick is shown, nothing plays and the address bar says the same.
func atRest(b *tab, site *server, tick int) {
	b.t.Helper()
	b.waitFor("document.querySelector('#play').textContent === 'Play'")
	waitNoStream(b, site)
	b.waitTick(tick)
	b.waitFor("location.pathname + location.search === document.querySelector('#lab').dataset.address")
	b.waitFor(fmt.Sprintf("new URLSearchParams(location.search).get('t') === '%d'", tick))
}

func TestPause(t *testing.T) {
	t.Parallel()
	site := serve(t)
	b := newTab(t, site.url)
	playing(b)
	b.click("#play")
	atRest(b, site, pressedAt(b))
	b.press(" ")
	b.waitFor("document.querySelector('#play').textContent === 'Pause'")
	b.press(" ")
	atRest(b, site, pressedAt(b))
}

func TestStepWhilePlaying(t *testing.T) {
	t.Parallel()
	site := serve(t)
	b := newTab(t, site.url)
	playing(b)
	b.press(kb.ArrowRight)
	atRest(b, site, pressedAt(b)+1)
}

func TestCommandWhilePlaying(t *testing.T) {
	t.Parallel()
	site := serve(t)
	b := newTab(t, site.url)
	playing(b)
	b.focus("#do-pause-c1") // frames may move it away under the mouse
	b.press(kb.Enter)
	at := pressedAt(b)
	atRest(b, site, at)
	if got, want := stamps(b.address()), []string{fmt.Sprint(at)}; !slices.Equal(got, want) {
		t.Errorf("the command is stamped %v, want %v", got, want)
	}
}

func TestBackWhilePlaying(t *testing.T) {
	t.Parallel()
	site := serve(t)
	b := newTab(t, site.url)
	b.open(explorer + "&horizon=2000&pace=10")
	b.click("#do-pause-c1")
	b.waitText(".given", "pause c1")
	b.press(" ")
	b.waitFor(shownTick + " >= 2")
	b.back()
	b.waitAddress(explorer + "&horizon=2000&pace=10")
	b.waitTick(0)
	b.waitFor("document.querySelector('#play').textContent === 'Play' && !document.querySelector('.given')")
	waitNoStream(b, site)
}

func TestLeaveWhilePlaying(t *testing.T) {
	t.Parallel()
	site := serve(t)
	b := newTab(t, site.url)
	playing(b)
	b.click("header nav a[href='/glossary']")
	b.waitText("h1", "Glossary")
	waitNoStream(b, site)
	b.back()
	b.waitFor(shownTick + " >= 3")
}

func TestHiddenTabStopsTheStream(t *testing.T) {
	t.Parallel()
	site := serve(t)
	b := newTab(t, site.url)
	playing(b)
	b.window(browser.WindowStateMinimized)
	b.waitFor("document.hidden")
	waitNoStream(b, site)
	hidden := b.tick()
	if got := b.text("#play"); got != "Pause" {
		t.Errorf("the play control of the hidden tab says %q, want Pause", got)
	}
	b.window(browser.WindowStateNormal)
	b.waitFor("!document.hidden")
	b.waitFor(fmt.Sprintf("%s > %d", shownTick, hidden))
	b.watchTicks()
	b.waitFor(fmt.Sprintf("%s > %d", shownTick, hidden+3))
	if ticks := b.ticksShown(); !slices.IsSorted(ticks) || ticks[0] < hidden {
		t.Errorf("hidden at tick %d, it went on with %v", hidden, ticks)
	}
	b.press(" ")
	atRest(b, site, pressedAt(b))
}

// window sets the state of the tab's window.
func (b *tab) window(state browser.WindowState) {
	b.t.Helper()
	b.call(func(ctx context.Context) error {
		id := chromedp.FromContext(ctx).Target.TargetID
		window, err := chromedp.CallBrowser(ctx, browser.GetWindowForTarget, browser.GetWindowForTargetParams{TargetID: id})
		if err != nil {
			return err
		}
		_, err = chromedp.CallBrowser(ctx, browser.SetWindowBounds, browser.SetWindowBoundsParams{WindowID: window.WindowID, Bounds: &browser.Bounds{WindowState: state}})
		return err
	})
}

// The real server goes away while a run plays, comes back, and the reader steps on.
func TestServerRestartWhilePlaying(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]syscall.Signal{"asked to end": syscall.SIGTERM, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t, "127.0.0.1:0")
			b := newTab(t, server.url)
			playing(b)
			server.end(signal)
			b.waitText("#net", "The server does not answer")
			shown := b.tick()
			b.expect("Failed to load resource: net::ERR_")
			if shown < 3 {
				t.Errorf("the page shows tick %d after the server ended, want the last one that it sent", shown)
			}

			start(t, server.addr())
			b.press(kb.ArrowRight)
			b.waitTick(shown + 1)
			b.waitFor("document.querySelector('#net').textContent === '' && document.querySelector('#play').textContent === 'Play'")
			b.press(" ")
			b.waitFor(fmt.Sprintf("%s > %d", shownTick, shown+2))
			b.press(" ")
			b.waitFor("document.querySelector('#play').textContent === 'Play'")
		})
	}
}

// A stream that stands still is said to do so; the rest of the page works.
func TestStalledStream(t *testing.T) {
	t.Parallel()
	site := serveThrough(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/play/") {
				w = &stalling{ResponseWriter: w, left: 2, gone: r.Context().Done()}
			}
			next.ServeHTTP(w, r)
		})
	})
	b := newTab(t, site.url)
	b.open(explorer + "&pace=10")
	b.press(" ")
	b.waitTick(1)
	b.waitText("#arriving", "no frame arrives")
	b.press(kb.ArrowRight)
	atRest(b, site, 2)
	if n := b.count("#arriving"); n != 0 {
		t.Error("the page at rest still says whether frames arrive")
	}
}

// stalling is an answer that stands still after so many writes, until its reader has gone.
type stalling struct {
	http.ResponseWriter
	left int
	gone <-chan struct{}
}

func (s *stalling) Write(p []byte) (int, error) {
	if s.left == 0 {
		<-s.gone
	} else {
		s.left--
	}
	return s.ResponseWriter.Write(p)
}

func (s *stalling) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// A server that has no room for one more stream says so, and stepping works.
func TestTooManyStreams(t *testing.T) {
	t.Parallel()
	site := serve(t)
	crowd, leave := context.WithCancel(t.Context())
	defer leave()
	for range 64 { // as many as one address may have
		request, err := http.NewRequestWithContext(crowd, http.MethodGet, site.url+"/play"+explorer+"&horizon=5000&pace=1", nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
	}
	b := newTab(t, site.url)
	b.open(explorer)
	b.click("#play")
	b.waitText("#net", "cannot play now (503)")
	b.expect("503 (Service Unavailable)")
	if got := b.text("#play"); got != "Play" {
		t.Errorf("the play control says %q, want Play", got)
	}
	b.click("#step")
	b.waitTick(1)
	leave()
	waitNoStream(b, site)
	b.press(" ")
	b.waitFor("document.querySelector('#play').textContent === 'Pause'")
}
