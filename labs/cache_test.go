package labs

import (
	"fmt"
	"testing"
)

func keysThere(c *cache[string, int], keys ...string) string {
	text := ""
	for _, key := range keys {
		if c.has(key) {
			text += key
		}
	}
	return text
}

func TestCacheDropsWhatWasUsedLongestAgo(t *testing.T) {
	c := newCache[string, int](3)
	for _, key := range []string{"a", "b", "c", "d"} {
		c.put(key, 0, 1, nil)
	}
	if got := keysThere(c, "a", "b", "c", "d"); got != "bcd" || c.bytes != 3 {
		t.Errorf("there are %s, %d bytes", got, c.bytes)
	}
}

// However many come and are never asked for again, what was asked for stays.
func TestCacheKeepsWhatWasAskedForAgain(t *testing.T) {
	c := newCache[string, int](8)
	for _, key := range []string{"a", "b", "c"} {
		c.put(key, 0, 2, nil)
		c.get(key)
	}
	for i := range 100 {
		c.put(fmt.Sprint(i), 0, 1, nil)
	}
	if got := keysThere(c, "a", "b", "c", "97", "98", "99"); got != "abc9899" || c.bytes != 8 {
		t.Errorf("there are %s, %d bytes", got, c.bytes)
	}
}

// What was asked for takes at most three quarters, so that what comes has room to be asked for again.
func TestCacheLeavesRoomForWhatComes(t *testing.T) {
	c := newCache[string, int](4)
	for _, key := range []string{"a", "b", "c", "d"} {
		c.put(key, 0, 1, nil)
		c.get(key)
	}
	c.put("e", 0, 1, nil)
	if got := keysThere(c, "a", "b", "c", "d", "e"); got != "bcde" {
		t.Errorf("there are %s, want the one asked for longest ago to go", got)
	}
	if c.usedSum != 3 {
		t.Errorf("%d bytes count as used, want 3", c.usedSum)
	}
}

// A later checkpoint holds all that the run has grown by, so dropping an earlier one gives back little.
func TestGrowthIsHeldByAllThatFollows(t *testing.T) {
	c := newCache[string, int](1000)
	first := c.grow(nil, 100)
	c.put("first", 0, 1, first)
	second := c.grow(first, 200)
	c.release(first)
	c.put("second", 0, 1, second)
	fork := c.grow(first, 50)
	c.put("fork", 0, 1, fork)
	c.release(second)
	c.release(fork)
	if c.bytes != 353 {
		t.Fatalf("%d bytes, want 100 + 200 + 50 + 3", c.bytes)
	}
	drop := func(want int64) {
		t.Helper()
		c.budget = c.bytes - 1
		oldest := c.fresh.Back().Value.(*entry[string, int]).key
		for n := len(c.entries); len(c.entries) == n; {
			c.evict()
		}
		if c.bytes != want {
			t.Errorf("without %q there are %d bytes, want %d", oldest, c.bytes, want)
		}
	}
	drop(352) // the first: its growth is held by the others
	drop(151) // the second: 200 and itself
	drop(0)   // the fork, and with it the first growth
}
