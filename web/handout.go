package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"loglab/labs"
	"loglab/labs/view"
	"loglab/web/page"
)

// maxHandout is how many ticks a handout has at most.
const maxHandout = 12

// ticksParam chooses the ticks of a handout: ticks=3,8,12.
const ticksParam = "ticks"

// handout answers with a sheet of ticks to print: those asked for, else the stops of a scenario or the tick of the address.
func (s *Site) handout(w http.ResponseWriter, r *http.Request) error {
	query, asked := splitTicks(r.URL.RawQuery)
	address, release, err := s.addressOf(r, query)
	if err != nil {
		return err
	}
	defer release()
	ticks, err := readTicks(asked, address.First(), address.Last())
	if err != nil {
		return err
	}
	canonical := page.HandoutPath + address.String()
	if len(ticks) > 0 {
		canonical += "&" + ticksParam + "=" + joined(ticks)
	}
	if r.URL.RequestURI() != canonical {
		http.Redirect(w, r, canonical, http.StatusTemporaryRedirect)
		return nil
	}
	var sheet page.Sheet
	if len(ticks) == 0 {
		ticks, sheet.Note = s.usualTicks(address)
	}
	address.Still = true
	for _, tick := range ticks {
		p, err := s.page(r.Context(), address.WithTick(tick))
		if err != nil {
			return inFrame(address, err)
		}
		sheet.Title, sheet.Goal = p.Title, p.Goal
		sheet.Figures = append(sheet.Figures, page.Figure{Page: p, Caption: caption(p), Address: originOf(r) + address.WithTick(tick).Whole().String()})
	}
	return writeHTML(w, r, http.StatusOK, page.Handout(s.assets, sheet, sheet.Figures[0].Page))
}

// splitTicks takes the ticks out of a query.
func splitTicks(query string) (rest, ticks string) {
	var kept []string
	for pair := range strings.SplitSeq(query, "&") {
		if name, value, _ := strings.Cut(pair, "="); name == ticksParam {
			ticks = value
		} else {
			kept = append(kept, pair)
		}
	}
	return strings.Join(kept, "&"), ticks
}

// readTicks reads "3,8,12", each tick once and in order.
func readTicks(text string, first, last int) (ticks []int, err error) {
	if text == "" {
		return nil, nil
	}
	allowed := fmt.Sprintf("at most %d ticks from %d to %d are allowed, as in 3,8,12", maxHandout, first, last)
	plain, err := url.QueryUnescape(text)
	if err != nil {
		return nil, badTicks(text, allowed)
	}
	for one := range strings.SplitSeq(plain, ",") {
		tick, err := strconv.Atoi(strings.TrimSpace(one))
		if err != nil || tick < first || tick > last || len(ticks) == maxHandout {
			return nil, badTicks(plain, allowed)
		}
		ticks = append(ticks, tick)
	}
	slices.Sort(ticks)
	return slices.Compact(ticks), nil
}

func joined(ticks []int) string {
	var list []string
	for _, tick := range ticks {
		list = append(list, strconv.Itoa(tick))
	}
	return strings.Join(list, ",")
}

// usualTicks are the stops of a scenario that is told, and else the tick of the address; note says so where some are left
// out.
func (s *Site) usualTicks(a labs.Address) (ticks []int, note string) {
	if a.Story == nil || a.Trying {
		return []int{a.T}, ""
	}
	told, err := s.scenarios.ByName(a.Story.Name)
	if err != nil || told == nil {
		return []int{a.T}, "" // its file has changed since the address was read
	}
	ticks = slices.DeleteFunc(told.StopTicks(), func(t int) bool { return t < a.First() || t > a.Last() })
	switch {
	case len(ticks) == 0:
		return []int{a.T}, ""
	case len(ticks) > maxHandout:
		note = fmt.Sprintf("The first %d of %d stops. Others are chosen in the address: ticks=3,8,12.", maxHandout, len(ticks))
		ticks = ticks[:maxHandout]
	}
	return ticks, note
}

// caption is what a scenario says, or what changed and the reading begins with.
func caption(p *view.Page) []string {
	if p.Story != nil && len(p.Story.Said) > 0 {
		return p.Story.Said
	}
	list := []string{p.Change}
	if len(p.Reading) > 0 {
		var text strings.Builder
		for _, span := range p.Reading[0] {
			text.WriteString(span.Text)
		}
		list = append(list, text.String())
	}
	return list
}

// badTicks says what is wrong with the ticks that were asked for.
func badTicks(found, allowed string) error {
	return problem{page.Problem{Status: http.StatusBadRequest, Title: "These ticks cannot be handed out", Text: "They are numbers with commas between them.", Facts: facts(ticksParam, shown(found), allowed)}}
}
