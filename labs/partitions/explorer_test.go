package partitions

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/labtest"
	"loglab/labs/view"
)

// wants fails unless the reading says every text.
func wants(t *testing.T, p *view.Page, texts ...string) {
	t.Helper()
	for _, want := range texts {
		if got := labtest.Reading(p); !strings.Contains(got, want) {
			t.Errorf("%s: the reading does not say %q:\n%s", p.Address, want, got)
		}
	}
}

// run gives the ready-made run of that title.
func run(t *testing.T, title string) (labs.Frame, *view.Page) {
	t.Helper()
	for _, r := range readyRuns() {
		if r.Title == title {
			return frame(t, r.Query)
		}
	}
	t.Fatalf("no ready-made run is called %q", title)
	return labs.Frame{}, nil
}

// A ready-made run is one press away in the look that the reader has chosen, without a redirect.
func TestReadyMadeRunsHaveCanonicalAddresses(t *testing.T) {
	for _, look := range []string{"", "theme=dark", "size=projector", "theme=light&size=projector"} {
		_, p := frame(t, look)
		if len(p.Ready) != len(readyRuns()) {
			t.Fatalf("%d ready-made runs, want %d", len(p.Ready), len(readyRuns()))
		}
		for i, ready := range p.Ready {
			want, err := labs.Parse(Lab(), labs.Pages, readyRuns()[i].Query+"&"+look)
			if err != nil {
				t.Fatalf("%s: %v", ready.Link.Text, err)
			}
			if ready.Link.Href != want.String() {
				t.Errorf("%s leads to\n%s, want\n%s", ready.Link.Text, ready.Link.Href, want)
			}
		}
	}
}

func TestKeysWithCounts(t *testing.T) {
	for raw, want := range map[string]struct {
		canonical string
		entities  []string
		counts    []int
	}{
		"a x3\nb":           {"a x3\nb", []string{"a", "b"}, []int{3, 1}},
		"a x03\nb x1":       {"a x3\nb", []string{"a", "b"}, []int{3, 1}},
		"a x1\nb":           {"a\nb", []string{"a", "b"}, nil},
		"a x3 x1":           {"a x3 x1", []string{"a x3"}, nil},
		" x5":               {" x5", []string{""}, []int{5}},
		"a x\nb x-1\nc 5x6": {"a x\nb x-1\nc 5x6", []string{"a x", "b x-1", "c 5x6"}, nil},
		"42 x2":             {"42 x2", []string{"42"}, []int{2}},
		"42 x1":             {"42\n", []string{"42"}, nil},
	} {
		got, err := canonicalKeys(raw)
		if err != nil || got != want.canonical {
			t.Errorf("%q: canonical %q, %v; want %q", raw, got, err, want.canonical)
			continue
		}
		if again, err := canonicalKeys(got); again != got || err != nil {
			t.Errorf("%q: %q is not canonical, it becomes %q, %v", raw, got, again, err)
		}
		entities, counts := entitiesOf(got)
		if diff := cmp.Diff(want.entities, entities) + cmp.Diff(want.counts, counts); diff != "" {
			t.Errorf("%q (-want +got):\n%s", raw, diff)
		}
	}
	for _, raw := range []string{"a x0", "a x1000001", "b\na x99999999999999999999"} {
		if got, err := canonicalKeys(raw); err == nil || !strings.Contains(err.Error(), "from 1 to 1000000") {
			t.Errorf("%q: %q, %v; want an error that names the bounds", raw, got, err)
		}
	}
}

// The weights of Zipf's law add up to the generalised harmonic numbers H(1000, s), but for rounding to
// millionths.
func TestZipfWeights(t *testing.T) {
	for exponent, want := range map[string]int{"0.5": 61801011, "1.0": 7485471, "2.0": 1643935} {
		sum := 0
		for _, weight := range zipf(1000, exponent) {
			sum += weight
		}
		if math.Abs(float64(sum-want)) > 500 { // 1,000 times half a millionth
			t.Errorf("exponent %s: weights add up to %d, want about %d", exponent, sum, want)
		}
	}
	if got, want := zipf(4, "1.0"), []int{1000000, 500000, 333333, 250000}; !slices.Equal(got, want) {
		t.Errorf("zipf: %v, want %v", got, want)
	}
	if got, want := hot(5, 60), []int{240, 40, 40, 40, 40}; !slices.Equal(got, want) {
		t.Errorf("hot key: %v, want %v", got, want)
	}
}

