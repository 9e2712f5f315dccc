package labs

import (
	"fmt"

	"loglab/engine/kafka"
	"loglab/labs/view"
)

// CommandForm begins a form that gives a command at the tick shown: its fields are words of the command, or the first one
// has an asterisk for each of the others.
func CommandForm(a Address, id, title, submit string, fields ...view.Field) view.Form {
	return view.Form{
		ID: id, Title: title, Action: a.Path(), Submit: submit, Go: "push", Fields: fields,
		Hidden: append(CommandParams(a), view.Param{Name: "do", Value: fmt.Sprintf("%d:", a.T)}),
	}
}

// CommandParams is the hidden part of a form that gives a command at the tick shown: the address without the commands
// stamped later, which acting in the past drops.
func CommandParams(a Address) []view.Param { return HiddenParams(a.withoutLater()) }

// Choose makes a field of a command's form of pairs of value and text.
func Choose(id, label string, options ...[2]string) view.Field {
	f := view.Field{ID: id, Name: "do", Label: label, Kind: view.Choice}
	for i, o := range options {
		f.Options = append(f.Options, view.Option{Value: o[0], Text: o[1], Chosen: i == 0})
	}
	return f
}

// LinkForm gives a command for the link between two of at least two nodes.
func LinkForm(a Address, nodes []kafka.NodeID) view.Form {
	var from, to []view.Option
	for i, n := range nodes {
		from = append(from, view.Option{Value: string(n), Text: string(n), Chosen: i == 0})
		to = append(to, view.Option{Value: string(n), Text: string(n), Chosen: i == 1})
	}
	var what []view.Option
	for _, o := range [...][2]string{
		{"cut * *", "cut"}, {"cut-one-way * *", "cut one way"}, {"heal * *", "heal"}, {"delay * * 500ms", "delay 500 ms"},
		{"drop-next * *", "drop the next message"}, {"double-next * *", "double the next message"},
	} {
		what = append(what, view.Option{Value: o[0], Text: o[1]})
	}
	return CommandForm(a, "link", "A link", "Do it",
		view.Field{ID: "link-what", Name: "do", Label: "What", Kind: view.Choice, Options: what},
		view.Field{ID: "link-from", Name: "do", Label: "From", Kind: view.Choice, Options: from},
		view.Field{ID: "link-to", Name: "do", Label: "To", Kind: view.Choice, Options: to})
}
