package journal

// kinds holds one body of each kind, in the order of the files that declare them.
var kinds = [...]Body{
	CommandGiven{}, CommandRejected{}, NodePaused{}, NodeResumed{}, TimePassed{}, RequestRefused{},
	MessageSent{}, MessageDelivered{}, MessageLost{}, MessageHeld{}, ConnectionReset{}, LinkChanged{},
	BrokerStarted{}, RecoveryBegun{}, BrokerStopped{}, ShutdownBegun{}, ProcessKilled{}, DiskWiped{}, PowerLost{}, DiskSpeedChanged{}, RegistrationFailed{}, MetadataFollowed{}, LogOpened{},
	CoordinatorNotFound{}, OffsetsTopicRefused{}, CoordinatorElected{}, NotCoordinator{}, GroupWriteParked{}, GroupAppendFailed{},
	LeadershipTaken{}, FollowingBegun{}, LeaderlessLearned{}, BatchReplicated{}, HighWatermarkFollowed{}, LogTruncated{}, LogStartOffsetMoved{}, DeletionParked{}, ReplicaFetchFailed{},
	ISRProposed{}, ISRCommitted{}, ISRProposalFailed{}, ProduceParked{}, ProduceTimedOut{}, DuplicateRecognised{}, ProducerStateExpired{},
	ConnectionLost{}, RequestTimedOut{}, RequestFailed{}, ResponseIgnored{}, LeaderLearned{},
	TopicCreated{}, PartitionsAdded{}, BatchAppended{}, SegmentRolled{}, IndexEntryAdded{}, HighWatermarkAdvanced{}, ProduceRefused{},
	TransactionVerificationAsked{}, TransactionVerificationFailed{}, TransactionEnded{}, MarkerRefused{}, MarkerRetried{}, MarkersGivenUp{},
	SegmentsDeleted{}, SegmentsKept{}, FilesRemoved{}, LogCleaned{}, LogNotCleaned{}, CleaningFailed{},
	BrokerRegistered{}, BrokerFenced{}, BrokerUnfenced{}, ControlledShutdownBegun{}, LeaderElected{}, LeaderLost{}, ISRChanged{}, AlterPartitionRefused{},
	ConfigChanged{}, ProducerIDsAllocated{}, MetadataFetchParked{},
	RecordPartitioned{}, StickyPartitionSwitched{}, BatchesSent{}, ProduceAcknowledged{}, ProduceFailed{}, SendingStopped{}, SendingStarted{}, ClockSet{},
	BatchRetried{}, BatchSplit{}, BatchExpired{}, ProducerIDAssigned{}, ProducerEpochBumped{}, ProducerMemoryLost{},
	MetadataLearned{}, PartitionsAssigned{}, PositionReset{}, FetchParked{}, RecordsRead{}, FetchFailed{}, EventSeenLate{},
	PositionValidated{}, LogTruncationDetected{}, PreferredReplicaChosen{},
	CoordinatorFound{}, CoordinatorLost{}, JoinSent{}, AssignmentComputed{}, PartitionsTaken{}, PartitionsRevoked{}, PartitionsLost{},
	MembershipLost{}, PollIntervalExceeded{}, ConsumerClosed{}, ConsumerFailed{}, PositionCommitted{},
	JoinHeartbeatSent{}, MemberEpochMoved{}, TargetLearned{}, ReconciliationHeld{}, AssignmentAcknowledged{}, LeaveHeartbeatSent{},
	RecordProcessed{}, ProcessingFailed{}, DeadLetterSent{}, CommitSent{}, CommitAccepted{}, CommitFailed{},
	CrashArmed{}, ConsumerCrashed{}, SinkFull{}, PositionMoved{}, OffsetsReset{}, ResetRefused{}, ResetFailed{},
	MemberIDGiven{}, MemberJoined{}, RebalanceStarted{}, InitialDelayExtended{}, JoinPhaseEnded{}, JoinPhaseProlonged{}, SyncGroupParked{},
	GroupStable{}, GroupEmpty{}, MemberRemoved{}, StaticMemberReplaced{}, GroupRequestRefused{}, OffsetCommitted{}, OffsetsRemoved{}, GroupDeleted{},
	TransactionalOffsetPending{}, TransactionalOffsetsEnded{},
	GroupsLoaded{}, CoordinatorResigned{},
	ConsumerMemberJoined{}, SubscriptionChanged{}, GroupEpochBumped{}, TargetAssigned{}, MemberReconciled{}, StaticMemberAway{}, StaticMemberReturned{},
	PatternResolved{}, GroupConverted{},
	TransactionalIDInitialised{}, TransactionFenced{}, PartitionsAddedToTransaction{}, TransactionStateChanged{}, TransactionTimedOut{}, TransactionRequestRefused{},
	TransactionMarkersQueued{}, TransactionMarkersWritten{}, TransactionCompleted{}, TransactionWriteFailed{}, TransactionalIDExpired{}, TransactionsLoaded{},
	TransactionCoordinatorResigned{},
	TransactionsReady{}, TransactionCoordinatorFound{}, TransactionCoordinatorLost{}, TransactionRequestRetried{}, ProducerTransactionBegun{}, ProducerPartitionsAdded{},
	OffsetsSentToTransaction{}, OffsetsAddedToTransaction{}, ProducerTransactionEnding{}, ProducerTransactionEnded{}, ProducerTransactionFailed{}, UnsentRecordsDropped{},
	ProducerEnded{}, OffsetsUnstable{}, PositionsRewound{},
	OutboxWritten{}, OutboxRelayed{}, OutboxMarked{},
}

// Kinds names every kind of event. The slice is the caller's own.
func Kinds() []string {
	names := make([]string, len(kinds))
	for i, b := range kinds {
		names[i] = b.Kind()
	}
	return names
}
