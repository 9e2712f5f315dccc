package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

const (
	segments = "/lab/segments?v=1"

	// runs of the lab, as its links have them
	compacting   = "&deletions=3&policy=compact&dirty-ratio=0"
	twoHundred   = segments + "&rate=10&value-bytes=200&batch-size=0&segment-bytes=65536&t=20" // batches
	manySegments = segments + "&rate=40&keys=1000&deletions=2&batch-size=0&reader=on&segment-bytes=140&index-interval=0&policy=compact,delete&retention-ms=60000&min-lag=3000&dirty-ratio=0&t=46"
	longBatches  = segments + "&rate=100&keys=1000&compression=zstd&segment-bytes=1048576&index-interval=0&t=60"
)

// diskText writes the records that are drawn: each segment with its cells, in order; those below the log start in
// brackets.
func diskText(b *tab) string {
	b.t.Helper()
	return eval[string](b, `[...document.querySelectorAll('#disk .segment-card:not(.deleted)')].map(s => s.id.replace('segment-', '') + ':' +
		[...s.querySelectorAll('.cell')].map(c => c.classList.contains('below') ? '(' + c.innerText + ')' : c.innerText).join(' ')).join(' | ')`)
}

// marksText writes the marks under the map.
func marksText(b *tab) string {
	b.t.Helper()
	return eval[string](b, `[...document.querySelectorAll('.disk-map .flag')].map(f => f.innerText).join(', ')`)
}

// readySegments are the ready-made runs, with what their pages have at some ticks: the numbers are those of the public
// cases where a case has them.
var readySegments = []struct {
	title  string
	points []segmentPoint
}{
	{"Old records stay although retention.ms has passed", []segmentPoint{
		{26, "0:A=1 A=2 A=3 A=4 A=5 A=6", "log start 0, high watermark = log end 6", "largest timestamp 10,000 ms ago ≤ retention.ms 60,000"}}},
	{"The same with segment.ms = 60,000", []segmentPoint{
		{11, "0:A=1 A=2 | 2:A=3", "log start 0, high watermark = log end 3", ""}, {16, "2:A=3 A=4", "log start 2, high watermark = log end 4", "3 files of deleted segments"},
		{21, "2:A=3 A=4 | 4:A=5", "log start 2, high watermark = log end 5", ""}, {26, "4:A=5 A=6", "log start 4, high watermark = log end 6", ""}, {36, "6:A=7 A=8", "log start 6, high watermark = log end 8", ""}}},
	{"How long a record lives with ten minutes of retention", []segmentPoint{
		{50, "", "log start 0, high watermark = log end 294", "would take segment 0: largest timestamp 899,770 ms ago > retention.ms 600,000"},
		{51, "", "log start 121, high watermark = log end 300", "3 files of deleted segments"}, {53, "", "log start 121, high watermark = log end 312", "A reader that starts now from earliest begins at offset 121"}}},
	{"A timestamp in the future blocks deletion", []segmentPoint{
		{0, "0:A=1 | 1:A=2 A=3", "log start 0, high watermark = log end 3", ""}, {2, "1:A=2 A=3 A=4", "log start 1, high watermark = log end 4", "ms in the future, retention.ms 60,000"}, {41, "4:", "log start 4, high watermark = log end 4", "gets nothing"}}},
	{"The same, refused by default", []segmentPoint{{0, "0:A=1 A=3", "log start 0, high watermark = log end 2", ""}}},
	{"Size: one segment goes, 350 bytes are left", []segmentPoint{
		{7, "0:A=1 B=1 | 2:C=1 A=2 | 4:B=2 C=2 | 6:A=3", "log start 0, high watermark = log end 7", "size 490 - retention.bytes 300 = 190 ≥ 140 bytes of the segment"},
		{8, "2:C=1 A=2 | 4:B=2 C=2 | 6:A=3", "log start 2, high watermark = log end 7", "350 bytes in 3 segments"}}},
	{"An idle partition never rolls", []segmentPoint{
		{29, "0:A=1 B=1 C=1 A=2 | 4:B=2 C=2", "log start 0, high watermark = log end 6", "No timer does"}, {31, "0:A=1 B=1 C=1 A=2 | 4:B=2 C=2 | 6:A=3", "log start 0, high watermark = log end 7", ""}}},
	{"A compacted topic still shows duplicates", []segmentPoint{
		{8, "0:A=1 B=1 A=2 C=1 B=∅ A=3", "log start 0, high watermark = log end 6, cleaned up to 0, not cleaned from 0", "no dirty bytes below offset 0"},
		{12, "0:C=1 B=∅ A=3 | 6:A=4", "log start 0, high watermark = log end 7, cleaned up to 6, not cleaned from 6", "1 of them is an older value"}}},
	{"A tombstone: when does it go?", []segmentPoint{
		{6, "0:C=1 B=∅ A=3 | 6:A=4", "", "may go with a cleaning in 1 s or later"}, {7, "0:C=1 B=∅ A=4 | 7:D=1", "", ""}, {10, "0:C=1 B=∅ A=4 | 7:D=1", "", "its time is over"}, {11, "0:C=1 A=4 D=1 | 8:D=2", "", ""}}},
	{"Compacted and deleted", []segmentPoint{{14, "10:C=3 D=3 A=4 B=4 C=4", "", ""}, {15, "15:", "", "gets nothing"}}},
	{"Delete records, in the middle of a segment", []segmentPoint{
		{9, "0:(A=1) (B=1) (C=1) | 3:(A=2) B=2 C=2 | 6:A=3", "log start 4, high watermark = log end 7", "4 records are below the log start offset 4"}, {10, "3:(A=2) B=2 C=2 | 6:A=3", "log start 4, high watermark = log end 7", ""}}},
	{"Power loss", []segmentPoint{{13, "0:A=1 B=1 C=1 A=2 B=2 | 5:C=2 A=3 B=3 C=3 A=4 | 10:B=4 C=4 A=5", "", "If b1 lost power now, 3 records (offsets 10 to 12) would be gone"}, {14, "0:A=1 B=1 C=1 A=2 B=2 | 5:C=2 A=3 B=3 C=3 A=4 | 10:", "", "b1 has no power"}}},
	{"A reader away longer than retention, earliest", []segmentPoint{
		{37, "7:B=3 C=3 A=4", "log start 7, high watermark = log end 10", "it would go on at 7, and never see offsets 5 to 6"}, {39, "7:B=3 C=3 A=4", "log start 7, high watermark = log end 10, reader’s commit 10", "is at position 10"}}},
	{"The same, latest", []segmentPoint{{37, "7:B=3 C=3 A=4", "", "it would go on at 10, and never see offsets 5 to 9"}}},
	{"The same, none", []segmentPoint{{39, "7:B=3 C=3 A=4", "", "The reader has ended with OffsetOutOfRangeException. It has committed 5; the group’s lag is 5"}}},
}

