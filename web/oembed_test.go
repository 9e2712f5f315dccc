package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// oembedOf asks for a link with further parameters.
func oembedOf(link, more string) string { return "/oembed?url=" + url.QueryEscape(link) + more }

// A site gets code that shows the frame of the link, in the size it allows.
func TestOEmbed(t *testing.T) {
	s := newSite(t)
	for _, tc := range []struct {
		link, more, title, src string
		width, height          int
		thumbnail              bool
	}{
		{"http://example.com/lab/partitions?v=1&t=12", "", "Partition explorer, tick 12", "http://example.com/embed/lab/partitions?v=1&amp;t=12", 760, 720, true},
		{"http://example.com/embed/lab/partitions?t=12", "&format=json", "Partition explorer, tick 12", "http://example.com/embed/lab/partitions?v=1&amp;t=12", 760, 720, true},
		{"/lab/offsets", "&maxwidth=500&maxheight=300", "Offset and commit playground, tick 0", "http://example.com/embed/lab/offsets?v=1", 500, 300, false},
		{"http://example.com/lab/partitions?do=4:pause+c1&t=5", "&maxwidth=2000", "Partition explorer, tick 5", "http://example.com/embed/lab/partitions?v=1&amp;do=4:pause+c1&amp;t=5", 760, 720, true},
		{"http://example.com/scenario/crash-before-commit?t=9&guess=begins:5", "&maxheight=9999", "A crash after processing, before the commit, tick 9",
			"http://example.com/embed/scenario/crash-before-commit?v=1&amp;t=9&amp;guess=begins:5", 760, 720, true},
	} {
		w := ask(s, "GET", oembedOf(tc.link, tc.more))
		var e oEmbed
		if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json; charset=utf-8" {
			t.Errorf("%s: %d, %v: %s", tc.link, w.Code, err, w.Body)
			continue
		}
		if e.Type != "rich" || e.Version != "1.0" || e.Title != tc.title || e.Width != tc.width || e.Height != tc.height || (e.ThumbnailURL != "") != tc.thumbnail || e.ProviderURL != "http://example.com/" {
			t.Errorf("%s: %+v", tc.link, e)
		}
		frame := named(elements(t, e.HTML), "iframe")
		if len(frame) != 1 || !strings.Contains(e.HTML, ` src="`+tc.src+`"`) {
			t.Fatalf("%s: the code is %s", tc.link, e.HTML)
		}
		if w := ask(s, "GET", strings.TrimPrefix(attribute(frame[0], "src"), "http://example.com")); w.Code != http.StatusOK {
			t.Errorf("%s: its frame answers %d", tc.link, w.Code)
		}
	}
}

// A page says where to ask, and what it says leads to its own frame. An embedded page does not.
func TestOEmbedDiscovery(t *testing.T) {
	s := newSite(t)
	for _, target := range []string{start + "&t=12", "/scenario/crash-before-commit?v=1&t=9"} {
		var found []string
		for _, link := range named(elements(t, ask(s, "GET", target).Body.String()), "link") {
			if attribute(link, "type") == "application/json+oembed" {
				found = append(found, attribute(link, "href"))
			}
		}
		if len(found) != 1 || found[0] != "http://example.com"+oembedOf("http://example.com"+target, "") {
			t.Errorf("%s: %q", target, found)
		}
		if strings.Contains(ask(s, "GET", "/embed"+target).Body.String(), "oembed") {
			t.Errorf("/embed%s: it names oEmbed", target)
		}
	}
}

// What cannot be embedded is refused with the status that the specification has for it.
func TestOEmbedRefusals(t *testing.T) {
	s := newSite(t)
	for target, want := range map[string]int{
		"/oembed": 404, "/oembed?url=": 404, oembedOf("/", ""): 404, oembedOf("/glossary", ""): 404, oembedOf("/lab/nothing", ""): 404, oembedOf("/scenario/nothing", ""): 404,
		oembedOf("http://other.example/lab/partitions", ""): 404, oembedOf("javascript:alert(1)", ""): 404, oembedOf("//other.example/lab/partitions", ""): 404,
		oembedOf("ftp://example.com/lab/partitions", ""): 404, oembedOf("http://example.com/lab/partitions?t=9999", ""): 404, oembedOf("http://example.com/lab/partitions?x=%zz", ""): 404,
		oembedOf("/lab/partitions/preview.png", ""): 404, oembedOf("/embed/embed/lab/partitions", ""): 404, oembedOf("/lab/partitions?"+strings.Repeat("a", 13_000), ""): 404,
		oembedOf("/lab/partitions", "&format=xml"): 501, oembedOf("/lab/partitions", "&maxwidth=wide"): 400, oembedOf("/lab/partitions", "&maxheight=0"): 400,
		oembedOf("/lab/partitions", "&maxwidth=-5"): 400, oembedOf("/lab/partitions", "&maxwidth=99999999999999999999"): 400,
	} {
		if w := ask(s, "GET", target); w.Code != want {
			t.Errorf("%.120s: %d, want %d", target, w.Code, want)
		}
	}
}
