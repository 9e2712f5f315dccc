package segments

import (
	"fmt"
	"math"
	"strconv"

	"loglab/engine"
	"loglab/labs"
	"loglab/labs/view"
)

// The choices of the settings.
const (
	on, off = "on", "off"

	deletes  = "delete"
	compacts = "compact"
	both     = "compact,delete"
	keeps    = "none"

	createTime = "CreateTime"
	appendTime = "LogAppendTime"

	away = "away"

	earliest = "earliest"
	latest   = "latest"
	noReset  = "none"
)

// Bounds of the settings.
const (
	maxMillis = 365 * 24 * 3_600_000 // a year
	maxBytes  = engine.MaxLogBytes
	maxTick   = 6 * 3_600_000
	maxKeys   = 1000
	forever   = math.MaxInt64 // Long.MAX_VALUE
)

// logSettings are those of the topic’s log.
func logSettings() []labs.Setting {
	return []labs.Setting{
		{Name: "segment-bytes", Label: "segment.bytes", Default: "420", Min: 70, Max: maxBytes, Help: "Kafka 4 refuses less than 1,048,576; internal.segment.bytes, for tests, does not"},
		{Name: "segment-ms", Label: "segment.ms", Default: "604800000", Min: 1, Max: maxMillis},
		{Name: "index-interval", Label: "index.interval.bytes", Default: "140", Min: 0, Max: maxBytes},
		{Name: "ts-type", Label: "message.timestamp.type", Default: createTime, Options: []string{createTime, appendTime}, Help: "whose clock: the producer’s or the broker’s"},
		{Name: "ts-after", Label: "message.timestamp.after.max.ms", Default: "3600000", Min: 0, Max: forever, Help: "how far ahead of the broker’s clock a CreateTime may be"},
	}
}

// keepSettings are those of retention and compaction.
func keepSettings() []labs.Setting {
	return []labs.Setting{
		{Name: "policy", Label: "cleanup.policy", Default: deletes, Options: []string{deletes, compacts, both, keeps}, Help: "none: the empty list, a log is kept forever"},
		{Name: "retention-bytes", Label: "retention.bytes", Default: "-1", Min: -1, Max: maxBytes, Help: "-1: no limit"},
		{Name: "retention-ms", Label: "retention.ms", Default: "604800000", Min: -1, Max: maxMillis, Help: "-1: no limit"},
		{Name: "file-delay", Label: "file.delete.delay.ms", Default: "60000", Min: 0, Max: maxMillis},
		{Name: "dirty-ratio", Label: "min.cleanable.dirty.ratio", Default: "0.5", Canonical: canonicalRatio, OneLine: true},
		{Name: "min-lag", Label: "min.compaction.lag.ms", Default: "0", Min: 0, Max: maxMillis},
		{Name: "max-lag", Label: "max.compaction.lag.ms", Default: strconv.Itoa(forever), Min: 1, Max: forever},
		{Name: "delete-retention", Label: "delete.retention.ms", Default: "86400000", Min: 0, Max: maxMillis, Help: "of tombstones, from the first cleaning that meets them"},
	}
}

// writeSettings are those of what is written, of time, and of the reader.
func writeSettings() []labs.Setting {
	return []labs.Setting{
		{Name: labs.TickSetting, Label: "tick.ms", Default: "1000", Min: 10, Max: maxTick, Help: "how long a tick is: 60000 is a minute, 3600000 an hour"},
		{Name: "rate", Label: "Records in a burst", Default: "1", Min: 0, Max: engine.MaxRecordsPerTick, Help: "0: only what you produce"},
		{Name: "every", Label: "ms between bursts", Default: "1000", Min: 1, Max: maxMillis},
		{Name: "keys", Label: "Keys", Default: "3", Min: 0, Max: maxKeys, Help: "A, B, C, … in turn; 0: records without a key"},
		{Name: "deletions", Label: "Deletions", Default: "0", Min: 0, Max: 1000, Help: "every … th event of a key deletes it; 0: none"},
		{Name: "value-bytes", Label: "Bytes of a value", Default: "0", Min: 0, Max: engine.MaxValueBytes, Help: "at least"},
		{Name: "batch-size", Label: "batch.size", Default: "16384", Min: 0, Max: 1 << 20, Help: "of the producer; 0: the smallest batches"},
		{Name: "linger", Label: "linger.ms", Default: "5", Min: 0, Max: maxMillis},
		{Name: "compression", Label: "compression.type", Default: "none", Options: codecs()},
		{Name: "reader", Label: "A reader", Default: off, Options: []string{off, on, away}, Help: "away: it reads once you start it"},
		{Name: "reset", Label: "auto.offset.reset", Default: earliest, Options: []string{earliest, latest, noReset}, Help: "of the reader, where its position is out of range"},
	}
}

func allSettings() []labs.Setting {
	return append(append(writeSettings(), logSettings()...), keepSettings()...)
}

// canonicalRatio reads a share from 0 to 1.
func canonicalRatio(raw string) (string, error) {
	ratio, err := strconv.ParseFloat(raw, 64)
	if err != nil || len(raw) > 12 || !(ratio >= 0 && ratio <= 1) {
		return "", fmt.Errorf("a number from 0 to 1 is allowed, as in 0.5")
	}
	return strconv.FormatFloat(math.Abs(ratio), 'f', -1, 64), nil
}

// settingsForms makes the forms of the set-up.
func settingsForms(a labs.Address) []view.Form {
	form := func(id, title string, settings []labs.Setting) view.Form {
		return labs.SettingsForm(a, id, title, "Apply", labs.NamesOf(settings)...)
	}
	keep := form("keep", "Retention and compaction", keepSettings())
	keep.Note = "The check of retention comes 30 s after the broker’s start and every log.retention.check.interval.ms = 300,000 from then on; the cleaner looks every log.cleaner.backoff.ms = 15,000."
	keep.Links = pairs(a)
	return []view.Form{form("setup", "Time, records, reader", writeSettings()), form("log", "Segments", logSettings()), keep}
}

// pairs show this run beside one in which one thing that matters is otherwise.
func pairs(a labs.Address) []view.Link {
	return []view.Link{
		labs.PairLink(a, "pair-policy", "Delete | compact", "policy", deletes, compacts), labs.PairLink(a, "pair-time", "CreateTime | LogAppendTime", "ts-type", createTime, appendTime),
		labs.PairLink(a, "pair-codec", "Plain | zstd", "compression", "none", "zstd"),
	}
}
