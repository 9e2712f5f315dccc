package web

import (
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/go-chi/chi/v5"

	"loglab/labs/files"
	"loglab/web/page"
)

// disk answers with a file of the directory that a lab shows, as it is at an address, or with all of them as a zip.
func (s *Site) disk(w http.ResponseWriter, r *http.Request) error {
	address, release, err := s.addressOf(r, r.URL.RawQuery)
	if err != nil {
		return err
	}
	defer release()
	if address.Lab.Disk == nil {
		return problem{page.Problem{Status: http.StatusNotFound, Title: "This lab has no files to keep", Text: "Only a lab that shows the files of a partition has some."}}
	}
	leave, err := enter(r.Context(), s.copies)
	if err != nil {
		return err
	}
	defer leave()
	c, err := s.runs.Cluster(r.Context(), address)
	if err != nil {
		return inFrame(address, err)
	}
	name, list := address.Lab.Disk(c)
	d := files.Of(name, list)
	file := chi.URLParam(r, "file")
	if file == "" {
		return attach(w, fmt.Sprintf("%s-tick-%d.zip", name, address.T), d.Zip)
	}
	at := slices.IndexFunc(d.Files, func(f files.File) bool { return f.Name == file })
	if at < 0 {
		return problem{page.Problem{Status: http.StatusNotFound, Title: "There is no such file", Text: fmt.Sprintf("At tick %d %s does not hold a file of that name.", address.T, name)}}
	}
	return attach(w, d.Files[at].Name, func(w io.Writer) error {
		_, err := w.Write(d.Files[at].Bytes)
		return err
	})
}

// attach answers with bytes that a browser keeps as a file and never shows. The name has no quotes in it.
func attach(w http.ResponseWriter, name string, write func(io.Writer) error) error {
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("Cache-Control", "no-store")
	write(w) // an error means that the reader has gone: there is nobody to tell
	return nil
}
