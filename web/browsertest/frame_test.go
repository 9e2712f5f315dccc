package browsertest

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// hosted is a page of another site with frames of the lab in it: the host is host.test, the lab app.test.
type hosted struct {
	*tab
	server *server
	app    string // "http://app.test:40001"
}

// noStorage is added to every document: what a browser keeps from a frame must not be touched at all.
const noStorage = `for (const name of ['localStorage', 'sessionStorage', 'indexedDB', 'caches', 'cookieStore']) {
	Object.defineProperty(window, name, { get() { console.error('touched ' + name); throw new DOMException(name, 'SecurityError') } })
}
Object.defineProperty(Document.prototype, 'cookie', { get() { console.error('touched cookie'); return '' }, set() { console.error('touched cookie') } })`

// host opens a page of another site; body makes its HTML for the origin of the lab.
func host(t *testing.T, body func(app string) string) hosted {
	t.Helper()
	h := hosted{}
	h.server = serveThrough(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.Host, "host.test:") {
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				fmt.Fprintf(w, `<!DOCTYPE html><title>Course</title><link rel="icon" href="data:,"><body>%s`, body("http://app"+strings.TrimPrefix(r.Host, "host")))
				return
			}
			if r.Header.Get("Cookie") != "" {
				t.Errorf("%s came with a cookie", r.URL)
			}
			next.ServeHTTP(w, r)
		})
	})
	port := h.server.url[strings.LastIndex(h.server.url, ":"):]
	h.app = "http://app.test" + port
	h.tab = newTab(t, "http://host.test"+port)
	h.call(func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: noStorage})
		return err
	})
	h.openPlain("/course")
	return h
}

// The journeys below rest on this: a frame that touches what a browser keeps from it is found.
func TestTouchedStorageIsFound(t *testing.T) {
	t.Parallel()
	h := host(t, func(string) string {
		return `<iframe title="x" srcdoc="<script>try { localStorage.x } catch {}; document.cookie</script>"></iframe>`
	})
	h.expect("touched localStorage")
	h.expect("touched cookie")
}

// iframe is the HTML of a frame with a name; sandbox is "" for none.
func iframe(name, address, sandbox string) string {
	if sandbox != "" {
		sandbox = fmt.Sprintf(` sandbox="%s"`, sandbox)
	}
	return fmt.Sprintf(`<p><iframe name="%s" title="%[1]s" src="%[2]s" width="900" height="600"%[3]s></iframe></p>`, name, strings.ReplaceAll(address, "&", "&amp;"), sandbox)
}

// frame is one frame of a hosted page.
type frame struct {
	hosted
	name string
}

func (h hosted) frame(name string) frame { return frame{h, name} }

// world gives a place in the frame where JavaScript can look at it, whatever the frame itself may run.
func (f frame) world(ctx context.Context) (runtime.ExecutionContextID, error) {
	tree, err := chromedp.Call(ctx, page.GetFrameTree, cdp.Empty{})
	if err != nil {
		return 0, err
	}
	for _, child := range tree.FrameTree.ChildFrames {
		if child.Frame.Name == f.name {
			world, err := chromedp.Call(ctx, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: child.Frame.ID, WorldName: "test"})
			return world.ExecutionContextID, err
		}
	}
	return 0, fmt.Errorf("there is no frame %s", f.name)
}

// tryIn evaluates JavaScript in the frame.
func tryIn[T any](f frame, js string) (v T, err error) {
	ctx, cancel := context.WithTimeout(f.ctx, patience)
	defer cancel()
	world, err := f.world(ctx)
	if err != nil {
		return v, err
	}
	return chromedp.Run(ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise, func(p *runtime.EvaluateParams) { p.ContextID = world }))
}

func evalIn[T any](f frame, js string) T {
	f.t.Helper()
	v, err := tryIn[T](f, js)
	if err != nil {
		f.t.Fatalf("in frame %s: %s\n%v", f.name, js, err)
	}
	return v
}

// until waits until JavaScript in the frame is true.
func (f frame) until(js string) {
	f.t.Helper()
	f.poll("in frame "+f.name+" "+js, func() (bool, error) { return tryIn[bool](f, "document.readyState !== 'loading' && !!("+js+")") })
}

func (f frame) untilTick(tick int) {
	f.t.Helper()
	f.until(fmt.Sprintf("%s === %d", shownTick, tick))
}

func (f frame) untilAddress(address string) {
	f.t.Helper()
	f.until("location.pathname + location.search === " + quote(address))
}

// ready waits until the frame shows a lab and its script runs.
func (f frame) ready() {
	f.t.Helper()
	f.until("document.querySelector('#lab') && (document.documentElement.classList.contains('js') || !document.querySelector('script'))")
}

// click presses an element in the frame with the mouse.
func (f frame) click(selector string) {
	f.t.Helper()
	at := evalIn[*point](f, fmt.Sprintf(`(() => {
		const element = document.querySelector(%s)
		element?.scrollIntoView({ block: 'center', behavior: 'instant' }) // of the page around it too
		const box = element?.getClientRects()[0]
		return box ? { X: box.x + box.width / 2, Y: box.y + box.height / 2 } : null
	})()`, quote(selector)))
	if at == nil {
		f.t.Fatalf("in frame %s there is no %s to press", f.name, selector)
	}
	corner := eval[point](f.tab, fmt.Sprintf(`(() => {
		const frame = document.querySelector('iframe[name=%s]'), box = frame.getBoundingClientRect()
		return { X: box.x + frame.clientLeft, Y: box.y + frame.clientTop }
	})()`, f.name))
	f.clickAt(point{corner.X + at.X, corner.Y + at.Y})
}
