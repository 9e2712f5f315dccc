package labs_test

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/labs"
)

// packed is a "z" as the library's compressor makes it.
func packed(t testing.TB, level int, text string) string {
	t.Helper()
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, level)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, text)
	w.Close()
	return base64.RawURLEncoding.EncodeToString(out.Bytes())
}

// manyCommands are n commands in the order of their ticks.
func manyCommands(n int) []string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("%d:produce p0 order-%d", i, i%7))
	}
	return list
}

func commandsOf(a labs.Address) []string {
	var list []string
	for _, s := range a.Do {
		list = append(list, s.String())
	}
	return list
}

func TestCommandsTravelCompressedOnceThatIsShorter(t *testing.T) {
	for n := range 201 {
		commands := manyCommands(n)
		plain := "v=1"
		for _, c := range commands {
			plain += "&do=" + strings.ReplaceAll(c, " ", "+")
		}
		a := parse(t, plain)
		switch query := a.Query(); {
		case n <= 4 && query != plain: // 107 bytes
			t.Errorf("%d commands are %s, want them readable", n, query)
		case n >= 20 && (!strings.HasPrefix(query, "v=1&z=") || strings.Contains(query, "do=") || 2*len(query) > len(plain)):
			t.Errorf("%d commands of %d bytes are %s, want them compressed", n, len(plain), query)
		case len(query) > len(plain):
			t.Errorf("%d commands: %s is longer than %s", n, query, plain)
		default:
			if diff := cmp.Diff(commands, commandsOf(parse(t, query)), cmp.Transformer("nil", slices.Clone[[]string])); n > 0 && diff != "" {
				t.Errorf("%s (-given +read):\n%s", query, diff)
			}
		}
	}
}

// An old link stays readable, whatever compressed it; the page then has the one spelling.
func TestAnyStreamOfTheSameCommandsIsOneAddress(t *testing.T) {
	commands := manyCommands(40)
	want := parse(t, "do="+strings.ReplaceAll(strings.Join(commands, "%0A"), " ", "+")+"&t=3").Query()
	slices.Reverse(commands) // each tick has one
	for level := flate.HuffmanOnly; level <= flate.BestCompression; level++ {
		z := packed(t, level, strings.Join(commands, "\n"))
		if got := parse(t, "t=3&z="+z).Query(); got != want {
			t.Errorf("level %d: %s, want %s", level, got, want)
		}
	}
	if got, want := parse(t, "z="+packed(t, 9, "4:pause c1\n3:wait 1s")).Query(), "v=1&do=3:wait+1s&do=4:pause+c1"; got != want {
		t.Errorf("two commands: %s, want %s", got, want)
	}
}

// Where an address has both, the commands of z come first, as if each had a do before the others.
func TestCommandsOfZComeFirst(t *testing.T) {
	a := parse(t, "do=4:resume+c1&do=2:wait+1s&z="+packed(t, 9, "4:pause c1\n9:pause c2"))
	if got, want := a.Query(), "v=1&do=2:wait+1s&do=4:pause+c1&do=4:resume+c1&do=9:pause+c2"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestZRefuses(t *testing.T) {
	good := packed(t, 9, strings.Join(manyCommands(30), "\n"))
	for z, says := range map[string]string{
		"":                                       "this one breaks off",
		"!":                                      "not base64url",
		good + "=":                               "not base64url",
		good[:len(good)-8]:                       "this one breaks off",
		good + "AAAA":                            "3 bytes follow its end",
		"____":                                   "this is none",
		packed(t, 9, "4:pause c1\xff"):           "not UTF-8",
		packed(t, 9, ""):                         `z is "": TICK:COMMAND is allowed`,
		packed(t, 9, "4:pause c1\n"):             `z is "": TICK:COMMAND is allowed`,
		packed(t, 9, "4:pause c1\r\n5:pause c2"): "must stand in double quotes",
		packed(t, 9, "4:explode b1"):             "not known; allowed are abort-transaction PRODUCER; add-partitions TOPIC to COUNT",
		packed(t, 9, strings.Repeat("1:pause c1\n", 300)):     "at most 200 commands are allowed",
		packed(t, 9, strings.Repeat("\x00", 8<<20)):           "at most 16,384 bytes of commands",
		packed(t, 9, "1:pause "+strings.Repeat("c", 3000)):    "at most 2048 are allowed",
		packed(t, 9, strings.Repeat("1:wait 1s\n", 1<<18)):    "at most 16,384 bytes of commands",
		packed(t, 9, "5001:pause c1") + "&do=1:pause+c1":      "with a tick from 0 to 5000",
		packed(t, 9, "1:pause c1") + "&z=" + packed(t, 9, ""): "it is there twice",
	} {
		_, err := labs.Parse(explorer(t), labs.Pages, "z="+z)
		var refused *labs.AddressError
		if !errors.As(err, &refused) || refused.Param != "z" || !strings.Contains(err.Error(), says) {
			t.Errorf("%.60q: %v, want it to name z and to say %q", z, err, says)
		}
	}
}

// shelf is a store of heads in memory.
type shelf map[string]string

func (s shelf) heads(hash string) (string, bool, error) {
	text, ok := s[hash]
	return text, ok, nil
}

func (s shelf) put(text string) (hash string) {
	sum := sha256.Sum256([]byte(text))
	hash = base64.RawURLEncoding.EncodeToString(sum[:])
	s[hash] = text
	return hash
}

// ownKeys are n keys of one's own as an address has them.
func ownKeys(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("customer-%d", i*7919))
	}
	return strings.Join(list, "%0A")
}

