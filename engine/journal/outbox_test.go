package journal

import "testing"

// outboxSamples holds one body of each kind of an application with an outbox table.
var outboxSamples = []sample{
	{OutboxWritten{2, 3}, "rows=2 open=3",
		"The application writes 2 events into its database and 2 rows into the outbox table, in one database transaction: there is never one without the other. 3 rows wait to be published."},
	{OutboxRelayed{3, 1}, "rows=3 again=1",
		"The relay reads 3 rows of the outbox table that are not marked as published and hands them to its producer. 1 of them it had handed over before: it cannot know whether they are in the log."},
	{OutboxMarked{1, 2}, "rows=1 open=2",
		"The relay marks 1 row as published, after the acknowledgement. A crash before that would have published it again. 2 rows remain."},
}

// What the sentences say in other cases.
func TestWordsOfOutboxes(t *testing.T) {
	for _, test := range []sample{
		{OutboxWritten{1, 1}, "rows=1 open=1",
			"The application writes 1 event into its database and 1 row into the outbox table, in one database transaction: there is never one without the other. 1 row waits to be published."},
		{OutboxRelayed{1, 0}, "rows=1 again=0", "The relay reads 1 row of the outbox table that is not marked as published and hands it to its producer."},
		{OutboxMarked{2, 1}, "rows=2 open=1",
			"The relay marks 2 rows as published, after the acknowledgement. A crash before that would have published them again. 1 row remains."},
	} {
		test.check(t)
	}
}
