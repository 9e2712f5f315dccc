package labs

import (
	"cmp"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"

	"loglab/engine/journal"
	"loglab/labs/view"
)

// newPair draws a frame of two runs: the page of the first, and beside its picture, reading and events those
// of the second. The first same events of the two are known to be the same.
func newPair(own, twin Frame, same uint64) *view.Page {
	own.Beside, twin.Beside = &twin.View, &own.View
	a := own.Address
	p, q := newPage(own), &view.Page{}
	fill(twin, q)
	p.Picture.Run, q.Picture.Run = runName(a), runName(twin.Address)
	p.Events.Run, q.Events.Run = p.Picture.Run, q.Picture.Run
	t := &view.Twin{
		OneRun: view.Link{ID: "one-run", Text: "Show one run", Label: "Show one run, " + p.Picture.Run, Href: a.Alone().String(), Go: "push"},
		Legend: legend(&p.Picture, &q.Picture),
	}
	p.Twin = t
	differ := markDifferences(&p.Picture, &q.Picture)
	p.Reading, t.Reading, t.Both = splitReadings(p.Reading, q.Reading)
	if p.Inspector == nil && q.Inspector != nil {
		p.Inspector = q.Inspector
		asTwins(reflect.ValueOf(p.Inspector), false)
		p.Inspector.Title += ", with " + q.Picture.Run
	} else if p.Inspector != nil {
		p.Inspector.Title += ", with " + p.Picture.Run
	}
	t.Picture, t.Events = q.Picture, q.Events
	asTwins(reflect.ValueOf(&t.Picture), true)
	asTwins(reflect.ValueOf(&t.Events), true)
	t.Picture.Prefix, t.Events.Prefix = twinID, twinID
	p.Notices = append(p.Notices, twinNotices(p.Notices, twin, q.Picture.Run)...)
	p.Actions.Title = fmt.Sprintf("Now, at tick %d, in both runs", a.T)
	tellDifference(p, own, twin, same)
	if len(t.By[0]) > 0 && !differ {
		t.First = append(t.First, view.Span{Text: fmt.Sprintf(" At tick %d the two pictures show the same.", a.T)})
	}
	return p
}

// runName says by what a run differs from the other on its page: "partitions = 6".
func runName(a Address) string {
	const most = 40
	value := strings.ReplaceAll(a.Values.Text(a.Vs.Setting), "\n", ", ")
	if long := []rune(value); len(long) > most {
		value = string(long[:most]) + "…"
	}
	return a.Vs.Setting + " = " + cmp.Or(value, "nothing")
}

// twinID begins the ids of the parts of the second run.
const twinID = "vs-"

// asTwins makes what a lab has drawn of the second run its own on a page of two: what it opens is the
// twin's, and where withIDs, its ids are other than those of the first.
func asTwins(v reflect.Value, withIDs bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			asTwins(v.Elem(), withIDs)
		}
	case reflect.Slice:
		for i := range v.Len() {
			asTwins(v.Index(i), withIDs)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			switch name, field := v.Type().Field(i).Name, v.Field(i); {
			case field.Kind() != reflect.String:
				asTwins(field, withIDs)
			case name == "ID" && withIDs && field.String() != "":
				field.SetString(twinID + field.String())
			case isTarget(v, name) && field.String() != "" && !strings.HasPrefix(field.String(), ofTwin):
				field.SetString(ofTwin + field.String())
			}
		}
	}
}

// isTarget says whether a field of a piece of a page is a value of "at". Bytes and limits have positions of
// that name.
func isTarget(piece reflect.Value, field string) bool {
	if field != "At" && field != "Value" {
		return false
	}
	switch p := piece.Interface().(type) {
	case view.Param:
		return field == "Value" && p.Name == "at"
	case view.HexLine, view.ByteField, view.Limit:
		return false
	}
	return field == "At"
}

// legend takes the signs of both pictures and joins them.
func legend(a, b *view.Picture) []view.Key {
	list := []view.Key{{Kind: "differs", Text: "not so in the other run"}}
	for _, k := range slices.Concat(a.Legend, b.Legend) {
		if !slices.Contains(list, k) {
			list = append(list, k)
		}
	}
	a.Legend, b.Legend = nil, nil
	return list
}

// splitReadings says what is true of one run only, and what of both.
func splitReadings(a, b []view.Paragraph) (onlyA, onlyB, both []view.Paragraph) {
	left := map[string]int{}
	for _, p := range b {
		left[paragraphText(p)]++
	}
	for _, p := range a {
		if text := paragraphText(p); left[text] > 0 {
			left[text]--
			both = append(both, p)
		} else {
			onlyA = append(onlyA, p)
		}
	}
	clear(left)
	for _, p := range both {
		left[paragraphText(p)]++
	}
	for _, p := range b {
		if text := paragraphText(p); left[text] > 0 {
			left[text]--
		} else {
			onlyB = append(onlyB, p)
		}
	}
	return onlyA, onlyB, both
}

func paragraphText(p view.Paragraph) string {
	var b strings.Builder
	for _, s := range p {
		b.WriteString(s.Text)
	}
	return b.String()
}

