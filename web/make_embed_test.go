package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// The page that makes an embed takes a link and what its form sends, and its code is that of the frame it shows.
func TestMakeEmbed(t *testing.T) {
	s := newSite(t)
	for _, tc := range []struct{ link, more, embedded, height string }{
		{"/lab/partitions?v=1&t=12", "", "/embed/lab/partitions?v=1&t=12", "720"},
		{"http://example.com/lab/partitions?t=12&do=4:pause+c1", "&t=15&range=12..18&chrome=minimal&still=&theme=dark&size=projector&pace=5&height=610",
			"/embed/lab/partitions?v=1&do=4:pause+c1&t=15&range=12..18&pace=5&theme=dark&size=projector&chrome=minimal", "610"},
		{"/lab/partitions?t=12&theme=dark", "&theme=&still=1", "/embed/lab/partitions?v=1&t=12&still=1", "720"},
		{"/embed/scenario/crash-before-commit?t=9&guess=begins:5", "&t=10", "/embed/scenario/crash-before-commit?v=1&t=10&guess=begins:5", "720"},
	} {
		w := ask(s, "GET", "/make-embed?url="+url.QueryEscape(tc.link)+tc.more)
		frames := named(elements(t, w.Body.String()), "iframe")
		if w.Code != http.StatusOK || len(frames) != 1 {
			t.Errorf("%s: %d with %d frames", tc.link, w.Code, len(frames))
			continue
		}
		if src, height := attribute(frames[0], "src"), attribute(frames[0], "height"); src != tc.embedded || height != tc.height {
			t.Errorf("%s: it shows %s, %s high, want %s, %s", tc.link, src, height, tc.embedded, tc.height)
		}
		code := elementByID(t, w.Body.String(), "code-frame").FirstChild.Data
		if frame := named(elements(t, code), "iframe"); len(frame) != 1 || attribute(frame[0], "src") != "http://example.com"+tc.embedded || attribute(frame[0], "height") != tc.height {
			t.Errorf("%s: the code is %s", tc.link, code)
		}
		if policy := w.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "frame-src 'self'; ") || !strings.HasSuffix(policy, "frame-ancestors 'none'") {
			t.Errorf("the policy is %s", policy)
		}
		if w := ask(s, "GET", tc.embedded); w.Code != http.StatusOK {
			t.Errorf("%s: its frame answers %d", tc.link, w.Code)
		}
	}
	for more, want := range map[string]int{"": 404, "url=/nowhere": 404, "url=/lab/partitions&t=-1": 400, "url=/lab/partitions&height=9": 400, "url=/lab/partitions&height=1e3": 400, "url=/lab/partitions&range=9": 400, "url=/lab/partitions&theme=red": 400, "url=http://other.example/lab/partitions": 404} {
		if w := ask(s, "GET", "/make-embed?"+more); w.Code != want {
			t.Errorf("%s: %d, want %d", more, w.Code, want)
		}
	}
}

// The script of the element has an address that does not change, and every page may load it.
func TestElementScript(t *testing.T) {
	w := ask(newSite(t), "GET", "/embed.js")
	if w.Code != http.StatusOK || w.Header().Get("Access-Control-Allow-Origin") != "*" || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/javascript") || w.Header().Get("Cache-Control") != "public, max-age=3600" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if !strings.Contains(w.Body.String(), "customElements.define('log-lab'") {
		t.Error("it defines no element")
	}
}
