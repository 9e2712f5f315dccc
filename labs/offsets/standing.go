package offsets

import (
	"slices"

	"loglab/engine"
	"loglab/engine/kafka"
)

// standing is how far a group is in one partition at one moment: all that decides which records are repeated and which
// are lost when somebody begins anew.
type standing struct {
	fates     func(kafka.Offset) engine.RecordFate
	first     kafka.Offset   // the first offset that the group has begun to read at, at the least; -1: none
	start     kafka.Offset   // of the log
	end       kafka.Offset   // after the last record that counts
	committed kafka.Offset   // -1: nothing
	stored    kafka.Offset   // by a sink that stores offsets: where consumers begin; -1: nothing, or another sink
	position  kafka.Offset   // of who reads it; -1: nobody does
	held      []kafka.Offset // records that poll has returned to the reader and that are not done, sorted
	strays    []kafka.Offset // records that others still have in hand, who read it before, sorted
}

// reckoning is what becomes of records where somebody begins anew.
type reckoning struct {
	again []kafka.Offset // they are processed again
	lost  []kafka.Offset // nobody processes them any more, and they were not lost before
}

// reckon says what it means that somebody begins anew at an offset. What the reader has in hand goes with it; what others
// still have is not lost with that.
func (s *standing) reckon(begins kafka.Offset) (r reckoning) {
	first := begins
	if s.first >= 0 {
		first = min(max(s.first, s.start), begins)
	}
	for o := first; o < s.end; o++ {
		switch {
		case o >= begins && s.fates(o).Processed > 0:
			r.again = append(r.again, o)
		case o < begins && !s.settled(o) && !s.gone(o) && !s.astray(o):
			r.lost = append(r.lost, o)
		}
	}
	return r
}

// settled says whether a record needs no processing any more: it was processed, or given up after its attempts. Where
// the sink stores offsets it must have taken the effect.
func (s *standing) settled(o kafka.Offset) bool {
	fate := s.fates(o)
	if s.stored >= 0 {
		return fate.Applied > 0 || fate.GivenUp > 0
	}
	return done(fate)
}

// gone says whether a record is lost to the group as things stand: the group goes on behind it, and nobody has it in
// hand. A sink that has stored a later offset ignores the effect even of who has.
func (s *standing) gone(o kafka.Offset) bool {
	return s.passed(o) && (s.stored >= 0 || !s.astray(o))
}

// passed says whether the group goes on behind a record that needs processing and that its reader does not have in hand.
func (s *standing) passed(o kafka.Offset) bool {
	base := s.committed
	if s.stored >= 0 {
		base = s.stored
	}
	if s.first < 0 || o < max(s.first, s.start) || o >= min(base, s.end) || s.settled(o) {
		return false
	}
	return s.stored >= 0 || !s.holds(o) && (s.position < 0 || o < s.position)
}

// allGone lists the records that are lost to the group.
func (s *standing) allGone() (list []kafka.Offset) {
	if s.first < 0 {
		return nil
	}
	for o := max(s.first, s.start); o < s.end; o++ {
		if s.gone(o) {
			list = append(list, o)
		}
	}
	return list
}

// holds says whether a record is in the hands of who reads the partition.
func (s *standing) holds(o kafka.Offset) bool {
	_, found := slices.BinarySearch(s.held, o)
	return found
}

// astray says whether a record is in the hands of somebody who does not read the partition any more.
func (s *standing) astray(o kafka.Offset) bool {
	_, found := slices.BinarySearch(s.strays, o)
	return found
}

// done says whether a record needs no processing any more: it was processed, or given up after its attempts.
func done(f engine.RecordFate) bool { return f.Processed > 0 || f.GivenUp > 0 }
