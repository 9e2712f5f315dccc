package labs_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/command"
	"loglab/labs"
	"loglab/labs/all"
	"loglab/labs/view"
)

// explorer is the partition explorer, the lab that these tests use.
func explorer(t testing.TB) *labs.Lab {
	t.Helper()
	return labOf(t, "partitions")
}

func labOf(t testing.TB, name string) *labs.Lab {
	t.Helper()
	lab, ok := all.ByName(name)
	if !ok {
		t.Fatalf("no lab named %s", name)
	}
	return lab
}

func parse(t testing.TB, query string) labs.Address {
	t.Helper()
	return parseOf(t, "partitions", query)
}

func parseOf(t testing.TB, lab, query string) labs.Address {
	t.Helper()
	a, err := labs.Parse(labOf(t, lab), labs.Pages, query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return a
}

func TestCanonicalAddress(t *testing.T) {
	for query, want := range map[string]string{
		"":                                 "v=1",
		"v=1":                              "v=1",
		"t=0&v=1":                          "v=1",
		"t=7&partitions=6":                 "v=1&partitions=6&t=7",
		"partitions=04&t=07":               "v=1&t=7",
		"&&partitions=%36&":                "v=1&partitions=6",
		"horizon=20&pace=2&seed=1":         "v=1",
		"pace=10&horizon=40":               "v=1&horizon=40&pace=10",
		"do=9:wait+60s&do=4:pause+c1":      "v=1&do=4:pause+c1&do=9:wait+1m",
		"do=4:pause+c1&do=4:resume+c1&t=4": "v=1&do=4:pause+c1&do=4:resume+c1&t=4",
		"do=0:produce%20p0%20%22a%20b%22":  "v=1&do=0:produce+p0+%22a+b%22",
		"do=0%3Aproduce+p0+-":              "v=1&do=0:produce+p0",
		"do=4:pause+c1%0D%0A3:wait+1s&do=4:resume+c1": "v=1&do=3:wait+1s&do=4:pause+c1&do=4:resume+c1",
		"keys=":                           "v=1",
		"keys=024":                        "v=1",
		"keys=0":                          "v=1&keys=0",
		"keys=a%0D%0Ab%0D%0A":             "v=1&keys=a%0Ab",
		"keys=a%0A%0Ab":                   "v=1&keys=a%0A%0Ab",
		"keys=42%0A":                      "v=1&keys=42%0A",
		"keys=%0A":                        "v=1&keys=%0A",
		"keys=%E6%97%A5%E6%9C%AC":         "v=1&keys=%E6%97%A5%E6%9C%AC",
		"at=record:orders-0:5&theme=dark": "v=1&at=record:orders-0:5&theme=dark",
		"at=segment%3Aorders-03%3A00":     "v=1&at=segment:orders-3:0",
		"why=12&t=3":                      "v=1&t=3&why=12",
		"size=projector&theme=dark":       "v=1&theme=dark&size=projector",
		"chrome=minimal&still=1&t=2":      "v=1&t=2&still=1&chrome=minimal",
		"range=12..18":                    "v=1&t=12&range=12..18", // a tick outside moves to the nearest inside
		"range=012..18&t=99":              "v=1&t=18&range=12..18",
		"t=15&range=12..18&horizon=30":    "v=1&t=15&range=12..18", // the range says where playing ends
		"range=0..3":                      "v=1&range=0..3",
		"at=find:orders-0:17":             "v=1&at=find:orders-0:17",
		"at=find:orders-0:&t=3&at=017":    "v=1&t=3&at=find:orders-0:17", // as a form sends it
		"at=time:orders-00:&at=05000":     "v=1&at=time:orders-0:5000",
		"at=mark:orders-0:log-start":      "v=1&at=mark:orders-0:log-start",
		"at=file:orders-0:00000000000000000000.log.deleted": "v=1&at=file:orders-0:00000000000000000000.log.deleted",
	} {
		a := parse(t, query)
		if a.Query() != want {
			t.Errorf("%q: canonical is %q, want %q", query, a.Query(), want)
		}
		if got := a.String(); got != "/lab/partitions?"+want {
			t.Errorf("%q: the address is %q", query, got)
		}
	}
}

func TestAddressRefuses(t *testing.T) {
	for query, says := range map[string]string{
		"t=5001":                              `t is "5001": a whole number from 0 to 5000 is allowed`,
		"t=-1":                                `t is "-1": a whole number from 0 to 5000 is allowed`,
		"t=":                                  `t is "": a whole number`,
		"t=1&t=2":                             `t is "2": it is there twice; once is allowed`,
		"at=file:orders-0:../x":               `at is "file:orders-0:../x": allowed are record:PARTITION:OFFSET`,
		"at=mark:orders-0:":                   `at is "mark:orders-0:": allowed are record:PARTITION:OFFSET`,
		"at=find:orders-0:":                   `at is "find:orders-0:": allowed are record:PARTITION:OFFSET`,
		"at=record:orders-0:&at=x":            `at is "record:orders-0:x": allowed are record:PARTITION:OFFSET`,
		"at=record:orders-0:1&at=x":           `at is "x": it is there twice`,
		"t=1e3":                               "a whole number from 0 to 5000",
		"horizon=0":                           `horizon is "0": a whole number from 1 to 5000 is allowed`,
		"v=2":                                 `v is "2": only 1 is allowed`,
		"seed=-1":                             "seed is",
		"pace=3":                              `pace is "3": allowed are 1, 2, 5, 10`,
		"theme=pink":                          `theme is "pink": allowed are light, dark`,
		"theme=projector":                     `theme is "projector": allowed are light, dark`,
		"size=huge":                           `size is "huge": allowed is projector`,
		"size=":                               `size is "": allowed is projector`,
		"still=yes":                           `still is "yes": allowed is 1`,
		"chrome=none":                         `chrome is "none": allowed is minimal`,
		"range=12":                            `range is "12": FROM..TO is allowed, two ticks from 0 to 5000, the first before the last, as in 12..18`,
		"range=18..12":                        `range is "18..12": FROM..TO`,
		"range=5..5":                          `range is "5..5": FROM..TO`,
		"range=0..5001":                       `range is "0..5001": FROM..TO`,
		"range=-1..4":                         `range is "-1..4": FROM..TO`,
		"range=1..2..3":                       `range is "1..2..3": FROM..TO`,
		"range=1..99999999999999999999":       "FROM..TO",
		"partitions=0":                        `partitions is "0": a whole number from 1 to 64 is allowed`,
		"partitions=65":                       `partitions is "65"`,
		"consumers=65":                        `consumers is "65": a whole number from 0 to 64 is allowed`,
		"rate=101":                            `rate is "101": a whole number from 0 to 100 is allowed`,
		"assignor=best":                       `assignor is "best": allowed are range, roundrobin`,
		"partitioner=md5":                     `partitioner is "md5": allowed are crc32, crc32-random, fnv1a`,
		"keyless=random":                      `keyless is "random": allowed are round-robin, sticky, sticky-480`,
		"keys=1001":                           `keys is "1001": from 0 to 1000 made keys are allowed`,
		"keys=99999999999999999999":           "from 0 to 1000 made keys are allowed",
		"keys=" + strings.Repeat("a%0A", 501): "at most 500 keys of your own are allowed",
		"keys=%FF":                            "valid percent-encoded UTF-8 is allowed",
		"keys=%zz":                            "valid percent-encoded UTF-8 is allowed",
		"%FF=1":                               "a parameter's name is",
		"=&=":                                 `a parameter's name is "": allowed are v, from, partitions`,
		"colour=1&colour=2":                   `parameter "colour" is not known here`,
		"=4":                                  `a parameter's name is "": allowed are v, from, partitions`,
		"=%":                                  `a parameter is "%": valid percent-encoded UTF-8 is allowed`,
		"colour=red":                          `parameter "colour" is not known here: allowed are v, from, partitions, baseline`,
		"do=pause+c1":                         `do is "pause c1": TICK:COMMAND is allowed`,
		"do=":                                 `do is "": TICK:COMMAND is allowed`,
		"do=1:wait+1s%0A":                     `do is "": TICK:COMMAND is allowed`,
		"do=5001:pause+c1":                    "with a tick from 0 to 5000",
		"do=-1:pause+c1":                      "with a tick from 0 to 5000",
		"do=1:explode+b1":                     "allowed are abort-transaction PRODUCER; add-partitions TOPIC to COUNT; alter-config TOPIC SETTING VALUE; begin-transaction PRODUCER; check-retention BROKER; commit CONSUMER [PARTITION @OFFSET];",
		"do=1:pause":                          "allowed is pause NODE",
		"at=record:orders-0":                  "allowed are record:PARTITION:OFFSET",
		"at=planet:mars":                      "allowed are record:PARTITION:OFFSET",
		"at=message:-4":                       "allowed are record:PARTITION:OFFSET",
		"why=first":                           "the number of an event is allowed",
		"t=" + strings.Repeat("0", 20_000):    "address is 20002 bytes long after the question mark: at most 16384 are allowed",
		strings.Repeat("do=1:wait+1s&", 201):  "at most 200 commands are allowed",
	} {
		_, err := labs.Parse(explorer(t), labs.Pages, query)
		var refused *labs.AddressError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), says) {
			t.Errorf("%.60q: %v, want it to say %q", query, err, says)
		}
	}
}

