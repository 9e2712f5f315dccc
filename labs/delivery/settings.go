package delivery

import (
	"loglab/labs"
	"loglab/labs/view"
)

// The choices of the settings.
const (
	on, off = "on", "off"
	yes, no = "true", "false"
	unset   = "unset"
	acksAll = "all"

	txnProducers = "producers"
	txnApp       = "application"
	txnBoth      = "both"

	ownIDs    = "own"
	sharedIDs = "shared"

	nothing     = "nothing"
	toPlain     = "plain"
	toOnce      = "idempotent"
	toOffsets   = "offsets"
	toInbox     = "inbox"
	toEmail     = "e-mail"
	commitAfter = "after-batch"
	commitFirst = "before"

	byLast     = "last"
	byPosition = "position"
	byNobody   = "no"

	readCommitted   = "read_committed"
	readUncommitted = "read_uncommitted"
)

const maxMillis = 3_600_000

// clusterSettings are those of brokers and of what is there at the start.
func clusterSettings() []labs.Setting {
	return []labs.Setting{
		{Name: "brokers", Label: "Brokers", Default: "1", Min: 1, Max: 3, Help: "with as many replicas of each partition"},
		{Name: "records", Label: "Orders at the start", Default: "3", Min: 0, Max: 12},
		{Name: "version", Label: "transaction.version", Default: "2", Min: 1, Max: 2, Help: "2: each transaction has an epoch of its own, and partitions come in by their first record"},
	}
}

// producerSettings are those of who writes orders.
func producerSettings() []labs.Setting {
	return []labs.Setting{
		{Name: "transactions", Label: "Transactions", Default: txnApp, Options: []string{off, txnProducers, txnApp, txnBoth}, Help: "who has a transactional.id"},
		{Name: "producers", Label: "Producers", Default: "1", Min: 1, Max: 3},
		{Name: "ids", Label: "transactional.id", Default: ownIDs, Options: []string{ownIDs, sharedIDs}, Help: "shared: p1 has that of p0, and begins when you start it"},
		{Name: "plain", Label: "One more, plain", Default: off, Options: []string{off, on}, Help: "a producer without a transactional.id"},
		{Name: "acks", Label: "acks", Default: acksAll, Options: []string{acksAll, "1", "0"}},
		{Name: "idempotence", Label: "enable.idempotence", Default: unset, Options: []string{unset, yes, no}},
		{Name: "retries", Label: "retries", Default: "2147483647", Min: 0, Max: 2147483647},
		{Name: "in-flight", Label: "max.in.flight.requests.per.connection", Default: "5", Min: 1, Max: 100},
		{Name: "request-timeout", Label: "request.timeout.ms", Default: "1000", Min: 300, Max: maxMillis, Help: "Kafka’s default is 30,000"},
		{Name: "txn-timeout", Label: "transaction.timeout.ms", Default: "60000", Min: 100, Max: maxMillis},
		{Name: "rate", Label: "Orders at once", Default: "0", Min: 0, Max: 5, Help: "0: only what you produce"},
		{Name: "every", Label: "Every … ticks", Default: "5", Min: 1, Max: 100},
		{Name: "txn-records", Label: "In one transaction", Default: "3", Min: 1, Max: 20},
		{Name: "outbox", Label: "Outbox table", Default: off, Options: []string{off, on}, Help: "on: they write into their database, and a relay publishes what it finds there"},
		{Name: "abort-every", Label: "Aborts", Default: "0", Min: 0, Max: 20, Help: "every … th transaction; 0: none"},
	}
}

// appSettings are those of the application and of what it writes to.
func appSettings() []labs.Setting {
	return []labs.Setting{
		{Name: "output", Label: "Writes to topic bills", Default: on, Options: []string{on, off}},
		{Name: "outside", Label: "And outside", Default: nothing, Options: []string{nothing, toPlain, toOnce, toOffsets, toInbox, toEmail}, Help: "a database that adds each effect, ignores an order that it has had, keeps the offset with it, or has an inbox table; or an e-mail"},
		{Name: "app-idempotence", Label: "enable.idempotence", Default: unset, Options: []string{unset, yes, no}},
		{Name: "commit", Label: "Commits its offsets", Default: commitAfter, Options: []string{commitAfter, commitFirst}, Help: "after or before the work; with transactions, in them"},
		{Name: "isolation", Label: "isolation.level", Default: readCommitted, Options: []string{readCommitted, readUncommitted}, Help: "of its consumer"},
		{Name: "poll-records", Label: "max.poll.records", Default: "3", Min: 1, Max: 20, Help: "what one poll gives is one transaction"},
		{Name: "work", Label: "Ticks a record", Default: "1", Min: 0, Max: 20},
		{Name: "instances", Label: "Instances", Default: "1", Min: 1, Max: 2},
		{Name: "static", Label: "group.instance.id", Default: on, Options: []string{on, off}},
		{Name: "session-timeout", Label: "session.timeout.ms", Default: "6000", Min: 6000, Max: 1_800_000},
	}
}

// readerSettings are those of the two readers.
func readerSettings() []labs.Setting {
	return []labs.Setting{
		{Name: "reader-commit", Label: "They commit", Default: byNobody, Options: []string{byNobody, byLast, byPosition}, Help: "the last record’s offset + 1, or the position"},
	}
}

func allSettings() []labs.Setting {
	list := append(clusterSettings(), producerSettings()...)
	return append(append(list, appSettings()...), readerSettings()...)
}

// settingsForms makes the forms of the set-up.
func settingsForms(a labs.Address) []view.Form {
	form := func(id, title string, settings []labs.Setting) view.Form {
		return labs.SettingsForm(a, id, title, "Apply", labs.NamesOf(settings)...)
	}
	cluster := form("setup", "Cluster", clusterSettings())
	cluster.Note = "A tick is 100 ms, and every message takes one."
	app := form("application", "Application", appSettings())
	app.Links = pairs(a)
	return []view.Form{cluster, form("producers", "Producers of orders", producerSettings()), app, form("readers", "Readers", readerSettings())}
}

// pairs show this run beside one in which one thing that matters is otherwise.
func pairs(a labs.Address) []view.Link {
	return []view.Link{
		labs.PairLink(a, "pair-txn", "With | without transactions", "transactions", txnApp, off),
		labs.PairLink(a, "pair-commit", "Commit after | before", "commit", commitAfter, commitFirst),
		labs.PairLink(a, "pair-idempotence", "With | without idempotence", "idempotence", unset, no),
	}
}
