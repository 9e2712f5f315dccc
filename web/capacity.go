package web

import (
	"net/http"

	"loglab/labs"
	"loglab/labs/capacity"
	"loglab/web/page"
)

// capacity answers with the capacity calculator at its canonical address. What is wrong with a field stands there.
func (s *Site) capacity(w http.ResponseWriter, r *http.Request) error {
	in, wrong, err := capacity.Parse(r.URL.RawQuery)
	if err != nil {
		p := describe(labs.Pages, err)
		p.Links = append(p.Links, page.Way{Href: capacity.Path, Text: "The capacity calculator, from its start"})
		return problem{p}
	}
	if len(wrong) > 0 {
		return writeHTML(w, r, http.StatusBadRequest, page.CapacityForm(s.assets, in.Form(wrong)))
	}
	if canonical := in.Address(); r.URL.RequestURI() != canonical {
		http.Redirect(w, r, canonical, http.StatusTemporaryRedirect)
		return nil
	}
	return writeHTML(w, r, http.StatusOK, page.Capacity(s.assets, in.Form(nil), in.Results()))
}
