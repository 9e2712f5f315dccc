package partitioner

import (
	"hash/crc32"

	"github.com/twmb/murmur3"
)

// table holds every keyed partitioner, sorted by name.
var table = []Partitioner{
	{
		Name:    "crc32",
		Clients: "librdkafka consistent, Sarama NewConsistentCRCHashPartitioner, kafka-go CRC32Balancer with Consistent set",
		Rule:    "The CRC-32 of the key's bytes, as an unsigned number, modulo the number of partitions.",
		NullKey: "librdkafka consistent has no keyless records: null and empty keys have the CRC-32 0 and all go to partition 0. " +
			"Sarama sends a null key to a random partition.",
		function: "crc32",
		hash:     crc32.ChecksumIEEE,
		steps:    crc32Steps,
		mapping:  unsigned,
		keyless:  neverKeyless,
	},
	{
		Name: "crc32-random",
		Clients: "librdkafka consistent_random, its default (kcat and the Confluent clients for Python, Go and .NET), " +
			"kafka-go CRC32Balancer",
		Rule:     "The CRC-32 of the key's bytes, as an unsigned number, modulo the number of partitions, unless the key is empty.",
		NullKey:  "A null key and an empty key both count as no key: the client picks a random partition.",
		function: "crc32",
		hash:     crc32.ChecksumIEEE,
		steps:    crc32Steps,
		mapping:  unsigned,
		keyless:  nullOrEmptyKeyless,
	},
	{
		Name:    "fnv1a",
		Clients: "Sarama NewHashPartitioner, its default; librdkafka fnv1a and fnv1a_random; kafka-go Hash",
		Rule:    "The FNV-1a hash of the key's bytes, read as a signed number without its minus sign, modulo the number of partitions.",
		NullKey: "With a null key the client picks the partition; an empty key is a key. " +
			"librdkafka's plain fnv1a hashes a null key as an empty one.",
		function: "fnv1a",
		hash:     fnv1a,
		steps:    fnv1aSteps,
		mapping:  absolute,
	},
	{
		Name:     "fnv1a-reference",
		Clients:  "Sarama NewReferenceHashPartitioner, kafka-go ReferenceHash",
		Rule:     "The FNV-1a hash of the key's bytes, without its top bit, modulo the number of partitions.",
		NullKey:  "With a null key the client picks the partition; an empty key is a key.",
		function: "fnv1a",
		hash:     fnv1a,
		steps:    fnv1aSteps,
		mapping:  masked,
	},
	{
		Name:     "java-hashcode",
		Clients:  "Pulsar's Java client, by default (HashingScheme.JavaStringHash)",
		Rule:     "Java's String.hashCode() of the key, without its top bit, modulo the number of partitions.",
		NullKey:  "Records with a null key go round the partitions; an empty key is a key with the hash 0.",
		function: "hashCode",
		hash:     javaStringHashCode,
		steps:    javaStringSteps,
		mapping:  masked,
	},
	{
		Name:    "kafkajs-legacy",
		Clients: "kafkajs LegacyPartitioner, the default of kafkajs 1.x",
		Rule: "murmur2 computed with JavaScript's floating-point products, which lose their lowest bits, " +
			"without its top bit, modulo the number of partitions: not what Java computes.",
		NullKey:  "A null key goes round the partitions from a random start; an empty key is a key.",
		function: "murmur2 in float64",
		hash:     murmur2Float64,
		steps:    murmur2Float64Steps,
		mapping:  masked,
	},
	{
		Name: "murmur2",
		Clients: "the Java producer, kafkajs from 2.0, franz-go, kafka-python, librdkafka murmur2 and murmur2_random, " +
			"Sarama NewMurmur2Partitioner, kafka-go Murmur2Balancer",
		Rule: "The murmur2 hash of the key's bytes, without its top bit, modulo the number of partitions.",
		NullKey: "With a null key the client picks the partition, in Java and franz-go a sticky one; an empty key is a key. " +
			"librdkafka's plain murmur2 hashes a null key as an empty one.",
		function: "murmur2",
		hash:     murmur2,
		steps:    murmur2Steps,
		mapping:  masked,
	},
	{
		Name:     "murmur3",
		Clients:  "Pulsar clients with HashingScheme.Murmur3_32Hash; Pulsar's Key_Shared subscriptions use the same hash",
		Rule:     "The 32-bit murmur3 hash of the key's bytes with seed 0, without its top bit, modulo the number of partitions.",
		NullKey:  "Records with a null key go round the partitions; an empty key is a key with the hash 0.",
		function: "murmur3",
		hash:     murmur3.Sum32,
		steps:    murmur3Steps,
		mapping:  masked,
	},
}
