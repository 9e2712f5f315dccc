package labs_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"loglab/engine"
	"loglab/labs"
	"loglab/labs/partitions"
	"loglab/labs/view"
)

const budget = 256 << 20

func journalLines(c *engine.Cluster) []string {
	var list []string
	for seq := uint64(1); ; seq++ {
		e, ok := c.Journal().At(seq)
		if !ok {
			return list
		}
		list = append(list, e.Line())
	}
}

// A frame is the same however it is come by: cold, from a checkpoint, stepping on or back, from a fork,
// beside another run, or without any cache.
func TestFrameIsAFunctionOfItsAddress(t *testing.T) {
	warm := labs.NewRuns(budget)
	ctx := context.Background()
	for _, query := range []string{
		"t=0", "t=1", "t=2", "t=130", "t=129", "t=3", "do=3:pause+c1&t=3", "do=3:pause+c1&t=60", "do=3:pause+c1&do=60:resume+c1&t=60",
		"do=3:pause+c1&do=60:resume+c1&t=61", "do=3:pause+c1&do=55:pause+b1&t=130", "seed=2&t=130", "keys=0&rate=40&t=51", "do=0:wait+20s&t=1", "t=131",
		// Two runs: no part of a page is another page's.
		"t=14", "t=14&vs=work:20", "t=15&vs=work:20", "t=14&vs=work:20", "t=13&vs=work:20&at=vs:node:c1", "t=14&vs=rate:9", "work=20&t=14", "t=14",
		"work=20&t=14&vs=work:0", "t=60&vs=rate:9&do=9:pause+c1",
	} {
		a := parse(t, query)
		got, err := warm.Page(ctx, a)
		if err != nil {
			t.Fatal(err)
		}
		want, err := labs.NewRuns(budget).Page(ctx, a)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: the page differs (-cold +warm):\n%s", query, diff)
		}
		alone, err := labs.Replay(a)
		if err != nil {
			t.Fatal(err)
		}
		cached, err := warm.Cluster(ctx, a)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(journalLines(alone), journalLines(cached)); diff != "" {
			t.Errorf("%s: the journal differs (-alone +cached):\n%s", query, diff)
		}
	}
}

// Addresses that share a beginning share its checkpoints.
func TestForkStartsFromASharedCheckpoint(t *testing.T) {
	r := labs.NewRuns(budget)
	ctx := context.Background()
	ticks := func(query string) int64 {
		before := r.Stats().TicksReplayed
		if _, err := r.Page(ctx, parse(t, query)); err != nil {
			t.Fatal(err)
		}
		return r.Stats().TicksReplayed - before
	}
	for _, step := range []struct {
		query string
		want  int64
	}{
		{"t=120", 120},                               // from the start
		{"t=121", 1},                                 // a step on
		{"t=119", 19},                                // back: from the checkpoint at 100
		{"t=120", 0},                                 // there still
		{"t=120&at=node:c1", 0},                      // another inspector, the same run
		{"do=120:pause+c1&t=120", 1},                 // a fork: from the frame before
		{"do=120:pause+c1&t=125", 5},                 // on from the fork
		{"do=30:pause+c1&t=125", 125},                // an earlier fork: only tick 0 is shared
		{"do=30:pause+c1&do=70:resume+c1&t=125", 75}, // from the fork's checkpoint at 50
		{"seed=9&t=10", 10},                          // another run
	} {
		if got := ticks(step.query); got != step.want {
			t.Errorf("%s: %d ticks were replayed, want %d", step.query, got, step.want)
		}
	}
	if cold := r.Stats().ColdReplays; cold != 2 {
		t.Errorf("%d replays from nothing, want 2", cold)
	}
}

