package web

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"loglab/labs"
	"loglab/web/page"
)

// maxEmbedURL bounds the address that somebody wants to embed: a canonical one is below 4 KiB, percent-encoded once more
// at most three times as long.
const maxEmbedURL = 12 << 10

// oEmbed is the answer to a site that asks how to show a link to a lab or a scenario.
//
// Source: oembed.com, section 2.3.
type oEmbed struct {
	Type            string `json:"type"`
	Version         string `json:"version"`
	Title           string `json:"title"`
	ProviderName    string `json:"provider_name"`
	ProviderURL     string `json:"provider_url"`
	CacheAge        int    `json:"cache_age"` // seconds
	HTML            string `json:"html"`
	Width           int    `json:"width"`  // pixels
	Height          int    `json:"height"` // pixels
	ThumbnailURL    string `json:"thumbnail_url,omitempty"`
	ThumbnailWidth  int    `json:"thumbnail_width,omitempty"`
	ThumbnailHeight int    `json:"thumbnail_height,omitempty"`
}

// The size of a frame where the site that asks sets no bound: a column of text, and what most labs need.
const (
	embedWidth  = 760
	embedHeight = page.EmbedHeight
)

// oembed answers with the code for a frame.
func (s *Site) oembed(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	if format := query.Get("format"); format != "" && format != "json" {
		return problem{page.Problem{Status: http.StatusNotImplemented, Title: "This format is not offered", Text: "Ask for JSON.", Facts: facts("format", shown(format), "json")}}
	}
	maxWidth, err := boundOf(query, "maxwidth")
	if err != nil {
		return err
	}
	maxHeight, err := boundOf(query, "maxheight")
	if err != nil {
		return err
	}
	address, release, err := s.addressAt(r, query.Get("url"))
	if err != nil {
		return err
	}
	defer release()
	p, err := s.page(r.Context(), address)
	if err != nil {
		return inFrame(address, err)
	}
	origin, width, height := originOf(r), min(maxWidth, embedWidth), min(maxHeight, embedHeight)
	e := oEmbed{
		Type: "rich", Version: "1.0", Title: page.FrameTitle(p), ProviderName: "Log Lab", ProviderURL: origin + "/", CacheAge: 86_400,
		HTML: page.FrameCode(p, origin, strconv.Itoa(width), height), Width: width, Height: height,
	}
	if maxWidth >= page.PreviewWidth && maxHeight >= page.PreviewHeight {
		e.ThumbnailURL, e.ThumbnailWidth, e.ThumbnailHeight = origin+page.PreviewPath(p), page.PreviewWidth, page.PreviewHeight
	}
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "public, max-age=86400")
	w.Write(text) // an error means that the reader has gone: there is nobody to tell
	return nil
}

// boundOf reads how large at most something may be in pixels; a parameter that is not there sets no bound.
func boundOf(query url.Values, name string) (int, error) {
	text := query.Get(name)
	if text == "" {
		return math.MaxInt, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, problem{page.Problem{
			Status: http.StatusBadRequest, Title: "This size cannot be taken", Text: "It bounds the frame, in pixels.", Facts: facts(name, shown(text), "a whole number from 1 on"),
		}}
	}
	return n, nil
}

// addressAt gives the page's address that a link to this site leads to, of a lab or a scenario, embedded or not. A link
// may be a path alone. Without an error the caller calls release when it needs the address no longer.
func (s *Site) addressAt(r *http.Request, link string) (a labs.Address, release func(), err error) {
	start, query, err := s.startAt(r, link)
	if err != nil {
		return a, nil, err
	}
	heads, release := s.heads(r.Context())
	if a, err = heads.ParseFrom(start, query); err != nil {
		release()
		p := problemOf(labs.Pages, inFrame(start, err))
		if p.Status < http.StatusInternalServerError {
			p.Status = http.StatusNotFound // the link, not the request, is wrong
		}
		return a, nil, problem{p}
	}
	return a, release, nil
}

// startAt gives where the run of a link begins, and the link's query.
func (s *Site) startAt(r *http.Request, link string) (start labs.Address, query string, err error) {
	no := func(found string) error {
		return problem{page.Problem{
			Status: http.StatusNotFound, Title: "This link leads to nothing that can be embedded", Text: "Labs and scenarios of this site can.",
			Facts: facts("url", found, fmt.Sprintf("%s/lab/NAME or %s/scenario/NAME with what follows, at most %d bytes", originOf(r), originOf(r), maxEmbedURL)),
		}}
	}
	if len(link) > maxEmbedURL {
		return start, "", no(fmt.Sprintf("%d bytes", len(link)))
	}
	to, err := url.Parse(link)
	if err != nil || to.Opaque != "" || to.Host != "" && (!strings.EqualFold(to.Host, r.Host) || !slices.Contains([]string{"http", "https", ""}, to.Scheme)) {
		return start, "", no(shown(link))
	}
	path := strings.TrimPrefix(to.Path, "/embed")
	if name, is := strings.CutPrefix(path, "/lab/"); is {
		start, err = startOfLab(labs.Pages, name)
	} else if name, is := strings.CutPrefix(path, "/scenario/"); is {
		start, err = s.startOfStory(labs.Pages, name)
	} else {
		err = no(shown(link))
	}
	return start, to.RawQuery, err
}
