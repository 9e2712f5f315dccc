package capacity

import (
	"errors"
	"strings"
	"testing"

	"loglab/labs"
)

func mustParse(t *testing.T, query string) Inputs {
	t.Helper()
	in, err := Parse(query)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// The numbers are worked out by hand.
func TestResults(t *testing.T) {
	for query, want := range map[string][]string{
		// 1,000/s × 1,000 B = 1 MB/s; × 604,800 s × 3 = 1.8144 TB; / 3 brokers. In: 3 MB/s × 3 / 3. Out: 3 × (3 − 1 + 2) / 3.
		// 36 replicas × 1 GiB = 38.65 GB. 3,000/s / 12 = 250/s. 36 / 3. 3,000 / 600 = 5. 3,600,000 / (3,600 − 1,000) = 1,384.6 s.
		"": {
			"1 MB/s on average, 3 MB/s at the peak", "1.81 TB", "38.7 GB more", "605 GB", "3 MB/s", "4 MB/s", "180 MB", "250 records/s, 250 kB/s", "12", "5", "23 min 5 s",
		},
		// 50/s × 200 B = 10 kB/s; × 86,400 × 2 = 1.728 GB. A partition gets 10,000 B/s in 7 days: 6.048 GB, so 1 GiB: × 2. 50 / 60 < 1.
		// 50/s × 600 s = 30,000; 60 − 50 = 10/s: 3,000 s.
		"rate=50&peak=1&size=200&retention=24&rf=2&partitions=1&brokers=2&groups=0&consumers=3&speed=60&away=10": {
			"10 kB/s on average, 10 kB/s at the peak", "1.73 GB", "2.15 GB more", "864 MB", "10 kB/s", "5 kB/s", "600 kB", "50 records/s, 10 kB/s", "1", "1", "50 min",
		},
		// 1 B/s for an hour, alone: 3,600 B; a segment of 7 days would have 604,800 B. One consumer is as slow as the producer.
		"rate=1&peak=1&size=1&retention=1&rf=1&partitions=1&brokers=1&groups=1&consumers=1&speed=1&away=60": {
			"1 B/s on average, 1 B/s at the peak", "3.60 kB", "605 kB more", "3.60 kB", "1 B/s", "1 B/s", "60 B", "1 records/s, 1 B/s", "1", "1", "never",
		},
	} {
		results := mustParse(t, query).Results()
		if len(results) != len(want) {
			t.Fatalf("%q: %d results, want %d", query, len(results), len(want))
		}
		for i, r := range results {
			if r.Value != want[i] {
				t.Errorf("%q: %s: %s, want %s (%s)", query, r.Name, r.Value, want[i], r.Formula)
			}
		}
	}
}

// What cannot work is said.
func TestWarnings(t *testing.T) {
	for query, want := range map[string]string{
		"partitions=4":                "More than the 4 partitions",
		"consumers=3":                 "More than the 3 consumers",
		"consumers=20":                "8 of 20 consumers are idle: there are 12 partitions.",
		"retention=1&away=60":         "Retention has deleted records by then",
		"retention=1&away=59&speed=9": "",
	} {
		var all []string
		for _, r := range mustParse(t, query).Results() {
			all = append(all, r.Note)
		}
		if text := strings.Join(all, "\n"); want != "" && !strings.Contains(text, want) || want == "" && strings.Contains(text, "Retention has deleted") {
			t.Errorf("%s: want %q in\n%s", query, want, text)
		}
	}
}

// An address has one spelling, and every wrong one is refused by name.
func TestAddress(t *testing.T) {
	for query, want := range map[string]string{
		"": "/capacity", "rate=1000&peak=3": "/capacity", "speed=007": "/capacity?speed=7", "groups=0&rate=5": "/capacity?rate=5&groups=0", "size=1000&retention=24": "/capacity?retention=24",
	} {
		if got := mustParse(t, query).String(); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	for query, param := range map[string]string{
		"rate=0": "rate", "rate=": "rate", "rate=1.5": "rate", "rate=-1": "rate", "rate=10000001": "rate", "rate=99999999999999999999": "rate", "rate=5&rate=5": "rate", "groups=1001": "groups",
		"color=red": `parameter "color"`, "rf=4": "rf", "rf=9&brokers=8": "rf", "rate=%zz": "rate", "x=" + strings.Repeat("1", 3000): "address", "=5": `parameter ""`,
	} {
		_, err := Parse(query)
		var wrong *labs.AddressError
		if !errors.As(err, &wrong) || wrong.Param != param {
			t.Errorf("%.40s: %v, want an error in %s", query, err, param)
		}
	}
}

// Whatever is asked for, an answer comes, and its address leads to the same.
func FuzzParse(f *testing.F) {
	for _, query := range []string{"", "rate=5&groups=0", "rate=10000000&size=10000000&retention=87600&rf=9&brokers=9&peak=100&partitions=100000&away=525600"} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		in, err := Parse(query)
		if err != nil {
			return
		}
		_, canonical, _ := strings.Cut(in.String(), "?")
		again, err := Parse(canonical)
		if err != nil || again != in {
			t.Fatalf("%s: %v", in, err)
		}
		for _, r := range in.Results() {
			if r.Value == "" || r.Formula == "" || strings.ContainsAny(r.Value, "+-") || strings.Contains(r.Value, "NaN") {
				t.Errorf("%s: %+v", in, r)
			}
		}
	})
}
