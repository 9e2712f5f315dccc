package client

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/command"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

var ordersZero = kafka.TopicPartition{Topic: "orders"}

// processed gives the offsets in the order in which the application was done with them.
func (s seat) processed() string {
	var list []string
	for e := range s.journal.All() {
		if b, ok := e.Body.(journal.RecordProcessed); ok {
			list = append(list, fmt.Sprint(b.Offset))
		}
	}
	return strings.Join(list, " ")
}

// commitsSent gives what was committed, in order, accepted or not.
func (s seat) commitsSent() string {
	var list []string
	for e := range s.journal.All() {
		if b, ok := e.Body.(journal.CommitSent); ok {
			list = append(list, fmt.Sprint(b.Offsets[0].Offset))
		}
	}
	return strings.Join(list, " ")
}

// settle lets a span pass in steps of 10 ms and answers commits and heartbeats.
func (s seat) settle(span kafka.Millis) {
	s.t.Helper()
	for end := s.now + span; s.now < end && s.consumer.Alive(); {
		s.tick(10)
		for s.consumer.Alive() && s.lastOpen(kmsg.OffsetCommit) {
			s.accept()
		}
		for s.consumer.Alive() && s.lastOpen(kmsg.Heartbeat) {
			s.alive()
		}
	}
}

// When an application commits, by its setting: three records of 10 ms each, then two.
func TestCommitWhen(t *testing.T) {
	for when, want := range map[CommitWhen]string{
		CommitNever: "", CommitBefore: "3 5", CommitRecord: "1 2 3 4 5", CommitBatch: "3 5", CommitBatchAsync: "3 5",
	} {
		s := seated(t, func(c *ConsumerConfig) { c.Group.App.Work, c.Group.App.Commit = 10, when }, 0)
		s.brings(0, 3)
		s.settle(100)
		s.brings(3, 2)
		s.settle(100)
		if got := s.commitsSent(); got != want || s.processed() != "0 1 2 3 4" {
			t.Errorf("%s: committed %q, processed %q; want %q and all", when, got, s.processed(), want)
		}
	}
}

// The five points at which a process can crash, and what is processed and committed then.
func TestCrashPoints(t *testing.T) {
	for _, test := range []struct {
		at                   command.CrashPoint
		processed, committed string // committed: sent
		accepted             int
	}{
		{command.CrashPoint{When: afterPoll}, "", "", 0},
		{command.CrashPoint{When: beforeProcessing}, "", "", 0},
		{command.CrashPoint{When: beforeProcessing, TopicPartition: ordersZero, Offset: 2}, "0 1", "1 2", 2},
		{command.CrashPoint{When: afterProcessing}, "0", "", 0},
		{command.CrashPoint{When: afterProcessing, TopicPartition: ordersZero, Offset: 2}, "0 1 2", "1 2", 2},
		{command.CrashPoint{When: beforeCommit}, "0", "", 0},
		{command.CrashPoint{When: afterCommit}, "0", "1", 1},
	} {
		s := seated(t, func(c *ConsumerConfig) { c.Group.App.Work, c.Group.App.Commit = 10, CommitRecord }, 0)
		if !s.consumer.Arm(test.at, 0, &s.journal) {
			t.Fatal("it cannot be armed")
		}
		s.brings(0, 3)
		s.settle(200)
		if s.consumer.Alive() || s.consumer.Ended() == 0 {
			t.Errorf("%s: it runs still", test.at)
		}
		accepted := strings.Count(s.kinds("CommitAccepted"), "CommitAccepted")
		if s.processed() != test.processed || s.commitsSent() != test.committed || accepted != test.accepted {
			t.Errorf("%s: processed %q, commits sent %q, %d accepted; want %q, %q, %d", test.at, s.processed(), s.commitsSent(), accepted, test.processed, test.committed, test.accepted)
		}
		s.told("ConsumerCrashed", test.at.String())
	}
}

