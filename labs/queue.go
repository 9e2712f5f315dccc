package labs

import (
	"context"
	"errors"
	"slices"
	"sort"
	"sync"
	"time"
)

// ErrBusy says that too many replays or frames wait already, or that one has waited too long.
var ErrBusy = errors.New("too many runs are being replayed or drawn; try again in a few seconds")

// maxWait is how long a replay or a frame waits for its turn at most.
const maxWait = 10 * time.Second

// queue lets so many replays run at once, or frames be drawn, and so many more wait. The shortest goes first: who
// asks for the beginning of a run does not wait for those who ask for the longest. Where too many wait, the longest
// is refused; among equals the last one.
type queue struct {
	mu      sync.Mutex
	free    int
	most    int
	waiting []*waiter // by ticks, then by when they came
}

type waiter struct {
	ticks int
	turn  chan error // buffered: nil, or that it is refused
}

func newQueue(atOnce, waiting int) *queue { return &queue{free: atOnce, most: waiting} }

// enter waits until a replay of that many ticks may run; leave must then be called once. The error is
// [ErrBusy] or that of ctx.
func (q *queue) enter(ctx context.Context, ticks int) error {
	q.mu.Lock()
	if q.free > 0 {
		q.free--
		q.mu.Unlock()
		return nil
	}
	w := &waiter{ticks, make(chan error, 1)}
	at := sort.Search(len(q.waiting), func(i int) bool { return q.waiting[i].ticks > ticks })
	q.waiting = slices.Insert(q.waiting, at, w)
	if last := len(q.waiting) - 1; last == q.most {
		q.waiting[last].turn <- ErrBusy
		q.waiting = slices.Delete(q.waiting, last, last+1)
	}
	q.mu.Unlock()

	timeout := time.NewTimer(maxWait)
	defer timeout.Stop()
	var err error
	select {
	case err := <-w.turn:
		return err
	case <-ctx.Done():
		err = ctx.Err()
	case <-timeout.C:
		err = ErrBusy
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.waiting, w); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	} else if turn := <-w.turn; turn == nil { // its turn came at that very moment
		q.next()
	}
	return err
}

// leave lets the next one run.
func (q *queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.next()
}

func (q *queue) next() {
	if len(q.waiting) == 0 {
		q.free++
		return
	}
	q.waiting[0].turn <- nil
	q.waiting = slices.Delete(q.waiting, 0, 1)
}
