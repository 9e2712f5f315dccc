package ui

import "loglab/labs/view"

func choiceClass(l view.Link) string {
	if l.Current {
		return "btn choice chosen"
	}
	return "btn choice"
}

func goalClass(g view.Goal) string {
	if g.Reached {
		return "goal-state reached"
	}
	return "goal-state"
}
