package labs

import (
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strconv"

	"loglab/engine/command"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs/view"
)

// newPage draws a frame: what all labs share, then what its lab adds.
func newPage(f Frame) *view.Page {
	a := f.Address
	p := &view.Page{
		Lab: a.Lab.Name, Title: a.Lab.Title, Goal: a.Lab.Goal, Address: a.String(), Path: a.Path(),
		Tick: a.T, Last: a.Last(), Pace: a.Pace, Theme: a.Theme, Size: a.Size,
		Still: a.Still, Minimal: a.Chrome != "", Embedded: a.Site == Embeds, Whole: whole(a),
		Transport: transport(f), Looks: themeLinks(a), Sizes: sizeLinks(a), Notices: append(kept(a), rejections(f)...), Ready: ready(a),
		Change: fmt.Sprintf("Tick %d: %s.", a.T, changes(f)), Limits: limits(a.Lab), Progress: view.Progress{Tick: a.T, End: a.Horizon},
	}
	p.Setup = setupName(a)
	p.Actions = view.Actions{Title: fmt.Sprintf("Now, at tick %d", a.T), Forms: []view.Form{commandForm(a)}}
	p.Actions.Given, p.Actions.More = given(a)
	p.Actions.Save = saveLink(a)
	fill(f, p)
	return p
}

// fill draws what comes from the state of one run: events, causes and what its lab adds.
func fill(f Frame, p *view.Page) {
	p.Events = events(f)
	if f.Address.Why != 0 {
		p.Inspector = why(f)
	}
	f.Address.Lab.Build(f, p)
}

// setupName names the set-up of a frame: all that decides it, which is the address but for the tick shown and
// what the inspector shows.
func setupName(a Address) string {
	name := fnv.New64a()
	io.WriteString(name, a.WithTick(0).WithTarget(Target{}).String())
	return strconv.FormatUint(name.Sum64(), 36)
}

// ready links to the lab's ready-made runs, in the reader's own look. Their queries are canonical and end
// before the look, so nothing of them is read here.
func ready(a Address) []view.Ready {
	var list []view.Ready
	look := queryText(Start(a.Lab, a.Site).WithTheme(a.Theme).WithSize(a.Size).frameParams())
	if look != "" {
		look = "&" + look
	}
	for i, r := range a.Lab.Ready {
		to := fmt.Sprintf("%s?v=%d&%s%s", a.Path(), Version, r.Query, look)
		list = append(list, view.Ready{Text: r.Text, Link: view.Link{ID: fmt.Sprintf("ready-%d", i), Text: r.Title, Href: to, Go: "push"}})
	}
	return list
}

// Replace makes a control that moves the page's own history entry.
func Replace(id, text string, to Address) view.Link {
	return view.Link{ID: id, Text: text, Href: to.String(), Go: "replace"}
}

// Open makes a control that opens something in the inspector.
func Open(a Address, id, text string, at Target) view.Link {
	return Replace(id, text, a.WithTarget(at))
}

// TryIt makes the words in a reading that lead to another run. Several may stand on a page: what says to
// those who hear the link alone where it leads.
func TryIt(what string, to Address) view.Span {
	return view.Span{Text: "try it", Label: "try it: " + what, Href: to.String(), Go: "push"}
}

// transport moves along the run.
func transport(f Frame) view.Transport {
	a := f.Address
	first, end := a.First(), max(a.Horizon, a.T) // the scrubber's ends
	step := func(id, text, label, key string, to Address, by int) view.Link {
		l := Replace(id, text, to)
		l.Label, l.Key, l.Step, l.Inactive = label, key, by, to.T == a.T
		return l
	}
	t := view.Transport{
		Start: step("start", "Start", fmt.Sprintf("To the start, tick %d", first), "Home", a.WithTick(first), 0),
		Back:  step("back", "Back", "One tick back", "ArrowLeft", a.WithTick(a.T-1), -1),
		Step:  step("step", "Step", "One tick on", "ArrowRight", a.WithTick(a.T+1), 1),
		Play:  step("play", "Play", fmt.Sprintf("Play to tick %d", a.PlayEnd()), "Space", a.Played(a.PlayEnd()), 0),
		End:   step("end", "End", fmt.Sprintf("To the end, tick %d", a.Horizon), "End", a.WithTick(a.Horizon), 0),
		Next:  nextLink(a),
		Clock: fmt.Sprintf("tick %d of %d · %s", a.T, end, clockText(f)),
		Jump: view.Form{
			ID: "jump", Action: a.Path(), Hidden: HiddenParams(a, "t"), Submit: "Go", Go: "replace",
			Fields: []view.Field{{ID: "jump-t", Name: "t", Label: "Tick", Kind: view.Number, Value: fmt.Sprint(a.T), Min: first, Max: end}},
		},
		Position: position(a.T, first, end),
	}
	t.Play.Play = "/play" + a.String()
	t.Step.Primary = true
	t.Marks = marks(a, first, end)
	return t
}

