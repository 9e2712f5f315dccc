package web

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"
)

const story = "/scenario/acks-1-leader-dies?v=1"

// A scenario has one address, like a lab, and its frame is the element #lab of its page.
func TestScenarioPages(t *testing.T) {
	s := newSite(t)
	for _, from := range []string{"/scenario/acks-1-leader-dies", "/scenario/acks-1-leader-dies?t=0", "/scenario/acks-1-leader-dies?guess=lost:&guess=02&v=1"} {
		w := ask(s, "GET", from)
		want := story
		if strings.Contains(from, "guess") {
			want += "&guess=lost:2"
		}
		if got := w.Header().Get("Location"); w.Code != 307 || got != want {
			t.Errorf("%s: %d to %q, want %s", from, w.Code, got, want)
		}
	}
	for _, query := range []string{"", "&t=25", "&t=59&guess=lost:2", "&t=74", "&t=25&chrome=minimal", "&t=25&still=1", "&t=25&theme=dark&size=projector", "&horizon=74&acks=1&goal=1&do=4:kill+b1&t=9"} {
		for _, before := range []string{"", "/embed"} {
			page, frame := ask(s, "GET", canonical(s, before+story+query)), ask(s, "GET", "/frame"+before+story+query)
			if page.Code != 200 || frame.Code != 200 {
				t.Errorf("%s%s: page %d, frame %d", before, query, page.Code, frame.Code)
				continue
			}
			body := page.Body.String()
			from, to := strings.Index(body, "<main "), strings.Index(body, "</main>")+len("</main>")
			if body[from:to] != frame.Body.String() || frame.Header().Get("Lab-Frame") == "" {
				t.Errorf("%s%s: the frame is not that of the page", before, query)
			}
			if framed := strings.Contains(page.Header().Get("Content-Security-Policy"), "frame-ancestors *"); framed != (before != "") {
				t.Errorf("%s%s: may be framed: %v", before, query, framed)
			}
		}
	}
	stream := ask(s, "GET", "/play"+story+"&t=72&pace=10").Body.String()
	if n := strings.Count(stream, "data-address="); n != 3 || !strings.Contains(stream, `data-address="`+story+`&amp;t=74&amp;pace=10"`) {
		t.Errorf("the stream has %d frames", n)
	}
	if frame := ask(s, "GET", "/frame/play/embed"+story+"&t=72"); frame.Code != 200 {
		t.Errorf("a played frame is %d", frame.Code)
	}
}

// Playing a scenario rests where something is said, asked or decided: who plays on goes to the next such tick.
func TestPlayingAScenarioRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		for _, test := range []struct{ query, last string }{
			{"", "&t=19"}, {"&t=19", "&t=25"}, {"&t=24", "&t=25"}, {"&t=4&horizon=9", "&t=9&horizon=9"}, {"&t=4&range=2..12", "&t=12&range=2..12"}, {"&t=74", "&t=74"},
		} {
			frames := events(ask(s, "GET", "/play"+canonical(s, story+test.query+"&pace=10")).Body.String())
			last := elementByID(t, strings.TrimPrefix(strings.Join(frames[len(frames)-1].Data, "\n"), "elements "), "lab")
			if got := attribute(last, "data-address"); got != story+test.last+"&pace=10" || attribute(last, "data-stream") != "" {
				t.Errorf("from %q it plays to %q, stream %q; want %q at rest", test.query, got, attribute(last, "data-stream"), test.last)
			}
		}
	})
}

// Who plays to where a scenario opens something sees it open, and closed again when it plays on. Without a script too.
func TestPlayingAScenarioOpensWhatItShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		for query, last := range map[string]string{"&t=14": "&t=16&at=group:billing", "&t=16&at=group:billing": "&t=17", "&t=16&at=partition:orders-0": "&t=17&at=partition:orders-0"} {
			from := canonical(s, "/scenario/cooperative-keeps-what-stays?v=1"+query+"&pace=10")
			frames := events(ask(s, "GET", "/play"+from).Body.String())
			element := elementByID(t, strings.TrimPrefix(strings.Join(frames[len(frames)-1].Data, "\n"), "elements "), "lab")
			want := "/scenario/cooperative-keeps-what-stays?v=1" + last + "&pace=10"
			if got := attribute(element, "data-address"); got != want {
				t.Errorf("from %q it plays to %q, want %q", query, got, want)
			}
			if href := attribute(elementByID(t, ask(s, "GET", from).Body.String(), "play"), "href"); href != want {
				t.Errorf("at %q the link to play leads to %q, want %q", query, href, want)
			}
		}
	})
}

// canonical follows a redirect to the canonical address.
func canonical(s *Site, target string) string {
	if to := ask(s, "GET", target).Header().Get("Location"); to != "" {
		return to
	}
	return target
}

// No answer is told before it is decided: neither in the page nor in its links.
func TestScenarioKeepsItsAnswer(t *testing.T) {
	s := newSite(t)
	for _, early := range []string{"&t=25", "&t=25&guess=lost:7", "&t=58"} {
		if body := ask(s, "GET", story+early).Body.String(); strings.Contains(body, "What happened") {
			t.Errorf("%s tells what happened", early)
		}
	}
	w := plainText(t, ask(s, "GET", story+"&t=59&guess=lost:7").Body.String())
	for _, says := range []string{"Your guess", "7 records", "What happened", "2 records"} {
		if !strings.Contains(w, says) {
			t.Errorf("the page does not say %q", says)
		}
	}
}

