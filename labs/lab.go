package labs

import (
	"fmt"
	"strconv"
	"strings"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/labs/view"
)

// Lab is one lab. It is made once at start-up and only read.
type Lab struct {
	Name     string // in addresses: "partitions"
	Title    string
	Goal     string    // what it shows, in one sentence
	Summary  string    // for the list of labs
	Settings []Setting // its own parameters, in canonical order
	Ready    []Ready   // runs to begin with
	// TickMillis is the virtual time of one tick in all of its runs; 0: it has the setting [TickSetting].
	TickMillis kafka.Millis
	Horizon    int      // where playing ends unless the address says otherwise
	Packages   []string // whose simplifications its page shows: "engine/broker", …
	// Disk gives the directory of a partition that the page shows file by file and its reader can keep; nil: none.
	Disk func(*engine.Cluster) (name string, files []engine.DiskFile)
	// Spec says what runs under these values.
	Spec func(Values) (*engine.Spec, error)
	// Build draws the frame: picture, reading, actions and inspector. The rest is already there. What it puts on
	// a page belongs to that page alone: it is marked where two runs differ.
	Build func(Frame, *view.Page)
}

// Ready is a ready-made run: one click to see something.
type Ready struct {
	Title string
	Text  string // what it shows, one sentence
	Query string // canonical, without "v"; nothing after "pace"
}

// SetReady gives a lab its ready-made runs, whose queries it spells as addresses do. It panics if one is refused.
func (l *Lab) SetReady(runs []Ready) {
	for i, r := range runs {
		a, err := Parse(l, Pages, r.Query)
		if err != nil {
			panic(fmt.Sprintf("labs: %s, run %q: %v", l.Name, r.Title, err))
		}
		runs[i].Query = strings.TrimPrefix(a.Query(), fmt.Sprintf("v=%d&", Version))
	}
	l.Ready = runs
}

// Setting is one parameter of a lab.
type Setting struct {
	Name    string
	Label   string
	Help    string
	Default string   // canonical text
	Min     int      // of a whole number
	Max     int      // of a whole number
	Options []string // the choices; empty: not a choice
	// Canonical gives the one spelling of a value that is neither a number nor a choice; nil for those.
	Canonical func(raw string) (canonical string, err error)
	OneLine   bool // such a value is one line of text
}

// TickSetting is the name of the setting of a lab whose runs may have ticks of different length, in ms.
const TickSetting = "tick-ms"

// TickMillis is the virtual time of one tick of the run.
func (a Address) TickMillis() kafka.Millis {
	if a.Lab.TickMillis == 0 {
		return kafka.Millis(a.Values.Int(TickSetting))
	}
	return a.Lab.TickMillis
}

// NamesOf lists the names of settings.
func NamesOf(settings []Setting) []string {
	var names []string
	for _, s := range settings {
		names = append(names, s.Name)
	}
	return names
}

// canonical checks a value and gives its one spelling; allowed says what would do.
func (s Setting) canonical(raw string) (text, allowed string, ok bool) {
	switch {
	case s.Canonical != nil:
		text, err := s.Canonical(raw)
		if err != nil {
			return "", err.Error(), false
		}
		return text, "", true
	case s.Options != nil:
		for _, option := range s.Options {
			if raw == option {
				return raw, "", true
			}
		}
		return "", "allowed are " + strings.Join(s.Options, ", "), false
	}
	return wholeNumber(raw, s.Min, s.Max)
}

// wholeNumber reads a number between min and max, both included.
func wholeNumber(raw string, min, max int) (text, allowed string, ok bool) {
	n, err := strconv.Atoi(raw)
	if (err != nil || n != min) && min == max {
		return "", fmt.Sprintf("only %d is allowed", min), false
	}
	if err != nil || n < min || n > max {
		return "", fmt.Sprintf("a whole number from %d to %d is allowed", min, max), false
	}
	return strconv.Itoa(n), "", true
}

// Values are the values of a lab's settings.
type Values struct {
	lab  *Lab
	text []string // by setting, canonical; never written once made
}

// defaults gives the values that a lab starts with.
func defaults(lab *Lab) Values {
	v := Values{lab: lab, text: make([]string, len(lab.Settings))}
	for i, s := range lab.Settings {
		v.text[i] = s.Default
	}
	return v
}

// Text gives the canonical text of a setting. It panics if the lab has no such setting.
func (v Values) Text(name string) string {
	for i, s := range v.lab.Settings {
		if s.Name == name {
			return v.text[i]
		}
	}
	panic(fmt.Sprintf("labs: %s has no setting %q", v.lab.Name, name))
}

// Int gives the value of a setting that is a whole number.
func (v Values) Int(name string) int {
	n, err := strconv.Atoi(v.Text(name))
	if err != nil {
		panic(fmt.Sprintf("labs: setting %q of %s: %v", name, v.lab.Name, err))
	}
	return n
}

// with gives the values with one changed to a canonical text.
func (v Values) with(name, text string) Values {
	c := Values{lab: v.lab, text: append([]string(nil), v.text...)}
	for i, s := range v.lab.Settings {
		if s.Name == name {
			c.text[i] = text
		}
	}
	return c
}

// Frame is what a lab builds its page from: one run at one tick.
type Frame struct {
	Address Address
	Cluster *engine.Cluster // at the tick of the address, its commands carried out; only read
	View    engine.View     // of Cluster
	// Beside is the state of the other run where the page shows two; nil: it shows one. There is less room then:
	// a lab draws fewer places and strips, and the same of both where it can, so that eyes can compare them.
	Beside *engine.View
}
