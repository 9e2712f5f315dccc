package browsertest

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// explorer is the partition explorer as the home page opens it: horizon 20.
const explorer = "/lab/partitions?v=1"

func TestStepBackStartEnd(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open("/")
	b.click("main .cards a[href*=partitions]")
	b.waitTick(0)
	entries := b.entries()
	for _, move := range []struct {
		control string
		tick    int
	}{
		{"#back", 0}, {"#step", 1}, {"#step", 2}, {"#back", 1}, {"#end", 20}, {"#step", 21}, {"#back", 20},
		{"#start", 0}, {"#back", 0}, {"#step", 1},
	} {
		b.click(move.control)
		b.waitTick(move.tick)
		b.waitText("#say", fmt.Sprintf("Tick %d:", move.tick))
	}
	b.waitAddress(explorer + "&t=1")
	if n := b.entries(); n != entries {
		t.Errorf("the history had %d entries and has %d after steps", entries, n)
	}
}

// After a step the next frame is asked for before it is wanted, once; a press that wants another is not
// misled by it.
func TestNextFrameIsAskedForAhead(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked := map[string]int{} // by query
	server := serveThrough(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/frame/") {
				mu.Lock()
				query, _, _ := strings.Cut(r.URL.RawQuery, "&has=")
				asked[query]++
				mu.Unlock()
			}
			next.ServeHTTP(w, r)
		})
	})
	times := func(query string) int {
		mu.Lock()
		defer mu.Unlock()
		return asked[query]
	}
	b := newTab(t, server.url)
	b.open(explorer)
	b.click("#step")
	b.waitTick(1)
	b.poll("tick 2 is asked for", func() (bool, error) { return times("v=1&t=2") == 1, nil })
	b.click("#step")
	b.waitTick(2)
	b.poll("tick 3 is asked for", func() (bool, error) { return times("v=1&t=3") == 1, nil })
	if n := times("v=1&t=2"); n != 1 {
		t.Errorf("tick 2 was asked for %d times", n)
	}
	b.click("#do-pause-c1")
	b.waitAddress(explorer + "&do=2:pause+c1&t=2")
	b.click("#step")
	b.waitAddress(explorer + "&do=2:pause+c1&t=3")
	b.waitText("#member-c1", "paused")
	b.click("#back")
	b.waitTick(2)
	if n := times("v=1&do=2:pause+c1&t=3"); n != 1 {
		t.Errorf("tick 3 with the pause was asked for %d times", n)
	}
	b.poll("tick 4 with the pause is asked for", func() (bool, error) { return times("v=1&do=2:pause+c1&t=4") == 1, nil })
}

func TestLastTick(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(explorer + "&t=4999")
	b.click("#step")
	b.waitTick(5000)
	b.click("#step")
	b.click("#back")
	b.waitTick(4999)
}

func TestScrub(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(explorer + "&do=4:pause+c1&do=15:resume+c1&t=10")
	entries := b.entries()

	// Drag from the middle of the scrubber to a place near its end.
	from := b.pointOf("#jump-t")
	width := eval[float64](b, "document.querySelector('#jump-t').getBoundingClientRect().width")
	left := chromedp.ButtonLeft
	b.do(chromedp.MouseEvent(chromedp.MousePressed, from.X, from.Y, left, chromedp.ClickCount(1)))
	for i := range 8 {
		b.do(chromedp.MouseEvent(chromedp.MouseMoved, from.X+width*0.05*float64(i), from.Y, left))
	}
	held := eval[int](b, "+document.querySelector('#jump-t').value")
	if held <= 12 || held >= 20 {
		t.Fatalf("the hand holds the scrubber at %d, want between 12 and 20", held)
	}
	b.waitTick(held)
	b.do(chromedp.MouseEvent(chromedp.MouseReleased, from.X+width*0.35, from.Y, left, chromedp.ClickCount(1)))
	b.waitAddress(fmt.Sprintf("%s&do=4:pause+c1&do=15:resume+c1&t=%d", explorer, held))

	// Arrow keys move the scrubber that has the focus.
	b.press(kb.ArrowLeft)
	b.press(kb.ArrowLeft)
	b.waitTick(held - 2)

	// Marks are links to the ticks of one's commands.
	b.click("#mark-0")
	b.waitTick(4)
	if got := eval[int](b, "+document.querySelector('#jump-t').value"); got != 4 {
		t.Errorf("the scrubber stands at %d, want 4", got)
	}
	b.click("#mark-1")
	b.waitTick(15)
	if n := b.entries(); n != entries {
		t.Errorf("the history had %d entries and has %d after scrubbing", entries, n)
	}
}

