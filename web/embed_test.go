package web

import (
	"bytes"
	"image/png"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// embed is the start of the lab for another site's page.
const embed = "/embed/lab/partitions?v=1"

// Only what is below /embed/ may be framed, and its errors too, so that an author sees them.
func TestWhatMayBeFramed(t *testing.T) {
	s := newSite(t)
	for target, want := range map[string]string{
		embed: "*", embed + "&t=9999": "*", "/embed/lab/unknown": "*", "/embed/lab/partitions": "*", "/embed/nothing": "*",
		"/": "'none'", start: "'none'", "/lab/unknown": "'none'", "/nowhere": "'none'", "/embed": "'none'", "/glossary": "'none'",
		"/glossary/offset": "'none'", "/frame" + start: "'none'", "/frame" + embed: "'none'", "/frame/play" + embed: "'none'",
		"/play" + start + "&t=20": "'none'", "/play" + embed + "&t=20": "'none'", "/healthz": "'none'", "/metrics": "'none'",
		"/static/nothing": "'none'", s.assets.Script: "'none'", "/lab/partitions/preview.png": "'none'",
	} {
		policy := ask(s, "GET", target).Header().Values("Content-Security-Policy")
		if len(policy) != 1 || !strings.HasSuffix(policy[0], "; frame-ancestors "+want) {
			t.Errorf("%s: the policy is %q, want it to end with frame-ancestors %s", target, policy, want)
		}
		if strings.Count(policy[0], "'unsafe") > 0 {
			t.Errorf("%s: %q", target, policy)
		}
	}
}

// A script without an origin of its own may read what an embedded frame needs, and nothing else.
func TestWhatEveryOriginMayRead(t *testing.T) {
	s := newSite(t)
	shared := []string{embed, "/frame" + embed, "/frame/play" + embed, "/play" + embed + "&t=20", embed + "&t=-1", s.assets.Script, s.assets.Style, s.assets.Datastar}
	for _, target := range shared {
		h := ask(s, "GET", target, "Origin", "null").Header()
		if got := h.Values("Access-Control-Allow-Origin"); !slices.Equal(got, []string{"*"}) {
			t.Errorf("%s: Access-Control-Allow-Origin is %q", target, got)
		}
	}
	if got := ask(s, "GET", "/frame"+embed).Header().Get("Access-Control-Expose-Headers"); got != "Lab-Frame" {
		t.Errorf("the headers to be read are %q", got)
	}
	for _, target := range []string{embed, "/frame" + embed, "/play" + embed} {
		w := ask(s, "OPTIONS", target, "Origin", "null", "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "datastar-request")
		h := w.Header()
		if w.Code != http.StatusNoContent || h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Access-Control-Allow-Headers") != "datastar-request" || h.Get("Access-Control-Max-Age") == "" {
			t.Errorf("OPTIONS %s: %d, %v", target, w.Code, h)
		}
	}
	w := ask(s, "POST", "/embed/store", "Origin", "null", "Content-Type", "application/x-www-form-urlencoded")
	if w.Code != http.StatusBadRequest || w.Header().Get("Access-Control-Allow-Origin") != "*" || !strings.HasSuffix(w.Header().Get("Content-Security-Policy"), "frame-ancestors *") {
		t.Errorf("POST /embed/store: %d, %v", w.Code, w.Header())
	}
	for _, target := range []string{"/", start, "/frame" + start, "/play" + start + "&t=20", "/glossary", "/metrics", "/healthz", "/nowhere", "/lab/partitions/preview.png"} {
		for _, method := range []string{"GET", "OPTIONS"} {
			for name := range ask(s, method, target, "Origin", "https://other.example").Header() {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("%s %s: %s", method, target, name)
				}
			}
		}
	}
}

