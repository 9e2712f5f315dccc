package client

import (
	"iter"
	"slices"
)

// historyChunk is how many entries one chunk of a history holds.
const historyChunk = 64

// History is a list that is only appended to. Clones share what both have seen: the original goes on in its own
// memory behind the clone's end, and only the clone copies, its last chunk. The zero History is empty.
type History[T any] struct {
	sealed [][]T // full chunks, never written again
	tail   []T   // the chunk that grows
}

// Len is the number of entries.
func (h *History[T]) Len() int { return len(h.sealed)*historyChunk + len(h.tail) }

// At gives the entry with an index from 0 to Len-1.
func (h *History[T]) At(i int) T {
	if i/historyChunk < len(h.sealed) {
		return h.sealed[i/historyChunk][i%historyChunk]
	}
	return h.tail[i-len(h.sealed)*historyChunk]
}

// From walks over the entries from an index on, in order.
func (h *History[T]) From(first int) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i := first; i < h.Len(); i++ {
			if !yield(i, h.At(i)) {
				return
			}
		}
	}
}

func (h *History[T]) append(entry T) {
	if len(h.tail) == historyChunk {
		h.sealed, h.tail = append(h.sealed, h.tail), nil
	}
	if h.tail == nil {
		h.tail = make([]T, 0, historyChunk)
	}
	h.tail = append(h.tail, entry)
}

func (h *History[T]) clone() History[T] {
	return History[T]{sealed: slices.Clip(h.sealed), tail: slices.Clip(h.tail)}
}
