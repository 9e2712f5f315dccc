package labs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	MaxQuery    = 16 << 10 // bytes of a query as it is asked for; a form's is longer than the canonical one
	MaxRun      = 3500     // bytes of its settings and commands, so that a canonical address stays below 4 KiB
	MaxTick     = 5000
	MaxCommands = 200
)

// Version is the newest version of the engine's behaviour, and the only one so far: it rises from the first
// release on.
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
	Vs      Twin      // a second run beside this one; the zero Twin: none
	At      Target    // what the inspector shows; the zero Target: nothing
	Why     uint64    // Seq of the event whose causes are shown; 0: none
	Pace    int       // frames a second while playing
	Range   Range     // the ticks that can be shown; the zero Range: all
	Theme   string    // "", "light" or "dark"
	Size    string    // "" or "projector"
	Still   bool      // a picture and nothing that can be operated
	Chrome  string    // "" or "minimal": transport, picture and reading
	Story   *Story    // the scenario that is told; nil: this is the lab's own address
	Trying  bool      // the goal of Story is to be reached by a run of one's own
	Guesses []Guess   // at questions of Story, in their order

	head     *head        // the stored head that the address needs; nil: none
	run      []view.Param // the parameters that decide the run, canonical: see spell
	mirrored bool         // this is the address as the twin's frame has it: see other
	next     bool         // the next turn is asked for: see Runs.Next
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
	return &AddressError{Param: param, Found: strconv.Quote(Shortened(found)), Allowed: allowed}
}

// maxShown is how many bytes of what a reader asked for a message repeats.
const maxShown = 80

// Shortened gives as much of a reader's text as a message repeats.
func Shortened(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "…"
}

// Refuse makes an AddressError of a page that is no lab; found is quoted and shortened.
func Refuse(param, found, allowed string) *AddressError { return refuse(param, found, allowed) }

// Start gives the address at which a lab begins.
func Start(lab *Lab, site Site) Address {
	a := Address{Lab: lab, Site: site, Values: defaults(lab), Seed: defaultSeed, Horizon: lab.Horizon, Pace: defaultPace}
	a.spell()
	return a
}

// Parse reads a query where there are no stored heads. The error is an [*AddressError], a [*LongError] or
// a [*MissingError].
func Parse(lab *Lab, site Site, rawQuery string) (Address, error) {
	return Heads(nil).Parse(lab, site, rawQuery)
}

// Parse reads a query. The error is an [*AddressError], a [*LongError], a [*MissingError] or that of h.
func (h Heads) Parse(lab *Lab, site Site, rawQuery string) (Address, error) {
	return h.ParseFrom(Start(lab, site), rawQuery)
}

// ParseFrom reads a query of a lab or a scenario that begins at start. Errors are those of [Heads.Parse].
func (h Heads) ParseFrom(start Address, rawQuery string) (Address, error) {
	if len(rawQuery) > MaxQuery {
		return start, &AddressError{"address", fmt.Sprintf("%d bytes long after the question mark", len(rawQuery)), fmt.Sprintf("at most %d are allowed", MaxQuery)}
	}
	params, err := QueryParams(rawQuery)
	if err != nil {
		return start, err
	}
	a, err := h.readFrom(start, params)
	if err == nil && a.TooLong() {
		err = &LongError{a}
	}
	return a, err
}

// Read makes the address of parameters in any order. It may be too long for a link. The error is an
// [*AddressError], a [*MissingError] or that of h.
func (h Heads) Read(lab *Lab, site Site, params []view.Param) (Address, error) {
	return h.readFrom(Start(lab, site), params)
}

func (h Heads) readFrom(start Address, params []view.Param) (Address, error) {
	a := start.start(params)
	a.Values.text = slices.Clone(a.Values.text) // a story's are shared
	params = joinCommand(joinValues(joinValues(params, "at"), "guess"))
	once := map[string]string{}
	for _, p := range params {
		if err := a.checkName(p.Name); err != nil {
			return a, err
		}
		if _, twice := once[p.Name]; twice && p.Name != "do" && p.Name != "guess" && slices.Contains(a.names(), p.Name) { // else set says that there is no such parameter
			return a, refuse(p.Name, p.Value, "it is there twice; once is allowed")
		}
		once[p.Name] = p.Value
	}
	if err := a.begin(h, once); err != nil {
		return a, err
	}
	for _, p := range params {
		if err := a.set(p.Name, p.Value); err != nil {
			return a, err
		}
	}
	slices.SortStableFunc(a.Do, func(x, y Stamped) int { return x.Tick - y.Tick })
	if own, ok := once[besideParam]; ok {
		if err := a.setBeside(own); err != nil {
			return a, err
		}
	}
	if err := a.checkTwin(); err != nil {
		return a, err
	}
	a.spell()
	a.stayInRange()
	return a, nil
}