func TestAnEmbedIsTheLabWithoutTheSite(t *testing.T) {
	s := newSite(t)
	const query = "&do=3:pause+c1&do=12:resume+c1&t=9&why=60"
	body := ask(s, "GET", embed+query).Body.String()
	frame := ask(s, "GET", "/frame"+embed+query)
	if frame.Header().Get("Lab-Frame") != "1" || !strings.Contains(body, frame.Body.String()) {
		t.Error("the page does not hold its frame")
	}
	if got, want := attribute(elementByID(t, body, "lab"), "data-address"), embed+query; got != want {
		t.Errorf("the address is %s, want %s", got, want)
	}
	for _, n := range elements(t, body) {
		if n.Data == "header" || n.Data == "nav" || attribute(n, "id") == "help" {
			t.Errorf("<%s id=%q> belongs to the site", n.Data, attribute(n, "id"))
		}
		for _, key := range []string{"href", "action", "data-play"} {
			to := attribute(n, key)
			inside := strings.HasPrefix(to, "/embed/") || strings.HasPrefix(to, "/play/embed/") || strings.HasPrefix(to, "#") || n.Data == "link"
			if to != "" && !inside && (attribute(n, "target") != "_blank" || attribute(n, "rel") != "noopener") {
				t.Errorf("<%s %s=%q> leads out of the frame and opens no window", n.Data, key, to)
			}
		}
	}
	if got := attribute(elementByID(t, body, "whole"), "href"); got != start+query {
		t.Errorf("the link to the lab leads to %s", got)
	}
	if w := ask(s, "GET", "/embed/lab/partitions?t=5"); w.Code != http.StatusTemporaryRedirect || w.Header().Get("Location") != embed+"&t=5" {
		t.Errorf("%d to %q", w.Code, w.Header().Get("Location"))
	}
	text := ask(s, "GET", embed+"&t=-1").Body.String()
	if strings.Contains(text, "<header") || !strings.Contains(text, `href="/embed/lab/partitions"`) || !strings.Contains(text, `href="/" target="_blank"`) {
		t.Errorf("the page of an error is\n%s", text)
	}
}

// focusable lists what can take the focus.
func focusable(list []*html.Node) (found []string) {
	for _, n := range list {
		switch {
		case n.Data == "a" && attribute(n, "href") != "", attribute(n, "tabindex") != "",
			slices.Contains([]string{"button", "input", "select", "textarea", "summary", "form", "iframe", "script"}, n.Data):
			found = append(found, n.Data+" "+attribute(n, "id"))
		}
	}
	return found
}

func TestAStillIsOnlyAPicture(t *testing.T) {
	s := newSite(t)
	for _, query := range []string{"&t=12&still=1", "&partitions=64&rate=100&t=20&at=record:orders-20:0&still=1&chrome=minimal", "&do=3:pause+c9&t=6&why=9&still=1"} {
		body := ask(s, "GET", embed+query).Body.String()
		if found := focusable(elements(t, body)); len(found) > 0 {
			t.Errorf("%s: there are %q", query, found)
		}
		live := ask(s, "GET", embed+strings.Split(query, "&still")[0]).Body.String()
		cells := func(page string) (labels []string) {
			for _, n := range elements(t, page) {
				if attribute(n, "data-offset") != "" {
					labels = append(labels, attribute(n, "aria-label"))
				}
			}
			return labels
		}
		if want, got := cells(live), cells(body); len(want) == 0 || !slices.Equal(want, got) {
			t.Errorf("%s: the records are %q, want %q", query, got, want)
		}
	}
	if found := focusable(elements(t, ask(s, "GET", "/frame"+start+"&still=1").Body.String())); len(found) > 0 {
		t.Errorf("on the lab's own page there are %q", found)
	}
}

func TestMinimalIsTransportPictureAndReading(t *testing.T) {
	body := ask(newSite(t), "GET", embed+"&t=12&at=record:orders-0:0&chrome=minimal").Body.String()
	var sections, opens []string
	for _, n := range elements(t, body) {
		if n.Data == "section" || n.Data == "aside" {
			sections = append(sections, attribute(n, "id")+attribute(n, "aria-labelledby"))
		}
		if attribute(n, "name") == "at" && attribute(n, "type") != "hidden" {
			opens = append(opens, n.Data)
		}
	}
	if strings.Contains(body, "&amp;why=") {
		t.Error("a link asks for causes, which are not shown")
	}
	if want := []string{"transport", "picture-title", "readingreading-title"}; !slices.Equal(sections, want) {
		t.Errorf("the sections are %q, want %q", sections, want)
	}
	if len(opens) > 0 {
		t.Errorf("%q open the inspector, which is not there", opens)
	}
}

// One frame of a play is what the stream sends for its tick.
func TestAPlayedFrameIsThatOfTheStream(t *testing.T) {
	s := newSite(t)
	for _, query := range []string{"&t=19", "&t=20", "&t=30", "&t=13&range=12..14", "&t=14&range=12..14"} {
		w := ask(s, "GET", "/frame/play"+embed+query)
		first := events(ask(s, "HEAD", "/play"+embed+query).Body.String())
		if len(first) != 0 || w.Header().Get("Lab-Frame") != "1" {
			t.Fatalf("%s: %v", query, w.Header())
		}
		playing := strings.Contains(w.Body.String(), "data-stream=")
		if want := query == "&t=19" || query == "&t=13&range=12..14"; playing != want {
			t.Errorf("%s: playing is %v", query, playing)
		}
	}
	stream := ask(s, "GET", "/play"+embed+"&t=19&pace=10").Body.String()
	for _, query := range []string{"&t=19&pace=10", "&t=20&pace=10"} {
		html := ask(s, "GET", "/frame/play"+embed+query).Body.Bytes()
		if !strings.Contains(stream, string(patchEvent(html))) {
			t.Errorf("%s: the stream does not send this frame", query)
		}
	}
}

