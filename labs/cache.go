package labs

import "container/list"

// cache keeps values until their bytes exceed the budget. A value asked for again counts for more than any
// that was not: most runs are asked for once, and however many they are, they push out only each other.
// Among equals those used longest ago go first. It is not safe for concurrent use.
type cache[K comparable, V any] struct {
	budget  int64
	bytes   int64
	entries map[K]*list.Element
	fresh   list.List // of *entry, not asked for since they came; the last used in front
	used    list.List // of *entry, asked for; the last used in front
	usedSum int64     // bytes of those in used
}

type entry[K comparable, V any] struct {
	key   K
	value V
	bytes int64 // of this value alone
	from  *growth
	used  bool
}

// growth is memory that values share: what a run grew by on its way from one checkpoint to the next. It is
// held by the checkpoint at its end and by all growth from there on, and so is given back no sooner than
// the last of those has gone.
type growth struct {
	from    *growth
	bytes   int64
	holders int
}

func newCache[K comparable, V any](budget int64) *cache[K, V] {
	return &cache[K, V]{budget: budget, entries: map[K]*list.Element{}}
}

// has says whether a value is there, without marking it as used.
func (c *cache[K, V]) has(key K) bool { return c.entries[key] != nil }

// get gives a value and marks it as used.
func (c *cache[K, V]) get(key K) (value V, ok bool) {
	value, _, ok = c.getGrown(key)
	return value, ok
}

// getGrown is get for a value put with growth.
func (c *cache[K, V]) getGrown(key K) (value V, from *growth, ok bool) {
	at, ok := c.entries[key]
	if !ok {
		return value, nil, false
	}
	e := at.Value.(*entry[K, V])
	if e.used {
		c.used.MoveToFront(at)
	} else {
		c.fresh.Remove(at)
		e.used = true
		c.usedSum += e.bytes
		c.entries[key] = c.used.PushFront(e)
		c.limitUsed()
	}
	return e.value, e.from, true
}

// limitUsed makes those used longest ago fresh again where the used ones take more than three quarters of
// the budget.
func (c *cache[K, V]) limitUsed() {
	for c.usedSum > c.budget/4*3 {
		e := c.used.Remove(c.used.Back()).(*entry[K, V])
		e.used = false
		c.usedSum -= e.bytes
		c.entries[e.key] = c.fresh.PushFront(e)
	}
}

// put keeps a value that takes about that many bytes by itself, besides the growth it holds, which may be
// nil. One that is there already is left as it is.
func (c *cache[K, V]) put(key K, value V, bytes int64, from *growth) {
	if c.has(key) || bytes > c.budget {
		return
	}
	c.hold(from)
	c.entries[key] = c.fresh.PushFront(&entry[K, V]{key: key, value: value, bytes: bytes, from: from})
	c.bytes += bytes
	c.evict()
}

// evict drops values until the rest is within the budget.
func (c *cache[K, V]) evict() {
	for c.bytes > c.budget && len(c.entries) > 0 {
		from := &c.fresh
		if from.Len() == 0 {
			from = &c.used
		}
		e := from.Remove(from.Back()).(*entry[K, V])
		delete(c.entries, e.key)
		c.bytes -= e.bytes
		if e.used {
			c.usedSum -= e.bytes
		}
		c.release(e.from)
	}
}

// grow adds memory to what from stands for. The caller holds the result until it calls release.
func (c *cache[K, V]) grow(from *growth, bytes int64) *growth {
	c.hold(from)
	c.bytes += bytes
	return &growth{from: from, bytes: bytes, holders: 1}
}

func (c *cache[K, V]) hold(g *growth) {
	if g != nil {
		g.holders++
	}
}

// release gives up one hold on growth.
func (c *cache[K, V]) release(g *growth) {
	for ; g != nil; g = g.from {
		if g.holders--; g.holders > 0 {
			return
		}
		c.bytes -= g.bytes
	}
}
