// Package judge compares the engine with independent implementations that are run for real: Kafka 4.2.0's
// own classes, kafkajs and librdkafka. It holds no code but tests, which need the build tag judge and the
// network once:
//
//	make judge
//	go test -count=1 -v -tags judge ./judge -seed 7
//
// Each file *_test.go asks one question of one judge; the judges' side is a small program of the same
// name in testdata, which answers each line of its standard input with one line. Nothing here is made
// up by hand: the questions are drawn from a seed, which every test prints.
//
//	Log         Kafka's UnifiedLog and engine/storage append, roll, index, read and refuse alike
//	Batches     Kafka's MemoryRecords and engine/record write and read the same batches
//	Dump        Kafka's DumpLogSegments reads what a run wrote as "loglab dump --json" does
//	Murmur2     Kafka's Utils.murmur2 and BuiltInPartitioner
//	Assignors   Kafka's RangeAssignor and RoundRobinAssignor
//	kafkajs     its default and its legacy partitioner
//	librdkafka  its partitioner functions
//
// It leaves out the network, clocks and threads of the judges: their classes and functions are called
// directly. A judge that is not installed fails its tests and says what to install. Kafka's jars and
// kafkajs are fetched at pinned versions into the user's cache directory, loglab-judge.
package judge
