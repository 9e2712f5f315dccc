package segments

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/labtest"
	"loglab/labs/view"
)

// point is what a ready-made run has at a tick.
type point struct {
	tick       int
	start, end kafka.Offset
	segments   string // base offsets
	records    string // of a log of few records, as the cells say; empty: not compared
	says       []string
}

// points are the numbers of cases.yaml where a case has them.
var points = map[string][]point{
	// STO-01, default_segment_ms
	"Old records stay although retention.ms has passed": {
		{26, 0, 6, "0", "", []string{"If the check of retention ran now, it would leave all. Of segment 0: largest timestamp 10,000 ms ago ≤ retention.ms 60,000"}},
	},
	// STO-01, segment_ms_60000: what each check leaves, 10 s after the record at 0, 100, 150, 200, 250, 300 and 350 s
	"The same with segment.ms = 60,000": {
		{1, 0, 1, "0", "", nil}, {11, 0, 3, "0 2", "", nil}, {16, 2, 4, "2", "", []string{"3 files of deleted segments are still on the disk"}}, {21, 2, 5, "2 4", "", nil},
		{26, 4, 6, "4", "A=5 A=6", nil}, {31, 4, 7, "4 6", "", nil}, {36, 6, 8, "6", "", nil},
	},
	"Both side by side": {{26, 0, 6, "0", "", nil}},
	// STO-03: the first record comes at 30 s, the segment rolls 605 s later, goes 1,500 s after the first record, and its file 60 s after that
	"How long a record lives with ten minutes of retention": {
		{1, 0, 0, "0", "", nil}, {21, 0, 120, "0", "", nil}, {22, 0, 126, "0 121", "", nil}, {50, 0, 294, "0 121 242", "", []string{"would take segment 0: largest timestamp 899,770 ms ago > retention.ms 600,000"}},
		{51, 121, 300, "121 242", "", []string{"3 files of deleted segments are still on the disk"}}, {52, 121, 306, "121 242", "", nil},
	},
	// STO-04, unlimited
	"A timestamp in the future blocks deletion": {
		{0, 0, 3, "0 1", "A=1 A=2 A=3", nil}, {2, 1, 4, "1", "A=2 A=3 A=4", []string{"ms in the future, retention.ms 60,000"}}, {40, 1, 4, "1", "", nil}, {41, 4, 4, "4", "", nil},
	},
	// STO-04, default: 32 INVALID_TIMESTAMP
	"The same, refused by default": {{0, 0, 2, "0", "A=1 A=3", nil}, {1, 2, 2, "2", "", nil}},
	// 3×140+70 = 490 bytes, retention.bytes 300: one segment goes, 350 are left
	"Size: one segment goes, 350 bytes are left": {
		{7, 0, 7, "0 2 4 6", "A=1 B=1 C=1 A=2 B=2 C=2 A=3", []string{"segment 0 would go at once, 140 bytes: size 490 - retention.bytes 300 = 190 ≥ 140 bytes of the segment; segment 2 stays: size 350 - retention.bytes 300 = 50 < 140 bytes of the segment", "The log would begin at 2 and keep 350 bytes"}},
		{8, 2, 7, "2 4 6", "C=1 A=2 B=2 C=2 A=3", []string{"size 350 - retention.bytes 300 = 50 < 140 bytes of the segment"}},
	},
	"An idle partition never rolls": {
		{29, 0, 6, "0 4", "", []string{"the next one makes it roll. No timer does: while nobody writes, it stays as it is"}}, {31, 0, 7, "0 4 6", "", nil},
	},
	// STO-06
	"A compacted topic still shows duplicates": {
		{8, 0, 6, "0", "A=1 B=1 A=2 C=1 B=∅ A=3", []string{"no dirty bytes below offset 0"}}, {12, 0, 7, "0 6", "C=1 B=∅ A=3 A=4", []string{"1 of them is an older value of a key that has a newer one; of 1 key it learns that it is deleted"}},
	},
	// STO-07
	"A tombstone: when does it go?": {
		{6, 0, 7, "0 6", "C=1 B=∅ A=3 A=4", []string{"that of B at offset 4 may go with a cleaning in 1 s or later, from tick 8 on"}}, {7, 0, 8, "0 7", "C=1 B=∅ A=4 D=1", nil},
		{10, 0, 8, "0 7", "C=1 B=∅ A=4 D=1", []string{"that of B at offset 4 may go: its time is over"}}, {11, 0, 9, "0 8", "C=1 A=4 D=1 D=2", nil},
	},
	"Compacted and deleted": {{14, 10, 15, "10", "C=3 D=3 A=4 B=4 C=4", nil}, {15, 15, 15, "15", "", []string{"gets nothing: the log begins and ends at 15"}}},
	"Delete records, in the middle of a segment": {
		{9, 4, 7, "0 3 6", "A=1 B=1 C=1 A=2 B=2 C=2 A=3", []string{"4 records are below the log start offset 4"}}, {10, 4, 7, "3 6", "A=2 B=2 C=2 A=3", []string{"1 record is below the log start offset 4"}},
	},
	"Power loss": {{13, 0, 13, "0 5 10", "", []string{"If b1 lost power now, 3 records (offsets 10 to 12) would be gone: 228 bytes"}}, {14, 0, 10, "0 5 10", "", nil}},
	// OFF-11
	"A reader away longer than retention, earliest": {
		{37, 7, 10, "7", "B=3 C=3 A=4", []string{"It has committed 5; the group’s lag is 5.", "Offset 5 is no more in the log, which begins at 7", "it would go on at 7, and never see offsets 5 to 6"}},
		{39, 7, 10, "7", "", []string{"has committed 10 and is at position 10"}},
	},
	"The same, latest": {{37, 7, 10, "7", "", []string{"it would go on at 10, and never see offsets 5 to 9"}}, {39, 7, 10, "7", "", nil}},
	"The same, none":   {{37, 7, 10, "7", "", []string{"it would end with an OffsetOutOfRangeException"}}, {39, 7, 10, "7", "", []string{"The reader has ended with OffsetOutOfRangeException. It has committed 5; the group’s lag is 5."}}},
}

