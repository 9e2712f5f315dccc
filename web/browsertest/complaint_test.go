package browsertest

import "testing"

// The other tests rest on this: what is wrong with a page is found.
func TestFaultsAreFound(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(explorer)
	eval[bool](b, "console.error('a message of the page') ?? true")
	b.expect("console error", "a message of the page")
	eval[bool](b, "setTimeout(() => { throw new Error('nobody catches this') }), true")
	b.expect("exception", "nobody catches this")
	eval[bool](b, "Promise.reject(new Error('nobody waits for this')), true")
	b.expect("exception", "nobody waits for this")
	eval[bool](b, `(() => {
		const script = document.createElement('script')
		script.textContent = 'window.inline = true'
		document.body.append(script)
		return true
	})()`)
	b.expect("Content Security Policy")
	if eval[bool](b, "'inline' in window") {
		t.Error("an inline script ran")
	}
	eval[bool](b, `document.body.insertAdjacentHTML('beforeend', '<p style="color: red">') ?? true`)
	b.expect("Content Security Policy", "style")
}
