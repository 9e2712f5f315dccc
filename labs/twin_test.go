package labs_test

import (
	"context"
	"errors"

	"slices"
	"strconv"
	"strings"
	"testing"

	"loglab/engine/command"
	"loglab/labs"
	"loglab/labs/view"
)

func TestCanonicalTwin(t *testing.T) {
	for query, want := range map[string]string{
		"vs=partitioner:crc32":              "v=1&vs=partitioner:crc32",
		"vs=partitioner%3Acrc32&t=3":        "v=1&t=3&vs=partitioner:crc32",
		"pace=5&vs=partitions:06&horizon=9": "v=1&horizon=9&vs=partitions:6&pace=5",
		// As a form of settings sends it: what is changed is the twin's.
		"partitions=6&consumers=5&beside=partitions%3D4%26consumers%3D5":                "v=1&consumers=5&vs=partitions:6",
		"partitions=4&consumers=6&beside=partitions%3D7%26consumers%3D06&vs=rate:9&t=2": "v=1&partitions=7&t=2&vs=partitions:4",
		"keys=a%0Ab%26c&beside=keys%3D24":                                               "v=1&vs=keys:a%0Ab%26c",
		"rate=9&keys=24&beside=keys%3Da%250Ab&do=3:pause+c1":                            "v=1&keys=a%0Ab&rate=9&do=3:pause+c1&vs=keys:24",
		"vs=keys:a%0D%0Ab%0D%0A":                                                        "v=1&vs=keys:a%0Ab",
		"vs=keys:x:y%26z":                                                               "v=1&vs=keys:x:y%26z",
		"partitions=6&vs=partitions:4":                                                  "v=1&partitions=6&vs=partitions:4",
		"at=vs:record:orders-0:05&vs=partitions:6":                                      "v=1&vs=partitions:6&at=vs:record:orders-0:5",
		"at=vs:find:orders-0:&at=17&vs=rate:6":                                          "v=1&vs=rate:6&at=vs:find:orders-0:17",
		"why=vs:012&vs=partitions:6":                                                    "v=1&vs=partitions:6&why=vs:12",
		"why=vs:0&vs=partitions:6":                                                      "v=1&vs=partitions:6",
		"at=record:orders-0:5&vs=partitions:6":                                          "v=1&vs=partitions:6&at=record:orders-0:5",
		"range=12..18&vs=rate:1&theme=dark&still=1":                                     "v=1&t=12&range=12..18&vs=rate:1&theme=dark&still=1",
		// A twin that is as its own run is none; what was open in it is open in the run.
		"vs=partitions:4":                          "v=1",
		"vs=partitioner:murmur2&t=5":               "v=1&t=5",
		"partitions=6&vs=partitions:06":            "v=1&partitions=6",
		"vs=keys:":                                 "v=1",
		"vs=partitions:4&at=vs:record:orders-0:5":  "v=1&at=record:orders-0:5",
		"vs=partitions:4&why=vs:9&do=4:pause%20c1": "v=1&do=4:pause+c1&why=9",
	} {
		a := parse(t, query)
		if a.Query() != want {
			t.Errorf("%q: canonical is %q, want %q", query, a.Query(), want)
		}
		if again := parse(t, a.Query()); again.Query() != want {
			t.Errorf("%q: read again it is %q", want, again.Query())
		}
	}
}

