package inspect

import (
	"fmt"
	"strings"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/storage"
	"loglab/labs"
	"loglab/labs/view"
)

// Record shows what a record holds, where it stands, and its bytes. The key is in words; so is how it came to its
// partition, empty where nobody tells.
func (l Log) Record(in *view.Inspector, at Location, key, partition string) {
	r, b := at.Record, at.Batch
	in.AddFact("Key", "%s", key)
	if r.Value == nil {
		in.AddFact("Value", "null")
	} else {
		in.AddFact("Value", "%s, %s", record.Printable(r.Value), kafka.Count(len(r.Value), "byte"))
	}
	in.AddFact("Headers", "%s", Headers(r.Headers))
	if partition != "" {
		in.AddFact("Partition", "%s", partition)
	}
	in.AddFact("Offset", "%d, which is the batch’s base offset %d + %d", r.Offset, b.BaseOffset, r.OffsetDelta)
	in.AddFact("Timestamp", "%d ms since 1970, %s", r.Timestamp, sinceStart(r.Timestamp))
	in.AddFact("Place", "%s in a batch of %s at byte %s of %s", kafka.Count(r.Size, "byte"), kafka.Count(int(b.RecordsCount), "record"),
		kafka.Thousands(at.Position), storage.SegmentFileName(at.Segment.BaseOffset, storage.LogSuffix))
	in.Links = append(in.Links, l.open("open-batch", "its batch", labs.BatchTarget, r.Offset), l.open("open-find", "how a read finds it", labs.FindTarget, r.Offset))
	in.Chain = l.appendChain(at)
	in.Anatomies = []view.Anatomy{recordAnatomy(at)}
}

// Headers lists a record's headers.
func Headers(list []record.Header) string {
	if len(list) == 0 {
		return "none"
	}
	var texts []string
	for i, h := range list {
		if i == 8 {
			texts = append(texts, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		texts = append(texts, fmt.Sprintf("%s = %s", record.Printable([]byte(h.Key)), record.Printable(h.Value)))
	}
	return strings.Join(texts, ", ")
}

// sinceStart says when in the run a time was; what is there at tick 0 may be older.
func sinceStart(t kafka.Timestamp) string {
	if t < engine.StartTime {
		return kafka.Thousands(engine.StartTime-t) + " ms before the run"
	}
	return kafka.Thousands(t-engine.StartTime) + " ms into the run"
}
