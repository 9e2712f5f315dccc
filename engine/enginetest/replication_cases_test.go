package enginetest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// fenced is longer than a broker that has stopped stays unfenced: broker.session.timeout.ms = 9,000 ms, looked at
// every 1,125 ms.
const fenced = "wait 11s"

// checkpointed is longer than replica.high.watermark.checkpoint.interval.ms = 5,000 ms: a broker that is killed
// then finds its high watermark again.
const checkpointed = "wait 6s"

// REP-01: acks=all is acknowledged by the leader alone when nobody else is in sync.
func TestREP01(t *testing.T) {
	c := start(t, replicated(3, 1))
	send(t, c, 0, 4)
	give(t, c, "wait 1s")
	expect(t, c, "records 0-4 are on all", "leader=1 epoch=0 isr=[1 2 3] elr=[] b1=5/5 b2=5/5 b3=5/5")
	give(t, c, "pause b2", "pause b3", fenced)
	send(t, c, 5, 9)
	expect(t, c, "2 and 3 have fallen out", "leader=1 epoch=0 isr=[1] elr=[] b1=10/10 b2=5/5 b3=5/5")
	expectAcknowledged(t, c, "the leader alone is in sync", span(0, 9))
	give(t, c, "wipe b1", "resume b2", "resume b3", fenced, "elect-unclean orders 0", "wait 1s")
	expect(t, c, "the disk of 1 is gone, 2 is elected", "leader=2 epoch=2 isr=[2 3] elr=[] b1=down b2=5/5 b3=5/5")
	if elected := last[journal.LeaderElected](t, c, "controller"); elected.To != 2 || elected.Clean {
		t.Errorf("elected %+v, want broker 2, uncleanly", elected)
	}
	expectLost(t, c, span(0, 9), span(5, 9))
}

// REP-01, min.insync.replicas = 2: records 5-9 are refused, and nothing that was acknowledged is lost.
func TestREP01WithMinISR2(t *testing.T) {
	spec := replicated(3, 2)
	spec.Producers[0].Config.EnableIdempotence = engine.IdempotenceOn // so that retries keep the order
	c := start(t, spec)
	send(t, c, 0, 4)
	give(t, c, "wait 1s", "pause b2", "pause b3", fenced)
	send(t, c, 5, 9)
	if got, want := errorsOf(c, "p0"), []string{"NOT_ENOUGH_REPLICAS"}; !slices.Equal(got, want) {
		t.Errorf("errors %v, want %v", got, want)
	}
	expectAcknowledged(t, c, "fewer than min.insync.replicas are in sync", span(0, 4))
	give(t, c, "wipe b1", "resume b2", "resume b3", fenced, "wait 2s")
	expectLost(t, c, span(0, 4), nil)
	// Nobody gave the records up: the producer tries again, and the new leader takes them.
	expectAcknowledged(t, c, "2 and 3 are back", span(0, 9))
	expectLost(t, c, span(0, 9), nil)
}

// REP-02: below min.insync.replicas acks=all is refused, acks=1 and acks=0 are written and not visible (trap 4).
func TestREP02(t *testing.T) {
	spec := replicated(3, 2)
	withProducer(spec, 1)
	withProducer(spec, 0)
	c := start(t, spec)
	give(t, c, "shut-down b3", fenced)
	send(t, c, 0, 0)
	give(t, c, "wait 1s")
	expect(t, c, "3 has stopped, acks=all is taken", "leader=1 epoch=0 isr=[1 2] elr=[] b1=1/1 b2=1/1 b3=down")
	expectAcknowledged(t, c, "two are in sync", span(0, 0))

	give(t, c, "shut-down b2", fenced, "produce p0 - refused", "wait 1s")
	expect(t, c, "2 has stopped, acks=all is refused", "leader=1 epoch=0 isr=[1] elr=[2] b1=1/1 b2=down b3=down")
	if got, want := errorsOf(c, "p0"), []string{"NOT_ENOUGH_REPLICAS"}; !slices.Equal(got, want) {
		t.Errorf("acks=all: %v, want %v", got, want)
	}
	refused := last[journal.ProduceRefused](t, c, "b1")
	if want := "1 replica in sync is fewer than min.insync.replicas = 2"; !strings.Contains(refused.Why, want) {
		t.Errorf("refused because %q, want %q", refused.Why, want)
	}
	give(t, c, "kill p0", "produce p1 - r1", "wait 1s")
	expect(t, c, "acks=1 is taken", "leader=1 epoch=0 isr=[1] elr=[2] b1=1/2 b2=down b3=down")
	if got, want := acknowledged(c, "p1"), []int{1}; !slices.Equal(got, want) {
		t.Errorf("acks=1: acknowledged %v, want %v", got, want)
	}
	give(t, c, "produce p2 - r2", "wait 1s")
	expect(t, c, "acks=0 is taken", "leader=1 epoch=0 isr=[1] elr=[2] b1=1/3 b2=down b3=down")
	if got := read(c); got != 1 {
		t.Errorf("the consumer has read up to %d, want the high watermark, 1", got)
	}
	give(t, c, "start b2", "wait 2s")
	expect(t, c, "2 is back", "leader=1 epoch=0 isr=[1 2] elr=[] b1=3/3 b2=3/3 b3=down")
	if got := read(c); got != 3 {
		t.Errorf("the consumer has read up to %d, want 3", got)
	}
}

