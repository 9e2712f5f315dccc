package command

import "loglab/engine/kafka"

// Cut lets nothing pass between two nodes any more; with OneWay set, nothing from A to B.
type Cut struct {
	A, B   kafka.NodeID
	OneWay bool
}

// Heal makes the links between two nodes whole, both ways: nothing is cut, delayed, dropped or doubled.
type Heal struct{ A, B kafka.NodeID }

// Delay makes what goes between two nodes take that much longer, both ways.
type Delay struct {
	A, B  kafka.NodeID
	Delay kafka.Millis
}

// DropNext loses the next message that would arrive from one node at another, and the connection with it.
type DropNext struct{ From, To kafka.NodeID }

// DoubleNext delivers the next message from one node to another twice.
type DoubleNext struct{ From, To kafka.NodeID }

// parsePair takes two words that name nodes.
func parsePair(words []word) (a, b kafka.NodeID, err error) {
	if len(words) != 2 || words[0].quoted || words[1].quoted || words[0].text == words[1].text {
		return "", "", errUsage
	}
	return kafka.NodeID(words[0].text), kafka.NodeID(words[1].text), nil
}

func parseCut(words []word) (Command, error) {
	a, b, err := parsePair(words)
	return Cut{A: a, B: b}, err
}

func parseCutOneWay(words []word) (Command, error) {
	a, b, err := parsePair(words)
	return Cut{A: a, B: b, OneWay: true}, err
}

func parseHeal(words []word) (Command, error) {
	a, b, err := parsePair(words)
	return Heal{a, b}, err
}

func parseDelayLink(words []word) (Command, error) {
	if len(words) != 3 {
		return nil, errUsage
	}
	a, b, err := parsePair(words[:2])
	if err != nil {
		return nil, err
	}
	delay, err := parseDelay(words[2])
	return Delay{a, b, delay}, err
}

func parseDropNext(words []word) (Command, error) {
	from, to, err := parsePair(words)
	return DropNext{from, to}, err
}

func parseDoubleNext(words []word) (Command, error) {
	from, to, err := parsePair(words)
	return DoubleNext{from, to}, err
}

// Verb gives "cut" or "cut-one-way".
func (c Cut) Verb() string {
	if c.OneWay {
		return "cut-one-way"
	}
	return "cut"
}

// String gives the canonical text.
func (c Cut) String() string { return c.Verb() + " " + string(c.A) + " " + string(c.B) }

// Verb gives "heal".
func (Heal) Verb() string { return "heal" }

// String gives the canonical text.
func (c Heal) String() string { return "heal " + string(c.A) + " " + string(c.B) }

// Verb gives "delay".
func (Delay) Verb() string { return "delay" }

// String gives the canonical text.
func (c Delay) String() string {
	return "delay " + string(c.A) + " " + string(c.B) + " " + formatDuration(c.Delay)
}

// Verb gives "drop-next".
func (DropNext) Verb() string { return "drop-next" }

// String gives the canonical text.
func (c DropNext) String() string { return "drop-next " + string(c.From) + " " + string(c.To) }

// Verb gives "double-next".
func (DoubleNext) Verb() string { return "double-next" }

// String gives the canonical text.
func (c DoubleNext) String() string { return "double-next " + string(c.From) + " " + string(c.To) }