// drawAddress makes an address at random, possibly not canonical.
func drawAddress(rnd *rand.Rand) url.Values {
	q := url.Values{}
	maybe := func(name string, values ...string) {
		if rnd.IntN(3) == 0 {
			q.Set(name, values[rnd.IntN(len(values))])
		}
	}
	maybe("partitions", "1", "6", "64")
	maybe("baseline", "3", "4")
	maybe("consumers", "0", "64")
	maybe("assignor", "range", "roundrobin")
	maybe("partitioner", "murmur2", "crc32-random", "kafkajs-legacy")
	maybe("keys", "0", "24", "a\nb", "7\n", "\n", "x\r\n\r\ny", "Ω & = + % \"\n<b>", "a\tb\x00c")
	maybe("rate", "0", "100")
	maybe("seed", "0", "1", "18446744073709551615")
	maybe("t", "0", "5000", "12")
	maybe("horizon", "1", "20")
	maybe("at", "record:orders-3:5", "batch:a:b-1:2", "segment:x-1:0", "message:3", "node:b1", "node:a b")
	maybe("why", "4", "0")
	maybe("pace", "1", "2")
	maybe("range", "0..1", "5..5000", "012..18")
	maybe("theme", "light", "dark")
	maybe("size", "projector")
	maybe("still", "1")
	maybe("chrome", "minimal")
	for range rnd.IntN(5) * (1 + 9*rnd.IntN(2)) { // some are compressed
		text := []string{"pause c1", "produce p0 \"a b\"", "produce p0", "wait 90s", "resume b1", "produce p1 - Ω"}[rnd.IntN(6)]
		q.Add("do", fmt.Sprintf("%d:%s", rnd.IntN(30), text))
	}
	return q
}

