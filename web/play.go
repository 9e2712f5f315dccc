package web

import (
	"context"
	"errors"
	"net/http"
	"time"

	"loglab/labs"
	"loglab/labs/view"
	"loglab/web/page"
)

// writeTimeout is how long one event of a stream may take to reach a client that reads slowly.
const writeTimeout = 10 * time.Second

// play answers with a stream of frames, from the tick of the address to where playing ends, at its pace. Every
// frame says the whole state; a reader too slow for the pace is sent the newest and misses those between.
func (s *Site) play(w http.ResponseWriter, r *http.Request) error {
	query, has := frameQuery(r)
	address, releaseHead, err := s.addressOf(r, query)
	if err != nil {
		return err
	}
	releaseHead() // streams have a bound of their own
	release, ok := s.streams.admit(clientOf(r))
	if !ok {
		return inFrame(address, errStreams)
	}
	defer release()

	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.streams.running, cancel)()

	end := address.PlayEnd()
	event, err := s.event(ctx, address, end, has)
	if err != nil {
		return inFrame(address, err) // no byte was sent: it is still an error page
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	if r.Method == http.MethodHead {
		return nil
	}
	clock := pacer{begin: time.Now(), first: address.T, last: end, interval: time.Second / time.Duration(address.Pace)}
	for tick := address.T; ; {
		if err := send(w, event); err != nil || tick == end {
			return nil // played, or the reader has gone or reads nothing
		}
		if tick, err = clock.next(ctx, tick); err != nil {
			return nil
		}
		address = address.Played(tick)
		if event, err = s.event(ctx, address, end, has); err != nil {
			// The page sees that the stream broke off and asks for the frame, which says what is wrong.
			s.log.Warn("stream broke off", "address", address.String(), "error", err)
			return nil
		}
	}
}

// event is the frame of an address as one event of a stream that ends with a tick, for a page that has a set-up of that
// name.
func (s *Site) event(ctx context.Context, address labs.Address, end int, has string) ([]byte, error) {
	if err := s.runs.Prepare(ctx, address); err != nil { // a long replay is no stream's turn
		return nil, err
	}
	done, err := s.streams.turn(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	p, err := s.page(ctx, address)
	if err != nil {
		return nil, err
	}
	html, err := page.Render(ctx, page.Frame(played(p, end), has))
	if err != nil {
		return nil, err
	}
	return patchEvent(html), nil
}

// played is a page as it looks while it is played to a tick. The last frame is at rest; every other says that it
// plays and offers to pause.
func played(p *view.Page, end int) *view.Page {
	if p.Tick >= end {
		return p
	}
	playing := view.Playing(*p, "/play"+p.Address)
	return &playing
}

// send writes one event and makes sure that it left.
func send(w http.ResponseWriter, event []byte) error {
	control := http.NewResponseController(w)
	if err := control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := w.Write(event); err != nil {
		return err
	}
	return control.Flush()
}

// pacer says which tick a stream shows when: first at begin, one more every interval, none after last.
type pacer struct {
	begin       time.Time
	first, last int
	interval    time.Duration
}

// next waits until the tick after shown is due, and returns it, or a later one where that is due already.
// shown is before last. The error is that of ctx.
func (p pacer) next(ctx context.Context, shown int) (int, error) {
	wait := time.NewTimer(time.Until(p.dueAt(shown + 1)))
	defer wait.Stop()
	select {
	case <-ctx.Done():
		return shown, ctx.Err()
	case now := <-wait.C:
		return max(shown+1, p.due(now)), nil
	}
}

// dueAt is when a tick is due.
func (p pacer) dueAt(tick int) time.Time {
	return p.begin.Add(time.Duration(tick-p.first) * p.interval)
}

// due is the tick that is due at a time from begin on.
func (p pacer) due(now time.Time) int {
	return min(p.first+int(now.Sub(p.begin)/p.interval), p.last)
}
