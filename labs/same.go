package labs

// pairPoints names the states of two runs with the same commands.
type pairPoints [2]runPoints

// at names both after a tick and its commands.
func (p pairPoints) at(tick int) [2]point { return [2]point{p[0].at(tick), p[1].at(tick)} }

// knownSame says how many events two runs are known to share up to a tick. Most that differ do so soon; two
// that do not are compared only once, and then from frame to frame.
func (r *Runs) knownSame(pair pairPoints, tick int) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	for back := 0; back < checkpointEvery && back <= tick; back++ {
		if n, ok := r.same.get(pair.at(tick - back)); ok {
			return n
		}
	}
	return 0
}

// keepSame remembers that two runs have the same events, and how many.
func (r *Runs) keepSame(at [2]point, events uint64) {
	const bytes = 300
	r.mu.Lock()
	defer r.mu.Unlock()
	r.same.put(at, events, bytes, nil)
}
