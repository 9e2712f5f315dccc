package txn

import (
	"encoding/binary"
	"fmt"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// dissector reads the bytes of a key or value from front to back, and keeps the fields if they are wanted.
type dissector struct {
	bytes  []byte
	at     int
	keep   bool
	fields []record.Field
	err    error
	flex   bool   // the version is a flexible one: compact lengths and tagged fields
	prefix string // of the names of fields of a topic
}

func (d *dissector) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("byte %d: %s: %w", d.at, fmt.Sprintf(format, args...), ErrUnreadable)
	}
}

// finish gives the error, and makes what was not read one field.
func (d *dissector) finish() error {
	rest := d.bytes[d.at:]
	if len(rest) > 0 {
		d.fail("%s follow the last field", kafka.Count(len(rest), "byte"))
		if d.keep {
			d.fields = append(d.fields, record.Field{
				Name: "unreadable", Offset: d.at, Width: len(rest), Raw: rest, Value: record.Printable(rest), Meaning: d.err.Error(), Record: -1,
			})
		}
	}
	return d.err
}

// take gives the next width bytes as one field, or nil if they are not there.
func (d *dissector) take(name string, width int, value func(raw []byte) (text, meaning string)) []byte {
	if d.err != nil {
		return nil
	}
	if width < 0 || width > len(d.bytes)-d.at {
		d.fail("%s of %s: %s are left", name, kafka.Count(width, "byte"), kafka.Count(len(d.bytes)-d.at, "byte"))
		return nil
	}
	raw := d.bytes[d.at : d.at+width : d.at+width]
	if d.keep && width > 0 {
		text, meaning := value(raw)
		d.fields = append(d.fields, record.Field{Name: d.prefix + name, Offset: d.at, Width: width, Raw: raw, Value: text, Meaning: meaning, Record: -1})
	}
	d.at += width
	return raw
}

// number reads a signed number of that many bytes.
func (d *dissector) number(name string, width int, meaning func(int64) string) int64 {
	read := func(raw []byte) int64 {
		v := int64(int8(raw[0]))
		for _, b := range raw[1:] {
			v = v<<8 | int64(b)
		}
		return v
	}
	raw := d.take(name, width, func(raw []byte) (string, string) {
		v := read(raw)
		return fmt.Sprint(v), meaning(v)
	})
	if raw == nil {
		return 0
	}
	return read(raw)
}

func says(meaning string) func(int64) string { return func(int64) string { return meaning } }

// orNone says what a number means; -1: none.
func orNone(meaning string) func(int64) string {
	return func(v int64) string {
		if v == -1 {
			return "none"
		}
		return meaning
	}
}

func wallClock(what string) func(int64) string {
	return func(v int64) string {
		if v < 0 {
			return "none"
		}
		return fmt.Sprintf("%s, %s ms since 1970-01-01 UTC", what, kafka.Thousands(v))
	}
}

// uvarint reads an unsigned varint of at most 5 bytes.
func (d *dissector) uvarint(name string, meaning func(int64) string) int64 {
	if d.err != nil {
		return 0
	}
	v, n := binary.Uvarint(d.bytes[d.at:])
	if n <= 0 || n > 5 || v > 1<<32-1 {
		d.fail("%s is no unsigned varint of 32 bits", name)
		return 0
	}
	d.take(name, n, func([]byte) (string, string) { return fmt.Sprint(v), meaning(int64(v)) })
	return int64(v)
}

// length reads the length of a string or an array, which takes that many bytes in version 0; -1: null.
func (d *dissector) length(name string, width int, noun string) int {
	describe := func(n int64) string {
		if n < 0 {
			return "null"
		}
		return kafka.Count(int(n), noun)
	}
	if d.flex {
		return int(d.uvarint(name, func(v int64) string { return describe(v-1) + "; a compact length is one more, 0 is null" })) - 1
	}
	return int(d.number(name, width, describe))
}

// text reads a string that is not null.
func (d *dissector) text(name, meaning string) string {
	n := d.length(name+"Length", 2, "byte")
	if d.err == nil && n < 0 {
		d.fail("%s has the length %d", name, n)
	}
	return string(d.take(name, n, func(raw []byte) (string, string) { return record.Printable(raw), meaning }))
}

// count reads the number of elements of an array, which are at least that many bytes long; -1: null.
func (d *dissector) count(name, noun string, bytes int, nullable bool) int {
	n := d.length(name, 4, noun)
	if d.err == nil && (n < -1 || n < 0 && !nullable || n > (len(d.bytes)-d.at)/bytes) {
		d.fail("%s has %d elements in %s", name, n, kafka.Count(len(d.bytes)-d.at, "byte"))
	}
	return n
}

// tags reads the tagged fields that end a flexible struct. Known reads those that it knows, and says whether it did;
// nil: none are known.
func (d *dissector) tags(known func(tag int64, size int) bool) {
	if !d.flex {
		return
	}
	n := d.uvarint("taggedFields", func(v int64) string { return kafka.Count(int(v), "tagged field") })
	last := int64(-1)
	for range n {
		tag := d.uvarint("tag", says("which field follows"))
		size := d.uvarint("tagSize", func(v int64) string { return kafka.Count(int(v), "byte") })
		if d.err == nil && tag <= last {
			d.fail("tag %d after tag %d", tag, last)
		}
		last = tag
		if d.err != nil {
			return
		}
		if known != nil && known(tag, int(size)) {
			continue
		}
		d.take("taggedField", int(size), func(raw []byte) (string, string) { return record.Printable(raw), "not known here" })
	}
}