func TestTwinRefuses(t *testing.T) {
	for query, says := range map[string]string{
		"vs=":                          `vs is "": SETTING:VALUE is allowed, where SETTING is one of partitions, baseline, consumers`,
		"vs=partitioner":               `vs is "partitioner": SETTING:VALUE is allowed`,
		"vs=moon:1":                    `vs is "moon:1": SETTING:VALUE is allowed, where SETTING is one of partitions`,
		"vs=seed:2":                    `vs is "seed:2": SETTING:VALUE is allowed`,
		"vs=partitions:65":             `vs is "partitions:65": of partitions a whole number from 1 to 64 is allowed`,
		"vs=partitions:":               `vs is "partitions:": of partitions a whole number`,
		"vs=partitioner:md5":           `vs is "partitioner:md5": of partitioner allowed are crc32, crc32-random`,
		"vs=keys:1001":                 `vs is "keys:1001": of keys from 0 to 1000 made keys are allowed`,
		"vs=rate:1&vs=rate:2":          `vs is "rate:2": it is there twice; once is allowed`,
		"vs=rate:&vs=1":                `vs is "1": it is there twice`,
		"at=vs:record:orders-0:5":      `at is "vs:record:orders-0:5": it names something of a twin run, and the address has no vs`,
		"why=vs:5":                     `why is "vs:5": it names something of a twin run, and the address has no vs`,
		"at=vs:&vs=rate:6":             `at is "vs:": allowed are record:PARTITION:OFFSET`,
		"at=vs:vs:node:c1&vs=rate:6":   `at is "vs:vs:node:c1": allowed are record:PARTITION:OFFSET`,
		"at=vs:moon&vs=rate:6":         "after vs: where it is in a twin run",
		"why=vs:&vs=rate:6":            `why is "vs:": the number of an event is allowed, after vs: where it is one of a twin run`,
		"why=vs:-1&vs=rate:6":          `why is "vs:-1": the number of an event`,
		"vs=keys:" + long("k%0A", 400): "at most 1500 bytes of an address are allowed for it",
		"vs=keys:" + long("%C3", 600):  "valid percent-encoded UTF-8 is allowed",
	} {
		_, err := labs.Parse(explorer(t), labs.Pages, query)
		var bad *labs.AddressError
		if !errors.As(err, &bad) {
			t.Errorf("%.60q: the error is %v, want an AddressError", query, err)
		} else if !strings.Contains(err.Error(), says) {
			t.Errorf("%.60q: the error is %q, want %q in it", query, err, says)
		}
	}
}

func long(s string, times int) string { return strings.Repeat(s, times) }

// A link takes the twin along, but for the one that takes it away.
func TestLinksKeepTheTwin(t *testing.T) {
	a := parse(t, "vs=partitions:6&t=3&at=vs:node:c1")
	pause, err := command.Parse("pause c1")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		got  labs.Address
		want string
	}{
		"step":              {a.WithTick(4), "v=1&t=4&vs=partitions:6&at=vs:node:c1"},
		"command":           {a.WithCommand(pause, false), "v=1&do=3:pause+c1&t=3&vs=partitions:6&at=vs:node:c1"},
		"setting":           {a.WithValue("rate", "9"), "v=1&rate=9&t=3&vs=partitions:6&at=vs:node:c1"},
		"its own setting":   {a.WithValue("partitions", "5"), "v=1&partitions=5&t=3&vs=partitions:6&at=vs:node:c1"},
		"the same setting":  {a.WithValue("partitions", "6"), "v=1&partitions=6&t=3&at=node:c1"},
		"look":              {a.WithTheme("dark"), "v=1&t=3&vs=partitions:6&at=vs:node:c1&theme=dark"},
		"target of its own": {a.WithTarget(labs.Target{Kind: labs.NodeTarget, Node: "c2"}), "v=1&t=3&vs=partitions:6&at=node:c2"},
		"causes":            {a.WithWhy(7), "v=1&t=3&vs=partitions:6&why=7"},
		"nothing open":      {a.WithTarget(labs.Target{}), "v=1&t=3&vs=partitions:6"},
		"seed":              {a.WithSeed(9), "v=1&seed=9&t=3&vs=partitions:6&at=vs:node:c1"},
		"whole":             {a.Whole(), "v=1&t=3&vs=partitions:6&at=vs:node:c1"},
		"alone":             {a.Alone(), "v=1&t=3"},
		"another twin":      {a.WithTwin("rate", "9"), "v=1&t=3&vs=rate:9"},
		"an equal twin":     {a.WithTwin("rate", "3"), "v=1&t=3"},
	} {
		if test.got.Query() != test.want {
			t.Errorf("%s: %q, want %q", name, test.got.Query(), test.want)
		}
		if again := parse(t, test.got.Query()); again.Query() != test.want {
			t.Errorf("%s: %q is read as %q", name, test.want, again.Query())
		}
	}
}

