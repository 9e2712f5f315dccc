package ledger

import (
	"testing"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/record"
)

// A leader can take a batch for the one before it whose sequences it took over, and answer with the other's place: what was
// acknowledged so need not be there. Nothing else that is missing is excused by it.
func TestInheritedSequence(t *testing.T) {
	for _, tc := range []struct {
		what          string
		transactional bool
		gaveUp        kafka.NodeID
		repeated      []journal.DuplicateRecognised
		wrong         int
	}{
		{"the batch before was given up, and a leader took this one for it", true, "p1", []journal.DuplicateRecognised{{BaseOffset: 0, LastOffset: 1}}, 0},
		{"no leader took it for another", true, "p1", nil, 1},
		{"it took another one for another", true, "p1", []journal.DuplicateRecognised{{BaseOffset: 0, LastOffset: 0}, {BaseOffset: 2, LastOffset: 2}}, 1},
		{"another producer gave up", true, "p2", []journal.DuplicateRecognised{{BaseOffset: 1, LastOffset: 1}}, 1},
		{"nobody gave up", true, "", []journal.DuplicateRecognised{{BaseOffset: 1, LastOffset: 1}}, 1},
		{"without a transaction nobody takes over sequences", false, "p1", []journal.DuplicateRecognised{{BaseOffset: 1, LastOffset: 1}}, 1},
	} {
		l := newTxnLog(t)
		l.append(record.Options{}, 2)
		l.look()
		p := l.k.of(orders0)
		p.known, p.state = true, metadata.Partition{Leader: 1, Replicas: []kafka.BrokerID{1}, ISR: []kafka.BrokerID{1}}
		if tc.gaveUp != "" {
			p.gaveUp(tc.gaveUp)
		}
		for _, r := range tc.repeated {
			p.recognised(r)
		}
		promise := Promise{Record: 4, Producer: "p1", TopicPartition: orders0, Offset: 1, Key: []byte("k"), Value: []byte("another")}
		if tc.transactional {
			promise.Coordinated = kafka.TopicPartition{Topic: "__transaction_state"}
		}
		l.k.checkPromises(&Observation{Promises: []Promise{promise}})
		if len(l.k.out) != tc.wrong || tc.wrong > 0 && l.k.out[0].Invariant != AcknowledgedSurvive {
			t.Errorf("%s: %v", tc.what, l.k.out)
		}
		if !p.lost {
			t.Errorf("%s: nothing is known to be lost", tc.what)
		}
	}
}
