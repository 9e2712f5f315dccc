package capacity

import (
	"strconv"

	"loglab/labs/view"
)

// ResultsID is the element that the form leads to.
const ResultsID = "results"

// Form asks for an input. A field in wrong has the text that it cannot take, and says what is allowed.
func (in Input) Form(wrong Wrong) view.Form {
	form := view.Form{ID: "capacity", Title: "Load and cluster", Action: Path + "#" + ResultsID, Submit: "Calculate"}
	for _, f := range Fields {
		field := view.Field{
			ID: "set-" + f.Name, Name: f.Name, Label: f.Label, Kind: view.Number,
			Value: strconv.FormatInt(f.Of(in), 10), Min: int(f.Min), Max: int(f.Max), Help: f.Help,
		}
		if mistake, ok := wrong[f.Name]; ok {
			field.Kind = view.Line // a browser shows in a number's field only numbers
			field.Value, field.Wrong = mistake.Text, mistake.Err.Error()+"."
		}
		form.Fields = append(form.Fields, field)
	}
	if in != Defaults() {
		form.Links = []view.Link{{ID: "as-it-began", Href: Path, Text: "As it began"}}
	}
	return form
}
