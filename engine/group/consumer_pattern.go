package group

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// patternInterval is the least time between two looks at which topics match the patterns of a group.
//
// Source: GroupMetadataManager.REGEX_BATCH_REFRESH_MIN_INTERVAL_MS.
const patternInterval kafka.Millis = 10_000

// compilePattern reads a pattern that has to match the whole name of a topic.
//
// Simplified: patterns are those of Go's regexp; Kafka's broker takes RE2/J's, which are nearly the same.
func compilePattern(regex string) (*regexp.Regexp, error) {
	return kafka.WholePattern(regex)
}

// changePattern records that a member subscribes to another pattern, and says whether the patterns of the group are to
// be looked at.
//
// Source: GroupMetadataManager.maybeUpdateRegularExpressions.
func (ch *groupChange) changePattern(before, now string, c *subscriptionChange) (*kerr.Error, string) {
	isNew := false
	if before != now {
		c.regex = true
		if before != "" && ch.g.subscribedBy(before) == 1 {
			ch.values = append(ch.values, Tombstone{Key{Type: TypeRegularExpression, Group: ch.g.id, Regex: before}})
		}
		_, known := ch.g.pattern(now)
		switch {
		case now == "":
			c.resolved = true
		case ch.g.subscribedBy(now) == 0:
			if _, err := compilePattern(now); err != nil {
				return kerr.InvalidRegularExpression, fmt.Sprintf("the pattern cannot be read: %v", err)
			}
			isNew = true
		case known:
			c.resolved = true
		}
	}
	c.resolve = ch.looksAtPatterns(isNew)
	return nil, ""
}

// looksAtPatterns says whether to look now at which topics match: if one of them was never looked at, topics were made
// since, or group.consumer.regex.refresh.interval.ms is over; but not within patternInterval of the last time.
func (ch *groupChange) looksAtPatterns(isNew bool) bool {
	subscribed := ch.patternsAfter()
	if !isNew && !slices.ContainsFunc(ch.g.members, func(m *consumerMember) bool { return m.regex != "" }) || len(subscribed) == 0 {
		return false
	}
	at := ch.s.at()
	if len(ch.g.patterns) == 0 {
		return true
	}
	last := ch.g.patterns[0]
	if at <= last.at+kafka.Timestamp(patternInterval) {
		return false
	}
	return isNew || len(subscribed) != len(ch.g.patterns) || last.version < ch.s.c.newTopics || at > last.at+kafka.Timestamp(ch.s.c.config.RegexRefreshInterval)
}

// patternsAfter lists the patterns that the members subscribe to after the change.
func (ch *groupChange) patternsAfter() (list []string) {
	for _, m := range ch.now().members {
		if m.regex != "" {
			list = append(list, m.regex)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// resolvePatterns finds the topics that match the patterns of a group. If they are others than before, the group epoch
// rises.
//
// Simplified: the topics are looked at in no time, when the heartbeat that asked for it has been handled; Kafka's
// coordinator has another thread do it, and goes on meanwhile.
//
// Source: GroupMetadataManager.refreshRegularExpressions and handleRegularExpressionsResult.
func (s *step) resolvePatterns(id string) {
	g := s.c.consumerGroup(id)
	if g == nil {
		return
	}
	ch := &groupChange{s: s, g: g, epoch: g.epoch}
	changed := false
	for _, regex := range ch.patternsAfter() {
		compiled, err := compilePattern(regex)
		if err != nil {
			panic("group " + id + ": " + err.Error()) // changePattern lets no other in
		}
		var topics []string
		for i := range s.c.image.Topics {
			if name := s.c.image.Topics[i].Name; compiled.MatchString(name) {
				topics = append(topics, name)
			}
		}
		old, _ := g.pattern(regex)
		if !slices.Equal(old.topics, topics) {
			changed = true
			ch.cause = append(ch.cause, fmt.Sprintf("the pattern %s matches other topics", regex))
		}
		ch.values = append(ch.values, RegularExpressionRecord{id, regex, topics, int64(s.c.image.Offset), s.at()})
		ch.events = append(ch.events, journal.PatternResolved{Group: id, Regex: regex, Topics: topics, Before: old.topics})
	}
	hash := metadataHash(ch.now().topics(), s.c.image)
	if hash != g.metadataHash && !changed {
		changed = true
		ch.cause = append(ch.cause, changedTopics(nil, nil))
	}
	if changed {
		ch.bump(hash)
		sl := s.c.openSlot(id)
		sl.looked, sl.lookedEpoch, sl.counted = true, ch.epoch, s.c.count(ch.now().topics())
	}
	ch.commit(id)
}
