package segments

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/labtest"
	"loglab/labs/view"
)

// factsText writes the facts of the inspector, a line each.
func factsText(p *view.Page) string {
	var b strings.Builder
	for _, f := range p.Inspector.Facts {
		fmt.Fprintf(&b, "%s: %s\n", f.Name, f.Value)
	}
	return b.String()
}

// last gives the newest event of a kind.
func last[B journal.Body](c *engine.Cluster) (b B, ok bool) {
	for e := range c.Journal().Backward() {
		if b, ok = e.Body.(B); ok {
			return b, true
		}
	}
	return b, false
}

// Runs of which several things are said: a tombstone at offset 3, one below the log start, an older record of a key that has
// one above it which the cleaner may take from and one where it may not, and records below the log start that it may take.
const (
	horizons  = "tick-ms=500&rate=0&segment-bytes=16384&segment-ms=1&policy=compact&dirty-ratio=0&delete-retention=20000&do=1:produce+p0+A+1&do=1:produce+p0+B+1&do=1:produce+p0+A+2&do=1:tombstone+p0+B"
	belowThem = "rate=0&segment-bytes=210&policy=compact,delete&do=0:produce+p0+A+1&do=1:tombstone+p0+B&do=2:produce+p0+C+1&do=3:produce+p0+A+2&do=4:produce+p0+A+3&do=5:produce+p0+A+4&do=6:delete-records+orders-0+@5"
	between   = "policy=compact&dirty-ratio=0&rate=0&segment-bytes=140&do=0:produce+p0+A&do=0:wait+1s&do=0:produce+p0+B&do=1:produce+p0+A+2&do=2:produce+p0+C+2&do=3:produce+p0+A+3&t=6"
	twice     = "policy=compact,delete&dirty-ratio=0&rate=0&segment-bytes=210&do=0:produce+p0+A+1&do=1:produce+p0+B+1&do=2:produce+p0+A+2&do=3:produce+p0+A+3&do=4:produce+p0+B+3&do=5:produce+p0+A+4&do=6:produce+p0+A+5&do=6:delete-records+orders-0+@2"
)

