package labs

import "container/list"

// cache keeps values until their bytes exceed the budget, then drops those used longest ago. It is not
// safe for concurrent use.
type cache[K comparable, V any] struct {
	budget  int64
	bytes   int64
	entries map[K]*list.Element
	order   list.List // of *entry, the last used in front
}

type entry[K comparable, V any] struct {
	key   K
	value V
	bytes int64
}

func newCache[K comparable, V any](budget int64) *cache[K, V] {
	return &cache[K, V]{budget: budget, entries: map[K]*list.Element{}}
}

// get gives a value and marks it as used.
func (c *cache[K, V]) get(key K) (value V, ok bool) {
	e, ok := c.entries[key]
	if !ok {
		return value, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*entry[K, V]).value, true
}

// put keeps a value that takes about that many bytes. One that is there already is left as it is.
func (c *cache[K, V]) put(key K, value V, bytes int64) {
	if _, ok := c.entries[key]; ok || bytes > c.budget {
		return
	}
	c.entries[key] = c.order.PushFront(&entry[K, V]{key, value, bytes})
	c.bytes += bytes
	for c.bytes > c.budget {
		oldest := c.order.Remove(c.order.Back()).(*entry[K, V])
		delete(c.entries, oldest.key)
		c.bytes -= oldest.bytes
	}
}
