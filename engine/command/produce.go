package command

import (
	"strconv"
	"strings"

	"loglab/engine/kafka"
)

// noKey is the word for a null key.
const noKey = "-"

// Produce hands one record to a producer, which partitions, batches and sends it like any other.
type Produce struct {
	Producer kafka.NodeID
	// Named means that the record names its partition, To; no partitioner is asked then.
	Named bool
	To    kafka.Partition
	// Keyless means that the key is null; Key is then empty. An empty Key of a record that is not
	// keyless is a key of no bytes.
	Keyless bool
	Key     string
	// Default means that the producer makes up the value; Value is then empty.
	Default bool
	Value   string
	// Tombstone means that the value is null: in a compacted log that is the deletion of the key. Value is then
	// empty and Default false.
	Tombstone bool
}

func parseProduce(words []word) (Command, error) {
	if len(words) < 1 || len(words) > 3 || words[0].quoted {
		return nil, errUsage
	}
	c := Produce{Producer: kafka.NodeID(words[0].text), Keyless: true, Default: true}
	if len(words) > 1 && (words[1].quoted || words[1].text != noKey) {
		c.Keyless, c.Key = false, words[1].text
	}
	if len(words) > 2 {
		c.Default, c.Value = false, words[2].text
	}
	return c, nil
}

// parseProduceTo takes "PRODUCER PARTITION [KEY [VALUE]]".
func parseProduceTo(words []word) (Command, error) {
	if len(words) < 2 || words[1].quoted {
		return nil, errUsage
	}
	n, err := strconv.ParseUint(words[1].text, 10, 31)
	if err != nil {
		return nil, errUsage
	}
	rest, err := parseProduce(append([]word{words[0]}, words[2:]...))
	if err != nil {
		return nil, err
	}
	c := rest.(Produce)
	c.Named, c.To = true, kafka.Partition(n)
	return c, nil
}

// parseTombstone takes "PRODUCER KEY".
func parseTombstone(words []word) (Command, error) {
	if len(words) != 2 || words[0].quoted {
		return nil, errUsage
	}
	return Produce{Producer: kafka.NodeID(words[0].text), Key: words[1].text, Tombstone: true}, nil
}

// Verb gives "produce", "tombstone" without a value, or "produce-to" when the record names its partition.
func (c Produce) Verb() string {
	switch {
	case c.Tombstone:
		return "tombstone"
	case c.Named:
		return "produce-to"
	}
	return "produce"
}

// String gives the canonical text.
func (c Produce) String() string {
	words := []string{c.Verb(), string(c.Producer)}
	if c.Named {
		words = append(words, strconv.Itoa(int(c.To)))
	}
	switch {
	case c.Tombstone:
		return strings.Join(append(words, quoteWord(c.Key)), " ")
	case !c.Keyless && c.Key == noKey:
		words = append(words, `"-"`)
	case !c.Keyless:
		words = append(words, quoteWord(c.Key))
	case !c.Default:
		words = append(words, noKey)
	}
	if !c.Default {
		words = append(words, quoteWord(c.Value))
	}
	return strings.Join(words, " ")
}
