package browsertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// run is what "loglab run --json" says of an address, as far as the picture shows it.
type run struct {
	keys  map[int][]*string // by partition: the keys of all records given to it, in order; nil: no key
	state runState
}

type runState struct {
	Partitions []struct {
		Partition int `json:"partition"`
		Replicas  []struct {
			LogStartOffset int `json:"log_start_offset"`
			LogEndOffset   int `json:"log_end_offset"`
			Segments       int `json:"segments"`
			LogBytes       int `json:"log_bytes"`
		} `json:"replicas"`
	} `json:"partitions"`
	Groups []struct {
		Members []struct {
			ID         string `json:"id"`
			Paused     bool   `json:"paused"`
			Assignment []struct {
				Partition int `json:"partition"`
				Position  int `json:"position"`
				Lag       int `json:"lag"`
			} `json:"assignment"`
		} `json:"members"`
	} `json:"groups"`
	Producers []struct {
		Produced     int `json:"produced"`
		Acknowledged int `json:"acknowledged"`
	} `json:"producers"`
}

func runOf(t *testing.T, address string) run {
	t.Helper()
	r := run{keys: map[int][]*string{}}
	for line := range bytes.Lines(loglab(t, "run", "--json", address)) {
		var l struct {
			Event struct {
				Kind           string `json:"kind"`
				Key            string `json:"key"`
				Keyless        bool   `json:"keyless"`
				TopicPartition struct {
					Partition int `json:"partition"`
				} `json:"topic_partition"`
			} `json:"event"`
			State *runState `json:"state"`
		}
		if err := json.Unmarshal(line, &l); err != nil && l.State == nil && l.Event.Kind == "RecordPartitioned" {
			t.Fatalf("%s: %v", line, err)
		}
		if l.State != nil {
			r.state = *l.State
		}
		if l.Event.Kind == "RecordPartitioned" {
			key := &l.Event.Key
			if l.Event.Keyless {
				key = nil
			}
			p := l.Event.TopicPartition.Partition
			r.keys[p] = append(r.keys[p], key)
		}
	}
	if len(r.state.Partitions) == 0 {
		t.Fatalf("loglab run --json %s prints no state", address)
	}
	return r
}

// lane is one partition as the page draws it.
type lane struct {
	Name, Who string
	Places    int // how many records there is room for
	Flags     []string
	Earlier   string // of the link to earlier records; "" when there is none
	Cells     []cell
}

type cell struct{ ID, Text, Offset, Label string }

func readLanes(b *tab) []lane {
	return eval[[]lane](b, `[...document.querySelectorAll('.lane')].map(lane => ({
		Name: lane.querySelector('.name').innerText,
		Who: lane.querySelector('.who').innerText.replaceAll('\u00a0', ' '),
		Places: +/cols-([0-9]+)/.exec(lane.querySelector('.strip').className)[1],
		Flags: [...lane.querySelectorAll('.flag')].map(flag => flag.innerText),
		Earlier: lane.querySelector('a.before')?.innerText ?? '',
		Cells: [...lane.querySelectorAll('.cell')].map(cell => ({
			ID: cell.id, Text: cell.firstChild.data, Offset: cell.dataset.offset, Label: cell.ariaLabel,
		})),
	}))`)
}

