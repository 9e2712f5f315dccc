package segments

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/labtest"
	"loglab/labs/view"
)

// frame replays a query and draws its page.
func frame(t testing.TB, query string) (*layout, *view.Page) {
	t.Helper()
	f, p := labtest.Replay(t, Lab(), query), &view.Page{}
	build(f, p)
	return newLayout(f), p
}

// What cannot run is refused with the parameter, what was found, and what is allowed.
func TestRefusals(t *testing.T) {
	labtest.CheckRefused(t, Lab(), map[string]string{
		"rate=10&tick-ms=60000":            "every is 1000, which makes 60 bursts of 10 in a tick of 60000 ms",
		"rate=100&every=500":               "at most 100 records a tick: at least 501 ms between bursts",
		"rate=3&tick-ms=3600000":           "at least 105883 ms between bursts",
		"min-lag=10&max-lag=5":             "min-lag is 10: at most max.compaction.lag.ms = 5",
		"dirty-ratio=2":                    "a number from 0 to 1 is allowed",
		"dirty-ratio=NaN":                  "a number from 0 to 1 is allowed",
		"segment-bytes=69":                 "a whole number from 70",
		"policy=delete,compact":            "allowed are delete, compact, compact,delete, none",
		"retention-bytes=-2":               "a whole number from -1",
		"tick-ms=21600001":                 "a whole number from 10 to 21600000",
		"value-bytes=65537":                "a whole number from 0 to 65536",
		"max-lag=9223372036854775808":      "a whole number from 1 to 9223372036854775807",
		"compression=brotli":               "allowed are none, gzip, snappy, lz4, zstd",
		"reset=by_duration:PT5S&reader=on": "allowed are earliest, latest, none",
	})
}

// The least time between bursts that a refusal names is allowed, and one ms less is not.
func TestLeastTimeBetweenBursts(t *testing.T) {
	for _, tick := range []int{10, 1000, 60_000, 3_600_000} {
		for rate := 1; rate <= 100; rate++ {
			at := func(every int) int { return rate * max(tick/every, 1) }
			if least := leastEvery(tick, rate); at(least) > 100 || least > 1 && at(least-1) <= 100 {
				t.Fatalf("tick %d, rate %d: %d ms make %d records, one ms less %d", tick, rate, least, at(least), at(max(least-1, 1)))
			}
		}
	}
}

// A ratio has one spelling.
func TestRatios(t *testing.T) {
	for raw, want := range map[string]string{"0.50": "0.5", "1": "1", "-0": "0", ".25": "0.25", "1e-3": "0.001"} {
		if got, err := canonicalRatio(raw); err != nil || got != want {
			t.Errorf("%q is %q (%v), want %q", raw, got, err, want)
		}
	}
}

// Lines hold every byte of the log once, in order, and boxes stand where their bytes are.
func TestLinesHoldTheLog(t *testing.T) {
	for _, query := range []string{
		"t=14", "rate=10&segment-bytes=16384&t=200", "batch-size=0&rate=20&t=30", "rate=40&value-bytes=300&segment-bytes=100000&t=40", "compression=zstd&rate=50&t=20",
		"policy=compact&dirty-ratio=0&deletions=3&t=60", "value-bytes=20000&segment-bytes=100000&t=12", "t=0", "retention-ms=1000&t=40",
	} {
		l, p := frame(t, query)
		for i, s := range l.log.Segments {
			next := 0
			for _, line := range l.window.lines {
				if line.segment != i {
					continue
				}
				if line.start != next || line.bytes > l.window.lineBytes {
					t.Errorf("%s: segment %d has a line of %d bytes at %d, want at %d and at most %d", query, s.BaseOffset, line.bytes, line.start, next, l.window.lineBytes)
				}
				next += line.bytes
			}
			if next != len(s.Bytes) {
				t.Errorf("%s: the lines of segment %d hold %d of %d bytes", query, s.BaseOffset, next, len(s.Bytes))
			}
		}
		checkDisk(t, query, l, p)
	}
}

// checkDisk wants a drawing whose boxes do not meet, are within it, and stand to scale.
func checkDisk(t *testing.T, query string, l *layout, p *view.Page) {
	t.Helper()
	d := p.Picture.Disk
	end := 0
	for _, b := range d.Map {
		if b.From != end || b.To <= b.From {
			t.Errorf("%s: a bar of the map from %d to %d behind %d", query, b.From, b.To, end)
		}
		end = b.To
	}
	if end > view.DiskColumns {
		t.Errorf("%s: the map ends at %d", query, end)
	}
	ids := map[string]bool{}
	for _, s := range d.Segments {
		for _, line := range s.Lines {
			end := 0
			for _, b := range line.Batches {
				if b.From < end || b.To <= b.From || b.To > view.DiskColumns {
					t.Errorf("%s: %s has a batch from %d to %d behind %d", query, line.ID, b.From, b.To, end)
				}
				end = b.To
				for _, c := range b.Cells {
					if ids[c.ID] {
						t.Errorf("%s: two records are called %s", query, c.ID)
					}
					ids[c.ID] = true
				}
			}
			for _, f := range line.Flags {
				if f.Column < 0 || f.Column > view.DiskColumns {
					t.Errorf("%s: %s has %q at %d", query, line.ID, f.Text, f.Column)
				}
			}
		}
	}
}

