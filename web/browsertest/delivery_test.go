package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

const (
	delivery = "/lab/delivery?v=1"

	// runs of the lab, as its links have them
	openers     = delivery + "&records=0&transactions=producers&output=off"
	amongOthers = delivery + "&records=0&transactions=producers&producers=3&plain=on&output=off&do=1:produce+p3+x+x0&do=1:begin-transaction+p0&do=1:begin-transaction+p1&do=1:begin-transaction+p2" +
		"&do=3:produce+p0+a+a1&do=7:produce+p3+x+x1&do=8:produce+p1+b+b1&do=8:produce+p1+b+b2&do=12:commit-transaction+p1&do=15:produce+p2+c+c1&do=19:abort-transaction+p2"
	twoEmails = delivery + "&outside=e-mail&do=1:crash+billing-1+after+offsets&do=18:start+billing-1&do=18:wait+2500ms"
)

// stripCells writes what stands in a strip, place by place.
func stripCells(b *tab, id string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf("[...document.querySelectorAll('#%s .cell')].map(c => c.innerText).join(' ')", id))
}

// stripMarks writes the marks under a strip.
func stripMarks(b *tab, id string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf("[...document.querySelectorAll('#%s .flag')].map(f => f.innerText).join(', ')", id))
}

// deliveryPoint is what a page has at a tick; what is empty is not looked at.
type deliveryPoint struct {
	tick                int
	strip, cells, marks string
	state, reading      string
}

// readyDelivery are ready-made runs with what their pages have at some ticks: the numbers are those of the public cases
// where a case has them.
var readyDelivery = []struct {
	title  string
	points []deliveryPoint
}{
	{"A lost answer, without idempotence", []deliveryPoint{{5, "strip-orders-0", "a1", "", "", ""}, {14, "strip-orders-0", "a1 a1", "", "", "1 of them twice"}}},
	{"A lost answer, with idempotence", []deliveryPoint{{14, "strip-orders-0", "a1", "", "", "Taken for second copies, 1 time"}}},
	{"Two calls of send that idempotence does not merge", []deliveryPoint{{8, "strip-orders-0", "paid paid", "", "", "two calls of send, two records"}}},
	{"A transaction that hangs", []deliveryPoint{{14, "strip-orders-0", "a1 x1 x2", "last stable 0, watermark, end 3", "Ongoing tx-0", "read_committed readers wait for 3 offsets"}}},
	{"The same, aborted", []deliveryPoint{ // TXN-01
		{25, "strip-orders-0", "x0 a1 x1 b1 b2 C c1 A", "last stable 1, watermark, end 8", "Ongoing tx-0", "read_uncommitted has seen x0, a1, x1, b1, b2, c1, read_committed x0."},
		{32, "strip-orders-0", "x0 a1 x1 b1 b2 C c1 A A", "stable, watermark, end 9", "CompleteAbort tx-0 tx-2", "read_committed x0, x1, b1, b2."}}},
	{"A zombie is fenced", []deliveryPoint{ // TXN-03
		{13, "strip-orders-0", "a A", "", "", "The epoch went from 0 to 1"}, {33, "strip-orders-0", "a A new C", "", "", "p0 got PRODUCER_FENCED"}}},
	{"A transaction that takes too long", []deliveryPoint{ // TXN-04
		{7, "strip-orders-0", "a b c", "last stable 0, watermark, end 3", "Ongoing tx-0", ""}, {17, "strip-orders-0", "a b c A", "stable, watermark, end 4", "", "p0 got PRODUCER_FENCED in tick 15"}}},
	{"Lag stays 1 behind a marker", []deliveryPoint{{14, "sees-read_committed", "a b c ·", "committed 3, position 4", "", "and stays"}}}, // OFF-15
	{"It crashes after its offsets are sent", []deliveryPoint{
		{16, "strip-bills-0", "o0 o1 o2", "last stable 0, watermark, end 3", "Ongoing tx-billing-1", "3 bills would be aborted"}, {17, "strip-bills-0", "o0 o1 o2", "", "", "Its transaction is still open"},
		{31, "strip-bills-0", "o0 o1 o2 A o0 o1 o2 C", "stable, watermark, end 8", "CompleteCommit tx-billing-1", "Bills for read_committed: 3 once."}}},
	{"It crashes during the commit", []deliveryPoint{{24, "strip-bills-0", "o0 o1 o2 C", "", "", "Bills for read_committed: 3 once. For read_uncommitted: 3 once."}}},
	{"Exactly once, and still two e-mails", []deliveryPoint{{17, "outside", "1× 1× 1×", "", "", ""}, {31, "outside", "2× 2× 2×", "", "", "6 effects in all"}}}, // TXN-05
	{"An insert that is idempotent", []deliveryPoint{{13, "outside", "1× 1× 1×", "", "", "3 once"}}},
}

