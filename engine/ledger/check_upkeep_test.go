package ledger

import (
	"testing"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/storage"
)

// A log ends where its last batch does, unless it was cut within the batch behind that, which is then gone whole.
func TestLogCutWithinABatch(t *testing.T) {
	builder := record.NewBuilder(record.Options{})
	builder.Append(1000, []byte("k"), []byte("v"))
	builder.Append(1001, []byte("k"), []byte("w"))
	batch, err := builder.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		end   kafka.Offset
		cutTo kafka.Offset // 0: it was not cut
		wrong int
	}{{2, 0, 0}, {3, 0, 1}, {3, 3, 0}, {4, 3, 1}, {1, 1, 1}} {
		var k Checker
		k.partitions, k.brokers = map[kafka.TopicPartition]*partitionSeen{}, map[kafka.BrokerID]*brokerSeen{1: {}}
		p := k.of(orders0)
		if test.cutTo > 0 {
			k.takeUpkeep(journal.Event{Node: "b1", Body: journal.LogTruncated{TopicPartition: orders0, To: test.cutTo}})
		}
		k.follow(p, 1, p.replicaOf(1), &ReplicaState{TopicPartition: orders0, Open: true, LogEndOffset: test.end, Segments: []storage.Segment{{Bytes: batch, LastOffset: 1}}})
		if len(k.out) != test.wrong {
			t.Errorf("a batch of offsets 0 and 1, log end offset %d, cut to %d: %v, want %d violations", test.end, test.cutTo, k.out, test.wrong)
		}
	}
}

// What a cleaning leaves was seen when it was: a disk that was lost since has lost it too.
func TestSeenBeforeTheCleaning(t *testing.T) {
	l := newTxnLog(t)
	l.k.tick = 7
	l.append(record.Options{}, 1)
	l.append(record.Options{}, 1)
	r := l.look()
	l.k.tick = 9
	l.append(record.Options{}, 1)
	r.cleaned = 1
	l.look()
	for i, want := range []kafka.Tick{7, 7, 9} {
		if got := r.batches[i].seen; got != want {
			t.Errorf("batch %d was seen in tick %d, want %d", i, got, want)
		}
	}
}

// A log that a power loss has left with an empty segment ends where that begins, behind a hole or not.
func TestLogThatEndsWithAnEmptySegment(t *testing.T) {
	builder := record.NewBuilder(record.Options{})
	builder.Append(1000, []byte("k"), []byte("v"))
	batch, err := builder.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		lost      bool
		base, end kafka.Offset
		wrong     int
	}{{true, 5, 5, 0}, {true, 1, 1, 0}, {false, 5, 5, 1}, {true, 5, 6, 1}} {
		var k Checker
		k.partitions, k.brokers = map[kafka.TopicPartition]*partitionSeen{}, map[kafka.BrokerID]*brokerSeen{1: {hasLost: test.lost}}
		k.follow(k.of(orders0), 1, k.of(orders0).replicaOf(1), &ReplicaState{TopicPartition: orders0, Open: true, LogEndOffset: test.end,
			Segments: []storage.Segment{{Bytes: batch}, {BaseOffset: test.base, LastOffset: test.base - 1}}})
		if len(k.out) != test.wrong {
			t.Errorf("a batch of offset 0, an empty segment from %d, log end offset %d, lost: %t: %v, want %d violations", test.base, test.end, test.lost, k.out, test.wrong)
		}
	}
}

// A cleaning keeps the last record of each key. With a second one a tombstone that came and went in between may have deleted it.
func TestCleaningKeepsTheLastOfEachKey(t *testing.T) {
	batch := func(key string) []byte {
		builder := record.NewBuilder(record.Options{})
		builder.Append(1000, []byte(key), []byte("v"))
		bytes, err := builder.Build()
		if err != nil {
			t.Fatal(err)
		}
		return bytes
	}
	for _, test := range []struct {
		cleanings, wrong int
	}{{1, 1}, {2, 0}} {
		var k Checker
		k.partitions, k.brokers = map[kafka.TopicPartition]*partitionSeen{}, map[kafka.BrokerID]*brokerSeen{1: {}}
		r := k.of(orders0).replicaOf(1)
		look := func(key string) {
			k.follow(k.of(orders0), 1, r, &ReplicaState{TopicPartition: orders0, Open: true, LogEndOffset: 1, Segments: []storage.Segment{{Bytes: batch(key)}}})
		}
		look("k1")
		for range test.cleanings {
			k.takeUpkeep(journal.Event{Node: "b1", Body: journal.LogCleaned{TopicPartition: orders0, Checkpoint: 1}})
		}
		look("k2")
		if len(k.out) != test.wrong {
			t.Errorf("after %d cleanings: %v, want %d violations", test.cleanings, k.out, test.wrong)
		}
	}
}
