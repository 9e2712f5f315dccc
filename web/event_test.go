package web

import (
	"bytes"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/starfederation/datastar-go/datastar"
)

// Judge: Datastar's own library for Go.
func TestAnEventHasTheBytesOfDatastarsLibrary(t *testing.T) {
	for _, html := range []string{
		`<main id="lab">x</main>`,
		"<main id=\"lab\">\n<p>two\nlines</p>\n</main>",
		"<main id=\"lab\"><textarea>\n\n\nlast</textarea></main>\n",
	} {
		recorder := httptest.NewRecorder()
		if err := datastar.NewSSE(recorder, httptest.NewRequest("GET", "/", nil)).PatchElements(html); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(events(recorder.Body.String()), events(string(patchEvent([]byte(html))))); diff != "" {
			t.Errorf("%q: -library +ours:\n%s", html, diff)
		}
	}
}

// A client ends a line at LF, at CR and at CR LF. An event in the text must not become one on the wire.
func TestNoTextForgesAnEvent(t *testing.T) {
	forged := "event: datastar-patch-signals\rdata: signals alert(1)"
	for _, end := range []string{"\r", "\r\r", "\n\r", "\r\n\r\n", "\n\n"} {
		html := "<p>" + end + forged + end + "</p>"
		event := patchEvent([]byte(html))
		if bytes.ContainsRune(event, '\r') {
			t.Errorf("%q: a carriage return is on the wire", html)
		}
		got := events(string(event))
		if len(got) != 1 || got[0].Name != "datastar-patch-elements" {
			t.Fatalf("%q: events %+v, want one that patches elements", html, got)
		}
		for _, line := range got[0].Data {
			if !strings.HasPrefix(line, "elements ") {
				t.Errorf("%q: data line %q", html, line)
			}
		}
	}
}

// sse is one event of a stream as a client reads it.
type sse struct {
	Name string
	Data []string
}

var lineEnd = regexp.MustCompile(`\r\n|\r|\n`)

// events reads a stream as the HTML standard says, but keeps the lines of data apart.
func events(stream string) []sse {
	var list []sse
	var next sse
	for _, line := range lineEnd.Split(stream, -1) {
		if line == "" {
			if next.Data != nil {
				list = append(list, next)
			}
			next = sse{}
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "event":
			next.Name = value
		case "data":
			next.Data = append(next.Data, value)
		}
	}
	return list
}
