package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

const (
	rebalance = "/lab/rebalance?v=1"

	// runs of the lab, as its links have them
	joins        = "&do=2:start+billing-04"
	cooperative  = "&protocol=cooperative" + joins
	consumers    = "&protocol=consumer" + joins
	mostMembers  = rebalance + "&partitions=64&rate=25&members=15&assignor=roundrobin&do=2:start+billing-16&t=34"
	fourTopics   = rebalance + "&topics=4&partitions=64&rate=25&members=16&assignor=sticky&do=2:leave+billing-16&t=34"
	severalTimes = rebalance + "&partitions=64&rate=25&members=15&assignor=roundrobin&do=2:start+billing-16&do=16:leave+billing-03&do=22:rebalance+billing-01&t=39"
)

// rowText writes a row of the timeline as it is told to those who hear the page.
func rowText(b *tab, row string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf("document.querySelector('#row-%s .name').ariaLabel", row))
}

// gapColumns lists the columns of a row in which nobody reads, as they are drawn.
func gapColumns(b *tab, row string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf(`[...document.querySelectorAll('#row-%s .bar')].filter(e => /bar-(nobody|begins|down|stopped)/.test(e.className))
		.map(e => /at-(\d+) span-(\d+)/.exec(e.className).slice(1).map(Number)).map(([at, span]) => at + '–' + (at + span - 1)).join(' ')`, row))
}

// readyRebalances are the ready-made runs: what their pages say at their point, and the gaps of a partition there.
var readyRebalances = []struct {
	title, reading, partition, gaps string
	counts                          map[string]string
}{
	{"A newcomer stops the world", "6 of 6 partitions stood still, for 36 ticks in all", "orders-0", "11–14 15–16", map[string]string{"Moved": "1", "Stood still": "6", "Waited": "36"}},
	{"A newcomer, cooperative", "1 of 6 partitions stood still, for 14 ticks in all", "orders-3", "15–26 27–28", map[string]string{"Moved": "1", "Stood still": "1"}},
	{"A newcomer, consumer protocol", "1 of 6 partitions stood still, for 12 ticks in all", "orders-1", "9–18 19–20", map[string]string{"Moved": "1", "Stood still": "1"}},
	{"Target, epochs and who waits", "billing-01 is to give up orders-1; billing-04 waits for 1 partition", "orders-1", "", map[string]string{"Moved": "1"}},
	{"Cooperative takes two rounds", "Round 1 is over", "orders-3", "15–16", map[string]string{"Moved": "–"}},
	{"The default list still runs eager range", "Nobody reads 6 of 6 partitions now", "orders-5", "11–13", map[string]string{"Stood still": "6"}},
	{"Range over four topics", "billing-01 has 8 partitions and billing-02 has 4", "orders-0", "", map[string]string{"Stood still": "0"}},
	{"More members than partitions", "billing-07, billing-08 are idle", "orders-0", "17–20 21–22", map[string]string{"Moved": "0"}},
	{"A crash: first the session", "The longest were orders-2 and 1 more: 25 ticks, 12.5 s each", "orders-2", "4–13 14–26 27–28", map[string]string{"Moved": "2", "Since tick 0": "74"}},
	{"Rolling restart, dynamic", "Everyone has what they had", "orders-4", "11–15 16–17 30–33 34–35", map[string]string{"Since tick 0": "96"}},
	{"Rolling restart, static", "for 44 ticks in all, without a rebalance", "orders-4", "", map[string]string{"Since tick 0": "44"}},
	{"The poll-interval loop", "billing-01 has not polled in time, in tick 15", "orders-3", "23–26 27–28", map[string]string{"Moved": "0"}},
	{"A commit refused after a rebalance", "billing-01’s commit was not taken in tick 25", "orders-0", "19–22", nil},
	{"Two members with one instance id", "billing-01 has ended with FENCED_INSTANCE_ID", "orders-0", "7–8 9–10", nil},
	{"The same, consumer protocol", "billing-16 has ended with UNRELEASED_INSTANCE_ID", "orders-0", "", nil},
	{"Partitions added", "3 partitions moved, 0 had to", "orders-8", "4–26 27–30", nil},
}

