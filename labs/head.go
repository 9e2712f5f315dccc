package labs

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"loglab/labs/view"
)

// PathParam names the lab in a file of an address and in a form that is posted: path=/lab/partitions.
const PathParam = "path"

// Heads looks up the text that was stored under a hash; found is false where there is none. A nil Heads
// is a place without a store.
//
// A head is the beginning of addresses that are too long for a link: all settings, the seed and the
// commands of a run. "from" names it by its hash. What the address has besides comes after it: a setting
// and the seed override, "without" leaves out commands of the head by their number, and the commands of
// "z" and "do" are added, in a tick behind those of the head.
type Heads func(hash string) (text string, found bool, err error)

// head is a stored head as it was read.
type head struct {
	hash   string
	values Values
	seed   uint64
	do     []Stamped // sorted by tick
}

// start is what an address without a head begins with.
func start(lab *Lab) *head { return &head{values: defaults(lab), seed: defaultSeed} }

// MissingError says that the head of an address is not here.
type MissingError struct {
	Hash    string
	NoStore bool // nothing was looked up, since there is no store
}

// Error names the hash.
func (e *MissingError) Error() string {
	if e.NoStore {
		return fmt.Sprintf("from is %q: it names settings and commands in a server's store, and none is open here", e.Hash)
	}
	return fmt.Sprintf("from is %q: the settings and commands of that name are not in this store", e.Hash)
}

// load reads the head of an address of a lab.
func (h Heads) load(lab *Lab, hash string) (*head, error) {
	if !IsHash(hash) {
		return nil, refuse("from", hash, "the 43 letters, digits, - and _ of a SHA-256 hash in base64url are allowed")
	}
	if h == nil {
		return nil, &MissingError{hash, true}
	}
	text, found, err := h(hash)
	switch {
	case err != nil:
		return nil, fmt.Errorf("from %s: %w", hash, err)
	case !found:
		return nil, &MissingError{Hash: hash}
	}
	a, err := parseHead(lab, text)
	if err != nil {
		return nil, fmt.Errorf("what is stored as %s: %w", hash, err)
	}
	return &head{hash, a.Values, a.Seed, a.Do}, nil
}

// IsHash says whether a text names something that is stored: a SHA-256 hash in base64url, in its one spelling.
func IsHash(text string) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && len(raw) == sha256.Size && !strings.ContainsAny(text, "\r\n")
}

// begin takes the parameters that stand before all others, wherever they are: those of the head, then the
// compressed commands.
func (a *Address) begin(h Heads, params map[string]string) error {
	numbers, some := params["without"]
	if hash, ok := params["from"]; ok {
		head, err := h.load(a.Lab, hash)
		if err != nil {
			return err
		}
		a.head, a.Seed, a.Do = head, head.seed, slices.Clone(head.do)
		a.Values.text = slices.Clone(head.values.text)
		if some {
			list, err := ranges(numbers, len(head.do))
			if err != nil {
				return err
			}
			a.Do = without(head.do, list)
		}
	} else if some {
		return refuse("without", numbers, "it is allowed only together with from")
	}
	if z, ok := params["z"]; ok {
		text, err := inflate(z)
		if err != nil {
			return err
		}
		return a.addCommands("z", text)
	}
	return nil
}

// parseHead reads the text of a head: the path of the lab, then what decides the run and nothing else.
func parseHead(lab *Lab, text string) (Address, error) {
	params, err := TextParams(text)
	if err != nil {
		return Address{}, err
	}
	if path := (view.Param{Name: PathParam, Value: string(Pages) + lab.Name}); len(params) == 0 || params[0] != path {
		return Address{}, refuse("from", text, "settings and commands of the lab "+lab.Name+" are allowed")
	}
	for _, p := range params[1:] {
		isSetting := slices.ContainsFunc(lab.Settings, func(s Setting) bool { return s.Name == p.Name })
		if !isSetting && !slices.Contains([]string{"v", "seed", "do"}, p.Name) {
			return Address{}, refuse("from", p.Name, "only the settings of the lab, v, seed and do are allowed in a head")
		}
	}
	return Heads(nil).Read(lab, Pages, params[1:])
}

// Head gives the text to store for an address that is too long: its settings, seed and commands.
func (a Address) Head() (string, error) {
	text := lines(a.Lab, append(a.settingsBeyond(start(a.Lab)), plainCommands(a.Do)...))
	again, err := parseHead(a.Lab, text)
	if err != nil {
		return "", err
	}
	if p, q := points(a), points(again); !slices.Equal(p.hashes, q.hashes) || !slices.Equal(p.ticks, q.ticks) {
		return "", fmt.Errorf("the head of %s is read back as another run", a.Path())
	}
	return text, nil
}

// From gives the same address with all that decides the run in a stored head of that hash.
func (a Address) From(hash string) Address {
	a.head = &head{hash, a.Values, a.Seed, a.Do}
	a.spell()
	return a
}

// Text gives the whole address as a file that needs no store: one parameter a line, the path first.
func (a Address) Text() string {
	run := append(a.settingsBeyond(start(a.Lab)), plainCommands(a.Do)...)
	return lines(a.Lab, append(run, a.frameParams()...))
}

// lines writes parameters one a line. Letters beyond ASCII stay as they are, so that people can read the
// file and a head of them has room for as many keys.
func lines(lab *Lab, params []view.Param) string {
	var b strings.Builder
	b.WriteString(PathParam + "=" + string(Pages) + lab.Name + "\n")
	for _, p := range params {
		b.WriteString(p.Name + "=")
		escapeInto(&b, p.Value, func(c byte) bool { return c > ' ' && c != 0x7f && c != '%' && c != '&' && c != '+' })
		b.WriteByte('\n')
	}
	return b.String()
}

// TextParams reads the parameters of a file that [Address.Text] wrote, or that somebody wrote by hand.
// The error is an [*AddressError].
func TextParams(text string) ([]view.Param, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return QueryParams(strings.ReplaceAll(text, "\n", "&"))
}

// beyond splits commands, sorted by tick, into those of the head that they lack, by number, and those
// that they have besides. Read after the head they give the same commands again.
func (h *head) beyond(do []Stamped) (without []int, more []Stamped) {
	next := 0 // the first command of the head that is not accounted for
	lack := func(to int) {
		for ; next < to; next++ {
			without = append(without, next+1)
		}
	}
	stored := texts(h.do)
	adding := -1 // the tick in which the head's turn is over
	for i, text := range texts(do) {
		tick, at := do[i].Tick, next
		for at < len(h.do) && (h.do[at].Tick < tick || h.do[at].Tick == tick && stored[at] != text) {
			at++
		}
		if tick == adding || at == len(h.do) || h.do[at].Tick > tick {
			adding = tick
			more = append(more, do[i])
			continue
		}
		lack(at)
		next++
	}
	lack(len(h.do))
	return without, more
}