func (d *dissector) key() (transactionalID string) {
	kind := d.number("type", 2, func(v int64) string {
		if int16(v) == TypeTransactionLog {
			return "a transactional id"
		}
		return "a record of another kind"
	})
	if d.err == nil && int16(kind) != TypeTransactionLog {
		d.fail("records of type %d are not known", kind)
	}
	return d.text("transactionalId", "transactional.id of the producer")
}

func (d *dissector) value() Value {
	v := Value{PreviousProducerID: noProducerID, NextProducerID: noProducerID, NextProducerEpoch: noEpoch}
	v.Version = int16(d.number("version", 2, func(v int64) string { return fmt.Sprintf("version %d of the value", v) }))
	if d.err == nil && (v.Version < 0 || v.Version > newestVersion) {
		d.fail("version %d; 0 to %d are known", v.Version, newestVersion)
	}
	d.flex = v.Version >= 1
	v.ProducerID = kafka.ProducerID(d.number("producerId", 8, says("the producer id that the transactional id has now")))
	v.ProducerEpoch = kafka.ProducerEpoch(d.number("producerEpoch", 2, says("its epoch: a producer with an older one is fenced")))
	v.Timeout = kafka.Millis(d.number("transactionTimeoutMs", 4, says("milliseconds; transaction.timeout.ms of the producer")))
	v.State = d.state()
	v.Partitions = d.partitions(v.State)
	v.LastUpdate = kafka.Timestamp(d.number("transactionLastUpdateTimestampMs", 8, wallClock("when it changed last, by the coordinator's clock")))
	v.Start = kafka.Timestamp(d.number("transactionStartTimestampMs", 8, wallClock("when the transaction's first partition was added")))
	d.tags(func(tag int64, size int) bool { return d.tagged(&v, tag, size) })
	return v
}

// tagged reads a tagged field of a value, and says whether it knows it. One that it knows must
// have the size of its type; Kafka does not look at the size then, and reads as many bytes as the type has.
func (d *dissector) tagged(v *Value, tag int64, size int) bool {
	sizes := [...]int{8, 8, 2, 2}
	if tag >= int64(len(sizes)) {
		return false
	}
	if size != sizes[tag] {
		d.fail("tag %d has %s, not %d", tag, kafka.Count(size, "byte"), sizes[tag])
		return true
	}
	switch tag {
	case 0:
		v.PreviousProducerID = kafka.ProducerID(d.number("previousProducerId", 8, orNone("the producer id that it had before")))
	case 1:
		v.NextProducerID = kafka.ProducerID(d.number("nextProducerId", 8, orNone("the producer id that it is to have next")))
	case 2:
		v.ClientTransactionVersion = d.clientVersion()
	case 3:
		v.NextProducerEpoch = kafka.ProducerEpoch(d.number("nextProducerEpoch", 2, orNone("the epoch that it is to have next")))
	}
	return true
}

// clientVersion reads one of the versions of transactions that there are; Kafka refuses others, too.
//
// Source: TransactionVersion.fromFeatureLevel.
func (d *dissector) clientVersion() int16 {
	v := int16(d.number("clientTransactionVersion", 2, says("the transaction version of the producer's client; since 2 each transaction raises the epoch")))
	if d.err == nil && (v < 0 || v > epochBump) {
		d.fail("transactions of version %d; 0 to %d are known", v, epochBump)
	}
	return v
}

func (d *dissector) state() State {
	at := d.number("transactionStatus", 1, func(v int64) string {
		if v < 0 || int(v) >= len(states) {
			return "not known here"
		}
		return string(states[v])
	})
	if d.err == nil && (at < 0 || int(at) >= len(states)) {
		d.fail("state %d is not known", at)
	}
	if d.err != nil {
		return ""
	}
	return states[at]
}

// partitions reads the partitions of a transaction, which are null only in state Empty. If there are some in that state,
// Kafka does not take them.
//
// Source: TransactionLog.readTxnRecordValue.
func (d *dissector) partitions(state State) (list []kafka.TopicPartition) {
	topics := d.count("transactionPartitions", "topic", 3, true)
	if d.err == nil && topics < 0 && state != Empty {
		d.fail("no partitions in state %s", state)
	}
	for i := 0; i < topics && d.err == nil; i++ {
		d.prefix = fmt.Sprintf("topic %d ", i)
		topic := d.text("topic", "the topic's name")
		partitions := d.count("partitionIds", "partition", 4, false)
		for k := 0; k < partitions && d.err == nil; k++ {
			p := kafka.Partition(d.number("partitionId", 4, says("a partition of the transaction")))
			list = append(list, kafka.TopicPartition{Topic: topic, Partition: p})
		}
		d.tags(nil)
	}
	d.prefix = ""
	if state == Empty {
		return nil
	}
	return list
}
