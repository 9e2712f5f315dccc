package ledger

import (
	"loglab/engine/kafka"
	"loglab/engine/record"
)

// standsAt is where a record stands.
type standsAt struct {
	tp     kafka.TopicPartition
	offset kafka.Offset
}

// checkOutputs looks at the transaction that a COMMIT marker ends: where an application wrote for records that it read,
// none of these has a committed output already. It is not promised of what somebody told a member to read again, nor
// where what was committed of the inputs, the outputs, the offsets or the transactions is lost. A marker that was cut off
// and is written again commits the same outputs.
func (k *Checker) checkOutputs(o *Observation, p *partitionSeen, r *replicaSeen, at int) {
	for i := range o.Groups {
		state := &o.Groups[i]
		if state.Outputs != p.tp.Topic || p.isUnclean || k.Lost(state.Offsets) {
			continue
		}
		g, marker := k.group(state.ID), &r.batches[at]
		for b := r.find(r.spans[marker.span].first); b < at; b++ {
			if r.batches[b].span == marker.span {
				k.takeOutputs(state, g, p.tp, r.batches[b].bytes)
			}
		}
	}
}

// takeOutputs takes in a committed batch of outputs.
func (k *Checker) takeOutputs(state *GroupState, g *groupSeen, tp kafka.TopicPartition, batch []byte) {
	b, err := record.Parse(batch)
	if err != nil {
		return
	}
	for scan := b.Scan(); scan.Next(); {
		from, offset, found := state.InputOf(scan.Record().Value)
		if !found || g.chosen[from] || k.Lost(from) {
			continue
		}
		input, output := standsAt{from, offset}, standsAt{tp, scan.Record().Offset}
		if had, again := g.outputs[input]; again && had != output {
			k.violated(OutputsOnce, tp, "the output at offset %d is committed, which group %s wrote for the record at %d of %s; the one at offset %d of %s is committed too",
				output.offset, state.ID, offset, from, had.offset, had.tp)
		}
		g.outputs[input] = output
	}
}