// What is drawn follows the weights: counted in the journal over 4,000 records.
func TestDrawsFollowTheirWeights(t *testing.T) {
	for query, want := range map[string]map[string]float64{
		"keys=4&draw=uniform":                    {"order-1": .25, "order-2": .25, "order-3": .25, "order-4": .25},
		"keys=3&draw=zipf&zipf=2.0":              {"order-1": 36. / 49, "order-2": 9. / 49, "order-3": 4. / 49},
		"keys=5&draw=hot-key&hot=80":             {"order-1": .8, "order-2": .05, "order-3": .05, "order-4": .05, "order-5": .05},
		"keys=a+x6%0Ab+x3%0Ac":                   {"a": .6, "b": .3, "c": .1},
		"keys=a+x6%0Ab+x3%0Ac&draw=uniform":      {"a": 1. / 3, "b": 1. / 3, "c": 1. / 3},
		"keys=2&draw=hot-key&hot=100":            {"order-1": 1},
		"keys=3":                                 {"order-1": 1. / 3, "order-2": 1. / 3, "order-3": 1. / 3},
		"keys=1&draw=hot-key&hot=1":              {"order-1": 1},
		"keys=4&draw=uniform&second=murmur2":     {"order-1": .25, "order-2": .25, "order-3": .25, "order-4": .25},
		"keys=10&key-by=region&draw=uniform":     {"eu": .6, "us": .3, "ap": .1},
		"keys=2&key-by=entity-and-state&seed=10": {"order-1/created": .125, "order-2/shipped": .125},
	} {
		f, _ := frame(t, query+"&rate=100&t=40")
		found, total := map[string]float64{}, 0.
		for e := range f.Cluster.Journal().All() {
			if b, ok := e.Body.(journal.RecordPartitioned); ok {
				found[b.Key]++
				total++
			}
		}
		for key, share := range want {
			if got := found[key] / total; math.Abs(got-share) > .03 {
				t.Errorf("%s: %s has %.3f of the records, want %.3f", query, key, got, share)
			}
		}
	}
}

// PART-09 on the page: six records in three partitions of two can be met in 90 orders.
func TestLegalOrders(t *testing.T) {
	_, p := frame(t, "partitions=3&consumers=3&keys=0&keyless=round-robin&rate=6&t=3&do=1:stop-sending+p0")
	wants(t, p, "With the order of each partition kept, these 6 records can be met in 90 orders.")
	_, p = frame(t, "partitions=1&consumers=3&rate=6&t=3&do=1:stop-sending+p0")
	if strings.Contains(labtest.Reading(p), "can be met") {
		t.Errorf("one partition has one order; the reading says:\n%s", labtest.Reading(p))
	}
}

// Events without a key are in no order across partitions: what is seen late is told.
func TestRoundRobinIsSeenOutOfOrder(t *testing.T) {
	_, p := run(t, "No keys: round robin")
	wants(t, p, "came to the destination after a newer one, of 1 entity.")
	table := p.Picture.Tables[len(p.Picture.Tables)-1]
	if table.ID != "late" || table.Rows[0].Items[0][0].Text != "records without a key" {
		t.Errorf("the table of late events is %+v", table)
	}
}

// Two clients on one topic: Java and librdkafka differ in the keys that their rules say, and in no other.
func TestTwoClients(t *testing.T) {
	f, p := run(t, "Two clients, one topic")
	differ := 0
	at := map[string]map[kafka.NodeID]kafka.Partition{}
	for e := range f.Cluster.Journal().All() {
		if b, ok := e.Body.(journal.RecordPartitioned); ok {
			if at[b.Key] == nil {
				at[b.Key] = map[kafka.NodeID]kafka.Partition{}
			}
			at[b.Key][e.Node] = b.TopicPartition.Partition
		}
	}
	for key, by := range at {
		if len(by) != 2 {
			t.Fatalf("%s was sent by %d producers; let the run be longer", key, len(by))
		}
		if by["p0"] != by["p1"] {
			differ++
		}
	}
	if want := fmt.Sprintf("Two clients, one topic: %d of 24 keys are in different partitions.", differ); p.Picture.Tables[1].Caption != want {
		t.Errorf("the table says %q, the journal %q", p.Picture.Tables[1].Caption, want)
	}
	if differ < 12 {
		t.Errorf("%d of 24 keys differ; two unrelated hashes put about 20 of 24 into different ones of 6 partitions", differ)
	}
	_, same := frame(t, "second=murmur2&t=16")
	wants(t, same, "Two clients, one topic: 0 of 24 keys are in different partitions. To murmur2 and murmur2 every key has the same partition.")
	// The facts' vectors: user-1 and user-42 under murmur2 and CRC-32 with 12 partitions.
	_, p = frame(t, "partitions=12&keys=user-1%0Auser-42&second=crc32")
	for i, want := range []string{"user-1 orders-8 orders-8", "user-42 orders-4 orders-7"} {
		key := strings.Fields(want)[0]
		var row string
		for _, r := range p.Picture.Tables[1].Rows {
			if r.Items[0][0].Text == key {
				row = strings.Join([]string{r.Items[0][0].Text, r.Items[1][0].Text, r.Items[2][0].Text}, " ")
			}
		}
		if i == 0 && row != "" || i == 1 && row != want {
			t.Errorf("%s: the table has %q, want %q only where they differ", key, row, want)
		}
	}
}

