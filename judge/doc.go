// Package judge compares the engine with independent implementations that are run for real: Kafka 4.2.0's
// own classes (3.2.3's for what is gone since), kafkajs and librdkafka. It holds no code but tests, which
// need the build tag judge and the network once:
//
//	make judge
//	go test -count=1 -v -tags judge ./judge -seed 7
//
// The judges' side of a test is a small program in testdata, which answers each line of its standard input
// with one line. The questions are drawn from a seed, which every test prints.
//
//	TestLog                 Kafka's UnifiedLog appends, rolls, indexes, reads and refuses as engine/storage does
//	TestReplica             and follows, truncates, knows producers, stops and recovers as it does
//	TestTransactions        and begins, ends and indexes transactions, and serves what is committed
//	TestCleaning            LogCleanerManager and Cleaner clean, and UnifiedLog deletes old segments, as it does
//	TestCleaningCompressed  and leave the same records of compressed batches
//	TestRecovery            UnifiedLog loads our directories and rebuilds the same indexes
//	TestDump                DumpLogSegments reads what runs wrote as "loglab dump --json" does
//	TestDumpTransactions    and its decoders find in runs with transactions what coordinators and replicas had
//	TestDumpCheck           "loglab dump --check" finds nothing wrong in directories that UnifiedLog and Cleaner wrote
//	TestDumpCheckSpoiled    and all that DumpLogSegments finds wrong in spoiled indexes
//	TestBatches             MemoryRecords and engine/record write and read the same batches
//	TestMarkers             and the same transaction markers
//	TestMurmur2             Utils.murmur2 and BuiltInPartitioner.partitionForKey
//	TestStickyDraws         BuiltInPartitioner's weights and draws, step by step
//	TestSticky480Draws      and those of Kafka 3.2.3's DefaultPartitioner
//	TestStickyRuns          RecordAccumulator places, batches and drains records as engine/client does
//	TestSticky480Runs       and as Kafka 3.2.3's did
//	TestAssignors           RangeAssignor and RoundRobinAssignor
//	TestStickyAssignors     StickyAssignor and CooperativeStickyAssignor, with what members owned before
//	TestMetadataRecords     MetadataRecordSerde and engine/metadata write and read the same records
//	TestPartitionChanges    PartitionChangeBuilder elects and changes ISR and ELR as engine/controller does
//	TestPlacement           StripedReplicaPlacer places replicas as engine/controller does, from the same draws
//	TestGroups              GroupCoordinatorShard answers, writes and times out as engine/group does, over drawn scripts
//	TestConsumers           and for groups of the consumer protocol, and such with members of both protocols
//	TestConsumerRecords     GroupCoordinatorRecordSerde reads and writes the records of the consumer protocol
//	TestConsumerMetadataHash  Utils.computeGroupHash and computeTopicHash over topics with racks
//	TestGroupRecords        GroupCoordinatorRecordSerde and engine/group write and read the same records
//	TestGroupPartitions     Utils.abs and String.hashCode give a group's partition of __consumer_offsets
//	TestTransactionCoordinator  TransactionCoordinator answers, writes and asks for markers as engine/txn does, over drawn scripts
//	TestTransactionRecords  TransactionLog and engine/txn write and read the same records
//	TestTransactionRecordsWritten  and we read what TransactionLog writes under each transaction.version
//	TestTransactionRecordsSpoiled  and both refuse the same spoiled records
//	TestTransactionPartitions  Utils.abs and String.hashCode give a transactional id's partition of __transaction_state
//	TestBatchGivenUp        KafkaProducer uses the sequence of a batch that it gives up again, and keeps its epoch or not, as engine/client does
//	TestKafkajs             kafkajs 2.2.4, its default and its legacy partitioner
//	TestLibrdkafka          librdkafka's partitioner functions
//	TestLibrdkafkaKeyless   and which keys they take for none
//
// It leaves out the network, clocks and threads of the judges: their classes and functions are called
// directly, but for KafkaProducer, which talks to a broker that the test plays. A judge that is not installed
// fails its tests and says what to install. Kafka's jars and kafkajs are fetched at pinned versions into the
// user's cache directory, loglab-judge.
package judge
