package client

import "loglab/engine/kafka"

// metadata says when a client asks for metadata: at its start, and again when what it has is
// metadata.max.age.ms old.
//
// Source: class Metadata.
type metadata struct {
	maxAge  kafka.Millis
	next    kafka.Millis // when it asks
	waiting bool         // for an answer
}

func newMetadata(maxAge kafka.Millis) metadata { return metadata{maxAge: maxAge, next: atOnce} }

func (m *metadata) nextDue() (due kafka.Millis, ok bool) { return m.next, !m.waiting }

func (m *metadata) due(now kafka.Millis) bool { return !m.waiting && m.next <= now }

func (m *metadata) asked() { m.waiting = true }

func (m *metadata) answered(now kafka.Millis) { m.waiting, m.next = false, now+m.maxAge }