// TestPictureIsTheRun compares every record drawn with what the command line says of the same address.
func TestPictureIsTheRun(t *testing.T) {
	t.Parallel()
	site := serve(t)
	addresses := []string{
		explorer,
		explorer + "&t=5",
		explorer + "&t=13",
		explorer + "&partitions=6&consumers=3&t=40",
		explorer + "&partitions=2&consumers=1&assignor=roundrobin&partitioner=crc32&rate=7&t=25",
		explorer + "&keys=0&seed=3&t=15",
		explorer + "&keyless=round-robin&keys=0&t=15",
		explorer + "&consumers=2&do=2:pause+c1&do=4:produce+p0+zebra&do=5:produce+p0&t=18",
		explorer + "&partitions=30&keys=200&rate=9&t=12",
	}
	for seed := range uint64(10) {
		addresses = append(addresses, randomAddress(rand.New(rand.NewPCG(seed, 42))))
	}
	for _, address := range addresses {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			b := newTab(t, site.url)
			b.open(address)
			want := runOf(t, address)
			checkMembers(t, b, want)
			checkReading(t, b, want)
			for drawn := 0; ; {
				for _, lane := range readLanes(b) {
					checkLane(t, lane, want, drawn)
					drawn++
				}
				if drawn >= len(want.state.Partitions) {
					break
				}
				b.click(fmt.Sprintf("#strips-%d", drawn)) // the picture has room for some at a time
				b.waitText(".lane .name", fmt.Sprintf("orders-%d", drawn))
			}
		})
	}
}

// randomAddress draws a run with one producer whose keys are orders.
func randomAddress(r *rand.Rand) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	query := fmt.Sprintf("%s&partitions=%d&baseline=%d&consumers=%d&assignor=%s&work=%s&metadata=%s&partitioner=%s&keyless=%s&keys=%d&draw=%s&rate=%d&seed=%d",
		explorer, 1+r.IntN(14), 1+r.IntN(6), r.IntN(9), pick("range", "roundrobin"), pick("0", "0", "3", "15"), pick("50", "100", "300"),
		pick("murmur2", "crc32", "fnv1a", "java-hashcode"), pick("sticky", "sticky-480", "round-robin"), sometimes(r, 0, 2+r.IntN(60)), pick("in-turn", "uniform", "zipf", "hot-key"), r.IntN(12), r.IntN(1000))
	for range r.IntN(7) {
		command := pick("pause+c1", "resume+c1", "pause+p0", "resume+p0", "stop-sending+p0", "start-sending+p0", "produce+p0+order-7", "produce+p0", "wait+30ms", "produce-to+p0+0+order-3",
			fmt.Sprintf("add-partitions+orders+to+%d", 2+r.IntN(18)))
		query += fmt.Sprintf("&do=%d:%s", r.IntN(40), command)
	}
	return query + fmt.Sprintf("&t=%d", r.IntN(70))
}

// sometimes gives a, else b.
func sometimes(r *rand.Rand, a, b int) int {
	if r.IntN(4) == 0 {
		return a
	}
	return b
}

func checkLane(t *testing.T, got lane, want run, partition int) {
	t.Helper()
	p := want.state.Partitions[partition]
	name := fmt.Sprintf("orders-%d", partition)
	log := p.Replicas[0]
	owner, reads, position, lag := "", "nobody reads it", 0, 0
	for _, m := range want.state.Groups[0].Members {
		for _, a := range m.Assignment {
			if a.Partition == partition {
				owner, reads, position, lag = m.ID, "read by "+m.ID, a.Position, a.Lag
				if m.Paused {
					reads = m.ID + " stands still"
				}
			}
		}
	}

	// The window ends at the log's end; one of its places stays free for the next record.
	first := max(log.LogStartOffset, log.LogEndOffset-(got.Places-1))
	cells := []cell{}
	for offset := first; offset < log.LogEndOffset; offset++ {
		label, text := fmt.Sprintf("offset %d, no key", offset), "–"
		if key := want.keys[partition][offset]; key != nil {
			label, text = fmt.Sprintf("offset %d, key %s", offset, *key), strings.TrimPrefix(*key, "order-")
		}
		cells = append(cells, cell{ID: fmt.Sprintf("r-%d-%d", partition, offset), Text: text, Offset: fmt.Sprint(offset), Label: label})
	}
	for i, c := range got.Cells {
		if waits := strings.HasSuffix(c.Label, ", not read yet"); i < len(cells) && waits != (owner == "" || first+i >= position) {
			t.Errorf("%s: %q, but its reader stands at %d", name, c.Label, position)
		}
		label := strings.SplitN(c.Label, ", ", 3)
		got.Cells[i].Label = strings.Join(label[:min(len(label), 2)], ", ")
	}
	if diff := cmp.Diff(cells, got.Cells); diff != "" {
		t.Errorf("%s: records (-run +page):\n%s", name, diff)
	}

	expect := []string{fmt.Sprintf("end %d", log.LogEndOffset)}
	if owner != "" && position >= first {
		expect = append(expect, fmt.Sprintf("%s at %d", owner, position))
	}
	flags := strings.Join(got.Flags, "; ")
	for _, flag := range expect {
		if !strings.Contains(flags, flag) {
			t.Errorf("%s: the flags are %q, want %q among them", name, flags, flag)
		}
	}
	if earlier := first - log.LogStartOffset; earlier > 0 && !strings.Contains(got.Earlier, fmt.Sprintf("%d earlier", earlier)) {
		t.Errorf("%s: %d earlier records are not shown and the link says %q", name, earlier, got.Earlier)
	}
	words := []string{name, reads, count(log.LogEndOffset-log.LogStartOffset, "record"), thousands(log.LogBytes) + " B", count(log.Segments, "segment")}
	if owner != "" {
		words = append(words, fmt.Sprintf("%d to read", lag))
	}
	for _, word := range words {
		if !strings.Contains(got.Who, word) {
			t.Errorf("%s: the lane says %q, want %q in it", name, got.Who, word)
		}
	}
}

