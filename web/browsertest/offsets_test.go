package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

const (
	offsets = "/lab/offsets?v=1"

	// runs of the lab, as its links have them
	beforeCommit   = "&partitions=2&records=6&poll-records=3&commit=after-batch&do=4:crash+billing-1+before+commit&horizon=24"
	committedFirst = "&partitions=2&records=6&poll-records=3&commit=before&do=2:crash+billing-1"
	twoGroups      = "&rate=1&commit=after-batch&second=new&do=6:start+audit-1"
	largestGroup   = offsets + "&partitions=12&records=20&rate=20&consumers=16&commit=auto&second=running&audit-consumers=16&t=30"
)

// stripText writes a partition's records with their words.
func stripText(b *tab, partition string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf("[...document.querySelectorAll('#strip-%s .cell')].map(c => c.textContent + (c.dataset.word && ':' + c.dataset.word)).join(' ')", partition))
}

// bracketText writes a partition's brackets.
func bracketText(b *tab, partition string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf("[...document.querySelectorAll('#strip-%s .gap')].map(g => g.textContent).join(', ')", partition))
}

// readyOffsets are the ready-made runs: what their pages say at their point, and there and at their end the number of
// the sink.
var readyOffsets = []struct {
	title, reading string
	end            int
	strip          string // of orders-0, at its point
	counts, ended  map[string]string
}{
	{"Crash between processing and commit", "billing-2 began at 3 in tick 15: 3 records were processed twice", 24, "0:✓ 1:✓ 2:✓ 3:✓2× 4:✓2× 5:✓2×",
		map[string]string{"Applied once": "9", "More than once": "3"}, map[string]string{"Applied once": "9", "More than once": "3", "Lost": "0"}},
	{"Commit first, and lose", "2 records are lost to billing: orders-0 @1, orders-0 @2", 20, "0:✓ 1:lost 2:lost 3:✓ 4:✓ 5:busy",
		map[string]string{"Lost": "2"}, map[string]string{"Lost": "2", "Applied once": "10"}},
	{"The window of auto commit", "it had processed up to offset 18 and had committed 12", 24, "", map[string]string{"More than once": "0"}, map[string]string{"More than once": "7"}},
	{"The highest done is committed, and a record lost", "1 record is lost to billing: orders-0 @0", 20, "0:lost 1:✓ 2:✓ 3:✓ 4:busy 5:✓ 6:✓ 7:✓",
		map[string]string{"Lost": "1"}, map[string]string{"Lost": "1", "More than once": "0"}},
	{"The same, committing up to the first not done", "billing-2 began at 0", 20, "0:busy 1:2× 2:2× 3:2× 4:busy 5:busy 6:polled 7:polled",
		map[string]string{"Lost": "0", "More than once": "3"}, map[string]string{"Lost": "0", "More than once": "3", "Applied once": "13"}},
	{"Replay into a plain sink", "it has 24 effects of 12 records", 20, "0:✓2× 1:✓2× 2:✓2×", map[string]string{"More than once": "12"}, map[string]string{"More than once": "12"}},
	{"Replay into an idempotent sink", "The sink ignored 12 effects", 20, "0:✓2× 1:✓2× 2:✓2×", map[string]string{"More than once": "0"}, map[string]string{"Ignored": "12", "Applied once": "12"}},
	{"A slow sink and growing lag", "The lag of billing is 64", 20, "", map[string]string{"Applied once": "80"}, map[string]string{"Applied once": "80", "Never": "52"}},
	{"A poison record", "it has failed 10 times", 20, "0:✓ 1:busy 2:polled", map[string]string{"Lost": "0"}, map[string]string{"Lost": "0"}},
	{"The same record dead-lettered", "stands in the topic orders-dead now", 20, "0:✓ 1:skipped 2:✓", map[string]string{"Given up": "1"}, map[string]string{"Given up": "1"}},
	{"A zombie’s commit refused", "UNKNOWN_MEMBER_ID", 24, "0:✓ 1:✓2× 2:✓", map[string]string{"More than once": "1"}, map[string]string{"More than once": "1"}},
	{"A new group from earliest", "The lag of audit is 21", 20, "0:✓ 1:✓ 2:✓", map[string]string{"Lost": "0"}, map[string]string{"Lost": "0"}},
	{"A new group from latest", "1 or more lost", 20, "0:✓ 1:✓ 2:✓", map[string]string{"Lost": "0"}, map[string]string{"Lost": "0"}},
	{"Restarted: a dynamic member waits", "It was restarted in tick 4 and is a new member: it waits for that too", 20, "0:done 1 2", map[string]string{"Lost": "0"}, map[string]string{"Lost": "0"}},
	{"Restarted: a static member does not", "billing-1 began at 0 in tick 5: 1 record was processed twice", 20, "0:2× 1:busy 2:polled", map[string]string{"More than once": "1"}, map[string]string{"More than once": "1"}},
}

