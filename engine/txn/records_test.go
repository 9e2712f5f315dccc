package txn

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/record"
)

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// vectors are bytes that Kafka's own serializers wrote.
var vectors = []struct {
	name, value string
	want        Value
}{
	{"an open transaction", "0001 00000000000003e8 0002 0000ea60 01 02 07 6f7264657273 02 00000000 00 0000018bcfe56800 0000018bcfe56800 01 02 02 0002",
		Value{
			Version: 1, TransactionalID: "t1", ProducerID: 1000, ProducerEpoch: 2, Timeout: 60_000, State: Ongoing, Partitions: orders(0), LastUpdate: wallStart,
			Start: wallStart, PreviousProducerID: -1, NextProducerID: -1, NextProducerEpoch: -1, ClientTransactionVersion: 2,
		}},
	{"one that is to be committed, version 0", "0000 00000000000003e8 0002 0000ea60 02 00000001 0006 6f7264657273 00000002 00000000 00000001 0000018bcfe56800 0000018bcfe567fb",
		Value{
			Version: 0, TransactionalID: "t1", ProducerID: 1000, ProducerEpoch: 2, Timeout: 60_000, State: PrepareCommit, Partitions: orders(0, 1), LastUpdate: wallStart,
			Start: wallStart - 5, PreviousProducerID: -1, NextProducerID: -1, NextProducerEpoch: -1,
		}},
	{"a producer that begins", "0001 00000000000003e8 0000 0000ea60 00 00 0000018bcfe56800 ffffffffffffffff 00",
		Value{
			Version: 1, TransactionalID: "t1", ProducerID: 1000, Timeout: 60_000, State: Empty, LastUpdate: wallStart, Start: -1, PreviousProducerID: -1,
			NextProducerID: -1, NextProducerEpoch: -1,
		}},
	{"all tagged fields", "0001 00000000000003e9 0000 0000ea60 04 01 0000018bcfe56800 0000018bcfe567fb 04 00 08 00000000000003e8 01 08 00000000000003ea 02 02 0002 03 02 0003",
		Value{
			Version: 1, TransactionalID: "t1", ProducerID: 1001, Timeout: 60_000, State: CompleteCommit, LastUpdate: wallStart, Start: wallStart - 5,
			PreviousProducerID: 1000, NextProducerID: 1002, NextProducerEpoch: 3, ClientTransactionVersion: 2,
		}},
}

func TestVectors(t *testing.T) {
	for _, v := range vectors {
		keyBytes, valueBytes := unhex(t, "0000 0002 7431"), unhex(t, v.value)
		id, err := DecodeKey(keyBytes)
		if err != nil || id != v.want.TransactionalID {
			t.Errorf("%s: the key is %q, %v", v.name, id, err)
		}
		value, err := DecodeValue(id, valueBytes)
		if diff := cmp.Diff(v.want, value); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", v.name, err, diff)
		}
		if again := v.want.Encode(); !bytes.Equal(again.Key, keyBytes) || !bytes.Equal(again.Value, valueBytes) {
			t.Errorf("%s: written as %x and %x", v.name, again.Key, again.Value)
		}
	}
}

// drawValue draws a value.
func drawValue(rnd *prng.Rand) Value {
	v := Value{
		Version: int16(rnd.IntN(2)), TransactionalID: []string{"t1", "", "a-longer-transactional-id", "ü"}[rnd.IntN(4)], ProducerID: kafka.ProducerID(rnd.IntN(1 << 40)),
		ProducerEpoch: kafka.ProducerEpoch(rnd.IntN(1<<15+1) - 1), Timeout: kafka.Millis(rnd.IntN(1 << 31)), State: states[rnd.IntN(len(states))],
		LastUpdate: kafka.Timestamp(rnd.IntN(1 << 45)), Start: kafka.Timestamp(rnd.IntN(1<<45) - 1), PreviousProducerID: -1, NextProducerID: -1, NextProducerEpoch: -1,
	}
	if v.State != Empty {
		for range rnd.IntN(6) {
			v.Partitions = append(v.Partitions, kafka.TopicPartition{Topic: []string{"orders", "b", strings.Repeat("x", 200)}[rnd.IntN(3)], Partition: kafka.Partition(rnd.IntN(300))})
		}
		v.Partitions = sorted(v.Partitions)
	}
	if v.Version == 0 {
		return v
	}
	if rnd.IntN(2) == 0 {
		v.PreviousProducerID = kafka.ProducerID(rnd.IntN(1 << 40))
	}
	if rnd.IntN(2) == 0 {
		v.NextProducerID, v.NextProducerEpoch = kafka.ProducerID(rnd.IntN(1<<40)), kafka.ProducerEpoch(rnd.IntN(1<<15))
	}
	v.ClientTransactionVersion = int16(rnd.IntN(3))
	return v
}

