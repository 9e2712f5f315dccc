package labs_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"loglab/labs"
)

// next gives the tick of the next turn after an address.
func next(t *testing.T, query string) int {
	t.Helper()
	a, err := labs.Parse(explorer(t), labs.Pages, query+"&next=1")
	if err != nil {
		t.Fatal(err)
	}
	if !a.AsksNext() || strings.Contains(a.String(), "next") {
		t.Errorf("%s: asks %v; its canonical form is %s", query, a.AsksNext(), a)
	}
	found, err := labs.NewRuns(1<<20).Next(context.Background(), a)
	if err != nil {
		t.Fatal(err)
	}
	if found.AsksNext() {
		t.Errorf("%s still asks", found)
	}
	return found.T
}

func TestNextEvent(t *testing.T) {
	for query, want := range map[string]int{
		// The only events are two commands; between them consumers fetch and nothing comes.
		"rate=0&do=7:produce+p0+order-1&do=130:pause+c1&t=3":   7,
		"rate=0&do=7:produce+p0+order-1&do=130:pause+c1&t=7":   130,
		"rate=0&do=7:produce+p0+order-1&do=130:pause+c1&t=129": 130,
		// Nothing comes: as far as is looked, and no further than the range.
		"rate=0&t=3":                 1003,
		"rate=0&range=2..20&t=3":     20,
		"rate=0&horizon=5000&t=5000": 5000,
		// Partitions are asked for at 5; the topic has them when the request arrives, after 10 ms: in the tick that begins then.
		"rate=0&partitions=4&do=5:add-partitions+orders+to+6&t=5": 7,
		// The other run counts as well: with four partitions at first there are none to add.
		"rate=0&partitions=6&do=5:wait+1ms&vs=partitions:4&t=2": 5,
	} {
		if got := next(t, query); got != want {
			t.Errorf("%s: tick %d, want %d", query, got, want)
		}
	}
}

func TestNextIsOne(t *testing.T) {
	var refused *labs.AddressError
	if _, err := labs.Parse(explorer(t), labs.Pages, "next=2"); !errors.As(err, &refused) || !strings.Contains(err.Error(), "only 1 is allowed") {
		t.Errorf("%v", err)
	}
}