// twinNotices tells of the commands that could not apply in the twin alone.
func twinNotices(told []view.Notice, twin Frame, name string) []view.Notice {
	var list []view.Notice
	for _, n := range rejections(twin) {
		if !slices.ContainsFunc(told, func(t view.Notice) bool { return t.Text == n.Text }) {
			n.Text = "With " + name + ", " + strings.ToLower(n.Text[:1]) + n.Text[1:]
			n.Link.ID = twinID + n.Link.ID
			list = append(list, n)
		}
	}
	return list
}

// tellDifference says what the tick brought in each run, and from which tick on they differ.
func tellDifference(p *view.Page, own, twin Frame, same uint64) {
	a, t := own.Address, p.Twin
	ownName, twinName := p.Picture.Run, t.Picture.Run
	if of := changes(own); of == changes(twin) {
		p.Change = fmt.Sprintf("Tick %d, in both runs: %s.", a.T, of)
	} else {
		p.Change = fmt.Sprintf("Tick %d. With %s: %s. With %s: %s.", a.T, ownName, of, twinName, changes(twin))
	}
	j, k := own.Cluster.Journal(), twin.Cluster.Journal()
	seq, ok := firstDifference(j, k, same)
	if !ok {
		t.First = view.Paragraph{{Text: fmt.Sprintf("No difference up to tick %d.", a.T), Strong: true}}
		return
	}
	e, inOwn := j.At(seq)
	f, inTwin := k.At(seq)
	tick := e.Tick
	if !inOwn || inTwin && f.Tick < tick {
		tick = f.Tick
	}
	where := view.Span{Text: fmt.Sprintf("tick %d", tick)}
	if n := int(tick); n >= a.First() && n <= a.Last() {
		to := a.WithTick(n)
		where.Href, where.Go = to.String(), "replace"
		first, end := a.First(), max(a.Horizon, a.T)
		p.Transport.Differs = &view.Mark{Position: position(n, first, end), Tick: n, Text: "first difference", Link: Replace("first-difference", "first difference", to)}
		p.Transport.Differs.Link.Label = fmt.Sprintf("To the first difference, tick %d", n)
	}
	t.First = view.Paragraph{{Text: "The runs differ from ", Strong: true}, where, {Text: " on.", Strong: true}}
	inOwn, inTwin = inOwn && e.Tick == tick, inTwin && f.Tick == tick
	if inOwn && inTwin {
		e, f = telling(j, k, e), telling(k, j, f)
	}
	t.By[0] = tellEvent(ownName, own.Address, e, inOwn)
	t.By[1] = tellEvent(twinName, twin.Address, f, inTwin)
	if a.tick() == tick {
		p.Change += " Here they begin to differ."
	}
}

// telling gives the first event from one on, in the same tick, that says more than that a message went or that the
// cluster's own log grew, and that the other run does not have from that place on. Where there is none it is the
// event itself.
func telling(j, other *journal.Journal, first journal.Event) journal.Event {
	has := map[string]int{} // only looked up
	name := func(e journal.Event) string { return string(e.Node) + " " + e.Body.Kind() + " " + e.Body.Text() }
	for e := range restOfTick(other, first) {
		has[name(e)]++
	}
	for e := range restOfTick(j, first) {
		if n := name(e); has[n] > 0 {
			has[n]--
			continue
		}
		return e
	}
	return first
}

// restOfTick walks over the telling events of an event's tick, from its place on.
func restOfTick(j *journal.Journal, first journal.Event) iter.Seq[journal.Event] {
	return func(yield func(journal.Event) bool) {
		for e := range j.Of(first.Tick) {
			appended, is := e.Body.(journal.BatchAppended)
			if e.Seq < first.Seq || isTraffic(e.Body) || is && isInternal(appended.TopicPartition) {
				continue
			}
			if !yield(e) {
				return
			}
		}
	}
}

// tellEvent tells the event by which a run differs first from the other.
func tellEvent(name string, a Address, e journal.Event, ok bool) view.Paragraph {
	head := view.Span{Text: name + ": ", Strong: true}
	switch {
	case !ok:
		return view.Paragraph{head, {Text: "nothing more happened then."}}
	case isTraffic(e.Body):
		return view.Paragraph{head, {Text: "only other messages were on their way."}}
	}
	why := a.WithTick(int(e.Tick)).WithWhy(e.Seq)
	return view.Paragraph{head, {Text: string(e.Node) + ": "}, {Text: e.Body.Sentence(), Href: why.String(), Go: "replace"}}
}

// firstDifference gives the Seq of the first event that two journals do not share: the same tick, node, kind
// and text. ok is false where they are the same. The first same events are known to be.
func firstDifference(a, b *journal.Journal, same uint64) (seq uint64, ok bool) {
	for seq = same + 1; ; seq++ {
		e, inA := a.At(seq)
		f, inB := b.At(seq)
		if !inA && !inB {
			return 0, false
		}
		if inA != inB || e.Tick != f.Tick || e.Node != f.Node || !sameBody(e.Body, f.Body) {
			return seq, true
		}
	}
}

// sameBody compares kind and text. To compare the values is quicker; those with a list in them cannot be.
func sameBody(a, b journal.Body) bool {
	if t := reflect.TypeOf(a); t.Comparable() && t == reflect.TypeOf(b) && a == b {
		return true
	}
	return a.Kind() == b.Kind() && a.Text() == b.Text()
}