// An address that parses has one spelling, which parses to the same address, with or without a stored head.
func TestAddressRoundTrip(t *testing.T) {
	s := shelf{}
	head := s.keep(t, "partitions=6&seed=0&do=3:pause+c1&do=3:wait+90s&do=7:produce+p0&do=20:resume+b1&keys="+ownKeys(500)).Query()
	for seed := range uint64(3000) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		query := drawAddress(rnd).Encode()
		if rnd.IntN(3) == 0 {
			query = strings.TrimPrefix(head, "v=1&") + []string{"", "&without=1,3..4"}[rnd.IntN(2)] + "&" + query
		}
		a, err := labs.Heads(s.heads).Parse(explorer(t), labs.Pages, query)
		if err != nil {
			if strings.Contains(query, "at=batch%3Aa%3Ab") { // a topic has no colon in its name
				continue
			}
			t.Fatalf("seed %d: %s: %v", seed, query, err)
		}
		checkRoundTrip(t, s.heads, a)
		if len(a.Do) > 0 { // what leads on has one spelling too
			checkRoundTrip(t, s.heads, a.WithoutCommand(rnd.IntN(len(a.Do))))
			checkRoundTrip(t, s.heads, a.WithTick(rnd.IntN(30)).WithCommand(a.Do[0].Command, rnd.IntN(2) == 0))
		}
	}
}

