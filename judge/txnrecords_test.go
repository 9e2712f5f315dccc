//go:build judge

package judge

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loglab/engine/coordinator"
	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/txn"
)

// How many values TestTransactionRecordsWritten draws, and TestTransactionRecordsSpoiled spoils.
const (
	txnWritten = 12_000
	txnSpoiled = 6_000
)

// txnStates are the states by number.
var txnStates = []txn.State{txn.Empty, txn.Ongoing, txn.PrepareCommit, txn.PrepareAbort, txn.CompleteCommit, txn.CompleteAbort, txn.Dead, txn.PrepareEpochFence}

// drawWrittenValue draws a value as a coordinator of Kafka 4.2 writes it on a cluster with that transaction.version, with
// its partitions in order.
func drawWrittenValue(rnd *prng.Rand, clusterVersion int16) txn.Value {
	v := drawTransactionValue(rnd)
	v.Version, v.PreviousProducerID, v.NextProducerID, v.NextProducerEpoch = min(clusterVersion, 1), -1, -1, -1
	if v.Version == 0 {
		v.ClientTransactionVersion = 0 // there is no field for it
	}
	slices.SortFunc(v.Partitions, kafka.TopicPartition.Compare)
	v.Partitions = slices.Compact(v.Partitions)
	return v
}

// txnValueText is what the judge says of a value.
func txnValueText(v txn.Value) string {
	list := []string{}
	for _, tp := range v.Partitions {
		topic := strings.ToValidUTF8(tp.Topic, "\uFFFD")
		list = append(list, fmt.Sprintf("%x-%d", topic, tp.Partition))
	}
	slices.Sort(list)
	list = slices.Compact(list)
	return fmt.Sprintf("[%x] v%d %s producer %d/%d previous %d next %d/%d timeout %d start %d updated %d client %d partitions [%s]", strings.ToValidUTF8(v.TransactionalID, "\uFFFD"), v.Version,
		v.State, v.ProducerID, v.ProducerEpoch, v.PreviousProducerID, v.NextProducerID, v.NextProducerEpoch, v.Timeout, v.Start, v.LastUpdate,
		v.ClientTransactionVersion, strings.Join(list, ", "))
}

// writeQuestion lets Kafka write a value. The producer ids before and after are given; they are not to be written.
func writeQuestion(v *txn.Value, clusterVersion int16, previous, next int) string {
	text := fmt.Sprintf("write %d %s %d %d %d %d %d %d %d %d %d", clusterVersion, hexOrDash([]byte(v.TransactionalID)), v.ProducerID, v.ProducerEpoch,
		v.Timeout, slices.Index(txnStates, v.State), v.LastUpdate, v.Start, v.ClientTransactionVersion, previous, next)
	for _, tp := range v.Partitions {
		text += fmt.Sprintf(" %x:%d", tp.Topic, tp.Partition)
	}
	return text
}

// What TransactionLog writes under each transaction.version we read as it was meant, and write again to the byte. It does
// not write the producer ids before and after. A record without a value is a transactional id that is gone.
func TestTransactionRecordsWritten(t *testing.T) {
	rnd := draws(t)
	var questions []string
	var values []txn.Value
	kinds := map[string]int{}
	for range txnWritten {
		clusterVersion := int16(rnd.IntN(3))
		v := drawWrittenValue(&rnd, clusterVersion)
		kinds[string(v.State)]++
		kinds[fmt.Sprintf("transaction.version %d", clusterVersion)]++
		values = append(values, v)
		questions = append(questions, writeQuestion(&v, clusterVersion, rnd.IntN(1000)-1, rnd.IntN(1000)-1), fmt.Sprintf("read %x -", v.Encode().Key))
	}
	for i, got := range answers(t, kafkaProgram(t, "TransactionRecords"), questions) {
		if v := &values[i/2]; i%2 == 0 {
			readWritten(t, got, v)
		} else if want := fmt.Sprintf("[%x] gone", v.TransactionalID); got != want {
			t.Fatalf("Kafka reads %s, want %s", got, want)
		}
	}
	t.Logf("%d values: %v", len(values), kinds)
}