// ofKmsg gives a value as kmsg has it.
func ofKmsg(v Value) kmsg.TxnMetadataValue {
	m := kmsg.NewTxnMetadataValue()
	m.Version, m.ProducerID, m.ProducerEpoch, m.TimeoutMillis, m.State = v.Version, int64(v.ProducerID), int16(v.ProducerEpoch), int32(v.Timeout), kmsg.TransactionState(v.State.number())
	m.LastUpdateTimestamp, m.StartTimestamp = int64(v.LastUpdate), int64(v.Start)
	m.PreviousProducerID, m.NextProducerID, m.NextProducerEpoch, m.ClientTransactionVersion = int64(v.PreviousProducerID), int64(v.NextProducerID), int16(v.NextProducerEpoch), v.ClientTransactionVersion
	if v.State != Empty {
		m.Topics = []kmsg.TxnMetadataValueTopic{}
	}
	for i, tp := range v.Partitions {
		if i == 0 || tp.Topic != v.Partitions[i-1].Topic {
			m.Topics = append(m.Topics, kmsg.TxnMetadataValueTopic{Topic: tp.Topic})
		}
		last := &m.Topics[len(m.Topics)-1]
		last.Partitions = append(last.Partitions, int32(tp.Partition))
	}
	return m
}

// kmsg writes the same bytes, and reads what was written here; what is written is read.
func TestValuesAsKmsg(t *testing.T) {
	rnd := prng.New(7).Split("values")
	for range 5000 {
		v := drawValue(&rnd)
		written := v.Encode()
		m := ofKmsg(v)
		if other := m.AppendTo(nil); !bytes.Equal(other, written.Value) {
			t.Fatalf("%+v\nis %x\nkmsg %x", v, written.Value, other)
		}
		key := kmsg.NewTxnMetadataKey()
		key.TransactionalID = v.TransactionalID
		if other := key.AppendTo(nil); !bytes.Equal(other, written.Key) {
			t.Fatalf("key %x, kmsg %x", written.Key, other)
		}
		read := kmsg.NewTxnMetadataValue()
		if err := read.ReadFrom(written.Value); err != nil {
			t.Fatalf("%+v: kmsg: %v", v, err)
		}
		if diff := cmp.Diff(m, read, cmpopts.EquateEmpty(), cmpopts.IgnoreTypes(kmsg.Tags{})); diff != "" {
			t.Fatalf("%+v: read by kmsg (-written +read):\n%s", v, diff)
		}
		id, err := DecodeKey(written.Key)
		if err != nil || id != v.TransactionalID {
			t.Fatalf("%q is read as %q, %v", v.TransactionalID, id, err)
		}
		again, err := DecodeValue(id, written.Value)
		if diff := cmp.Diff(v, again, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Fatalf("%v (-written +read):\n%s", err, diff)
		}
	}
}

// What Kafka 4.2 writes leaves out the producer ids before and after: TransactionLog.valueToBytes does.
func TestProducerIDsAreNotWritten(t *testing.T) {
	d := details{state: CompleteCommit, producerID: 8, previousProducerID: 7, nextProducerID: 9, epoch: 0, lastProducerEpoch: 32766, timeout: 60_000, start: 1, updated: 2, client: 2}
	v, err := DecodeValue("t1", valueOf("t1", d, 2).Encode().Value)
	if err != nil || v.PreviousProducerID != -1 || v.NextProducerID != -1 || v.NextProducerEpoch != -1 || v.ProducerID != 8 || v.Version != 1 || v.ClientTransactionVersion != 2 {
		t.Errorf("%+v, %v", v, err)
	}
	v, err = DecodeValue("t1", valueOf("t1", d, 0).Encode().Value)
	if err != nil || v.Version != 0 || v.ClientTransactionVersion != 0 {
		t.Errorf("on a cluster with transaction.version 0: %+v, %v", v, err)
	}
}

