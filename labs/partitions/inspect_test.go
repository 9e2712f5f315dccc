package partitions

import (
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/partitioner"
	"loglab/engine/record"
	"loglab/labs"
	"loglab/labs/inspect"
	"loglab/labs/view"
)

// inspector opens a target and gives what is shown.
func inspector(t *testing.T, query string) *view.Inspector {
	t.Helper()
	_, p := frame(t, query)
	if p.Inspector == nil {
		t.Fatalf("%s: nothing is shown", query)
	}
	return p.Inspector
}

func factOf(in *view.Inspector, name string) string {
	for _, f := range in.Facts {
		if f.Name == name {
			return f.Value
		}
	}
	return "(no such fact)"
}

// rows writes a table's rows, cells parted by " | " and marks as words.
func rows(t *testing.T, in *view.Inspector, id string) []string {
	t.Helper()
	i := slices.IndexFunc(in.Tables, func(t view.Table) bool { return t.ID == id })
	if i < 0 {
		t.Fatalf("%s has no table %q", in.Title, id)
	}
	var list []string
	for _, row := range in.Tables[i].Rows {
		var texts []string
		for _, cell := range row.Items {
			text := ""
			for _, item := range cell {
				text += item.Text
				if item.Mark != "" {
					text += " (" + item.Label + ")"
				}
			}
			texts = append(texts, text)
		}
		list = append(list, strings.Join(texts, " | "))
	}
	return list
}

// §3.1: the murmur2 of "user-1" is 53b136cc, which is 1404122828 and of 3 partitions partition 2.
func TestHashOfUser1(t *testing.T) {
	in := inspector(t, "partitions=3&baseline=12&keys=user-1&t=5&at=record:orders-2:0")
	got := rows(t, in, "hash")
	for i, want := range map[int]string{
		0: "start |  |  | 9747b28a | h = seed 0x9747b28c ^ length 6",
		5: "finish 3 |  |  | 53b136cc | h = h ^ h>>>15",
		6: "positive |  |  | 1404122828 | & 0x7fffffff: the top bit is cleared",
		7: "partition |  |  | 2 | 1404122828 mod 3 partitions",
	} {
		if got[i] != want {
			t.Errorf("step %d is %q, want %q", i, got[i], want)
		}
	}
	if !strings.HasPrefix(got[1], "word 1 | 75 73 65 72 user | ") || !strings.HasPrefix(got[2], "tail | 2d 31 -1 | 0000312d | ") || len(got) != 8 {
		t.Errorf("the steps are\n%s", strings.Join(got, "\n"))
	}
	const other = " (another than now)"
	want := []string{ // §3.1 and §3.2, columns of user-1: %3, %7, %12; the others worked out by the vectors' hashes
		"12 partitions, the baseline | orders-8" + other,
		fmt.Sprintf("2 partitions, one fewer | orders-%d%s", 1404122828%2, other),
		fmt.Sprintf("4 partitions, one more | orders-%d%s", 1404122828%4, other),
		"6 partitions, twice as many | orders-2",
		"crc32 | orders-2", "crc32-random | orders-2",
		"fnv1a | orders-0" + other, "fnv1a-reference | orders-2",
		"java-hashcode | orders-2", "kafkajs-legacy | orders-1" + other,
		"murmur3 | orders-0" + other,
	}
	if diff := cmp.Diff(want, rows(t, in, "elsewhere")); diff != "" {
		t.Errorf("where the key would be (-want +got):\n%s", diff)
	}
	if got, want := factOf(in, "Partition"), "murmur2 = 0x53b136cc (1404122828) & 0x7fffffff = 1404122828; mod 3 = 2"; got != want {
		t.Errorf("the partition is %q, want %q", got, want)
	}
}