func valuesOf(a labs.Address) (list []string) {
	for _, s := range a.Lab.Settings {
		list = append(list, a.Values.Text(s.Name))
	}
	return list
}

func checkRoundTrip(t *testing.T, heads labs.Heads, a labs.Address) {
	t.Helper()
	canonical := a.Query()
	again, err := heads.Parse(a.Lab, a.Site, canonical)
	if err != nil {
		t.Fatalf("the canonical %q does not parse: %v", canonical, err)
	}
	if again.Query() != canonical {
		t.Fatalf("%q and %q are canonical for one address", canonical, again.Query())
	}
	if a.Seed != again.Seed || a.T != again.T || !slices.Equal(valuesOf(a), valuesOf(again)) || !slices.Equal(commandsOf(a), commandsOf(again)) {
		t.Fatalf("%q is read back as another run", canonical)
	}
	if diff := cmp.Diff(a.Params(), again.Params()); diff != "" {
		t.Fatalf("%q (-first +second):\n%s", canonical, diff)
	}
	values, err := url.ParseQuery(canonical)
	if err != nil {
		t.Fatalf("%q: a browser could not read it: %v", canonical, err)
	}
	for _, p := range a.Params() {
		found := false
		for _, v := range values[p.Name] {
			found = found || v == p.Value
		}
		if !found {
			t.Fatalf("%q: %s=%q is read as %q", canonical, p.Name, p.Value, values[p.Name])
		}
	}
}

func FuzzAddress(f *testing.F) {
	for _, s := range []string{"", "v=1&t=4", "keys=a%0Ab&do=1:pause+c1&do=0:wait+5s", "at=record:orders-0:5&why=3", "keys=%0A%0D", "range=3..9&t=1&still=1&chrome=minimal&size=projector", "=&=", "do=3:produce+p0+%22%22"} {
		f.Add(s)
	}
	s := shelf{}
	head := s.keep(f, "do=3:pause+c1&do=3:wait+90s&do=7:produce+p0&keys="+ownKeys(500)).Query()
	for _, query := range []string{"vs=rate:9&t=3&at=vs:node:c1", "vs=keys:&vs=a%0Ab&why=vs:3", "rate=9&vs=rate:9&why=vs:4&at=node:c1", "vs=partitions:6&" + head} {
		f.Add(query)
	}
	f.Add(head + "&without=2..3&partitions=6&do=3:pause+c2&t=4")
	f.Add("z=" + packed(f, 9, "3:pause c1\n4:resume c1") + "&do=2:wait+1s")
	f.Add("rf=2&acks=1&do=2:kill+b1&do=3:cut-one-way+b2+controller&do=4:delay+p0+b1+0ms&t=5&at=replica:orders-0:2&next=1")
	for _, at := range []string{"time:orders-0:5000", "file:orders-0:00000000000000000000.log.deleted", "mark:orders-0:log-start", "mark:orders-0:", "file:orders-0:a/b", "time:orders-0:5@b1"} {
		f.Add("at=" + at)
	}
	f.Fuzz(func(t *testing.T, query string) {
		for _, lab := range all.Labs() {
			checkAddress(t, s, lab, query)
		}
	})
}

