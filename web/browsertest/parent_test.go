package browsertest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"testing"
)

// hears keeps what the frames of a page say.
const hears = `<script>window.heard = []; addEventListener('message', ({ data }) => heard.push(data))</script>`

// toldLast gives the progress that a frame has told last.
func toldLast(h hosted) (p struct {
	Version, Tick, End, Stop, Stops int
	Address, Title                  string
	Question                        *struct {
		Name, Guess    string
		Decided, Right bool
	}
	Goal *struct {
		Reached          bool
		Commands, Fewest int
	}
}) {
	h.t.Helper()
	if err := json.Unmarshal([]byte(eval[string](h.tab, "JSON.stringify(heard.findLast(m => m.event === 'progress'))")), &p); err != nil {
		h.t.Fatal(err)
	}
	return p
}

// An embedded frame tells the page around it how high it is, also as LTI has it, and how far its reader has come. In a
// sandbox it does so too.
func TestTellsThePageAround(t *testing.T) {
	t.Parallel()
	const story = "/embed/scenario/crash-before-commit?v=1"
	for name, sandbox := range sandboxes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := host(t, func(app string) string { return hears + iframe("lab", app+story+"&t=6", sandbox) })
			f := h.frame("lab")
			f.ready()
			h.waitFor("heard.some(m => m.event === 'progress') && heard.some(m => m.event === 'height') && heard.some(m => m.subject === 'lti.frameResize')")
			p := toldLast(h)
			if p.Version != 1 || p.Tick != 6 || p.End != 24 || p.Address != story+"&t=6" || p.Title != "A crash after processing, before the commit" || p.Question != nil || p.Goal != nil || p.Stop < 2 || p.Stops <= p.Stop {
				t.Errorf("at tick 6 it tells %+v", p)
			}
			high := eval[int](h.tab, "heard.findLast(m => m.event === 'height').height")
			if inside := evalIn[float64](f, "document.documentElement.getBoundingClientRect().height"); high < int(inside) || high > int(inside)+1 || high < 600 {
				t.Errorf("it tells a height of %d and is %v high", high, inside)
			}
			if lti := eval[int](h.tab, "heard.findLast(m => m.subject === 'lti.frameResize').height"); lti != high {
				t.Errorf("as LTI has it the height is %d, else %d", lti, high)
			}
			f.click("#stop-on")
			f.untilTick(9)
			f.click("#ask-begins-3") // the wrong one
			h.waitFor("heard.some(m => m.question?.guess)")
			if p = toldLast(h); p.Tick != 9 || p.Question.Name != "begins" || p.Question.Guess != "8" || p.Question.Decided || p.Question.Right {
				t.Errorf("guessed wrong, it tells %+v %+v", p, p.Question)
			}
			f.click("#ask-begins-2")
			h.waitFor("heard.some(m => m.question?.guess === '5')")
			f.click("#stop-on")
			f.untilTick(17)
			h.waitFor("heard.some(m => m.tick === 17)")
			if p = toldLast(h); !p.Question.Decided || !p.Question.Right {
				t.Errorf("guessed right, it tells %+v", p.Question)
			}
			if n := eval[int](h.tab, "heard.filter(m => m.event === 'progress').length"); n > 8 {
				t.Errorf("it has told %d times", n)
			}
		})
	}
}

// A page of its own tells nobody, and a still has no script to tell with.
func TestTellsNobodyElse(t *testing.T) {
	t.Parallel()
	h := host(t, func(app string) string { return hears + iframe("lab", app+embedded+"&t=3&still=1", "") })
	h.frame("lab").until("document.querySelector('#lab')")
	if n := eval[int](h.tab, "heard.length"); n != 0 {
		t.Errorf("a still has told %d things", n)
	}
	b := newTab(t, serve(t).url)
	b.open(explorer + "&t=3")
	if n := eval[int](b, "document.querySelectorAll('script[src*=parent], [data-progress]').length"); n != 0 {
		t.Errorf("a page of its own has %d parts that tell", n)
	}
}

// The goal of a run of one's own is told, reached or not.
func TestTellsOfTheGoal(t *testing.T) {
	t.Parallel()
	h := host(t, func(app string) string {
		return hears + iframe("lab", app+"/embed/scenario/crash-before-commit?v=1&partitions=1&records=10&consumers=2&do=5:crash+billing-1&t=29&goal=1", "")
	})
	h.frame("lab").ready()
	h.waitFor("heard.some(m => m.event === 'progress')")
	if p := toldLast(h); p.Goal == nil || !p.Goal.Reached || p.Goal.Commands != 1 || p.Goal.Fewest != 1 {
		t.Errorf("it tells %+v %+v", p, p.Goal)
	}
}

