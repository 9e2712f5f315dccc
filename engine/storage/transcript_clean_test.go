package storage

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/datadriven"

	"loglab/engine/kafka"
)

func (s *transcript) logStart(t *testing.T, d *datadriven.TestData) error {
	offset := kafka.Offset(argument(t, d, "offset", 0))
	if s.log.IncrementLogStartOffset(offset) {
		s.say("log start offset %d", offset)
	}
	return nil
}

func (s *transcript) retain(t *testing.T, d *datadriven.TestData) error {
	now := parseTime(t, d, argument(t, d, "now", "+0"))
	r := s.log.DeleteOldSegments(kafka.Offset(argument(t, d, "hw", int64(s.log.LogEndOffset()))), now)
	for _, check := range r.Checks {
		if check.Off != "" {
			s.say("%v: off, %s", check.Rule, check.Off)
			continue
		}
		s.say("%v:", check.Rule)
		for _, c := range check.Segments {
			s.say("  segment %d, %d bytes, %v: %s", c.BaseOffset, c.Bytes, c.Verdict, c.Why)
		}
		if check.RolledAt != kafka.NoOffset {
			s.say("  rolled at %d", check.RolledAt)
		}
	}
	s.say("%s deleted, log start offset %d → %d", kafka.Count(r.Deleted, "segment"), r.LogStartFrom, r.LogStartTo)
	return nil
}

func (s *transcript) clean(t *testing.T, d *datadriven.TestData) error {
	now := parseTime(t, d, argument(t, d, "now", "+0"))
	stable := kafka.Offset(argument(t, d, "stable", int64(s.log.LogEndOffset())))
	c := s.log.Cleanable(s.cleaned, stable, now)
	s.say("dirty from %d, uncleanable from %d by: %v", c.FirstDirtyOffset, c.FirstUncleanableOffset, c.Bound)
	s.say("%v: %s", c.Verdict, c.Why)
	if !c.Eligible() {
		return nil
	}
	done, err := s.log.Clean(c, now)
	if err != nil {
		return err
	}
	s.cleaned = done.Checkpoint
	for _, r := range done.Removed {
		by := ""
		if r.Reason == Superseded {
			by = fmt.Sprintf(" by %d", r.By)
		}
		s.say("  record %d goes: %v%s", r.Offset, r.Reason, by)
	}
	for _, b := range done.Batches {
		if b.HorizonSet {
			s.say("  batch %d to %d: delete horizon %s", b.BaseOffset, b.LastOffset, at(b.DeleteHorizon))
		}
	}
	for _, g := range done.Groups {
		s.say("  segments %d: %d bytes became %d", g.From, g.BytesBefore, g.BytesAfter)
	}
	s.say("%s, checkpoint %d", kafka.Count(done.Keys, "key"), done.Checkpoint)
	return nil
}

func (s *transcript) remove(t *testing.T, d *datadriven.TestData) error {
	for _, path := range s.log.RemoveDeletedFiles(parseTime(t, d, argument(t, d, "now", "+0"))) {
		s.say("%s", path)
	}
	return nil
}

func (s *transcript) records(t *testing.T, _ *datadriven.TestData) error {
	s.say("%s", recordsText(t, s.log))
	return nil
}