// Partitions are added while readers are behind: late events, each of a key that moved; both remedies hold.
func TestOrderAcrossAPartitionChange(t *testing.T) {
	f, p := run(t, "Partitions added while writing")
	late := f.View.Destination
	if late.Late == 0 {
		t.Fatal("no event was late")
	}
	moved := map[string]bool{}
	for _, k := range newLayout(f).placed {
		moved[k.key] = k.moved()
	}
	for _, l := range late.FirstLate {
		if !moved[l.Entity] {
			t.Errorf("%s stayed where it was, and its event %d was seen after its event %d", l.Entity, l.Event.Version, l.Newer.Version)
		}
	}
	wants(t, p, "no event was overtaken within a partition. None of the 10 keys that stayed is among them.")
	table := p.Picture.Tables[1]
	if table.ID != "late" || len(table.Rows) != min(len(late.FirstLate), tableRowsShown) {
		t.Fatalf("the table %s has %d rows, want %d", table.ID, len(table.Rows), min(len(late.FirstLate), tableRowsShown))
	}
	for i, row := range table.Rows {
		l := late.FirstLate[i]
		if got, want := row.Items[1][0].At+" "+row.Items[2][0].At, fmt.Sprintf("record:%s:%d record:%s:%d", l.Newer.At, l.Newer.Offset, l.Event.At, l.Event.Offset); got != want {
			t.Errorf("row %d leads to %s, want %s", i, got, want)
		}
	}

	drained, p := run(t, "First remedy: drain first")
	if d := drained.View.Destination; d.Late != 0 || d.Processed < 100 || len(drained.View.Partitions) != 6 {
		t.Errorf("drained: %d of %d events late over %d partitions, want 0 of more than 100 over 6", d.Late, d.Processed, len(drained.View.Partitions))
	}
	if strings.Contains(labtest.Reading(p), "came to the destination after a newer one") {
		t.Errorf("drained: the reading says:\n%s", labtest.Reading(p))
	}
	if after, _ := frame(t, strings.Replace(p.Address[strings.Index(p.Address, "?")+1:], "t=60", "t=140", 1)); after.View.Destination.Late != 0 {
		t.Errorf("drained, later: %d events late", after.View.Destination.Late)
	}

	checked, p := run(t, "Second remedy: check versions")
	if d := checked.View.Destination; d.Refused != late.Late || d.Late != late.Late {
		t.Errorf("checked: %d late and %d refused, want %d", d.Late, d.Refused, late.Late)
	}
	wants(t, p, "It refused all of them.")
}

// The reading leads through adding partitions with the producer stopped; who follows it loses no order.
func TestTheReadingLeadsThroughDraining(t *testing.T) {
	f, p := frame(t, growing+"rate=6&t=8")
	said := func() (text, next string) {
		for _, paragraph := range p.Reading {
			for i, s := range paragraph {
				for _, step := range []string{"first stop", "step on until", "now partitions can be added", "is on its way", "asks for metadata again", "can send again"} {
					if strings.Contains(s.Text, step) {
						if i+1 < len(paragraph) {
							next = paragraph[i+1].Href
						}
						return step, next
					}
				}
			}
		}
		return "", ""
	}
	var steps []string
	for range 80 {
		step, next := said()
		if len(steps) == 0 || steps[len(steps)-1] != step {
			steps = append(steps, step)
		}
		a := f.Address.WithTick(f.Address.T + 1)
		query := a.Query()
		if next != "" {
			_, query, _ = strings.Cut(next, "?")
		}
		f, p = frame(t, query)
	}
	if want := []string{"first stop", "step on until", "now partitions can be added", "is on its way", "asks for metadata again", "can send again", ""}; !slices.Equal(steps, want) {
		t.Errorf("the steps are %q, want %q", steps, want)
	}
	f, _ = frame(t, f.Address.WithTick(150).Query())
	if d := f.View.Destination; len(f.View.Partitions) <= 3 || d.Late != 0 || d.Processed < 200 {
		t.Errorf("afterwards %d partitions and %d of %d events late", len(f.View.Partitions), d.Late, d.Processed)
	}
}

