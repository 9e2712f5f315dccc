package rebalance

import (
	"testing"

	"loglab/labs"
	"loglab/labs/labtest"
)

// want is what a ready-made run shows at its tick.
type want struct {
	rows   map[string]string // of the timeline, in words
	counts map[string]string // of the last rebalance
	says   []string
	lacks  []string
}

var wants = map[string]want{
	"A newcomer stops the world": {
		rows:   map[string]string{"orders-0": "ticks 0 to 10: read by billing-01; ticks 11 to 14: nobody has it; ticks 15 to 16: its new owner has no position yet; ticks 17 to 18: read by billing-01"},
		counts: map[string]string{"Moved": "1", "Stood still": "6", "Waited": "36", "Since tick 0": "36"},
		says: []string{
			"The last rebalance: ticks 8 to 14. It began because billing-04 joined.", "1 partition moved, 1 had to.", "It is orders-3 from billing-01 to billing-04.",
			"6 of 6 partitions stood still, for 36 ticks in all. Each for 6 ticks, 3 s.", "5 of these partitions were handed back to whoever had them",
		},
	},
	"A newcomer, cooperative": {
		rows: map[string]string{
			"orders-0": "ticks 0 to 31: read by billing-01",
			"orders-3": "ticks 0 to 14: read by billing-01; ticks 15 to 26: nobody has it; ticks 27 to 28: its new owner has no position yet; ticks 29 to 31: read by billing-04",
		},
		counts: map[string]string{"Moved": "1", "Stood still": "1", "Since tick 0": "14"},
		says:   []string{"The last rebalance: ticks 8 to 26 in 2 rounds.", "1 of 6 partitions stood still, for 14 ticks in all. The longest was orders-3: 14 ticks, 7 s."},
		lacks:  []string{"handed back"},
	},
	"A newcomer, consumer protocol": {
		rows: map[string]string{
			"orders-0": "ticks 0 to 24: read by billing-01",
			"orders-1": "ticks 0 to 8: read by billing-01; ticks 9 to 18: nobody has it; ticks 19 to 20: its new owner has no position yet; ticks 21 to 24: read by billing-04",
		},
		counts: map[string]string{"Moved": "1", "Stood still": "1", "Since tick 0": "12"},
		says:   []string{"The last rebalance: ticks 6 to 18. It began because billing-04 joined.", "1 of 6 partitions stood still, for 12 ticks in all."},
		lacks:  []string{"rounds"},
	},
	"Cooperative and consumer protocol, side by side": {
		counts: map[string]string{"Since tick 0": "14"},
	},
	"Target, epochs and who waits": {
		rows: map[string]string{"billing-01": "ticks 0 to 5: has 2 partitions; ticks 6 to 8: has 2 partitions and is to give up some", "billing-04": "ticks 3 to 4: no member; ticks 5 to 6: join; ticks 7 to 8: has 0 partitions and waits for what others have not given up"},
		says: []string{"The target assignment is that of epoch 4: billing-01 is to give up orders-1; billing-04 waits for 1 partition. Nobody waits for the whole group.", "Commits of billing-02, billing-03 were not taken, the last in tick 7: CommitFailedException: STALE_MEMBER_EPOCH"},
	},
	"Rolling restart, consumer protocol": {
		counts: map[string]string{"Stood still": "5"},
		says:   []string{"Every partition is read.", "3 group epochs began in it, 5 to 7"},
	},
	"The same, consumer protocol": {
		rows: map[string]string{"orders-0": "ticks 0 to 10: read by billing-01", "billing-16": "ticks 3 to 4: no member; ticks 5 to 6: join; ticks 7 to 10: failed"},
		says: []string{"billing-16 has ended with UNRELEASED_INSTANCE_ID."},
	},
	"Eager and cooperative, side by side": {
		counts: map[string]string{"Stood still": "6"},
	},
	"Cooperative takes two rounds": {
		rows:   map[string]string{"orders-3": "ticks 0 to 14: read by billing-01; ticks 15 to 16: nobody has it", "billing-04": "ticks 3 to 4: no member; ticks 5 to 11: join; ticks 12 to 14: sync; ticks 15 to 16: idle"},
		counts: map[string]string{"Moved": "–"},
		says:   []string{"Nobody reads 1 of 6 partitions now: 1 without an owner.", "Round 1 is over: 1 partition is held back until its owner has given it up and joined again; then the next round gives it out."},
	},
	"The default list still runs eager range": {
		counts: map[string]string{"Stood still": "6"},
		says:   []string{"Nobody reads 6 of 6 partitions now: 6 without an owner.", "The leader has divided the partitions"},
	},
	"Range over four topics": {
		rows: map[string]string{"billing-01": "ticks 0 to 3: has 8 partitions", "billing-02": "ticks 0 to 3: has 4 partitions"},
		says: []string{"billing-01 has 8 partitions and billing-02 has 4. The reason: range divides each topic by itself, and what is left over goes to the first members, in every topic the same ones."},
	},
	"Range and roundrobin, side by side": {
		says: []string{"The shares are uneven"},
	},
	"Range moves more than it must": {
		counts: map[string]string{"Moved": "6", "Stood still": "16"},
		says:   []string{"6 partitions moved, 2 had to. The rest moved because range does not look at who had what."},
	},
	"More members than partitions": {
		rows:   map[string]string{"billing-07": "ticks 0 to 14: idle; ticks 15 to 17: join; ticks 18 to 20: sync; ticks 21 to 23: idle"},
		counts: map[string]string{"Moved": "0", "Stood still": "6"},
		says:   []string{"0 partitions moved, 0 had to. Everyone has what they had.", "billing-07, billing-08 are idle: 8 members share 6 partitions, and a partition is never read by two members of a group."},
	},
	"A crash: first the session": {
		rows:   map[string]string{"orders-2": "ticks 0 to 3: read by billing-02; ticks 4 to 13: its owner is gone, and the group has not noticed; ticks 14 to 26: nobody has it; ticks 27 to 28: its new owner has no position yet; ticks 29 to 31: read by billing-01"},
		counts: map[string]string{"Moved": "2", "Stood still": "6", "Since tick 0": "74"},
		says:   []string{"It began because billing-02 was removed, as its session timed out.", "The longest were orders-2 and 1 more: 25 ticks, 12.5 s each."},
	},
	"Rolling restart, dynamic": {
		counts: map[string]string{"Moved": "0", "Stood still": "6", "Since tick 0": "96"},
	},
	"Rolling restart, static": {
		counts: map[string]string{"Moved": "–", "Stood still": "4", "Since tick 0": "44"},
		says:   []string{"4 of 6 partitions stood still since tick 0, for 44 ticks in all, without a rebalance.", "billing-02 came back in tick 29. It has its group.instance.id, billing-02: its partitions are its own again at once"},
	},
	"Rolling restart, side by side": {
		counts: map[string]string{"Since tick 0": "96"},
	},
	"The poll-interval loop": {
		counts: map[string]string{"Moved": "0"},
		says:   []string{"billing-01 has not polled in time, in tick 15. max.poll.interval.ms = 6,000: the client left the group by itself"},
	},
	"A commit refused after a rebalance": {
		says: []string{"billing-01’s commit was not taken in tick 25: CommitFailedException: the consumer is not part of an active group. Whoever gets the partitions from it begins at what was committed before: what was processed since is processed again."},
	},
	"Two members with one instance id": {
		rows: map[string]string{"billing-01": "ticks 0 to 6: has 2 partitions; ticks 7 to 12: failed"},
		says: []string{"billing-16 took the place of billing-01 in tick 6. Both have group.instance.id = billing-01: the last to join has the partitions, and the other is answered FENCED_INSTANCE_ID.", "billing-01 has ended with FENCED_INSTANCE_ID."},
	},
	"Partitions added": {
		rows:   map[string]string{"orders-8": "ticks 4 to 26: nobody has it; ticks 27 to 30: its new owner has no position yet; tick 31: read by billing-03"},
		counts: map[string]string{"Moved": "3"},
		says:   []string{"3 partitions moved, 0 had to."},
	},
}

// Each ready-made run shows its point, and its query is canonical.
func TestReadyMadeRuns(t *testing.T) {
	for _, run := range readyRuns() {
		t.Run(run.Title, func(t *testing.T) {
			w, known := wants[run.Title]
			if !known {
				t.Fatal("nothing is expected of it")
			}
			a, err := labs.Parse(Lab(), labs.Pages, "v=1&"+run.Query)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := a.String(), "/lab/rebalance?v=1&"+run.Query; got != want {
				t.Errorf("its canonical address is %s, not %s", got, want)
			}
			_, p := frame(t, "v=1&"+run.Query)
			for name, row := range w.rows {
				if got, _ := rowOf(p, name); got != row {
					t.Errorf("%s is %q, want %q", name, got, row)
				}
			}
			for _, c := range p.Picture.Ledger {
				if number, told := w.counts[c.Name]; told && c.Number != number {
					t.Errorf("%s is %s, want %s", c.Name, c.Number, number)
				}
			}
			labtest.CheckText(t, run.Query, labtest.Reading(p), w.says, w.lacks)
		})
	}
}
