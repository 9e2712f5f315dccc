package broker

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/kafka"
	"loglab/engine/storage"
)

func deleteRequest(topic string, offset int64) *kmsg.DeleteRecordsRequest {
	r := kmsg.NewPtrDeleteRecordsRequest()
	r.Version, r.TimeoutMillis = 2, 10_000
	rt := kmsg.NewDeleteRecordsRequestTopic()
	rt.Topic = topic
	rp := kmsg.NewDeleteRecordsRequestTopicPartition()
	rp.Offset = offset
	rt.Partitions = append(rt.Partitions, rp)
	r.Topics = append(r.Topics, rt)
	return r
}

func deletion(r *kmsg.DeleteRecordsResponse) string {
	p := r.Topics[0].Partitions[0]
	return fmt.Sprint(errorName(p.ErrorCode), " ", p.LowWatermark)
}

// DeleteRecords moves the log start offset of all replicas, up to the high watermark; it is still there after a restart.
func TestDeleteRecords(t *testing.T) {
	c := newCluster(t, 2, nil, nil)
	c.create("t", []int32{1, 2})
	c.produce("b1", "t", startTime, startTime, startTime, startTime, startTime)
	for _, test := range []struct {
		at     kafka.NodeID
		topic  string
		offset int64
		want   string
	}{
		{"b2", "t", 1, "NOT_LEADER_FOR_PARTITION -1"},
		{"b1", "u", 1, "UNKNOWN_TOPIC_OR_PARTITION -1"},
		{"b1", "__consumer_offsets", 1, "INVALID_TOPIC_EXCEPTION -1"},
		{"b1", "t", 6, "OFFSET_OUT_OF_RANGE -1"},
		{"b1", "t", -2, "OFFSET_OUT_OF_RANGE -1"},
		{"b1", "t", 2, "ok 2"},
		{"b1", "t", 1, "ok 2"},
	} {
		if got := deletion(ask[*kmsg.DeleteRecordsResponse](c, test.at, deleteRequest(test.topic, test.offset))); got != test.want {
			t.Errorf("%s of %s up to %d: %s, want %s", test.at, test.topic, test.offset, got, test.want)
		}
	}
	tp := kafka.TopicPartition{Topic: "t"}
	for _, b := range c.brokers {
		if got := b.replica(tp).Log.LogStartOffset(); got != 2 {
			t.Errorf("the log of %s begins at %d, want 2", b.node, got)
		}
	}
	if got := c.listOffset("b1", EarliestTimestamp); got != "2 -1 0" {
		t.Errorf("earliest: %s", got)
	}
	c.run(6000) // checkpoints are written
	c.kill("b2")
	if log, _ := c.broker("b2").OnDisk(c.now, tp); log.LogStartOffset != 2 {
		t.Errorf("on the disk of b2 the log begins at %d, want 2", log.LogStartOffset)
	}
	c.start("b2")
	if got := c.broker("b2").replica(tp).Log.LogStartOffset(); got != 2 {
		t.Errorf("after a restart the log of b2 begins at %d, want 2", got)
	}
	if got := deletion(ask[*kmsg.DeleteRecordsResponse](c, "b1", deleteRequest("t", -1))); got != "ok 5" {
		t.Errorf("up to the high watermark: %s", got)
	}
	c.cut("b1", "b2", true)
	c.begin("b1", c.produceRequest("t", startTime, -1))
	c.run(100)
	if got := deletion(ask[*kmsg.DeleteRecordsResponse](c, "b1", deleteRequest("t", 6))); got != "OFFSET_OUT_OF_RANGE -1" {
		t.Errorf("beyond the high watermark: %s", got)
	}
}

// A live follower that cannot hear of it lets the request time out; the leader's log begins later all the same.
func TestDeleteRecordsTimesOut(t *testing.T) {
	c := newCluster(t, 2, nil, nil)
	c.create("t", []int32{1, 2})
	c.produce("b1", "t", startTime, startTime)
	c.cut("b1", "b2", true)
	begun := c.now
	if got := deletion(ask[*kmsg.DeleteRecordsResponse](c, "b1", deleteRequest("t", 1))); got != "REQUEST_TIMED_OUT 0" {
		t.Errorf("answered %s", got)
	}
	if waited := c.now - begun; waited < 10_000 || waited > 10_010 {
		t.Errorf("answered after %d ms", waited)
	}
	if got := c.listOffset("b1", EarliestTimestamp); got != "1 -1 0" {
		t.Errorf("earliest: %s", got)
	}
	if _, written := c.broker("b2").disk.Open(storage.LogStartOffsetCheckpoint); written {
		t.Error("b2 has a checkpoint of log start offsets")
	}
}
