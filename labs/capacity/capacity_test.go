package capacity

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/labs"
)

// values lists a result's values, "9.07 TB in all", by its name.
func values(t *testing.T, query, name string) (list []string, warning string) {
	t.Helper()
	in, wrong, err := Parse(query)
	if err != nil || len(wrong) > 0 {
		t.Fatalf("%s: %v, %v", query, wrong, err)
	}
	for _, s := range in.Results() {
		for _, r := range s.Results {
			if r.Name == name {
				for _, v := range r.Values {
					list = append(list, v.Text+" "+v.Of)
				}
				return list, r.Warning
			}
		}
	}
	t.Fatalf("there is no result %q", name)
	return nil, ""
}

// The values are calculated by hand; the comments say how.
func TestResults(t *testing.T) {
	const (
		written = "From producers"
		least   = "Records within retention: the lower bound"
		waiting = "Older records that are still there, at most"
		indexes = "Indexes, at most"
		most    = "Together, at most"
		into    = "Into brokers"
		out     = "Out of brokers"
		one     = "Of one partition at the peak"
		copies  = "Replicas on a broker"
		needed  = "Consumers that a group needs"
		again   = "Time to catch up after the downtime"
		more    = "Out of brokers, in addition, while one group catches up"
		tail    = "For reads at the tail"
		backlog = "To hold the downtime too"
	)
	for _, test := range []struct {
		query, name, want, warns string
	}{
		// 10,000 × 1,000 B × 50 % = 5,000,000 B/s, doubled at the peak
		{"", written, "5 MB/s on average, 10 MB/s at the peak, 20,000 records/s records at the peak", ""},
		// 5 MB/s × 604,800 s × 3 = 9.072 TB, a third on each broker
		{"", least, "9.07 TB in all, 3.02 TB per broker", ""},
		{"compressed=100&retention=1&rf=1&brokers=1", least, "36 GB in all, 36 GB per broker", ""}, // 10 MB/s × 3,600 s
		// 3 × (12 × 1,073,741,824 B + 5,000,000 B/s × 360 s) = 38,654,705,664 + 5,400,000,000
		{"", waiting, "44.1 GB in all, 14.7 GB per broker", ""},
		// a slow load: 1 record/s × 100 B; a segment is 100 B/s / 10 × 604,800 s = 6,048,000 B; 10 of them + 36,000 B
		{"rate=1&size=100&compressed=100&partitions=10&rf=1&brokers=1", waiting, "60.5 MB in all, 60.5 MB per broker", ""},
		// (9,072,000,000,000 + 44,054,705,664) × 20 / 4,096
		{"", indexes, "44.5 GB in all, 14.8 GB per broker", ""},
		{"", most, "9.16 TB in all, 3.05 TB per broker", ""},
		{"", into, "30 MB/s in all, 10 MB/s per broker, 80 Mbit/s per broker, in bits", ""},
		{"", out, "40 MB/s in all, 13.3 MB/s per broker, 107 Mbit/s per broker, in bits", ""}, // 10 × (3 − 1 + 2), / 3, × 8
		{"rf=1&groups=0", out, "0 B/s in all, 0 B/s per broker, 0 bit/s per broker, in bits", ""},
		{"", one, "1,667 records/s records, 833 kB/s bytes", ""},
		{"partitions=7&brokers=2&rf=2", copies, "7 replicas per broker", ""},
		{"partitions=7&brokers=4&rf=1", copies, "2 replicas per broker", ""},
		{"partitions=1&brokers=3&rf=3", copies, "1 replica per broker", ""},
		{"partitions=1000", copies, "1,000 replicas per broker", ""},
		{"partitions=1001", copies, "1,001 replicas per broker", "too many for a small broker"},
		{"partitions=4001", copies, "4,001 replicas per broker", "above 4,000"},
		{"", needed, "5 consumers for the average, 10 consumers for the peak", ""},
		{"speed=9999", needed, "2 consumers for the average, 3 consumers for the peak", ""}, // 1.0001 and 2.0002
		{"speed=10000", needed, "1 consumer for the average, 2 consumers for the peak", ""},
		{"rate=1&peak=101&speed=1", needed, "1 consumer for the average, 2 consumers for the peak", ""},
		{"consumers=13", needed, "5 consumers for the average, 10 consumers for the peak", "A group has 13 consumers and the topics 12 partitions: 1 is idle."},
		{"consumers=9", needed, "5 consumers for the average, 10 consumers for the peak", "A group has 9 consumers: at the peak it falls behind."},
		{"consumers=4", needed, "5 consumers for the average, 10 consumers for the peak", "A group has 4 consumers: it falls behind, ever further."},
		{"partitions=6", needed, "5 consumers for the average, 10 consumers for the peak", "6 consumers can work at once, one a partition: at the peak"},
		{"partitions=4", needed, "5 consumers for the average, 10 consumers for the peak", "not even the average"},
		// 10,000 × 3,600 s = 36,000,000; / (24,000 − 10,000) = 2,571.4 s; / (24,000 − 20,000) = 9,000 s
		{"", again, "42 min 52 s while the average comes, 2 h 30 min while the peak comes, 36,000,000 records backlog in records, 18 GB backlog in bytes", ""},
		{"consumers=10", again, "1 h while the average comes, never while the peak comes, 36,000,000 records backlog in records, 18 GB backlog in bytes", ""},
		{"consumers=5", again, "never while the average comes, never while the peak comes, 36,000,000 records backlog in records, 18 GB backlog in bytes", "the backlog only grows"},
		{"consumers=100000&partitions=5", again, "never while the average comes, never while the peak comes, 36,000,000 records backlog in records, 18 GB backlog in bytes", "the backlog only grows"},
		{"retention=1&downtime=61", again, "43 min 35 s while the average comes, 2 h 33 min while the peak comes, 36,600,000 records backlog in records, 18.3 GB backlog in bytes", "longer than the retention"}, // 2,614.3 s, 9,150 s
		{"rate=1&size=1&compressed=1&speed=2&downtime=1&consumers=1&peak=100", again, "1 min while the average comes, 1 min while the peak comes, 60 records backlog in records, 0.6 B backlog in bytes", ""},
		{"", more, "7 MB/s in all, 2.33 MB/s per broker", ""}, // 14,000 × 500 B
		{"consumers=1", more, "0 B/s in all, 0 B/s per broker", ""},
		{"", tail, "900 MB in all, 300 MB per broker", ""},
		{"", backlog, "54 GB in all, 18 GB per broker", ""},
	} {
		got, warning := values(t, test.query, test.name)
		if text := strings.Join(got, ", "); text != test.want {
			t.Errorf("%q: %s: %s\nwant %s", test.query, test.name, text, test.want)
		}
		if (warning == "") != (test.warns == "") || !strings.Contains(warning, test.warns) {
			t.Errorf("%q: %s warns %q, want %q", test.query, test.name, warning, test.warns)
		}
	}
}