// A key that changes scatters an entity; a key that is too coarse makes one partition hot.
func TestAKeyIsAContract(t *testing.T) {
	f, p := run(t, "A key that changes")
	scattered := 0
	where := map[string]map[kafka.Partition]bool{}
	for _, k := range newLayout(f).placed {
		entity, _, _ := strings.Cut(k.key, "/")
		if where[entity] == nil {
			where[entity] = map[kafka.Partition]bool{}
		}
		where[entity][k.now] = true
	}
	for _, in := range where {
		if len(in) > 1 {
			scattered++
		}
	}
	wants(t, p, fmt.Sprintf("the events of %d of 24 orders are scattered over partitions.", scattered))
	if scattered < 20 {
		t.Errorf("%d of 24 orders are scattered", scattered)
	}
	_, p = run(t, "A key that is too coarse")
	wants(t, p, "24 orders share 3 keys, so only 3 of 4 partitions get records.", "The hottest key is eu: 75 of 120 records, 63 %, all of them for orders-2.")
	_, p = run(t, "One hot key")
	wants(t, p, "The hottest key is order-1: ", "the group gets through at most 2.0 times what one consumer does.")
}

// Every number that changed in the tick shown leads to its causes, down to a command or a timer.
func TestChangedNumbersHaveCauses(t *testing.T) {
	for _, query := range []string{"t=6", "t=9&rate=9", growing + "rate=6&do=8:add-partitions+orders+to+6&t=30", "t=5&rate=0&do=2:produce+p0+order-1"} {
		f, p := frame(t, query)
		var links []*view.Link
		for _, s := range p.Picture.Strips {
			links = append(links, s.Grew, s.Moved)
		}
		opened := 0
		for _, link := range links {
			if link == nil {
				continue
			}
			opened++
			_, query, _ := strings.Cut(link.Href, "?")
			_, why := frame(t, query)
			if why.Inspector == nil || len(why.Inspector.Chain) == 0 {
				t.Fatalf("%s leads to nothing", link.Href)
			}
			chain := why.Inspector.Chain
			if first := chain[0]; first.Tick != f.Address.T {
				t.Errorf("%s: %q happened in tick %d, not %d", link.Href, first.Text, first.Tick, f.Address.T)
			}
			last := why.Inspector.Facts[0].Value
			if !strings.Contains(last, "a timer of") && !strings.Contains(last, "a command of yours") && !strings.Contains(last, "before tick 0") {
				t.Errorf("%s: %s", link.Href, last)
			}
		}
		if opened == 0 {
			t.Errorf("%s: no number changed", query)
		}
	}
}

// Without keys each rule spreads as its text says.
func TestKeylessRules(t *testing.T) {
	used := func(query string) (n int) {
		f, _ := frame(t, query)
		for _, p := range f.View.Partitions {
			if records(p) > 0 {
				n++
			}
		}
		return n
	}
	if n := used("keys=0&rate=60&t=4"); n != 1 {
		t.Errorf("sticky: %d partitions after 240 records of about 75 bytes, want 1: batch.size has not gone there", n)
	}
	if n := used("keys=0&rate=60&t=20&keyless=sticky-480"); n < 3 {
		t.Errorf("sticky-480: %d partitions, want more: each batch goes to another", n)
	}
	_, p := frame(t, "keys=0&rate=6&t=9&keyless=round-robin")
	wants(t, p, "Round robin gives each record the next partition.", "The same with sticky: try it.", "The same with sticky-480: try it.")
}

// lacks fails if the reading says one of the texts.
func lacks(t *testing.T, p *view.Page, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if got := labtest.Reading(p); strings.Contains(got, text) {
			t.Errorf("%s: the reading says %q:\n%s", p.Address, text, got)
		}
	}
}

