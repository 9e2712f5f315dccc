package web

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"loglab/labs/store"
	"loglab/labs/view"
)

var update = flag.Bool("update", false, "write testdata instead of comparing with it")

const start = "/lab/partitions?v=1"

func newSite(t *testing.T) *Site {
	t.Helper()
	return newSiteLogging(t, slog.New(slog.DiscardHandler))
}

func newSiteLogging(t testing.TB, log *slog.Logger) *Site {
	t.Helper()
	texts, err := store.Open("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { texts.Close() })
	s, err := New(log, texts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ask gives the answer to a request without a network. The target is not checked, so that it can be wrong.
func ask(s *Site, method, target string, header ...string) *httptest.ResponseRecorder {
	path, query, _ := strings.Cut(target, "?")
	r := httptest.NewRequest(method, "/", nil)
	r.URL = &url.URL{Path: path, RawQuery: query}
	r.RequestURI = target
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

func TestRoutes(t *testing.T) {
	var lines []string
	err := chi.Walk(newSite(t).routes(), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		lines = append(lines, method+" "+route)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	got := strings.Join(lines, "\n") + "\n"
	const file = "testdata/routes.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// What cannot be answered says what it is, what was found and what is allowed.
func TestBadInput(t *testing.T) {
	s := newSite(t)
	long := start + "&keys=" + strings.Repeat("x", 20_000)
	for _, test := range []struct {
		method, target string
		status         int
		says           []string
	}{
		{"GET", start + "&t=-1", 400, []string{"t", "-1", "0 to 5000"}},
		{"GET", start + "&t=5001", 400, []string{"t", "5001", "0 to 5000"}},
		{"GET", start + "&t=soon", 400, []string{"t", "soon", "0 to 5000"}},
		{"GET", "/lab/partitions?v=99", 400, []string{"v", "99", "1"}},
		{"GET", start + "&partitions=65", 400, []string{"partitions", "65", "1 to 64"}},
		{"GET", start + "&partitioner=md5", 400, []string{"partitioner", "md5", "murmur2"}},
		{"GET", start + "&colour=red", 400, []string{"colour", "partitions, "}},
		{"GET", start + "&t=1&t=2", 400, []string{"t", "twice", "once"}},
		{"GET", start + "&do=5", 400, []string{"do", "5", "TICK:COMMAND"}},
		{"GET", start + "&do=5:explode", 400, []string{"do", "explode"}},
		{"GET", start + "&at=moon", 400, []string{"at", "moon", "record:"}},
		{"GET", start + "&theme=pink", 400, []string{"theme", "pink", "light, dark"}},
		{"GET", start + "&size=huge", 400, []string{"size", "huge", "projector"}},
		{"GET", start + "&still=yes", 400, []string{"still", "yes", "1"}},
		{"GET", start + "&range=9..3", 400, []string{"range", "9..3", "FROM..TO"}},
		{"GET", start + "&chrome=none", 400, []string{"chrome", "none", "minimal"}},
		{"GET", start + "&keys=%ff", 400, []string{"keys", "%ff", "UTF-8"}},
		{"GET", start + "&keys=%zz", 400, []string{"keys", "%zz", "percent-encoded"}},
		{"GET", long, 400, []string{"bytes long", "16384"}},
		{"GET", "/frame" + start + "&t=-1", 400, []string{"t", "-1", "0 to 5000"}},
		{"GET", "/play" + start + "&t=-1", 400, []string{"t", "-1", "0 to 5000"}},
		{"GET", "/lab/unknown", 404, []string{"unknown", "partitions"}},
		{"GET", "/frame/lab/unknown", 404, []string{"unknown", "partitions"}},
		{"GET", "/play/lab/unknown", 404, []string{"unknown", "partitions"}},
		{"GET", "/glossary/unknown-word", 404, []string{"unknown-word", "All terms"}},
		{"GET", "/nowhere", 404, []string{"no such page"}},
		{"GET", "/lab/partitions/", 404, []string{"no such page"}},
		{"GET", "/static/../doc.go", 404, []string{"no such page"}},
		{"GET", "/static/lab.css", 404, []string{"no such page"}}, // only names with a hash are served
		{"POST", start, 405, []string{"POST", "GET, HEAD"}},
		{"OPTIONS", "/", 405, []string{"OPTIONS", "GET, HEAD"}},
	} {
		t.Run(test.method+" "+test.target[:min(len(test.target), 60)], func(t *testing.T) {
			w := ask(s, test.method, test.target)
			if w.Code != test.status {
				t.Errorf("status is %d, want %d", w.Code, test.status)
			}
			if w.Header().Get("Lab-Frame") != "" {
				t.Error("an error calls itself a frame")
			}
			text := plainText(t, w.Body.String())
			for _, word := range test.says {
				if !strings.Contains(text, word) {
					t.Errorf("the page does not say %q:\n%s", word, text)
				}
			}
			if strings.Contains(test.target, "/lab/partitions?") && test.method == "GET" && !strings.Contains(w.Body.String(), `href="/lab/partitions"`) {
				t.Error("no link leads back to the lab's start")
			}
		})
	}
	if got := ask(s, "POST", "/").Header().Get("Allow"); got != "GET, HEAD" {
		t.Errorf("Allow is %q", got)
	}
}

func TestAnAddressIsSpelledOneWay(t *testing.T) {
	s := newSite(t)
	for from, to := range map[string]string{
		"/lab/partitions":                       start,
		"/lab/partitions?":                      start,
		"/lab/partitions?t=3&v=1":               start + "&t=3",
		"/lab/partitions?v=1&t=0":               start,
		"/lab/partitions?v=1&partitions=4":      start,
		"/lab/partitions?v=1&partitions=08&t=2": start + "&partitions=8&t=2",
		"/lab/partitions?v=1&do=4:pause%20c1":   start + "&do=4:pause+c1",
		"/lab/partitions?range=12..18":          start + "&t=12&range=12..18",
		"/lab/partitions?v=1&t=4&range=12..18":  start + "&t=12&range=12..18",
	} {
		w := ask(s, "GET", from)
		if w.Code != http.StatusTemporaryRedirect || w.Header().Get("Location") != to {
			t.Errorf("%s: %d to %q, want 307 to %q", from, w.Code, w.Header().Get("Location"), to)
		}
		if w := ask(s, "GET", to); w.Code != http.StatusOK {
			t.Errorf("%s: %d, want 200", to, w.Code)
		}
		frame := ask(s, "GET", "/frame"+from)
		if frame.Code != http.StatusOK || !strings.Contains(frame.Body.String(), `data-address="`+html.EscapeString(to)+`"`) {
			t.Errorf("/frame%s: %d, without the canonical address", from, frame.Code)
		}
	}
}

func TestAFrameIsTheMainPartOfItsPage(t *testing.T) {
	s := newSite(t)
	address := start + "&t=7&at=record:orders-1:0"
	page := ask(s, "GET", address)
	frame := ask(s, "GET", "/frame"+address+"&datastar=%7B%7D")
	if page.Code != 200 || frame.Code != 200 {
		t.Fatalf("page %d, frame %d", page.Code, frame.Code)
	}
	if got := frame.Header().Get("Lab-Frame"); got != "1" {
		t.Errorf("Lab-Frame is %q", got)
	}
	if page.Header().Get("Lab-Frame") != "" {
		t.Error("the page calls itself a frame")
	}
	body := page.Body.String()
	from, to := strings.Index(body, "<main "), strings.Index(body, "</main>")+len("</main>")
	if diff := cmp.Diff(body[from:to], frame.Body.String()); diff != "" {
		t.Errorf("-page +frame:\n%s", diff)
	}
}

// A page that has the set-up of a run gets the run's frames without it, and all the rest; a frame of another
// run comes whole.
func TestTheSetUpOfARunIsSentOnce(t *testing.T) {
	s := newSite(t)
	whole := ask(s, "GET", "/frame"+start+"&t=7").Body.String()
	name := attribute(elementByID(t, whole, "set-up"), "data-run")
	if name == "" || !strings.Contains(textOf(elementByID(t, whole, "set-up")), "Topic and group") {
		t.Fatal("the frame has no set-up with a name")
	}
	kept := regexp.MustCompile(`(?s)<div id="(ready-runs|set-up)" class="of-run".*?(<section class="panel" id="actions"|<div class="stage")`)
	rest := func(frame string) string { return kept.ReplaceAllString(frame, "$1$2") }
	for _, target := range []string{"&t=7&has=" + name, "&has=" + name + "&t=7&datastar=%7B%7D"} {
		without := ask(s, "GET", "/frame"+start+target).Body.String()
		if div := elementByID(t, without, "set-up"); textOf(div) != "" || attribute(div, "data-ignore-morph") != "" || div.FirstChild != nil {
			t.Errorf("%s: the set-up is sent again", target)
		}
		if diff := cmp.Diff(rest(whole), rest(without)); diff != "" {
			t.Errorf("%s: -whole +without:\n%s", target, diff)
		}
	}
	for _, target := range []string{"&t=8&at=record:orders-1:0", "&t=0&why=20"} {
		if without := ask(s, "GET", "/frame"+start+target+"&has="+name).Body.String(); strings.Contains(without, "Topic and group") {
			t.Errorf("%s is of the same run and comes with the set-up", target)
		}
	}
	for _, target := range []string{"&partitions=6&t=7", "&do=3:pause+c1&t=7", "&seed=2&t=7", "&t=7&theme=dark", "&t=7&horizon=30"} {
		if other := ask(s, "GET", "/frame"+start+target+"&has="+name).Body.String(); !strings.Contains(other, "Topic and group") {
			t.Errorf("%s is another run and comes without a set-up", target)
		}
	}
	if w := ask(s, "GET", start+"&has="+name); w.Code != http.StatusBadRequest {
		t.Errorf("a page is asked for with has: %d, want 400", w.Code)
	}
}

func TestHeaders(t *testing.T) {
	s := newSite(t)
	for _, target := range []string{"/", start, "/frame" + start, "/glossary", "/nowhere", start + "&t=-1", "/healthz"} {
		h := ask(s, "GET", target).Header()
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
			"X-Content-Type-Options":  "nosniff",
			"Referrer-Policy":         "same-origin",
			"Set-Cookie":              "",
		} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", target, name, got, want)
			}
		}
		if h.Get("Cache-Control") == "" {
			t.Errorf("%s: no Cache-Control", target)
		}
	}
}

func TestHEADAnswersAsGETWithoutABody(t *testing.T) {
	server := httptest.NewServer(newSite(t).Handler())
	defer server.Close()
	for _, target := range []string{"/", start, "/frame" + start, "/play" + start, "/glossary", "/healthz", "/metrics"} {
		answer, err := http.Head(server.URL + target)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %d", target, answer.StatusCode)
		}
	}
}

func TestPagesAreCompressedAndStreamsAreNot(t *testing.T) {
	s := newSite(t)
	w := ask(s, "GET", start, "Accept-Encoding", "gzip")
	if w.Header().Get("Content-Encoding") != "gzip" {
		t.Fatal("a page is not compressed")
	}
	unpacked, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(unpacked)
	if err != nil || !bytes.Contains(body, []byte("</html>")) {
		t.Errorf("not a page: %v", err)
	}
	if got := ask(s, "GET", "/play"+start+"&t=5000", "Accept-Encoding", "gzip").Header().Get("Content-Encoding"); got != "" {
		t.Errorf("a stream is compressed with %s", got)
	}
}

func TestTheScriptsAndStylesOfAPageAreThere(t *testing.T) {
	s := newSite(t)
	body := ask(s, "GET", start).Body.String()
	paths := regexp.MustCompile(`/static/[^"]+`).FindAllString(body, -1)
	if len(paths) < 4 {
		t.Fatalf("the page names %v", paths)
	}
	for _, path := range paths {
		w := ask(s, "GET", path)
		if w.Code != 200 || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d, Cache-Control %q", path, w.Code, w.Header().Get("Cache-Control"))
		}
	}
}

// Time in this test is virtual, so its pace is exact.
func TestAStreamPlaysToTheHorizonAndEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := ask(newSite(t), "GET", "/play"+start+"&t=17&pace=10&datastar=%7B%7D")
		if got := w.Header().Get("Content-Type"); got != "text/event-stream" {
			t.Errorf("Content-Type is %q", got)
		}
		var got []string
		for _, e := range events(w.Body.String()) {
			main := elementByID(t, strings.TrimPrefix(strings.Join(e.Data, "\n"), "elements "), "lab")
			play := elementByID(t, strings.TrimPrefix(strings.Join(e.Data, "\n"), "elements "), "play")
			got = append(got, attribute(main, "data-address")+" stream="+attribute(main, "data-stream")+" "+strings.TrimSpace(textOf(play)))
		}
		var want []string
		for tick := 17; tick <= 20; tick++ {
			address := fmt.Sprintf("%s&t=%d&pace=10", start, tick)
			if tick < 20 {
				want = append(want, address+" stream=/play"+address+" Pause")
			} else {
				want = append(want, address+" stream= Play")
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

func TestTooManyStreamsAreRefused(t *testing.T) {
	s := newSite(t)
	for range maxStreamsOfAddress {
		s.streams.admit("192.0.2.1") // the address of httptest's requests
	}
	w := ask(s, "GET", "/play"+start)
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
	}
	if text := plainText(t, w.Body.String()); !strings.Contains(text, "64") {
		t.Errorf("the page does not name the bound:\n%s", text)
	}
}

func TestStoppingEndsStreams(t *testing.T) {
	s := newSite(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, listener) }()
	answer, err := http.Get("http://" + listener.Addr().String() + "/play" + start + "&horizon=5000")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	stream := bufio.NewReader(answer.Body)
	if line, err := stream.ReadString('\n'); err != nil || line != "event: datastar-patch-elements\n" {
		t.Fatalf("the stream begins with %q, %v", line, err)
	}
	stop()
	if _, err := io.Copy(io.Discard, stream); err != nil {
		t.Errorf("the stream broke off: %v", err)
	}
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
	if got := s.streams.count(); got != 0 {
		t.Errorf("%d streams are left", got)
	}
}

func TestMetrics(t *testing.T) {
	s := newSite(t)
	ask(s, "GET", start)
	ask(s, "GET", "/lab/unknown")
	ask(s, "GET", "/nowhere")
	body := ask(s, "GET", "/metrics").Body.String()
	for _, line := range []string{
		`loglab_requests_total{route="/lab/{name}",status="200"} 1`,
		`loglab_requests_total{route="/lab/{name}",status="404"} 1`,
		`loglab_requests_total{route="none",status="404"} 1`,
		`loglab_frame_seconds_count 1`,
		`loglab_streams_open 0`,
		`loglab_cold_replays_total 1`,
	} {
		if !strings.Contains(body, line+"\n") {
			t.Errorf("there is no line %q", line)
		}
	}
}

// The log may be read on a terminal and kept: one line a request, whatever the request holds.
func TestARequestIsOneLineOfTheLog(t *testing.T) {
	var lines bytes.Buffer
	s := newSiteLogging(t, slog.New(slog.NewTextHandler(&lines, nil)))
	ask(s, "GET", "/x\n\x1b[31m?"+strings.Repeat("q", 3000)+"\n")
	got := lines.String()
	if strings.Count(got, "\n") != 1 || strings.Contains(got, "\x1b") || len(got) > 600 {
		t.Errorf("the log has %q", got)
	}
	for _, part := range []string{"method=GET", "status=404", "bytes=", "ms="} {
		if !strings.Contains(got, part) {
			t.Errorf("the line has no %s: %s", part, got)
		}
	}
}

func TestAPanicIsAnErrorPage(t *testing.T) {
	s := newSite(t)
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/", nil)
	r = r.WithContext(context.WithValue(r.Context(), chi.RouteCtxKey, chi.NewRouteContext()))
	s.observe(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("secret") })).ServeHTTP(w, r)
	if w.Code != 500 || !strings.Contains(w.Body.String(), "Log Lab is at fault") || strings.Contains(w.Body.String(), "secret") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// Every link and form of a lab's page leads somewhere.