// checkAddress holds an address to what holds for all: it is taken and has one spelling, or refused by name.
func checkAddress(t *testing.T, s shelf, lab *labs.Lab, query string) {
	t.Helper()
	a, err := labs.Heads(s.heads).Parse(lab, labs.Pages, query)
	if err == nil {
		checkRoundTrip(t, s.heads, a)
		return
	}
	var missing *labs.MissingError
	if errors.As(err, &missing) {
		return
	}
	var refused *labs.AddressError
	if !errors.As(err, &refused) || refused.Param == "" || refused.Allowed == "" {
		t.Fatalf("%s, %q: %v does not name the field and what is allowed", lab.Name, query, err)
	}
}

// To act at a tick is to fork: what was stamped later is dropped, unless it is asked for.
func TestActingInThePastForks(t *testing.T) {
	a := parse(t, "do=3:pause+c1&do=5:pause+c2&do=9:resume+c1&t=5")
	cmd := command.Pause{Node: "b1"}
	if got, want := a.WithCommand(cmd, false).Query(), "v=1&do=3:pause+c1&do=5:pause+c2&do=5:pause+b1&t=5"; got != want {
		t.Errorf("acting: %s, want %s", got, want)
	}
	if got, want := a.WithCommand(cmd, true).Query(), "v=1&do=3:pause+c1&do=5:pause+c2&do=5:pause+b1&do=9:resume+c1&t=5"; got != want {
		t.Errorf("acting and keeping: %s, want %s", got, want)
	}
	if got, want := a.WithoutCommand(0).Query(), "v=1&do=5:pause+c2&do=9:resume+c1&t=5"; got != want {
		t.Errorf("removing: %s, want %s", got, want)
	}
	if got, want := a.Query(), "v=1&do=3:pause+c1&do=5:pause+c2&do=9:resume+c1&t=5"; got != want {
		t.Errorf("the address itself has become %s", got)
	}
}

// Every way along the run stays in the range.
func TestARangeIsNotLeft(t *testing.T) {
	a := parse(t, "do=2:pause+c1&do=14:resume+c1&do=19:pause+c2&range=12..18&t=12")
	for tick, want := range map[int]int{-1: 12, 11: 12, 12: 12, 17: 17, 19: 18, 5000: 18} {
		if got := a.WithTick(tick).T; got != want {
			t.Errorf("tick %d leads to %d, want %d", tick, got, want)
		}
	}
	if got, want := a.Whole().Query(), "v=1&do=2:pause+c1&do=14:resume+c1&do=19:pause+c2&t=12"; got != want {
		t.Errorf("the whole lab is at %s, want %s", got, want)
	}
	for _, at := range []int{12, 15, 18} {
		page, err := labs.NewRuns(1<<20).Page(t.Context(), a.WithTick(at))
		if err != nil {
			t.Fatal(err)
		}
		tr := page.Transport
		links := []view.Link{tr.Start, tr.Back, tr.Step, tr.Play, tr.End}
		for _, m := range tr.Marks {
			links = append(links, m.Link)
		}
		for _, l := range links {
			_, query, _ := strings.Cut(l.Href, "?")
			if to := parse(t, query); to.Query() != query || to.T < 12 || to.T > 18 {
				t.Errorf("at %d, %s leads to %s", at, l.ID, l.Href)
			}
		}
		if n := len(tr.Marks); n != 1 {
			t.Errorf("at %d the scrubber has %d marks, want the one of tick 14", at, n)
		}
		if f := tr.Jump.Fields[0]; f.Min != 12 || f.Max != 18 {
			t.Errorf("the scrubber goes from %d to %d", f.Min, f.Max)
		}
		if page.Last != 18 || tr.Back.Inactive != (at == 12) || tr.Step.Inactive != (at == 18) {
			t.Errorf("at %d: last %d, back %v, step %v", at, page.Last, tr.Back.Inactive, tr.Step.Inactive)
		}
	}
}
