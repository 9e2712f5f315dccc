package page

import (
	"fmt"

	"loglab/labs/view"
)

// fixtureCluster is two brokers, one of them down, with every sign that a node and a replica can have.
func fixtureCluster() view.Cluster {
	replica := func(broker, role, text, epoch, sync, syncText, note string, cells ...view.Cell) view.Replica {
		return view.Replica{
			Strip: view.Strip{
				ID: "replica-orders-0-" + broker, Name: "orders-0", At: "replica:orders-0:" + broker, Columns: 5, Width: 75, Cells: cells,
				Flags: []view.Flag{{Column: 1, Kind: view.HighWatermark, Text: "watermark 1"}, {Column: 2, Kind: view.LogEnd, Text: "end 2"}},
			},
			Role: role, RoleText: text, Epoch: epoch, Sync: sync, SyncText: syncText, Note: note,
		}
	}
	first := view.Cell{ID: "r-0", Text: "1", Offset: "0", Color: 1, At: "record:orders-0:0@b1", Label: "offset 0, acknowledged", Acknowledged: true}
	return view.Cluster{
		Columns: 2,
		Clients: []view.Node{{
			ID: "node-p0", Name: "p0", At: "node:p0", State: "up", Words: "producer", Lines: []string{"handed in 3, acknowledged 2, failed 0"},
			Inbox: []view.Message{{ID: "m-9", From: "b1", To: "p0", Text: "Produce response", When: "in tick 8", At: "message:9", Response: true}}, More: "2 more on their way",
		}},
		Controller: &view.Node{ID: "node-controller", Name: "controller", At: "node:controller", State: "stopped", Words: "paused"},
		Brokers: []view.Node{
			{
				ID: "node-b1", Name: "b1", At: "node:b1", State: "up", Words: "running", Faults: []string{"link from b2: cut"},
				Inbox: []view.Message{{ID: "m-10", From: "b2", To: "b1", Text: "Fetch request", When: "waits: link cut", At: "message:10", Held: true}},
				Replicas: []view.Replica{replica("1", "leader", "Leader", "epoch 1", "in", "in sync", "", first,
					view.Cell{ID: "r-1", Text: "3", Offset: "1", Color: 2, At: "record:orders-0:1@b1", Label: "offset 1, written in this tick", New: true, Waiting: true})},
			},
			{
				ID: "node-b2", Name: "b2", At: "node:b2", State: "down", Words: "down", Differs: true,
				Replicas: []view.Replica{
					replica("2", "offline", "Offline", "on its disk", "eligible", "eligible leader", "", first,
						view.Cell{ID: "r-2", Text: "2", Offset: "1", Color: 1, At: "record:orders-0:1@b2", Label: "offset 1, lost", Acknowledged: true, Lost: true, Waiting: true}),
					replica("3", "follower", "Follower", "epoch 0", "out", "not in sync", "believes that it leads, epoch 0",
						view.Cell{ID: "r-3", Text: "2", Offset: "1", Color: 1, At: "record:orders-0:1@b3", Label: "offset 1, cut off in this tick", Gone: true, Again: true}),
				},
			},
		},
	}
}

// fixtureLedger has a number of each kind.
func fixtureLedger() []view.Count {
	return []view.Count{
		{Name: "Acknowledged", Number: "2", Text: "the producer was told that they are written", Differs: true},
		{
			Name: "Lost", Number: "1", Text: "acknowledged, and their leader does not have them", Warn: true, More: "and 1 more",
			Records: []view.Link{{ID: "entry-Lost-1", Href: "/lab/replication?v=1&why=9", Text: "event 2 (orders-0 at 1)", Label: "event 2 (orders-0 at 1): why?", Go: "replace"}, {Text: "event 4 (orders-0 at 3)"}},
		},
	}
}

// fixtureGroups are commands by node.
func fixtureGroups() view.Actions {
	return view.Actions{Title: "Now, at tick 7", Groups: []view.ActionGroup{
		{Name: "b1", Links: []view.Link{{ID: "do-kill-b1", Href: "/lab/replication?v=1&do=7:kill+b1&t=7", Text: "Kill b1", Go: "push", Warn: true}}},
		{Name: "Time", Links: []view.Link{{ID: "do-wait-1000", Href: "/lab/replication?v=1&do=7:wait+1s&t=7", Text: "Wait 1 s", Go: "push"}}},
	}}
}

// fixtureBrackets is a strip of records as a group has them, with what a crash would repeat and lose.
func fixtureBrackets() view.Strip {
	s := view.Strip{
		ID: "strip-orders-0", Name: "orders-0", Owner: "read by billing-1", At: "partition:orders-0", Columns: 12, Width: 140, GapRows: 2, Count: "sink: 3 once, 1 repeated, 2 never", Lag: "lag 3",
		Gaps: []view.Gap{
			{From: 0, To: 1, Row: 1, Kind: view.ToLose, Text: "billing: 1 to lose", Differs: true}, {From: 3, To: 6, Row: 1, Kind: view.ToRepeat, Text: "2 to repeat"}, {From: 4, To: 6, Row: 2, Kind: view.InHand, Text: "audit: 2 in hand"},
		},
		Flags: []view.Flag{{Column: 3, Kind: view.Committed, Text: "committed 3"}, {Column: 6, Kind: view.Position, Text: "position 6"}},
	}
	for i, c := range []view.Cell{{Stage: "missed", Word: "lost"}, {Stage: "committed", Word: "✓"}, {Stage: "committed twice", Word: "✓2×"}, {Stage: "processed", Word: "done"}, {Stage: "working", Word: "busy"}, {Stage: "waiting", Waiting: true, New: true}} {
		c.ID, c.Text, c.Offset, c.At, c.Label = fmt.Sprintf("r-0-%d", i), fmt.Sprint(i), fmt.Sprint(i), fmt.Sprintf("record:orders-0:%d", i), fmt.Sprintf("offset %d, %s", i, c.Word)
		s.Cells = append(s.Cells, c)
	}
	return s
}
