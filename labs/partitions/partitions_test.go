package partitions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loglab/engine/partitioner"
	"loglab/engine/record"
	"loglab/labs"
	"loglab/labs/inspect"
	"loglab/labs/labtest"
	"loglab/labs/view"
)

func frame(t *testing.T, query string) (labs.Frame, *view.Page) {
	t.Helper()
	a, err := labs.Parse(Lab(), labs.Pages, query)
	if err != nil {
		t.Fatal(err)
	}
	c, err := labs.Replay(a)
	if err != nil {
		t.Fatal(err)
	}
	p, err := labs.NewRuns(1<<28).Page(context.Background(), a)
	if err != nil {
		t.Fatal(err)
	}
	return labs.Frame{Address: a, Cluster: c, View: c.View()}, p
}

func TestCanonicalKeys(t *testing.T) {
	for raw, want := range map[string]struct {
		canonical string
		keys      []string
	}{
		"3":             {"3", []string{"order-1", "order-2", "order-3"}},
		"0":             {"0", []string{}},
		"a":             {"a", []string{"a"}},
		"a\n":           {"a", []string{"a"}},
		"a\r\nb\r\n":    {"a\nb", []string{"a", "b"}},
		"a\rb":          {"a\nb", []string{"a", "b"}},
		"a\n\nb":        {"a\n\nb", []string{"a", "", "b"}},
		"a\n\n":         {"a\n\n", []string{"a", ""}},
		"\n":            {"\n", []string{""}},
		"\n\n":          {"\n\n", []string{"", ""}},
		"42\n":          {"42\n", []string{"42"}},
		"42\n43":        {"42\n43", []string{"42", "43"}},
		" 42":           {" 42", []string{" 42"}},
		"日本\n\"q\" <b>": {"日本\n\"q\" <b>", []string{"日本", "\"q\" <b>"}},
	} {
		got, err := canonicalKeys(raw)
		if err != nil || got != want.canonical {
			t.Errorf("%q: canonical %q, %v; want %q", raw, got, err, want.canonical)
			continue
		}
		keys, _ := entitiesOf(got)
		if diff := cmp.Diff(want.keys, keys, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", raw, diff)
		}
		if again, _ := canonicalKeys(got); again != got {
			t.Errorf("%q: %q is not canonical, it becomes %q", raw, got, again)
		}
	}
}