// Each ready-made run is one press away. At its point, and again stepped to from the start, the page has its numbers.
func TestReadyMadeRunsOfRebalance(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(rebalance)
	b.click("#ready summary")
	for _, run := range readyRebalances {
		atPoint := func(where string) {
			t.Helper()
			b.waitText("#reading", run.reading)
			if got := gapColumns(b, run.partition); got != run.gaps {
				t.Errorf("%s, %s: the gaps of %s are %q, want %q", run.title, where, run.partition, got, run.gaps)
			}
			for name, want := range run.counts {
				if got := ledgerNumber(b, name); got != want {
					t.Errorf("%s, %s: %s is %q, want %s", run.title, where, name, got, want)
				}
			}
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
	}
	for _, pair := range []struct {
		title, own, twin string
		still            [2]string // partitions that stood still, of both
	}{
		{"Eager and cooperative, side by side", "protocol = eager", "protocol = cooperative", [2]string{"6", "1"}},
		{"Cooperative and consumer protocol, side by side", "protocol = cooperative", "protocol = consumer", [2]string{"1", "1"}},
		{"Range moves more than it must", "assignor = range", "assignor = sticky", [2]string{"16", "16"}},
		{"Rolling restart, side by side", "static = off", "static = on", [2]string{"6", "4"}},
	} {
		b.click(ready(b, pair.title))
		b.waitText("#picture .run", pair.own)
		b.waitText("#vs-picture .run", pair.twin)
		twin := eval[string](b, "[...document.querySelectorAll('#vs-ledger .count')].find(c => c.querySelector('dt').textContent === 'Stood still')?.querySelector('b').textContent ?? ''")
		if got := [2]string{ledgerNumber(b, "Stood still"), twin}; got != pair.still {
			t.Errorf("%s: %q stood still, want %q", pair.title, got, pair.still)
		}
		// the two timelines line up
		tops := eval[[]float64](b, `[...document.querySelectorAll('#picture .time-row')].map(e => {
			const twin = document.querySelector('#vs-' + e.id)
			return twin ? Math.abs(e.getBoundingClientRect().top - twin.getBoundingClientRect().top) : 0
		})`)
		for i, d := range tops {
			if d > 1 {
				t.Errorf("%s: row %d of the two timelines is %.0f px apart", pair.title, i, d)
			}
		}
	}
}

// A newcomer, stepped through: it joins, all give up everything, nobody reads, all begin again.
func TestStepThroughARebalance(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(rebalance + joins + "&t=8")
	b.waitText("#say", "a rebalance begins: billing-04 joined")
	b.waitText(".machine .now", "PreparingRebalance")
	b.waitText("#reading", "Join phase: 1 of 4 joined; it waits for billing-01, billing-02, billing-03, until tick 608 at the latest (max.poll.interval.ms)")
	b.stepTo(11)
	b.waitText("#say", "6 partitions given up")
	b.waitText("#reading", "Nobody reads 6 of 6 partitions now: 6 without an owner")
	b.stepTo(12)
	b.waitText(".machine .now", "CompletingRebalance")
	b.stepTo(13)
	b.waitText("#say", "billing-01 has divided the partitions by range")
	b.waitText("#network-title + .network", "SyncGroup request")
	b.shot("rebalance-sync")
	b.stepTo(15)
	b.waitText(".machine .now", "Stable")
	b.waitText("#say", "6 partitions taken over")
	b.stepTo(17)
	b.waitText("#reading", "Every partition is read.")
	if got, want := rowText(b, "orders-0"), "orders-0, ticks 0 to 10: read by billing-01; ticks 11 to 14: nobody has it; ticks 15 to 16: its new owner has no position yet; tick 17: read by billing-01"; got != want {
		t.Errorf("orders-0 is told as %q, want %q", got, want)
	}
	b.shot("rebalance-over")
}

// What the page says would follow, and where its links lead.
func TestTryAJoinAndACrash(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(rebalance + "&t=5")
	b.waitText("#reading", "If billing-04 joined now, 1 partition would move and 6 would stand still")
	b.click("#reading a[href*='start+billing-04']")
	b.waitText("#reading", "1 partition moved, 1 had to")
	b.open(rebalance + "&t=5")
	b.click("#reading a[href*='crash+billing-01']")
	b.waitText("#reading", "It began because billing-01 was removed, as its session timed out")
}

// Every button of a member and of the group, and the forms.
func TestControlsOfRebalance(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(rebalance + "&t=3")
	for _, step := range []struct{ press, command string }{
		{"#do-join", "start billing-04"}, {"#do-rebalance", "rebalance billing-01"}, {"#do-add-partitions", "add-partitions orders to 12"},
		{"#do-pause-billing-02", "pause billing-02"}, {"#do-resume-billing-02", "resume billing-02"},
		{"#do-crash-billing-01", "crash billing-01"}, {"#do-start-billing-01", "start billing-01"}, {"#do-leave-billing-03", "leave billing-03"}, {"#do-wait", "wait 5s"},
	} {
		b.click(step.press)
		b.waitText(".given li:last-child", step.command)
	}
	b.open(rebalance + "&t=3")
	b.click("#do-restart-billing-02")
	b.waitAddress(rebalance + "&do=3:leave+billing-02&do=8:start+billing-02&t=3")
	choose(b, "#member-what", "crash")
	b.paste("#member-who", "billing-03")
	b.click("#member button")
	b.waitText(".given", "crash billing-03")
	b.click("#more-partitions button")
	b.waitText(".given", "add-partitions orders to 7")
	b.click("#pair-eager")
	b.waitText("#vs-picture .run", "protocol = cooperative")
	b.open(rebalance + "&protocol=consumer&t=3")
	if b.count("#do-rebalance") > 0 {
		t.Error("the consumer protocol knows no forced rebalance")
	}
}

// Each setting is in a form and changes the run that is shown.
func TestSettingsOfRebalance(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	for _, set := range []string{
		"topics=3", "partitions=9", "rate=3", "members=5", "protocol=cooperative", "protocol=consumer", "assignor=sticky", "static=on", "session-timeout=10000", "heartbeat=2000", "consumer-session=50000",
		"consumer-heartbeat=7000", "poll-interval=20000", "initial-delay=0", "metadata-age=5000", "process=3", "slow=2", "slow-work=3000", "poll-records=2", "commit=after-batch", "auto-interval=2000",
	} {
		name, value, _ := strings.Cut(set, "=")
		b.open(rebalance + "&t=3")
		b.setSetting(name, value)
		b.waitAddress(rebalance + "&" + set + "&t=3")
		b.waitTick(3)
	}
	b.open(rebalance + "&topics=2&t=3")
	b.setSetting("subscribe", "po, o")
	b.waitAddress(rebalance + "&topics=2&subscribe=op,o&t=3")
	b.open(rebalance + "&protocol=cooperative&assignor=range")
	b.waitText("main", "default, cooperative-sticky")
	b.expect("400 (Bad Request)")
}

// What is pressed opens: a member, a partition with its rule, the group with the assignment before and after, a tick, a
// message byte by byte.
func TestInspectorOfRebalance(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(rebalance + joins + "&t=17")
	b.click("#row-billing-04 .name")
	b.waitText("#inspector", "Subscribes to")
	b.waitText("#assignment", "orders-5")
	b.click("#open-group")
	b.waitText("#inspector-title", "Group billing")
	b.waitText("#division", "orders-5")
	b.waitText("#division", "billing-03")
	b.waitText("#group-records", "group metadata: group billing")
	b.click("#row-orders-5 .name")
	b.waitText("#inspector-title", "Who reads orders-5")
	b.waitText("#inspector", "generation 2, range:")
	b.waitText("#stretches", "11 to 14")
	b.click("#timeline button[value='tick:10']")
	b.waitText("#inspector-title", "Tick 10")
	b.click("#timeline button[value='tick:15']")
	b.waitText("#tick", "Owns orders-5 in generation 2")
	b.open(rebalance + joins + "&t=13")
	b.click("#network-title + .network .message")
	b.waitText("#inspector", "SyncGroup request (API key 14)")
	b.waitText("#inspector", "GroupId")
	b.open(rebalance + consumers + "&t=8")
	b.click("#network-title + .network .message")
	b.waitText("#inspector", "ConsumerGroupHeartbeat response (API key 68)")
	b.click("#row-billing-01 .name")
	b.waitText("#inspector", "UNREVOKED_PARTITIONS")
	b.waitText("#inspector", "orders-1, until tick 606 at the latest")
}

// The timeline moves to what is out of its window, and back.
func TestEarlierTicks(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(rebalance + joins + "&t=70")
	if b.count("#row-orders-0 .bar-nobody") != 0 {
		t.Error("the gap of tick 11 is in a window that ends at 70")
	}
	b.click("#earlier")
	b.waitFor("document.querySelectorAll('#row-orders-0 .bar-nobody').length === 1")
	b.click("#later")
	b.waitFor("document.querySelectorAll('#row-orders-0 .bar-nobody').length === 0")
}

// By the keyboard alone.
func TestRebalanceByKeyboard(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(rebalance + "&t=3")
	b.focus("#do-join")
	b.press(kb.Enter)
	b.waitText(".given", "start billing-04")
	b.press("n")
	b.waitFor("+new URL(document.querySelector('#lab').dataset.address, location).searchParams.get('t') > 3")
	b.focus("#row-orders-0 .name")
	b.press(kb.Enter)
	b.waitText("#inspector-title", "Who reads orders-0")
	b.press(kb.End)
	b.waitTick(40)
}

// By links and forms alone.
func TestRebalanceWithoutJavaScript(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.withoutScripts()
	b.openPlain(rebalance)
	b.click("#ready summary")
	b.click(ready(b, "A newcomer stops the world"))
	b.waitText("#reading", "6 of 6 partitions stood still")
	b.click("#row-orders-0 .name")
	b.waitText("#inspector-title", "Who reads orders-0")
	b.click("#timeline button[value='tick:10']")
	b.waitText("#inspector-title", "Tick 10")
	b.click("#do-leave-billing-01")
	b.waitText(".given", "leave billing-01")
	choose(b, "#member-what", "leave")
	b.click("#member button")
	b.waitText("body", "could not apply") // it leaves already
	b.click("#step")
	b.waitTick(19)
}

var rebalanceStates = []state{
	{name: "lab-rebalance", address: rebalance + "&t=3"},
	{name: "lab-rebalance-mid", address: rebalance + joins + "&t=13&at=node:billing-01"},
	{name: "lab-rebalance-group", address: rebalance + joins + "&t=22&at=group:billing"},
	{name: "lab-rebalance-crash", address: rebalance + "&do=4:crash+billing-02&t=9&at=partition:orders-2"},
	{name: "lab-rebalance-consumer", address: rebalance + consumers + "&t=8&at=group:billing"},
	{name: "lab-rebalance-slow", address: rebalance + "&members=2&poll-interval=6000&slow=1&slow-work=4000&poll-records=2&t=30&at=tick:15"},
	{name: "lab-rebalance-largest", address: mostMembers},
	{name: "lab-rebalance-topics", address: fourTopics},
	{name: "lab-rebalance-two", address: rebalance + cooperative + "&t=31&vs=protocol:consumer"},
	{name: "lab-rebalance-minimal", address: "/embed" + rebalance + joins + "&t=17&chrome=minimal"},
	{name: "lab-rebalance-still", address: "/embed" + rebalance + joins + "&t=17&still=1"},
}

// TestRebalanceAccessibility runs axe-core on the lab's states, in every look, on a wide and a narrow window.
func TestRebalanceAccessibility(t *testing.T) {
	t.Parallel()
	checkAccessible(t, rebalanceStates)
}

// Sixteen members and 64 partitions of each of four topics are within the bounds of a page, and no page is wider than
// its window.
func TestRebalanceFits(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	for name, address := range map[string]string{
		"most members": mostMembers, "four topics": fourTopics, "several times": severalTimes + "&at=group:billing", "most twice": mostMembers + "&vs=assignor:sticky",
		"several times twice": severalTimes + "&vs=assignor:sticky&at=group:billing", "most, consumers": rebalance + "&partitions=64&rate=25&members=15&protocol=consumer&do=2:start+billing-16&t=34&at=group:billing",
		"most, why": severalTimes + "&why=5000",
	} {
		checkElements(b, name, address)
		checkWidth(b, name, address)
	}
	for _, s := range rebalanceStates {
		checkWidth(b, s.name, s.address)
	}
	// Bars of a partition each are thin, and can be told apart.
	b.size(1280, 900)
	b.open(mostMembers)
	if rows, height := b.count(".time-row.thin"), eval[float64](b, "document.querySelector('.time-row.thin .time-track').getBoundingClientRect().height"); rows != 64 || height < 5 {
		t.Errorf("%d rows, the first %.1f px high", rows, height)
	}
	b.shot("rebalance-largest")
}
