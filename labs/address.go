package labs

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"loglab/engine/command"
	"loglab/engine/kafka"
	"loglab/labs/view"
)

// Site is the path under which a lab's pages live.
type Site string

// The sites.
const (
	Pages  Site = "/lab/"
	Embeds Site = "/embed/lab/"
)

// Bounds of an address.
const (
	MaxQuery    = 4096 // bytes of the query
	MaxTick     = 5000
	MaxCommands = 200
)

// Version is the newest version of the engine's behaviour, and the only one so far.
const Version = 1

// defaults of the reserved parameters.
const (
	defaultSeed = 1
	defaultPace = 2
)

// Address says everything about a frame. It is a value; its slices are never written once made. Make
// one with [Parse] or [Start].
type Address struct {
	Lab     *Lab
	Site    Site
	Values  Values
	Seed    uint64
	Do      []Stamped // commands in the order they run: by tick, then as the address has them
	T       int       // tick shown
	Horizon int       // where playing ends
	At      Target    // what the inspector shows; the zero Target: nothing
	Why     uint64    // Seq of the event whose causes are shown; 0: none
	Pace    int       // frames a second while playing
	Range   Range     // the ticks that can be shown; the zero Range: all
	Theme   string    // "", "light" or "dark"
	Size    string    // "" or "projector"
	Still   bool      // a picture and nothing that can be operated
	Chrome  string    // "" or "minimal": transport, picture and reading
}

// Stamped is a command and the tick at which it runs.
type Stamped struct {
	Tick    int
	Command command.Command
}

// String gives the text in an address: "4:pause c1".
func (s Stamped) String() string { return strconv.Itoa(s.Tick) + ":" + s.Command.String() }

// AddressError says what in an address cannot be taken.
type AddressError struct {
	Param   string // the parameter, or "address"
	Found   string // what was there, shortened
	Allowed string // what may stand there
}

// Error names the parameter, what was found and what is allowed.
func (e *AddressError) Error() string {
	return fmt.Sprintf("%s is %s: %s", e.Param, e.Found, e.Allowed)
}

// refuse makes an AddressError; found is quoted and shortened.
func refuse(param, found, allowed string) *AddressError {
	const most = 80
	if len(found) > most {
		found = strings.ToValidUTF8(found[:most], "") + "…"
	}
	return &AddressError{Param: param, Found: strconv.Quote(found), Allowed: allowed}
}

// Start gives the address at which a lab begins.
func Start(lab *Lab, site Site) Address {
	return Address{Lab: lab, Site: site, Values: defaults(lab), Seed: defaultSeed, Horizon: lab.Horizon, Pace: defaultPace}
}

// Parse reads a query. The error is an [*AddressError].
func Parse(lab *Lab, site Site, rawQuery string) (Address, error) {
	a := Start(lab, site)
	if len(rawQuery) > MaxQuery {
		return a, &AddressError{"address", fmt.Sprintf("%d bytes long after the question mark", len(rawQuery)), fmt.Sprintf("at most %d are allowed", MaxQuery)}
	}
	seen := map[string]bool{}
	for _, pair := range strings.Split(rawQuery, "&") {
		if pair == "" {
			continue
		}
		rawName, rawValue, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(rawName)
		if err != nil || !utf8.ValidString(name) {
			return a, refuse("a parameter's name", rawName, "valid percent-encoded UTF-8 is allowed")
		}
		if name == "" {
			return a, refuse("a parameter's name", name, "allowed are "+strings.Join(a.names(), ", "))
		}
		value, err := url.QueryUnescape(rawValue)
		if err != nil || !utf8.ValidString(value) {
			return a, refuse(name, rawValue, "valid percent-encoded UTF-8 is allowed")
		}
		if seen[name] && name != "do" {
			return a, refuse(name, value, "it is there twice; once is allowed")
		}
		seen[name] = true
		if err := a.set(name, value); err != nil {
			return a, err
		}
	}
	slices.SortStableFunc(a.Do, func(x, y Stamped) int { return x.Tick - y.Tick })
	a.stayInRange()
	return a, nil
}

