package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

const (
	replication = "/lab/replication?v=1"

	// runs of the lab, as their links have them
	leaderDies     = "&acks=1&rate=0&do=5:produce+p0&do=6:produce+p0&do=7:produce+p0&do=10:kill+b1&do=14:wait+7s"
	leaderAlone    = "&rate=0&do=5:produce+p0&do=12:kill+b2&do=12:kill+b3&do=16:wait+7s&do=40:produce+p0"
	largestCluster = replication + "&brokers=9&rf=9&partitions=6&min-isr=2&rate=10&every=1&t=60"
)

// ledgerNumber gives a number of the ledger.
func ledgerNumber(b *tab, name string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf("[...document.querySelectorAll('#ledger .count')].find(c => c.querySelector('dt').textContent === %s)?.querySelector('b').textContent ?? ''", quote(name)))
}

// standing gives role and sync of a broker's replica of orders-0.
func standing(b *tab, broker int) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf("[...document.querySelectorAll('#replica-orders-0-%d .standing span')].map(s => s.textContent).join(', ')", broker))
}

// choose chooses an option of a field by its text.
func choose(b *tab, selector, text string) {
	b.t.Helper()
	if !eval[bool](b, fmt.Sprintf(`(() => {
		const field = document.querySelector(%s), at = [...field.options].findIndex(o => o.text === %s)
		field.selectedIndex = at
		return at >= 0
	})()`, quote(selector), quote(text))) {
		b.t.Fatalf("%s has no option %q", selector, text)
	}
}

// readyMade are the ready-made runs with what their pages say at their point, and where they end.
var readyMade = []struct {
	title, reading string
	leader         int
	end            int
	counts         map[string]string
}{
	{"acks = 1, and the leader dies", "1 acknowledged record is lost: event 3", 2, 50, map[string]string{"Acknowledged": "3", "Visible": "2", "Lost": "1"}},
	{"A late old leader cuts its log", "1 acknowledged record is lost: event 3", 2, 60, map[string]string{"Acknowledged": "4", "Visible": "3", "Lost": "1"}},
	{"All in sync, and then refused", "NOT_ENOUGH_REPLICAS", 1, 60, map[string]string{"Acknowledged": "1", "On their way": "1", "Lost": "0"}},
	{"acks = all, in sync: one", "b1 alone has the record", 1, 60, map[string]string{"Acknowledged": "2", "Visible": "2", "Lost": "0"}},
	{"The same with min.insync.replicas 2", "There are no acknowledgements now", 1, 60, map[string]string{"Acknowledged": "1", "On their way": "1"}},
	{"Unclean election", "1 acknowledged record is lost: event 2", 2, 90, map[string]string{"Acknowledged": "2", "Lost": "1"}},
	{"Power loss of all in-sync replicas", "5 acknowledged records are lost", 3, 70, map[string]string{"Acknowledged": "5", "Lost": "5"}},
	{"A duplicate", "1 record stands twice: event 1", 1, 30, map[string]string{"Handed in": "1", "Duplicated": "1"}},
	{"No duplicate with idempotence", "In sync: b1, b2, b3.", 1, 30, map[string]string{"Handed in": "1", "Duplicated": "0"}},
}

// Each ready-made run is one press away. At its point, and again at its end, stepped there from the start, the page has
// its numbers.
func TestReadyMadeRunsOfReplication(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(replication)
	b.click("#ready summary")
	for _, run := range readyMade {
		check := func(where string) {
			t.Helper()
			b.waitText("#reading", run.reading)
			for name, want := range run.counts {
				if got := ledgerNumber(b, name); got != want {
					t.Errorf("%s, %s: %s is %q, want %s", run.title, where, name, got, want)
				}
			}
			if got := standing(b, run.leader); got != "Leader, in sync" {
				t.Errorf("%s, %s: b%d is %q", run.title, where, run.leader, got)
			}
		}
		link := ready(b, run.title)
		address := eval[string](b, fmt.Sprintf("document.querySelector(%s).getAttribute('href')", quote(link)))
		b.click(link)
		b.waitAddress(address)
		check("at its point")
		b.press(kb.Home)
		b.waitTick(0)
		if got := ledgerNumber(b, "Handed in"); got != "0" {
			t.Errorf("%s: at the start %s records are handed in", run.title, got)
		}
		b.stepTo(run.end)
		check("at its end")
	}
	b.click(ready(b, "Both beside each other"))
	b.waitText("#picture .run", "min-isr = 1")
	b.waitText("#vs-picture .run", "min-isr = 2")
	b.press(kb.Home)
	b.waitTick(0)
	b.stepTo(60)
	if own, twin := ledgerNumber(b, "Acknowledged"), eval[string](b, "[...document.querySelectorAll('#vs-ledger .count')].find(c => c.querySelector('dt').textContent === 'Acknowledged')?.querySelector('b').textContent ?? ''"); own != "2" || twin != "1" {
		t.Errorf("side by side %q and %q records are acknowledged at the end, want 2 and 1", own, twin)
	}
}

