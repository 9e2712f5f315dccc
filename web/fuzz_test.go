package web

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// Whatever is asked for, the answer is one of those that the site gives, and never a fault of its own.
func FuzzRequest(f *testing.F) {
	for _, path := range []string{"/", "/lab/partitions", "/lab/replication", "/frame/lab/replication", "/embed/lab/replication", "/frame/lab/partitions", "/play/lab/partitions", "/file/lab/partitions", "/lab/segments", "/frame/lab/segments", "/disk/lab/segments", "/disk/leader-epoch-checkpoint/lab/segments", "/file", "/file/segment", "/file/segment/zip", "/embed/lab/partitions", "/frame/embed/lab/partitions", "/play/embed/lab/partitions", "/frame/play/embed/lab/partitions", "/oembed", "/store", "/capacity", "/glossary", "/glossary/offset", "/static/lab.css", "/healthz", "/metrics", "//", "/lab/", "/lab/../x"} {
		for _, query := range []string{"", "v=1&t=3", "t=-1", "partitions=64&consumers=64&rate=100&t=9&at=record:orders-0:3", "do=1:pause+c1&do=2:wait+5s&t=4&why=90", "z=AwA&t=2", "vs=partitions:6&t=4&at=vs:node:c1", "rate=2&beside=rate%3D3", "do=2:kill+b1&do=3:cut+b2+b3&do=4:drop-next+b2+p0&do=5:power-loss+b3&t=9&at=replica:orders-0:2&next=1", "rf=9&brokers=9&do=1:wipe+b4&do=2:slow-disk+b3+1h&do=3:elect-unclean+orders+0&t=8&vs=acks:1", "from=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA&t=3", "keys=a%0A%0Ab&datastar=%7B%7D&theme=dark"} {
			f.Add(path, query)
		}
	}
	s := newSiteLogging(f, slog.New(slog.DiscardHandler))
	f.Fuzz(func(t *testing.T, path, query string) {
		method := http.MethodGet
		if strings.HasPrefix(path, "/play/") {
			method = http.MethodHead // a stream takes its time: only its beginning
		}
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, method, "/", nil)
		r.URL = &url.URL{Path: path, RawQuery: query}
		r.RequestURI = path + "?" + query
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		if ctx.Err() != nil {
			return // a long run; nobody waits for it any more
		}
		checkKnownAnswer(t, w)
	})
}

// attached is the type of files that a browser keeps.
const attached = "application/octet-stream"

// checkKnownAnswer holds an answer to the statuses and types that the site gives.
func checkKnownAnswer(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	statuses := []int{
		http.StatusOK, http.StatusTemporaryRedirect, http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusUnprocessableEntity, http.StatusServiceUnavailable,
	}
	if !slices.Contains(statuses, w.Code) {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	types := []string{"text/html; charset=utf-8", "text/plain; ", "text/event-stream", "text/css; charset=utf-8", "text/javascript; charset=utf-8", "image/svg+xml", attached}
	found := w.Header().Get("Content-Type")
	if disposition := w.Header().Get("Content-Disposition"); found == attached && !strings.HasPrefix(disposition, "attachment; filename=") {
		t.Errorf("Content-Disposition %q", disposition)
	}
	if !slices.ContainsFunc(types, func(known string) bool { return strings.HasPrefix(found, known) }) {
		t.Errorf("status %d, Content-Type %q", w.Code, found)
	}
	if to := w.Header().Get("Location"); (w.Code == http.StatusTemporaryRedirect) != (strings.HasPrefix(to, "/lab/") || strings.HasPrefix(to, "/embed/lab/") || strings.HasPrefix(to, "/capacity")) {
		t.Errorf("status %d, Location %q", w.Code, to)
	}
	if w.Code == http.StatusServiceUnavailable && w.Header().Get("Retry-After") == "" {
		t.Error("503 without Retry-After")
	}
}