// set takes one parameter.
func (a *Address) set(name, value string) error {
	for i, s := range a.Lab.Settings {
		if s.Name != name {
			continue
		}
		text, allowed, ok := s.canonical(value)
		if !ok {
			return refuse(name, value, allowed)
		}
		a.Values.text[i] = text // Parse made them; nobody else has them yet
		return nil
	}
	switch name {
	case "v":
		return setNumber(nil, name, value, Version, Version)
	case "seed":
		seed, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			return refuse(name, value, "a whole number from 0 to 18446744073709551615 is allowed")
		}
		a.Seed = seed
	case "do":
		for _, line := range strings.Split(strings.ReplaceAll(value, "\r\n", "\n"), "\n") { // a form sends several in one
			if err := a.addCommand(line); err != nil {
				return err
			}
		}
	case "t":
		return setNumber(&a.T, name, value, 0, MaxTick)
	case "horizon":
		return setNumber(&a.Horizon, name, value, 1, MaxTick)
	case "at":
		target, err := parseTarget(value)
		if err != nil {
			return refuse(name, value, err.Error())
		}
		a.At = target
	case "why":
		why, err := strconv.ParseUint(value, 10, 32)
		if err != nil {
			return refuse(name, value, "the number of an event is allowed")
		}
		a.Why = why
	case "pace":
		return setChoice(&a.Pace, name, value, paces)
	case "range", "theme", "size", "still", "chrome":
		return a.setShown(name, value)
	default:
		return &AddressError{"parameter " + strconv.Quote(name), "not known here", "allowed are " + strings.Join(a.names(), ", ")}
	}
	return nil
}

// paces are the frames a second at which a run can be played.
var paces = []int{1, 2, 5, 10}

// names lists the parameters of the lab, in canonical order.
func (a *Address) names() []string {
	names := []string{"v"}
	for _, s := range a.Lab.Settings {
		names = append(names, s.Name)
	}
	return append(names, "seed", "do", "t", "range", "horizon", "at", "why", "pace", "theme", "size", "still", "chrome")
}

func setNumber(target *int, name, value string, min, max int) error {
	text, allowed, ok := wholeNumber(value, min, max)
	if !ok {
		return refuse(name, value, allowed)
	}
	if target != nil {
		*target, _ = strconv.Atoi(text)
	}
	return nil
}

func setChoice(target *int, name, value string, allowed []int) error {
	n, err := strconv.Atoi(value)
	if err != nil || !slices.Contains(allowed, n) {
		return refuse(name, value, "allowed are "+strings.Trim(strings.ReplaceAll(fmt.Sprint(allowed), " ", ", "), "[]"))
	}
	*target = n
	return nil
}

// addCommand takes one "TICK:COMMAND".
func (a *Address) addCommand(value string) error {
	const form = "TICK:COMMAND is allowed, as in 4:pause c1"
	tick, text, ok := strings.Cut(value, ":")
	if !ok {
		return refuse("do", value, form)
	}
	at, err := strconv.Atoi(tick)
	if err != nil || at < 0 || at > MaxTick {
		return refuse("do", value, fmt.Sprintf("%s, with a tick from 0 to %d", form, MaxTick))
	}
	cmd, err := command.Parse(text)
	if err != nil {
		return refuse("do", value, err.Error())
	}
	if len(a.Do) == MaxCommands {
		return refuse("do", value, fmt.Sprintf("at most %d commands are allowed", MaxCommands))
	}
	a.Do = append(a.Do, Stamped{at, cmd})
	return nil
}

