package storage

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"sort"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// comparedEntries is a file of entries of equal size that is held against the log. Whatever their order in the
// file, they are found by a key, so that a wrong entry or batch does not make its neighbours wrong.
type comparedEntries struct {
	findings
	entryFile
	state []entryState // by number
}

// entryState is what is known of an entry.
type entryState int8

const (
	unmet entryState = iota // nothing in the log is what it tells of
	agrees
	disagrees // and is not to be looked at again
)

// entryFile is the content of such a file and a way to find entries in it. Each is found once.
type entryFile struct {
	b         []byte
	entrySize int
	key       func(e []byte) int64
	order     []int32 // numbers of the entries, by key
	skip      []int32 // by place in order: a place at or behind it before which all were found
	at        int     // in order: where the last search ended
	found     []int32 // the last answer
}

// newComparedEntries takes the whole entries of a file before the zeros that fill it up.
func newComparedEntries(name string, b []byte, entrySize int, key func(e []byte) int64) comparedEntries {
	c := comparedEntries{findings: findings{file: name}}
	count := len(b) / entrySize
	if rest := len(b) % entrySize; rest != 0 {
		c.add(Finding{Kind: WrongLength, Entry: count, Byte: int64(len(b) - rest), Offset: kafka.NoOffset,
			Found: kafka.Count(rest, "byte") + " behind the last whole entry", Expected: fmt.Sprintf("entries of %d bytes", entrySize)})
	}
	used := len(bytes.TrimRight(b[:count*entrySize], "\x00"))
	count = (used + entrySize - 1) / entrySize
	c.entryFile = newEntryFile(b[:count*entrySize], entrySize, key)
	c.state = make([]entryState, count)
	return c
}

func newEntryFile(b []byte, entrySize int, key func(e []byte) int64) entryFile {
	n := len(b) / entrySize
	f := entryFile{b: b, entrySize: entrySize, key: key, order: make([]int32, n), skip: make([]int32, n+1)}
	for i := range f.order {
		f.order[i], f.skip[i] = int32(i), int32(i)
	}
	f.skip[n] = int32(n)
	byKey := func(i, j int32) int { return cmp.Or(cmp.Compare(f.keyOf(i), f.keyOf(j)), cmp.Compare(i, j)) }
	if !slices.IsSortedFunc(f.order, byKey) && !f.sortShortKeys() {
		slices.SortFunc(f.order, byKey)
	}
	return f
}

// sortShortKeys brings the entries into the order of their keys and numbers, if all keys have 32 bits: then one number
// holds both, and to sort a large file without any order does not mean to look into it all over.
func (f *entryFile) sortShortKeys() bool {
	both := make([]int64, len(f.order))
	for i := range both {
		key := f.keyOf(int32(i))
		if key != int64(int32(key)) {
			return false
		}
		both[i] = key<<32 | int64(i)
	}
	slices.Sort(both)
	for place, b := range both {
		f.order[place] = int32(b)
	}
	return true
}

// entry gives the bytes of entry i.
func (f *entryFile) entry(i int) []byte { return f.b[i*f.entrySize:][:f.entrySize] }

func (f *entryFile) keyOf(i int32) int64 { return f.key(f.entry(int(i))) }

// within gives the numbers of the entries with a key from low to high, both inclusive, that were not found before. The
// slice is valid until the next call. Of a log that is walked from its beginning the next entries are found without a
// search, and no log can make the work more than that of one search a batch.
func (f *entryFile) within(low, high int64) []int32 {
	n := len(f.order)
	if f.at > 0 && f.keyOf(f.order[f.at-1]) >= low || f.at < n && f.keyOf(f.order[f.at]) < low {
		f.at = sort.Search(n, func(i int) bool { return f.keyOf(f.order[i]) >= low })
	}
	f.found = f.found[:0]
	for place := f.unfound(f.at); place < n && f.keyOf(f.order[place]) <= high; place = f.unfound(f.at) {
		f.found = append(f.found, f.order[place])
		f.skip[place] = int32(place) + 1
		f.at = place + 1
	}
	return f.found
}

// unfound gives the first place from here on that was not found, and shortens the way there for the next time.
func (f *entryFile) unfound(place int) int {
	for int(f.skip[place]) != place {
		f.skip[place] = f.skip[f.skip[place]]
		place = int(f.skip[place])
	}
	return place
}

// reject notes what is wrong with entry i; the words are made only of what is kept.
func (c *comparedEntries) reject(kind FindingKind, i int, offset kafka.Offset, words func() (found, expected string)) {
	c.state[i] = disagrees
	if len(c.list) == maxFindings {
		c.more++
		return
	}
	found, expected := words()
	c.add(Finding{Kind: kind, Entry: i, Byte: int64(i * c.entrySize), Offset: offset, Found: found, Expected: expected})
}

// outcome counts the entries.
func (c *comparedEntries) outcome() ComparedFile {
	f := ComparedFile{Name: c.file, Entries: len(c.state), Findings: len(c.list) + c.more}
	for _, state := range c.state {
		switch state {
		case agrees:
			f.Agree++
		case unmet:
			f.NotCompared++
		}
	}
	return f
}

// checkOrder holds each entry that agrees with the log against the one before it that does. field gives what
// must rise, the offset that the entry is about, and the field's name.
func (c *comparedEntries) checkOrder(field func(e []byte) (value int64, offset kafka.Offset, name string)) {
	before, last := -1, int64(0)
	for i, state := range c.state {
		if state != agrees {
			continue
		}
		value, offset, name := field(c.entry(i))
		if before >= 0 && value <= last {
			c.reject(WrongEntryOrder, i, offset, func() (string, string) {
				return fmt.Sprintf("%s %d", name, value), fmt.Sprintf("above %d, as in entry %d", last, before)
			})
			continue
		}
		before, last = i, value
	}
}