// REP-02, the in-sync replicas shrink after the append: REQUEST_TIMED_OUT, the record is in the log, and the
// retry of a producer that is not idempotent duplicates it (trap 5).
func TestREP02ShrinksAfterAppend(t *testing.T) {
	c := start(t, replicated(3, 2))
	give(t, c, "pause b2", "pause b3", "produce p0 - r0", "wait 29s")
	expect(t, c, "appended, then 2 and 3 are fenced", "leader=1 epoch=0 isr=[1] elr=[3] b1=0/1 b2=0/0 b3=0/0")
	expectAcknowledged(t, c, "after the append", nil)
	give(t, c, "wait 2s")
	if got, want := errorsOf(c, "p0"), []string{"REQUEST_TIMED_OUT", "NOT_ENOUGH_REPLICAS"}; !slices.Equal(got, want) {
		t.Errorf("errors %v, want %v", got, want)
	}
	expect(t, c, "the record stands in the log", "leader=1 epoch=0 isr=[1] elr=[3] b1=0/1 b2=0/0 b3=0/0")
	give(t, c, "resume b2", "resume b3", "wait 5s")
	expect(t, c, "2 and 3 are back", "leader=1 epoch=0 isr=[1 2 3] elr=[] b1=2/2 b2=2/2 b3=2/2")
	expectLog(t, c, 1, "the retry has written it again", []string{"0:r0", "1:r0"})
	expectAcknowledged(t, c, "the retry", []int{1})
}

// REP-04, trap 6: min.insync.replicas counts as the replication factor at most.
func TestREP04(t *testing.T) {
	c := start(t, replicated(1, 2))
	send(t, c, 0, 0)
	expect(t, c, "one replica and min.insync.replicas = 2", "leader=1 epoch=0 isr=[1] elr=[] b1=1/1")
	expectAcknowledged(t, c, "one replica and min.insync.replicas = 2", span(0, 0))
	if got := c.View().Partitions[0].MinISR; got != 1 {
		t.Errorf("the effective min ISR is %d, want 1", got)
	}
}

// leaderDies cuts the followers off when they have records 0-7, lets the producer send 8 and 9, and kills the
// leader.
func leaderDies(t *testing.T, acks int16) (c *engine.Cluster) {
	spec := replicated(3, 1)
	spec.Producers[0].Config.Acks = acks
	spec.Producers[0].Config.EnableIdempotence = engine.IdempotenceUnset // on with acks=all: retries keep the order
	c = start(t, spec)
	send(t, c, 0, 7)
	give(t, c, "wait 1s", "cut b1 b2", "cut b1 b3")
	send(t, c, 8, 9)
	expect(t, c, "8 and 9 are on the leader alone", "leader=1 epoch=0 isr=[1 2 3] elr=[] b1=8/10 b2=8/8 b3=8/8")
	return c
}

