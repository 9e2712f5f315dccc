package journal

// kinds holds one body of each kind, in the order of the files that declare them.
var kinds = [...]Body{
	CommandGiven{}, CommandRejected{}, NodePaused{}, NodeResumed{}, TimePassed{}, RequestRefused{},
	MessageSent{}, MessageDelivered{},
	ConnectionLost{}, RequestTimedOut{}, RequestFailed{}, ResponseIgnored{}, LeaderLearned{},
	TopicCreated{}, PartitionsAdded{}, BatchAppended{}, SegmentRolled{}, IndexEntryAdded{}, HighWatermarkAdvanced{}, ProduceRefused{},
	RecordPartitioned{}, StickyPartitionSwitched{}, BatchesSent{}, ProduceAcknowledged{}, ProduceFailed{}, SendingStopped{}, SendingStarted{},
	BatchRetried{}, BatchSplit{}, BatchExpired{}, ProducerIDAssigned{}, ProducerEpochBumped{}, ProducerMemoryLost{},
	MetadataLearned{}, PartitionsAssigned{}, PositionReset{}, FetchParked{}, RecordsRead{}, FetchFailed{}, EventSeenLate{},
	PositionValidated{}, LogTruncationDetected{}, PreferredReplicaChosen{},
}

// Kinds names every kind of event. The slice is the caller's own.
func Kinds() []string {
	names := make([]string, len(kinds))
	for i, b := range kinds {
		names[i] = b.Kind()
	}
	return names
}
