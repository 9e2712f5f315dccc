package delivery

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// What the page says a crash would do is what the fork has, where its link leads: in each tick of a run, with and without
// transactions, and with each kind of outside.
func TestOutlookComesTrue(t *testing.T) {
	const runs = 250
	compared := map[string]int{}
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 9))
		pick := func(options ...string) string { return options[r.IntN(len(options))] }
		query := fmt.Sprintf("brokers=%s&records=%d&version=%s&transactions=%s&output=%s&outside=%s&commit=%s&poll-records=%d&work=%d", pick("1", "1", "3"), r.IntN(6), pick("1", "2", "2"), pick(off, txnApp, txnApp),
			pick(on, on, off), pick(nothing, toPlain, toOnce, toOffsets, toInbox, toEmail), pick(commitAfter, commitFirst), 1+r.IntN(4), r.IntN(3))
		for range r.IntN(3) {
			query += fmt.Sprintf("&do=%d:produce+p0+%s", r.IntN(15), pick("a", "b"))
		}
		query = fmt.Sprintf("%s&t=%d", query, 1+r.IntN(40))
		if seed == 0 { // only the marker of a commit that stands is missing
			query = "transactions=both&poll-records=1&do=9:begin-transaction+p0&do=9:produce+p0+a&do=14:commit-transaction+p0&t=17"
		}
		l, _ := frame(t, query)
		o, ok := l.foresee()
		if !ok {
			continue
		}
		fork := l.tryCrash(&l.app.Members[0]).WithTick(l.Address.T + 400)
		after, _ := frame(t, strings.TrimPrefix(fork.String(), "/lab/delivery?"))
		var is outlook
		for i := range l.effects {
			was, now := &l.effects[i], &after.effects[i]
			if now.processed > was.processed && was.processed > 0 {
				is.again++
			}
			if l.bills != nil && now.kept > 1 {
				is.twice++
			}
			if l.bills != nil && now.kept == 0 {
				is.lost++
			}
			if l.outside() != nothing && was.outside > 0 && now.outside > was.outside {
				is.repeats++
			}
			if l.outside() != nothing && now.outside == 0 {
				is.missing++
			}
		}
		is.begins, is.undone = o.begins, o.undone
		if l.outside() == nothing {
			o.missing = 0
		}
		if is != o {
			t.Errorf("seed %d: %s: foreseen %+v, came %+v (%s)", seed, l.Address, o, is, fork)
		}
		for name, n := range map[string]int{"again": o.again, "undone": o.undone, "twice": o.twice, "lost": o.lost, "repeats": o.repeats, "missing": o.missing} {
			if n > 0 {
				compared[name]++
			}
		}
		compared["all"]++
	}
	t.Log(compared)
	if compared["all"] < 60 || compared["undone"] < 5 || compared["twice"] < 3 || compared["lost"] < 2 || compared["repeats"] < 5 {
		t.Error("too little was compared")
	}
}
