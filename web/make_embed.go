package web

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"loglab/labs"
	"loglab/labs/view"
	"loglab/web/page"
)

// The heights that a frame can be given, in pixels.
const minFrame, maxFrame = 100, 4000

// makeEmbed answers with the code for a frame, made to measure, and how it will look.
func (s *Site) makeEmbed(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	address, release, err := s.addressAt(r, query.Get("url"))
	if err != nil {
		return err
	}
	defer release()
	height, err := frameHeight(query)
	if err != nil {
		return err
	}
	chosen, err := s.chosen(address, query)
	if err != nil {
		return inFrame(address, err)
	}
	p, err := s.page(r.Context(), chosen)
	if err != nil {
		return inFrame(address, err)
	}
	frameOwnPages(w) // the preview
	return writeHTML(w, r, http.StatusOK, page.MakeEmbed(s.assets, p, originOf(r), height, embedForm(address, chosen, height)))
}

func frameHeight(query url.Values) (int, error) {
	text := cmp.Or(query.Get("height"), strconv.Itoa(embedHeight))
	height, err := strconv.Atoi(text)
	if err != nil || height < minFrame || height > maxFrame {
		return 0, problem{page.Problem{
			Status: http.StatusBadRequest, Title: "A frame cannot be that high", Text: "Its height is in pixels.", Facts: facts("height", shown(text), fmt.Sprintf("a whole number from %d to %d", minFrame, maxFrame)),
		}}
	}
	return height, nil
}

// ofFrame lists the parameters that the form asks for.
var ofFrame = []string{"t", "range", "chrome", "still", "theme", "size", "pace"}

// chosen gives the address with what the form has sent in place of what it says itself; what is empty is left out.
func (s *Site) chosen(a labs.Address, query url.Values) (labs.Address, error) {
	values := url.Values{}
	for _, p := range a.Params() {
		values.Add(p.Name, p.Value)
	}
	for _, name := range ofFrame {
		if query.Has(name) {
			values.Del(name)
			if text := query.Get(name); text != "" {
				values.Set(name, text)
			}
		}
	}
	start := labs.Start(a.Lab, labs.Pages)
	if a.Story != nil {
		start = labs.StartStory(a.Story, labs.Pages)
	}
	return labs.Heads(s.store.Get).ParseFrom(start, values.Encode()) // the request has its place already
}

// embedForm asks how a frame is to be.
func embedForm(original, a labs.Address, height int) view.Form {
	number := func(name, label string, value, from, to int) view.Field {
		return view.Field{ID: "frame-" + name, Name: name, Label: label, Kind: view.Number, Value: strconv.Itoa(value), Min: from, Max: to}
	}
	choice := func(name, label, value string, options ...view.Option) view.Field {
		for i := range options {
			options[i].Chosen = options[i].Value == value
		}
		return view.Field{ID: "frame-" + name, Name: name, Label: label, Kind: view.Choice, Value: value, Options: options}
	}
	still := ""
	if a.Still {
		still = "1"
	}
	return view.Form{
		ID: "make-embed-form", Action: page.MakeEmbedPath, Submit: "Show", Hidden: []view.Param{{Name: "url", Value: original.String()}},
		Fields: []view.Field{
			number("t", "Tick at which it opens", a.T, 0, labs.MaxTick),
			{ID: "frame-range", Name: "range", Label: "Only these ticks", Kind: view.Line, Value: a.Range.String(), Help: "As 12..18; empty: all."},
			choice("still", "What it is", still, view.Option{Text: "to step through", Value: ""}, view.Option{Text: "a still picture", Value: "1"}),
			choice("chrome", "How much of it", a.Chrome, view.Option{Text: "everything", Value: ""}, view.Option{Text: "transport, picture and reading", Value: "minimal"}),
			choice("theme", "Colours", a.Theme, view.Option{Text: "as the reader’s system", Value: ""}, view.Option{Text: "light", Value: "light"}, view.Option{Text: "dark", Value: "dark"}),
			choice("size", "Type", a.Size, view.Option{Text: "normal", Value: ""}, view.Option{Text: "large, for a projector", Value: "projector"}),
			choice("pace", "Frames a second while playing", strconv.Itoa(a.Pace), view.Option{Text: "1", Value: "1"}, view.Option{Text: "2", Value: "2"}, view.Option{Text: "5", Value: "5"}, view.Option{Text: "10", Value: "10"}),
			number("height", "Height in pixels", height, minFrame, maxFrame),
		},
	}
}
