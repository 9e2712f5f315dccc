package page

import (
	"fmt"
	"strconv"

	"loglab/labs/view"
)

// fixtureAssets stand for the site's own files.
var fixtureAssets = Assets{
	Style:    "/static/lab.css",
	Script:   "/static/lab.js",
	Bytes:    "/static/bytes.js",
	Icon:     "/static/icon.svg",
	Datastar: "/static/dist/datastar.js",
	Parent:   "/static/parent.js",
}

// fixtureOrigin is where the site stands.
const fixtureOrigin = "http://lab.example"

// fixture is a frame with every piece of labs/view in it: four partitions, one with two segments, an
// idle member, messages on their way, a moved key, an open inspector.
func fixture() *view.Page {
	const path = "/lab/partitions"
	address := func(t int) string { return fmt.Sprintf("%s?v=1&consumers=5&t=%d", path, t) }
	at := func(t int, more ...view.Param) []view.Param {
		return append([]view.Param{{Name: "v", Value: "1"}, {Name: "consumers", Value: "5"}}, append(more, view.Param{Name: "t", Value: strconv.Itoa(t)})...)
	}
	return &view.Page{
		Lab: "partitions", Title: "Partition explorer",
		Goal:    "See which partition a key goes to, which consumer reads it, and what changes when either count does.",
		Address: address(6), Path: path, Tick: 6, Last: 5000,
		Change:    "Two records were appended: orders-0 offset 7 and orders-2 offset 4.",
		Notices:   []view.Notice{{Text: "The command crash-consumer c9 at tick 4 did not apply: there is no consumer c9.", Link: &view.Link{Href: address(6), Text: "Take it away", Go: "push", ID: "fix-0"}}},
		Transport: fixtureTransport(address, at),
		Settings:  fixtureSettings(path),
		Actions:   fixtureActions(path, address, at),
		Picture:   fixturePicture(path, at(6)),
		Reading: []view.Paragraph{
			{{Text: "Five consumers share four partitions, so "}, {Text: "c4 reads nothing", Strong: true}, {Text: ": a partition has one reader in a group."}},
			{{Text: "With 3 partitions before, "}, {Text: "2 of 5 keys went elsewhere", Strong: true}, {Text: ". Their order across the change is lost. "}, {Text: "What a key's order means", Href: "/glossary/ordering"}, {Text: ", or "}, {Text: "try it", Label: "try it: 4 partitions", Href: address(6), Go: "push"}, {Text: "."}},
		},
		Events:    fixtureEvents(address),
		Inspector: fixtureInspector(address),
		Limits: []view.Limit{
			{Text: "One broker serves this lab; replication has its own.", At: "labs/partitions/spec.go:20"},
			{Text: "Fetch sessions are modelled, quotas are not.", Source: "KIP-227", At: "engine/broker/fetch.go:33"},
		},
		Looks: []view.Link{{Href: address(6), Text: "as the system", Inactive: true}, {Href: address(6) + "&theme=dark", Text: "dark"}, {Href: address(6) + "&theme=light", Text: "light"}},
		Sizes: []view.Link{{Href: address(6), Text: "normal", Inactive: true}, {Href: address(6) + "&size=projector", Text: "projector"}},
		Whole: &view.Link{ID: "whole", Href: address(6), Text: "Open this frame in Log Lab"},
	}
}

