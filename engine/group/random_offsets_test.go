package group

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/simnet"
)

// offsetsByLog is what Kafka's coordinator has of offsets after it has read a log, as OffsetMetadataManager.replay and
// replayEndTransactionMarker say: two tables and the place of each record in the log.
type offsetsByLog struct {
	read      int
	committed map[string]placed
	pending   map[kafka.ProducerID]map[string]placed
}

type placed struct {
	offset kafka.Offset
	at     int // in the log
}

// take reads on in a log.
func (o *offsetsByLog) take(log []coordinator.Logged) {
	for ; o.read < len(log); o.read++ {
		l := log[o.read]
		if l.End != coordinator.NotEnded {
			for name, p := range o.pending[l.Producer] {
				if existing, found := o.committed[name]; l.End == coordinator.Committed && (!found || existing.at < p.at) {
					o.committed[name] = p
				}
			}
			delete(o.pending, l.Producer)
			continue
		}
		key, err := DecodeKey(l.Key)
		if err != nil || key.Type != TypeOffsetCommit {
			continue
		}
		name := key.Group + " " + key.TopicPartition.String()
		value, err := DecodeValue(key, l.Value)
		v, isCommit := value.(OffsetCommitRecord)
		switch {
		case err != nil:
			panic(err)
		case !isCommit:
			delete(o.committed, name)
			for _, table := range o.pending {
				delete(table, name)
			}
		case l.Transactional:
			if o.pending[l.Producer] == nil {
				o.pending[l.Producer] = map[string]placed{}
			}
			o.pending[l.Producer][name] = placed{v.Offset, o.read}
		default:
			o.committed[name] = placed{v.Offset, o.read}
		}
	}
}

// lines gives both tables, sorted.
func (o *offsetsByLog) lines() (list []string) {
	for name, p := range o.committed {
		list = append(list, fmt.Sprintf("%s %d", name, p.offset))
	}
	for producer, table := range o.pending {
		for name, p := range table {
			list = append(list, fmt.Sprintf("%s pending %d producer=%d", name, p.offset, producer))
		}
	}
	slices.Sort(list)
	return list
}

// linesOf gives what a coordinator has of offsets in the same form.
func linesOf(c *Coordinator, state func(offsets) offsetState) (list []string) {
	for _, o := range c.offsets {
		for _, entry := range state(o).committed {
			list = append(list, fmt.Sprintf("%s %s %d", o.group, entry.tp, entry.offset))
		}
		for _, p := range state(o).pending {
			list = append(list, fmt.Sprintf("%s %s pending %d producer=%d", o.group, p.tp, p.offset, p.producer))
		}
	}
	slices.Sort(list)
	return list
}

func visibleOffsets(o offsets) offsetState { return o.visible }
func latestOffsets(o offsets) offsetState  { return o.latest }

// watchOffsets holds the coordinator, after each write that it is told of, to what the log says as far as it is written.
func watchOffsets(r *run) {
	log := offsetsByLog{committed: map[string]placed{}, pending: map[kafka.ProducerID]map[string]placed{}}
	r.onWritten = func() {
		log.take(r.log[:r.durable])
		if diff := gocmp.Diff(log.lines(), linesOf(r.c, visibleOffsets)); diff != "" {
			r.t.Errorf("at %d, %d records: offsets (-log +live):\n%s", r.now, r.durable, diff)
		}
	}
}

// ranked is a state with the order of its records instead of their numbers.
func ranked(o offsetState) offsetState {
	o.committed, o.pending = slices.Clone(o.committed), slices.Clone(o.pending)
	var all []*committed
	for i := range o.committed {
		all = append(all, &o.committed[i])
	}
	for i := range o.pending {
		all = append(all, &o.pending[i].committed)
	}
	slices.SortFunc(all, func(a, b *committed) int { return cmp.Compare(a.number, b.number) })
	for i, entry := range all {
		entry.number = uint64(i)
	}
	return o
}

// checkLoadOffsets compares the offsets with those of a coordinator that has read the log as far as it is written.
func (r *run) checkLoadOffsets(c *Coordinator) {
	r.t.Helper()
	groups := map[string]bool{}
	for _, o := range slices.Concat(c.offsets, r.c.offsets) {
		groups[o.group] = true
	}
	for id := range groups {
		log, live := ranked(c.offsetsOf(id).visible), ranked(r.c.offsetsOf(id).visible)
		if diff := gocmp.Diff(log, live, gocmp.AllowUnexported(offsetState{}, pendingOffset{}, committed{})); diff != "" {
			r.t.Errorf("at %d, %d records: offsets of %s (-log +live):\n%s", r.now, r.durable, id, diff)
		}
	}
}

