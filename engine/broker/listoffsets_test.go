package broker

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/kafka"
)

// listOffset asks for an offset of t-0: "offset timestamp epoch", or an error.
func (c *cluster) listOffset(at kafka.NodeID, ts kafka.Timestamp) string {
	c.t.Helper()
	r := kmsg.NewPtrListOffsetsRequest()
	r.Version, r.ReplicaID = listOffsetsVersion, -1
	rt := kmsg.NewListOffsetsRequestTopic()
	rt.Topic = "t"
	rp := kmsg.NewListOffsetsRequestTopicPartition()
	rp.CurrentLeaderEpoch, rp.Timestamp = -1, int64(ts)
	rt.Partitions = append(rt.Partitions, rp)
	r.Topics = append(r.Topics, rt)
	found := ask[*kmsg.ListOffsetsResponse](c, at, r).Topics[0].Partitions[0]
	if found.ErrorCode != 0 {
		return errorName(found.ErrorCode)
	}
	if found.Timestamp >= 0 {
		found.Timestamp -= int64(startTime)
	}
	return fmt.Sprint(found.Offset, " ", found.Timestamp, " ", found.LeaderEpoch)
}

// The offset of a time is that of the first record at that time or later; times may go back.
func TestListOffsets(t *testing.T) {
	c := newCluster(t, 2, nil, nil)
	c.create("t", []int32{1, 2})
	for ts, want := range map[kafka.Timestamp]string{EarliestTimestamp: "0 -1 0", LatestTimestamp: "0 -1 0", MaxTimestamp: "-1 -1 -1", startTime: "-1 -1 -1"} {
		if got := c.listOffset("b1", ts); got != want {
			t.Errorf("empty, timestamp %d: %s, want %s", ts, got, want)
		}
	}
	c.produce("b1", "t", startTime+10, startTime+30, startTime+20, startTime+30)
	for _, test := range []struct {
		ts   kafka.Timestamp
		want string
	}{
		{EarliestTimestamp, "0 -1 0"},
		{LatestTimestamp, "4 -1 0"},
		{MaxTimestamp, "1 30 0"},
		{0, "0 10 0"},
		{startTime + 10, "0 10 0"},
		{startTime + 11, "1 30 0"},
		{startTime + 20, "1 30 0"},
		{startTime + 30, "1 30 0"},
		{startTime + 31, "-1 -1 -1"},
	} {
		if got := c.listOffset("b1", test.ts); got != test.want {
			t.Errorf("timestamp %d: %s, want %s", test.ts-startTime, got, test.want)
		}
	}
	if got := c.listOffset("b2", startTime); got != "NOT_LEADER_FOR_PARTITION" {
		t.Errorf("a follower answers %s", got)
	}
	c.cut("b1", "b2", true) // what is not on every in-sync replica is not found
	c.begin("b1", c.produceRequest("t", startTime+40, -1))
	c.run(100)
	if got := c.listOffset("b1", startTime+31); got != "-1 -1 -1" {
		t.Errorf("beyond the high watermark: %s", got)
	}
	if got := c.listOffset("b1", LatestTimestamp); got != "4 -1 0" {
		t.Errorf("latest beyond the high watermark: %s", got)
	}
}
