package offsets

import (
	"loglab/engine"
	"loglab/engine/assignor"
	"loglab/labs"
	"loglab/labs/view"
)

// The choices of the settings.
const (
	on, off = "on", "off"

	manual        = "manual"
	automatic     = "auto"
	perRecord     = "after-record"
	perBatch      = "after-batch"
	perBatchAsync = "after-batch-async"
	before        = "before"

	handlerOK   = "ok"
	handlerSeek = "seek"
	handlerSkip = "skip"
	handlerDead = "dead-letter"
	handlerBack = "seek-dead-letter"
	handlerTry  = "retry"

	sinkPlain   = "plain"
	sinkOnce    = "idempotent"
	sinkUpsert  = "upsert"
	sinkOffsets = "offsets"

	earliest   = "earliest"
	latest     = "latest"
	noReset    = "none"
	byDuration = "by_duration:PT5S"

	contiguous = "contiguous"
	highest    = "highest"

	background = "background"
	inLoop     = "in-loop"

	running = "running"
	isNew   = "new"
)

const maxMillis = 3_600_000

// topicSettings are those of the topic, the brokers and what is written.
func topicSettings() []labs.Setting {
	return []labs.Setting{
		{Name: "partitions", Label: "Partitions", Default: "4", Min: 1, Max: 12},
		{Name: "records", Label: "Records at the start", Default: "3", Min: 0, Max: 500, Help: "in each partition"},
		{Name: "rate", Label: "Produced a tick", Default: "0", Min: 0, Max: 20, Help: "0: only what you produce"},
		{Name: "brokers", Label: "Brokers", Default: "1", Min: 1, Max: 3, Help: "with as many replicas of each partition"},
		{Name: "offsets-replicas", Label: "offsets.topic.replication.factor", Default: "3", Min: 1, Max: 3, Help: "of __consumer_offsets, where groups live; at most as many as there are brokers"},
	}
}

// groupSettings are those of the group and its consumers.
func groupSettings() []labs.Setting {
	return []labs.Setting{
		{Name: "consumers", Label: "Consumers", Default: "2", Min: 0, Max: 16},
		{Name: "assignor", Label: "Assignor", Default: "range", Options: assignor.ClientNames()},
		{Name: "static", Label: "group.instance.id", Default: off, Options: []string{off, on}, Help: "on: static members"},
		{Name: "session-timeout", Label: "session.timeout.ms", Default: "6000", Min: 6000, Max: 1_800_000},
		{Name: "heartbeats", Label: "Heartbeats", Default: background, Options: []string{background, inLoop}, Help: "from a thread of their own, or only in poll and between two records"},
		{Name: "poll-interval", Label: "max.poll.interval.ms", Default: "300000", Min: 1000, Max: maxMillis},
		{Name: "poll-records", Label: "max.poll.records", Default: "500", Min: 1, Max: 500},
		{Name: "reset", Label: "auto.offset.reset", Default: earliest, Options: []string{earliest, latest, noReset, byDuration}, Help: "where to begin when nothing is committed"},
		{Name: "offsets-retention", Label: "offsets.retention.minutes", Default: "10080", Min: 1, Max: 10_000_000, Help: "of a group without members"},
	}
}

// appSettings are those of the application around each consumer and of the system that it writes to.
func appSettings() []labs.Setting {
	return []labs.Setting{
		{Name: "process", Label: "Processed a tick", Default: "1", Min: 0, Max: 100, Help: "by each consumer; 0: when you say so"},
		{Name: "commit", Label: "Commit", Default: manual, Options: []string{manual, automatic, before, perRecord, perBatch, perBatchAsync}, Help: "manual: when you say so; before: before processing; async: without waiting for the answer"},
		{Name: "auto-interval", Label: "auto.commit.interval.ms", Default: "5000", Min: 100, Max: maxMillis},
		{Name: "threads", Label: "Threads", Default: "0", Min: 0, Max: 8, Help: "0: the poll loop does the work itself"},
		{Name: "commits", Label: "Threads commit", Default: contiguous, Options: []string{contiguous, highest}, Help: "before the first record not done, or after the last one done"},
		{Name: "on-revoke", Label: "Commit when revoked", Default: off, Options: []string{off, on}, Help: "in onPartitionsRevoked"},
		{Name: "slow-every", Label: "Slow records", Default: "0", Min: 0, Max: 20, Help: "every … th takes four times as long; 0: none"},
		{Name: "handler", Label: "A failing record", Default: handlerOK, Options: []string{handlerOK, handlerTry, handlerSeek, handlerSkip, handlerDead, handlerBack}, Help: "ok: none fails; retry in place or seek back, and after some attempts skip or dead-letter"},
		{Name: "fails-at", Label: "It is offset", Default: "1", Min: 0, Max: 1000, Help: "in orders-0"},
		{Name: "attempts", Label: "Attempts", Default: "3", Min: 1, Max: 100, Help: "before it is skipped or dead-lettered"},
		{Name: "sink", Label: "Sink", Default: sinkPlain, Options: []string{sinkPlain, sinkOnce, sinkUpsert, sinkOffsets}, Help: "what it does with an effect that it has: add it again, ignore it, write over it; or it stores the offset itself"},
		{Name: "capacity", Label: "Sink takes a tick", Default: "0", Min: 0, Max: 100, Help: "from all consumers together; 0: any number"},
	}
}

// secondSettings are those of the second group.
func secondSettings() []labs.Setting {
	return []labs.Setting{
		{Name: "second", Label: "Group audit", Default: off, Options: []string{off, running, isNew}, Help: "reads the same topic; new: its consumers run when you start them"},
		{Name: "audit-consumers", Label: "Its consumers", Default: "1", Min: 1, Max: 16},
		{Name: "audit-reset", Label: "Its auto.offset.reset", Default: earliest, Options: []string{earliest, latest, byDuration}},
	}
}

func allSettings() []labs.Setting {
	list := append(topicSettings(), groupSettings()...)
	return append(append(list, appSettings()...), secondSettings()...)
}

// settingsForms makes the forms of the set-up.
func settingsForms(a labs.Address) []view.Form {
	form := func(id, title string, settings []labs.Setting) view.Form {
		return labs.SettingsForm(a, id, title, "Apply", labs.NamesOf(settings)...)
	}
	app := form("application", "Application and sink", appSettings())
	app.Links = pairs(a)
	return []view.Form{
		form("setup", "Topic", topicSettings()), form("group", "Group and consumers", groupSettings()), app, form("second", "A second group", secondSettings()),
	}
}

// pairs show this run beside one in which one thing that matters is otherwise.
func pairs(a labs.Address) []view.Link {
	return []view.Link{
		labs.PairLink(a, "pair-commit", "Commit after | before", "commit", perBatch, before), labs.PairLink(a, "pair-auto", "Automatic | manual", "commit", automatic, manual),
		labs.PairLink(a, "pair-sink", "Plain | idempotent sink", "sink", sinkPlain, sinkOnce), labs.PairLink(a, "pair-static", "Dynamic | static", "static", off, on),
	}
}

// commitWhen gives when the application commits.
func commitWhen(v labs.Values) engine.CommitWhen {
	switch v.Text("commit") {
	case perRecord:
		return engine.CommitRecord
	case perBatch:
		return engine.CommitBatch
	case perBatchAsync:
		return engine.CommitBatchAsync
	case before:
		return engine.CommitBefore
	}
	return engine.CommitNever
}
