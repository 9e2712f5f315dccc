package segments

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"loglab/engine/command"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/storage"
	"loglab/labs"
	"loglab/labs/labtest"
	"loglab/labs/view"
)

// randomQuery draws settings and commands.
func randomQuery(r *rand.Rand) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	var b strings.Builder
	fmt.Fprintf(&b, "tick-ms=%s&rate=%d&every=%s&keys=%d&deletions=%d&value-bytes=%d&batch-size=%s&compression=%s&reader=%s&reset=%s", pick("1000", "1000", "5000"), r.IntN(5), pick("1000", "1000", "3000"), r.IntN(6), r.IntN(4),
		r.IntN(60), pick("0", "200", "16384"), pick("none", "none", "gzip", "zstd"), pick("off", "on", "away"), pick(earliest, latest, noReset))
	fmt.Fprintf(&b, "&segment-bytes=%s&segment-ms=%s&index-interval=%d&ts-type=%s&policy=%s&retention-bytes=%s&retention-ms=%s&file-delay=%s&dirty-ratio=%s&min-lag=%s&delete-retention=%s",
		pick("140", "420", "2000"), pick("604800000", "30000"), r.IntN(500), pick(createTime, appendTime), pick(deletes, deletes, compacts, compacts, both, keeps), pick("-1", "300", "1000"), pick("-1", "60000", "300000"),
		pick("0", "60000"), pick("0", "0", "0.5", "1"), pick("0", "0", "40000"), pick("0", "30000"))
	for range r.IntN(8) {
		text := pick("produce p0 A 1", "produce p0 Z", "tombstone p0 A", "check-retention b1", "run-cleaner b1", fmt.Sprintf("delete-records orders-0 @%d", r.IntN(40)), "power-loss b1", "kill b1", "start b1", "start b1", "shut-down b1",
			"stop-sending p0", "start-sending p0", "skew p0 30m", "skew p0 0ms", "wait 5m", "leave reader-1", "start reader-1")
		fmt.Fprintf(&b, "&do=%d:%s", r.IntN(40), strings.ReplaceAll(text, " ", "+"))
	}
	return b.String()
}

// Runs with settings and commands at random are drawn at many ticks: nothing is missing or out of bounds, and all that
// looks as if it could be opened can be.
func TestRandomRunsAreDrawn(t *testing.T) {
	const runs = 30
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 11))
		query := randomQuery(r)
		for _, tick := range []int{r.IntN(10), 10 + r.IntN(20), 30 + r.IntN(30)} {
			where := fmt.Sprintf("%s&t=%d", query, tick)
			l, p := frame(t, where)
			checkDisk(t, where, l, p)
			if len(p.Reading) == 0 || strings.Contains(labtest.Reading(p), "%!") {
				t.Errorf("%s: the reading is %q", where, labtest.Reading(p))
			}
			openAll(t, where, l, p)
		}
	}
}

// openAll opens all that a page's picture offers.
func openAll(t *testing.T, where string, l *layout, p *view.Page) {
	t.Helper()
	targets := []string{"node:b1", "node:p0", "partition:orders-0", "time:orders-0:5000", "find:orders-0:3"}
	for _, m := range l.marks() {
		targets = append(targets, named(labs.MarkTarget, m.name).String())
	}
	for _, bar := range p.Picture.Disk.Map {
		targets = append(targets, bar.At)
	}
	if c := p.Picture.Disk.Cleaned; c != nil {
		for _, cell := range c.Cells {
			targets = append(targets, cell.At)
		}
	}
	for _, s := range p.Picture.Disk.Segments {
		targets = append(targets, s.At)
		for _, f := range s.Files {
			targets = append(targets, f.At)
		}
		for _, line := range s.Lines {
			for _, tick := range line.Index {
				targets = append(targets, tick.At)
			}
			for _, b := range line.Batches {
				targets = append(targets, b.At)
				for _, c := range b.Cells {
					targets = append(targets, c.At)
				}
			}
		}
	}
	rand.New(rand.NewPCG(uint64(l.Address.T), 1)).Shuffle(len(targets), func(i, j int) { targets[i], targets[j] = targets[j], targets[i] })
	for _, target := range targets[:min(len(targets), 25)] {
		a, err := labs.Parse(Lab(), labs.Pages, where+"&at="+target)
		if err != nil {
			t.Fatalf("%s: %v", target, err)
		}
		f := l.Frame
		f.Address = a
		in := newLayout(f).inspectAt()
		if in == nil || len(in.Facts) == 0 || in.Facts[0].Name == "Not there" {
			t.Errorf("%s: %s cannot be opened", where, target)
		}
	}
}