// Params gives the canonical parameters in order, defaults left out, "v" always there.
func (a Address) Params() []view.Param {
	params := []view.Param{{Name: "v", Value: strconv.Itoa(Version)}}
	add := func(name, value, standard string) {
		if value != standard {
			params = append(params, view.Param{Name: name, Value: value})
		}
	}
	for i, s := range a.Lab.Settings {
		add(s.Name, a.Values.text[i], s.Default)
	}
	add("seed", strconv.FormatUint(a.Seed, 10), strconv.Itoa(defaultSeed))
	for _, s := range a.Do {
		params = append(params, view.Param{Name: "do", Value: s.String()})
	}
	add("t", strconv.Itoa(a.T), "0")
	add("range", a.Range.String(), "")
	if a.Range == (Range{}) { // else it is the range's end
		add("horizon", strconv.Itoa(a.Horizon), strconv.Itoa(a.Lab.Horizon))
	}
	add("at", a.At.String(), "")
	add("why", strconv.FormatUint(a.Why, 10), "0")
	add("pace", strconv.Itoa(a.Pace), strconv.Itoa(defaultPace))
	add("theme", a.Theme, "")
	add("size", a.Size, "")
	if a.Still {
		add("still", "1", "")
	}
	add("chrome", a.Chrome, "")
	return params
}

// HiddenParams gives the parameters but for those of the given names: the hidden part of a form that sets
// them. All commands stand in one parameter, a line each, so that a form stays small.
func HiddenParams(a Address, names ...string) []view.Param {
	var do []string
	var params []view.Param
	for _, p := range a.Params() {
		switch {
		case slices.Contains(names, p.Name):
		case p.Name == "do":
			do = append(do, p.Value)
		default:
			params = append(params, p)
		}
	}
	if len(do) > 0 {
		params = append(params, view.Param{Name: "do", Value: strings.Join(do, "\n")})
	}
	return params
}

// Query gives the canonical query.
func (a Address) Query() string {
	var b strings.Builder
	for i, p := range a.Params() {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(p.Name + "=" + escape(p.Value))
	}
	return b.String()
}

// Path gives the path of the lab.
func (a Address) Path() string { return string(a.Site) + a.Lab.Name }

// String gives the canonical address: path and query.
func (a Address) String() string { return a.Path() + "?" + a.Query() }

// WithTick gives the same run at another tick, the nearest that can be shown.
func (a Address) WithTick(t int) Address {
	a.T = min(max(t, a.First()), a.Last())
	return a
}

// WithTarget gives the same frame with the inspector on something else; the causes are closed.
func (a Address) WithTarget(t Target) Address {
	a.At, a.Why = t, 0
	return a
}

// WithWhy gives the same frame with the causes of one event shown.
func (a Address) WithWhy(seq uint64) Address {
	a.At, a.Why = Target{}, seq
	return a
}

// WithValue gives the address with one setting changed to a canonical text.
func (a Address) WithValue(name, text string) Address {
	a.Values = a.Values.with(name, text)
	return a
}

// WithCommand gives the run in which one more command is given at the tick shown. To act is to fork:
// commands stamped later are dropped, unless keepLater.
func (a Address) WithCommand(cmd command.Command, keepLater bool) Address {
	now := slices.IndexFunc(a.Do, func(s Stamped) bool { return s.Tick > a.T })
	if now < 0 {
		now = len(a.Do)
	}
	do := append(slices.Clone(a.Do[:now]), Stamped{a.T, cmd})
	if keepLater {
		do = append(do, a.Do[now:]...)
	}
	a.Do = do
	return a
}

// WithoutCommand gives the run without the command of that index.
func (a Address) WithoutCommand(i int) Address {
	a.Do = slices.Delete(slices.Clone(a.Do), i, i+1)
	return a
}

// tick gives the tick shown in the engine's type.
func (a Address) tick() kafka.Tick { return kafka.Tick(a.T) }

// escape writes a value in the one way that a canonical address has it: a space as "+", letters, digits
// and a few signs as they are, every other byte as %XX.
func escape(s string) string {
	const plain = "-_.~:,/@!*"
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ':
			b.WriteByte('+')
		case c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.IndexByte(plain, c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