func TestUnreadable(t *testing.T) {
	good := logged(Ongoing, 2).Encode().Value
	for name, value := range map[string][]byte{
		"null":              nil,
		"empty":             {},
		"version 2":         append([]byte{0, 2}, good[2:]...),
		"state 8":           slices.Concat(good[:16], []byte{8}, good[17:]),
		"cut":               good[:len(good)-1],
		"too long":          append(slices.Clone(good), 0),
		"too many topics":   slices.Concat(good[:17], []byte{0xff, 0xff, 0xff, 0x7f}, good[18:]),
		"null partitions":   slices.Concat(good[:17], []byte{0}, good[len(good)-21:]),
		"tag 0 of 2 bytes":  slices.Concat(good[:len(good)-5], []byte{1, 0, 2, 0, 2}),
		"client version 3":  append(slices.Clone(good[:len(good)-1]), 3),
		"client version -1": append(slices.Clone(good[:len(good)-2]), 0xff, 0xff),
		"tags out of step":  slices.Concat(good[:len(good)-5], []byte{2, 2, 2, 0, 2, 2, 2, 0, 2}),
	} {
		if v, err := DecodeValue("t1", value); !errors.Is(err, coordinator.ErrUnreadable) {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
	for name, key := range map[string][]byte{"type 1": unhex(t, "0001 0002 7431"), "cut": unhex(t, "0000 0002 74"), "null": nil, "too long": unhex(t, "0000 0002 7431 00")} {
		if id, err := DecodeKey(key); !errors.Is(err, coordinator.ErrUnreadable) {
			t.Errorf("key %s: %q, %v", name, id, err)
		}
	}
	emptied := slices.Concat(good[:16], []byte{byte(Empty.number())}, good[17:])
	if v, err := DecodeValue("t1", emptied); err != nil || v.State != Empty || len(v.Partitions) > 0 {
		t.Errorf("state Empty with partitions: %+v, %v", v, err)
	}
	unknown := slices.Concat(good[:len(good)-5], []byte{2, 2, 2, 0, 2, 9, 1, 255})
	if v, err := DecodeValue("t1", unknown); err != nil || v.ClientTransactionVersion != 2 {
		t.Errorf("with a tagged field that is not known: %+v, %v", v, err)
	}
}

// Every byte lies in exactly one field.
func checkAnatomy(t testing.TB, b []byte, fields []record.Field) {
	t.Helper()
	at := 0
	for _, f := range fields {
		if f.Offset != at || f.Width <= 0 || f.Meaning == "" || !bytes.Equal(f.Raw, b[at:at+f.Width]) {
			t.Fatalf("field %+v at %d", f, at)
		}
		at += f.Width
	}
	if at != len(b) {
		t.Fatalf("the fields end at %d of %d", at, len(b))
	}
}

func TestAnatomy(t *testing.T) {
	written := logged(PrepareCommit, 3).Encode()
	fields, err := KeyAnatomy(written.Key)
	if err != nil {
		t.Fatal(err)
	}
	checkAnatomy(t, written.Key, fields)
	fields, err = ValueAnatomy(written.Value)
	if err != nil {
		t.Fatal(err)
	}
	checkAnatomy(t, written.Value, fields)
	text := ""
	for _, f := range fields {
		text += f.Name + "=" + f.Value + " "
	}
	want := "version=1 producerId=7 producerEpoch=3 transactionTimeoutMs=60000 transactionStatus=2 transactionPartitions=2 topic 0 topicLength=7 topic 0 topic=\"orders\" " +
		"topic 0 partitionIds=3 topic 0 partitionId=0 topic 0 partitionId=1 topic 0 taggedFields=0 transactionLastUpdateTimestampMs=1700000000000 " +
		"transactionStartTimestampMs=1700000000000 taggedFields=1 tag=2 tagSize=2 clientTransactionVersion=2 "
	if text != want {
		t.Errorf("fields %s\nwant   %s", text, want)
	}
}

// Decoding never panics, and what it reads is written again as what it reads.
func FuzzDecode(f *testing.F) {
	for _, state := range states {
		written := logged(state, 2).Encode()
		f.Add(written.Key, written.Value)
	}
	rnd := prng.New(3).Split("seeds")
	for range 20 {
		written := drawValue(&rnd).Encode()
		f.Add(written.Key, written.Value)
	}
	f.Fuzz(func(t *testing.T, key, value []byte) {
		fields, _ := KeyAnatomy(key)
		checkAnatomy(t, key, fields)
		fields, _ = ValueAnatomy(value)
		checkAnatomy(t, value, fields)
		id, err := DecodeKey(key)
		if err != nil {
			id = "t1"
		}
		v, err := DecodeValue(id, value)
		if err != nil {
			if !errors.Is(err, coordinator.ErrUnreadable) {
				t.Fatal(err)
			}
			return
		}
		again, err := DecodeValue(id, v.Encode().Value)
		if diff := cmp.Diff(v, again, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Fatalf("%v\n%s", err, diff)
		}
		var m kmsg.TxnMetadataValue
		if err := m.ReadFrom(value); err != nil {
			t.Fatalf("kmsg does not read what is read here: %v", err)
		}
		if m.ProducerID != int64(v.ProducerID) || m.State.String() != string(v.State) || m.ClientTransactionVersion != v.ClientTransactionVersion {
			t.Fatalf("kmsg reads %+v, here %+v", m, v)
		}
	})
}