var withUnit = regexp.MustCompile(`^([0-9][0-9,]*(\.[0-9]{1,2})? [A-Za-z/]+( [0-9]{1,2} (h|min|s))?|never|more than 100 years)$`)

// Every result has a number with its unit, a formula and what it assumes, at both ends of all bounds.
func TestEveryResultIsWhole(t *testing.T) {
	least, largest := Defaults(), Defaults()
	for _, f := range Fields {
		*f.of(&least), *f.of(&largest) = f.Min, f.Max
	}
	for _, in := range []Input{Defaults(), least, largest} {
		for _, s := range in.Results() {
			for _, r := range s.Results {
				if len(r.Values) == 0 || r.Formula == "" || r.Assumes == "" {
					t.Errorf("%s: %+v", s.Title, r)
				}
				for _, v := range r.Values {
					if !withUnit.MatchString(v.Text) {
						t.Errorf("%s: %s is %q", in.Address(), r.Name, v.Text)
					}
				}
			}
		}
	}
}

func TestUnits(t *testing.T) {
	for n, want := range map[float64]string{
		0: "0 B", 0.01: "0.01 B", 0.5: "0.5 B", 1: "1 B", 12.34: "12.3 B", 999: "999 B", 999.4: "999 B", 999.5: "1 kB", 1000: "1 kB", 1234: "1.23 kB",
		999_499: "999 kB", 999_500: "1 MB", 9.072e12: "9.07 TB", 1.5e15: "1.5 PB", 2e18: "2 EB", 3e22: "30 ZB", 4e27: "4,000 YB",
	} {
		if got := bytes(n); got != want {
			t.Errorf("%g bytes are %q, want %q", n, got, want)
		}
	}
	for seconds, want := range map[int64]string{
		0: "0 s", 1: "1 s", 59: "59 s", 60: "1 min", 61: "1 min 1 s", 3599: "59 min 59 s", 3600: "1 h", 3601: "1 h 1 min", 86399: "1 d", 86400: "1 d",
		86401: "1 d 1 h", 90000: "1 d 1 h", 100 * 86400: "100 d", centuries: "36,500 d", centuries + 1: "more than 100 years",
	} {
		if got := duration(seconds); got != want {
			t.Errorf("%d s are %q, want %q", seconds, got, want)
		}
	}
}

