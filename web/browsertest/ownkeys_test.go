package browsertest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/partitioner"
)

// pasted is what a learner might paste, line by line; the fourth line is blank.
const pasted = "order-1\r\n" + `he said "no"` + "\r\n" + `<script>window.hacked = true</script>` + "\r\n\r\n" +
	"🦊 fox\r\n" + "tab\there\r\n" + "it's\nonly LF\n" + "50% &amp; more\r\n" + "ключ"

var pastedKeys = []string{
	"order-1", `he said "no"`, `<script>window.hacked = true</script>`, "", "🦊 fox", "tab\there", "it's", "only LF", "50% &amp; more", "ключ",
}

// ownKeysAddress is the canonical address of the explorer with these keys.
var ownKeysAddress = explorer + "&keys=" + strings.NewReplacer(
	"%2F", "/", "%2C", ",", "%3A", ":", "%21", "!", "%2A", "*", "%40", "@",
).Replace(url.QueryEscape(strings.Join(pastedKeys, "\n")))

func TestOwnKeys(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(explorer)
	entries := b.entries()
	b.paste("#set-own-keys", pasted)
	b.click("#own-keys button")
	b.waitAddress(ownKeysAddress)
	if n := b.entries(); n != entries+1 {
		t.Errorf("the history had %d entries and has %d, want one more", entries, n)
	}
	checkKeyTable(t, b, "murmur2", 4)

	// The records have these keys too, as words for a screen reader.
	for range 5 {
		b.press("\u0303")
	}
	b.waitTick(5)
	labels := strings.Join(eval[[]string](b, "[...document.querySelectorAll('.cell[data-offset]')].map(cell => cell.ariaLabel)"), "\n")
	for _, key := range []string{"order-1", `<script>window.hacked = true</script>`, "🦊 fox", `"tab\there"`} {
		if !strings.Contains(labels, "key "+key) {
			t.Errorf("no record has the key %s; they are:\n%s", key, labels)
		}
	}

	// The field holds the keys still, so they can be changed.
	got := eval[string](b, "document.querySelector('#set-own-keys').value")
	if diff := cmp.Diff(strings.Join(pastedKeys, "\n"), got); diff != "" {
		t.Errorf("the field (-want +got):\n%s", diff)
	}
	b.click("#made-keys")
	b.waitAddress(explorer + "&t=5")
}

// Each client family puts the keys where the command line says.
func TestOwnKeysUnderEveryPartitioner(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	for _, name := range partitioner.Names() {
		for _, partitions := range []int{4, 7} {
			b.open(fmt.Sprintf("/lab/partitions?v=1&partitions=%d&partitioner=%s&keys=%s", partitions, name, url.QueryEscape(strings.Join(pastedKeys, "\n"))))
			checkKeyTable(t, b, name, partitions)
		}
	}
}

// checkKeyTable compares the table of keys with what the command line says of each.
func checkKeyTable(t *testing.T, b *tab, rule string, partitions int) {
	t.Helper()
	want := map[string][]string{}
	for _, placed := range partitionsOf(t, rule, partitions, pastedKeys) {
		if placed.Partition != nil { // else the rule takes it for no key
			name := fmt.Sprintf("orders-%d", *placed.Partition)
			want[name] = append(want[name], placed.Key)
		}
	}
	if diff := cmp.Diff(want, keyTable(t, b)); diff != "" {
		t.Errorf("%s, %d partitions: keys by partition (-command line +page):\n%s", rule, partitions, diff)
	}
}

type placement struct {
	Key       string `json:"key"`
	Partition *int   `json:"partition"`
}

// partitionsOf asks the command line.
func partitionsOf(t *testing.T, rule string, partitions int, keys []string) []placement {
	t.Helper()
	args := append([]string{"partition", "--partitioner", rule, "--partitions", strconv.Itoa(partitions), "--json", "--"}, keys...)
	var placed []placement
	if err := json.Unmarshal(loglab(t, args...), &placed); err != nil {
		t.Fatal(err)
	}
	return placed
}

