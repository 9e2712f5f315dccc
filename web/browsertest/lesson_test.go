package browsertest

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

const lessonAddress = "/lesson/replication"

// A lesson shows pictures of labs; a lab takes the place of its picture when its reader asks, and is stepped there.
func TestLesson(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.openPlain(lessonAddress)
	pictures := b.count(".placed .still .picture")
	if frames := b.count("iframe"); pictures < 3 || frames != 0 {
		t.Fatalf("%d pictures and %d frames at first", pictures, frames)
	}
	b.click(".placed:first-of-type a.live")
	const inside = "document.querySelector('.placed iframe').contentDocument"
	b.waitFor(inside + "?.querySelector('#step') && " + inside + ".documentElement.classList.contains('js')")
	if got := b.count(".placed .still .picture"); got != pictures-1 {
		t.Errorf("%d pictures are left, want %d", got, pictures-1)
	}
	if at := b.address(); at != lessonAddress {
		t.Errorf("the page is at %s", at)
	}
	eval[bool](b, inside+".querySelector('#step').click() ?? true")
	b.waitFor(inside + ".querySelector('#lab').dataset.address.includes('&t=41')")
	b.shot("lesson-live")
	if at := b.address(); at != lessonAddress {
		t.Errorf("a step in the frame moved the page to %s", at)
	}
}

// Without scripts the pictures are there, and the link leads to the lab at the tick of the picture.
func TestLessonWithoutJavaScript(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.withoutScripts()
	b.openPlain(lessonAddress)
	if !eval[bool](b, "[...document.querySelectorAll('.placed .still .picture')].every((p) => p.checkVisibility()) && document.querySelectorAll('.placed .still .cell').length > 5") {
		t.Error("the pictures are not shown")
	}
	b.click(".placed:first-of-type a.live")
	b.waitTick(40)
}

func TestAccessibilityOfLessons(t *testing.T) {
	t.Parallel()
	checkAccessible(t, []state{
		{name: "lesson-offsets", address: "/lesson/offsets"},
		{name: "lesson-segments", address: "/lesson/retention"},
		{name: "lesson-fit", address: "/lesson/fit"},
		{name: "claims", address: "/lesson/claims"},
	})
}

// On paper stand the pictures with their addresses, and nothing to press.
func TestPrintedLesson(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(lessonAddress)
	b.call(func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
		return err
	})
	if head := eval[string](b, "getComputedStyle(document.querySelector('.placed .still'), '::before').content"); !strings.Contains(head, "data-address") && !strings.Contains(head, "/lab/replication?v=1") {
		t.Errorf("a picture begins with %s", head)
	}
	if shown := eval[int](b, "[...document.querySelectorAll('.live, .site, .lesson-path')].filter((e) => e.checkVisibility()).length"); shown != 0 {
		t.Errorf("%d things to press are on paper", shown)
	}
	if !eval[bool](b, "[...document.querySelectorAll('.placed .still .picture')].every((e) => e.checkVisibility())") {
		t.Error("a picture is not on paper")
	}
	b.shot("printed-lesson")
}
