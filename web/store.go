package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/all"
	"loglab/labs/store"
	"loglab/labs/view"
	"loglab/web/page"
)

// Bounds of what is posted, and of the requests that hold a stored text in memory.
const (
	maxBody     = store.MaxText + 16<<10 // a text and the fields around it
	maxPosts    = 16                     // read at once
	bodyTimeout = 15 * time.Second       // for a body to arrive
	maxFromHead = 64                     // frames of addresses with a stored head, drawn at once
)

// post takes the fields of a form of a lab, or a file of an address, and answers with the address: with
// its settings and commands stored where they are too long for a link.
//
// It needs no token against forms of other sites: there is no account and no cookie, so such a form can do
// nothing that its own site could not. What it can do is store a text that is an address of a lab, under
// the hash of that text, so nobody's link can be made to mean something else. The texts are bounded in
// length each and in all; the price is that who posts enough drops what others have posted.
func (s *Site) post(w http.ResponseWriter, r *http.Request) error {
	leave, err := s.posts.enter(r.Context())
	if err != nil {
		return err
	}
	defer leave()
	if err := readWithin(w, bodyTimeout); err != nil {
		return err
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	params, err := posted(r)
	if err != nil {
		return err
	}
	lab, site, params, err := labOf(params)
	if err != nil {
		return err
	}
	address, err := labs.Heads(s.store.Get).Read(lab, site, params)
	if err != nil {
		return inLab(lab, err)
	}
	if address.TooLong() {
		head, err := address.Head()
		if err != nil {
			return inLab(lab, err)
		}
		hash, err := s.store.Put(head)
		if err != nil {
			return inLab(lab, err)
		}
		address = address.From(hash)
	}
	http.Redirect(w, r, address.String(), http.StatusSeeOther)
	return nil
}

// posted reads the fields of a form.
func posted(r *http.Request) ([]view.Param, error) {
	kind := r.Header.Get("Content-Type")
	media, args, err := mime.ParseMediaType(kind)
	switch {
	case err == nil && media == "application/x-www-form-urlencoded":
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, unreadable(err)
		}
		return labs.QueryParams(string(body))
	case err == nil && media == "multipart/form-data":
		return postedParts(multipart.NewReader(r.Body, args["boundary"]))
	}
	return nil, problem{page.Problem{
		Status: http.StatusUnsupportedMediaType, Title: "This is not a form", Text: "Settings, commands and files are sent here as a form.",
		Facts: facts("Content-Type", shown(kind), "application/x-www-form-urlencoded, multipart/form-data"),
	}}
}

// fileField is the name of a file that holds a whole address; a file of another name is the value of that
// parameter and takes the place of the field of its name.
const fileField = "file"

// postedParts reads the fields and files of a form in parts.
func postedParts(form *multipart.Reader) ([]view.Param, error) {
	var fields, files, opened []view.Param
	for {
		part, err := form.NextPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, unreadable(err)
		}
		raw, err := io.ReadAll(part)
		if err != nil {
			return nil, unreadable(err)
		}
		name, text := part.FormName(), strings.TrimPrefix(string(raw), "\ufeff")
		if !utf8.ValidString(name) || !utf8.ValidString(text) {
			return nil, &labs.AddressError{Param: strings.ToValidUTF8(shown(name), "\uFFFD"), Found: "not UTF-8", Allowed: "text in UTF-8 is allowed"}
		}
		_, args, _ := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
		fileName, isFile := args["filename"]
		switch {
		case !isFile:
			fields = append(fields, view.Param{Name: name, Value: string(raw)})
		case fileName == "" && text == "": // none was chosen
		case name == fileField:
			if opened, err = labs.TextParams(text); err != nil {
				return nil, err
			}
		default:
			files = append(files, view.Param{Name: name, Value: text})
			fields = slices.DeleteFunc(fields, func(p view.Param) bool { return p.Name == name })
		}
	}
	return slices.Concat(opened, fields, files), nil
}

// unreadable says why the body of a request cannot be read.
func unreadable(err error) error {
	p := page.Problem{Status: http.StatusBadRequest, Title: "This form cannot be read", Text: "What arrived breaks off, or is no form of the kind that it says it is."}
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return tooMuch(fmt.Sprintf("more than %s bytes", kafka.Thousands(tooLarge.Limit)), tooLarge.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		p.Status, p.Text = http.StatusRequestTimeout, fmt.Sprintf("It did not arrive within %s.", bodyTimeout)
	}
	return problem{p}
}

// tooMuch says that more was sent than is kept.
func tooMuch(found string, allowed int64) problem {
	return problem{page.Problem{
		Status: http.StatusRequestEntityTooLarge, Title: "This is too much to keep", Text: "Fewer or shorter keys and commands fit.",
		Facts: []page.Fact{{Name: "Found", Value: found}, {Name: "Allowed", Value: "at most " + kafka.Thousands(allowed) + " bytes"}},
	}}
}

// labOf takes the parameter that names the lab out of the others.
func labOf(params []view.Param) (lab *labs.Lab, site labs.Site, rest []view.Param, err error) {
	allowed := "one path of a lab is allowed, as in /lab/NAME, where NAME is one of " + all.Names()
	path := ""
	for _, p := range params {
		switch {
		case p.Name != labs.PathParam:
			rest = append(rest, p)
		case path != "":
			return nil, "", nil, &labs.AddressError{Param: labs.PathParam, Found: "there twice", Allowed: allowed}
		default:
			path = p.Value
		}
	}
	for _, site := range []labs.Site{labs.Pages, labs.Embeds} {
		if name, ok := strings.CutPrefix(path, string(site)); ok {
			if lab, ok := all.ByName(name); ok {
				return lab, site, rest, nil
			}
		}
	}
	return nil, "", nil, &labs.AddressError{Param: labs.PathParam, Found: fmt.Sprintf("%q", shown(path)), Allowed: allowed}
}

// download answers with the whole address as a file that needs no store.
func (s *Site) download(w http.ResponseWriter, r *http.Request) error {
	address, release, err := s.addressOf(r, r.URL.RawQuery)
	if err != nil {
		return err
	}
	defer release()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="loglab-`+address.Lab.Name+`.txt"`)
	w.Header().Set("Cache-Control", "no-cache")
	io.WriteString(w, address.Text())
	return nil
}

// heads looks up the stored head of one address and then holds one of few places, until release is
// called, since such a request can hold a hundred times the memory of another.
func (s *Site) heads(ctx context.Context) (heads labs.Heads, release func()) {
	leave := func() {}
	heads = func(hash string) (string, bool, error) {
		entered, err := s.fromHead.enter(ctx)
		if err != nil {
			return "", false, err
		}
		leave = entered
		return s.store.Get(hash)
	}
	return heads, func() { leave() }
}

// Who waited in vain for a place is told one of these.
var (
	errPosts = busyError(fmt.Sprintf("at most %d forms at once are read; send it again in a few seconds", maxPosts))
	errHeads = busyError(fmt.Sprintf("at most %d runs whose settings are kept here are shown at once; try again in a few seconds", maxFromHead))
)