// For every partitioner and awkward keys: the last steps are the hash and the partition it stands in, and a
// long key's steps are cut in the middle.
func TestHashTableOfEveryPartitioner(t *testing.T) {
	for _, name := range partitioner.Names() {
		rule, _ := partitioner.ByName(name)
		for _, key := range []string{"a", " ", "日本😀", strings.Repeat("long ", 40)} {
			partition, _ := rule.Partition([]byte(key), 4)
			in := inspector(t, "keys="+url.QueryEscape(key)+"&t=5&partitioner="+name+"&at=record:orders-"+fmt.Sprint(partition)+":0")
			got := rows(t, in, "hash")
			if len(got) > firstSteps+lastSteps+3 {
				t.Errorf("%s of %q: %d rows", name, key, len(got))
			}
			hash := rule.Hash([]byte(key))
			if last := got[len(got)-3]; !strings.Contains(last, fmt.Sprintf("%08x", hash.Unsigned())) {
				t.Errorf("%s of %q: the last step is %q, the hash is %08x", name, key, last, hash.Unsigned())
			}
			if last := got[len(got)-1]; !strings.HasPrefix(last, "partition |") || !strings.Contains(last, fmt.Sprintf("| %d | %d mod 4", partition, hash.Mapped())) {
				t.Errorf("%s of %q: the end is %q, the partition is %d", name, key, last, partition)
			}
		}
	}
	in := inspector(t, "keys=0&t=12&at=record:orders-0:0&keyless=round-robin")
	if len(in.Tables) != 0 || factOf(in, "Partition") != "The producer chose by the rule round-robin." {
		t.Errorf("a record without a key has %d tables and %q", len(in.Tables), factOf(in, "Partition"))
	}
}

// bytesOf puts an anatomy's lines together again; gap lines become "…".
func bytesOf(a view.Anatomy) (digits string, fields []string) {
	fields = make([]string, len(a.Fields))
	for _, l := range a.Lines {
		for _, p := range l.Parts {
			text := strings.ReplaceAll(p.Text, " ", "")
			if p.Gap {
				text = "…"
			}
			digits += text
			if p.Field >= 0 {
				fields[p.Field] += text
			}
		}
	}
	return digits, fields
}

// A record's and a batch's bytes are those in the segment, field by field.
func TestAnatomiesAreTheBytes(t *testing.T) {
	for _, query := range []string{"t=12", "t=20&rate=30&partitions=2", "t=9&keys=0"} {
		f, _ := frame(t, query)
		for i := range f.View.Partitions {
			for _, r := range decode(t, f, i)[:min(20, len(decode(t, f, i)))] {
				name := fmt.Sprintf("orders-%d:%d", i, r.Offset)
				open := func(kind string) view.Anatomy {
					a, err := labs.Parse(f.Address.Lab, labs.Pages, f.Address.Query()+"&at="+kind+":"+name)
					if err != nil {
						t.Fatal(err)
					}
					in := inspectAt(newLayout(labs.Frame{Address: a, Cluster: f.Cluster, View: f.View}))
					return in.Anatomies[0]
				}
				at, ok := inspectLog(f, f.View.Partitions[i]).Locate(r.Offset)
				if !ok {
					t.Fatalf("%s is not found", name)
				}
				batch := at.Batch.Bytes()
				own := batch[record.HeaderSize+at.Record.Position:][:at.Record.Size]
				got, fields := bytesOf(open("record"))
				if got != hex.EncodeToString(own) {
					t.Fatalf("record %s: bytes %s, the segment has %x", name, got, own)
				}
				key := slices.IndexFunc(open("record").Fields, func(f view.ByteField) bool { return f.Name == "key" })
				if r.Key != nil && (key < 0 || fields[key] != hex.EncodeToString(r.Key)) {
					t.Fatalf("record %s: the key's bytes are not those of %q: %v", name, r.Key, fields)
				}
				got, fields = bytesOf(open("batch"))
				want := hex.EncodeToString(batch[:record.HeaderSize])
				if at.Index > 0 {
					want += "…"
				}
				want += hex.EncodeToString(own)
				if at.Record.Position+at.Record.Size+record.HeaderSize < len(batch) {
					want += "…"
				}
				if got != want || fields[4] != hex.EncodeToString(batch[17:21]) {
					t.Fatalf("batch %s:\n got %s\nwant %s", name, got, want)
				}
			}
		}
	}
}

