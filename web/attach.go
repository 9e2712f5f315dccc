package web

import (
	"io"
	"net/http"
)

// attach answers with bytes that a browser keeps as a file and never shows. The name has no quotes in it.
func attach(w http.ResponseWriter, name string, write func(io.Writer) error) error {
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("Cache-Control", "no-store")
	write(w) // an error means that the reader has gone: there is nobody to tell
	return nil
}