// Each ready-made run is one press away. Stepped from the start it has its numbers at each of its points.
func TestReadyMadeRunsOfDelivery(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(delivery)
	b.click("#ready summary")
	for _, run := range readyDelivery {
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
			if got := stripCells(b, want.strip); got != want.cells {
				t.Errorf("%s: %s has %s, want %s", where, want.strip, got, want.cells)
			}
			if got := stripMarks(b, want.strip); want.marks != "" && got != want.marks {
				t.Errorf("%s: the marks of %s are %s, want %s", where, want.strip, got, want.marks)
			}
			states := eval[string](b, "[...document.querySelectorAll('.picture > .machine li.now')].map(s => [s.querySelector('b'), ...s.querySelectorAll('.token')].map(e => e.innerText).join(' ')).join(', ')")
			if want.state != "" && !strings.Contains(states, want.state) {
				t.Errorf("%s: the states are %s, want %s", where, states, want.state)
			}
		}
	}
	b.click(ready(b, "With and without transactions, side by side"))
	b.waitText("#picture .run", "transactions = application")
	b.waitText("#vs-picture .run", "transactions = off")
}

// Every button and form.
func TestControlsOfDelivery(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	for _, step := range []struct{ press, command string }{
		{"#do-produce-p0", "produce p0"}, {"#do-pause-p0", "pause p0"}, {"#do-kill-p0", "kill p0"}, {"#do-pause-billing-1", "pause billing-1"}, {"#do-leave-billing-1", "leave billing-1"}, {"#do-crash-billing-1", "crash billing-1"},
		{"#do-crash-billing-1-after-poll", "crash billing-1 after poll"}, {"#do-crash-billing-1-before-processing", "crash billing-1 before processing"}, {"#do-crash-billing-1-after-processing", "crash billing-1 after processing"},
		{"#do-crash-billing-1-after-produce", "crash billing-1 after produce"}, {"#do-crash-billing-1-after-offsets", "crash billing-1 after offsets"}, {"#do-crash-billing-1-during-commit", "crash billing-1 during commit"},
		{"#do-crash-billing-1-after-commit", "crash billing-1 after commit"}, {"#do-kill-b1", "kill b1"}, {"#do-pause-b1", "pause b1"}, {"#do-drop-request-p0", "drop-next p0 b1"}, {"#do-drop-answer-p0", "drop-next b1 p0"},
		{"#do-drop-request-billing-1", "drop-next billing-1 b1"}, {"#do-drop-answer-billing-1", "drop-next b1 billing-1"}, {"#do-wait-1000", "wait 1s"}, {"#do-wait-10000", "wait 10s"}, {"#do-wait-60000", "wait 1m"},
	} {
		b.open(delivery + "&t=3")
		b.click(step.press)
		b.waitText(".given li:last-child", step.command)
	}
	b.open(delivery + "&do=3:crash+billing-1&t=5")
	b.click("#do-start-billing-1")
	b.waitText(".given", "start billing-1")
	// A transaction by hand.
	b.open(openers + "&t=1")
	for _, step := range []struct{ press, command string }{{"#do-begin-p0", "begin-transaction p0"}, {"#do-produce-p0", "produce p0 a"}, {"#do-abort-p0", "abort-transaction p0"}} {
		b.click(step.press)
		b.waitText(".given li:last-child", step.command)
	}
	b.stepTo(12)
	if got := stripCells(b, "strip-orders-0"); got != "" {
		t.Errorf("orders-0 has %s, though all was aborted before it was sent", got)
	}
	b.click("#do-begin-p0")
	b.waitText(".given li:last-child", "tick 12")
	b.paste("#produce-key", "z")
	b.paste("#produce-value", `"by hand"`)
	b.click("#produce button")
	b.waitText(".given li:last-child", `produce p0 z "by hand"`)
	b.stepTo(17)
	b.click("#do-commit-p0")
	b.waitText(".given li:last-child", "commit-transaction p0")
	b.stepTo(22)
	if got := stripCells(b, "strip-orders-0"); got != "by h… C" {
		t.Errorf("orders-0 has %s", got)
	}
	for _, pair := range [][2]string{{"#pair-txn", "transactions = off"}, {"#pair-commit", "commit = before"}, {"#pair-idempotence", "idempotence = false"}} {
		b.open(delivery + "&t=8")
		b.click(pair[0])
		b.waitText("#vs-picture .run", pair[1])
	}
	b.open(delivery + "&t=12")
	b.waitText("#reading", "If billing-1 crashed now and were started again")
	b.click("#reading a[href*='crash+billing-1']")
	b.waitText(".given", "start billing-1")
	b.waitText("#reading", "billing-1 crashed in tick 12")
}