// segmentPoint is what a page has at a tick; what is empty is not looked at.
type segmentPoint struct {
	tick           int
	records, marks string
	reading        string
}

// Each ready-made run is one press away. Stepped from the start it has its numbers at each of its points.
func TestReadyMadeRunsOfSegments(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(segments)
	b.click("#ready summary")
	for _, run := range readySegments {
		link := ready(b, run.title)
		address := eval[string](b, fmt.Sprintf("document.querySelector(%s).getAttribute('href')", quote(link)))
		b.click(link)
		b.waitAddress(address)
		b.press(kb.Home)
		b.waitTick(0)
		for _, want := range run.points {
			b.stepTo(want.tick)
			b.waitText("#reading", want.reading)
			where := fmt.Sprintf("%s, tick %d", run.title, want.tick)
			if got := diskText(b); want.records != "" && got != want.records {
				t.Errorf("%s: the disk has %s, want %s", where, got, want.records)
			}
			if got := marksText(b); want.marks != "" && got != want.marks {
				t.Errorf("%s: the marks are %s, want %s", where, got, want.marks)
			}
		}
	}
	b.click(ready(b, "Both side by side"))
	b.waitText("#picture .run", "segment-ms = 604800000")
	b.waitText("#vs-picture .run", "segment-ms = 60000")
}