func TestReadyRuns(t *testing.T) {
	for _, run := range Lab().Ready {
		a, err := labs.Parse(Lab(), labs.Pages, run.Query)
		if err != nil {
			t.Fatalf("%s: %v", run.Title, err)
		}
		if len(points[run.Title]) == 0 {
			t.Errorf("%s: nothing is said of it", run.Title)
		}
		for _, want := range points[run.Title] {
			_, query, _ := strings.Cut(a.WithTick(want.tick).Alone().String(), "?")
			l, p := frame(t, query)
			checkPoint(t, fmt.Sprintf("%s, tick %d", run.Title, want.tick), l, p, want)
		}
	}
}

func checkPoint(t *testing.T, where string, l *layout, p *view.Page, want point) {
	t.Helper()
	var bases, cells []string
	for _, s := range l.log.Segments {
		bases = append(bases, fmt.Sprint(s.BaseOffset))
	}
	for _, b := range l.batches {
		for _, r := range records(b.Batch, int(b.RecordsCount)) {
			cells = append(cells, cellText(r))
		}
	}
	if got := strings.Join(bases, " "); l.log.LogStartOffset != want.start || l.log.LogEndOffset != want.end || got != want.segments {
		t.Errorf("%s: the log is %d to %d in the segments %s, want %d to %d in %s", where, l.log.LogStartOffset, l.log.LogEndOffset, got, want.start, want.end, want.segments)
	}
	if got := strings.Join(cells, " "); want.records != "" && got != want.records {
		t.Errorf("%s: the records are %s, want %s", where, got, want.records)
	}
	text := labtest.Reading(p)
	for _, says := range want.says {
		if !strings.Contains(text, says) {
			t.Errorf("%s: the page does not say %q but\n%s", where, says, text)
		}
	}
}

// The cleaning of STO-06 is drawn with what went and by what, while it is the newest thing.
func TestACleaningIsDrawn(t *testing.T) {
	i := slices.IndexFunc(Lab().Ready, func(r labs.Ready) bool { return r.Title == "A compacted topic still shows duplicates" })
	a, err := labs.Parse(Lab(), labs.Pages, Lab().Ready[i].Query)
	if err != nil {
		t.Fatal(err)
	}
	_, query, _ := strings.Cut(a.WithTick(12).String(), "?")
	_, p := frame(t, query)
	c := p.Picture.Disk.Cleaned
	if c == nil {
		t.Fatal("no cleaning is drawn")
	}
	var cells []string
	for _, cell := range c.Cells {
		sign := ""
		if cell.Gone {
			sign = "✕"
		}
		cells = append(cells, sign+cell.Text+"@"+cell.Offset)
	}
	if got, want := strings.Join(cells, " "), "✕A@0→5 ✕B@1→4 ✕A@2→5 C=1@3 B=∅@4 A=3@5"; got != want {
		t.Errorf("the records before are %s, want %s", got, want)
	}
	if c.Before != "Before: 6 records, 419 bytes in segment 0" || c.After != "After: 3 records, 212 bytes in segment 0" {
		t.Errorf("%s; %s", c.Before, c.After)
	}
	l, _ := frame(t, query+"&at=mark:orders-0:removed-2")
	in := l.inspectAt()
	if in.Facts[0].Value != "superseded: offset 5 is the last of its key that the cleaner noted, and only that one stays" || len(in.Chain) == 0 {
		t.Errorf("the record that went is told of as %+v", in)
	}
}

// The table of verdicts has a line for each segment, with the rule and its numbers: of 490 bytes one segment goes.
func TestVerdicts(t *testing.T) {
	_, p := frame(t, "rate=0&segment-bytes=140&retention-bytes=300"+seven+"&t=7")
	var rows []string
	for _, row := range p.Picture.Tables[0].Rows {
		rows = append(rows, row.Items[0][0].Text+" "+row.Items[1][0].Text+": "+row.Items[2][0].Text)
	}
	want := []string{
		"0 goes: size 490 - retention.bytes 300 = 190 ≥ 140 bytes of the segment",
		"2 stays: size 350 - retention.bytes 300 = 50 < 140 bytes of the segment; largest timestamp 27,769 ms ago ≤ retention.ms 604,800,000",
		"4 stays: segment 2 stays, and older ones go first", "6 stays: segment 2 stays, and older ones go first",
	}
	if len(rows) != len(want) {
		t.Fatalf("the rows are %q", rows)
	}
	for i := range want {
		if rows[i] != want[i] && i != 1 || i == 1 && !strings.HasPrefix(rows[i], "2 stays: size 350 - retention.bytes 300 = 50 < 140 bytes of the segment; largest timestamp") {
			t.Errorf("row %d is %q, want %q", i, rows[i], want[i])
		}
	}
}