// checkOffsetsHaveGroups: there is no offset, committed or pending, without a group.
func (r *run) checkOffsetsHaveGroups() {
	for _, o := range r.c.offsets {
		if !o.latest.isEmpty() && r.c.group(o.group) == nil && r.c.consumerGroup(o.group) == nil {
			r.t.Errorf("at %d: group %s is not there, and has offsets", r.now, o.group)
		}
		if !o.visible.isEmpty() && r.c.shown(o.group) == nil && r.c.shownConsumer(o.group) == nil {
			r.t.Errorf("at %d: group %s is not shown, and has offsets", r.now, o.group)
		}
	}
}

// Commits in transactions and in none, ends of transactions, deletions and expiry, with writes that are refused or come
// late: what is visible is what a coordinator finds in the log, at each place up to which it is written, and who asks is
// told so.
func TestRandomTransactions(t *testing.T) {
	ended := map[string]int{}
	for seed := range uint64(60) {
		rnd := prng.New(seed).Split("transactions")
		r := &randomRun{run: newRun(t, func(c *Config) {
			c.OffsetsRetention, c.RetentionCheckInterval = kafka.Millis(1000+rnd.IntN(5000)), kafka.Millis(500+rnd.IntN(5000))
		}), rnd: rnd}
		r.late = r.rnd.IntN(2) == 0
		watchOffsets(r.run)
		holds := r.onWritten
		r.onWritten = func() {
			holds()
			c, _, _ := loaded(r.config, r.now, slices.Values(r.log[:r.durable]))
			r.checkLoadOffsets(c)
		}
		for range 150 {
			r.fail = nil
			if r.rnd.IntN(12) == 0 {
				r.fail = []*kerr.Error{kerr.NotEnoughReplicas, kerr.InvalidProducerEpoch}[r.rnd.IntN(2)]
			}
			if r.rnd.IntN(10) == 0 {
				r.delay = []kafka.Millis{0, 5, 200, 6000}[r.rnd.IntN(4)]
			}
			c := newConsumer("c1")
			c.group = []string{"g", "g", "h"}[r.rnd.IntN(3)]
			switch roll := r.rnd.IntN(20); {
			case roll < 8:
				r.commitsAny(c)
			case roll < 14:
				r.endsAny()
			case roll < 16:
				r.checkStable(r.stable(c.group, int32(r.rnd.IntN(3))))
			case roll < 18:
				r.administer()
			default:
				r.pass(kafka.Millis(r.rnd.IntN(1500)))
			}
			r.checkOffsetsHaveGroups()
			if t.Failed() {
				t.Fatalf("seed %d\n%s", seed, tailOf(r.dump()))
			}
		}
		r.fail, r.delay = nil, 0
		r.pass(20_000)
		if got, want := linesOf(r.c, latestOffsets), linesOf(r.c, visibleOffsets); !slices.Equal(got, want) {
			t.Errorf("all is written, and latest is %v, visible %v", got, want)
		}
		for e := range r.j.All() {
			ended[e.Body.Kind()]++
		}
	}
	if ended["TransactionalOffsetsEnded"] < 400 || ended["TransactionalOffsetPending"] < 800 {
		t.Errorf("so many of each kind happened: %v", ended)
	}
}

// checkStable looks at the answer for a stable offset when it has come: at once, if nothing is being written.
func (r *randomRun) checkStable(m *simnet.Message) {
	a, answered := r.answers[m].(*kmsg.OffsetFetchResponse)
	if !answered || len(r.c.writes) > 0 {
		return
	}
	asked := m.Request.(*kmsg.OffsetFetchRequest).Groups[0]
	p := a.Groups[0].Topics[0].Partitions[0]
	state := r.c.offsetsOf(asked.Group).visible
	tp := orders(kafka.Partition(p.Partition))
	want, code := state.offset(tp), "ok"
	if state.isPending(tp) {
		want, code = kafka.NoOffset, "UNSTABLE_OFFSET_COMMIT"
	}
	if kafka.Offset(p.Offset) != want || errorName(p.ErrorCode) != code {
		r.t.Errorf("the stable offset of %s is %d, %s, want %d, %s", tp, p.Offset, errorName(p.ErrorCode), want, code)
	}
}
