package storage

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/kafka"
	"loglab/engine/simdisk"
)

// appendOp is one append, so that it can be done again.
type appendOp struct {
	batch []byte
	epoch kafka.LeaderEpoch
	now   kafka.Timestamp
}

func (op appendOp) do(t *testing.T, l *Log) Appended {
	return mustAppend(t, l, op.batch, op.epoch, op.now)
}

func randomOp(r *rand.Rand, step int) appendOp {
	batch, now := randomBatch(r, startTime+kafka.Timestamp(10*step))
	return appendOp{batch, kafka.LeaderEpoch(step / 30), now}
}

// cloneConfig rolls often and has many index entries.
func cloneConfig() Config {
	config := DefaultConfig()
	config.SegmentBytes, config.IndexIntervalBytes = 600, 100
	return config
}

// branch is a log with its disk and all appends that led to it.
type branch struct {
	log     *Log
	history []appendOp
}

func (b branch) clone() branch {
	disk := b.log.disk.Clone()
	return branch{b.log.Clone(disk), append([]appendOp(nil), b.history...)}
}

// state is all that can be seen of a log.
type state struct {
	Segments  []Segment
	Epochs    []EpochEntry
	Producers []ProducerState
	Start     kafka.Offset
	End       kafka.Offset
	Size      int
	Files     map[string]string
	Synced    map[string]int
}

func stateOf(l *Log) state {
	s := state{l.Segments(), l.LeaderEpochs(), l.Producers(), l.LogStartOffset(), l.LogEndOffset(), l.Size(), map[string]string{}, map[string]int{}}
	for _, path := range l.disk.List("") {
		f, _ := l.disk.Open(path)
		s.Files[path], s.Synced[path] = string(l.disk.Bytes(f)), l.disk.Synced(f)
	}
	return s
}

// sameBytes compares long slices at once, not byte by byte.
var sameBytes = cmp.Comparer(bytes.Equal)

// straight does a history on a log that was never cloned.
func straight(t *testing.T, history []appendOp) *Log {
	l := New(new(simdisk.Disk), "orders-0", cloneConfig(), startTime)
	for _, op := range history {
		op.do(t, l)
	}
	return l
}

// Logs that are cloned and appended to in any order, some kept frozen as checkpoints, end as straight
// runs of the same appends, and each append answers the same.
func TestClonesEqualStraightRuns(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 2))
		branches := []branch{{log: straight(t, nil)}}
		var frozen []branch
		for step := range 150 {
			at := r.IntN(len(branches))
			switch b := &branches[at]; {
			case r.IntN(12) == 0 && len(branches) < 6:
				branches = append(branches, b.clone())
			case r.IntN(12) == 0:
				frozen = append(frozen, b.clone())
			case r.IntN(20) == 0 && len(frozen) > 0:
				branches[at] = frozen[r.IntN(len(frozen))].clone()
			default:
				op := randomOp(r, step)
				twin := b.clone()
				if diff := cmp.Diff(op.do(t, twin.log), op.do(t, b.log)); diff != "" {
					t.Fatalf("seed %d: step %d: a clone's append (-clone +original):\n%s", seed, step, diff)
				}
				b.history = append(b.history, op)
			}
		}
		for i, b := range append(branches, frozen...) {
			if diff := cmp.Diff(stateOf(straight(t, b.history)), stateOf(b.log), sameBytes); diff != "" {
				t.Fatalf("seed %d: log %d (-straight +cloned):\n%s", seed, i, diff)
			}
		}
	}
}

// One frozen clone is cloned by many goroutines at once, which all append, while the original goes on.
// Run with -race.
func TestConcurrentClonesOfAFrozenLog(t *testing.T) {
	const seed = 3
	r := rand.New(rand.NewPCG(seed, 3))
	original := branch{log: straight(t, nil)}
	var ops []appendOp
	for step := range 120 {
		ops = append(ops, randomOp(r, step))
	}
	for _, op := range ops[:60] {
		op.do(t, original.log)
	}
	frozen := original.clone()
	want := stateOf(straight(t, ops))

	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			clone := frozen.clone().clone()
			for _, op := range ops[60:] {
				if _, err := clone.log.Append(op.batch, op.epoch, op.now); err != nil {
					t.Errorf("clone %d: %v", i, err)
				}
			}
			if diff := cmp.Diff(want, stateOf(clone.log), sameBytes); diff != "" {
				t.Errorf("clone %d (-straight +cloned):\n%s", i, diff)
			}
		})
	}
	for _, op := range ops[60:] {
		op.do(t, original.log)
	}
	wait.Wait()
	if diff := cmp.Diff(stateOf(straight(t, ops[:60])), stateOf(frozen.log), sameBytes); diff != "" {
		t.Errorf("the frozen log (-straight +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, stateOf(original.log), sameBytes); diff != "" {
		t.Errorf("the original (-straight +got):\n%s", diff)
	}
}
