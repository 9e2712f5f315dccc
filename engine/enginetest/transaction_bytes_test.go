package enginetest

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/record"
	"loglab/engine/storage"
)

// batchesOf visits the records of a log with their batches.
func batchesOf(t *testing.T, segments []storage.Segment, visit func(record.Batch, record.Record)) {
	t.Helper()
	for _, s := range segments {
		for data := s.Bytes; ; {
			b, err := record.Parse(data)
			if errors.Is(err, record.ErrEnd) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := b.CheckCRC(); err != nil {
				t.Fatal(err)
			}
			records, err := b.Records()
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range records {
				visit(b, r)
			}
			data = data[b.Size():]
		}
	}
}

// What the coordinator writes into __transaction_state, and the markers in the partitions, kmsg decodes to what happened:
// with transactions of version 2 the epoch rises at the end of each, and the markers carry the new one.
func TestTransactionBytesDecodedByKmsg(t *testing.T) {
	c := start(t, processing("app-1"))
	give(t, c, "produce p0 - o0", "produce p0 - o1", "wait 5s")
	type state struct {
		Status               kmsg.TransactionState
		Epoch, ClientVersion int16
		Partitions           int
	}
	var states []state
	var producerID int64
	batchesOf(t, c.View().TransactionStates[0].Log.Segments, func(_ record.Batch, r record.Record) {
		key, value := kmsg.NewTxnMetadataKey(), kmsg.NewTxnMetadataValue()
		if err := key.ReadFrom(r.Key); err != nil || key.TransactionalID != "app-1" {
			t.Errorf("key %+v: %v", key, err)
		}
		if err := value.ReadFrom(r.Value); err != nil {
			t.Errorf("value: %v", err)
		}
		partitions := 0
		for _, topic := range value.Topics {
			partitions += len(topic.Partitions)
		}
		producerID = value.ProducerID
		states = append(states, state{value.State, value.ProducerEpoch, value.ClientTransactionVersion, partitions})
	})
	want := []state{ // out-0 and the group's partition of __consumer_offsets are in the transaction
		{kmsg.TransactionStateEmpty, 0, 0, 0}, {kmsg.TransactionStateOngoing, 0, 2, 1}, {kmsg.TransactionStateOngoing, 0, 2, 2},
		{kmsg.TransactionStatePrepareCommit, 1, 2, 2}, {kmsg.TransactionStateCompleteCommit, 1, 2, 0},
	}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("__transaction_state (-want +got):\n%s", diff)
	}
	markers := 0
	for _, p := range append(c.View().Partitions, c.View().Offsets...) {
		batchesOf(t, p.Log.Segments, func(b record.Batch, r record.Record) {
			if !b.Attributes.Control() {
				return
			}
			markers++
			key, value := kmsg.NewControlRecordKey(), kmsg.NewEndTxnMarker()
			if err := key.ReadFrom(r.Key); err != nil || key.Type != kmsg.ControlRecordKeyTypeCommit {
				t.Errorf("%s: key of the marker %+v: %v", p.TopicPartition, key, err)
			}
			if err := value.ReadFrom(r.Value); err != nil || value.CoordinatorEpoch != 0 {
				t.Errorf("%s: value of the marker %+v: %v", p.TopicPartition, value, err)
			}
			if int64(b.ProducerID) != producerID || b.ProducerEpoch != 1 {
				t.Errorf("%s: the marker is of producer id %d, epoch %d", p.TopicPartition, b.ProducerID, b.ProducerEpoch)
			}
		})
	}
	if markers != 2 {
		t.Errorf("%d markers, want one in out-0 and one in __consumer_offsets", markers)
	}
}
