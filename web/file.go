package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"runtime"
	"time"

	"loglab/engine/kafka"
	"loglab/labs/files"
	"loglab/labs/store"
	"loglab/labs/uploads"
	"loglab/labs/view"
	"loglab/web/page"
)

// Bounds of the requests for readers' own files. Each holds the files of one upload in memory, at most 48 MiB; taking them
// apart may take as much again, and 32 MiB for a batch that is decompressed.
const (
	maxUpload     = 3*store.MaxFile + 64<<10 // three files and the form around them
	maxUploads    = 4                        // read at once
	maxCopies     = 4                        // sent at once: a slow reader holds a place
	uploadTimeout = 30 * time.Second         // for the files to arrive
	forgetEvery   = time.Minute
)

// maxFileViews is how many pages of files are made at once.
var maxFileViews = max(2, runtime.GOMAXPROCS(0))

// errFiles says that too many files are being looked at, or sent.
const errFiles = busyError("too many files are being sent or taken apart; try again in a few seconds")

// uploadForm answers with the form.
func (s *Site) uploadForm(w http.ResponseWriter, r *http.Request) error {
	return writeHTML(w, r, http.StatusOK, page.Upload(s.assets))
}

// upload takes a reader's files and answers with the address that shows them. It needs no token against forms of other
// sites, for the reasons that post has: what such a form can do is show its reader a file of its own.
func (s *Site) upload(w http.ResponseWriter, r *http.Request) error {
	release, err := s.uploads.enter(r.Context())
	if err != nil {
		return err
	}
	defer release()
	if err := readWithin(w, uploadTimeout); err != nil {
		return err
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxUpload)
	parts, err := sentFiles(r)
	if err != nil {
		return inUpload(err)
	}
	if parts[0] == nil {
		return fileProblem(http.StatusBadRequest, "No .log file was sent", uploads.Log, "nothing", "one .log file, up to 16 MiB")
	}
	base, err := uploads.Base(parts[0].name, parts[0].body)
	var no *uploads.ErrNotALog
	if errors.As(err, &no) {
		return fileProblem(http.StatusUnprocessableEntity, "This is not a log", uploads.Log, no.Found, no.Allowed)
	}
	var bodies [][]byte
	for _, p := range parts {
		if p != nil {
			bodies = append(bodies, p.body)
		}
	}
	hashes, _, err := s.store.PutFiles(bodies...)
	if err != nil {
		return inUpload(err)
	}
	var of [3]string
	for i, p := range parts {
		if p != nil {
			of[i], hashes = hashes[0], hashes[1:]
		}
	}
	http.Redirect(w, r, uploads.New(of, base).String(), http.StatusSeeOther)
	return nil
}

// sentFile is a file as it was sent.
type sentFile struct {
	name string
	body []byte
}

// sentFiles reads the files of a form, by place in uploads.Parts; nil: none was chosen.
func sentFiles(r *http.Request) (found [3]*sentFile, err error) {
	kind := r.Header.Get("Content-Type")
	media, args, err := mime.ParseMediaType(kind)
	if err != nil || media != "multipart/form-data" {
		return found, fileProblem(http.StatusUnsupportedMediaType, "This is not a form with files", "Content-Type", shown(kind), "multipart/form-data")
	}
	form := multipart.NewReader(r.Body, args["boundary"])
	for {
		part, err := form.NextPart()
		if err == io.EOF {
			return found, nil
		}
		if err != nil {
			return found, unreadable(err)
		}
		place := -1
		for i, p := range uploads.Parts {
			if part.FormName() == string(p) {
				place = i
			}
		}
		if place < 0 {
			return found, fileProblem(http.StatusBadRequest, "This form has a field too many", "field", shown(part.FormName()), "log, index, timeindex")
		}
		body, err := io.ReadAll(io.LimitReader(part, store.MaxFile+1))
		if err != nil {
			return found, unreadable(err)
		}
		switch name := part.FileName(); {
		case len(body) > store.MaxFile:
			return found, fileProblem(http.StatusRequestEntityTooLarge, "This file is too large", uploads.Parts[place],
				fmt.Sprintf("more than %s bytes", kafka.Thousands(int64(store.MaxFile))), fmt.Sprintf("at most %s bytes", kafka.Thousands(int64(store.MaxFile))))
		case name == "" && len(body) == 0: // none was chosen
		case found[place] != nil:
			return found, fileProblem(http.StatusBadRequest, "One file was sent twice", uploads.Parts[place], "two files", "one file")
		default:
			found[place] = &sentFile{name, body}
		}
	}
}

