package web

import (
	"io"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"loglab/labs"
	"loglab/labs/all"
	"loglab/static"
	"loglab/web/page"
	"loglab/web/preview"
)

// health answers while the server serves.
func (s *Site) health(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	io.WriteString(w, "ok\n")
	return nil
}

// file answers with one of the site's own files.
func (s *Site) file(w http.ResponseWriter, r *http.Request) error {
	if _, ok := s.files.Open(strings.TrimPrefix(r.URL.Path, static.Prefix)); !ok {
		return notFound(w, r)
	}
	s.files.ServeHTTP(w, r)
	return nil
}

// element answers with the script of <log-lab>. Pages of other sites name it, so its address has no hash, and it is
// asked for again after an hour.
func (s *Site) element(w http.ResponseWriter, _ *http.Request) error {
	file := s.files.Named("element.js")
	w.Header().Set("Content-Type", file.ContentType)
	w.Header().Set("Cache-Control", "public, max-age=3600")
	w.Write(file.Body) // an error means that the reader has gone: there is nobody to tell
	return nil
}

// picture is a preview as it was drawn.
type picture struct {
	revision string // of the scenario's file
	png      []byte
}

// preview answers with the picture of a lab or a scenario in the middle of its run. It is drawn once.
func (s *Site) preview(w http.ResponseWriter, r *http.Request) error {
	a, err := s.startOf(r)
	if err != nil {
		return err
	}
	revision := ""
	if a.Story != nil {
		revision = a.Story.Revision
	}
	drawn, _ := s.previews.Load(a.Path())
	p, ok := drawn.(picture)
	if !ok || p.revision != revision {
		middle, err := s.page(r.Context(), a.WithTick(a.Horizon/2))
		if err != nil {
			return inFrame(a, err)
		}
		p.revision = revision
		if p.png, err = preview.Draw(middle); err != nil {
			return err
		}
		s.previews.Store(a.Path(), p)
	}
	w.Header().Set("Content-Type", "image/png")
	w.Header().Set("Cache-Control", "public, max-age=86400")
	w.Write(p.png) // an error means that the reader has gone: there is nobody to tell
	return nil
}

func (s *Site) home(w http.ResponseWriter, r *http.Request) error {
	var cards []page.Card
	for _, lab := range all.Labs() {
		cards = append(cards, page.Card{Href: labs.Start(lab, labs.Pages).String(), Title: lab.Title, Goal: lab.Goal, Summary: lab.Summary})
	}
	groups, wrong := s.storyGroups()
	return writeHTML(w, r, http.StatusOK, page.Home(s.assets, cards, s.lessonLines(), groups, wrong))
}

func (s *Site) glossaryIndex(w http.ResponseWriter, r *http.Request) error {
	return writeHTML(w, r, http.StatusOK, page.Glossary(s.assets, s.glossary))
}

func (s *Site) glossaryTerm(w http.ResponseWriter, r *http.Request) error {
	slug := chi.URLParam(r, "term")
	term, ok := s.glossary.Term(slug)
	if !ok {
		return problem{page.Problem{
			Status: http.StatusNotFound, Title: "The glossary has no such term", Text: "The list of terms may have it under another name.",
			Facts: []page.Fact{{Name: "Found", Value: shown(slug)}},
			Links: []page.Way{{Href: "/glossary", Text: "All terms"}},
		}}
	}
	return writeHTML(w, r, http.StatusOK, page.Term(s.assets, term, s.glossary))
}
