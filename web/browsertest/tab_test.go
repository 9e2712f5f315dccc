package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// patience is how long a condition may take to come true. It is long because the machine may be busy.
const patience = 20 * time.Second

// tab is a page in a browser context of its own. Its verbs end the test when they cannot be done.
type tab struct {
	t    testing.TB
	site string // "http://127.0.0.1:40001"
	ctx  context.Context

	mu         sync.Mutex
	complaints []string
}

// newTab opens an empty tab for a site. At its end, the test fails if the page complained.
func newTab(t testing.TB, site string) *tab {
	t.Helper()
	parent, err := chromium()
	if err != nil {
		t.Fatal(err)
	}
	b := &tab{t: t, site: site}
	ctx, closeTab := chromedp.NewContext(parent, chromedp.WithNewBrowserContext(), chromedp.WithListener(b.listen))
	b.ctx = ctx
	if err := chromedp.Do(ctx); err != nil { // with no deadline: the tab lives as long as this context
		t.Fatal("a new tab: ", err)
	}
	// The tab asks the page and needs no copy of its elements, which would cost more than the page itself.
	b.call(func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, css.Disable, cdp.Empty{})
		if err == nil {
			_, err = chromedp.Call(ctx, dom.Disable, cdp.Empty{})
		}
		return err
	})
	t.Cleanup(func() {
		b.settle()
		if t.Failed() {
			b.keepPicture()
		}
		closeTab()
	})
	return b
}

// listen collects what a page says in the console.
func (b *tab) listen(event any) {
	var complaint string
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		complaint = "exception: " + (&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error()
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			complaint = fmt.Sprintf("%s %s: %s %s", e.Entry.Source, e.Entry.Level, e.Entry.Text, e.Entry.URL)
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			complaint = fmt.Sprintf("console %s:", e.Type)
			for _, arg := range e.Args {
				complaint += " " + string(arg.Value) + arg.Description
			}
		}
	}
	if complaint != "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.complaints = append(b.complaints, complaint)
	}
}

// settle fails the test for every complaint that was not expected.
func (b *tab) settle() {
	b.t.Helper()
	chromedp.Run(b.ctx, chromedp.Evaluate[int]("0")) // what the page said before has arrived after this
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, complaint := range b.complaints {
		b.t.Error("the page complained: ", complaint)
	}
}

// expect waits for complaints that hold all of the words, and takes them away.
func (b *tab) expect(words ...string) {
	b.t.Helper()
	b.poll("the page complains of "+strings.Join(words, ", "), func() (bool, error) {
		chromedp.Run(b.ctx, chromedp.Evaluate[int]("0"))
		b.mu.Lock()
		defer b.mu.Unlock()
		var left []string
		for _, complaint := range b.complaints {
			for _, word := range words {
				if !strings.Contains(complaint, word) {
					left = append(left, complaint)
					break
				}
			}
		}
		found := len(left) < len(b.complaints)
		b.complaints = left
		return found, nil
	})
}

// ---- looking

// eval runs JavaScript by the browser's protocol, which the page's policy does not bind, and gives its
// value. A promise is waited for.
func eval[T any](b *tab, js string) T {
	b.t.Helper()
	v, err := tryEval[T](b, js)
	if err != nil {
		b.t.Fatalf("%s\n%v", js, err)
	}
	return v
}

func tryEval[T any](b *tab, js string) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
}

// text is the text of the first element of a selector as it is shown, "" where there is none.
func (b *tab) text(selector string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf("document.querySelector(%s)?.innerText ?? ''", quote(selector)))
}

// count is how many elements a selector has.
func (b *tab) count(selector string) int {
	b.t.Helper()
	return eval[int](b, fmt.Sprintf("document.querySelectorAll(%s).length", quote(selector)))
}

// address is path and query in the browser's address bar.
func (b *tab) address() string {
	b.t.Helper()
	return eval[string](b, "location.pathname + location.search")
}

// shownTick is JavaScript for the tick that the clock shows; -1 on a page without a clock.
const shownTick = "+(/^tick ([0-9]+) /.exec(document.querySelector('#clock')?.textContent ?? '')?.[1] ?? -1)"

// tick is the tick that the clock shows.
func (b *tab) tick() int {
	b.t.Helper()
	return eval[int](b, shownTick)
}

// entries is the length of the tab's history.
func (b *tab) entries() int {
	b.t.Helper()
	return eval[int](b, "history.length")
}

// focused is the id of the element that has the focus, else its name.
func (b *tab) focused() string {
	b.t.Helper()
	return eval[string](b, "document.activeElement.id || document.activeElement.localName")
}