// keep stores the head of a query that is too long, and gives the address with "from".
func (s shelf) keep(t testing.TB, query string) labs.Address {
	t.Helper()
	params, err := labs.QueryParams(query)
	if err != nil {
		t.Fatal(err)
	}
	long, err := labs.Heads(s.heads).Read(explorer(t), labs.Pages, params)
	if err != nil || !long.TooLong() {
		t.Fatalf("%.40s: %v, too long %v", query, err, long.TooLong())
	}
	text, err := long.Head()
	if err != nil {
		t.Fatal(err)
	}
	a, err := labs.Heads(s.heads).Parse(explorer(t), labs.Pages, "from="+s.put(text))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (s shelf) parse(t testing.TB, query string) labs.Address {
	t.Helper()
	a, err := labs.Heads(s.heads).Parse(explorer(t), labs.Pages, query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return a
}

func TestAnAddressGoesOnFromItsHead(t *testing.T) {
	s := shelf{}
	head := s.keep(t, "seed=7&partitions=6&do=3:pause+c1&do=5:pause+c2&do=5:wait+1s&do=9:resume+c1&keys="+ownKeys(500))
	from := head.Query()
	if !strings.HasPrefix(from, "v=1&from=") || len(from) > 60 {
		t.Fatalf("the address is %s", from)
	}
	for more, want := range map[string]struct{ query, commands string }{
		"":                            {from, "3:pause c1|5:pause c2|5:wait 1s|9:resume c1"},
		"&t=4&theme=dark":             {from + "&t=4&theme=dark", "3:pause c1|5:pause c2|5:wait 1s|9:resume c1"},
		"&partitions=6&seed=7":        {from, "3:pause c1|5:pause c2|5:wait 1s|9:resume c1"},
		"&partitions=4&seed=1":        {from + "&partitions=4&seed=1", "3:pause c1|5:pause c2|5:wait 1s|9:resume c1"},
		"&do=5:pause+b1":              {from + "&do=5:pause+b1", "3:pause c1|5:pause c2|5:wait 1s|5:pause b1|9:resume c1"},
		"&do=5:pause+b1&do=1:wait+1s": {from + "&do=1:wait+1s&do=5:pause+b1", "1:wait 1s|3:pause c1|5:pause c2|5:wait 1s|5:pause b1|9:resume c1"},
		"&without=2":                  {from + "&without=2", "3:pause c1|5:wait 1s|9:resume c1"},
		"&without=01,2..3":            {from + "&without=1..3", "9:resume c1"},
		"&without=1..4":               {from + "&without=1..4", ""},
		"&without=2&do=5:pause+c2":    {from + "&without=2&do=5:pause+c2", "3:pause c1|5:wait 1s|5:pause c2|9:resume c1"},
		"&without=3&do=5:wait+1s":     {from, "3:pause c1|5:pause c2|5:wait 1s|9:resume c1"},
		"&keys=24":                    {"v=1&partitions=6&seed=7&do=3:pause+c1&do=5:pause+c2&do=5:wait+1s&do=9:resume+c1", "3:pause c1|5:pause c2|5:wait 1s|9:resume c1"},
	} {
		a := s.parse(t, from+more)
		if got := a.Query(); got != want.query {
			t.Errorf("%s: canonical is %s, want %s", more, got, want.query)
		}
		if got := strings.Join(commandsOf(a), "|"); got != want.commands {
			t.Errorf("%s: the commands are %s, want %s", more, got, want.commands)
		}
	}
	// Acting and removing work on commands of the head too.
	at5 := head.WithTick(5)
	for name, step := range map[string]struct {
		got  labs.Address
		want string
	}{
		"remove the first": {at5.WithoutCommand(0), from + "&without=1&t=5"},
		"remove the last":  {at5.WithoutCommand(3), from + "&without=4&t=5"},
		"act":              {at5.WithCommand(at5.Do[0].Command, false), from + "&without=4&do=5:pause+c1&t=5"},
		"act and keep":     {at5.WithCommand(at5.Do[0].Command, true), from + "&do=5:pause+c1&t=5"},
		"other keys":       {at5.WithValue("keys", "24").WithSeed(1), "v=1&partitions=6&do=3:pause+c1&do=5:pause+c2&do=5:wait+1s&do=9:resume+c1&t=5"},
	} {
		if got := step.got.Query(); got != step.want {
			t.Errorf("%s: %s, want %s", name, got, step.want)
		}
		checkRoundTrip(t, s.heads, step.got)
	}
}

// The run is that of its settings and commands, however the address spells them: the same state, kept once.
func TestARunIsTheSameFromAHeadAndInFull(t *testing.T) {
	s := shelf{}
	ctx := context.Background()
	full := "partitions=6&do=30:pause+c1&t=120&keys=" + ownKeys(400)
	from := s.keep(t, full).WithTick(120)
	params, err := labs.QueryParams(full)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := labs.Heads(nil).Read(explorer(t), labs.Pages, params)
	if err != nil {
		t.Fatal(err)
	}
	r := labs.NewRuns(budget)
	a, err := r.Cluster(ctx, plain)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Cluster(ctx, from); err != nil {
		t.Fatal(err)
	}
	if r.Stats().TicksReplayed != 120 {
		t.Errorf("%d ticks were replayed for both, want 120: the state is there", r.Stats().TicksReplayed)
	}
	alone, err := labs.Replay(from)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(journalLines(a), journalLines(alone)); diff != "" {
		t.Errorf("the journal (-in full +from a head):\n%s", diff)
	}
}

func TestFromRefuses(t *testing.T) {
	s := shelf{}
	good := s.keep(t, "do=1:pause+c1&do=2:resume+c1&keys="+ownKeys(500)).Query()
	head := func(text string) string { return "from=" + s.put(text) }
	for query, says := range map[string]string{
		"from=":                                 "43 letters",
		"from=abc":                              "43 letters",
		"from=" + strings.Repeat("A", 42) + "B": "43 letters", // no byte has such an end
		"from=" + strings.Repeat("A", 43) + "%0A": "43 letters",
		good + "&from=" + strings.Repeat("A", 43): "it is there twice",
		good + "&without=0":                       "from 1 to 2 and ascending",
		good + "&without=3":                       "from 1 to 2 and ascending",
		good + "&without=2,1":                     "from 1 to 2 and ascending",
		good + "&without=1,1":                     "from 1 to 2 and ascending",
		good + "&without=1..900000000":            "from 1 to 2 and ascending",
		good + "&without=":                        "from 1 to 2 and ascending",
		"without=1":                               "only together with from",
		head(""):                                  "settings and commands of the lab partitions",
		head("v=1\npath=/lab/partitions"):         "settings and commands of the lab partitions",
		head("path=/lab/other\nv=1"):              "settings and commands of the lab partitions",
		head("path=/lab/partitions\nt=4"):         "only the settings of the lab",
		head("path=/lab/partitions\n" + good):     "only the settings of the lab",
		head("path=/lab/partitions\nkeys=%zz"):    "valid percent-encoded UTF-8",
		head("path=/lab/partitions\nkeys=\xff"):   "valid percent-encoded UTF-8",
		head("path=/lab/partitions\nrate=1e9"):    "rate is",
	} {
		_, err := labs.Heads(s.heads).Parse(explorer(t), labs.Pages, query)
		var refused *labs.AddressError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), says) {
			t.Errorf("%.60q: %v, want it to say %q", query, err, says)
		}
	}
	var missing *labs.MissingError
	if _, err := labs.Heads(shelf{}.heads).Parse(explorer(t), labs.Pages, good); !errors.As(err, &missing) || missing.NoStore {
		t.Errorf("a head that is not there: %v", err)
	}
	if _, err := labs.Parse(explorer(t), labs.Pages, good); !errors.As(err, &missing) || !missing.NoStore {
		t.Errorf("no store: %v", err)
	}
}

