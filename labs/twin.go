package labs

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"loglab/labs/view"
)

// Twin is what an address says of a second run, which has the address's own seed, commands and settings but
// for one setting. The zero Twin: there is no second run.
type Twin struct {
	Setting string // the name of the setting that differs
	Value   string // its value in the twin, canonical, never that of the address's own run
	At      Target // what the inspector shows of the twin; the zero Target: nothing
	Why     uint64 // Seq of the twin's event whose causes are shown; 0: none
}

// ofTwin stands before the value of "at" or "why" that means the twin's.
const ofTwin = "vs:"

// maxTwin is how many bytes of an address "vs" may take: with a stored head for all else, such an address
// is still short enough for a link.
const maxTwin = 1500

// setTwin takes "vs".
func (a *Address) setTwin(value string) error {
	name, raw, ok := strings.Cut(value, ":")
	i := slices.IndexFunc(a.Lab.Settings, func(s Setting) bool { return s.Name == name })
	if !ok || i < 0 {
		return refuse("vs", value, "SETTING:VALUE is allowed, where SETTING is one of "+strings.Join(NamesOf(a.Lab.Settings), ", "))
	}
	text, allowed, ok := a.Lab.Settings[i].canonical(raw)
	if !ok {
		return refuse("vs", value, "of "+name+" "+allowed)
	}
	a.Vs.Setting, a.Vs.Value = name, text
	if a.twinBytes() > maxTwin {
		return refuse("vs", value, fmt.Sprintf("at most %d bytes of an address are allowed for it", maxTwin))
	}
	return nil
}

// besideParam is what the second button of a form of settings sends: the values that the run shown has of the
// form's settings, as a query. What the fields hold besides is the twin's.
const besideParam = "beside"

// ownValues makes it of the settings of those names.
func ownValues(a Address, names []string) view.Param {
	var list []view.Param
	for _, name := range names {
		list = append(list, view.Param{Name: name, Value: a.Values.Text(name)})
	}
	return view.Param{Name: besideParam, Value: queryText(list)}
}

// setBeside makes of the one setting that is not as in the run shown the twin's, and of the others the
// address's own.
func (a *Address) setBeside(own string) error {
	const allowed = "one setting of the form is allowed to differ from the run shown, which the other is to stand beside"
	params, err := QueryParams(own)
	if err != nil {
		return err
	}
	values := a.Values
	var changed []string
	for _, p := range params {
		i := slices.IndexFunc(a.Lab.Settings, func(s Setting) bool { return s.Name == p.Name })
		if i < 0 {
			return refuse(besideParam, p.Name, "settings of the lab are allowed, as a form sends them")
		}
		text, may, ok := a.Lab.Settings[i].canonical(p.Value)
		if !ok {
			return refuse(besideParam, p.Value, "of "+p.Name+" "+may)
		}
		if text != a.Values.Text(p.Name) {
			changed = append(changed, p.Name)
			values = values.with(p.Name, text)
		}
	}
	if len(changed) != 1 {
		return refuse(besideParam, cmp.Or(strings.Join(changed, ", "), "no setting changed"), allowed)
	}
	value := a.Values.Text(changed[0])
	a.Values = values
	return a.setTwin(changed[0] + ":" + value)
}

// checkTwin says what is wrong with what a whole address says of a twin, and drops a twin that is as its
// own run.
func (a *Address) checkTwin() error {
	if a.HasTwin() {
		a.dropEqualTwin()
		return nil
	}
	const without = "it names something of a twin run, and the address has no vs"
	switch {
	case a.Vs.At != Target{}:
		return refuse("at", ofTwin+a.Vs.At.String(), without)
	case a.Vs.Why != 0:
		return refuse("why", ofTwin+strconv.FormatUint(a.Vs.Why, 10), without)
	}
	return nil
}