// REP-05: acks=1 and the leader dies.
func TestREP05(t *testing.T) {
	c := leaderDies(t, 1)
	expectAcknowledged(t, c, "acks=1", span(0, 9))
	give(t, c, "kill b1", fenced)
	expect(t, c, "1 is dead", "leader=2 epoch=1 isr=[2 3] elr=[] b1=down b2=8/8 b3=8/8")
	expectLost(t, c, span(0, 9), []int{8, 9})
	give(t, c, "heal b1 b2", "heal b1 b3", "start b1", "wait 3s")
	cut := last[journal.LogTruncated](t, c, "b1")
	if cut.From != 10 || cut.To != 8 {
		t.Errorf("broker 1 truncated from %d to %d, want from 10 to 8", cut.From, cut.To)
	}
	expect(t, c, "1 is back", "leader=2 epoch=1 isr=[2 3 1] elr=[] b1=8/8 b2=8/8 b3=8/8")
	expectLost(t, c, span(0, 9), []int{8, 9})
	if got := read(c); got != 8 {
		t.Errorf("the consumer has read up to %d, want 8", got)
	}
	if lag := c.View().Groups[0].Lag; lag != 0 {
		t.Errorf("the lag is %d, want 0", lag)
	}
}

// REP-05, acks=all: 8 and 9 were not acknowledged, and the producer sends them to the new leader.
func TestREP05AcksAll(t *testing.T) {
	c := leaderDies(t, -1)
	expectAcknowledged(t, c, "acks=all, nobody has fetched 8 and 9", span(0, 7))
	give(t, c, "kill b1", "wait 15s")
	expect(t, c, "1 is dead", "leader=2 epoch=1 isr=[2 3] elr=[] b1=down b2=10/10 b3=10/10")
	expectAcknowledged(t, c, "the new leader", span(0, 9))
	expectLost(t, c, span(0, 9), nil)
}

// twoStop plays REP-07 and REP-08 until 1 stops and 2 and 3 are back.
func twoStop(t *testing.T, unclean, elr bool) *engine.Cluster {
	spec := replicated(3, 1)
	spec.Cluster.UncleanElection, spec.Cluster.ELR = unclean, elr
	c := start(t, spec)
	send(t, c, 0, 10)
	give(t, c, checkpointed, "kill b2", "kill b3", fenced)
	send(t, c, 11, 20)
	give(t, c, "wait 1s")
	expect(t, c, "1 alone", "leader=1 epoch=0 isr=[1] elr=[] b1=21/21 b2=down b3=down")
	expectAcknowledged(t, c, "1 alone", span(0, 20))
	if got := read(c); got != 21 {
		t.Errorf("the consumer has read up to %d, want 21", got)
	}
	give(t, c, "kill b1", fenced, "start b2", "start b3", "wait 3s")
	return c
}

// REP-07: an unclean election loses acknowledged records, and the old leader truncates.
func TestREP07(t *testing.T) {
	for _, elr := range []bool{false, true} {
		c := twoStop(t, true, elr)
		expect(t, c, "2 is elected", "leader=2 epoch=2 isr=[2 3] elr=[] b1=down b2=11/11 b3=11/11")
		expectLost(t, c, span(0, 20), span(11, 20))
		truncated := last[journal.LogTruncationDetected](t, c, "c0")
		if truncated.Position != 21 || truncated.EndOffset != 11 {
			t.Errorf("the consumer at %d learned that the log ends at %d, want 21 and 11", truncated.Position, truncated.EndOffset)
		}
		give(t, c, "produce p0 - n0", "wait 100ms", "produce p0 - n1", "wait 100ms", "produce p0 - n2", "wait 2s")
		expect(t, c, "3 new records", "leader=2 epoch=2 isr=[2 3] elr=[] b1=down b2=14/14 b3=14/14")
		give(t, c, "start b1", "wait 3s")
		cut := last[journal.LogTruncated](t, c, "b1")
		if cut.From != 21 || cut.To != 11 {
			t.Errorf("broker 1 truncated from %d to %d, want from 21 to 11", cut.From, cut.To)
		}
		expect(t, c, "1 is back", "leader=2 epoch=2 isr=[2 3 1] elr=[] b1=14/14 b2=14/14 b3=14/14")
		expectLog(t, c, 1, "1 is back", append(values(0, 10), "11:n0", "12:n1", "13:n2"))
		if got := read(c); got != 14 {
			t.Errorf("the consumer has read up to %d, want 14", got)
		}
	}
}

