package client

import (
	"strconv"
	"strings"

	"loglab/engine/kafka"
)

// Workload is what a producer's application sends by itself.
type Workload struct {
	// Keys are sent in turn, over and over; only read. Empty: the records have no key.
	Keys []string
	// Rate is the number of records that are handed to the producer at once every Every ms; 0: none.
	Rate  int
	Every kafka.Millis
	// ValueBytes is the least length of a value; shorter ones are filled up with dots.
	ValueBytes int
}

// record gives key and value of the record number n of the workload, from 0. The value says which event
// of its key it is, from 1.
func (w Workload) record(n int) (key, value []byte) {
	event := n + 1
	if len(w.Keys) > 0 {
		key = []byte(w.Keys[n%len(w.Keys)])
		event = n/len(w.Keys) + 1
	}
	text := "event " + strconv.Itoa(event)
	if fill := w.ValueBytes - len(text); fill > 0 {
		text += strings.Repeat(".", fill)
	}
	return key, []byte(text)
}