// fileProblem is what is wrong with files that were sent, with the form to send others.
func fileProblem[F ~string](status int, title string, field F, found, allowed string) error {
	return problem{page.Problem{
		Status: status, Title: title, Text: "Nothing was kept.",
		Facts: facts(string(field), found, allowed),
		Forms: []view.Form{uploads.Form()},
	}}
}

// inUpload words an error of the store or of reading a form for who sent files.
func inUpload(err error) error {
	var known problem
	if errors.As(err, &known) && known.Status == http.StatusRequestEntityTooLarge && known.Forms == nil {
		known.Title, known.Text, known.Forms = "These files are too large", "Nothing was kept.", []view.Form{uploads.Form()}
		return known
	}
	return err
}

// ownFile answers with the page of a reader's own file at its canonical address.
func (s *Site) ownFile(w http.ResponseWriter, r *http.Request) error {
	address, err := uploads.Parse(r.URL.RawQuery)
	if err != nil {
		return err
	}
	if canonical := address.String(); r.URL.RequestURI() != canonical {
		http.Redirect(w, r, canonical, http.StatusTemporaryRedirect)
		return nil
	}
	p, err := s.filePage(r.Context(), address)
	if err != nil {
		return err
	}
	return writeHTML(w, r, http.StatusOK, page.File(s.assets, p))
}

// filePage builds a page. It holds one of few places, and no longer when the page is sent.
func (s *Site) filePage(ctx context.Context, address uploads.Address) (*view.FilePage, error) {
	release, err := s.fileViews.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	contents, until, err := s.contents(address)
	if err != nil {
		return nil, err
	}
	return address.Page(contents, until)
}

// contents gets the files of an address, and until when all of them are kept.
func (s *Site) contents(a uploads.Address) (contents [3][]byte, until time.Time, err error) {
	for i, hash := range a.Hashes {
		if hash == "" {
			continue
		}
		body, kept, found, err := s.store.File(hash)
		if err != nil {
			return contents, until, err
		}
		if !found {
			return contents, until, forgotten(uploads.Parts[i], hash)
		}
		contents[i] = body
		if until.IsZero() || kept.Before(until) {
			until = kept
		}
	}
	return contents, until, nil
}

// forgotten says that a file is not kept, or no more.
func forgotten(part uploads.Part, hash string) error {
	return problem{page.Problem{
		Status: http.StatusNotFound, Title: "This file is not kept here",
		Text:  "Files that are sent to this server are kept for an hour, and not so long if others need the room. Then they are forgotten. Send it again, and you get the same link.",
		Facts: facts(string(part), hash, "a file that was sent to this server less than an hour ago"),
		Forms: []view.Form{uploads.Form()},
	}}
}

// copyFile answers with one of the files as it was sent, zipFiles with all of them.
func (s *Site) copyFile(w http.ResponseWriter, r *http.Request) error {
	return s.attachOwn(w, r, func(d files.Directory, a uploads.Address) (string, func(io.Writer) error) {
		for _, f := range d.Files {
			if f.Name == a.Shown.File {
				return f.Name, func(w io.Writer) error {
					_, err := w.Write(f.Bytes)
					return err
				}
			}
		}
		panic("web: " + a.Shown.File + " is in its address and not in its directory")
	})
}

func (s *Site) zipFiles(w http.ResponseWriter, r *http.Request) error {
	return s.attachOwn(w, r, func(d files.Directory, a uploads.Address) (string, func(io.Writer) error) {
		return fmt.Sprintf("%020d.zip", a.Base), d.Zip
	})
}

// attachOwn answers with a reader's own files, or a part of them.
func (s *Site) attachOwn(w http.ResponseWriter, r *http.Request, of func(files.Directory, uploads.Address) (name string, write func(io.Writer) error)) error {
	address, err := uploads.ParseCopy(r.URL.RawQuery)
	if err != nil {
		return err
	}
	release, err := s.copies.enter(r.Context())
	if err != nil {
		return err
	}
	defer release()
	contents, _, err := s.contents(address)
	if err != nil {
		return err
	}
	name, write := of(address.Directory(contents), address)
	return attach(w, name, write)
}

// forget removes files whose time is over, until ctx is done.
func (s *Site) forget(ctx context.Context) {
	ticks := time.NewTicker(forgetEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			if err := s.store.ForgetFiles(); err != nil {
				s.log.Error("forgetting files", "error", err)
			}
		}
	}
}
