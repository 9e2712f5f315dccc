package web

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"
)

// setUpOf gives the name of the set-up that a page of the run has.
func setUpOf(b *testing.B, h http.Handler, seed int) string {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, fmt.Sprintf("/frame/lab/partitions?v=1&seed=%d", seed), nil))
	name := regexp.MustCompile(`data-run="([^"]+)"`).FindStringSubmatch(w.Body.String())
	if name == nil {
		b.Fatal("the frame has no set-up")
	}
	return name[1]
}

// BenchmarkAddressToHTML answers requests whole, as the browser makes them: routed, replayed, drawn and
// compressed. "cold" asks for a run that is nowhere in memory, "step" for the next tick of one that is,
// "again" for a frame that was asked for before.
func BenchmarkAddressToHTML(b *testing.B) {
	get := func(b *testing.B, h http.Handler, path string) int {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("Accept-Encoding", "gzip")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			b.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		return w.Body.Len()
	}
	site := func(b *testing.B) http.Handler {
		return newSiteLogging(b, slog.New(slog.NewTextHandler(io.Discard, nil))).Handler()
	}
	b.Run("cold", func(b *testing.B) {
		h, seed := site(b), 1
		for b.Loop() {
			seed++
			get(b, h, fmt.Sprintf("/lab/partitions?v=1&seed=%d&t=20", seed))
		}
	})
	b.Run("step", func(b *testing.B) {
		h, t, seed, bytes, n := site(b), 200, 0, 0, 0
		var has string
		for b.Loop() {
			if t++; t > 200 { // where learners are
				t, seed = 1, seed+1
				has = setUpOf(b, h, seed)
			}
			bytes += get(b, h, fmt.Sprintf("/frame/lab/partitions?v=1&seed=%d&t=%d&has=%s", seed, t, has))
			n++
		}
		b.ReportMetric(float64(bytes)/float64(n), "compressed-B/op")
	})
	b.Run("again", func(b *testing.B) {
		h := site(b)
		for b.Loop() {
			get(b, h, "/frame/lab/partitions?v=1&t=20")
		}
	})
}
