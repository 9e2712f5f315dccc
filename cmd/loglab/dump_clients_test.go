package main

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/clienttest"
	"loglab/engine/record"
)

// keeper is a broker with the topic orders, as far as a producer and a fetch need one: it keeps the batches that it
// is sent, with offsets one after another, and gives them back.
type keeper struct {
	address *net.TCPAddr
	log     []byte
	next    int64
}

func newKeeper(t *testing.T) *keeper {
	t.Helper()
	k := &keeper{}
	k.address = clienttest.Serve(t, k.respond)
	return k
}

func (k *keeper) respond(request kmsg.Request) kmsg.Response {
	response := request.ResponseKind()
	topic := "orders"
	switch r := response.(type) {
	case *kmsg.ApiVersionsResponse:
		for key, version := range map[int16]int16{0: 9, 1: 11, 3: 9, 18: 3, 22: 4} {
			r.ApiKeys = append(r.ApiKeys, kmsg.ApiVersionsResponseApiKey{ApiKey: key, MaxVersion: version})
		}
	case *kmsg.MetadataResponse:
		r.Brokers = []kmsg.MetadataResponseBroker{{Host: k.address.IP.String(), Port: int32(k.address.Port)}}
		partition := kmsg.NewMetadataResponseTopicPartition()
		partition.Replicas, partition.ISR = []int32{0}, []int32{0}
		r.Topics = []kmsg.MetadataResponseTopic{{Topic: &topic, Partitions: []kmsg.MetadataResponseTopicPartition{partition}}}
	case *kmsg.InitProducerIDResponse:
		r.ProducerID, r.ProducerEpoch = 1000, 2
	case *kmsg.ProduceResponse:
		partition := kmsg.NewProduceResponseTopicPartition()
		partition.BaseOffset = k.keep(request.(*kmsg.ProduceRequest).Topics[0].Partitions[0].Records)
		r.Topics = []kmsg.ProduceResponseTopic{{Topic: topic, Partitions: []kmsg.ProduceResponseTopicPartition{partition}}}
	case *kmsg.FetchResponse:
		partition := kmsg.NewFetchResponseTopicPartition()
		partition.RecordBatches = k.log
		r.Topics = []kmsg.FetchResponseTopic{{Topic: topic, Partitions: []kmsg.FetchResponseTopicPartition{partition}}}
	}
	return response
}

// keep gives a batch the next offsets, in epoch 7. Neither is under its checksum.
func (k *keeper) keep(batch []byte) (base int64) {
	base = k.next
	binary.BigEndian.PutUint64(batch, uint64(base))
	binary.BigEndian.PutUint32(batch[12:], 7)
	k.next += int64(binary.BigEndian.Uint32(batch[23:])) + 1
	k.log = append(k.log, batch...)
	return base
}

// toProduce is a record for a client to encode; nil is null.
type toProduce struct {
	timestamp  time.Time
	key, value []byte
	headers    [][2][]byte
}

// drawToProduce mixes null, empty, compressible and other bytes.
func drawToProduce(rng *rand.Rand) (list []toProduce) {
	draw := func() []byte {
		switch rng.Intn(6) {
		case 0:
			return nil
		case 1:
			return []byte{}
		case 2:
			b := make([]byte, rng.Intn(300))
			rng.Read(b)
			return b
		}
		return []byte(strings.Repeat("order-", 1+rng.Intn(400)))
	}
	for range 20 {
		r := toProduce{timestamp: time.UnixMilli(1700000000000 + rng.Int63n(2000)), key: draw(), value: draw()}
		for range rng.Intn(3) {
			r.headers = append(r.headers, [2][]byte{[]byte(fmt.Sprint("schlüssel-", rng.Intn(9))), draw()})
		}
		list = append(list, r)
	}
	return list
}