// REP-07, the rule of choice: the first that is alive in the order of the replicas, not the one with the longest
// log.
func TestREP07Choice(t *testing.T) {
	spec := replicated(3, 1)
	spec.Topic.Replicas = [][]kafka.BrokerID{{1, 3, 2}}
	spec.Cluster.UncleanElection = true
	c := start(t, spec)
	send(t, c, 0, 3)
	give(t, c, checkpointed, "kill b3", fenced)
	send(t, c, 4, 6)
	give(t, c, checkpointed, "kill b2", fenced)
	send(t, c, 7, 8)
	give(t, c, "cut b1 b2", "cut b1 b3", "start b2", "start b3", "wait 3s")
	expect(t, c, "both are alive and neither is in sync", "leader=1 epoch=0 isr=[1] elr=[] b1=9/9 b3=4/4 b2=7/7")
	give(t, c, "kill b1", fenced)
	expect(t, c, "3 stands first", "leader=3 epoch=1 isr=[3 2] elr=[] b1=down b3=4/4 b2=4/4")
}

// REP-08: the same failure with unclean elections off: no leader until 1 is back, and nothing is lost.
func TestREP08(t *testing.T) {
	for elr, want := range map[bool]string{
		false: "leader=-1 epoch=1 isr=[1] elr=[] b1=down b2=11/11 b3=11/11",
		true:  "leader=-1 epoch=1 isr=[] elr=[1] last-known-elr=[1] b1=down b2=11/11 b3=11/11",
	} {
		c := twoStop(t, false, elr)
		expect(t, c, "1 has stopped", want)
		give(t, c, "produce p0 - r21", "wait 1s")
		if got := len(acknowledged(c, "p0")); got != 21 {
			t.Errorf("%d records are acknowledged without a leader, want 21", got)
		}
		give(t, c, "start b1", "wait 5s")
		expect(t, c, "1 is back", "leader=1 epoch=2 isr=[1 2 3] elr=[] b1=22/22 b2=22/22 b3=22/22")
		expectLost(t, c, span(0, 21), nil)
	}
}

// REP-08, the errors: without a leader the metadata says 5 LEADER_NOT_AVAILABLE. Broker 1 shuts down in an orderly
// way here, so that it answers until it stops: writes with 6 NOT_LEADER_OR_FOLLOWER. The case has 6 for fetches
// too, which is what a client gets that names no leader epoch; the consumer of Kafka 4.2 names the one it knows,
// which is over, and the epoch is looked at first (Partition.getLocalLog): 74 FENCED_LEADER_EPOCH.
func TestREP08Errors(t *testing.T) {
	spec := replicated(3, 1)
	spec.Cluster.ELR = false
	c := start(t, spec)
	send(t, c, 0, 10)
	give(t, c, "kill b2", "kill b3", fenced)
	give(t, c, "shut-down b1")
	tick(t, c, 3)
	give(t, c, "produce p0 - late")
	codes := map[string][]int16{}
	note := func(api string, code int16) {
		if code != 0 && !slices.Contains(codes[api], code) {
			codes[api] = append(codes[api], code)
		}
	}
	for _, m := range watch(t, c, 60) {
		switch r := m.Response.(type) {
		case *kmsg.FetchResponse:
			if m.To == "c0" {
				note("Fetch", r.Topics[0].Partitions[0].ErrorCode)
			}
		case *kmsg.ProduceResponse:
			note("Produce", r.Topics[0].Partitions[0].ErrorCode)
		case *kmsg.MetadataResponse:
			note("Metadata", r.Topics[0].Partitions[0].ErrorCode)
		}
	}
	if diff := cmp.Diff(map[string][]int16{"Fetch": {74}, "Produce": {6}, "Metadata": {5}}, codes); diff != "" {
		t.Errorf("error codes (-want +got):\n%s", diff)
	}
	give(t, c, fenced, "start b2", "start b3", "wait 3s")
	expect(t, c, "1 has stopped", "leader=-1 epoch=1 isr=[1] elr=[] b1=down b2=0/11 b3=0/11")
}
