package partitioner

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/kafka"
)

// The ten keys of the vectors of §3.1 and §3.2, in their order.
var vectorKeys = []string{"", "a", "abc", "key", "kafka", "user-1", "user-42", "order-1001", "hello world", "日本"}

func byName(t testing.TB, name string) Partitioner {
	t.Helper()
	p, err := ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func partitionsOf(t testing.TB, p Partitioner, n int32, keys ...string) []kafka.Partition {
	t.Helper()
	var partitions []kafka.Partition
	for _, key := range keys {
		partition, ok := p.Partition([]byte(key), n)
		if !ok {
			t.Fatalf("%s: key %q has no partition of its own", p.Name, key)
		}
		partitions = append(partitions, partition)
	}
	return partitions
}

func TestNamesAreTheOnesOfTheCommandLine(t *testing.T) {
	want := []string{"crc32", "crc32-random", "fnv1a", "fnv1a-reference", "java-hashcode", "kafkajs-legacy", "murmur2", "murmur3"}
	if diff := cmp.Diff(want, Names()); diff != "" {
		t.Errorf("Names (-want +got):\n%s", diff)
	}
	if !slices.IsSorted(KeylessNames()) {
		t.Errorf("KeylessNames are not sorted: %v", KeylessNames())
	}
	for _, name := range Names() {
		p := byName(t, name)
		if p.Name != name || p.Clients == "" || p.Rule == "" || p.NullKey == "" {
			t.Errorf("%s: name or texts are missing: %+v", name, p)
		}
	}
}

func TestByNameNamesWhatIsAllowed(t *testing.T) {
	_, err := ByName("murmur4")
	want := `partitioner "murmur4" is unknown: allowed are crc32, crc32-random, fnv1a, fnv1a-reference, java-hashcode, kafkajs-legacy, murmur2, murmur3`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// §3.1: murmur2 of ten keys as Kafka 4.2.0 computes it.
func TestMurmur2Vectors(t *testing.T) {
	p := byName(t, "murmur2")
	for _, test := range []struct {
		key         string
		signed      int32
		raw         uint32
		masked      uint32
		n3, n7, n12 kafka.Partition
	}{
		{"", 275646681, 0x106e08d9, 275646681, 0, 2, 9},
		{"a", -1563381124, 0xa2d0b27c, 584102524, 1, 5, 4},
		{"abc", 479470107, 0x1c94221b, 479470107, 0, 4, 3},
		{"key", -1079937367, 0xbfa176a9, 1067546281, 1, 4, 1},
		{"kafka", -798503068, 0xd067cf64, 1348980580, 1, 3, 4},
		{"user-1", 1404122828, 0x53b136cc, 1404122828, 2, 3, 8},
		{"user-42", 1459644460, 0x5700682c, 1459644460, 1, 1, 4},
		{"order-1001", 297523878, 0x11bbdaa6, 297523878, 0, 1, 6},
		{"hello world", 1221641059, 0x48d0c363, 1221641059, 1, 2, 7},
		{"日本", -700811021, 0xd63a78f3, 1446672627, 0, 1, 3},
	} {
		hash := p.Hash([]byte(test.key))
		if hash.Signed() != test.signed || hash.Unsigned() != test.raw || hash.Masked() != test.masked || hash.Mapped() != test.masked {
			t.Errorf("%q: got signed %d, unsigned %#x, masked %d, mapped %d; want %d, %#x, %d, %d", test.key,
				hash.Signed(), hash.Unsigned(), hash.Masked(), hash.Mapped(), test.signed, test.raw, test.masked, test.masked)
		}
		got := []kafka.Partition{hash.Partition(3), hash.Partition(7), hash.Partition(12)}
		if diff := cmp.Diff([]kafka.Partition{test.n3, test.n7, test.n12}, got); diff != "" {
			t.Errorf("%q: partitions of 3, 7, 12 (-want +got):\n%s", test.key, diff)
		}
	}
}

// §3.2: raw FNV-1a and CRC-32 of the ten keys.
func TestFNV1aAndCRC32Vectors(t *testing.T) {
	for name, want := range map[string][]uint32{
		"fnv1a": {0x811c9dc5, 0xe40c292c, 0x1a47e90b, 0x6815c86c, 0x0d33c4e1, 0xf5537974, 0x026073ab, 0x916f3d8c, 0xd58b3fa7, 0x9f26ee51},
		"crc32": {0x00000000, 0xe8b7be43, 0x352441c2, 0x8a90aba9, 0x5bbc7517, 0x7e264614, 0x7d06b873, 0x0dc31a39, 0x0d4a1185, 0xc7b7cdcc},
	} {
		for i, key := range vectorKeys {
			if got := byName(t, name).Hash([]byte(key)).Unsigned(); got != want[i] {
				t.Errorf("%s of %q: got %#x, want %#x", name, key, got, want[i])
			}
		}
	}
}

// §3.2: partitions of the ten keys of 3, 7 and 12, as the named client libraries place them.
func TestPlacementVectors(t *testing.T) {
	for _, test := range []struct {
		name        string
		n3, n7, n12 []kafka.Partition
	}{
		{"fnv1a", []kafka.Partition{0, 0, 2, 1, 2, 0, 0, 0, 1, 1}, []kafka.Partition{2, 6, 5, 4, 4, 1, 6, 2, 4, 3}, []kafka.Partition{3, 0, 11, 4, 5, 0, 3, 0, 1, 7}},
		{"fnv1a-reference", []kafka.Partition{2, 2, 2, 1, 2, 2, 0, 2, 1, 1}, []kafka.Partition{0, 3, 5, 4, 4, 1, 6, 0, 5, 6}, []kafka.Partition{5, 8, 11, 4, 5, 8, 3, 8, 7, 1}},
		{"crc32", []kafka.Partition{0, 0, 0, 1, 2, 2, 1, 0, 0, 2}, []kafka.Partition{0, 4, 5, 5, 6, 5, 1, 4, 5, 0}, []kafka.Partition{0, 3, 6, 1, 11, 8, 7, 9, 9, 8}},
		{"murmur2", []kafka.Partition{0, 1, 0, 1, 1, 2, 1, 0, 1, 0}, []kafka.Partition{2, 5, 4, 4, 3, 3, 1, 1, 2, 1}, []kafka.Partition{9, 4, 3, 1, 4, 8, 4, 6, 7, 3}},
		{"kafkajs-legacy", []kafka.Partition{0, 1, 2, 2, 1, 1, 2, 1, 2, 0}, []kafka.Partition{5, 1, 0, 1, 2, 2, 3, 5, 6, 1}, []kafka.Partition{0, 7, 11, 11, 7, 7, 8, 7, 5, 0}},
	} {
		p := byName(t, test.name)
		for n, want := range map[int32][]kafka.Partition{3: test.n3, 7: test.n7, 12: test.n12} {
			if diff := cmp.Diff(want, partitionsOf(t, p, n, vectorKeys...)); diff != "" {
				t.Errorf("%s, %d partitions (-want +got):\n%s", test.name, n, diff)
			}
		}
	}
	// librdkafka consistent_random: the empty key has none, the rest as crc32.
	random, consistent := byName(t, "crc32-random"), byName(t, "crc32")
	for _, n := range []int32{3, 7, 12} {
		if diff := cmp.Diff(partitionsOf(t, consistent, n, vectorKeys[1:]...), partitionsOf(t, random, n, vectorKeys[1:]...)); diff != "" {
			t.Errorf("crc32-random, %d partitions (-crc32 +crc32-random):\n%s", n, diff)
		}
	}
}

// §3.2: raw hashes of kafkajs; those after "order-1001" were printed by kafkajs 2.2.4.
func TestKafkaJSLegacyVectors(t *testing.T) {
	for key, want := range map[string]int32{
		"":                     275646684,
		"a":                    -809885833,
		"abc":                  1545667907,
		"key":                  1778481923,
		"kafka":                840273835,
		"user-1":               1870079983,
		"user-42":              659293400,
		"order-1001":           787710439,
		"hello world":          1620997181,
		"日本":                   1345909104,
		"\xff":                 983671651,
		"\x80\xff":             1274558193,
		"\xff\xfe\xfd":         -195267973,
		"\xff\xff\xff\xff":     1633062316,
		"\x00\x00\x00\x00":     1680830559,
		"\x80\x00\x00\x00\x00": 570971664,
		"\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f": -1585080567,
		strings.Repeat("\xfe", 17): 1192513065,
	} {
		if got := byName(t, "kafkajs-legacy").Hash([]byte(key)).Signed(); got != want {
			t.Errorf("%q: got %d, want %d", key, got, want)
		}
	}
}

// §3.3: Java's String.hashCode and murmur3, with the partitions of 3, 7 and 12.
func TestPulsarVectors(t *testing.T) {
	type row struct {
		key         string
		signed      int32
		masked      uint32
		n3, n7, n12 kafka.Partition
	}
	signed := func(raw uint32) int32 { return int32(raw) }
	for name, rows := range map[string][]row{
		"java-hashcode": {
			{"a", 97, 97, 1, 6, 1},
			{"abc", 96354, 96354, 0, 6, 6},
			{"key", 106079, 106079, 2, 1, 11},
			{"kafka", 101807910, 101807910, 0, 1, 6},
			{"user-1", -836031825, 1311451823, 2, 3, 11},
			{"user-42", -147182656, 2000300992, 1, 4, 4},
			{"order-1001", 708180863, 708180863, 2, 5, 11},
			{"hello world", 1794106052, 1794106052, 2, 4, 8},
		},
		"murmur3": {
			{"a", signed(0x3c2569b2), 1009084850, 2, 4, 2},
			{"abc", signed(0xb3dd93fa), 870159354, 0, 1, 6},
			{"key", signed(0xe29c6a44), 1654417988, 2, 6, 8},
			{"kafka", signed(0xdb422f1e), 1531064094, 0, 0, 6},
			{"user-1", signed(0xf8a28763), 2023917411, 0, 5, 3},
			{"user-42", signed(0xb972dad0), 963828432, 0, 0, 0},
			{"order-1001", signed(0x3de1a71b), 1038198555, 0, 2, 3},
			{"hello world", signed(0x5e928f0f), 1586663183, 2, 0, 11},
		},
	} {
		for _, want := range rows {
			hash := byName(t, name).Hash([]byte(want.key))
			got := row{want.key, hash.Signed(), hash.Mapped(), hash.Partition(3), hash.Partition(7), hash.Partition(12)}
			if got != want {
				t.Errorf("%s: got %+v, want %+v", name, got, want)
			}
		}
	}
}

// Keys beyond ASCII and bytes that are not UTF-8, as Java 17 hashes new String(bytes, UTF_8).
func TestJavaHashCodeDecodesAsJava(t *testing.T) {
	for key, want := range map[string]int32{
		"":                           0,
		"😀":                          1772899, // two UTF-16 units
		"\xff":                       65533,
		"\xc3":                       65533,
		"\xc0\x80":                   2097056, // two replacements
		"\xe6\x97":                   65533,   // one replacement for a cut-off character
		"\xe6\x97A":                  2031588,
		"\xe0\x80\x80":               65074269,
		"\xed\xa0":                   65533,
		"\xed\xa0\x80":               65533, // one replacement for an encoded surrogate
		"a\xed\xa0\xbd\xed\xb8\x80b": 67898561,
		"\xf0\x9f\x98":               65533,
		"\xf0\x9f\x98A":              2031588,
		"\xf4\x90\x80\x80":           2017367872,
		"A\x80B":                     2094054,
	} {
		if got := byName(t, "java-hashcode").Hash([]byte(key)).Signed(); got != want {
			t.Errorf("%q: got %d, want %d", key, got, want)
		}
	}
}

func TestFormulaShowsEveryNumber(t *testing.T) {
	for _, test := range []struct {
		name, key string
		n         int32
		want      string
	}{
		{"murmur2", "a", 6, "murmur2 = 0xa2d0b27c (−1563381124) & 0x7fffffff = 584102524; mod 6 = 4"},
		{"murmur2", "user-1", 3, "murmur2 = 0x53b136cc (1404122828) & 0x7fffffff = 1404122828; mod 3 = 2"},
		{"crc32", "a", 12, "crc32 = 0xe8b7be43 (3904355907); mod 12 = 3"},
		{"fnv1a", "a", 6, "fnv1a = 0xe40c292c (−468965076), absolute value 468965076; mod 6 = 0"},
		{"fnv1a-reference", "a", 12, "fnv1a = 0xe40c292c (−468965076) & 0x7fffffff = 1678518572; mod 12 = 8"},
		{"kafkajs-legacy", "a", 3, "murmur2 in float64 = 0xcfba1f77 (−809885833) & 0x7fffffff = 1337597815; mod 3 = 1"},
		{"java-hashcode", "abc", 7, "hashCode = 0x00017862 (96354) & 0x7fffffff = 96354; mod 7 = 6"},
		{"murmur3", "a", 7, "murmur3 = 0x3c2569b2 (1009084850) & 0x7fffffff = 1009084850; mod 7 = 4"},
	} {
		if got := byName(t, test.name).Hash([]byte(test.key)).Formula(test.n); got != test.want {
			t.Errorf("%s of %q:\n got %s\nwant %s", test.name, test.key, got, test.want)
		}
	}
}

// The smallest signed number has no positive counterpart in 32 bits; its absolute value is 2147483648.
func TestAbsoluteValueOfTheSmallestHash(t *testing.T) {
	hash := Hash{function: "fnv1a", raw: 0x80000000, mapping: absolute}
	if got := hash.Mapped(); got != 2147483648 {
		t.Errorf("got %d, want 2147483648", got)
	}
	if got := hash.Partition(3); got != 2 {
		t.Errorf("modulo 3: got %d, want 2", got)
	}
}

func TestPartitionPanicsWithoutPartitions(t *testing.T) {
	for _, n := range []int32{0, -1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d partitions: no panic", n)
				}
			}()
			byName(t, "murmur2").Partition([]byte("a"), n)
		}()
	}
}

func TestHashingAllocatesNothing(t *testing.T) {
	key := []byte("order-1001-日本")
	for _, name := range Names() {
		p := byName(t, name)
		if allocations := testing.AllocsPerRun(100, func() { p.Partition(key, 12) }); allocations != 0 {
			t.Errorf("%s: %v allocations a key, want 0", name, allocations)
		}
	}
}
