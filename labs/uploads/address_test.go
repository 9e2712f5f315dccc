package uploads

import (
	"errors"
	"strings"
	"testing"
	"time"

	"loglab/engine/record"
	"loglab/labs"
	"loglab/labs/files"
)

// Two hashes, as they stand in addresses.
var (
	logHash   = strings.Repeat("A", 43)
	indexHash = strings.Repeat("B", 42) + "A"
)

// An address is spelled in one way, and says all.
func TestAnAddressIsSpelledOneWay(t *testing.T) {
	for query, want := range map[string]string{
		"log=L":                                 "log=L",
		"base=0&log=L":                          "log=L",
		"view=batches&log=L&batch=070&record=0": "log=L&batch=70",
		"index=I&log=L&base=4200&record=3&byte=5":     "log=L&index=I&base=4200&record=3",
		"log=L&index=I&view=bytes&byte=16&file=index": "log=L&index=I&view=bytes&file=index&byte=16",
		"log=L&view=bytes&file=log&offset=4":          "log=L&view=bytes",
		"log=L&view=bytes&inside=70&byte=9&batch=1":   "log=L&view=bytes&inside=70&byte=9",
		"log=L&view=bytes&inside=0":                   "log=L&view=bytes&inside=0",
		"log=L&view=find&offset=0":                    "log=L&view=find&offset=0",
		"log=L&view=find&time=1700000000000&offset=4": "log=L&view=find&time=1700000000000",
		"log=L&view=find&batch=9":                     "log=L&view=find",
		"log=L&view=check&finding=12&byte=9":          "log=L&view=check&finding=12",
		"log=L&view=check&finding=0":                  "log=L&view=check",
		"log=L&finding=12":                            "log=L",
	} {
		spell := strings.NewReplacer("=L", "="+logHash, "=I", "="+indexHash)
		a, err := Parse(spell.Replace(query))
		if got := a.String(); err != nil || got != Path+"?"+spell.Replace(want) {
			t.Errorf("%s is %s, %v; want %s", query, got, err, want)
			continue
		}
		_, canonical, _ := strings.Cut(a.String(), "?")
		if again, err := Parse(canonical); err != nil || again != a {
			t.Errorf("%s reads as %+v, %v; want %+v", canonical, again, err, a)
		}
	}
}

// What an address cannot say is refused by name.
func TestAddressesThatAreRefused(t *testing.T) {
	for query, param := range map[string]string{
		"":                                      "log",
		"index=L":                               "log",
		"log=short":                             "log",
		"log=L&log=L":                           "log",
		"log=<b>L</b>":                          "log",
		"log=L&timeindex=..%2F":                 "timeindex",
		"log=L&view=all":                        "view",
		"log=L&byte=-1":                         "byte",
		"log=L&batch=x":                         "batch",
		"log=L&view=check&finding=-1":           "finding",
		"log=L&offset=9223372036854775808":      "offset",
		"log=L&view=bytes&file=index":           "file",
		"log=L&view=bytes&file=txnindex":        "file",
		"log=L&tick=4":                          "tick",
		"log=L&record=%zz":                      "record",
		"log=L&x=" + strings.Repeat("y", 10000): "address",
	} {
		_, err := Parse(strings.ReplaceAll(query, "=L", "="+logHash))
		var address *labs.AddressError
		if !errors.As(err, &address) || address.Param != param || address.Allowed == "" || len(address.Found) > 100 {
			t.Errorf("%.60s: %v, want it to name %s", query, err, param)
		}
	}
}

// segment is two batches, the second compressed, from offset 7 on.
func segment(t *testing.T) []byte {
	t.Helper()
	var raw []byte
	for i, codec := range []record.Codec{record.None, record.Gzip} {
		b := record.NewBuilder(record.Options{Codec: codec})
		b.Append(1_700_000_000_000, []byte("k"), []byte("v"))
		batch, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		record.Stamp(batch, 7, 0)
		if i == 1 {
			record.Stamp(batch, 8, 0)
		}
		raw = append(raw, batch...)
	}
	return raw
}

// The base offset is that of the name, else that of the first batch, also of a torn one.
func TestBase(t *testing.T) {
	log := segment(t)
	for name, want := range map[string]int64{"00000000000000000003.log": 3, "segment.log": 7, "": 7, "00000000000000000003": 3, "99999999999999999999.log": 7, "../../3.log": 7} {
		if base, err := Base(name, log); err != nil || int64(base) != want {
			t.Errorf("%q: %d, %v; want %d", name, base, err, want)
		}
	}
	if base, err := Base("x", log[:65]); err != nil || base != 7 {
		t.Errorf("torn: %d, %v; want 7", base, err)
	}
	var no *ErrNotALog
	for _, raw := range [][]byte{nil, log[:60], []byte(strings.Repeat("text", 100))} {
		if _, err := Base("x", raw); !errors.As(err, &no) {
			t.Errorf("%.20q is a log: %v", raw, err)
		}
	}
}

// A page says until when, offers the four views, and refuses a place that the files do not have.
func TestPage(t *testing.T) {
	contents := [3][]byte{segment(t), nil, nil}
	until := time.Date(2027, time.January, 15, 9, 5, 0, 0, time.UTC)
	for query, title := range map[string]string{
		"": "Batches and records", "&view=bytes": "Bytes of 00000000000000000007.log", "&view=bytes&byte=69": "Bytes of 00000000000000000007.log",
		"&view=bytes&inside=70": "Decompressed records of 00000000000000000007.log", "&view=find": "How a broker finds an offset or a time", "&view=find&offset=8": "Find offset 8",
		"&view=check": "Held against the log", "&view=check&finding=9": "Held against the log",
	} {
		a, err := Parse("log=" + logHash + "&base=7" + query)
		if err != nil {
			t.Fatal(err)
		}
		p, err := a.Page(contents, until)
		if err != nil || p.Shown.Title != title || !strings.Contains(p.Kept, "until 09:05 UTC on 15 January 2027") || len(p.Tabs) != 4 || len(p.Files.Rows) != 1 {
			t.Errorf("%s: %+v, %v", query, p, err)
		}
	}
	for query, param := range map[string]string{"&view=bytes&byte=100000": "byte", "&view=bytes&inside=0": "inside", "&view=bytes&inside=71": "inside"} {
		a, err := Parse("log=" + logHash + "&base=7" + query)
		if err != nil {
			t.Fatal(err)
		}
		_, err = a.Page(contents, until)
		var address *labs.AddressError
		if !errors.As(err, &address) || address.Param != param {
			t.Errorf("%s: %v, want it to name %s", query, err, param)
		}
	}
}

// Whatever a query is, it is refused or has one spelling that reads back.
func FuzzParse(f *testing.F) {
	f.Add("log=" + logHash + "&base=7&view=bytes&inside=70&byte=3")
	f.Add("log=" + logHash + "&view=find&time=5&offset=6")
	f.Add("log=" + logHash + "&view=check&finding=12")
	f.Fuzz(func(t *testing.T, query string) {
		a, err := Parse(query)
		if err != nil {
			return
		}
		_, canonical, _ := strings.Cut(a.String(), "?")
		if again, err := Parse(canonical); err != nil || again != a {
			t.Errorf("%s reads as %+v, %v; want %+v", canonical, again, err, a)
		}
		if a.Shown.View != files.Batches && a.Shown.View != files.Bytes && a.Shown.View != files.Lookup && a.Shown.View != files.Compared {
			t.Errorf("view %q", a.Shown.View)
		}
	})
}
