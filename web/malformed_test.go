package web

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"loglab/labs"
)

// labPrefixes are the paths under which a lab's address can stand.
var labPrefixes = []string{"/lab/", "/frame/lab/", "/play/lab/", "/file/lab/", "/disk/lab/", "/disk/a.log/lab/", "/embed/lab/", "/frame/embed/lab/", "/frame/play/embed/lab/", "/play/embed/lab/"}

// malformed is one address that is wrong, and what its answer must name.
type malformed struct {
	name  string // of a lab that there is not; empty: there is
	lab   string // of the lab; empty: partitions
	runs  bool   // the address is well-formed and canonical, and what it asks for does not run
	query string
	where string   // the field that the answer names
	says  []string // of what is allowed
}

// malformedKinds make wrong addresses, each in its own way.
var malformedKinds = []struct {
	kind string
	make func(r *rand.Rand) malformed
}{
	{"unknown parameter", func(r *rand.Rand) malformed {
		name := "x" + letters(r, 1+r.IntN(30))
		return malformed{query: name + "=" + letters(r, r.IntN(9)), where: fmt.Sprintf("parameter %q", name), says: []string{"partitions, baseline"}}
	}},
	{"parameter in another case", func(r *rand.Rand) malformed {
		name := pick(r, "T", "Seed", "DO", "Partitions", "tHeme", "V", "keys ", " t")
		return malformed{query: url.QueryEscape(name) + "=1", where: fmt.Sprintf("parameter %q", name), says: []string{"partitions, baseline"}}
	}},
	{"no parameter's name", func(r *rand.Rand) malformed {
		return malformed{query: pick(r, "", "v=1&") + "=" + letters(r, r.IntN(9)), where: "a parameter's name", says: []string{"partitions, baseline"}}
	}},
	{"no number", func(r *rand.Rand) malformed {
		value := pick(r, "", "x"+letters(r, 4), "1e3", "0x10", "1.5", " 5", "5 ", "1_000", "1,000", "٣", "²", "--1", "NaN", "½", "1\n", "\t1", "true", "null")
		return number(r, value)
	}},
	{"too large a number", func(r *rand.Rand) malformed { return number(r, fmt.Sprint(5001+r.IntN(1_000_000))) }},
	{"a negative number", func(r *rand.Rand) malformed { return number(r, fmt.Sprint(-1-r.IntN(1_000_000))) }},
	{"a huge number", func(r *rand.Rand) malformed {
		return number(r, pick(r, "", "-")+pick(r, "9", "18446744073709551616", "9223372036854775808")+strings.Repeat("9", 20+r.IntN(500)))
	}},
	{"seed", func(r *rand.Rand) malformed {
		value := pick(r, "-1", "18446744073709551616", "x", "", "1.0", "+1", strings.Repeat("8", 30+r.IntN(300)))
		return malformed{query: "seed=" + url.QueryEscape(value), where: "seed", says: []string{"a whole number from 0 to 18446744073709551615"}}
	}},
	{"not UTF-8", func(r *rand.Rand) malformed {
		name := pick(r, parameters...)
		bytes := pick(r, "%ff", "%c0%af", "%ed%a0%80", "%80", "%f5%80%80%80", "%e6%97", "\xff", "\xc3")
		return malformed{query: name + "=" + letters(r, r.IntN(5)) + bytes + letters(r, r.IntN(5)), where: name, says: []string{"valid percent-encoded UTF-8"}}
	}},
	{"a name that is not UTF-8", func(r *rand.Rand) malformed {
		return malformed{query: letters(r, r.IntN(5)) + pick(r, "%ff", "%zz", "%", "\xff") + "=1", where: "a parameter's name", says: []string{"valid percent-encoded UTF-8"}}
	}},
	{"a bad escape", func(r *rand.Rand) malformed {
		name := pick(r, parameters...)
		return malformed{query: name + "=" + letters(r, r.IntN(5)) + pick(r, "%", "%z", "%4", "%gg", "%u0041", "%%", "%-1", "% 1"), where: name, says: []string{"valid percent-encoded UTF-8"}}
	}},
	{"there twice", func(r *rand.Rand) malformed {
		pair := pick(r, "t=1", "seed=4", "partitions=3", "theme=dark", "pace=5", "keys=a", "v=1", "rate=0", "at=node:c1", "why=3", "horizon=9")
		name, _, _ := strings.Cut(pair, "=")
		return malformed{query: pair + strings.Repeat("&", r.IntN(3)) + "&" + pair, where: name, says: []string{"it is there twice; once is allowed"}}
	}},
	{"another separator", func(r *rand.Rand) malformed {
		pair := pick(r, "t=1", "partitions=3", "rate=2", "v=1", "horizon=9")
		name, _, _ := strings.Cut(pair, "=")
		return malformed{query: pair + pick(r, ";", "?", ",", "|", " ", "%26", "=", ";;") + "seed=" + fmt.Sprint(r.IntN(100)), where: name, says: []string{"allowed"}}
	}},
	{"no such choice", func(r *rand.Rand) malformed {
		name, allowed := choice(r)
		value := pick(r, "", letters(r, 1+r.IntN(8))+"x", strings.ToUpper(allowed), allowed+" ", allowed+"\x00", "\x1b[31m", "<script>", "../"+allowed, "\u202e")
		return malformed{query: name + "=" + url.QueryEscape(value), where: name, says: []string{allowed}}
	}},
	{"a value longer than any", func(r *rand.Rand) malformed {
		name, allowed := choice(r)
		return malformed{query: name + "=" + letters(r, 500+r.IntN(3000)), where: name, says: []string{allowed}}
	}},
	{"a command without form", func(r *rand.Rand) malformed {
		value := pick(r, "", "5", letters(r, 8), "pause c1", "5 pause c1", "5;pause c1", "\n", "1:wait 1s\n", "1:wait 1s\n\n2:wait 1s")
		return malformed{query: "do=" + url.QueryEscape(value), where: "do", says: []string{"TICK:COMMAND"}}
	}},
	{"a command at no tick", func(r *rand.Rand) malformed {
		tick := pick(r, "-1", "5001", "", "x", "1.5", " 1", "1e2", fmt.Sprint(5001+r.IntN(1<<30)), strings.Repeat("9", 40), "\x00")
		return malformed{query: "do=" + url.QueryEscape(tick+":pause c1"), where: "do", says: []string{"TICK:COMMAND", "a tick from 0 to 5000"}}
	}},
	{"no such verb", func(r *rand.Rand) malformed {
		value := pick(r, "x"+letters(r, 6), "PAUSE c1", "Pause c1", " pause c1", `"pause" c1`, "pausec1", "explode b1", "rm -rf", "", "\x00")
		return malformed{query: fmt.Sprintf("do=%d:", r.IntN(100)) + url.QueryEscape(value), where: "do", says: []string{"command"}}
	}},
	{"words that do not fit the verb", func(r *rand.Rand) malformed {
		value := pick(r, "pause", "pause a b", "pause ", "resume", "resume  c1", `pause "c1"`, "wait", "wait 1", "wait x", "wait -1s", "wait 1s 2s", "wait 5y",
			"produce", "produce p0 a b c", `produce p0 "a`, `produce p0 "\xff"`, "produce p0 a\tb", "produce p0 a\x00b", "wait "+strings.Repeat("9", 30)+"s")
		return malformed{query: fmt.Sprintf("do=%d:", r.IntN(100)) + url.QueryEscape(value), where: "do", says: []string{"command"}}
	}},
	{"a command that is too long", func(r *rand.Rand) malformed {
		return malformed{query: "do=1:produce+p0+" + letters(r, 2100+r.IntN(1500)), where: "do", says: []string{"at most 2048 are allowed"}}
	}},
	{"a target that is none", func(r *rand.Rand) malformed {
		value := pick(r, "moon", "record", "record:", "record:orders", "record:orders-0", "record:orders-0:", "record:orders-0:-1", "record:orders-x:1", "record:-0:1",
			"record:orders-99999:1", "record:orders-0:1:2", "record:orders-0:99999999999999999999", "batch:orders-0:x", "segment:1", "message:", "message:-4", "message:x",
			"message:1.5", "node:", "node:"+letters(r, 65+r.IntN(500)), "Record:orders-0:5", " record:orders-0:5", "record:"+letters(r, 300)+"-0:5", "\x00", ":::", letters(r, 5)+":1")
		return malformed{query: "at=" + url.QueryEscape(value), where: "at", says: []string{"record:PARTITION:OFFSET"}}
	}},
	{"a twin that is none", func(r *rand.Rand) malformed {
		value := pick(r, "", "rate", "x"+letters(r, 5)+":1", ":", ":1", "seed:2", "do:1:wait 1s", "Rate:1", " rate:1", "vs:rate:1", letters(r, 2000), "\x00", "t:5", "rate=1")
		return malformed{query: "vs=" + url.QueryEscape(value), where: "vs", says: []string{"SETTING:VALUE", "partitions, baseline"}}
	}},
	{"a twin of no such value", func(r *rand.Rand) malformed {
		name, allowed := pick(r, "partitioner", "assignor", "draw"), "allowed are"
		value := pick(r, "", letters(r, 6)+"x", "RANGE", "range ", "murmur2:", letters(r, 1000))
		if r.IntN(2) == 0 {
			name, allowed, value = pick(r, "rate", "partitions", "work"), "a whole number from", pick(r, "", "-1", "5001", "x", "1.5", ":1", "1:", " 1", strings.Repeat("9", 100))
		}
		return malformed{query: "vs=" + name + ":" + url.QueryEscape(value), where: "vs", says: []string{"of " + name + " " + allowed}}
	}},
	{"not one setting changed", func(r *rand.Rand) malformed {
		query := pick(r, "", "rate=3&", "rate=9&hot=7&", "rate=9&hot=7&work=3&") + "beside=" + url.QueryEscape("rate=3&hot=50&work=0")
		return malformed{query: query, where: "beside", says: []string{"one setting of the form is allowed to differ"}}
	}},
	{"something of no twin", func(r *rand.Rand) malformed {
		name, value := "at", pick(r, "vs:node:c1", "vs:record:orders-0:5", "vs:message:3")
		if r.IntN(2) == 0 {
			name, value = "why", "vs:"+fmt.Sprint(1+r.IntN(1000))
		}
		return malformed{query: name + "=" + value, where: name, says: []string{"the address has no vs"}}
	}},
	{"an event that is none", func(r *rand.Rand) malformed {
		return malformed{query: "why=" + url.QueryEscape(pick(r, "", "x", "-1", "1.5", "4294967296", strings.Repeat("7", 50), "first", "\x00")), where: "why", says: []string{"the number of an event"}}
	}},
	{"too many keys", func(r *rand.Rand) malformed {
		if r.IntN(2) == 0 {
			return malformed{query: fmt.Sprintf("keys=%d", 1001+r.IntN(1<<30)), where: "keys", says: []string{"from 0 to 1000"}}
		}
		return malformed{query: "keys=" + strings.Repeat("k%0A", 501+r.IntN(400)), where: "keys", says: []string{"at most 500 keys"}}
	}},
	{"too many commands", func(r *rand.Rand) malformed {
		return malformed{query: strings.Repeat("do=1:wait+1s&", 201+r.IntN(100)), where: "do", says: []string{"at most 200 commands"}}
	}},
	{"commands that are not compressed", func(r *rand.Rand) malformed {
		value := pick(r, "", "!", "a=", letters(r, 5)+"=", letters(r, 6)+" ", letters(r, 2+r.IntN(200)), "\x00", "4:pause c1", letters(r, 8)+"\n4:pause c1")
		return malformed{query: "z=" + url.QueryEscape(value), where: "z", says: []string{"commands, a line each, in one DEFLATE stream"}}
	}},
	{"no name of what is stored", func(r *rand.Rand) malformed {
		value := pick(r, "", "x", letters(r, 42), letters(r, 44), letters(r, 42)+"=", letters(r, 42)+"+", letters(r, 43)+"\n", letters(r, 500), "../loglab.db", "' OR 1=1 --")
		return malformed{query: "from=" + url.QueryEscape(value), where: "from", says: []string{"SHA-256 hash in base64url"}}
	}},
	{"too long", func(r *rand.Rand) malformed {
		return malformed{query: pick(r, "keys=", "t=", "", "do=1:pause+", "at=node:", "&", "%") + letters(r, labs.MaxQuery+1+r.IntN(20_000)), where: "address", says: []string{fmt.Sprintf("at most %d", labs.MaxQuery)}}
	}},
	{"no compressed commands", func(r *rand.Rand) malformed {
		return malformed{query: "z=" + url.QueryEscape(pick(r, "", "=", "A", "!!", "AAAA", "MrFKrSjIyU9JVUgyBAQAAP__AAAA", letters(r, 5+r.IntN(80)), strings.Repeat("A", 400), " ", "\x00")), where: "z", says: []string{"commands, a line each"}}
	}},
	{"no hash of a stored beginning", func(r *rand.Rand) malformed {
		return malformed{query: "from=" + url.QueryEscape(pick(r, "", "x", "../../etc/passwd", "'; drop table texts", letters(r, 42), letters(r, 44), letters(r, 64), strings.Repeat("f", 3000))), where: "from", says: []string{"allowed"}}
	}},
	{"no range", func(r *rand.Rand) malformed {
		return malformed{query: "range=" + url.QueryEscape(pick(r, "", "5", "5..", "..5", "9..3", "-1..4", "1..5001", "1.5..2", "a..b", "1...4", "1-4", "1..2..3", " 1..2", "1..2 ")), where: "range", says: []string{"allowed"}}
	}},
	{"no such version", func(r *rand.Rand) malformed {
		return malformed{query: "v=" + url.QueryEscape(pick(r, "0", "2", "99", "-1", "", "1.0", "one", "v1", letters(r, 5))), where: "v", says: []string{"1"}}
	}},
	{"a setting of the replication lab", func(r *rand.Rand) malformed {
		pair := pick(r, "brokers=0", "brokers=10", "rf=0", "rf=10", "min-isr=0", "min-isr=10", "partitions=0", "partitions=7", "racks=10", "racks=-1", "lag-time=99", "lag-time=3600001",
			"session-timeout=2999", "session-timeout=x", "retries=2147483648", "retries=-1", "in-flight=0", "in-flight=101", "request-timeout=99", "delivery-timeout=0", "rate=11", "every=0", "every=101", "consumers=2")
		name, value, _ := strings.Cut(pair, "=")
		return malformed{lab: "replication", query: name + "=" + value, where: name, says: []string{"a whole number from"}}
	}},
	{"a choice of the replication lab", func(r *rand.Rand) malformed {
		pair := pick(r, "acks all", "idempotence unset", "placement in-order", "unclean false", "elr on")
		name, allowed, _ := strings.Cut(pair, " ")
		return malformed{lab: "replication", query: name + "=" + pick(r, "", "-1", "yes", strings.ToUpper(allowed), allowed+"+", letters(r, 5)+"x", "2"), where: name, says: []string{"allowed are", allowed}}
	}},
	{"more replicas than brokers", func(r *rand.Rand) malformed {
		brokers := 4 + r.IntN(5)
		return malformed{
			lab: "replication", query: fmt.Sprintf("v=1&brokers=%d&rf=%d", brokers, brokers+1+r.IntN(9-brokers)), where: "rf", runs: true,
			says: []string{fmt.Sprintf("a replication factor of at most %d", brokers), "INVALID_REPLICATION_FACTOR"},
		}
	}},
	{"a producer that does not start", func(r *rand.Rand) malformed {
		query, where, _ := strings.Cut(pick(r, "acks=1&idempotence=true idempotence", "acks=0&idempotence=true idempotence", "idempotence=true&retries=0 idempotence", "in-flight=6 in-flight",
			"idempotence=true&in-flight=100 in-flight", "delivery-timeout=30000 delivery-timeout", "request-timeout=5000&delivery-timeout=5004 delivery-timeout",
			"acks=1&in-flight=6 in-flight"), " ")
		return malformed{lab: "replication", query: "v=1&" + query, where: where, runs: true, says: []string{"Kafka’s producer does not start"}}
	}},
	{"a replica or a broker's log that is none", func(r *rand.Rand) malformed {
		value := pick(r, "replica:orders-0", "replica:orders-0:", "replica:orders-0:x", "replica:orders-0:1@b1", "partition:", "partition:orders", "partition:orders-0:1", "record:orders-0:5@",
			"record:orders-0:@b1", "batch:@b1:5", "record:orders-0@b1", "record:orders-0:5@"+letters(r, 65))
		return malformed{lab: "replication", query: "at=" + url.QueryEscape(value), where: "at", says: []string{"replica:PARTITION:BROKER"}}
	}},
	{"words that do not fit a member's verb", func(r *rand.Rand) malformed {
		value := pick(r, "crash", "crash billing-1 after", "crash billing-1 after lunch", "crash billing-1 after poll orders-0 @1", "crash billing-1 after processing orders @1", "crash billing-1 before processing orders-0 1",
			`crash "billing-1"`, "leave", "leave a b", "process billing-1 0", "process billing-1 1001", "process billing-1 x", "commit", "commit billing-1 orders-0", "commit billing-1 orders-0 @-1",
			"seek billing-1", "seek billing-1 orders-0 @x", "seek billing-1 orders-0 @1000000000000001", "seek billing-1 orders-99999999999 @1", "rebalance", "rebalance a b")
		return malformed{lab: "offsets", query: fmt.Sprintf("do=%d:", r.IntN(100)) + url.QueryEscape(value), where: "do", says: []string{"command"}}
	}},
	{"a place to reset to that is none", func(r *rand.Rand) malformed {
		place := pick(r, "", "middle", "earliest 1", "latest x", "offset", "offset -1", "offset x", "offset "+strings.Repeat("9", 17+r.IntN(300)), "timestamp", "timestamp x", "duration", "duration 5", "duration -5s", "shift", "shift 0", "shift x",
			"shift 1000000001", "shift -1000000001", "Earliest", "offset 1 2")
		verb := pick(r, "reset billing to ", "replay billing from ")
		return malformed{lab: "offsets", query: fmt.Sprintf("do=%d:", r.IntN(100)) + url.QueryEscape(verb+place), where: "do", says: []string{"command"}}
	}},
	{"a setting of members out of range", func(r *rand.Rand) malformed {
		name, allowed := pick(r, "consumers", "partitions", "process", "threads", "attempts", "capacity", "audit-consumers", "poll-records", "session-timeout"), "a whole number from"
		return malformed{lab: "offsets", query: name + "=" + pick(r, "-1", "1800001", "x", "", "1.5", strings.Repeat("7", 30+r.IntN(300))), where: name, says: []string{allowed}}
	}},
	{"a choice of members that is none", func(r *rand.Rand) malformed {
		name := pick(r, "assignor", "static", "heartbeats", "reset", "commit", "commits", "handler", "sink", "second", "audit-reset")
		return malformed{lab: "offsets", query: name + "=" + url.QueryEscape(pick(r, "", letters(r, 1+r.IntN(20))+"x", "ON", "by_duration:PT", "by_duration:"+letters(r, 900), "\x00", "<b>")), where: name, says: []string{"allowed are"}}
	}},
	{"a group that is none", func(r *rand.Rand) malformed {
		return malformed{lab: "offsets", query: "at=" + url.QueryEscape(pick(r, "group:", "group", "Group:billing", "member:billing-1", "group:"+letters(r, 300))), where: "at", says: []string{"group:ID"}}
	}},
	{"no such lab", func(r *rand.Rand) malformed {
		name := pick(r, "Partitions", "partition", "partitions ", "partitions\x00", "x"+letters(r, 10), letters(r, 3000), "\xff\xfe", "..", "<b>", "partitions;t=1", "日本")
		return malformed{name: name, query: pick(r, "", "t=3", "t=x"), says: []string{"partitions"}}
	}},
}