// The way to every offset of a log, held against a walk through all its batches.
func TestFindEveryOffset(t *testing.T) {
	const query = "t=30&rate=8"
	f, _ := frame(t, query)
	p := f.View.Partitions[1]
	if len(p.Log.Segments) < 3 {
		t.Fatalf("the log has %d segments; the test wants several", len(p.Log.Segments))
	}
	for offset := range p.Log.LogEndOffset {
		in := inspector(t, fmt.Sprintf("%s&at=find:orders-1:%d", query, offset))
		var base kafka.Offset
		batchesBefore, bytesBefore, position := 0, 0, 0
		answer := ""
		for _, s := range p.Log.Segments {
			position = 0
			for data := s.Bytes; len(data) > 0 && answer == ""; {
				b, err := record.Parse(data)
				if err != nil {
					t.Fatal(err)
				}
				if b.LastOffset() >= offset {
					base, answer = s.BaseOffset, fmt.Sprintf("the batch of %s%s at byte %d", labs.Verb(int(b.LastOffset()-b.BaseOffset)+1, "offset ", "offsets "), inspect.Offsets(b.BaseOffset, b.LastOffset()), position)
					break
				}
				batchesBefore, bytesBefore, position = batchesBefore+1, bytesBefore+b.Size(), position+b.Size()
				data = data[b.Size():]
			}
			if answer != "" {
				break
			}
		}
		if got := factOf(in, "Answer"); got != answer {
			t.Errorf("offset %d: %q, want %q", offset, got, answer)
		}
		if got := factOf(in, "1. Segment"); !strings.HasPrefix(got, fmt.Sprintf("%020d.log", base)) {
			t.Errorf("offset %d: segment %q, want %d", offset, got, base)
		}
		want := fmt.Sprintf("from the start of the log: %s, %s passed over, %s × 61 = %s",
			kafka.Count(batchesBefore+1, "batch"), kafka.Count(bytesBefore, "byte"), kafka.Count(batchesBefore+1, "header"), kafka.Thousands(61*(batchesBefore+1)))
		if got := factOf(in, "Without segments"); got != want {
			t.Errorf("offset %d: %q, want %q", offset, got, want)
		}
	}
	end := p.Log.LogEndOffset
	for offset, want := range map[kafka.Offset]string{
		end:     fmt.Sprintf("no bytes: %d is the log end offset", end),
		end + 1: fmt.Sprintf("OFFSET_OUT_OF_RANGE: offset %d > log end offset %d", end+1, end),
	} {
		if got := factOf(inspector(t, fmt.Sprintf("%s&at=find:orders-1:%d", query, offset)), "Answer"); !strings.HasPrefix(got, want) {
			t.Errorf("offset %d: %q, want %q", offset, got, want)
		}
	}
}

// A message's frame: the size, the request header of version 2 and the response header of version 1 as
// RequestHeader.json and ResponseHeader.json have them, and a body that decodes to what was sent.
func TestMessageFrames(t *testing.T) {
	f, _ := frame(t, "t=9&rate=9&do=2:pause+c1")
	requests, responses := 0, 0
	for _, m := range f.View.UnderWay {
		whole, key, flexible := inspectFrame(f).FrameOf(m)
		size := fmt.Sprintf("%08x", len(whole)-4)
		id := map[byte]string{'p': "producer-1", 'c': "consumer-billing-1"}[m.From[0]]
		want := fmt.Sprintf("%s%04x%04x%08x%04x%x00", size, key, m.Version, m.Message.Correlation, len(id), id)
		if m.Answer {
			responses++
			want = fmt.Sprintf("%s%08x00", size, m.Message.Correlation)
		} else {
			requests++
		}
		if got := hex.EncodeToString(whole[:len(want)/2]); got != want || !flexible {
			t.Errorf("message %d: header %s, want %s", m.ID, got, want)
		}
		body := whole[len(want)/2:]
		if m.Answer {
			again := kmsg.ResponseForKey(key)
			again.SetVersion(m.Version)
			if err := again.ReadFrom(body); err != nil || string(again.AppendTo(nil)) != string(m.Message.Body()) {
				t.Errorf("message %d: the body does not read back: %v", m.ID, err)
			}
		}
		in := inspector(t, fmt.Sprintf("t=9&rate=9&do=2:pause+c1&at=message:%d", m.ID))
		if got, _ := bytesOf(in.Anatomies[0]); !strings.HasPrefix(hex.EncodeToString(whole), got[:min(strings.Index(got+"…", "…"), len(got))]) {
			t.Errorf("message %d: the bytes shown are %s, those of the message %x", m.ID, got, whole)
		}
		if got, want := factOf(in, "API"), fmt.Sprintf("(API key %d), version %d, correlation id %d", key, m.Version, m.Message.Correlation); !strings.HasSuffix(got, want) {
			t.Errorf("message %d: API is %q, want %q", m.ID, got, want)
		}
		if !m.Held {
			checkArrival(t, m.ID, factOf(in, "Arrives"))
		}
		if len(in.Chain) == 0 || len(in.Anatomies[0].Fields) < 5 {
			t.Errorf("message %d: %d causes, %d fields", m.ID, len(in.Chain), len(in.Anatomies[0].Fields))
		}
	}
	if requests == 0 || responses == 0 {
		t.Errorf("%d requests and %d responses are on their way", requests, responses)
	}
}