// The moved keys that the page is known by: 17 of 24 from 4 to 6 partitions.
func TestMovedKeys(t *testing.T) {
	for query, want := range map[string]string{
		"":                                  "24 keys over 4 partitions; the baseline is 4 too, so none has moved.",
		"partitions=6":                      "Going from 4 to 6 partitions moves 17 of 24 keys.",
		"partitions=4&baseline=6":           "Going from 6 to 4 partitions moves 17 of 24 keys.",
		"keys=0&partitions=6":               "No record has a key, so no key can move.",
		"keys=%0A&partitioner=crc32-random": "No record has a key, so no key can move.",
		"keys=a%0Aa%0Aa&partitions=1":       "Going from 4 to 1 partitions moves 0 of 1 key.",
		"keys=user-1%0Auser-2%0Auser-3%0Auser-4%0Auser-5%0Auser-6&baseline=3&partitions=4": "Going from 3 to 4 partitions moves 6 of 6 keys.", // PART-05
		"keys=user-1%0Auser-2%0Auser-3%0Auser-4%0Auser-5%0Auser-6&baseline=3&partitions=6": "Going from 3 to 6 partitions moves 3 of 6 keys.", // PART-05
	} {
		_, p := frame(t, query)
		if got := p.Picture.Tables[0].Caption; got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

// Who works and who is idle, in the reading and in the picture.
func TestParallelism(t *testing.T) {
	for query, want := range map[string]string{
		"":                         "4 of 6 consumers work. 2 consumers are idle: c4, c5. Within a group each partition is read by one consumer, and there are only 4 partitions.",
		"partitions=6":             "6 of 6 consumers work. Each reads at most 1 partition. More than 6 consumers could not share this work: within a group each partition is read by one consumer.",
		"consumers=1":              "1 of 1 consumer works. Each reads at most 4 partitions. More than 4 consumers could not share this work: within a group each partition is read by one consumer.",
		"consumers=0":              "No consumer reads. Records are written all the same and stay in the log: reading is not what removes them.",
		"partitions=1&consumers=2": "1 of 2 consumers works. 1 consumer is idle: c1. Within a group each partition is read by one consumer, and there is only 1 partition.",
		"do=2:pause+c1&t=4":        "3 of 6 consumers work. 2 consumers are idle: c4, c5. Within a group each partition is read by one consumer, and there are only 4 partitions. c1 is paused: nobody else reads what it is assigned.",
	} {
		_, p := frame(t, query)
		if got := strings.TrimSpace(labtest.Text(p.Reading[0])); got != want {
			t.Errorf("%s:\n got %q\nwant %q", query, got, want)
		}
	}
	_, p := frame(t, "")
	var states []string
	for _, m := range p.Picture.Members {
		states = append(states, m.Name+" "+m.State)
	}
	if want := []string{"c0 working", "c1 working", "c2 working", "c3 working", "c4 idle", "c5 idle"}; !slices.Equal(states, want) {
		t.Errorf("members %v, want %v", states, want)
	}
}

// What a cell says is what stands in the segment's bytes, and every record stands where its key's
// partitioner puts it.
func TestCellsAreTheBytes(t *testing.T) {
	for _, query := range []string{"t=20", "t=7&partitions=6&consumers=2", "t=30&rate=9&partitioner=fnv1a", "t=12&keys=a%0A%0Ab+c%0A%E6%97%A5", "t=15&keys=0&keyless=round-robin", "t=40&rate=20&partitions=3&at=record:orders-1:40"} {
		f, p := frame(t, query)
		rule, _ := partitioner.ByName(f.Address.Values.Text("partitioner"))
		for i, strip := range p.Picture.Strips {
			records := decode(t, f, i)
			for n, cell := range strip.Cells {
				r := records[int(strip.First)+n]
				if cell.Offset != fmt.Sprint(r.Offset) || cell.At != fmt.Sprintf("record:orders-%d:%d", i, r.Offset) {
					t.Fatalf("%s: cell %d of %s is offset %s (%s), the log has %d", query, n, strip.Name, cell.Offset, cell.At, r.Offset)
				}
				want := "no key"
				if r.Key != nil {
					want = "key " + keyName(string(r.Key))
				}
				if !strings.Contains(cell.Label, fmt.Sprintf("offset %d, %s", r.Offset, want)) {
					t.Errorf("%s: cell %q of %s, want it to say %q", query, cell.Label, strip.Name, want)
				}
				if partition, keyed := rule.Partition(r.Key, int32(len(p.Picture.Strips))); keyed && int(partition) != i {
					t.Errorf("%s: %q stands in partition %d, its partitioner says %d", query, r.Key, i, partition)
				}
				position := int64(-1)
				if l := newLayout(f); l.readers[i] != nil {
					position = int64(l.readers[i].position)
				}
				if cell.Waiting != (int64(r.Offset) >= position) {
					t.Errorf("%s: %s: waiting is %v at position %d", query, cell.Label, cell.Waiting, position)
				}
			}
			if len(strip.Cells) == 0 && len(records) > 0 {
				t.Errorf("%s: %s has %d records and no cell", query, strip.Name, len(records))
			}
		}
	}
}

// decode reads all records of a partition, in a way of its own.
func decode(t *testing.T, f labs.Frame, partition int) []record.Record {
	t.Helper()
	var list []record.Record
	for _, segment := range f.View.Partitions[partition].Log.Segments {
		for data := segment.Bytes; len(data) > 0; {
			b, err := record.Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			records, err := b.Records()
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, records...)
			data = data[b.Size():]
		}
	}
	return list
}

// Every record, batch, segment, message and node that the page offers can be opened, at every tick.
func TestEverythingOffered(t *testing.T) {
	for _, query := range []string{"t=0", "t=6", "t=20&rate=8", "partitions=20&consumers=30&t=9"} {
		f, p := frame(t, query)
		var targets []string
		for _, m := range p.Picture.Members {
			targets = append(targets, m.At)
		}
		for _, s := range p.Picture.Strips {
			targets = append(targets, s.At)
			for _, c := range s.Cells {
				targets = append(targets, c.At, strings.Replace(c.At, "record", "batch", 1))
			}
		}
		for _, lane := range p.Picture.Network.Lanes {
			for _, m := range lane.Items {
				targets = append(targets, m.At)
			}
		}
		targets = append(targets, "node:p0", "node:b1")
		for _, target := range targets {
			a, err := labs.Parse(f.Address.Lab, labs.Pages, f.Address.Query()+"&at="+target)
			if err != nil {
				t.Fatal(err)
			}
			in := inspectAt(newLayout(labs.Frame{Address: a, Cluster: f.Cluster, View: f.View}))
			if in == nil || len(in.Facts) == 0 || in.Facts[0].Name == "Not there" {
				t.Errorf("%s: %s cannot be opened", query, target)
			}
		}
	}
}

// What is not there is said to be not there.
func TestNothingThere(t *testing.T) {
	for _, target := range []string{"record:orders-0:9999", "batch:orders-63:0", "segment:orders-0:7", "message:99999", "node:x", "record:payments-0:0"} {
		_, p := frame(t, "t=5&at="+target)
		if p.Inspector == nil || p.Inspector.Facts[0].Name != "Not there" {
			t.Errorf("%s: the inspector shows %+v", target, p.Inspector)
		}
	}
	_, p := frame(t, "t=5&why=100000")
	if p.Inspector == nil || p.Inspector.Facts[0].Name != "Not there" {
		t.Errorf("why=100000: the inspector shows %+v", p.Inspector)
	}
}

func TestKeyName(t *testing.T) {
	for key, want := range map[string]string{
		"order-1": "order-1", "": `""`, " a": `" a"`, "a ": `"a "`, "a b": "a b", "a\tb": `"a\tb"`, `"`: `"\""`, "\u202e": `"\u202e"`, "日本": "日本", "\x00": `"\x00"`,
	} {
		if got := keyName(key); got != want {
			t.Errorf("%q is written %s, want %s", key, got, want)
		}
	}
}

func TestNarrow(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "12345": "12345", "123456": "1234…", "日本": "日本", "日本語": "日本…", "a日本語": "a日…", "ÄÖÜäö": "ÄÖÜäö", "🙂🙂🙂": "🙂🙂…", "\"\"": "\"\"",
	} {
		if got := labs.Narrow(name, 5); got != want {
			t.Errorf("%s in 5 places: %s, want %s", name, got, want)
		}
	}
}

