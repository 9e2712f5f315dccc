package client

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
)

// dataOf gives a batch of a producer at an offset; id -1: a plain one.
func dataOf(base kafka.Offset, id kafka.ProducerID, epoch kafka.ProducerEpoch, sequence kafka.Sequence, count int) []byte {
	options := record.Options{}
	if id >= 0 {
		options.Transactional, options.Producer = true, &record.Producer{ID: id, Epoch: epoch, BaseSequence: sequence}
	}
	builder := record.NewBuilder(options)
	for i := range count {
		builder.Append(0, []byte("k"), fmt.Appendf(nil, "v%d", int(base)+i))
	}
	bytes, err := builder.Build()
	if err != nil {
		panic(err)
	}
	record.Stamp(bytes, base, 4)
	return bytes
}

func markerAt(base kafka.Offset, kind record.ControlType, id kafka.ProducerID, epoch kafka.ProducerEpoch) []byte {
	bytes, err := record.EndTxnMarker{Type: kind}.Build(0, id, epoch)
	if err != nil {
		panic(err)
	}
	record.Stamp(bytes, base, 4)
	return bytes
}

// twoTransactions is the log of a run of Kafka 4.2: producer 1 writes 0 and 1 and aborts at 4, 2 is plain, producer 2
// writes 3 and 5 and commits at 6.
func twoTransactions() (log []byte, batches [][]byte) {
	batches = [][]byte{
		dataOf(0, 1, 0, 0, 2), dataOf(2, -1, -1, 0, 1), dataOf(3, 2, 0, 0, 1), markerAt(4, record.Abort, 1, 1),
		dataOf(5, 2, 0, 1, 1), markerAt(6, record.Commit, 2, 1),
	}
	for _, b := range batches {
		log = append(log, b...)
	}
	return log, batches
}

// delivered gives what poll has returned, as "from→to records".
func (s seat) delivered() string {
	var list []string
	for e := range s.journal.All() {
		if b, ok := e.Body.(journal.RecordsRead); ok {
			list = append(list, fmt.Sprintf("%d→%d:%d aborted=%d markers=%d", b.From, b.To, b.Records, b.Aborted, b.Markers))
		}
	}
	return strings.Join(list, "; ")
}

// What each isolation level makes of two transactions, one of them aborted, and from where.
func TestIsolation(t *testing.T) {
	aborted := []kmsg.FetchResponseTopicPartitionAbortedTransaction{{ProducerID: 1, FirstOffset: 0}}
	for _, test := range []struct {
		name, level string
		position    int64
		most        int
		aborted     []kmsg.FetchResponseTopicPartitionAbortedTransaction
		from        int // index of the first batch that the leader sends
		processed   string
		delivered   string
		skipped     string
	}{
		{"uncommitted", ReadUncommitted, 0, 500, nil, 0, "0 1 2 3 5", "0→7:5 aborted=0 markers=2", "[{4 4 marker} {6 6 marker}]"},
		{"the default", "", 0, 500, nil, 0, "0 1 2 3 5", "0→7:5 aborted=0 markers=2", "[{4 4 marker} {6 6 marker}]"},
		{"committed", ReadCommitted, 0, 500, aborted, 0, "2 3 5", "0→7:3 aborted=2 markers=2", "[{0 1 aborted} {4 4 marker} {6 6 marker}]"},
		{"committed, from within the aborted batch", ReadCommitted, 1, 500, aborted, 0, "2 3 5", "1→7:3 aborted=1 markers=2", "[{1 1 aborted} {4 4 marker} {6 6 marker}]"},
		{"committed, from behind the marker", ReadCommitted, 5, 500, nil, 4, "5", "5→7:1 aborted=0 markers=1", "[{6 6 marker}]"},
		{"committed, one record a poll", ReadCommitted, 0, 1, aborted, 0, "2 3 5",
			"0→3:1 aborted=2 markers=0; 3→4:1 aborted=0 markers=0; 4→6:1 aborted=0 markers=1; 6→7:0 aborted=0 markers=1", "[{0 1 aborted} {4 4 marker} {6 6 marker}]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSeat(t, func(c *ConsumerConfig) {
				c.IsolationLevel, c.MaxPollRecords = test.level, test.most
				c.Group.App.Work, c.Group.App.Commit = 1, CommitBatch
			})
			s.joined(1, true)
			s.synced(0)
			s.found(test.position)
			_, batches := twoTransactions()
			var sent []byte
			for _, b := range batches[test.from:] {
				sent = append(sent, b...)
			}
			s.tick(0)
			request := s.fetch("b1", func(p *kmsg.FetchResponseTopicPartition) {
				p.RecordBatches, p.AbortedTransactions = sent, test.aborted
			}).Request.(*kmsg.FetchRequest)
			want := int8(0)
			if test.level == ReadCommitted {
				want = 1
			}
			if request.IsolationLevel != want {
				t.Errorf("Fetch asks with isolation level %d", request.IsolationLevel)
			}
			s.settle(100)
			if got := s.processed(); got != test.processed {
				t.Errorf("processed %s, want %s", got, test.processed)
			}
			if got := s.delivered(); got != test.delivered {
				t.Errorf("delivered %s\n    want %s", got, test.delivered)
			}
			s.position(7)
			if got := fmt.Sprint(s.consumer.View().Partitions[0].Skipped); got != test.skipped {
				t.Errorf("skipped %s, want %s", got, test.skipped)
			}
		})
	}
}