// Each ready-made run is one press away. At its point, and again stepped to from the start, the page has its numbers;
// then it is stepped to its end.
func TestReadyMadeRunsOfOffsets(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(offsets)
	b.click("#ready summary")
	for _, run := range readyOffsets {
		numbers := func(where string, counts map[string]string) {
			t.Helper()
			for name, want := range counts {
				if got := ledgerNumber(b, name); got != want {
					t.Errorf("%s, %s: %s is %q, want %s", run.title, where, name, got, want)
				}
			}
		}
		atPoint := func(where string) {
			t.Helper()
			b.waitText("#reading", run.reading)
			if got := stripText(b, "orders-0"); run.strip != "" && got != run.strip {
				t.Errorf("%s, %s: orders-0 is %q, want %q", run.title, where, got, run.strip)
			}
			numbers(where, run.counts)
		}
		link := ready(b, run.title)
		address := eval[string](b, fmt.Sprintf("document.querySelector(%s).getAttribute('href')", quote(link)))
		b.click(link)
		b.waitAddress(address)
		point := b.tick()
		atPoint("at its point")
		b.press(kb.Home)
		b.waitTick(0)
		b.stepTo(point)
		atPoint("stepped to")
		b.stepTo(run.end)
		numbers("at its end", run.ended)
	}
	for _, pair := range []struct {
		title, own, twin, count string
		end                     int
		counts                  [2]string // of both, at the end
	}{
		{"Commit after and before, side by side", "commit = after-batch", "commit = before", "Lost", 20, [2]string{"0", "2"}},
		{"Automatic and manual commits, side by side", "commit = auto", "commit = manual", "More than once", 30, [2]string{"7", "21"}},
		{"Plain and idempotent sink, side by side", "sink = plain", "sink = idempotent", "Applied once", 20, [2]string{"0", "12"}},
		{"From earliest and from latest, side by side", "audit-reset = earliest", "audit-reset = latest", "Applied once", 20, [2]string{"31", "31"}},
		{"Dynamic and static, side by side", "static = off", "static = on", "More than once", 20, [2]string{"1", "1"}},
	} {
		b.click(ready(b, pair.title))
		b.waitText("#picture .run", pair.own)
		b.waitText("#vs-picture .run", pair.twin)
		b.press(kb.Home)
		b.waitTick(0)
		b.stepTo(pair.end)
		twin := eval[string](b, fmt.Sprintf("[...document.querySelectorAll('#vs-ledger .count')].find(c => c.querySelector('dt').textContent === %s)?.querySelector('b').textContent ?? ''", quote(pair.count)))
		if got := [2]string{ledgerNumber(b, pair.count), twin}; got != pair.counts {
			t.Errorf("%s: %s is %q at the end, want %q", pair.title, pair.count, got, pair.counts)
		}
	}
	b.click(ready(b, "Commit after and before, side by side"))
	b.waitText("#picture .run", "commit = after-batch")
	b.waitText("#vs-picture .run", "commit = before")
	if own, twin := stripText(b, "orders-0"), eval[string](b, "[...document.querySelectorAll('#vs-strip-orders-0 .cell')].map(c => c.dataset.word).join(' ')"); own != "0:2× 1:done 2:busy 3 4 5" || twin != "✓ lost lost ✓ ✓ busy" {
		t.Errorf("side by side orders-0 is %q and %q", own, twin)
	}
}

