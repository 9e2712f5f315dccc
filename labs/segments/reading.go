package segments

import (
	"fmt"
	"strings"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/engine/storage"
	"loglab/labs"
	"loglab/labs/view"
)

// startTime is the wall clock at the start of the run.
const startTime = engine.StartTime

// reading says in plain words what the picture shows, and what comes next.
func (l *layout) reading() []view.Paragraph {
	var list []view.Paragraph
	add := func(paragraphs ...view.Paragraph) {
		for _, p := range paragraphs {
			if len(p) > 0 {
				list = append(list, p)
			}
		}
	}
	add(l.readState(), l.readBelow())
	add(l.readRetention()...)
	add(l.readCleaner(), l.readTombstones(), l.readFiles(), l.readReader(), l.readKeysText(), l.readRoll(), l.readPower())
	return list
}

// readState says what is in the log.
func (l *layout) readState() view.Paragraph {
	n := 0
	for _, b := range l.batches {
		n += int(b.RecordsCount)
	}
	p := say(fmt.Sprintf("%s has %s on the disk, ", partition, kafka.Count(n, "record")), "%s in %s: the log begins at offset %d and ends at %d.", kafka.Count(l.log.Bytes, "byte"),
		kafka.Count(len(l.log.Segments), "segment"), l.log.LogStartOffset, l.log.LogEndOffset)
	if gaps := int(l.log.LogEndOffset-l.log.Segments[0].BaseOffset) - n; gaps > 0 {
		p = append(p, view.Span{Text: fmt.Sprintf(" %s between %s no record: cleaning leaves gaps, and moves no record to another offset.", kafka.Count(gaps, "offset"), labs.Verb(gaps, "has", "have"))})
	}
	if !l.open {
		p = append(p, view.Span{Text: fmt.Sprintf(" b1 %s; this is what its log will be when it has opened it%s.", l.onDisk(), l.droppedText())})
	}
	return p
}

// droppedText says what the broker will drop when it opens its log, if that is so.
func (l *layout) droppedText() string {
	bytes := 0
	for _, f := range l.files {
		if strings.HasSuffix(f.Name, storage.LogSuffix) {
			bytes += len(f.Bytes)
		}
	}
	if bytes == l.log.Bytes {
		return ""
	}
	return fmt.Sprintf(", out of %s in .log files: what is torn, or ends below the log start offset, goes", kafka.Count(bytes, "byte"))
}

// readBelow says what lies below the log start offset and is still there.
func (l *layout) readBelow() view.Paragraph {
	n := 0
	for _, b := range l.batches {
		if b.BaseOffset >= l.log.LogStartOffset {
			break
		}
		for _, r := range records(b.Batch, int(b.RecordsCount)) {
			if r.Offset < l.log.LogStartOffset {
				n++
			}
		}
	}
	if n == 0 {
		return nil
	}
	return say(fmt.Sprintf("%s below the log start offset %d: ", kafka.Count(n, "record")+" "+labs.Verb(n, "is", "are"), l.log.LogStartOffset),
		"no reader gets %s any more, and the bytes stay until %s.", labs.Verb(n, "it", "them"), l.belowUntil("the whole segment is below it"))
}

// belowUntil says when the bytes of records below the log start offset go, which waits for their segment to be below it.
func (l *layout) belowUntil(segment string) string {
	if l.config.Compact {
		return segment + " and a check of retention comes, or until a cleaning takes them"
	}
	return segment + " and a check of retention comes"
}
