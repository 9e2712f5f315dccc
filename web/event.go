package web

import "bytes"

// patchEvent writes the HTML of a frame as one event of a stream, "replace the element of this id". HTML
// must hold no carriage return ([page.Render] lets none through); one that is there all the same is
// written as a character reference, since the client would end a line at it.
//
// The bytes are those that Datastar's own library for Go sends; a test compares them.
func patchEvent(html []byte) []byte {
	html = bytes.ReplaceAll(html, []byte("\r"), []byte("&#13;"))
	var event bytes.Buffer
	event.Grow(len(html) + 128)
	event.WriteString("event: datastar-patch-elements\n")
	for line := range bytes.SplitSeq(html, []byte("\n")) {
		event.WriteString("data: elements ")
		event.Write(line)
		event.WriteByte('\n')
	}
	event.WriteByte('\n')
	return event.Bytes()
}