// checkArrival holds the tick in which a message is said to arrive against what then happens.
func checkArrival(t *testing.T, id uint64, says string) {
	t.Helper()
	later, _ := frame(t, "t=15&rate=9&do=2:pause+c1")
	j := later.Cluster.Journal()
	for e := range j.All() {
		if b, ok := e.Body.(journal.MessageDelivered); ok && b.Message == id {
			if want := fmt.Sprintf(", in tick %d", e.Tick); !strings.HasSuffix(says, want) {
				t.Errorf("message %d arrives %q, want %q", id, says, want)
			}
			return
		}
	}
	for _, m := range later.View.UnderWay { // for the paused consumer
		if m.ID == id && m.Held {
			return
		}
	}
	t.Errorf("message %d never arrives", id)
}

// A batch in a fetch response can be opened in its log, and holds the same bytes there.
func TestBatchesOfAResponseAreInALog(t *testing.T) {
	for tick := range 20 {
		query := fmt.Sprintf("t=%d", tick)
		f, _ := frame(t, query)
		for _, m := range f.View.UnderWay {
			response, ok := m.Message.Response.(*kmsg.FetchResponse)
			if !ok {
				continue
			}
			for _, p := range response.Topics[0].Partitions {
				if len(p.RecordBatches) == 0 {
					continue
				}
				in := inspector(t, fmt.Sprintf("%s&at=message:%d", query, m.ID))
				for _, field := range in.Anatomies[0].Fields {
					if field.Link == nil {
						continue
					}
					_, target, _ := strings.Cut(field.Link.Href, "&at=batch:")
					name, number, _ := strings.Cut(target, ":")
					if name != fmt.Sprintf("orders-%d", p.Partition) {
						t.Fatalf("message %d: %s leads to %s", m.ID, field.Name, field.Link.Href)
					}
					at, ok := inspectLog(f, f.View.Partitions[p.Partition]).Locate(kafka.Offset(number[0] - '0'))
					if len(number) == 1 && (!ok || !strings.HasPrefix(string(p.RecordBatches), string(at.Batch.Bytes()))) {
						t.Fatalf("message %d: the batch at %s is another", m.ID, target)
					}
					return
				}
			}
		}
	}
	t.Error("no fetch response had a batch that can be opened")
}

// Whatever is opened says why it is there, back to a timer, a command or the topic's creation.
func TestEverythingHasItsCauses(t *testing.T) {
	const run = "t=14&rate=1&do=3:produce+p0+zebra"
	f, p := frame(t, run)
	var targets []string
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
	you := 0
	for _, target := range targets {
		in := inspector(t, run+"&at="+target)
		if len(in.Chain) == 0 {
			t.Errorf("%s has no causes", target)
			continue
		}
		last := in.Chain[len(in.Chain)-1]
		e, ok := f.Cluster.Journal().At(last.Seq)
		if !ok || e.Cause != 0 {
			t.Errorf("%s: the causes end at event %d, %q, which has a cause itself", target, last.Seq, last.Text)
		}
		if last.Node == "you" {
			you++
		}
		if strings.HasPrefix(target, "record:") && !strings.Contains(factOf(in, "Handed in"), "goes to orders-") {
			t.Errorf("%s: it is not said how it was handed in: %q", target, factOf(in, "Handed in"))
		}
	}
	if you == 0 {
		t.Error("nothing leads back to the command")
	}
}

// A long chain of causes is cut in the middle.
func TestLongChainIsCut(t *testing.T) {
	in := inspector(t, "t=100&rate=8&at=node:c1")
	if len(in.Chain) != inspect.CausesShown+1 || !strings.Contains(in.Chain[inspect.CausesShown-5].Text, "more, down to those below") {
		t.Errorf("the chain has %d lines", len(in.Chain))
	}
}

