package partitions

import (
	"fmt"
	"slices"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// settings makes the forms of the set-up.
func settings(a labs.Address) []view.Form {
	setup := labs.SettingsForm(a, "setup", "Topic and group", "Apply", labs.NamesOf(groupSettings())...)
	setup.Links = presets(a)
	own := labs.SettingsForm(a, "own-keys", "Your own keys", "Use these keys", "keys")
	own.Note = fmt.Sprintf("Any text; a blank line is an empty key; “order-7 x40” is order-7 forty times as often. At most %d keys of %d bytes each.", maxOwnKeys, maxKeyBytes)
	sent := labs.NamesOf(producerSettings())
	_, made := madeKeys(a.Values.Text("keys"))
	if !made {
		sent = slices.DeleteFunc(sent, func(name string) bool { return name == "keys" })
		own.Links = []view.Link{{ID: "made-keys", Text: "Back to 24 made keys", Href: a.WithValue("keys", "24").String(), Go: "push"}}
	}
	producers := labs.SettingsForm(a, "producers", "Producers and keys", "Apply", sent...)
	for i, f := range producers.Fields {
		if f.Name == "keys" {
			producers.Fields[i].Kind = view.Number
		}
	}
	if made {
		own.Fields[0].Value = ""
	}
	own.Fields[0].ID = "set-own-keys" // the number of made keys has the other
	own.Fields[0].Label, own.Fields[0].Help = "Keys, one a line", ""
	if a.Site == labs.Embeds { // a few keys, in the address; more are offered to be kept
		return []view.Form{setup, producers, own}
	}
	own.Note += " A file takes the place of what is typed."
	own.Fields = append(own.Fields, view.Field{ID: "own-keys-file", Name: "keys", Label: "Or a file of them", Kind: view.File})
	return []view.Form{setup, producers, labs.Posted(a, own)}
}

// presets are ready-made changes of the number of partitions.
func presets(a labs.Address) []view.Link {
	var links []view.Link
	add := func(id, text string, count int) {
		if count <= engine.MaxPartitions {
			links = append(links, view.Link{ID: id, Text: text, Href: a.WithValue("partitions", fmt.Sprint(count)).String(), Go: "push"})
		}
	}
	partitions := a.Values.Int("partitions")
	add("preset-more", fmt.Sprintf("%d partitions", partitions+2), partitions+2)
	add("preset-double", fmt.Sprintf("twice as many: %d", 2*partitions), 2*partitions)
	return links
}

// actions adds the commands that make sense here.
func actions(f labs.Frame, p *view.Page) {
	a := f.Address
	key := "order-1"
	if keys := workload(a.Values).Keys(); len(keys) > 0 {
		key = keys[0]
	}
	add := func(id, text string, cmd command.Command, warn bool) { labs.AddAction(p, a, id, text, cmd, warn) }
	if f.View.Producers[0].Alive {
		produceActions(add, key)
	}
	for _, more := range []int{len(f.View.Partitions) + 2, 2 * len(f.View.Partitions)} {
		if more <= engine.MaxPartitions {
			add(fmt.Sprintf("do-grow-%d", more), fmt.Sprintf("Add partitions: %d in all", more), command.AddPartitions{Topic: topic, Count: more}, false)
		}
	}
	for _, p := range f.View.Producers {
		switch {
		case !p.Alive:
		case p.Sending:
			add("do-stop-"+string(p.ID), fmt.Sprintf("Stop %s’s application", p.ID), command.StopSending{Producer: p.ID}, false)
		default:
			add("do-start-"+string(p.ID), fmt.Sprintf("Start %s’s application", p.ID), command.StartSending{Producer: p.ID}, false)
		}
	}
	toggle := func(node kafka.NodeID, state string) {
		switch state {
		case down:
			add("do-run-"+string(node), "Start "+string(node), command.Start{Node: node}, false)
		case paused:
			add("do-resume-"+string(node), "Resume "+string(node), command.Resume{Node: node}, false)
		default:
			add("do-pause-"+string(node), "Pause "+string(node), command.Pause{Node: node}, true)
		}
	}
	const mostMembers = 8 // the rest by the command field
	for i, m := range f.View.Groups[0].Members {
		if state := standing(m.Alive, m.Paused); i < mostMembers && len(m.Assignment) > 0 || state != working {
			toggle(kafka.NodeID(m.ID), state)
		}
	}
	for _, producer := range f.View.Producers {
		toggle(producer.ID, standing(producer.Alive, producer.Paused))
	}
	for _, b := range f.View.Brokers {
		toggle(b.Node, standing(b.Up(), b.Paused))
	}
	add("do-wait", "Wait 1 s", command.Wait{Span: 1000}, false)
}

// produceActions adds the commands that hand in a record.
func produceActions(add func(id, text string, cmd command.Command, warn bool), key string) {
	add("do-produce", "Produce "+labs.Narrow(keyName(key), 16), command.Produce{Producer: "p0", Key: key, Default: true}, false)
	add("do-produce-keyless", "Produce without a key", command.Produce{Producer: "p0", Keyless: true, Default: true}, false)
	add("do-produce-to", "Produce to partition 0", command.Produce{Producer: "p0", Named: true, Key: key, Default: true}, false)
}
