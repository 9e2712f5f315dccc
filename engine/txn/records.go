package txn

import (
	"encoding/binary"

	"loglab/engine/coordinator"
	"loglab/engine/kafka"
	"loglab/engine/record"
)

// TypeTransactionLog is the only type of record in __transaction_state; each key begins with its type.
//
// Source: CoordinatorRecordType of the transaction coordinator, TransactionLogKey.json.
const TypeTransactionLog int16 = 0

// newestVersion is the newest version of values, with tagged fields. Clusters with transaction.version 0 write version 0.
//
// Source: TransactionLogValue.json, TransactionVersion.transactionLogValueVersion.
const newestVersion int16 = 1

// Value is the decoded value of a record of __transaction_state: a transactional id as it stands in the log.
//
//	version int16 | producerId int64 | producerEpoch int16 | transactionTimeoutMs int32 | transactionStatus int8 |
//	transactionPartitions: array?, each topic string | partitionIds array of int32 |
//	transactionLastUpdateTimestampMs int64 | transactionStartTimestampMs int64
//
// Version 1 has compact lengths, and tagged fields behind each topic and at the end: 0 previousProducerId int64,
// 1 nextProducerId int64, 2 clientTransactionVersion int16, 3 nextProducerEpoch int16. One that has its default, -1, or 0
// of the third, is left out.
//
// Source: TransactionLogValue.json.
type Value struct {
	Version                  int16
	TransactionalID          string
	ProducerID               kafka.ProducerID
	ProducerEpoch            kafka.ProducerEpoch
	Timeout                  kafka.Millis // transaction.timeout.ms of the producer
	State                    State
	Partitions               []kafka.TopicPartition // of the transaction
	LastUpdate               kafka.Timestamp
	Start                    kafka.Timestamp     // of the transaction; -1: there is none
	PreviousProducerID       kafka.ProducerID    // -1: not known; Kafka 4.2 does not write it
	NextProducerID           kafka.ProducerID    // -1: not known; Kafka 4.2 does not write it
	NextProducerEpoch        kafka.ProducerEpoch // -1: not known; Kafka 4.2 does not write it
	ClientTransactionVersion int16
}

// valueOf gives what Kafka 4.2 writes of a transactional id: neither the producer id before nor the next one, so that a
// coordinator that reads it does not know them.
//
// Simplified: on a cluster with transaction.version 0 the client's version is left out; Kafka's broker fails there if it is
// not 0, which no client of such a cluster makes it.
//
// Source: TransactionLog.valueToBytes.
func valueOf(id string, d details, transactionVersion int16) Value {
	return Value{
		Version: min(transactionVersion, newestVersion), TransactionalID: id, ProducerID: d.producerID, ProducerEpoch: d.epoch, Timeout: d.timeout,
		State: d.state, Partitions: d.partitions, LastUpdate: d.updated, Start: d.start, PreviousProducerID: noProducerID,
		NextProducerID: noProducerID, NextProducerEpoch: noEpoch, ClientTransactionVersion: d.client,
	}
}

// Encode gives the record in the version that v has. The partitions stand in the order of v, those of one topic next to
// each other.
//
// Simplified: what this coordinator writes has them sorted; Kafka's has them in the order of a hash table.
func (v Value) Encode() coordinator.Record {
	b := binary.BigEndian.AppendUint16(nil, uint16(v.Version))
	b = binary.BigEndian.AppendUint64(b, uint64(v.ProducerID))
	b = binary.BigEndian.AppendUint16(b, uint16(v.ProducerEpoch))
	b = binary.BigEndian.AppendUint32(b, uint32(v.Timeout))
	b = append(b, byte(v.State.number()))
	b = v.appendPartitions(b)
	b = binary.BigEndian.AppendUint64(b, uint64(v.LastUpdate))
	b = binary.BigEndian.AppendUint64(b, uint64(v.Start))
	if v.Version >= 1 {
		b = v.appendTags(b)
	}
	return coordinator.Record{Key: encodeKey(v.TransactionalID), Value: b}
}