func checkMembers(t *testing.T, b *tab, want run) {
	t.Helper()
	for _, m := range want.state.Groups[0].Members {
		state := "working"
		switch {
		case m.Paused:
			state = "paused"
		case len(m.Assignment) == 0:
			state = "idle"
		}
		if got := b.text("#member-" + m.ID); !strings.Contains(got, state) {
			t.Errorf("member %s is said to be %q, want %s", m.ID, got, state)
		}
	}
}

// checkReading looks for the numbers of the run in the words about it.
func checkReading(t *testing.T, b *tab, want run) {
	t.Helper()
	written := 0
	for _, p := range want.state.Partitions {
		written += p.Replicas[0].LogEndOffset
	}
	p := want.state.Producers[0]
	reading := b.text("#reading")
	for _, words := range []string{
		"given " + count(p.Produced, "record"),
		fmt.Sprintf("%d %s in the log", written, map[bool]string{true: "is", false: "are"}[written == 1]),
		fmt.Sprint(p.Acknowledged),
	} {
		if !strings.Contains(reading, words) {
			t.Errorf("the reading does not say %q:\n%s", words, reading)
		}
	}
}

// count writes "1 record" and "2 records".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return thousands(n) + " " + noun + "s"
}

func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

// A strip shows a part of the log, and links lead to the rest.
func TestEarlierAndLaterRecords(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(explorer + "&partitions=2&rate=9&t=40")
	state := runOf(t, b.address()).state
	end := state.Partitions[1].Replicas[0].LogEndOffset
	const first = "+document.querySelector('#strip-orders-1 .cell').dataset.offset"
	last := fmt.Sprintf("document.querySelector(\"#strip-orders-1 .cell[data-offset='%d']\")", end-1)
	seen := map[int]bool{}
	see := func() {
		for _, offset := range eval[[]int](b, "[...document.querySelectorAll('#strip-orders-1 .cell')].map(cell => +cell.dataset.offset)") {
			seen[offset] = true
		}
	}
	see()
	for at := eval[int](b, first); at > 0; at = eval[int](b, first) {
		b.click("#before-orders-1")
		b.waitFor(fmt.Sprintf("%s < %d", first, at))
		see()
	}
	if len(seen) != end {
		t.Errorf("going back showed %d records of %d", len(seen), end)
	}
	for eval[bool](b, "!"+last) {
		at := eval[int](b, first)
		b.click("#after-orders-1")
		b.waitFor(fmt.Sprintf("%s > %d", first, at))
	}
}
