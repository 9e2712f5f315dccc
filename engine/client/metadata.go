package client

import "loglab/engine/kafka"

// metadata says when a client asks for metadata: at its start, when it misses something, and again when what
// it has is metadata.max.age.ms old.
//
// Source: class Metadata.
type metadata struct {
	maxAge   kafka.Millis
	answered kafka.Millis // when the last answer came
	next     kafka.Millis // when it asks
	waiting  bool         // for an answer
}

func newMetadata(maxAge kafka.Millis) metadata { return metadata{maxAge: maxAge, next: atOnce} }

func (m *metadata) nextDue() (due kafka.Millis, ok bool) { return m.next, !m.waiting }

func (m *metadata) due(now kafka.Millis) bool { return !m.waiting && m.next <= now }

func (m *metadata) asked() { m.waiting = true }

func (m *metadata) take(now kafka.Millis) { m.waiting, m.answered, m.next = false, now, now+m.maxAge }

// retryBackoff is the default of retry.backoff.ms, which two requests for metadata are apart at least.
const retryBackoff = 100

// request makes the client ask sooner, because something is missing.
func (m *metadata) request() { m.next = min(m.next, m.answered+retryBackoff) }