func fixtureTransport(address func(int) string, at func(int, ...view.Param) []view.Param) view.Transport {
	return view.Transport{
		Start: view.Link{ID: "start", Href: address(0), Text: "Start", Label: "To the start, tick 0", Go: "replace", Key: "Home"},
		Back:  view.Link{ID: "back", Href: address(5), Text: "Back", Label: "One tick back", Go: "replace", Step: -1, Key: "ArrowLeft"},
		Next:  view.Link{ID: "next", Href: address(6) + "&next=1", Text: "Next event", Label: "To the next event that changes more than records and messages", Go: "replace", Key: "n"},
		Step:  view.Link{ID: "step", Href: address(7), Text: "Step", Label: "One tick on", Go: "replace", Step: 1, Key: "ArrowRight", Primary: true},
		Play:  view.Link{ID: "play", Href: address(6), Text: "Play", Go: "replace", Play: "/play" + address(6), Key: "Space"},
		End:   view.Link{ID: "end", Href: address(20), Text: "End", Label: "To the end, tick 20", Go: "replace", Key: "End"},
		Clock: "tick 6 of 20 · 60 ms",
		Jump: view.Form{
			ID: "jump", Action: "/lab/partitions", Hidden: at(6)[:2], Submit: "Go", Go: "replace",
			Fields: []view.Field{{ID: "jump-t", Name: "t", Label: "Tick", Kind: view.Number, Value: "6", Min: 0, Max: 20}},
		},
		Position: 30,
		Marks: []view.Mark{
			{Position: 10, Tick: 2, Text: "add partition", Link: view.Link{ID: "mark-0", Href: address(2), Text: "add partition", Label: "Tick 2: add partition", Go: "replace"}},
			{Position: 60, Tick: 12, Text: "stop c1", Ahead: true, Link: view.Link{ID: "mark-1", Href: address(12), Text: "stop c1", Label: "Tick 12, still to come: stop c1", Go: "replace"}},
			{Position: 65, Tick: 13, Text: "start c1", Ahead: true, Link: view.Link{ID: "mark-2", Href: address(13), Text: "start c1", Label: "Tick 13, still to come: start c1", Go: "replace"}},
		},
	}
}

func fixtureSettings(path string) []view.Form {
	return []view.Form{{
		ID: "setup", Title: "Set-up", Action: path, Hidden: []view.Param{{Name: "v", Value: "1"}}, Submit: "Apply", Go: "push",
		Note: "The run starts again with these settings.",
		Fields: []view.Field{
			{ID: "set-partitions", Name: "partitions", Label: "Partitions", Kind: view.Number, Value: "4", Min: 1, Max: 64},
			{ID: "set-consumers", Name: "consumers", Label: "Consumers", Kind: view.Number, Value: "5", Min: 0, Max: 64},
			{ID: "set-partitioner", Name: "partitioner", Label: "Partitioner", Kind: view.Choice, Options: []view.Option{{Value: "murmur2", Text: "murmur2", Chosen: true}, {Value: "crc32", Text: "crc32"}, {Value: "fnv1a", Text: "fnv1a"}}},
			{ID: "set-assignor", Name: "assignor", Label: "Assignor", Kind: view.Choice, Options: []view.Option{{Value: "range", Text: "range", Chosen: true}, {Value: "cooperative-sticky", Text: "cooperative-sticky"}}},
			{ID: "set-keys", Name: "keys", Label: "Keys, one a line", Kind: view.Lines, Value: "order-1\norder-2\norder-7\norder-9\norder-12", Help: "At most 32 keys of 40 characters."},
		},
		Links: []view.Link{{ID: "preset-hot", Href: path + "?v=1&keys=hot", Text: "One hot key", Go: "push"}},
	}}
}

func fixtureActions(path string, address func(int) string, at func(int, ...view.Param) []view.Param) view.Actions {
	return view.Actions{
		Title: "Now, at tick 6",
		Links: []view.Link{
			{ID: "do-add", Href: address(6) + "&do=6:partitions+5", Text: "Add a partition", Go: "push"},
			{ID: "do-stop-c0", Href: address(6) + "&do=6:crash+c0", Text: "Crash c0", Go: "push", Warn: true},
		},
		Forms: []view.Form{{
			ID: "do-produce", Title: "Produce a record", Action: path, Hidden: at(6), Submit: "Produce", Go: "push",
			Fields: []view.Field{{ID: "produce-key", Name: "key", Label: "Key", Kind: view.Line, Value: "order-7"}},
		}},
		Save: &view.Link{ID: "save-scenario", Href: "/file/scenario/lab/partitions?v=1", Text: "Save as a scenario"},
		Given: []view.Given{
			{Tick: 2, Text: "partitions 4", GoTo: view.Link{ID: "go-0", Href: address(2), Text: "tick 2", Go: "replace"}, Remove: view.Link{ID: "rm-0", Href: address(6), Text: "remove", Label: "Remove the command partitions 4", Go: "push"}},
			{Tick: 12, Text: "crash c1", Ahead: true, GoTo: view.Link{ID: "go-1", Href: address(12), Text: "tick 12", Go: "replace"}, Remove: view.Link{ID: "rm-1", Href: address(6), Text: "remove", Label: "Remove the command crash c1", Go: "push"}},
		},
	}
}