// What a page says holds where nobody can be asked, where time was waited, where others write on, and where a rule stands
// before another.
func TestWhatIsSaidHolds(t *testing.T) {
	const unasked = "What it has committed, and so its lag and where it would begin, cannot be asked now: b1, which coordinates its group, "
	for _, c := range []struct {
		query      string
		says, nots []string // of the reading and of what is open
	}{
		{"reader=on&do=20:leave+reader-1&do=25:kill+b1&t=26&at=node:reader-1", []string{unasked + "does not run.", "Committed: cannot be asked now"}, []string{"committed nothing", "lag is", "Lag of the group", "would decide"}},
		{"reader=on&do=20:leave+reader-1&do=25:kill+b1&do=28:start+b1&t=30", []string{unasked + "is starting and has not opened its log yet."}, []string{"committed nothing", "lag is"}},
		{"reader=on&do=20:leave+reader-1&do=25:power-loss+b1&t=26", []string{unasked + "has no power."}, []string{"committed nothing", "lag is"}},
		{"reader=on&do=25:kill+b1&t=26&at=node:reader-1", []string{"The reader is at position 25. What it has committed cannot be asked now: b1", "Position: 25"}, []string{"committed nothing", "the high watermark"}},
		{"reader=on&do=20:leave+reader-1&do=25:kill+b1&do=28:start+b1&do=25:stop-sending+p0&t=36", []string{"It has committed 20; the group’s lag is 5."}, []string{"cannot be asked"}},
		{"reader=on&reset=none&do=14:leave+reader-1&do=15:power-loss+b1&do=17:start+b1&do=17:stop-sending+p0&t=40", []string{"It has committed nothing, and so the group has no lag."}, []string{"lag is", "OffsetOutOfRange"}},
		{"retention-bytes=1000&t=12", []string{"(log.retention.check.interval.ms), if nothing is written until then, would leave all too"}, nil},
		{"retention-bytes=1000&do=11:stop-sending+p0&t=13", []string{"(log.retention.check.interval.ms), would leave all too"}, nil},
		{"rate=0&linger=20000&do=11:produce+p0+A&t=12", []string{"if nothing is written until then, would leave all too"}, nil},    // it waits in the producer
		{"rate=0&do=10:pause+b1&do=11:produce+p0+A&t=14", []string{"and nothing is written until then, would leave all too"}, nil}, // and it for the broker
		{"do=10:slow-disk+b1+3s&do=12:pause+p0&t=12", []string{"if nothing is written until then, would leave all too"}, nil},      // and it for the disk
		{"rate=0&do=0:produce+p0+A&do=3:delete-records+orders-0+@1&t=3", []string{"if the DeleteRecords request that is on its way changes nothing, would leave all too"}, nil},
		{"rate=0&do=0:produce+p0+A&do=3:delete-records+orders-0+@1&t=4", []string{"(log.retention.check.interval.ms), would leave all too"}, nil},
		{"policy=compact&dirty-ratio=0&t=10", []string{"If nothing is written until then, of 5 records that it would read, 2 (offsets 0, 1) would go"}, []string{". Of 5"}},
		{"segment-ms=60000&do=5:skew+p0+2h&t=8", []string{"A record of now would be 2 h 8 s after it, but b1 refuses it with INVALID_TIMESTAMP if it comes within 1 h"}, []string{"makes it roll"}},
		{"segment-ms=60000&ts-type=LogAppendTime&do=5:skew+p0+2h&t=8", nil, []string{"A record of now"}},
		{"segment-ms=60000&rate=0&do=1:produce+p0+A&do=5:skew+p0+30m&t=8", []string{"A record of now would be 30 min 7 s after it: the next one makes it roll"}, nil},
		{"segment-ms=60000&ts-after=9223372036854775807&do=5:stop-sending+p0&do=6:skew+p0+-2h&do=7:wait+5m&t=8", nil, []string{"INVALID_TIMESTAMP"}},
		{"rate=0&do=0:produce+p0&do=1:produce+p0&do=2:produce+p0+A&do=3:produce+p0+B&t=6", []string{"gets 4 records: one of each of 2 keys, and 2 without a key."}, nil},
		{"rate=0&do=0:produce+p0&do=1:produce+p0+A&do=2:produce+p0+A&do=3:produce+p0+B&t=6", []string{"gets 4 records: 1 without a key, and 3 of 2 keys, 1 of which is an older value of a key that has a newer one."}, nil},
		{belowThem + "&t=8&at=record:orders-0:1", []string{"Readable: no: it is below the log start offset 5."}, []string{"Tombstone"}},
		{twice + "&t=8&at=record:orders-0:1", []string{"2 records are below the log start offset 2: no reader gets them any more, and the bytes stay until the whole segment is below it and a check of retention comes, or until a cleaning takes them.", "comes, or until a cleaning takes them\n"}, nil},
		{between + "&at=record:orders-0:0", []string{"an older one: offset 4 is the last. The next cleaning takes it", "1 (offset 0) would go"}, []string{"leaves both"}},
		{between + "&at=record:orders-0:2", []string{"an older one: offset 4 is the last. That is at 4 or above, where the cleaner may not go (active segment): until it may, the cleaner leaves both"}, nil},
		{"reader=on&do=25:kill+b1&do=25:stop-sending+p0&t=26&at=record:orders-0:24", []string{"gets 25 records of 3 keys: 22 of them", "Of its key: the last one"}, nil},
		{"reader=on&do=20:leave+reader-1&do=27:shut-down+b1&t=28", []string{unasked + "is shutting down.", "If nothing is written before, a reader that starts once b1 runs again, from earliest,"}, []string{"committed nothing", "starts now"}},
		{"do=10:shut-down+b1&retention-ms=5000&t=11", []string{"The next check of retention, in tick 30, in 18.7 s, if b1 still runs then (log.retention.check.interval.ms), if nothing is written until then, would"}, nil}, // it stops in tick 13
		{"retention-ms=20000&do=15:pause+b1&t=20", []string{"if b1 is resumed by then and nothing is written until then, would take segments 0, 5: ", "If nothing is written before, a reader that starts once b1 is resumed, from earliest,"}, []string{"starts now"}},
		{"retention-ms=20000&do=14:stop-sending+p0&do=15:pause+b1&t=40", []string{"if b1 is resumed now, would take segments 0, 5, 10: "}, nil},
		{horizons + "&do=3:produce+p0+A+3&do=5:run-cleaner+b1&do=36:produce+p0+C&do=37:produce+p0+C&t=40", []string{"2 (offsets 2, 3) would go", ". Right now 1 (offset 2) would go: try it."}, nil}, // the horizon is 22.5 s, the cleaner wakes up at 29.7 s
		{"policy=compact&dirty-ratio=0&do=8:kill+b1&t=10&at=record:orders-0:0", []string{"an older one: offset 6 is the last. b1 does not run, and so its cleaner does nothing"}, nil},
		{"policy=compact&dirty-ratio=0&t=10&at=node:b1", []string{"As things stand it would: clean: 380 of 380 bytes are dirty"}, nil},
		{"do=25:kill+b1&t=26", []string{"If nothing is written before, a reader that starts once b1 runs, from earliest, begins at offset 0 and gets 25 records"}, nil},
	} {
		_, p := frame(t, c.query)
		text := labtest.Reading(p)
		if p.Inspector != nil {
			text += "\n" + factsText(p)
		}
		labtest.CheckText(t, c.query, text, c.says, c.nots)
	}
}

