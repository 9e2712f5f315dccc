package partitions

import (
	"fmt"

	"loglab/engine/command"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// settings makes the two forms of the set-up.
func settings(a labs.Address) []view.Form {
	names := []string{"partitions", "baseline", "consumers", "assignor", "partitioner", "keyless", "keys", "rate"}
	own := labs.SettingsForm(a, "own-keys", "Your own keys", "Use these keys", "keys")
	own.Note = fmt.Sprintf("Any text; a blank line is an empty key. At most %d keys of %d bytes each. A file takes the place of what is typed.", maxOwnKeys, maxKeyBytes)
	_, made := madeKeys(a.Values.Text("keys"))
	if !made {
		names = append(names[:6:6], "rate")
		own.Links = []view.Link{{ID: "made-keys", Text: "Back to 24 made keys", Href: a.WithValue("keys", "24").String(), Go: "push"}}
	}
	setup := labs.SettingsForm(a, "setup", "Set-up", "Apply", names...)
	for i, f := range setup.Fields {
		if f.Name == "keys" {
			setup.Fields[i].Kind = view.Number
		}
	}
	if made {
		own.Fields[0].Value = ""
	}
	own.Fields[0].ID = "set-own-keys" // the number of made keys has the other
	own.Fields[0].Label, own.Fields[0].Help = "Keys, one a line", ""
	own.Fields = append(own.Fields, view.Field{ID: "own-keys-file", Name: "keys", Label: "Or a file of them", Kind: view.File})
	setup.Links = presets(a)
	return []view.Form{setup, labs.Posted(a, own)}
}

// presets are ready-made changes of one setting.
func presets(a labs.Address) []view.Link {
	var links []view.Link
	add := func(id, text string, to labs.Address) {
		if to.String() != a.String() {
			links = append(links, view.Link{ID: id, Text: text, Href: to.String(), Go: "push"})
		}
	}
	partitions := a.Values.Int("partitions")
	if partitions < 64 {
		add("preset-more", fmt.Sprintf("%d partitions", min(partitions+2, 64)), a.WithValue("partitions", fmt.Sprint(min(partitions+2, 64))))
	}
	if partitions <= 32 {
		add("preset-double", fmt.Sprintf("twice as many: %d", 2*partitions), a.WithValue("partitions", fmt.Sprint(2*partitions)))
	}
	add("preset-keyless", "no keys", a.WithValue("keys", "0"))
	add("preset-librdkafka", "librdkafka’s default client", a.WithValue("partitioner", "crc32-random"))
	return links
}

// actions adds the commands that make sense here.
func actions(f labs.Frame, p *view.Page) {
	a := f.Address
	key := "order-1"
	if keys := keysOf(a.Values.Text("keys")); len(keys) > 0 {
		key = keys[0]
	}
	add := func(id, text string, cmd command.Command, warn bool) { labs.AddAction(p, a, id, text, cmd, warn) }
	add("do-produce", "Produce "+narrow(keyName(key), 16), command.Produce{Producer: "p0", Key: key, Default: true}, false)
	add("do-produce-keyless", "Produce without a key", command.Produce{Producer: "p0", Keyless: true, Default: true}, false)
	toggle := func(node kafka.NodeID, paused bool) {
		if paused {
			add("do-resume-"+string(node), "Resume "+string(node), command.Resume{Node: node}, false)
		} else {
			add("do-pause-"+string(node), "Pause "+string(node), command.Pause{Node: node}, true)
		}
	}
	const mostMembers = 8 // the rest by the command field
	for i, m := range f.View.Groups[0].Members {
		if i < mostMembers && len(m.Assignment) > 0 || m.Paused {
			toggle(kafka.NodeID(m.ID), m.Paused)
		}
	}
	for _, producer := range f.View.Producers {
		toggle(producer.ID, producer.Paused)
	}
	for _, b := range f.View.Brokers {
		toggle(b.Node, b.Paused)
	}
	add("do-wait", "Wait 1 s", command.Wait{Span: 1000}, false)
}
