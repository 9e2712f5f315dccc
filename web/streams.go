package web

import (
	"context"
	"net"
	"net/http"
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

	mu    sync.Mutex
	open  map[string]int // by the client's address, without port
	total int
}

func newStreams() *streams {
	running, stop := context.WithCancel(context.Background())
	return &streams{running: running, stop: stop, open: map[string]int{}}
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