// A node’s chip says that a commit cannot be asked where nobody coordinates, and not that there is none.
func TestACommitThatCannotBeAsked(t *testing.T) {
	_, p := frame(t, "reader=on&do=20:leave+reader-1&do=25:kill+b1&t=26")
	if i := slices.IndexFunc(p.Picture.Members, func(m view.Member) bool { return m.Name == string(reader) }); p.Picture.Members[i].Text != "away, its commit cannot be asked now" {
		t.Errorf("the reader is drawn as %+v", p.Picture.Members[i])
	}
	l, _ := frame(t, "reader=on&do=20:leave+reader-1&do=25:kill+b1&do=28:start+b1&do=36:start+reader-1&t=38")
	if b, _ := last[journal.PositionCommitted](l.Cluster); b.Offset != 20 {
		t.Errorf("the reader is told that %d is committed, want 20", b.Offset)
	}
}

// The reader that starts ends with the exception that was foretold.
func TestTheExceptionComesTrue(t *testing.T) {
	for _, query := range []string{
		"reader=on&reset=none&do=14:leave+reader-1&do=15:power-loss+b1&do=17:start+b1&do=17:stop-sending+p0&t=40",
		"tick-ms=60000&rate=0&reader=on&reset=none" + strings.Split(absence, "&do=38")[0] + "&t=37",
	} {
		l, p := frame(t, query)
		for _, cmd := range []command.Command{startReader, command.Wait{Span: 5000}} {
			if err := l.Cluster.Apply(cmd); err != nil {
				t.Fatal(err)
			}
		}
		if b, ok := last[journal.ConsumerFailed](l.Cluster); !ok || !strings.Contains(labtest.Reading(p), "it would end with a") || !strings.Contains(labtest.Reading(p), b.Error) {
			t.Errorf("%s: it ended with %q; the reading is %q", query, b.Error, labtest.Reading(p))
		}
	}
}

// A cleaning takes a tombstone in the tick that was foretold and not in the one before, wherever a wait stands.
func TestTombstonesGoInTheTickForetold(t *testing.T) {
	for _, c := range []struct {
		commands string
		at, tick int // in which it is said, and said to be
	}{
		{"&do=2:wait+30s&do=3:produce+p0+A+3&do=5:run-cleaner+b1", 6, 45},   // met at 32.5 s: the horizon is 52.5 s, and 6 is at 33 s
		{"&do=3:produce+p0+A+3&do=5:run-cleaner+b1", 6, 45},                 // met at 2.5 s, horizon 22.5 s
		{"&do=3:produce+p0+A+3&do=5:run-cleaner+b1&do=6:wait+10s", 7, 25},   // 13.5 s of 22.5 s
		{"&do=3:produce+p0+A+3&do=5:run-cleaner+b1&do=6:wait+200ms", 7, 45}, // 3.7 s of 22.5 s: 37.6 ticks
	} {
		query := horizons + c.commands
		_, p := frame(t, fmt.Sprintf("%s&t=%d&at=record:orders-0:3", query, c.at))
		if says := fmt.Sprintf("or later, from tick %d on", c.tick); !strings.Contains(labtest.Reading(p), says) {
			t.Errorf("%s: want %q in %q", query, says, labtest.Reading(p))
		}
		if says := fmt.Sprintf("a cleaning in tick %d, in", c.tick); !strings.Contains(factsText(p), says) {
			t.Errorf("%s: want %q in %q", query, says, factsText(p))
		}
		more := fmt.Sprintf("&do=%d:produce+p0+C&do=%d:produce+p0+C", c.tick-4, c.tick-3) // so that there is something to clean
		for tick := c.tick - 1; tick <= c.tick; tick++ {
			l, _ := frame(t, fmt.Sprintf("%s%s&do=%d:run-cleaner+b1&t=%d", query, more, tick, tick))
			b, _ := last[journal.LogCleaned](l.Cluster)
			if took := slices.ContainsFunc(b.Removed, func(r journal.RemovedRecord) bool { return r.Offset == 3 }); took != (tick == c.tick) {
				t.Errorf("%s: a cleaning in tick %d has taken it: %v", query, tick, took)
			}
		}
	}
}