// keyTable reads the table of keys: the keys shown by partition. A key shown in quotes is written with
// Go's escapes.
func keyTable(t *testing.T, b *tab) map[string][]string {
	t.Helper()
	rows := eval[[]struct {
		Partition string
		Keys      []string
	}](b, `[...document.querySelectorAll('#keys tbody tr')].map(row => ({
		Partition: row.querySelector('th').innerText.trim(),
		Keys: [...row.querySelectorAll('td:nth-of-type(2) .item')].map(item => item.firstChild.data.trim()),
	}))`)
	table := map[string][]string{}
	for _, row := range rows {
		for _, key := range row.Keys {
			if strings.HasPrefix(key, `"`) {
				unquoted, err := strconv.Unquote(key)
				if err != nil {
					t.Errorf("the key %s is not quoted as Go quotes: %v", key, err)
				}
				key = unquoted
			}
			table[row.Partition] = append(table[row.Partition], key)
		}
	}
	return table
}

// hostile are texts that would become markup, script or another line of a stream if any place let them.
var hostile = []string{
	`<x-evil>bold</x-evil>`,
	`<img src=x onerror=window.hacked=true>`,
	`</textarea><script>window.hacked=true</script>`,
	`"><x-evil onmouseover="window.hacked=true">`,
	`' onclick='window.hacked=true`,
	`&lt;x-evil&gt;`,
	`<!--`, `]]>`, `{{1+1}}`, `${1+1}`,
	"a\u2028b",
}

func TestUserTextIsNeverMarkup(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	query := url.Values{"v": {"1"}, "keys": {strings.Join(hostile, "\n")}, "t": {"4"}, "horizon": {"6"}, "pace": {"10"}, "at": {"segment:orders-0:0"}}
	for i, text := range hostile {
		query.Add("do", fmt.Sprintf("%d:produce p0 %s", i%4, strconv.Quote(text)))
	}
	query.Add("do", "3:produce p1 "+strconv.Quote(hostile[0])) // there is no p1: a notice says so
	b.open("/lab/partitions?" + query.Encode())
	check := func(where string) {
		t.Helper()
		if n := b.count("x-evil, img[src=x], #lab script, #lab [onerror], #lab [onclick], #lab [onmouseover]"); n != 0 {
			t.Errorf("%s: %d elements were made of a reader's text", where, n)
		}
		if eval[bool](b, "'hacked' in window") {
			t.Errorf("%s: a reader's text ran", where)
		}
	}
	check("page")
	shown := eval[string](b, "document.querySelector('#lab').textContent")
	for _, text := range hostile[:10] {
		if !strings.Contains(shown, text) {
			t.Errorf("%q is not shown as it is", text)
		}
	}
	if got := eval[string](b, "document.querySelector('#set-own-keys').value"); !slices.Equal(strings.Split(got, "\n"), hostile) {
		t.Errorf("the field holds %q, want %q", strings.Split(got, "\n"), hostile)
	}

	b.click("#step")
	b.waitTick(5)
	check("frame")
	b.click("#back")
	b.waitTick(4)
	b.press(" ")
	b.waitTick(6)
	b.waitFor("document.querySelector('#play').textContent === 'Play'")
	check("stream")
	b.click(".cell[data-offset]") // the inspector repeats the key and its bytes
	b.waitFor("document.querySelector('#inspector dl')?.textContent.includes('Key')")
	check("inspector")

	for _, text := range hostile[:6] {
		b.open("/lab/partitions?" + url.Values{"v": {"1"}, text: {text}}.Encode())
		check("error page for a parameter")
		b.open("/lab/partitions?" + url.Values{"v": {"1"}, "assignor": {text}}.Encode())
		check("error page for a value")
		if got := b.text("main"); !strings.Contains(got, strings.Trim(strconv.Quote(text), `"`)) {
			t.Errorf("the error page does not name what was found, %q, but says %q", text, got)
		}
	}
	b.expect("400 (Bad Request)")
}