func fixturePicture(path string, hidden []view.Param) view.Picture {
	before := view.Link{ID: "earlier-3", Href: path + "?v=1&from3=0", Text: "‹", Label: "Earlier records of orders-3", Go: "replace"}
	later := view.Link{ID: "later-3", Href: path + "?v=1&from3=20", Text: "›", Label: "Later records of orders-3", Go: "replace"}
	return view.Picture{
		Title: "Topic orders · 4 partitions · consumer group billing", Path: path, Hidden: hidden,
		Legend: []view.Key{{Kind: "read", Text: "read"}, {Kind: "waiting", Text: "waiting"}, {Kind: "new", Text: "new in this tick"}, {Kind: "moved", Text: "key moved from another partition"}, {Kind: "batch", Text: "a gap starts a batch"}},
		Members: []view.Member{
			{ID: "member-c0", Name: "c0", State: "working", Text: "orders-0", At: "member:c0"},
			{ID: "member-c1", Name: "c1", State: "working", Text: "orders-1", At: "member:c1"},
			{ID: "member-c2", Name: "c2", State: "paused", Text: "orders-2", At: "member:c2"},
			{ID: "member-c3", Name: "c3", State: "working", Text: "orders-3", At: "member:c3"},
			{ID: "member-c4", Name: "c4", State: "idle", Text: "no partition is left for it", At: "member:c4"},
		},
		Strips: []view.Strip{
			fixtureStrip(0, "717712 97", 0, 6, 8),
			fixtureStrip(1, "2 22", 0, 0, 3),
			fixtureStrip(2, "1 191", 0, 2, 4),
			withShift(fixtureStrip(3, "99 7 121 9912", 12, 18, 24), &before, &later),
			{ID: "lane-4", Name: "orders-4", Owner: "read by no one", At: "partition:orders-4", Columns: 12, Empty: "no record yet", Count: "0 records", Flags: []view.Flag{{Kind: view.LogEnd, Text: "end 0"}}},
		},
		Network: view.Network{
			Title: "On the network",
			Stops: []view.Stop{
				{Name: "Producers", Nodes: []view.Member{{ID: "node-p0", Name: "p0", State: "working", Text: "sending", At: "node:p0"}}},
				{Name: "Broker", Nodes: []view.Member{{ID: "node-b1", Name: "b1", State: "working", Text: "2 fetches wait", At: "node:b1"}}},
				{Name: "Consumers", More: "5 consumers of billing"},
			},
			Lanes: []view.Lane{
				{Name: "between producers and broker", Items: []view.Message{{ID: "m-41", From: "p0", To: "b1", Text: "Produce request", When: "arrives in 10 ms", At: "message:41", Right: true}}},
				{Name: "between broker and consumers", Items: []view.Message{{ID: "m-42", From: "b1", To: "c0", Text: "Fetch response", When: "arrives in 10 ms", At: "message:42", Right: true, Response: true}}},
			},
		},
		Tables: []view.Table{{
			ID: "keys", Caption: "Where each key goes, with 4 partitions and with 3", Head: []string{"Partition", "Keys", "Share"},
			Rows: []view.Row{
				{Items: [][]view.Item{view.Plain("orders-0"), {{Text: "order-7", Color: 1, At: "key:order-7"}, {Text: "order-12", Color: 5, Mark: "moved", Label: "moved from orders-1", At: "key:order-12"}}, view.Plain("40 %")}},
				{Items: [][]view.Item{view.Plain("orders-1"), {{Text: "order-2", Color: 2}}, view.Plain("20 %")}, Selected: true},
			}, More: "2 partitions without a key are not listed.",
		}},
	}
}

