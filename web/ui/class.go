package ui

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"loglab/labs/view"

	"github.com/a-h/templ"
)

// classes joins a first class with those whose condition holds.
type classes []string

func (c *classes) add(name string, when bool) {
	if when {
		*c = append(*c, name)
	}
}

func (c classes) String() string { return strings.Join(c, " ") }

// keyColors is the number of colours for keys: classes k1 to k8.
const keyColors = 8

// keyClass is the class of a key's colour, k0 for no key.
func keyClass(color int) string {
	if color < 0 || color > keyColors {
		color = 0
	}
	return "k" + strconv.Itoa(color)
}

func buttonClass(l view.Link) string {
	c := classes{"btn"}
	c.add("primary", l.Primary)
	c.add("warn", l.Warn)
	return c.String()
}

func fieldClass(f view.Field) string {
	const longLabel, longNumber = 14, 9_999_999
	switch {
	case f.Kind == view.Lines || f.Kind == view.Line:
		return "field wide"
	case len(f.Label) > longLabel && strings.Contains(f.Label, ".") || f.Max > longNumber:
		return "field long"
	}
	return "field"
}

func memberClass(m view.Member) string {
	c := classes{"member", m.State}
	c.add("differs", m.Differs)
	return c.String()
}

// memberText is what stands beside a member's name. That a node works, its sign says.
func memberText(m view.Member) string {
	switch {
	case m.Text != "":
		return m.State + ", " + m.Text
	case m.State == "working":
		return ""
	}
	return m.State
}

// messageText is the second line of an envelope.
func messageText(m view.Message) string { return m.From + " → " + m.To + ", " + m.When }

func messageClass(m view.Message) string {
	c := classes{"message"}
	c.add("response", m.Response)
	c.add("right", m.Right)
	c.add("held", m.Held)
	c.add("differs", m.Differs)
	return c.String()
}

func cellClass(c view.Cell) string {
	names := classes{"cell", keyClass(c.Color)}
	names.add("long", utf8.RuneCountInString(c.Text) > 3)
	names.add("longer", utf8.RuneCountInString(c.Text) > 4)
	names.add("waiting", c.Waiting)
	names.add("batch", c.BatchStart)
	names.add("segment", c.SegmentStart)
	names.add("moved", c.Moved)
	names.add("late", c.Late)
	names.add("acked", c.Acknowledged)
	names.add("lost", c.Lost)
	names.add("again", c.Again)
	names.add("stage-"+c.Stage, c.Stage != "")
	names.add("gone", c.Gone)
	names.add("tombstone", c.Tombstone)
	names.add("below", c.Below)
	names.add("hole", c.Hole != "")
	names.add("new", c.New)
	names.add("selected", c.Selected)
	names.add("differs", c.Differs)
	return names.String()
}

// cellData is what the style sheet writes under a record's text: its offset, or a word.
func cellData(c view.Cell) templ.OrderedAttributes {
	if c.Stage != "" {
		return templ.OrderedAttributes{{Key: "data-word", Value: c.Word}}
	}
	if c.Hole != "" {
		return templ.OrderedAttributes{{Key: "data-offset", Value: c.Offset}, {Key: "data-hole", Value: c.Hole}}
	}
	return templ.OrderedAttributes{{Key: "data-offset", Value: c.Offset}}
}

// legendClass draws the sign that the key explains, on a cell without a colour of its own.
func legendClass(k view.Key) string {
	return classes{"cell", "k0", "sample", k.Kind}.String()
}

func laneClass(s view.Strip) string {
	c := classes{"lane"}
	c.add("has-above", s.Above != nil)
	return c.String()
}

func stripClass(s view.Strip) string {
	c := classes{"strip", "cols-" + strconv.Itoa(min(max(s.Columns, 1), maxColumns))}
	c.add("wide", s.Width > 100)
	c.add("flags-"+strconv.Itoa(s.FlagRows), s.FlagRows > 0)
	c.add("gaps-"+strconv.Itoa(s.GapRows), s.GapRows > 0)
	return c.String()
}

func eventClass(l view.EventLine) string {
	c := classes{"event"}
	c.add("fresh", l.Fresh)
	c.add("warn", l.Warn)
	return c.String()
}

func itemClass(i view.Item) string {
	c := classes{"item"}
	c.add(keyClass(i.Color), i.Color != 0)
	c.add(i.Mark, i.Mark != "")
	return c.String()
}

// itemLabel is the accessible name of an item whose mark means something.
func itemLabel(i view.Item) templ.OrderedAttributes {
	if i.Label == "" {
		return nil
	}
	return templ.OrderedAttributes{{Key: "aria-label", Value: i.Text + " (" + i.Label + ")"}}
}

// linkName is the accessible name of a link. It holds what is to be seen, so that a reader who speaks to
// the browser can say it.
func linkName(l view.Link) string {
	if strings.Contains(strings.ToLower(l.Label), strings.ToLower(strings.TrimRight(l.Text, "?"))) {
		return l.Label
	}
	return l.Text + ": " + l.Label
}

// longNote says whether a note is folded away until it is asked for.
func longNote(f view.Form) bool { return len(f.Note) > 160 }

// itemName is itemLabel for an item that is no control. Such an element has a name only as an image, and
// its sign is one.
func itemName(i view.Item) templ.OrderedAttributes {
	label := itemLabel(i)
	if label == nil {
		return nil
	}
	return append(templ.OrderedAttributes{{Key: "role", Value: "img"}}, label...)
}

// limitPlaces says where Kafka does the whole thing, if known, and what code the limit is true of.
func limitPlaces(l view.Limit) string {
	if l.Source == "" {
		return l.At
	}
	return l.Source + ", " + l.At
}

func helpID(f view.Field) string { return f.ID + "-help" }

func titleID(id string) string { return id + "-title" }

func wrongID(f view.Field) string { return f.ID + "-wrong" }

// describedBy names what is said of a field: what is wrong with it comes first.
func describedBy(f view.Field) (attributes templ.OrderedAttributes) {
	var ids []string
	if f.Wrong != "" {
		ids = append(ids, wrongID(f))
		attributes = append(attributes, templ.KeyValue[string, any]{Key: "aria-invalid", Value: "true"})
	}
	if f.Help != "" {
		ids = append(ids, helpID(f))
	}
	if ids != nil {
		attributes = append(attributes, templ.KeyValue[string, any]{Key: "aria-describedby", Value: strings.Join(ids, " ")})
	}
	return attributes
}

// textareaText starts with the line end that an HTML parser drops after <textarea>, so that a value
// which starts with one keeps it.
func textareaText(value string) string { return "\n" + value }

// tickText is how a tick stands at the head of a line: as the address writes it.
func tickText(tick int) string { return "t" + strconv.Itoa(tick) }

// inspectorAddress is the action of the picture's form: without JavaScript the answer opens at the
// inspector.
func inspectorAddress(path string) string { return path + "#inspector" }

// termText names a term of the glossary by its slug.
func termText(slug string) string { return strings.ReplaceAll(slug, "-", " ") }
