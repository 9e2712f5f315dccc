package sandbox

import (
	"slices"

	"loglab/engine"
	"loglab/engine/assignor"
	"loglab/labs"
	"loglab/labs/view"
)

// The choices of the settings.
const (
	yes, no = "true", "false"
	unset   = "unset"
	acksAll = "all"

	nobody   = "off"
	first    = "first"
	everyone = "all"

	deletes  = "delete"
	compacts = "compact"
	both     = "compact,delete"

	consumer = "consumer"

	manual    = "manual"
	automatic = "auto"
	perBatch  = "after-batch"
	before    = "before"

	readUncommitted = "read_uncommitted"
	readCommitted   = "read_committed"

	earliest = "earliest"
	latest   = "latest"
	noReset  = "none"
)

// Bounds of the settings.
const (
	maxMillis  = 365 * 24 * 3_600_000 // a year
	maxBrokers = 5
	maxMembers = 4
)

// clusterSettings are those of brokers and topic.
func clusterSettings() []labs.Setting {
	return []labs.Setting{
		{Name: labs.TickSetting, Label: "tick.ms", Default: "100", Options: []string{"100", "500", "1000"}, Help: "100: one message hop a tick"},
		{Name: "brokers", Label: "Brokers", Default: "3", Min: 1, Max: maxBrokers},
		{Name: "partitions", Label: "Partitions", Default: "2", Min: 1, Max: 6},
		{Name: "rf", Label: "Replication factor", Default: "3", Min: 1, Max: maxBrokers, Help: "at most as many as there are brokers"},
		{Name: "min-isr", Label: "min.insync.replicas", Default: "1", Min: 1, Max: maxBrokers},
		{Name: "unclean", Label: "unclean.leader.election.enable", Default: no, Options: []string{no, yes}},
		{Name: "segment-bytes", Label: "segment.bytes", Default: "1048576", Min: 200, Max: 1 << 20, Help: "Kafka 4 refuses less than 1,048,576; its default is 1 GiB"},
		{Name: "retention-ms", Label: "retention.ms", Default: "604800000", Min: -1, Max: maxMillis, Help: "-1: no limit"},
		{Name: "policy", Label: "cleanup.policy", Default: deletes, Options: []string{deletes, compacts, both}},
	}
}

// producerSettings are those of who writes.
func producerSettings() []labs.Setting {
	return []labs.Setting{
		{Name: "producers", Label: "Producers", Default: "1", Min: 1, Max: 3},
		{Name: "acks", Label: "acks", Default: acksAll, Options: []string{acksAll, "1", "0"}},
		{Name: "idempotence", Label: "enable.idempotence", Default: unset, Options: []string{unset, yes, no}},
		{Name: "transactional", Label: "transactional.id", Default: nobody, Options: []string{nobody, first, everyone}, Help: "first: p0 alone has one"},
		{Name: "rate", Label: "Records at once", Default: "1", Min: 0, Max: 3, Help: "of each producer, in one transaction where it has them; 0: only what you produce"},
		{Name: "every", Label: "Every … ms", Default: "1000", Min: 100, Max: 60_000},
	}
}

// groupSettings are those of who reads.
func groupSettings() []labs.Setting {
	return []labs.Setting{
		{Name: "groups", Label: "Groups", Default: "1", Min: 1, Max: 2, Help: billing + ", " + audit},
		{Name: "members", Label: "Members of each", Default: "2", Min: 1, Max: maxMembers},
		{Name: "off", Label: "Started later", Default: "0", Min: 0, Max: maxMembers, Help: "members of each, the last ones, that run when you start them"},
		{Name: "protocol", Label: "Assignor or protocol", Default: "range", Options: slices.Concat(assignor.ClientNames(), []string{consumer}), Help: consumer + ": group.protocol = consumer, the coordinator divides"},
		{Name: "commit", Label: "Commit", Default: perBatch, Options: []string{perBatch, before, automatic, manual}, Help: "before: before processing; manual: when you say so"},
		{Name: "isolation", Label: "isolation.level", Default: readUncommitted, Options: []string{readUncommitted, readCommitted}},
		{Name: "reset", Label: "auto.offset.reset", Default: earliest, Options: []string{earliest, latest, noReset}},
		{Name: "work", Label: "Work, ms a record", Default: "100", Min: 0, Max: 10_000},
	}
}

func allSettings() []labs.Setting {
	return slices.Concat(clusterSettings(), producerSettings(), groupSettings())
}

// settingsForms makes the forms of the set-up.
func settingsForms(a labs.Address) []view.Form {
	form := func(id, title string, settings []labs.Setting) view.Form {
		return labs.SettingsForm(a, id, title, "Apply", labs.NamesOf(settings)...)
	}
	return []view.Form{form("setup", "Cluster and topic", clusterSettings()), form("producers", "Producers", producerSettings()), form("groups", "Groups", groupSettings())}
}

// commitWhen gives when an application commits.
func commitWhen(v labs.Values) engine.CommitWhen {
	switch v.Text("commit") {
	case perBatch:
		return engine.CommitBatch
	case before:
		return engine.CommitBefore
	}
	return engine.CommitNever
}