// A crash, stepped through: the gap, the silence, the takeover, the repetition.
func TestStepThroughAConsumersCrash(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(offsets + beforeCommit + "&t=6")
	b.waitText("#node-billing-1", "will crash before commit")
	if got := bracketText(b, "orders-0"); got != "2 to repeat" {
		t.Errorf("before the crash the brackets are %q", got)
	}
	b.waitText("#reading", "If billing-1 crashed now, 2 records would be processed again and none lost")
	b.stepTo(7)
	b.waitText("#say", "billing-1 crashed")
	b.waitText("#node-billing-1", "the group has not noticed: session ends in tick 12")
	b.waitText("#group-billing", "session of billing-1 ends in tick 12")
	if got := bracketText(b, "orders-0"); got != "3 to repeat" {
		t.Errorf("after the crash the brackets are %q", got)
	}
	b.shot("offsets-crash")
	b.stepTo(12)
	b.waitText("#say", "a member was removed from billing")
	b.stepTo(15)
	b.waitText("#strip-orders-0", "read by billing-2")
	b.waitText("#reading", "billing-2 began at 3 in tick 15: 3 records are processed again, 0 so far")
	b.stepTo(18)
	if got := stripText(b, "orders-0"); got != "0:✓ 1:✓ 2:✓ 3:✓2× 4:✓2× 5:✓2×" {
		t.Errorf("in the end orders-0 is %q", got)
	}
	b.shot("offsets-repeated")
}

// What the page says a crash would do, and where its link leads.
func TestTryACrash(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(offsets + "&t=3")
	b.waitText("#reading", "If billing-1 crashed now, 2 records would be processed again and none lost")
	b.click("#reading a[href*='crash+billing-1']")
	b.waitText("#reading", "billing-1 crashed in tick 3.")
	b.waitText("#reading", "2 records were processed twice")
}

// Every button of a consumer, and of the group.
func TestControlsOfOffsets(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(offsets + "&process=0&t=3")
	for _, step := range []struct{ press, command, shows, where string }{
		{"#do-produce-p0", "produce p0 order-1", "", ""},
		{"#do-process-billing-1", "process billing-1", "5 records in hand", "#node-billing-1"},
		{"#do-commit-billing-1", "commit billing-1", "commit under way: orders-0 → 1", "#node-billing-1"},
		{"#do-rebalance-billing-2", "rebalance billing-2", "", ""},
		{"#do-pause-billing-2", "pause billing-2", "paused", "#node-billing-2"},
		{"#do-resume-billing-2", "resume billing-2", "holding records", "#node-billing-2"},
		{"#do-crash-billing-1", "crash billing-1", "crashed in tick 3", "#node-billing-1"},
		{"#do-start-billing-1", "start billing-1", "looks for its coordinator", "#node-billing-1"},
		{"#do-leave-billing-2", "leave billing-2", "closing", "#node-billing-2"},
		{"#do-replay-billing", "replay billing from earliest", "", ""},
		{"#do-wait", "wait 10s", "", ""},
	} {
		b.click(step.press)
		b.waitText(".given li:last-child", step.command)
		if step.where != "" {
			b.waitText(step.where, step.shows)
		}
	}
}

// The forms: a crash at a point, a place, a record of one's own, offsets of a group.
func TestFormsOfOffsets(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(offsets + "&t=2")
	for _, form := range []struct {
		form   string
		fields [][2]string // selector and the text of an option, or what is typed
		given  string
	}{
		{"#consumer", [][2]string{{"#consumer-what", "crash before its commit"}, {"#consumer-who", "billing-2"}}, "crash billing-2 before commit"},
		{"#consumer", [][2]string{{"#consumer-what", "process 3 records"}, {"#consumer-who", "billing-1"}}, "process billing-1 3"},
		{"#place", [][2]string{{"#place-what", "seek to"}, {"#place-who", "billing-1"}, {"#place-partition", "orders-1"}}, "seek billing-1 orders-1 @0"},
		{"#place", [][2]string{{"#place-what", "crash after processing"}, {"#place-who", "billing-1"}, {"#place-partition", "orders-0"}}, "crash billing-1 after processing orders-0 @0"},
		{"#produce", [][2]string{{"#produce-to", "orders-3"}}, "produce-to p0 3 order-1"},
		{"#offsets", [][2]string{{"#offsets-what", "reset billing"}}, "reset billing to earliest"},
		{"#offsets", [][2]string{{"#offsets-what", "replay billing"}}, "replay billing from earliest"},
	} {
		for _, field := range form.fields {
			choose(b, field[0], field[1])
		}
		b.click(form.form + " button")
		b.waitText(".given li:last-child", form.given)
	}
	b.paste("#offsets-to", "shift -2")
	choose(b, "#offsets-what", "replay billing")
	b.click("#offsets button")
	b.waitText(".given li:last-child", "replay billing from shift -2")
	b.click("#pair-commit")
	b.waitText("#picture .run", "commit = after-batch")
	b.waitText("#vs-picture .run", "commit = before")
}

