package enginetest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/storage"
)

// divergence is a follower's fetch and the answer that its log is not the leader's.
type divergence struct {
	Offset    int64 // of the fetch: the follower's log end offset
	LastEpoch int32 // that it asks about: of its last record
	Epoch     int32 // the leader's answer: its last epoch that is not above
	EndOffset int64 // and where that ends
}

// divergences lets n ticks pass and gives what a follower was answered whose log was not its leader's.
func divergences(t *testing.T, c *engine.Cluster, follower kafka.NodeID, n int) (list []divergence) {
	t.Helper()
	asked := map[int32]kmsg.FetchRequestTopicPartition{}
	for _, m := range watch(t, c, n) {
		switch r := any(m.Request).(type) {
		case *kmsg.FetchRequest:
			if m.From == follower && m.To != "controller" {
				asked[m.Correlation] = r.Topics[0].Partitions[0]
			}
		}
		r, ok := any(m.Response).(*kmsg.FetchResponse)
		if !ok || m.To != follower || len(r.Topics) == 0 {
			continue
		}
		if p, was := r.Topics[0].Partitions[0], asked[m.Correlation]; p.DivergingEpoch.EndOffset >= 0 && was.CurrentLeaderEpoch > 0 {
			list = append(list, divergence{was.FetchOffset, was.LastFetchedEpoch, p.DivergingEpoch.Epoch, p.DivergingEpoch.EndOffset})
		}
	}
	return list
}

// REP-10: two logs with different records at one offset. A is broker 1, B is broker 2. The epoch in which B answers
// is not the case's, whose leader changes are not told: A's death begins epoch 1, B's epoch 2, B's return epoch 3.
func TestREP10(t *testing.T) {
	spec := replicated(2, 1)
	spec.Cluster.ELR = false
	c := start(t, spec)
	give(t, c, "produce p0 - m1", "wait 36s") // longer than os.writeback.ms = 30,000 ms: m1 is on the disks
	give(t, c, "produce p0 - m2", "wait 1s")
	expect(t, c, "m1 and m2 are committed", "leader=1 epoch=0 isr=[1 2] elr=[] b1=2/2 b2=2/2")
	give(t, c, "kill b1", fenced, "power-loss b2", fenced, "start b2", "wait 1s")
	expect(t, c, "B is back first, without m2", "leader=2 epoch=3 isr=[2] elr=[] b1=down b2=1/1")
	give(t, c, "produce p0 - m3", "wait 1s")
	expectLog(t, c, 2, "B leads", []string{"0:m1", "1:m3"})

	give(t, c, "start b1")
	if diff := cmp.Diff([]divergence{{Offset: 2, LastEpoch: 0, Epoch: 0, EndOffset: 1}}, divergences(t, c, "b1", 200)); diff != "" {
		t.Errorf("what A is answered (-want +got):\n%s", diff)
	}
	cut := last[journal.LogTruncated](t, c, "b1")
	if cut.From != 2 || cut.To != 1 || cut.Records != 1 {
		t.Errorf("A truncated from %d to %d, want from 2 to 1", cut.From, cut.To)
	}
	expect(t, c, "A has m3", "leader=2 epoch=3 isr=[2 1] elr=[] b1=2/2 b2=2/2")
	expectLog(t, c, 1, "A has cut m2 and copied m3", []string{"0:m1", "1:m3"})
}

// REP-11: the leader does not know the epoch that the follower asks about. L is broker 1, F is broker 2. Records are
// written with acks=1; the link between the two is cut from record 10 on, so that neither sees the other's epoch.
func TestREP11(t *testing.T) {
	spec := replicated(2, 1)
	spec.Cluster.UncleanElection = true
	spec.Producers[0].Config.Acks = 1
	c := start(t, spec)
	send(t, c, 0, 9)
	give(t, c, checkpointed, "cut b1 b2")
	send(t, c, 10, 19)
	give(t, c, "wait 46s") // replica.lag.time.max.ms = 30,000 ms, looked at every half of it
	expect(t, c, "F has fallen out", "leader=1 epoch=0 isr=[1] elr=[] b1=20/20 b2=10/10")
	give(t, c, "kill b1", fenced)
	send(t, c, 20, 24)
	expect(t, c, "F leads for a moment", "leader=2 epoch=1 isr=[2] elr=[] b1=down b2=15/15")
	give(t, c, "start b1", "wait 2s", "kill b2", fenced)
	give(t, c, "produce p0 - r25", "wait 1s")
	expect(t, c, "L leads again", "leader=1 epoch=2 isr=[1] elr=[] b1=21/21 b2=down")
	expectEpochs(t, c, 1, "L", storage.EpochEntry{Epoch: 0, StartOffset: 0}, storage.EpochEntry{Epoch: 2, StartOffset: 20})

	give(t, c, "heal b1 b2", "start b2")
	if diff := cmp.Diff([]divergence{{Offset: 15, LastEpoch: 1, Epoch: 0, EndOffset: 20}}, divergences(t, c, "b2", 200)); diff != "" {
		t.Errorf("what F is answered (-want +got):\n%s", diff)
	}
	cut := last[journal.LogTruncated](t, c, "b2")
	if cut.From != 15 || cut.To != 10 {
		t.Errorf("F truncated from %d to %d, want from 15 to 10", cut.From, cut.To)
	}
	expect(t, c, "F follows", "leader=1 epoch=2 isr=[1 2] elr=[] b1=21/21 b2=21/21")
	want := append(values(0, 19), "20:r25")
	expectLog(t, c, 1, "L", want)
	expectLog(t, c, 2, "F has no foreign record", want) // nothing diverges
	expectEpochs(t, c, 2, "F", storage.EpochEntry{Epoch: 0, StartOffset: 0}, storage.EpochEntry{Epoch: 2, StartOffset: 20})
}

