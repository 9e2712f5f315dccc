package record

import (
	"fmt"

	"loglab/engine/kafka"
)

// appendRecordFields appends the fields of the records of b that reach into the bytes from..to of the record data,
// to exclusive. The record data begins at position origin of what the fields' offsets count in.
func appendRecordFields(fields []Field, b Batch, origin, from, to int) ([]Field, error) {
	s := b.Scan()
	done := 0
	for index := 0; len(fields) < maxAnatomyFields && done < to && s.Next(); index++ {
		if s.at <= from {
			done = s.at
			continue
		}
		cut := anatomist{fields: fields, batch: b, data: s.data, origin: origin, index: index, at: done}
		cut.record(s.record)
		fields, done = cut.fields, s.at
	}
	rest := s.data[done:]
	if len(rest) == 0 || done >= to {
		return fields, s.err
	}
	if s.err != nil {
		return append(fields, unreadable(rest, origin+done, s.err)), s.err
	}
	return append(fields, Field{
		Name: "records", Offset: origin + done, Width: len(rest), Raw: rest, Record: -1, Value: kafka.Count(len(rest), "byte"),
		Meaning: fmt.Sprintf("records %s to %s, not taken apart", kafka.Thousands(s.seen), kafka.Thousands(int64(b.RecordsCount)-1)),
	}), nil
}

// anatomist takes one record apart that a Scanner has decoded: the bytes are known to be sound.
type anatomist struct {
	fields []Field
	batch  Batch
	data   []byte
	origin int
	index  int
	at     int // position in data of the next byte
}

// add makes the next width bytes a field; none if width is 0.
func (a *anatomist) add(name string, width int, value, meaning string) {
	if width == 0 {
		return
	}
	end := a.at + width
	a.fields = append(a.fields, Field{
		Name: name, Offset: a.origin + a.at, Width: width, Raw: a.data[a.at:end:end],
		Value: value, Meaning: meaning, Record: a.index,
	})
	a.at = end
}

// number makes the next varint a field.
func (a *anatomist) number(name, meaning string) {
	v, n, _ := varlong(a.data[a.at:]) // a varint of 32 bits reads the same as a varlong
	a.add(name, n, fmt.Sprint(v), meaning)
}

func (a *anatomist) record(r Record) {
	length, n, _ := varint(a.data[a.at:])
	end := a.at + n + int(length)
	a.number("length", fmt.Sprintf("%s follow", kafka.Count(int(length), "byte")))
	a.add("attributes", 1, fmt.Sprint(a.data[a.at]), "no bit of it is in use")
	a.number("timestampDelta", describeTimestampDelta(a.batch, r))
	a.number("offsetDelta", describeOffsetDelta(a.batch, r))
	var control *Control
	if a.batch.Attributes.Control() {
		if c, err := DecodeControl(r); err == nil {
			control = &c
		}
	}

	a.number("keyLength", describeLength(r.Key, "key", "null: no key"))
	meaning := describeBytes(r.Key)
	if control != nil {
		meaning = fmt.Sprintf("control record %d = %v, key version %d", control.Type, control.Type, control.Version)
	}
	a.add("key", len(r.Key), Printable(r.Key), meaning)

	null := "null: a tombstone when the topic is compacted"
	if r.Key == nil {
		null = "null"
	}
	a.number("valueLength", describeLength(r.Value, "value", null))
	meaning = describeBytes(r.Value)
	if control != nil {
		meaning = describeControl(control)
	}
	a.add("value", len(r.Value), Printable(r.Value), meaning)

	meaning = "no headers"
	if len(r.Headers) > 0 {
		meaning = kafka.Count(len(r.Headers), "header")
	}
	a.number("headerCount", meaning)
	for i, h := range r.Headers {
		if i == maxAnatomyHeaders {
			left := end - a.at
			a.add("headers", left, kafka.Count(left, "byte"), fmt.Sprintf("headers %d to %s, not taken apart", i, kafka.Thousands(len(r.Headers)-1)))
			return
		}
		a.header(h)
	}
}

func (a *anatomist) header(h Header) {
	key := []byte(h.Key)
	a.number("headerKeyLength", describeLength(key, "key", ""))
	a.add("headerKey", len(key), Printable(key), describeBytes(key))
	a.number("headerValueLength", describeLength(h.Value, "value", "null"))
	a.add("headerValue", len(h.Value), Printable(h.Value), describeBytes(h.Value))
}

func describeTimestampDelta(b Batch, r Record) string {
	switch {
	case b.Attributes.TimestampType() == LogAppendTime:
		return fmt.Sprintf("ignored: under LogAppendTime the record's timestamp is maxTimestamp %s", kafka.Thousands(b.MaxTimestamp))
	case b.Attributes.HasDeleteHorizon():
		return fmt.Sprintf("%s = %s", kafka.Thousands(r.Timestamp), distance("delete horizon", r.TimestampDelta))
	}
	return fmt.Sprintf("%s = %s", kafka.Thousands(r.Timestamp), distance("base", r.TimestampDelta))
}

func describeOffsetDelta(b Batch, r Record) string {
	text := fmt.Sprintf("offset %s = %s + %s", kafka.Thousands(r.Offset), kafka.Thousands(b.BaseOffset), kafka.Thousands(r.OffsetDelta))
	if b.BaseSequence >= 0 {
		text += "; sequence " + kafka.Thousands(IncrementSequence(b.BaseSequence, r.OffsetDelta))
	}
	return text
}

// describeLength explains the length of a key or value.
func describeLength(p []byte, what, null string) string {
	switch {
	case p == nil:
		return null
	case len(p) == 0:
		return fmt.Sprintf("an empty %s, which is not null", what)
	}
	return kafka.Count(len(p), "byte")
}

func describeControl(c *Control) string {
	switch c.Type {
	case Abort, Commit:
		return fmt.Sprintf("the transaction coordinator's epoch is %d", c.CoordinatorEpoch)
	case LeaderChange:
		return fmt.Sprintf("node %d leads the quorum of %d voters, %d of which voted for it", c.LeaderChange.LeaderID,
			len(c.LeaderChange.Voters), len(c.LeaderChange.GrantingVoters))
	}
	return describeBytes(c.Value)
}
