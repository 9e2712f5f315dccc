package delivery

import (
	"fmt"
	"strings"

	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// change says what the tick shown brought, for those who hear the page; empty where the page's own words do.
func (l *layout) change() string {
	if l.Address.T == 0 {
		return "" // all of the set-up belongs to tick 0
	}
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	for e := range l.Cluster.Journal().Of(l.tick()) {
		switch b := e.Body.(type) {
		case journal.BatchAppended:
			if !strings.HasPrefix(b.TopicPartition.Topic, "__") {
				add("%s written to %s", kafka.Count(b.Records(), "record"), b.TopicPartition)
			}
		case journal.TransactionEnded:
			if !strings.HasPrefix(b.TopicPartition.Topic, "__") {
				add("%s marker at %d of %s", b.Marker, b.Offset, b.TopicPartition)
			}
		case journal.TransactionStateChanged:
			add("%s: %s", b.TransactionalID, b.To)
		case journal.TransactionCompleted:
			add("%s: %s", b.TransactionalID, b.To)
		case journal.PartitionsAddedToTransaction:
			add("%s holds a partition more", b.TransactionalID)
		case journal.RecordsRead:
			add("poll gave %s %s of %s", e.Node, kafka.Count(b.Records, "record"), b.TopicPartition)
		case journal.RecordProcessed:
			if b.Group == billing {
				add("order %d processed", b.Offset)
			}
		case journal.ConsumerCrashed, journal.ProcessKilled:
			add("%s crashed", e.Node)
		case journal.ProduceFailed:
			add("a write of %s failed: %s", e.Node, b.Error)
		case journal.ProducerTransactionFailed:
			add("%s got %s", e.Node, b.Error)
		case journal.MessageLost:
			if b.ByLink {
				add("a message from %s was lost", b.From)
			}
		case journal.DuplicateRecognised:
			add("a batch taken for a copy")
		}
	}
	if len(parts) == 0 {
		parts = l.askedNow()
	}
	if len(parts) == 0 {
		return ""
	}
	const most = 4
	if left := len(parts) - most; left > 0 {
		parts = append(parts[:most], kafka.Count(left, "change")+" more")
	}
	return fmt.Sprintf("Tick %d: %s.", l.Address.T, strings.Join(parts, "; "))
}

// askedNow lists the requests that were sent in the tick shown, but for those that are sent all the time.
func (l *layout) askedNow() (list []string) {
	for e := range l.Cluster.Journal().Of(l.tick()) {
		b, ok := e.Body.(journal.MessageSent)
		if !ok || b.API == "Fetch" || strings.HasSuffix(b.API, "Heartbeat") || b.API == "Metadata" {
			continue
		}
		what := "sends " + b.API
		if b.Response {
			what = "answers " + b.API
		}
		list = append(list, fmt.Sprintf("%s %s", e.Node, what))
	}
	return list
}
