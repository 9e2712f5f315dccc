package browsertest

import "testing"

const (
	sandbox     = "/lab/sandbox?v=1"
	sandboxMost = sandbox + "&brokers=5&partitions=6&rf=5&producers=3&transactional=all&rate=3&every=500&groups=2&members=4&t=60"
	sandboxOpen = sandbox + "&partitions=1&producers=2&transactional=first&rate=0&isolation=read_committed&do=4:begin-transaction+p0&do=4:produce+p0+a&do=12:kill+p0&do=14:produce+p1+b&do=16:produce+p1+c&t=22"
)

var sandboxStates = []state{
	{name: "lab-sandbox", address: sandbox + "&t=20"},
	{name: "lab-sandbox-open", address: sandboxOpen + "&at=record:orders-0:1"},
	{name: "lab-sandbox-partition", address: sandboxOpen + "&at=partition:orders-0"},
	{name: "lab-sandbox-two", address: sandbox + "&partitions=1&rate=0&do=4:drop-next+b1+p0&do=5:produce+p0+a&t=20&vs=idempotence:false"},
	{name: "lab-sandbox-minimal", address: "/embed" + sandboxOpen + "&chrome=minimal"},
}

// TestSandboxAccessibility runs axe-core on the lab's states, in every look, on a wide and a narrow window.
func TestSandboxAccessibility(t *testing.T) {
	t.Parallel()
	checkAccessible(t, sandboxStates)
}

// The largest set-up is within the bounds of a page, and no page is wider than its window.
func TestSandboxFits(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	for name, address := range map[string]string{
		"most": sandboxMost, "most, a segment open": sandboxMost + "&at=segment:orders-3:0", "most twice": sandboxMost + "&vs=isolation:read_committed", "most, why": sandboxMost + "&why=3000",
		"most twice, a segment open": sandboxMost + "&vs=isolation:read_committed&at=segment:orders-3:0",
	} {
		checkElements(b, name, address)
		checkWidth(b, name, address)
	}
	for _, s := range sandboxStates {
		checkWidth(b, s.name, s.address)
		checkWidth(b, s.name+", projected", s.address+"&size=projector")
	}
}

// By links and forms alone.
func TestSandboxWithoutJavaScript(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.withoutScripts()
	b.openPlain(sandbox)
	b.click("#ready summary")
	b.click(ready(b, "An open transaction holds up readers"))
	b.waitText("#reading", "A transaction holds up 3 offsets of orders-0")
	b.click("#r-0-1")
	b.waitText("#inspector-title", "Record orders-0 1")
	b.click("#do-kill-b1")
	b.waitText(".given li:last-child", "kill b1")
	b.click("#step")
	b.waitTick(23)
	b.waitText("#node-b1", "down")
}