func TestPreview(t *testing.T) {
	s := newSite(t)
	body := askAt(s, "lab.example:8080", start+"&t=7")
	meta := map[string]string{}
	for _, n := range elements(t, body) {
		if n.Data == "meta" {
			meta[attribute(n, "property")+attribute(n, "name")] = attribute(n, "content")
		}
	}
	for name, want := range map[string]string{
		"og:title": "Partition explorer, tick 7", "og:url": "http://lab.example:8080" + start + "&t=7", "twitter:card": "summary_large_image",
		"og:image": "http://lab.example:8080/lab/partitions/preview.png", "og:description": meta["description"],
	} {
		if meta[name] != want || want == "" {
			t.Errorf("%s is %q, want %q", name, meta[name], want)
		}
	}
	w := ask(s, "GET", "/lab/partitions/preview.png")
	img, err := png.Decode(w.Body)
	if err != nil || w.Header().Get("Content-Type") != "image/png" || img.Bounds().Dx() != 1200 || img.Bounds().Dy() != 630 {
		t.Errorf("%s, %v", w.Header().Get("Content-Type"), err)
	}
	told := ask(s, "GET", "/scenario/acks-1-leader-dies/preview.png")
	if img, err := png.Decode(told.Body); err != nil || img.Bounds().Dx() != 1200 {
		t.Errorf("of a scenario: %d, %v", told.Code, err)
	}
	if body := askAt(s, "lab.example:8080", story+"&t=25"); !strings.Contains(body, "http://lab.example:8080/scenario/acks-1-leader-dies/preview.png") {
		t.Error("a scenario does not name its picture")
	}
	if again := ask(s, "GET", "/lab/partitions/preview.png"); again.Code != 200 || bytes.Equal(again.Body.Bytes(), nil) {
		t.Errorf("the second time: %d", again.Code)
	}
	for _, unknown := range []string{"/lab/unknown/preview.png", "/scenario/unknown/preview.png"} {
		if w := ask(s, "GET", unknown); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", unknown, w.Code)
		}
	}
}

func askAt(s *Site, host, target string, header ...string) string {
	r := httptest.NewRequest("GET", target, nil)
	r.Host = host
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w.Body.String()
}

// Without JavaScript, link and code are in fields. The host is the request's, and what is no host is left out.
func TestLinkAndCodeToCopy(t *testing.T) {
	s := newSite(t)
	for host, origin := range map[string]string{
		"lab.example": "http://lab.example", "127.0.0.1:8080": "http://127.0.0.1:8080", "[::1]:8080": "http://[::1]:8080",
		`evil"><script>alert(1)</script>`: "", "a b": "", "x/y": "", "user@host": "", "": "",
	} {
		body := askAt(s, host, start+"&keys=a%22b&t=7")
		if got, want := attribute(elementByID(t, body, "share-link"), "value"), origin+start+"&keys=a%22b&t=7"; got != want {
			t.Errorf("host %q: the link is %q, want %q", host, got, want)
		}
		code := strings.TrimSpace(textOf(elementByID(t, body, "share-embed")))
		pasted := elements(t, code)
		frame := pasted[len(pasted)-1]
		if got, want := attribute(frame, "src"), origin+embed+"&keys=a%22b&t=7"; frame.Data != "iframe" || got != want {
			t.Errorf("host %q: the frame is %q, want %q", host, got, want)
		}
		if got := attribute(frame, "title"); got != "Partition explorer, tick 7" {
			t.Errorf("the title is %q", got)
		}
	}
	if body := askAt(s, "lab.example", start, "X-Forwarded-Proto", "https"); !strings.Contains(body, `value="https://lab.example/lab/`) {
		t.Error("behind a proxy with TLS the link has no https")
	}
	if body := askAt(s, "lab.example", start, "X-Forwarded-Proto", "javascript"); !strings.Contains(body, `value="http://lab.example/lab/`) {
		t.Error("a header that says javascript is believed")
	}
}