// <log-lab> makes a frame of a link to a page, as high as the frame needs, and hands on what its own frame tells. What
// another frame says in its name is not heard.
func TestElement(t *testing.T) {
	t.Parallel()
	h := host(t, func(app string) string {
		return fmt.Sprintf(`<script type="module" src="%s/embed.js"></script>
			<log-lab id="story" src="%[1]s/scenario/crash-before-commit?v=1&amp;t=9"><a href="%[1]s/scenario/crash-before-commit">A crash</a></log-lab>
			<log-lab id="fixed" height="400" title="A lab" src="%[1]s/embed/lab/partitions?v=1"></log-lab>
			<log-lab id="none" src="javascript:alert(1)">Nothing</log-lab>
			<iframe title="liar" srcdoc="<script>parent.postMessage({ type: 'loglab', event: 'height', height: 7 }, '*')</script>"></iframe>
			<script>window.heard = []; addEventListener('loglab-progress', ({ target, detail }) => heard.push([target.id, detail.tick].join()))</script>`, app)
	})
	inside := func(id string) string {
		return fmt.Sprintf("document.querySelector('#%s').shadowRoot.querySelector('iframe')", id)
	}
	h.waitFor("window.heard?.includes('story,9') && heard.includes('fixed,0')")
	h.waitFor("+" + inside("story") + ".height !== 720")
	if got := eval[string](h.tab, inside("story")+".title"); got != "A crash" {
		t.Errorf("the frame's title is %q", got)
	}
	if src, want := eval[string](h.tab, inside("story")+".src"), h.app+"/embed/scenario/crash-before-commit?v=1&t=9"; src != want {
		t.Errorf("the frame is at %s, want %s", src, want)
	}
	if got := eval[string](h.tab, inside("fixed")+".height"); got != "400" {
		t.Errorf("the height that was given has become %s", got)
	}
	if got := eval[string](h.tab, inside("none")+".src"); got != "" {
		t.Errorf("a frame was made of %s", got)
	}
	eval[string](h.tab, "document.querySelector('#fixed').setAttribute('src', '"+h.app+"/lab/partitions?v=1&t=4'), ''")
	h.waitFor("heard.includes('fixed,4')")
	h.shot("host-element")
}

// A course page that asks for the code of a link, and places it, has the frame.
func TestOEmbedPlaced(t *testing.T) {
	t.Parallel()
	h := host(t, func(app string) string {
		return fmt.Sprintf(`<p id="place"></p><script>
			fetch('%s/oembed?maxheight=500&url=' + encodeURIComponent('%[1]s/scenario/crash-before-commit?t=9'))
				.then((answer) => answer.json()).then(({ html }) => { place.innerHTML = html.replace('<iframe', '<iframe name="lab"') })
		</script>`, app)
	})
	h.waitFor("document.querySelector('#place iframe')")
	if got := eval[string](h.tab, "document.querySelector('#place iframe').height"); got != "500" {
		t.Errorf("the frame is %s high, want 500", got)
	}
	f := h.frame("lab")
	f.ready()
	f.click("#stop-on")
	f.untilTick(17)
}

// The page that makes an embed shows the frame as the code will.
func TestMakeEmbed(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.openPlain("/make-embed?url=" + url.QueryEscape(explorer+"&t=12"))
	b.waitFor("document.querySelector('.preview').contentDocument?.querySelector('#lab')")
	eval[string](b, "document.querySelector('#frame-chrome').value = 'minimal', document.querySelector('#frame-height').value = '500', ''")
	b.click("#make-embed-form button")
	b.waitFor("document.querySelector('#code-frame')?.value.includes('chrome=minimal')")
	if got := eval[string](b, "document.querySelector('.preview').getAttribute('src')"); got != "/embed"+explorer+"&t=12&chrome=minimal" {
		t.Errorf("the preview is %s", got)
	}
	if got := eval[string](b, "document.querySelector('.preview').getAttribute('height')"); got != "500" {
		t.Errorf("the preview is %s high", got)
	}
	b.shot("make-embed")
}
