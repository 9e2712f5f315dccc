package page

import "loglab/labs/view"

// fixtureTimeline has a row of each kind: one with a note that differs, rows of bars with and without a name, and ways
// to other ticks.
func fixtureTimeline() view.Timeline {
	return view.Timeline{
		ID: "timeline", Label: "Ticks 10 to 19", First: 10, Columns: 10, Now: 7,
		Ticks:  []view.TickMark{{Column: 0, Text: "10", At: "tick:10"}, {Column: 5, Text: "15", At: "tick:15"}, {Column: 9, Text: "19"}},
		Shades: []view.Run{{From: 2, To: 4, Kind: "join"}, {From: 4, To: 5, Kind: "sync"}},
		Parts: []view.TimePart{
			{Title: "Group", Rows: []view.TimeRow{{ID: "row-group", Name: "billing", At: "group:billing", Label: "ticks 10 to 11: stable", Runs: []view.Run{{From: 0, To: 2, Kind: "stable", Text: "gen 1"}, {From: 2, To: 4, Kind: "join", Text: "join"}}}}},
			{Title: "Members", Note: "has", More: "2 more members not drawn", Rows: []view.TimeRow{
				{ID: "row-billing-01", Name: "billing-01", At: "node:billing-01", Label: "has 2 partitions", Note: "2", Color: 1, Differs: true, Runs: []view.Run{{From: 0, To: 8, Kind: "reads", Text: "2", Color: 1, Bars: 2}, {From: 8, To: 10, Kind: "ahead", Text: "session"}}},
				{ID: "row-billing-09", Name: "billing-09", At: "node:billing-09", Label: "idle", Note: "idle", Color: 1, Alt: true, Runs: []view.Run{{From: 0, To: 8, Kind: "idle", Text: "idle", Color: 1, Alt: true}}},
			}},
			{Title: "Partitions", Note: "stood still", Rows: []view.TimeRow{
				{ID: "row-orders-0", Name: "orders-0", At: "partition:orders-0", Label: "read by billing-01, then nobody has it", Note: "3", Runs: []view.Run{{From: 0, To: 5, Kind: "read", Text: "01", Color: 1}, {From: 5, To: 8, Kind: "nobody", Text: "3"}}},
				{ID: "row-orders-1", Name: "orders-1–4", At: "partition:orders-1", Label: "4 partitions, each: read by billing-09", Note: "–", Height: 4, Runs: []view.Run{{From: 0, To: 8, Kind: "read", Text: "09", Color: 1, Alt: true, Bars: 4}}},
				{ID: "row-orders-5", Label: "read by billing-02", Height: 1, Runs: []view.Run{{From: 0, To: 8, Kind: "read", Text: "02", Color: 2}}},
			}},
		},
		Before: &view.Link{ID: "earlier", Text: "ticks before 10", Href: "/lab/rebalance?v=1&t=17&at=tick:0", Go: "replace"},
		After:  &view.Link{ID: "later", Text: "to tick 17", Href: "/lab/rebalance?v=1&t=17", Go: "replace"},
	}
}

// fixtureMachine is in its second state.
func fixtureMachine() view.Machine {
	return view.Machine{
		Title: "State of the group", States: []view.MachineState{{Name: "Empty", Text: "no members"}, {Name: "Stable", Text: "all have their share", Now: true}},
		Facts: []view.Fact{{Name: "Generation", Value: "2"}}, Differs: true,
	}
}
