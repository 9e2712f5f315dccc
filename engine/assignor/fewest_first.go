package assignor

// fewestFirst is a heap of members: first the one with fewest partitions, of several the one with the lowest
// number.
type fewestFirst struct {
	size  []int32 // by member: how many partitions it has; the owner changes it and calls changed
	heap  []int32 // members
	place []int32 // by member: where it stands in heap, if it is there
}

func newFewestFirst(size []int32) fewestFirst {
	return fewestFirst{size: size, heap: make([]int32, 0, len(size)), place: make([]int32, len(size))}
}

// reset makes the heap hold these members alone.
func (h *fewestFirst) reset(members []int32) {
	h.heap = append(h.heap[:0], members...)
	for i, member := range h.heap {
		h.place[member] = int32(i)
	}
	for i := len(h.heap)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

// first returns the first member. There must be one.
func (h *fewestFirst) first() int32 {
	return h.heap[0]
}

// changed puts a member of the heap, whose size has changed, into its place.
func (h *fewestFirst) changed(member int32) {
	i := int(h.place[member])
	for i > 0 && h.before(i, (i-1)/2) {
		h.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
	h.down(i)
}

func (h *fewestFirst) down(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h.heap); child++ {
			if h.before(child, least) {
				least = child
			}
		}
		if least == i {
			return
		}
		h.swap(i, least)
		i = least
	}
}

func (h *fewestFirst) before(i, j int) bool {
	a, b := h.heap[i], h.heap[j]
	if h.size[a] != h.size[b] {
		return h.size[a] < h.size[b]
	}
	return a < b
}

func (h *fewestFirst) swap(i, j int) {
	h.heap[i], h.heap[j] = h.heap[j], h.heap[i]
	h.place[h.heap[i]], h.place[h.heap[j]] = int32(i), int32(j)
}