// A crash, stepped through: the leader dies, the controller fences it, another leads, the old one cuts its log.
func TestStepThroughACrash(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(replication + leaderDies + "&do=36:produce+p0&do=44:start+b1&t=9&horizon=60")
	if got := standing(b, 1); got != "Leader, in sync" {
		t.Errorf("before the crash b1 is %q", got)
	}
	b.stepTo(10)
	b.waitText("#node-b1", "down, the controller still counts it as alive")
	b.waitText("#say", "b1 was killed")
	b.waitText("#reading", "If nothing else happens, b2 would lead")
	b.waitText("#reading", "1 acknowledged record would be lost: offset 2")
	b.stepTo(34)
	if got := standing(b, 2); got != "Leader, in sync" {
		t.Errorf("after the election b2 is %q", got)
	}
	if got := standing(b, 1); got != "Offline, not in sync" {
		t.Errorf("after the election b1 is %q", got)
	}
	if n := b.count("#replica-orders-0-1 .cell.lost"); n != 1 {
		t.Errorf("%d records are marked as lost on b1's disk, want 1", n)
	}
	b.stepTo(49)
	if n := b.count("#replica-orders-0-1 .cell.gone"); n != 1 {
		t.Errorf("%d records are struck out on b1, want 1", n)
	}
	b.waitText("#say", "b1 cut 1 record off its log")
	b.shot("replication-truncation")
	b.stepTo(50)
	if n := b.count(".cell.gone"); n != 0 {
		t.Errorf("a tick later %d records are struck out", n)
	}
}

// The commands that a node can take, and the form for the link between two.
func TestControlsOfReplication(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(replication + "&rate=0&t=5")
	for _, step := range []struct{ press, command, shows, node string }{
		{"#do-produce-p0", "5:produce p0", "handed in 1", "#node-p0"},
		{"#do-slow-b2", "5:slow-disk b2 500ms", "slow disk: 500 ms a write", "#node-b2"},
		{"#do-fast-b2", "5:slow-disk b2 0ms", "running", "#node-b2"},
		{"#do-pause-b3", "5:pause b3", "running, paused", "#node-b3"},
		{"#do-resume-b3", "5:resume b3", "running", "#node-b3"},
		{"#do-stop-b3", "5:shut-down b3", "shutting down", "#node-b3"},
		{"#do-power-b2", "5:power-loss b2", "no power", "#node-b2"},
		{"#do-wipe-b2", "5:wipe b2", "nothing on its disk", "#node-b2"},
		{"#do-kill-b1", "5:kill b1", "down", "#node-b1"},
		{"#do-start-b1", "5:start b1", "starting", "#node-b1"},
		{"#do-stop-sending-p0", "5:stop-sending p0", "application stopped", "#node-p0"},
		{"#do-start-sending-p0", "5:start-sending p0", "producer", "#node-p0"},
		{"#do-kill-p0", "5:kill p0", "producer, down", "#node-p0"},
	} {
		b.click(step.press)
		_, verb, _ := strings.Cut(step.command, ":")
		b.waitText(".given li:last-child", verb)
		b.waitText(step.node, step.shows)
	}
	b.open(replication + "&rate=0&t=5")
	choose(b, "#link-what", "cut one way")
	choose(b, "#link-from", "b3")
	choose(b, "#link-to", "controller")
	b.click("#link button")
	b.waitAddress(replication + "&rate=0&do=5:cut-one-way+b3+controller&t=5")
	b.waitText("#node-controller", "link from b3: cut")
	b.click("#do-min-isr-2")
	b.waitText(".given li:last-child", "alter-config orders min.insync.replicas 2")
	b.click("#do-unclean-on")
	b.waitText(".given li:last-child", "alter-config orders unclean.leader.election.enable true")
	b.click("#do-wait-10000")
	b.waitText(".given li:last-child", "wait 10s")
	b.press(kb.ArrowRight)
	b.waitText("#picture-title", "min.insync.replicas 2")
	b.waitText("#node-b3", "fenced")
	if got := standing(b, 3); got != "Follower, not in sync" {
		t.Errorf("cut off from the controller, b3 is %q", got)
	}
}