// After a crash a new process starts with nothing: no member id, no position, no queue.
func TestRestartAfterACrash(t *testing.T) {
	s := seated(t, func(c *ConsumerConfig) { c.Group.App.Work = 10 }, 0)
	s.brings(0, 3)
	s.settle(10)
	s.consumer.Crash(0, &s.out, &s.journal)
	if due, ok := s.consumer.NextDue(); ok {
		t.Errorf("a dead process has a timer at %d", due)
	}
	s.open = nil
	s.consumer.Start(s.now)
	s.tick(0)
	s.metadata("b1", []int32{1, 1, 1}, []int32{4, 4, 4})
	s.coordinator("b1")
	if b := lastOf[journal.JoinSent](s); b.Member != "" || b.Generation != -1 || len(b.Owned) > 0 {
		t.Errorf("%+v", b)
	}
}

// What the kinds of sinks make of two records that are processed twice.
func TestSinkKinds(t *testing.T) {
	for kind, want := range map[SinkKind]SinkTotals{
		SinkPlain:      {Effects: 5, Doubled: 2},
		SinkIdempotent: {Effects: 3, Ignored: 2},
		SinkUpsert:     {Effects: 5, Doubled: 2},
		SinkOffsets:    {Effects: 3, Ignored: 2},
	} {
		s := seated(t, nil, 0)
		s.out.Sinks = []Sink{NewSink("g", SinkConfig{Kind: kind})}
		s.brings(0, 3)
		if _, why := s.consumer.Seek(s.now, ordersZero, 1, 0, &s.out, &s.journal); why != "" {
			t.Fatal(why)
		}
		s.brings(3, 0) // of the position before
		s.brings(1, 2)
		v := s.out.Sinks[0].View()
		want.Delivered, want.DeliveredAgain, want.Processed, want.ProcessedAgain = 3, 2, 3, 2
		if v.SinkTotals != want {
			t.Errorf("%s: %+v, want %+v", kind, v.SinkTotals, want)
		}
		if fate := v.Fates[0].At(1); fate.Delivered != 2 || fate.Processed != 2 {
			t.Errorf("%s: the record at 1 was %+v, want twice", kind, fate)
		}
	}
}

// A sink that stores offsets is where its consumers begin, whatever is committed.
func TestSinkStoresOffsets(t *testing.T) {
	s := newSeat(t, nil)
	s.out.Sinks = []Sink{NewSink("g", SinkConfig{Kind: SinkOffsets})}
	s.out.Sinks[0].apply(ordersZero, 6, nil, nil)
	s.joined(1, false)
	s.synced(0)
	s.told("PositionMoved", "orders-0 -1→7 the sink has stored this offset with its effects")
	s.waits("Fetch>b1")
	s.position(7)
}

// A sink takes so many effects in a window, of all together; a record waits for the next.
func TestSinkCapacity(t *testing.T) {
	s := seated(t, nil, 0)
	s.out.Sinks = []Sink{NewSink("g", SinkConfig{Capacity: 2, Window: 1000})}
	s.tick(300)
	s.brings(0, 5)
	for _, step := range []struct {
		at   kafka.Millis
		want string
	}{{300, "0 1"}, {999, "0 1"}, {1000, "0 1 2 3"}, {1999, "0 1 2 3"}, {2000, "0 1 2 3 4"}} {
		s.tick(step.at - s.now)
		if got := s.processed(); got != step.want {
			t.Errorf("at %d ms: %q, want %q", s.now, got, step.want)
		}
	}
	if b := lastOf[journal.SinkFull](s); b.Capacity != 2 || b.Offset != 4 || b.Wait != 1000 {
		t.Errorf("%+v", b)
	}
}

