package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5"

	"loglab/labs"
	"loglab/labs/all"
	"loglab/labs/view"
	"loglab/web/page"
)

// lab answers with the page of a lab, or of a scenario, at its canonical address.
func (s *Site) lab(w http.ResponseWriter, r *http.Request) error {
	address, release, err := s.addressOf(r, r.URL.RawQuery)
	if err != nil {
		return err
	}
	defer release()
	if canonical := address.String(); r.URL.RequestURI() != canonical {
		http.Redirect(w, r, canonical, http.StatusTemporaryRedirect)
		return nil
	}
	return s.writeFrame(w, r, address, func(p *view.Page) templ.Component {
		if p.Embedded {
			return page.Embed(s.assets, p, originOf(r))
		}
		return page.Lab(s.assets, p, originOf(r))
	})
}

// frame answers with the element #lab alone.
func (s *Site) frame(w http.ResponseWriter, r *http.Request) error {
	return s.answerFrame(w, r, func(p *view.Page, _ labs.Address) *view.Page { return p })
}

// playedFrame answers with one frame as a stream would send it. An embedded frame plays by asking for one
// after the other: a browser has six connections to a server without TLS, for all frames of a page
// together, and six streams would hold all of them. Requests that end take turns, however many frames play
// and whether or not they may know of each other. Where it rests on the way the page decides: only it knows whether
// it has come there or begins there.
func (s *Site) playedFrame(w http.ResponseWriter, r *http.Request) error {
	return s.answerFrame(w, r, func(p *view.Page, a labs.Address) *view.Page { return played(p, a.Horizon) })
}

func (s *Site) answerFrame(w http.ResponseWriter, r *http.Request, of func(*view.Page, labs.Address) *view.Page) error {
	query, has := frameQuery(r)
	address, release, err := s.addressOf(r, query)
	if err != nil {
		return err
	}
	defer release()
	w.Header().Set("Lab-Frame", "1")
	return s.writeFrame(w, r, address, func(p *view.Page) templ.Component { return page.Frame(of(p, address), has) })
}

func (s *Site) writeFrame(w http.ResponseWriter, r *http.Request, address labs.Address, draw func(*view.Page) templ.Component) error {
	p, err := s.page(r.Context(), address)
	if err != nil {
		return inFrame(address, err)
	}
	return writeHTML(w, r, http.StatusOK, draw(p))
}

// page replays an address, and counts how long it took.
func (s *Site) page(ctx context.Context, address labs.Address) (*view.Page, error) {
	begin := time.Now()
	p, err := s.runs.Page(ctx, address)
	s.metrics.frameSeconds.Observe(time.Since(begin).Seconds())
	return p, err
}

// addressOf reads the address of a lab or a scenario from the path of a request and a query. It is the one place that
// knows under which path they live. Without an error the caller calls release when it needs the address no longer.
func (s *Site) addressOf(r *http.Request, query string) (a labs.Address, release func(), err error) {
	start, err := s.startOf(r)
	if err != nil {
		return a, nil, err
	}
	heads, release := s.heads(r.Context())
	if a, err = heads.ParseFrom(start, query); err != nil {
		release()
		return a, release, inFrame(start, err)
	}
	if a.AsksNext() {
		if a, err = s.runs.Next(r.Context(), a); err != nil {
			release()
		}
	}
	return a, release, inFrame(start, err)
}

// startOf gives the address at which the lab or the scenario of a request begins.
func (s *Site) startOf(r *http.Request) (labs.Address, error) {
	if name := chi.URLParam(r, "story"); name != "" {
		return s.startOfStory(siteOf(r), name)
	}
	return startOfLab(siteOf(r), chi.URLParam(r, "name"))
}

func (s *Site) startOfStory(site labs.Site, name string) (a labs.Address, err error) {
	told, err := s.scenarios.ByName(name)
	switch {
	case err != nil:
		return a, wrongScenario(err)
	case told == nil:
		return a, noSuchScenario(name)
	}
	return labs.StartStory(told.Story, site), nil
}

func startOfLab(site labs.Site, name string) (a labs.Address, err error) {
	lab, ok := all.ByName(name)
	if !ok {
		return a, noSuchLab(site, name)
	}
	return labs.Start(lab, site), nil
}

// siteOf says whether a request is for a page of its own or for a frame in another site's page.
func siteOf(r *http.Request) labs.Site {
	path := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/frame"), "/play")
	if strings.HasPrefix(path, "/embed/") {
		return labs.Embeds
	}
	return labs.Pages
}

// frameQuery gives the query of a frame or a stream without what belongs to no address: "datastar", which
// Datastar adds to each of its requests, and "has", the name of the set-up that the page has already.
func frameQuery(r *http.Request) (query, has string) {
	kept := strings.Split(r.URL.RawQuery, "&")
	n := 0
	for _, pair := range kept {
		name, value, _ := strings.Cut(pair, "=")
		switch name, err := url.QueryUnescape(name); {
		case err == nil && name == "datastar":
		case err == nil && name == "has":
			has = value
		default:
			kept[n] = pair
			n++
		}
	}
	return strings.Join(kept[:n], "&"), has
}

// writeHTML draws a component whole before the first byte goes out, so that a failure is still an error
// page.
func writeHTML(w http.ResponseWriter, r *http.Request, status int, c templ.Component) error {
	html, err := page.Render(r.Context(), c)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(status)
	w.Write(html) // an error means that the reader has gone: there is nobody to tell
	return nil
}