// watchTicks begins to note every tick that the clock shows; ticksShown lists them.
func (b *tab) watchTicks() {
	b.t.Helper()
	eval[bool](b, `(() => {
		const shown = () => `+shownTick+`
		window.ticksShown = [shown()]
		new MutationObserver(() => {
			if (shown() !== ticksShown.at(-1)) ticksShown.push(shown())
		}).observe(document.body, { subtree: true, childList: true, characterData: true })
		return true
	})()`)
}

// keepNotes begins to keep every note that the page shows about itself, with the tick it was shown at, in
// window.notes: a note that ends by itself may be gone between two looks of a test on a busy machine.
const keepNotes = `(() => {
	window.notes = []
	new MutationObserver(() => {
		const note = document.querySelector('#net').textContent
		if (note) notes.push({ note, tick: ` + shownTick + ` })
	}).observe(document.body, { subtree: true, childList: true, characterData: true })
	return true
})()`

// noted tells whether the page has shown a note with words since keepNotes.
func noted(words string) string {
	return fmt.Sprintf("window.notes.some(n => n.note.includes(%s))", quote(words))
}

func (b *tab) ticksShown() []int { b.t.Helper(); return eval[[]int](b, "window.ticksShown") }

// ---- waiting

// poll asks until done says yes. An error means not yet; the last one is told when time is up.
func (b *tab) poll(what string, done func() (bool, error)) {
	b.t.Helper()
	var last error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		ok, err := done()
		if ok {
			return
		}
		last = err
		if b.ctx.Err() != nil {
			b.t.Fatalf("waiting until %s: the tab is gone: %v", what, b.ctx.Err())
		}
		<-time.After(5 * time.Millisecond)
	}
	state, _ := tryEval[string](b, "`${location.pathname}${location.search}, \"${document.querySelector('#clock')?.textContent}\", note \"${document.querySelector('#net')?.textContent}\"`")
	b.t.Fatalf("waited in vain until %s (last error: %v); the page is at %s", what, last, state)
}

// waitFor waits until JavaScript is true. A page that is just being replaced counts as not yet.
func (b *tab) waitFor(js string) {
	b.t.Helper()
	b.poll(js, func() (bool, error) {
		return tryEval[bool](b, "document.readyState !== 'loading' && !!("+js+")") // a page that is read in part lacks the rest
	})
}

// waitTick waits until the clock shows a tick.
func (b *tab) waitTick(tick int) {
	b.t.Helper()
	b.waitFor(fmt.Sprintf("%s === %d", shownTick, tick))
}

// stepTo steps on with the keyboard until the clock shows a tick, and waits for each on the way.
func (b *tab) stepTo(tick int) {
	b.t.Helper()
	for next := b.tick() + 1; next <= tick; next++ {
		b.press(kb.ArrowRight)
		b.waitTick(next)
	}
}

// setSetting writes a setting's field and gives its form.
func (b *tab) setSetting(name, value string) {
	b.t.Helper()
	eval[bool](b, fmt.Sprintf(`(() => {
			const field = document.querySelector('#set-%s')
			field.value = %s
			field.dispatchEvent(new Event('input', { bubbles: true }))
			field.form.querySelector('button').click()
			return true
		})()`, name, quote(value)))
}

// waitAddress waits until the address bar shows path and query.
func (b *tab) waitAddress(address string) {
	b.t.Helper()
	b.waitFor("location.pathname + location.search === " + quote(address))
}

// waitText waits until the element shows a text with these words in it.
func (b *tab) waitText(selector, words string) {
	b.t.Helper()
	b.waitFor(fmt.Sprintf("document.querySelector(%s)?.innerText.includes(%s)", quote(selector), quote(words)))
}

// ---- doing

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// open goes to an address of the site and waits until the page is loaded and, on a page with a script,
// until the script runs.
func (b *tab) open(address string) {
	b.t.Helper()
	b.openPlain(address)
	b.waitFor("!document.querySelector('script') || document.documentElement.classList.contains('js')")
}

// openPlain does not wait for the script.
func (b *tab) openPlain(address string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.site + address))
}

// point is a place in the viewport.
type point struct{ X, Y float64 }