// Two threads and a slow first record: the highest offset that is done passes it over, the contiguous one does not.
func TestThreads(t *testing.T) {
	for what, want := range map[CommitWhat]string{CommitHighest: "2 3 4", CommitContiguous: "4"} {
		s := seated(t, func(c *ConsumerConfig) {
			app := &c.Group.App
			app.Workers, app.Work, app.SlowEvery, app.SlowWork, app.Commit, app.What = 2, 10, 10, 100, CommitRecord, what
		}, 0)
		s.brings(0, 4) // thread 1 has the record at 0 for 100 ms, thread 2 those at 1 to 3
		s.settle(90)
		if got := s.processed(); got != "1 2 3" {
			t.Errorf("%s: processed %q within 90 ms, want 1 2 3", what, got)
		}
		if got, before := s.commitsSent(), strings.TrimSuffix(want, "4"); what == CommitContiguous && got != before {
			t.Errorf("%s: committed %q before the first is done", what, got)
		}
		s.settle(20)
		if got := s.commitsSent(); got != want {
			t.Errorf("%s: committed %q, want %q", what, got, want)
		}
	}
}

// An application with threads goes on polling, and commits in onPartitionsRevoked before the first that is not done.
func TestThreadsCommitOnRevoke(t *testing.T) {
	s := seated(t, func(c *ConsumerConfig) {
		app := &c.Group.App
		app.Workers, app.Work, app.SlowEvery, app.SlowWork, app.CommitOnRevoke = 2, 10, 2, 60_000, true
	}, 0)
	s.brings(1, 4) // the records at 1 and 3 are done after 20 ms, those at 2 and 4 hold the threads up
	s.settle(100)
	s.rejoins()
	s.lastCommit("0@2 generation=1 member=m1")
}

// Attempts: three failures, then skip; a record that fails twice is done at the third.
func TestFailureRules(t *testing.T) {
	for _, test := range []struct {
		name string
		set  func(*AppConfig)
		want string // processed
		n    uint16 // failed
	}{
		{"retry without end", func(a *AppConfig) {}, "0", 100},
		{"fails twice", func(a *AppConfig) { a.Poison[0].Times = 2 }, "0 1 2", 2},
		{"skip", func(a *AppConfig) { a.OnFailure, a.Attempts = SkipRecord, 3 }, "0 2", 3},
		{"skip without end", func(a *AppConfig) { a.OnFailure = SkipRecord }, "0", 100},
	} {
		s := seated(t, func(c *ConsumerConfig) {
			app := &c.Group.App
			app.Work, app.Commit, app.Poison = 10, CommitBatch, []Poison{{TopicPartition: ordersZero, Offset: 1}}
			test.set(app)
		}, 0)
		s.brings(0, 3)
		s.settle(1000)
		failed := s.out.Sinks[0].View().Fates[0].At(1).Failed
		if s.processed() != test.want || failed != test.n && (test.n < 100 || failed < 90) {
			t.Errorf("%s: processed %q, %d failures; want %q and %d", test.name, s.processed(), failed, test.want, test.n)
		}
	}
}

// By hand an application processes as many records as it is told to, and commits as its setting says.
func TestByHand(t *testing.T) {
	s := seated(t, func(c *ConsumerConfig) { c.Group.App.ByHand, c.Group.App.Commit = true, CommitBatch }, 0)
	process := func(n int) (why string) {
		sends, why := s.consumer.Process(s.now, n, 0, &s.out, &s.journal)
		s.add(sends)
		return why
	}
	if why := process(1); why != "poll has returned no record to c0 that waits to be processed" {
		t.Errorf("before poll returns: %q", why)
	}
	s.brings(0, 3)
	s.settle(100)
	if process(2); s.processed() != "0 1" || s.commitsSent() != "" {
		t.Errorf("processed %q, committed %q", s.processed(), s.commitsSent())
	}
	if process(1); s.processed() != "0 1 2" || s.commitsSent() != "3" {
		t.Errorf("processed %q, committed %q", s.processed(), s.commitsSent())
	}
}