// Each mark stands in one line of the log, and once in the map where its segment is drawn.
func TestMarksStandOnce(t *testing.T) {
	for _, query := range []string{"t=14", "policy=compact&dirty-ratio=0&deletions=3&t=60", "do=9:delete-records+orders-0+@7&t=12", "retention-ms=1000&do=8:wait+10m&t=9", "reader=on&t=20", "t=0"} {
		l, _ := frame(t, query)
		for _, m := range l.marks() {
			n := 0
			for _, line := range l.window.lines {
				if _, ok := l.place(line, m.offset); ok {
					n++
				}
			}
			if n != 1 {
				t.Errorf("%s: %s stands in %d lines", query, m.text(), n)
			}
		}
	}
}

// A commit before tick 0 lets every policy of auto.offset.reset begin at 0.
func TestTheReaderBegins(t *testing.T) {
	for _, reset := range []string{earliest, latest, noReset} {
		l, _ := frame(t, "reader=on&reset="+reset+"&t=12")
		if r, ok := l.away(); !ok || !r.alive || r.position != 12 || r.failed != "" {
			t.Errorf("%s: the reader is %+v, want at position 12", reset, r)
		}
	}
	l, _ := frame(t, "reader=away&t=12")
	if r, _ := l.away(); r.alive || r.committed != 0 || r.lag != 12 {
		t.Errorf("away: %+v, want committed 0, 12 behind", r)
	}
}

// The names of keys go on after Z and are all different.
func TestKeyNames(t *testing.T) {
	seen := map[string]bool{}
	for i := range maxKeys {
		seen[keyName(i)] = true
	}
	if len(seen) != maxKeys || keyName(0) != "A" || keyName(26) != "A1" || keyName(53) != "B2" {
		t.Errorf("%d names, with %s, %s, %s", len(seen), keyName(0), keyName(26), keyName(53))
	}
}

// A tick is as long as the setting says.
func TestTicks(t *testing.T) {
	for ms, want := range map[int]kafka.Millis{1000: 3000, 60_000: 180_000, 3_600_000: 10_800_000} {
		if l, _ := frame(t, fmt.Sprintf("tick-ms=%d&every=%d&t=3", ms, ms)); l.View.Now != want {
			t.Errorf("three ticks of %d ms are %d ms, want %d", ms, l.View.Now, want)
		}
	}
}

// The page says in all its places when the files of a deleted segment go, and so they do: by the timer of a broker that
// runs, once a paused one is resumed, as one that was stopped opens the log.
func TestFilesOfDeletedSegmentsGo(t *testing.T) {
	const name = "00000000000000000000.log.deleted"
	const deleted, cleaned = "retention-ms=1000&file-delay=5000&do=8:check-retention+b1", "policy=compact&dirty-ratio=0&file-delay=5000&do=8:run-cleaner+b1"
	for _, c := range []struct {
		query, then string // then: commands that come after it was said
		at, gone    int    // ticks in which it is said, and in which the files are gone
		says, delay string
	}{
		{deleted, "", 10, 14, "in tick 14, in 3 s", " (file.delete.delay.ms = 5,000)"},
		{deleted + "&do=9:pause+b1", "&do=11:resume+b1", 10, 14, "once b1 is resumed, from tick 14 on", " (file.delete.delay.ms = 5,000)"},
		{deleted + "&do=9:pause+b1", "&do=20:resume+b1", 18, 21, "once b1 is resumed, from tick 19 on", " (file.delete.delay.ms = 5,000)"},
		{deleted + "&do=9:kill+b1", "&do=20:start+b1", 10, 21, "as b1 opens the log", ""},
		{deleted + "&do=9:shut-down+b1&do=20:start+b1", "", 20, 21, "as b1 opens the log", ""},
		{cleaned, "", 10, 14, "in tick 14, in 3 s", " (file.delete.delay.ms = 5,000)"},
		{cleaned + "&do=11:run-cleaner+b1", "", 12, 14, "in tick 14, in 1 s", ", and the last in tick 17, in 4 s (file.delete.delay.ms = 5,000)"}, // the newer file took the older's name
	} {
		where := fmt.Sprintf("%s&t=%d", c.query, c.at)
		_, p := frame(t, where+"&at="+named(labs.FileTarget, name).String())
		if says := "with the suffix .deleted. They go " + c.says + c.delay + "."; !strings.Contains(labtest.Reading(p), says) {
			t.Errorf("%s: the reading is %q, want %q", where, labtest.Reading(p), says)
		}
		if drawn := p.Picture.Disk.Segments[0]; drawn.State != ".deleted" || drawn.Next != "its files go "+c.says {
			t.Errorf("%s: the picture begins with %s %s, %q", where, drawn.Name, drawn.State, drawn.Next)
		}
		if i := slices.IndexFunc(p.Inspector.Facts, func(f view.Fact) bool { return f.Name == "Goes" }); i < 0 || !strings.HasPrefix(p.Inspector.Facts[i].Value, c.says+". ") {
			t.Errorf("%s: the inspector says %+v", where, p.Inspector.Facts)
		}
		for tick := c.gone - 1; tick <= c.gone; tick++ {
			l, _ := frame(t, fmt.Sprintf("%s%s&t=%d", c.query, c.then, tick))
			if there := slices.ContainsFunc(l.files, func(f engine.DiskFile) bool { return f.Name == name }); there != (tick < c.gone) {
				t.Errorf("%s%s: in tick %d the file is there: %v", c.query, c.then, tick, there)
			}
		}
	}
}
