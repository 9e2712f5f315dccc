package labs

// termOfKind names the term of the glossary that explains a kind of event.
var termOfKind = map[string]string{
	"CommandGiven":            "command",
	"CommandRejected":         "command",
	"NodePaused":              "pause",
	"NodeResumed":             "pause",
	"TimePassed":              "millis",
	"MessageSent":             "message",
	"MessageDelivered":        "message",
	"TopicCreated":            "topic",
	"BatchAppended":           "record-batch",
	"SegmentRolled":           "roll",
	"IndexEntryAdded":         "offset-index",
	"HighWatermarkAdvanced":   "high-watermark",
	"ProduceRefused":          "produce-request",
	"RecordPartitioned":       "partitioner",
	"StickyPartitionSwitched": "sticky-partitioner",
	"BatchesSent":             "linger",
	"ProduceAcknowledged":     "acks",
	"ProduceFailed":           "produce-request",
	"MetadataLearned":         "metadata",
	"PartitionsAssigned":      "assignor",
	"PositionReset":           "offset-reset",
	"FetchParked":             "fetch",
	"RecordsRead":             "position",
	"FetchFailed":             "fetch",
}
