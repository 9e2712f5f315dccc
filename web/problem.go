package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/all"
	"loglab/labs/store"
	"loglab/labs/view"
	"loglab/web/page"
)

// handler answers a request or returns why it cannot. Having returned an error it has written nothing.
type handler func(http.ResponseWriter, *http.Request) error

// handle is the adapter of every route: it turns an error into a status and a page.
func (s *Site) handle(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := h(w, r)
		if err == nil {
			return
		}
		if r.Context().Err() != nil {
			return // the reader has gone
		}
		s.writeProblem(w, r, err)
	}
}

func (s *Site) writeProblem(w http.ResponseWriter, r *http.Request, err error) {
	site := siteOf(r)
	p := problemOf(site, err)
	if p.Status >= http.StatusInternalServerError {
		s.log.Error("request failed", "path", r.URL.Path, "error", err)
	}
	w.Header().Del("Lab-Frame") // an error is a whole page
	switch p.Status {
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "3")
	case http.StatusMethodNotAllowed:
		w.Header().Set("Allow", allowedMethods(r))
	}
	body := page.Error(s.assets, p)
	if site == labs.Embeds {
		body = page.EmbeddedError(s.assets, p)
	}
	if err := writeHTML(w, r, p.Status, body); err != nil {
		s.log.Error("error page failed", "path", r.URL.Path, "error", err)
	}
}

// problem is an error that knows its page.
type problem struct{ page.Problem }

func (p problem) Error() string { return p.Title + ": " + p.Text }

// facts say where something is wrong, what was found and what is allowed.
func facts(where, found, allowed string) []page.Fact {
	return []page.Fact{{Name: "Where", Value: where}, {Name: "Found", Value: found}, {Name: "Allowed", Value: allowed}}
}

// labError is an error in a lab or a scenario, so that its page can lead back to the start.
type labError struct {
	lab   *labs.Lab
	story *labs.Story // nil: it is in the lab itself
	err   error
}

func (e *labError) Error() string { return e.lab.Name + ": " + e.err.Error() }
func (e *labError) Unwrap() error { return e.err }

func inLab(lab *labs.Lab, err error) error {
	if err == nil {
		return nil
	}
	return &labError{lab, nil, err}
}

// inFrame is inLab for an address that may be that of a scenario.
func inFrame(a labs.Address, err error) error {
	if err == nil {
		return nil
	}
	return &labError{a.Lab, a.Story, err}
}

// back leads to the start.
func (e *labError) back(site labs.Site) page.Way {
	if e.story != nil {
		return page.Way{Href: labs.StartStory(e.story, site).Path(), Text: e.story.Title + ", from its start"}
	}
	return page.Way{Href: string(site) + e.lab.Name, Text: e.lab.Title + ", from its start"}
}

// errStreams says that there are too many streams.
var errStreams = busyError(fmt.Sprintf("at most %d streams at once can be played, and %d from one address: step, or try again in a few seconds", maxStreams, maxStreamsOfAddress))

// errPanic stands for a fault whose cause only the log tells.
var errPanic = errors.New("panic")

// problemOf says what an error is to a reader.
func problemOf(site labs.Site, err error) page.Problem {
	p := describe(site, err)
	var in *labError
	if errors.As(err, &in) {
		p.Links = append(p.Links, in.back(site))
	}
	p.Links = append(p.Links, page.Way{Href: "/", Text: "All labs"})
	return p
}

