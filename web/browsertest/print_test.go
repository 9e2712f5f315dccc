package browsertest

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// On paper stand the address, the tick and all that is folded away on the screen, and nothing to press.
func TestPrinted(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	const query = "&do=3:pause+c1&t=12&at=record:orders-2:1&theme=dark"
	for name, test := range map[string]struct {
		address string
		pages   bool // there are limits
	}{
		"page":    {explorer + query, true},
		"embed":   {embedded + query, true},
		"minimal": {embedded + "&t=12&chrome=minimal", false},
		"still":   {embedded + "&t=12&still=1", false},
		"two":     {explorer + "&do=3:pause+c1&t=12&vs=work:20", true},
	} {
		b.open(test.address)
		b.call(func(ctx context.Context) error {
			_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
			return err
		})
		if head := eval[string](b, "getComputedStyle(document.querySelector('#lab'), '::before').content"); !strings.Contains(head, "data-address") && !strings.Contains(head, test.address) {
			t.Errorf("%s: the paper begins with %s", name, head)
		}
		if text := b.text("body"); !strings.Contains(text, "tick 12 of 20") || !strings.Contains(text, b.site) {
			t.Errorf("%s: tick or host are not there:\n%s", name, text)
		}
		if got := eval[[]string](b, "[...document.querySelectorAll('.btn, input, textarea, select')].filter(e => e.checkVisibility({ contentVisibilityAuto: true })).map(e => e.outerHTML.slice(0, 80))"); len(got) > 0 {
			t.Errorf("%s: on paper there are %q", name, got)
		}
		if test.pages && !eval[bool](b, "document.querySelector('#limits li').checkVisibility() && document.querySelector('#limits li').getBoundingClientRect().height > 0") {
			t.Errorf("%s: the limits are folded away", name)
		}
		if got := eval[string](b, "getComputedStyle(document.body).colorScheme + getComputedStyle(document.documentElement).colorScheme"); strings.Contains(got, "dark") {
			t.Errorf("%s: the paper is dark: %s", name, got)
		}
		b.call(func(ctx context.Context) error {
			pdf, err := chromedp.Call(ctx, page.PrintToPDF, page.PrintToPDFParams{})
			if err == nil && !bytes.HasPrefix(pdf.Data, []byte("%PDF")) {
				t.Errorf("%s: what is printed begins with %.8q", name, pdf.Data)
			}
			if dir := os.Getenv("LOGLAB_SHOTS"); dir != "" && err == nil {
				err = os.WriteFile(dir+"/printed-"+name+".pdf", pdf.Data, 0o644)
			}
			return err
		})
		b.media()
	}
}
