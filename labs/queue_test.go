package labs

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheShortestGoesFirstAndTheLongestIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1, 3)
		if err := q.enter(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		var order []int
		refused := 0
		for _, ticks := range []int{500, 5000, 20, 20, 60} {
			go func() {
				err := q.enter(t.Context(), ticks)
				if errors.Is(err, ErrBusy) {
					refused += ticks
					return
				}
				order = append(order, ticks)
				q.leave()
			}()
			synctest.Wait()
		}
		if refused != 5500 {
			t.Errorf("replays of %d ticks in all were refused, want those of 5000 and 500", refused)
		}
		q.leave()
		synctest.Wait()
		if len(order) != 3 || order[0] != 20 || order[1] != 20 || order[2] != 60 {
			t.Errorf("the order is %v, want 20, 20, 60", order)
		}
		if q.free != 1 || len(q.waiting) != 0 {
			t.Errorf("%d free, %d waiting", q.free, len(q.waiting))
		}
	})
}

func TestNobodyWaitsForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1, 3)
		q.enter(t.Context(), 1)
		begin := time.Now()
		if err := q.enter(t.Context(), 1); !errors.Is(err, ErrBusy) || time.Since(begin) != maxWait {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := q.enter(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a replay that nobody waits for: %v", err)
		}
		q.leave()
		if q.free != 1 || len(q.waiting) != 0 {
			t.Errorf("%d free, %d waiting", q.free, len(q.waiting))
		}
	})
}

// A turn that comes at the moment the waiting ends is passed on, not lost.
func TestNoTurnIsLost(t *testing.T) {
	for range 200 {
		q := newQueue(1, 3)
		q.enter(t.Context(), 1)
		ctx, cancel := context.WithCancel(t.Context())
		entered := make(chan error)
		go func() { entered <- q.enter(ctx, 1) }()
		go cancel()
		q.leave()
		if err := <-entered; err == nil {
			q.leave()
		}
		if q.free != 1 || len(q.waiting) != 0 {
			t.Fatalf("%d free, %d waiting", q.free, len(q.waiting))
		}
	}
}
