package page

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"strconv"

	"github.com/a-h/templ"

	"loglab/labs/lesson"
	"loglab/labs/view"
)

// LessonPage is a lesson as its page shows it.
type LessonPage struct {
	Lesson    *lesson.Lesson
	Parts     []LessonPart
	Terms     lesson.Glossary
	Scenarios []Way
	Where     string // "Lesson 3 of 9"; empty: it stands beside the path
	Back, On  Way    // the zero Way: none
}

// LessonPart is text, what a tool prints, or a still frame of a lab with its caption.
type LessonPart struct {
	HTML        string     // of the text, or of the caption
	Tool        string     // empty: it is none
	Still       *view.Page // nil: it is no lab
	Href, Embed string     // where the lab is, as a page and to be framed
	Height      int        // of the frame in pixels
}

// LessonAddress is where a lesson is.
func LessonAddress(slug string) string { return "/lesson/" + slug }

func placedID(i int) string { return "lab-" + strconv.Itoa(i) }

// identified matches what gives an element its name or refers to one. Text cannot match: its quotes are written as
// character references.
var identified = regexp.MustCompile(`( (?:id|for|aria-labelledby|aria-describedby)="|href="#)([^"]+)"`)

// withoutLandmarks makes sections groups. A reader who goes from landmark to landmark should meet those of the page, and
// not a part of each picture.
func withoutLandmarks(html []byte) []byte {
	html = bytes.ReplaceAll(html, []byte("<section "), []byte(`<div role="group" `))
	return bytes.ReplaceAll(html, []byte("</section>"), []byte("</div>"))
}

// apart draws a component with a prefix to the names of its elements, so that several frames can stand on one page.
func apart(prefix string, c templ.Component) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		var html bytes.Buffer
		if err := c.Render(ctx, &html); err != nil {
			return err
		}
		_, err := w.Write(identified.ReplaceAllFunc(withoutLandmarks(html.Bytes()), func(found []byte) []byte {
			m := identified.FindSubmatch(found)
			out := append([]byte{}, m[1]...)
			for i, name := range bytes.Fields(m[2]) {
				if i > 0 {
					out = append(out, ' ')
				}
				out = append(append(out, prefix+"-"...), name...)
			}
			return append(out, '"')
		}))
		return err
	})
}
