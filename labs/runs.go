package labs

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/labs/view"
)

// checkpointEvery is the distance in ticks of the checkpoints along a run. A clone and its first tick
// cost as much as 5 to 20 ticks, so a shorter distance would buy little.
const checkpointEvery = 50

// Bounds of the replays at once. A long one has more than checkpointEvery ticks to run, which is never so
// for a step from a frame in memory; one core is left to the short ones. At the web's bounds a long replay
// takes a second and 100 MB while it runs, a short one some 20 ms and 10 MB.
const (
	shortPerCore = 2
	shortWaiting = 256
	longWaiting  = 64
)

// drawWaiting is how many frames wait to be drawn while one is drawn on each core: most take a few milliseconds, and those
// that look ahead on clones a hundred.
const drawWaiting = 256

// MaxEvents bounds the journal of a run on the web.
const MaxEvents = 300_000

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
	ends        *cache[runHash, end]
	same        *cache[[2]point, uint64] // how many events two runs have that are the same up to there
	flights     map[point]*flight
	stats       Stats
	short, long *queue // of replays
	drawing     *queue
}

// runHash names a run: lab, values, seed and some first commands.
type runHash [sha256.Size]byte

// end is where a run met one of its bounds: no state from that tick on can be had.
type end struct {
	tick int
	err  *LimitError
}

