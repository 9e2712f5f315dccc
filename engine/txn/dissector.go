package txn

import (
	"fmt"

	"loglab/engine/coordinator"
	"loglab/engine/kafka"
)

// dissector reads a key or a value of __transaction_state.
type dissector struct{ coordinator.Dissector }

// orNone says what a number means; -1: none.
func orNone(meaning string) func(int64) string {
	return func(v int64) string {
		if v == -1 {
			return "none"
		}
		return meaning
	}
}

func (d *dissector) key() (transactionalID string) {
	kind := d.Number("type", 2, func(v int64) string {
		if int16(v) == TypeTransactionLog {
			return "a transactional id"
		}
		return "a record of another kind"
	})
	if d.Err == nil && int16(kind) != TypeTransactionLog {
		d.Fail("records of type %d are not known", kind)
	}
	return d.Text("transactionalId", "transactional.id of the producer", false)
}

func (d *dissector) value() Value {
	v := Value{PreviousProducerID: noProducerID, NextProducerID: noProducerID, NextProducerEpoch: noEpoch}
	v.Version = int16(d.Number("version", 2, func(v int64) string { return fmt.Sprintf("version %d of the value", v) }))
	if d.Err == nil && (v.Version < 0 || v.Version > newestVersion) {
		d.Fail("version %d; 0 to %d are known", v.Version, newestVersion)
	}
	d.Flexible = v.Version >= 1
	v.ProducerID = kafka.ProducerID(d.Number("producerId", 8, coordinator.Says("the producer id that the transactional id has now")))
	v.ProducerEpoch = kafka.ProducerEpoch(d.Number("producerEpoch", 2, coordinator.Says("its epoch: a producer with an older one is fenced")))
	v.Timeout = kafka.Millis(d.Number("transactionTimeoutMs", 4, coordinator.Says("milliseconds; transaction.timeout.ms of the producer")))
	v.State = d.state()
	v.Partitions = d.partitions(v.State)
	v.LastUpdate = kafka.Timestamp(d.Number("transactionLastUpdateTimestampMs", 8, coordinator.WallClock("when it changed last, by the coordinator's clock", "none")))
	v.Start = kafka.Timestamp(d.Number("transactionStartTimestampMs", 8, coordinator.WallClock("when the transaction's first partition was added", "none")))
	d.Tags(func(tag int64, size int) bool { return d.tagged(&v, tag, size) })
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
		d.Fail("tag %d has %s, not %d", tag, kafka.Count(size, "byte"), sizes[tag])
		return true
	}
	switch tag {
	case 0:
		v.PreviousProducerID = kafka.ProducerID(d.Number("previousProducerId", 8, orNone("the producer id that it had before")))
	case 1:
		v.NextProducerID = kafka.ProducerID(d.Number("nextProducerId", 8, orNone("the producer id that it is to have next")))
	case 2:
		v.ClientTransactionVersion = d.clientVersion()
	case 3:
		v.NextProducerEpoch = kafka.ProducerEpoch(d.Number("nextProducerEpoch", 2, orNone("the epoch that it is to have next")))
	}
	return true
}

// clientVersion reads one of the versions of transactions that there are; Kafka refuses others, too.
//
// Source: TransactionVersion.fromFeatureLevel.
func (d *dissector) clientVersion() int16 {
	v := int16(d.Number("clientTransactionVersion", 2, coordinator.Says("the transaction version of the producer's client; since 2 each transaction raises the epoch")))
	if d.Err == nil && (v < 0 || v > epochBump) {
		d.Fail("transactions of version %d; 0 to %d are known", v, epochBump)
	}
	return v
}

func (d *dissector) state() State {
	at := d.Number("transactionStatus", 1, func(v int64) string {
		if v < 0 || int(v) >= len(states) {
			return "not known here"
		}
		return string(states[v])
	})
	if d.Err == nil && (at < 0 || int(at) >= len(states)) {
		d.Fail("state %d is not known", at)
	}
	if d.Err != nil {
		return ""
	}
	return states[at]
}

// partitions reads the partitions of a transaction, which are null only in state Empty. If there are some in that state,
// Kafka does not take them.
//
// Source: TransactionLog.readTxnRecordValue.
func (d *dissector) partitions(state State) (list []kafka.TopicPartition) {
	topics := d.Count("transactionPartitions", "topic", 3, true)
	if d.Err == nil && topics < 0 && state != Empty {
		d.Fail("no partitions in state %s", state)
	}
	for i := 0; i < topics && d.Err == nil; i++ {
		d.Prefix = fmt.Sprintf("topic %d ", i)
		topic := d.Text("topic", "the topic's name", false)
		partitions := d.Count("partitionIds", "partition", 4, false)
		for k := 0; k < partitions && d.Err == nil; k++ {
			p := kafka.Partition(d.Number("partitionId", 4, coordinator.Says("a partition of the transaction")))
			list = append(list, kafka.TopicPartition{Topic: topic, Partition: p})
		}
		d.Tags(nil)
	}
	d.Prefix = ""
	if state == Empty {
		return nil
	}
	return list
}
