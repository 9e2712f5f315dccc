//go:build judge

package judge

import (
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/clienttest"
	"loglab/engine/record"
)

// Kafka's producer takes the sequence of a batch that it gives up for the next one, though the first may be written. With
// transaction version 1 it keeps its epoch too if the transaction was being ended, and takes another one otherwise; with
// version 2 it is given one. What a leader makes of that is in TestBatchGivenUpAtTheEnd of engine/enginetest.
func TestBatchGivenUp(t *testing.T) {
	for _, tc := range []struct {
		version int16
		when    string
		b       string // epoch and sequence
	}{{1, "commit", "epoch 0 sequence 1"}, {1, "abort", "epoch 0 sequence 1"}, {1, "before", "epoch 1 sequence 0"}, {2, "commit", "epoch 1 sequence 0"}} {
		k := &refuser{version: tc.version}
		k.address = clienttest.Serve(t, k.respond)
		output(t, kafkaProgram(t, "GivesUp", k.address.String(), tc.when))
		want := []string{"first epoch 0 sequence 0", "a epoch 0 sequence 1", "a epoch 0 sequence 1", "b " + tc.b}
		if !slices.Equal(k.sent, want) {
			t.Errorf("transaction version %d, %s: sent %q, want %q", tc.version, tc.when, k.sent, want)
		}
	}
}

// refuser is a broker that answers a batch with the record "a" first with REQUEST_TIMED_OUT, which leaves open whether it is
// written, then with an error for which it is not sent again.
type refuser struct {
	version int16 // transaction.version
	address *net.TCPAddr
	epoch   int16
	sent    []string // the batches, each time
	asked   int      // to write "a"
}

func (k *refuser) respond(request kmsg.Request) kmsg.Response {
	const orders = "orders"
	response := request.ResponseKind()
	switch r := response.(type) {
	case *kmsg.ApiVersionsResponse:
		for key, version := range map[int16]int16{0: 12, 3: 12, 10: 4, 18: 4, 22: 5, 24: 3, 26: 3 + k.version} {
			r.ApiKeys = append(r.ApiKeys, kmsg.ApiVersionsResponseApiKey{ApiKey: key, MaxVersion: version})
		}
		const feature = "transaction.version"
		r.SupportedFeatures = []kmsg.ApiVersionsResponseSupportedFeature{{Name: feature, MaxVersion: 2}}
		r.FinalizedFeatures = []kmsg.ApiVersionsResponseFinalizedFeature{{Name: feature, MinVersionLevel: k.version, MaxVersionLevel: k.version}}
		r.FinalizedFeaturesEpoch = 1
	case *kmsg.MetadataResponse:
		topic := orders
		r.Brokers = []kmsg.MetadataResponseBroker{{Host: k.address.IP.String(), Port: int32(k.address.Port)}}
		partition := kmsg.NewMetadataResponseTopicPartition()
		partition.LeaderEpoch, partition.Replicas, partition.ISR = 0, []int32{0}, []int32{0}
		r.Topics = []kmsg.MetadataResponseTopic{{Topic: &topic, TopicID: [16]byte{1}, Partitions: []kmsg.MetadataResponseTopicPartition{partition}}}
	case *kmsg.FindCoordinatorResponse:
		r.Coordinators = []kmsg.FindCoordinatorResponseCoordinator{{Key: "one", Host: k.address.IP.String(), Port: int32(k.address.Port)}}
	case *kmsg.InitProducerIDResponse:
		if asked := request.(*kmsg.InitProducerIDRequest); asked.ProducerID >= 0 {
			k.epoch = asked.ProducerEpoch + 1
		}
		r.ProducerID, r.ProducerEpoch = 1000, k.epoch
	case *kmsg.AddPartitionsToTxnResponse:
		r.Topics = []kmsg.AddPartitionsToTxnResponseTopic{{Topic: orders, Partitions: []kmsg.AddPartitionsToTxnResponseTopicPartition{{}}}}
	case *kmsg.EndTxnResponse:
		if k.version == 2 {
			k.epoch++
		}
		r.ProducerID, r.ProducerEpoch = 1000, k.epoch
	case *kmsg.ProduceResponse:
		partition := kmsg.NewProduceResponseTopicPartition()
		partition.ErrorCode = k.write(request.(*kmsg.ProduceRequest).Topics[0].Partitions[0].Records)
		r.Topics = []kmsg.ProduceResponseTopic{{Topic: orders, Partitions: []kmsg.ProduceResponseTopicPartition{partition}}}
	}
	return response
}

// write notes a batch of one record, and gives the error.
func (k *refuser) write(data []byte) (code int16) {
	batch, err := record.Parse(data)
	if err != nil {
		return kerr.CorruptMessage.Code
	}
	records, err := batch.Records()
	if err != nil || len(records) != 1 {
		return kerr.InvalidRecord.Code
	}
	value := string(records[0].Value)
	k.sent = append(k.sent, fmt.Sprintf("%s epoch %d sequence %d", value, batch.ProducerEpoch, batch.BaseSequence))
	if value != "a" {
		return 0
	}
	if k.asked++; k.asked == 1 {
		time.Sleep(2 * time.Second) // until its sender waits for it in commitTransaction or abortTransaction
		return kerr.RequestTimedOut.Code
	}
	return kerr.TopicAuthorizationFailed.Code
}