// A command that cannot apply is told, with a link that takes out that command and no other.
func TestRejectedCommandIsTold(t *testing.T) {
	_, p := frame(t, "do=2:pause+c1&do=3:pause+c9&do=4:resume+c1&t=3")
	if len(p.Notices) != 1 {
		t.Fatalf("%d notices, want 1", len(p.Notices))
	}
	if got, want := p.Notices[0].Text, `At tick 3: The command "pause c9" could not apply: there is no node c9. Nothing was changed.`; got != want {
		t.Errorf("the notice says %q, want %q", got, want)
	}
	if got, want := p.Notices[0].Link.Href, "/lab/partitions?v=1&do=2:pause+c1&do=4:resume+c1&t=3"; got != want {
		t.Errorf("its link leads to %s, want %s", got, want)
	}
}

// The causes of what was read lead back to the producer's timer or to a command.
func TestCausesLeadBack(t *testing.T) {
	f, p := frame(t, "t=9&rate=0&do=2:produce+p0+order-1")
	for _, line := range p.Events.Lines {
		if !strings.HasPrefix(line.Text, "Read 1 record") {
			continue
		}
		chain := labs.Causes(f, line.Seq, inspect.CausesShown)
		if first := chain[len(chain)-1]; first.Node != "you" || !strings.Contains(first.Text, "produce p0 order-1") {
			t.Errorf("the read began with %q of %s, want your command", first.Text, first.Node)
		}
		return
	}
	t.Error("nothing was read")
}

// The bounds of an address are those that the engine takes.
func TestLargestOfEverything(t *testing.T) {
	_, p := frame(t, "partitions=64&baseline=1&consumers=64&keys=1000&rate=100&t=30&partitioner=kafkajs-legacy&assignor=roundrobin")
	if len(p.Picture.Strips) != stripsShown || len(p.Picture.Pages) != 7 {
		t.Errorf("%d strips and %d pages, want %d and 7", len(p.Picture.Strips), len(p.Picture.Pages), stripsShown)
	}
	var refused *labs.AddressError
	if _, err := labs.Parse(Lab(), labs.Pages, "keys=1001"); !errors.As(err, &refused) {
		t.Errorf("1001 keys: %v", err)
	}
}

// Going back and on by the links of a strip passes every record.
func TestWindowsLeaveNothingOut(t *testing.T) {
	f, p := frame(t, "partitions=2&rate=9&t=40")
	end := int(f.View.Partitions[1].Log.LogEndOffset)
	seen := map[string]bool{}
	see := func(p *view.Page) {
		for _, c := range p.Picture.Strips[1].Cells {
			seen[c.Offset] = true
		}
	}
	follow := func(link *view.Link) *view.Page {
		_, query, _ := strings.Cut(link.Href, "?")
		_, p := frame(t, query)
		see(p)
		return p
	}
	see(p)
	for p.Picture.Strips[1].Before != nil {
		p = follow(p.Picture.Strips[1].Before)
	}
	if len(seen) != end {
		t.Errorf("going back shows %d records of %d", len(seen), end)
	}
	clear(seen)
	see(p)
	for p.Picture.Strips[1].After != nil {
		p = follow(p.Picture.Strips[1].After)
	}
	if len(seen) != end {
		t.Errorf("going on shows %d records of %d", len(seen), end)
	}
}