func TestEveryLinkLeadsSomewhere(t *testing.T) {
	s := newSite(t)
	seen := map[string]bool{}
	kept, _ := seeOther(t, s, sendForm(t, s, []view.Param{{Name: "path", Value: "/lab/partitions"}, {Name: "keys", Value: customers(500)}}))
	for _, page := range []string{"/", "/glossary", start + "&do=3:pause+c1&do=12:resume+c1&t=9", kept + "&do=3:pause+c1&t=9"} {
		for _, n := range elements(t, ask(s, "GET", page).Body.String()) {
			for _, key := range []string{"href", "src", "action"} {
				link, _, _ := strings.Cut(attribute(n, key), "#")
				if link == "" || seen[link] || attribute(n, "method") == "post" {
					continue
				}
				seen[link] = true
				w := ask(s, "GET", strings.TrimPrefix(link, "http://example.com")) // another site is told the whole address
				redirects := key == "action" || strings.HasSuffix(link, "&next=1")
				if w.Code != 200 && !(redirects && w.Code == http.StatusTemporaryRedirect) {
					t.Errorf("%s: <%s %s=%q>: %d", page, n.Data, key, link, w.Code)
				}
			}
		}
	}
	if len(seen) < 200 {
		t.Errorf("only %d links were found", len(seen))
	}
}

func TestTheLargestPictureIsSmallEnoughToMorph(t *testing.T) {
	s := newSite(t)
	for _, query := range []string{"&partitions=64&consumers=64&rate=100&t=20", "&partitions=64&consumers=64&rate=100&t=20&at=record:orders-1:3", "&rate=100&keys=500&t=100"} {
		if n := len(elements(t, ask(s, "GET", "/frame"+start+query).Body.String())); n > 1200 || n < 300 {
			t.Errorf("%s: #lab has %d elements, want at most 1200", query, n)
		}
	}
}