// lastStanding plays REP-13 until the last in-sync replica has lost records 5-9. Brokers 0, 1 and 2 of the case are
// 1, 2 and 3. Brokers 1 and 2 stop in an orderly way: after an unclean shutdown they would not be eligible.
func lastStanding(t *testing.T, elr bool) *engine.Cluster {
	spec := replicated(3, 2)
	spec.Cluster.ELR = elr
	c := start(t, spec)
	send(t, c, 0, 4)
	give(t, c, "wait 36s") // os.writeback.ms = 30,000 ms: 0-4 are on the disks
	send(t, c, 5, 9)
	give(t, c, "wait 1s")
	expect(t, c, "0-9 are committed", "leader=1 epoch=0 isr=[1 2 3] elr=[] b1=10/10 b2=10/10 b3=10/10")
	give(t, c, "shut-down b1", "wait 5s")
	expect(t, c, "1 has left", "leader=2 epoch=1 isr=[2 3] elr=[] b1=down b2=10/10 b3=10/10")
	give(t, c, "shut-down b2", "wait 5s")
	return c
}

// REP-13, eligible.leader.replicas off: the last replica leads again with what is left.
func TestREP13Off(t *testing.T) {
	c := lastStanding(t, false)
	expect(t, c, "2 has left", "leader=3 epoch=2 isr=[3] elr=[] b1=down b2=down b3=10/10")
	give(t, c, "produce p0 - refused", "wait 1s")
	if got, want := errorsOf(c, "p0"), "NOT_ENOUGH_REPLICAS"; !slices.Contains(got, want) {
		t.Errorf("acks=all met %v, want %s", got, want)
	}
	give(t, c, "kill p0", "power-loss b3", fenced)
	expect(t, c, "3 has lost its power", "leader=-1 epoch=3 isr=[3] elr=[] b1=down b2=down b3=down")
	give(t, c, "start b1", "start b2", "start b3", "wait 5s")
	expect(t, c, "all are back", "leader=3 epoch=4 isr=[3 1 2] elr=[] b1=5/5 b2=5/5 b3=5/5")
	expectLost(t, c, span(0, 9), span(5, 9))
}

// REP-13, eligible.leader.replicas on: the replica that left when the minimum was reached is elected.
func TestREP13On(t *testing.T) {
	c := lastStanding(t, true)
	expect(t, c, "2 has left", "leader=3 epoch=2 isr=[3] elr=[2] b1=down b2=down b3=10/10")
	give(t, c, "power-loss b3", fenced)
	expect(t, c, "3 has lost its power", "leader=-1 epoch=3 isr=[] elr=[2 3] last-known-elr=[3] b1=down b2=down b3=down")
	give(t, c, "start b3", "wait 2s")
	expect(t, c, "3 is back after an unclean shutdown", "leader=-1 epoch=3 isr=[] elr=[2] last-known-elr=[3] b1=down b2=down b3=5/5")
	give(t, c, "cut b2 b3", "start b2", "wait 300ms")
	expect(t, c, "2 is back", "leader=2 epoch=4 isr=[2] elr=[] b1=down b2=10/10 b3=5/5")
	expectLost(t, c, span(0, 9), nil)
	give(t, c, "heal b2 b3", "start b1", "wait 5s")
	expect(t, c, "all are back", "leader=2 epoch=4 isr=[2 3 1] elr=[] b1=10/10 b2=10/10 b3=10/10")
	expectLost(t, c, span(0, 9), nil)
}