// fixtureStrip makes a strip from the last letters of its keys; a space starts a batch.
func fixtureStrip(partition int, keys string, first, position, end int64) view.Strip {
	name := fmt.Sprintf("orders-%d", partition)
	s := view.Strip{
		ID: fmt.Sprintf("lane-%d", partition), Name: name, Owner: fmt.Sprintf("read by c%d", partition), At: "partition:" + name,
		First: first, Columns: 12, Count: fmt.Sprintf("%d records · %d B · 1 segment", end, 71*end), Lag: fmt.Sprintf("%d to read", end-position),
	}
	batch := true
	for _, key := range keys {
		if key == ' ' {
			batch = true
			continue
		}
		offset := first + int64(len(s.Cells))
		s.Cells = append(s.Cells, view.Cell{
			ID: fmt.Sprintf("r-%s-%d", name, offset), Text: string(key), Offset: strconv.FormatInt(offset, 10), Color: int(key-'0')%8 + 1,
			At: fmt.Sprintf("record:%s:%d", name, offset), Label: fmt.Sprintf("offset %d, key order-%c", offset, key),
			Waiting: offset >= position, New: offset == end-1 && partition%2 == 0, BatchStart: batch, SegmentStart: offset == first || offset == 16,
			Moved: partition == 3 && key == '1', Selected: partition == 0 && offset == 3,
		})
		batch = false
	}
	if first == 0 {
		s.Flags = append(s.Flags, view.Flag{Column: 0, Kind: view.LogStart, Text: "start 0"})
	}
	s.Flags = append(s.Flags,
		view.Flag{Column: int(position - first), Kind: view.Position, Text: fmt.Sprintf("position %d", position)},
		view.Flag{Column: int(end - first), Kind: view.LogEnd, Text: fmt.Sprintf("end %d", end)})
	return s
}

func withShift(s view.Strip, before, after *view.Link) view.Strip {
	s.Before, s.After = before, after
	return s
}

func fixtureEvents(address func(int) string) view.Events {
	why := func(seq int) view.Link {
		return view.Link{ID: fmt.Sprintf("why-%d", seq), Href: fmt.Sprintf("%s&why=%d", address(6), seq), Text: "why?", Label: fmt.Sprintf("Why event %d?", seq), Go: "replace"}
	}
	return view.Events{
		Lines: []view.EventLine{
			{Seq: 31, Tick: 6, Node: "b1", Text: "orders-2 appended 1 record at offset 4", Fresh: true, Why: why(31)},
			{Seq: 30, Tick: 6, Node: "b1", Text: "orders-0 appended 1 record at offset 7", Fresh: true, Why: why(30)},
			{Seq: 27, Tick: 4, Node: "you", Text: "crash-consumer c9 did not apply: there is no consumer c9", Warn: true},
			{Seq: 12, Tick: 2, Node: "b1", Text: "group billing: generation 2, range: orders-0 → c0, orders-1 → c1, orders-2 → c2, orders-3 → c3", Why: why(12)},
		},
		More: "27 earlier events are not listed.",
	}
}

func fixtureInspector(address func(int) string) *view.Inspector {
	return &view.Inspector{
		Title: "Record orders-0 offset 3",
		Facts: []view.Fact{{Name: "key", Value: "order-7"}, {Name: "partition", Value: "toPositive(murmur2) mod 4 = 0"}, {Name: "batch", Value: "offsets 0 to 5"}},
		Close: view.Link{ID: "close", Href: address(6), Text: "Close", Label: "Close the inspector", Go: "replace"},
		Chain: []view.EventLine{{Seq: 9, Tick: 1, Node: "b1", Text: "orders-0 appended 6 records at offset 0"}, {Seq: 8, Tick: 0, Node: "you", Text: "produce order-7"}},
		Tables: []view.Table{{
			ID: "elsewhere", Caption: "Where this key would be", Head: []string{"Partitions", "It would be in"},
			Rows: []view.Row{{Items: [][]view.Item{view.Plain("5"), {{Text: "orders-3", Mark: "moved", Label: "another than now"}, {Text: "orders-4", Link: &view.Link{ID: "open-4", Href: address(7), Text: "orders-4"}}}}}},
		}},
		Anatomies: []view.Anatomy{{
			ID: "record", Caption: "The record's bytes", Note: "Underlined: what the CRC covers.", More: "1 field more, not shown.",
			Lines: []view.HexLine{
				{At: "003d", Text: "·····order-7", Parts: []view.HexPart{
					{Field: 0, Text: "1c", First: true, Covered: true}, {Field: 1, Text: "00", First: true}, {Field: 2, Text: "c8 01", First: true},
					{Field: -1, Text: "0e"}, {Field: 3, Text: "6f 72 64 65 72 2d 37", First: true},
				}},
				{Parts: []view.HexPart{{Field: 3, Text: "… 90 bytes more of key …", Gap: true}}},
				{At: "00a7", Text: "!", Parts: []view.HexPart{{Field: 3, Text: "21"}}},
			},
			Fields: []view.ByteField{
				{At: "61", Name: "length", Value: "14", Meaning: "14 bytes follow", Steps: "1c → 0·0011100 → 28 → even: 28 / 2 = 14"},
				{At: "62", Name: "attributes", Value: "0", Meaning: "no bit of it is in use"},
				{At: "63–64", Name: "timestampDelta", Value: "100", Meaning: "base + 100 ms"},
				{At: "66–167", Name: "key", Value: "order-7", Meaning: "text", Link: &view.Link{ID: "open-key", Href: address(6), Text: "open", Go: "replace"}},
			},
		}},
	}
}