// The next check and the next cleaning take more than was said where the producer writes on: the proviso is needed.
func TestWritersChangeWhatGoes(t *testing.T) {
	l, _ := frame(t, "retention-bytes=1000&t=30")
	if b, ok := last[journal.SegmentsDeleted](l.Cluster); !ok || !slices.Equal(b.Segments, []kafka.Offset{0, 5, 10}) {
		t.Errorf("the check in tick 30 has taken %v", b.Segments)
	}
	l, _ = frame(t, "policy=compact&dirty-ratio=0&t=15")
	if b, _ := last[journal.LogCleaned](l.Cluster); b.RecordsRead != 10 || len(b.Removed) != 7 {
		t.Errorf("the cleaning in tick 15 has taken %d of %d", len(b.Removed), b.RecordsRead)
	}
}

// A paused broker’s check takes what was foretold, where it is resumed as was said, and more where that is later.
func TestAPausedBrokerChecksAsForetold(t *testing.T) {
	for query, want := range map[string][]kafka.Offset{
		"retention-ms=20000&do=14:stop-sending+p0&do=15:pause+b1&do=29:resume+b1&t=30": {0, 5},
		"retention-ms=20000&do=14:stop-sending+p0&do=15:pause+b1&do=40:resume+b1&t=41": {0, 5, 10},
	} {
		l, _ := frame(t, query)
		if b, _ := last[journal.SegmentsDeleted](l.Cluster); !slices.Equal(b.Segments, want) {
			t.Errorf("%s: it has taken %v, want %v", query, b.Segments, want)
		}
	}
	l, _ := frame(t, "do=10:shut-down+b1&retention-ms=5000&t=40")
	if b, ok := last[journal.SegmentsDeleted](l.Cluster); ok || l.up() {
		t.Errorf("a broker that was shut down has taken %v", b.Segments)
	}
}

// A record that is refused rolls nothing, and one that is late does.
func TestTheNextRecordRolls(t *testing.T) {
	for _, c := range []struct {
		query         string
		roll, refused bool
	}{
		{"segment-ms=60000&do=5:skew+p0+2h&t=9", false, true},
		{"segment-ms=60000&rate=0&do=1:produce+p0+A&do=5:skew+p0+30m&do=8:produce+p0+A&t=9", true, false},
	} {
		l, _ := frame(t, c.query)
		_, roll := last[journal.SegmentRolled](l.Cluster)
		_, refused := last[journal.ProduceRefused](l.Cluster)
		if roll != c.roll || refused != c.refused {
			t.Errorf("%s: rolled %v, refused %v", c.query, roll, refused)
		}
	}
}

// A reader that starts once the broker runs gets the records that were foretold while it did not.
func TestARestartedBrokerServesWhatWasForetold(t *testing.T) {
	for _, how := range []string{"kill", "power-loss", "shut-down"} {
		query := fmt.Sprintf("reader=on&do=25:stop-sending+p0&do=27:%s+b1&do=32:start+b1", how)
		before, _ := frame(t, query+"&t=31")
		after, _ := frame(t, query+"&t=50")
		if before.open || !after.open || before.seen != after.seen || before.log.LogStartOffset != after.log.LogStartOffset {
			t.Errorf("%s: %d records from %d were foretold, it serves %d from %d", query, before.seen, before.log.LogStartOffset, after.seen, after.log.LogStartOffset)
		}
	}
}