// parameters are names that the partition explorer knows.
var parameters = []string{"v", "partitions", "baseline", "consumers", "assignor", "partitioner", "keyless", "keys", "rate", "seed", "do", "t", "horizon", "at", "why", "pace", "theme",
	"work", "destination", "metadata", "second", "key-by", "draw", "zipf", "hot", "z", "from", "without", "range", "size", "still", "chrome", "vs", "beside"}

// number puts a value where a whole number is wanted.
func number(r *rand.Rand, value string) malformed {
	name := pick(r, "partitions", "baseline", "consumers", "rate", "t", "horizon", "work", "hot")
	return malformed{query: name + "=" + url.QueryEscape(value), where: name, says: []string{"a whole number from"}}
}

// choice picks a parameter that takes one of a few values, and one of them.
func choice(r *rand.Rand) (name, allowed string) {
	pair := pick(r, "assignor range", "partitioner murmur2", "keyless sticky", "theme dark", "size projector", "chrome minimal", "destination versions", "second murmur2", "key-by region", "draw zipf")
	name, allowed, _ = strings.Cut(pair, " ")
	return name, allowed
}

func pick(r *rand.Rand, list ...string) string { return list[r.IntN(len(list))] }

func letters(r *rand.Rand, n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = byte('a' + r.IntN(26))
	}
	return string(text)
}

