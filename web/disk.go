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

// errCopies says that too many runs are being replayed to be sent.
const errCopies = busyError("too many runs are being sent as files; try again in a few seconds")

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
	leave, err := s.runCopies.enter(r.Context())
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
