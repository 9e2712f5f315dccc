package partitions

import (
	"strconv"
	"testing"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/inspect"
	"loglab/labs/labtest"
)

// What the reading says where something stands still, is down, cut off, lost or written twice.
func TestReadingWhereSomethingFails(t *testing.T) {
	for _, c := range []struct {
		query       string
		says, lacks []string
	}{
		{"do=4:pause+b1&t=12", []string{"4 of 6 consumers wait for b1.", "b1 stands still: nothing is written or read"}, []string{"consumers work", "If c", "first stop"}},
		{"do=5:kill+b1&t=14", []string{"4 of 6 consumers wait for b1.", "b1 does not run"}, []string{"consumers work", "If c", "first stop"}},
		{"do=5:cut+b1+c0&t=20", []string{"3 of 6 consumers work.", "Nothing passes between c0 and b1"}, []string{"If c0"}},
		{"consumers=1&t=12", []string{"No other consumer is there to take them"}, []string{"to others"}},
		{"consumers=1&do=5:kill+c0&t=12", nil, []string{"If c0 stood still"}},
		{"do=5:add-partitions+orders+to+9&do=6:kill+c0&t=40&horizon=60", []string{"shares 4 partitions of 9: c0, which would learn of the others, does not run."}, []string{"223,372"}},
		{"do=6:wipe+b1&do=8:start+b1&t=14", []string{"4 of 6 consumers wait for b1.", "b1 runs and does not lead the partitions", "No record is in the log any more.", "0 are in the log, and the producer was told of 15 that they were. The group has read 0 of them."}, []string{"yet"}},
		{"do=5:drop-next+b1+p0&do=8:stop-sending+p0&t=30", []string{"given 24 records; 27 are in the log", "Some stand there more than once."}, nil},
		{"do=5:drop-next+b1+p0&do=8:stop-sending+p0&t=12", []string{"of 15 records p0 does not know yet that they are written"}, []string{"still to be read"}},
		{"do=5:stop-sending+p0&do=5:kill+p0&t=20", nil, []string{"still to be read", "can be added", "send again"}},
		{"do=5:stop-sending+p0&do=6:pause+c0&t=20", []string{"1 record is still to be read; c0 cannot read now."}, []string{"step on"}},
		{"consumers=8&do=3:kill+c7&t=12", []string{"3 consumers are idle: c4, c5, c6.", "c7 does not run."}, []string{"c7 does not run: nobody"}},
		{"do=5:kill+b1&do=7:start+b1&do=8:wait+20s&t=12", []string{"4 of 6 consumers work."}, []string{"b1 "}},
		{"do=5:double-next+p0+b1&t=14", []string{"42 are in the log", "Some can stand there more than once."}, nil},
		{"second=crc32-random&do=3:kill+p1&t=20", []string{"p0 (murmur2) sends order-1 to orders-2, p1 (crc32-random) would send it to orders-3"}, nil},
		{"do=4:kill+c1&do=8:start+c1&t=20", nil, []string{"in tick 15"}},
		{"keys=3&rate=6&consumers=1&do=10:kill+c0&do=12:start+c0&t=22", []string{"within one partition: a reader began again at records that had been read."}, []string{"were written."}},
		{"draw=hot-key&rate=10&second=crc32-random&t=20", []string{"56 of 200 records, 28 %, for orders-2 alone."}, []string{"all of them"}},
	} {
		_, p := frame(t, c.query)
		wants(t, p, c.says...)
		lacks(t, p, c.lacks...)
	}
}

// How much the group has read is what its processes were given, whether they still run or not.
func TestReadIsWhatWasRead(t *testing.T) {
	for _, query := range []string{"t=12", "do=7:kill+c1&t=12", "do=7:kill+c1&do=12:start+c1&t=15", "do=7:kill+c1&do=12:start+c1&t=30"} {
		f, p := frame(t, query)
		read, to := int64(0), map[kafka.TopicPartition]kafka.Offset{}
		for e := range f.Cluster.Journal().All() {
			if b, is := e.Body.(journal.RecordsRead); is && b.To > to[b.TopicPartition] {
				read, to[b.TopicPartition] = read+int64(b.To-max(to[b.TopicPartition], b.From)), b.To
			}
		}
		wants(t, p, "The group has read "+kafka.Thousands(read)+" of them.")
		for i, s := range p.Picture.Strips {
			for _, cell := range s.Cells {
				if offset, _ := strconv.Atoi(cell.Offset); cell.Waiting != (kafka.Offset(offset) >= to[f.View.Partitions[i].TopicPartition]) {
					t.Errorf("%s: the record %s of %s is waiting: %t", query, cell.Offset, s.Name, cell.Waiting)
				}
			}
		}
	}
}

// A strip names a consumer as reading only where it reads.
func TestStripsOfConsumersThatDoNotRead(t *testing.T) {
	for query, want := range map[string]string{"t=12": "read by c1", "do=4:kill+c1&t=12": "c1 does not run", "do=4:pause+c1&t=12": "c1 stands still", "do=4:pause+b1&t=12": "b1 stands still", "do=5:cut+b1+c1&t=12": "c1 is cut off"} {
		if _, p := frame(t, query); p.Picture.Strips[1].Owner != want {
			t.Errorf("%s: %q, want %q", query, p.Picture.Strips[1].Owner, want)
		}
	}
}

// With which event a record was handed in is not told where counting does not find it.
func TestHandedInIsNotGuessed(t *testing.T) {
	for query, tells := range map[string]bool{"": true, "do=5:double-next+p0+b1&": false, "do=5:drop-next+b1+p0&": false, "do=4:kill+p0&do=6:start+p0&": false, "do=6:wipe+b1&do=8:start+b1&": false} {
		f := labtest.Replay(t, Lab(), query+"t=90&horizon=90")
		tp := kafka.TopicPartition{Topic: topic, Partition: 2}
		log := inspectLog(f, f.View.Partitions[tp.Partition])
		at, told := logTarget(labs.RecordTarget, tp, 3), false
		log.Show(inspect.New(f.Address.WithTarget(at)), at, func(found inspect.Location) { told = handedIn(f, tp, found.Record) != nil })
		if told != tells {
			t.Errorf("%s: told %t, want %t", query, told, tells)
		}
	}
}