// appendPartitions appends the partitions by topic; in state Empty null.
func (v Value) appendPartitions(b []byte) []byte {
	var topics [][]kafka.TopicPartition
	for i, tp := range v.Partitions {
		if i == 0 || tp.Topic != v.Partitions[i-1].Topic {
			topics = append(topics, nil)
		}
		last := &topics[len(topics)-1]
		*last = append(*last, tp)
	}
	if v.State == Empty {
		return v.appendLength(b, -1, 4)
	}
	b = v.appendLength(b, len(topics), 4)
	for _, partitions := range topics {
		b = append(v.appendLength(b, len(partitions[0].Topic), 2), partitions[0].Topic...)
		b = v.appendLength(b, len(partitions), 4)
		for _, tp := range partitions {
			b = binary.BigEndian.AppendUint32(b, uint32(tp.Partition))
		}
		if v.Version >= 1 {
			b = append(b, 0)
		}
	}
	return b
}

// appendLength appends the length of a string or an array, which takes that many bytes in version 0.
func (v Value) appendLength(b []byte, n, width int) []byte {
	switch {
	case v.Version >= 1:
		return binary.AppendUvarint(b, uint64(n+1))
	case width == 2:
		return binary.BigEndian.AppendUint16(b, uint16(n))
	}
	return binary.BigEndian.AppendUint32(b, uint32(n))
}

// appendTags appends the tagged fields.
func (v Value) appendTags(b []byte) []byte {
	var fields []byte
	count := byte(0)
	field := func(tag, size byte, value int64, missing int64) {
		if value == missing {
			return
		}
		count++
		fields = append(fields, tag, size)
		if size == 8 {
			fields = binary.BigEndian.AppendUint64(fields, uint64(value))
			return
		}
		fields = binary.BigEndian.AppendUint16(fields, uint16(value))
	}
	field(0, 8, int64(v.PreviousProducerID), -1)
	field(1, 8, int64(v.NextProducerID), -1)
	field(2, 2, int64(v.ClientTransactionVersion), 0)
	field(3, 2, int64(v.NextProducerEpoch), -1)
	return append(append(b, count), fields...)
}

// tombstone gives the record of a transactional id that is gone.
func tombstone(id string) coordinator.Record { return coordinator.Record{Key: encodeKey(id)} }

func encodeKey(id string) []byte {
	key := binary.BigEndian.AppendUint16(nil, uint16(TypeTransactionLog))
	return append(binary.BigEndian.AppendUint16(key, uint16(len(id))), id...)
}

// DecodeKey gives the transactional id of a key. Of a key of a type that this package does not know the error is
// coordinator.ErrUnreadable.
func DecodeKey(key []byte) (transactionalID string, err error) {
	d := dissector{coordinator.NewDissector(key, false)}
	id := d.key()
	_, err = d.Finish()
	return id, err
}

// DecodeValue decodes the value of a record with that transactional id. Of null, and of a value of a version or in a state
// that this package does not know, the error is coordinator.ErrUnreadable.
func DecodeValue(transactionalID string, value []byte) (Value, error) {
	d := dissector{coordinator.NewDissector(value, false)}
	v := d.value()
	v.TransactionalID = transactionalID
	_, err := d.Finish()
	return v, err
}

// KeyAnatomy takes a key apart: every byte lies in exactly one field. Where the bytes cannot be decoded, the rest is
// one field, "unreadable", and the error is that of DecodeKey.
func KeyAnatomy(key []byte) ([]record.Field, error) {
	d := dissector{coordinator.NewDissector(key, true)}
	d.key()
	return d.Finish()
}

// ValueAnatomy takes a value apart, as KeyAnatomy does.
func ValueAnatomy(value []byte) ([]record.Field, error) {
	d := dissector{coordinator.NewDissector(value, true)}
	d.value()
	return d.Finish()
}