// What is too long for a link says so, and what it says can be kept.
func TestAnAddressThatIsTooLong(t *testing.T) {
	_, err := labs.Parse(explorer(t), labs.Pages, "keys="+ownKeys(300)+"&t=4")
	var long *labs.LongError
	if !errors.As(err, &long) || !strings.Contains(err.Error(), "bytes long in its settings and commands: at most 3,500 are allowed") {
		t.Fatalf("300 keys: %v", err)
	}
	if _, err := long.Address.Head(); err != nil {
		t.Error(err)
	}
}

// Every address that leads on from a page with a head is short: none spells the head out.
func TestLinksOfAPageWithAHeadAreShort(t *testing.T) {
	s := shelf{}
	rnd := rand.New(rand.NewPCG(3, 4))
	query := "keys=" + ownKeys(500)
	for i := range 200 {
		query += fmt.Sprintf("&do=%d:produce+p0+k%d+%x", i/2, rnd.Uint64(), rnd.Uint64())
	}
	p, err := labs.NewRuns(budget).Page(context.Background(), s.keep(t, query).WithTick(50))
	if err != nil {
		t.Fatal(err)
	}
	links := append(p.Actions.Links, p.Actions.Keep...)
	for _, g := range p.Actions.Given {
		links = append(links, g.GoTo, g.Remove)
	}
	for _, l := range links {
		if len(l.Href) > 250 {
			t.Errorf("%s leads to an address of %d bytes", l.Text, len(l.Href))
		}
	}
	if len(links) < 20 || len(p.Notices) == 0 || !strings.HasPrefix(p.Notices[0].Link.Href, "/file/lab/partitions?v=1&from=") {
		t.Errorf("%d links, notices %+v", len(links), p.Notices)
	}
}