// A cleaning, stepped through: what went is drawn with what replaced it, the old files wait, and then they go.
func TestStepThroughACleaning(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(segments + compacting + "&file-delay=5000&t=14")
	b.press(kb.ArrowRight)
	b.waitTick(15)
	b.waitText("#say", "the cleaner took 7 of 10 records")
	b.waitText(".cleaning", "Before: 10 records, 739 bytes in segments 0, 5")
	b.waitText(".cleaning", "After: 3 records, 220 bytes in segments 0, 5")
	if got := b.count(".cleaning .cell.gone"); got != 7 {
		t.Errorf("%d records are drawn as gone, want 7", got)
	}
	if got := b.count("#disk .segment-card.deleted"); got != 2 {
		t.Errorf("%d segments wait to be removed, want 2", got)
	}
	b.click("#before-0")
	b.waitText("#inspector", "superseded: offset 9 is the last of its key")
	b.click("#open-by")
	b.waitText("#inspector-title", "Record orders-0 9")
	b.shot("segments-cleaned")
	b.stepTo(16)
	if got := b.count(".cleaning"); got != 0 {
		t.Error("a tick later the cleaning is still told of as the newest thing")
	}
	b.stepTo(20)
	b.waitText("#say", "6 files left the disk")
	if got := b.count("#disk .segment-card.deleted"); got != 0 {
		t.Errorf("%d segments still wait", got)
	}
	// The next event is a deletion or a cleaning, not a look that found nothing.
	b.open(segments + "&rate=0&do=1:produce+p0+A&retention-ms=60000")
	b.press("n")
	b.waitTick(1)
	b.press("n")
	b.waitTick(330)
	b.waitText("#say", "retention let go of 1 segment")
}

// What the page says would follow, and where its links lead.
func TestTryACheckACleaningAndAPowerLoss(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(segments + "&rate=0&segment-bytes=140&retention-bytes=140&do=1:produce+p0+A+1&do=2:produce+p0+A+2&do=3:produce+p0+A+3&do=4:produce+p0+A+4&t=6")
	b.waitText("#reading", "segment 0 would go at once")
	b.click("#reading a[href*='check-retention']")
	b.waitText(".given", "check-retention b1")
	b.waitFor("document.querySelector('.disk-map .flag').innerText === 'log start 2'") // 280 - 140 = 140 bytes of the segment
	b.open(segments + "&segment-bytes=140" + compacting + "&t=8")
	b.click("#reading a[href*='run-cleaner']")
	b.waitText(".cleaning", "The cleaning in tick 8")
	b.open(segments + "&t=8")
	b.click("#reading a[href*='power-loss']")
	b.waitText("#reading", "b1 has no power")
	b.waitFor("document.querySelectorAll('#disk .cell').length === 5")
	b.open(segments + "&reader=away&t=8")
	b.click("#reading a[href*='start+reader-1']")
	b.waitText(".given", "start reader-1")
}

// Every button and form.
func TestControlsOfSegments(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(segments + "&reader=on&t=3")
	for _, step := range []struct{ press, command string }{
		{"#do-produce", "produce p0 A"}, {"#do-tombstone", "tombstone p0 A"}, {"#do-stop-sending", "stop-sending p0"}, {"#do-start-sending", "start-sending p0"}, {"#do-skew", "skew p0 240h"}, {"#do-skew", "skew p0 0ms"},
		{"#do-check", "check-retention b1"}, {"#do-clean", "run-cleaner b1"}, {"#do-wait-60000", "wait 1m"}, {"#do-wait-300000", "wait 5m"}, {"#do-wait-3600000", "wait 1h"},
		{"#do-stop-b1", "shut-down b1"},
	} {
		b.click(step.press)
		b.waitText(".given li:last-child", step.command)
	}
	b.open(segments + "&reader=on&t=3")
	b.click("#do-leave")
	b.waitText(".given", "leave reader-1")
	b.press(kb.ArrowRight)
	b.waitTick(4)
	b.click("#do-start-reader")
	b.waitText(".given", "start reader-1")
	for _, fault := range []struct{ press, command string }{{"#do-kill-b1", "kill b1"}, {"#do-power-b1", "power-loss b1"}} {
		b.open(segments + "&t=3")
		b.click(fault.press)
		b.waitText(".given", fault.command)
		b.click("#do-start-b1")
		b.waitText(".given", "start b1")
	}
	b.open(segments + "&rate=0&t=3")
	b.paste("#produce-key", "color")
	b.paste("#produce-value", `"dark blue"`)
	b.click("#produce button")
	b.waitText(".given", `produce p0 color "dark blue"`)
	b.paste("#tombstone-key", "color")
	b.click("#tombstone button")
	b.waitText(".given", "tombstone p0 color")
	b.press(kb.ArrowRight)
	b.waitTick(4)
	b.waitText("#disk", "co…=dar…")
	b.paste("#delete-offset", "1")
	b.click("#delete-records button")
	b.waitAddress(segments + "&rate=0&do=3:produce+p0+color+%22dark+blue%22&do=3:tombstone+p0+color&do=4:delete-records+orders-0+@1&t=4")
	b.press(kb.ArrowRight)
	b.waitFor("document.querySelector('.disk-map .flag').innerText === 'log start 1'")
	for _, pair := range [][2]string{{"#pair-policy", "policy = compact"}, {"#pair-time", "ts-type = LogAppendTime"}, {"#pair-codec", "compression = zstd"}} {
		b.open(segments + "&t=8")
		b.click(pair[0])
		b.waitText("#vs-picture .run", pair[1])
	}
}

