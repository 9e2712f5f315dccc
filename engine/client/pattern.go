package client

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/kafka"
)

// This file has what a client knows of topics that it does not subscribe to by name.

// CheckPattern refuses a pattern of topics that is none.
func CheckPattern(pattern string) error {
	_, err := compilePattern(pattern)
	return err
}

// compilePattern makes a pattern of the whole name.
//
// Simplified: a pattern has Go's syntax, which is RE2's. Kafka's classic client takes Java's, which also has
// back-references and look-around; of the consumer protocol the broker takes RE2/J's, as here.
func compilePattern(pattern string) (*regexp.Regexp, error) {
	compiled, err := kafka.WholePattern(pattern)
	if err != nil {
		return nil, fmt.Errorf("the pattern %q of topics: %w", pattern, err)
	}
	return compiled, nil
}

func mustPattern(pattern string) *regexp.Regexp {
	compiled, err := compilePattern(pattern)
	if err != nil {
		panic(err) // the spec was checked
	}
	return compiled
}

// topicsRequest asks for the topics that the client wants: by their names, all of them for a pattern, or, where the
// coordinator resolves the pattern, by the ids that it has assigned, and the dead-letter topic by its name.
//
// Source: ConsumerMetadata.newMetadataRequestBuilder.
func (m *metadata) topicsRequest() kmsg.Request {
	switch {
	case m.pattern != nil:
		request := metadataRequest(nil)
		request.Topics, request.AllowAutoTopicCreation = nil, false
		return request
	case m.byID:
		request := metadataRequest(nil)
		request.Topics, request.AllowAutoTopicCreation = []kmsg.MetadataRequestTopic{}, false
		for _, id := range m.ids {
			topic := kmsg.NewMetadataRequestTopic()
			topic.TopicID = id
			request.Topics = append(request.Topics, topic)
		}
		for i := range m.topics {
			if t := &m.topics[i]; t.named {
				topic := kmsg.NewMetadataRequestTopic()
				topic.Topic = &t.name
				request.Topics = append(request.Topics, topic)
			}
		}
		return request
	}
	return metadataRequest(m.topics)
}

// follow makes the client ask for the topics that the coordinator has assigned, if it asks by ids.
//
// Source: SubscriptionState.setAssignedTopicIds.
func (m *metadata) follow(topics []allotted) {
	if !m.byID {
		return
	}
	m.ids = make([][16]byte, len(topics))
	for i, t := range topics {
		m.ids[i] = t.id
	}
}

// wanting gives the place of a topic of a response; nil if the client does not want it. A topic that it subscribes to by
// a pattern, or was assigned by its id, gets one. The cluster's own topics match no pattern.
//
// Source: ConsumerMetadata.retainTopic; exclude.internal.topics.
func (m *metadata) wanting(topic kmsg.MetadataResponseTopic) *topicMetadata {
	if topic.Topic == nil {
		return nil
	}
	name := *topic.Topic
	if t := m.topic(name); t != nil {
		return t
	}
	matches := m.pattern != nil && !topic.IsInternal && m.pattern.MatchString(name)
	if topic.ErrorCode != 0 || !matches && !(m.byID && slices.Contains(m.ids, topic.TopicID)) {
		return nil
	}
	m.topics = append(m.topics, topicMetadata{name: name})
	return &m.topics[len(m.topics)-1]
}

// matched lists the known topics that the client's pattern matches, sorted.
//
// Source: ConsumerCoordinator.updatePatternSubscription.
func (m *metadata) matched() (names []string) {
	for i := range m.topics {
		if t := &m.topics[i]; m.pattern != nil && len(t.leaders) > 0 && !t.internal && m.pattern.MatchString(t.name) {
			names = append(names, t.name)
		}
	}
	slices.Sort(names)
	return names
}