// pointOf gives the middle of an element, scrolled to where needed. It fails where anything covers it.
func (b *tab) pointOf(selector string) point {
	b.t.Helper()
	js := fmt.Sprintf(`(() => {
		const element = document.querySelector(%s)
		if (!element) return { Found: false }
		const look = () => {
			const box = element.getClientRects()[0] ?? new DOMRect()
			const at = { X: box.x + box.width / 2, Y: box.y + box.height / 2 }
			const top = document.elementFromPoint(at.X, at.Y)
			return { Found: true, Free: element.contains(top), By: top?.outerHTML.slice(0, 120) ?? 'the edge of the window', At: at }
		}
		let seen = look()
		if (!seen.Free) {
			element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' })
			seen = look()
		}
		return seen
	})()`, quote(selector))
	seen := eval[struct {
		Found, Free bool
		By          string
		At          point
	}](b, js)
	switch {
	case !seen.Found:
		b.t.Fatalf("there is no %s to press", selector)
	case !seen.Free:
		b.t.Fatalf("%s cannot be pressed: it is hidden or covered by %s", selector, seen.By)
	}
	return seen.At
}

// click presses the middle of an element with the mouse.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.clickAt(b.pointOf(selector))
}

func (b *tab) clickAt(at point) {
	b.t.Helper()
	b.do(chromedp.MouseClickXY(at.X, at.Y))
}

// focus moves the focus to an element, as Tab would in the end.
func (b *tab) focus(selector string) {
	b.t.Helper()
	eval[bool](b, fmt.Sprintf("document.querySelector(%s).focus() ?? true", quote(selector)))
}

// press gives keys to whatever has the focus: letters, or the constants of package kb.
func (b *tab) press(keys string, modifiers ...chromedp.Modifier) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys, chromedp.KeyModifiers(modifiers...)))
}

// hold keeps a key that types nothing down until it has repeated so many times, as fast as a keyboard
// repeats, then lets go.
func (b *tab) hold(key string, repeats int) {
	b.t.Helper()
	send := func(event input.DispatchKeyEventParams) {
		b.call(func(ctx context.Context) error {
			_, err := chromedp.Call(ctx, input.DispatchKeyEvent, event)
			return err
		})
	}
	r, _ := utf8.DecodeRuneInString(key)
	events := kb.Encode(r)
	down, up := *events[0], *events[len(events)-1]
	send(down)
	held := true
	down.AutoRepeat = &held
	keyboard := time.NewTicker(30 * time.Millisecond)
	defer keyboard.Stop()
	for range repeats {
		<-keyboard.C
		send(down)
	}
	send(up)
}

// paste puts text where the cursor is, in place of what is there.
func (b *tab) paste(selector, text string) {
	b.t.Helper()
	b.click(selector)
	eval[bool](b, fmt.Sprintf("document.querySelector(%s).select() ?? true", quote(selector)))
	b.call(func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, input.InsertText, input.InsertTextParams{Text: text})
		return err
	})
}

// back presses the browser's own Back, forward its Forward.
func (b *tab) back()    { b.t.Helper(); eval[bool](b, "history.back() ?? true") }
func (b *tab) forward() { b.t.Helper(); eval[bool](b, "history.forward() ?? true") }

// call runs commands of the browser's protocol with a deadline.
func (b *tab) call(f func(context.Context) error) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := f(ctx); err != nil {
		b.t.Fatal(err)
	}
}

// size sets the viewport.
func (b *tab) size(width, height int) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(int64(width), int64(height)))
}

// media sets what the reader's system asks for: "prefers-color-scheme", "dark".
func (b *tab) media(features ...string) {
	b.t.Helper()
	var params emulation.SetEmulatedMediaParams
	for i := 0; i < len(features); i += 2 {
		params.Features = append(params.Features, &emulation.MediaFeature{Name: features[i], Value: features[i+1]})
	}
	b.call(func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, params)
		return err
	})
}

// withoutScripts makes the tab one whose owner has turned JavaScript off.
func (b *tab) withoutScripts() {
	b.t.Helper()
	b.call(func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	})
}

// ---- pictures

// shot writes a picture of the whole page into the directory of LOGLAB_SHOTS, if that is set.
func (b *tab) shot(name string) {
	b.t.Helper()
	dir := os.Getenv("LOGLAB_SHOTS")
	if dir == "" {
		return
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := b.picture(dir + "/" + name + ".png"); err != nil {
		b.t.Error(err)
	}
}

// keepPicture leaves a picture of a page that did not do what it should.
func (b *tab) keepPicture() {
	file, err := os.CreateTemp("", "loglab-failed-*.png")
	if err != nil {
		b.t.Log(err)
		return
	}
	file.Close()
	if err := b.picture(file.Name()); err != nil {
		b.t.Log("no picture: ", err)
		return
	}
	b.t.Log("the page when the test failed: ", file.Name())
}

func (b *tab) picture(name string) error {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	const lossless = 100
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(lossless))
	return errors.Join(err, os.WriteFile(name, png, 0o644))
}

// quote writes text as a JavaScript string.
func quote(text string) string { return strconv.QuoteToASCII(text) }
