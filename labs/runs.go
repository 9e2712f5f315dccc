package labs

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"loglab/engine"
	"loglab/labs/view"
)

// checkpointEvery is the distance in ticks of the checkpoints along a run. A clone and its first tick
// cost as much as 5 to 20 ticks, so a shorter distance would buy little.
const checkpointEvery = 50

// maxWaiting is how many cold replays may wait for a free core.
const maxWaiting = 64

// MaxEvents bounds the journal of a run on the web.
const MaxEvents = 300_000

// ErrBusy says that too many replays wait already.
var ErrBusy = errors.New("too many runs are being replayed; try again in a few seconds")

// LimitError says which bound ended a run.
type LimitError = engine.LimitError

// BrokenError says that an invariant of the engine broke during a run: a fault of Log Lab.
type BrokenError struct {
	Address string // that shows it again
	What    string
}

// Error gives what broke and where.
func (e *BrokenError) Error() string { return fmt.Sprintf("%s: %s", e.Address, e.What) }

// Stats counts what [Runs] has done since it was made.
type Stats struct {
	Replays       int64 // runs of the engine for a frame, from a checkpoint or from the start
	ColdReplays   int64 // those from the start
	Joined        int64 // requests that waited for another's replay
	TicksReplayed int64
	PageHits      int64 // pages served from memory
	CacheBytes    int64 // estimate of what the caches hold
}

// Runs replays addresses. It is safe for concurrent use; its memory is only a cache.
type Runs struct {
	mu          sync.Mutex
	checkpoints *cache[point, *engine.Cluster] // never ticked, only cloned
	pages       *cache[string, *view.Page]
	flights     map[point]*flight
	waiting     int
	stats       Stats
	cores       chan struct{} // one token for each cold replay that may run
}

// point names a state: a run (lab, values, seed and the commands up to the tick) after a tick and its
// commands.
type point struct {
	run  [sha256.Size]byte
	tick int
}

// flight is a replay that one or more requests wait for.
type flight struct {
	done    chan struct{}
	cancel  context.CancelFunc
	waiters int // guarded by Runs.mu
	cluster *engine.Cluster
	err     error
}

// NewRuns makes a Runs whose caches hold about that many bytes.
func NewRuns(budget int64) *Runs {
	return &Runs{
		checkpoints: newCache[point, *engine.Cluster](budget * 3 / 4),
		pages:       newCache[string, *view.Page](budget / 4),
		flights:     map[point]*flight{},
		cores:       make(chan struct{}, runtime.GOMAXPROCS(0)),
	}
}

// Stats gives the counters.
func (r *Runs) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.stats
	s.CacheBytes = r.checkpoints.bytes + r.pages.bytes
	return s
}

// Page gives the page of an address. It is shared: nobody may change it. The error is that of ctx, a
// [*LimitError], a [*BrokenError] or [ErrBusy].
func (r *Runs) Page(ctx context.Context, a Address) (*view.Page, error) {
	key := a.String()
	r.mu.Lock()
	if p, ok := r.pages.get(key); ok {
		r.stats.PageHits++
		r.mu.Unlock()
		return p, nil
	}
	r.mu.Unlock()
	c, err := r.Cluster(ctx, a)
	if err != nil {
		return nil, err
	}
	p, err := buildPage(a, c)
	if err != nil {
		return nil, err
	}
	const pageBytes = 48 << 10 // about what a page's values take, beside long settings
	r.mu.Lock()
	r.pages.put(key, p, int64(pageBytes+2*a.textBytes()))
	r.mu.Unlock()
	return p, nil
}

// buildPage draws a frame; a panic on the way is an invariant that broke.
func buildPage(a Address, c *engine.Cluster) (p *view.Page, err error) {
	defer broken(a, &err)
	return newPage(Frame{Address: a, Cluster: c, View: c.View()}), nil
}

// broken turns a panic into a BrokenError.
func broken(a Address, err *error) {
	if what := recover(); what != nil {
		*err = &BrokenError{Address: a.String(), What: fmt.Sprint(what)}
	}
}

// Cluster gives the run of an address at its tick. It is shared: clone it to go on, only read it
// otherwise. Equal work is done once; errors are those of [Runs.Page].
func (r *Runs) Cluster(ctx context.Context, a Address) (*engine.Cluster, error) {
	states := points(a)
	want := states.at(a.T)
	r.mu.Lock()
	if c, ok := r.checkpoints.get(want); ok {
		r.mu.Unlock()
		return c, nil
	}
	f, joined := r.flights[want]
	if joined {
		r.stats.Joined++
	} else {
		f = r.launch(a, states, want)
	}
	f.waiters++
	r.mu.Unlock()
	select {
	case <-f.done:
		return f.cluster, f.err
	case <-ctx.Done():
		r.mu.Lock()
		if f.waiters--; f.waiters == 0 {
			f.cancel()
			if r.flights[want] == f {
				delete(r.flights, want) // who comes now starts anew
			}
		}
		r.mu.Unlock()
		return nil, ctx.Err()
	}
}