// ListOffsets carries the isolation level: the end of the log is then the last stable offset.
func TestIsolationOfListOffsets(t *testing.T) {
	for level, want := range map[string]int8{ReadUncommitted: 0, ReadCommitted: 1} {
		config := DefaultConsumerConfig("orders")
		config.IsolationLevel, config.AutoOffsetReset = level, "latest"
		tb := newTable(t, config, 0)
		tb.metadata("b1", []int32{1}, []int32{4})
		tb.waits("ListOffsets>b1")
		if got := tb.open[0].Request.(*kmsg.ListOffsetsRequest).IsolationLevel; got != want {
			t.Errorf("%s: %d", level, got)
		}
	}
}

// An aborted transaction whose marker comes with a later response is skipped in each; one that began before the position
// and is listed again too; and what its producer writes in its next transaction is read.
func TestAbortedTransactionOverSeveralResponses(t *testing.T) {
	config := DefaultConsumerConfig("orders")
	config.IsolationLevel = ReadCommitted
	tb := newTable(t, config, 0)
	tb.metadata("b1", []int32{1}, []int32{4})
	tb.offset("b1", 0, 4)
	aborted := []kmsg.FetchResponseTopicPartitionAbortedTransaction{{ProducerID: 1, FirstOffset: 0}}
	bring := func(batches ...[]byte) {
		t.Helper()
		tb.fetch("b1", func(p *kmsg.FetchResponseTopicPartition) {
			for _, b := range batches {
				p.RecordBatches = append(p.RecordBatches, b...)
			}
			p.AbortedTransactions = aborted
		})
	}
	bring(dataOf(0, 1, 0, 0, 2))
	tb.position(2)
	bring(dataOf(2, 1, 0, 2, 1), markerAt(3, record.Abort, 1, 1), dataOf(4, 1, 1, 0, 2))
	tb.position(6)
	aborted = nil
	bring(markerAt(6, record.Commit, 1, 2))
	tb.position(7)
	tb.told("RecordsRead", "orders-0 0→2 records=0 skipped=0 aborted=2; orders-0 2→6 records=2 skipped=0 aborted=1 markers=1; orders-0 6→7 records=0 skipped=0 markers=1")
}

// One transaction of three records and its marker: committing after the last record leaves a lag of 1 for ever, and
// committing the position none.
func TestCommitBehindTheMarker(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*ConsumerConfig)
		want   string
	}{
		{"after the last record", func(c *ConsumerConfig) { c.Group.App.Commit = CommitBatch }, "3"},
		{"before processing", func(c *ConsumerConfig) { c.Group.App.Commit = CommitBefore }, "3"},
		{"the position after the batch", func(c *ConsumerConfig) { c.Group.App.Commit, c.Group.App.What = CommitBatch, CommitPosition }, "4"},
		{"the position after the batch, not waiting", func(c *ConsumerConfig) {
			c.Group.App.Commit, c.Group.App.What = CommitBatchAsync, CommitPosition
		}, "4"},
		{"enable.auto.commit", func(c *ConsumerConfig) { c.Group.AutoCommit, c.Group.AutoCommitInterval = true, 50 }, "4"},
	} {
		s := newSeat(t, func(c *ConsumerConfig) {
			c.IsolationLevel = ReadCommitted
			c.Group.App.Work = 10
			test.change(c)
		})
		s.joined(1, true)
		s.synced(0)
		s.found(0)
		s.tick(0)
		s.fetch("b1", func(p *kmsg.FetchResponseTopicPartition) {
			p.RecordBatches = append(dataOf(0, 1, 0, 0, 3), markerAt(3, record.Commit, 1, 1)...)
		})
		s.settle(60)
		if got := s.commitsSent(); got != test.want {
			t.Errorf("%s: committed %q, want %s", test.name, got, test.want)
		}
	}
}

// While a transaction holds offsets of its group, a member takes none and asks again.
func TestUnstableOffsets(t *testing.T) {
	s := newSeat(t, func(c *ConsumerConfig) { c.IsolationLevel = ReadCommitted })
	s.joined(1, true)
	s.synced(0, 1)
	asked := s.take(kmsg.OffsetFetch, "b1")
	request := asked.Request.(*kmsg.OffsetFetchRequest)
	if !request.RequireStable {
		t.Error("OffsetFetch does not want stable offsets")
	}
	response := request.ResponseKind().(*kmsg.OffsetFetchResponse)
	one := func(partition int32, code int16) kmsg.OffsetFetchResponseGroupTopicPartition {
		p := kmsg.NewOffsetFetchResponseGroupTopicPartition()
		p.Partition, p.Offset, p.ErrorCode = partition, 5, code
		return p
	}
	response.Groups = []kmsg.OffsetFetchResponseGroup{{Group: "g", Topics: []kmsg.OffsetFetchResponseGroupTopic{{
		Topic: "orders", Partitions: []kmsg.OffsetFetchResponseGroupTopicPartition{one(0, 0), one(1, kerr.UnstableOffsetCommit.Code)},
	}}}}
	s.answer(asked, response)
	s.told("OffsetsUnstable", "g [orders-1] UNSTABLE_OFFSET_COMMIT backoff=100ms")
	s.position(kafka.NoOffset)
	s.tick(99)
	s.waits("")
	s.tick(1)
	s.found(5)
	s.position(5)
}

func TestCheckIsolation(t *testing.T) {
	for level, ok := range map[string]bool{"": true, ReadUncommitted: true, ReadCommitted: true, "serializable": false} {
		if err := CheckIsolation(level); (err == nil) != ok {
			t.Errorf("%q: %v", level, err)
		}
	}
}
