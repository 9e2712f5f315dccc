package partitioner

import (
	"hash/fnv"
	"testing"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kgo"

	"loglab/engine/kafka"
	"loglab/engine/prng"
)

const (
	judgeSeed = 20260210
	judgeKeys = 10_000
)

var judgePartitionCounts = []int32{1, 2, 3, 6, 7, 12, 50, 64, 1000, 1_000_000}

// eachRandomKey calls check with random keys of 0 to 64 bytes; none is null.
func eachRandomKey(check func(key []byte)) {
	rnd := prng.New(judgeSeed)
	for range judgeKeys {
		key := make([]byte, rnd.IntN(65))
		for i := range key {
			key[i] = byte(rnd.Uint32())
		}
		check(key)
	}
}

// compareWithJudge holds the named partitioner against another implementation.
func compareWithJudge(t *testing.T, name string, judge func(key []byte, n int32) int32) {
	t.Helper()
	p := byName(t, name)
	eachRandomKey(func(key []byte) {
		for _, n := range judgePartitionCounts {
			want := kafka.Partition(judge(key, n))
			if got, ok := p.Partition(key, n); !ok || got != want {
				t.Fatalf("seed %d: %s of %x, %d partitions: got %d, %t, want %d", judgeSeed, name, key, n, got, ok, want)
			}
		}
	})
}

func saramaJudge(t *testing.T, constructor sarama.PartitionerConstructor) func(key []byte, n int32) int32 {
	judge := constructor("orders")
	return func(key []byte, n int32) int32 {
		partition, err := judge.Partition(&sarama.ProducerMessage{Key: sarama.ByteEncoder(key)}, n)
		if err != nil {
			t.Fatalf("sarama: %v", err)
		}
		return partition
	}
}

func franzJudge(partitioner kgo.Partitioner) func(key []byte, n int32) int32 {
	judge := partitioner.ForTopic("orders")
	return func(key []byte, n int32) int32 {
		return int32(judge.Partition(&kgo.Record{Key: key}, int(n)))
	}
}

func fnv32a(key []byte) uint32 {
	hash := fnv.New32a()
	hash.Write(key)
	return hash.Sum32()
}

func TestMurmur2EqualsFranz(t *testing.T) {
	compareWithJudge(t, "murmur2", franzJudge(kgo.StickyKeyPartitioner(nil)))
}

func TestMurmur2EqualsSarama(t *testing.T) {
	compareWithJudge(t, "murmur2", saramaJudge(t, sarama.NewMurmur2Partitioner))
}

func TestCRC32EqualsSarama(t *testing.T) {
	compareWithJudge(t, "crc32", saramaJudge(t, sarama.NewConsistentCRCHashPartitioner))
}

func TestFNV1aEqualsSarama(t *testing.T) {
	compareWithJudge(t, "fnv1a", saramaJudge(t, sarama.NewHashPartitioner))
}

func TestFNV1aReferenceEqualsSarama(t *testing.T) {
	compareWithJudge(t, "fnv1a-reference", saramaJudge(t, sarama.NewReferenceHashPartitioner))
}

func TestFNV1aEqualsFranzSaramaCompat(t *testing.T) {
	compareWithJudge(t, "fnv1a", franzJudge(kgo.StickyKeyPartitioner(kgo.SaramaCompatHasher(fnv32a))))
}

func benchmarkKeyLengths(b *testing.B, partition func(key []byte) int) {
	for _, length := range []struct {
		name  string
		bytes int
	}{{"8", 8}, {"16", 16}, {"64", 64}} {
		key := make([]byte, length.bytes)
		for i := range key {
			key[i] = byte('a' + i%26)
		}
		b.Run(length.name, func(b *testing.B) {
			b.SetBytes(int64(len(key)))
			for b.Loop() {
				partition(key)
			}
		})
	}
}

func BenchmarkMurmur2(b *testing.B) {
	p := byName(b, "murmur2")
	benchmarkKeyLengths(b, func(key []byte) int {
		partition, _ := p.Partition(key, 12)
		return int(partition)
	})
}

func BenchmarkMurmur2Franz(b *testing.B) {
	judge := kgo.StickyKeyPartitioner(nil).ForTopic("orders")
	record := &kgo.Record{}
	benchmarkKeyLengths(b, func(key []byte) int {
		record.Key = key
		return judge.Partition(record, 12)
	})
}