// What the outlook says of the next check of retention, the next cleaning and a power loss is what then happens if
// nothing else does.
func TestTheOutlookComesTrue(t *testing.T) {
	const runs = 100
	checked := map[string]int{}
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 12))
		query := randomQuery(r) + "&do=40:stop-sending+p0&do=41:wait+1s&t=42"
		if seed%3 == 0 { // a log that is worth a cleaning
			stop := 10 + r.IntN(40)
			query = fmt.Sprintf("rate=%d&keys=%d&deletions=%d&segment-bytes=%d&policy=%s&dirty-ratio=%s&delete-retention=%d&do=%d:stop-sending+p0&t=%d",
				1+r.IntN(3), 1+r.IntN(5), r.IntN(4), 140+r.IntN(400), []string{compacts, both}[r.IntN(2)], []string{"0", "0.5"}[r.IntN(2)], 20_000*r.IntN(2), stop, stop+2)
		}
		f := labtest.Replay(t, Lab(), query)
		l := newLayout(f)
		if !l.open {
			continue
		}
		comesTrue(t, query, l, checked)
		powerComesTrue(t, query, l, checked)
	}
	for what, least := range map[string]int{"deleted": 10, "kept": 15, "cleaned": 10, "not cleaned": 10, "lost": 10} {
		if checked[what] < least {
			t.Errorf("%s: it was foretold %d times, want at least %d", what, checked[what], least)
		}
	}
}

func comesTrue(t *testing.T, query string, l *layout, checked map[string]int) {
	t.Helper()
	at := l.upkeep.NextRetention
	cleans, now := l.cleans(at), l.Cluster.Clone()
	verdicts, done, _ := l.retention(at)
	cleaning, _ := l.Cluster.CleaningAt(at, serverID, partition)
	from := now.Journal().Len()
	if err := now.Apply(command.Wait{Span: at - l.View.Now + 1}); err != nil {
		t.Fatal(err)
	}
	after := now.View().Partitions[0].Log
	if cleans {
		checked["cleaned"]++
		for e := range now.Journal().All() {
			if b, ok := e.Body.(journal.LogCleaned); ok && int(e.Seq) > from && b.TopicPartition == partition {
				if len(b.Removed) != len(cleaning.Removed) || b.Checkpoint != cleaning.Checkpoint || b.BytesAfter != cleaning.BytesAfter() {
					t.Errorf("%s: foretold were %d records gone up to %d, and %d bytes; it was %s", query, len(cleaning.Removed), cleaning.Checkpoint, cleaning.BytesAfter(), b.Text())
				}
				return
			}
		}
		t.Errorf("%s: a cleaning was foretold and none came", query)
		return
	}
	if l.config.Compact {
		checked["not cleaned"]++
		for e := range now.Journal().All() {
			if b, ok := e.Body.(journal.LogCleaned); ok && int(e.Seq) > from && b.TopicPartition == partition {
				t.Errorf("%s: no cleaning was foretold; it was %s", query, b.Text())
			}
		}
	}
	gone := count(verdicts)
	if after.LogStartOffset != done.LogStartTo {
		t.Errorf("%s: the log begins at %d, foretold was %d", query, after.LogStartOffset, done.LogStartTo)
	}
	var left []kafka.Offset
	for _, s := range l.log.Segments[gone:] {
		left = append(left, s.BaseOffset)
	}
	if len(left) == 0 {
		left = []kafka.Offset{l.log.LogEndOffset}
	}
	var have []kafka.Offset
	for _, s := range after.Segments {
		have = append(have, s.BaseOffset)
	}
	if !slices.Equal(left, have) {
		t.Errorf("%s: the segments are %v, foretold were %v", query, have, left)
	}
	if gone > 0 {
		checked["deleted"]++
	} else {
		checked["kept"]++
	}
}

