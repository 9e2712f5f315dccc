package txn

import (
	"slices"
	"testing"

	"loglab/engine/kafka"
)

// From each state only those states are prepared that Kafka allows.
func TestTransitions(t *testing.T) {
	allowed := map[State]string{ // only looked up
		Empty: "Empty CompleteCommit CompleteAbort", Ongoing: "Ongoing Empty CompleteCommit CompleteAbort", PrepareCommit: "Ongoing",
		PrepareAbort: "Ongoing PrepareEpochFence Empty CompleteCommit CompleteAbort", CompleteCommit: "PrepareCommit", CompleteAbort: "PrepareAbort",
		Dead: "Empty CompleteCommit CompleteAbort", PrepareEpochFence: "Ongoing",
	}
	for _, to := range states {
		for _, from := range states {
			tx := &transaction{id: "t1", details: details{state: from, producerID: 7, epoch: 3}}
			want := slices.Contains(slices.Collect(words(allowed[to])), string(from))
			if got := !panics(func() { tx.prepare(details{state: to, producerID: 7, epoch: 3}) }); got != want {
				t.Errorf("from %s to %s: allowed %t, want %t", from, to, got, want)
			}
			if want && tx.pending != to {
				t.Errorf("from %s to %s: pending is %q", from, to, tx.pending)
			}
		}
	}
	for number, name := range []string{"Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead", "PrepareEpochFence"} {
		if State(name).number() != int8(number) {
			t.Errorf("%s has number %d", name, State(name).number())
		}
	}
}

func words(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		word := ""
		for _, letter := range text + " " {
			if letter != ' ' {
				word += string(letter)
				continue
			}
			if !yield(word) {
				return
			}
			word = ""
		}
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// A change is not prepared twice, nor without a producer id and epoch, nor does one hold that does not go with what there is.
func TestInvalidChanges(t *testing.T) {
	valid := func() *transaction {
		return &transaction{id: "t1", details: details{
			state: Ongoing, producerID: 7, previousProducerID: 7, nextProducerID: -1, epoch: 3, lastProducerEpoch: 2, timeout: 60_000, partitions: orders(0, 1), start: 5, updated: 6, client: 2,
		}}
	}
	for name, do := range map[string]func(t *transaction){
		"twice":            func(t *transaction) { t.prepareFence(); t.prepareFence() },
		"no producer id":   func(t *transaction) { t.producerID = -1; t.preparePartitions(nil, 2, 9) },
		"no epoch":         func(t *transaction) { t.epoch = -1; t.preparePartitions(nil, 2, 9) },
		"nothing pending":  func(t *transaction) { t.complete(t.details) },
		"another pending":  func(t *transaction) { to := t.preparePartitions(nil, 2, 9); t.pending = Empty; t.complete(to) },
		"partitions lost":  func(t *transaction) { to := t.preparePartitions(nil, 2, 9); to.partitions = orders(1); t.complete(to) },
		"epoch skipped":    func(t *transaction) { to := t.prepareEnd(PrepareCommit, 2, -1, 9); t.epoch = 5; t.complete(to) },
		"old client bumps": func(t *transaction) { to := t.prepareEnd(PrepareCommit, 0, -1, 9); to.epoch++; t.complete(to) },
		"another timeout":  func(t *transaction) { to := t.prepareEnd(PrepareCommit, 2, -1, 9); to.timeout++; t.complete(to) },
		"another start":    func(t *transaction) { to := t.prepareEnd(PrepareCommit, 2, -1, 9); to.start++; t.complete(to) },
		"others added": func(t *transaction) {
			to := t.prepareEnd(PrepareCommit, 2, -1, 9)
			to.partitions = orders(0)
			t.complete(to)
		},
		"without a start": func(t *transaction) {
			t.state = PrepareAbort
			to := t.prepareComplete(9)
			to.start = -1
			t.complete(to)
		},
		"epoch back": func(t *transaction) {
			t.state = Empty
			to, _ := t.prepareNextEpoch(60_000, -1, 9)
			to.epoch = 2
			t.complete(to)
		},
		"fence written": func(t *transaction) { t.complete(t.prepareFence()) },
		"dead written":  func(t *transaction) { t.state = Empty; t.complete(t.prepareDead()) },
	} {
		tx := valid()
		if !panics(func() { do(tx) }) {
			t.Errorf("%s: no panic: %+v", name, tx)
		}
	}
}

func TestPrepared(t *testing.T) {
	now := kafka.Timestamp(100)
	base := details{state: Empty, producerID: 7, previousProducerID: 6, nextProducerID: -1, epoch: 3, lastProducerEpoch: 2, timeout: 60_000, start: -1, updated: 6}
	tx := &transaction{id: "t1", details: base}
	step := func(want string, to details) {
		t.Helper()
		tx.complete(to)
		if tx.state != State(want) {
			t.Errorf("state %s, want %s", tx.state, want)
		}
	}
	step("Ongoing", tx.preparePartitions(orders(1), 2, now))
	if tx.previousProducerID != 7 || tx.start != now || tx.updated != now || tx.epoch != 3 || tx.lastProducerEpoch != 2 || tx.client != 2 {
		t.Errorf("%+v", tx.details)
	}
	step("Ongoing", tx.preparePartitions(orders(0), 2, now+5))
	if tx.start != now || !slices.Equal(tx.partitions, orders(0, 1)) {
		t.Errorf("%+v", tx.details)
	}
	step("PrepareCommit", tx.prepareEnd(PrepareCommit, 2, 8, now+9))
	if tx.epoch != 4 || tx.lastProducerEpoch != 3 || tx.nextProducerID != 8 || tx.start != now || len(tx.partitions) != 2 {
		t.Errorf("%+v", tx.details)
	}
	tx.partitions = nil
	step("CompleteCommit", tx.prepareComplete(now+10))
	if tx.epoch != 0 || tx.producerID != 8 || tx.previousProducerID != 7 || tx.nextProducerID != -1 || tx.lastProducerEpoch != 3 || tx.updated != now+10 {
		t.Errorf("%+v", tx.details)
	}
	step("PrepareAbort", tx.prepareEnd(PrepareAbort, 2, -1, now+20))
	if tx.start != now+20 || tx.epoch != 1 {
		t.Errorf("an abort of nothing: %+v", tx.details)
	}
}