// readWritten reads what Kafka has written, and writes it again.
func readWritten(t *testing.T, got string, meant *txn.Value) {
	t.Helper()
	var key, value []byte
	if _, err := fmt.Sscanf(got, "%x %x", &key, &value); err != nil {
		t.Fatalf("%+v: Kafka %s", meant, got)
	}
	id, err := txn.DecodeKey(key)
	if err != nil {
		t.Fatal(err)
	}
	v, err := txn.DecodeValue(id, value)
	if err != nil {
		t.Fatalf("%+v: Kafka %s: %v", meant, got, err)
	}
	if again := v.Encode(); !bytes.Equal(again.Key, key) || !bytes.Equal(again.Value, value) {
		t.Fatalf("%+v\nKafka  %s\nloglab %x %x", meant, got, again.Key, again.Value)
	}
	slices.SortFunc(v.Partitions, kafka.TopicPartition.Compare)
	if diff := cmp.Diff(*meant, v, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s (-meant +read):\n%s", got, diff)
	}
}

// notText is what is read for bytes that are no UTF-8; there are more than one opinion on how often.
var notText = regexp.MustCompile(`(efbfbd)+`)

// A record is cut, or a byte of it is another one: what we read, Kafka reads as the same, and what it refuses, we refuse.
// We also refuse what Kafka does not look at: bytes behind the last field, the order of tags and the size that a tag gives,
// and lengths below -1, which are null to it.
func TestTransactionRecordsSpoiled(t *testing.T) {
	rnd := draws(t)
	var questions, want []string
	var refusals []error
	for range txnSpoiled {
		v := drawWrittenValue(&rnd, int16(rnd.IntN(3)))
		r := v.Encode()
		spoilt := &r.Value
		if rnd.IntN(8) == 0 {
			spoilt = &r.Key
		}
		switch at := 1 + rnd.IntN(len(*spoilt)-1); rnd.IntN(3) {
		case 0:
			*spoilt = (*spoilt)[:at]
		case 1:
			(*spoilt)[at] ^= 1 << rnd.IntN(8)
		default:
			at = rnd.IntN(min(len(*spoilt), 20)) // more of what is not just a number
			(*spoilt)[at] = byte(rnd.Uint32())
		}
		meant := "error"
		id, err := txn.DecodeKey(r.Key)
		if err == nil {
			v, err = txn.DecodeValue(id, r.Value)
		}
		if err == nil {
			meant = txnValueText(v)
		} else if !errors.Is(err, coordinator.ErrUnreadable) {
			t.Fatal(err)
		}
		refusals = append(refusals, err)
		questions, want = append(questions, fmt.Sprintf("read %x %x", r.Key, r.Value)), append(want, meant)
	}
	kinds := map[string]int{}
	for i, got := range answers(t, kafkaProgram(t, "TransactionRecords"), questions) {
		theirs, _, _ := strings.Cut(got, " | ")
		theirs = notText.ReplaceAllString(theirs, "efbfbd")
		if strings.HasPrefix(theirs, "error") {
			theirs = "error"
		}
		switch err := fmt.Sprint(refusals[i]); {
		case theirs == "error" && want[i] == "error":
			kinds["refused"]++
		case theirs == notText.ReplaceAllString(want[i], "efbfbd"):
			kinds["read"]++
		case slices.ContainsFunc([]string{"follow the last field", "tag ", "has -"}, func(why string) bool { return strings.Contains(err, why) }):
			kinds["read by Kafka only"]++
		default:
			if kinds["wrong"]++; kinds["wrong"] <= mostShown {
				t.Errorf("%s\nKafka  %s\nloglab %s (%s)", questions[i], got, want[i], err)
			}
		}
	}
	t.Logf("%d records: %v", len(questions), kinds)
}