// A node says what it waits for.
func TestNodesSayWhatTheyWaitFor(t *testing.T) {
	for query, want := range map[string]map[string]string{
		"t=12&at=node:p0":                               {"Next timer": "in 0 ms, at 120 ms: the application hands in 3 records"},
		"t=12&rate=0&at=node:b1":                        {"Next timer": "answers the fetch of c"},
		"t=12&rate=0&at=node:c1":                        {"Next timer": "in 60 ms, at 180 ms: asks for metadata again: it is metadata.max.age.ms = 100 old", "Waits for": "the answer to its Fetch request"},
		"t=12&at=node:c4":                               {"Next timer": "asks for metadata again"},
		"t=6&at=node:c4":                                {"Next timer": "asks for metadata again"},
		"t=7&at=node:c4":                                {"Next timer": "in 29,990 ms, at 30,060 ms: a request has waited request.timeout.ms = 30,000", "Waits for": "the answer to its Metadata request"},
		"t=12&work=50&rate=9&at=node:c2":                {"Next timer": "the application polls: up to max.poll.records = 1"},
		"do=3:pause+c1&t=12&at=node:c1":                 {"Waits for": "to be resumed"},
		"rate=0&do=2:produce+p0+order-1&t=2&at=node:p0": {"Next timer": "in 5 ms, at 25 ms: the batch of orders-"},
	} {
		in := inspector(t, query)
		for name, words := range want {
			if got := factOf(in, name); !strings.Contains(got, words) {
				t.Errorf("%s: %s is %q, want it to say %q", query, name, got, words)
			}
		}
	}
}

// A compressed batch is shown with its compressed bytes and, apart, the record that they hold; headers and
// nulls are named.
func TestCompressedBatch(t *testing.T) {
	f, _ := frame(t, "t=5")
	for _, codec := range []record.Codec{record.Gzip, record.Snappy, record.LZ4, record.Zstd} {
		builder := record.NewBuilder(record.Options{Codec: codec})
		builder.Append(1_700_000_000_000, []byte("user-1"), []byte(strings.Repeat("again ", 30)))
		builder.Append(1_700_000_000_003, nil, nil, record.Header{Key: "trace", Value: []byte("7")}, record.Header{Key: "none"})
		raw, err := builder.Build()
		if err != nil {
			t.Fatal(err)
		}
		b, err := record.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		at, log := inspect.Location{Segment: f.View.Partitions[0].Log.Segments[0], Batch: b}, inspectLog(f, f.View.Partitions[0])
		for scanner := b.Scan(); scanner.Next(); at.Index++ {
			at.Record = scanner.Record()
			l, in := newLayout(f), &view.Inspector{}
			log.Batch(in, at)
			if len(in.Anatomies) != 2 || in.Anatomies[1].Caption != fmt.Sprintf("Record %d, decompressed", at.Index) {
				t.Fatalf("%v: %d anatomies", codec, len(in.Anatomies))
			}
			whole, fields := bytesOf(in.Anatomies[0])
			if records := fields[len(fields)-1]; !strings.HasPrefix(whole, hex.EncodeToString(raw[:record.HeaderSize])) || !strings.HasPrefix(records, hex.EncodeToString(raw[record.HeaderSize:][:16])) {
				t.Errorf("%v: the batch's bytes are %s", codec, whole)
			}
			names := ""
			for _, field := range in.Anatomies[1].Fields {
				names += field.Name + "=" + field.Value + " "
			}
			want := `keyLength=6 key="user-1" valueLength=180`
			if at.Index == 1 {
				want = `keyLength=-1 valueLength=-1 headerCount=2 headerKeyLength=5 headerKey="trace" headerValueLength=1 headerValue="7" headerKeyLength=4 headerKey="none" headerValueLength=-1`
			}
			if !strings.Contains(names, want) {
				t.Errorf("%v: record %d has the fields %s", codec, at.Index, names)
			}
			inspectRecord(l, log, in, at)
			if at.Index == 1 && (factOf(in, "Headers") != `"trace" = "7", "none" = null` || factOf(in, "Value") != "null") {
				t.Errorf("%v: headers %s, value %s", codec, factOf(in, "Headers"), factOf(in, "Value"))
			}
		}
	}
}