// clockText is the virtual time: in ms, or in larger units where a tick may be an hour.
func clockText(f Frame) string {
	if f.Address.Lab.TickMillis == 0 {
		return Span(f.View.Now)
	}
	return kafka.Thousands(f.View.Now) + " ms"
}

// marksShown is how many marks a scrubber has at most.
const marksShown = 30

// position is the place of a tick between two others, 0 to 100.
func position(tick, first, end int) int { return (tick - first) * 100 / (end - first) }

// marks stand at the ticks with commands from first to end, one a tick.
func marks(a Address, first, end int) []view.Mark {
	var list []view.Mark
	for i, s := range a.Do {
		if s.Tick < first {
			continue
		}
		if s.Tick > end {
			break
		}
		text, n := s.Command.String(), len(list)
		if n > 0 && list[n-1].Tick == s.Tick {
			list = list[:n-1]
			text = "several commands"
		}
		list = append(list, view.Mark{
			Position: position(s.Tick, first, end), Tick: s.Tick, Text: text, Ahead: s.Tick > a.T,
			Link: Replace(fmt.Sprintf("mark-%d", i), text, a.WithTick(s.Tick)),
		})
	}
	around := slices.IndexFunc(list, func(m view.Mark) bool { return m.Ahead })
	from, to := nearest(len(list), around, marksShown)
	return list[from:to]
}

// nearest gives a range of at most most places out of n around the place at; -1 stands for the end.
func nearest(n, at, most int) (from, to int) {
	if at < 0 {
		at = n
	}
	from = min(max(at-most/2, 0), max(n-most, 0))
	return from, min(from+most, n)
}

// SettingsForm makes a form of some of the lab's settings; the rest of the address goes along unseen, but
// for the inspector, which may look at something that the new run does not have. Its second button shows the
// run with the one setting that was changed beside the run as it is.
func SettingsForm(a Address, id, title, submit string, names ...string) view.Form {
	form := view.Form{ID: id, Title: title, Action: a.Path(), Submit: submit, Go: "push", Hidden: HiddenParams(a, append(names, "at", "why")...)}
	for _, name := range names {
		for _, s := range a.Lab.Settings {
			if s.Name == name {
				form.Fields = append(form.Fields, field(s, a.Values.Text(name)))
			}
		}
	}
	if own := ownValues(a, names); len(own.Value) <= maxTwin {
		form.Second = &view.Button{Text: "Compare", Label: "Compare with the run shown: change one setting first", Param: own}
	}
	return form
}

// field makes the input of one setting.
func field(s Setting, value string) view.Field {
	f := view.Field{ID: "set-" + s.Name, Name: s.Name, Label: s.Label, Help: s.Help, Value: value, Min: s.Min, Max: s.Max, Kind: view.Number}
	switch {
	case s.Canonical != nil && s.OneLine:
		f.Kind = view.Line
	case s.Canonical != nil:
		f.Kind = view.Lines
	case s.Options != nil:
		f.Kind = view.Choice
		for _, option := range s.Options {
			f.Options = append(f.Options, view.Option{Value: option, Text: option, Chosen: option == value})
		}
	}
	return f
}

// AddActionGroup begins a group: the commands added from now on belong to it.
func AddActionGroup(p *view.Page, name string) {
	p.Actions.Groups = append(p.Actions.Groups, view.ActionGroup{Name: name})
}