// seek drops what was fetched and queued of the partition and goes on from there; what is committed stays.
func TestSeek(t *testing.T) {
	s := seated(t, func(c *ConsumerConfig) { c.Group.App.Work = 10 }, 0, 1)
	s.brings(0, 5)
	s.settle(20)
	seek := func(partition kafka.Partition, to kafka.Offset) string {
		sends, why := s.consumer.Seek(s.now, kafka.TopicPartition{Topic: "orders", Partition: partition}, to, 0, &s.out, &s.journal)
		s.add(sends)
		return why
	}
	if why := seek(2, 0); why != "c0 does not own orders-2" {
		t.Errorf("in another's partition: %q", why)
	}
	if why := seek(0, 7); why != "" {
		t.Fatal(why)
	}
	s.position(7)
	s.brings(5, 1) // of the position before
	s.settle(100)
	if got := s.processed(); got != "0 1 2" { // the one in hand is done
		t.Errorf("processed %q, want 0 1 2", got)
	}
	if offset := s.take(kmsg.Fetch, "b1").Request.(*kmsg.FetchRequest).Topics[0].Partitions; len(offset) != 2 || offset[0].FetchOffset+offset[1].FetchOffset != 7 {
		t.Errorf("fetches %+v, want orders-0 from 7", offset)
	}
	if s.commitsSent() != "" {
		t.Errorf("committed %q", s.commitsSent())
	}
}

// Where a member begins of which nothing is committed.
func TestResetPolicies(t *testing.T) {
	for _, test := range []struct {
		policy string
		asks   int64 // the timestamp that ListOffsets has
	}{{"earliest", -2}, {"latest", -1}, {"by_duration:PT5S", 1_000_000 + 60_000 - 5000}} {
		s := newSeat(t, func(c *ConsumerConfig) { c.AutoOffsetReset, c.MetadataMaxAge = test.policy, 3_600_000 })
		s.consumer.start = 1_000_000
		s.tick(60_000)
		s.joined(1, false)
		s.synced(0)
		s.found(-1)
		if at := s.open[0].Request.(*kmsg.ListOffsetsRequest).Topics[0].Partitions[0].Timestamp; at != test.asks {
			t.Errorf("%s: it asks for the timestamp %d, want %d", test.policy, at, test.asks)
		}
		if test.policy == "by_duration:PT5S" { // nothing is that young: once more after request.timeout.ms
			s.offset("b1", -1, -1)
			s.settle(29_990)
			s.waits("")
			s.settle(10)
			if at := s.open[0].Request.(*kmsg.ListOffsetsRequest).Topics[0].Partitions[0].Timestamp; at != test.asks+30_000 {
				t.Errorf("%s: then it asks for the timestamp %d, want %d", test.policy, at, test.asks+30_000)
			}
		}
		s.offset("b1", 4, 4)
		s.position(4)
		s.waits("Fetch>b1")
	}
	s := newSeat(t, func(c *ConsumerConfig) { c.AutoOffsetReset = resetNone })
	s.joined(1, false)
	s.synced(0)
	s.found(-1)
	s.told("ConsumerFailed", "g poll NoOffsetForPartitionException")
	s.waits("")
}

// Durations as auto.offset.reset has them.
func TestISODuration(t *testing.T) {
	for text, want := range map[string]kafka.Millis{
		"PT1H": 3_600_000, "PT30M": 1_800_000, "PT45S": 45_000, "P1D": 86_400_000, "P1DT2H3M4S": 93_784_000, "PT0S": 0, "PT1M30S": 90_000,
	} {
		if got, err := parseISODuration(text); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "P", "PT", "1H", "PT1", "PTS", "P1H", "PT1D", "PT1S1M", "PT1H1H", "PT-1H", "PT1.5S", "P1W", "P1Y", "pt1h", "PT1H ", "PT99999999999S"} {
		if got, err := parseISODuration(text); err == nil {
			t.Errorf("%q: %d, want an error", text, got)
		}
	}
	for policy, ok := range map[string]bool{"earliest": true, "latest": true, "none": true, "by_duration:PT1H": true, "by_duration:": false, "by_duration": false, "smallest": false, "": false} {
		if err := CheckReset(policy); (err == nil) != ok {
			t.Errorf("%q: %v", policy, err)
		}
	}
}