// joinValues makes one of two parameters of a name of which the first breaks off at a colon, as a form sends
// them: at=find:orders-0:&at=17.
func joinValues(params []view.Param, name string) []view.Param {
	first := slices.IndexFunc(params, func(p view.Param) bool { return p.Name == name && strings.HasSuffix(p.Value, ":") })
	if first < 0 {
		return params
	}
	second := slices.IndexFunc(params[first+1:], func(p view.Param) bool { return p.Name == name })
	if second < 0 {
		return params
	}
	joined := slices.Clone(params)
	joined[first].Value += params[first+1+second].Value
	return slices.Delete(joined, first+1+second, first+2+second)
}

// joinCommand makes one command of several parameters "do", as a form sends them: one that ends after the tick, one
// with an asterisk for each word that is chosen, and these words. do=4:&do=cut+*+*&do=b1&do=b2 is do=4:cut+b1+b2.
func joinCommand(params []view.Param) []view.Param {
	first := slices.IndexFunc(params, func(p view.Param) bool { return p.Name == "do" && strings.HasSuffix(p.Value, ":") })
	if first < 0 {
		return params
	}
	joined := slices.Clone(params[:first+1])
	text := &joined[first].Value
	for i, p := range params[first+1:] {
		switch {
		case p.Name != "do":
			joined = append(joined, p)
			text = &joined[first].Value
		case strings.HasSuffix(*text, ":"):
			*text += p.Value
		case strings.Contains(*text, "*"):
			*text = strings.Replace(*text, "*", strings.ReplaceAll(p.Value, "*", ""), 1)
		default:
			return append(joined, params[first+1+i:]...)
		}
	}
	return joined
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
	case "from", "without", "z": // begin took them
	case besideParam: // Read takes it, after all settings
	case nextParam:
		a.next = true
		return setNumber(new(int), name, value, 1, 1)
	case "":
		return refuse("a parameter's name", name, "allowed are "+strings.Join(a.names(), ", "))
	case "v":
		return setNumber(new(int), name, value, Version, Version)
	case "seed":
		seed, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			return refuse(name, value, "a whole number from 0 to 18446744073709551615 is allowed")
		}
		a.Seed = seed
	case "do":
		return a.addCommands(name, strings.ReplaceAll(value, "\r\n", "\n")) // a form sends several in one
	case "t":
		return setNumber(&a.T, name, value, 0, MaxTick)
	case "horizon":
		return setNumber(&a.Horizon, name, value, 1, MaxTick)
	case "vs":
		return a.setTwin(value)
	case "at":
		return a.setTarget(value)
	case "why":
		return a.setWhy(value)
	case "pace":
		return setChoice(&a.Pace, name, value, paces)
	case "range", "theme", "size", "still", "chrome":
		return a.setShown(name, value)
	case "guess", goalParam:
		return a.setStory(name, value)
	default:
		return &AddressError{"parameter " + strconv.Quote(name), "not known here", "allowed are " + strings.Join(a.names(), ", ")}
	}
	return nil
}

// paces are the frames a second at which a run can be played.
var paces = []int{1, 2, 5, 10}

// names lists the parameters of the lab, in canonical order.
func (a *Address) names() []string {
	if a.told() {
		return storyNames()
	}
	names := append([]string{"v", "from"}, NamesOf(a.Lab.Settings)...)
	return append(names, "seed", "without", "do", "z", "t", nextParam, "range", "horizon", "vs", besideParam, "at", "why", "pace", "theme", "size", "still", "chrome")
}

