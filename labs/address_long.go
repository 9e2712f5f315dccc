package labs

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"loglab/engine/kafka"
	"loglab/labs/view"
)

// Commands beyond this many bytes of an address travel compressed where that is shorter; up to it they
// stay readable.
const readable = 128

// maxInflated is how many bytes the commands of a "z" may have: it bounds what a few bytes can become.
const maxInflated = 16 << 10

// commandParams gives the commands as an address has them: a "do" each, or all in one "z".
//
// The text in "z" is the commands, a line each, as "do" has them; [deflate] makes it short and base64url
// without padding makes it text. An old "z" stays readable because every DEFLATE stream of such a text
// is, whoever compressed it; a page then has the one spelling that [deflate] gives.
func commandParams(do []Stamped) []view.Param {
	plain := plainCommands(do)
	size := queryBytes(plain, maxInflated)
	if text := strings.Join(texts(do), "\n"); size > readable && len(text) <= maxInflated {
		z := view.Param{Name: "z", Value: base64.RawURLEncoding.EncodeToString(deflate(text))}
		if queryBytes([]view.Param{z}, size) < size {
			return []view.Param{z}
		}
	}
	return plain
}

// plainCommands gives a "do" for each command.
func plainCommands(do []Stamped) []view.Param {
	var params []view.Param
	for _, text := range texts(do) {
		params = append(params, view.Param{Name: "do", Value: text})
	}
	return params
}

func texts(do []Stamped) []string {
	list := make([]string, len(do))
	for i, s := range do {
		list[i] = s.String()
	}
	return list
}

// inflate gives the text of a "z".
func inflate(z string) (string, error) {
	const form = "commands, a line each, in one DEFLATE stream in base64url are allowed"
	packed, err := base64.RawURLEncoding.DecodeString(z)
	if err != nil {
		return "", refuse("z", z, form+"; this is not base64url without padding")
	}
	source := bytes.NewReader(packed)
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(source), maxInflated+1))
	switch {
	case len(text) > maxInflated:
		return "", refuse("z", z, fmt.Sprintf("%s; at most %s bytes of commands", form, kafka.Thousands(maxInflated)))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "", refuse("z", z, form+"; this one breaks off")
	case err != nil:
		return "", refuse("z", z, form+"; this is none")
	case source.Len() > 0:
		return "", refuse("z", z, fmt.Sprintf("%s; %d bytes follow its end", form, source.Len()))
	case !utf8.Valid(text):
		return "", refuse("z", z, form+"; these are not UTF-8")
	}
	return string(text), nil
}

// queryBytes is how many bytes parameters take in an address, counted no further than past most.
func queryBytes(params []view.Param, most int) int {
	n := -1 // the first has no "&"
	for _, p := range params {
		n += len("&") + len(p.Name) + len("=")
		if len(p.Value) > most { // counting would take long for nothing
			return most + 1
		}
		for i := range len(p.Value) {
			if n++; !isPlain(p.Value[i]) && p.Value[i] != ' ' {
				n += 2
			}
		}
		if n > most {
			return most + 1
		}
	}
	return n
}

// spell writes the part of the address that decides the run. Whatever changes the run calls it.
//
// The beginning that is stored is left out of an address that is short enough without; so such an address
// has one spelling, and needs no server's store.
func (a *Address) spell() {
	if a.mirrored {
		own := a.other()
		own.spell()
		a.head, a.run, a.Story, a.Trying, a.Guesses = own.head, own.run, own.Story, own.Trying, own.Guesses
		return
	}
	if a.told() {
		if a.tells() {
			a.head, a.run = nil, []view.Param{{Name: "v", Value: strconv.Itoa(Version)}}
			return
		}
		a.leave()
	}
	settings := a.settingsBeyond(start(a.Lab))
	if a.head == nil || queryBytes(settings, MaxRun) <= MaxRun {
		a.run = append(settings, commandParams(a.Do)...)
		if a.head == nil || !a.TooLong() {
			a.head = nil
			return
		}
	}
	a.run = a.settingsBeyond(a.head)
	without, more := a.head.beyond(a.Do)
	if len(without) > 0 {
		a.run = append(a.run, view.Param{Name: "without", Value: rangesText(without)})
	}
	a.run = append(a.run, commandParams(more)...)
}

// settingsBeyond gives the version, the stored beginning, and what differs from it in settings and seed.
func (a *Address) settingsBeyond(base *head) []view.Param {
	params := []view.Param{{Name: "v", Value: strconv.Itoa(Version)}}
	if base.hash != "" {
		params = append(params, view.Param{Name: "from", Value: base.hash})
	}
	for i, s := range a.Lab.Settings {
		if a.Values.text[i] != base.values.text[i] {
			params = append(params, view.Param{Name: s.Name, Value: a.Values.text[i]})
		}
	}
	if a.Seed != base.seed {
		params = append(params, view.Param{Name: "seed", Value: strconv.FormatUint(a.Seed, 10)})
	}
	return params
}

// TooLong says that settings, those of a twin too, and commands take more than [MaxRun] bytes; such an
// address is no link.
func (a Address) TooLong() bool { return queryBytes(a.run, MaxRun)+a.twinBytes() > MaxRun }

// LongError says that an address is right but too long for a link. Its settings and commands can be
// stored: see [Address.Head].
type LongError struct{ Address Address }

// Error names what was found and what is allowed.
func (e *LongError) Error() string { return e.Unwrap().Error() }

// Unwrap gives the error as that of a parameter.
func (e *LongError) Unwrap() error {
	n := queryBytes(e.Address.run, 1<<30) + e.Address.twinBytes()
	return &AddressError{"address", fmt.Sprintf("%s bytes long in its settings and commands", kafka.Thousands(n)), fmt.Sprintf("at most %s are allowed", kafka.Thousands(MaxRun))}
}

// ranges reads numbers from 1 to most, as in "1..3,7": ascending, each once.
func ranges(text string, most int) ([]int, error) {
	var list []int
	for part := range strings.SplitSeq(text, ",") {
		from, to, several := strings.Cut(part, "..")
		if !several {
			to = from
		}
		first, err1 := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || first < 1 || last > most || first > last || len(list) > 0 && first <= list[len(list)-1] {
			return nil, refuse("without", text, fmt.Sprintf("numbers of stored commands, from 1 to %d and ascending, are allowed, as in 1..3,7", most))
		}
		for n := first; n <= last; n++ {
			list = append(list, n)
		}
	}
	return list, nil
}

// rangesText writes ascending numbers in the one way an address has them.
func rangesText(list []int) string {
	var parts []string
	for i := 0; i < len(list); {
		last := i
		for last+1 < len(list) && list[last+1] == list[last]+1 {
			last++
		}
		part := strconv.Itoa(list[i])
		if last > i {
			part += ".." + strconv.Itoa(list[last])
		}
		parts = append(parts, part)
		i = last + 1
	}
	return strings.Join(parts, ",")
}

// without gives the commands but those of the numbers, which count from 1.
func without(do []Stamped, numbers []int) []Stamped {
	var kept []Stamped
	for i, s := range do {
		if _, found := slices.BinarySearch(numbers, i+1); !found {
			kept = append(kept, s)
		}
	}
	return kept
}
