package client

import (
	"maps"
	"slices"
)

// idTail is how many ids a set keeps in the part that is copied with it.
const idTail = 64

// idSet is a set that only grows. Clones share the maps of sealed, which are never written; only the tail is copied. The
// zero set is empty.
type idSet struct {
	sealed []map[string]struct{} // each larger than the next
	tail   map[string]struct{}
}

func (s *idSet) has(id string) bool {
	if _, found := s.tail[id]; found {
		return true
	}
	return slices.ContainsFunc(s.sealed, func(m map[string]struct{}) bool {
		_, found := m[id]
		return found
	})
}

// add adds an id that is not in the set.
func (s *idSet) add(id string) {
	if s.tail == nil {
		s.tail = make(map[string]struct{}, idTail)
	}
	if s.tail[id] = struct{}{}; len(s.tail) < idTail {
		return
	}
	full := s.tail
	s.tail = nil
	for n := len(s.sealed); n > 0 && len(s.sealed[n-1]) <= len(full); n-- {
		merged := maps.Clone(s.sealed[n-1])
		maps.Copy(merged, full)
		full, s.sealed = merged, s.sealed[:n-1]
	}
	s.sealed = append(slices.Clip(s.sealed), full)
}

// size is the number of ids.
func (s *idSet) size() (n int) {
	for _, m := range s.sealed {
		n += len(m)
	}
	return n + len(s.tail)
}

func (s *idSet) clone() idSet {
	return idSet{sealed: slices.Clip(s.sealed), tail: maps.Clone(s.tail)}
}

// eventID is what two records share that were made for one event, wherever they stand.
//
// Simplified: the id is the record's key and value. An application would put an id of its own into a header.
func eventID(key, value []byte) string {
	id := make([]byte, 0, len(key)+len(value)+2)
	for _, part := range [][]byte{key, value} {
		if part == nil {
			id = append(id, 'n')
			continue
		}
		id = append(append(id, 'b'), part...)
		id = append(id, 0)
	}
	return string(id)
}