// Every kind of fault of a link, both elections, and the rest of the producer's commands.
func TestLinksAndElections(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(replication + "&rate=0&t=5")
	for _, link := range []struct{ what, given, shows string }{
		{"cut", "cut b1 b2", "link from b1: cut"},
		{"heal", "heal b1 b2", "running"},
		{"cut one way", "cut-one-way b1 b2", "link from b1: cut"},
		{"heal", "heal b1 b2", "running"},
		{"delay 500 ms", "delay b1 b2 500ms", "500 ms"},
		{"drop the next message", "drop-next b1 b2", "drops the next message"},
		{"double the next message", "double-next b1 b2", "doubles the next message"},
	} {
		choose(b, "#link-what", link.what)
		choose(b, "#link-from", "b1")
		choose(b, "#link-to", "b2")
		b.click("#link button")
		b.waitText(".given li:last-child", link.given)
		b.waitText("#node-b2", link.shows)
	}
	for _, step := range []struct{ press, given string }{
		{"#do-pause-p0", "pause p0"}, {"#do-resume-p0", "resume p0"}, {"#do-kill-p0", "kill p0"}, {"#do-start-p0", "start p0"},
		{"#do-unclean-on", "alter-config orders unclean.leader.election.enable true"}, {"#do-wait-1000", "wait 1s"}, {"#do-wait-45000", "wait 45s"},
	} {
		b.click(step.press)
		b.waitText(".given li:last-child", step.given)
	}

	// The preferred leader is back and in sync.
	b.open(replication + "&rate=0&do=5:kill+b1&do=6:wait+12s&do=8:start+b1&t=40")
	b.click("#do-preferred-orders-0")
	b.waitText(".given li:last-child", "elect-preferred orders 0")
	b.stepTo(44)
	if got := standing(b, 1); got != "Leader, in sync" {
		t.Errorf("after the preferred election b1 is %q", got)
	}

	// Nobody may lead but by an unclean election.
	b.open(replication + leaderAlone + "&do=46:kill+b1&do=48:start+b2&do=60:wait+7s&t=84")
	b.click("#do-unclean-orders-0")
	b.waitText(".given li:last-child", "elect-unclean orders 0")
	b.stepTo(88)
	if got := standing(b, 2); got != "Leader, in sync" {
		t.Errorf("after the unclean election b2 is %q", got)
	}
	b.waitText("#reading", "1 acknowledged record is lost: event 2")
	b.shot("replication-unclean")
}

// Each setting is in a form and changes the run that is shown.
func TestSettingsOfReplication(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	for _, set := range []struct{ name, value, query string }{
		{"brokers", "5", "brokers=5"}, {"rf", "2", "rf=2"}, {"min-isr", "2", "min-isr=2"}, {"partitions", "3", "partitions=3"}, {"placement", "kafka", "placement=kafka"},
		{"racks", "3", "racks=3"}, {"unclean", "true", "unclean=true"}, {"elr", "off", "elr=off"}, {"lag-time", "5000", "lag-time=5000"}, {"session-timeout", "6000", "session-timeout=6000"},
		{"acks", "1", "acks=1"}, {"idempotence", "false", "idempotence=false"}, {"retries", "3", "retries=3"}, {"in-flight", "1", "in-flight=1"}, {"request-timeout", "1000", "request-timeout=1000"},
		{"delivery-timeout", "60000", "delivery-timeout=60000"}, {"rate", "3", "rate=3"}, {"every", "2", "every=2"}, {"consumers", "0", "consumers=0"},
	} {
		b.open(replication + "&t=3")
		b.setSetting(set.name, set.value)
		b.waitAddress(replication + "&" + set.query + "&t=3")
		b.waitTick(3)
	}
}

// What is pressed opens, and the ways from there lead on.
func TestInspectorOfReplication(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(replication + leaderDies + "&t=40")
	b.click("#replica-orders-0-1 .cell[data-offset='2']")
	b.waitText("#inspector-title", "Record orders-0 2 on b1")
	b.waitText("#copies", "event 3")
	b.click("#open-batch")
	b.waitText("#inspector-title", "Batch orders-0 2 on b1")
	b.click("#replica-orders-0-2 .name")
	b.waitText("#inspector-title", "Replica of orders-0 on b2")
	b.waitText("#epochs", "1")
	b.click("#open-partition")
	b.waitText("#metadata", "knows nothing of it")
	b.click("#node-p0 .name")
	b.waitText("#inspector-title", "Node p0")
	b.click("#node-controller .name")
	b.waitText("#brokers", "fenced")
	b.click("#ledger .entry")
	b.waitText("#inspector-title", "Why event ")
	b.waitText("#inspector", "leads orders-0 in leader epoch 1")
}

// By the keyboard alone.
func TestReplicationByKeyboard(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(replication + "&rate=0&t=5")
	b.focus("#do-kill-b1")
	b.press(kb.Enter)
	b.waitText("#node-b1", "down")
	b.focus("#node-b2 .name")
	b.press(kb.Enter)
	b.waitText("#inspector-title", "Node b2")
	b.focus("#link-what")
	b.press(kb.Enter)
	b.press(kb.Escape)
	b.focus("#link button")
	b.press(kb.Enter)
	b.waitText(".given li:last-child", "cut b1 b2")
}

// By links and forms alone.
func TestReplicationWithoutJavaScript(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.withoutScripts()
	b.openPlain(replication)
	b.click("#ready summary")
	b.click(ready(b, "acks = 1, and the leader dies"))
	b.waitText("#reading", "1 acknowledged record is lost")
	b.click("#replica-orders-0-1 .cell.lost")
	b.waitText("#inspector-title", "Record orders-0 2 on b1")
	b.click("#do-start-b1")
	b.waitText("#node-b1", "starting")
	choose(b, "#link-what", "drop the next message")
	choose(b, "#link-from", "b2")
	choose(b, "#link-to", "p0")
	b.click("#link button")
	b.waitText("#node-p0", "link from b2: drops the next message")
}
