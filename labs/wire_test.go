package labs_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/simnet"
	"loglab/labs"
)

// A Produce request of version 13 as ProduceRequest.json lays it out, written down by hand: null
// transactional id, acks -1, timeout 30000, one topic with its id, one partition with three bytes.
func TestWireFieldsOfAProduceRequest(t *testing.T) {
	body, err := hex.DecodeString(strings.ReplaceAll("00 ffff 00007530 02 000102030405060708090a0b0c0d0e0f 02 00000005 04 aabbcc 00 00 00", " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	fields, more, err := labs.WireFields(0, 13, false, body, 40)
	if err != nil || more {
		t.Fatal(err, more)
	}
	var got []string
	for _, f := range fields {
		got = append(got, fmt.Sprintf("%s = %s at %d+%d", f.Path, f.Value, f.At, f.Width))
	}
	want := []string{
		"TransactionID = null at 0+1", "Acks = -1 at 1+2", "TimeoutMillis = 30000 at 3+4", "Topics = 1 entry at 7+1",
		"Topics[0].TopicID = AAECAwQFBgcICQoLDA0ODw at 8+16", "Topics[0].Partitions = 1 entry at 24+1",
		"Topics[0].Partitions[0].Partition = 5 at 25+4", "Topics[0].Partitions[0].Records = 3 bytes at 30+3",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	if _, more, _ := labs.WireFields(0, 13, false, body, 3); !more {
		t.Error("of 8 fields 3 were asked for, and there are said to be no more")
	}
}

// Every message of a run: the fields follow one another, and each number and id stands in its bytes.
func TestWireFieldsAreInTheBytes(t *testing.T) {
	seen := map[string]int{}
	for _, m := range messagesOf(t, "rate=9&do=2:pause+c1&t=", 9) {
		body := m.Body()
		key := int16(0)
		if m.Response != nil {
			key = m.Response.Key()
		} else {
			key = m.Request.Key()
		}
		fields, _, err := labs.WireFields(key, m.Version(), m.IsResponse(), body, 1000)
		if err != nil {
			t.Fatalf("%s: %v", m.API(), err)
		}
		seen[m.API()+strconv.FormatBool(m.IsResponse())]++
		end := 0
		for _, field := range fields {
			raw := body[field.At : field.At+field.Width]
			if field.At < end {
				t.Fatalf("%s: %s begins at %d, the one before ends at %d", m.API(), field.Path, field.At, end)
			}
			end = field.At + field.Width
			switch content := field.Content.(type) {
			case int64:
				var n int64
				switch len(raw) {
				case 1:
					n = int64(int8(raw[0]))
				case 2:
					n = int64(int16(binary.BigEndian.Uint16(raw)))
				case 4:
					n = int64(int32(binary.BigEndian.Uint32(raw)))
				case 8:
					n = int64(binary.BigEndian.Uint64(raw))
				}
				if n != content || field.Value != fmt.Sprint(n) {
					t.Errorf("%s: %s is %s, its bytes are % x", m.API(), field.Path, field.Value, raw)
				}
			case [16]byte:
				if string(raw) != string(content[:]) || field.Value != base64.RawURLEncoding.EncodeToString(raw) {
					t.Errorf("%s: %s is %s, its bytes are % x", m.API(), field.Path, field.Value, raw)
				}
			case []byte:
				if len(content) > 0 && string(raw) != string(content) {
					t.Errorf("%s: %s has %d bytes, %d are named", m.API(), field.Path, len(content), len(raw))
				}
			case string:
				if content != "" && string(raw) != content {
					t.Errorf("%s: %s is %q, its bytes are %q", m.API(), field.Path, content, raw)
				}
			}
		}
		if string(body) != string(m.Body()) {
			t.Fatalf("%s: the message was changed", m.API())
		}
	}
	for _, kind := range []string{"Producefalse", "Producetrue", "Fetchfalse", "Fetchtrue"} {
		if seen[kind] == 0 {
			t.Errorf("the run had no %s (response); it had %v", kind, seen)
		}
	}
}

// messagesOf gives the messages that are on their way at the ticks of a run.
func messagesOf(t *testing.T, query string, ticks int) []*simnet.Message {
	t.Helper()
	var list []*simnet.Message
	for tick := range ticks {
		c, err := labs.Replay(parse(t, query+strconv.Itoa(tick)))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range c.View().UnderWay {
			list = append(list, m.Message)
		}
	}
	return list
}

// Fields with a default that a message leaves out are not listed, and are once they are there.
func TestWireFieldsLeftOut(t *testing.T) {
	r := kmsg.NewPtrFetchRequest()
	r.Version = 18
	has := func(path string) bool {
		fields, _, err := labs.WireFields(1, 18, false, r.AppendTo(nil), 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range fields {
			if f.Path == path {
				return true
			}
		}
		return false
	}
	for _, path := range []string{"ReplicaID", "ClusterID", "ReplicaState.ID"} { // ReplicaID is gone since version 15, the others are tagged
		if has(path) {
			t.Errorf("%s is listed; the message has no byte of it", path)
		}
	}
	for _, path := range []string{"MaxWaitMillis", "Topics", "ForgottenTopics", "Rack"} {
		if !has(path) {
			t.Errorf("%s is not listed", path)
		}
	}
	r.ReplicaState.ID = 3
	if !has("ReplicaState.ID") {
		t.Error("ReplicaState.ID is 3 and is not listed")
	}
}

func TestWireFieldsOfGarbage(t *testing.T) {
	for _, body := range [][]byte{nil, {0xff}, make([]byte, 3), []byte(strings.Repeat("\xff", 100))} {
		for key := int16(-1); key < 100; key++ {
			labs.WireFields(key, 3, key%2 == 0, body, 10) // no panic
		}
	}
	if _, _, err := labs.WireFields(0, 13, false, []byte{0, 1}, 10); err == nil {
		t.Error("a cut body is decoded")
	}
	if _, _, err := labs.WireFields(999, 0, false, nil, 10); err == nil || !strings.Contains(err.Error(), "999") {
		t.Errorf("API key 999: %v", err)
	}
}