// 1,000 malformed addresses and more, some of each kind under every path a lab has and the others under one of them in turn:
// each is refused, and the answer names the field and what is allowed.
func TestMalformedAddressesAreRefused(t *testing.T) {
	s := newSite(t)
	const ofEachKind, everywhere = 40, 4
	for i, k := range malformedKinds {
		t.Run(k.kind, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			for n := range ofEachKind {
				m := k.make(r)
				name := cmp.Or(m.name, m.lab, "partitions")
				prefixes := labPrefixes
				if n >= everywhere {
					at := n % len(prefixes)
					prefixes = prefixes[at : at+1]
				}
				for _, prefix := range prefixes {
					if strings.HasPrefix(prefix, "/disk/") && m.name == "" && m.runs || m.runs && prefix == "/file/lab/" {
						continue // a file of a run is not the run
					}
					checkRefused(t, s, prefix+name+"?"+m.query, m)
				}
			}
		})
	}
	if n := len(malformedKinds) * ofEachKind; n < 1000 {
		t.Errorf("only %d addresses", n)
	}
}

func checkRefused(t *testing.T, s *Site, target string, m malformed) {
	t.Helper()
	w := ask(s, http.MethodGet, target)
	want := http.StatusBadRequest
	if m.name != "" {
		want = http.StatusNotFound
	}
	if w.Code != want {
		t.Fatalf("%.200q: status %d, want %d", target, w.Code, want)
	}
	facts := factsOf(t, w.Body.String())
	if facts["Where"] != m.where {
		t.Errorf("%.200q: the field is %q, want %q", target, facts["Where"], m.where)
	}
	if _, ok := facts["Found"]; !ok {
		t.Errorf("%.200q: the page does not say what was found", target)
	}
	for _, word := range m.says {
		if !strings.Contains(facts["Allowed"], word) {
			t.Errorf("%.200q: allowed is %q, want it to say %q", target, facts["Allowed"], word)
		}
	}
	if w.Header().Get("Lab-Frame") != "" || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
		t.Errorf("%.200q: Content-Type %q, Lab-Frame %q", target, w.Header().Get("Content-Type"), w.Header().Get("Lab-Frame"))
	}
	if w.Body.Len() > 20_000 {
		t.Errorf("%.200q: the page has %d bytes", target, w.Body.Len())
	}
}

// factsOf reads the table of an error page.
func factsOf(t *testing.T, page string) map[string]string {
	t.Helper()
	facts := map[string]string{}
	name := ""
	for _, n := range elements(t, page) {
		switch n.Data {
		case "dt":
			name = strings.TrimSpace(textOf(n))
		case "dd":
			facts[name] = strings.TrimSuffix(textOf(n), " ")
		}
	}
	return facts
}
