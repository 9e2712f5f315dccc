package ledger

import (
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
)

// takeUpkeep learns where logs begin, how far they were cleaned, and whose log was cleaned or cut since the last look.
func (k *Checker) takeUpkeep(e journal.Event) {
	switch body := e.Body.(type) {
	case journal.SegmentsDeleted:
		p := k.of(body.TopicPartition)
		p.start = max(p.start, body.LogStartTo)
	case journal.LogStartOffsetMoved:
		p := k.of(body.TopicPartition)
		p.start = max(p.start, body.To)
	case journal.LogCleaned:
		p := k.of(body.TopicPartition)
		p.cleaned = max(p.cleaned, body.Checkpoint)
		p.replicaOf(k.idOf(e.Node)).cleaned++
	case journal.LogTruncated:
		p := k.of(body.TopicPartition)
		r := p.replicaOf(k.idOf(e.Node))
		if was := max(r.highWatermark, r.reached); p.disturbed && was > body.To {
			p.gone = p.gone.with(body.To, was)
		}
		r.reached = body.To
		r.cut, r.cutTo, r.settled = true, body.To, body.To // a snapshot of producers knows of no markers above the high watermark
	}
}

func (k *Checker) idOf(node kafka.NodeID) kafka.BrokerID {
	id, _ := k.brokerOf(node)
	return id
}

// replicaOf gives what is remembered of a broker's replica.
func (p *partitionSeen) replicaOf(id kafka.BrokerID) *replicaSeen {
	r := p.replicas[id]
	if r == nil {
		r = &replicaSeen{agreed: map[kafka.BrokerID]kafka.Offset{}}
		p.replicas[id] = r
	}
	return r
}

// over says whether retention, DeleteRecords or a cleaning may have taken what lies at an offset, from any replica.
func (p *partitionSeen) over(offset kafka.Offset) bool { return offset < max(p.start, p.cleaned) }

// lastOfKey is the last record of a key in a log.
type lastOfKey struct {
	offset    kafka.Offset
	tombstone bool
}

// lastOfKeys is the last record of each key, with the keys in the order in which they came first.
type lastOfKeys struct {
	order []string
	byKey map[string]lastOfKey // only looked up
}

// lastInKeys gives the last records of a log. Those of transactions that were aborted, or are open, do not count.
func (r *replicaSeen) lastInKeys() lastOfKeys {
	l := lastOfKeys{byKey: map[string]lastOfKey{}}
	for i := range r.batches {
		if b := &r.batches[i]; !b.isMarker && r.isCommitted(b) {
			l.add(b.bytes)
		}
	}
	return l
}

func (l *lastOfKeys) add(batch []byte) {
	b, err := record.Parse(batch)
	if err != nil {
		return
	}
	for scan := b.Scan(); scan.Next(); {
		r := scan.Record()
		key := string(r.Key)
		if _, known := l.byKey[key]; !known {
			l.order = append(l.order, key)
		}
		l.byKey[key] = lastOfKey{r.Offset, r.Value == nil}
	}
}

// checkCleaned looks whether a log that was cleaned still has the last record of every key that it had: the key may
// have a later one by now, and a tombstone may be gone if nothing is left that it deleted. One that came since the last look
// is gone with the second cleaning.
func (k *Checker) checkCleaned(p *partitionSeen, id kafka.BrokerID, was *replicaSeen, now *ReplicaState) {
	var is replicaSeen
	for i := range now.Segments {
		for at := 0; ; {
			next, err := parseBatch(&now.Segments[i], at)
			if err != nil {
				break
			}
			is.noteSpan(&next)
			is.batches = append(is.batches, next)
			at += len(next.bytes)
		}
	}
	before, after := was.lastInKeys(), is.lastInKeys()
	for _, key := range before.order {
		had := before.byKey[key]
		has, there := after.byKey[key]
		if had.offset < p.start || there && has.offset >= had.offset || !there && (had.tombstone || was.cleaned > 1) {
			continue
		}
		if !there {
			has.offset = kafka.NoOffset
		}
		k.violated(CleaningKeepsLast, p.tp, "broker %d: the last record of key %q stood at offset %d (tombstone: %t); after a cleaning the last is at %d", id, key, had.offset, had.tombstone, has.offset)
	}
}