// franzGoProduces lets a client of franz-go encode and send the records.
func (k *keeper) franzGoProduces(t *testing.T, codec record.Codec, idempotent bool, records []toProduce) {
	t.Helper()
	codecs := []kgo.CompressionCodec{kgo.NoCompression(), kgo.GzipCompression(), kgo.SnappyCompression(), kgo.Lz4Compression(), kgo.ZstdCompression()}
	options := []kgo.Opt{kgo.SeedBrokers(k.address.String()), kgo.DefaultProduceTopic("orders"), kgo.ProducerBatchCompression(codecs[codec]),
		kgo.ClientID("test"), kgo.ProducerLinger(time.Millisecond)}
	if !idempotent {
		options = append(options, kgo.DisableIdempotentWrite())
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var list []*kgo.Record
	for _, r := range records {
		one := &kgo.Record{Timestamp: r.timestamp, Key: r.key, Value: r.value}
		for _, h := range r.headers {
			one.Headers = append(one.Headers, kgo.RecordHeader{Key: string(h[0]), Value: h[1]})
		}
		list = append(list, one)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := client.ProduceSync(ctx, list...).FirstErr(); err != nil {
		t.Fatalf("franz-go: %v", err)
	}
}

// saramaProduces lets a client of Sarama encode and send the records.
func (k *keeper) saramaProduces(t *testing.T, codec record.Codec, idempotent bool, records []toProduce) {
	t.Helper()
	config := sarama.NewConfig()
	config.Version, config.ClientID = sarama.V2_1_0_0, "test"
	config.Producer.Compression, config.Producer.Return.Successes = sarama.CompressionCodec(codec), true
	config.Producer.RequiredAcks, config.Producer.Idempotent, config.Net.MaxOpenRequests = sarama.WaitForAll, idempotent, 1
	config.Producer.Flush.Messages = len(records)
	producer, err := sarama.NewSyncProducer([]string{k.address.String()}, config)
	if err != nil {
		t.Fatalf("sarama: %v", err)
	}
	defer producer.Close()
	var list []*sarama.ProducerMessage
	for _, r := range records {
		one := &sarama.ProducerMessage{Topic: "orders", Timestamp: r.timestamp}
		if r.key != nil {
			one.Key = sarama.ByteEncoder(r.key)
		}
		if r.value != nil {
			one.Value = sarama.ByteEncoder(r.value)
		}
		for _, h := range r.headers {
			one.Headers = append(one.Headers, sarama.RecordHeader{Key: h[0], Value: h[1]})
		}
		list = append(list, one)
	}
	if err := producer.SendMessages(list); err != nil {
		t.Fatalf("sarama: %v", err)
	}
}

// clientBatch is a line of "loglab dump --json", or what a client says of the batch.
type clientBatch struct {
	BaseOffset           int64          `json:"base_offset"`
	BatchLength          int32          `json:"batch_length"`
	PartitionLeaderEpoch int32          `json:"partition_leader_epoch"`
	Magic                int8           `json:"magic"`
	CRC                  uint32         `json:"crc32c"`
	CRCValid             bool           `json:"crc_valid"`
	Attributes           int16          `json:"attributes"`
	Compression          string         `json:"compression"`
	Transactional        bool           `json:"transactional"`
	Control              bool           `json:"control"`
	LastOffsetDelta      int32          `json:"last_offset_delta"`
	BaseTimestamp        int64          `json:"base_timestamp"`
	MaxTimestamp         int64          `json:"max_timestamp"`
	ProducerID           int64          `json:"producer_id"`
	ProducerEpoch        int16          `json:"producer_epoch"`
	BaseSequence         int32          `json:"base_sequence"`
	NumRecords           int32          `json:"num_records"`
	Records              []clientRecord `json:"records"`
}

type clientRecord struct {
	Offset    int64          `json:"offset"`
	Timestamp int64          `json:"timestamp"`
	Key       *string        `json:"key_hex"`
	Value     *string        `json:"value_hex"`
	Headers   []clientHeader `json:"headers"`
}

type clientHeader struct {
	Key   string  `json:"key"`
	Value *string `json:"value_hex"`
}

func inHex(b []byte) *string {
	if b == nil {
		return nil
	}
	text := hex.EncodeToString(b)
	return &text
}

// readFranzGo lets franz-go read a log: kmsg the batches' headers, its consumer the records and checksums.
func readFranzGo(t *testing.T, log []byte) (batches []clientBatch) {
	t.Helper()
	response := kmsg.NewFetchResponseTopicPartition()
	response.RecordBatches = log
	read, _ := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{KeepControlRecords: true}, &response, kgo.DefaultDecompressor(), nil)
	if read.Err != nil {
		t.Fatalf("franz-go: %v", read.Err)
	}
	records := read.Records
	for len(log) > 0 {
		var b kmsg.RecordBatch
		if err := b.ReadFrom(log); err != nil {
			t.Fatalf("franz-go: %v", err)
		}
		one := clientBatch{
			BaseOffset: b.FirstOffset, BatchLength: b.Length, PartitionLeaderEpoch: b.PartitionLeaderEpoch, Magic: b.Magic, CRC: uint32(b.CRC), CRCValid: true,
			Attributes: b.Attributes, Compression: []string{"none", "gzip", "snappy", "lz4", "zstd"}[b.Attributes&7], LastOffsetDelta: b.LastOffsetDelta,
			BaseTimestamp: b.FirstTimestamp, MaxTimestamp: b.MaxTimestamp, ProducerID: b.ProducerID, ProducerEpoch: b.ProducerEpoch,
			BaseSequence: b.FirstSequence, NumRecords: b.NumRecords,
		}
		for _, r := range records[:b.NumRecords] {
			ours := clientRecord{Offset: r.Offset, Timestamp: r.Timestamp.UnixMilli(), Key: inHex(r.Key), Value: inHex(r.Value), Headers: []clientHeader{}}
			for _, h := range r.Headers {
				ours.Headers = append(ours.Headers, clientHeader{h.Key, inHex(h.Value)})
			}
			one.Records = append(one.Records, ours)
			one.Transactional, one.Control = r.Attrs.IsTransactional(), r.Attrs.IsControl()
		}
		records, log = records[b.NumRecords:], log[12+b.Length:]
		batches = append(batches, one)
	}
	return batches
}

// readSarama lets Sarama read what the keeper has. What it does not tell, checksum, length and attributes, is left as
// dump has it; it has checked the first two.
func (k *keeper) readSarama(t *testing.T, dumped []clientBatch) (batches []clientBatch) {
	t.Helper()
	broker := sarama.NewBroker(k.address.String())
	config := sarama.NewConfig()
	config.Version = sarama.V2_1_0_0
	if err := broker.Open(config); err != nil {
		t.Fatal(err)
	}
	defer broker.Close()
	request := &sarama.FetchRequest{Version: 10, MaxBytes: 1 << 30}
	request.AddBlock("orders", 0, 0, 1<<30, -1)
	response, err := broker.Fetch(request)
	if err != nil {
		t.Fatalf("sarama: %v", err)
	}
	for i, set := range response.GetBlock("orders", 0).RecordsSet {
		b := set.RecordBatch
		one := clientBatch{
			BaseOffset: b.FirstOffset, PartitionLeaderEpoch: b.PartitionLeaderEpoch, Magic: b.Version, CRCValid: true, Compression: b.Codec.String(),
			Transactional: b.IsTransactional, Control: b.Control, LastOffsetDelta: b.LastOffsetDelta, BaseTimestamp: b.FirstTimestamp.UnixMilli(),
			MaxTimestamp: b.MaxTimestamp.UnixMilli(), ProducerID: b.ProducerID, ProducerEpoch: b.ProducerEpoch, BaseSequence: b.FirstSequence,
			NumRecords: int32(len(b.Records)),
		}
		if i < len(dumped) {
			one.BatchLength, one.CRC, one.Attributes = dumped[i].BatchLength, dumped[i].CRC, dumped[i].Attributes
		}
		for _, r := range b.Records {
			ours := clientRecord{Offset: b.FirstOffset + r.OffsetDelta, Timestamp: b.FirstTimestamp.Add(r.TimestampDelta).UnixMilli(),
				Key: inHex(r.Key), Value: inHex(r.Value), Headers: []clientHeader{}}
			for _, h := range r.Headers {
				ours.Headers = append(ours.Headers, clientHeader{string(h.Key), inHex(h.Value)})
			}
			one.Records = append(one.Records, ours)
		}
		batches = append(batches, one)
	}
	return batches
}

// Files that clients of franz-go and of Sarama encoded, with every codec: dump --json says of each batch and record
// what both of them read, field for field, and the records are those that were handed to the client.
func TestDumpAgreesWithClients(t *testing.T) {
	for codec := record.None; codec <= record.Zstd; codec++ {
		for _, client := range []string{"franz-go", "sarama"} {
			for _, idempotent := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%v/idempotent=%v", client, codec, idempotent), func(t *testing.T) {
					k, rng := newKeeper(t), rand.New(rand.NewSource(int64(codec)))
					var sent []toProduce
					for range 3 {
						records := drawToProduce(rng)
						sent = append(sent, records...)
						if client == "sarama" {
							k.saramaProduces(t, codec, idempotent, records)
						} else {
							k.franzGoProduces(t, codec, idempotent, records)
						}
					}
					dumped := readDump(t, dumpLine(t, segmentOf(t, k.log), "--json", "--check"))
					if diff := cmp.Diff(readFranzGo(t, k.log), dumped); diff != "" {
						t.Errorf("(-franz-go +dump)\n%s", diff)
					}
					if diff := cmp.Diff(k.readSarama(t, dumped), dumped); diff != "" {
						t.Errorf("(-sarama +dump)\n%s", diff)
					}
					checkSent(t, sent, dumped, codec, idempotent)
				})
			}
		}
	}
}

func readDump(t *testing.T, text string) (batches []clientBatch) {
	t.Helper()
	for decoder := json.NewDecoder(strings.NewReader(text)); decoder.More(); {
		var b clientBatch
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&b); err != nil {
			t.Fatal(err)
		}
		batches = append(batches, b)
	}
	return batches
}

// checkSent holds what was dumped against what the client was given.
func checkSent(t *testing.T, sent []toProduce, dumped []clientBatch, codec record.Codec, idempotent bool) {
	t.Helper()
	var want, got []clientRecord
	for i, r := range sent {
		one := clientRecord{Offset: int64(i), Timestamp: r.timestamp.UnixMilli(), Key: inHex(r.key), Value: inHex(r.value), Headers: []clientHeader{}}
		for _, h := range r.headers {
			one.Headers = append(one.Headers, clientHeader{string(h[0]), inHex(h[1])})
		}
		want = append(want, one)
	}
	for _, b := range dumped {
		got = append(got, b.Records...)
		if b.Compression != codec.String() || (b.ProducerID == 1000) != idempotent {
			t.Errorf("a batch with %s and producer %d, want %v and idempotent %v", b.Compression, b.ProducerID, codec, idempotent)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-sent +dumped)\n%s", diff)
	}
}
