package offsets

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"loglab/labs/labtest"
	"loglab/labs/view"
)

// stripOf writes a partition's records, each with its word: "0✓ 1:2× 2:lost".
func stripOf(p *view.Page, name string) string {
	for _, s := range p.Picture.Strips {
		if s.Name != name {
			continue
		}
		var cells []string
		for _, c := range s.Cells {
			word := ""
			if c.Word != "" {
				word = ":" + c.Word
			}
			cells = append(cells, c.Text+word)
		}
		return strings.Join(cells, " ")
	}
	return ""
}

// gapsOf writes a partition's brackets: "3–6 3 to repeat".
func gapsOf(p *view.Page, name string) string {
	var list []string
	for _, s := range p.Picture.Strips {
		for _, g := range s.Gaps {
			if s.Name == name {
				list = append(list, fmt.Sprintf("%d–%d %s", int(s.First)+g.From, int(s.First)+g.To, g.Text))
			}
		}
	}
	return strings.Join(list, ", ")
}

// sinkOf gives a number of the sink.
func sinkOf(p *view.Page, name string) string {
	for _, c := range p.Picture.Ledger {
		if c.Name == name {
			return c.Number
		}
	}
	return ""
}

// want is what a ready-made run shows at its tick.
type want struct {
	strips map[string]string
	gaps   map[string]string
	sink   map[string]string
	says   []string
}

var wants = map[string]want{
	"Crash between processing and commit": {
		strips: map[string]string{"orders-0": "0:✓ 1:✓ 2:✓ 3:✓2× 4:✓2× 5:✓2×", "orders-1": "0:✓ 1:✓ 2:✓ 3:✓ 4:✓ 5:✓"},
		sink:   map[string]string{"Applied once": "9", "More than once": "3", "Never": "0", "Lost": "0"},
		says:   []string{"billing-1 crashed in tick 7, before commit. orders-0: it had processed up to offset 5 and had committed 3. billing-2 began at 3 in tick 15: 3 records were processed twice."},
	},
	"Commit first, and lose": {
		strips: map[string]string{"orders-0": "0:✓ 1:lost 2:lost 3:✓ 4:✓ 5:busy"},
		gaps:   map[string]string{"orders-0": "5–6 1 to lose"},
		sink:   map[string]string{"Lost": "2", "More than once": "0"},
		says: []string{
			"billing-2 began at 3 in tick 11: 2 records were never processed.", "2 records are lost to billing: orders-0 @1, orders-0 @2.", "1 record is committed and not processed yet",
			"If billing-2 crashed now, no record would be processed again and 1 lost",
		},
	},
	"Commit after and before, side by side": {
		strips: map[string]string{"orders-0": "0:2× 1:done 2:busy 3 4 5"},
		gaps:   map[string]string{"orders-0": "0–3 2 to repeat"},
		says:   []string{"1 record was processed twice"},
	},
	"The window of auto commit": {
		gaps: map[string]string{"orders-0": "12–19 7 to repeat"},
		says: []string{"billing-1 crashed in tick 10. orders-0: it had processed up to offset 18 and had committed 12."},
	},
	"Automatic and manual commits, side by side": {
		says: []string{"it had processed up to offset 18 and had committed 12. billing-2 began at 12 in tick 19: 7 records are processed again"},
	},
	"Plain and idempotent sink, side by side": {
		sink: map[string]string{"More than once": "12"},
	},
	"From earliest and from latest, side by side": {
		gaps: map[string]string{"orders-0": "0–3 audit: 2 to repeat"},
	},
	"Dynamic and static, side by side": {
		says: []string{"It was restarted in tick 4 and is a new member"},
	},
	"The highest done is committed, and a record lost": {
		strips: map[string]string{"orders-0": "0:lost 1:✓ 2:✓ 3:✓ 4:busy 5:✓ 6:✓ 7:✓"},
		gaps:   map[string]string{"orders-0": "4–8 1 to lose"},
		sink:   map[string]string{"Lost": "1"},
		says:   []string{"it had processed up to offset 3 and had committed 4. billing-2 began at 4", "1 record is lost to billing: orders-0 @0."},
	},
	"The same, committing up to the first not done": {
		strips: map[string]string{"orders-0": "0:busy 1:2× 2:2× 3:2× 4:busy 5:busy 6:polled 7:polled"},
		sink:   map[string]string{"Lost": "0", "More than once": "3"},
		says:   []string{"it had processed up to offset 3 and had committed nothing. billing-2 began at 0"},
	},
	"Replay into a plain sink": {
		strips: map[string]string{"orders-3": "0:✓2× 1:✓2× 2:✓2×"},
		sink:   map[string]string{"Applied once": "0", "More than once": "12", "Never": "0"},
		says:   []string{"12 records are applied more than once by a plain sink: it has 24 effects of 12 records."},
	},
	"Replay into an idempotent sink": {
		strips: map[string]string{"orders-3": "0:✓2× 1:✓2× 2:✓2×"},
		sink:   map[string]string{"Applied once": "12", "More than once": "0", "Ignored": "12"},
		says:   []string{"The sink ignored 12 effects"},
	},
	"A slow sink and growing lag": {
		sink: map[string]string{"Applied once": "80", "Never": "52", "Capacity": "4"},
		says: []string{"The lag of billing is 64: watermark minus committed, and has grown by 13 in 5 ticks.", "more consumers do not help"},
	},
	"A poison record": {
		strips: map[string]string{"orders-0": "0:✓ 1:busy 2:polled"},
		says:   []string{"The handler of billing fails at orders-0 @1: it has failed 10 times. Nothing behind it is processed"},
	},
	"The same record dead-lettered": {
		strips: map[string]string{"orders-0": "0:✓ 1:skipped 2:✓"},
		sink:   map[string]string{"Given up": "1"},
		says:   []string{"it has failed 3 times. The record stands in the topic orders-dead now"},
	},
	"A zombie’s commit refused": {
		strips: map[string]string{"orders-0": "0:✓ 1:✓2× 2:✓"},
		says:   []string{"billing-1’s commit was not taken in tick 17: UNKNOWN_MEMBER_ID."},
	},
	"A new group from earliest": {
		gaps: map[string]string{"orders-0": "0–3 audit: 2 to repeat"},
		says: []string{"The lag of audit is 21", "If audit-1 crashed now, 2 records would be processed again and none lost"},
	},
	"A new group from latest": {
		gaps: map[string]string{"orders-0": ""},
		says: []string{"If audit-1 crashed now, no record would be processed again and 1 or more lost"},
	},
	"Restarted: a dynamic member waits": {
		says: []string{"The group does not know: it notices in tick 8, when the session ends. Until then nobody reads them. It was restarted in tick 4 and is a new member: it waits for that too."},
	},
	"Restarted: a static member does not": {
		says: []string{"billing-1 crashed in tick 2. orders-0: it had processed up to offset 0 and had committed nothing. billing-1 began at 0 in tick 5: 1 record was processed twice."},
	},
}