func pageOf(t testing.TB, query string) *view.Page {
	t.Helper()
	p, err := labs.NewRuns(budget).Page(context.Background(), parse(t, query))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What the twin's picture shows is what a page of that run alone shows, its links lead back to the page of
// both, and what it opens is the twin's.
func TestTheTwinIsAnOrdinaryRun(t *testing.T) {
	p := pageOf(t, "rate=2&do=4:pause+c1&t=12&vs=partitions:6")
	alone := pageOf(t, "partitions=6&rate=2&do=4:pause+c1&t=12")
	if p.Twin == nil || p.Picture.Run != "partitions = 4" || p.Twin.Picture.Run != "partitions = 6" {
		t.Fatalf("the runs are %q and %+v", p.Picture.Run, p.Twin)
	}
	if n := len(p.Twin.Picture.Strips); n != 6 {
		t.Fatalf("the twin has %d strips", n)
	}
	for i, s := range p.Twin.Picture.Strips {
		one := alone.Picture.Strips[i]
		if s.ID != "vs-"+one.ID || s.At != "vs:"+one.At || s.Count != one.Count || s.Owner != one.Owner || s.Lag != one.Lag {
			t.Errorf("strip %d of the twin is %+v, alone %+v", i, s, one)
		}
		for _, c := range s.Cells {
			same := slices.ContainsFunc(one.Cells, func(d view.Cell) bool {
				return "vs-"+d.ID == c.ID && "vs:"+d.At == c.At && d.Text == c.Text && d.Offset == c.Offset && d.Waiting == c.Waiting
			})
			if !same {
				t.Errorf("%s: the record %+v is not so in the run alone", s.Name, c)
			}
		}
	}
	for i, l := range p.Twin.Events.Lines {
		one := alone.Events.Lines[i]
		if l.Text != one.Text || l.Seq != one.Seq || l.Why.ID != "vs-"+one.Why.ID {
			t.Errorf("event %d of the twin is %+v, alone %+v", i, l, one)
		}
		if want := strings.Replace(p.Address, "vs=partitions:6", "vs=partitions:6&why=vs:", 1); !strings.HasPrefix(l.Why.Href, want) {
			t.Errorf("why? leads to %s", l.Why.Href)
		}
	}
}

func TestTheInspectorOpensEitherRun(t *testing.T) {
	const both = "t=12&vs=partitioner:crc32"
	for query, title := range map[string]string{
		both + "&at=record:orders-1:2":    "Record orders-1 2, with partitioner = murmur2",
		both + "&at=vs:record:orders-1:2": "Record orders-1 2, with partitioner = crc32",
		both + "&why=40":                  "Why event 40 happened, with partitioner = murmur2",
		both + "&why=vs:40":               "Why event 40 happened, with partitioner = crc32",
	} {
		p := pageOf(t, query)
		if p.Inspector == nil || p.Inspector.Title != title {
			t.Errorf("%s: the inspector is %+v, want %q", query, p.Inspector, title)
		}
	}
	one, other := pageOf(t, "t=12&at=record:orders-1:2").Inspector, pageOf(t, "partitioner=crc32&t=12&at=record:orders-1:2").Inspector
	own, twin := pageOf(t, both+"&at=record:orders-1:2").Inspector, pageOf(t, both+"&at=vs:record:orders-1:2").Inspector
	if !slices.Equal(own.Facts, one.Facts) || !slices.Equal(twin.Facts, other.Facts) || slices.Equal(one.Facts, other.Facts) {
		t.Errorf("the facts of the two runs are %v and %v", own.Facts, twin.Facts)
	}
	// The form that finds an offset asks in the run in which it stands.
	find := pageOf(t, both+"&at=vs:segment:orders-1:0").Inspector.Forms[0]
	if !slices.Contains(find.Hidden, view.Param{Name: "at", Value: "vs:find:orders-1:"}) || !slices.Contains(find.Hidden, view.Param{Name: "vs", Value: "partitioner:crc32"}) {
		t.Errorf("the form to find an offset holds %v", find.Hidden)
	}
	// A selected record is selected in its own run alone.
	p := pageOf(t, both+"&at=vs:record:orders-1:2")
	for name, picture := range map[string]view.Picture{"own": p.Picture, "twin": p.Twin.Picture} {
		n := 0
		for _, s := range picture.Strips {
			for _, c := range s.Cells {
				if c.Selected {
					n++
				}
			}
		}
		if want := map[string]int{"own": 0, "twin": 1}[name]; n != want {
			t.Errorf("%s: %d records are selected, want %d", name, n, want)
		}
	}
}

// The first difference is the first tick whose events differ, found again here from the lines of the two
// runs alone.
func TestFirstDifference(t *testing.T) {
	for query, twin := range map[string]string{
		"t=30&vs=partitioner:crc32":                             "partitioner=crc32&t=30",
		"t=30&vs=work:20":                                       "work=20&t=30",
		"t=30&vs=destination:versions":                          "destination=versions&t=30",
		"partitions=3&do=8:pause+p0&t=40&vs=keys:order-1":       "partitions=3&keys=order-1&do=8:pause+p0&t=40",
		"do=8:add-partitions+orders+to+6&t=40&vs=metadata:5000": "metadata=5000&do=8:add-partitions+orders+to+6&t=40",
	} {
		tick := -1
		a, b := ticksOf(t, strings.Split(query, "&vs=")[0]), ticksOf(t, twin)
		for i := 0; i <= 40 && tick < 0; i++ {
			if !slices.Equal(a[i], b[i]) {
				tick = i
			}
		}
		p := pageOf(t, query)
		if tick < 0 {
			if p.Transport.Differs != nil || !strings.Contains(p.Twin.First[0].Text, "No difference up to tick 30.") {
				t.Errorf("%s: the runs are the same, but the page says %v", query, p.Twin.First)
			}
			continue
		}
		if p.Transport.Differs == nil || p.Transport.Differs.Tick != tick {
			t.Errorf("%s: the mark is %+v, want tick %d", query, p.Transport.Differs, tick)
			continue
		}
	}
}

// ticksOf gives the events of a run by tick, without their numbers and causes.
func ticksOf(t testing.TB, query string) map[int][]string {
	t.Helper()
	c, err := labs.Replay(parse(t, query))
	if err != nil {
		t.Fatal(err)
	}
	list := map[int][]string{}
	for e := range c.Journal().All() {
		list[int(e.Tick)] = append(list[int(e.Tick)], string(e.Node)+" "+e.Body.Kind()+" "+e.Body.Text())
	}
	return list
}

// Up to the tick before, there is no difference; at the tick itself the announcement says so.
func TestWhereTheRunsBeginToDiffer(t *testing.T) {
	p := pageOf(t, "t=30&vs=work:20")
	tick := p.Transport.Differs.Tick
	at := func(n int) *view.Page {
		return pageOf(t, "vs=work:20&t="+strconv.Itoa(n))
	}
	before, there, after := at(tick-1), at(tick), at(tick+1)
	if before.Transport.Differs != nil || before.Twin.First[0].Text != "No difference up to tick "+strconv.Itoa(tick-1)+"." {
		t.Errorf("before tick %d the page says %v", tick, before.Twin.First)
	}
	if !strings.HasSuffix(there.Change, " Here they begin to differ.") || strings.Contains(after.Change, "begin") {
		t.Errorf("at the tick: %q; after it: %q", there.Change, after.Change)
	}
}

// Marks are found again here, cell by cell: what differs in either picture, and nothing else.
func TestDifferencesAreMarked(t *testing.T) {
	for _, query := range []string{
		"t=14&vs=work:20", "t=14&vs=partitioner:crc32", "t=14&vs=partitions:6", "t=30&vs=consumers:2&rate=9&work=5", "t=40&vs=rate:40", "t=12&vs=assignor:roundrobin",
		"t=14&vs=work:20&at=record:orders-1:2", "t=20&vs=keys:0",
	} {
		p := pageOf(t, query)
		a, b := p.Picture, p.Twin.Picture
		for i, s := range a.Strips {
			if i >= len(b.Strips) || b.Strips[i].Name != s.Name {
				t.Fatalf("%s: strip %d is %s", query, i, s.Name)
			}
			o := b.Strips[i]
			if s.LagDiffers != (s.Lag != o.Lag) || o.LagDiffers != s.LagDiffers || s.CountDiffers != (s.Count != o.Count) || o.CountDiffers != s.CountDiffers || s.Differs != (s.Owner != o.Owner) {
				t.Errorf("%s: the numbers of %s are marked %+v and %+v", query, s.Name, s, o)
			}
			checkCells(t, query, s, o)
			checkCells(t, query, o, s)
		}
		for _, s := range b.Strips[len(a.Strips):] {
			if !s.Differs {
				t.Errorf("%s: %s is only in the twin and has no mark", query, s.Name)
			}
		}
		if !slices.Contains(p.Twin.Legend, view.Key{Kind: "differs", Text: "not so in the other run"}) || a.Legend != nil || b.Legend != nil {
			t.Errorf("%s: the legend is %v", query, p.Twin.Legend)
		}
	}
}

func checkCells(t *testing.T, query string, s, other view.Strip) {
	t.Helper()
	look := func(c view.Cell) string {
		label, _, _ := strings.Cut(c.Label, ", not so in the other run")
		return label + strconv.Itoa(c.Color) + c.Text + strconv.FormatBool(c.BatchStart) + strconv.FormatBool(c.SegmentStart)
	}
	for i, c := range s.Cells {
		offset := s.First + int64(i)
		at := int(offset - other.First)
		want := at >= 0 && at < other.Columns && (at >= len(other.Cells) || look(other.Cells[at]) != look(c))
		if c.Differs != want || strings.HasSuffix(c.Label, ", not so in the other run") != want {
			t.Errorf("%s: %s, offset %d: marked %v, want %v (%q)", query, s.Name, offset, c.Differs, want, c.Label)
		}
	}
}

// The same strip of both begins at the same offset, unless one log is so much longer that its end and anything of
// the other are not in sight together.
func TestTwoWindowsBeginAtTheSameOffset(t *testing.T) {
	for query, same := range map[string]bool{"t=14&vs=partitioner:crc32": true, "t=20&vs=rate:4": true, "t=40&vs=rate:40": false} {
		p := pageOf(t, query)
		for i, s := range p.Picture.Strips {
			o := p.Twin.Picture.Strips[i]
			if len(s.Cells) == 0 || len(o.Cells) == 0 || s.After != nil || o.After != nil {
				t.Errorf("%s: %s does not show the end of both logs", query, s.Name)
			}
			if (s.First == o.First) != same {
				t.Errorf("%s: the windows of %s begin at %d and %d", query, s.Name, s.First, o.First)
			}
		}
	}
}

// The numbers are those of the two runs: with 20 ms of work a record, c1 has read less of orders-1.
func TestMarksOfOneRun(t *testing.T) {
	p := pageOf(t, "t=14&vs=work:20")
	marked := func(s view.Strip) (list []string) {
		for _, c := range s.Cells {
			if c.Differs {
				list = append(list, c.Offset)
			}
		}
		for _, f := range s.Flags {
			if f.Differs {
				list = append(list, f.Text)
			}
		}
		return list
	}
	own, twin := p.Picture.Strips, p.Twin.Picture.Strips
	if got := append(marked(own[0]), marked(twin[0])...); len(got) > 0 {
		t.Errorf("orders-0 is the same in both, marked are %v", got)
	}
	if got, want := marked(own[1]), []string{"4", "5", "6", "7", "8", "c1 at 9"}; !slices.Equal(got, want) {
		t.Errorf("orders-1: marked are %v, want %v", got, want)
	}
	if got, want := marked(twin[1]), []string{"4", "5", "6", "7", "8", "c1 at 4"}; !slices.Equal(got, want) {
		t.Errorf("orders-1 of the twin: marked are %v, want %v", got, want)
	}
}