func describe(site labs.Site, err error) page.Problem {
	var known problem
	var address *labs.AddressError
	var limit *labs.LimitError
	var twin *labs.TwinError
	var broken *labs.BrokenError
	var long *labs.LongError
	var missing *labs.MissingError
	var size *store.SizeError
	var busy busyError
	switch {
	case errors.As(err, &known):
		return known.Problem
	case errors.As(err, &long):
		errors.As(long, &address) // it is one too
		return page.Problem{
			Status: http.StatusRequestURITooLong, Title: "This address is too long", Text: "It is right, but browsers and chats cut such links off. This server can keep its settings and commands, and the link becomes short.",
			Facts: []page.Fact{{Name: "Found", Value: address.Found}, {Name: "Allowed", Value: address.Allowed}},
			Forms: []view.Form{labs.KeepForm(long.Address)},
		}
	case errors.As(err, &missing):
		p := page.Problem{
			Status: http.StatusNotFound, Title: "A part of this address is not on this server",
			Text:  "This run was too long for an address, so a server kept its settings and commands. They were kept by another server, or this one has dropped them since: it keeps those used last, as far as there is room. Whoever has saved the run as a file can open it on a page of Log Lab.",
			Facts: facts("from", missing.Hash, "what this server keeps"),
		}
		if site == labs.Pages { // a file leads to a page of its own, which no other site may frame
			p.Forms = []view.Form{labs.OpenForm()}
		}
		return p
	case errors.As(err, &size):
		return tooMuch(kafka.Thousands(int64(size.Found))+" bytes", int64(size.Allowed)).Problem
	case errors.As(err, &address):
		return page.Problem{
			Status: http.StatusBadRequest, Title: "This address cannot be shown", Text: "One part of it cannot be taken as it is.",
			Facts: facts(address.Param, address.Found, address.Allowed),
		}
	case errors.As(err, &limit):
		p := page.Problem{Status: http.StatusUnprocessableEntity, Title: "This run is too large", Text: limit.Error()}
		if errors.As(err, &twin) {
			p.Title, p.Facts = "The second run is too large", []page.Fact{{Name: "Where", Value: "vs"}, {Name: "Found", Value: twin.Run}}
		}
		return p
	case errors.As(err, &broken):
		return page.Problem{
			Status: http.StatusInternalServerError, Title: "Log Lab is at fault",
			Text:  "The engine broke one of its own rules while it replayed this address. The address shows the fault again, so please send it to whoever runs this server.",
			Facts: []page.Fact{{Name: "Address", Value: broken.Address}, {Name: "What", Value: broken.What}},
		}
	case errors.Is(err, labs.ErrBusy), errors.As(err, &busy):
		return page.Problem{Status: http.StatusServiceUnavailable, Title: "The server is busy", Text: sentence(err)}
	case errors.Is(err, context.Canceled):
		return page.Problem{Status: http.StatusServiceUnavailable, Title: "The server is stopping", Text: "Try again in a few seconds."}
	}
	return page.Problem{Status: http.StatusInternalServerError, Title: "Log Lab is at fault", Text: "Something went wrong here that is none of your doing. The server's log says what."}
}

// sentence is the innermost message of an error, as a sentence.
func sentence(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			break
		}
		err = inner
	}
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// shown gives as much of a reader's text as an error page repeats.
func shown(text string) string { return strings.ToValidUTF8(labs.Shortened(text), "\uFFFD") }

func notFound(http.ResponseWriter, *http.Request) error {
	return problem{page.Problem{Status: http.StatusNotFound, Title: "There is no such page", Text: "Perhaps the address was cut off when it was copied."}}
}

func methodNotAllowed(_ http.ResponseWriter, r *http.Request) error {
	p := page.Problem{
		Status: http.StatusMethodNotAllowed, Title: "Nothing can be sent here", Text: "This address is only read.",
		Facts: []page.Fact{{Name: "Found", Value: shown(r.Method)}, {Name: "Allowed", Value: allowedMethods(r)}},
	}
	switch r.URL.Path {
	case labs.StorePath:
		p.Title, p.Text = "Nothing can be read here", "Forms and files are sent to this address. Here you can open a file."
		p.Forms = []view.Form{labs.OpenForm()}
	case labs.EmbedStorePath:
		p.Title, p.Text = "Nothing can be read here", "Forms are sent to this address."
	}
	return problem{p}
}

func allowedMethods(r *http.Request) string {
	switch {
	case r.URL.Path == labs.StorePath, r.URL.Path == labs.EmbedStorePath:
		return "POST"
	case siteOf(r) == labs.Embeds:
		return "GET, HEAD, OPTIONS"
	}
	return "GET, HEAD"
}

func noSuchLab(site labs.Site, name string) error {
	p := page.Problem{
		Status: http.StatusNotFound, Title: "There is no such lab", Text: "These are the labs there are.",
		Facts: []page.Fact{{Name: "Found", Value: shown(name)}, {Name: "Allowed", Value: all.Names()}},
	}
	for _, lab := range all.Labs() {
		p.Links = append(p.Links, page.Way{Href: string(site) + lab.Name, Text: lab.Title})
	}
	return problem{p}
}