// AddAction adds the control that gives a command at the tick shown. Where commands are stamped later it
// drops them, as acting in the past does, and a second control keeps them.
func AddAction(p *view.Page, a Address, id, text string, cmd command.Command, warn bool) {
	forked, kept := a.WithCommand(cmd, false), a.WithCommand(cmd, true)
	links, whole := &p.Actions.Links, text // of a group's control, the group says whom it is about
	if n := len(p.Actions.Groups); n > 0 {
		g := &p.Actions.Groups[n-1]
		links, whole = &g.Links, g.Name+": "+text
	}
	*links = append(*links, view.Link{ID: id, Text: text, Href: forked.String(), Go: "push", Warn: warn})
	if later := len(kept.Do) - len(forked.Do); later > 0 {
		p.Actions.KeepTitle = fmt.Sprintf("These drop %s stamped later. The same, keeping what is later:", kafka.Count(later, "command"))
		p.Actions.Keep = append(p.Actions.Keep, view.Link{ID: id + "-keep", Text: whole, Label: whole + ", keeping later commands", Href: kept.String(), Go: "push", Warn: warn})
	}
}

// commandForm takes a command as text.
func commandForm(a Address) view.Form {
	return view.Form{
		ID: "command", Title: "Any command", Action: a.Path(), Hidden: CommandParams(a), Submit: "Give", Go: "push",
		Fields: []view.Field{{ID: "command-do", Name: "do", Label: "Tick and command", Kind: view.Line, Value: fmt.Sprintf("%d:produce p0 KEY", a.T)}},
		Note:   "One of: " + joinOr(command.Usages()) + ".",
	}
}

// givenShown is how many commands of an address are listed at most.
const givenShown = 12

// given lists the commands of the address, or of many those around the tick shown; more says of the rest.
func given(a Address) (list []view.Given, more string) {
	around := slices.IndexFunc(a.Do, func(s Stamped) bool { return s.Tick > a.T })
	from, to := nearest(len(a.Do), around, givenShown)
	if to-from < len(a.Do) {
		more = fmt.Sprintf("Commands %d to %d of %d.", from+1, to, len(a.Do))
	}
	for i, s := range a.Do {
		if i < from || i >= to {
			continue
		}
		goTo := Replace(fmt.Sprintf("given-%d", i), fmt.Sprintf("tick %d", s.Tick), a.WithTick(s.Tick))
		goTo.Inactive = s.Tick < a.First() || s.Tick > a.Last()
		list = append(list, view.Given{
			Tick: s.Tick, Text: s.Command.String(), Ahead: s.Tick > a.T,
			GoTo:   goTo,
			Remove: view.Link{ID: fmt.Sprintf("remove-%d", i), Text: "remove", Label: "Remove the command " + s.Command.String(), Href: a.WithoutCommand(i).String(), Go: "push"},
		})
	}
	return list, more
}

// rejections tells of the commands that could not apply, with a way to take each out.
func rejections(f Frame) []view.Notice {
	var notices []view.Notice
	a, j := f.Address, f.Cluster.Journal()
	given := -1 // index in a.Do of the command that was carried out last
	for i, s := range a.Do[:a.given()] {
		if i > 0 && a.Do[i-1].Tick == s.Tick {
			continue // seen already
		}
		for e := range j.Of(kafka.Tick(s.Tick)) {
			switch body := e.Body.(type) {
			case journal.CommandGiven:
				given++
			case journal.CommandRejected:
				remove := view.Link{ID: fmt.Sprintf("reject-%d", given), Text: "Remove it", Href: a.WithoutCommand(given).String(), Go: "push"}
				notices = append(notices, view.Notice{Text: fmt.Sprintf("At tick %d: %s", e.Tick, body.Sentence()), Link: &remove})
			}
		}
	}
	return notices
}

// limits lists what the lab's parts of the engine leave out.
func limits(lab *Lab) []view.Limit {
	var list []view.Limit
	for _, s := range SimplifiedOf(lab.Packages...) {
		list = append(list, view.Limit{Text: sentenceCase(s.Text), Source: s.Source, At: s.At})
	}
	return list
}

// PairLink shows this run beside one in which a setting has another value: own and other, whichever the run has.
func PairLink(a Address, id, text, setting, own, other string) view.Link {
	if a.Values.Text(setting) == other {
		own, other = other, own
	}
	return view.Link{ID: id, Text: text, Href: a.WithValue(setting, own).WithTwin(setting, other).String(), Go: "push"}
}