// Each setting is in a form and changes the run that is shown.
func TestSettingsOfDelivery(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	for _, set := range []string{
		"brokers=3", "records=5", "version=1", "transactions=off", "transactions=producers", "transactions=both", "producers=3", "ids=shared", "plain=on", "acks=1", "idempotence=false", "retries=0", "in-flight=1", "request-timeout=500",
		"txn-timeout=5000", "rate=2", "every=3", "txn-records=5", "outbox=on", "abort-every=2", "outside=plain", "outside=idempotent", "outside=offsets", "outside=inbox", "outside=e-mail", "commit=before",
		"isolation=read_uncommitted", "poll-records=1", "work=0", "instances=2", "static=off", "session-timeout=10000", "reader-commit=last",
	} {
		name, value, _ := strings.Cut(set, "=")
		b.open(delivery + "&t=3")
		b.setSetting(name, value)
		b.waitAddress(delivery + "&" + set + "&t=3")
		b.waitTick(3)
	}
	b.open(openers + "&acks=1")
	b.waitText("main", "a transactional producer needs enable.idempotence = true")
	b.expect("400 (Bad Request)")
}

// What is pressed opens.
func TestInspectorOfDelivery(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(amongOthers + "&do=25:abort-transaction+p0&t=32")
	for _, step := range []struct{ press, title, text string }{
		{"#r-orders-1", "Record orders-0 1", "in an aborted transaction of tx-0: offset 1, 1 record, marker at 8"}, {"#s-read_committed-6", "Record orders-0 6", "aborted: filtered out by the client"},
		{"#r-orders-5", "Record orders-0 5", "ends the transaction of tx-1"}, {"#strip-orders-0 .name", "The log of orders-0", "read_committed reads below it"}, {"#node-p0 .name", "Node p0", "transaction.timeout.ms 60,000"},
		{"#node-b1 .name", "Node b1", "CompleteAbort"}, {"#sees-read_committed .name", "Node committed-1", "from position 9 on"},
	} {
		b.click(step.press)
		b.waitText("#inspector-title", step.title)
		b.waitText("#inspector", step.text)
	}
	b.click("#r-orders-3")
	b.waitText("#inspector-title", "Record orders-0 3")
	b.click("#open-batch")
	b.waitText("#inspector-title", "Batch orders-0 3")
	b.waitText("#inspector", "baseSequence")
	b.open(twoEmails + "&t=31")
	b.click("#x-0")
	b.waitText("#inspector", "bills: 1 for read_committed, 2 for read_uncommitted; effects in the e-mail: 2")
	b.click("#outside .name")
	b.waitText("#inspector-title", "Group billing")
	b.waitText("#inspector", "6 effects")
	b.click("#node-billing-1 .name")
	b.waitText("#inspector", "2 begun, 1 committed")
}

