package journal

import (
	"fmt"

	"loglab/engine/kafka"
)

// ConnectionLost says that a client learned that its connection to a server is gone, with all requests that
// had no answer yet.
type ConnectionLost struct {
	Server   kafka.NodeID `json:"server"`
	Requests int          `json:"requests"` // that had no answer
	Backoff  kafka.Millis `json:"backoff_ms"`
	Lost     int          `json:"lost_in_a_row"` // connections since the last answer, this one included
}

// Kind gives the kind's name.
func (ConnectionLost) Kind() string { return "ConnectionLost" }

// Text gives the server, what was under way and the wait.
func (b ConnectionLost) Text() string {
	return fmt.Sprintf("%s requests=%d backoff=%dms", b.Server, b.Requests, b.Backoff)
}

// Sentence says what the loss means to the client.
func (b ConnectionLost) Sentence() string {
	return fmt.Sprintf("The connection to %s is gone: %s got no answer, and whether the server carried them out is not known. The client connects again after %s ms (reconnect.backoff.ms = 50, doubled each time, at most reconnect.backoff.max.ms = 1,000).",
		b.Server, kafka.Count(b.Requests, "request"), kafka.Thousands(b.Backoff))
}

// RequestTimedOut says that a client waited too long for an answer and closed the connection.
type RequestTimedOut struct {
	Server  kafka.NodeID `json:"server"`
	API     string       `json:"api"`
	Timeout kafka.Millis `json:"timeout_ms"`
	Setting string       `json:"setting"` // that says so; empty: request.timeout.ms
}

// Kind gives the kind's name.
func (RequestTimedOut) Kind() string { return "RequestTimedOut" }

// Text gives the server, the request and the setting.
func (b RequestTimedOut) Text() string {
	return fmt.Sprintf("%s %s %s=%d", b.Server, b.API, b.setting(), b.Timeout)
}

// Sentence gives the setting.
func (b RequestTimedOut) Sentence() string {
	return fmt.Sprintf("%s did not answer the %s request within %s = %s ms: the client closes the connection.", b.Server, b.API, b.setting(), kafka.Thousands(b.Timeout))
}

func (b RequestTimedOut) setting() string {
	if b.Setting == "" {
		return "request.timeout.ms"
	}
	return b.Setting
}

// RequestFailed says that an administrator's request got no answer.
type RequestFailed struct {
	API   string `json:"api"`
	Error string `json:"error"` // NETWORK_EXCEPTION or REQUEST_TIMED_OUT
}

// Kind gives the kind's name.
func (RequestFailed) Kind() string { return "RequestFailed" }

// Text gives the error.
func (b RequestFailed) Text() string { return b.API + " " + b.Error }

// Sentence says what is not known.
func (b RequestFailed) Sentence() string {
	return fmt.Sprintf("The %s request failed with %s: no answer came, and whether it was carried out is not known.", b.API, b.Error)
}

// ResponseIgnored says that a client got an answer to a request for which it waits no longer.
type ResponseIgnored struct {
	Server      kafka.NodeID `json:"server"`
	API         string       `json:"api"`
	Correlation int32        `json:"correlation_id"`
}

// Kind gives the kind's name.
func (ResponseIgnored) Kind() string { return "ResponseIgnored" }

// Text gives the envelope.
func (b ResponseIgnored) Text() string {
	return fmt.Sprintf("%s %s %d", b.Server, b.API, b.Correlation)
}

// Sentence says why it is ignored.
func (b ResponseIgnored) Sentence() string {
	return fmt.Sprintf("%s response from %s was ignored: no request with correlation id %d waits for an answer.", withArticle("A", b.API), b.Server, b.Correlation)
}

// LeaderLearned says that a client learned of another leader of a partition, or of a newer epoch of the same.
type LeaderLearned struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Before         kafka.NodeID         `json:"before"` // empty: none was known
	Leader         kafka.NodeID         `json:"leader"` // empty: there is none
	LeaderEpoch    kafka.LeaderEpoch    `json:"leader_epoch"`
	API            string               `json:"api"` // whose response says so
}

// Kind gives the kind's name.
func (LeaderLearned) Kind() string { return "LeaderLearned" }

// Text gives both leaders and the epoch.
func (b LeaderLearned) Text() string {
	return fmt.Sprintf("%s %s→%s epoch=%d by %s", b.TopicPartition, nodeOrNone(b.Before), nodeOrNone(b.Leader), b.LeaderEpoch, b.API)
}

// Sentence gives the leader and the epoch.
func (b LeaderLearned) Sentence() string {
	if b.Leader == "" {
		return fmt.Sprintf("The client learned from a %s response that %s has no leader (leader epoch %d). It asks again until there is one.", b.API, b.TopicPartition, b.LeaderEpoch)
	}
	return fmt.Sprintf("The client learned from a %s response that %s leads %s in leader epoch %d; it knew of %s.", b.API, b.Leader, b.TopicPartition, b.LeaderEpoch, nodeOrNone(b.Before))
}

// nodeOrNone names a node, or says that there is none.
func nodeOrNone(node kafka.NodeID) string {
	if node == "" {
		return "none"
	}
	return string(node)
}
