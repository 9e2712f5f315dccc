package controller

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/simnet"
)

func name(code int16) string {
	if code == 0 {
		return "ok"
	}
	return kerr.ErrorForCode(code).(*kerr.Error).Message
}

// A broker starts fenced and is unfenced when it has read its own registration; its epoch is the offset of that.
func TestRegistrationAndUnfencing(t *testing.T) {
	r := newRun(t, nil)
	end := r.c.Log().LogEndOffset()
	r.register(1, -1)
	if r.epochs[1] != int64(end) || !r.fenced(1) {
		t.Errorf("epoch %d at offset %d, fenced %t", r.epochs[1], end, r.fenced(1))
	}
	for _, step := range []struct {
		offset           int64
		wantFence        bool
		caughtUp, fenced bool
	}{
		{int64(end) - 1, false, false, true},
		{int64(end), true, true, true},
		{int64(end), false, true, false},
		{int64(end) + 1, false, true, false},
		{int64(end) + 1, true, true, true},
	} {
		got := r.heartbeat(1, func(q *kmsg.BrokerHeartbeatRequest) {
			q.CurrentMetadataOffset, q.WantFence = step.offset, step.wantFence
		})
		if got.IsCaughtUp != step.caughtUp || got.IsFenced != step.fenced || got.IsFenced != r.fenced(1) || got.ShouldShutdown {
			t.Errorf("%+v: %+v", step, got)
		}
	}
	unfenced := events[journal.BrokerUnfenced](r)
	if want := []journal.BrokerUnfenced{{Broker: 1, BrokerEpoch: int64(end), MetadataOffset: end, RegistrationOffset: end}}; cmp.Diff(want, unfenced) != "" {
		t.Error(cmp.Diff(want, unfenced))
	}
}

func TestRegistrationRefused(t *testing.T) {
	r := newRun(t, nil)
	r.register(1, -1)
	for _, test := range []struct {
		want   string
		change func(*kmsg.BrokerRegistrationRequest)
	}{
		{"INCONSISTENT_CLUSTER_ID", func(q *kmsg.BrokerRegistrationRequest) { q.ClusterID = "other" }},
		{"INVALID_REGISTRATION", func(q *kmsg.BrokerRegistrationRequest) { q.LogDirs = nil }},
		{"INVALID_REGISTRATION", func(q *kmsg.BrokerRegistrationRequest) { q.LogDirs = append(q.LogDirs, q.LogDirs[0]) }},
		{"ok", func(*kmsg.BrokerRegistrationRequest) {}}, // no heartbeat came: there is no session
	} {
		request := r.request(1, -1)
		test.change(request)
		response := ask[*kmsg.BrokerRegistrationResponse](r, request)
		if name(response.ErrorCode) != test.want || test.want != "ok" && response.BrokerEpoch != -1 {
			t.Errorf("got %s, epoch %d, want %s", name(response.ErrorCode), response.BrokerEpoch, test.want)
		}
		r.epochs[1] = response.BrokerEpoch
	}
	r.beat(1)
	r.now += 9000
	if got := ask[*kmsg.BrokerRegistrationResponse](r, r.request(1, -1)); name(got.ErrorCode) != "DUPLICATE_BROKER_REGISTRATION" {
		t.Errorf("after broker.session.timeout.ms: %s", name(got.ErrorCode))
	}
	r.now++
	r.register(1, -1)
	if b, _ := r.c.Image().Broker(1); !b.Fenced {
		t.Error("the new process is not fenced")
	}
	if got := r.heartbeat(1, func(q *kmsg.BrokerHeartbeatRequest) { q.BrokerEpoch-- }); name(got.ErrorCode) != "STALE_BROKER_EPOCH" {
		t.Errorf("heartbeat of the old process: %s", name(got.ErrorCode))
	}
}