// fixtureOfTwo is a frame of two runs with a mark of each kind.
func fixtureOfTwo() *view.Page {
	const address = "/lab/partitions?v=1&t=6&vs=rate:2"
	picture := func(prefix, run, text, at string) view.Picture {
		return view.Picture{
			Run: run, Prefix: prefix, Title: "Topic orders", Path: "/lab/partitions", Hidden: []view.Param{{Name: "v", Value: "1"}, {Name: "vs", Value: "rate:2"}},
			Members: []view.Member{{ID: prefix + "c0", Name: "c0", State: "working", Text: "orders-0", At: at + "node:c0", Differs: true}}, MoreMembers: "8 more consumers",
			Strips: []view.Strip{{
				ID: prefix + "strip-orders-0", Name: "orders-0", Owner: "read by c0", At: at + "segment:orders-0:0", Columns: 3, Count: "1 record", Lag: "1 to read", Differs: true, CountDiffers: true, LagDiffers: true,
				Cells: []view.Cell{{ID: prefix + "r-0-0", Text: text, Offset: "0", At: at + "record:orders-0:0", Label: "offset 0, key " + text + ", not so in the other run", Differs: true}},
				Flags: []view.Flag{{Column: 1, Kind: view.LogEnd, Text: "end 1", Differs: true}},
			}},
			Network: view.Network{
				Title: "On the network", Stops: []view.Stop{{Name: "Producers"}, {Name: "Broker"}},
				Lanes: []view.Lane{{Name: "between", Items: []view.Message{{ID: prefix + "m-1", From: "p0", To: "b1", Text: "Produce request", When: "in 5 ms", At: at + "message:1", Differs: true}}}},
			},
			Tables: []view.Table{{ID: prefix + "keys", Caption: "Keys", Differs: true, Rows: []view.Row{{Items: [][]view.Item{view.Plain("orders-0"), view.Plain(text)}, Differs: []bool{false, true}}}}},
		}
	}
	return &view.Page{
		Picture: picture("", "rate = 1", "a", ""), Reading: []view.Paragraph{{{Text: "Only here."}}},
		Twin: &view.Twin{
			First:   view.Paragraph{{Text: "The runs differ from ", Strong: true}, {Text: "tick 3", Href: "/lab/partitions?v=1&t=3&vs=rate:2", Go: "replace"}},
			By:      [2]view.Paragraph{{{Text: "rate = 1: ", Strong: true}, {Text: "a"}}, {{Text: "rate = 2: ", Strong: true}, {Text: "b", Href: address + "&why=vs:3", Go: "replace"}}},
			OneRun:  view.Link{ID: "one-run", Text: "Show one run", Href: "/lab/partitions?v=1&t=6", Go: "push"},
			Legend:  []view.Key{{Kind: "differs", Text: "not so in the other run"}},
			Picture: picture("vs-", "rate = 2", "b", "vs:"), Both: []view.Paragraph{{{Text: "In both."}}},
		},
	}
}
