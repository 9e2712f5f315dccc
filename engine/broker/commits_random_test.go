package broker

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/sabotage"
)

// Brokers are killed and started, links cut and healed, disks slowed at random while a client commits greater and greater
// offsets. When all is well again the committed offset is at least the last one that was acknowledged. Nothing depends
// on anything but the seed, with clones on the way.
func TestCommitsUnderRandomFaults(t *testing.T) {
	for seed := range uint64(25) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			end, offset, acknowledged := commitUnderFaults(t, seed, "")
			if acknowledged < 0 || offset < acknowledged {
				t.Errorf("offset %d is committed, and %d was acknowledged", offset, acknowledged)
			}
			if again, _, _ := commitUnderFaults(t, seed, ""); again != end {
				t.Errorf("two runs end differently:\n%s\n%s", end, again)
			}
		})
	}
}

// If a coordinator did not wait for the in-sync replicas, commits would be lost.
func TestCommitsAreLostWithoutTheWait(t *testing.T) {
	lost := 0
	for seed := range uint64(25) {
		if _, offset, acknowledged := commitUnderFaults(t, seed, sabotage.AcknowledgesEarly); offset < acknowledged {
			lost++
		}
	}
	if lost == 0 {
		t.Error("no run lost a commit")
	}
}

// commitUnderFaults gives the last lines of a run's journal, the offset that is committed, and the last one that was
// acknowledged.
func commitUnderFaults(t *testing.T, seed uint64, broken sabotage.Rule) (end string, offset, last int64) {
	c := newCluster(t, 3, []kafka.Partition{12}, func(c *Config) { c.Sabotage = broken })
	c.create("t", []int32{1, 2, 3})
	c.findAtLast("b1", "my-group")
	rnd := prng.New(seed)
	var sent []int32 // by offset
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.Version, find.CoordinatorKeys = 6, []string{"my-group"}
	asked, known := int32(0), kafka.NodeID("b1")
	for range 120 {
		b := c.brokers[rnd.IntN(3)]
		other := c.brokers[rnd.IntN(3)].node
		switch rnd.IntN(9) {
		case 0:
			if b.Up() {
				c.kill(b.node)
			}
		case 1, 2:
			if !b.Up() {
				c.send(b.node, b.Start(c.now, 0, &c.j))
			}
		case 3:
			if other != b.node {
				c.cut(b.node, other, true)
			}
		case 4, 5:
			if other != b.node {
				c.cut(b.node, other, false)
			}
		case 6:
			b.SetDelay(kafka.Millis(rnd.IntN(2) * 700))
		}
		if r, ok := c.answers[asked].(*kmsg.FindCoordinatorResponse); ok && r.Coordinators[0].ErrorCode == 0 {
			known = kafka.NodeID(r.Coordinators[0].Host)
		}
		asked = c.begin(c.brokers[rnd.IntN(3)].node, find)
		request := commit("my-group", 9, "t", [16]byte{}, 0)
		request.Topics[0].Partitions[0].Offset = int64(len(sent))
		sent = append(sent, c.begin(known, request))
		if rnd.IntN(20) == 0 {
			c = c.clone()
		}
		c.run(kafka.Millis(rnd.IntN(2000)))
	}
	for i, b := range c.brokers {
		b.SetDelay(0)
		c.cut(b.node, c.brokers[(i+1)%3].node, false)
		if !b.Up() {
			c.send(b.node, b.Start(c.now, 0, &c.j))
		}
	}
	c.run(60_000)
	coordinator := c.findAtLast("b1", "my-group")
	offset = ask[*kmsg.OffsetFetchResponse](c, coordinator, fetchCommitted(10, c.topicIDs["t"], "my-group")).Groups[0].Topics[0].Partitions[0].Offset
	last = -1
	for i, number := range sent {
		if r, ok := c.answers[number].(*kmsg.OffsetCommitResponse); ok && r.Topics[0].Partitions[0].ErrorCode == 0 {
			last = int64(i)
		}
	}
	for e := range c.j.Backward() {
		if end += e.Line() + "\n"; len(end) > 5000 {
			break
		}
	}
	return end, offset, last
}