func TestAddress(t *testing.T) {
	for query, want := range map[string]string{
		"": "/capacity", "rate=10000&rf=3": "/capacity", "rf=2&rate=007": "/capacity?rate=7&rf=2", "&groups=0&": "/capacity?groups=0",
		"downtime=5&speed=4&rate=%31": "/capacity?rate=1&speed=4&downtime=5", "rf=4&brokers=4": "/capacity?rf=4&brokers=4",
	} {
		in, wrong, err := Parse(query)
		if err != nil || len(wrong) > 0 || in.Address() != want {
			t.Errorf("%q: %s, %v, %v; want %s", query, in.Address(), wrong, err, want)
		}
	}
}

func TestFieldsRefuse(t *testing.T) {
	for query, want := range map[string]map[string]string{
		"rate=0":                     {"rate": `rate is "0": a whole number from 1 to 10,000,000 is allowed`},
		"rate=10000001":              {"rate": `rate is "10000001": a whole number from 1 to 10,000,000 is allowed`},
		"rf=":                        {"rf": `rf is "": a whole number from 1 to 9 is allowed`},
		"peak=1e3&size=-1":           {"peak": `peak is "1e3": a whole number from 100 to 10,000 is allowed`, "size": `size is "-1": a whole number from 1 to 1,048,576 is allowed`},
		"groups=2&groups=2":          {"groups": `groups is "2": it is there twice; once is allowed`},
		"rf=4":                       {"rf": `rf is "4": at most as many as brokers are allowed, here 3: a broker holds one copy of a partition`},
		"brokers=2":                  {"rf": `rf is "3": at most as many as brokers are allowed, here 2: a broker holds one copy of a partition`},
		"brokers=0":                  {"brokers": `brokers is "0": a whole number from 1 to 1,000 is allowed`},
		"speed=99999999999999999999": {"speed": `speed is "99999999999999999999": a whole number from 1 to 10,000,000 is allowed`},
	} {
		_, wrong, err := Parse(query)
		if err != nil {
			t.Fatal(query, err)
		}
		got := map[string]string{}
		for name, mistake := range wrong {
			got[name] = mistake.Err.Error()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", query, diff)
		}
	}
}

func TestAddressRefuses(t *testing.T) {
	for query, says := range map[string]string{
		"x=1": `parameter "x" is "1": rate, size, compressed,`, "Rate=1": `parameter "Rate"`, "=1": "rate, size", "rate=%ff": "valid percent-encoded UTF-8",
		"%zz=1": "valid percent-encoded UTF-8", strings.Repeat("&", maxQuery+1): "2049 bytes", strings.Repeat("x", 900) + "=1": `xxxx…" is "1"`,
	} {
		_, _, err := Parse(query)
		var address *labs.AddressError
		if !errors.As(err, &address) || !strings.Contains(err.Error(), says) {
			t.Errorf("%.40q: %v; want %s", query, err, says)
		}
	}
}

// Whatever is asked for, there is one address of it or a mistake of a field that the form has.
func FuzzParse(f *testing.F) {
	for _, query := range []string{"", "rate=5&rf=1", "rate=0", "rf=9&brokers=9&partitions=200000", "peak=x&peak=y", "groups=0&downtime=43200", "%", "x"} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		in, wrong, err := Parse(query)
		if err != nil {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(wrong)) {
			if _, ok := fieldNamed(name); !ok {
				t.Fatalf("%q: a mistake of %q, which is no field", query, name)
			}
		}
		if len(wrong) > 0 {
			return
		}
		address := in.Address()
		_, canonical, _ := strings.Cut(address, "?")
		again, wrong, err := Parse(canonical)
		if err != nil || len(wrong) > 0 || again != in || again.Address() != address {
			t.Fatalf("%q: %s is read as %+v, %v, %v", query, address, again, wrong, err)
		}
		if text := fmt.Sprint(in.Results()); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Fatalf("%q: %s", query, text)
		}
	})
}
