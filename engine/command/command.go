package command

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"loglab/engine/kafka"
)

// Command is one thing to do, as a value. The concrete types are [AbortTransaction], [AddPartitions], [AlterConfig], [BeginTransaction],
// [CheckRetention], [Commit], [CommitTransaction], [Crash], [CreateTopic], [Cut], [Delay], [DeleteRecords], [DoubleNext], [DropNext], [Elect], [Heal], [Kill], [Leave], [Pause], [PowerLoss], [Process],
// [Produce], [Rebalance], [Replay], [Reset], [Resume], [RunCleaner], [Seek], [ShutDown], [Skew], [SlowDisk], [Start], [StartSending],
// [StopSending], [Wait] and [Wipe].
type Command interface {
	// String gives the canonical line of text.
	String() string
	// Verb gives its first word.
	Verb() string
}

// MaxText is the greatest length of a command's text in bytes.
const MaxText = 2048

// verb is one row of the grammar.
type verb struct {
	name  string
	usage string
	parse func(words []word) (Command, error)
}

// verbs is the grammar, in alphabetical order.
var verbs = [...]verb{
	{"abort-transaction", "abort-transaction PRODUCER", parseAbortTransaction},
	{"add-partitions", "add-partitions TOPIC to COUNT", parseAddPartitions},
	{"alter-config", "alter-config TOPIC SETTING VALUE", parseAlterConfig},
	{"begin-transaction", "begin-transaction PRODUCER", parseBeginTransaction},
	{"check-retention", "check-retention BROKER", parseCheckRetention},
	{"commit", "commit CONSUMER [PARTITION @OFFSET]", parseCommit},
	{"commit-transaction", "commit-transaction PRODUCER", parseCommitTransaction},
	{"crash", "crash CONSUMER [after poll | before processing [PARTITION @OFFSET] | after processing [PARTITION @OFFSET] | before commit | after commit | after produce | after offsets | during commit]", parseCrash},
	{"create-topic", "create-topic TOPIC", parseCreateTopic},
	{"cut", "cut NODE NODE", parseCut},
	{"cut-one-way", "cut-one-way FROM TO", parseCutOneWay},
	{"delay", "delay NODE NODE DURATION, from 0ms", parseDelayLink},
	{"delete-records", "delete-records PARTITION @OFFSET", parseDeleteRecords},
	{"double-next", "double-next FROM TO", parseDoubleNext},
	{"drop-next", "drop-next FROM TO", parseDropNext},
	{"elect-preferred", "elect-preferred TOPIC PARTITION", parseElectPreferred},
	{"elect-unclean", "elect-unclean TOPIC PARTITION", parseElectUnclean},
	{"heal", "heal NODE NODE", parseHeal},
	{"kill", "kill NODE", parseKill},
	{"leave", "leave CONSUMER", parseLeave},
	{"pause", "pause NODE", parsePause},
	{"power-loss", "power-loss BROKER", parsePowerLoss},
	{"process", "process CONSUMER [COUNT]", parseProcess},
	{"produce", "produce PRODUCER [KEY [VALUE]]", parseProduce},
	{"produce-to", "produce-to PRODUCER PARTITION [KEY [VALUE]]", parseProduceTo},
	{"rebalance", "rebalance CONSUMER", parseRebalance},
	{"replay", "replay GROUP from earliest | latest | offset N | timestamp MS | duration DURATION | shift N", parseReplay},
	{"reset", "reset GROUP to earliest | latest | offset N | timestamp MS | duration DURATION | shift N", parseReset},
	{"resume", "resume NODE", parseResume},
	{"run-cleaner", "run-cleaner BROKER", parseRunCleaner},
	{"seek", "seek CONSUMER PARTITION @OFFSET", parseSeek},
	{"shut-down", "shut-down BROKER", parseShutDown},
	{"skew", "skew PRODUCER DURATION, from 0ms, with - in front: behind", parseSkew},
	{"slow-disk", "slow-disk BROKER DURATION, from 0ms", parseSlowDisk},
	{"start", "start NODE", parseStart},
	{"start-sending", "start-sending PRODUCER", parseStartSending},
	{"stop-sending", "stop-sending PRODUCER", parseStopSending},
	{"tombstone", "tombstone PRODUCER KEY", parseTombstone},
	{"wait", "wait DURATION, as 500ms, 45s, 5m or 2h", parseWait},
	{"wipe", "wipe BROKER", parseWipe},
}

// Usages lists the forms that a command can have, one line each, sorted by verb.
func Usages() []string {
	var list []string
	for _, v := range verbs {
		list = append(list, v.usage)
	}
	return list
}

// errUsage marks words that do not fit the verb; Parse puts the usage in its place.
var errUsage = errors.New("words do not fit")

// Parse reads one line of text. The error says what was found and what is allowed.
func Parse(text string) (Command, error) {
	if len(text) > MaxText {
		return nil, fmt.Errorf("command of %d bytes: at most %d are allowed", len(text), MaxText)
	}
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("command %q: not valid UTF-8", text)
	}
	words, err := split(text)
	if err != nil {
		return nil, fmt.Errorf("command %q: %w", text, err)
	}
	for _, v := range verbs {
		if len(words) == 0 || words[0].quoted || words[0].text != v.name {
			continue
		}
		c, err := v.parse(words[1:])
		if errors.Is(err, errUsage) {
			return nil, fmt.Errorf("command %q: allowed is %s", text, v.usage)
		}
		if err != nil {
			return nil, fmt.Errorf("command %q: %w; allowed is %s", text, err, v.usage)
		}
		return c, nil
	}
	return nil, fmt.Errorf("command %q: not known; allowed are %s", text, strings.Join(Usages(), "; "))
}

// word is one word of a command's text.
type word struct {
	text   string
	quoted bool
}

// split cuts text into words at single spaces.
func split(text string) ([]word, error) {
	var words []word
	for rest := text; ; {
		w, after, err := cutWord(rest)
		if err != nil {
			return nil, err
		}
		words = append(words, w)
		if after == "" {
			return words, nil
		}
		if after[0] != ' ' {
			return nil, errors.New("a space is missing after a quoted word")
		}
		rest = after[1:]
	}
}

// cutWord takes the first word off text.
func cutWord(text string) (w word, after string, err error) {
	if !strings.HasPrefix(text, `"`) {
		bare, _, _ := strings.Cut(text, " ")
		if !isBare(bare) {
			return word{}, "", fmt.Errorf("the word %q must stand in double quotes", bare)
		}
		return word{text: bare}, text[len(bare):], nil
	}
	literal, err := strconv.QuotedPrefix(text)
	if err != nil {
		return word{}, "", errors.New("a quoted word has no end or a bad escape")
	}
	plain, err := strconv.Unquote(literal)
	if err != nil || !utf8.ValidString(plain) {
		return word{}, "", fmt.Errorf("the quoted word %s is not valid UTF-8", literal)
	}
	return word{text: plain, quoted: true}, text[len(literal):], nil
}

// isBare says whether s needs no quotes.
func isBare(s string) bool {
	if s == "" || s[0] == '"' {
		return false
	}
	for _, r := range s {
		if unicode.IsSpace(r) || !unicode.IsPrint(r) || r == '"' {
			return false
		}
	}
	return true
}

// quoteWord writes s as one word.
func quoteWord(s string) string {
	if isBare(s) {
		return s
	}
	return strconv.Quote(s)
}

// parseNode takes the one word that names a node.
func parseNode(words []word) (kafka.NodeID, error) {
	if len(words) != 1 || words[0].quoted {
		return "", errUsage
	}
	return kafka.NodeID(words[0].text), nil
}
