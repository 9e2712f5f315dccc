package partitions

import (
	"fmt"
	"strconv"
	"strings"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/engine/partitioner"
	"loglab/labs"
)

// Bounds of the setting "keys".
const (
	maxKeys     = 1000 // made ones
	maxOwnKeys  = 500
	maxKeyBytes = 1000      // of one's own, so that a page which repeats them stays small
	maxCount    = 1_000_000 // of one key
)

// canonicalKeys gives the one spelling of the setting "keys": a number of made keys, or one's own keys,
// a line each, with a count where a key is to come more often: "order-7 x40". A blank line is an empty
// key. The last line needs no line end, except where the text would else mean something different: "42" is
// 42 made keys, "42\n" is the one key 42. A key that ends in such a count itself is followed by " x1".
func canonicalKeys(raw string) (string, error) {
	if raw == "" {
		return "24", nil // an emptied field
	}
	if n, ok := madeKeys(raw); ok {
		if n > maxKeys {
			return "", fmt.Errorf("from 0 to %d made keys are allowed, or your own keys, one a line", maxKeys)
		}
		return strconv.Itoa(n), nil
	}
	keys := lines(raw)
	if len(keys) > maxOwnKeys {
		return "", fmt.Errorf("at most %d keys of your own are allowed, one a line", maxOwnKeys)
	}
	for i, line := range keys {
		key, count, err := keyAndCount(line)
		if err != nil {
			return "", err
		}
		if len(key) > maxKeyBytes {
			return "", fmt.Errorf("keys of at most %d bytes are allowed, one a line; the one in line %d has %d", maxKeyBytes, i+1, len(key))
		}
		if _, _, ambiguous := cutCount(key); count > 1 || ambiguous {
			keys[i] = fmt.Sprintf("%s x%d", key, count)
		} else {
			keys[i] = key
		}
	}
	text := strings.Join(keys, "\n")
	if _, number := madeKeys(text); number || keys[len(keys)-1] == "" {
		text += "\n"
	}
	return text, nil
}

// keyAndCount reads a line: a key and how often it comes, 1 where nothing is said.
func keyAndCount(line string) (key string, count int, err error) {
	key, digits, ok := cutCount(line)
	if !ok {
		return line, 1, nil
	}
	count, err = strconv.Atoi(digits)
	if err != nil || count < 1 || count > maxCount {
		return "", 0, fmt.Errorf("x%s after a key is its count; from 1 to %d is allowed", digits, maxCount)
	}
	return key, count, nil
}

// cutCount cuts a line at its last " x" if only digits follow.
func cutCount(line string) (key, digits string, ok bool) {
	at := strings.LastIndex(line, " x")
	if at < 0 || at+2 == len(line) || strings.Trim(line[at+2:], "0123456789") != "" {
		return line, "", false
	}
	return line[:at], line[at+2:], true
}

// madeKeys reads a text of nothing but digits.
func madeKeys(text string) (n int, ok bool) {
	if strings.Trim(text, "0123456789") != "" || text == "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		n = maxKeys + 1 // more digits than a number has
	}
	return n, true
}

// lines cuts text at CR LF, LF or CR; the last line end ends the last line and begins no other.
func lines(text string) []string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(text, "\r", "\n")
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// entitiesOf gives what a canonical setting stands for: the entities whose events are sent, and how often
// each comes; counts is nil when all come equally often. No entity means that records have no key.
func entitiesOf(setting string) (entities []string, counts []int) {
	n, made := madeKeys(setting)
	if made {
		for i := range n {
			entities = append(entities, fmt.Sprintf("order-%d", i+1))
		}
		return entities, nil
	}
	counted := false
	for _, line := range lines(setting) {
		key, count, err := keyAndCount(line)
		if err != nil {
			panic(err) // the setting is canonical
		}
		entities, counts = append(entities, key), append(counts, count)
		counted = counted || count > 1
	}
	if !counted {
		counts = nil
	}
	return entities, counts
}

// placedKey is a key with the partitions that it has under two counts.
type placedKey struct {
	key    string
	color  int             // 1 to 8
	now    kafka.Partition // under the count that the first producer knows
	before kafka.Partition // under the baseline
	keyed  bool            // false: this client treats it as no key
	second kafka.Partition // where the second client puts it
	split  bool            // the two clients differ
}

func (k placedKey) moved() bool { return k.keyed && k.now != k.before }

// placeKeys puts each key into its partition, by the rules of one client or of two.
func placeKeys(keys []string, senders []sender, baseline int) []placedKey {
	var placed []placedKey
	for _, key := range keys {
		k := placedKey{key: key, color: len(placed)%8 + 1}
		k.now, k.keyed = senders[0].place(key)
		k.before, _ = senders[0].rule.Partition([]byte(key), int32(baseline))
		if len(senders) > 1 {
			var keyed bool
			k.second, keyed = senders[1].place(key)
			k.split = keyed != k.keyed || keyed && k.second != k.now
		}
		placed = append(placed, k)
	}
	return placed
}

// sender is a producer with the rule by which it places keys.
type sender struct {
	engine.ProducerView
	rule partitioner.Partitioner
}

// place gives the partition that the sender gives a key now: among those that it knows of.
func (s sender) place(key string) (p kafka.Partition, keyed bool) {
	return s.rule.Partition([]byte(key), int32(s.Known))
}

// moves counts the keys that have another partition under another count.
func moves(placed []placedKey, rule partitioner.Partitioner, from, to int) int {
	n := 0
	for _, k := range placed {
		a, keyed := rule.Partition([]byte(k.key), int32(from))
		b, _ := rule.Partition([]byte(k.key), int32(to))
		if keyed && a != b {
			n++
		}
	}
	return n
}

// keyName writes a key for people: as it is, or quoted where it is empty or holds what cannot be seen, such
// as a space at an end.
func keyName(key string) string {
	if quoted := strconv.Quote(key); key == "" || quoted != `"`+key+`"` || key != strings.TrimSpace(key) {
		return quoted
	}
	return key
}

// shortNames gives each key a name for a narrow cell: without the part that all keys begin with, when
// that ends in "-", "_", ":", "/" or ".".
func shortNames(placed []placedKey) map[string]string {
	cut := commonPrefix(placed)
	names := map[string]string{}
	for _, k := range placed {
		names[k.key] = labs.Narrow(keyName(k.key[cut:]), cellWidth)
	}
	return names
}

// commonPrefix is the length of that part.
func commonPrefix(placed []placedKey) int {
	if len(placed) < 2 {
		return 0
	}
	prefix := placed[0].key
	for _, k := range placed {
		for !strings.HasPrefix(k.key, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	return strings.LastIndexAny(prefix, "-_:/.") + 1
}

// cellWidth is how many narrow letters fit into a cell.
const cellWidth = 5