// The same process may register again: its epoch and its fence stay.
func TestRegistrationAmended(t *testing.T) {
	r := newRun(t, nil)
	request := r.request(1, -1)
	r.epochs[1] = ask[*kmsg.BrokerRegistrationResponse](r, request).BrokerEpoch
	r.beat(1)
	again := *request
	rack := "east"
	again.Rack = &rack
	if got := ask[*kmsg.BrokerRegistrationResponse](r, &again); got.BrokerEpoch != r.epochs[1] {
		t.Errorf("epoch %d, want %d", got.BrokerEpoch, r.epochs[1])
	}
	if b, _ := r.c.Image().Broker(1); b.Fenced || b.Rack != "east" {
		t.Errorf("broker is %+v", b)
	}
}

// The session check runs every broker.session.timeout.ms / 8 and fences one broker at a time, 10 ms apart.
func TestSessionsExpire(t *testing.T) {
	r := newRun(t, elrOff)
	r.start(1, 2, 3)
	r.create("t", [][]int32{{1, 2, 3}})
	var at []kafka.Millis
	seen := 0
	for r.now < 20_000 {
		r.now, _ = r.c.NextDue()
		r.c.Tick(r.now, &r.j)
		if fenced := events[journal.BrokerFenced](r); len(fenced) > seen {
			seen = len(fenced)
			at = append(at, r.now)
		}
	}
	// heartbeats came at 0; 8 × 1125 = 9000 is not longer than 9000
	if diff := cmp.Diff([]kafka.Millis{10_125, 10_135, 10_145}, at); diff != "" {
		t.Errorf("fenced at (-want +got):\n%s", diff)
	}
	r.want("leader=-1 epoch=3/3 isr=[3] elr=[] last=[]")
	if got, want := events[journal.BrokerFenced](r)[0].Reason, "no heartbeat came for 10,125 ms, longer than broker.session.timeout.ms = 9,000"; got != want {
		t.Errorf("reason %q", got)
	}
}

// A broker that leads may stop once it leads nothing and every active broker has read of that.
func TestControlledShutdown(t *testing.T) {
	r := newRun(t, nil)
	r.start(1, 2, 3)
	r.create("t", [][]int32{{1, 2, 3}})
	r.beat(2, 3)
	shutdown := func(q *kmsg.BrokerHeartbeatRequest) { q.WantShutdown = true }
	if got := r.heartbeat(1, shutdown); got.ShouldShutdown || got.IsFenced {
		t.Fatalf("it leads t-0: %+v", got)
	}
	r.want("leader=2 epoch=1/1 isr=[2 3] elr=[] last=[]")
	if refused := name(r.alter([]kafka.BrokerID{1, 2, 3}, nil).Topics[0].Partitions[0].ErrorCode); refused != "INELIGIBLE_REPLICA" {
		t.Errorf("back into the ISR: %s", refused)
	}
	if got := r.heartbeat(1, shutdown); got.ShouldShutdown {
		t.Fatalf("nobody has read of the new leader: %+v", got)
	}
	r.beat(2)
	if got := r.heartbeat(1, shutdown); got.ShouldShutdown {
		t.Fatalf("broker 3 has not read of the new leader: %+v", got)
	}
	r.beat(3)
	if got := r.heartbeat(1, shutdown); !got.ShouldShutdown || !got.IsFenced || !r.fenced(1) {
		t.Fatalf("all have read of it: %+v", got)
	}
	if begun := events[journal.ControlledShutdownBegun](r); len(begun) != 1 || begun[0].Leads != 1 {
		t.Errorf("begun: %+v", begun)
	}
	// one that leads nothing may stop at once
	if got := r.heartbeat(3, shutdown); !got.ShouldShutdown {
		t.Errorf("broker 3 leads nothing: %+v", got)
	}
	// the sessions go on until they expire, also after a clean shutdown, and the fences are written again
	r.pass(9000, 2)
	if got := ask[*kmsg.BrokerRegistrationResponse](r, r.request(1, r.epochs[1])); name(got.ErrorCode) != "DUPLICATE_BROKER_REGISTRATION" {
		t.Errorf("at once: %s", name(got.ErrorCode))
	}
	r.pass(3000, 2)
	if fenced := events[journal.BrokerFenced](r); len(fenced) != 4 || !strings.HasSuffix(fenced[2].Reason, "; it was fenced already") {
		t.Errorf("fenced: %+v", fenced)
	}
	r.register(1, r.epochs[1])
	if e := events[journal.BrokerRegistered](r); !e[len(e)-1].Clean {
		t.Errorf("%+v", e[len(e)-1])
	}
}