// Keys move when the producer learns of new partitions, not when the topic has them.
func TestKeysMoveWhenTheProducerLearns(t *testing.T) {
	_, p := frame(t, "metadata=300000&do=2:add-partitions+orders+to+6&t=20")
	wants(t, p, "24 keys over 4 partitions; the baseline is 4 too, so none has moved.",
		"p0 knows 4 partitions of 6 and divides its keys among those; it asks for metadata again in 299,760 ms (metadata.max.age.ms = 300,000).",
		"The group still shares 4 partitions of 6: c0 learns of the others at its next Metadata request, in 299,760 ms")
	lacks(t, p, "there are only 6 partitions", "moves 17 of 24 keys")
	for i, row := range p.Picture.Tables[0].Rows {
		if i >= 4 && row.Items[2][0].Text != "none" {
			t.Errorf("%s has the key %s", row.Items[0][0].Text, row.Items[2][0].Text)
		}
	}
	_, p = frame(t, "do=2:add-partitions+orders+to+6&t=20")
	wants(t, p, "Going from 4 to 6 partitions moves 17 of 24 keys.", "6 of 6 consumers work.")
	_, p = frame(t, "do=2:pause+c3&do=5:add-partitions+orders+to+6&t=20")
	wants(t, p, "The group still shares 4 partitions of 6: to divide the others too it waits for the member that stands still.")
}

// The hottest key's bound is that of one partition, and only of records that a partitioner placed by their
// key.
func TestTheHottestKeyIsThatOfAPartition(t *testing.T) {
	f, p := frame(t, "draw=hot-key&second=crc32&rate=10&t=40&horizon=40")
	sent, total, most := map[string]int{}, 0, 0
	for e := range f.Cluster.Journal().All() {
		if b, ok := e.Body.(journal.RecordPartitioned); ok {
			at := fmt.Sprint(b.Key, " ", b.TopicPartition)
			sent[at]++
			total, most = total+1, max(most, sent[at])
		}
	}
	if most > total/3 {
		t.Fatalf("%d of %d records of one key are in one partition; two clients divide them", most, total)
	}
	wants(t, p, fmt.Sprintf("The hottest key is order-1: %d of %d records, ", most, total), fmt.Sprintf("at most %.1f times", float64(total)/float64(most)))
	_, p = frame(t, "keys=%20x50%0AA&partitioner=crc32-random&rate=6&t=30&horizon=40")
	lacks(t, p, `The hottest key is ""`)
	for _, query := range []string{"key-by=entity-and-state&rate=6&t=20", growing + "rate=6&do=8:add-partitions+orders+to+6&t=40", "keys=0&rate=0&t=30" + strings.Repeat("&do=1:produce+p0+k", 20)} {
		_, p = frame(t, query)
		lacks(t, p, "The hottest key is")
	}
	_, p = frame(t, "rate=0&t=30"+strings.Repeat("&do=1:produce-to+p0+0+order-1", 30))
	lacks(t, p, "The hottest key is")
}

// With two clients the partitions of both count.
func TestACoarseKeyWithTwoClients(t *testing.T) {
	f, p := frame(t, "partitions=8&key-by=region&second=crc32&rate=6&t=20")
	used := 0
	for _, partition := range f.View.Partitions {
		if records(partition) > 0 {
			used++
		}
	}
	wants(t, p, fmt.Sprintf("24 orders share 3 keys, so only %d of 8 partitions get records.", used))
}

// What is said of late events holds for all of them; the same event again is not late.
func TestLateWithinAPartition(t *testing.T) {
	_, p := frame(t, "rate=0&do=1:produce-to+p0+1+order-1+%22event+5%22&do=5:produce-to+p0+2+order-1+%22event+4%22&do=9:produce-to+p0+2+order-1+%22event+9%22&do=13:produce-to+p0+2+order-1+%22event+8%22&t=18")
	wants(t, p, "2 of 4 events came to the destination after a newer one, of 1 entity.", "1 of them was overtaken within one partition")
	lacks(t, p, "no event was overtaken within a partition")
	f, _ := frame(t, "rate=0&do=1:produce+p0+order-1+%22event+3%22&do=4:produce+p0+order-1+%22event+3%22&t=9")
	if d := f.View.Destination; d.Late != 0 || d.Processed != 2 {
		t.Errorf("the same event twice: %d late of %d, want 0 of 2", d.Late, d.Processed)
	}
}

// A way to keep order is offered only where there is one to keep.
func TestDrainingIsOfferedWhereOrderHolds(t *testing.T) {
	for _, query := range []string{"keys=0&t=9", "key-by=entity-and-state&t=9", "key-by=region&t=9", "second=crc32&t=9"} {
		_, p := frame(t, query)
		lacks(t, p, "Partitions can be added without losing order")
	}
	_, p := frame(t, "t=9")
	wants(t, p, "Partitions can be added without losing order")
}