// launch starts a replay in the background. The caller holds the lock.
func (r *Runs) launch(a Address, states runPoints, want point) *flight {
	ctx, cancel := context.WithCancel(context.Background())
	f := &flight{done: make(chan struct{}), cancel: cancel}
	r.flights[want] = f
	go func() {
		defer cancel()
		f.cluster, f.err = r.replay(ctx, a, states)
		r.mu.Lock()
		if r.flights[want] == f {
			delete(r.flights, want)
		}
		r.mu.Unlock()
		close(f.done)
	}()
	return f
}

// nearest gives the last state on the way to the address that is in memory.
func (r *Runs) nearest(a Address, states runPoints) (c *engine.Cluster, tick int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats.Replays++
	for tick := a.T; tick >= 0; tick-- {
		if c, ok := r.checkpoints.get(states.at(tick)); ok {
			return c, tick
		}
		if tick%checkpointEvery == 0 { // below it only these were kept for sure
			tick -= checkpointEvery - 1
		}
	}
	r.stats.ColdReplays++
	return nil, 0
}

// replay runs the engine to the tick of the address, keeping checkpoints on the way. It stops between
// ticks when ctx is done.
func (r *Runs) replay(ctx context.Context, a Address, states runPoints) (c *engine.Cluster, err error) {
	defer broken(a, &err)
	kept, tick := r.nearest(a, states)
	if kept == nil {
		if err := r.acquireCore(ctx); err != nil {
			return nil, err
		}
		defer func() { <-r.cores }()
		if c, err = begin(a, MaxEvents); err != nil {
			return nil, err
		}
		if err := give(c, a, 0); err != nil {
			return nil, err
		}
		r.keep(states.at(0), c, a.textBytes())
	} else {
		c = kept.Clone()
	}
	first := tick
	defer func() {
		r.mu.Lock()
		r.stats.TicksReplayed += int64(tick - first)
		r.mu.Unlock()
	}()
	keptBytes := c.SizeBytes()
	for ; tick < a.T; tick++ {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := c.Tick(); err != nil {
			return nil, err
		}
		if err := give(c, a, tick+1); err != nil {
			return nil, err
		}
		if next := tick + 1; next%checkpointEvery == 0 || next == a.T {
			r.keep(states.at(next), c, c.SizeBytes()-keptBytes+a.textBytes())
			keptBytes = c.SizeBytes()
		}
	}
	return c, nil
}

// acquireCore waits for a core on which a cold replay may run.
func (r *Runs) acquireCore(ctx context.Context) error {
	r.mu.Lock()
	if r.waiting >= maxWaiting {
		r.mu.Unlock()
		return ErrBusy
	}
	r.waiting++
	r.mu.Unlock()
	defer func() { r.mu.Lock(); r.waiting--; r.mu.Unlock() }()
	select {
	case r.cores <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// keep stores a clone as a checkpoint; grown is how many bytes the run holds more than at the last one,
// and those of its settings, which may be in no other checkpoint that is kept.
func (r *Runs) keep(at point, c *engine.Cluster, grown int) {
	const cloneBytes = 24 << 10 // what a clone takes by itself
	clone := c.Clone()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checkpoints.put(at, clone, int64(grown)+cloneBytes)
}

// begin makes the cluster of an address at tick 0, before its commands.
func begin(a Address, maxEvents int) (*engine.Cluster, error) {
	spec, err := a.Lab.Spec(a.Values)
	if err != nil {
		return nil, err
	}
	spec.MaxEvents = maxEvents
	return engine.New(spec, a.Seed)
}

// give carries out the commands that the address has for a tick.
func give(c *engine.Cluster, a Address, tick int) error {
	for _, s := range a.Do {
		if s.Tick != tick {
			continue
		}
		if err := c.Apply(s.Command); err != nil {
			return err
		}
	}
	return nil
}

// Bounds of a run on the command line.
const (
	MaxTickAlone   = 20_000
	MaxEventsAlone = 3_000_000
)

// Replay runs an address to its tick without any cache, within the bounds of the command line. With an
// error it gives the cluster as it was when the bound was met, or nil when nothing ran.
func Replay(a Address) (c *engine.Cluster, err error) {
	defer broken(a, &err)
	if c, err = begin(a, MaxEventsAlone); err != nil {
		return nil, err
	}
	for tick := 0; ; tick++ {
		if err := give(c, a, tick); err != nil || tick == a.T {
			return c, err
		}
		if err := c.Tick(); err != nil {
			return c, err
		}
	}
}

// runPoints names the states of one run. The name of a state holds only the commands up to its tick, so
// addresses that share a beginning share its checkpoints.
type runPoints struct {
	ticks  []int               // of the commands, ascending
	hashes [][sha256.Size]byte // hashes[i]: the run with its first i commands
}

func points(a Address) runPoints {
	h := sha256.New()
	fmt.Fprintf(h, "%d %q %q %d\n", Version, a.Lab.Name, a.Values.text, a.Seed)
	p := runPoints{hashes: [][sha256.Size]byte{[sha256.Size]byte(h.Sum(nil))}}
	for _, s := range a.Do {
		fmt.Fprintf(h, "%q\n", s.String())
		p.ticks = append(p.ticks, s.Tick)
		p.hashes = append(p.hashes, [sha256.Size]byte(h.Sum(nil)))
	}
	return p
}

// at names the state after a tick and its commands.
func (p runPoints) at(tick int) point {
	n := 0
	for n < len(p.ticks) && p.ticks[n] <= tick {
		n++
	}
	return point{p.hashes[n], tick}
}