// Each setting is in a form and changes the run that is shown.
func TestSettingsOfSegments(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	for _, set := range []string{
		"tick-ms=2000", "rate=2", "every=500", "keys=5", "deletions=2", "value-bytes=100", "batch-size=0", "linger=0", "compression=gzip", "reader=on", "reader=away", "reset=latest",
		"segment-bytes=1000", "segment-ms=60000", "index-interval=4096", "ts-type=LogAppendTime", "ts-after=1000", "policy=compact", "policy=compact,delete", "policy=none", "retention-bytes=300", "retention-ms=60000",
		"file-delay=1000", "dirty-ratio=0.25", "min-lag=1000", "max-lag=100000", "delete-retention=1000",
	} {
		name, value, _ := strings.Cut(set, "=")
		b.open(segments + "&t=3")
		b.setSetting(name, value)
		b.waitAddress(segments + "&" + set + "&t=3")
		b.waitTick(3)
	}
	b.open(segments + "&rate=10&tick-ms=60000")
	b.waitText("main", "at least 5455 ms between bursts")
	b.expect("400 (Bad Request)")
}

// What is pressed opens, and offsets and times are found by form, step by step.
func TestInspectorOfSegments(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(segments + "&t=14")
	b.click("#r-7")
	b.waitText("#inspector-title", "Record orders-0 7")
	b.waitText("#inspector", "an older one: offset 13 is the last. cleanup.policy does not contain compact")
	b.click("#batch-8")
	b.waitText("#inspector-title", "Batch orders-0 8")
	b.waitText("#inspector", "baseOffset")
	b.click("#segment-5 .name")
	b.waitText("#inspector-title", "Segment orders-0 5")
	b.waitText("#check", "retention.ms")
	b.waitText("#check", "behind one that stays")
	b.paste("#find-offset", "8")
	b.click("#find button")
	b.waitAddress(segments + "&t=14&at=find:orders-0:8")
	b.waitText("#inspector", "00000000000000000005.log: base offset 5 is the greatest ≤ 8 of 3 segments")
	b.waitText("#inspector", "entry 0, offset 7, is the greatest ≤ 8 of 2 entries: the scan begins at byte 152")
	b.waitText("#inspector", "138 bytes: 2 entries of the offset index × 8, 2 headers × 61 = 122")
	b.waitText("#inspector", "from the start of the log: 9 batches, 608 bytes passed over, 9 headers × 61 = 549")
	b.waitText("#search", "go on before it")
	b.shot("segments-find")
	b.paste("#find-time-offset", "8000")
	b.click("#find-time button")
	b.waitAddress(segments + "&t=14&at=time:orders-0:8000")
	b.waitText("#inspector", "the first of 3 segments whose largest timestamp, 9,000 ms into the run, is ≥ 8,000 ms into the run")
	b.waitText("#inspector", "entry 0, timestamp 7,000 ms into the run, is the greatest ≤ 8,000 ms into the run of 2 entries: it leads to offset 7")
	b.waitText("#inspector", "offset 8, timestamp 8,000 ms into the run")
	b.click("#segment-10 .files .item")
	b.waitText("#inspector-title", "File 00000000000000000010.log")
	b.waitText("#inspector", "a power loss takes the last 304 bytes")
	b.click("#node-b1")
	b.waitText("#inspector", "Next check of retention")
	b.click("#open-directory")
	b.waitText("#files", "leader-epoch-checkpoint")
	b.click("#open-mark-log-start")
	b.waitText("#inspector-title", "Log start 0 of orders-0")
	b.click("#node-p0")
	b.waitText("#inspector", "14 handed in, 14 acknowledged")
	b.open(segments + compacting + "&t=15&at=mark:orders-0:checkpoint")
	b.waitText("#inspector", "kept in the file cleaner-offset-checkpoint")
	b.click("#gone-0 .files .item")
	b.waitText("#records", "event 1")
	b.open(segments + compacting + "&t=31&at=batch:orders-0:22") // a gap is in it or before it
	b.waitText("#inspector-title", "Batch orders-0 22")
	b.open(segments + "&reader=on&t=9")
	b.click("#node-reader-1")
	b.waitText("#inspector", "auto.offset.reset")
}

