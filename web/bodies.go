package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"loglab/web/page"
)

// noBodyTimeout is how long a request that should have no body may take to show that it is empty.
const noBodyTimeout = time.Second

// emptyBodies refuses a body where nothing is sent, before anything is done for the request: net/http reads what was
// announced before it writes an answer, however long that takes, and the request would hold its places meanwhile.
func (s *Site) emptyBodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength == 0 || r.Method == http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		err := readWithin(w, noBodyTimeout)
		if err == nil {
			err = empty(r.Body)
		}
		if err == nil { // a proxy may not know beforehand that nothing comes
			err = setReadDeadline(w, time.Time{})
		}
		if err != nil {
			s.writeProblem(w, r.WithContext(context.WithoutCancel(r.Context())), err) // the deadline has ended its own
			return
		}
		next.ServeHTTP(w, r)
	})
}

// empty says what is wrong with a body that should hold nothing.
func empty(body io.Reader) error {
	n, err := io.ReadFull(body, make([]byte, 1))
	if n == 0 && err == io.EOF {
		return nil
	}
	return problem{page.Problem{
		Status: http.StatusBadRequest, Title: "Nothing can be sent here", Text: "This address is only read.", Facts: facts("body", "a body", "none"),
	}}
}

// readWithin bounds the time for a body to arrive, from now on.
func readWithin(w http.ResponseWriter, d time.Duration) error {
	return setReadDeadline(w, time.Now().Add(d))
}

func setReadDeadline(w http.ResponseWriter, at time.Time) error {
	if err := http.NewResponseController(w).SetReadDeadline(at); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}