// A file holds the whole address and needs no store.
func TestAFileIsTheAddress(t *testing.T) {
	s := shelf{}
	a := s.keep(t, "partitions=6&do=3:produce+p0+%22a+%26+b%22&keys=%D0%BA%D0%BB%D1%8E%D1%87%0A50%25+%2B%0A"+ownKeys(490))
	a = a.WithTick(9).WithTheme("dark")
	text := a.Text()
	if !strings.HasPrefix(text, "path=/lab/partitions\nv=1\npartitions=6\nkeys=ключ%0A50%25+%2B%0A") || !strings.HasSuffix(text, "\nt=9\ntheme=dark\n") {
		t.Errorf("the file is %.200q … %q", text, text[len(text)-60:])
	}
	for _, written := range []string{text, strings.ReplaceAll(text, "\n", "\r\n")} {
		params, err := labs.TextParams(written)
		if err != nil {
			t.Fatal(err)
		}
		again, err := labs.Heads(nil).Read(explorer(t), labs.Pages, params[1:])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(text, again.Text()); diff != "" {
			t.Errorf("-written +read:\n%s", diff)
		}
	}
}

func FuzzInflate(f *testing.F) {
	for level := flate.HuffmanOnly; level <= flate.BestCompression; level++ {
		raw, _ := base64.RawURLEncoding.DecodeString(packed(f, level, strings.Join(manyCommands(12), "\n")))
		f.Add(raw)
	}
	lab := explorer(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, err := labs.Parse(lab, labs.Pages, "z="+base64.RawURLEncoding.EncodeToString(raw))
		var refused *labs.AddressError
		switch {
		case err == nil:
			checkRoundTrip(t, nil, a)
		case !errors.As(err, &refused) || refused.Allowed == "":
			t.Fatalf("%v does not say what is allowed", err)
		}
	})
}
