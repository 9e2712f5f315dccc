package web

import (
	"context"
	"time"
)

// gateWait is how long a request waits for a place.
const gateWait = 3 * time.Second

// gate lets so many in at once as it has room. Nobody who has a place may wait for another one of the same gate.
type gate struct {
	places chan struct{}
	full   error // for those who have waited in vain
}

func newGate(room int, full error) gate { return gate{make(chan struct{}, room), full} }

// enter waits a little for a place, which the caller gives back by leave. The error is that of the gate, or of ctx.
func (g gate) enter(ctx context.Context) (leave func(), err error) {
	patience := time.NewTimer(gateWait)
	defer patience.Stop()
	select {
	case g.places <- struct{}{}:
		return func() { <-g.places }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-patience.C:
		return nil, g.full
	}
}

// busyError says what there is too much of, and what to do.
type busyError string

func (e busyError) Error() string { return string(e) }