func TestBadScenarioAddresses(t *testing.T) {
	s := newSite(t)
	for target, test := range map[string]struct {
		status int
		says   []string
	}{
		"/scenario/nothing":                                     {404, []string{"no such scenario", "nothing"}},
		"/frame/scenario/nothing":                               {404, []string{"no such scenario"}},
		"/embed/scenario/nothing":                               {404, []string{"no such scenario"}},
		story + "&acks=all":                                     {400, []string{"acks", "an address of the lab"}},
		story + "&guess=lost:99":                                {400, []string{"guess", "0 to 10", "from its start"}},
		story + "&t=5001":                                       {400, []string{"5001", "0 to 5000"}},
		"/lab/replication?v=1&guess=lost:1":                     {400, []string{"guess", "only a scenario"}},
		"/file/scenario/lab/replication?v=1&t=2000":             {422, []string{"too long for a scenario"}},
		"/file/scenario/lab/replication?v=1&do=4:explode&t=200": {400, []string{"explode"}},
	} {
		w := ask(s, "GET", target)
		if w.Code != test.status {
			t.Errorf("%s: status %d, want %d", target, w.Code, test.status)
		}
		for _, says := range test.says {
			if !strings.Contains(plainText(t, w.Body.String()), says) {
				t.Errorf("%s does not say %q", target, says)
			}
		}
	}
}

// The first page lists every scenario under its heading, and each of its links is an answer.
func TestHomeListsScenarios(t *testing.T) {
	s := newSite(t)
	home := ask(s, "GET", "/").Body.String()
	list, _ := s.scenarios.All()
	if len(list) < 10 {
		t.Errorf("there are %d scenarios", len(list))
	}
	for _, told := range list {
		if !strings.Contains(home, `href="/scenario/`+told.Name+`?v=1"`) {
			t.Errorf("%s is not on the first page", told.Name)
		}
		for _, term := range told.Terms {
			if ask(s, "GET", "/glossary/"+term).Code != 200 {
				t.Errorf("%s: there is no term %s", told.Name, term)
			}
		}
	}
}

// The link on a page of a lab gives a file that a server can show.
func TestSaveScenario(t *testing.T) {
	s := newSite(t)
	const run = "/lab/replication?v=1&rate=0&do=4:produce+p0&do=9:kill+b2&t=20"
	if body := ask(s, "GET", run).Body.String(); !strings.Contains(body, `href="/file/scenario`+strings.ReplaceAll(run, "&", "&amp;")+`"`) {
		t.Error("the page has no link to save the run")
	}
	w := ask(s, "GET", "/file/scenario"+run)
	if w.Code != 200 || !strings.Contains(w.Header().Get("Content-Disposition"), `filename="my-replication.yaml"`) {
		t.Fatalf("status %d, %s", w.Code, w.Header().Get("Content-Disposition"))
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine.yaml"), w.Body.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.AddScenarios(dir); err != nil {
		t.Fatal(err)
	}
	if page := ask(s, "GET", "/scenario/mine?v=1&t=9"); page.Code != 200 || !strings.Contains(plainText(t, page.Body.String()), "What happens at tick 9.") {
		t.Errorf("the saved scenario is shown with %d", page.Code)
	}
}

// A shipped file that is wrong is told to the log by its line, and the others are served.
func TestWrongShippedScenario(t *testing.T) {
	good := "title: Right\nsummary: It shows.\ngroup: storage\nlab: segments\nend: 5\nsay:\n  - {at: 0, text: Hello.}\n"
	files := fstest.MapFS{
		"scenarios/first.yaml": {Data: []byte(strings.Replace(good, "end: 5", "end: five", 1))},
		"scenarios/next.yaml":  {Data: []byte(good)},
		"scenarios/third.yaml": {Data: []byte(strings.Replace(good, "storage", "stores", 1))},
	}
	var log strings.Builder
	list := shippedScenarios(files, newSite(t).known, slog.New(slog.NewTextHandler(&log, nil)))
	if len(list) != 1 || list[0].Name != "next" {
		t.Errorf("%d scenarios are served, want next alone", len(list))
	}
	for _, words := range []string{"first.yaml:5", "whole number from 1 to 1000", "third.yaml:3", "offsets and crashes"} {
		if !strings.Contains(log.String(), words) {
			t.Errorf("the log does not say %q:\n%s", words, log.String())
		}
	}
}

// A teacher's file that is wrong is told by its line; the rest is served, and a file put right is shown without a
// restart.
func TestScenarioDirectory(t *testing.T) {
	s := newSite(t)
	dir := t.TempDir()
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "own.yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	good := "title: Own\nsummary: It shows.\ngroup: storage\nlab: segments\nend: 5\nsay:\n  - {at: 0, text: Hello.}\n"
	write(strings.Replace(good, "end: 5", "end: five", 1))
	if err := s.AddScenarios(dir); err != nil {
		t.Fatal(err)
	}
	w := ask(s, "GET", "/scenario/own?v=1")
	if text := plainText(t, w.Body.String()); w.Code != 422 || !strings.Contains(text, "own.yaml:5") || !strings.Contains(text, "whole number from 1 to 1000") {
		t.Errorf("status %d: %s", w.Code, text)
	}
	if home := plainText(t, ask(s, "GET", "/").Body.String()); !strings.Contains(home, "1 scenario file of this server’s own directory cannot be shown") {
		t.Error("the first page does not say that a file is wrong")
	}
	if code := ask(s, "GET", story).Code; code != 200 {
		t.Errorf("the shipped scenario is %d", code)
	}
	write(good)
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		w := ask(s, "GET", "/scenario/own?v=1")
		if w.Code == 200 && strings.Contains(w.Body.String(), "Hello.") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the file put right is %d", w.Code)
		}
	}
}