// A file of the disk opens to the byte: an entry of an index leads to the batch in the .log, fields and bytes to each other,
// and both the file and the directory can be kept.
func TestBytesOfAFile(t *testing.T) {
	t.Parallel()
	site := serve(t).url
	b := newTab(t, site)
	b.open(segments + "&t=14")
	b.click("#picture [value='file:orders-0:00000000000000000005.index']")
	b.waitText("#inspector-title", "File 00000000000000000005.index")
	b.waitText("#inspector", "the last of its batch")
	b.click("#bytes-byte-1") // position 152 = 00000098
	b.waitFor("document.querySelector('#bytes-field-1').innerText.includes('152')")
	b.click("#position-1")
	b.waitAddress(segments + "&t=14&at=file:orders-0:00000000000000000005.log:152")
	b.waitText("#inspector", "Bytes 144 to")
	b.waitText("#inspector", "baseOffset")
	b.paste("#goto-byte", "0")
	b.click("#goto button")
	b.waitAddress(segments + "&t=14&at=file:orders-0:00000000000000000005.log")
	b.waitText("#inspector", "Bytes 0 to")
	b.shot("segments-bytes")
	log := eval[string](b, "document.querySelector('#keep-file').getAttribute('href')")
	kept := get(t, site+log)
	if !strings.HasPrefix(kept, "\x00\x00\x00\x00\x00\x00\x00\x05") || len(kept) != 380 {
		t.Errorf("%s: %d bytes, want the 380 of a log that begins with offset 5", log, len(kept))
	}
	if zip := get(t, site+eval[string](b, "document.querySelector('#keep-directory').getAttribute('href')")); !strings.HasPrefix(zip, "PK") {
		t.Errorf("the directory is no zip: %.8q", zip)
	}
}

// The window over the log moves to earlier lines and back.
func TestEarlierLines(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(twoHundred)
	if b.count("#r-0") > 0 {
		t.Error("the first of 200 records is in sight")
	}
	for b.count("#earlier") > 0 {
		before := eval[string](b, "document.querySelector('#disk .byte-line').id")
		b.click("#earlier")
		b.waitFor(fmt.Sprintf("document.querySelector('#disk .byte-line').id !== %s", quote(before)))
	}
	if b.count("#r-0") == 0 {
		t.Error("the first record is not in sight at the start of the log")
	}
	for b.count("#later") > 0 {
		before := eval[string](b, "document.querySelector('#disk .byte-line').id")
		b.click("#later")
		b.waitFor(fmt.Sprintf("document.querySelector('#disk .byte-line').id !== %s", quote(before)))
	}
	if b.count("#r-199") == 0 {
		t.Error("the last record is not in sight at the end of the log")
	}
}

// Batches stand to scale: their widths are in proportion to their bytes.
func TestTheDiskIsToScale(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.size(1280, 900)
	b.open(segments + "&rate=0&segment-bytes=1000&do=1:produce+p0+A+1&do=2:produce+p0+A+" + strings.Repeat("x", 69) + "&do=3:produce+p0+A+" + strings.Repeat("x", 279) + "&t=5")
	widths := eval[[]float64](b, "[...document.querySelectorAll('.byte-batch')].map(e => e.getBoundingClientRect().width)")
	line := eval[float64](b, "document.querySelector('.byte-line').getBoundingClientRect().width")
	for i, bytes := range []float64{70, 140, 350} { // to one column of 96 and the line between two
		if want := line * bytes / 1000; len(widths) != 3 || widths[i] < want-line/90 || widths[i] > want+line/90 {
			t.Errorf("batch %d of %.0f bytes is %.1f px wide of %.1f, want about %.1f; all: %v", i, bytes, widths[i], line, want, widths)
		}
	}
}

