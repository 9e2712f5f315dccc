package journal

// kinds holds one body of each kind, in the order of the files that declare them.
var kinds = [...]Body{
	CommandGiven{}, CommandRejected{}, NodePaused{}, NodeResumed{}, TimePassed{}, RequestRefused{},
	MessageSent{}, MessageDelivered{},
	TopicCreated{}, PartitionsAdded{}, BatchAppended{}, SegmentRolled{}, IndexEntryAdded{}, HighWatermarkAdvanced{}, ProduceRefused{},
	BrokerRegistered{}, BrokerFenced{}, BrokerUnfenced{}, ControlledShutdownBegun{}, LeaderElected{}, LeaderLost{}, ISRChanged{}, AlterPartitionRefused{},
	ConfigChanged{}, ProducerIDsAllocated{}, MetadataFetchParked{},
	RecordPartitioned{}, StickyPartitionSwitched{}, BatchesSent{}, ProduceAcknowledged{}, ProduceFailed{}, SendingStopped{}, SendingStarted{},
	MetadataLearned{}, PartitionsAssigned{}, PositionReset{}, FetchParked{}, RecordsRead{}, FetchFailed{}, EventSeenLate{},
}

// Kinds names every kind of event. The slice is the caller's own.
func Kinds() []string {
	names := make([]string, len(kinds))
	for i, b := range kinds {
		names[i] = b.Kind()
	}
	return names
}