// dropEqualTwin leaves one run where the two are the same. What was shown of the twin is then shown of it.
func (a *Address) dropEqualTwin() {
	if a.HasTwin() && a.Values.Text(a.Vs.Setting) == a.Vs.Value {
		if a.Vs.At != (Target{}) || a.Vs.Why != 0 {
			a.At, a.Why = a.Vs.At, a.Vs.Why
		}
		a.Vs, a.mirrored = Twin{}, false
	}
}

// HasTwin says whether the address shows two runs.
func (a Address) HasTwin() bool { return a.Vs.Setting != "" }

// twinText gives the value of "vs"; empty where there is no twin.
func (a Address) twinText() string {
	if !a.HasTwin() {
		return ""
	}
	return a.Vs.Setting + ":" + a.Vs.Value
}

// twinBytes is how many bytes of an address "vs" takes.
func (a Address) twinBytes() int {
	if !a.HasTwin() {
		return 0
	}
	return 1 + queryBytes([]view.Param{{Name: "vs", Value: a.own().twinText()}}, MaxQuery)
}

// WithTwin gives the same frame beside that of a run with one setting changed to a canonical text.
func (a Address) WithTwin(setting, text string) Address {
	a.Vs = Twin{Setting: setting, Value: text}
	a.dropEqualTwin()
	a.spell()
	return a
}

// Alone gives the frame of this run without the other.
func (a Address) Alone() Address {
	a.Vs, a.mirrored = Twin{}, false
	a.spell()
	return a
}

// other gives the address as the twin's frame has it: values and what the inspector shows are the twin's,
// and Vs says the same of the address's own run. Its links, made as in any frame, lead to addresses of the
// page with both runs. The other of the other is the address itself.
func (a Address) other() Address {
	o := a
	o.mirrored = !a.mirrored
	o.Values = a.Values.with(a.Vs.Setting, a.Vs.Value)
	o.At, o.Why = a.Vs.At, a.Vs.Why
	o.Vs = Twin{Setting: a.Vs.Setting, Value: a.Values.Text(a.Vs.Setting), At: a.At, Why: a.Why}
	return o // what is written of both is the same
}

// Other gives the address of the second run as its frame has it.
func (a Address) Other() Address { return a.other() }

// own gives the address as its own run's frame has it.
func (a Address) own() Address {
	if a.mirrored {
		return a.other()
	}
	return a
}

// Shown gives what the inspector shows of either run: the window around it is drawn of both.
func (a Address) Shown() Target {
	if a.At == (Target{}) {
		return a.Vs.At
	}
	return a.At
}

// atText and whyText give what the inspector shows as an address has it.
func (a Address) atText() string {
	if a.Vs.At != (Target{}) {
		return ofTwin + a.Vs.At.String()
	}
	return a.At.String()
}

func (a Address) whyText() string {
	if a.Vs.Why != 0 {
		return ofTwin + strconv.FormatUint(a.Vs.Why, 10)
	}
	return strconv.FormatUint(a.Why, 10)
}

// setTarget takes "at".
func (a *Address) setTarget(value string) error {
	text, twin := strings.CutPrefix(value, ofTwin)
	target, err := parseTarget(text)
	if err == nil && twin && text == "" {
		err = errTarget
	}
	if err != nil {
		return refuse("at", value, err.Error())
	}
	if twin {
		a.Vs.At = target
	} else {
		a.At = target
	}
	return nil
}

// setWhy takes "why".
func (a *Address) setWhy(value string) error {
	text, twin := strings.CutPrefix(value, ofTwin)
	why, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return refuse("why", value, "the number of an event is allowed, after vs: where it is one of a twin run")
	}
	if twin {
		a.Vs.Why = why
	} else {
		a.Why = why
	}
	return nil
}

// TwinError says that the second of two runs cannot be shown.
type TwinError struct {
	Run string // by what it differs from the first: "partitions = 6"
	Err error  // one of those of a run
}

// Error names the run.
func (e *TwinError) Error() string { return "with " + e.Run + ": " + e.Err.Error() }

// Unwrap gives the error of the run.
func (e *TwinError) Unwrap() error { return e.Err }