func powerComesTrue(t *testing.T, query string, l *layout, checked map[string]int) {
	t.Helper()
	foretold, ok := l.Cluster.AfterPowerLoss(serverID, partition)
	c := l.Cluster.Clone()
	if err := c.Apply(command.PowerLoss{Node: server}); err != nil {
		t.Fatal(err)
	}
	after := c.View().Partitions[0].Log
	if ok && (after.LogEndOffset != foretold.LogEndOffset || after.Bytes != foretold.Bytes) {
		t.Errorf("%s: after the power loss the log ends at %d with %d bytes, foretold were %d and %d", query, after.LogEndOffset, after.Bytes, foretold.LogEndOffset, foretold.Bytes)
	}
	if after.LogEndOffset < l.log.LogEndOffset {
		checked["lost"]++
	}
}

// Where the reader is said to go on, it goes on.
func TestTheReaderComesBackAsForetold(t *testing.T) {
	outside := 0
	for seed := range uint64(120) {
		r := rand.New(rand.NewPCG(seed, 13))
		reset := []string{earliest, latest, noReset}[seed%3]
		query := fmt.Sprintf("reader=on&reset=%s&rate=%d&segment-bytes=%d&retention-ms=%d&do=%d:leave+reader-1&do=%d:wait+%dm&do=%d:delete-records+orders-0+@%d&do=28:stop-sending+p0&t=30",
			reset, 1+r.IntN(3), 140+r.IntN(300), 60_000*(1+r.IntN(3)), 2+r.IntN(8), 10+r.IntN(5), 1+r.IntN(9), 20, 1+r.IntN(30))
		l, _ := frame(t, query)
		state, _ := l.away()
		want, ok := l.begins(state)
		if !l.inRange(state.committed) {
			outside++
		}
		c := l.Cluster.Clone()
		from := c.Journal().Len()
		for _, cmd := range []command.Command{startReader, command.Wait{Span: 5000}} {
			if err := c.Apply(cmd); err != nil {
				t.Fatal(err)
			}
		}
		got, failed := kafka.NoOffset, false
		for e := range c.Journal().All() {
			if int(e.Seq) <= from || e.Node != reader {
				continue
			}
			switch b := e.Body.(type) {
			case journal.PositionReset:
				got = b.To
			case journal.RecordsRead:
				if got == kafka.NoOffset {
					got = b.From
				}
			case journal.ConsumerFailed:
				failed = true
			}
		}
		if got == kafka.NoOffset && state.committed == l.log.HighWatermark {
			got = state.committed // nothing to read
		}
		if failed == ok || ok && got != want {
			t.Errorf("%s: committed %d in %d to %d; foretold %d, %t; it began at %d, failed %t", query, state.committed, l.log.LogStartOffset, l.log.LogEndOffset, want, ok, got, failed)
		}
	}
	if outside < 40 {
		t.Errorf("in %d of 120 runs the commit was out of range", outside)
	}
}

// The clean and the dirty part are what the cleaner’s checkpoint says, for whole segments.
func TestCleanAndDirty(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 14))
		l, _ := frame(t, fmt.Sprintf("policy=compact&dirty-ratio=%s&rate=2&segment-bytes=%d&min-lag=%d&deletions=3&t=%d", []string{"0", "0.5"}[seed%2], 140+r.IntN(400), 10_000*r.IntN(3), 10+r.IntN(90)))
		c := l.upkeep.Cleanable
		clean := 0
		for i, s := range l.log.Segments {
			switch kind := l.kindOf(i); {
			case kind == kindClean && s.LastOffset >= c.FirstDirtyOffset, kind == kindLater && s.BaseOffset < c.FirstUncleanableOffset,
				kind == kindDirty && (s.BaseOffset >= c.FirstUncleanableOffset || s.LastOffset != kafka.NoOffset && s.LastOffset < c.FirstDirtyOffset && i+1 < len(l.log.Segments) && l.log.Segments[i+1].BaseOffset <= c.FirstDirtyOffset):
				t.Errorf("seed %d: segment %d with the last offset %d is %s; dirty from %d, not to be cleaned from %d", seed, s.BaseOffset, s.LastOffset, kind, c.FirstDirtyOffset, c.FirstUncleanableOffset)
			case kind == kindClean:
				clean += len(s.Bytes)
			}
		}
		if c.Verdict == storage.NothingToClean && clean != c.CleanBytes {
			t.Errorf("seed %d: %d bytes are drawn as clean, the cleaner counts %d", seed, clean, c.CleanBytes)
		}
	}
}
