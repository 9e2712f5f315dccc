package enginetest

import (
	"testing"

	"loglab/engine"
)

// frame is what can be seen at one tick of the example.
type frame struct {
	tick     int
	state    string
	answered int // records acknowledged
	read     int // position of the consumer, which fetches from the leader
	why      string
}

func play(t *testing.T, c *engine.Cluster, frames []frame) {
	t.Helper()
	for _, f := range frames {
		now, _ := c.Now()
		tick(t, c, f.tick-int(now))
		expect(t, c, f.why, f.state)
		if got := len(acknowledged(c, "p0")); got != f.answered {
			t.Errorf("tick %d: %s: %d records acknowledged, want %d", f.tick, f.why, got, f.answered)
		}
		if got := read(c); got != f.read {
			t.Errorf("tick %d: %s: the consumer has read up to %d, want %d", f.tick, f.why, got, f.read)
		}
	}
}

// Facts §4.1, one record at offset 0 with two replicas, a tick for each hop: the leader's high watermark is one
// fetch round trip behind its log end offset. The follower learns of it when its next fetch is answered: after
// replica.fetch.wait.max.ms = 500 ms if no record comes.
func TestTickExample(t *testing.T) {
	c := start(t, replicated(2, 1))
	give(t, c, "produce p0 - r0")
	play(t, c, []frame{
		{1, "leader=1 epoch=0 isr=[1 2] elr=[] b1=0/0 b2=0/0", 0, 0, "the record is on its way"},
		{2, "leader=1 epoch=0 isr=[1 2] elr=[] b1=0/1 b2=0/0", 0, 0, "step 1: the leader has appended"},
		{3, "leader=1 epoch=0 isr=[1 2] elr=[] b1=0/1 b2=0/1", 0, 0, "step 2: the follower's parked fetch(0) has brought the record, high watermark 0"},
		{4, "leader=1 epoch=0 isr=[1 2] elr=[] b1=1/1 b2=0/1", 0, 0, "step 3: fetch(1) tells the leader that the follower has the record"},
		{5, "leader=1 epoch=0 isr=[1 2] elr=[] b1=1/1 b2=0/1", 1, 1, "step 3: acks=all is answered and the consumer has the record"},
		{54, "leader=1 epoch=0 isr=[1 2] elr=[] b1=1/1 b2=0/1", 1, 1, "step 4: fetch(1) waits at the leader"},
		{55, "leader=1 epoch=0 isr=[1 2] elr=[] b1=1/1 b2=1/1", 1, 1, "step 4: fetch(1) is answered after 500 ms"},
	})
}

// Facts §4.1: a next record answers the follower's fetch, and the high watermark comes with it.
func TestTickExampleWithANextRecord(t *testing.T) {
	c := start(t, replicated(2, 1))
	give(t, c, "produce p0 - r0")
	tick(t, c, 10)
	give(t, c, "produce p0 - r1")
	play(t, c, []frame{
		{12, "leader=1 epoch=0 isr=[1 2] elr=[] b1=1/2 b2=0/1", 1, 1, "the leader has appended the second record"},
		{13, "leader=1 epoch=0 isr=[1 2] elr=[] b1=1/2 b2=1/2", 1, 1, "fetch(1) brings the second record and the high watermark of the first"},
		{14, "leader=1 epoch=0 isr=[1 2] elr=[] b1=2/2 b2=1/2", 1, 1, "fetch(2) is there"},
		{15, "leader=1 epoch=0 isr=[1 2] elr=[] b1=2/2 b2=1/2", 2, 2, "the second record is acknowledged and read"},
	})
}

// Facts §4.1: an answer carries the high watermark from before the fetch. The second record comes while the first is
// on its way to the follower, so that fetch(1) is answered at once.
func TestTickExampleHighWatermarkFromBefore(t *testing.T) {
	c := start(t, replicated(2, 1))
	give(t, c, "produce p0 - r0")
	tick(t, c, 1)
	give(t, c, "produce p0 - r1")
	play(t, c, []frame{
		{3, "leader=1 epoch=0 isr=[1 2] elr=[] b1=0/2 b2=0/1", 0, 0, "the follower has the first record, the leader both"},
		{4, "leader=1 epoch=0 isr=[1 2] elr=[] b1=1/2 b2=0/1", 0, 0, "fetch(1) moves the high watermark to 1"},
		{5, "leader=1 epoch=0 isr=[1 2] elr=[] b1=1/2 b2=0/2", 1, 1, "and brings the second record with high watermark 0"},
		{6, "leader=1 epoch=0 isr=[1 2] elr=[] b1=2/2 b2=0/2", 1, 1, "fetch(2) moves the high watermark to 2"},
	})
}

// Trap 2: acks=1 is answered at once, two hops before acks=all.
func TestTickExampleWithAcks1(t *testing.T) {
	spec := replicated(2, 1)
	spec.Producers[0].Config.Acks = 1
	c := start(t, spec)
	give(t, c, "produce p0 - r0")
	play(t, c, []frame{
		{2, "leader=1 epoch=0 isr=[1 2] elr=[] b1=0/1 b2=0/0", 0, 0, "the leader has appended"},
		{3, "leader=1 epoch=0 isr=[1 2] elr=[] b1=0/1 b2=0/1", 1, 0, "acks=1 is answered, and nothing can be read yet"},
		{5, "leader=1 epoch=0 isr=[1 2] elr=[] b1=1/1 b2=0/1", 1, 1, "the record is read"},
	})
}
