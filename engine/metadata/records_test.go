package metadata

import (
	"encoding/hex"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/kafka"
)

type ids = []kafka.BrokerID

func seven() (uuid [16]byte) { return [16]byte{7: 7, 15: 7} }

func text(s string) *string { return &s }

// The bytes are those that Kafka 4.2.0's MetadataRecordSerde writes.
func TestRecords(t *testing.T) {
	unassigned := [16]byte{15: 1}
	change := NewPartitionChange(seven(), 1)
	change.ISR, change.Leader, change.EligibleLeaderReplicas, change.LastKnownELR = ids{}, NoLeader, ids{2, 3}, ids{2}
	for _, test := range []struct {
		record Record
		bytes  string
	}{
		{TopicRecord{"orders", seven()}, "010200076f72646572730000000000000007000000000000000700"},
		{PartitionRecord{
			PartitionID: 1, TopicID: seven(), Replicas: ids{2, 3}, ISR: ids{2, 3}, RemovingReplicas: ids{}, AddingReplicas: ids{}, Leader: 2,
			Directories: [][16]byte{unassigned, unassigned},
		}, "0103020000000100000000000000070000000000000007030000000200000003030000000200000003010100000002000000000000000003" +
			"000000000000000000000000000000010000000000000000000000000000000100"},
		{change, "0105020000000100000000000000070000000000000007040001010104ffffffff060903000000020000000307050200000002"},
		{BrokerRegistrationChangeRecord{BrokerID: 2, BrokerEpoch: 14, Fenced: Fence}, "01110000000002000000000000000e01000101"},
		{BrokerRegistrationChangeRecord{BrokerID: 2, BrokerEpoch: 14, InControlledShutdown: true}, "01110100000002000000000000000e01010101"},
		{ConfigRecord{BrokerResource, "", MinInSyncReplicas, text("2")}, "0104000401146d696e2e696e73796e632e7265706c69636173023200"},
		{ProducerIDsRecord{1, 9, 1000}, "010f0000000001000000000000000900000000000003e800"},
		{RegisterBrokerRecord{
			BrokerID: 1, IncarnationID: seven(), BrokerEpoch: 9, EndPoints: []EndPoint{{"PLAINTEXT", "b1", 9092, 0}},
			Features: []SupportedFeature{{"metadata.version", 7, 29}}, Rack: "east", Fenced: true, LogDirs: [][16]byte{seven()},
		}, "0100030000000100000000000000000700000000000000070000000000000009020a504c41494e54455854036231238400000002116d65746164617461" +
			"2e76657273696f6e0007001d00056561737401000100110200000000000000070000000000000007"},
		{NoOpRecord{}, "01140000"},
		{ClearELRRecord{"orders"}, "011c00076f726465727300"},
		{FeatureLevelRecord{"metadata.version", 29}, "010c00116d657461646174612e76657273696f6e001d00"},
	} {
		if got := hex.EncodeToString(Append(nil, test.record)); got != test.bytes {
			t.Errorf("%T:\n%s\nwant %s", test.record, got, test.bytes)
		}
		b, err := hex.DecodeString(test.bytes)
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := Decode(b)
		if diff := cmp.Diff(test.record, decoded); err != nil || diff != "" {
			t.Errorf("%T: %v (-want +got):\n%s", test.record, err, diff)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for bytes, want := range map[string]error{
		"":           ErrCorrupt,
		"01":         ErrCorrupt,
		"02140000":   ErrUnknown, // frame version
		"01630000":   ErrUnknown, // kind
		"01140100":   ErrUnknown, // version
		"010200076f": ErrCorrupt, // torn
	} {
		b, _ := hex.DecodeString(bytes)
		if _, err := Decode(b); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", bytes, err, want)
		}
	}
}

// A tagged list of directories that is there and empty is read as none, as it is written.
func TestDecodeNoLogDirs(t *testing.T) {
	b, _ := hex.DecodeString("0100030000000100000000000000000000000000000000000000000000000000020a504c41494e5445585403623123840000000100000001001101e2000000000000070000000000000007")
	record, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if r := record.(RegisterBrokerRecord); r.LogDirs != nil {
		t.Errorf("directories %v", r.LogDirs)
	}
}

// Decode never panics, and what it reads it writes again.
func FuzzDecode(f *testing.F) {
	f.Add(Append(nil, TopicRecord{"orders", seven()}))
	f.Add(Append(nil, NewPartitionChange(seven(), 1)))
	f.Add(Append(nil, RegisterBrokerRecord{BrokerID: 1, EndPoints: []EndPoint{{"PLAINTEXT", "b1", 9092, 0}}, LogDirs: [][16]byte{seven()}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		record, err := Decode(b)
		if err != nil {
			return
		}
		again, err := Decode(Append(nil, record))
		if diff := cmp.Diff(record, again); err != nil || diff != "" {
			t.Errorf("%x: %v\n%s", b, err, diff)
		}
	})
}
