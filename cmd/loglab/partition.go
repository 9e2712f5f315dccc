package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"loglab/engine/kafka"
	"loglab/engine/partitioner"
)

const (
	maxPartitions = 1_000_000
	maxKeyBytes   = 1 << 20 // of a line of standard input
)

// partitionCmd is loglab partition: one line a key, the key and its partition.
type partitionCmd struct {
	Partitioner string   `required:"" placeholder:"NAME" help:"Rule from key to partition, see below."`
	Partitions  int64    `required:"" placeholder:"N" help:"Partitions of the topic, from 1 to 1,000,000."`
	Hex         bool     `help:"Keys are bytes in hexadecimal."`
	JSON        bool     `name:"json" help:"Print one JSON array."`
	Keys        []string `arg:"" name:"key" help:"Keys, or just - to read keys from standard input, one a line."`
}

// Help is the long help of the command.
func (*partitionCmd) Help() string {
	return "Partitioners: " + strings.Join(partitioner.Names(), ", ") + ".\n\n" +
		"A line of text is the key, a tab and the partition. A key that starts with a quotation mark, is not UTF-8 or does not " +
		"print (a tab, a line end) is quoted with Go's escapes. A key that the partitioner treats as no key has no partition: " +
		"its line has - and then, after a tab, the words; in JSON its partition is null.\n\n" +
		"From standard input a line ends with LF or CR LF, neither belongs to the key, and an empty line is an empty key. " +
		"Give keys that end in CR, hold a line end or are just - with --hex, and arguments that are not UTF-8 too. " +
		"Write -- before the first key if one starts with -."
}

// Run places each key in the order given.
func (c *partitionCmd) Run(std *stdio) error {
	rule, err := partitioner.ByName(c.Partitioner)
	if err != nil {
		return badInput("--partitioner: %v", err)
	}
	if c.Partitions < 1 || c.Partitions > maxPartitions {
		return badInput("--partitions: %d is out of range: allowed are 1 to 1,000,000", c.Partitions)
	}
	out := placementWriter{out: bufio.NewWriter(std.Out), json: c.JSON}
	out.begin()
	err = c.eachKey(std.In, func(where, key string) error {
		keyBytes, err := c.decode(where, key)
		if err != nil {
			return err
		}
		partition, ok := rule.Partition(keyBytes, int32(c.Partitions))
		out.write(key, partition, ok)
		return nil
	})
	out.end()
	return errors.Join(err, out.out.Flush())
}

// eachKey calls one for each key, with words for where it stands.
func (c *partitionCmd) eachKey(in io.Reader, one func(where, key string) error) error {
	if len(c.Keys) == 1 && c.Keys[0] == "-" {
		return eachLine(in, one)
	}
	for i, key := range c.Keys {
		where := fmt.Sprintf("key %d", i+1)
		if key == "-" {
			return badInput("%s: - is standard input and must be the only key; the key - itself is 2d with --hex", where)
		}
		if err := one(where, key); err != nil {
			return err
		}
	}
	return nil
}

// eachLine calls one for each line of in without its line end. After the last line end no further
// line begins.
func eachLine(in io.Reader, one func(where, key string) error) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 64<<10), maxKeyBytes+len("\r\n"))
	number := 0
	for lines.Scan() {
		number++
		if err := one("standard input, line "+strconv.Itoa(number), lines.Text()); err != nil {
			return err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return badInput("standard input, line %d: longer than 1,048,576 bytes", number+1)
	}
	if lines.Err() != nil {
		return badInput("standard input, line %d: %v", number+1, lines.Err())
	}
	return nil
}

// decode returns the bytes of a key as given; never nil, because a key on the command line is never
// a null key.
func (c *partitionCmd) decode(where, key string) ([]byte, error) {
	if c.Hex {
		keyBytes, err := hex.DecodeString(key)
		if err != nil {
			return nil, badInput("%s: %.80q is not hexadecimal bytes: allowed are pairs of 0-9 and a-f", where, key)
		}
		return keyBytes, nil
	}
	if c.JSON && !utf8.ValidString(key) {
		return nil, badInput("%s: %.80q is not UTF-8, which JSON cannot show: give the key with --hex", where, key)
	}
	return []byte(key), nil
}

// placementWriter prints keys and their partitions as text or JSON. Errors of out show when it is
// flushed.
type placementWriter struct {
	out  *bufio.Writer
	json bool
	rows int
}

func (w *placementWriter) begin() {
	if w.json {
		w.out.WriteByte('[')
	}
}

func (w *placementWriter) end() {
	if w.json {
		w.out.WriteString("]\n")
	}
}

// write prints one key; ok is false if the rule takes it for no key.
func (w *placementWriter) write(key string, partition kafka.Partition, ok bool) {
	number := strconv.Itoa(int(partition))
	switch {
	case w.json:
		if !ok {
			number = "null"
		}
		if w.rows > 0 {
			w.out.WriteString(",\n ")
		}
		fmt.Fprintf(w.out, `{"key": %s, "partition": %s}`, jsonString(key), number)
	case ok:
		fmt.Fprintf(w.out, "%s\t%s\n", quoteField(key), number)
	default:
		fmt.Fprintf(w.out, "%s\t-\tno key by this rule: the client picks a partition\n", quoteField(key))
	}
	w.rows++
}

// jsonString returns text as a JSON string, without the escapes that only HTML needs.
func jsonString(text string) []byte {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		panic(fmt.Sprintf("loglab: a string as JSON: %v", err)) // strings always encode
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n"))
}
