package client

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/simnet"
)

// desk drives one consumer by hand.
type desk struct {
	t        *testing.T
	consumer *Consumer
	outside  Outside
	journal  journal.Journal
	asked    simnet.Send // what receive answers
}

func (d *desk) receive(now kafka.Millis, response kmsg.Response) []simnet.Send {
	return d.consumer.Receive(now, 0, &simnet.Message{From: d.asked.To, Correlation: d.asked.Correlation, Response: response}, 0, &d.outside, &d.journal)
}

// expect fails unless exactly the requests of those APIs are sent.
func (d *desk) expect(when string, sends []simnet.Send, apis ...string) {
	d.t.Helper()
	var got []string
	for _, s := range sends {
		got = append(got, kmsg.NameForKey(s.Request.Key()))
	}
	if len(got) != len(apis) || len(got) > 0 && got[0] != apis[0] {
		d.t.Fatalf("%s: the requests %v are sent, want %v", when, got, apis)
	}
	if len(sends) > 0 {
		d.asked = sends[0]
	}
}

func (d *desk) read() int { return d.consumer.View().Partitions[0].Read }

// A consumer fetches nothing while it holds records that its application has not taken, and takes no more
// than max.poll.records at a time, with its work between. What a poll has ended exactly with is found to be
// empty by the next one only.
func TestNoFetchWhileRecordsAreBuffered(t *testing.T) {
	config := DefaultConsumerConfig("orders")
	config.MaxPollRecords, config.Work = 1, 20
	d := &desk{t: t, consumer: NewConsumer("c0", []kafka.NodeID{"b1"}, config, []kafka.TopicPartition{{Topic: "orders"}})}
	d.expect("at the start", d.consumer.Tick(0, 0, &d.outside, &d.journal), "Metadata")

	metadata := kmsg.NewPtrMetadataResponse()
	metadata.Brokers = []kmsg.MetadataResponseBroker{{NodeID: 1, Host: "b1"}}
	metadata.Topics = []kmsg.MetadataResponseTopic{{Topic: kmsg.StringPtr("orders"), TopicID: [16]byte{1}, Partitions: []kmsg.MetadataResponseTopicPartition{{Leader: 1, LeaderEpoch: 7}}}}
	sends := d.receive(1, metadata)
	d.expect("with metadata", sends, "ListOffsets")
	if epoch := sends[0].Request.(*kmsg.ListOffsetsRequest).Topics[0].Partitions[0].CurrentLeaderEpoch; epoch != 7 {
		t.Errorf("ListOffsets names leader epoch %d, metadata says 7", epoch)
	}

	offsets := kmsg.NewPtrListOffsetsResponse()
	offsets.Topics = []kmsg.ListOffsetsResponseTopic{{Topic: "orders", Partitions: []kmsg.ListOffsetsResponseTopicPartition{{}}}}
	sends = d.receive(2, offsets)
	d.expect("with a position", sends, "Fetch")
	if epoch := sends[0].Request.(*kmsg.FetchRequest).Topics[0].Partitions[0].CurrentLeaderEpoch; epoch != 7 {
		t.Errorf("Fetch names leader epoch %d, metadata says 7", epoch)
	}

	batch := record.NewBuilder(record.Options{})
	batch.Append(0, []byte("k"), []byte("event 1"))
	batch.Append(0, []byte("k"), []byte("event 2"))
	bytes, err := batch.Finish()
	if err != nil {
		t.Fatal(err)
	}
	fetched := kmsg.NewPtrFetchResponse()
	fetched.Topics = []kmsg.FetchResponseTopic{{TopicID: [16]byte{1}, Partitions: []kmsg.FetchResponseTopicPartition{{RecordBatches: bytes, PreferredReadReplica: -1}}}}
	for _, step := range []struct {
		when string
		do   func() []simnet.Send
		read int
		asks []string
	}{
		{"two records come at 10 ms", func() []simnet.Send { return d.receive(10, fetched) }, 1, nil},
		{"the work on the first is done at 30 ms", func() []simnet.Send { return d.consumer.Tick(30, 0, &d.outside, &d.journal) }, 2, nil},
		{"the work on the second is done at 50 ms", func() []simnet.Send { return d.consumer.Tick(50, 0, &d.outside, &d.journal) }, 2, []string{"Fetch"}},
	} {
		if due, ok := d.consumer.NextDue(); step.read > 1 && (!ok || due > 50) {
			t.Errorf("%s: the next timer is at %d ms", step.when, due)
		}
		d.expect(step.when, step.do(), step.asks...)
		if got := d.read(); got != step.read {
			t.Errorf("%s: %d records are handed over, want %d", step.when, got, step.read)
		}
	}
}