// point names a state: a run (lab, values, seed and the commands up to the tick) after a tick and its
// commands.
type point struct {
	run  runHash
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
	cores := runtime.GOMAXPROCS(0)
	return &Runs{
		checkpoints: newCache[point, *engine.Cluster](budget * 3 / 4),
		pages:       newCache[string, *view.Page](budget / 4),
		ends:        newCache[runHash, end](1 << 20),
		same:        newCache[[2]point, uint64](1 << 20),
		flights:     map[point]*flight{},
		short:       newQueue(shortPerCore*cores, shortWaiting),
		long:        newQueue(max(1, cores-1), longWaiting),
		drawing:     newQueue(cores, drawWaiting),
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
	if a.Story != nil {
		key += "\n" + a.Story.Revision // its file may have changed
	}
	if p, ok := r.drawn(key); ok {
		return p, nil
	}
	c, twin, err := r.clusters(ctx, a)
	if err != nil {
		return nil, err
	}
	if err := r.drawing.enter(ctx, 0); err != nil {
		return nil, err
	}
	defer r.drawing.leave()
	if p, ok := r.drawn(key); ok { // meanwhile
		return p, nil
	}
	p, err := r.buildPage(a, c, twin)
	if err != nil {
		return nil, err
	}
	bytes := sizeOf(p)
	r.mu.Lock()
	r.pages.put(key, p, bytes, nil)
	r.mu.Unlock()
	return p, nil
}

// drawn gives the page of that key if it is in memory.
func (r *Runs) drawn(key string) (*view.Page, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, ok := r.pages.get(key)
	if ok {
		r.stats.PageHits++
	}
	return p, ok
}

// Prepare replays all that the page of an address shows; the page is then quickly drawn. Errors are those of
// [Runs.Page].
func (r *Runs) Prepare(ctx context.Context, a Address) error {
	_, _, err := r.clusters(ctx, a)
	return err
}

// clusters gives the run of an address and its twin, nil where it has none, one replayed after the other.
func (r *Runs) clusters(ctx context.Context, a Address) (own, twin *engine.Cluster, err error) {
	if own, err = r.Cluster(ctx, a); err != nil || !a.HasTwin() {
		return own, nil, err
	}
	if twin, err = r.Cluster(ctx, a.other()); err != nil {
		return nil, nil, &TwinError{runName(a.other()), err}
	}
	return own, twin, nil
}

// buildPage draws a frame; a panic on the way is an invariant that broke.
func (r *Runs) buildPage(a Address, c, twin *engine.Cluster) (p *view.Page, err error) {
	defer broken(a, &err)
	own := Frame{Address: a, Cluster: c, View: c.View()}
	if twin == nil {
		p = newPage(own)
		tell(own, p)
		return p, nil
	}
	pair := pairPoints{points(a), points(a.other())}
	p = newPair(own, Frame{Address: a.other(), Cluster: twin, View: twin.View()}, r.knownSame(pair, a.T))
	if len(p.Twin.By[0]) == 0 {
		r.keepSame(pair.at(a.T), uint64(c.Journal().Len()))
	}
	tell(own, p)
	return p, nil
}

// tell adds the story of an address to its page.
func tell(f Frame, p *view.Page) {
	if f.Address.Story != nil {
		f.Address.Story.Tell(f, p)
	}
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
	if err := r.ended(a, states); err != nil {
		r.mu.Unlock()
		return nil, err
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

// ended gives the error of a run that is known to meet a bound on the way to the address, else nil. The
// caller holds the lock.
func (r *Runs) ended(a Address, states runPoints) error {
	for _, run := range states.hashes {
		if e, ok := r.ends.get(run); ok && e.tick <= a.T && states.at(e.tick).run == run {
			return e.err
		}
	}
	return nil
}

// nearest gives the tick of the last state on the way to the address that is in memory, or -1. The caller
// holds the lock.
func (r *Runs) nearest(a Address, states runPoints) int {
	for tick := a.T; tick >= 0; tick-- {
		if r.checkpoints.has(states.at(tick)) {
			return tick
		}
		if tick%checkpointEvery == 0 { // below it only these were kept for sure
			tick -= checkpointEvery - 1
		}
	}
	return -1
}

// work says about how many ticks are to run from a tick to the address; from -1: from nothing.
func work(a Address, from int) int {
	const millisPerTick = 10
	ticks := a.T - max(from, 0)
	for _, s := range a.Do {
		if wait, ok := s.Command.(command.Wait); ok && s.Tick > from && s.Tick <= a.T {
			ticks += int(wait.Span / millisPerTick)
		}
	}
	return ticks
}

// replay waits for its turn and runs the engine to the tick of the address, keeping checkpoints on the
// way. It stops between ticks when ctx is done.
func (r *Runs) replay(ctx context.Context, a Address, states runPoints) (*engine.Cluster, error) {
	r.mu.Lock()
	ticks := work(a, r.nearest(a, states))
	r.mu.Unlock()
	turn := r.short
	if ticks > checkpointEvery {
		turn = r.long
	}
	if err := turn.enter(ctx, ticks); err != nil {
		return nil, err
	}
	defer turn.leave()

	// By now more of the way may be in memory.
	var c *engine.Cluster
	var from *growth
	r.mu.Lock()
	r.stats.Replays++
	tick := r.nearest(a, states)
	if tick < 0 {
		r.stats.ColdReplays++
	} else {
		c, from, _ = r.checkpoints.getGrown(states.at(tick))
		r.checkpoints.hold(from)
	}
	r.mu.Unlock()
	p := progress{runs: r, address: a, states: states, tick: tick, grown: from}
	defer p.close()
	if err := p.run(ctx, c); err != nil {
		return nil, err
	}
	return p.cluster, nil
}

// progress is a replay under way.
type progress struct {
	runs    *Runs
	address Address
	states  runPoints
	cluster *engine.Cluster
	tick    int     // that the cluster has reached
	bytes   int     // of the cluster at its last checkpoint
	grown   *growth // to there
}

// run goes from a checkpoint, or from nothing where it is nil, to the tick of the address.
func (p *progress) run(ctx context.Context, checkpoint *engine.Cluster) (err error) {
	defer broken(p.address, &err)
	first := max(p.tick, 0)
	defer func() { p.end(first, err) }()
	if checkpoint == nil {
		p.tick = 0
		if p.cluster, err = begin(p.address, MaxEvents); err != nil {
			return err
		}
		if err := give(p.cluster, p.address, 0); err != nil {
			return err
		}
		p.keep()
	} else {
		p.cluster = checkpoint.Clone()
		p.bytes = p.cluster.SizeBytes()
	}
	for p.tick < p.address.T {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		p.tick++
		if err := p.cluster.Tick(); err != nil {
			return err
		}
		if err := give(p.cluster, p.address, p.tick); err != nil {
			return err
		}
		if p.tick%checkpointEvery == 0 || p.tick == p.address.T {
			p.keep()
		}
		runtime.Gosched() // steps of others go first
	}
	return nil
}

// keep stores a clone as a checkpoint.
func (p *progress) keep() {
	clone, bytes := p.cluster.Clone(), p.cluster.SizeBytes()
	kept := p.runs.checkpoints
	p.runs.mu.Lock()
	defer p.runs.mu.Unlock()
	grown := kept.grow(p.grown, int64(bytes-p.bytes))
	kept.release(p.grown)
	p.grown, p.bytes = grown, bytes
	kept.put(p.states.at(p.tick), clone, int64(clone.CloneBytes()+p.address.textBytes()), grown)
}

// end counts the ticks run and remembers the bound that the run met, if any.
func (p *progress) end(first int, err error) {
	var limit *LimitError
	p.runs.mu.Lock()
	defer p.runs.mu.Unlock()
	p.runs.stats.TicksReplayed += int64(p.tick - first)
	if errors.As(err, &limit) {
		const endBytes = 200
		p.runs.ends.put(p.states.at(p.tick).run, end{p.tick, limit}, endBytes, nil)
	}
}

// close gives up what the replay held.
func (p *progress) close() {
	p.runs.mu.Lock()
	defer p.runs.mu.Unlock()
	p.runs.checkpoints.release(p.grown)
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
	return ReplayWatched(a, func(*engine.Cluster) {})
}

// ReplayWatched is Replay with a look at the cluster before its first command, after each command and after each
// tick.
func ReplayWatched(a Address, look func(*engine.Cluster)) (c *engine.Cluster, err error) {
	defer broken(a, &err)
	if c, err = begin(a, MaxEventsAlone); err != nil {
		return nil, err
	}
	look(c)
	for tick := 0; ; tick++ {
		for _, s := range a.Do {
			if s.Tick != tick {
				continue
			}
			if err := c.Apply(s.Command); err != nil {
				return c, err
			}
			look(c)
		}
		if tick == a.T {
			return c, nil
		}
		if err := c.Tick(); err != nil {
			return c, err
		}
		look(c)
	}
}

// runPoints names the states of one run. The name of a state holds only the commands up to its tick, so
// addresses that share a beginning share its checkpoints.
type runPoints struct {
	ticks  []int     // of the commands, ascending
	hashes []runHash // hashes[i]: the run with its first i commands
}

func points(a Address) runPoints {
	h := sha256.New()
	fmt.Fprintf(h, "%d %q %q %d\n", Version, a.Lab.Name, a.Values.text, a.Seed)
	p := runPoints{hashes: []runHash{runHash(h.Sum(nil))}}
	for _, s := range a.Do {
		fmt.Fprintf(h, "%q\n", s.String())
		p.ticks = append(p.ticks, s.Tick)
		p.hashes = append(p.hashes, runHash(h.Sum(nil)))
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
