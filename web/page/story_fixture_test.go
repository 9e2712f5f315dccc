package page

import "loglab/labs/view"

// fixtureStory asks with choices; fixtureAnswer has the answer, and a goal.
func fixtureStory() view.Story {
	return view.Story{
		Where: "Stop 2 of 5",
		Parts: []view.Link{{ID: "part-0", Text: "fetch", Label: "fetch: ticks 0 to 3", Href: "/scenario/x?v=1", Go: "replace", Current: true}, {ID: "part-1", Text: "catch up", Href: "/scenario/x?v=1&t=4", Go: "replace"}},
		Said:  []string{"Three brokers.", "b1 <leads>."},
		Ask: &view.Ask{
			ID: "ask-who", Text: "Who leads then?", Note: "It is decided at tick 9. Guess, or just go on.",
			Choices: []view.Link{{ID: "ask-who-1", Text: "b2", Href: "/scenario/x?v=1&guess=who:b2", Go: "replace", Key: "1"}, {ID: "ask-who-2", Text: "b3", Href: "/scenario/x?v=1&guess=who:b3", Go: "replace", Key: "2", Current: true}},
		},
		Back:  view.Link{ID: "stop-back", Text: "Previous stop", Label: "Previous stop: this is the first", Href: "/scenario/x?v=1", Go: "replace", Key: "p", Inactive: true},
		On:    view.Link{ID: "stop-on", Text: "Next stop", Label: "Next stop, tick 4", Href: "/scenario/x?v=1&t=4", Go: "replace", Key: "n", Primary: true},
		Fork:  view.Link{ID: "fork", Text: "Open in the lab from here", Href: "/lab/replication?v=1", Go: "push"},
		Terms: []view.Link{{Text: "ISR", Href: "/glossary/in-sync-replicas"}, {Text: "acks", Href: "/glossary/acks"}},
	}
}

func fixtureAnswer() view.Story {
	s := fixtureStory()
	s.Ask = &view.Ask{ID: "ask-who", Text: "Who leads then?", Guessed: "b3", Happened: "b3", Same: true, Because: []string{"It was in sync."}}
	s.Goal = &view.Goal{Text: "Lose a record.", State: "Not reached at tick 4, with 1 command so far.", Hint: "The leader.", Link: view.Link{ID: "to-story", Text: "Back to the story", Href: "/scenario/x?v=1", Go: "push"}}
	return s
}

// fixtureNumber asks for a number.
func fixtureNumber() view.Story {
	s := fixtureStory()
	s.Ask = &view.Ask{ID: "ask-lost", Text: "How many?", Note: "It is decided at tick 9.", Form: &view.Form{
		ID: "ask-lost-form", Action: "/scenario/x", Submit: "Guess", Go: "replace", Hidden: []view.Param{{Name: "v", Value: "1"}, {Name: "guess", Value: "lost:"}},
		Fields: []view.Field{{ID: "ask-lost-number", Name: "guess", Label: "How many records?", Kind: view.Number, Min: 0, Max: 9}},
	}}
	return s
}

// fixtureTold is a page of a scenario.
func fixtureTold() *view.Page {
	p, s := fixture(), fixtureAnswer()
	p.Story = &s
	return p
}