// Equal work is done once, however many ask at the same time.
func TestEqualRequestsAreJoined(t *testing.T) {
	r := labs.NewRuns(budget)
	var wait sync.WaitGroup
	for i := range 30 {
		wait.Go(func() {
			a := parse(t, fmt.Sprintf("keys=0&t=%d", 400+i%2))
			if _, err := r.Page(context.Background(), a); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if s := r.Stats(); s.TicksReplayed > 400+401 || s.ColdReplays > 2 {
		t.Errorf("30 requests for two frames of one run: %+v", s)
	}
}

// So many frames are drawn at once as there are cores, whoever asks for how many, and a frame that many ask for
// is drawn no more often than that: those who wait find it in memory.
func TestFramesAreDrawnInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var drawing, drawn atomic.Int32
		free := make(chan struct{})
		lab := *partitions.Lab()
		lab.Build = func(labs.Frame, *view.Page) {
			drawing.Add(1)
			<-free
			drawing.Add(-1)
			drawn.Add(1)
		}
		r := labs.NewRuns(budget)
		cores := int32(runtime.GOMAXPROCS(0))
		frames := cores + 3
		var wait sync.WaitGroup
		for i := range 4 * cores * frames {
			wait.Go(func() {
				a, err := labs.Parse(&lab, labs.Pages, fmt.Sprintf("t=%d", i%frames))
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := r.Page(context.Background(), a); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if n := drawing.Load(); n != cores {
			t.Errorf("%d frames are drawn at once on %d cores", n, cores)
		}
		close(free)
		wait.Wait()
		if n := drawn.Load(); n < frames || n > frames*cores {
			t.Errorf("%d frames were drawn of %d", n, frames)
		}
	})
}

// A replay stops when nobody waits for it any more, and the next request is served all the same.
func TestAbandonedReplayStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := labs.NewRuns(budget)
		a := parse(t, "rate=20&t=2000")
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := r.Page(ctx, a); !errors.Is(err, context.Canceled) {
			t.Fatalf("an abandoned request: %v", err)
		}
		synctest.Wait() // until nothing runs any more
		if ticks := r.Stats().TicksReplayed; ticks >= 2000 {
			t.Errorf("%d ticks were run for nobody", ticks)
		}
		if _, err := r.Page(context.Background(), parse(t, "rate=20&t=30")); err != nil {
			t.Fatal(err)
		}
	})
}

// Past its budget the cache forgets; the answers stay the same.
func TestCacheStaysWithinItsBudget(t *testing.T) {
	const small = 3 << 20
	r := labs.NewRuns(small)
	ctx := context.Background()
	for round := range 2 {
		for seed := range 12 {
			a := parse(t, fmt.Sprintf("seed=%d&rate=10&t=120", seed))
			got, err := r.Page(ctx, a)
			if err != nil {
				t.Fatal(err)
			}
			want, err := labs.NewRuns(budget).Page(ctx, a)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("round %d, seed %d (-large +small):\n%s", round, seed, diff)
			}
			if held := r.Stats().CacheBytes; held > small {
				t.Fatalf("the cache holds %d bytes of %d", held, small)
			}
		}
	}
}

// A run past its bounds is a clear error, not a page.
func TestRunPastItsBounds(t *testing.T) {
	_, err := labs.NewRuns(budget).Page(context.Background(), parse(t, "rate=100&keys=1&consumers=0&t=5000"))
	var limit *labs.LimitError
	if !errors.As(err, &limit) || limit.Allowed != labs.MaxEvents {
		t.Errorf("100 records a tick for 5,000 ticks: %v, want the bound of %d events", err, labs.MaxEvents)
	}
}

// Where a run ends is found once: asking again, at any tick past it, replays nothing.
func TestTheEndOfARunIsRemembered(t *testing.T) {
	r := labs.NewRuns(budget)
	var limit *labs.LimitError
	const run = "rate=100&keys=1&consumers=0"
	if _, err := r.Page(context.Background(), parse(t, run+"&t=5000")); !errors.As(err, &limit) {
		t.Fatalf("5,000 ticks: %v, want a bound", err)
	}
	before := r.Stats()
	for _, query := range []string{"&t=5000", "&t=4999", "&t=5000&at=node:c1", "&t=4990&do=4980:pause+c1"} {
		if _, err := r.Page(context.Background(), parse(t, run+query)); !errors.As(err, &limit) {
			t.Errorf("%s: %v, want the bound", query, err)
		}
	}
	if after := r.Stats(); after.TicksReplayed != before.TicksReplayed {
		t.Errorf("%d ticks were replayed to meet a bound that is known", after.TicksReplayed-before.TicksReplayed)
	}
	for _, query := range []string{"&t=2000", "&t=4000&do=100:pause+p0"} {
		if _, err := r.Page(context.Background(), parse(t, run+query)); err != nil {
			t.Errorf("%s: %v, but it meets no bound", query, err)
		}
	}
}
