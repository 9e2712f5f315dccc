//go:build judge

package judge

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// librdkafkaAnswers asks one partitioner function of librdkafka.
func librdkafkaAnswers(t *testing.T, function string, questions []string) []string {
	t.Helper()
	need(t, "python3", "on Debian: apt-get install python3")
	return answers(t, exec.CommandContext(t.Context(), "python3", "testdata/librdkafka.py", function), questions)
}

// librdkafka's partitioner functions, under the names that its setting partitioner gives them. Those whose
// name ends in _random differ from the others only in the records that they take for keyless.
func TestLibrdkafka(t *testing.T) {
	for _, pair := range []struct{ ours, theirs string }{
		{"crc32", "consistent"},
		{"crc32-random", "consistent_random"},
		{"murmur2", "murmur2"},
		{"murmur2", "murmur2_random"},
		{"fnv1a", "fnv1a"},
		{"fnv1a", "fnv1a_random"},
	} {
		t.Run(pair.theirs, func(t *testing.T) {
			rnd := draws(t)
			keys := drawKeys(&rnd, 20_000)
			if pair.ours == "crc32-random" {
				keys = slices.DeleteFunc(keys, func(key []byte) bool { return len(key) == 0 })
			}
			comparePlaces(t, pair.ours, keys, librdkafkaAnswers(t, pair.theirs, keyQuestions(keys)))
		})
	}
}

// Which keys each function takes for none: asked again and again it then gives one partition and another.
// "-" is a null key, an empty line an empty key.
func TestLibrdkafkaKeyless(t *testing.T) {
	const times, partitions = 50, " 1000"
	for _, test := range []struct {
		function    string
		null, empty bool // taken for no key
		ours        string
	}{
		{"consistent", false, false, "crc32"},
		{"consistent_random", true, true, "crc32-random"},
		{"murmur2", false, false, "murmur2"},
		{"murmur2_random", true, false, "murmur2"},
		{"fnv1a", false, false, "fnv1a"},
		{"fnv1a_random", true, false, "fnv1a"},
	} {
		isRandom := func(key string) bool {
			places := librdkafkaAnswers(t, test.function, slices.Repeat([]string{key + partitions}, times))
			return strings.Join(places, "") != strings.Repeat(places[0], times)
		}
		if null, empty := isRandom("-"), isRandom(""); null != test.null || empty != test.empty {
			t.Errorf("%s: keyless are null %t, empty %t; want %t, %t", test.function, null, empty, test.null, test.empty)
		}
		if keyless := strings.HasPrefix(placesOf(t, test.ours, []byte{}), "keyless"); keyless != test.empty {
			t.Errorf("%s takes an empty key for none: %t; %s does: %t", test.ours, keyless, test.function, test.empty)
		}
	}
}