// offsetComparison holds an offset index against the log.
type offsetComparison struct {
	comparedEntries // found by position
	base            kafka.Offset
}

func newOffsetComparison(name string, b []byte, base kafka.Offset) *offsetComparison {
	return &offsetComparison{base: base, comparedEntries: newComparedEntries(name, b, offsetEntrySize, func(e []byte) int64 {
		return int64(offsetEntryAt(e, 0, 0).Position)
	})}
}

// addBatch judges the entries that point into a batch.
func (c *offsetComparison) addBatch(b *record.Batch, position int64) {
	for _, n := range c.within(position, position+int64(b.Size())-1) {
		i := int(n)
		e := offsetEntryAt(c.b, c.base, i)
		c.state[i] = agrees
		switch {
		case int64(e.Position) != position:
			c.reject(WrongPosition, i, e.Offset, func() (string, string) {
				return fmt.Sprintf("position %d", e.Position), fmt.Sprintf("the first byte of a batch, as %d of the one that ends with offset %d", position, b.LastOffset())
			})
		case e.Offset != b.LastOffset():
			c.reject(WrongOffset, i, e.Offset, func() (string, string) {
				return fmt.Sprintf("offset %d", e.Offset), fmt.Sprintf("%d, with which the batch at byte %d ends", b.LastOffset(), position)
			})
		}
	}
}

// finish judges the entries that point outside of the log, which has size bytes if it is whole, and the order.
func (c *offsetComparison) finish(size int64, whole bool) *findings {
	for i, state := range c.state {
		e := offsetEntryAt(c.b, c.base, i)
		if state == unmet && (whole || e.Position < 0) {
			c.reject(WrongPosition, i, e.Offset, func() (string, string) {
				return fmt.Sprintf("position %d", e.Position), fmt.Sprintf("a batch in the %d bytes of the log", size)
			})
		}
	}
	c.checkOrder(func(e []byte) (int64, kafka.Offset, string) {
		offset := offsetEntryAt(e, c.base, 0).Offset
		return int64(offset), offset, "offset"
	})
	return &c.findings
}

// timeComparison holds a time index against the log.
type timeComparison struct {
	comparedEntries // found by the offset as it is in the file, without the base
	base            kafka.Offset

	largest   kafka.Timestamp // so far
	largestAt kafka.Offset    // last offset of the batch that it was first met in
}

func newTimeComparison(name string, b []byte, base kafka.Offset) *timeComparison {
	return &timeComparison{base: base, largest: kafka.NoTimestamp,
		comparedEntries: newComparedEntries(name, b, timeEntrySize, func(e []byte) int64 { return int64(timeEntryAt(e, 0, 0).Offset) })}
}

// addBatch judges the entries whose offset is in a batch.
func (c *timeComparison) addBatch(b *record.Batch, position int64) {
	last := b.LastOffset()
	for _, n := range c.within(int64(b.BaseOffset-c.base), int64(last-c.base)) {
		i := int(n)
		e := timeEntryAt(c.b, c.base, i)
		c.state[i] = agrees
		switch {
		case e.Offset < last:
			c.reject(WrongOffset, i, e.Offset, func() (string, string) {
				return fmt.Sprintf("offset %d", e.Offset), fmt.Sprintf("%d, with which the batch at byte %d ends", last, position)
			})
		case e.Timestamp != b.MaxTimestamp:
			c.reject(WrongTimestamp, i, e.Offset, func() (string, string) {
				return fmt.Sprintf("timestamp %d", e.Timestamp), fmt.Sprintf("%d, the largest of the batch at byte %d", b.MaxTimestamp, position)
			})
		case e.Timestamp <= c.largest:
			c.reject(WrongTimestamp, i, e.Offset, func() (string, string) {
				return fmt.Sprintf("timestamp %d", e.Timestamp), fmt.Sprintf("above %d, which the batch that ends with offset %d has", c.largest, c.largestAt)
			})
		}
	}
	if b.MaxTimestamp > c.largest {
		c.largest, c.largestAt = b.MaxTimestamp, last
	}
}

// finish judges the entries whose offset is in no batch, and the order. last is the last offset of the log,
// NoOffset if it is empty; what lies behind it is not judged if it is not whole.
func (c *timeComparison) finish(last kafka.Offset, whole bool) *findings {
	for i, state := range c.state {
		e := timeEntryAt(c.b, c.base, i)
		if state == unmet && (whole || e.Offset <= last) {
			c.reject(WrongOffset, i, e.Offset, func() (string, string) {
				return fmt.Sprintf("offset %d", e.Offset), describeNoBatch(e.Offset, last)
			})
		}
	}
	c.checkOrder(func(e []byte) (int64, kafka.Offset, string) {
		entry := timeEntryAt(e, c.base, 0)
		return int64(entry.Timestamp), entry.Offset, "timestamp"
	})
	return &c.findings
}

// describeNoBatch says what is expected instead of an offset that no batch holds.
func describeNoBatch(offset, last kafka.Offset) string {
	switch {
	case last == kafka.NoOffset:
		return "none: the log is empty"
	case offset > last:
		return fmt.Sprintf("at most %d, the last of the log", last)
	}
	return fmt.Sprintf("the last offset of a batch: none holds %d", offset)
}
