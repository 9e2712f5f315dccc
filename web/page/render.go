package page

import (
	"bytes"
	"context"

	"github.com/a-h/templ"
)

// Assets are the addresses of the site's own files. All are set.
type Assets struct {
	Style, Script, Icon string
	Bytes               string // the script that marks bytes and their fields
	Datastar            string // the browser bundle, which the script imports
	Parent              string // the script that tells the page around an embedded frame how it is getting on
	Lesson              string // the script that puts a lab in the place of its picture
}

// Render draws c. In the result a carriage return is written "&#13;": all text of a page is text or the
// value of an attribute, where that is the same character.
func Render(ctx context.Context, c templ.Component) ([]byte, error) {
	var html bytes.Buffer
	if err := c.Render(ctx, &html); err != nil {
		return nil, err
	}
	return bytes.ReplaceAll(html.Bytes(), []byte("\r"), []byte("&#13;")), nil
}