func setNumber(target *int, name, value string, min, max int) error {
	text, allowed, ok := wholeNumber(value, min, max)
	if !ok {
		return refuse(name, value, allowed)
	}
	*target, _ = strconv.Atoi(text)
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

// addCommands takes commands, a line each; name is the parameter they stand in.
func (a *Address) addCommands(name, lines string) error {
	for line := range strings.SplitSeq(lines, "\n") {
		if err := a.addCommand(name, line); err != nil {
			return err
		}
	}
	return nil
}

// addCommand takes one "TICK:COMMAND".
func (a *Address) addCommand(name, value string) error {
	const form = "TICK:COMMAND is allowed, as in 4:pause c1"
	tick, text, ok := strings.Cut(value, ":")
	if !ok {
		return refuse(name, value, form)
	}
	at, err := strconv.Atoi(tick)
	if err != nil || at < 0 || at > MaxTick {
		return refuse(name, value, fmt.Sprintf("%s, with a tick from 0 to %d", form, MaxTick))
	}
	cmd, err := command.Parse(text)
	if err != nil {
		return refuse(name, value, err.Error())
	}
	if len(a.Do) == MaxCommands {
		return refuse(name, value, fmt.Sprintf("at most %d commands are allowed", MaxCommands))
	}
	a.Do = append(a.Do, Stamped{at, cmd})
	return nil
}

// Params gives the canonical parameters in order, "v" always there, what differs neither from the defaults
// nor from the stored head left out.
func (a Address) Params() []view.Param { return slices.Concat(a.run, a.frameParams()) }

// frameParams gives the parameters that choose a frame of the run and how it is shown.
func (a Address) frameParams() []view.Param {
	a = a.own()
	var params []view.Param
	add := func(name, value, standard string) {
		if value != standard {
			params = append(params, view.Param{Name: name, Value: value})
		}
	}
	add("t", strconv.Itoa(a.T), "0")
	add("range", a.Range.String(), "")
	if a.Range == (Range{}) { // else it is the range's end
		add("horizon", strconv.Itoa(a.Horizon), strconv.Itoa(a.standardHorizon()))
	}
	if !a.told() {
		add("vs", a.twinText(), "")
	}
	add("at", a.atText(), "")
	add("why", a.whyText(), "0")
	params = append(params, a.storyParams()...)
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
// them. Commands that are not compressed stand in one parameter, a line each, so that a form stays small.
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
func (a Address) Query() string { return queryText(a.Params()) }

// queryText writes parameters as a query.
func queryText(params []view.Param) string {
	var b strings.Builder
	for i, p := range params {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(p.Name + "=" + escape(p.Value))
	}
	return b.String()
}

// String gives the canonical address: path and query.
func (a Address) String() string { return a.Path() + "?" + a.Query() }

// WithTick gives the same run at another tick, the nearest that can be shown.
func (a Address) WithTick(t int) Address {
	a.T = min(max(t, a.First()), a.Last())
	return a
}

// WithTarget gives the same frame with the inspector on something else; the causes are closed.
func (a Address) WithTarget(t Target) Address {
	a.At, a.Why, a.Vs.At, a.Vs.Why = t, 0, Target{}, 0
	return a
}

// WithWhy gives the same frame with the causes of one event shown.
func (a Address) WithWhy(seq uint64) Address {
	a.At, a.Why, a.Vs.At, a.Vs.Why = Target{}, seq, Target{}, 0
	return a
}

// WithValue gives the address with one setting changed to a canonical text.
func (a Address) WithValue(name, text string) Address {
	a.Values = a.Values.with(name, text)
	a.dropEqualTwin()
	a.spell()
	return a
}

// WithSeed gives the address with another seed.
func (a Address) WithSeed(seed uint64) Address {
	a.Seed = seed
	a.spell()
	return a
}

// WithCommand gives the run in which one more command is given at the tick shown. To act is to fork:
// commands stamped later are dropped, unless keepLater.
func (a Address) WithCommand(cmd command.Command, keepLater bool) Address {
	now := a.given()
	do := append(slices.Clone(a.Do[:now]), Stamped{a.T, cmd})
	if keepLater {
		do = append(do, a.Do[now:]...)
	}
	a.Do = do
	a.spell()
	return a
}

// given is how many commands are stamped no later than the tick shown.
func (a Address) given() int {
	later := slices.IndexFunc(a.Do, func(s Stamped) bool { return s.Tick > a.T })
	if later < 0 {
		return len(a.Do)
	}
	return later
}

// withoutLater gives the run without the commands stamped later than the tick shown.
func (a Address) withoutLater() Address {
	a.Do = slices.Clone(a.Do[:a.given()])
	a.spell()
	return a
}

// WithoutCommand gives the run without the command of that index.
func (a Address) WithoutCommand(i int) Address {
	a.Do = slices.Delete(slices.Clone(a.Do), i, i+1)
	a.spell()
	return a
}

// tick gives the tick shown in the engine's type.
func (a Address) tick() kafka.Tick { return kafka.Tick(a.T) }
