package group

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/kafka"
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

const vectorTime kafka.Timestamp = 1_700_000_000_000

// vectors are bytes that Kafka's own serializers wrote.
var vectors = []struct {
	name, key, value string
	want             Value
	written          bool // in this version by Kafka 4.2
}{
	{"an offset, version 3", "0001 000167 00066f7264657273 00000003", "0003 000000000000002a 00000005 0000 0000018bcfe56800",
		OffsetCommitRecord{Version: 3, Group: "g", TopicPartition: kafka.TopicPartition{Topic: "orders", Partition: 3}, Offset: 42, LeaderEpoch: 5, CommitTimestamp: vectorTime, ExpireTimestamp: -1}, false},
	{"an offset, version 4 with the topic's id", "0001 000167 00066f7264657273 00000003",
		"0004 000000000000002a 00000005 01 0000018bcfe56800 01 00 10 00000000000000010000000000000002",
		OffsetCommitRecord{
			Version: 4, Group: "g", TopicPartition: kafka.TopicPartition{Topic: "orders", Partition: 3}, Offset: 42, LeaderEpoch: 5, CommitTimestamp: vectorTime,
			ExpireTimestamp: -1, TopicID: [16]byte{7: 1, 15: 2},
		}, true},
	{"an offset, version 4", "0001 000167 00066f7264657273 00000003", "0004 000000000000002a ffffffff 03 6869 0000018bcfe56800 00",
		OffsetCommitRecord{
			Version: 4, Group: "g", TopicPartition: kafka.TopicPartition{Topic: "orders", Partition: 3}, Offset: 42, LeaderEpoch: -1, Metadata: "hi",
			CommitTimestamp: vectorTime, ExpireTimestamp: -1,
		}, true},
	{"an offset, version 1", "0001 000167 00066f7264657273 00000003", "0001 000000000000002a 0000 0000018bcfe56800 0000018bcfe56801",
		OffsetCommitRecord{
			Version: 1, Group: "g", TopicPartition: kafka.TopicPartition{Topic: "orders", Partition: 3}, Offset: 42, LeaderEpoch: -1,
			CommitTimestamp: vectorTime, ExpireTimestamp: vectorTime + 1,
		}, true},
	{"an empty group", "0002000167", "0003 0008636f6e73756d6572 00000002 ffff ffff 0000018bcfe56800 00000000",
		GroupMetadataRecord{Version: 3, Group: "g", ProtocolType: "consumer", Generation: 2, StateTimestamp: vectorTime}, true},
	{"a group", "0002000167",
		"0003 0008636f6e73756d6572 00000001 0005 72616e6765 0003 632d31 0000018bcfe56800 00000001 0003 632d31 0002 6931 0001 63 0002 2f63 000493e0 0000afc8 00000002 0102 00000001 03",
		GroupMetadataRecord{
			Version: 3, Group: "g", ProtocolType: "consumer", Generation: 1, Protocol: "range", Leader: "c-1", StateTimestamp: vectorTime,
			Members: []MemberRecord{{
				ID: "c-1", InstanceID: "i1", ClientID: "c", ClientHost: "/c", RebalanceTimeout: 300_000, SessionTimeout: 45_000,
				Subscription: []byte{1, 2}, Assignment: []byte{3},
			}},
		}, true},
}

func TestVectors(t *testing.T) {
	for _, v := range vectors {
		keyBytes, valueBytes := unhex(t, v.key), unhex(t, v.value)
		key, err := DecodeKey(keyBytes)
		if err != nil {
			t.Fatalf("%s: %v", v.name, err)
		}
		value, err := DecodeValue(key, valueBytes)
		if diff := cmp.Diff(v.want, value); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", v.name, err, diff)
		}
		if v.written {
			if again := v.want.Encode(); !bytes.Equal(again.Key, keyBytes) || !bytes.Equal(again.Value, valueBytes) {
				t.Errorf("%s: written as %x and %x", v.name, again.Key, again.Value)
			}
		}
		if value, err := DecodeValue(key, nil); err != nil || value != (Tombstone{key}) {
			t.Errorf("%s: no value is read as %+v, %v", v.name, value, err)
		}
		for n := range valueBytes {
			if _, err := DecodeValue(key, valueBytes[:n:n]); !errors.Is(err, coordinator.ErrUnreadable) {
				t.Errorf("%s: %d bytes of it: %v", v.name, n, err)
			}
		}
	}
}