// By the keyboard alone.
func TestDeliveryByKeyboard(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(twoEmails + "&t=31")
	for _, step := range []struct{ focus, title string }{
		{"#r-bills-3", "Record bills-0 3"}, {"#s-read_uncommitted-0", "Record bills-0 0"}, {"#x-1", "Record orders-0 1"}, {"#node-billing-1 .name", "Node billing-1"},
	} {
		b.focus(step.focus)
		b.press(kb.Enter)
		b.waitText("#inspector-title", step.title)
	}
	b.focus("#do-crash-billing-1-after-produce")
	b.press(kb.Enter)
	b.waitText(".given", "crash billing-1 after produce")
	b.press(kb.End)
	b.waitTick(60)
}

// By links and forms alone.
func TestDeliveryWithoutJavaScript(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.withoutScripts()
	b.openPlain(delivery)
	b.click("#ready summary")
	b.click(ready(b, "The same, aborted"))
	b.waitText("#reading", "read_committed x0, x1, b1, b2.")
	b.click("#r-orders-1")
	b.waitText("#inspector-title", "Record orders-0 1")
	b.click("#step")
	b.waitTick(33)
	b.click("#do-begin-p0")
	b.waitText(".given li:last-child", "tick 33")
	b.paste("#produce-key", "q")
	b.click("#produce button")
	b.waitText(".given", "produce p0 q paid")
	b.click("#do-commit-p0")
	b.waitText(".given", "commit-transaction p0")
}

var deliveryStates = []state{
	{name: "lab-delivery", address: delivery + "&t=12"},
	{name: "lab-delivery-crashed", address: twoEmails + "&t=17&at=node:billing-1"},
	{name: "lab-delivery-emails", address: twoEmails + "&t=31&at=record:orders-0:0"},
	{name: "lab-delivery-open", address: amongOthers + "&t=25&at=record:orders-0:1"},
	{name: "lab-delivery-aborted", address: amongOthers + "&do=25:abort-transaction+p0&t=32&at=partition:orders-0"},
	{name: "lab-delivery-batch", address: amongOthers + "&t=25&at=batch:orders-0:3"},
	{name: "lab-delivery-broker", address: delivery + "&brokers=3&t=30&at=node:b2"},
	{name: "lab-delivery-two", address: delivery + "&do=1:crash+billing-1+after+produce&do=11:start+billing-1&do=11:wait+2500ms&t=24&vs=transactions:off"},
	{name: "lab-delivery-lost", address: delivery + "&transactions=off&outside=inbox&commit=before&do=1:crash+billing-1+after+commit&do=8:start+billing-1&do=8:wait+2s&t=16&at=group:billing"},
	{name: "lab-delivery-minimal", address: "/embed" + twoEmails + "&t=17&chrome=minimal"},
	{name: "lab-delivery-still", address: "/embed" + twoEmails + "&t=17&still=1"},
}

// TestDeliveryAccessibility runs axe-core on the lab's states, in every look, on a wide and a narrow window.
func TestDeliveryAccessibility(t *testing.T) {
	t.Parallel()
	checkAccessible(t, deliveryStates)
}

// The largest set-up is within the bounds of a page, and no page is wider than its window.
func TestDeliveryFits(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	most := delivery + "&brokers=3&records=12&transactions=both&producers=3&plain=on&outside=e-mail&instances=2&rate=5&every=2&abort-every=3&poll-records=5"
	for name, address := range map[string]string{
		"most": most + "&t=80", "most, a batch open": most + "&t=80&at=batch:orders-0:3", "most twice": most + "&t=80&vs=outside:plain&at=partition:orders-0", "most, why": most + "&t=80&why=3000",
		"long values": openers + "&do=1:begin-transaction+p0&do=1:produce+p0+" + strings.Repeat("W", 60) + "+" + strings.Repeat("M", 60) + "&t=6&at=record:orders-0:0",
	} {
		checkElements(b, name, address)
		checkWidth(b, name, address)
	}
	for _, s := range deliveryStates {
		checkWidth(b, s.name, s.address)
		checkWidth(b, s.name+", projected", s.address+"&size=projector")
	}
}
