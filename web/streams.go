package web

import (
	"context"
	"net"
	"net/http"
	"runtime"
	"sync"
)

// Bounds of streams. A class behind one router shares one address.
const (
	maxStreams          = 512
	maxStreamsOfAddress = 64
)

// streams counts the open streams, so that no client and no crowd can hold the server's memory, and ends
// them when the server stops.
type streams struct {
	running context.Context // done when the server stops
	stop    context.CancelFunc
	turns   chan struct{} // one for each frame of a stream that may be made at once

	mu    sync.Mutex
	open  map[string]int // by the client's address, without port
	total int
}

func newStreams() *streams {
	running, stop := context.WithCancel(context.Background())
	return &streams{running: running, stop: stop, turns: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)-1)), open: map[string]int{}}
}

// turn waits until a frame of a stream may be made; the caller calls done when it is. Of many streams only a few
// frames are made at once, so that a step, which somebody waits for, comes between them; a stream that
// falls behind skips ticks.
func (s *streams) turn(ctx context.Context) (done func(), err error) {
	select {
	case s.turns <- struct{}{}:
		return func() { <-s.turns }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// admit counts one more stream of a client. The caller calls release once when it ends. ok is false where
// the client or the server has too many, and then there is nothing to release.
func (s *streams) admit(client string) (release func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.total >= maxStreams || s.open[client] >= maxStreamsOfAddress {
		return nil, false
	}
	s.total++
	s.open[client]++
	return func() { s.release(client) }, true
}

func (s *streams) release(client string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total--
	if s.open[client]--; s.open[client] == 0 {
		delete(s.open, client)
	}
}

// count is the number of open streams.
func (s *streams) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total
}

// clientOf is the address at the other end of the connection. Headers a client can write are not
// believed; behind a proxy all clients share the proxy's address.
func clientOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
