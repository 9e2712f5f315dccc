package browsertest

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// A control that a press replaces hands the focus to the one that stands there now; who closes the inspector
// is where it was opened.
func TestFocusStaysWhereAControlWasReplaced(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(explorer + "&t=12")
	for _, press := range []struct{ on, then string }{
		{"#do-pause-c1", "do-resume-c1"},
		{"#do-resume-c1", "do-pause-c1"},
		{"#do-stop-p0", "do-start-p0"},
		{"#remove-2", "remove-1"}, // the last of the list: the one before it
		{"#remove-0", "remove-0"},
		{"#r-1-3", "r-1-3"},
		{"#open-batch", "close"},
		{"#close", "r-1-3"},
	} {
		b.waitFor("document.querySelector(" + quote(press.on) + ")")
		b.focus(press.on)
		b.press(kb.Enter)
		b.settle()
		b.waitFor("document.activeElement.id === " + quote(press.then))
	}
}

// Links that say the same and lead elsewhere have names of their own.
func TestLinksOfTheReadingSayWhereTheyLead(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(explorer + "&t=12")
	names := eval[[]string](b, `[...document.querySelectorAll('#reading a')].filter(a => a.textContent === 'try it').map(a => a.ariaLabel)`)
	seen := map[string]bool{}
	for _, name := range names {
		if !strings.HasPrefix(name, "try it: ") || seen[name] {
			t.Errorf("a link is called %q, which says too little or is said twice", name)
		}
		seen[name] = true
	}
	if len(names) < 3 {
		t.Errorf("%d links lead to other runs, want at least 3", len(names))
	}
}

// A server that has too much to do says so; the next press is answered.
func TestBusyServer(t *testing.T) {
	t.Parallel()
	var busy atomic.Bool
	s := serveThrough(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if busy.Load() && strings.HasPrefix(r.URL.Path, "/frame/") {
				http.Error(w, "busy", http.StatusServiceUnavailable)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	b := newTab(t, s.url)
	b.open(explorer)
	busy.Store(true)
	b.click("#step")
	b.waitText("#net", "The server is busy. This frame stays; press again.")
	b.expect("Failed to load resource")
	busy.Store(false)
	b.click("#step")
	b.waitTick(1)
	b.waitFor("document.querySelector('#net').textContent === ''")
}

// A number that is missing is asked for; it leads to no error page.
func TestEmptyNumberIsAskedFor(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(explorer + "&t=12&at=segment:orders-1:0")
	for _, field := range []string{"#find-offset", "#set-partitions"} {
		b.paste(field, "")
		b.press(kb.Delete)
		b.press(kb.Enter)
		b.settle()
		if ok := eval[bool](b, "document.querySelector("+quote(field)+").validity.valueMissing"); !ok {
			t.Errorf("%s may be empty", field)
		}
		if got := b.address(); got != explorer+"&t=12&at=segment:orders-1:0" {
			t.Errorf("an empty %s leads to %s", field, got)
		}
	}
}