// Each setting is in a form and changes the run that is shown.
func TestSettingsOfOffsets(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	for _, set := range []string{
		"partitions=6", "records=5", "rate=2", "brokers=3", "consumers=3", "assignor=roundrobin", "static=on", "session-timeout=10000", "heartbeats=in-loop", "poll-interval=20000", "poll-records=2", "reset=latest",
		"process=3", "commit=auto", "auto-interval=2000", "threads=2", "commits=highest", "on-revoke=on", "slow-every=2", "handler=skip", "fails-at=2", "attempts=5", "sink=upsert", "capacity=2",
		"second=running", "audit-consumers=2", "audit-reset=latest",
	} {
		name, value, _ := strings.Cut(set, "=")
		b.open(offsets + "&t=3")
		b.setSetting(name, value)
		b.waitAddress(offsets + "&" + set + "&t=3")
		b.waitTick(3)
	}
}

// What is pressed opens, and the ways from there lead on: a record's life, a commit as a record, a member, a group, a
// message.
func TestInspectorOfOffsets(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(offsets + beforeCommit + "&t=18")
	b.click("#r-0-3")
	b.waitText("#inspector-title", "Record orders-0 3")
	for _, words := range []string{"written by the leader", "visible", "delivered by poll", "processed for group billing.", "processed for group billing, time 2", "committed for group billing: it goes on at 6"} {
		b.waitText("#life", words)
	}
	b.click("#strip-orders-0 .name")
	b.waitText("#inspector-title", "How far the groups are in orders-0")
	b.click("#open-commit-billing")
	b.waitText("#inspector-title", "Record __consumer_offsets-9")
	b.waitText("#inspector", "type 1, committed offset: group billing, orders-0")
	b.waitText("#inspector", "offset 6 is the next to read")
	b.waitText("#inspector", "The key’s bytes")
	b.waitText("#inspector", "The value’s bytes")
	b.click("#open-group")
	b.waitText("#inspector-title", "Group billing")
	b.waitText("#members", "billing-2")
	b.waitText("#group-records", "group metadata: group billing")
	b.click("#node-billing-2 .name")
	b.waitText("#inspector", "Next heartbeat")
	b.waitText("#assignment", "orders-1")
	b.click("#open-group")
	b.waitText("#inspector-title", "Group billing")
	b.click("#open-broker")
	b.waitText("#inspector-title", "Node b1")
}

// By the keyboard alone.
func TestOffsetsByKeyboard(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(offsets + "&t=3")
	b.focus("#do-crash-billing-1")
	b.press(kb.Enter)
	b.waitText("#node-billing-1", "crashed in tick 3")
	b.press("n")
	b.waitText("#say", "Tick")
	b.focus("#r-0-1")
	b.press(kb.Enter)
	b.waitText("#inspector-title", "Record orders-0 1")
	b.focus("#do-replay-billing")
	b.press(kb.Enter)
	b.waitText(".given li:last-child", "replay billing from earliest")
}

// By links and forms alone.
func TestOffsetsWithoutJavaScript(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.withoutScripts()
	b.openPlain(offsets)
	b.click("#ready summary")
	b.click(ready(b, "Commit first, and lose"))
	b.waitText("#reading", "2 records are lost to billing")
	b.click("#r-0-1")
	b.waitText("#inspector-title", "Record orders-0 1")
	b.click("#do-start-billing-1")
	b.waitText(".given", "start billing-1")
	choose(b, "#consumer-what", "crash after poll")
	choose(b, "#consumer-who", "billing-2")
	b.click("#consumer button")
	b.waitText("#node-billing-2", "will crash after poll")
	b.click("#step")
	b.waitTick(14)
}
