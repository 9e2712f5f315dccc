package record

import (
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/clienttest"
	"loglab/engine/kafka"
)

// Sarama's codec is not exported, so the test speaks to it over a connection: to Sarama we are a broker
// that keeps what is produced and answers a fetch with log.
type saramaPeer struct {
	broker   *sarama.Broker
	log      []byte
	produced []byte
}

func newSaramaPeer(t *testing.T) *saramaPeer {
	t.Helper()
	p := &saramaPeer{}
	p.broker = sarama.NewBroker(clienttest.Serve(t, p.respond).String())
	config := sarama.NewConfig()
	config.Version = sarama.V2_1_0_0
	config.ApiVersionsRequest = false
	if err := p.broker.Open(config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.broker.Close() })
	return p
}

func (p *saramaPeer) respond(request kmsg.Request) kmsg.Response {
	response := request.ResponseKind()
	switch r := response.(type) {
	case *kmsg.ProduceResponse:
		p.produced = request.(*kmsg.ProduceRequest).Topics[0].Partitions[0].Records
		r.Topics = []kmsg.ProduceResponseTopic{{Topic: "orders", Partitions: []kmsg.ProduceResponseTopicPartition{kmsg.NewProduceResponseTopicPartition()}}}
	case *kmsg.FetchResponse:
		partition := kmsg.NewFetchResponseTopicPartition()
		partition.RecordBatches = p.log
		r.Topics = []kmsg.FetchResponseTopic{{Topic: "orders", Partitions: []kmsg.FetchResponseTopicPartition{partition}}}
	}
	return response
}

// fetch lets Sarama read a log.
func (p *saramaPeer) fetch(t *testing.T, log []byte) []*sarama.RecordBatch {
	t.Helper()
	p.log = log
	request := &sarama.FetchRequest{Version: 10, MaxBytes: 1 << 30}
	request.AddBlock("orders", 0, 0, 1<<30, -1)
	response, err := p.broker.Fetch(request)
	if err != nil {
		t.Fatalf("sarama: %v", err)
	}
	var batches []*sarama.RecordBatch
	for _, records := range response.GetBlock("orders", 0).RecordsSet {
		batches = append(batches, records.RecordBatch)
	}
	return batches
}

// produce lets Sarama write a batch.
func (p *saramaPeer) produce(t *testing.T, batch *sarama.RecordBatch) []byte {
	t.Helper()
	request := &sarama.ProduceRequest{Version: 7, RequiredAcks: sarama.WaitForAll}
	request.AddBatch("orders", 0, batch)
	if _, err := p.broker.Produce(request); err != nil {
		t.Fatalf("sarama: %v", err)
	}
	return p.produced
}

func fromSarama(b *sarama.RecordBatch) []Record {
	var records []Record
	for _, r := range b.Records {
		delta := r.TimestampDelta.Milliseconds()
		ours := Record{
			Offset: kafka.Offset(b.FirstOffset + r.OffsetDelta), OffsetDelta: int32(r.OffsetDelta),
			Timestamp: kafka.Timestamp(b.FirstTimestamp.UnixMilli() + delta), TimestampDelta: delta, Key: r.Key, Value: r.Value,
		}
		if b.LogAppendTime {
			ours.Timestamp = kafka.Timestamp(b.MaxTimestamp.UnixMilli())
		}
		for _, h := range r.Headers {
			ours.Headers = append(ours.Headers, Header{Key: string(h.Key), Value: h.Value})
		}
		records = append(records, ours)
	}
	return records
}

// ignorePlace leaves out what only we report.
var ignorePlace = cmpopts.IgnoreFields(Record{}, "Position", "Size")

func TestSaramaReadsOurs(t *testing.T) {
	peer := newSaramaPeer(t)
	everyDraw(t, 30, func(t *testing.T, d drawn) {
		batches := peer.fetch(t, d.raw)
		if len(batches) != 1 {
			t.Fatalf("sarama sees %d batches, want 1", len(batches))
		}
		b := batches[0]
		if diff := cmp.Diff(d.records, fromSarama(b), sameBytes, ignorePlace); diff != "" {
			t.Errorf("records (-ours +sarama)\n%s", diff)
		}
		producer := noProducer
		if d.options.Producer != nil {
			producer = *d.options.Producer
		}
		if b.FirstOffset != int64(d.base) || b.PartitionLeaderEpoch != int32(d.epoch) || int(b.LastOffsetDelta) != len(d.records)-1 ||
			b.IsTransactional != d.options.Transactional || b.Codec != sarama.CompressionCodec(d.options.Codec) ||
			b.ProducerID != int64(producer.ID) || b.ProducerEpoch != int16(producer.Epoch) || b.FirstSequence != int32(producer.BaseSequence) {
			t.Errorf("sarama reads the header as %+v, want %+v, base %d, epoch %d", b, d.options, d.base, d.epoch)
		}
	})
}

func TestWeReadSarama(t *testing.T) {
	peer := newSaramaPeer(t)
	everyDraw(t, 30, func(t *testing.T, d drawn) {
		ours := parse(t, d.raw)
		b := &sarama.RecordBatch{
			FirstOffset: int64(ours.BaseOffset), PartitionLeaderEpoch: int32(ours.PartitionLeaderEpoch), Version: 2,
			Codec: sarama.CompressionCodec(d.options.Codec), CompressionLevel: sarama.CompressionLevelDefault,
			LogAppendTime: d.options.TimestampType == LogAppendTime, IsTransactional: d.options.Transactional,
			LastOffsetDelta: ours.LastOffsetDelta, ProducerID: int64(ours.ProducerID), ProducerEpoch: int16(ours.ProducerEpoch),
			FirstSequence: int32(ours.BaseSequence), FirstTimestamp: time.UnixMilli(int64(ours.BaseTimestamp)), MaxTimestamp: time.UnixMilli(int64(ours.MaxTimestamp)),
		}
		for _, r := range d.records {
			record := &sarama.Record{OffsetDelta: int64(r.OffsetDelta), TimestampDelta: time.Duration(r.TimestampDelta) * time.Millisecond, Key: r.Key, Value: r.Value}
			for _, h := range r.Headers {
				record.Headers = append(record.Headers, &sarama.RecordHeader{Key: []byte(h.Key), Value: h.Value})
			}
			b.Records = append(b.Records, record)
		}
		raw := peer.produce(t, b)
		if d.options.Codec == None {
			wantBytes(t, "ours and sarama's", d.raw, raw)
		}
		records, err := parse(t, raw).Records()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d.records, records, sameBytes, ignorePlace); diff != "" {
			t.Errorf("records (-ours +sarama)\n%s", diff)
		}
	})
}
