package web

import (
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

// maxLoggedQuery is how many bytes of a query a line of the log repeats.
const maxLoggedQuery = 200

// observe counts and logs each request, one line each, and turns a panic into an error page.
func (s *Site) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		answer := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		defer func() {
			if what := recover(); what != nil {
				s.recovered(answer, r, what)
			}
			status := answer.Status() // 0: the reader had gone before there was an answer
			s.metrics.count(chi.RouteContext(r.Context()).RoutePattern(), status)
			s.log.Info("request",
				"method", r.Method, "path", shown(r.URL.Path), "query", logged(r.URL.RawQuery),
				"status", status, "bytes", answer.BytesWritten(),
				slog.Float64("ms", float64(time.Since(begin).Microseconds())/1000))
		}()
		next.ServeHTTP(answer, r)
	})
}

// recovered logs a panic and, where no answer has begun, answers with an error page; an answer that has
// begun is broken off, so that the client does not take it for whole.
func (s *Site) recovered(w middleware.WrapResponseWriter, r *http.Request, what any) {
	if what == http.ErrAbortHandler {
		panic(what)
	}
	s.log.Error("panic", "path", shown(r.URL.Path), "what", what, "stack", string(debug.Stack()))
	if w.Status() != 0 {
		panic(http.ErrAbortHandler)
	}
	s.writeProblem(w, r, errPanic)
}

func logged(query string) string {
	if len(query) > maxLoggedQuery {
		return query[:maxLoggedQuery] + "…"
	}
	return query
}
