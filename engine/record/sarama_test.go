package record

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/twmb/franz-go/pkg/kmsg"

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
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	p := &saramaPeer{broker: sarama.NewBroker(listener.Addr().String())}
	go func() {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		defer connection.Close()
		for p.answer(connection) == nil {
		}
	}()
	config := sarama.NewConfig()
	config.Version = sarama.V2_1_0_0
	config.ApiVersionsRequest = false
	if err := p.broker.Open(config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.broker.Close() })
	return p
}

// answer reads one request and answers it.
func (p *saramaPeer) answer(connection net.Conn) error {
	var size [4]byte
	if _, err := io.ReadFull(connection, size[:]); err != nil {
		return err
	}
	frame := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(connection, frame); err != nil {
		return err
	}
	be := binary.BigEndian
	version := int16(be.Uint16(frame[2:]))
	correlation := frame[4:8]
	body := frame[10+be.Uint16(frame[8:]):]

	var response kmsg.Response
	switch be.Uint16(frame) {
	case 0:
		request := kmsg.NewProduceRequest()
		request.SetVersion(version)
		if err := request.ReadFrom(body); err != nil {
			return err
		}
		p.produced = request.Topics[0].Partitions[0].Records
		produce := kmsg.NewProduceResponse()
		topic := kmsg.NewProduceResponseTopic()
		topic.Topic = request.Topics[0].Topic
		topic.Partitions = append(topic.Partitions, kmsg.NewProduceResponseTopicPartition())
		produce.Topics = append(produce.Topics, topic)
		response = &produce
	default:
		fetch := kmsg.NewFetchResponse()
		topic := kmsg.NewFetchResponseTopic()
		topic.Topic = "orders"
		partition := kmsg.NewFetchResponseTopicPartition()
		partition.RecordBatches = p.log
		topic.Partitions = append(topic.Partitions, partition)
		fetch.Topics = append(fetch.Topics, topic)
		response = &fetch
	}
	response.SetVersion(version)
	out := response.AppendTo(append(make([]byte, 4), correlation...))
	be.PutUint32(out, uint32(len(out)-4))
	_, err := connection.Write(out)
	return err
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