// A fetch of the metadata log waits for a record or for its time.
func TestFetch(t *testing.T) {
	r := newRun(t, nil)
	fetch := func(offset kafka.Offset) []simnet.Send {
		request := kmsg.NewPtrFetchRequest()
		request.MaxWaitMillis, request.MaxBytes = 500, 1<<20
		topic := kmsg.NewFetchRequestTopic()
		topic.TopicID = metadata.LogTopicID()
		rp := kmsg.NewFetchRequestTopicPartition()
		rp.FetchOffset, rp.PartitionMaxBytes = int64(offset), 1<<20
		topic.Partitions = append(topic.Partitions, rp)
		request.Topics = append(request.Topics, topic)
		return r.send(request)
	}
	part := func(sends []simnet.Send) kmsg.FetchResponseTopicPartition {
		t.Helper()
		if len(sends) != 1 {
			t.Fatalf("%d sends", len(sends))
		}
		return sends[0].Response.(*kmsg.FetchResponse).Topics[0].Partitions[0]
	}
	end := r.c.Log().LogEndOffset()
	if got := part(fetch(0)); got.HighWatermark != int64(end) || len(got.RecordBatches) == 0 {
		t.Errorf("from 0: %+v", got)
	}
	if got := part(fetch(end + 1)); name(got.ErrorCode) != "OFFSET_OUT_OF_RANGE" {
		t.Errorf("behind the end: %s", name(got.ErrorCode))
	}
	if sends := fetch(end); len(sends) != 0 {
		t.Fatalf("at the end: %v", sends)
	}
	if due, _ := r.c.NextDue(); due != 500 {
		t.Errorf("due at %d", due)
	}
	clone := r.c.Clone()
	sends := r.send(r.request(1, -1)) // its record answers the fetch, after the registration
	if len(sends) != 2 || len(part(sends[1:]).RecordBatches) == 0 {
		t.Errorf("sends %+v", sends)
	}
	if got := part(clone.Tick(500, &journal.Journal{})); got.HighWatermark != int64(end) || len(got.RecordBatches) != 0 {
		t.Errorf("the clone after 500 ms: %+v", got)
	}
	fetch(r.c.Log().LogEndOffset())
	r.c.Disconnected(0, "b1", 0, &r.j)
	if n := r.c.View().ParkedFetches; n != 0 {
		t.Errorf("%d fetches parked after the connection closed", n)
	}
}

// A clone goes its own way.
func TestClone(t *testing.T) {
	r := newRun(t, nil)
	r.start(1, 2)
	before := r.c.Image().Offset
	clone := r.c.Clone()
	r.create("t", [][]int32{{1, 2}})
	if clone.Image().Offset != before || clone.Log().LogEndOffset() != before {
		t.Errorf("the clone is at %d and %d, want %d", clone.Image().Offset, clone.Log().LogEndOffset(), before)
	}
	other := &run{t: t, c: clone, epochs: r.epochs}
	other.create("t", [][]int32{{2, 1}})
	r.want("leader=1 epoch=0/0 isr=[1 2] elr=[] last=[]")
	other.want("leader=2 epoch=0/0 isr=[2 1] elr=[] last=[]")
	r.check()
}

func TestProducerIDs(t *testing.T) {
	r := newRun(t, nil)
	r.start(1)
	request := kmsg.NewPtrAllocateProducerIDsRequest()
	request.BrokerID, request.BrokerEpoch = 1, r.epochs[1]
	for want := int64(0); want < 3000; want += 1000 {
		if got := ask[*kmsg.AllocateProducerIDsResponse](r, request); got.ProducerIDStart != want || got.ProducerIDLen != 1000 {
			t.Errorf("%+v, want a block from %d", got, want)
		}
	}
	request.BrokerEpoch++
	if got := ask[*kmsg.AllocateProducerIDsResponse](r, request); name(got.ErrorCode) != "STALE_BROKER_EPOCH" {
		t.Errorf("another epoch: %s", name(got.ErrorCode))
	}
}