// A cleaning takes an older record though the last of its key is where the cleaner may not go, and records below the log
// start.
func TestCleaningsTakeWhatWasForetold(t *testing.T) {
	for query, want := range map[string][]kafka.Offset{between + "&do=6:run-cleaner+b1": {0}, twice + "&do=8:run-cleaner+b1&t=8": {0, 1, 2, 3}} {
		l, _ := frame(t, query)
		b, _ := last[journal.LogCleaned](l.Cluster)
		var took []kafka.Offset
		for _, r := range b.Removed {
			took = append(took, r.Offset)
		}
		if !slices.Equal(took, want) {
			t.Errorf("%s: the cleaning has taken %v, want %v", query, took, want)
		}
	}
	l, _ := frame(t, belowThem+"&t=15")
	if b, ok := last[journal.SegmentsDeleted](l.Cluster); !ok || !slices.Contains(b.Segments, 0) {
		t.Errorf("the check in tick 15 has taken %v, want segment 0 with the tombstone", b.Segments)
	}
}

// What is drawn as going with the next check goes with it, whatever the producer writes until then.
func TestSegmentsGoAlthoughOthersAreWritten(t *testing.T) {
	said := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 15))
		query := fmt.Sprintf("rate=%d&every=%d&segment-bytes=%d&retention-bytes=%d&retention-ms=%d&policy=%s&dirty-ratio=0&t=%d",
			1+r.IntN(3), 500+500*r.IntN(8), 140+r.IntN(300), 300*r.IntN(5)-1, 3000+r.IntN(20_000), []string{deletes, deletes, both}[r.IntN(3)], 5+r.IntN(20))
		l, p := frame(t, query)
		if !l.open || l.upkeep.NextRetention < 0 {
			continue
		}
		c := l.Cluster.Clone()
		if err := c.Apply(command.Wait{Span: l.upkeep.NextRetention - l.View.Now + 1}); err != nil {
			t.Fatal(err)
		}
		segments := c.View().Partitions[0].Log.Segments
		for _, s := range p.Picture.Disk.Segments {
			if s.State == ".deleted" || !s.Goes {
				continue
			}
			said++
			for _, there := range segments {
				if target(labs.SegmentTarget, there.BaseOffset).String() == s.At {
					t.Errorf("%s: %s is said to go, and is there", query, s.Name)
				}
			}
		}
	}
	if said < 20 {
		t.Errorf("it was said of %d segments", said)
	}
}

// What is said of the next check without any condition comes true whatever else happens by itself.
func TestWhatNeedsNothingComesTrue(t *testing.T) {
	said, checked := 0, map[string]int{}
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 16))
		pick := func(list ...string) string { return list[r.IntN(len(list))] }
		var query strings.Builder
		fmt.Fprintf(&query, "tick-ms=%s&rate=%d&every=%s&keys=%d&deletions=%d&linger=%s&segment-bytes=%s&policy=%s&retention-bytes=%s&retention-ms=%s&dirty-ratio=0&delete-retention=%s", pick("1000", "5000"), r.IntN(3), pick("1000", "3000"),
			r.IntN(4), r.IntN(4), pick("0", "5", "20000"), pick("420", "2000", "140", "100000"), pick(deletes, compacts, both, keeps), pick("-1", "600"), pick("-1", "60000", "20000"), pick("0", "20000"))
		for range r.IntN(14) {
			text := pick("produce p0 A 1", "produce p0 B", "tombstone p0 B", "check-retention b1", "run-cleaner b1", fmt.Sprintf("delete-records orders-0 @%d", r.IntN(20)), "power-loss b1", "kill b1", "start b1", "start b1",
				"stop-sending p0", "stop-sending p0", "start-sending p0", "wait 1m", "wait 7s", "pause b1", "resume b1", "pause p0", "resume p0", "slow-disk b1 3s", "skew p0 30m", "skew p0 0ms")
			fmt.Fprintf(&query, "&do=%d:%s", r.IntN(40), strings.ReplaceAll(text, " ", "+"))
		}
		where := fmt.Sprintf("%s&t=%d", &query, 3+r.IntN(50))
		l, _ := frame(t, where)
		if l.open && !l.stops() && l.upkeep.NextRetention >= 0 && l.provided(l.upkeep.NextRetention) == "" {
			said++
			comesTrue(t, where, l, checked)
		}
	}
	if said < 40 {
		t.Errorf("nothing was needed %d times", said)
	}
}