// delays are how long a server may take for a frame.
func delays(t testing.TB) map[string]func() time.Duration {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed of the mixed delays: %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var mu sync.Mutex
	return map[string]func() time.Duration{
		"none":  func() time.Duration { return 0 },
		"80 ms": func() time.Duration { return 80 * time.Millisecond },
		"20 to 170 ms": func() time.Duration {
			mu.Lock()
			defer mu.Unlock()
			return time.Duration(20+random.IntN(151)) * time.Millisecond
		},
	}
}

func TestFastClicks(t *testing.T) {
	t.Parallel()
	for name, delay := range delays(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := serveSlowly(t, delay)
			b := newTab(t, site.url)
			b.open(explorer + "&t=5")
			entries := b.entries()
			b.watchTicks()
			at := b.pointOf("#step")
			for range 20 {
				b.clickAt(at)
			}
			b.waitTick(25)
			b.waitAddress(explorer + "&t=25")
			if ticks := b.ticksShown(); !slices.IsSorted(ticks) {
				t.Errorf("the ticks shown do not only rise: %v", ticks)
			}
			if n := b.entries(); n != entries {
				t.Errorf("the history had %d entries and has %d after 20 clicks", entries, n)
			}
			if id := b.focused(); id != "step" {
				t.Errorf("the focus is on %q, want step", id)
			}
			t.Logf("20 clicks took %d requests", site.frames.Load())
		})
	}
}

func TestHeldArrow(t *testing.T) {
	t.Parallel()
	site := serveSlowly(t, func() time.Duration { return 100 * time.Millisecond })
	b := newTab(t, site.url)
	b.open(explorer + "&t=5")
	b.watchTicks()
	b.hold(kb.ArrowRight, 40)
	shown := len(b.ticksShown())
	b.waitTick(46) // the press and 40 repeats
	b.waitAddress(explorer + "&t=46")
	if shown < 3 {
		t.Errorf("%d frames were shown while the key was held, want more than the first and the last", shown)
	}
	if ticks := b.ticksShown(); !slices.IsSorted(ticks) {
		t.Errorf("the ticks shown do not only rise: %v", ticks)
	}
}

func TestStepsThenCommand(t *testing.T) {
	t.Parallel()
	for name, delay := range delays(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newTab(t, serveSlowly(t, delay).url)
			b.open(explorer)
			pause := b.pointOf("#do-pause-c1") // it may have to be scrolled to; the transport stays in sight
			step := b.pointOf("#step")
			for range 4 {
				b.clickAt(step)
			}
			b.clickAt(pause)
			b.waitAddress(explorer + "&do=4:pause+c1&t=4")
			b.waitTick(4)
			b.waitText("#actions .given", "pause c1")

			// The same control again: it has become Resume, under another name.
			b.waitText("#do-resume-c1", "Resume c1")
		})
	}
}

func TestCommandsAndStepsMixed(t *testing.T) {
	t.Parallel()
	for name, delay := range delays(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newTab(t, serveSlowly(t, delay).url)
			b.open(explorer + "&t=7")
			produce, step := b.pointOf("#do-produce"), b.pointOf("#step")
			for _, at := range []point{produce, produce, step, produce} {
				b.clickAt(at)
			}
			b.waitTick(8)
			b.waitFor("document.querySelectorAll('.given li').length === 3")
			if got, want := stamps(b.address()), []string{"7", "7", "8"}; !slices.Equal(got, want) {
				t.Errorf("the commands are stamped %v, want %v", got, want)
			}
		})
	}
}

// stamps lists the ticks of the commands of an address.
func stamps(address string) []string {
	var ticks []string
	for _, pair := range strings.Split(address, "&") {
		if command, ok := strings.CutPrefix(pair, "do="); ok {
			tick, _, _ := strings.Cut(command, ":")
			ticks = append(ticks, tick)
		}
	}
	return ticks
}
