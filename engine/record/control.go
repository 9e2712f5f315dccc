package record

import (
	"encoding/binary"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/kafka"
)

// ControlType says what a control record means. It stands in the record's key.
//
// Source: org.apache.kafka.common.record.ControlRecordType.
type ControlType int16

// The control records of Kafka 4.2. Abort and Commit are the transaction markers of ordinary
// partitions; the others are only in __cluster_metadata.
const (
	Abort ControlType = iota
	Commit
	LeaderChange
	SnapshotHeader
	SnapshotFooter
	KRaftVersion
	KRaftVoters
)

var controlNames = [...]string{
	Abort: "ABORT", Commit: "COMMIT", LeaderChange: "LEADER_CHANGE", SnapshotHeader: "SNAPSHOT_HEADER",
	SnapshotFooter: "SNAPSHOT_FOOTER", KRaftVersion: "KRAFT_VERSION", KRaftVoters: "KRAFT_VOTERS",
}

// String gives Kafka's name, for example "COMMIT", or "UNKNOWN(9)".
func (t ControlType) String() string {
	if t < 0 || int(t) >= len(controlNames) {
		return fmt.Sprintf("UNKNOWN(%d)", int16(t))
	}
	return controlNames[t]
}

// controlKeySize is the size of a control record's key: version and type, int16 each.
const controlKeySize = 4

// EndTxnMarker is the control record that ends a transaction in one partition.
//
// Source: org.apache.kafka.common.record.EndTransactionMarker.
type EndTxnMarker struct {
	// Type is Abort or Commit.
	Type ControlType
	// CoordinatorEpoch is the leader epoch of the coordinator's partition of __transaction_state. A
	// partition refuses markers of an older coordinator by it.
	CoordinatorEpoch int32
}

// Build gives the marker's batch with base offset 0 and leader epoch -1, always 78 bytes: one control
// record, transactional, without a base sequence. Since transactions of version 2 the epoch is that of
// the transaction's data plus 1. The slice belongs to the caller. The error names a type that is
// not Abort or Commit, or a negative producer id or epoch.
//
// Source: MemoryRecords.withEndTransactionMarker; EndTxnMarker.json, which is still written in version 0.
func (m EndTxnMarker) Build(ts kafka.Timestamp, producerID kafka.ProducerID, producerEpoch kafka.ProducerEpoch) ([]byte, error) {
	if m.Type != Abort && m.Type != Commit {
		return nil, fmt.Errorf("a transaction ends with %v or %v, not with %v", Abort, Commit, m.Type)
	}
	b := NewBuilder(Options{
		Transactional: true,
		Control:       true,
		Producer:      &Producer{ID: producerID, Epoch: producerEpoch, BaseSequence: NoSequence},
	})
	key := binary.BigEndian.AppendUint16(make([]byte, 2, controlKeySize), uint16(m.Type))
	value := binary.BigEndian.AppendUint32(make([]byte, 2, 6), uint32(m.CoordinatorEpoch))
	b.Append(ts, key, value)
	return b.Build()
}

// Control is a decoded control record.
type Control struct {
	// Type may be one that this version doesn't know; Value is then all there is.
	Type ControlType
	// Version is the version of the key.
	Version int16
	// CoordinatorEpoch is set for Abort and Commit.
	CoordinatorEpoch int32
	// LeaderChange is set for LeaderChange.
	LeaderChange *kmsg.LeaderChangeMessage
	// Value is the record's value as it is in the batch.
	Value []byte
}

// DecodeControl reads a record of a control batch. Of the value it reads transaction markers and leader
// changes; later versions of a marker may have more fields than are known here. The error is
// ErrCorrupt; its position counts in the record data, as Record.Position does.
//
// Source: ControlRecordType.parse, EndTransactionMarker.deserialize, LeaderChangeMessage.json.
func DecodeControl(r Record) (Control, error) {
	if len(r.Key) < controlKeySize {
		return Control{}, corruptf(r.Position, "the key of a control record has %d bytes, at least %d are needed", len(r.Key), controlKeySize)
	}
	c := Control{
		Version: int16(binary.BigEndian.Uint16(r.Key)),
		Type:    ControlType(binary.BigEndian.Uint16(r.Key[2:])),
		Value:   r.Value,
	}
	if c.Version < 0 {
		return Control{}, corruptf(r.Position, "the key of a control record has version %d, allowed are 0 and more", c.Version)
	}
	switch c.Type {
	case Abort, Commit:
		if len(r.Value) < 6 {
			return Control{}, corruptf(r.Position, "the value of a transaction marker has %d bytes, at least 6 are needed", len(r.Value))
		}
		c.CoordinatorEpoch = int32(binary.BigEndian.Uint32(r.Value[2:]))
	case LeaderChange:
		message := kmsg.NewLeaderChangeMessage()
		if err := message.ReadFrom(r.Value); err != nil {
			return Control{}, corruptf(r.Position, "the value of a leader change can't be read: %v", err)
		}
		c.LeaderChange = &message
	}
	return c, nil
}