// By the keyboard alone.
func TestSegmentsByKeyboard(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(segments + "&t=14")
	for _, step := range []struct{ focus, press, title string }{
		{"#r-7", kb.Enter, "Record orders-0 7"}, {"#open-batch", kb.Enter, "Batch orders-0 7"}, {"#open-segment", kb.Enter, "Segment orders-0 5"}, {"#find-offset", kb.Enter, "Find offset 5 in orders-0"},
		{"#segment-0 .files .item", kb.Enter, "File 00000000000000000000.log"}, {"#segment-5 .index-tick", kb.Enter, "Find offset 7 in orders-0"},
	} {
		b.focus(step.focus)
		b.press(step.press)
		b.waitText("#inspector-title", step.title)
	}
	b.focus("#do-power-b1")
	b.press(kb.Enter)
	b.waitText(".given", "power-loss b1")
	b.press(kb.End)
	b.waitTick(40)
}

// By links and forms alone.
func TestSegmentsWithoutJavaScript(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.withoutScripts()
	b.openPlain(segments)
	b.click("#ready summary")
	b.click(ready(b, "A compacted topic still shows duplicates"))
	b.waitText(".cleaning", "Before: 6 records, 419 bytes in segment 0")
	b.click("#r-3")
	b.waitText("#inspector-title", "Record orders-0 3")
	b.click("#open-find")
	b.waitText("#inspector-title", "Find offset 3 in orders-0")
	b.paste("#find-time-offset", "9000")
	b.click("#find-time button")
	b.waitText("#inspector", "offset 6, timestamp 10,000 ms into the run")
	b.paste("#produce-key", "E")
	b.click("#produce button")
	b.waitText(".given", "produce p0 E 1")
	b.click("#step")
	b.waitTick(13)
	b.waitText("#disk", "E=1")
	b.click("#do-clean")
	b.waitText(".given", "run-cleaner b1")
}

var segmentStates = []state{
	{name: "lab-segments", address: segments + "&t=14"},
	{name: "lab-segments-record", address: segments + compacting + "&t=15&at=record:orders-0:7"},
	{name: "lab-segments-find", address: segments + "&t=14&at=find:orders-0:8"},
	{name: "lab-segments-time", address: segments + "&t=14&at=time:orders-0:8000"},
	{name: "lab-segments-removed", address: segments + compacting + "&t=15&at=mark:orders-0:removed-0"},
	{name: "lab-segments-below", address: segments + "&do=9:delete-records+orders-0+@7&t=12&at=segment:orders-0:5"},
	{name: "lab-segments-power", address: segments + "&do=14:power-loss+b1&t=14&at=file:orders-0:00000000000000000010.log"},
	{name: "lab-segments-reader", address: segments + "&reader=away&retention-ms=1000&do=9:check-retention+b1&t=12&at=node:reader-1"},
	{name: "lab-segments-many", address: twoHundred},
	{name: "lab-segments-two", address: segments + "&deletions=3&t=34&vs=policy:compact"},
	{name: "lab-segments-minimal", address: "/embed" + segments + compacting + "&t=15&chrome=minimal"},
	{name: "lab-segments-still", address: "/embed" + segments + compacting + "&t=15&still=1"},
}

// TestSegmentsAccessibility runs axe-core on the lab's states, in every look, on a wide and a narrow window.
func TestSegmentsAccessibility(t *testing.T) {
	t.Parallel()
	checkAccessible(t, segmentStates)
}

// Two hundred batches, hundreds of segments and batches of a hundred records are within the bounds of a page, and no page
// is wider than its window.
func TestSegmentsFit(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	for name, address := range map[string]string{
		"200 batches": twoHundred, "200 batches, one open": twoHundred + "&at=batch:orders-0:100", "many segments": manySegments, "many segments, one open": manySegments + "&at=find:orders-0:1500",
		"many segments twice": manySegments + "&vs=policy:delete&at=segment:orders-0:1500", "many segments, why": manySegments + "&why=5000", "long batches": longBatches + "&at=batch:orders-0:5000", "the directory": manySegments + "&at=partition:orders-0",
		"long keys": segments + "&rate=0&do=1:produce+p0+" + strings.Repeat("W", 60) + "+" + strings.Repeat("M", 60) + "&t=3&at=record:orders-0:0",
	} {
		checkElements(b, name, address)
		checkWidth(b, name, address)
	}
	for _, s := range segmentStates {
		checkWidth(b, s.name, s.address)
		checkWidth(b, s.name+", projected", s.address+"&size=projector")
	}
}
