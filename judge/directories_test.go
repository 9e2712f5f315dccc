//go:build judge

package judge

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"loglab/engine"
	"loglab/engine/assignor"
	"loglab/engine/command"
	"loglab/engine/kafka"
	"loglab/engine/partitioner"
	"loglab/engine/record"
	"loglab/engine/simdisk"
	"loglab/engine/storage"
	"loglab/labs"
	"loglab/labs/partitions"
	"loglab/labs/segments"
)

// drawnLogs is how many logs of drawn batches are dumped.
const drawnLogs = 12

// labRuns are addresses of the partition lab.
var labRuns = []string{
	"t=20",
	"t=300&partitions=1&keys=0&rate=10&consumers=1",
	"t=100&partitions=12&keys=100&rate=20&partitioner=crc32-random&assignor=roundrobin&seed=7",
	"t=60&partitions=3&keys=0&rate=5&keyless=round-robin&seed=3",
	"t=60&partitions=2&keys=%C3%A9t%C3%A9%0A%E6%97%A5%E6%9C%AC%0A%0Ax&rate=3&do=3:produce+p0+-+hello&do=3:produce+p0+%22%22+%22%22&do=5:pause+b1&do=9:resume+b1",
}

// runCluster runs the engine with what the lab does not offer: a codec, LogAppendTime, other segments, and
// records with an empty key, an empty value and no key.
func runCluster(t *testing.T, codec record.Codec, timestampType record.TimestampType) (storage.Config, *engine.Cluster) {
	t.Helper()
	config := storage.DefaultConfig()
	config.SegmentBytes, config.IndexIntervalBytes, config.MessageTimestampType = 3000, 200, timestampType
	producer := engine.DefaultProducerConfig("orders")
	producer.EnableIdempotence = engine.IdempotenceOff
	producer.Compression, producer.Partitioner, producer.Keyless = codec, partitioner.Names()[0], partitioner.KeylessNames()[0]
	cluster, err := engine.New(&engine.Spec{
		TickMillis: 10, Latency: 10, Cluster: engine.DefaultCluster(1),
		Topic:     engine.TopicSpec{Name: "orders", Partitions: 3, Config: config},
		Producers: []engine.ProducerSpec{{Config: producer, Workload: engine.Workload{Entities: []string{"a", "b", ""}, Rate: 4, Every: 10, ValueBytes: 40}}},
		Group:     engine.GroupSpec{Name: "billing", Consumers: 2, Assignor: assignor.ClientNames()[0], Config: engine.DefaultConsumerConfig("orders")},
	}, *seed)
	if err != nil {
		t.Fatal(err)
	}
	for tick := range 100 {
		for _, text := range []string{"produce p0", `produce p0 "" ""`, `produce p0 - "no key"`} {
			c, err := command.Parse(text)
			if err == nil && tick%7 == 0 {
				err = cluster.Apply(c)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := cluster.Tick(); err != nil {
			t.Fatal(err)
		}
	}
	return config, cluster
}

// dumpedFiles writes what runs of the lab, runs of the engine and appends of drawn batches left on disk, as
// Kafka lays it out, and one segment with what only a coordinator or the cleaner writes. It gives the paths
// below root.
func dumpedFiles(t *testing.T, root string) []string {
	t.Helper()
	rnd := draws(t)
	var files []string
	add := func(run string, cluster *engine.Cluster) {
		for _, p := range cluster.View().Partitions {
			files = append(files, writeSegments(t, root, filepath.Join(run, p.TopicPartition.String()), p.Log.Segments)...)
		}
	}
	runs := labs.NewRuns(64 << 20)
	for i, query := range labRuns {
		address, err := labs.Parse(partitions.Lab(), labs.Pages, query)
		if err != nil {
			t.Fatal(err)
		}
		cluster, err := runs.Cluster(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		add(fmt.Sprint("lab-", i), cluster)
	}
	files = append(files, labDirectories(t, root, runs)...)
	for codec := record.None; codec <= record.Zstd; codec++ {
		for _, timestampType := range []record.TimestampType{record.CreateTime, record.LogAppendTime} {
			_, cluster := runCluster(t, codec, timestampType)
			add(fmt.Sprintf("%v-%v", codec, timestampType), cluster)
		}
	}
	for i := range drawnLogs {
		run := newLogRun(rnd.Split(fmt.Sprint("run ", i)), "")
		for range appendsARun {
			run.step()
		}
		files = append(files, writeSegments(t, root, fmt.Sprintf("drawn-%d/orders-0", i), run.log.Segments())...)
	}
	files = append(files, writeSegments(t, root, "cleaned/orders-0", cleanedSegments(t))...)
	return append(files, writeSegments(t, root, "written/orders-0", []storage.Segment{{Bytes: writtenSegment(t)}})...)
}

// labDirectories writes the directory that the segment lab lets its reader keep, at the end of each of its ready-made
// runs, without the files that wait to be removed.
func labDirectories(t *testing.T, root string, runs *labs.Runs) (files []string) {
	t.Helper()
	lab := segments.Lab()
	for i, ready := range lab.Ready {
		address, err := labs.Parse(lab, labs.Pages, ready.Query)
		if err != nil {
			t.Fatal(err)
		}
		cluster, err := runs.Cluster(t.Context(), address.WithTick(address.Horizon))
		if err != nil {
			t.Fatal(err)
		}
		name, list := lab.Disk(cluster)
		for _, f := range list {
			if file := filepath.Join(fmt.Sprint("segments-lab-", i), name, f.Name); !strings.HasSuffix(f.Name, storage.DeletedSuffix) {
				files = append(files, file)
				writeFile(t, filepath.Join(root, file), f.Bytes)
			}
		}
	}
	return filesWith(files, storage.LogSuffix, storage.OffsetIndexSuffix, storage.TimeIndexSuffix)
}

// cleanedSegments are three segments of a compacted log after a cleaning, with batches of all codecs, headers,
// tombstones and a batch that was emptied: the last of producer 7, whose records producer 8 has replaced.
func cleanedSegments(t *testing.T) []storage.Segment {
	t.Helper()
	config := storage.DefaultConfig()
	config.SegmentBytes, config.IndexIntervalBytes, config.Compact = 3000, 200, true
	log := storage.New(new(simdisk.Disk), "orders-0", config, startTime)
	now := startTime
	sequences := map[kafka.ProducerID]kafka.Sequence{}
	for i := 0; len(log.Segments()) < 3; i++ {
		id := kafka.ProducerID(8)
		if i < 10 {
			id = 7
		}
		now++
		key := fmt.Appendf(nil, "k%d", i%10)
		records := []drawnRecord{
			{timestamp: now, key: key, value: bytes.Repeat([]byte("value "), 10), headers: []record.Header{{Key: "trace", Value: key}, {Key: "empty"}}},
			{timestamp: now, key: append(key, '-'), value: []byte{}},
		}
		if i%7 == 6 {
			records[1].value = nil
		}
		batch := build(records, record.Options{Codec: record.Codec(i % 5), Producer: &record.Producer{ID: id, BaseSequence: sequences[id]}})
		if _, err := log.Append(batch, 0, now); err != nil {
			t.Fatal(err)
		}
		sequences[id] += 2
	}
	emptied, tombstones, codecs := 0, 0, map[record.Codec]bool{}
	if _, err := log.Clean(log.Cleanable(kafka.NoOffset, log.LogEndOffset(), now), now); err != nil {
		t.Fatal(err)
	}
	for len(log.Segments()) < 3 {
		now++
		batch := build([]drawnRecord{{timestamp: now, key: []byte("k"), value: make([]byte, 900)}}, record.Options{})
		if _, err := log.Append(batch, 0, now); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range log.Segments() {
		for b, err := record.Parse(s.Bytes); err == nil; b, err = record.Parse(s.Bytes) {
			records, _ := b.Records()
			if s.Bytes = s.Bytes[b.Size():]; len(records) == 0 {
				emptied++
			}
			codecs[b.Attributes.Codec()] = true
			for _, r := range records {
				if r.Value == nil {
					tombstones++
				}
			}
		}
	}
	if emptied == 0 || tombstones == 0 || len(codecs) < 5 || len(log.Segments()) != 3 {
		t.Fatalf("%d segments, %d emptied batches, %d tombstones, %d codecs; want 3, and some of each", len(log.Segments()), emptied, tombstones, len(codecs))
	}
	return log.Segments()
}

// writeSegments writes the files of segments in a directory below root. It gives their paths below root.
func writeSegments(t *testing.T, root, dir string, segments []storage.Segment) (files []string) {
	t.Helper()
	for _, s := range segments {
		for _, f := range []struct {
			suffix  string
			content []byte
		}{{storage.LogSuffix, s.Bytes}, {storage.OffsetIndexSuffix, s.OffsetIndex}, {storage.TimeIndexSuffix, s.TimeIndex}} {
			file := filepath.Join(dir, storage.SegmentFileName(s.BaseOffset, f.suffix))
			writeFile(t, filepath.Join(root, file), f.content)
			files = append(files, file)
		}
	}
	return files
}

// writtenSegment holds a transaction with its marker, then a cleaned batch with a delete horizon, one that
// was emptied, and an abort.
func writtenSegment(t *testing.T) []byte {
	t.Helper()
	var segment []byte
	next := kafka.Offset(0)
	add := func(batch []byte, err error) {
		if err != nil {
			t.Fatal(err)
		}
		record.Stamp(batch, next, 3)
		segment = append(segment, batch...)
		parsed, err := record.Parse(batch)
		if err != nil {
			t.Fatal(err)
		}
		next = parsed.NextOffset()
	}
	records := []drawnRecord{{timestamp: startTime, key: []byte("a"), value: []byte("1")}, {timestamp: startTime + 1, key: []byte("b")}, {timestamp: startTime - 1}}
	options := record.Options{Transactional: true, Producer: &record.Producer{ID: 1000, Epoch: 2, BaseSequence: 2147483646}}
	data := build(records, options)
	batch, err := record.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	read, err := batch.Records()
	if err != nil {
		t.Fatal(err)
	}
	add(data, nil)
	add(record.EndTxnMarker{Type: record.Commit, CoordinatorEpoch: 4}.Build(startTime+10, 1000, 3))
	add(record.Retain(batch, read[1:2], startTime+86_400_000))
	add(record.Retain(batch, nil, kafka.NoTimestamp))
	add(record.EndTxnMarker{Type: record.Abort, CoordinatorEpoch: 5}.Build(startTime+20, 1000, 4))
	return segment
}