// Keys and values of other kinds.
func TestUnreadable(t *testing.T) {
	other := unhex(t, "000a000167")
	key, err := DecodeKey(other)
	if err != nil || key != (Key{Type: 10}) {
		t.Errorf("%+v, %v", key, err)
	}
	if _, err := DecodeValue(key, []byte{0, 0}); !errors.Is(err, coordinator.ErrUnreadable) {
		t.Error(err)
	}
	for _, bad := range []string{"", "00", "0001", "0002 0002 67", "0002 ffff", "0002 000167 00"} {
		if _, err := DecodeKey(unhex(t, bad)); !errors.Is(err, coordinator.ErrUnreadable) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, bad := range []string{"0005", "ffff", "0003 ffff", "0004 000000000000002a 00000005 00 0000018bcfe56800 00", "0004 000000000000002a 00000005 01 0000018bcfe56800 02 00 00 00 00"} {
		if _, err := DecodeValue(Key{Type: TypeOffsetCommit}, unhex(t, bad)); !errors.Is(err, coordinator.ErrUnreadable) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// The anatomy names each field with its bytes.
func TestAnatomy(t *testing.T) {
	v := vectors[1]
	fields, err := KeyAnatomy(unhex(t, v.key))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range fields {
		got = append(got, f.Name+"="+f.Value)
	}
	if want := []string{"type=1", "groupLength=1", `group="g"`, "topicLength=6", `topic="orders"`, "partition=3"}; !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	key, _ := DecodeKey(unhex(t, v.key))
	fields, err = ValueAnatomy(key, unhex(t, v.value))
	if err != nil {
		t.Fatal(err)
	}
	got = nil
	for _, f := range fields {
		got = append(got, f.Name+"="+f.Value)
	}
	want := []string{
		"version=4", "offset=42", "leaderEpoch=5", "metadataLength=1", "commitTimestamp=1700000000000", "taggedFields=1", "tag=0", "tagSize=16",
		"topicId=00000000000000010000000000000002",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	if fields[1].Meaning != "the next record to read; 41 was the last one" || fields[1].Offset != 2 || fields[1].Width != 8 {
		t.Errorf("%+v", fields[1])
	}
}

// covers says what is wrong with fields that should cover all bytes.
func covers(fields []record.Field, all []byte) string {
	at := 0
	for _, f := range fields {
		if f.Offset != at || f.Width <= 0 || f.Width != len(f.Raw) || !bytes.Equal(f.Raw, all[at:at+f.Width]) || f.Meaning == "" {
			return f.Name
		}
		at += f.Width
	}
	if at != len(all) {
		return "the end"
	}
	return ""
}

// FuzzDecode: nothing panics; what is read and of the version that is written is written back as it was, if its tags
// are known; each byte is in one field.
func FuzzDecode(f *testing.F) {
	for _, v := range vectors {
		f.Add(unhex(f, v.key), unhex(f, v.value))
	}
	f.Add(unhex(f, "0002000167"), unhex(f, "0004 01 00000002 00 00 0000018bcfe56800 01 00"))
	f.Fuzz(func(t *testing.T, keyBytes, valueBytes []byte) {
		key, err := DecodeKey(keyBytes)
		fields, sameErr := KeyAnatomy(keyBytes)
		if bad := covers(fields, keyBytes); bad != "" {
			t.Fatalf("key: field %s", bad)
		}
		if (err == nil) != (sameErr == nil) {
			t.Fatalf("%v, but %v", err, sameErr)
		}
		if err == nil && (key.Type == TypeGroupMetadata || key.Type == TypeOffsetCommit) && !bytes.Equal(key.encode(), keyBytes) {
			t.Fatalf("key %x is written as %x", keyBytes, key.encode())
		}
		if err != nil || valueBytes == nil {
			return
		}
		value, err := DecodeValue(key, valueBytes)
		fields, sameErr = ValueAnatomy(key, valueBytes)
		if bad := covers(fields, valueBytes); bad != "" {
			t.Fatalf("value: field %s", bad)
		}
		if (err == nil) != (sameErr == nil) {
			t.Fatalf("%v, but %v", err, sameErr)
		}
		if err != nil {
			if !errors.Is(err, coordinator.ErrUnreadable) {
				t.Fatal(err)
			}
			return
		}
		switch r := value.(type) {
		case OffsetCommitRecord:
			var other kmsg.OffsetCommitValue
			if err := other.ReadFrom(valueBytes); err != nil || other.Offset != int64(r.Offset) || other.Metadata != r.Metadata || other.TopicID != r.TopicID || other.CommitTimestamp != int64(r.CommitTimestamp) {
				t.Fatalf("%+v\n%+v\n%v", r, other, err)
			}
			if again := r.Encode().Value; r.Version == offsetCommitVersion && other.UnknownTags.Len() == 0 && r.TopicID != [16]byte{} && len(again) == len(valueBytes) && !bytes.Equal(again, valueBytes) {
				t.Fatalf("%x is written as %x", valueBytes, again)
			}
		case GroupMetadataRecord:
			var other kmsg.GroupMetadataValue
			if err := other.ReadFrom(valueBytes); err != nil || other.Generation != int32(r.Generation) || len(other.Members) != len(r.Members) {
				t.Fatalf("%+v\n%+v\n%v", r, other, err)
			}
		}
	})
}