// Each ready-made run shows its point in picture, sink and reading.
func TestReadyMadeRuns(t *testing.T) {
	for _, run := range readyRuns() {
		t.Run(run.Title, func(t *testing.T) {
			w, known := wants[run.Title]
			if !known {
				t.Fatal("nothing is expected of it")
			}
			_, p := frame(t, "v=1&"+run.Query)
			for name, strip := range w.strips {
				if got := stripOf(p, name); got != strip {
					t.Errorf("%s is %q, want %q", name, got, strip)
				}
			}
			for name, gaps := range w.gaps {
				if got := gapsOf(p, name); got != gaps {
					t.Errorf("the brackets of %s are %q, want %q", name, got, gaps)
				}
			}
			for name, number := range w.sink {
				if got := sinkOf(p, name); got != number {
					t.Errorf("%s is %q, want %s", name, got, number)
				}
			}
			for _, words := range w.says {
				if got := labtest.Reading(p); !strings.Contains(got, words) {
					t.Errorf("the reading lacks %q:\n%s", words, got)
				}
			}
		})
	}
}

// At the start nothing has been read: four partitions of three records, two consumers, nothing committed.
func TestStart(t *testing.T) {
	_, p := frame(t, "")
	for i := range 4 {
		if got := stripOf(p, fmt.Sprintf("orders-%d", i)); got != "0 1 2" {
			t.Errorf("orders-%d is %q", i, got)
		}
	}
	if want := "Topic orders, 4 partitions; group billing, 2 consumers, Stable, generation 1"; p.Picture.Title != want {
		t.Errorf("the title is %q, want %q", p.Picture.Title, want)
	}
	var flags []string
	for _, f := range p.Picture.Strips[0].Flags {
		flags = append(flags, fmt.Sprintf("%s@%d", f.Text, f.Column))
	}
	slices.Sort(flags)
	if got, want := strings.Join(flags, ", "), "nothing committed, start 0@0, position 0@0, watermark, end 3@3"; got != want {
		t.Errorf("the flags are %q, want %q", got, want)
	}
}
